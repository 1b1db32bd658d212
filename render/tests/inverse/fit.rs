//! Inputs found from an image.

use super::{load, write_wall};
use adumbra_fit::{
    Adjoint, Distance, Fit, FitOptions, FitTarget, PyramidLoss, Raster, Render, Schedule,
};
use adumbra_render::inverse::{InverseScene, SceneObjective};
use adumbra_render::scene_image::ImageSettings;
use serde_json::json;

const BALL: &str = "texture2d image;
    shader ball(color tint = color(0.5, 0.5, 0.5) <<< min = 0, max = 1 >>>,
                float roughness = 0.7 <<< min = 0.1, max = 1 >>>, out closure c) {
        float3 n = global_value<normal>;
        float alpha = roughness * roughness;
        c = tint * texture2d_sample<image>(global_value<uvw>.xy) * make_closure<diffuse>(n)
            + make_closure<generalized_schlick_bsdf>(n, global_value<tangent>, alpha, alpha, float3(0.3, 0.3, 0.3), 1);
    }";

/// What the target was drawn with.
const TINT: [f32; 3] = [0.9, 0.55, 0.2];
const ROUGHNESS: f32 = 0.4;

#[test]
fn tint_and_roughness_are_found_from_an_image() {
    let folder = tempfile::tempdir().unwrap();
    write_wall(folder.path());
    let scene = json!({
        "image": { "width": 16, "height": 16 },
        "camera": { "perspective": { "from": [0, 0.4, 3.2], "to": [0, 0, 0], "fov": 38 } },
        "environment": { "constant": [0.4, 0.4, 0.5] },
        "lights": [
            { "point": { "position": [2, 3, 3], "intensity": [25, 25, 25] } },
            { "point": { "position": [-3, 1, 2], "intensity": [8, 10, 12] } }
        ],
        "meshes": { "ball": { "sphere": {} } },
        "textures": { "image": { "file": "wall.exr" } },
        "materials": { "ball": { "shader": { "file": "ball.adu", "textures": { "image": "image" } } } },
        "instances": [{ "mesh": "ball", "material": "ball" }]
    });
    let scene = load(folder.path(), &scene, &[("ball.adu", BALL)]);
    let settings = |samples: u32, seed: u32| ImageSettings {
        samples,
        seed,
        threads: 2,
        ..ImageSettings::default()
    };
    let names = ["ball.tint", "ball.roughness"];
    let mut drawn = InverseScene::new(&scene, &settings(256, 7), &names).unwrap();
    drawn.set(0, &TINT).unwrap();
    drawn.set(1, &[ROUGHNESS]).unwrap();
    let target = drawn.image().unwrap();

    let scene = InverseScene::new(&scene, &settings(16, 1), &names).unwrap();
    let objective = SceneObjective::new(scene, 1).unwrap();
    let parameters = objective.parameters();
    assert_eq!(parameters[3].range, [f64::from(0.1_f32), 1.0]);
    assert_eq!(parameters[3].name, "ball.roughness");
    let shape = objective.shapes()[0];
    let image = Raster::from_values(shape, target.as_flattened().to_vec());
    let weights = None;
    let loss = PyramidLoss::new(vec![FitTarget { image, weights }], Distance::L2).unwrap();
    let options = FitOptions {
        first_given: true,
        noise: false,
        schedule: Schedule {
            alternations: 2,
            ..Schedule::default()
        },
        ..FitOptions::default()
    };
    let mut fit = Fit::new(objective, loss, Adjoint, options).unwrap();
    while fit.step().unwrap().is_some() {}
    let best = fit.best().unwrap();
    println!(
        "{:?} after {} iterations: {}",
        best.values, best.iterations, best.loss
    );
    for (found, expected) in best.values.iter().zip(TINT.into_iter().chain([ROUGHNESS])) {
        assert!(
            (found - f64::from(expected)).abs() < 0.03,
            "{:?}",
            best.values
        );
    }
}
