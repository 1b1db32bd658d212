//! Emissive triangles as lights, against view factors.

use super::{Sketch, WHITE, assert_near, load, shader, square};
use adumbra_render::scene_image::{ImageSettings, draw_scene};
use serde_json::{Value, json};
use std::f64::consts::PI;

/// The view factor from a point to a parallel rectangle of sides `a` and `b`, one of whose corners
/// is at the height 1 above it (Howell, "A Catalog of Radiation Heat Transfer Configuration
/// Factors", B-3).
fn to_corner(a: f64, b: f64) -> f64 {
    let part = |a: f64, b: f64| {
        let root = (1.0 + a * a).sqrt();
        a / root * (b / root).atan()
    };
    (part(a, b) + part(b, a)) / (2.0 * PI)
}

/// That to a rectangle above the point, of sides 2 and 1.
fn to_lamp() -> f64 {
    4.0 * to_corner(1.0, 0.5)
}

/// A white floor below a lamp.
fn scene(mesh: Value, material: Value, transform: Value) -> Value {
    json!({
        "environment": { "constant": [0, 0, 0] },
        "meshes": { "square": { "plane": {} }, "lamp": mesh },
        "materials": { "white": shader("white.adu"), "lamp": material },
        "instances": [
            square("white", 9.0, [0.0; 3]),
            { "mesh": "lamp", "material": "lamp", "transform": transform }
        ]
    })
}

/// The floor as a camera between floor and lamp sees it.
fn floor(scene: Value, shaders: &[(&str, &str)]) -> [f32; 4] {
    let shaders = &[shaders, &[WHITE]].concat();
    let sketch = Sketch {
        scene,
        shaders,
        height: 0.5,
        samples: 4096,
        ..Sketch::default()
    };
    sketch.pixel()
}

#[test]
fn lamps_light_by_their_view_factor() {
    let material = json!({ "standard": { "base-color": [0, 0, 0], "emission": [5, 5, 5] } });
    let up = json!({ "translate": [0, 1, 0] });
    for (mesh, transform) in [
        (json!({ "plane": {} }), json!([{ "scale": [2, 1, 1] }, up])),
        // Many triangles, mirrored.
        (
            json!({ "plane": { "segments": [7, 5] } }),
            json!([{ "scale": [-2, 1, 1] }, up]),
        ),
        // Of another area in object space.
        (
            json!({ "quad": {} }),
            json!([{ "matrix": [[2, 0, 0, -1], [0, 0, 1, 0], [0, 1, 0, -0.5]] }, up]),
        ),
    ] {
        let name = mesh.to_string();
        let pixel = floor(scene(mesh, material.clone(), transform), &[]);
        assert_near(pixel[1], 5.0 * to_lamp(), 0.02, &name);
    }
}

#[test]
fn varying_emission_is_that_of_the_sampled_point() {
    // One half shines, by the coordinates of the mesh and by a pattern without closures.
    let half = "shader half(out closure c) {
        float on = global_value<uvw>.x < 0.5 ? 8.0 : 0.0;
        c = color(on, 0.5 * on, 0.0) * make_closure<emission>(color(1.0));
    }";
    let pattern = "shader pattern(out color c) {
        float on = global_value<uvw>.x < 0.5 ? 8.0 : 0.0;
        c = color(on, 0.5 * on, 0.0);
    }";
    // Towards its front alone: down, where the lamp's front is turned.
    let front = "shader front(out closure c) {
        float on = dot(global_value<I>, global_value<gnormal>) < 0.0 ? 1.0 : 0.0;
        c = color(4.0 * on, 2.0 * on, 0.0) * make_closure<emission>(color(1.0));
    }";
    let turned = json!([
        { "scale": [2, 1, 1] },
        { "rotate": { "axis": [1, 0, 0], "degrees": 180 } },
        { "translate": [0, 1, 0] }
    ]);
    for source in [half, pattern, front] {
        let plane = json!({ "plane": {} });
        let scene = scene(plane, shader("lamp.adu"), turned.clone());
        let pixel = floor(scene, &[("lamp.adu", source)]);
        assert_near(pixel[0], 4.0 * to_lamp(), 0.03, source);
        assert_near(pixel[1], 2.0 * to_lamp(), 0.03, source);
        assert_eq!(pixel[2], 0.0);
    }
}

#[test]
fn lamps_among_others_share_the_samples() {
    // A strong lamp far away, a weak one close by, and one that shines not at all.
    let lamp = |power: f32| json!({ "standard": { "emission": [power, power, power] } });
    let mut scene = scene(
        json!({ "plane": {} }),
        lamp(1.0),
        json!([{ "scale": [2, 1, 1] }, { "translate": [0, 1, 0] }]),
    );
    scene["materials"]["strong"] = lamp(900.0);
    scene["materials"]["dark"] = lamp(0.0);
    let more = [
        square("strong", 2.0, [0.0, 30.0, 0.0]),
        square("dark", 1.0, [3.0, 1.0, 0.0]),
    ];
    scene["instances"]
        .as_array_mut()
        .expect("a list")
        .extend(more);
    // The near lamp covers the strong one.
    assert_near(floor(scene.clone(), &[])[1], to_lamp(), 0.05, "covered");
    scene["instances"][1]["transform"] = json!([{ "translate": [0, 1, 40] }]);
    let strong = 900.0 * 4.0 * to_corner(1.0 / 30.0, 1.0 / 30.0);
    assert_near(floor(scene, &[])[1], strong, 0.05, "strong");
}

#[test]
fn lights_of_gltf_files_are_sampled() {
    // Positions (±1, 0, ±0.5), and the indices of two triangles.
    let buffer = "AACAvwAAAAAAAAC/AACAPwAAAAAAAAC/AACAPwAAAAAAAAA/AACAvwAAAAAAAAA/AAABAAIAAAACAAMA";
    let model = json!({
        "asset": { "version": "2.0" },
        "extensionsUsed": ["KHR_materials_emissive_strength"],
        "buffers": [{
            "byteLength": 60,
            "uri": format!("data:application/octet-stream;base64,{buffer}")
        }],
        "bufferViews": [
            { "buffer": 0, "byteLength": 48 },
            { "buffer": 0, "byteOffset": 48, "byteLength": 12 }
        ],
        "accessors": [
            {
                "bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3",
                "min": [-1, 0, -0.5], "max": [1, 0, 0.5]
            },
            { "bufferView": 1, "componentType": 5123, "count": 6, "type": "SCALAR" }
        ],
        "materials": [{
            "emissiveFactor": [1, 0.5, 0],
            "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": 5 } }
        }],
        "meshes": [{ "primitives": [{
            "attributes": { "POSITION": 0 }, "indices": 1, "material": 0
        }] }],
        "nodes": [{ "mesh": 0, "translation": [0, 1, 0] }],
        "scenes": [{ "nodes": [0] }],
        "scene": 0
    });
    let scene = json!({
        "environment": { "constant": [0, 0, 0] },
        "meshes": { "square": { "plane": {} } },
        "materials": { "white": shader("white.adu") },
        "instances": [square("white", 9.0, [0.0; 3]), { "scene": "lamp.gltf" }]
    });
    let pixel = floor(scene, &[("lamp.gltf", &model.to_string())]);
    assert_near(pixel[0], 5.0 * to_lamp(), 0.02, "red");
    assert_near(pixel[1], 2.5 * to_lamp(), 0.02, "green");
    assert_eq!(pixel[2], 0.0);
}

#[test]
fn engines_and_threads_sample_lamps_alike() {
    let mut scene = scene(
        json!({ "sphere": { "segments": [12, 6] } }),
        shader("lamp.adu"),
        json!([{ "scale": [0.4, 0.4, 0.4] }, { "translate": [0, 1, 0] }]),
    );
    scene["image"] = json!({ "width": 48, "height": 40 });
    let lamp = "shader lamp(out closure c) {
        float on = sin(20.0 * global_value<uvw>.x);
        c = 6.0 * on * on * make_closure<emission>(color(1.0)) + 0.5 * make_closure<transparent>();
    }";
    let scene = load(&scene, &[WHITE, ("lamp.adu", lamp)]);
    let draw = |engine, threads| {
        let settings = ImageSettings {
            samples: 2,
            engine,
            threads,
            ..ImageSettings::default()
        };
        let image = draw_scene(&scene, &settings).expect("the scene can be drawn");
        let pixels = image.pixels.into_iter();
        pixels
            .map(|pixel| pixel.map(f32::to_bits))
            .collect::<Vec<_>>()
    };
    use adumbra_render::shading::ShadingEngine;
    let expected = draw(ShadingEngine::Point, 1);
    assert!(draw(ShadingEngine::Batch, 2) == expected);
    assert!(draw(ShadingEngine::Auto, 1) == expected);
}
