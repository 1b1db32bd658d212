//! Host structs whose memory is not that of the layout, many of them in a batch, and members of the
//! types of `glam` and `mint`.

use crate::output_bits::{output_bits, point_bits};
use adumbra::{
    Compiler, Dual, Evaluator, Globals, GlobalsLayout, Instance, Limits, NoTextures, Options,
    Program, ShaderGlobals, Sources, Type,
    batch::{BatchEvaluator, BatchGlobals, Part},
    evaluator::Engine,
    globals::{Flag, MemberVisitor},
    value::HostValue,
};
use glam::{Mat3, Mat4, Vec2, Vec3, Vec4};
use mint::{ColumnMatrix3, ColumnMatrix4, RowMatrix3, RowMatrix4, Vector2, Vector3, Vector4};
use std::sync::Arc;

/// Members with and without shadows, of every kind of memory.
#[derive(Clone, Copy, ShaderGlobals)]
#[repr(C)]
struct Hit {
    uv: Dual<Vec2>,
    time: f32,
    lit: Flag,
    bounce: i32,
    p: Dual<[f32; 3]>,
    turn: Dual<Mat3>,
    n: Vec3,
    still: ColumnMatrix3<f32>,
}

const TEXT: &str = "shader s(out float o, out float3 q, out int n) {
    float3 p = global_value<p>;
    q = mul(global_value<turn>, p) + mul(global_value<still>, global_value<n>);
    o = global_value<uv>.x * global_value<uv>.y * global_value<time>;
    n = global_value<lit> ? global_value<bounce> : -1;
}";

fn hit(i: usize) -> Hit {
    let x = i as f32;
    Hit {
        uv: Dual {
            value: Vec2::new(x, 2.0),
            ddx: Vec2::new(1.0, 0.25),
            ddy: Vec2::new(0.5, x),
        },
        time: 0.5 + x,
        lit: Flag::from(i.is_multiple_of(2)),
        bounce: i as i32,
        p: Dual {
            value: [1.0, 10.0, 100.0],
            ddx: [x, 0.0, 0.0],
            ddy: [0.0, x, 1.0],
        },
        turn: Dual {
            value: Mat3::from_cols_array(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, x]),
            ddx: Mat3::from_diagonal(Vec3::splat(x)),
            ddy: Mat3::from_cols_array(&[0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        },
        n: Vec3::new(0.0, x, 1.0),
        still: [[1.0, 0.0, 0.0], [2.0, 1.0, 0.0], [3.0, 4.0, 1.0]].into(),
    }
}

fn program() -> Arc<Program> {
    let options = Options {
        output_derivatives: true,
        ..Options::default()
    };
    let compiler = Compiler::new(GlobalsLayout::of::<Hit>()).with_options(options);
    compiler.compile(&Sources::new("s.adu", TEXT)).unwrap()
}

/// The same globals, set by name one member after the other.
fn by_name(hit: &Hit) -> Globals {
    let mut globals = Globals::new(&GlobalsLayout::of::<Hit>());
    let Dual { value, ddx, ddy } = hit.uv;
    globals.set("uv", value, ddx, ddy).unwrap();
    globals.set("time", hit.time, 0.0, 0.0).unwrap();
    globals
        .set("lit", bool::from(hit.lit), false, false)
        .unwrap();
    globals.set("bounce", hit.bounce, 0, 0).unwrap();
    let Dual { value, ddx, ddy } = hit.p;
    globals.set("p", value, ddx, ddy).unwrap();
    let Dual { value, ddx, ddy } = hit.turn;
    globals.set("turn", value, ddx, ddy).unwrap();
    globals.set("n", hit.n, Vec3::ZERO, Vec3::ZERO).unwrap();
    let zero = [[0.0; 3]; 3].into();
    globals.set("still", hit.still, zero, zero).unwrap();
    globals
}

#[test]
fn point_of_struct_equals_globals_by_name() {
    let program = program();
    for engine in [Engine::Reference, Engine::Point, Engine::Batch] {
        let instance = Instance::new(&program);
        let mut evaluator = Evaluator::with(&instance, engine, Limits::default()).unwrap();
        for i in [3, 4] {
            evaluator.evaluate(&by_name(&hit(i)), &mut NoTextures);
            let expected = output_bits(&evaluator);
            evaluator.evaluate(&hit(i), &mut NoTextures);
            assert_eq!(output_bits(&evaluator), expected);
        }
        // Worked out by hand for hit 4, so that both ways cannot be wrong alike.
        let o = evaluator.get::<Dual<f32>>("o").unwrap();
        assert_eq!((o.value, o.ddx, o.ddy), (36.0, 13.5, 76.5));
        let q: Dual<Vec3> = evaluator.get("q").unwrap();
        assert_eq!(q.value, Vec3::new(741.0 + 11.0, 852.0 + 8.0, 463.0 + 1.0));
        assert_eq!(q.ddx, Vec3::new(4.0 + 4.0, 8.0 + 40.0, 12.0 + 400.0));
        assert_eq!(q.ddy, Vec3::new(16.0 + 7.0, 20.0 + 8.0 + 1.0, 24.0 + 4.0));
        assert_eq!(evaluator.get::<i32>("n").unwrap(), 4);
    }
    assert_eq!(Globals::from(&hit(5)).words(), by_name(&hit(5)).words());
}

#[test]
fn member_without_shadows_is_missing_for_derivatives() {
    let compiler = Compiler::new(GlobalsLayout::of::<Hit>());
    let warnings = |text: &str| compiler.check(&Sources::new("s.adu", text)).len();
    let of_time = "shader s(out float o) { o = ddx(global_value<time>); }";
    let of_uv = "shader s(out float o) { o = ddx(global_value<uv>.x); }";
    assert_eq!([warnings(of_time), warnings(of_uv)], [1, 0]);
}

#[test]
fn batch_of_structs_equals_points() {
    let program = program();
    let instance = Instance::new(&program);
    let hits: Vec<Hit> = (0..100).map(hit).collect();
    let mut single = Evaluator::new(&instance);
    let mut batch = BatchEvaluator::new(&instance).unwrap();
    let mut globals = BatchGlobals::from(&hits[..]);
    for reversed in [false, true] {
        let mut hits = hits.clone();
        if reversed {
            hits.reverse();
            globals = globals.without_planes();
            globals.structs(&hits);
        }
        for (first, points) in [(0, 60), (60, 40)] {
            batch.evaluate(&globals, first, points, &mut NoTextures);
            for point in 0..points {
                single.evaluate(&hits[first + point], &mut NoTextures);
                assert_eq!(point_bits(&batch, point), output_bits(&single), "{point}");
            }
        }
        globals = globals.without_planes();
    }
    // A member may be set otherwise afterwards.
    let mut globals = BatchGlobals::from(&hits[..]);
    globals.uniform_part("time", Part::Value, 1.0_f32).unwrap();
    batch.evaluate(&globals, 10, 1, &mut NoTextures);
    assert_eq!(batch.get::<f32>("o", 0).unwrap(), 20.0);
    batch.evaluate(&BatchGlobals::from(&hits[..0]), 0, 0, &mut NoTextures);
}

#[test]
#[should_panic(expected = "laid out as the globals")]
fn batch_of_other_structs_is_refused() {
    let mut globals = BatchGlobals::new(&GlobalsLayout::hit());
    globals.structs(&[hit(0)]);
}

/// Implemented by hand: whether it lists all of itself depends on its value.
#[repr(C)]
struct Moody {
    a: Dual<f32>,
    b: Dual<f32>,
}

impl ShaderGlobals for Moody {
    fn members<V: MemberVisitor<Moody>>(visitor: &mut V) {
        visitor.member("a", |globals| &globals.a);
        visitor.member("b", |globals| match globals.a.value {
            0.0 => &globals.b,
            _ => &globals.a,
        });
    }
}

#[test]
#[should_panic(expected = "the members are the whole struct")]
fn each_struct_of_a_batch_is_looked_at() {
    let moody = |a: f32| Moody {
        a: a.into(),
        b: 1.0.into(),
    };
    let _ = BatchGlobals::from(&[moody(0.0), moody(0.0)][..]);
    let _ = BatchGlobals::from(&[moody(0.0), moody(1.0)][..]);
}

/// What a value of a type is among words, and back.
fn round<T: HostValue + PartialEq + std::fmt::Debug>(value: T, ty: Type, expected: &[f32]) {
    assert_eq!(T::ty(), ty);
    let mut words = vec![0; expected.len()];
    value.write(&mut words);
    let floats: Vec<f32> = words.iter().map(|&word| f32::from_bits(word)).collect();
    assert_eq!(floats, expected);
    assert_eq!(T::read(&words), value);
}

#[test]
fn vectors_and_matrices_become_those_of_the_language() {
    let numbers: Vec<f32> = (1..=16).map(|n| n as f32).collect();
    for n in 2..=4 {
        let (ty, floats) = (Type::Vector(n), &numbers[..n as usize]);
        match n {
            2 => {
                round(Vec2::from_slice(floats), ty.clone(), floats);
                round(Vector2::from_slice(floats), ty, floats);
            }
            3 => {
                round(Vec3::from_slice(floats), ty.clone(), floats);
                round(Vector3::from_slice(floats), ty, floats);
            }
            _ => {
                round(Vec4::from_slice(floats), ty.clone(), floats);
                round(Vector4::from_slice(floats), ty, floats);
            }
        }
    }
    // The language's are row by row; these were made from columns.
    let by_rows = [1.0, 4.0, 7.0, 2.0, 5.0, 8.0, 3.0, 6.0, 9.0];
    let columns = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]];
    round(
        Mat3::from_cols_array_2d(&columns),
        Type::Matrix(3),
        &by_rows,
    );
    round(ColumnMatrix3::from(columns), Type::Matrix(3), &by_rows);
    round(RowMatrix3::from(columns), Type::Matrix(3), &numbers[..9]);
    let rows: [[f32; 4]; 4] =
        std::array::from_fn(|row| std::array::from_fn(|i| numbers[4 * row + i]));
    let by_rows = Mat4::from_cols_array_2d(&rows).transpose().to_cols_array();
    round(Mat4::from_cols_array_2d(&rows), Type::Matrix(4), &by_rows);
    round(ColumnMatrix4::from(rows), Type::Matrix(4), &by_rows);
    round(RowMatrix4::from(rows), Type::Matrix(4), &numbers);
}

#[test]
fn duals_convert_part_by_part() {
    let arrays = Dual {
        value: [1.0_f32, 2.0],
        ddx: [3.0, 4.0],
        ddy: [5.0, 6.0],
    };
    let vectors = Dual::<Vec2>::from(arrays);
    assert_eq!(
        (vectors.ddx, vectors.ddy),
        (Vec2::new(3.0, 4.0), Vec2::new(5.0, 6.0))
    );
    assert_eq!(Dual::<[f32; 2]>::from(vectors), arrays);
    let rows = Dual::from([[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]].map(|row| row));
    let matrix = Dual::<Mat3>::from(rows);
    assert_eq!(matrix.value.row(1), Vec3::new(4.0, 5.0, 6.0));
    assert_eq!(
        Dual::<ColumnMatrix3<f32>>::from(rows).value.y,
        [2.0, 5.0, 8.0].into()
    );
    assert_eq!(Dual::<[[f32; 3]; 3]>::from(matrix), rows);
}
