//! No lane is idle: in the programs of `examples` and of the post, removing any lane changes what some of 1,000 points show.
//!
//! Globals are those that the program's header runs it with (`-g NAME=…`, `--globals hit`), and so is whether the outputs' derivatives are
//! wanted (`--derivs`); points are drawn, not taken from there.

use adumbra::{Compiler, GlobalsLayout, Options, Scalar, Sources, Type};
use adumbra_fuzz::oracle::idle::{idle, lanes};
use std::path::{Path, PathBuf};

const POINTS: u64 = 1_000;

/// Every `.adu` file of a folder, sorted.
fn programs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|file| file.extension().is_some_and(|e| e == "adu"))
        .collect();
    files.sort();
    files
}

/// The type of a global by the shape of the value that a header gives it.
fn type_of(value: &str) -> Type {
    let value = value.split(':').next().unwrap_or_default();
    match value.split(',').count() {
        1 if value == "true" || value == "false" => Type::Scalar(Scalar::Bool),
        1 if value.ends_with('i') => Type::Scalar(Scalar::I32),
        1 => Type::FLOAT,
        n => Type::Vector(n as u8),
    }
}

/// How a program's header runs it.
fn compiler(text: &str) -> Compiler {
    let header = text.lines().take_while(|line| line.starts_with("//"));
    let words: Vec<&str> = header
        .filter(|line| line.contains("run"))
        .flat_map(str::split_whitespace)
        .collect();
    let mut layout = match words.contains(&"hit") {
        true => GlobalsLayout::hit(),
        false => GlobalsLayout::new(),
    };
    for pair in words.windows(2).filter(|pair| pair[0] == "-g") {
        let (name, value) = pair[1].split_once('=').expect("NAME=VALUE");
        if layout.member(name).is_none() {
            layout = layout
                .with(name, type_of(value))
                .expect("an allowed global");
        }
    }
    Compiler::new(layout).with_options(Options {
        output_derivatives: words.contains(&"--derivs"),
        ..Options::default()
    })
}

#[test]
fn no_lane_of_a_golden_is_idle() {
    let (mut files, mut count) = (0, 0);
    for file in ["examples", "tests/post"].into_iter().flat_map(programs) {
        let text = std::fs::read_to_string(&file).expect("the program can be read");
        if text.contains("// refused:") {
            continue;
        }
        let sources = Sources::new("golden.adu", text.as_str());
        let program = match compiler(&text).compile(&sources) {
            Ok(program) => program,
            Err(findings) => panic!("{}: {findings}", file.display()),
        };
        let module = program.module().expect("it was compiled here");
        assert_eq!(idle(module, POINTS), [], "{}", file.display());
        count += lanes(module).len();
        files += 1;
    }
    println!("{count} lanes in {files} programs");
    assert!(
        files >= 10 && count > 200,
        "{count} lanes in {files} programs"
    );
}
