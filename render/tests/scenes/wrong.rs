//! Files that are refused, each with its place.

use super::scene_files::{Files, glb, triangle_gltf};
use super::{error, load};
use adumbra_render::geometry::GeometryLimits;
use adumbra_render::scene::{SceneLoader, ScenePlace};

#[test]
fn wrong_scene_files_are_reported_with_places() {
    let cases = [
        (
            "{ \"camera\": { \"perspective\": {} } }",
            "s.json:1:31: missing field `from`",
        ),
        (
            "{\n  \"lihgts\": [] }",
            "s.json:2:10: unknown field `lihgts`",
        ),
        ("{", "s.json:1:1: EOF while parsing"),
        ("[]", "s.json: it is a list, not an object"),
        (
            "{ \"image\": { \"width\": -5, \"height\": 4 } }",
            "s.json:1:24: invalid value: integer `-5`",
        ),
        (
            "{ \"image\": { \"width\": 0, \"height\": 4 } }",
            "s.json: image: it is 0 × 4",
        ),
        (
            "{ \"image\": { \"width\": 99999, \"height\": 4 } }",
            "s.json: image: it is 99999 × 4",
        ),
        (
            "{ \"lights\": [{ \"point\": { \"position\": [0, 1e999, 0], \"intensity\": [1, 1, 1] } }] }",
            "s.json:1:47: number out of range",
        ),
        (
            "{ \"lights\": [{ \"point\": { \"position\": [0, 0, 0], \"intensity\": [1, -1, 1] } }] }",
            "s.json: lights[0]: its light is",
        ),
        (
            "{ \"lights\": [{ \"directional\": { \"direction\": [0, 0, 0], \"irradiance\": [1, 1, 1] } }] }",
            "s.json: lights[0]: its direction has no length",
        ),
        (
            "{ \"lights\": [{ \"area\": {} }] }",
            "s.json:1:21: unknown variant `area`",
        ),
        (
            "{ \"meshes\": { \"m\": { \"quad\": {} }, \"m\": { \"quad\": {} } } }",
            "s.json:1:38: `m` is defined twice",
        ),
        (
            "{ \"meshes\": { \"m\": { \"sphere\": { \"segments\": [2, 2] } } } }",
            "s.json: meshes.m: it has 2 × 2 segments",
        ),
        (
            "{ \"meshes\": { \"m\": { \"plane\": { \"segments\": [-2, 2] } } } }",
            "s.json:1:47: invalid value: integer `-2`",
        ),
        (
            "{ \"meshes\": { \"m\": { \"file\": { \"path\": \"m.glb\" } } } }",
            "m.glb: it cannot be read: ",
        ),
        (
            "{ \"meshes\": { \"m\": { \"file\": { \"path\": \"m.png\" } } } }",
            "m.png: its name ends with none of",
        ),
        (
            "{ \"instances\": [{ \"mesh\": \"m\" }] }",
            "s.json: instances[0].mesh: there is no mesh `m`; none is defined",
        ),
        (
            "{ \"meshes\": { \"a\": { \"quad\": {} } }, \"instances\": [{ \"mesh\": \"m\" }] }",
            "there is no mesh `m`; there are `a`",
        ),
        (
            "{ \"instances\": [{ \"mesh\": \"a\", \"material\": \"m\" }] }",
            "s.json: instances[0].material: there is no material `m`",
        ),
        (
            "{ \"instances\": [{}] }",
            "s.json: instances[0]: it has either a `mesh` or a `scene`",
        ),
        (
            "{ \"instances\": [{ \"scene\": \"no.gltf\" }] }",
            "s.json: instances[0].scene: no.gltf cannot be read",
        ),
        (
            "{ \"textures\": { \"t\": { \"file\": \"no.png\" } } }",
            "s.json: textures.t.file: there is no file no.png",
        ),
        (
            "{ \"environment\": { \"image\": { \"file\": \"no.exr\" } } }",
            "s.json: environment: there is no file no.exr",
        ),
        (
            "{ \"materials\": { \"m\": { \"standard\": { \"normal-texture\": \"t\" } } } }",
            "s.json: materials.m: there is no texture `t`",
        ),
        (
            "{ \"materials\": { \"m\": { \"shader\": { \"file\": \"no.adu\" } } } }",
            "s.json: materials.m: the material does not compile\n",
        ),
        (
            "{ \"materials\": { \"m\": { \"shader\": { \"file\": \"bad.adu\" } } } }",
            "bad.adu:1:",
        ),
        (
            "{ \"materials\": { \"m\": { \"shader\": { \"file\": \"ok.adu\", \"inputs\": { \"g\": 1 } } } } }",
            "s.json: materials.m.inputs.g: there is no such input; there are `k`",
        ),
        (
            "{ \"materials\": { \"m\": { \"shader\": { \"file\": \"ok.adu\", \"inputs\": { \"k\": [1] } } } } }",
            "s.json: materials.m.inputs.k: `[1]` is not a number",
        ),
        (
            "{ \"materials\": { \"m\": { \"shader\": { \"file\": \"ok.adu\", \"textures\": { \"x\": \"t\" } } } } }",
            "s.json: materials.m.textures.x: the material has no such texture",
        ),
        (
            "{ \"materials\": { \"m\": { \"shader\": { \"file\": \"ok.adu\" } } } }",
            "s.json: materials.m: there is no texture `t`",
        ),
        (
            "{ \"camera\": { \"perspective\": { \"from\": [0, 0, 0], \"to\": [0, 0, 0], \"fov\": 40 } } }",
            "s.json: camera.to: it is at `from`",
        ),
        (
            "{ \"camera\": { \"perspective\": { \"from\": [0, 0, 0], \"to\": [0, 3, 0], \"fov\": 40 } } }",
            "s.json: camera.to: it is at `from`, or `up` is along the view",
        ),
        (
            "{ \"camera\": { \"perspective\": { \"from\": [0, 0, 0], \"to\": [1, 0, 0], \"fov\": 180 } } }",
            "s.json: camera.fov: it is 180",
        ),
        (
            "{ \"camera\": { \"orthographic\": { \"from\": [0, 0, 0], \"to\": [1, 0, 0], \"height\": -1 } } }",
            "s.json: camera.height: it is -1",
        ),
        (
            "{ \"camera\": { \"thin-lens\": { \"from\": [0, 0, 0], \"to\": [1, 0, 0], \"fov\": 40, \"lens-radius\": -1 } } }",
            "s.json: camera.lens-radius: it is -1",
        ),
        (
            "{ \"camera\": { \"thin-lens\": { \"from\": [0, 0, 0], \"to\": [1, 0, 0], \"fov\": 40, \"lens-radius\": 1, \"focus-distance\": 0 } } }",
            "s.json: camera.focus-distance: it is 0",
        ),
        (
            "{ \"options\": { \"spp\": 0 } }",
            "s.json: options.spp: it is 0",
        ),
        (
            "{ \"options\": { \"spp\": 65537 } }",
            "s.json: options.spp: it is 65537; a pixel has from 1 to 65536 samples",
        ),
        (
            "{ \"options\": { \"bounces\": 65 } }",
            "s.json: options.bounces: it is 65; the limit is 64",
        ),
        (
            "{ \"options\": { \"clamp\": 0 } }",
            "s.json: options.clamp: it is 0",
        ),
        (
            "{ \"options\": { \"bias\": 1e39 } }",
            "s.json: options.bias: it is not finite",
        ),
        (
            "{ \"lights\": [{ \"spot\": { \"position\": [0, 0, 0], \"direction\": [0, 0, 0], \"intensity\": [1, 1, 1], \"outer\": 20 } }] }",
            "s.json: lights[0]: its direction has no length",
        ),
        (
            "{ \"lights\": [{ \"spot\": { \"position\": [0, 0, 0], \"direction\": [0, 0, 1], \"intensity\": [1, 1, 1], \"inner\": 30, \"outer\": 20 } }] }",
            "s.json: lights[0]: its angles are not 0 ≤ `inner` < `outer` ≤ 90",
        ),
        (
            "{ \"meshes\": { \"m\": { \"quad\": {} } }, \"instances\": [{ \"mesh\": \"m\", \"transform\": [{ \"scale\": [1, 0, 1] }] }] }",
            "s.json: instance 0, of meshes.m in s.json: its transform has no inverse",
        ),
        (
            "{ \"meshes\": { \"m\": { \"quad\": {} } }, \"instances\": [{ \"mesh\": \"m\", \"transform\": [{ \"rotate\": { \"axis\": [0, 0, 0], \"degrees\": 1 } }] }] }",
            "s.json: instances[0].transform[0].rotate.axis: it has no direction",
        ),
        (
            "{ \"meshes\": { \"m\": { \"triangles\": { \"positions\": [[0, 0, 0]], \"triangles\": [[0, 0, 1]] } } } }",
            "s.json: meshes.m: triangle 0 has the index 1, but there are 1 positions",
        ),
        (
            "{ \"meshes\": { \"m\": { \"triangles\": { \"positions\": [[0, 1e39, 0]], \"triangles\": [] } } } }",
            "s.json: meshes.m: entry 0 of its positions is not finite: inf",
        ),
        (
            "{ \"meshes\": { \"m\": { \"triangles\": { \"positions\": [[0, 0, 0]], \"normals\": [[0, 0, 1], [0, 0, 1]], \"triangles\": [] } } } }",
            "s.json: meshes.m: it has 2 normals for 1 positions",
        ),
    ];
    let files = Files::new();
    files.write("ok.adu", "texture2d t; shader s(float k = 1.0, out color c) { c = k * texture2d_sample<t>(0.5, 0.5); }");
    files.write("bad.adu", "shader s(out color c) { c = d; }");
    let mut wrong = Vec::new();
    for (scene, expected) in cases {
        files.write("s.json", scene);
        let message = error(&files, "s.json");
        if !message.contains(expected) {
            wrong.push(format!("{scene}\nexpected {expected}\n     got {message}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(error(&files, "no.json").starts_with("no.json: it cannot be read: "));
    assert_eq!(
        error(&files, "folder/scene.txt"),
        "folder/scene.txt: its name ends with none of .json, .gltf, .glb, .obj, .adu"
    );
    assert!(error(&files, "no.gltf").starts_with("no.gltf: it cannot be read: "));
    for name in ["empty.json", "empty.gltf", "empty.glb"] {
        files.write(name, "");
        assert_eq!(error(&files, name), format!("{name}: it is empty"));
    }
    std::fs::create_dir(files.path("folder.json")).unwrap();
    assert_eq!(
        error(&files, "folder.json"),
        "folder.json: it cannot be read: it is not a file"
    );
}

#[test]
fn wrong_gltf_files_are_reported_with_places() {
    let files = Files::new();
    let good = triangle_gltf("");
    files.write("t.gltf", &good);
    load(&files, "t.gltf").unwrap();
    let cases = [
        (
            "\"count\": 3",
            "\"count\": 4",
            "meshes[0].primitives[0].POSITION: it is beyond the end of its buffer view",
        ),
        (
            "\"byteLength\": 42,",
            "\"byteLength\": 400,",
            "buffers[0]: it has 42 bytes of 400",
        ),
        (
            "\"byteLength\": 36",
            "\"byteLength\": 99",
            "bufferViews[0] is beyond the end of buffers[0]",
        ),
        (
            "\"nodes\": [{ \"mesh\": 0 }]",
            "\"nodes\": [{ \"mesh\": 0, \"children\": [1] }, { \"children\": [0] }]",
            "nodes[0]: it is a child twice, or contains itself",
        ),
        (
            "\"nodes\": [{ \"mesh\": 0 }]",
            "\"nodes\": [{ \"mesh\": 7 }]",
            "nodes[0].mesh: ",
        ),
        (
            "\"nodes\": [{ \"mesh\": 0 }]",
            "\"nodes\": [{ \"mesh\": 0, \"rotation\": [0, 0, 0, 0] }]",
            "nodes[0]: its transform is not finite",
        ),
        (
            "\"nodes\": [{ \"mesh\": 0 }]",
            "\"nodes\": [{ \"camera\": 0 }], \"cameras\": [{ \"type\": \"perspective\" }]",
            "cameras[0]: Missing data",
        ),
        (
            "data:application/octet-stream;base64,",
            "no%20file.bin?",
            "buffers[0]: no file.bin?",
        ),
        (
            "data:application/octet-stream;base64,",
            "http://",
            "is not a file",
        ),
        (
            "data:application/octet-stream;base64,",
            "%ff",
            "is not UTF-8",
        ),
        (
            "base64,AAAA",
            "base64,A*AA",
            "buffers[0]: its base64 has other characters",
        ),
        (
            "\"asset\"",
            "\"extensionsRequired\": [\"KHR_draco_mesh_compression\"], \"asset\"",
            "extensionsRequired[0]",
        ),
        (
            "\"type\": \"VEC3\"",
            "\"type\": \"VEC2\"",
            "POSITION: it is not of vectors with 3 components",
        ),
        ("5123", "5126", "meshes[0].primitives[0].indices"),
    ];
    for (from, to, expected) in cases {
        assert!(good.contains(from), "{from}");
        files.write("bad.gltf", good.replace(from, to));
        let message = error(&files, "bad.gltf");
        assert!(message.contains(expected), "{to}\n{message}");
    }
    // NaN within a buffer, and indices beyond the positions.
    files.write("nan.gltf", triangle_gltf("AADAfw"));
    let message = error(&files, "nan.gltf");
    assert!(
        message.contains("meshes[0].primitives[0]: entry 0 of its positions is not finite"),
        "{message}"
    );
    let image = ", \"textures\": [{ \"source\": 0 }], \"images\": [{ \"uri\": \"no.png\" }],
        \"materials\": [{ \"emissiveTexture\": { \"index\": 0 } }], \"asset\"";
    let with_image = good.replace(", \"asset\"", image);
    let with_image = with_image.replace("\"indices\": 1", "\"indices\": 1, \"material\": 0");
    files.write("image.gltf", with_image);
    let message = error(&files, "image.gltf");
    assert_eq!(message, "image.gltf: images[0]: there is no file no.png");
    // Truncated and changed binary files are errors or scenes, but never a panic.
    let bytes = glb();
    for length in (0..bytes.len()).step_by(13) {
        files.write("cut.glb", &bytes[..length]);
        let _ = load(&files, "cut.glb");
    }
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..300 {
        let mut changed = bytes.clone();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(0..changed.len());
            changed[at] = random.u8(..);
        }
        files.write("changed.glb", &changed);
        let _ = load(&files, "changed.glb");
    }
}

/// A library that is named again is read once; there are bounds for others and for materials.
#[test]
fn libraries_of_obj_files_are_bounded() {
    let files = Files::new();
    let named =
        |count: usize| -> String { (0..count).map(|at| format!("mtllib {at}.mtl\n")).collect() };
    (0..=256).for_each(|at| files.write(&format!("{at}.mtl"), format!("newmtl m{at}\n")));
    let triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl m0\nf 1 2 3\n";
    files.write(
        "t.obj",
        format!("{}{triangle}", "mtllib 0.mtl\n".repeat(1_000)),
    );
    load(&files, "t.obj").expect("it is one library");
    files.write("t.obj", format!("{}{triangle}", named(256)));
    load(&files, "t.obj").expect("they are few enough");
    files.write("t.obj", format!("{}{triangle}", named(257)));
    let message = error(&files, "t.obj");
    assert!(message.contains("more than 256 libraries"), "{message}");
    files.write("many.mtl", "newmtl a\n".repeat((1 << 16) + 1));
    files.write("t.obj", format!("mtllib many.mtl\n{triangle}"));
    let message = error(&files, "t.obj");
    assert!(message.contains("more than 65536 materials"), "{message}");
}

#[test]
fn wrong_obj_files_are_reported_with_lines() {
    let files = Files::new();
    files.write("bad.mtl", "newmtl a\nKd 1 x 0\n");
    let cases = [
        ("v 0 0 0\nv 1 y 0\n", "t.obj:2:1: "),
        (
            "v 0 0 0\nf 1 2 3\n",
            "t.obj:2:1: the index 2 is of none of 1 positions",
        ),
        ("v 0 0 0\n\nf 1 a 3\n", "t.obj:3:1: "),
        ("mtllib bad.mtl\n", "bad.mtl:2:1: "),
        (
            "v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
            "entry 0 of its positions is not finite: NaN",
        ),
        ("v 0 0 0\nf 99999999999999999999 1 1\n", "t.obj:2:1: "),
        ("v 0 0 0\nf -9223372036854775808 1 1\n", "t.obj:2:1: "),
    ];
    for (obj, expected) in cases {
        files.write("t.obj", obj);
        let message = error(&files, "t.obj");
        assert!(message.contains(expected), "{obj}\n{message}");
    }
    files.write("t.obj", "");
    let scene = load(&files, "t.obj").unwrap();
    assert_eq!(scene.warnings.len(), 1, "there is nothing in it");
    assert_eq!(scene.world.bounds(), None);
    files.write("t.obj", [0xff, 0xfe, b'v', b' ', 0x80]);
    assert!(error(&files, "t.obj").starts_with("t.obj:"));
}
#[test]
fn cyclic_scenes_and_groups_are_errors() {
    let files = Files::new();
    files.write("a.json", r#"{ "instances": [{ "scene": "b.json" }] }"#);
    files.write("b.json", r#"{ "instances": [{ "scene": "./a.json" }] }"#);
    let message = error(&files, "a.json");
    assert_eq!(
        message,
        "b.json: instances[0].scene: ./a.json contains itself"
    );
    // Files that each contain the next, deeper than the limit.
    for depth in 0..40 {
        let next = depth + 1;
        let scene = format!(r#"{{ "instances": [{{ "scene": "d{next}.json" }}] }}"#);
        files.write(&format!("d{depth}.json"), scene);
    }
    let message = error(&files, "d0.json");
    assert!(
        message.ends_with("files are nested more than 16 deep"),
        "{message}"
    );
    let unit = "shader u(float a = 0.0, out float o) { o = a; }";
    files.write("u.adu", unit);
    let group = r#"{ "units": { "a": { "source": "u.adu" }, "b": { "source": "u.adu" } },
        "connections": [{ "from": "a.o", "to": "b.a" }, { "from": "b.o", "to": "a.a" }],
        "outputs": { "o": "b.o" } }"#;
    files.write("g.json", group);
    files.write(
        "cyclic.json",
        r#"{ "materials": { "m": { "group": { "file": "g.json" } } } }"#,
    );
    let message = error(&files, "cyclic.json");
    assert!(
        message.contains("materials.m: the material does not compile"),
        "{message}"
    );
    assert!(message.contains("cycle"), "{message}");
}

#[test]
fn scenes_larger_than_the_limits_are_refused() {
    let limits = GeometryLimits {
        triangles: 100,
        instances: 5,
    };
    let files = Files::new();
    let refused = |name: &str| {
        let loader = SceneLoader::new().with_limits(limits);
        let error = loader.load(&files.path(name)).unwrap_err();
        (error.place, error.message)
    };
    files.write(
        "grid.json",
        r#"{ "meshes": { "g": { "plane": { "segments": [10, 10] } } } }"#,
    );
    let place = ScenePlace::Item("meshes.g".to_owned());
    let message = "there are 200 triangles; the limit is 100".to_owned();
    assert_eq!(refused("grid.json"), (place, message.clone()));
    // Each level doubles the instances: they are counted before they are made.
    files.write("t.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    let two = |name: &str| {
        format!(r#"{{ "instances": [{{ "scene": "{name}" }}, {{ "scene": "{name}" }}] }}"#)
    };
    files.write("l0.json", two("t.obj"));
    for level in 1..12 {
        files.write(
            &format!("l{level}.json"),
            two(&format!("l{}.json", level - 1)),
        );
    }
    let (place, message) = refused("l11.json");
    assert_eq!(message, "there are at least 8 instances; the limit is 5");
    assert_eq!(place, ScenePlace::Item("instances[1]".to_owned()));
    // An accessor of ten million triangles over a few bytes is refused before memory is taken.
    let gltf = triangle_gltf("").replace("\"count\": 3", "\"count\": 30000000");
    files.write("huge.gltf", gltf);
    let (_, message) = refused("huge.gltf");
    assert_eq!(message, "there are 10000000 triangles; the limit is 100");
    let mut obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\n".to_owned();
    (0..101).for_each(|_| obj.push_str("f 1 2 3\n"));
    files.write("many.obj", obj);
    let (_, message) = refused("many.obj");
    assert_eq!(message, "there are 101 triangles; the limit is 100");
}

/// What the libraries for models panic at is refused before them, with its place.
#[test]
fn malformed_models_are_refused_with_places() {
    let files = Files::new();
    files.write(
        "m.gltf",
        r#"{"asset":{"version":"2.0"},"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}]}"#,
    );
    assert_eq!(
        error(&files, "m.gltf"),
        "m.gltf: meshes[0].primitives[0].attributes.POSITION: it is 0; the number of accessors is 0"
    );
    files.write(
        "m.obj",
        "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    );
    files.write("m.mtl", "Kd 1\n");
    assert_eq!(
        error(&files, "m.obj"),
        "m.mtl:1:1: `Kd` needs 3 numbers, and has 1"
    );
}
