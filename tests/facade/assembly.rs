//! Listings of machine code: all of it, in the processors' notations, beside the ops that it
//! computes. And the files by which profilers know it.

use adumbra::assembly::{Assembly, CodePart, Kernel, KernelPurpose, Listing, MAX_LINE_SHOWN};
use adumbra::{
    Compiler, Evaluator, GlobalsLayout, Instance, Limits, Program, Sources, Type,
    batch::{BatchEvaluator, BatchSetup, SimdLevel, Tier},
    evaluator::Engine,
    object::Target,
};
use adumbra_fuzz::oracle::chain::compiler;
use adumbra_fuzz::oracle::modes::MODES;
use adumbra_fuzz::{Profile, bundle};
use std::collections::BTreeMap;
use std::sync::Arc;

fn compiled(text: &str) -> Arc<Program> {
    let layout = GlobalsLayout::new().with("x", Type::FLOAT).unwrap();
    let sources = Sources::new("s.adu", text);
    Compiler::new(layout).compile(&sources).unwrap()
}

fn parts(code: &Listing) -> impl Iterator<Item = &CodePart> + Clone {
    let kernels = code.kernels.iter().flat_map(|kernel| &kernel.parts);
    kernels.chain(&code.shared)
}

/// Instructions follow one another, each by its own bytes, and the notation knows all of them.
fn check(code: &Listing, ops: usize, alignment: usize) {
    let mut at = 0;
    for part in parts(code) {
        for instruction in &part.instructions {
            assert_eq!(instruction.address, at, "{part:?}");
            at += instruction.bytes.len();
            let unknown = ["unknown", "(bad)", "udf"];
            let is_known = !unknown
                .iter()
                .any(|text| instruction.text.starts_with(text));
            assert!(is_known, "{instruction:?}");
        }
        let of_ops = [
            "compute",
            "store",
            "slow path",
            "routine",
            "branch",
            "step",
            "write back",
        ];
        assert_eq!(
            part.op.is_some(),
            of_ops.contains(&part.purpose),
            "{part:?}"
        );
        if let Some(op) = &part.op {
            assert!((op.position as usize) < ops, "{op:?}");
        }
    }
    let data: usize = code.data.iter().map(|data| 4 * data.count).sum();
    let padding = code.bytes - data - at;
    assert!(padding < alignment, "{padding}");
}

/// Each kernel for single points begins by entering, once, and computes something, or leads
/// somewhere; they are in the order of the bytecode.
fn check_entries(points: &Listing) {
    let mut last = None;
    for kernel in &points.kernels {
        let KernelPurpose::Entry { position } = kernel.purpose else {
            panic!("{kernel:?}");
        };
        assert!(last < Some(position), "{kernel:?}");
        last = Some(position);
        let Some(code) = kernel.code else { continue };
        let purposes: Vec<&str> = kernel.parts.iter().map(|part| part.purpose).collect();
        let entered = purposes.iter().position(|purpose| *purpose == "entry");
        assert!(
            purposes.iter().filter(|own| **own == "entry").count() == 1,
            "{purposes:?}"
        );
        let entry = &kernel.parts[entered.unwrap()];
        assert_eq!(entry.instructions[0].address, code.address);
        assert!(purposes.contains(&"write back"), "{purposes:?}");
    }
}

#[test]
fn code_of_random_programs_is_shown_whole_for_each_processor() {
    // How often code for single points has parts of each kind.
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut with_line, mut all) = (0, 0);
    for seed in 0..60 {
        let random = adumbra_fuzz::GeneratedProgram::of_seed(seed, Profile::ANY);
        for mode in MODES.iter().take(2) {
            let sources = bundle::sources(&random.source).unwrap();
            let Ok(program) = compiler(mode).compile(&sources) else {
                continue;
            };
            for target in Target::ALL {
                let assembly = program.assembly(target);
                let Assembly {
                    batches, points, ..
                } = &assembly;
                let batch_alignment = match target {
                    Target::X86_64Avx512 => 64,
                    _ => 32,
                };
                for (code, alignment) in [(batches, batch_alignment), (points, 32)] {
                    check(code, program.stats().bytecode_ops, alignment);
                    let ops = parts(code).filter_map(|part| part.op.as_ref());
                    all += ops.clone().count();
                    with_line += ops.filter(|op| op.line.is_some()).count();
                }
                check_entries(points);
                for part in parts(points) {
                    *kinds.entry(part.purpose).or_default() += 1;
                }
            }
        }
    }
    for kind in [
        "entry",
        "compute",
        "branch",
        "step",
        "write back",
        "slow path",
    ] {
        assert!(
            kinds.get(kind).is_some_and(|&count| count > 10),
            "{kinds:?}"
        );
    }
    // The others are of the standard library.
    assert!(with_line > all / 2, "{with_line} of {all}");
}

/// The kernel that computes an op, by how the op's line begins, and the op's part in it.
fn find<'a>(code: &'a Listing, op: &str) -> (&'a Kernel, &'a CodePart) {
    let in_kernels = code.kernels.iter().flat_map(|kernel| {
        let parts = kernel.parts.iter();
        parts.map(move |part| (kernel, part))
    });
    let mut computing = in_kernels.filter(|(_, part)| part.purpose == "compute");
    computing
        .find(|(_, part)| part.op.as_ref().is_some_and(|own| own.text.starts_with(op)))
        .unwrap_or_else(|| panic!("{op} is not in\n{code:#?}"))
}

#[test]
fn shared_code_belongs_to_the_first_op() {
    let program = compiled(
        "shader s(out float a, out float b) {\nfloat x = global_value<x>;\na = sqrt(x) + 1.0;\nb = sqrt(x) * 2.0; }",
    );
    // By target, the instruction of a square root, and the interleave factor.
    for (target, root, many) in [
        (Target::X86_64, "vsqrtps", 1),
        (Target::Aarch64, "fsqrt", 2),
    ] {
        let assembly = program.assembly(target);
        for (code, vectors) in [(&assembly.batches, many), (&assembly.points, 1)] {
            let (kernel, part) = find(code, "sqrt");
            assert_eq!(part.op.as_ref().unwrap().line.as_ref().unwrap().line, 3);
            let instructions = kernel.parts.iter().flat_map(|part| &part.instructions);
            let roots = instructions
                .filter(|own| own.text.starts_with(root))
                .count();
            assert_eq!(roots, vectors, "{assembly}");
        }
    }
}

/// With AVX-512, what a comparison selects by is in a mask register, inverted if that saves an
/// instruction, and constants and uniform values are one word in memory.
#[test]
fn masks_have_registers_of_their_own() {
    let program = compiled(
        "shader s(float k = 0.25, out float a, out float b) {
            float x = global_value<x>;
            a = x < 0.75 ? x * 2.0 : x - k;
            b = x == k ? 0.0 : x;
        }",
    );
    let assembly = program.assembly(Target::X86_64Avx512);
    let instructions = parts(&assembly.batches).flat_map(|part| &part.instructions);
    let lines: Vec<&str> = instructions.map(|own| own.text.as_str()).collect();
    let has = |operation: &str, parts: &[&str]| {
        lines
            .iter()
            .any(|text| text.starts_with(operation) && parts.iter().all(|part| text.contains(part)))
    };
    for (operation, parts) in [
        ("vcmplt", &["k", "zmm"][..]),
        ("vblendmps", &["zmm", "{k"]),
        ("vcmpneq", &["k", "{1to16}"]),
        ("vmovups", &["{z}"]),
        ("vsubps", &["[rsp", "{1to16}"]),
    ] {
        assert!(has(operation, parts), "{operation} {parts:?} in {lines:#?}");
    }
    for never in ["knot", "vpmov", "vblendv", "ymm"] {
        assert!(!lines.iter().any(|text| text.contains(never)), "{lines:#?}");
    }
}

/// A text may be one line.
#[test]
fn long_lines_are_shown_from_the_op_on() {
    let filler = "float y = x; ".to_owned() + &"y = y * 0.5 + x; ".repeat(2_000);
    let text =
        format!("shader s(out float o) {{ float x = global_value<x>; {filler} o = sqrt(y); }}");
    let assembly = compiled(&text).assembly(Target::X86_64);
    let (_, part) = find(&assembly.batches, "sqrt");
    let line = part.op.as_ref().unwrap().line.as_ref().unwrap();
    assert_eq!((line.line, line.text.as_str()), (1, "sqrt(y); }"));
    let most = parts(&assembly.batches).filter_map(|part| part.op.as_ref()?.line.as_ref());
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
        .batches
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
        for code in [&mut assembly.batches, &mut assembly.points] {
            let kernels = code.kernels.iter_mut().flat_map(|kernel| &mut kernel.parts);
            for op in kernels
                .chain(&mut code.shared)
                .filter_map(|part| part.op.as_mut())
            {
                assert!(op.line.take().is_some());
            }
        }
        assert_eq!(loaded.assembly(target), assembly);
    }
}

/// A line for profilers: an address, bytes, and a name.
type Symbol = (usize, usize, String);

/// The lines by which profilers know code at an address, whose kernels are called so.
fn symbols(code: &Listing, base: usize, kernel: &str) -> Vec<Symbol> {
    let all = parts(code).flat_map(|part| &part.instructions);
    let all_end = all.last().map_or(0, |last| last.address + last.bytes.len());
    let mut symbols = Vec::new();
    let mut end = 0;
    for (number, own) in code.kernels.iter().enumerate() {
        let own = own.code.unwrap();
        symbols.push((
            base + own.address,
            own.bytes,
            format!("bump::{kernel}{number}"),
        ));
        end = own.address + own.bytes;
    }
    symbols.push((base + end, all_end - end, "bump::shared".into()));
    symbols
}

/// `perf` gets the very kernels that are shown.
#[test]
fn profilers_know_all_code_by_name() {
    let program = compiled(
        "shader bump(out float o) { float x = global_value<x>; float y = sin(x) * x;\n\
         for (int i = 0; i < 9; ++i) { if (y > 3.0) break; y = fmod(y + float(i), 7.5); } o = y; }",
    );
    assert_eq!(program.perf_map(), "");
    let instance = Instance::new(&program);
    let setup = BatchSetup {
        tier: Tier::Native,
        ..BatchSetup::default()
    };
    let Ok(_evaluator) = BatchEvaluator::with(&instance, &setup) else {
        println!("skipped: there is no machine code for this processor");
        return;
    };
    let assembly = program.assembly(Target::for_level(SimdLevel::best()).unwrap());
    assert!(assembly.batches.kernels.len() > 1, "{assembly}");
    assert!(assembly.points.kernels.len() > 1, "{assembly}");
    let found = || -> Vec<Symbol> {
        let map = program.perf_map();
        let number = |digits: &str| usize::from_str_radix(digits, 16).unwrap();
        let lines = map.lines().map(|line| {
            let [start, bytes, name] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            (number(start), number(bytes), name.to_owned())
        });
        lines.collect()
    };
    let base = |(start, ..): &Symbol, code: &Listing| start - code.kernels[0].code.unwrap().address;
    let batches = found();
    let start = base(&batches[0], &assembly.batches);
    assert_eq!(batches, symbols(&assembly.batches, start, "kernel"));
    let _one = Evaluator::with(&instance, Engine::Native, Limits::default()).unwrap();
    let all = found();
    let points = &all[batches.len()..];
    let start = base(&points[0], &assembly.points);
    assert_eq!(points, symbols(&assembly.points, start, "entry"));
}
