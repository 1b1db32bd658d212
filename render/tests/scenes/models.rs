//! glTF and OBJ files as scenes.

use super::scene_files::{Files, PNG, glb, triangle_gltf};
use super::{below, load};
use adumbra_render::camera::Projection;
use adumbra_render::scene::{ColorSpace, Environment, Light};
use adumbra_render::texture::Wrap;
use glam::{DVec2, DVec3, Vec3};

#[test]
fn glb_files_are_scenes() {
    let files = Files::new();
    files.write("model.glb", glb());
    let scene = load(&files, "model.glb").unwrap();
    assert_eq!(scene.warnings, Vec::<String>::new());
    // The first node mirrors x; the second is scaled by 0 and not drawn.
    let hit = (scene.world)
        .intersect(DVec3::new(-0.5, 0.25, 5.0), DVec3::NEG_Z, 0.0, 10.0)
        .expect("the mirrored triangle is there");
    let triangle = scene.world.triangle(&hit);
    assert!(triangle.is_mirrored);
    assert_eq!(triangle.positions[1], DVec3::new(-2.0, 0.0, 1.0));
    assert_eq!(triangle.normals.unwrap()[0], DVec3::Z);
    assert_eq!(triangle.uvs.unwrap()[2], DVec2::new(0.0, 1.0));
    assert!(triangle.tangents.is_some(), "the normal map reads them");
    let other = (scene.world).intersect(DVec3::new(0.5, 0.25, 5.0), DVec3::NEG_Z, 0.0, 10.0);
    assert_eq!(other, None);
    assert_eq!(scene.world.instanced_triangles(), 1);
    let material = &scene.materials[scene.world.material(&hit)];
    assert_eq!(material.name, "skin");
    let textures: Vec<_> = (material.textures.iter())
        .map(|index| &scene.textures[*index])
        .collect();
    // One image, as a colour and as a normal map.
    assert_eq!(textures.len(), 2);
    for texture in &textures {
        assert_eq!(&texture.source.read_bytes().unwrap()[..], PNG);
        assert_eq!(texture.wrap, [Wrap::Clamp, Wrap::Mirror]);
    }
    let spaces: Vec<_> = textures.iter().map(|t| t.color_space).collect();
    assert!(spaces.contains(&ColorSpace::Srgb) && spaces.contains(&ColorSpace::Linear));
    // Numbers are as they are stored: 128 of 255.
    let linear = textures
        .iter()
        .find(|t| t.color_space == ColorSpace::Linear);
    let texel = linear
        .unwrap()
        .source
        .with_rows(ColorSpace::Linear, |rows| Ok(rows.next_row()?[0]));
    assert_eq!(texel.unwrap(), 128.0 / 255.0);
    assert_eq!(scene.lights.len(), 1);
    assert_eq!(
        scene.lights[0],
        Light::Point {
            position: DVec3::new(0.0, 3.0, 0.0),
            intensity: Vec3::new(2.0, 0.0, 0.0),
        }
    );
    // It has a light, so no environment; and a camera.
    assert_eq!(scene.environment, Environment::Constant(Vec3::ZERO));
    assert_eq!(scene.camera.origin, DVec3::new(0.0, 0.0, 7.0));
    assert_eq!(scene.camera.forward, DVec3::NEG_Z);
}

#[test]
fn spots_of_gltf_shine_into_their_cones() {
    let files = Files::new();
    let with_spot = |spot: &str| {
        let node = r#""nodes": [{ "mesh": 0 }, {
            "translation": [0, 3, 0], "rotation": [-0.70710678, 0, 0, 0.70710678],
            "extensions": { "KHR_lights_punctual": { "light": 0 } }
        }]"#;
        let light = format!(
            r#", "extensionsUsed": ["KHR_lights_punctual"],
            "extensions": {{ "KHR_lights_punctual": {{ "lights": [
                {{ "type": "spot", "intensity": 8, "spot": {{ {spot} }} }}
            ] }} }}, "asset""#
        );
        let gltf = triangle_gltf("").replace("\"nodes\": [{ \"mesh\": 0 }]", node);
        let gltf = gltf.replace("\"nodes\": [0]", "\"nodes\": [0, 1]");
        files.write("s.gltf", gltf.replace(", \"asset\"", &light));
        load(&files, "s.gltf")
    };
    let scene = with_spot("\"innerConeAngle\": 0.1, \"outerConeAngle\": 0.5").unwrap();
    assert_eq!(scene.warnings, Vec::<String>::new());
    let light = scene.lights[0];
    // It shines down: 8/r² along the axis, nothing beyond the cone or above.
    let irradiance = |x: f64, y: f64| light.at(DVec3::new(x, y, 0.0)).irradiance.x;
    assert!((irradiance(0.0, 1.0) - 2.0).abs() < 1e-4, "{light:?}");
    assert_eq!((irradiance(1.2, 1.0), irradiance(0.0, 5.0)), (0.0, 0.0));
    let part = irradiance(0.6, 1.0);
    assert!(part > 0.0 && part < 1.0, "{part}");
    // By default nothing is lost up to the axis alone, and the cone ends at 45 degrees.
    let light = with_spot("").unwrap().lights[0];
    assert!(light.at(DVec3::new(1.9, 1.0, 0.0)).irradiance.x > 0.0);
    assert_eq!(light.at(DVec3::new(2.1, 1.0, 0.0)).irradiance.x, 0.0);
    // The greatest angle is π/2 as a float.
    with_spot("\"innerConeAngle\": 0, \"outerConeAngle\": 1.5707964").unwrap();
    for wrong in ["\"outerConeAngle\": 2", "\"innerConeAngle\": 0.8"] {
        let error = with_spot(wrong).unwrap_err().to_string();
        assert!(
            error.contains("lights[0]: its angles are not 0 ≤"),
            "{error}"
        );
    }
}

#[test]
fn vertex_colours_are_reported() {
    let files = Files::new();
    let gltf = triangle_gltf("").replace("\"POSITION\": 0", "\"POSITION\": 0, \"COLOR_0\": 0");
    files.write("t.gltf", gltf);
    let scene = load(&files, "t.gltf").unwrap();
    let expected = "meshes[0].primitives[0]: vertex colours are left out";
    assert!(
        scene.warnings.len() == 1 && scene.warnings[0].ends_with(expected),
        "{:?}",
        scene.warnings
    );
}

#[test]
fn models_without_cameras_are_framed() {
    let files = Files::new();
    files.write("t.gltf", triangle_gltf(""));
    let scene = load(&files, "t.gltf").unwrap();
    let camera = scene.camera;
    let Projection::Perspective { tan_half, .. } = camera.projection else {
        panic!("{camera:?}")
    };
    let mut greatest = 0.0_f64;
    for corner in [DVec3::ZERO, DVec3::X, DVec3::Y] {
        let at = corner - camera.origin;
        let along = at.dot(camera.forward);
        let x = at.dot(camera.right) / along / tan_half.x;
        let y = at.dot(camera.up) / along / tan_half.y;
        assert!(along > 0.0 && x.abs() < 1.0 && y.abs() < 1.0, "{x} {y}");
        greatest = greatest.max(x.abs()).max(y.abs());
    }
    assert!(greatest > 0.8, "it fills the view: {greatest}");
    assert_eq!(scene.environment, Environment::Constant(Vec3::splat(0.8)));
}

#[test]
fn obj_files_are_scenes() {
    let files = Files::new();
    let obj = "mtllib m.mtl
o floor
v 0 0 0\nv 0 0 1\nv 1 0 1\nv 1 0 0
vt 0 0\nvt 0 1\nvt 1 1\nvt 1 0
vn 0 1 0
usemtl shiny
f 1/1/1 2/2/1 3/3/1 4/4/1
o bare
v 5 0 0\nv 5 0 1\nv 6 0 0
usemtl glass
f -3 -2 -1
";
    files.write("m.obj", obj);
    files.write(
        "m.mtl",
        "newmtl shiny\nKd 1 0.5 0\nNs 98\nmap_Kd textures\\oak.png\nbump -bm 2 oak.png
newmtl glass\nd 0.25\nKe 2 2 2\n",
    );
    files.write("oak.png", PNG);
    files.write("textures/oak.png", PNG);
    let scene = load(&files, "m.obj").unwrap();
    assert_eq!(scene.warnings, Vec::<String>::new());
    assert_eq!(below(&scene, 0.75, 0.25), Some((10.0, "shiny")));
    assert_eq!(below(&scene, 5.25, 0.25), Some((10.0, "glass")));
    let origin = DVec3::new(0.25, 1.0, 0.75);
    let hit = (scene.world)
        .intersect(origin, DVec3::NEG_Y, 0.0, 10.0)
        .unwrap();
    let triangle = scene.world.triangle(&hit);
    // v goes down here, up there.
    for (position, uv) in triangle.positions.iter().zip(triangle.uvs.unwrap()) {
        assert_eq!((uv.x, uv.y), (position.x, 1.0 - position.z));
    }
    assert_eq!(triangle.normals.unwrap(), [DVec3::Y; 3]);
    assert_eq!(scene.textures.len(), 2);
    // As one mesh, and one object of it, with the scene's own material.
    let scene = r#"{
        "meshes": { "all": { "file": { "path": "m.obj" } }, "one": { "file": { "path": "m.obj", "name": "bare" } } },
        "instances": [{ "mesh": "all" }, { "mesh": "one", "transform": [{ "translate": [0, 1, 0] }] }]
    }"#;
    files.write("s.json", scene);
    let scene = load(&files, "s.json").unwrap();
    assert_eq!(below(&scene, 5.25, 0.25), Some((9.0, "default")));
    assert_eq!(below(&scene, 0.75, 0.25), Some((10.0, "default")));
}
