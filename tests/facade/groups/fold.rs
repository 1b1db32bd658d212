//! Inputs folded into a program: fewer instructions, the same bits.

use super::*;
use adumbra::derivatives::Lanes;

const SHADER: &str = "texture2d wood;
    float octaves(float x, int n) { float sum = 0.0; for (int i = 0; i < n; ++i) sum += sin(x * (i + 1)); return sum; }
    shader s(float scale = 2.0, int n = 3, bool fancy = true, float2 at = float2(0.25, 0.5), float blend = 1.0,
             out float o, out color c) {
        float x = scale * global_value<uvw>.x;
        if (fancy) o = octaves(x, n) * exp(scale); else o = x;
        c = texture2d_sample<wood>(at + blend * global_value<uvw>.xy);
        if (n < 0) return;
        o += at.x * at.y;
    }";

fn instance() -> Instance {
    Instance::new(&compiler().compile(&sources(SHADER)).unwrap())
}

#[test]
fn results_are_the_same_to_the_bit() {
    let mut at = instance();
    let program = at.program().clone();
    let whole = at.program().stats().bytecode_ops;
    for (n, fancy, blend) in [
        (3, true, 1.0),
        (3, false, 0.0),
        (-1, true, -0.0),
        (0, true, 0.5),
    ] {
        at.set("n", n).unwrap();
        at.set("fancy", fancy).unwrap();
        at.set("blend", blend as f32).unwrap();
        let expected = seen(&evaluated(&at));
        let folded = at.fold().unwrap();
        assert_eq!(seen(&evaluated(&folded)), expected);
        assert!(folded.program().stats().bytecode_ops < whole);
        assert!(folded.program().inputs().is_empty());
        // One after the other is the same.
        let mut some = at.fold_inputs(&["fancy"]).unwrap();
        assert_eq!(some.program().inputs().len(), 4);
        assert_eq!(seen(&evaluated(&some)), expected);
        some = some.fold_inputs(&["n", "blend", "n"]).unwrap();
        assert_eq!(seen(&evaluated(&some)), expected);
        some.set("scale", 0.5_f32).unwrap();
        at.set("scale", 0.5_f32).unwrap();
        assert_eq!(seen(&evaluated(&some)), seen(&evaluated(&at)));
        assert_eq!(
            seen(&evaluated(&some.fold().unwrap())),
            seen(&evaluated(&at))
        );
        at.set("scale", 2.0_f32).unwrap();
    }
    assert_eq!(
        program.inputs().len(),
        5,
        "the program itself stays as it is"
    );
}

#[test]
fn a_sample_at_constant_coordinates_has_no_lanes() {
    let text = "texture2d wood;
        shader s(float2 at = float2(0.25, 0.5), bool moves = true, out color c) {
            float2 st = at;
            if (moves) st += sin(global_value<uvw>.xy);
            c = texture2d_sample<wood>(st);
        }";
    let compiler = Compiler::new(GlobalsLayout::hit());
    let mut at = Instance::new(&compiler.compile(&sources(text)).unwrap());
    let lanes = |instance: &Instance| {
        let demand = instance.program().demand();
        let values = demand.iter().flat_map(|report| &report.values);
        values.filter(|value| value.lanes != Lanes::NONE).count()
    };
    assert!(lanes(&at) > 0 && at.program().stats().lanes > 0);
    at.set("moves", false).unwrap();
    let folded = at.fold().unwrap();
    assert_eq!((lanes(&folded), folded.program().stats().lanes), (0, 0));
    let (_, requests) = evaluated(&folded);
    let r = &requests[0];
    assert_eq!([r.u, r.v], [0.25, 0.5]);
    assert_eq!([r.dudx, r.dudy, r.dvdx, r.dvdy], [0.0; 4]);
}

#[test]
fn what_cannot_be_folded() {
    let at = instance();
    assert_eq!(
        at.fold_inputs(&["scale", "sclae"]).unwrap_err().to_string(),
        "there is no input `sclae` to fold"
    );
    let loaded = Program::from_bytecode(&at.program().to_bytecode()).unwrap();
    let loaded = Instance::new(&loaded);
    // Nothing to fold is no error.
    assert!(loaded.fold_inputs(&[]).is_ok());
    let plain = compiler()
        .compile(&sources("shader s(out float o) { o = 1.0; }"))
        .unwrap();
    assert!(Instance::new(&plain).fold().is_ok());
}

#[test]
fn a_groups_exposed_inputs_fold_too() {
    let mut group = Group::new();
    let pick =
        sources("shader pick(float a, float b, bool first, out float o) { o = first ? a : b; }");
    let heavy = sources("shader heavy(out float o) { o = exp(sin(global_value<uvw>.x)); }");
    group
        .unit("heavy", &heavy, None)
        .unit("pick", &pick, None)
        .set("pick", "b", 5)
        .connect(("heavy", "o"), ("pick", "a"))
        .expose_input("first", ("pick", "first"))
        .expose_output("o", ("pick", "o"));
    let mut at = Instance::new(&compiled(&group));
    at.set("first", false).unwrap();
    let folded = at.fold().unwrap();
    assert_eq!(seen(&evaluated(&at)), seen(&evaluated(&folded)));
    let constant = compiler()
        .compile(&sources("shader s(out float o) { o = 5.0; }"))
        .unwrap();
    assert_eq!(
        folded.program().stats().bytecode_ops,
        constant.stats().bytecode_ops
    );
}
