//! A small lamp in a Cornell box: what is left of its noise.

use super::load;
use adumbra_render::scene_image::{ImageSettings, draw_scene};
use serde_json::Value;

/// The box of the example, with fewer pixels and samples: `cargo run --release -p adumbra-render
/// --example cornell` has 16,384 of the reference.
#[test]
fn small_lamp_lights_box_with_little_noise() {
    let mut scene: Value = serde_json::from_str(include_str!("../../examples/cornell/box.json"))
        .expect("the scene is JSON");
    scene["image"] = serde_json::json!({ "width": 12, "height": 12 });
    let scene = load(&scene, &[]);
    let draw = |samples, seed| {
        let settings = ImageSettings {
            samples,
            seed,
            threads: 2,
            ..ImageSettings::default()
        };
        draw_scene(&scene, &settings).expect("the scene can be drawn")
    };
    let error = draw(64, 1).relative_mse(&draw(512, 0));
    assert!(error < 0.02, "relMSE {error}");
}
