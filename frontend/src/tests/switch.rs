//! Tests of `switch`.

use super::*;

/// A model of a switch: its cases have these labels (`None`: default) and end with a break or not.
/// Returns the digits of the cases that run for this value.
fn model(cases: &[(Option<i32>, bool)], value: i32) -> i32 {
    let is_it = |label: Option<i32>| cases.iter().position(|case| case.0 == label);
    let Some(first) = is_it(Some(value)).or_else(|| is_it(None)) else {
        return 0;
    };
    let mut digits = 0;
    for (index, case) in cases.iter().enumerate().skip(first) {
        digits = digits * 10 + index as i32 + 1;
        if case.1 {
            break;
        }
    }
    digits
}

/// Every switch of up to four cases labelled 0, 1, 2 and default, some of which break.
#[test]
fn control_goes_where_the_labels_say() {
    let labels = [Some(0), Some(1), Some(2), None];
    let mut lists: Vec<Vec<(Option<i32>, bool)>> = vec![vec![]];
    let mut all = Vec::new();
    while let Some(list) = lists.pop() {
        for label in labels {
            if list.iter().all(|case| case.0 != label) {
                for breaks in [false, true] {
                    lists.push([&list[..], &[(label, breaks)]].concat());
                }
            }
        }
        all.push(list);
    }
    assert_eq!(all.len(), 1 + 8 + 48 + 192 + 384);
    // Several in one shader: compiling each alone would take long.
    for lists in all.chunks(32) {
        let mut functions = String::new();
        let mut body = String::new();
        let mut expected = Vec::new();
        for (index, list) in lists.iter().enumerate() {
            let cases = list.iter().enumerate().map(|(index, (label, breaks))| {
                let label = label.map_or("default".to_owned(), |label| format!("case {label}"));
                let end = if *breaks { "break;" } else { "" };
                format!("{label}: s = s * 10 + {}; {end} ", index + 1)
            });
            let cases: String = cases.collect();
            functions +=
                &format!("int f{index}(int n) {{ int s; switch (n) {{ {cases} }} return s; }}\n");
            for value in 0..4 {
                body += &format!("o{} = f{index}({value}); ", expected.len());
                expected.push(model(list, value));
            }
        }
        let text = shader("int", expected.len(), &functions, &body);
        assert_eq!(ints(&text), expected, "{text}");
    }
}

#[test]
fn adjacent_labels_share_statements() {
    let before = "const int three = 3; int f(int n) { switch (n) { case 1: case 2: return 12; case three: case 2 + 2: default: case -7: return 34; case 9: return 9; } }";
    let body = "o0 = f(1); o1 = f(2); o2 = f(3); o3 = f(4); o4 = f(-7); o5 = f(9); o6 = f(100);";
    assert_eq!(
        ints(&shader("int", 7, before, body)),
        [12, 12, 34, 34, 34, 9, 34]
    );
}

#[test]
fn unsigned_values_and_effects_of_the_value() {
    let body = "uint u = 0xffffffffu; switch (u) { case -1: o0 = 1; break; case 5u: o0 = 2; }
        int n = 3; switch (n++) { case 3: o1 = n; break; case 4: o1 = -1; }
        switch (n) {} switch (++n) { default: } o2 = n; switch (n) { case 1: }";
    assert_eq!(ints(&shader("int", 3, "", body)), [1, 4, 5]);
}

#[test]
fn switches_nest_in_loops_and_in_each_other() {
    let before = "int f(int n) {
        int s = 0;
        for (int i = 0; i < n; ++i) {
            switch (i % 4) {
                case 0: continue;
                case 1: { switch (i) { case 1: s += 100; break; default: s += 1000; } s += 1; break; }
                case 2: for (int j = 0; ; ++j) { if (j == 3) break; s += 10; }
                default: if (i > 6) return s; s += 5;
            }
            s += 2;
        }
        return -s;
    }";
    let body = "o0 = f(0); o1 = f(1); o2 = f(2); o3 = f(3); o4 = f(4); o5 = f(6); o6 = f(9);";
    let s = [0, 0, 103, 103 + 37, 140 + 7, 147 + 1003];
    assert_eq!(
        ints(&shader("int", 7, before, body)),
        [0, 0, -s[2], -s[3], -s[4], -s[5], 1150 + 37]
    );
}

/// A declaration that control jumps past gives zero, each time anew; a constant keeps its value.
#[test]
fn declarations_are_seen_by_the_later_cases() {
    let before = "struct pair { float a; float w[2]; }; float f(int n) {
        switch (n) {
            case 0: float x = 4, y; pair p = { 1, { 2, 3 } }; float w[2] = { 5, 6 }; const float k = 7;
            case 1: y += 1; p.a += 10; return x * 1000 + y * 100 + p.a + p.w[1] + w[1] + k;
            default: float z; z += 1; x = z; return x;
        }
    }";
    let body = "for (int i = 0; i < 2; ++i) { o0 = f(1); o1 = f(0); o2 = f(1); o3 = f(7);
            switch (i) { case 5: int n = 3; float w[2] = { 1, 1 }; default: n += 1; w[0] += 1; o4 = o4 * 10 + n + w[0]; } }";
    assert_eq!(
        floats(&shader("float", 5, before, body)),
        [
            117.0,
            4000.0 + 100.0 + 11.0 + 3.0 + 6.0 + 7.0,
            117.0,
            1.0,
            22.0
        ]
    );
}

#[test]
fn every_path_must_return() {
    let function = |cases: &str| codes(&format!("int f(int n) {{ switch (n) {{ {cases} }} }}"));
    for fine in [
        "default: return 1;",
        "case 1: return 1; default: return 2;",
        "default: return 2; case 1: return 1;",
        "case 1: default: case 2: return 1;",
        "case 1: n = 2; default: while (true) {}",
    ] {
        assert_eq!(function(fine), [], "{fine}");
    }
    for open in [
        "",
        "case 1: return 1;",
        "default:",
        "default: return 1; case 1:",
        "case 1: break; default: return 1;",
        "case 1: if (n) break; return 1; default: return 1;",
        "default: return 1; case 2: n = 1;",
    ] {
        assert_eq!(function(open), [Code::MissingReturn], "{open}");
    }
    let looped =
        "int f(int n) { while (true) { switch (n) { case 1: break; default: return 1; } } }";
    assert_eq!(codes(looped), []);
}

#[test]
fn derivatives_follow_the_case() {
    let body = "float x = global_value<x>; float s = x; switch (global_value<n>) { case 4: s = 0; case 5: s *= x; case 6: s += x; break; case 7: s = 1; } o0 = s;";
    let o = outputs(&shader("float", 1, "", body))[0];
    assert_eq!((o.float, o.shadows), (1.5 * 1.5 + 1.5, [4.0, 0.0]));
}

#[test]
fn closures_and_vectors_come_out() {
    let text = "shader s(out closure c, out float3 v) { switch (global_value<n>) { case 5: c = make_closure<glow>(1.0); v.y = 2; break; default: v = float3(9); } }";
    let result = outcome(text);
    assert_eq!(result.outputs[2].float, 2.0);
    assert_ne!(result.outputs[0].word, 0);
}

#[test]
fn a_long_switch_does_not_nest() {
    let cases = |count: usize| {
        (0..count)
            .map(|i| format!("case {i}: s += {i}; "))
            .collect::<String>()
    };
    let breaking = |count: usize| {
        (0..count)
            .map(|i| format!("case {i}: s = {i}; break; "))
            .collect::<String>()
    };
    let body = format!(
        "int s = 0; switch (2990) {{ {} }} o0 = s; switch (2990) {{ {} }} o1 = s;",
        cases(3000),
        breaking(3000)
    );
    let found = ints(&shader("int", 2, "", &body));
    assert_eq!(found, [(2990..3000).sum::<i32>(), 2990]);
}

#[test]
fn invalid_programs_are_refused() {
    let body = |text: &str| codes(&shader("float", 1, "", text));
    assert_eq!(body("switch (o0) { case 1: break; }"), [Code::BadSwitch]);
    assert_eq!(
        body("switch (o0 > 1) { case 1: break; }"),
        [Code::BadSwitch]
    );
    assert_eq!(body("switch (float3(1)) { default: }"), [Code::BadSwitch]);
    assert_eq!(
        body("int n; switch (n) { case 1: case 2: case 0x1: }"),
        [Code::DuplicateLabel]
    );
    assert_eq!(
        body("int n; switch (n) { default: default: }"),
        [Code::DuplicateLabel]
    );
    assert_eq!(
        body("uint n; switch (n) { case -1: case 0xffffffffu: }"),
        [Code::DuplicateLabel]
    );
    assert_eq!(body("int n; switch (n) { case n: }"), [Code::NotConstant]);
    assert_eq!(
        body("int n; switch (n) { case 1.0: }"),
        [Code::TypeMismatch]
    );
    assert_eq!(body("int n; switch (n) { case 1u: }"), [Code::TypeMismatch]);
    assert_eq!(
        body("int n; switch (n) { case 1: continue; }"),
        [Code::BreakOutsideLoop]
    );
    assert_eq!(
        body("int n; switch (n) { case 1: int n; case 2: int n; }"),
        [Code::Redeclared]
    );
    assert_eq!(
        body("int n; switch (n) { case 1: int k; } k = 1;"),
        [Code::UnknownName]
    );
    assert_eq!(body("int n; switch (n) { o0 = 1; }"), [Code::SyntaxError]);
    assert_eq!(
        body("switch (nothing) { case 1: case 1: float k = nought; }"),
        [Code::UnknownName, Code::UnknownName]
    );
}
