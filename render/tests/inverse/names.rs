//! Names of inputs, and what is said of wrong ones.

use super::load;
use adumbra_render::derivative_mode::DerivativeMode;
use adumbra_render::inverse::{InverseScene, SceneObjective};
use adumbra_render::scene::SceneLoader;
use adumbra_render::scene_image::ImageSettings;
use serde_json::json;

#[test]
fn wrong_names_say_what_was_probably_meant() {
    let folder = tempfile::tempdir().unwrap();
    let source = "shader s(color tint = color(1, 1, 1), int count = 2, float wide = 0.5, out closure c) {
        c = tint * filterwidth(wide * global_value<uvw>.x) * make_closure<diffuse>(global_value<normal>);
        if (count > 2) { c = 0.5 * c; } }";
    let scene = json!({
        "meshes": { "square": { "plane": {} } },
        "materials": { "wall": { "shader": { "file": "s.adu" } } },
        "instances": [{ "mesh": "square", "material": "wall" }]
    });
    let scene = load(folder.path(), &scene, &[("s.adu", source)]);
    let refusal = |name: &str| {
        let settings = ImageSettings::default();
        let refused = InverseScene::new(&scene, &settings, &[name]).unwrap_err();
        refused.to_string()
    };
    for (name, expected) in [
        ("tint", "write `material.input`"),
        ("wal.tint", "did you mean `wall`?"),
        ("roof.tint", "did you mean `wall`?"),
        ("wall.tnt", "did you mean `tint`?"),
        ("wall.xyz", "there are `tint`, `wide`"),
        ("wall.count", "no float and no vector"),
    ] {
        let found = refusal(name);
        assert!(found.contains(expected), "{name}: {found}");
    }
    // A filter's width passes gradients.
    let settings = ImageSettings::default();
    assert!(InverseScene::new(&scene, &settings, &["wall.wide"]).is_ok());
}

#[test]
fn leaves_without_a_number_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let source = "shader s(color tint = color(1, 1, 1), out closure c) {
        c = make_closure<diffuse>(global_value<normal>);
        for (int i = 0; i < (int)(9 * tint.x); i++) c += tint * make_closure<diffuse>(float3(0, 1, i)); }";
    let file = folder.path().join("s.adu");
    std::fs::write(&file, source).unwrap();
    let scene = SceneLoader::new().load(&file).unwrap();
    let name = format!("{}.tint", scene.materials[0].name);
    let refused = InverseScene::new(&scene, &ImageSettings::default(), &[name]).unwrap_err();
    assert!(refused.to_string().contains("E0572"), "{refused}");
}

#[test]
fn points_in_quads_have_no_gradient() {
    let folder = tempfile::tempdir().unwrap();
    let source = "shader s(color tint = color(1, 1, 1), out closure c) {
        c = tint * make_closure<diffuse>(global_value<normal>); }";
    std::fs::write(folder.path().join("s.adu"), source).unwrap();
    let loader = SceneLoader::new().with_options(DerivativeMode::QuadFine.options());
    let scene = loader.load(&folder.path().join("s.adu")).unwrap();
    let name = format!("{}.tint", scene.materials[0].name);
    let refused = InverseScene::new(&scene, &ImageSettings::default(), &[name]).unwrap_err();
    assert!(refused.to_string().contains("in quads"), "{refused}");
}

#[test]
fn parameters_keep_to_bounds_that_make_sense() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = |input: &str| {
        let source = format!(
            "shader s({input}, out closure c) {{ c = k * make_closure<diffuse>(global_value<normal>); }}"
        );
        let file = folder.path().join("s.adu");
        std::fs::write(&file, source).unwrap();
        let scene = SceneLoader::new().load(&file).unwrap();
        let name = format!("{}.k", scene.materials[0].name);
        let inverse = InverseScene::new(&scene, &ImageSettings::default(), &[name]).unwrap();
        let refused = SceneObjective::new(inverse, 0).map(|_| ());
        refused.unwrap_err().to_string()
    };
    let found = refusal("float k = 0.5 <<< min = 1, max = 0 >>>");
    assert!(
        found.starts_with("`min` and `max` of the input `k`"),
        "{found}"
    );
    let found = refusal("float k = 1.0 / 0.0");
    assert!(found.ends_with(".k` is not finite"), "{found}");
}
