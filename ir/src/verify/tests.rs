//! Each test breaks one invariant of an otherwise valid module, and expects just that violation.

mod interface;

use super::*;
use crate::span::FileId;
use crate::text::parse;
use crate::types::{Lanes, StructType};
use std::sync::Arc;

fn read(text: &str) -> Module {
    parse(text, FileId::MAIN).unwrap_or_else(|d| panic!("{} at {:?}", d.message, d.span))
}

/// Declarations, and a shader without parameters whose body is given.
fn shader(declarations: &str, signature: &str, body: &str) -> Module {
    read(&format!(
        "adumbra ir 1
        global uvw: float3 global flag: bool texture wood resource tab closure glow(float, int)
        names u
        {declarations}
        entry main
        fn main{signature} ^0 {{ {body} }}
        fn twice(%0: f32) -> (f32) ^0 {{ return %0 }}
        fn fill() -> () ^0 {{ array &0 out: f32[4] return }}"
    ))
}

/// A shader with that body and nothing else.
fn body(body: &str) -> Module {
    shader("", "() -> ()", body)
}

fn sound(module: &Module) {
    if let Err(violations) = verify(module) {
        panic!("{}", violations[0]);
    }
}

/// The invariants that do not hold, each once.
fn broken(module: &Module) -> Vec<Rule> {
    let mut rules = match verify(module) {
        Ok(()) => Vec::new(),
        Err(violations) => violations.iter().map(|v| v.rule).collect(),
    };
    rules.dedup();
    rules
}

#[track_caller]
fn breaks(rule: Rule, module: &Module) {
    assert_eq!(broken(module), [rule]);
}

/// A sound body to change: a value, a branch, a loop.
fn example() -> Module {
    let module = shader(
        "input n: int = 1 output o: float",
        "(%0: i32) -> (f32:x)",
        "%1: f32:xy = global uvw[0]
         %2: bool = global flag[0]
         %3: f32:x = if %2 ^1 { yield %1 } else ^2 { %4: f32 = const 1.0 yield %4 }
         %5: f32:x = loop ^3 (%6: f32:x = %3) {
           %7: f32:x = mul %6, %6
           if %2 ^4 { continue ^3 %7 } else ^5 { break ^3 %6 }
           unreachable
         }
         return %5",
    );
    sound(&module);
    module
}

fn region(module: &mut Module, id: usize) -> &mut Region {
    &mut module.functions[0].regions[id]
}

#[test]
fn tree() {
    let mut module = example();
    region(&mut module, 0).insts[2].kind = InstKind::If(RegionId(1), RegionId(1));
    region(&mut module, 2).insts.clear();
    breaks(Rule::Tree, &module);

    let mut module = example();
    module.functions[0].regions.push(Region::default());
    sound(&module);
    let inst = region(&mut module, 0).insts[0].clone();
    region(&mut module, 6).insts.push(inst);
    breaks(Rule::Tree, &module);

    let mut module = body("block ^1 { yield } return");
    region(&mut module, 0).insts[0].kind = InstKind::Block(RegionId(9));
    region(&mut module, 1).insts.clear();
    breaks(Rule::Tree, &module);

    // A region inside itself.
    let mut module = body("block ^1 { block ^2 { yield } yield } return");
    region(&mut module, 1).insts[0].kind = InstKind::Block(RegionId(1));
    region(&mut module, 2).insts.clear();
    breaks(Rule::Tree, &module);

    let mut module = body("return");
    module.functions[0].body = RegionId(1);
    breaks(Rule::Tree, &module);
}

#[test]
fn depth() {
    let nested = |depth: usize| {
        let open: String = (1..depth).map(|i| format!("block ^{i} {{ ")).collect();
        body(&format!("{open} {} return", "yield } ".repeat(depth - 1)))
    };
    sound(&nested(MAX_REGION_DEPTH));
    let violations = verify(&nested(MAX_REGION_DEPTH + 1)).unwrap_err();
    assert_eq!(violations[0].rule, Rule::Depth);
}

#[test]
fn terminator() {
    let mut module = body("block ^1 { yield } return");
    region(&mut module, 1).insts.clear();
    breaks(Rule::Terminator, &module);

    let mut module = body("%0: f32 = const 1.0 return");
    region(&mut module, 0).insts.pop();
    breaks(Rule::Terminator, &module);
    breaks(Rule::Terminator, &body("return unreachable"));
}

#[test]
fn definition() {
    let mut module = body("%0: f32 = const 1.0 %1: f32 = const 2.0 return");
    region(&mut module, 0).insts[1].results.first = ValueId(0);
    breaks(Rule::Definition, &module);

    let mut module = example();
    region(&mut module, 3).params.push(ValueId(0));
    assert_eq!(broken(&module)[0], Rule::Definition);

    // Ids beyond the table, to the end of the number range.
    for first in [2, u32::MAX] {
        let mut module = body("%0: f32 = const 1.0 %1: f32 = const 2.0 return");
        region(&mut module, 0).insts[1].results.first = ValueId(first);
        assert!(broken(&module).contains(&Rule::Definition));
    }
    let mut module = example();
    region(&mut module, 3).params[0] = ValueId(99);
    assert!(broken(&module).contains(&Rule::Definition));
}

#[test]
fn dominance() {
    sound(&body("unused %0: f32 return"));
    breaks(
        Rule::Dominance,
        &body("%0: f32 = neg %1 %1: f32 = const 1.0 return"),
    );
    breaks(
        Rule::Dominance,
        &body("unused %1: f32 %0: f32 = neg %1 return"),
    );
    breaks(Rule::Dominance, &body("%0: f32 = neg %0 return"));
    breaks(
        Rule::Dominance,
        &body("block ^1 { %0: f32 = const 1.0 yield } %1: f32 = neg %0 return"),
    );
    // The other branch's value.
    breaks(
        Rule::Dominance,
        &body(
            "%0: bool = const true
             if %0 ^1 { %1: f32 = const 1.0 yield } else ^2 { %2: f32 = neg %1 yield } return",
        ),
    );
    // The result of a loop inside it.
    breaks(
        Rule::Dominance,
        &body("%0: f32 = const 1.0 %1: f32 = loop ^1 { %2: f32 = neg %1 break ^1 %0 } return"),
    );
    let mut module = body("%0: f32 = const 1.0 %1: f32 = neg %0 return");
    region(&mut module, 0).insts[1].args[0] = ValueId(u32::MAX);
    assert_eq!(broken(&module), [Rule::Dominance, Rule::Operands]);
}

#[test]
fn parameters() {
    let mut module = body("unused %0: f32 block ^1 { yield } return");
    region(&mut module, 1).params.push(ValueId(0));
    breaks(Rule::Parameters, &module);
}

#[test]
fn operands() {
    let wrong = [
        "%1: f32 = const 1.0 %2: f32 = add %1",
        "%1: f32 = const 1.0 %2: f32 = neg %1, %1",
        "%1: f32 = neg %0",
        "%1: f32 = const 1.0 %2: i32 = neg %1",
        "%1: u32 = const 1 %2: i32 = iadd %0, %1",
        "%1: u32 = const 1 %2: i32 = iadd %1, %1",
        "%1: u32 = const 1 %2: i32 = iadd %1, %0",
        "%1: bool = const true %2: bool = ieq %1, %0",
        "%1: i32, %2: i32 = iadd %0, %0",
        "iadd %0, %0",
        "%1: i32 = global uvw[0]",
        "%1: bool = resource tab",
        "%1: f32 = ddx %0",
        "%1: f32 = const 1.0 %2: i32 = ddx %1",
        "%1: f32 = load &0[%0]",
        "%1: u32 = const 1 %2: i32 = load &0[%1]",
        "%1: f32 = const 1.0 store &0[%0], %1",
        "array_copy &0, &1",
        "array_copy &0, &2",
        "%1: f32, %2: f32, %3: f32, %4: f32 = sample wood(%0, %0)",
        "%1: f32 = const 1.0 %2: f32 = sample wood(%1, %1)",
        "%1: f32 = const 1.0 %2: f32, %3: f32, %4: f32 = sample wood(%1, %1)",
        "%1: closure = make_closure glow(%0, %0)",
        "%1: closure = const empty %2: closure = closure_add %1, %0",
        "%1: closure = const empty %2: closure = closure_scale %1, %0",
        "%1: closure = const empty %2: f32 = const 1.0 %3: closure = closure_scale %1, %2, %2",
        "if %0 ^1 { yield } else ^2 { yield }",
        "%1: f32, %2: f32 = const 1.0",
        "%1: f32 = const 1.0 %2: f32 = attach %1, %1",
        "%1: f32 = const 1.0 %2: f32, %3: f32 = with_slopes sin %0",
        "%1: f32 = const 1.0 %2: f32, %3: f32, %4: f32 = with_slopes iadd %1, %1",
        "%1: f32 = const 1.0 %2: f32 = attach %1, %1, %0",
        "const 0x1",
    ];
    let arrays = "array &0: i32[4] array &1: f32[4] array &2: i32[5] %0: i32 = const 1";
    sound(&body(&format!("{arrays} return")));
    for text in wrong {
        assert_eq!(
            broken(&body(&format!("{arrays} {text} return"))),
            [Rule::Operands],
            "{text}"
        );
    }
    // Instructions without operands, and some without results.
    let kinds = [
        "%1: f32 = const 1.0",
        "array_zero &0",
        "array_copy &0, &0, %0",
        "block ^1 { yield }",
        "%1: resource = resource tab",
        "%1: f32 = global uvw[0]",
    ];
    for text in kinds {
        let mut module = body(&format!("{arrays} {text} return"));
        sound(&module);
        region(&mut module, 0).insts[1].args.push(ValueId(0));
        assert_eq!(broken(&module), [Rule::Operands], "{text}");
    }
    for text in ["array_zero &0", "array_copy &0, &0", "store &0[%0], %0"] {
        let text = format!("{arrays} %1: i32 = {text} return");
        assert_eq!(broken(&body(&text)), [Rule::Operands], "{text}");
    }
    breaks(Rule::Operands, &body("%0: f32 = return"));
    breaks(Rule::Operands, &body("%0: f32 = unreachable"));
}

#[test]
fn constant() {
    sound(&body(
        "%0: bool = const true %1: closure = const empty return",
    ));
    breaks(Rule::Constant, &body("%0: bool = const 0x2 return"));
    breaks(Rule::Constant, &body("%0: closure = const 0x1 return"));
    breaks(Rule::Constant, &body("%0: resource = const 0x0 return"));
    breaks(
        Rule::Constant,
        &shader("input b: bool = 0x2", "(%0: bool) -> ()", "return"),
    );
}

#[test]
fn id() {
    let mut module = example();
    module.entry = FuncId(3);
    breaks(Rule::Id, &module);

    let wrong = [
        "%1: f32 = global #2[0]",
        "%1: f32 = global uvw[3]",
        "%1: resource = resource #1",
        "%1: f32 = load &1[%0]",
        "store &1[%0], %0",
        "array_zero &1",
        "array_copy &0, &1",
        "array_copy &1, &0",
        "%1: f32 = const 1.0 %2: f32, %3: f32, %4: f32, %5: f32 = sample #1(%1, %1)",
        "%1: closure = make_closure #1()",
        "call #3()",
        "call fill() [&1]",
        "%1: f32 $#1 = const 1.0",
        "%1: f32 $#4294967295 = const 1.0",
    ];
    for text in wrong {
        let text = format!("array &0: f32[4] %0: i32 = const 1 {text} return");
        assert_eq!(broken(&body(&text)), [Rule::Id], "{text}");
    }
    breaks(Rule::Id, &body("array &0: f32[4] $#1 return"));
}

#[test]
fn jump() {
    let jumps = [
        "yield",
        "loop ^1 { yield } return",
        "break ^0",
        "break ^7",
        "continue ^0",
        "block ^1 { continue ^1 } return",
        "block ^1 { yield } block ^2 { break ^1 } return",
        "%0: bool = const true if %0 ^1 { break ^1 } else ^2 { yield } return",
        "%0: bool = const true if %0 ^1 { break ^2 } else ^2 { yield } return",
    ];
    for text in jumps {
        assert_eq!(broken(&body(text)), [Rule::Jump], "{text}");
    }
}

#[test]
fn edge() {
    let edges = [
        "return %0",
        "block ^1 { yield %0 } return",
        "%1: f32 = block ^1 { yield } return",
        "%1: i32 = block ^1 { break ^1 %0 } return",
        "block ^1 { break ^1 %0 } return",
        "%1: f32 = loop ^1 { break ^1 } return",
        "loop ^1 { continue ^1 %0 } return",
        "loop ^1 (%1: f32 = %0) { continue ^1 } return",
        "loop ^1 (%1: i32 = %0) { break ^1 } return",
    ];
    for text in edges {
        let text = format!("%0: f32 = const 1.0 {text}");
        assert_eq!(broken(&body(&text)), [Rule::Edge], "{text}");
    }
    let mut module = example();
    region(&mut module, 0).insts[3].args.clear();
    assert!(broken(&module).contains(&Rule::Edge));
}

#[test]
fn tape() {
    let records = "record (f32:xy, i32) record (bool, u32)";
    let with = |records: &str, body: &str| shader(records, "() -> ()", body);
    sound(&with(
        records,
        "%0: f32 = const 1.0 %1: i32 = const 2 keep 0 #0(%0, %1)
         %2: f32:x, %3: i32 = take 7 #0 %4: bool, %5: u32 = take 0 #1 return",
    ));
    let none = "return";
    let many = format!("record ({})", vec!["f32"; MAX_RECORD_FIELDS + 1].join(", "));
    for (records, body, rule) in [
        ("record ()", none, Rule::Tape),
        (many.as_str(), none, Rule::Tape),
        ("record (closure)", none, Rule::Tape),
        ("record (resource)", none, Rule::Tape),
        ("record (f32:xy) record (f32)", none, Rule::Tape),
        ("record (i32:x)", none, Rule::Shadowless),
        ("record (i32)", "%0: i32 = take 8 #0 return", Rule::Tape),
        ("record (i32)", "%0: i32 = take 0 #1 return", Rule::Id),
        (
            "record (i32)",
            "%0: i32 = const 1 keep 0 #1(%0) return",
            Rule::Id,
        ),
        ("record (i32)", "%0: f32 = take 0 #0 return", Rule::Operands),
        ("record (i32)", "take 0 #0 return", Rule::Operands),
        ("record (i32)", "keep 0 #0() return", Rule::Operands),
        (
            "record (i32)",
            "%0: f32 = const 1.0 keep 0 #0(%0) return",
            Rule::Operands,
        ),
        (
            "record (f32:x)",
            "%0: f32:xy = take 0 #0 return",
            Rule::Supply,
        ),
    ] {
        assert_eq!(broken(&with(records, body)), [rule], "{records} {body}");
    }
    let most = format!("record ({})", vec!["f32"; MAX_RECORD_FIELDS].join(", "));
    sound(&with(&most, none));
}

#[test]
fn derivatives_have_canonical_signatures() {
    let module = |rules: &str, derived: &str| {
        let text = format!(
            "adumbra ir 1 entry main fn main() -> () ^0 {{ return }}
             fn f(%0: f32, %1: i32) -> (f32) ^0 {{ array &0 in: f32[2] array &1 out: f32[3]
               {rules} return %0 }}
             fn d{derived} unreachable }}"
        );
        parse(&text, FileId::MAIN).unwrap_or_else(|wrong| panic!("{text}\n{}", wrong.message))
    };
    let all = "params[1, 0] results[1] arrays[1, 1]";
    let forward = "(%0: f32, %1: i32, %2: f32) -> (f32, f32) ^0 { array &0 in: f32[2]
        array &1 out: f32[3] array &2 in: f32[2] array &3 out: f32[3]";
    let backward = "(%0: f32, %1: i32, %2: f32) -> (f32) ^0 { array &0 in: f32[2]
        array &1 out: f32[2] array &2 in: f32[3]";
    let like_f = "(%0: f32, %1: i32) -> (f32) ^0 { array &0 in: f32[2] array &1 out: f32[3]";
    let custom = |what: &str| format!("custom {what} d custom {all}");
    let of_results = backward.replace("-> (f32)", "-> (f32, f32)");
    let recipe = |of: &str, mode: &str| format!("{of} derive {mode} f {all}");
    for (rules, derived) in [
        (custom("forward"), forward.to_owned()),
        (custom("backward"), backward.to_owned()),
        ("custom substitute d".to_owned(), like_f.to_owned()),
        (String::new(), recipe(forward, "forward")),
        (String::new(), recipe(backward, "backward")),
        (String::new(), recipe(&of_results, "backward with_results")),
        (
            custom("forward") + " custom lost[0, 1, 0, 0]",
            forward.to_owned(),
        ),
    ] {
        sound(&module(&rules, &derived));
    }
    let integer = "custom forward d custom params[1, 1] results[1] arrays[1, 1]";
    let short = "custom forward d custom params[1] results[1] arrays[1, 1]";
    for (rules, derived) in [
        (custom("forward").as_str(), backward),
        (&custom("backward"), forward),
        (&custom("backward"), &of_results),
        (&custom("forward").replace(" d ", " #9 "), forward),
        ("custom substitute d", forward),
        (integer, &forward.replace("%2: f32", "%2: f32, %3: f32")),
        (short, forward),
        (&format!("custom {all}"), forward),
        ("custom lost[1]", forward),
        ("", &recipe(forward, "backward")),
        ("", &recipe(backward, "backward with_results")),
        (
            "",
            &recipe(forward, "forward").replace("forward f", "forward #9"),
        ),
        (
            "",
            &recipe(forward, "forward").replace("arrays[1, 1]", "arrays[1, 0]"),
        ),
    ] {
        breaks(Rule::Derivative, &module(rules, derived));
    }
    let mark = |params: &str| {
        let text = format!(
            "adumbra ir 1 entry main fn main() -> () ^0 {{ return }}
             fn mark surface({params}) -> () ^0 {{ return }}"
        );
        parse(&text, FileId::MAIN).expect("it is IR")
    };
    let place = "%0: f32, %1: f32, %2: bool, %3: bool, %4: f32, %5: f32, %6: f32";
    sound(&mark(place));
    sound(&mark(&format!("{place}, %7: i32")));
    breaks(Rule::Derivative, &mark("%0: f32"));
    breaks(Rule::Derivative, &mark(&place.replace("bool", "i32")));
}

#[test]
fn violations_have_places_and_a_limit() {
    let text = "%0: f32 = const 1.0 block ^1 { %1: f32 = add %0 yield } return";
    let violation = &verify(&body(text)).unwrap_err()[0];
    assert_eq!(violation.place, Some((RegionId(1), 0)));
    assert_eq!(
        violation.to_string(),
        "function #0, region ^1, instruction 0: operands do not fit `add` (Operands, rule 7)"
    );
    let mut many = String::from("%0: f32 = const 1.0 ");
    for i in 1..=3 * MAX_VIOLATIONS {
        many.push_str(&format!("%{i}: f32 = add %0 "));
    }
    let violations = verify(&body(&format!("{many} return"))).unwrap_err();
    assert_eq!(violations.len(), MAX_VIOLATIONS);
}
