//! Tidy tests: the rules of the project that a machine can check.
//!
//! The other rules are in `CONTRIBUTING.md`.

mod dependency_cycles;
mod paths;
mod speed_table;
mod techniques;
mod type_names;
mod words;

use std::path::{Path, PathBuf};

/// Where `unsafe` may be: the machine, calls from C and into C, memory of arrays of NumPy, an
/// example that names what its linker finds, an allocator that counts for a test, and a test that
/// sets the processor's mode. Other pages refer to this list.
const MAY_BE_UNSAFE: [&str; 9] = [
    "vm/",
    "simd/",
    "aot/",
    "capi/",
    "bench/src/c_reference.rs",
    "examples/aot/src/main.rs",
    "fuzz/src/bounds.rs",
    "python/src/planes.rs",
    "tests/facade/floats.rs",
];

/// Tests that only `.ci/` runs, since they read what it builds: they alone may be ignored.
const RUN_BY_CI: [&str; 1] = ["cli/tests/command/docs/built.rs"];

/// What nothing that lands contains. Split, so that this file does not contain it either.
const UNFINISHED: [&str; 6] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
    concat!("db", "g!("),
    concat!("#[ig", "nore"),
];

/// What may read a clock: it shows times, waits for files, or chooses between engines with the same
/// bits. What stops points must not, or a busy machine would stop others.
const MAY_READ_CLOCKS: [&str; 11] = [
    "aot/src/native_compiler.rs",
    "cli/src/fit/search.rs",
    "cli/src/image/mod.rs",
    "cli/src/image/watch.rs",
    "cli/src/repl/command.rs",
    "ir/src/passes/pass_times.rs",
    "render/src/command/draw.rs",
    "render/src/command/fit.rs",
    "render/src/shading/phase_times.rs",
    "src/stats.rs",
    "src/tier/tier_up.rs",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file of the project with that ending, by its path from the root; what is built or hidden
/// is left out.
fn files(ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root().into()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            let name = path.file_name().and_then(|n| n.to_str()).expect("UTF-8");
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                folders.push(path);
            } else if name.ends_with(ending) {
                let relative = path.strip_prefix(root()).expect("it is inside");
                found.push(relative.to_str().expect("UTF-8").replace('\\', "/"));
            }
        }
    }
    assert!(!found.is_empty(), "no file ends with {ending}");
    found
}

fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).expect("the file can be read")
}

/// Panics with what is wrong, if anything is.
fn none(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_file_says_first_what_it_is_for() {
    let mut wrong = files(".rs");
    wrong.retain(|file| !read(file).starts_with("//! "));
    none(wrong);
}

/// Code within comments, between fences, may be longer, as strings may.
#[test]
fn comments_have_at_most_100_columns() {
    let mut wrong = Vec::new();
    for file in files(".rs") {
        let mut is_code = false;
        for (number, line) in (1..).zip(read(&file).lines()) {
            let prose = line.trim_start().trim_start_matches(['/', '!']);
            if !is_comment(line) {
                is_code = false;
            } else if prose.trim_start().starts_with("```") {
                is_code = !is_code;
            } else if !is_code && line.chars().count() > 100 {
                wrong.push(format!("{file}:{number}"));
            }
        }
    }
    none(wrong);
}

#[test]
fn nothing_is_left_unfinished() {
    let mut wrong = Vec::new();
    for file in files(".rs").into_iter().chain(files(".adu")) {
        let text = read(&file);
        let runs_in_ci = RUN_BY_CI.contains(&&*file);
        let left = UNFINISHED.iter().filter(|word| text.contains(**word));
        let left = left.filter(|word| !(runs_in_ci && word.starts_with("#[")));
        wrong.extend(left.map(|word| format!("{file}: {word}")));
    }
    none(wrong);
}

#[test]
fn unsafe_is_only_where_it_may_be() {
    // The lint denies it elsewhere; this denies switching the lint off.
    let word = concat!("unsafe", "_code)]");
    let words = [
        word,
        concat!("un", "safe {"),
        concat!("un", "safe impl"),
        concat!("un", "safe extern \""),
        concat!("un", "safe fn "),
    ];
    let mut wrong = files(".rs");
    wrong.retain(|file| {
        let text = read(file);
        let is_free = MAY_BE_UNSAFE.iter().any(|place| file.starts_with(place));
        let mut code = text.lines().filter(|line| !is_comment(line));
        !is_free && code.any(|line| words.iter().any(|word| line.contains(word)))
    });
    none(wrong);
}

#[test]
fn clocks_are_read_by_listed_files_alone() {
    let crates = [
        "src/",
        "cli/src/",
        "ir/src/",
        "vm/src/",
        "aot/src/",
        "frontend/src/",
        "capi/src/",
        "fit/src/",
        "render/src/",
    ];
    let mut wrong = files(".rs");
    wrong.retain(|file| {
        let is_of_crate = crates.iter().any(|folder| file.starts_with(folder));
        let reads = ["Instant", "SystemTime"]
            .iter()
            .any(|clock| read(file).contains(clock));
        is_of_crate && reads && !MAY_READ_CLOCKS.contains(&file.as_str())
    });
    none(wrong);
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

/// Whether the comment directly above a line, but for attributes, has such words.
fn says_above(lines: &[&str], at: usize, words: &str) -> bool {
    let above = lines[..at].iter().rev();
    let mut above =
        above.take_while(|line| is_comment(line) || line.trim_start().starts_with("#["));
    above.any(|line| line.contains(words))
}

/// The line that the statement, the arm or the operand begins with to which a line belongs.
fn beginning(lines: &[&str], mut at: usize) -> usize {
    let is_over = |line: &str| is_comment(line) || line.trim_end().ends_with([';', '{', '}', ',']);
    while at > 0 && !lines[at - 1].is_empty() && !is_over(lines[at - 1]) {
        at -= 1;
    }
    at
}

/// The lines that open the blocks around a line, the innermost first.
fn around<'a>(lines: &[&'a str], at: usize) -> Vec<&'a str> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut least = indent(lines[at]);
    let mut found = Vec::new();
    for line in lines[..at].iter().rev() {
        if !line.is_empty() && indent(line) < least {
            least = indent(line);
            found.push(line.trim_start());
        }
    }
    found
}

#[test]
fn what_is_unsafe_says_why_it_is_sound() {
    let block = concat!("un", "safe {");
    let promises = |line: &str| {
        let rest = line.trim_start().strip_prefix("unsafe ");
        rest.is_some_and(|rest| {
            rest.starts_with("impl") || rest.starts_with("extern") && rest.ends_with("\" {")
        })
    };
    let mut wrong = Vec::new();
    for file in files(".rs") {
        let text = read(&file);
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate().filter(|(_, l)| !is_comment(l)) {
            let is_unsafe = line.contains(block) || promises(line);
            let places = [at, beginning(&lines, at)];
            if is_unsafe && !places.iter().any(|&at| says_above(&lines, at, "SAFETY:")) {
                wrong.push(format!("{file}:{}", at + 1));
            }
        }
    }
    none(wrong);
}

#[test]
fn what_asks_something_of_its_callers_says_what() {
    // What C calls has the contract in the head of its crate, what a trait or a macro asks for is
    // said there.
    let declares = |line: &str| !is_comment(line) && line.contains(concat!("un", "safe fn "));
    let is_elsewhere = |line: &&str| {
        let is_of_trait = line.starts_with("impl") && line.contains(" for ");
        let opens = [
            concat!("un", "safe impl"),
            concat!("un", "safe extern"),
            "macro_rules!",
        ];
        is_of_trait || opens.iter().any(|word| line.starts_with(word))
    };
    let mut wrong = Vec::new();
    for file in files(".rs") {
        let text = read(&file);
        let lines: Vec<&str> = text.lines().collect();
        for (at, _) in lines.iter().enumerate().filter(|(_, l)| declares(l)) {
            let is_own = !around(&lines, at).iter().any(is_elsewhere);
            if is_own && !says_above(&lines, at, "/// # Safety") {
                wrong.push(format!("{file}:{}", at + 1));
            }
        }
    }
    none(wrong);
}

/// Folders whose code makes results: values of programs, and images of them.
const MAKES_RESULTS: [&str; 13] = [
    "aot/src/",
    "capi/src/",
    "cli/src/",
    "derive/src/",
    "fit/src/",
    "frontend/src/",
    "image/src/",
    "ir/src/",
    "ops/src/",
    "render/src/",
    "simd/src/",
    "src/",
    "vm/src/",
];

/// Methods of floats that the platform's library of mathematics computes, each platform's in its
/// own way. Square roots and fused multiplications are the same everywhere.
const PLATFORM_MATH: [&str; 26] = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "exp",
    "exp2", "exp_m1", "hypot", "ln", "ln_1p", "log", "log10", "log2", "powf", "powi", "sin",
    "sin_cos", "sinh", "tan", "tanh",
];

/// The methods of that list that a line of code calls or names.
fn platform_math(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices(['.', ':']) {
        let rest = &line[at + 1..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
        let is_float = ["f32:", "f64:"].iter().any(|ty| line[..at].ends_with(ty));
        let is_called = line[at..].starts_with('.') && after.starts_with('(');
        // Powers of 2 are exact in whatever way they are multiplied.
        let bases = ["2f32", "2f64", "2.0_f32", "2.0_f64", "0.5_f32", "0.5_f64"];
        let is_exact = name == "powi" && bases.iter().any(|base| line[..at].ends_with(base));
        if PLATFORM_MATH.contains(&name) && (is_called || is_float) && !is_exact {
            found.push(name);
        }
    }
    found
}

#[test]
fn results_use_no_platform_math() {
    // The same bits on every machine: ops have algorithms of their own, the rest uses `libm`. What
    // an op means over the reals is an oracle that no engine runs; its functions take f64.
    let mut wrong = Vec::new();
    let mut oracles = 0;
    for file in files(".rs") {
        if !MAKES_RESULTS.iter().any(|folder| file.starts_with(folder)) {
            continue;
        }
        let text = read(&file);
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate().filter(|(_, l)| !is_comment(l)) {
            for name in platform_math(line) {
                let is_oracle = |line: &&str| line.starts_with("fn ") && line.contains("f64");
                if file.starts_with("ops/src/") && around(&lines, at).iter().any(is_oracle) {
                    oracles += 1;
                } else {
                    wrong.push(format!("{file}:{}: {name}", at + 1));
                }
            }
        }
    }
    assert!(oracles > 10, "oracles are looked at: {oracles}");
    none(wrong);
}

/// Where generators of our own may be, since what their seeds mean has to stay:
/// `docs/libraries.md`.
const DRAW_BY_THEMSELVES: [&str; 3] =
    ["ir/src/random/", "fuzz/src/choices.rs", "fit/src/random.rs"];

/// The marks of generators of random numbers: factors of the common ones, xorshift, no seed.
const GENERATORS: [&str; 10] = [
    concat!("636413", "6223846793005"),
    concat!("5851f42d", "4c957f2d"),
    concat!("bf58476d", "1ce4e5b9"),
    concat!("94d049bb", "133111eb"),
    concat!("25214", "903917"),
    concat!("1664", "525"),
    concat!("110351", "5245"),
    concat!("^=state<", "<13"),
    concat!("^=self.0<", "<13"),
    concat!("rng", "::new()"),
];

#[test]
fn tests_draw_from_one_generator() {
    // `fastrand` with a seed: a test that cannot be run again the same is of no use.
    let mut wrong = files(".rs");
    wrong.retain(|file| {
        let mut text = read(file).to_lowercase();
        text.retain(|c| c != '_' && c != ' ');
        GENERATORS.iter().any(|of| text.contains(of))
            && !DRAW_BY_THEMSELVES.iter().any(|own| file.starts_with(own))
    });
    none(wrong);
}

/// The lines of a manifest that name dependencies: those for building and testing too.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in read(manifest).lines() {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]");
        } else if inside && line.contains('=') {
            found.push(line.to_string());
        }
    }
    found
}

#[test]
fn crates_depend_only_on_what_they_may() {
    // The crates of the project that each crate's manifest names.
    let arrows: [(&str, &[&str]); 19] = [
        ("stdlib", &[]),
        ("image", &[]),
        ("fit", &[]),
        ("derive", &[]),
        ("ops", &[]),
        ("ir", &["adumbra-ops"]),
        ("frontend", &["adumbra-ops", "adumbra-ir", "adumbra-stdlib"]),
        ("simd", &["adumbra-ops"]),
        ("vm", &["adumbra-ops", "adumbra-ir", "adumbra-simd"]),
        ("aot", &["adumbra-ops", "adumbra-ir", "adumbra-vm"]),
        (
            "cli",
            &[
                "adumbra",
                "adumbra-aot",
                "adumbra-fit",
                "adumbra-frontend",
                "adumbra-fuzz",
                "adumbra-image",
                "adumbra-ir",
                "adumbra-stdlib",
                "adumbra-vm",
            ],
        ),
        (
            "fuzz",
            &[
                "adumbra",
                "adumbra-ops",
                "adumbra-aot",
                "adumbra-image",
                "adumbra-ir",
                "adumbra-render",
                "adumbra-stdlib",
                "adumbra-vm",
            ],
        ),
        (
            "python",
            &["adumbra", "adumbra-cli", "adumbra-image", "adumbra-render"],
        ),
        ("fuzz/targets", &["adumbra-fuzz"]),
        (
            "bench",
            &[
                "adumbra",
                "adumbra-aot",
                "adumbra-cli",
                "adumbra-fuzz",
                "adumbra-vm",
            ],
        ),
        ("capi", &["adumbra"]),
        ("render", &["adumbra", "adumbra-fit", "adumbra-image"]),
        ("examples/aot", &["adumbra"]),
        ("tests/features", &["adumbra"]),
    ];
    let mut wrong = Vec::new();
    for manifest in files("Cargo.toml") {
        let Some(folder) = manifest.strip_suffix("/Cargo.toml") else {
            continue;
        };
        let (_, may) = arrows
            .iter()
            .find(|(name, _)| *name == folder)
            .unwrap_or_else(|| panic!("{folder} has no line here"));
        for line in dependencies(&manifest) {
            let name = line.split([' ', '.', '=']).next().expect("a name");
            // Tests ask for features of their own crate.
            let is_own = name == format!("adumbra-{folder}");
            if name.starts_with("adumbra") && !is_own && !may.contains(&name) {
                wrong.push(format!("{folder} uses {name}"));
            }
        }
    }
    none(wrong);
}

#[test]
fn manifests_give_carets() {
    // A library that pins its dependencies cannot be depended on; the lock file pins.
    let mut wrong = Vec::new();
    for manifest in files("Cargo.toml") {
        for line in dependencies(&manifest) {
            if line.contains("\"=") || line.contains("\"*") {
                wrong.push(format!("{manifest}: {line}"));
            }
        }
    }
    none(wrong);
}

/// Names at the root of the facade: few enough to be read through. The others are in modules by
/// subject.
const MAX_ROOT_NAMES: usize = 43;

#[test]
fn root_names_are_few() {
    let text = read("src/lib.rs");
    let code: Vec<&str> = text.lines().filter(|line| !is_comment(line)).collect();
    let code = code.join(" ");
    let public = code.split(';').filter_map(|item| item.split_once("pub "));
    let mut names: Vec<&str> = Vec::new();
    for (_, item) in public {
        let list = match item.split_once('{') {
            Some((_, list)) => list.trim_end_matches('}'),
            None => item.rsplit([' ', ':']).next().unwrap_or_default(),
        };
        names.extend(
            list.split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty()),
        );
    }
    // A trait and the macro that implements it have one name.
    names.sort_unstable();
    names.dedup();
    assert!(names.contains(&"batch") && names.contains(&"Compiler"));
    assert!(!names.contains(&"*"), "all of another module");
    assert!(names.len() <= MAX_ROOT_NAMES, "{}: {names:?}", names.len());
}
