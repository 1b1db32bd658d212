//! Layers that let light pass: panes before the camera, masks and blends before lamps.

use super::{Sketch, WHITE, assert_near, shader, square};
use adumbra_render::shading::MAX_PASSES;
use serde_json::{Value, json};

const PANE: (&str, &str) = (
    "pane.adu",
    "shader pane(out closure c) { c = color(0.9, 0.5, 1.0) * make_closure<transparent>(); }",
);

/// Squares at the heights from 1 on, over a floor or nothing.
fn stack(layers: u32, layer: &Value, mut scene: Value, floor: bool) -> Value {
    scene["meshes"] = json!({ "square": { "plane": {} } });
    scene["materials"] = json!({ "layer": layer, "white": shader("white.adu") });
    let mut instances: Vec<Value> = (0..layers)
        .map(|at| square("layer", 60.0, [0.0, 1.0 + 0.01 * f64::from(at), 0.0]))
        .collect();
    instances.extend(floor.then(|| square("white", 60.0, [0.0; 3])));
    scene["instances"] = json!(instances);
    scene
}

fn surroundings() -> Value {
    json!({ "environment": { "constant": [1, 1, 1] } })
}

#[test]
fn panes_are_no_bounces() {
    for bounces in [0, 2] {
        for layers in [1, 5, 40] {
            let scene = stack(layers, &shader("pane.adu"), surroundings(), false);
            let sketch = Sketch {
                scene,
                shaders: &[PANE, WHITE],
                bounces,
                ..Sketch::default()
            };
            let pixel = sketch.pixel();
            let expected = [0.9, 0.5, 1.0].map(|part: f64| part.powi(layers as i32));
            for (value, expected) in pixel.into_iter().zip(expected) {
                assert_near(value, expected, 1e-4, &format!("{layers} panes, {bounces}"));
            }
            assert_eq!(pixel[3], 0.0, "nothing is there but panes");
        }
    }
}

#[test]
fn passes_are_limited() {
    let clear = (
        "pane.adu",
        "shader pane(out closure c) { c = make_closure<transparent>(); }",
    );
    for (layers, expected) in [(MAX_PASSES, 1.0), (MAX_PASSES + 1, 0.0)] {
        let light = json!({
            "environment": { "constant": [1, 1, 1] }
        });
        let scene = stack(layers, &shader("pane.adu"), light, false);
        let sketch = Sketch {
            scene,
            shaders: &[clear, WHITE],
            ..Sketch::default()
        };
        assert_eq!(
            sketch.pixel()[0],
            expected,
            "{layers} panes before the camera"
        );
        // The camera is below them, and the lamp above.
        let sun = json!({
            "environment": { "constant": [0, 0, 0] },
            "lights": [{ "directional": { "direction": [0, -1, 0], "irradiance": [1, 1, 1] } }]
        });
        let sketch = Sketch {
            scene: stack(layers, &shader("pane.adu"), sun, true),
            shaders: &[clear, WHITE],
            height: 0.5,
            ..Sketch::default()
        };
        let pixel = sketch.pixel();
        assert_near(
            pixel[0] * std::f32::consts::PI,
            expected.into(),
            1e-5,
            "panes before the lamp",
        );
    }
}

/// What passes from a lamp of each kind through layers, per channel.
fn passed(layers: u32, layer: &Value, shaders: &[(&str, &str)]) -> Vec<[f32; 3]> {
    let dark = json!({ "constant": [0, 0, 0] });
    let sun = json!({
        "environment": dark,
        "lights": [{ "directional": { "direction": [0, -1, 0], "irradiance": [3, 3, 3] } }]
    });
    let point = json!({
        "environment": dark,
        "lights": [{ "point": { "position": [0, 30, 0], "intensity": [500, 500, 500] } }]
    });
    let lamp = json!({ "environment": dark });
    let lights = [sun, point, lamp.clone(), surroundings()]
        .into_iter()
        .enumerate();
    lights
        .map(|(at, light)| {
            let of = |layers: u32| {
                let mut scene = stack(layers, layer, light.clone(), true);
                if at == 2 {
                    scene["materials"]["lamp"] = json!({ "standard": { "emission": [9, 9, 9] } });
                    let lamp = square("lamp", 4.0, [0.0, 9.0, 0.0]);
                    scene["instances"]
                        .as_array_mut()
                        .expect("a list")
                        .push(lamp);
                }
                let sketch = Sketch {
                    scene,
                    shaders: &[shaders, &[WHITE]].concat(),
                    height: 0.5,
                    samples: 64,
                    ..Sketch::default()
                };
                sketch.pixel()
            };
            let (covered, free) = (of(layers), of(0));
            [0, 1, 2].map(|channel| covered[channel] / free[channel])
        })
        .collect()
}

#[test]
fn blends_dim_the_light_of_lamps() {
    let blend = json!({ "standard": { "base-color": [0, 0, 0], "alpha": 0.25 } });
    for part in passed(3, &blend, &[]) {
        // What is under the layers sees them as well, so a little is reflected back.
        assert_near(part[1], 0.75_f64.powi(3), 0.03, "three blends");
    }
    for part in passed(4, &shader("pane.adu"), &[PANE]) {
        for (value, expected) in part.into_iter().zip([0.9_f64, 0.5, 1.0]) {
            assert_near(value, expected.powi(4), 0.01, "four panes");
        }
    }
}

#[test]
fn masks_let_light_through_their_holes() {
    // Holes are as wide as what is between them; the floor's point is under the middle of a hole.
    let holes = |offset: f32| {
        format!(
            "shader mask(out closure c) {{
                float at = fract(10.0 * global_value<uvw>.x + {offset});
                float on = at < 0.5 ? 1.0 : 0.0;
                c = on * make_closure<diffuse>(global_value<normal>)
                    + (1.0 - on) * make_closure<transparent>();
            }}"
        )
    };
    for (offset, expected) in [(0.25, 0.0), (0.75, 1.0)] {
        let source = holes(offset);
        let lit = passed(3, &shader("mask.adu"), &[("mask.adu", &source)]);
        assert_near(lit[0][0], expected, 1e-5, "the sun");
    }
}

#[test]
fn emission_lies_over_coat_and_is_blended() {
    let dark = json!({ "environment": { "constant": [0, 0, 0] } });
    for (alpha, expected) in [(1.0, 2.0), (0.5, 1.0), (0.0, 0.0)] {
        let glow = json!({ "standard": {
            "base-color": [0.2, 0.2, 0.2], "emission": [2, 2, 2], "alpha": alpha
        } });
        let sketch = Sketch {
            scene: stack(1, &glow, dark.clone(), false),
            shaders: &[WHITE],
            bounces: 2,
            ..Sketch::default()
        };
        assert_near(sketch.pixel()[1], expected, 1e-5, "emission");
    }
}

#[test]
fn blend_of_white_mirror_keeps_light() {
    for (alpha, layers, error) in [
        (1.0, 1, 1e-4),
        (0.5, 1, 1e-4),
        (0.1, 1, 1e-4),
        (0.5, 2, 0.02),
    ] {
        let mirror = json!({ "standard": {
            "base-color": [1, 1, 1], "metallic": 1, "roughness": 0, "alpha": alpha
        } });
        let sketch = Sketch {
            scene: stack(layers, &mirror, surroundings(), false),
            shaders: &[WHITE],
            samples: 512,
            bounces: 64,
            ..Sketch::default()
        };
        let pixel = sketch.pixel();
        assert_near(
            pixel[0],
            1.0,
            error,
            &format!("alpha {alpha}, {layers} layers"),
        );
    }
}
