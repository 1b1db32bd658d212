//! `:help`: the list of commands, and the pages of ops, from the op table, and of the standard
//! library, from its comments.

use super::keywords::{self, KEYWORDS};
use adumbra::{
    derivatives::Direction,
    diagnostics,
    inspect::{Op, OpClass, OpInfo},
};
use adumbra_frontend::{check::builtin, closest_name};
use std::fmt::Write;

/// A command of the REPL, or a word that is called: its usage and its description.
pub struct HelpPage {
    pub name: &'static str,
    pub usage: &'static str,
    pub doc: &'static str,
}

impl HelpPage {
    /// The page as it is printed.
    pub fn text(&self) -> String {
        format!("{}\n  {}\n", self.usage, self.doc)
    }
}

/// Makes a page from its parts.
pub const fn help_page(name: &'static str, usage: &'static str, doc: &'static str) -> HelpPage {
    HelpPage { name, usage, doc }
}

/// Every command, in the order of `:help`.
pub const COMMANDS: &[HelpPage] = &[
    help_page(
        "help",
        ":help [NAME]",
        "this list, or what an op, a function or a command does, and how it is differentiated; of a code such as E0205, why it is reported and the fix",
    ),
    help_page("type", ":type EXPR", "the type of an expression"),
    help_page(
        "fd",
        ":fd EXPR",
        "its derivatives beside central differences",
    ),
    help_page(
        "grad",
        ":grad EXPR",
        "its derivatives by the variables that it names, in reverse mode",
    ),
    help_page(
        "check",
        ":check EXPR",
        "its derivatives by forward and reverse mode, shadows and differences",
    ),
    help_page(
        "time",
        ":time EXPR",
        "how long it takes to compile and to evaluate",
    ),
    help_page(
        "plot",
        ":plot [EXPR] [for NAME in FROM..TO]",
        "its value and derivatives along a line",
    ),
    help_page(
        "demand",
        ":demand [EXPR]",
        "which derivatives of which values are wanted",
    ),
    help_page(
        "ir",
        ":ir [--after PASS] [EXPR]",
        "the intermediate representation, optimised, or as a pass left it",
    ),
    help_page(
        "bytecode",
        ":bytecode [EXPR]",
        "the instructions of the register machine",
    ),
    help_page(
        "globals",
        ":globals",
        "the variables with their derivatives",
    ),
    help_page(
        "load",
        ":load FILE",
        "bring a file's functions, structs and constants into scope",
    ),
    help_page(
        "image",
        ":image FILE -o OUT [--size WxH] …",
        "draw a shader into an image, as `adumbra image` with the same options",
    ),
    help_page(
        "reset",
        ":reset",
        "forget everything but how the session began",
    ),
    help_page("quit", ":quit", "leave (Ctrl-D does too)"),
];

/// Keywords that are called like functions, but are neither ops nor library functions.
const CALLED: &[HelpPage] = &[
    help_page(
        "global_value",
        "global_value<name>",
        "what the host knows of the point, with its derivatives; here a bare name does as well",
    ),
    help_page(
        "make_closure",
        "make_closure<name>(…)",
        "a closure: a name and arguments that mean something to the host. Closures are added, and scaled by floats and colours",
    ),
    help_page(
        "texture2d_sample",
        "texture2d_sample<name>(u, v)  texture2d_sample<name>(uv)",
        "the colour of a texture, for which the host is given u and v with their four derivatives. Its own follow from the slopes that the host gives",
    ),
    help_page(
        "raymarch",
        "raymarch<f>(origin, direction, steps, …)",
        "marches a ray through the field of distances `f(position, …)`: a `hit`",
    ),
    help_page(
        "texture2d_sample_grad",
        "texture2d_sample_grad<name>(u, v, dudx, dvdx, dudy, dvdy)  texture2d_sample_grad<name>(uv, ddx, ddy)",
        "as `texture2d_sample`, with derivatives of your choice",
    ),
    help_page(
        "texture2d_sample_level",
        "texture2d_sample_level<name>(u, v, level)  texture2d_sample_level<name>(uv, level)",
        "as `texture2d_sample`, from a mip level of your choice",
    ),
    help_page(
        "texture2d_sample_alpha",
        "texture2d_sample_alpha<name>(…)",
        "the alpha of a texture, as `texture2d_sample`; `_grad` and `_level` may follow here too",
    ),
    help_page(
        "texture2d_sample_alpha_grad",
        "texture2d_sample_alpha_grad<name>(…)",
        "the alpha of a texture, as `texture2d_sample_grad`",
    ),
    help_page(
        "texture2d_sample_alpha_level",
        "texture2d_sample_alpha_level<name>(…)",
        "the alpha of a texture, as `texture2d_sample_level`",
    ),
];

/// The list of commands, and of the other inputs.
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
    let mut builtins: Vec<&str> = builtin::builtin_names()
        .chain(CALLED.iter().map(|page| page.name))
        .collect();
    builtins.sort_unstable();
    list("built in", builtins, &mut out);
    list("keywords", KEYWORDS.iter().map(|page| page.name), &mut out);
    for subject in adumbra_stdlib::files() {
        list(
            &subject.title_and_summary().0,
            subject.entries().map(|entry| entry.name),
            &mut out,
        );
    }
    out
}

/// Names below a title, in lines of a readable length.
fn list<'n>(title: &str, names: impl IntoIterator<Item = &'n str>, out: &mut String) {
    let _ = write!(out, "\n{title}:");
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
}

/// The name of an op that is written as a call.
fn intrinsic(info: &'static OpInfo) -> Option<&'static str> {
    let (name, _) = info.usage.split_once('(')?;
    let is_word = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_word.then_some(name)
}

/// The pages of a name: an op by its name, an alias or a sign (`+`), a function of the standard
/// library, a derivative. Empty if there is none.
pub fn pages(wanted: &str) -> String {
    let named = builtin::ops_of(wanted);
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
    let called = CALLED
        .iter()
        .chain(KEYWORDS)
        .filter(|page| page.name == keywords::canonical_keyword(wanted));
    pages.extend(called.map(HelpPage::text));
    pages.extend(adumbra_stdlib::entry(wanted).map(library));
    pages.extend(
        builtin::derivative_direction(wanted).map(|direction| derivative(wanted, direction)),
    );
    pages.extend((wanted == builtin::PRINTF).then(|| PRINTF.to_owned()));
    pages.extend(diagnostics::page(wanted).map(str::to_owned));
    pages.join("\n")
}

/// The page that a word without one is close to, as a message.
pub fn closest_page(topic: &str) -> Option<String> {
    let known = closest_name(topic, topics())?;
    Some(format!(
        "there is no page on `{topic}`; did you mean `{known}`?"
    ))
}

/// The page of a function of the standard library: its overloads and its comment.
fn library(entry: &adumbra_stdlib::LibraryEntry) -> String {
    let mut out = String::new();
    let starts = |line: &&str| line.starts_with(|c: char| c.is_ascii_alphabetic());
    for line in entry.source.lines().filter(starts) {
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
        OpClass::Discrete => line("derivative", "none: no float comes out, or none goes in"),
        _ => line("derivative", info.derivative),
    }
    line("edges", info.kink);
    if info.class != OpClass::Discrete {
        match info.ulp {
            0.0 => line("error", "correctly rounded"),
            ulp => line("error", &format!("at most {ulp} ulp")),
        }
    }
    out
}

/// The names of everything that `:help` has a page of.
pub fn topics() -> impl Iterator<Item = &'static str> {
    let ops = Op::ALL.iter().map(|op| op.info().name);
    let called = CALLED.iter().map(|page| page.name);
    ops.chain(builtin::builtin_names())
        .chain(called)
        .chain(KEYWORDS.iter().map(|page| page.name))
        .chain(adumbra_stdlib::function_names())
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_frontend::check::predeclared_type_names;
    use adumbra_frontend::token_kind::TokenKind;

    #[test]
    fn every_op_has_a_page() {
        for op in Op::ALL {
            let page = pages(op.info().name);
            assert!(page.contains(op.info().doc), "{op:?}");
        }
    }

    #[test]
    fn every_help_topic_is_in_the_overview() {
        let overview = overview();
        for topic in topics() {
            assert!(!pages(topic).is_empty(), "{topic}");
        }
        let keywords = TokenKind::KEYWORDS.iter().map(|kind| kind.text());
        for word in keywords.chain(predeclared_type_names()) {
            assert!(!pages(word).is_empty(), "{word}");
        }
        let keywords = TokenKind::KEYWORDS.iter().filter(|kind| kind.takes_name());
        for name in builtin::builtin_names()
            .chain(adumbra_stdlib::function_names())
            .chain(keywords.map(|kind| kind.text()))
        {
            assert!(
                overview.split_whitespace().any(|word| word == name),
                "{name}"
            );
        }
        assert!(pages("make_closure").contains("added, and scaled"));
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
        assert!(pages("E0205").contains("Use a name that the host has."));
        assert_eq!(pages("nosuch"), "");
    }
}
