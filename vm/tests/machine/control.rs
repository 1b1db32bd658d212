//! Control flow, calls and textures.

use crate::support::*;
use adumbra_vm::Outcome;

#[test]
fn every_kind_of_instruction_is_lowered() {
    let text = include_str!("../../../ir/src/text/every_kind.adir");
    let text = text
        .strip_prefix("adumbra ir 1\n")
        .expect("it has its first line");
    let listing = bytecode(text).to_string();
    for word in [
        "sample.xy.xy",
        "closure.tint",
        "array.copy",
        "loop",
        "call",
        "ddx",
    ] {
        assert!(listing.contains(word), "{word} in\n{listing}");
    }
}

#[test]
fn constants_are_listed_as_the_op_reads_them() {
    let listing = bytecode(
        "
        global i: int
        output o: int
        entry main
        fn main() -> (i32) ^0 {
            %0: i32 = global i[0]
            %1: i32 = const -1640531535
            %2: i32 = iadd %0, %1
            %3: f32 = i2f %2
            %4: f32 = const 1e-40
            %5: f32 = mul %3, %4
            %6: i32 = f2i %5
            return %6
        }
        ",
    )
    .to_string();
    for (op, number) in [("iadd", "=-1640531535"), ("mul", "=1e-40")] {
        let of_op = |line: &&str| line.contains(&format!(" {op}"));
        let line = listing.lines().find(of_op).expect("the op is there");
        assert!(line.ends_with(number), "{listing}");
    }
}

#[test]
fn equation_three_has_value_and_shadows() {
    let text = "
        global x1: float global x2: float
        output f: float
        entry main
        fn main() -> (f32:xy) ^0 {
            %0: f32:xy = global x1[0]
            %1: f32:xy = global x2[0]
            %2: f32 = const 1.0
            %3: f32:xy = mul %0, %1
            %4: f32:xy = add %0, %2
            %5: f32:xy = div %3, %4
            %6: f32:xy = sin %5
            %7: f32:xy = add %2, %5
            %8: f32:xy = log %7
            %9: f32:xy = exp %1
            %10: f32:xy = add %6, %8
            %11: f32:xy = sub %10, %9
            %12: f32:xy = tanh %1
            %13: f32:xy = sub %5, %12
            %14: f32:xy = mul %11, %13
            return %14
        }";
    let [f] = outputs(text, &[1.5, 1.0, 0.0, 0.5, 0.0, 1.0], &[])[..] else {
        panic!("one output");
    };
    for (got, expected) in f
        .into_iter()
        .zip([0.176_843_36, -0.109_633_5, 0.302_920_89])
    {
        assert!((got - expected).abs() < 3e-7, "{got} {expected}");
    }
}

pub(crate) const SUM: &str = "
    input n: int = 0
    output s: int
    entry main
    fn main(%0: i32) -> (i32) ^0 {
        %1: i32 = const 0
        %2: i32 = const 1
        %3: i32 = loop ^1 (%4: i32 = %1, %5: i32 = %1) {
            %6: bool = ilt %4, %0
            if %6 ^2 {
                %7: i32 = iadd %5, %4
                %8: i32 = iadd %4, %2
                continue ^1 %8, %7
            } else ^3 {
                break ^1 %5
            }
            unreachable
        }
        return %3
    }";

#[test]
fn carried_values_need_no_moves_in_loop() {
    assert_eq!(int(SUM, &[10]), 45);
    assert_eq!(int(SUM, &[0]), 0);
    let listing = bytecode(SUM).to_string();
    let (_, body) = listing
        .split_once("ilt")
        .expect("the loop begins with a branch");
    let (body, after_loop) = body.split_once("loop").expect("a back edge");
    assert!(!body.contains("move"), "{listing}");
    assert_eq!(after_loop.matches("move").count(), 1, "{listing}");
}

#[test]
fn exchanged_loop_values_survive() {
    let text = "
        input n: int = 0
        output a: int output b: int output c: int
        entry main
        fn main(%0: i32) -> (i32, i32, i32) ^0 {
            %1: i32 = const 0
            %2: i32 = const 1
            %3: i32 = const 2
            %4: i32 = const 3
            %5: i32, %6: i32, %7: i32 = loop ^1 (%8: i32 = %1, %9: i32 = %2, %10: i32 = %3, %11: i32 = %4) {
                %12: bool = ilt %8, %0
                if %12 ^2 {
                    %13: i32 = iadd %8, %2
                    continue ^1 %13, %10, %11, %9
                } else ^3 {
                    break ^1 %11, %9, %10
                }
                unreachable
            }
            return %5, %6, %7
        }";
    let mut machine = machine(text);
    for (n, expected) in [
        (0, [3, 1, 2]),
        (1, [1, 2, 3]),
        (2, [2, 3, 1]),
        (3, [3, 1, 2]),
    ] {
        assert_eq!(run(&mut machine, &[], &[n]), Outcome::Finished);
        let outputs = machine.outputs();
        let got = [outputs[0], outputs[3], outputs[6]];
        assert_eq!(got, expected, "{n}\n{}", machine.program());
    }
}

/// A loop that is left by three breaks: with its loop-carried values, as they are and exchanged,
/// and with a sum of them.
const LEFT: &str = "
    input n: int = 0 input m: int = 0
    output a: int output b: int
    entry main
    fn main(%0: i32, %1: i32) -> (i32, i32) ^0 {
        %2: i32 = const 0
        %3: i32 = const 1
        %4: i32, %5: i32 = loop ^1 (%6: i32 = %2, %7: i32 = %3) {
            %8: bool = ieq %6, %0
            if %8 ^2 {
                break ^1 %7, %6
            } else ^3 {
                yield
            }
            %9: i32 = iadd %6, %7
            %10: bool = ieq %6, %1
            if %10 ^4 {
                break ^1 %9, %6
            } else ^5 {
                yield
            }
            %11: i32 = iadd %7, %3
            %12: bool = ilt %0, %11
            if %12 ^6 {
                break ^1 %6, %11
            } else ^7 {
                yield
            }
            %13: i32 = iadd %6, %3
            continue ^1 %13, %11
        }
        return %4, %5
    }";

#[test]
fn loop_results_take_over_carried_registers() {
    let listing = bytecode(LEFT).to_string();
    // The inputs and outputs, nothing where the first break is, the sum, and an exchange.
    let moves = listing.matches("move").count();
    assert_eq!(moves, 2 + 2 + 1 + 3, "{listing}");
    let mut machine = machine(LEFT);
    for (n, m) in (-1_i32..5).flat_map(|n| (-1_i32..5).map(move |m| (n, m))) {
        let (mut a, mut b) = (0, 1);
        let expected = loop {
            if a == n {
                break [b, a];
            } else if a == m {
                break [a + b, a];
            } else if n < b + 1 {
                break [a, b + 1];
            }
            (a, b) = (a + 1, b + 1);
        };
        let inputs = [n, m].map(|input| input as u32);
        assert_eq!(run(&mut machine, &[], &inputs), Outcome::Finished);
        let got = [0, 3].map(|output| machine.outputs()[output] as i32);
        assert_eq!(got, expected, "{n} {m}\n{listing}");
    }
}

const FIBONACCI: &str = "
    input n: int = 0
    output f: int
    entry main
    fn main(%0: i32) -> (i32) ^0 {
        %1: i32 = call fib(%0)
        return %1
    }
    fn fib(%0: i32) -> (i32) ^0 {
        %1: i32 = const 2
        %2: bool = ilt %0, %1
        if %2 ^1 {
            return %0
        } else ^2 {
            yield
        }
        %3: i32 = const 1
        %4: i32 = isub %0, %3
        %5: i32 = call fib(%4)
        %6: i32 = isub %0, %1
        %7: i32 = call fib(%6)
        %8: i32 = iadd %5, %7
        return %8
    }";

#[test]
fn recursion_preserves_caller_values() {
    assert_eq!(int(FIBONACCI, &[10]), 55);
}

#[test]
fn mutual_recursion_preserves_caller_values() {
    let text = "
        input n: int = 0
        output s: int
        entry main
        fn main(%0: i32) -> (i32) ^0 {
            %1: i32 = call even(%0, %0)
            return %1
        }
        fn even(%0: i32, %1: i32) -> (i32) ^0 {
            %2: i32 = const 1
            %3: bool = ilt %0, %2
            if %3 ^1 { return %1 } else ^2 { yield }
            %4: i32 = isub %0, %2
            %5: i32 = call odd(%1, %4)
            %6: i32 = iadd %5, %0
            return %6
        }
        fn odd(%0: i32, %1: i32) -> (i32) ^0 {
            %2: i32 = const 1
            %3: bool = ilt %1, %2
            if %3 ^1 { return %0 } else ^2 { yield }
            %4: i32 = isub %1, %2
            %5: i32 = call even(%4, %0)
            %6: i32 = imul %1, %2
            %7: i32 = iadd %5, %6
            return %7
        }";
    assert_eq!(int(text, &[5]), 5 + 5 + 4 + 3 + 2 + 1);
}

#[test]
fn sample_request_has_four_partials() {
    let text = "
        global u: float global v: float
        texture wood texture gold
        output r: float output a: float
        entry main
        fn main() -> (f32, f32) ^0 {
            %0: f32:xy = global u[0]
            %1: f32:x = global v[0]
            %2: f32, %3: f32, %4: f32, %5: f32 = sample gold(%0, %1)
            %6: f32, %7: f32, %8: f32, %9: f32 = sample wood(%1, %0)
            return %4, %9
        }";
    let mut machine = machine(text);
    let mut host = Recorder::default();
    let globals = [0.5, -0.0, 2.0, f32::NAN, 3.0, 4.0].map(f32::to_bits);
    assert_eq!(machine.run(&globals, &[], &mut host), Outcome::Finished);
    let [a, b] = host.0[..] else {
        panic!("two requests")
    };
    assert_eq!((a.texture.0, b.texture.0), (1, 0));
    let bits = [a.u, a.v, a.dudx, a.dudy, a.dvdx, a.dvdy].map(f32::to_bits);
    assert_eq!(
        bits,
        [
            0.5_f32.to_bits(),
            0x7fc0_0000,
            0,
            2.0_f32.to_bits(),
            3.0_f32.to_bits(),
            0
        ]
    );
    assert_eq!(floats(&machine), [[0.3, 0.0, 0.0], [0.4, 0.0, 0.0]]);
}

#[test]
fn never_concurrent_functions_share_registers() {
    let text = |second: &str| {
        format!(
            "output o: int
            entry main
            fn main() -> (i32) ^0 {{
                %0: i32 = const 1
                %1: i32 = call a(%0)
                %2: i32 = call b(%0)
                %3: i32 = iadd %1, %2
                return %3
            }}
            fn a(%0: i32) -> (i32) ^0 {{
                array &0: i32[100]
                %1: i32 = load &0[%0]
                {second}
                return %1
            }}
            fn b(%0: i32) -> (i32) ^0 {{
                array &0: i32[100]
                %1: i32 = load &0[%0]
                return %1
            }}"
        )
    };
    assert!(bytecode(&text("")).stats().registers < 200);
    assert!(bytecode(&text("%2: i32 = call b(%0)")).stats().registers > 200);
}

#[test]
fn branch_over_jump_is_inverted() {
    let text = "
        input on: bool = false
        output o: int
        entry main
        fn main(%0: bool) -> (i32) ^0 {
            %1: i32 = const 1
            %2: i32 = const 2
            %3: i32 = block ^1 {
                if %0 ^2 { break ^1 %1 } else ^3 { yield }
                break ^1 %2
            }
            %4: i32 = block ^4 {
                block ^5 {
                    if %0 ^6 { break ^5 } else ^7 { yield }
                    break ^4 %2
                }
                yield %1
            }
            %5: i32 = const 10
            %6: i32 = imul %3, %5
            %7: i32 = iadd %4, %6
            return %7
        }";
    assert_eq!([int(text, &[0]), int(text, &[1])], [22, 11]);
    let listing = bytecode(text).to_string();
    assert_eq!(listing.matches("jump").count(), 2, "{listing}");
}
