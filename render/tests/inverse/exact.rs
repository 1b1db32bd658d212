//! Gradients that are known without a renderer.

use super::{load, of_sum, sum};
use adumbra_render::scene_image::ImageSettings;
use serde_json::{Value, json};

/// A square that fills the view, below white surroundings.
fn square(shader: &str) -> Value {
    json!({
        "image": { "width": 4, "height": 4 },
        "camera": { "orthographic": {
            "from": [0.3, 1, 0.2], "to": [0, 0, 0], "up": [0, 0, -1], "height": 0.5
        } },
        "environment": { "constant": [1, 1, 1] },
        "meshes": { "square": { "plane": {} } },
        "materials": { "m": { "shader": { "file": shader } } },
        "instances": [{ "mesh": "square", "material": "m" }]
    })
}

fn settings(samples: u32) -> ImageSettings {
    ImageSettings {
        samples,
        threads: 2,
        ..ImageSettings::default()
    }
}

#[track_caller]
fn near(found: f64, expected: f64, relative: f64) {
    let allowed = relative * expected.abs();
    assert!(
        (found - expected).abs() <= allowed,
        "{found}, not {expected}"
    );
}

#[test]
fn emission_has_its_own_derivative() {
    let folder = tempfile::tempdir().unwrap();
    let source = "shader s(float k = 1.5, color tint = color(0.5, 0.25, 0), out closure c) {
        c = k * k * make_closure<emission>(tint); }";
    let scene = load(folder.path(), &square("s.adu"), &[("s.adu", source)]);
    let (_, by) = of_sum(&scene, &settings(4), &["m.k", "m.tint"]);
    near(by[0][0], 16.0 * 3.0 * 0.75, 1e-6);
    by[1].iter().for_each(|by| near(*by, 16.0 * 2.25, 1e-6));
}

#[test]
fn colour_that_is_emitted_as_it_is_has_a_derivative() {
    let folder = tempfile::tempdir().unwrap();
    let source = "shader s(float k = 1.5, out color c) { c = color(k, k * k, 0.5); }";
    let scene = load(folder.path(), &square("s.adu"), &[("s.adu", source)]);
    let (_, by) = of_sum(&scene, &settings(4), &["m.k"]);
    near(by[0][0], 16.0 * (1.0 + 3.0), 1e-6);
}

/// A convex surface is lit by the surroundings alone: its light is the albedo times what it gets.
#[test]
fn albedo_of_a_convex_surface_scales_its_light() {
    let folder = tempfile::tempdir().unwrap();
    let source = "shader s(color albedo = color(0.8, 0.5, 0.2), out closure c) {
        c = albedo * make_closure<diffuse>(global_value<normal>); }";
    let mut scene = square("s.adu");
    scene["meshes"]["square"] = json!({ "sphere": {} });
    // It fills the view.
    scene["camera"]["orthographic"]["from"] = json!([0.3, 5, 0.2]);
    let scene = load(folder.path(), &scene, &[("s.adu", source)]);
    let (image, by) = of_sum(&scene, &settings(64), &["m.albedo"]);
    let image = sum(&image);
    for (channel, albedo) in [0.8, 0.5, 0.2].into_iter().enumerate() {
        near(image[channel], 16.0 * albedo, 0.01);
        near(by[0][channel], image[channel] / albedo, 1e-5);
    }
}

/// Within a closed surface of albedo ρ that emits e, light is e·Σ ρᵏ over as many bounces as are
/// followed.
#[test]
fn furnace_has_the_derivative_of_its_series() {
    let folder = tempfile::tempdir().unwrap();
    let source = "shader s(float rho = 0.5, float e = 0.25, out closure c) {
        c = rho * make_closure<diffuse>(global_value<normal>) + e * make_closure<emission>(float3(1, 1, 1)); }";
    let mut scene = square("s.adu");
    scene["meshes"]["square"] = json!({ "cube": {} });
    scene["camera"] = json!({ "perspective": {
        "from": [0.1, 0, 0.2], "to": [0, -0.5, 0], "up": [0, 0, -1], "fov": 60
    } });
    let scene = load(folder.path(), &scene, &[("s.adu", source)]);
    let settings = ImageSettings {
        bounces: 5,
        ..settings(256)
    };
    let (image, by) = of_sum(&scene, &settings, &["m.rho", "m.e"]);
    // Five bounces are followed, and the light that the last surface gets directly.
    let (rho, e) = (0.5_f64, 0.25);
    let series: f64 = (0..=6).map(|k| rho.powi(k)).sum();
    let slope: f64 = (1..=6).map(|k| f64::from(k) * rho.powi(k - 1)).sum();
    near(sum(&image)[0], 16.0 * e * series, 0.01);
    near(by[0][0], 48.0 * e * slope, 0.02);
    near(by[1][0], 48.0 * series, 0.01);
}

/// A pane dims the surroundings by what it does not let pass.
#[test]
fn opacity_of_a_pane_blends_it_with_surroundings() {
    let folder = tempfile::tempdir().unwrap();
    let pane = "shader s(float opacity = 0.25, out closure c) {
        c = opacity * make_closure<emission>(float3(2, 2, 2)) + (1 - opacity) * make_closure<transparent>(); }";
    let mut scene = square("pane.adu");
    scene["environment"] = json!({ "constant": [0.5, 0.5, 0.5] });
    let scene = load(folder.path(), &scene, &[("pane.adu", pane)]);
    let (image, by) = of_sum(&scene, &settings(4), &["m.opacity"]);
    near(sum(&image)[0], 16.0 * (0.25 * 2.0 + 0.75 * 0.5), 1e-6);
    near(by[0][0], 48.0 * (2.0 - 0.5), 1e-6);
}

/// Light through a pane, by the pane's colour; and of a lamp, by its radiance.
#[test]
fn shadow_rays_have_derivatives_of_what_they_cross() {
    let folder = tempfile::tempdir().unwrap();
    let floor =
        "shader s(out closure c) { c = 0.5 * make_closure<diffuse>(global_value<normal>); }";
    let pane = "shader s(color tint = color(0.8, 0.5, 0), out closure c) { c = tint * make_closure<transparent>(); }";
    let mut scene = square("floor.adu");
    scene["environment"] = json!({ "constant": [0, 0, 0] });
    scene["materials"]["pane"] = json!({ "shader": { "file": "pane.adu" } });
    scene["camera"]["orthographic"]["from"] = json!([0.3, 0.4, 0.2]);
    scene["lights"] = json!([{ "point": { "position": [0, 3, 0], "intensity": [20, 20, 20] } }]);
    let pane_instance = json!({ "mesh": "square", "material": "pane", "transform": [
        { "scale": [4, 1, 4] }, { "translate": [0, 1, 0] }] });
    scene["instances"]
        .as_array_mut()
        .unwrap()
        .push(pane_instance);
    let scene = load(
        folder.path(),
        &scene,
        &[("floor.adu", floor), ("pane.adu", pane)],
    );
    let (image, by) = of_sum(&scene, &settings(4), &["pane.tint"]);
    let image = sum(&image);
    near(by[0][0], image[0] / 0.8, 1e-5);
    near(by[0][1], image[1] / 0.5, 1e-5);
    // A channel that is black has a derivative all the same.
    assert_eq!(image[2], 0.0);
    near(by[0][2], image[0] / 0.8, 1e-5);
}
