//! Values, shadows, lanes.

use super::*;

const PRODUCT: &str =
    "%0: f32:xy = global a[0] %1: f32:x = global b[0] %2: f32:xy = mul %0, %1 return %2";

#[test]
fn values_and_shadows_of_a_product() {
    let slot = output(&float_shader(PRODUCT), ShadowMode::Annotated);
    assert_eq!(
        (slot.float, slot.shadows),
        (6.0, [3.0 * 0.5 + 2.0, 3.0 * -0.25])
    );
    assert_eq!(slot, output(&float_shader(PRODUCT), ShadowMode::Full));
}

#[test]
fn attached_values_are_the_shadows() {
    let text = "%0: f32:xy = global a[0] %1: f32 = const 3.0 %2: f32 = const -0.5
                %3: f32:xy = attach %0, %1, %2";
    let both = float_shader(&format!("{text} return %3"));
    let slot = output(&both, ShadowMode::Annotated);
    assert_eq!((slot.float, slot.shadows), (2.0, [3.0, -0.5]));
    let text = text.replace("%3: f32:xy", "%3: f32:y");
    let one = module(
        &format!("fn main() -> (f32:y) ^0 {{ {text} return %3 }}"),
        "output o: float",
    );
    let slot = output(&one, ShadowMode::Annotated);
    assert_eq!((slot.float, slot.shadows), (2.0, [0.0, -0.5]));
}

#[test]
fn only_assigned_lanes_are_computed() {
    let laid_out = float_shader(
        "%0: f32:x = global a[0] %1: f32 = global b[0] %2: f32:x = mul %0, %1
         %3: f32:xy = global a[0] %4: f32:xy = add %2, %3 return %4",
    );
    let slot = output(&laid_out, ShadowMode::Annotated);
    assert_eq!((slot.float, slot.shadows), (8.0, [3.0 * 0.5 + 0.5, -0.25]));
    let full = output(&laid_out, ShadowMode::Full);
    assert_eq!(full.shadows, [3.0 * 0.5 + 2.0 + 0.5, 3.0 * -0.25 - 0.25]);
}

#[test]
fn outputs_have_requested_shadows() {
    let module = module(
        "fn main() -> (f32:y) ^0 { %0: f32:xy = global a[0] return %0 }",
        "output o: float",
    );
    assert_eq!(output(&module, ShadowMode::Annotated).shadows, [0.0, -0.25]);
    assert_eq!(output(&module, ShadowMode::Full).shadows, [0.5, -0.25]);
}

#[test]
fn an_operand_without_a_lane_contributes_no_term() {
    // With b infinite the term of a would be NaN: 0 times infinity.
    let text = "%0: f32 = global a[0] %1: f32:x = global b[0] %2: f32:x = mul %0, %1 return %2";
    let module = module(
        &format!("fn main() -> (f32:x) ^0 {{ {text} }}"),
        "output o: float",
    );
    let point = point([2.0, 0.0, 0.0], [f32::INFINITY, 1.0, 0.0], 0);
    let with = |shadows| {
        run(
            &module,
            &point,
            EvalOptions {
                shadows,
                ..EvalOptions::default()
            },
        )
    };
    assert_eq!(with(ShadowMode::Annotated).outputs[0].shadows[0], 2.0);
    assert!(with(ShadowMode::Full).outputs[0].shadows[0].is_nan());
}

#[test]
fn reading_a_shadow_adds_zero_and_has_no_shadow() {
    let module = float_shader(
        "%0: f32:xy = global a[0] %1: f32 = ddx %0 %2: f32 = const 1.0
                     %3: f32 = div %2, %1 %4: f32:xy = mul %0, %3 return %4",
    );
    let outcome = run(
        &module,
        &point([1.0_f32, -0.0, 2.0], [0.0; 3], 0),
        EvalOptions::default(),
    );
    assert_eq!(outcome.outputs[0].float, f32::INFINITY);
    assert_eq!(outcome.outputs[0].shadows[1], f32::INFINITY);
}

#[test]
fn slopes_of_an_op_are_its_partials() {
    let text = "%0: f32:xy = global a[0] %1: f32 = const 3.0
                %2: f32, %3: f32, %4: f32 = with_slopes mul %0, %1";
    // The shadows of a product and of its factors, where every float has any.
    let expected = [
        ("%2", 6.0, [1.5, -0.75]),
        ("%3", 3.0, [0.0, 0.0]),
        ("%4", 2.0, [0.5, -0.25]),
    ];
    for (result, value, shadows) in expected {
        let shader = module(
            &format!("fn main() -> (f32) ^0 {{ {text} return {result} }}"),
            "output o: float",
        );
        let slot = output(&shader, ShadowMode::Full);
        assert_eq!((slot.float, slot.shadows), (value, shadows), "{result}");
        let slot = output(&shader, ShadowMode::Annotated);
        assert_eq!((slot.float, slot.shadows), (value, [0.0; 2]), "{result}");
    }
}
