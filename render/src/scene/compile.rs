//! Materials: shaders and groups compiled for the globals and closures of the renderer, with their
//! inputs folded in.

use super::error::SceneError;
use super::{Material, SceneTexture, TextureSource};
use adumbra::closure::ClosureRegistry;
use adumbra::globals::Flag;
use adumbra::group::Group;
use adumbra::program::Texture;
use adumbra::sources::{Folder, open_file};
use adumbra::{
    Compiler, Diagnostics, GlobalsLayout, Instance, Options, Program, Scalar, Sources, Type,
};
use adumbra_image::TextureSettings;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Compiles materials for one layout of globals and one registry of closures.
#[derive(Clone, Debug)]
pub struct MaterialCompiler {
    compiler: Compiler,
    has_bitangent: bool,
}

/// The textures of a scene for those of a program.
pub(super) type Bindings<'a> = &'a mut dyn FnMut(&Texture) -> Result<usize, String>;

impl MaterialCompiler {
    /// A compiler for hits with these globals, which reads closures by this registry.
    pub fn new(layout: GlobalsLayout, registry: ClosureRegistry) -> MaterialCompiler {
        let has_bitangent = layout.member("bitangent").is_some();
        MaterialCompiler {
            compiler: Compiler::new(layout)
                .with_closures(registry)
                .texture_slopes(true),
            has_bitangent,
        }
    }

    /// The same with other options, of derivatives for instance.
    pub fn with_options(mut self, options: Options) -> MaterialCompiler {
        self.compiler = self.compiler.with_options(options);
        self
    }

    /// Whether shaders can read the bitangent.
    pub(super) fn has_bitangent(&self) -> bool {
        self.has_bitangent
    }

    /// Compiles a shader (`.adu`) or group (`.json`) of a file.
    ///
    /// `root` is the folder of the scene. What a file includes is found below it, or below the
    /// file's own folder if that is elsewhere.
    ///
    /// # Errors
    /// What the compiler reports, as it would print it.
    pub fn compile_file(
        &self,
        root: &Path,
        file: &str,
        is_group: bool,
    ) -> Result<Arc<Program>, Diagnostics> {
        let (root, name) = source_folder(root, file);
        let folder = Folder::new(root);
        match is_group {
            true => self.compile_group(&Group::load(&name, &folder)?),
            false => self.compiler.compile(&Sources::load(&name, &folder)?),
        }
    }

    /// Compiles a group.
    ///
    /// # Errors
    /// What the compiler reports.
    pub fn compile_group(&self, group: &Group) -> Result<Arc<Program>, Diagnostics> {
        self.compiler.compile_group(group)
    }
}

/// The folder that a material's sources are found in, and the name of its file there.
fn source_folder(root: &Path, file: &str) -> (PathBuf, String) {
    let path = root.join(file);
    let is_below = !file.contains("..") && Path::new(file).is_relative();
    match (is_below, path.parent(), path.file_name()) {
        (false, Some(parent), Some(name)) => {
            (parent.to_owned(), name.to_string_lossy().into_owned())
        }
        _ => (root.to_owned(), file.to_owned()),
    }
}

/// The texture that a declaration of a material's sources describes, if it names a file. The
/// program was compiled from `file` as by [`MaterialCompiler::compile_file`].
///
/// # Errors
/// If the file cannot be opened or a setting is not known, with a report of the declaration.
pub(super) fn declared_texture(
    root: &Path,
    file: &str,
    program: &Program,
    texture: &Texture,
) -> Result<Option<SceneTexture>, String> {
    let Some(sources) = program.sources() else {
        return Ok(None);
    };
    let (root, _) = source_folder(root, file);
    let read = |name: &str| {
        let settings = TextureSettings::of_metadata(|name| texture.metadata_str(name))?;
        let path = root.join(name);
        open_file(&path).map_err(|error| error.to_string())?;
        Ok(SceneTexture {
            source: TextureSource::File(path),
            wrap: settings.wrap,
            color_space: settings.color_space,
        })
    };
    let declared = sources.read_texture(texture, &Folder::new(&root), read);
    declared.map_err(|missing| {
        let report = missing.to_string();
        format!(
            "a texture of the material is missing\n{}",
            report.trim_end()
        )
    })
}

/// A material of a program: its inputs are folded in, and its textures are found.
pub(super) fn finish(
    name: &str,
    instance: &Instance,
    textures: Bindings<'_>,
) -> Result<Material, String> {
    let folded = instance.fold().map_err(|error| error.to_string())?;
    let names = folded.program().textures();
    let textures = names.iter().map(textures);
    Ok(Material {
        name: name.to_owned(),
        textures: textures.collect::<Result<_, _>>()?,
        instance: folded,
        unfolded: instance.clone(),
    })
}

/// Sets an input by JSON: a number, a boolean, a list for a vector, a list of rows for a matrix, an
/// object for a struct.
///
/// # Errors
/// If there is no such input, or the value is not of its type.
pub fn set_input(instance: &mut Instance, name: &str, value: &Value) -> Result<(), String> {
    let program = instance.program().clone();
    let Some(input) = program.inputs().iter().find(|input| input.name == name) else {
        let names = program.inputs().iter().map(|i| format!("`{}`", i.name));
        let names: Vec<String> = names.collect();
        return Err(match names.is_empty() {
            true => "the material has no inputs".to_owned(),
            false => format!("there is no such input; there are {}", names.join(", ")),
        });
    };
    set_path(instance, name, &input.ty, value)
}

fn number(value: &Value) -> Result<f32, String> {
    let number = match value.as_str() {
        Some("nan") => return Ok(f32::NAN),
        Some("inf") => return Ok(f32::INFINITY),
        Some("-inf") => return Ok(f32::NEG_INFINITY),
        _ => value.as_f64(),
    };
    let number = number.ok_or_else(|| format!("`{value}` is not a number"))?;
    Ok(number as f32)
}

fn numbers<const N: usize>(value: &Value) -> Result<[f32; N], String> {
    let list = value.as_array().filter(|list| list.len() == N);
    let list = list.ok_or_else(|| format!("`{value}` is not a list of {N} numbers"))?;
    let mut numbers = [0.0; N];
    for (to, from) in numbers.iter_mut().zip(list) {
        *to = number(from)?;
    }
    Ok(numbers)
}

fn matrix<const N: usize>(value: &Value) -> Result<[[f32; N]; N], String> {
    let list = value.as_array().filter(|list| list.len() == N);
    let list = list.ok_or_else(|| format!("`{value}` is not a list of {N} rows"))?;
    let mut matrix = [[0.0; N]; N];
    for (to, from) in matrix.iter_mut().zip(list) {
        *to = numbers(from)?;
    }
    Ok(matrix)
}

fn set_path(instance: &mut Instance, path: &str, ty: &Type, value: &Value) -> Result<(), String> {
    let whole = || format!("`{value}` is not a whole number of 32 bits");
    let set = match ty {
        Type::Scalar(Scalar::F32) => instance.set(path, number(value)?),
        Type::Scalar(Scalar::I32) => {
            let number = value.as_i64().and_then(|n| i32::try_from(n).ok());
            instance.set(path, number.ok_or_else(whole)?)
        }
        Type::Scalar(Scalar::U32) => {
            let number = value.as_u64().and_then(|n| u32::try_from(n).ok());
            instance.set(path, number.ok_or_else(whole)?)
        }
        Type::Scalar(Scalar::Bool) => {
            let boolean = value.as_bool();
            let boolean = boolean.ok_or_else(|| format!("`{value}` is not true or false"))?;
            instance.set(path, Flag::from(boolean))
        }
        Type::Vector(2) => instance.set(path, numbers::<2>(value)?),
        Type::Vector(3) => instance.set(path, numbers::<3>(value)?),
        Type::Vector(_) => instance.set(path, numbers::<4>(value)?),
        Type::Matrix(2) => instance.set(path, matrix::<2>(value)?),
        Type::Matrix(3) => instance.set(path, matrix::<3>(value)?),
        Type::Matrix(_) => instance.set(path, matrix::<4>(value)?),
        Type::Struct(structure) => {
            let object = value.as_object();
            let object = object.ok_or_else(|| format!("`{value}` is not an object"))?;
            for (key, part) in object {
                let member = structure.member(key);
                let (_, ty) = member.ok_or_else(|| format!("there is no member `{key}`"))?;
                set_path(instance, &format!("{path}.{key}"), ty, part)?;
            }
            return Ok(());
        }
        Type::Scalar(_) | Type::Array(..) => {
            return Err("inputs of this type are set in a group's file".to_owned());
        }
    };
    set.map_err(|error| error.to_string())
}

/// The compiler's warnings about a material, as it would print them, if there are any.
pub(super) fn compile_warning(file: &Path, item: &str, program: &Program) -> Option<String> {
    if program.warnings().is_empty() {
        return None;
    }
    let report = Diagnostics {
        sources: program.sources()?.clone(),
        diagnostics: program.warnings().to_vec(),
    };
    let place = SceneError::item(file, item, "warnings of the compiler");
    Some(format!("{place}\n{}", report.to_string().trim_end()))
}

/// What the compiler reports, at a place of a scene.
pub(super) fn compile_error(file: &Path, item: &str, diagnostics: &Diagnostics) -> SceneError {
    let report = diagnostics.to_string();
    let message = format!("the material does not compile\n{}", report.trim_end());
    SceneError::item(file, item, message)
}
