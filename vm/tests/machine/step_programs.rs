//! Programs whose steps and queries are tested, also those with each instruction that takes steps
//! for the words that it moves. Tests of machine code include them too.

use adumbra_ir::host::{WORDS_PER_STEP, move_steps};
use std::fmt::Write;

/// Words that each instruction moves: some steps, and a rest that counts nothing.
const WORDS: u32 = 2 * WORDS_PER_STEP + 48;

/// Each way to move words: its name, IR, and the steps of the shader's own entry and of the move.
pub(crate) fn moving_programs() -> Vec<(&'static str, String, u64)> {
    let list = |value: &str, count: u32| vec![value; count as usize].join(", ");
    let program = |head: String, body: String| {
        format!(
            "global x: float
            output o: float
            {head}
            entry main
            fn main() -> (f32) ^0 {{
                array &0: f32[{WORDS}]
                array &1: f32[{WORDS}]
                %0: f32:xy = global x[0]
                %1: i32 = const 1
                {body}
                return %0
            }}"
        )
    };
    let record = format!("record ({})", list("f32:xy", WORDS));
    let keep = format!("keep 0 #0({}) @7..8\n", list("%0", WORDS));
    let mut take = keep.clone();
    for i in 2..2 + WORDS {
        let separator = if i == 2 { "" } else { ", " };
        write!(take, "{separator}%{i}: f32:xy").expect("a string");
    }
    take += " = take 0 #0 @7..8";
    let closure = format!("closure wide(float[{WORDS}])");
    let make = format!(
        "%2: closure = make_closure wide({}) @7..8",
        list("%0", WORDS)
    );
    let matrices = WORDS / 16;
    let (format, types) = (list("%g", matrices), list("float4x4", matrices));
    let message = format!("message \"{format}\"({types})");
    let print = format!("message \"{format}\"({}) @7..8", list("%0", 16 * matrices));
    let (zero, copy) = ("array_zero &0 @7..8\n", "array_copy &1, &0 @7..8\n");
    // Arrays that are used before they are overwritten are cleared on entry.
    let steps = move_steps(WORDS);
    vec![
        ("keep", program(record.clone(), keep), 1 + steps),
        ("take", program(record, take), 1 + 2 * steps),
        ("closure", program(closure, make), 1 + steps),
        ("message", program(message, print), 1 + steps),
        ("zero", program(String::new(), zero.to_owned()), 1 + steps),
        (
            "copy",
            program(String::new(), [zero, copy].concat()),
            1 + 2 * steps,
        ),
        (
            "part",
            program(
                String::new(),
                [zero, "array_copy &1, &0, %1 @7..8"].concat(),
            ),
            1 + 3 * steps,
        ),
        (
            "resize",
            program(
                String::new(),
                format!("{zero}%2: i32 = array_resize &0[%1], {WORDS} @7..8"),
            ),
            1 + 2 * steps,
        ),
    ]
}

/// A chain of products, from `%0` on.
pub(crate) fn products(count: usize) -> String {
    let products = (0..count).map(|i| format!("%{}: f32 = mul %{i}, %{i}\n", i + 1));
    products.collect()
}

/// A shader of one float `x` with this body and return value.
pub(crate) fn shader(body: &str, result: &str) -> String {
    format!(
        "global x: float
        output o: float
        entry main
        fn main() -> (f32) ^0 {{
            %0: f32 = global x[0]
            {body}
            return {result}
        }}"
    )
}
