//! Files that scenes are read from, by their names.

use super::error::SceneError;
use std::path::Path;

/// The formats, by the endings of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    Scene,
    Gltf,
    Obj,
    Shader,
}

impl FileKind {
    pub(super) fn of(path: &Path) -> Result<FileKind, SceneError> {
        let ending = path.extension().map(|e| e.to_ascii_lowercase());
        match ending.as_ref().and_then(|e| e.to_str()) {
            Some("json") => Ok(FileKind::Scene),
            Some("gltf" | "glb") => Ok(FileKind::Gltf),
            Some("obj") => Ok(FileKind::Obj),
            Some("adu") => Ok(FileKind::Shader),
            _ => {
                let message = "its name ends with none of .json, .gltf, .glb, .obj, .adu";
                Err(SceneError::file(path, message))
            }
        }
    }
}

/// The folder that relative names in a file begin at.
pub(super) fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}
