//! Shaders compiled ahead of time: an object file for a linker, and the C header that goes with it.

pub use adumbra_aot::{CodeSizeError, ObjectShader, Platform, Target};

mod header;

use crate::batch::uniform_words;
use crate::program::Program;
use adumbra_aot::{NativeCompiler, ObjectVersionError, ShaderObject, write_object};
use adumbra_ir::{Code, Diagnostic, Span};
use adumbra_vm::{FloatEnvironment, batch_segments, point_cfgs};
use std::fmt;
use std::sync::Arc;

/// The shaders of one object file. It has their modules and their machine code, for batches and
/// single points. A program that the linker makes of it and of Adumbra's library compiles nothing,
/// and needs no memory that is written and executed.
///
/// ```
/// use adumbra::{Compiler, GlobalsLayout, Sources, Type, object::{ObjectFile, Platform}};
/// let layout = GlobalsLayout::new().with("uv", Type::Vector(2))?;
/// let source = "shader wave(float height = 1.0, out float o) { o = height * sin(10.0 * global_value<uv>.x); }";
/// let program = Compiler::new(layout).compile(&Sources::new("wave.adu", source))?;
///
/// let platform = Platform::from_name("aarch64-linux").unwrap();
/// let mut file = ObjectFile::new(platform);
/// file.add("wave", &program, &[])?;
/// assert!(file.to_bytes()?.starts_with(b"\x7fELF"));
/// assert!(file.header("wave.h").contains("extern const AdumbraObjectShader adumbra_object_wave;"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ObjectFile {
    platform: Platform,
    shaders: Vec<(Arc<Program>, ShaderObject)>,
}

/// The reasons why a shader cannot go into an object file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectFileError {
    /// C knows no such name: it has letters, digits and `_`, and begins with no digit.
    Name(String),
    /// There is a shader of that name already.
    Duplicate(String),
    /// The program has no global of that name.
    Global(String),
}

impl fmt::Display for ObjectFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ObjectFileError::Name(name) => write!(
                f,
                "`{name}` is no name in C: letters, digits and `_` make one, and no digit begins it"
            ),
            ObjectFileError::Duplicate(name) => write!(f, "the shader `{name}` is there twice"),
            ObjectFileError::Global(name) => write!(f, "there is no global `{name}`"),
        }
    }
}

impl std::error::Error for ObjectFileError {}

impl ObjectFile {
    /// An object file without shaders.
    pub fn new(platform: Platform) -> ObjectFile {
        ObjectFile {
            platform,
            shaders: Vec::new(),
        }
    }

    /// Adds a shader, whose C variable becomes `adumbra_object_NAME`. There is code for batches
    /// whose globals all differ from point to point, and for those that say as
    /// [`BatchSetup::uniform`](crate::batch::BatchSetup::uniform) does that these are the same;
    /// others are compiled when they run, or interpreted.
    ///
    /// # Errors
    /// If the name is no C name, or the program has no such global.
    pub fn add(
        &mut self,
        name: &str,
        program: &Arc<Program>,
        same: &[String],
    ) -> Result<(), ObjectFileError> {
        let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
        let rest = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !name.starts_with(begins) || !name.chars().all(rest) {
            return Err(ObjectFileError::Name(name.to_owned()));
        }
        if self.shaders.iter().any(|(_, own)| own.name == name) {
            return Err(ObjectFileError::Duplicate(name.to_owned()));
        }
        let layout = program.globals();
        let strange = same.iter().find(|name| layout.member(name).is_none());
        if let Some(strange) = strange {
            return Err(ObjectFileError::Global(strange.clone()));
        }
        // Segments have folded constants.
        let _mode = FloatEnvironment::enter();
        let mut sets = vec![uniform_words(layout, &[]), uniform_words(layout, same)];
        sets.dedup();
        // What is loaded may differ from what was compiled: lowering keeps more for a file.
        let file = program.to_bytecode();
        let loaded = Program::from_bytecode(&file).expect("it was written");
        let variant = |set: Vec<bool>| {
            let segments = batch_segments(loaded.bytecode(), &set);
            (set, segments)
        };
        let shader = ShaderObject {
            name: name.to_owned(),
            program: file,
            variants: sets.into_iter().map(variant).collect(),
            point_cfgs: point_cfgs(loaded.bytecode()),
        };
        self.shaders.push((program.clone(), shader));
        Ok(())
    }

    /// The file.
    ///
    /// # Errors
    /// If the code of a shader is longer than object files or its own jumps allow.
    pub fn to_bytes(&self) -> Result<Vec<u8>, CodeSizeError> {
        let _mode = FloatEnvironment::enter();
        write_object(self.platform, self.shaders.iter().map(|(_, shader)| shader))
    }

    /// The header for C and C++ that goes with it, to be saved under that name. It has, for each
    /// shader, its globals, outputs, textures, closures and resources, and functions that evaluate
    /// points and batches. It includes `adumbra.h`.
    pub fn header(&self, file: &str) -> String {
        let shaders = self.shaders.iter().map(|(own, it)| (&*it.name, &**own));
        header::header(file, shaders)
    }
}

impl Program {
    /// The program of a shader that was compiled ahead of time and linked, with the machine code
    /// that it was given.
    ///
    /// ```no_run
    /// use adumbra::{Program, object::ObjectShader};
    /// // SAFETY: `adumbra aot` wrote the object that the linker finds it in.
    /// unsafe extern "C" {
    ///     safe static adumbra_object_wave: ObjectShader;
    /// }
    /// let program = Program::from_object(&adumbra_object_wave).unwrap();
    /// ```
    ///
    /// # Errors
    /// If another version of the library wrote the object.
    pub fn from_object(shader: &'static ObjectShader) -> Result<Arc<Program>, Diagnostic> {
        let bytes = shader.program().map_err(|ObjectVersionError| {
            let message = "the object was written by another version of Adumbra";
            Diagnostic::new(Code::BytecodeInvalid, Span::default(), message)
                .help("compile the shader again, by `adumbra aot` of this version")
        })?;
        let program = Program::from_bytecode(bytes)?;
        let native = NativeCompiler::with_linked(program.bytecode().shader_name(), shader);
        program.set_native(native.map(Arc::new));
        Ok(program)
    }
}
