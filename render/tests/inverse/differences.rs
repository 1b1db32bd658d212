//! Gradients of a textured interior against differences of images, by common random numbers.

use super::{load, write_wall};
use adumbra_render::inverse::InverseScene;
use adumbra_render::scene::Scene;
use adumbra_render::scene_image::{ImageSettings, draw_scene};
use serde_json::{Value, json};
use std::path::Path;

const WALL: &str = "texture2d image;
    shader wall(float scale = 0.8, color tint = color(0.9, 0.6, 0.4), out closure c) {
        float2 uv = scale * global_value<uvw>.xy;
        c = tint * texture2d_sample<image>(uv) * make_closure<diffuse>(global_value<normal>);
    }";

const BALL: &str = "shader ball(color base = color(0.3, 0.5, 0.7), float roughness = 0.65, float f0 = 0.4, out closure c) {
        float3 n = global_value<normal>;
        float alpha = roughness * roughness;
        c = base * make_closure<oren_nayar>(n, 0.3)
            + make_closure<generalized_schlick_bsdf>(n, global_value<tangent>, alpha, alpha, float3(f0, f0, f0), 1);
    }";

const LAMP: &str = "shader lamp(color radiance = color(4, 3, 2), out closure c) {
        c = make_closure<emission>(radiance); }";

/// A box with a textured wall and a ball that has a coat, lit by a lamp and dim surroundings.
fn interior(folder: &Path, [width, height]: [u32; 2]) -> Scene {
    let wall =
        |transform: Value| json!({ "mesh": "plane", "material": "wall", "transform": transform });
    let scene = json!({
        "image": { "width": width, "height": height },
        "camera": { "perspective": { "from": [0.1, 0.5, 1.6], "to": [0.05, 0.36, 0], "fov": 34 } },
        "environment": { "constant": [0.3, 0.3, 0.4] },
        "meshes": { "plane": { "plane": {} }, "ball": { "sphere": {} } },
        "textures": { "image": { "file": "wall.exr", "wrap": "mirror" } },
        "materials": {
            "wall": { "shader": { "file": "wall.adu", "textures": { "image": "image" } } },
            "floor": { "standard": { "base-color": [0.6, 0.6, 0.6], "roughness": 1 } },
            "ball": { "shader": { "file": "ball.adu" } },
            "lamp": { "shader": { "file": "lamp.adu" } }
        },
        "instances": [
            wall(json!([{ "rotate": { "axis": [1, 0, 0], "degrees": 90 } }, { "translate": [0, 0.5, -0.5] }])),
            wall(json!([{ "rotate": { "axis": [0, 0, 1], "degrees": -90 } }, { "translate": [-0.5, 0.5, 0] }])),
            { "mesh": "plane", "material": "floor" },
            { "mesh": "ball", "material": "ball", "transform": [
                { "scale": [0.3, 0.3, 0.3] }, { "translate": [0.05, 0.3, 0] }] },
            { "mesh": "plane", "material": "lamp", "transform": [
                { "rotate": { "axis": [1, 0, 0], "degrees": 180 } }, { "scale": [0.9, 1, 0.9] },
                { "translate": [0.2, 1.1, 0.1] }] }
        ]
    });
    write_wall(folder);
    load(
        folder,
        &scene,
        &[("wall.adu", WALL), ("ball.adu", BALL), ("lamp.adu", LAMP)],
    )
}

/// Weights of pixels, so that no two count alike.
fn adjoint(pixels: usize) -> Vec<[f32; 3]> {
    let weight = |at: usize| 0.5 + (at * 7 % 11) as f32 / 11.0;
    (0..pixels)
        .map(|at| [weight(at), weight(at + 3), weight(at + 5)])
        .collect()
}

fn weighed(image: &[[f32; 3]], adjoint: &[[f32; 3]]) -> f64 {
    let terms = image.as_flattened().iter().zip(adjoint.as_flattened());
    terms.map(|(value, weight)| f64::from(value * weight)).sum()
}

/// The mean and its standard error.
fn mean(values: &[f64]) -> [f64; 2] {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values
        .iter()
        .map(|value| (value - mean) * (value - mean))
        .sum();
    [mean, (squares / (count - 1.0) / count).sqrt()]
}

/// Images of independent seeds: their samples are 512 for each pixel together.
const SEEDS: u32 = 8;
const SAMPLES: u32 = 64;

/// Compares the gradient by each input with central differences over a step: they agree within 2 %
/// of the slope, or within three standard errors.
fn gradients_agree(cases: &[(&str, f32)]) {
    let folder = tempfile::tempdir().unwrap();
    let scene = interior(folder.path(), [8, 8]);
    let names: Vec<&str> = cases.iter().map(|(name, _)| *name).collect();
    let mut gradients = vec![Vec::new(); cases.len()];
    let mut slopes = vec![Vec::new(); cases.len()];
    for seed in 0..SEEDS {
        let settings = ImageSettings {
            samples: SAMPLES,
            seed,
            threads: 2,
            ..ImageSettings::default()
        };
        let mut inverse = InverseScene::new(&scene, &settings, &names);
        let inverse = inverse.as_mut().unwrap_or_else(|error| panic!("{error}"));
        let [width, height] = inverse.size();
        let weights = adjoint((width * height) as usize);
        let found = inverse.gradient(&weights).unwrap();
        assert_eq!(found.left_out, 0);
        for (at, (_, step)) in cases.iter().enumerate() {
            // Of vectors, all components move alike.
            gradients[at].push(found.by_inputs[at].iter().sum::<f64>());
            let value = inverse.inputs()[at].value.clone();
            let mut loss = |by: f32| {
                let moved: Vec<f32> = value.iter().map(|number| number + by).collect();
                inverse.set(at, &moved).unwrap();
                weighed(&inverse.image().unwrap(), &weights)
            };
            let slope = (loss(*step) - loss(-*step)) / f64::from(2.0 * *step);
            inverse.set(at, &value).unwrap();
            slopes[at].push(slope);
        }
    }
    for (at, (name, _)) in cases.iter().enumerate() {
        let [gradient, by_gradient] = mean(&gradients[at]);
        let [slope, by_slope] = mean(&slopes[at]);
        let error = by_gradient.hypot(by_slope);
        println!(
            "{name}: gradient {gradient:.5} ± {by_gradient:.5}, difference {slope:.5} ± {by_slope:.5}"
        );
        let allowed = (0.02 * slope.abs()).max(3.0 * error);
        assert!(
            (gradient - slope).abs() <= allowed,
            "{name}: {gradient} {slope} ± {error}"
        );
        // An error that is as large as the slope would show nothing.
        assert!(
            error < 0.1 * slope.abs(),
            "{name}: {gradient} {slope} ± {error}"
        );
    }
}

#[test]
fn colour_roughness_and_scale_agree_with_differences() {
    gradients_agree(&[
        ("wall.tint", 0.02),
        ("ball.roughness", 0.03),
        ("wall.scale", 0.005),
    ]);
}

#[test]
fn coat_base_and_lamp_agree_with_differences() {
    gradients_agree(&[
        ("ball.f0", 0.02),
        ("ball.base", 0.02),
        ("lamp.radiance", 0.25),
    ]);
}

#[test]
fn bits_do_not_depend_on_threads() {
    let folder = tempfile::tempdir().unwrap();
    // Six tiles.
    let scene = interior(folder.path(), [65, 33]);
    let names = ["wall.scale", "ball.roughness", "lamp.radiance"];
    let run = |threads: usize| {
        let settings = ImageSettings {
            samples: 1,
            threads,
            ..ImageSettings::default()
        };
        let mut inverse = InverseScene::new(&scene, &settings, &names).unwrap();
        let weights = adjoint(65 * 33);
        inverse.gradient(&weights).unwrap()
    };
    let one = run(1);
    assert!(one.by_inputs.iter().flatten().all(|by| *by != 0.0));
    assert_eq!(one, run(3));
}

#[test]
fn images_are_those_of_the_scene() {
    let folder = tempfile::tempdir().unwrap();
    let scene = interior(folder.path(), [8, 8]);
    let settings = ImageSettings {
        samples: 16,
        threads: 2,
        ..ImageSettings::default()
    };
    let drawn = draw_scene(&scene, &settings).unwrap();
    let names = ["wall.scale", "ball.roughness", "lamp.radiance"];
    let mut inverse = InverseScene::new(&scene, &settings, &names).unwrap();
    let image = inverse.image().unwrap();
    for (found, expected) in image.iter().zip(&drawn.pixels) {
        for (found, expected) in found.iter().zip(expected) {
            // Weights of leaves are the same up to rounding.
            assert!(
                (found - expected).abs() <= 1e-4 * expected,
                "{found} {expected}"
            );
        }
    }
}
