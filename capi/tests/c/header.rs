//! The header is what cbindgen generates now, and compiles as C and as C++ without warnings.

use crate::compilers::{Language, compiler, crate_dir, scratch};
use std::fs;

/// The files with functions, in the order in which a reader of the header wants them.
const SUBJECTS: [&str; 20] = [
    "version",
    "status",
    "error",
    "layout",
    "closures",
    "sources",
    "compiler",
    "diagnostics",
    "program",
    "gradient",
    "object",
    "instance",
    "evaluator",
    "parked",
    "batch_globals",
    "batch_options",
    "batch",
    "sums",
    "jumps",
    "host",
];

/// The files of what these functions take and give.
const TYPES: [&str; 4] = ["pointer", "options", "variable", "closure"];

fn generated() -> String {
    let source = |name: &&str| crate_dir().join("src").join(name).with_extension("rs");
    let config = cbindgen::Config::from_file(crate_dir().join("cbindgen.toml"));
    let mut builder = cbindgen::Builder::new().with_config(config.expect("the settings are read"));
    for file in SUBJECTS.iter().chain(&TYPES).map(source) {
        builder = builder.with_src(file);
    }
    let mut header = Vec::new();
    let bindings = builder.generate().expect("the crate can be read");
    bindings.write(&mut header);
    String::from_utf8(header).expect("UTF-8")
}

#[test]
fn header_is_generated_from_crate() {
    let path = crate_dir().join("include/adumbra.h");
    let now = generated();
    if std::env::var_os("ADUMBRA_BLESS").is_some() {
        fs::write(&path, &now).expect("the header can be written");
    }
    let kept = fs::read_to_string(&path).expect("the header is there");
    let at = kept.lines().zip(now.lines()).position(|(a, b)| a != b);
    assert!(
        kept == now,
        "adumbra.h is stale from line {:?} on: ADUMBRA_BLESS=1 cargo test -p adumbra-capi --test c header",
        at.map(|at| at + 1)
    );
}

#[test]
fn header_declares_every_function() {
    let header =
        fs::read_to_string(crate_dir().join("include/adumbra.h")).expect("the header is there");
    let mut functions = 0;
    for entry in fs::read_dir(crate_dir().join("src")).expect("the crate is there") {
        let path = entry.expect("the crate is there").path();
        let text = fs::read_to_string(&path).expect("a source file");
        for after in text.split("#[unsafe(no_mangle)]\n").skip(1) {
            let name = after
                .split("fn ")
                .nth(1)
                .and_then(|rest| rest.split('(').next());
            let name = name.expect("a function follows");
            assert!(
                header.contains(&format!("{name}(")),
                "{name} of {}",
                path.display()
            );
            functions += 1;
        }
    }
    assert!(functions > 50, "{functions}");
}

#[test]
fn memory_of_hosts_is_maybe_uninit() {
    // One function makes slices that may be written, of memory that need not be initialised. A
    // second one could forget that.
    let mut found = Vec::new();
    for entry in fs::read_dir(crate_dir().join("src")).expect("the crate is there") {
        let path = entry.expect("the crate is there").path();
        let text = fs::read_to_string(&path).expect("a source file");
        let makes = text
            .lines()
            .filter(|line| line.contains("from_raw_parts_mut"));
        found.extend(makes.map(|line| format!("{}: {}", path.display(), line.trim())));
    }
    assert!(
        found.len() == 1 && found[0].contains("pointer.rs"),
        "{found:#?}"
    );
    let pointer = fs::read_to_string(crate_dir().join("src/pointer.rs")).expect("a source file");
    assert!(pointer.contains(") -> Result<&'a mut [MaybeUninit<T>]> {"));
    assert!(!pointer.contains("&'a mut [T]"));
}

#[test]
fn header_compiles_as_c_and_cpp() {
    let twice = "#include \"adumbra.h\"\n#include \"adumbra.h\"\nint main(void) { return 0; }\n";
    for (language, name) in [(Language::C, "both.c"), (Language::Cpp, "both.cpp")] {
        let Some(compiler) = compiler(language) else {
            continue;
        };
        let file = scratch("header").join(name);
        fs::write(&file, twice).expect("the folder can be written");
        let mut command = compiler.to_command();
        command.args(language.strict()).arg("-fsyntax-only");
        command
            .arg("-I")
            .arg(crate_dir().join("include"))
            .arg(&file);
        let said = command.output().expect("the compiler starts");
        let errors = String::from_utf8_lossy(&said.stderr);
        assert!(
            said.status.success() && errors.is_empty(),
            "{name}: {errors}"
        );
    }
}
