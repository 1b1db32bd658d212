//! Shadows of things that are close together, near the origin and far from it.

use super::{Sketch, WHITE, assert_near, shader, square};
use serde_json::json;

/// The light of a floor at a distance from the origin, seen from the right. The sun is on the left;
/// a card that is `gap` above the floor ends at the point that is seen.
fn floor(distance: f64, gap: Option<f64>) -> f32 {
    let card = gap.map(|gap| square("white", 1.0, [distance - 0.5, gap, 0.0]));
    let instances = [square("white", 4.0, [distance, 0.0, 0.0])]
        .into_iter()
        .chain(card);
    let scene = json!({
        "image": { "width": 1, "height": 1 },
        "camera": { "orthographic": {
            "from": [distance + 10.0, 10, 0], "to": [distance, 0, 0], "height": 1e-12
        } },
        "environment": { "constant": [0, 0, 0] },
        "meshes": { "square": { "plane": {} } },
        "materials": { "white": shader("white.adu") },
        "lights": [{ "directional": { "direction": [1, -1, 0], "irradiance": [1, 1, 1] } }],
        "instances": instances.collect::<Vec<_>>()
    });
    let sketch = Sketch {
        shaders: &[WHITE],
        ..Sketch::default()
    };
    sketch.draw(&scene)[0][1]
}

#[test]
fn contact_shadows_are_cast_at_any_distance() {
    let lit = std::f64::consts::FRAC_1_SQRT_2 * std::f64::consts::FRAC_1_PI;
    for (distance, gap) in [
        (0.0, 1e-3),
        (0.0, 1e-7),
        (0.0, 1e-10),
        (1e6, 1e-3),
        (1e6, 1e-6),
        (1e9, 1e-2),
    ] {
        assert_near(
            floor(distance, None),
            lit,
            1e-5,
            &format!("free at {distance}"),
        );
        assert_eq!(floor(distance, Some(gap)), 0.0, "{gap} at {distance}");
    }
}
