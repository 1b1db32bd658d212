//! A hall whose floor and walls are of large textures, as a scene file.

use crate::Fallible;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Panels along the hall.
const ROWS: i32 = 16;
/// Panels across the floor.
const COLUMNS: i32 = 4;
/// The side of a panel.
const SIDE: f64 = 4.0;

/// Coordinates that are repeated and warped by noise: those of the mesh say little of them.
const SHADER: &str = "texture2d panel;

shader panel(color tint = color(1), float repeat = 3, float warp = 0.04, out color c) {
    float2 at = repeat * global_value<uvw>.xy;
    at += warp * float2(noise(3 * at), noise(3 * at + 17.0));
    c = tint * texture2d_sample<panel>(at).xyz;
}
";

/// Writes the shader, and returns the text of a scene of these textures.
pub(crate) fn scene(folder: &Path, files: &[PathBuf], size: [u32; 2]) -> Fallible<String> {
    std::fs::write(folder.join("panel.adu"), SHADER)?;
    // Names that have the order of the files.
    let names = (0..files.len()).map(|index| format!("panel {index:03}"));
    let names: Vec<String> = names.collect();
    let files = names.iter().zip(files);
    let files = files.map(|(name, file)| (name.clone(), json!({ "file": file })));
    let files: serde_json::Map<String, Value> = files.collect();
    let materials = names.iter().enumerate().map(|(index, name)| {
        // Stone in several shades.
        let shade = |channel: usize| 0.55 + 0.45 * ((index * (7 + 4 * channel) % 13) as f64 / 13.0);
        let material = json!({ "shader": {
            "file": "panel.adu",
            "inputs": { "tint": [shade(0), shade(1), shade(2)] },
            "textures": { "panel": name },
        } });
        (name.clone(), material)
    });
    let mut materials: serde_json::Map<String, Value> = materials.collect();
    let mirror = json!({ "standard": { "metallic": 1, "roughness": 0 } });
    materials.insert("mirror".to_owned(), mirror);

    let mut instances = vec![json!({
        "mesh": "ball",
        "material": "mirror",
        "transform": [{ "translate": [1.2, 1.0, -3.0] }],
    })];
    let mut panel = |turn: Value, at: [f64; 3]| {
        // A step that meets all textures, and gives neighbours different ones.
        let name = &names[instances.len() * 7 % names.len()];
        instances.push(json!({
            "mesh": "panel",
            "material": name,
            "transform": [{ "scale": [SIDE, SIDE, SIDE] }, turn, { "translate": at }],
        }));
    };
    let turn = |degrees: f64| json!({ "rotate": { "axis": [0, 0, 1], "degrees": degrees } });
    let half = f64::from(COLUMNS) / 2.0 * SIDE;
    for row in 0..ROWS {
        let z = -SIDE * f64::from(row);
        for column in 0..COLUMNS {
            panel(turn(0.0), [SIDE * (f64::from(column) + 0.5) - half, 0.0, z]);
        }
        panel(turn(-90.0), [-half, SIDE / 2.0, z]);
        panel(turn(90.0), [half, SIDE / 2.0, z]);
    }
    let scene = json!({
        "image": { "width": size[0], "height": size[1] },
        "camera": { "perspective": { "from": [0, 1.7, 2], "to": [0, 1.1, -6], "fov": 50 } },
        "meshes": { "panel": { "plane": {} }, "ball": { "sphere": { "segments": [256, 128] } } },
        "textures": files,
        "materials": materials,
        "instances": instances,
        "environment": { "constant": [0.6, 0.75, 0.9] },
    });
    Ok(scene.to_string())
}
