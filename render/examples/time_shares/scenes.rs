//! The scenes, as files.

use adumbra_image::{ImageSize, PngImage, save_atomically, write_png};
use std::error::Error;
use std::path::Path;

/// A scene, and how it is drawn.
pub(crate) struct SceneEntry {
    pub(crate) name: &'static str,
    pub(crate) file: &'static str,
    pub(crate) samples: u32,
    pub(crate) bounces: u32,
}

const PAINT: &str = "texture2d tiles;
shader paint(float2 at = float2(0, 0), float rough = 0.4, out closure surface) {
    float3 n = global_value<normal>;
    color base = texture2d_sample<tiles>(at).xyz;
    surface = base * make_closure<diffuse>(n)
        + make_closure<generalized_schlick_bsdf>(n, global_value<tangent>, ggx_alpha(rough), ggx_alpha(rough), float3(0.04), 1);
}";

const FLOOR: &str = "texture2d tiles;
shader plain(out closure surface) {
    color base = texture2d_sample<tiles>(10 * global_value<uvw>.xy).xyz;
    surface = base * make_closure<diffuse>(global_value<normal>);
}";

const WARP: &str =
    "shader warp(float scale = 10, float amount = 0.3, out float2 at, out float rough) {
    float2 p = scale * global_value<uvw>.xy;
    float2 bent = float2(fbm(2 * p, 4, 2.0, 0.5), fbm(2 * p + 17.0, 4, 2.0, 0.5));
    at = p + amount * bent;
    rough = clamp(0.4 + 0.3 * noise(8 * p), 0.1, 1.0);
}";

const GROUP: &str = r#"{
    "units": { "warp": { "source": "warp.adu" }, "paint": { "source": "paint.adu" } },
    "connections": [
        { "from": "warp.at", "to": "paint.at" },
        { "from": "warp.rough", "to": "paint.rough" }
    ],
    "outputs": { "surface": "paint.surface" }
}"#;

/// A scene with one floor and a ball on it.
fn floor(material: &str) -> String {
    format!(
        r#"{{
    "image": {{ "width": 480, "height": 270 }},
    "camera": {{ "perspective": {{ "from": [0, 1.1, 4], "to": [0, 0.6, 0], "fov": 40 }} }},
    "meshes": {{ "floor": {{ "plane": {{}} }}, "ball": {{ "sphere": {{ "segments": [64, 32] }} }} }},
    "textures": {{ "tiles": {{ "file": "tiles.png" }} }},
    "materials": {{ "m": {{ {material} }} }},
    "instances": [
        {{ "mesh": "floor", "material": "m", "transform": [{{ "scale": [40, 1, 40] }}] }},
        {{ "mesh": "ball", "material": "m", "transform": [{{ "translate": [0, 1, 0] }}] }}
    ],
    "lights": [{{ "directional": {{ "direction": [-0.5, -1, -0.4], "irradiance": [2, 2, 2] }} }}],
    "environment": {{ "constant": [0.5, 0.6, 0.8] }}
}}"#
    )
}

const TRIANGLES: &str = r#"{
    "image": { "width": 480, "height": 270 },
    "camera": { "perspective": { "from": [0, 1.6, 4], "to": [0, 0.3, 0], "fov": 45 } },
    "meshes": {
        "hills": { "terrain": { "segments": [1000, 1000], "height": 0.06, "octaves": 8 } },
        "ball": { "sphere": { "segments": [256, 128] } }
    },
    "textures": { "tiles": { "file": "tiles.png" } },
    "materials": {
        "stone": { "standard": { "roughness": 0.6, "base-color-texture": "tiles" } },
        "steel": { "standard": { "metallic": 1, "roughness": 0.2 } }
    },
    "instances": [
        { "mesh": "hills", "material": "stone", "transform": [{ "scale": [10, 10, 10] }] },
        { "mesh": "ball", "material": "steel", "transform": [{ "translate": [0, 0.9, 0] }] }
    ],
    "lights": [{ "point": { "position": [3, 5, 2], "intensity": [60, 60, 60] } }],
    "environment": { "constant": [0.2, 0.25, 0.3] }
}"#;

/// Writes all scenes and their files.
pub(crate) fn write(folder: &Path) -> Result<[SceneEntry; 3], Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let shader = r#""shader": { "file": "floor.adu" }"#;
    let group = r#""group": { "file": "group.json" }"#;
    for (name, content) in [
        ("floor.adu", FLOOR),
        ("paint.adu", PAINT),
        ("warp.adu", WARP),
        ("group.json", GROUP),
        ("floor.json", &floor(shader)),
        ("noise.json", &floor(group)),
        ("triangles.json", TRIANGLES),
    ] {
        std::fs::write(folder.join(name), content)?;
    }
    let side = 256;
    let texel = |at: u32| {
        let (x, y) = (at % side, at / side);
        let is_dark = (x / 32 + y / 32) % 2 == 0;
        let grain = (x * 7 + y * 13) % 32;
        let [r, g, b] = if is_dark {
            [60, 50, 40]
        } else {
            [200, 180, 150]
        };
        [r, g, b].map(|c: u32| (c + grain) as u8)
    };
    let bytes: Vec<u8> = (0..side * side).flat_map(texel).collect();
    let png = PngImage {
        size: ImageSize::new(side.into(), side.into())?,
        bytes: &bytes,
        has_alpha: false,
        is_srgb: true,
    };
    save_atomically(&folder.join("tiles.png"), |file| write_png(&png, file))?;
    let entry = |name, file, samples, bounces| SceneEntry {
        name,
        file,
        samples,
        bounces,
    };
    Ok([
        entry("floor", "floor.json", 4, 2),
        entry("group with noise", "noise.json", 4, 2),
        entry("two million triangles", "triangles.json", 2, 6),
    ])
}
