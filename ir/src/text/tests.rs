//! Tests of IR text: printed modules read back; mistakes are refused with a code at their place.

use super::*;
use crate::codes::Code;
use crate::instruction::InstField;
use crate::module::*;
use crate::span::{FileId, Span};
use crate::types::{Scalar, Type};
use crate::verify;
use adumbra_ops::Op;
use std::collections::HashSet;

/// A module with every kind of instruction, as it prints.
const EVERY_KIND: &str = include_str!("every_kind.adir");

fn read(text: &str) -> Module {
    parse(text, FileId(7)).unwrap_or_else(|d| panic!("{} at {:?}", d.message, d.span))
}

/// The mistake in an IR text: the code, and the covered part.
fn mistake(text: &str) -> (Code, &str) {
    let diagnostic = parse(text, FileId(7)).expect_err("the text is wrong");
    assert_eq!(diagnostic.span.file, FileId(7));
    let at = diagnostic.span.start as usize..diagnostic.span.end as usize;
    (diagnostic.code, &text[at])
}

/// A module of one function with that body.
fn with_body(body: &str) -> String {
    format!("adumbra ir 1 entry main fn main() -> () ^0 {{ {body} }}")
}

#[test]
fn what_functions_decide_reads_and_prints() {
    let text = "adumbra ir 1 entry main fn main() -> () ^0 { return }
        fn mark library surface() -> () ^0 { return } fn step undecided() -> () ^0 { return }";
    let module = read(text);
    let decides = module.functions.iter().map(|function| function.decides);
    let decides: Vec<Decides> = decides.collect();
    assert_eq!(decides, [Decides::Own, Decides::Surface, Decides::Nothing]);
    assert_eq!(read(&print(&module, SpanComments::Hidden)), module);
}

#[test]
fn hints_read_and_print_with_spans() {
    let kinds = [
        "checkpoint",
        "recompute",
        "max_iterations 9",
        "unroll",
        "unroll_blocks 4",
    ];
    let hints = kinds
        .map(|kind| format!("hint {kind} @1:2..90 @0..0\n"))
        .concat();
    let body = "entry main\n\nfn main() -> () ^0 {\n  return\n}\n";
    let text = format!("adumbra ir 1\n{hints}{body}");
    let module = read(&text);
    assert_eq!(module.hints.0.len(), kinds.len());
    assert_eq!(
        module
            .hints
            .max_iterations(Span::new(FileId(1), 2, 90))
            .map(|max| max.0),
        Some(9)
    );
    assert_eq!(print(&module, SpanComments::Shown), text);
    assert!(!print(&module, SpanComments::Hidden).contains("hint"));
    assert_eq!(mistake("adumbra ir 1 hint never").0, Code::IrUnknownName);
}

#[test]
fn every_kind_of_instruction_reads_and_prints() {
    let module = read(EVERY_KIND);
    let insts = module.functions.iter().flat_map(|f| &f.regions);
    let kinds: HashSet<_> = insts
        .flat_map(|r| &r.insts)
        .map(|i| std::mem::discriminant(&i.kind))
        .collect();
    assert_eq!(
        kinds.len(),
        35,
        "extend every_kind.adir when a kind is added"
    );
    assert_eq!(print(&module, SpanComments::Shown), EVERY_KIND);
    verify(&module).unwrap();
}

#[test]
fn printed_modules_read_back() {
    let module = read(EVERY_KIND);
    assert_eq!(read(&print(&module, SpanComments::Shown)), module);

    let entry = module.entry();
    assert_eq!(module.functions.len(), 3);
    assert_eq!(entry.values[8].name, Some(NameId(2)));
    assert_eq!(entry.values[8].span, Span::new(FileId::MAIN, 11, 12));
    assert_eq!(entry.values[9].span, Span::default());
    assert_eq!(entry.values[4].span, Span::new(FileId(2), 7, 9));
    assert_eq!(entry.arrays[0].element, Scalar::F32);
    assert_eq!(module.functions[1].variant, 2);
    assert!(module.functions[1].library);
    assert_eq!(
        module.inputs[1].default,
        [0.1, -0.0, f32::INFINITY].map(f32::to_bits)
    );
    assert_eq!(module.names[3], "a \"b\" \nü");
    let Type::Struct(ray) = &module.globals[2].ty else {
        panic!("a struct is read as a struct");
    };
    assert_eq!(ray.members.len(), 2);
}

#[test]
fn hidden_spans_keep_the_rest() {
    let hidden = print(&read(EVERY_KIND), SpanComments::Hidden);
    assert!(!hidden.contains('@'));
    let module = read(&hidden);
    assert_eq!(print(&module, SpanComments::Shown), hidden);
    assert_eq!(module.entry().values.len(), 69);
}

#[test]
fn every_op_reads_back() {
    for &op in Op::ALL {
        let name = op.info().name;
        let module = read(&with_body(&format!("%0: f32 = {name} %0 return")));
        assert_eq!(
            module.entry().regions[0].insts[0].kind,
            InstKind::Op(op),
            "{name}"
        );
    }
}

#[test]
fn comments_and_layout_mean_nothing() {
    let module = read("adumbra ir 1// a\nentry f fn f(//\n)->()^0{return}//");
    assert_eq!(
        module,
        read("adumbra ir 1 entry f fn f() -> () ^0 { return }")
    );
}

#[test]
fn numbers_read_to_the_bit() {
    for bits in [
        0,
        1,
        0x8000_0000,
        0x7f7f_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x7f80_0001,
    ] {
        let mut module = read(&with_body("%0: f32 = const 1.0 return"));
        module.functions[0].regions[0].insts[0].kind = InstKind::Const(bits);
        assert_eq!(
            read(&print(&module, SpanComments::Shown)),
            module,
            "{bits:#x}"
        );
    }
}

#[test]
fn mistakes_have_codes_and_places() {
    let cases = [
        ("", Code::IrSyntax, ""),
        ("adumbra ir 2", Code::IrSyntax, "2"),
        ("adumbra ir 1", Code::IrSyntax, ""),
        ("adumbra ir 1 entry f", Code::IrUnknownName, "f"),
        ("adumbra ir 1 global x: flaot", Code::IrSyntax, "flaot"),
        ("adumbra ir 1 global x: float4[", Code::IrSyntax, ""),
        ("adumbra ir 1 global \"x", Code::IrSyntax, "\"x"),
        ("adumbra ir 1 input x: int = 1.5", Code::IrSyntax, "1.5"),
        ("adumbra ir 1 \u{0} \u{1F600}", Code::IrSyntax, "\u{0}"),
    ];
    for (text, code, at) in cases {
        let (found, place) = mistake(text);
        assert_eq!(found, code, "{text}");
        assert_eq!(place, at, "{text}");
    }
    let cases = [
        ("frobnicate %0", Code::IrUnknownName, "frobnicate"),
        ("call unknown() return", Code::IrUnknownName, "unknown"),
        (
            "%0: f32 = global nothing[0]",
            Code::IrUnknownName,
            "nothing",
        ),
        (
            "%0: f32 $unknown = const 1.0",
            Code::IrUnknownName,
            "unknown",
        ),
        ("%0: f32 = const one", Code::IrSyntax, "one"),
        ("%0: f33 = const 1.0", Code::IrSyntax, "f33"),
        ("%0: f32:z = const 1.0", Code::IrSyntax, "z"),
        ("%0: f32, %2: f32 = const 1.0", Code::IrSyntax, "%2"),
        ("%1: f32 = const 1.0 return", Code::IrSyntax, "%1"),
        (
            "unused %0: f32 %0: f32 = const 1.0 return",
            Code::IrDuplicate,
            "%0",
        ),
        ("block ^0 { yield } return", Code::IrDuplicate, "^0"),
        ("block ^5 { yield } return", Code::IrSyntax, "^5"),
        ("if %0 ^1 { yield } return", Code::IrSyntax, "return"),
        (
            "%99999999999: f32 = const 1.0",
            Code::IrSyntax,
            "%99999999999",
        ),
        ("array &1: f32[4]", Code::IrSyntax, "&1"),
        ("return @1", Code::IrSyntax, "@1"),
        ("return @1..2 3", Code::IrSyntax, "3"),
        ("%0: f32 = call main)", Code::IrSyntax, ")"),
        ("keep #0()", Code::IrSyntax, "#0"),
        ("keep 0 0()", Code::IrSyntax, "0"),
        ("keep 0 #0 return", Code::IrSyntax, "return"),
        ("take 0 return", Code::IrSyntax, "return"),
    ];
    for (body, code, at) in cases {
        let text = with_body(body);
        assert_eq!(mistake(&text), (code, at), "{body}");
    }
}

#[test]
fn defaults_of_large_inputs_are_few() {
    use crate::limits::{MAX_TABLE_SCALARS, MAX_TYPE_SCALARS};
    let input = format!("input a: float[{MAX_TYPE_SCALARS}] = 0 ");
    let inputs = |count: u64| format!("adumbra ir 1 {}", input.repeat(count as usize));
    let most = MAX_TABLE_SCALARS / MAX_TYPE_SCALARS;
    assert_eq!(mistake(&inputs(most)).0, Code::IrSyntax);
    assert_eq!(mistake(&inputs(most + 1)).0, Code::IrTooLarge);
}

#[test]
fn deep_types_are_refused_and_the_deepest_are_read() {
    use crate::limits::MAX_TYPE_DEPTH;
    let nested = |depth: usize| {
        let open = "struct s {m: ".repeat(depth - 1);
        let close = "}".repeat(depth - 1);
        format!("adumbra ir 1 global g: {open}float{close} entry f fn f() -> () ^0 {{ return }}")
    };
    verify(&read(&nested(MAX_TYPE_DEPTH))).unwrap();
    assert_eq!(mistake(&nested(MAX_TYPE_DEPTH + 1)).0, Code::IrTooLarge);
    assert_eq!(mistake(&nested(100_000)).0, Code::IrTooLarge);
    let arrays = format!(
        "adumbra ir 1 global g: float{}",
        "[1]".repeat(MAX_TYPE_DEPTH)
    );
    assert_eq!(mistake(&arrays).0, Code::IrTooLarge);
}

#[test]
fn large_types_are_refused() {
    for ty in [
        "float[65537]",
        "float[65536][65536][65536][65536]",
        "struct s {}[65537]",
        "struct s {a: float[65536]}",
    ] {
        let text = format!("adumbra ir 1 output o: {ty} entry f");
        assert_eq!(mistake(&text).0, Code::IrTooLarge, "{ty}");
    }
    read("adumbra ir 1 output o: float[65536] entry #0");
}

#[test]
fn long_source_is_refused() {
    let text = " ".repeat(MAX_TEXT + 1);
    assert_eq!(
        parse(&text, FileId::MAIN).unwrap_err().code,
        Code::IrTooLarge
    );
    assert_eq!(
        parse(&text[1..], FileId::MAIN).unwrap_err().code,
        Code::IrSyntax
    );
}

#[test]
fn deep_nesting_neither_overflows_nor_takes_quadratic_text() {
    let depth = 100_000;
    let mut body = String::new();
    for i in 1..=depth {
        body.push_str(&format!("block ^{i} {{ "));
    }
    body.push_str(&"yield } ".repeat(depth));
    body.push_str("return");
    let module = read(&with_body(&body));
    assert!(print(&module, SpanComments::Shown).len() < 100 * 2 * depth);
    assert!(verify(&module).is_err());
}

#[test]
fn any_cut_or_changed_text_is_read_or_refused() {
    let bytes = EVERY_KIND.as_bytes();
    let mut numbers = fastrand::Rng::with_seed(7);
    let mut random = |below: usize| numbers.usize(..below);
    let mut read = 0;
    for _ in 0..3_000 {
        let mut text = bytes.to_vec();
        match random(3) {
            0 => text.truncate(random(bytes.len())),
            1 => {
                let (a, b) = (random(bytes.len()), random(bytes.len()));
                text.swap(a, b);
            }
            _ => {
                let at = random(bytes.len());
                text[at] = b"0123456789%^&@{}()[]:=,.\"\\ -xn"[random(30)];
            }
        }
        let text = String::from_utf8_lossy(&text);
        if let Ok(module) = parse(&text, FileId::MAIN) {
            read += 1;
            let printed = print(&module, SpanComments::Shown);
            if verify(&module).is_ok() {
                assert_eq!(parse(&printed, FileId::MAIN).unwrap(), module, "{printed}");
            }
        }
    }
    assert!(read > 100, "too few of the changed inputs are read: {read}");
}

#[test]
fn broken_modules_print() {
    let mut module = read(EVERY_KIND);
    let entry = &mut module.functions[0];
    entry.regions[1].insts[0].kind = InstKind::If(RegionId(0), RegionId(77));
    entry.regions[1].insts[0].results = Results {
        first: ValueId(u32::MAX),
        count: u32::MAX,
    };
    entry.regions[0].insts[0].kind = InstKind::Global(GlobalId(9), 0);
    entry.regions[3].params.push(ValueId(1000));
    entry.body = RegionId(1);
    entry.values[0].name = Some(NameId(1000));
    module.entry = FuncId(55);
    assert!(print(&module, SpanComments::Shown).contains("entry #55"));
    assert!(verify(&module).is_err());
}

#[test]
fn each_word_is_one_kind_with_as_many_fields_as_its_form_names() {
    for &word in InstKind::WORDS {
        let kind = InstKind::of_word(word).expect("a word of the table");
        let description = kind.description();
        assert_eq!(description.word, word);
        let mut fields = 0;
        kind.for_each_field(|field| fields += usize::from(!matches!(field, InstField::Region(_))));
        assert_eq!(description.form.matches('_').count(), fields, "{word}");
        assert!(Op::ALL.iter().all(|op| op.info().name != word), "{word}");
    }
}
