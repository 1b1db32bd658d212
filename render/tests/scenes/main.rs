//! Scene files, glTF and OBJ: what they become, and what is reported of those that are wrong.

mod extensions;
mod models;
mod obj_maps;
mod scene_files;
mod wrong;

use adumbra_render::camera::Projection;
use adumbra_render::scene::{
    ColorSpace, Environment, Light, Scene, SceneError, SceneLoader, TextureSource,
};
use adumbra_render::texture::Wrap;
use glam::{DVec2, DVec3, Vec3};
use scene_files::{Files, PNG};

fn load(files: &Files, name: &str) -> Result<Scene, SceneError> {
    SceneLoader::new().load(&files.path(name))
}

fn error(files: &Files, name: &str) -> String {
    let error = load(files, name).expect_err("the scene is wrong");
    let folder = files.path("");
    error.to_string().replace(folder.to_str().unwrap(), "")
}

/// What a ray down from above hits: the distance and the material's name.
fn below(scene: &Scene, x: f64, z: f64) -> Option<(f64, &str)> {
    let origin = DVec3::new(x, 10.0, z);
    let hit = (scene.world).intersect(origin, DVec3::NEG_Y, 0.0, f64::INFINITY)?;
    Some((hit.t, &scene.materials[scene.world.material(&hit)].name))
}

const SHADER: &str = "texture2d wood;
shader s(float gain = 1.0, float3 tint = float3(1, 1, 1), int n = 0, bool b = false, out color c) {
    c = gain * tint * texture2d_sample<wood>(global_value<uvw>.xy);
}";

const SCENE: &str = r#"{
    "image": { "width": 64, "height": 32 },
    "options": { "spp": 4, "mip-rule": "article" },
    "camera": { "perspective": { "from": [0, 2, 4], "to": [0, 0, 0], "fov": 90 } },
    "meshes": {
        "floor": { "plane": { "segments": [2, 2] } },
        "ball": { "sphere": {} },
        "post": { "cylinder": { "segments": [8, 1] } },
        "box": { "cube": {} },
        "card": { "quad": {} },
        "hills": { "terrain": { "segments": [8, 8], "height": 0.1 } },
        "own": { "triangles": {
            "positions": [[0, 0, 0], [0, 0, 1], [1, 0, 0]], "triangles": [[0, 1, 2]]
        } }
    },
    "textures": { "oak": { "file": "oak.png", "wrap": "mirror", "color": "linear" } },
    "materials": {
        "painted": { "shader": {
            "file": "s.adu",
            "inputs": { "gain": 0.5, "tint": [1, 0.5, 0], "n": 3, "b": true },
            "textures": { "wood": "oak" }
        } },
        "grouped": { "group": { "file": "g.json" } },
        "metal": { "standard": { "metallic": 1, "base-color-texture": "oak" } }
    },
    "instances": [
        { "mesh": "floor", "material": "painted", "transform": [{ "scale": [8, 1, 8] }] },
        { "mesh": "ball", "material": "metal", "transform": [
            { "rotate": { "axis": [0, 0, 1], "degrees": 90 } },
            { "translate": [1, 1, 0] }
        ] },
        { "mesh": "own", "material": "grouped", "transform": [
            { "matrix": [[1, 0, 0, -3], [0, 1, 0, 2], [0, 0, 1, 0]] }
        ] },
        { "mesh": "box" }
    ],
    "lights": [
        { "point": { "position": [0, 5, 0], "intensity": [10, 10, 10] } },
        { "directional": { "direction": [0, -2, 0], "irradiance": [1, 2, 3] } }
    ],
    "environment": { "constant": [0.1, 0.2, 0.3] }
}"#;

fn whole_scene() -> Files {
    let files = Files::new();
    files.write("scene.json", SCENE);
    files.write("s.adu", SHADER);
    files.write("oak.png", PNG);
    files.write(
        "g.json",
        r#"{ "units": { "u": { "source": "lambert.adu" } }, "outputs": { "c": "u.c" } }"#,
    );
    files.write(
        "lambert.adu",
        "shader l(out closure c) { c = 0.5 * make_closure<diffuse>(global_value<normal>); }",
    );
    files
}

#[test]
fn warnings_of_the_compiler_are_those_of_the_scene() {
    let files = whole_scene();
    let second_order = "(global_value<uvw>.xy + ddx(global_value<uvw>.xy))";
    files.write(
        "s.adu",
        SHADER.replace("global_value<uvw>.xy", second_order),
    );
    let scene = load(&files, "scene.json").unwrap();
    let [warning] = &scene.warnings[..] else {
        panic!("{:?}", scene.warnings)
    };
    for part in ["materials.painted: warnings of", "W0512", "derivative"] {
        assert!(warning.contains(part), "{part}: {warning}");
    }
}

#[test]
fn scene_files_become_scenes() {
    let files = whole_scene();
    let scene = load(&files, "scene.json").unwrap();
    assert_eq!(scene.camera.size, [64, 32]);
    let Projection::Perspective { tan_half, shift } = scene.camera.projection else {
        panic!("{:?}", scene.camera)
    };
    assert!(tan_half.abs_diff_eq(DVec2::new(2.0, 1.0), 1e-12) && shift == DVec2::ZERO);
    assert_eq!(scene.camera.right, DVec3::X);
    assert_eq!(below(&scene, 3.0, 3.0), Some((10.0, "painted")));
    let (t, name) = below(&scene, 1.0, 0.0).unwrap();
    assert!((t - 8.0).abs() < 1e-2 && name == "metal", "{t} {name}");
    assert_eq!(below(&scene, -2.75, 0.25), Some((8.0, "grouped")));
    assert_eq!(below(&scene, -0.25, 0.25), Some((9.5, "default")));
    assert_eq!(below(&scene, 9.0, 0.0), None);
    assert_eq!(scene.options.spp, Some(4));
    assert_eq!(scene.options.mip_rule.as_deref(), Some("article"));
    assert_eq!(
        scene.lights[0],
        Light::Point {
            position: DVec3::new(0.0, 5.0, 0.0),
            intensity: Vec3::splat(10.0),
        }
    );
    assert_eq!(
        scene.lights[1],
        Light::Directional {
            direction: DVec3::NEG_Y,
            irradiance: Vec3::new(1.0, 2.0, 3.0),
        }
    );
    let sky = Environment::Constant(Vec3::new(0.1, 0.2, 0.3));
    assert_eq!(scene.environment, sky);
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
    // Inputs are folded in; one texture of the scene is two of programs.
    let material = |name: &str| scene.materials.iter().find(|m| m.name == name).unwrap();
    assert!(material("painted").instance.program().inputs().is_empty());
    for name in ["painted", "metal"] {
        assert_eq!(material(name).textures, [0], "{name}");
    }
    assert_eq!(scene.textures.len(), 1);
    let oak = &scene.textures[0];
    assert_eq!(oak.source, TextureSource::File(files.path("oak.png")));
    assert_eq!(
        (oak.wrap, oak.color_space),
        ([Wrap::Mirror; 2], ColorSpace::Linear)
    );
}

#[test]
fn declared_textures_are_those_of_scenes() {
    let files = Files::new();
    files.write(
        "scene.json",
        r#"{
            "materials": {
                "declared": { "shader": { "file": "floor/s.adu" } },
                "again": { "shader": { "file": "floor/s.adu" } },
                "replaced": { "shader": { "file": "floor/s.adu", "textures": { "wood": "oak" } } }
            },
            "textures": { "oak": { "file": "oak.png", "wrap": "mirror" } }
        }"#,
    );
    files.write("oak.png", PNG);
    files.write("floor/lib/wood.png", PNG);
    files.write(
        "floor/lib/wood.adu",
        r#"texture2d wood <<< file = "wood.png", wrap_v = "clamp", color_space = "linear" >>>;"#,
    );
    let shader = SHADER.replace("texture2d wood;", "#include \"lib/wood.adu\"");
    files.write("floor/s.adu", &shader);
    let scene = load(&files, "scene.json").unwrap();
    let textures: Vec<_> = scene.materials.iter().map(|m| &m.textures[..]).collect();
    assert_eq!(textures, [[1], [1], [0]]);
    let wood = &scene.textures[1];
    let file = TextureSource::File(files.path("floor/lib/wood.png"));
    assert_eq!((&wood.source, scene.textures.len()), (&file, 2));
    assert_eq!(wood.wrap, [Wrap::Repeat, Wrap::Clamp]);
    assert_eq!(wood.color_space, ColorSpace::Linear);

    std::fs::remove_file(files.path("floor/lib/wood.png")).unwrap();
    let missing = error(&files, "scene.json");
    for part in [
        "materials.declared",
        "`wood.png` of the texture `wood`",
        "floor/lib/wood.adu:1:11",
    ] {
        assert!(missing.contains(part), "{missing}");
    }
}

#[test]
fn sizes_of_the_command_replace_those_of_scenes() {
    let files = whole_scene();
    let loader = SceneLoader::new().with_size(Some([10, 20]));
    let scene = loader.load(&files.path("scene.json")).unwrap();
    let Projection::Perspective { tan_half, .. } = scene.camera.projection else {
        panic!("{:?}", scene.camera)
    };
    assert!(tan_half.abs_diff_eq(DVec2::new(0.5, 1.0), 1e-12));
    let loader = SceneLoader::new().with_size(Some([0, 20]));
    let error = loader.load(&files.path("scene.json")).unwrap_err();
    assert!(
        error.message.contains("a side is from 1 to 16384"),
        "{error}"
    );
}

#[test]
fn inputs_of_materials_are_folded_as_they_are_set() {
    use adumbra::{Evaluator, NoTextures};
    let files = Files::new();
    let shader = "struct P { float k; int n; };
        shader s(float a, float2 v, float2x2 m, bool b, uint u, P p, out color c) {
            c = color(a + v.y + m[1][0], b ? p.k : 0.0, float(u) + float(p.n));
        }";
    files.write("s.adu", shader);
    let scene = r#"{ "materials": { "m": { "shader": { "file": "s.adu", "inputs": {
        "a": 0.25, "v": [9, 2], "m": [[9, 9], [30, 9]], "b": true, "u": 4000000000,
        "p": { "k": 7, "n": -3 }
    } } } } }"#;
    files.write("scene.json", scene);
    let scene = load(&files, "scene.json").unwrap();
    let instance = &scene.materials[0].instance;
    let mut evaluator = Evaluator::new(instance);
    let globals = adumbra::Globals::new(instance.program().globals());
    evaluator.evaluate(&globals, &mut NoTextures);
    let c = evaluator.get::<[f32; 3]>("c").unwrap();
    assert_eq!(c, [32.25, 7.0, 4e9 - 3.0]);
}

#[test]
fn scenes_contain_scenes() {
    let files = Files::new();
    files.write("sub/model.obj", "v 0 0 0\nv 0 0 1\nv 1 0 0\nf 1 2 3\n");
    let inner = r#"{ "instances": [{ "scene": "model.obj", "transform": [{ "translate": [0, 1, 0] }] }],
        "lights": [{ "point": { "position": [0, 0, 0], "intensity": [1, 1, 1] } }] }"#;
    files.write("sub/inner.json", inner);
    let outer = r#"{
        "materials": { "red": { "standard": { "base-color": [1, 0, 0] } } },
        "instances": [
            { "scene": "sub/inner.json", "transform": [{ "scale": [2, 2, 2] }] },
            { "scene": "sub/inner.json", "material": "red", "transform": [{ "translate": [5, 0, 0] }] }
        ]
    }"#;
    files.write("outer.json", outer);
    let scene = load(&files, "outer.json").unwrap();
    assert_eq!(below(&scene, 0.5, 0.5), Some((8.0, "default")));
    assert_eq!(below(&scene, 5.25, 0.25), Some((9.0, "red")));
    let places: Vec<DVec3> = (scene.lights.iter())
        .map(|light| match light {
            Light::Point { position, .. } => *position,
            Light::Directional { .. } | Light::Spot { .. } => panic!("{light:?}"),
        })
        .collect();
    assert_eq!(places, [DVec3::ZERO, DVec3::X * 5.0]);
}

#[test]
fn zero_area_textures_load() {
    let files = Files::new();
    let scene = r#"{
        "textures": { "t": { "file": "t.png" } },
        "materials": { "m": { "standard": { "normal-texture": "t" } } },
        "meshes": { "m": { "triangles": {
            "positions": [[0, 0, 0], [0, 0, 1], [1, 0, 0]], "triangles": [[0, 1, 2]],
            "uvs": [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
        } } },
        "instances": [{ "mesh": "m", "material": "m" }]
    }"#;
    files.write("t.png", PNG);
    files.write("s.json", scene);
    let scene = load(&files, "s.json").unwrap();
    let origin = DVec3::new(0.25, 1.0, 0.25);
    let hit = (scene.world).intersect(origin, DVec3::NEG_Y, 0.0, 10.0);
    let triangle = scene.world.triangle(&hit.unwrap());
    let tangents = triangle.tangents.expect("the normal map reads tangents");
    assert!(
        tangents
            .iter()
            .all(|tangent| (tangent.length() - 1.0).abs() < 1e-6)
    );
}

#[test]
fn scene_of_the_documentation_loads() {
    let page = include_str!("../../../docs/render.md");
    let (_, rest) = page
        .split_once("```json file=scene.json\n")
        .expect("the page has a scene");
    let (scene, _) = rest.split_once("```").expect("the block ends");
    let files = Files::new();
    files.write("scene.json", scene);
    files.write("oak.png", PNG);
    files.write("plank.adu", SHADER);
    files.write("chair.obj", "v 0 0 0\nv 0 0 1\nv 1 0 0\nf 1 2 3\n");
    let scene = load(&files, "scene.json").unwrap();
    assert_eq!(scene.world.instanced_triangles(), 2 + 2 * 64 * 32 + 1);
}
