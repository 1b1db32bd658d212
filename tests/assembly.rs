//! Machine code as it is shown: all of it, in the processors' notations, beside what it was made for; and as profilers are told of it.

use adumbra::assembly::{Assembly, Kernel, MAX_LINE_SHOWN, Part};
use adumbra::{
    BatchEvaluator, BatchSetup, Compiler, GlobalsLayout, Instance, Program, Sources, Target, Tier,
    Type,
};
use adumbra_fuzz::oracle::chain::compiler;
use adumbra_fuzz::oracle::modes::MODES;
use adumbra_fuzz::{Profile, bundle};
use std::sync::Arc;

fn compiled(text: &str) -> Arc<Program> {
    let layout = GlobalsLayout::new().with("x", Type::FLOAT).unwrap();
    let sources = Sources::new("s.adu", text);
    Compiler::new(layout).compile(&sources).unwrap()
}

fn parts(assembly: &Assembly) -> impl Iterator<Item = &Part> + Clone {
    let kernels = assembly.kernels.iter().flat_map(|kernel| &kernel.parts);
    kernels.chain(&assembly.shared)
}

/// Instructions follow one another, each by its own bytes, and the notation knows all of them.
fn check(assembly: &Assembly, ops: usize) {
    let mut at = 0;
    for part in parts(assembly) {
        for instruction in &part.instructions {
            assert_eq!(instruction.address, at, "{part:?}");
            at += instruction.bytes.len();
            let unknown = ["unknown", "(bad)", "udf"];
            let is_known = !unknown
                .iter()
                .any(|text| instruction.text.starts_with(text));
            assert!(is_known, "{instruction:?}");
        }
        let is_of_row = ["compute", "store", "rare way", "routine"].contains(&part.purpose);
        assert_eq!(part.op.is_some(), is_of_row, "{part:?}");
        if let Some(op) = &part.op {
            assert!((op.position as usize) < ops, "{op:?}");
        }
    }
    let data: usize = assembly.data.iter().map(|data| 4 * data.count).sum();
    let padding = assembly.bytes - data - at;
    assert!(padding < 32, "{padding}");
}

#[test]
fn code_of_random_programs_is_shown_whole_for_each_processor() {
    let mut loops = 0;
    let (mut with_line, mut all) = (0, 0);
    for seed in 0..60 {
        let random = adumbra_fuzz::Program::of_seed(seed, Profile::ANY);
        for mode in MODES.iter().take(2) {
            let sources = bundle::sources(&random.source).unwrap();
            let Ok(program) = compiler(mode).compile(&sources) else {
                continue;
            };
            for target in Target::ALL {
                let assembly = program.assembly(target);
                check(&assembly, program.stats().bytecode_ops);
                let ops = parts(&assembly).filter_map(|part| part.op.as_ref());
                all += ops.clone().count();
                with_line += ops.filter(|op| op.line.is_some()).count();
                loops += assembly
                    .kernels
                    .iter()
                    .filter(|kernel| kernel.is_loop)
                    .count();
            }
        }
    }
    assert!(loops > 10, "{loops}");
    // The others are of the standard library.
    assert!(with_line > all / 2, "{with_line} of {all}");
}

/// The kernel that computes a row, by how the row begins, and the row's part in it.
fn find<'a>(assembly: &'a Assembly, op: &str) -> (&'a Kernel, &'a Part) {
    let in_kernels = assembly.kernels.iter().flat_map(|kernel| {
        let parts = kernel.parts.iter();
        parts.map(move |part| (kernel, part))
    });
    let mut rows = in_kernels.filter(|(_, part)| part.purpose == "compute");
    rows.find(|(_, part)| part.op.as_ref().is_some_and(|own| own.text.starts_with(op)))
        .unwrap_or_else(|| panic!("{op} is not in\n{assembly}"))
}

#[test]
fn what_rows_have_in_common_belongs_to_the_first() {
    let program = compiled(
        "shader s(out float a, out float b) {\nfloat x = global_value<x>;\na = sqrt(x) + 1.0;\nb = sqrt(x) * 2.0; }",
    );
    for (target, root) in [(Target::X86_64, "vsqrtps"), (Target::Aarch64, "fsqrt")] {
        let assembly = program.assembly(target);
        let (kernel, part) = find(&assembly, "sqrt");
        assert_eq!(part.op.as_ref().unwrap().line.as_ref().unwrap().line, 3);
        let instructions = kernel.parts.iter().flat_map(|part| &part.instructions);
        let roots = instructions
            .filter(|own| own.text.starts_with(root))
            .count();
        // Two vectors at once.
        assert_eq!(roots, 2, "{assembly}");
    }
}

/// A text may be one line.
#[test]
fn long_lines_are_shown_from_where_rows_stand() {
    let filler = "float y = x; ".to_owned() + &"y = y * 0.5 + x; ".repeat(2_000);
    let text =
        format!("shader s(out float o) {{ float x = global_value<x>; {filler} o = sqrt(y); }}");
    let assembly = compiled(&text).assembly(Target::X86_64);
    let (_, part) = find(&assembly, "sqrt");
    let line = part.op.as_ref().unwrap().line.as_ref().unwrap();
    assert_eq!((line.line, line.text.as_str()), (1, "sqrt(y); }"));
    let most = parts(&assembly).filter_map(|part| part.op.as_ref()?.line.as_ref());
    let most = most.map(|line| line.text.chars().count()).max();
    assert_eq!(most, Some(MAX_LINE_SHOWN));
}

#[test]
fn what_has_no_code_is_said_to_be_interpreted() {
    let uniform: String = (0..6000)
        .map(|i| format!("o = o * 0.5 + k * {i};\n"))
        .collect();
    let program = compiled(&format!(
        "shader s(float k = 0.25, out float o) {{ o = global_value<x>; {uniform} }}"
    ));
    let assembly = program.assembly(Target::X86_64);
    let without = assembly
        .kernels
        .iter()
        .filter(|kernel| kernel.code.is_none());
    let without: Vec<&Kernel> = without.collect();
    assert!(!without.is_empty() && without.iter().all(|kernel| kernel.parts.is_empty()));
    assert!(assembly.to_string().contains("; interpreted, since"));
}

#[test]
fn a_program_that_was_loaded_has_code_and_no_lines() {
    let program = compiled("shader s(out float o) { float x = global_value<x>; o = sqrt(x) * x; }");
    let loaded = Program::from_bytecode(&program.to_bytecode()).unwrap();
    for target in Target::ALL {
        let mut assembly = program.assembly(target);
        let kernels = assembly
            .kernels
            .iter_mut()
            .flat_map(|kernel| &mut kernel.parts);
        for op in kernels
            .chain(&mut assembly.shared)
            .filter_map(|part| part.op.as_mut())
        {
            assert!(op.line.take().is_some());
        }
        assert_eq!(loaded.assembly(target), assembly);
    }
}

fn instructions_end(assembly: &Assembly) -> usize {
    let all = parts(assembly).flat_map(|part| &part.instructions);
    all.last().map_or(0, |last| last.address + last.bytes.len())
}

/// `perf` is told of the very kernels that are shown.
#[test]
fn profilers_know_all_code_by_name() {
    let program = compiled(
        "shader bump(out float o) { float x = global_value<x>; float y = sin(x) * x;\n\
         for (int i = 0; i < 9; ++i) { if (y > 3.0) break; y = fmod(y + float(i), 7.5); } o = y; }",
    );
    let setup = BatchSetup {
        tier: Tier::Native,
        ..BatchSetup::default()
    };
    assert_eq!(program.perf_map(), "");
    let Ok(_evaluator) = BatchEvaluator::with(&Instance::new(&program), &setup) else {
        println!("skipped: there is no machine code for this processor");
        return;
    };
    let assembly = program.assembly(Target::host().unwrap());
    let map = program.perf_map();
    let number = |digits: &str| usize::from_str_radix(digits, 16).unwrap();
    let found: Vec<(usize, usize, String)> = map
        .lines()
        .map(|line| {
            let [start, bytes, name] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            (number(start), number(bytes), name.to_owned())
        })
        .collect();
    assert!(assembly.kernels.len() > 2, "{assembly}");
    let mut expected = Vec::new();
    let mut end = 0;
    for (number, kernel) in assembly.kernels.iter().enumerate() {
        let code = kernel.code.unwrap();
        expected.push((code.address, code.bytes, format!("bump::kernel{number}")));
        end = code.address + code.bytes;
    }
    expected.push((
        end,
        instructions_end(&assembly) - end,
        "bump::shared".into(),
    ));
    let base = found[0].0 - expected[0].0;
    for (address, ..) in &mut expected {
        *address += base;
    }
    assert_eq!(found, expected);
}
