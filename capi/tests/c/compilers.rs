//! Folders of the project, and the C compilers of this machine.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the crate.
pub(crate) fn crate_dir() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A file or folder of the project.
pub(crate) fn project(path: &str) -> PathBuf {
    crate_dir()
        .parent()
        .expect("the project's folder")
        .join(path)
}

/// An empty folder for a test.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("capi_{name}"));
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

/// The language of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    Cpp,
}

impl Language {
    /// The flags of its standard, and all warnings as errors.
    pub(crate) fn strict(self) -> [&'static str; 5] {
        let standard = match self {
            Language::C => "-std=c99",
            Language::Cpp => "-std=c++17",
        };
        [standard, "-Wall", "-Wextra", "-pedantic", "-Werror"]
    }
}

/// The compiler of this machine, if there is one.
pub(crate) fn compiler(language: Language) -> Option<cc::Tool> {
    let target = env!("ADUMBRA_TARGET");
    let mut build = cc::Build::new();
    build.target(target).host(target).opt_level(1);
    build.cpp(language == Language::Cpp).cargo_metadata(false);
    let tool = build.try_get_compiler().ok();
    let tool = tool.filter(|tool| {
        let version = Command::new(tool.path()).arg("--version").output();
        version.is_ok_and(|said| said.status.success())
    });
    if tool.is_none() {
        println!("skipped: there is no compiler of {language:?}");
    }
    tool
}

/// Which library a program is built against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    Static,
    Shared,
}

impl Library {
    /// Its file, which is built beside the tests; shared ones are tried on Linux alone, where a
    /// program can say where they are.
    pub(crate) fn file(self) -> Option<PathBuf> {
        let name = match self {
            Library::Static => "libadumbra_capi.a",
            Library::Shared if cfg!(target_os = "linux") => "libadumbra_capi.so",
            Library::Shared => {
                println!("skipped: shared libraries are tried on Linux");
                return None;
            }
        };
        let test = std::env::current_exe().expect("a test knows where it is");
        let file = test.with_file_name(name);
        assert!(file.exists(), "{}", file.display());
        Some(file)
    }
}

/// Builds a program of one file, without optimisations that change results; nothing without a
/// compiler.
pub(crate) fn build(
    language: Language,
    source: &Path,
    name: &str,
    library: Library,
) -> Option<PathBuf> {
    link(language, &[source], &scratch(name), name, library)
}

/// Builds a program of these files, which may include what is in the folder where it goes.
pub(crate) fn link(
    language: Language,
    sources: &[&Path],
    folder: &Path,
    name: &str,
    library: Library,
) -> Option<PathBuf> {
    let (compiler, library) = (compiler(language)?, library.file()?);
    let program = folder.join(name);
    let mut command = compiler.to_command();
    command.args(language.strict()).arg("-ffp-contract=off");
    command.arg("-I").arg(crate_dir().join("include"));
    command.arg("-I").arg(folder);
    command.args(sources).arg(&library).arg("-o").arg(&program);
    command.args(["-lpthread", "-ldl", "-lm"]);
    if library.extension().is_some_and(|ending| ending == "so") {
        let folder = library.parent().expect("it is in a folder");
        command.arg(format!("-Wl,-rpath,{}", folder.display()));
    }
    let said = command.output().expect("the compiler starts");
    let errors = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "{sources:?}: {errors}");
    Some(program)
}
