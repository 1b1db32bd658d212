//! Names of inputs, and what is said of wrong ones.

use super::load;
use adumbra_render::inverse::InverseScene;
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
        ("wall.wide", "E0564"),
    ] {
        let found = refusal(name);
        assert!(found.contains(expected), "{name}: {found}");
    }
}
