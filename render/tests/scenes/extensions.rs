//! Extensions of glTF: what they draw, what they are warned of, and what is refused.

use super::scene_files::{Files, glb, triangle_gltf};
use super::{error, load};
use adumbra_image::{ImageSize, PngImage, write_png};
use adumbra_render::scene_image::{ImageSettings, draw_scene};

/// The triangle with a material, whose JSON is given, and with parts of the file before `asset`.
fn with_material(material: &str, more: &str) -> String {
    let gltf = triangle_gltf("").replace("\"indices\": 1", "\"indices\": 1, \"material\": 0");
    let parts = format!("\"materials\": [{{ {material} }}], {more} \"asset\"");
    gltf.replace("\"asset\"", &parts)
}

/// Warnings of a file, without its path.
fn warnings(gltf: &str) -> Vec<String> {
    let files = Files::new();
    files.write("t.gltf", gltf);
    let scene = load(&files, "t.gltf").expect("a scene");
    let path = format!("{}: ", files.path("t.gltf").display());
    scene
        .warnings
        .iter()
        .map(|w| w.replace(&path, ""))
        .collect()
}

/// Light of the triangle's middle, seen along its normal.
struct Lit<'a> {
    files: &'a Files,
    light: &'a str,
}

const FURNACE: &str = r#""environment": { "constant": [1, 1, 1] }"#;
/// Light at 45 degrees, from the side of growing x.
const SIDE: &str =
    r#""lights": [{ "directional": { "direction": [-1, 0, -1], "irradiance": [1, 1, 1] } }]"#;

impl Lit<'_> {
    fn color(&self, gltf: &str) -> [f32; 3] {
        self.files.write("t.gltf", gltf);
        let scene = format!(
            r#"{{ "image": {{ "width": 1, "height": 1 }},
            "camera": {{ "orthographic": {{ "from": [0.25, 0.25, 2], "to": [0.25, 0.25, 0], "height": 0.01 }} }},
            "instances": [{{ "scene": "t.gltf" }}], {} }}"#,
            self.light
        );
        self.files.write("s.json", scene);
        let scene = load(self.files, "s.json").expect("a scene");
        let settings = ImageSettings {
            samples: 1024,
            ..ImageSettings::default()
        };
        let image = draw_scene(&scene, &settings).expect("it is drawn");
        let [r, g, b, _] = image.pixels[0];
        [r, g, b]
    }

    fn material(&self, base: &str, name: &str, object: &str) -> [f32; 3] {
        let material = format!(
            r#""pbrMetallicRoughness": {{ {base} }}, "extensions": {{ "{name}": {{ {object} }},
            "KHR_none": {{}} }}"#
        );
        self.color(&with_material(&material, ""))
    }
}

fn assert_close(found: [f32; 3], expected: [f32; 3], by: f32, of: &str) {
    let is_close = found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= by);
    assert!(is_close, "{of}: {found:?}, not {expected:?}");
}

#[test]
fn factors_of_material_extensions_are_drawn() {
    let files = Files::new();
    let furnace = Lit {
        files: &files,
        light: FURNACE,
    };
    let black = r#""baseColorFactor": [0, 0, 0, 1], "metallicFactor": 0, "roughnessFactor": 0"#;
    let tinted =
        r#""baseColorFactor": [0.5, 1, 0.25, 1], "metallicFactor": 0, "roughnessFactor": 0"#;
    let specular = "KHR_materials_specular";
    for (base, name, object, expected, by) in [
        (black, "KHR_none_such", "", [0.04; 3], 1e-3),
        (tinted, "KHR_materials_unlit", "", [0.5, 1.0, 0.25], 1e-6),
        (
            black,
            "KHR_materials_ior",
            "\"ior\": 2",
            [1.0 / 9.0; 3],
            1e-3,
        ),
        (black, "KHR_materials_ior", "\"ior\": 1", [0.0; 3], 1e-3),
        (black, specular, "\"specularFactor\": 0.5", [0.02; 3], 1e-3),
        (
            black,
            specular,
            "\"specularColorFactor\": [0, 1, 2]",
            [0.0, 0.04, 0.08],
            1e-3,
        ),
        (
            black,
            "KHR_materials_clearcoat",
            "\"clearcoatFactor\": 1",
            [0.04 + 0.96 * 0.04; 3],
            2e-3,
        ),
        (
            tinted,
            "KHR_materials_transmission",
            "\"transmissionFactor\": 1",
            [0.04 + 0.96 * 0.5, 1.0, 0.04 + 0.96 * 0.25],
            0.02,
        ),
    ] {
        let found = furnace.material(base, name, object);
        assert_close(found, expected, by, &format!("{name} {object}"));
    }
    let sheen = r#""sheenColorFactor": [1, 0, 0], "sheenRoughnessFactor": 0.6"#;
    let [r, g, _] = furnace.material(black, "KHR_materials_sheen", sheen);
    assert!(r > g + 0.02, "{r} {g}");
}

#[test]
fn anisotropy_spreads_highlights_along_its_direction() {
    let files = Files::new();
    let lit = Lit {
        files: &files,
        light: SIDE,
    };
    let metal = r#""metallicFactor": 1, "roughnessFactor": 0.4"#;
    let at = |rotation: f32| {
        let object = format!("\"anisotropyStrength\": 1, \"anisotropyRotation\": {rotation}");
        lit.material(metal, "KHR_materials_anisotropy", &object)[0]
    };
    let [along, across] = [at(0.0), at(1.5707964)];
    assert!(along > 4.0 * across, "{along} {across}");
}

#[test]
fn volumes_refract() {
    let files = Files::new();
    let lit = Lit {
        files: &files,
        light: FURNACE,
    };
    let glass = |more: &str| {
        let material = format!(
            r#""pbrMetallicRoughness": {{ "metallicFactor": 0, "roughnessFactor": 0 }}, "extensions": {{
            "KHR_materials_transmission": {{ "transmissionFactor": 1 }},
            "KHR_materials_volume": {{ {more} }} }}"#
        );
        lit.color(&with_material(&material, ""))[0]
    };
    // Radiance grows by the square of the index where light leaves into the denser side.
    let (thin, volume) = (
        glass("\"thicknessFactor\": 0"),
        glass("\"thicknessFactor\": 1"),
    );
    assert!((thin - 1.0).abs() < 0.02, "{thin}");
    assert!((volume - (0.04 + 0.96 / 2.25)).abs() < 0.03, "{volume}");
}

#[test]
fn instances_of_a_node_are_drawn() {
    let instancing = |more: &str| {
        let extended = format!(
            r#""nodes": [{{ "mesh": 0, "extensions": {{ "EXT_mesh_gpu_instancing": {{
            "attributes": {{ {more} }} }} }} }}]"#
        );
        triangle_gltf("").replace("\"nodes\": [{ \"mesh\": 0 }]", &extended)
    };
    let files = Files::new();
    files.write("t.gltf", instancing("\"TRANSLATION\": 0"));
    let scene = load(&files, "t.gltf").expect("a scene");
    assert_eq!(scene.world.instanced_triangles(), 3);
    let (_, max) = scene.world.bounds().expect("it is not empty");
    assert!(
        (max.x - 2.0).abs() < 1e-6 && (max.y - 2.0).abs() < 1e-6,
        "{max}"
    );
    files.write("t.gltf", instancing("\"TRANSLATION\": 7"));
    assert!(error(&files, "t.gltf").ends_with("nodes[0].TRANSLATION: there is no such accessor"));
    files.write("t.gltf", instancing("\"TRANSLATION\": 1"));
    assert!(error(&files, "t.gltf").contains("it is not of vectors with 3 components"));
}

#[test]
fn normal_maps_have_their_transform() {
    let files = Files::new();
    // The left half is flat, the right half bent towards x.
    let size = ImageSize::new(2, 1).expect("a size");
    let (bytes, mut png) = ([128, 128, 255, 218, 128, 218], Vec::new());
    let image = PngImage {
        size,
        bytes: &bytes,
        has_alpha: false,
        is_srgb: false,
    };
    write_png(&image, &mut png).expect("it is written");
    files.write("n.png", png);
    let lit = Lit {
        files: &files,
        light: SIDE,
    };
    let bent = |offset: f32| {
        let material = format!(
            r#""pbrMetallicRoughness": {{ "metallicFactor": 0 }}, "normalTexture": {{ "index": 0,
            "extensions": {{ "KHR_texture_transform": {{ "offset": [{offset}, 0] }} }} }}"#
        );
        let more = r#""textures": [{ "source": 0 }], "images": [{ "uri": "n.png" }],"#;
        lit.color(&with_material(&material, more))[0]
    };
    // Without coordinates u is 0: the middles of texels are at 0.25 and 0.75.
    let [flat, towards] = [bent(0.25), bent(0.75)];
    assert!(towards > 1.2 * flat, "{flat} {towards}");
}

#[test]
fn what_is_left_out_is_warned_of() {
    for (name, what) in [
        (
            "KHR_materials_volume",
            "volumes refract light, and do not absorb it",
        ),
        ("KHR_materials_iridescence", "thin films have no colors"),
        (
            "KHR_materials_dispersion",
            "all wavelengths are refracted alike",
        ),
        (
            "KHR_materials_diffuse_transmission",
            "no light passes diffusely",
        ),
        (
            "KHR_materials_pbrSpecularGlossiness",
            "metallic-roughness values",
        ),
        ("KHR_materials_variants", "default materials"),
        ("ACME_unheard_of", "is not known: it is left out"),
    ] {
        for list in ["extensionsUsed", "extensionsUsed\": [], \"extensionsUsed_"] {
            let used = format!("\"{list}\": [\"{name}\"], \"asset\"");
            let warnings = warnings(&triangle_gltf("").replace("\"asset\"", &used));
            let expected = list == "extensionsUsed";
            let is_there = warnings
                .iter()
                .any(|w| w.starts_with(name) && w.contains(what));
            assert_eq!(is_there, expected, "{name}: {warnings:?}");
        }
    }
    let texture = r#""textures": [{ "source": 0 }], "images": [{ "uri": "data:;base64,AA" }],"#;
    for (material, expected) in [
        (
            r#""pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } },
            "emissiveTexture": { "index": 0, "texCoord": 1 }"#,
            "materials[0]: TEXCOORD_0 is used for TEXCOORD_1",
        ),
        (
            r#""occlusionTexture": { "index": 0 }"#,
            "materials[0]: occlusionTexture is left out: paths find what is occluded",
        ),
        (
            r#""extensions": { "KHR_materials_clearcoat": { "clearcoatTexture": { "index": 0 } } }"#,
            "materials[0]: clearcoatTexture of KHR_materials_clearcoat is left out, its factor counts",
        ),
        (
            r#""extensions": { "KHR_materials_transmission": { "transmissionFactor": 1 } }"#,
            "materials[0]: KHR_materials_transmission: what a thin sheet shows is not blurred",
        ),
    ] {
        assert_eq!(warnings(&with_material(material, texture)), [expected]);
    }
}

#[test]
fn what_cannot_be_read_is_refused_with_its_reason() {
    let files = Files::new();
    let refused = |gltf: String, expected: &str| {
        files.write("t.gltf", gltf);
        let message = error(&files, "t.gltf");
        assert_eq!(message, format!("t.gltf: {expected}"));
    };
    for (name, why) in [
        (
            "KHR_draco_mesh_compression",
            "meshes are compressed by Draco; export the file without compression (KHR_draco_mesh_compression)",
        ),
        (
            "EXT_meshopt_compression",
            "buffers are compressed by meshoptimizer; export the file without compression (EXT_meshopt_compression)",
        ),
        (
            "EXT_texture_webp",
            "images are WebP files; PNG and JPEG files are read (EXT_texture_webp)",
        ),
        (
            "EXT_texture_avif",
            "images are AVIF files; PNG and JPEG files are read (EXT_texture_avif)",
        ),
        (
            "KHR_texture_basisu",
            "images are KTX2 files; PNG and JPEG files are read (KHR_texture_basisu)",
        ),
        (
            "ACME_unheard_of",
            "the file needs ACME_unheard_of, which is not known",
        ),
    ] {
        let needs = format!("\"extensionsRequired\": [\"{name}\"], \"asset\"");
        let gltf = triangle_gltf("").replace("\"asset\"", &needs);
        refused(gltf, &format!("extensionsRequired[0]: {why}"));
    }
    // Not required, but there is nothing else.
    let webp = r#""textures": [{ "extensions": { "EXT_texture_webp": { "source": 0 } } }], "images": [{ "uri": "a.webp" }],"#;
    refused(
        with_material("", webp),
        "textures[0]: images are WebP files; PNG and JPEG files are read (EXT_texture_webp)",
    );
    let draco = triangle_gltf("")
        .replace(
            "{ \"bufferView\": 0, \"componentType\"",
            "{ \"componentType\"",
        )
        .replace(
            "\"indices\": 1",
            "\"indices\": 1, \"extensions\": { \"KHR_draco_mesh_compression\": {} }",
        );
    refused(
        draco,
        "meshes[0].primitives[0]: meshes are compressed by Draco; export the file without compression (KHR_draco_mesh_compression)",
    );
    // An image beside the one of the extension is drawn.
    let both = webp.replace("{ \"extensions\"", "{ \"source\": 0, \"extensions\"");
    files.write("t.gltf", with_material("", &both));
    load(&files, "t.gltf").expect("no material has the texture");
    for uri in ["/etc/hostname", "C:\\\\a.bin", "file:///a.bin", "%2Fa.bin"] {
        let gltf = triangle_gltf("");
        let start = gltf.find("data:").expect("a URI");
        let end = start + gltf[start..].find('"').expect("its end");
        let gltf = format!("{}{uri}{}", &gltf[..start], &gltf[end..]);
        files.write("t.gltf", gltf);
        let message = error(&files, "t.gltf");
        assert!(
            message.ends_with("is not a file; URIs are relative paths"),
            "{message}"
        );
    }
}

#[test]
fn wrong_length_of_a_binary_header_is_warned_of() {
    let files = Files::new();
    let mut bytes = glb();
    let length = bytes.len();
    bytes[8] ^= 1;
    files.write("t.glb", bytes);
    let scene = load(&files, "t.glb").expect("a scene");
    let expected = format!(
        "t.glb: its header says {} bytes, and it has {length}",
        length ^ 1
    );
    assert!(
        scene.warnings.len() == 1 && scene.warnings[0].ends_with(&expected),
        "{:?}",
        scene.warnings
    );
}
