//! Generated pages of the book: the library from comments, built-in functions from the op table.
//!
//! `ADUMBRA_BLESS=1 cargo test --test facade pages` writes them anew. Without that, the tests check
//! that they are up to date.

use adumbra::{Compiler, GlobalsLayout, Sources, diagnostics::Code};
use adumbra_fuzz::signature::signatures;
use adumbra_ops::definition::OperandKind;
use adumbra_ops::docs::signature;
use adumbra_ops::list::Op;
use adumbra_stdlib::{LibraryEntry, files};
use std::fmt::Write;
use std::path::Path;

#[test]
fn the_page_of_the_library_is_made_from_its_comments() {
    is_up_to_date("stdlib.md", &library());
}

#[test]
fn the_page_of_built_in_functions_is_made_from_the_op_table() {
    is_up_to_date("intrinsics.md", &intrinsics());
}

#[test]
fn the_page_of_numerics_is_made_from_the_op_table() {
    is_up_to_date("numerics.md", &adumbra_fuzz::numerics::page::page());
}

#[test]
fn documented_operators_take_the_types_they_list() {
    let types = ["int", "uint", "bool"];
    let (mut operators, mut taken) = (0, 0);
    for info in Op::ALL.iter().map(|op| op.info()) {
        let is_operator = info.usage.starts_with("a ") && info.usage.ends_with(" b");
        if !is_operator || info.is_differentiable() || info.operands[0] == OperandKind::Float {
            continue;
        }
        operators += 1;
        let signature = signature(info);
        let operands = signature.split('→').next().expect("the operands");
        let mut words = operands.split(|c: char| !c.is_alphanumeric());
        for ty in types
            .into_iter()
            .filter(|ty| words.clone().any(|word| word == *ty))
        {
            assert_eq!(refusal(ty, info.usage), None, "{signature}");
            taken += 1;
        }
        assert!(words.any(|word| types.contains(&word)), "{signature}");
    }
    assert!(operators > 15 && taken > operators, "{operators} {taken}");
    for usage in ["a & b", "a | b", "a ^ b"] {
        assert_eq!(refusal("int", usage), None);
        assert_eq!(
            refusal("bool", usage),
            Some(Code::BoolArithmetic),
            "{usage}"
        );
    }
}

/// The error of an operator between two variables of a type, if it has one.
fn refusal(ty: &str, usage: &str) -> Option<Code> {
    let text = format!("shader s({ty} a, {ty} b, out bool o) {{ o = ({usage}) == ({usage}); }}");
    let found = Compiler::new(GlobalsLayout::new()).check(&Sources::new("s.adu", text));
    found
        .iter()
        .find(|found| found.is_error())
        .map(|found| found.code)
}

fn is_up_to_date(page: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs")
        .join(page);
    if std::env::var_os("ADUMBRA_BLESS").is_some() {
        std::fs::write(&file, text).expect("the page can be written");
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == text,
        "{page} is not what would be made now: ADUMBRA_BLESS=1 cargo test --test facade pages"
    );
}

fn library() -> String {
    let mut page = String::from(
        "# The standard library\n\n\
         These functions are written in the language itself, in `stdlib/adu`. They need no include, and cost nothing where they are not\n\
         called. A function of yours with the same name hides them. In the REPL, `:help NAME` shows the same words. This page is made from\n\
         the comments there.\n\n",
    );
    for subject in files() {
        let (title, _) = subject.title_and_summary();
        let names: Vec<String> = subject.entries().map(|entry| link(entry.name)).collect();
        let _ = writeln!(
            page,
            "- [{title}](#{}): {}",
            anchor(&title),
            names.join(", ")
        );
    }
    for subject in files() {
        let (title, about) = subject.title_and_summary();
        let _ = write!(page, "\n## {title}\n\n{about}\n");
        subject
            .entries()
            .for_each(|entry| write_entry(&mut page, &entry));
    }
    page
}

fn link(name: &str) -> String {
    format!("[{name}](#{name})")
}

/// The name of a heading in links.
fn anchor(title: &str) -> String {
    title.to_lowercase().replace(' ', "-")
}

fn write_entry(page: &mut String, entry: &LibraryEntry) {
    let LibraryEntry {
        name,
        doc,
        source: text,
    } = entry;
    let _ = write!(page, "\n### {name}\n\n");
    let count = signatures(name).len();
    for line in text
        .lines()
        .filter(|line| line.starts_with(char::is_alphabetic))
        .take(count)
    {
        let _ = writeln!(page, "    {}", head(line));
    }
    page.push('\n');
    for line in doc.lines() {
        let _ = writeln!(page, "{}", line.trim_start_matches("///").trim());
    }
}

/// The first line of a function up to the end of its parameters.
fn head(line: &str) -> &str {
    let body = line.find(" {").unwrap_or(line.len());
    &line[..body]
}

fn intrinsics() -> String {
    format!(
        "# Built-in functions and operators\n\n\
         What the machine computes itself. Functions of floats take vectors too, component by component, and a float beside vectors is used for\n\
         every component. `t′` is the derivative of `t`, along x or along y; ulp says by how many units in the last place a value may be off.\n\
         Other names: `lerp` is `mix`, `frac` is `fract`, `inversesqrt` is `rsqrt`, and `atan` with two arguments is `atan2`. This page is made\n\
         from the op table, `ops/src`.\n\n{}",
        adumbra_ops::docs::table()
    )
}
