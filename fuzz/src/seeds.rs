//! Seeds of a campaign: the sources of the project, as inputs of a target.

use crate::bundle;
use crate::choices::bytes_of_seed;
use crate::generate::derived::DerivedKind;
use crate::generate::{GeneratedProgram, Profile};
use crate::oracle::chain::compiler;
use crate::oracle::modes::MODES;
use adumbra::{Compiler, GlobalsLayout, Program, Sources, Type};
use adumbra_ir::text::{self, SpanComments};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Generated programs among the seeds.
const PROGRAMS: u64 = 64;

/// Bytes that each of them is made from.
const PROGRAM_BYTES: usize = 1_500;

/// The inputs that a target begins from.
///
/// # Errors
/// If a folder or file of the project cannot be read.
pub fn seed_inputs(target: &str) -> std::io::Result<Vec<Vec<u8>>> {
    #[cfg(feature = "loaders")]
    if let Some(loader) = crate::loaders::FuzzLoader::from_name(target) {
        return Ok(vec![loader.valid_file()]);
    }
    let programs = (0..PROGRAMS).map(|seed| bytes_of_seed(seed, PROGRAM_BYTES));
    let mut seeds: Vec<Vec<u8>> = programs.collect();
    let sources = project_sources()?;
    seeds.extend(sources.iter().filter_map(|source| seed(target, source)));
    Ok(seeds)
}

/// The programs whose files campaigns change: the project's sources, and generated programs with
/// everything that there is, in every mode.
///
/// # Errors
/// If a folder or file of the project cannot be read.
pub fn programs() -> std::io::Result<Vec<Arc<Program>>> {
    let sources = project_sources()?;
    let mut programs: Vec<Arc<Program>> = sources.iter().filter_map(|s| compiled(s)).collect();
    let profiles = [
        Profile::ANY,
        Profile::derived(DerivedKind::Engines),
        Profile::derived(DerivedKind::Second),
    ];
    let mut modes = MODES.iter().cycle();
    for seed in 0..PROGRAMS {
        for profile in profiles {
            let program = GeneratedProgram::of_seed(seed, profile);
            let mode = modes.next().expect("they are repeated");
            let sources = bundle::sources(&program.source);
            let compiled = sources.and_then(|sources| compiler(mode).compile(&sources));
            programs.extend(compiled.ok());
        }
    }
    Ok(programs)
}

/// The sources of the project's tests and examples.
fn project_sources() -> std::io::Result<Vec<String>> {
    let mut files = Vec::new();
    for folder in ["tests", "examples", "fuzz/regressions"] {
        source_files(
            &Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("..")
                .join(folder),
            &mut files,
        )?;
    }
    files.sort();
    files.into_iter().map(std::fs::read_to_string).collect()
}

/// The files of sources in a folder.
fn source_files(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            source_files(&path, files)?;
        } else if path.extension().is_some_and(|ending| ending == "adu") {
            files.push(path);
        }
    }
    Ok(())
}

/// A text as an input that the target takes as it is: the first byte says so, and some targets pass
/// over others.
fn seed(target: &str, source: &str) -> Option<Vec<u8>> {
    let (passed, payload) = match target {
        "source" => (0, source.as_bytes().to_vec()),
        "ir_text" => {
            let (compiler, sources) = compilation(source)?;
            let module = compiler.lowered(&sources).ok()?;
            (24, text::print(&module, SpanComments::Hidden).into_bytes())
        }
        "bytecode" => (0, compiled(source)?.to_bytecode()),
        _ => return None,
    };
    Some([vec![0; 1 + passed], payload].concat())
}

/// The program of a text.
fn compiled(source: &str) -> Option<Arc<Program>> {
    let (compiler, sources) = compilation(source)?;
    compiler.compile(&sources).ok()
}

/// A text, and a compiler for it.
fn compilation(source: &str) -> Option<(Compiler, Sources)> {
    Some((
        Compiler::new(layout(source)?),
        Sources::new("seed.adu", source),
    ))
}

/// Floats for all globals that a text names.
fn layout(source: &str) -> Option<GlobalsLayout> {
    let names = source.split("global_value<").skip(1);
    let names = names.filter_map(|rest| rest.split_once('>'));
    let names: BTreeSet<&str> = names.map(|(name, _)| name.trim()).collect();
    let mut names = names.into_iter();
    names.try_fold(GlobalsLayout::new(), |layout, name| {
        layout.with(name, Type::FLOAT).ok()
    })
}
