//! The examples in C and C++, built against the static library, give the facade's bits.

use crate::compilers::{Language, Library, build, project, scratch};
use adumbra::batch::{BatchGlobals, WholeBatch};
use adumbra::gradient::{Gradient, GradientRequest};
use adumbra::{
    Compiler, Evaluator, Globals, GlobalsLayout, Host, Instance, NoTextures, Options,
    SampleRequest, Sampled, Sources, Type, value::Part,
};
use std::collections::BTreeSet;
use std::process::Command;

/// The numbers that the example in C prints, as bits.
pub(crate) fn numbers(said: &str) -> Vec<u32> {
    let numbers = said.split_whitespace();
    numbers
        .map(|number| number.parse::<f32>().expect("a number").to_bits())
        .collect()
}

/// The output of an example in C, as bits, built against each library; none without a compiler.
fn printed(example: &str) -> Vec<Vec<u32>> {
    let source = project("examples/capi").join(example).with_extension("c");
    let programs = [Library::Static, Library::Shared].map(|library| {
        build(
            Language::C,
            &source,
            &format!("{example}_{library:?}"),
            library,
        )
    });
    let run = |program| {
        let said = Command::new(program).output().expect("the example starts");
        assert!(
            said.status.success(),
            "{}",
            String::from_utf8_lossy(&said.stderr)
        );
        numbers(&String::from_utf8(said.stdout).expect("UTF-8"))
    };
    programs.into_iter().flatten().map(run).collect()
}

/// The point of the example in C through the facade, as bits.
pub(crate) fn point() -> Vec<u32> {
    let layout = GlobalsLayout::new().with("uv", Type::Vector(2)).unwrap();
    let text = "shader wave(float height = 1.0, out float o) {
            float2 p = global_value<uv>;
            o = height * sin(10.0 * p.x) * p.y;
        }";
    let compiler = Compiler::new(layout).with_options(Options {
        output_derivatives: true,
        ..Options::default()
    });
    let program = compiler.compile(&Sources::new("wave.adu", text)).unwrap();
    let mut instance = Instance::new(&program);
    instance.set("height", 2.0_f32).unwrap();
    let mut globals = Globals::new(program.globals());
    globals
        .set("uv", [0.25, 0.5], [0.01, 0.0], [0.0, 0.01])
        .unwrap();
    let mut evaluator = Evaluator::new(&instance);
    evaluator.evaluate(&globals, &mut NoTextures);
    let parts = Part::ALL.map(|part| evaluator.words(part).expect("it has derivatives"));
    let words: Vec<u32> = parts.into_iter().flatten().collect();
    assert!(words.iter().all(|&word| word != 0));
    words
}

#[test]
fn c_example_gives_bits_of_facade() {
    for said in printed("point") {
        assert_eq!(said, point());
    }
}

/// The gradient of an example's shader with a global `x` and a global `y`, and its tables of these.
fn fit(example: &str, request: &GradientRequest) -> (Gradient, [Vec<f32>; 2]) {
    let text = std::fs::read_to_string(project("examples/capi").join(example));
    let text = text.expect("the example is there");
    let after = |name: &str| {
        let start = text.find(name).expect("its tables and its shader") + name.len();
        &text[start..]
    };
    let table = |name: &str| -> Vec<f32> {
        let numbers = after(name).split(['{', '}']).nth(1).expect("a table");
        let numbers = numbers.split(',').map(|number| {
            let number = number.trim().trim_end_matches('f');
            number.parse().expect("a number")
        });
        numbers.collect()
    };
    let tables = [table("X[POINTS]"), table("Y[POINTS]")];
    let lines = after("SHADER[]").split("\n\n").next().expect("its lines");
    let lines = lines.replace("\\n", "\n");
    let shader: String = lines.split('"').skip(1).step_by(2).collect();

    let layout = GlobalsLayout::new().with("x", Type::FLOAT);
    let layout = layout.and_then(|layout| layout.with("y", Type::FLOAT));
    let compiler = Compiler::new(layout.unwrap());
    let program = compiler.compile(&Sources::new("fit.adu", shader)).unwrap();
    (program.gradient(request).unwrap(), tables)
}

/// The globals of such a gradient, of the mean of the error.
fn fit_globals<'p>(gradient: &Gradient, [x, y]: &'p [Vec<f32>; 2]) -> BatchGlobals<'p> {
    let mut globals = BatchGlobals::new(gradient.program().globals());
    globals.plane("x", Part::Value, 0, x, 1).unwrap();
    globals.plane("y", Part::Value, 0, y, 1).unwrap();
    let weight = 1.0 / x.len() as f32;
    globals
        .uniform_part("d(error)", Part::Value, weight)
        .unwrap();
    globals
}

/// The parameters that the example of gradients finds, through the facade, as bits.
fn fitted() -> Vec<u32> {
    let (gradient, tables) = fit("gradient.c", &GradientRequest::new());
    let globals = fit_globals(&gradient, &tables);
    let mut found = [2.0_f32, 1.0];
    for _ in 0..100 {
        let mut instance = Instance::new(gradient.program());
        instance.set("k", found[0]).unwrap();
        instance.set("gain", found[1]).unwrap();
        let batch = WholeBatch::new(&instance);
        let outputs = ["d(k)", "d(gain)"];
        let sums = batch.sums(&globals, 0..tables[0].len(), &outputs, || NoTextures);
        let (sums, _) = sums.unwrap();
        for (found, output) in found.iter_mut().zip(outputs) {
            *found -= sums.total(output).unwrap()[0] as f32;
        }
    }
    assert!((found[0] - 3.0).abs() < 0.01 && (found[1] - 0.5).abs() < 0.01);
    found.map(f32::to_bits).to_vec()
}

#[test]
fn gradient_example_fits_to_bits_of_facade() {
    for said in printed("gradient") {
        assert_eq!(said, fitted());
    }
}

/// The weights that the example of buffers finds, through the facade, as bits.
fn fitted_weights() -> Vec<u32> {
    let (gradient, tables) = fit("buffer.c", &GradientRequest::new().by_buffers());
    let globals = fit_globals(&gradient, &tables);
    let mut weights = vec![0.0_f32; 2];
    for _ in 0..4 {
        let mut instance = Instance::new(gradient.program());
        instance.set_buffer("w", weights.clone()).unwrap();
        let batch = WholeBatch::new(&instance);
        let sums = batch.sums(&globals, 0..tables[0].len(), &[], || NoTextures);
        let slopes = sums.unwrap().0.buffer("w").unwrap();
        for (weight, slope) in weights.iter_mut().zip(slopes) {
            *weight -= 0.4 * slope as f32;
        }
    }
    assert!((weights[0] - 0.75).abs() < 0.01 && (weights[1] - 2.0).abs() < 0.01);
    weights.into_iter().map(f32::to_bits).collect()
}

#[test]
fn buffer_example_fits_to_bits_of_facade() {
    for said in printed("buffer") {
        assert_eq!(said, fitted_weights());
    }
}

/// The toy's image, point by point through the facade, with its texture written once more.
pub(crate) fn toy_image() -> Vec<u8> {
    const WIDTH: usize = 128;
    const HEIGHT: usize = 72;
    const LAST: u32 = 5;
    struct Stripes;
    impl Host for Stripes {
        fn sample(&mut self, r: &SampleRequest) -> Sampled {
            let along_x = r.dudx * r.dudx + r.dvdx * r.dvdx;
            let along_y = r.dudy * r.dudy + r.dvdy * r.dvdy;
            let mut texels = 32.0 * along_x.max(along_y).sqrt();
            let mut level = 0;
            while texels > 1.0 && level < LAST {
                texels *= 0.5;
                level += 1;
            }
            let texel = ((r.u - r.u.floor()) * (32 >> level) as f32) as i32;
            let wide = match (level == LAST, texel < 16 >> level) {
                (true, _) => 0.5,
                (false, true) => 0.75,
                (false, false) => 0.25,
            };
            let fine = match (level, texel % 2) {
                (0, 0) => -0.25,
                (0, _) => 0.25,
                _ => 0.0,
            };
            Sampled::Ready([wide + fine, wide + fine, wide + fine, 1.0])
        }
    }
    let text =
        std::fs::read_to_string(project("examples/capi/toy/toy.cpp")).expect("the toy is there");
    let shader = text
        .split("R\"(")
        .nth(1)
        .and_then(|rest| rest.split(")\";").next());
    let layout = GlobalsLayout::new()
        .with("ground", Type::Vector(2))
        .unwrap();
    let program = Compiler::new(layout)
        .compile(&Sources::new("plane.adu", shader.expect("its shader")))
        .unwrap();
    let mut instance = Instance::new(&program);
    instance.set("scale", 0.5_f32).unwrap();
    let mut evaluator = Evaluator::new(&instance);
    let mut globals = Globals::new(program.globals());
    let mut bytes = format!("P6\n{WIDTH} {HEIGHT}\n255\n").into_bytes();
    let height = HEIGHT as f32;
    for (line, column) in (0..HEIGHT).flat_map(|line| (0..WIDTH).map(move |column| (line, column)))
    {
        let x = (column as f32 + 0.5 - (WIDTH / 2) as f32) / height;
        let y = (line as f32 + 0.5) / height;
        let ddy = [-x / height / (y * y), -1.0 / height / (y * y)];
        globals
            .set("ground", [x / y, 1.0 / y], [1.0 / height / y, 0.0], ddy)
            .unwrap();
        evaluator.evaluate(&globals, &mut Stripes);
        let c = evaluator.get::<[f32; 3]>("c").unwrap();
        bytes.extend(c.map(|value| (value * 255.0 + 0.5) as u8));
    }
    bytes
}

/// Whether the toy, built by whatever means, draws what the facade gives: stripes near by, their
/// mean far away.
pub(crate) fn assert_toy_draws(mut toy: Command, file: &std::path::Path) {
    let said = toy.arg(file).output().expect("the toy starts");
    let errors = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success() && errors.is_empty(), "{errors}");
    let (drawn, expected) = (std::fs::read(file).expect("an image"), toy_image());
    assert_eq!(drawn.len(), expected.len());
    let differ = drawn.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!(differ, None, "the first byte that differs");
    let reds = |lines: std::ops::Range<usize>| {
        let start = drawn.len() - 3 * 128 * 72;
        let bytes = drawn[start..][3 * 128 * lines.start..3 * 128 * lines.end].iter();
        bytes.step_by(3).copied().collect::<BTreeSet<_>>()
    };
    assert_eq!(reds(0..1), BTreeSet::from([128]), "far away all is grey");
    assert_eq!(
        reds(60..72),
        BTreeSet::from([0, 128, 255]),
        "near by are lines"
    );
    let all = reds(0..72);
    assert!(
        all.contains(&64) && all.contains(&191),
        "in between stripes without lines: {all:?}"
    );
}

#[test]
fn toy_draws_image_of_facade() {
    let source = project("examples/capi/toy/toy.cpp");
    let Some(program) = build(Language::Cpp, &source, "toy", Library::Static) else {
        return;
    };
    assert_toy_draws(Command::new(program), &scratch("toy").join("toy.ppm"));
}

const WIDTH: usize = 160;
const HEIGHT: usize = 90;

/// The texture of the C++ example, written once more.
struct MipMap(Vec<Vec<f32>>);

impl MipMap {
    fn new(size: usize) -> MipMap {
        let tile = |x: usize, y: usize| match (x < 2 || y < 2, (2 * x / size + 2 * y / size) % 2) {
            (true, _) => 0.05,
            (_, 1) => 0.9,
            _ => 0.3,
        };
        let finest = (0..size * size)
            .map(|at| tile(at % size, at / size))
            .collect();
        let mut levels: Vec<Vec<f32>> = vec![finest];
        let mut size = size;
        while size > 1 {
            let (fine, half) = (&levels[levels.len() - 1], size / 2);
            let coarse = (0..half * half).map(|at| {
                let texel = 2 * (at / half) * size + 2 * (at % half);
                ((fine[texel] + fine[texel + 1]) + (fine[texel + size] + fine[texel + size + 1]))
                    * 0.25
            });
            let coarse = coarse.collect();
            levels.push(coarse);
            size = half;
        }
        MipMap(levels)
    }

    fn texel(&self, level: usize, u: f32, v: f32) -> f32 {
        let size = 1 << (self.0.len() - 1 - level);
        let at = |x: f32| (((x - x.floor()) * size as f32) as usize).min(size - 1);
        self.0[level][at(v) * size + at(u)]
    }
}

impl Host for MipMap {
    fn sample(&mut self, r: &SampleRequest) -> Sampled {
        let along_x = r.dudx * r.dudx + r.dvdx * r.dvdx;
        let along_y = r.dudy * r.dudy + r.dvdy * r.dvdy;
        let last = self.0.len() - 1;
        let side = along_x.max(along_y).sqrt() * (1 << last) as f32;
        let level = side.max(1.0).log2().min(last as f32);
        let mix = level - level.floor();
        let (fine, coarse) = (level as usize, (level as usize + 1).min(last));
        let grey = self.texel(fine, r.u, r.v) * (1.0 - mix) + self.texel(coarse, r.u, r.v) * mix;
        Sampled::Ready([grey, grey, grey, 1.0])
    }
}

/// The image, point by point through the facade.
fn image(shader: &str) -> Vec<u8> {
    let layout = GlobalsLayout::new()
        .with("ground", Type::Vector(2))
        .and_then(|layout| layout.with("distance", Type::FLOAT))
        .unwrap();
    let program = Compiler::new(layout)
        .compile(&Sources::new("floor.adu", shader))
        .unwrap();
    let mut instance = Instance::new(&program);
    instance.set("scale", 0.5_f32).unwrap();
    let mut evaluator = Evaluator::new(&instance);
    let mut globals = Globals::new(program.globals());
    let mut map = MipMap::new(64);
    let mut bytes = format!("P6\n{WIDTH} {HEIGHT}\n255\n").into_bytes();
    let height = HEIGHT as f32;
    for (y, x) in (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (y, x))) {
        let right = (x as f32 + 0.5 - (WIDTH / 2) as f32) / height;
        let down = (y as f32 + 0.5) / height;
        let value = [right / down, 1.0 / down];
        let ddy = [
            -right / height / (down * down),
            -1.0 / height / (down * down),
        ];
        globals
            .set("ground", value, [1.0 / height / down, 0.0], ddy)
            .unwrap();
        globals.set("distance", value[1], 0.0, 0.0).unwrap();
        evaluator.evaluate(&globals, &mut map);
        let c = evaluator.get::<[f32; 3]>("c").unwrap();
        bytes.extend(c.map(|value| (value.clamp(0.0, 1.0) * 255.0 + 0.5) as u8));
    }
    bytes
}

#[test]
fn cpp_example_draws_image_of_facade() {
    let source = project("examples/capi/renderer.cpp");
    let Some(program) = build(Language::Cpp, &source, "renderer", Library::Static) else {
        return;
    };
    let file = scratch("renderer").join("floor.ppm");
    let said = Command::new(program)
        .arg(&file)
        .output()
        .expect("the example starts");
    let errors = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success() && errors.is_empty(), "{errors}");

    let text = std::fs::read_to_string(&source).expect("the example is there");
    let shader = text
        .split("R\"(")
        .nth(1)
        .and_then(|rest| rest.split(")\";").next());
    let expected = image(shader.expect("its shader"));
    let drawn = std::fs::read(&file).expect("the image was written");
    assert_eq!(drawn.len(), expected.len());
    let differ = drawn.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!(differ, None, "the first byte that differs");
    // Far away the tiles are one grey, near by they are tiles, and in between all that the levels
    // make of them.
    let start = drawn.len() - 3 * WIDTH * HEIGHT;
    let greys = |lines: std::ops::Range<usize>| {
        let bytes = drawn[start + 3 * WIDTH * lines.start..][..3 * WIDTH * lines.len()].iter();
        bytes.step_by(3).collect::<BTreeSet<_>>().len()
    };
    let counts = [greys(0..1), greys(5..40), greys(HEIGHT - 1..HEIGHT)];
    assert!(
        counts[0] <= 2 && counts[1] > 50 && (2..10).contains(&counts[2]),
        "{counts:?}"
    );
}

#[test]
fn examples_are_short() {
    for (file, lines) in [
        ("renderer.cpp", 200),
        ("point.c", 70),
        ("gradient.c", 75),
        ("buffer.c", 80),
    ] {
        let text =
            std::fs::read_to_string(project("examples/capi").join(file)).expect("it is there");
        assert!(text.lines().count() <= lines, "{file}");
    }
}
