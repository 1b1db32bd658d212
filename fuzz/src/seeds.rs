//! Seeds of a campaign: the sources of the project, as inputs of a target.

use crate::choices::bytes_of_seed;
use adumbra::{Compiler, GlobalsLayout, Sources, Type};
use adumbra_ir::text::{self, SpanComments};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Generated programs among the seeds.
const PROGRAMS: u64 = 64;

/// Bytes that each of them is made from.
const PROGRAM_BYTES: usize = 1_500;

/// The inputs that a target begins from.
///
/// # Errors
/// If a folder or file of the project cannot be read.
pub fn seed_inputs(target: &str) -> std::io::Result<Vec<Vec<u8>>> {
    let programs = (0..PROGRAMS).map(|seed| bytes_of_seed(seed, PROGRAM_BYTES));
    let mut seeds: Vec<Vec<u8>> = programs.collect();
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
    for file in files {
        let source = std::fs::read_to_string(&file)?;
        seeds.extend(seed(target, &source));
    }
    Ok(seeds)
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

/// A text as an input that the target takes as it is: the first byte says so, and some targets pass over others.
fn seed(target: &str, source: &str) -> Option<Vec<u8>> {
    let compiler = Compiler::new(layout(source)?);
    let sources = Sources::new("seed.adu", source);
    let (passed, payload) = match target {
        "source" => (0, source.as_bytes().to_vec()),
        "ir_text" => {
            let module = compiler.lowered(&sources).ok()?;
            (24, text::print(&module, SpanComments::Hidden).into_bytes())
        }
        "bytecode" => (0, compiler.compile(&sources).ok()?.to_bytecode()),
        _ => return None,
    };
    Some([vec![0; 1 + passed], payload].concat())
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
