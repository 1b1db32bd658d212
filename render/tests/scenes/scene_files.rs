//! Files that tests write: a folder, a PNG, and small glTF files.

use std::path::PathBuf;

/// A folder of its own, which is removed in the end.
pub(crate) struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    pub(crate) fn new() -> Files {
        Files {
            folder: tempfile::tempdir().expect("there is space"),
        }
    }

    /// The path of a file; with an empty name, of the folder and what separates it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        let folder = path.parent().expect("it is in the folder");
        std::fs::create_dir_all(folder).expect("there is space");
        std::fs::write(path, content).expect("there is space");
    }
}

/// An image of one grey pixel: 128 of 255.
pub(crate) const PNG: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3a, 0x7e, 0x9b,
    0x55, 0x00, 0x00, 0x00, 0x0a, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0x68, 0x00, 0x00, 0x00,
    0x82, 0x00, 0x81, 0xda, 0x45, 0x08, 0x3b, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae,
    0x42, 0x60, 0x82,
];

/// A glTF file of one triangle, (0, 0, 0), (1, 0, 0), (0, 1, 0), with its buffer inside. The base64
/// of the buffer begins with `start`.
pub(crate) fn triangle_gltf(start: &str) -> String {
    let buffer = "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAABAAIA";
    let buffer = format!("{start}{}", &buffer[start.len()..]);
    format!(
        r#"{{ "nodes": [{{ "mesh": 0 }}], "scenes": [{{ "nodes": [0] }}],
        "meshes": [{{ "primitives": [{{ "attributes": {{ "POSITION": 0 }}, "indices": 1 }}] }}],
        "accessors": [
            {{ "bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 3,
               "min": [0, 0, 0], "max": [1, 1, 0] }},
            {{ "bufferView": 1, "componentType": 5123, "type": "SCALAR", "count": 3 }}
        ],
        "bufferViews": [
            {{ "buffer": 0, "byteLength": 36 }},
            {{ "buffer": 0, "byteOffset": 36, "byteLength": 6 }}
        ],
        "buffers": [
            {{ "byteLength": 42, "uri": "data:application/octet-stream;base64,{buffer}" }}
        ], "asset": {{ "version": "2.0" }} }}"#
    )
}

/// A binary glTF file: a triangle with normals and texture coordinates, mirrored by its node, whose
/// material has an image as its colour and normal map; a node of scale zero, a light, a camera.
pub(crate) fn glb() -> Vec<u8> {
    let mut binary: Vec<u8> = Vec::new();
    let floats: [f32; 24] = [
        0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0, 0.0, // positions
        0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, // normals
        0.0, 0.0, 1.0, 0.0, 0.0, 1.0, // texture coordinates
    ];
    binary.extend(floats.iter().flat_map(|v| v.to_le_bytes()));
    binary.extend([0_u8, 1, 2, 0]);
    binary.extend(PNG);
    let length = binary.len();
    let png = PNG.len();
    let json = format!(
        r#"{{
        "asset": {{ "version": "2.0" }}, "scene": 0, "scenes": [{{ "nodes": [0, 1, 2, 3] }}],
        "extensionsUsed": ["KHR_lights_punctual", "KHR_texture_transform"],
        "extensions": {{ "KHR_lights_punctual": {{ "lights": [
            {{ "type": "point", "color": [1, 0, 0], "intensity": 2 }}
        ] }} }},
        "nodes": [
            {{ "mesh": 0, "scale": [-1, 1, 1], "translation": [0, 0, 1] }},
            {{ "mesh": 0, "scale": [0, 1, 1] }},
            {{ "translation": [0, 3, 0], "extensions": {{ "KHR_lights_punctual": {{ "light": 0 }} }} }},
            {{ "translation": [0, 0, 7], "camera": 0 }}
        ],
        "cameras": [{{ "type": "perspective", "perspective": {{ "yfov": 0.7, "znear": 0.1 }} }}],
        "meshes": [{{ "primitives": [{{
            "attributes": {{ "POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2 }}, "indices": 3,
            "material": 0
        }}] }}],
        "materials": [{{
            "name": "skin",
            "pbrMetallicRoughness": {{ "baseColorTexture": {{ "index": 0, "extensions": {{
                "KHR_texture_transform": {{ "offset": [0.5, 0], "rotation": 1.5, "scale": [2, 2] }}
            }} }} }},
            "normalTexture": {{ "index": 0 }}
        }}],
        "textures": [{{ "source": 0, "sampler": 0 }}],
        "samplers": [{{ "wrapS": 33071, "wrapT": 33648 }}],
        "images": [{{ "bufferView": 4 }}],
        "accessors": [
            {{ "bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 3,
               "min": [0, 0, 0], "max": [2, 2, 0] }},
            {{ "bufferView": 1, "componentType": 5126, "type": "VEC3", "count": 3 }},
            {{ "bufferView": 2, "componentType": 5126, "type": "VEC2", "count": 3 }},
            {{ "bufferView": 3, "componentType": 5121, "type": "SCALAR", "count": 3 }}
        ],
        "bufferViews": [
            {{ "buffer": 0, "byteLength": 36 }},
            {{ "buffer": 0, "byteOffset": 36, "byteLength": 36 }},
            {{ "buffer": 0, "byteOffset": 72, "byteLength": 24 }},
            {{ "buffer": 0, "byteOffset": 96, "byteLength": 3 }},
            {{ "buffer": 0, "byteOffset": 100, "byteLength": {png} }}
        ],
        "buffers": [{{ "byteLength": {length} }}]
    }}"#
    );
    let mut file = b"glTF\x02\0\0\0".to_vec();
    let mut chunks = Vec::new();
    for (kind, mut content, fill) in [
        (0x4e4f_534a_u32, json.into_bytes(), b' '),
        (0x004e_4942, binary, 0),
    ] {
        content.resize(content.len().next_multiple_of(4), fill);
        chunks.extend((content.len() as u32).to_le_bytes());
        chunks.extend(kind.to_le_bytes());
        chunks.extend(content);
    }
    file.extend((chunks.len() as u32 + 12).to_le_bytes());
    file.extend(chunks);
    file
}
