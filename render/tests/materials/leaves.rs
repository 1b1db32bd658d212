//! The table of leaves: its page, its arguments, and the globals that materials read beside them.

use adumbra::{Compiler, GlobalsLayout, Scalar, Sources, Type};
use adumbra_render::differential::SurfaceSeeds;
use adumbra_render::scene::SceneLoader;
use adumbra_render::scene_image::{ImageSettings, draw_scene};
use adumbra_render::shading::{ClosureTable, LEAVES};

const PAGE: &str = include_str!("../../../docs/closures.md");

#[test]
fn page_has_the_table_of_leaves() {
    for leaf in &LEAVES {
        let params: Vec<String> = (leaf.params.iter())
            .map(|(name, ty)| match ty {
                Type::Vector(n) => format!("`float{n} {name}`"),
                Type::Scalar(Scalar::I32) => format!("`int {name}`"),
                _ => format!("`float {name}`"),
            })
            .collect();
        let params = match params.is_empty() {
            true => String::new(),
            false => format!("{} ", params.join(", ")),
        };
        let line = format!("| `{}` | {params}| {} |\n", leaf.name, leaf.meaning);
        assert!(PAGE.contains(&line), "docs/closures.md lacks {line}");
    }
}

/// The color in the middle of a plane that has this material, under a sky of 1.
fn middle(shader: &str) -> [f32; 3] {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("it is written");
    };
    write("m.adu", shader);
    write(
        "s.json",
        r#"{
            "image": { "width": 1, "height": 1 },
            "camera": { "orthographic": { "from": [0.5, 0.25, 2], "to": [0.5, 0.25, 0], "height": 0.01 } },
            "meshes": { "q": { "quad": {} } },
            "materials": { "m": { "shader": { "file": "m.adu" } } },
            "instances": [{ "mesh": "q", "material": "m" }],
            "environment": { "constant": [1, 1, 1] }
        }"#,
    );
    let scene = SceneLoader::new().load(&folder.path().join("s.json"));
    let scene = scene.expect("a scene");
    assert_eq!(scene.warnings, [""; 0]);
    let settings = ImageSettings {
        samples: 256,
        ..ImageSettings::default()
    };
    let image = draw_scene(&scene, &settings).expect("it is drawn");
    let [r, g, b, _] = image.pixels[0];
    [r, g, b]
}

fn close(a: [f32; 3], b: [f32; 3], by: f32) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= by)
}

#[test]
fn leaves_give_the_light_of_their_arguments() {
    let n = "global_value<normal>";
    for (leaf, expected) in [
        (
            "make_closure<emission>(color(2, 0.5, 0.25))".to_owned(),
            [2.0, 0.5, 0.25],
        ),
        ("0.5 * make_closure<transparent>()".to_owned(), [0.5; 3]),
        (
            format!("color(0.25, 0.5, 1) * make_closure<diffuse>({n})"),
            [0.25, 0.5, 1.0],
        ),
        (
            format!("color(0.25, 0.5, 1) * make_closure<subsurface_bssrdf>({n}, 0.1)"),
            [0.25, 0.5, 1.0],
        ),
        (
            format!(
                "0.5 * make_closure<generalized_schlick_bsdf>({n}, float3(0), 0, 0, float3(1, 0.5, 0), 0)"
            ),
            [0.5, 0.25, 0.0],
        ),
        // A layer over another leaves it the rest.
        (
            format!(
                "make_closure<diffuse>({n}) + make_closure<generalized_schlick_bsdf>({n}, float3(0), 0, 0, float3(0.25), 1)"
            ),
            [1.0; 3],
        ),
    ] {
        let found = middle(&format!("shader m(out closure c) {{ c = {leaf}; }}"));
        assert!(close(found, expected, 0.05), "{leaf}: {found:?}");
    }
}

#[test]
fn uv_is_uvw_with_its_derivatives() {
    let gap = "abs(a.x - b.x) + abs(a.y - b.y)";
    let shader = format!(
        "shader m(out closure c) {{
            float2 a = global_value<uv>;
            float2 b = global_value<uvw>.xy;
            float value = {gap};
            a = ddx(a) + 3.0 * ddy(a);
            b = ddx(b) + 3.0 * ddy(b);
            float slope = {gap};
            float moves = abs(a.x) + abs(a.y) > 0.0 ? 1.0 : 0.0;
            c = make_closure<emission>(float3(value, slope, moves));
        }}"
    );
    assert_eq!(middle(&shader), [0.0, 0.0, 1.0]);
}

#[test]
fn unknown_global_names_no_option_of_another_command() {
    let compiler = Compiler::new(GlobalsLayout::of::<SurfaceSeeds>())
        .with_closures(ClosureTable::new().registry().clone());
    for name in ["resolution", "frobnicate"] {
        let source = format!("shader m(out color c) {{ c = color(global_value<{name}>); }}");
        let refused = compiler.compile(&Sources::new("m.adu", source));
        let refused = refused.expect_err("there is no such global");
        let help = refused.diagnostics[0].help.as_deref().expect("a help");
        assert!(help.contains("`uvw`") && !help.contains("-g"), "{help}");
    }
}
