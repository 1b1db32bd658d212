//! From text, files and bytecode to programs, with all that is needed to make the same program
//! again in another process.

use crate::diagnostics::{PyDiagnostic, compile_error};
use crate::gradient::PyGradient;
use crate::locks::locked;
use crate::program::PyProgram;
use crate::shapes::global_type;
use adumbra::group::Group;
use adumbra::sources::{Folder, Loader};
use adumbra::{Compiler, Diagnostics, GlobalsLayout, Options, Sources};
use adumbra_cli::IMAGE_GLOBALS;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// What is compiled.
#[derive(Clone, Debug)]
pub enum Source {
    /// The source of a shader, with those that it includes.
    Shader(Sources),
    /// Shaders that are wired to one another.
    Group(Group),
    /// A program that was compiled before.
    Bytecode(Arc<[u8]>),
    /// A gradient, which has a program.
    Gradient(Arc<Py<PyGradient>>),
}

/// What makes a program: a pickle has it, and nothing else.
#[derive(Clone, Debug)]
pub struct ProgramRecipe {
    /// `"shader"`, `"group"` or `"bytecode"`.
    kind: String,
    /// The name of the first file.
    main: String,
    /// All files by name; none of bytecode.
    files: BTreeMap<String, String>,
    bytecode: Arc<[u8]>,
    shader: Option<String>,
    /// Names and types, as they were given.
    globals: Vec<(String, String)>,
    texture_slopes: bool,
    /// The folder that files of textures are found from.
    pub root: Option<PathBuf>,
}

/// The files that are at hand: those given, and then those of a folder. It remembers what it
/// loads.
struct Shelf {
    files: Mutex<BTreeMap<String, String>>,
    folder: Option<Folder>,
}

impl Loader for Shelf {
    fn resolve(&self, path: &str, from: &str) -> Result<String, String> {
        // Names are paths within a folder, even if there is none.
        Folder::new("").resolve(path, from)
    }

    fn load(&self, name: &str) -> Result<String, String> {
        if let Some(text) = locked(&self.files).get(name) {
            return Ok(text.clone());
        }
        let folder = self.folder.as_ref();
        let text = folder
            .ok_or_else(|| "it is not among `files`".to_owned())?
            .load(name)?;
        locked(&self.files).insert(name.to_owned(), text.clone());
        Ok(text)
    }
}

/// The globals of images, and those of a hit: what a program has if its host says nothing else.
fn default_layout() -> GlobalsLayout {
    let image = IMAGE_GLOBALS.map(|global| (global.name, global.ty()));
    let hit = GlobalsLayout::hit();
    let hit = hit.members().iter();
    let hit = hit.map(|member| (member.name(), member.ty().clone()));
    let mut layout = GlobalsLayout::new();
    for (name, ty) in image.into_iter().chain(hit) {
        layout.add(name, ty).expect("names are different");
    }
    layout
}

impl ProgramRecipe {
    /// The globals: the default ones, and those given, which replace default ones.
    fn layout(&self) -> PyResult<GlobalsLayout> {
        let given = |name: &str| self.globals.iter().any(|(own, _)| own == name);
        let mut layout = GlobalsLayout::new();
        let defaults = default_layout();
        let defaults = defaults.members().iter().filter(|own| !given(own.name()));
        let defaults =
            defaults.map(|own| Ok::<_, PyErr>((own.name().to_owned(), own.ty().clone())));
        let own = self.globals.iter();
        let own = own.map(|(name, ty)| Ok((name.clone(), global_type(name, ty)?)));
        for member in defaults.chain(own) {
            let (name, ty) = member?;
            let added = layout.add(name, ty);
            added.map_err(|error| PyValueError::new_err(error.to_string()))?;
        }
        Ok(layout)
    }

    /// A compiler for it.
    pub fn compiler(&self, output_derivatives: bool) -> PyResult<Compiler> {
        let options = Options {
            shader: self.shader.clone(),
            output_derivatives,
            ..Options::default()
        };
        let compiler = Compiler::new(self.layout()?).with_options(options);
        Ok(compiler.texture_slopes(self.texture_slopes))
    }

    /// Finds its source. Files that are loaded on the way become part of it.
    fn source(&mut self, folder: Option<Folder>) -> Result<Source, Diagnostics> {
        if self.kind == "bytecode" {
            return Ok(Source::Bytecode(self.bytecode.clone()));
        }
        let shelf = Shelf {
            files: Mutex::new(std::mem::take(&mut self.files)),
            folder,
        };
        let source = match self.kind.as_str() {
            "group" => Group::load(&self.main, &shelf).map(Source::Group),
            _ => Sources::load(&self.main, &shelf).map(Source::Shader),
        };
        self.files = std::mem::take(&mut *locked(&shelf.files));
        source
    }

    /// What a pickle has.
    pub fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let state = (
            self.kind.clone(),
            self.main.clone(),
            self.files.clone(),
            PyBytes::new(py, &self.bytecode),
            self.shader.clone(),
            self.globals.clone(),
            self.texture_slopes,
            self.root.clone(),
        );
        Ok(state.into_pyobject(py)?.into_any())
    }

    fn build(mut self, py: Python<'_>, folder: Option<Folder>) -> PyResult<PyProgram> {
        let source = self
            .source(folder)
            .map_err(|refused| compile_error(py, &refused))?;
        PyProgram::new(py, self, source)
    }
}

/// The names and types of globals that were given.
fn given_globals(globals: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, String)>> {
    let items = globals.into_iter().flatten();
    items
        .map(|(name, ty)| Ok((name.extract()?, ty.extract()?)))
        .collect()
}

/// Compiles the text of a shader to a `Program`.
///
/// `name` is what reports call the text, and where includes begin; `files` has the sources that it
/// includes, by name. `shader` is the one to take if there are several. `globals` names the types
/// of globals, beside those that there always are: `uv`, `pixel`, `resolution` (`float2`), `time`
/// (`float`) of images, and `uvw`, `position`, `normal`, `gnormal`, `I`, `tangent` (`float3`) of
/// hits. A type is `"float"`, `"int"`, `"uint"`, `"bool"`, `"float2"` to `"float4"`, `"color"`,
/// `"float2x2"` to `"float4x4"`. With `texture_slopes` values that come from textures have
/// derivatives, for which callbacks give slopes.
///
/// Raises `CompileError` with the report if the text is at fault.
///
/// >>> import adumbra
/// >>> source = "shader s(float gain = 2.0, out float o) { o = gain * global_value<x>; }"
/// >>> program = adumbra.compile(source, globals={"x": "float"})
/// >>> program(x=[1.0, 2.0])["o"]
/// array([2., 4.], dtype=float32)
#[pyfunction]
#[pyo3(signature = (source, *, name = "<shader>", files = None, shader = None, globals = None, texture_slopes = true))]
pub fn compile(
    py: Python<'_>,
    source: String,
    name: &str,
    files: Option<BTreeMap<String, String>>,
    shader: Option<String>,
    globals: Option<&Bound<'_, PyDict>>,
    texture_slopes: bool,
) -> PyResult<PyProgram> {
    text_recipe(source, name, files, shader, globals, texture_slopes)?.build(py, None)
}

/// What makes a program of a text.
fn text_recipe(
    source: String,
    name: &str,
    files: Option<BTreeMap<String, String>>,
    shader: Option<String>,
    globals: Option<&Bound<'_, PyDict>>,
    texture_slopes: bool,
) -> PyResult<ProgramRecipe> {
    let mut files = files.unwrap_or_default();
    files.insert(name.to_owned(), source);
    Ok(ProgramRecipe {
        kind: "shader".to_owned(),
        main: name.to_owned(),
        files,
        bytecode: Arc::default(),
        shader,
        globals: given_globals(globals)?,
        texture_slopes,
        root: None,
    })
}

/// Every error and warning of a text, whichever shaders it holds, as a list of `Diagnostic`.
///
/// The parameters are those of `compile`.
///
/// >>> import adumbra
/// >>> adumbra.check("shader s(out float o) { o = sine(1.0); }")[0].code
/// 'E0202'
#[pyfunction]
#[pyo3(signature = (source, *, name = "<shader>", files = None, globals = None, texture_slopes = true))]
pub fn check<'py>(
    py: Python<'py>,
    source: String,
    name: &str,
    files: Option<BTreeMap<String, String>>,
    globals: Option<&Bound<'_, PyDict>>,
    texture_slopes: bool,
) -> PyResult<Bound<'py, PyList>> {
    let mut recipe = text_recipe(source, name, files, None, globals, texture_slopes)?;
    let compiler = recipe.compiler(false)?;
    match recipe.source(None) {
        Ok(Source::Shader(sources)) => {
            let found = py.detach(|| compiler.check(&sources));
            PyDiagnostic::list(py, &found, &sources)
        }
        Ok(_) => Ok(PyList::empty(py)),
        Err(refused) => PyDiagnostic::list(py, &refused.diagnostics, &refused.sources),
    }
}

/// Compiles a file to a `Program`: a shader (`.adu`), a group of shaders (`.json`), or bytecode.
///
/// Includes, units of a group, and files that textures name are looked for in the folder of the
/// file; `root` is a folder above it, if they are elsewhere in that. The other parameters are those
/// of `compile`; a program from bytecode has its globals already.
///
/// Raises `CompileError` if a source is at fault, `OSError` if the file cannot be read.
#[pyfunction]
#[pyo3(signature = (path, *, root = None, shader = None, globals = None, texture_slopes = true))]
pub fn load(
    py: Python<'_>,
    path: PathBuf,
    root: Option<PathBuf>,
    shader: Option<String>,
    globals: Option<&Bound<'_, PyDict>>,
    texture_slopes: bool,
) -> PyResult<PyProgram> {
    let bytes = std::fs::read(&path).map_err(|error| {
        PyOSError::new_err((error.raw_os_error(), error.to_string(), path.clone()))
    })?;
    let globals = given_globals(globals)?;
    let (root, main) = folder_and_name(&path, root)?;
    let is_bytecode = adumbra::Program::is_bytecode(&bytes);
    let kind = match path.extension().and_then(|ending| ending.to_str()) {
        _ if is_bytecode => "bytecode",
        Some("json") => "group",
        _ => "shader",
    };
    let recipe = ProgramRecipe {
        kind: kind.to_owned(),
        main,
        files: BTreeMap::new(),
        bytecode: if is_bytecode {
            bytes.into()
        } else {
            Arc::default()
        },
        shader,
        globals,
        texture_slopes,
        root: Some(root.clone()),
    };
    recipe.build(py, Some(Folder::new(root)))
}

/// The folder that names begin in, and the name of a file there.
fn folder_and_name(path: &Path, root: Option<PathBuf>) -> PyResult<(PathBuf, String)> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let root = root.unwrap_or_else(|| folder.to_owned());
    let within = |path: &Path, root: &Path| -> Option<String> {
        let (path, root) = (path.canonicalize().ok()?, root.canonicalize().ok()?);
        let within = path.strip_prefix(&root).ok()?;
        let names: Option<Vec<&str>> = within.iter().map(|name| name.to_str()).collect();
        Some(names?.join("/"))
    };
    let absolute = if root.as_os_str().is_empty() {
        Path::new(".")
    } else {
        &root
    };
    match within(path, absolute) {
        Some(name) => Ok((root, name)),
        None => Err(PyValueError::new_err(format!(
            "{} is not in the folder {}, or is no name of text",
            path.display(),
            absolute.display()
        ))),
    }
}

/// The program of a pickle.
#[pyfunction]
#[pyo3(signature = (kind, main, files, bytecode, shader, globals, texture_slopes, root))]
#[expect(
    clippy::too_many_arguments,
    reason = "they are the members of a pickle"
)]
pub fn rebuild(
    py: Python<'_>,
    kind: String,
    main: String,
    files: BTreeMap<String, String>,
    bytecode: &[u8],
    shader: Option<String>,
    globals: Vec<(String, String)>,
    texture_slopes: bool,
    root: Option<PathBuf>,
) -> PyResult<PyProgram> {
    let recipe = ProgramRecipe {
        kind,
        main,
        files,
        bytecode: bytecode.into(),
        shader,
        globals,
        texture_slopes,
        root,
    };
    recipe.build(py, None)
}
