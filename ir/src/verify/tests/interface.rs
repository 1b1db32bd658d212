//! Tests of invariants of functions and of the host's interface: calls, arrays, members, types,
//! lanes.

use super::*;

#[test]
fn call() {
    let prologue = "array &0: f32[4] array &1: i32[4] array &2: f32[5] %0: f32 = const 1.0";
    let text = format!("{prologue} %1: f32 = call twice(%0) call fill() [&0] return");
    sound(&body(&text));
    let calls = [
        "%1: f32 = call twice()",
        "%1: f32 = call twice(%0, %0)",
        "call twice(%0)",
        "%1: i32 = call twice(%0)",
        "%1: f32, %2: f32 = call twice(%0)",
        "%1: f32 = call twice(%0) [&0]",
        "%1: i32 = const 1 %2: f32 = call twice(%1)",
        "call fill()",
        "call fill() [&0, &0]",
        "call fill() [&1]",
        "call fill() [&2]",
    ];
    for text in calls {
        let text = format!("{prologue} {text} return");
        assert_eq!(broken(&body(&text)), [Rule::Call], "{text}");
    }
}

#[test]
fn functions_are_bounded() {
    let many = |count: usize| {
        let mut module = body("return");
        let last = module.functions.last().expect("it has one").clone();
        module.functions.resize(count, last);
        module
    };
    sound(&many(MAX_FUNCTIONS));
    breaks(Rule::Call, &many(MAX_FUNCTIONS + 1));
}

#[test]
fn array() {
    let half = MAX_ARRAY_ELEMENTS / 2;
    sound(&body(&format!(
        "array &0: f32[{half}] array &1: i32[{half}] return"
    )));
    let text = format!("array &0: f32[{half}] array &1: i32[{half}] array &2: i32[1] return");
    breaks(Rule::Array, &body(&text));
    let text = "array &0: f32[4294967295] array &1: f32[4294967295] return";
    breaks(Rule::Array, &body(text));
    breaks(Rule::Array, &body("array &0: f32[0] return"));

    let mut module = body("return");
    let fill = &mut module.functions[2];
    let local = Array {
        mode: None,
        ..fill.arrays[0]
    };
    fill.arrays.insert(1, local);
    sound(&module);
    module.functions[2].arrays.swap(0, 1);
    breaks(Rule::Array, &module);
    module.functions[2].arrays.remove(0);
    module.functions[2].arrays[0].mode = Some(PassingMode::Return);
    breaks(Rule::Array, &module);
}

#[test]
fn member() {
    let mut module = example();
    let member = SourceParam {
        name: "n".into(),
        ty: Type::Scalar(Scalar::I32),
        mode: PassingMode::In,
        params: (0, 1),
        results: (1, 0),
        arrays: (0, 0),
    };
    module.functions[0].members.push(member);
    sound(&module);
    for change in [
        |m: &mut SourceParam| m.params = (1, 1),
        |m: &mut SourceParam| m.params = (u32::MAX, 1),
        |m: &mut SourceParam| m.results = (0, 2),
        |m: &mut SourceParam| m.arrays = (0, 1),
    ] {
        let mut module = module.clone();
        change(&mut module.functions[0].members[0]);
        breaks(Rule::Member, &module);
    }
}

#[test]
fn entry() {
    sound(&shader(
        "input a: float3 = 0.0, 0.0, 0.0",
        "(%0: f32, %1: f32, %2: f32) -> ()",
        "return",
    ));
    breaks(Rule::Entry, &shader("", "(%0: f32) -> ()", "return"));
    breaks(
        Rule::Entry,
        &shader("input a: int = 1", "(%0: f32) -> ()", "return"),
    );
    breaks(
        Rule::Entry,
        &shader("input a: float", "(%0: f32) -> ()", "return"),
    );
    breaks(
        Rule::Entry,
        &shader("input a: float = 1.0, 0x0", "(%0: f32) -> ()", "return"),
    );
    breaks(Rule::Entry, &shader("output o: int", "() -> ()", "return"));
    let mut module = body("return");
    module.entry = FuncId(2);
    breaks(Rule::Entry, &module);
}

#[test]
fn types() {
    let with_output = |ty: Type| {
        let mut module = body("return");
        let name = "o".into();
        module.globals.push(Global { name, ty });
        module
    };
    let deep = |depth: usize| {
        let mut ty = Type::FLOAT;
        for _ in 1..depth {
            let members = vec![("m".into(), ty)];
            ty = Type::Struct(Arc::new(StructType {
                name: "s".into(),
                members,
            }));
        }
        ty
    };
    sound(&with_output(Type::Matrix(4)));
    sound(&with_output(deep(MAX_TYPE_DEPTH)));
    breaks(Rule::Type, &with_output(deep(MAX_TYPE_DEPTH + 1)));
    breaks(Rule::Type, &with_output(Type::Vector(1)));
    breaks(Rule::Type, &with_output(Type::Vector(5)));
    breaks(Rule::Type, &with_output(Type::Matrix(0)));
    breaks(Rule::Type, &with_output(Type::Scalar(Scalar::Closure)));
    breaks(
        Rule::Type,
        &with_output(Type::Array(Arc::new(Type::FLOAT), 2)),
    );

    // Structs that double at each level: as many scalars, or none at all.
    for leaf in [Some(("m".to_string(), Type::FLOAT)), None] {
        let members = leaf.into_iter().collect();
        let mut ty = Type::Struct(Arc::new(StructType {
            name: "s".into(),
            members,
        }));
        for _ in 2..MAX_TYPE_DEPTH {
            let members = vec![("a".into(), ty.clone()), ("b".into(), ty)];
            ty = Type::Struct(Arc::new(StructType {
                name: "s".into(),
                members,
            }));
        }
        breaks(Rule::Type, &with_output(ty));
    }

    let many = |n: usize| {
        let mut module = body("return");
        let global = |at: usize| Global {
            name: at.to_string(),
            ty: Type::FLOAT,
        };
        module.globals = (0..n).map(global).collect();
        module
    };
    sound(&many(MAX_GLOBALS));
    breaks(Rule::Type, &many(MAX_GLOBALS + 1));

    let large = |n: u32| {
        let mut module = body("return");
        let params = vec![Type::Array(Arc::new(Type::FLOAT), n)];
        let name = "large".into();
        module.closures.push(ClosureShape { name, params });
        module
    };
    sound(&large(MAX_TYPE_SCALARS as u32));
    breaks(Rule::Type, &large(MAX_TYPE_SCALARS as u32 + 1));
    breaks(Rule::Type, &large(u32::MAX));

    let many = |count: u64| {
        let mut module = large(MAX_TYPE_SCALARS as u32);
        let shape = module.closures.last_mut().expect("it is the last one");
        shape.params = vec![shape.params[0].clone(); count as usize];
        module
    };
    let most = MAX_TABLE_SCALARS / MAX_TYPE_SCALARS;
    // The other types of the module have scalars, too.
    sound(&many(most - 1));
    breaks(Rule::Type, &many(most));
}

#[test]
fn shadowless() {
    let lanes = [
        "%0: i32:x = const 1",
        "unused %0: bool:y",
        "%0: f32:x = const 1.0",
        "array &0: i32:x[4]",
        "%0: f32:x = global uvw[0] %1: f32:x = ddx %0",
        "%0: f32:x = global uvw[0] %1: f32:x, %2: f32, %3: f32, %4: f32 = sample wood(%0, %0)",
        "%0: i32 = const 1 %1: f32:x = i2f %0",
    ];
    for text in lanes {
        assert_eq!(
            broken(&body(&format!("{text} return"))),
            [Rule::Shadowless],
            "{text}"
        );
    }
    let text = "input a: float = 1.0";
    breaks(
        Rule::Shadowless,
        &shader(text, "(%0: f32:x) -> ()", "return"),
    );
    let mut module = shader(
        "output n: int",
        "() -> (i32)",
        "%0: i32 = const 1 return %0",
    );
    sound(&module);
    module.functions[0].results[0].lanes = Lanes::X;
    assert_eq!(broken(&module)[0], Rule::Shadowless);
}

#[test]
fn supply() {
    let prologue =
        "array &0: f32:x[4] %0: f32:x = global uvw[0] %1: i32 = const 1 %2: f32 = const 1.0";
    let good = [
        "%3: f32:x = mul %0, %2",
        "%3: f32 = mul %0, %0",
        "%3: f32:x = load &0[%1]",
        "%3: f32:x = loop ^1 (%4: f32:x = %2) { %5: bool = const true
           if %5 ^2 { continue ^1 %0 } else ^3 { break ^1 %4 } unreachable }",
        "%3: f32 = ddy %0",
    ];
    for text in good {
        sound(&body(&format!("{prologue} {text} return")));
    }
    let bad = [
        "%3: f32:xy = mul %0, %2",
        "%3: f32:y = load &0[%1]",
        "%3: f32:y = block ^1 { yield %0 }",
        "%3: f32:x = loop ^1 (%4: f32:x = %2) { break ^1 %4 }",
        "%3: f32:x = call twice(%0)",
    ];
    for text in bad {
        assert_eq!(
            broken(&body(&format!("{prologue} {text} return"))),
            [Rule::Supply],
            "{text}"
        );
    }
    let text = "%0: f32:x = global uvw[0] return %0";
    sound(&shader("output o: float", "() -> (f32:x)", text));
    breaks(
        Rule::Supply,
        &shader("output o: float", "() -> (f32:xy)", text),
    );
}
