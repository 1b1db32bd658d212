//! `:help`: the commands, and the pages of ops, which are their rows in the op table, and of the standard library, which are its comments.

use adumbra::{Class, Direction, Op, OpInfo};
use adumbra_frontend::check::builtin;
use std::fmt::Write;

/// A command of the REPL: how it is written and what it does.
pub struct Page {
    pub name: &'static str,
    pub usage: &'static str,
    pub doc: &'static str,
}

const fn page(name: &'static str, usage: &'static str, doc: &'static str) -> Page {
    Page { name, usage, doc }
}

/// Every command, in the order of `:help`.
pub const COMMANDS: &[Page] = &[
    page(
        "help",
        ":help [OP]",
        "this list, or what an op computes and how it is differentiated",
    ),
    page("type", ":type EXPR", "the type of an expression"),
    page(
        "fd",
        ":fd EXPR",
        "its derivatives beside central differences",
    ),
    page(
        "time",
        ":time EXPR",
        "how long it takes to compile and to evaluate",
    ),
    page(
        "demand",
        ":demand [EXPR]",
        "which derivatives of which values are wanted",
    ),
    page("ir", ":ir [EXPR]", "the intermediate representation"),
    page(
        "bytecode",
        ":bytecode [EXPR]",
        "the instructions of the register machine",
    ),
    page(
        "globals",
        ":globals",
        "the variables with their derivatives",
    ),
    page(
        "load",
        ":load FILE",
        "bring a file's functions, structs and constants into scope",
    ),
    page(
        "reset",
        ":reset",
        "forget everything but how the session began",
    ),
    page("quit", ":quit", "leave (Ctrl-D does too)"),
];

/// The list of commands, and what else can be typed.
pub fn overview() -> String {
    let mut rows: Vec<Vec<String>> = [
        (
            "EXPR",
            "its value, ddx and ddy; the result is `_` in the next line",
        ),
        (
            "NAME = EXPR",
            "a variable that keeps the value and both derivatives",
        ),
        (
            "NAME = VALUE : DDX : DDY",
            "a variable whose derivatives you choose",
        ),
        (
            "float f(float x) { … }",
            "a function, struct or texture; a second one replaces the first",
        ),
    ]
    .map(|(usage, doc)| vec![usage.to_owned(), doc.to_owned()])
    .to_vec();
    rows.extend(
        COMMANDS
            .iter()
            .map(|page| vec![page.usage.to_owned(), page.doc.to_owned()]),
    );
    let mut out = crate::show::table(&rows);
    let mut names: Vec<&str> = builtin::names().chain(adumbra_stdlib::names()).collect();
    names.sort_unstable();
    out.push_str("\nfunctions:");
    let mut width = usize::MAX;
    for name in names {
        if width > 90 {
            out.push_str("\n ");
            width = 0;
        }
        let _ = write!(out, " {name}");
        width += name.len() + 1;
    }
    out.push('\n');
    out
}

/// The name of a row that is written as a call.
fn intrinsic(info: &'static OpInfo) -> Option<&'static str> {
    let (name, _) = info.usage.split_once('(')?;
    let is_word = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_word.then_some(name)
}

/// The pages of what is called or written so: an op by its name, an alias or a sign (`+`), a function of the standard library, a derivative.
/// Empty if there is none.
pub fn pages(wanted: &str) -> String {
    let named = builtin::rows(wanted);
    let is_meant = |op: &Op| {
        let info = op.info();
        let is_sign = || info.usage.split(' ').any(|word| word == wanted);
        named.contains(op) || info.name == wanted || intrinsic(info) == Some(wanted) || is_sign()
    };
    let mut pages: Vec<String> = Op::ALL
        .iter()
        .filter(|op| is_meant(op))
        .map(|op| one(op.info()))
        .collect();
    pages.extend(adumbra_stdlib::entry(wanted).map(library));
    pages.extend(builtin::derivative(wanted).map(|direction| derivative(wanted, direction)));
    pages.extend((wanted == builtin::MESSAGE).then(|| PRINTF.to_owned()));
    pages.join("\n")
}

/// A function of the standard library: its overloads and its comment.
fn library(entry: &adumbra_stdlib::Entry) -> String {
    let mut out = String::new();
    let starts = |line: &&str| line.starts_with(|c: char| c.is_ascii_alphabetic());
    for line in entry.text.lines().filter(starts) {
        let end = line.find(')').map_or(line.len(), |at| at + 1);
        let _ = writeln!(out, "{}", &line[..end]);
    }
    for line in entry.doc.lines() {
        let _ = writeln!(out, "  {}", line.trim_start_matches("///").trim());
    }
    out
}

const PRINTF: &str = "\
printf(\"text\", x, …)
  Gives a message: the text with its conversions replaced by the arguments.
  conversions %d %u %x of integers and bools; %f %e %g of floats; a vector is written as (x, y, z); %% is a percent sign
  fields      flags - + space 0, a width, a precision, as in C: %8.3f
  derivative  messages see values alone, and change no derivative
";

fn derivative(name: &str, direction: Direction) -> String {
    let (axis, others) = match direction {
        Direction::X => ("x", "ddx, Dx, dFdx, dpdx"),
        Direction::Y => ("y", "ddy, Dy, dFdy, dpdy"),
    };
    format!(
        "{name}(e)\n  How much e changes from one pixel to the next along {axis}: of floats, vectors, and the float members of structs.\n  \
         also called {others}\n  derivative  counts as 0, and shows as none: it would be of second order\n"
    )
}

fn one(info: &OpInfo) -> String {
    let mut out = format!("{}\n  {}\n", info.usage, info.doc);
    let mut line = |label: &str, text: &str| {
        if !text.is_empty() {
            let _ = writeln!(out, "  {label:<11} {text}");
        }
    };
    match info.class {
        Class::Discrete => line("derivative", "none: no float comes out, or none goes in"),
        _ => line("derivative", info.derivative),
    }
    line("edges", info.kink);
    if info.class != Class::Discrete {
        match info.ulp {
            0.0 => line("error", "correctly rounded"),
            ulp => line("error", &format!("at most {ulp} ulp")),
        }
    }
    out
}

/// The names of everything that `:help` has a page of.
pub fn topics() -> impl Iterator<Item = &'static str> {
    let rows = Op::ALL.iter().map(|op| op.info().name);
    rows.chain(builtin::names()).chain(adumbra_stdlib::names())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_op_has_a_page() {
        for op in Op::ALL {
            let page = pages(op.info().name);
            assert!(page.contains(op.info().doc), "{op:?}");
        }
    }

    #[test]
    fn ops_are_found_by_name_and_by_sign() {
        assert!(pages("sin").contains("cos(t)"));
        assert!(pages("+").contains("a + b"));
        assert!(pages("lerp").contains("mix("));
        assert!(pages("atan").contains("atan2("));
        assert!(pages("cross").contains("float3 cross(float3 a, float3 b)"));
        assert!(pages("dFdy").contains("along y"));
        assert!(pages("printf").contains("%g"));
        assert_eq!(pages("nosuch"), "");
    }
}
