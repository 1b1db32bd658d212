//! Retired words: the terms that `docs/glossary.md` replaces are in no code, doc, test or name.
//!
//! A file is read as words: identifiers are taken apart at `_` and at capitals, and a phrase may go
//! on in the next line of a comment. A word that is ordinary English or another field's term
//! elsewhere says in which files.

use super::{files, none, read};

/// A retired term.
struct Retired {
    /// Its forms: words, or phrases of words. The parts that are joined keep this file from
    /// matching.
    forms: &'static [&'static str],
    /// The word in its place.
    instead: &'static str,
    /// Files and folders where a form has its ordinary meaning.
    ordinary: &'static [&'static str],
}

const fn retired(forms: &'static [&'static str], instead: &'static str) -> Retired {
    Retired {
        forms,
        instead,
        ordinary: &[],
    }
}

impl Retired {
    const fn but_in(self, ordinary: &'static [&'static str]) -> Retired {
        Retired { ordinary, ..self }
    }
}

/// Files that show retired words: the list of them, the record of what was called so, and names in
/// listings and of measurements, which programs read.
const SHOWS_RETIRED: [&str; 5] = [
    "docs/glossary.md",
    "CHANGELOG.md",
    "src/assembly/mod.rs",
    "bench/src/baselines/mod.rs",
    "tests/facade/tidy/words.rs",
];

/// Files of recorded data, which are neither code nor prose.
const DATA: [&str; 4] = [
    "Cargo.lock",
    "fuzz/corpus/",
    "render/tests/data/",
    "tests/data/",
];

/// Folders of programs whose sources the record of bits, `tests/data/bits.txt`, holds by hash.
const RECORDED_PROGRAMS: [&str; 2] = ["tests/lang/", "examples/materials/"];

/// Endings of the names of files that are read.
const ENDINGS: [&str; 14] = [
    ".adu", ".c", ".cpp", ".h", ".hpp", ".in", ".json", ".md", ".py", ".rs", ".sh", ".svg",
    ".toml", ".txt",
];

const RETIRED: &[Retired] = &[
    // Derivatives and control flow.
    retired(
        &[concat!("idle", " lane"), concat!("idle", " lanes")],
        "dead lane",
    ),
    retired(&[concat!("gone", " another way")], "diverged"),
    // Op table and interpreters.
    retired(
        &[concat!("ro", "w"), concat!("ro", "ws")],
        "op definition, arithmetic instruction",
    )
    .but_in(MATRICES_AND_PIXELS),
    // Python's `struct.pack`.
    retired(&[concat!("pa", "ck"), concat!("pa", "cks")], "SIMD vector").but_in(&[
        "render/experiments/texture_memory.py",
        "tests/lang/expected/support.py",
    ]),
    retired(
        &[concat!("ce", "ll"), concat!("ce", "lls")],
        "uniform value",
    )
    .but_in(CELLS),
    retired(
        &[concat!("general", " routine"), concat!("full", " routine")],
        "masked routine, unmasked routine",
    ),
    retired(&[concat!("least", " position")], "min-PC scheduling"),
    retired(
        &[
            concat!("a", " turn"),
            concat!("each", " turn"),
            concat!("every", " turn"),
            concat!("next", " turn"),
            concat!("last", " turn"),
            concat!("first", " turn"),
            concat!("per", " turn"),
        ],
        "iteration",
    ),
    retired(&[concat!("pati", "ence")], "deadline"),
    retired(
        &[concat!("lo", "ts"), concat!("parking", " lot")],
        "parked points",
    ),
    // Compiler and code generator.
    retired(
        &[concat!("pie", "ce"), concat!("pie", "ces")],
        "basic block",
    ),
    retired(
        &[concat!("stre", "tch"), concat!("stre", "tches")],
        "segment",
    ),
    retired(&[concat!("read", " behind")], "live-out"),
    // The folder of a user; an output of a program.
    retired(&[concat!("ho", "me"), concat!("ho", "mes")], "location").but_in(&[
        "cli/src/repl/reader.rs",
        "cli/tests/command/terminal.rs",
        "docs/render.md",
        "render/experiments/texture_memory.py",
        "render/src/texture/conversions.rs",
        "tests/lang/expected/puzzles.py",
    ]),
    retired(
        &[
            concat!("in", " flight"),
            concat!("fli", "ght"),
            concat!("fli", "ghts"),
        ],
        "interleave factor",
    ),
    retired(
        &[
            concat!("usual", " way"),
            concat!("rare", " way"),
            concat!("rare", " ways"),
        ],
        "fast path, slow path",
    )
    // A name in listings.
    .but_in(&[
        "cli/tests/command/cli/emit.rs",
        "docs/command.md",
        "tests/facade/assembly.rs",
    ]),
    retired(
        &[concat!("det", "our"), concat!("det", "ours")],
        "slow path",
    ),
    retired(
        &[concat!("call", " out"), concat!("call", " outs")],
        "libcall",
    ),
    retired(
        &[
            concat!("ded", "upe"),
            concat!("ded", "upes"),
            concat!("ded", "uped"),
        ],
        "GVN",
    )
    // An option of `cargo tree`.
    .but_in(&["tests/facade/crates.rs"]),
    retired(
        &[
            concat!("pr", "une"),
            concat!("pr", "unes"),
            concat!("pr", "uned"),
        ],
        "DCE",
    )
    .but_in(FIT_OPTION),
    retired(&[concat!("written", " out")], "unrolled"),
    retired(
        &[concat!("tri", "al"), concat!("tri", "als")],
        "differential test, A/B timing",
    ),
    retired(&[concat!("cli", "mb"), concat!("cli", "mbs")], "tier up"),
    retired(&[concat!("what", " leaves")], "canonical value"),
    retired(
        &[concat!("standard", " mode")],
        "default floating-point environment",
    ),
    // Surface.
    retired(
        &[concat!("find", "ing"), concat!("find", "ings")],
        "diagnostic",
    ),
    retired(
        &[
            concat!("me", "nd"),
            concat!("me", "nds"),
            concat!("me", "nded"),
            concat!("me", "nding"),
        ],
        "fix",
    ),
    retired(
        &[concat!("tex", "ts"), concat!("shader", " text")],
        "source",
    ),
    retired(
        &[
            concat!("text of the", " shader"),
            concat!("text of the", " program"),
        ],
        "source of the shader",
    ),
    retired(
        &[
            concat!("word of the", " language"),
            concat!("words of the", " language"),
        ],
        "keyword",
    ),
    retired(
        &[concat!("truth", " value"), concat!("truth", " values")],
        "boolean",
    ),
    retired(&[concat!("cir", "cle"), concat!("cir", "cles")], "cycle").but_in(CIRCLES),
    retired(&[concat!("the", " usual")], "default"),
    retired(&[concat!("pict", "ure"), concat!("pict", "ures")], "image").but_in(GLOBALS_OPTION),
    retired(&[concat!("fig", "ure"), concat!("fig", "ures")], "result"),
    retired(&[concat!("pe", "er"), concat!("pe", "ers")], "baseline"),
    retired(&[concat!("c", " limit")], "C reference"),
    retired(
        &[concat!("ro", "om"), concat!("ro", "oms")],
        "crate, module, buffer, capacity",
    ),
    retired(&[concat!("ho", "use"), concat!("ho", "uses")], "project"),
    retired(&[concat!("cannot", " add")], "ObjectFileError"),
    // Prose.
    retired(&[concat!("so", " many")], "the number"),
    retired(&[concat!("named", " number")], "the number"),
    retired(
        &[
            concat!("a", " sixth"),
            concat!("a", " seventh"),
            concat!("a", " eighth"),
            concat!("a", " ninth"),
            concat!("a", " tenth"),
            concat!("a", " twelfth"),
            concat!("a", " fifteenth"),
            concat!("a", " sixteenth"),
            concat!("a", " twentieth"),
        ],
        "the percentage",
    ),
    retired(&[concat!("beh", "ind")], "after"),
    retired(&[concat!("in front", " of")], "before"),
    retired(
        &[
            concat!("hand", " on"),
            concat!("hands", " on"),
            concat!("handed", " on"),
        ],
        "passes",
    ),
    retired(&[concat!("sta", "nd"), concat!("sta", "nds")], "is"),
    retired(
        &[
            concat!("te", "ll"),
            concat!("te", "lls"),
            concat!("to", "ld"),
        ],
        "reports",
    )
    // A name in listings.
    .but_in(&["docs/command.md"]),
    retired(
        &[
            concat!("who", "ever"),
            concat!("no", "body"),
            concat!("some", "body"),
            concat!("w", "ho"),
        ],
        "the subject's name",
    ),
];

/// Rows of matrices, of pixels, of tables.
const MATRICES_AND_PIXELS: &[&str] = &[
    "capi/include/",
    "capi/src/variable.rs",
    "cli/src/args/",
    "cli/src/benchmarks/",
    "cli/src/emit.rs",
    "cli/src/image/",
    "cli/src/image_globals.rs",
    "cli/src/info.rs",
    "cli/src/repl/",
    "cli/src/report.rs",
    "cli/src/run.rs",
    "cli/src/show.rs",
    "cli/tests/command/image/",
    "cli/tests/command/language/",
    "cli/tests/command/repl.rs",
    "docs/command.md",
    "docs/embedding.md",
    "docs/errors/",
    "docs/groups.md",
    "docs/how-to/",
    "docs/images.md",
    "docs/language.md",
    "docs/materials.md",
    "docs/numerics.md",
    "docs/performance.md",
    "docs/quads.md",
    "docs/render.md",
    "docs/stdlib.md",
    "docs/verification.md",
    "frontend/src/check/",
    "frontend/src/edit_distance.rs",
    "frontend/src/lower/",
    "frontend/src/tests/",
    "fuzz/src/feature.rs",
    "fuzz/src/generate/matrix.rs",
    "fuzz/src/generate/scope.rs",
    "image/",
    "ir/src/message.rs",
    "ir/src/quad.rs",
    "ir/src/quad/rule.rs",
    "ir/src/types.rs",
    "ir/src/verify/mod.rs",
    "render/",
    "src/globals/host_struct.rs",
    "src/group/setting_value.rs",
    "src/value",
    "stdlib/adu/matrices.adu",
    "stdlib/adu/patterns.adu",
    "tests/facade/host/",
    "tests/facade/quads.rs",
    "tests/facade/stdlib/matrices.rs",
    "tests/lang/expected/",
];
/// Cells of the standard library of Rust, of noise, of tables.
const CELLS: &[&str] = &[
    "aot/src/template.rs",
    "aot/src/tracer.rs",
    "bench/",
    "capi/src/error.rs",
    "cli/src/benchmarks/",
    "cli/src/files.rs",
    "cli/src/info.rs",
    "cli/src/repl/",
    "cli/src/show.rs",
    "docs/command.md",
    "docs/gains.md",
    "docs/intrinsics.md",
    "docs/stdlib.md",
    "frontend/src/check/call.rs",
    "frontend/src/check/derivative/rule_cycle.rs",
    "frontend/src/grammar.rs",
    "frontend/src/parse.rs",
    "fuzz/src/bounds.rs",
    "fuzz/src/panics.rs",
    "fuzz/src/oracle/noisy.rs",
    "ir/src/passes/differentiate/field.rs",
    "ir/src/passes/tests/random.rs",
    "ops/src/definition.rs",
    "ops/src/field.rs",
    "ops/src/lattice.rs",
    "ops/src/noise/",
    "ops/src/shadow_flow.rs",
    "render/",
    "simd/src/routines/superinstruction.rs",
    "simd/src/vector/mod.rs",
    "stdlib/adu/",
    "tests/facade/stdlib/patterns.rs",
    "tests/facade/tidy/techniques.rs",
    "tests/lang/expected/",
    "vm/tests/machine/memory.rs",
    "python/tests/test_examples.py",
];
/// Circles that are round.
const CIRCLES: &[&str] = &[
    "bench/c/edges.c",
    "bench/edges_jax.py",
    "bench/src/c_reference.rs",
    "bench/src/edges.rs",
    "cli/src/benchmarks/edges.rs",
    "docs/performance.md",
    "docs/stdlib.md",
    "frontend/src/check/foreign.rs",
    "render/",
    "stdlib/adu/outlines.adu",
    "tests/facade/stdlib/",
    "tests/lang/expected/geometry.py",
];
/// The option of fits that leaves blocks out.
const FIT_OPTION: &[&str] = &[
    "cli/src/args/fit.rs",
    "cli/src/fit/",
    "cli/tests/command/cli/",
    "docs/fit-image.md",
    "docs/fit.schema.json",
    "docs/language.md",
    "docs/verification.md",
    "python/adumbra/_fit.py",
];
/// A value of the option `--globals`.
const GLOBALS_OPTION: &[&str] = &[
    "cli/src/args/",
    "cli/src/image_globals.rs",
    "cli/src/run.rs",
    "cli/tests/command/",
    "docs/command.md",
    "docs/how-to/from-glsl.md",
    "frontend/src/check/suggest.rs",
];

/// The words of a source with their lines, in lower case. An empty word stands between words that
/// no phrase joins.
fn words(source: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for (at, line) in source.lines().enumerate() {
        let mut word = String::new();
        let mut last = ' ';
        for c in line.chars().chain([' ']) {
            let begins = c.is_uppercase() && last.is_lowercase();
            if !c.is_alphanumeric() || begins {
                if !word.is_empty() {
                    found.push((at + 1, std::mem::take(&mut word)));
                }
                if !c.is_alphanumeric() && !JOINS.contains(&c) {
                    found.push((at + 1, String::new()));
                }
            }
            if c.is_alphanumeric() {
                word.extend(c.to_lowercase());
            }
            last = c;
        }
    }
    found
}

/// What may be between the words of a phrase: spaces, what joins an identifier, and what begins a
/// line of a comment.
const JOINS: [char; 8] = [' ', '\t', '_', '-', '/', '!', '*', '>'];

/// The lines of a source that have a form.
fn lines_with(words: &[(usize, String)], form: &str) -> Vec<usize> {
    let form: Vec<&str> = form.split(' ').collect();
    let windows = words.windows(form.len());
    let is_form = |window: &&[(usize, String)]| window.iter().map(|(_, word)| word).eq(&form);
    windows.filter(is_form).map(|window| window[0].0).collect()
}

#[test]
fn phrases_are_found_in_names_and_across_lines() {
    let lines = |source: &str, form: &str| lines_with(&words(source), form);
    assert_eq!(lines("let takes_old_way = 1;", "old way"), [1]);
    assert_eq!(
        lines("struct OldWay;\n// the old\n// way", "old way"),
        [1, 2]
    );
    assert_eq!(lines("an old-way; older ways", "old way"), [1]);
    assert!(lines("what is old. Way out, old, way", "old way").is_empty());
    assert!(lines("folds", "old").is_empty());
}

#[test]
fn retired_words_are_gone() {
    let mut wrong = Vec::new();
    for file in files("") {
        if !ENDINGS.iter().any(|ending| file.ends_with(ending)) {
            continue;
        }
        let begins = |list: &[&str]| list.iter().any(|prefix| file.starts_with(prefix));
        let is_recorded = begins(&RECORDED_PROGRAMS) && file.ends_with(".adu");
        if is_recorded || begins(&SHOWS_RETIRED) || begins(&DATA) {
            continue;
        }
        // The name counts as a line before the first.
        let mut words = words(&read(&file));
        words.extend(self::words(&file).into_iter().map(|(_, word)| (0, word)));
        for retired in RETIRED.iter().filter(|retired| !begins(retired.ordinary)) {
            for form in retired.forms {
                let lines = lines_with(&words, form);
                wrong.extend(
                    lines
                        .iter()
                        .map(|line| format!("{file}:{line}: `{form}`; write {}", retired.instead)),
                );
            }
        }
    }
    none(wrong);
}
