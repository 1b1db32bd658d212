//! Tests of the passes as a whole and one by one, on IR text.
//!
//! A test has only its functions; [`module`] adds the rest of a module. Each result of a pass is
//! verified.

mod analysis;
mod buffers;
mod closure_leaves;
mod decisions;
mod derivatives;
mod drop_outputs;
mod fold;
mod guards;
mod higher_orders;
mod inline;
mod inlined_arrays;
mod noise;
mod op_gradients;
mod optimise;
mod origins;
mod pair;
mod post;
mod quad;
mod random;
mod scalar_replacement;
mod shadow_rules;
mod slopes;
mod unread;
mod unroll;
mod variants;

use super::*;
use crate::Op;
use crate::module::{Function, InstKind};
use crate::span::FileId;
use crate::text::{SpanComments, parse, print};
use crate::types::{Lanes, Scalar};
use adumbra_ops::OpSet;

const DUAL: PassOptions = PassOptions {
    derivatives: Derivatives::Dual,
    at_divergence: AtDivergence::Refuse,
    merge_demand: false,
    output_shadows: false,
    dropped: OpSet::NONE,
};
const OFF: PassOptions = PassOptions {
    derivatives: Derivatives::Off,
    ..DUAL
};
const MERGED: PassOptions = PassOptions {
    merge_demand: true,
    ..DUAL
};
const OUTPUTS: PassOptions = PassOptions {
    output_shadows: true,
    ..DUAL
};

/// A module with these functions; the shader is `main`. Globals are `g` and `h`, floats, and `i`,
/// an int; the texture is `wood`, the message `done`. Inputs and outputs follow from `main`, names
/// are the words after `$`.
fn module(functions: &str) -> Module {
    let main = functions.split("fn main(").nth(1).expect("a shader");
    let (params, rest) = main.split_once(')').expect("its parameters");
    let results = rest.split_once("-> (").expect("its results").1;
    let results = results.split_once(')').expect("their end").0;
    let scalars = |list: &str| -> Vec<&str> {
        let types = list.split(',').map(str::trim).filter(|t| !t.is_empty());
        types
            .map(|t| t.rsplit([' ', '(']).next().expect("a type"))
            .map(|t| match t {
                "f32" => "float",
                "u32" => "uint",
                _ => "int",
            })
            .collect()
    };
    let mut text = String::from(
        "adumbra ir 1\nglobal g: float\nglobal h: float\nglobal i: int\ntexture wood\nmessage done()\n",
    );
    for (k, ty) in scalars(params).iter().enumerate() {
        let default = if *ty == "float" { "0.0" } else { "0" };
        text += &format!("input in{k}: {ty} = {default}\n");
    }
    for (k, ty) in scalars(results).iter().enumerate() {
        text += &format!("output out{k}: {ty}\n");
    }
    let mut names: Vec<_> = functions
        .match_indices('$')
        .map(|(at, _)| {
            let word = &functions[at + 1..];
            let end = word.find(|c: char| !c.is_alphanumeric() && c != '_');
            &word[..end.expect("text goes on")]
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    if !names.is_empty() {
        text += &format!("names {}\n", names.join(", "));
    }
    text += "entry main\n";
    text += functions;
    let module = parse(&text, FileId::MAIN).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    verified(module)
}

fn verified(module: Module) -> Module {
    if let Err(violations) = crate::verify(&module) {
        panic!("{violations:#?}\n{}", print(&module, SpanComments::Hidden));
    }
    module
}

/// The module after all passes.
fn passed(functions: &str, options: &PassOptions) -> Module {
    verified(run(module(functions), options).0)
}

/// The functions of a module as text, each line trimmed.
fn text(module: &Module) -> String {
    let text = print(module, SpanComments::Hidden);
    let at = text.find("\nfn ").expect("functions come last");
    lines(&text[at..])
}

/// Text without indentation, empty lines and comments.
fn lines(text: &str) -> String {
    let lines = text
        .lines()
        .map(|l| l.split("//").next().expect("one part"));
    let lines = lines.map(str::trim).filter(|l| !l.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// The text with numbers of values, regions and arrays counted by their first occurrence in their
/// function.
fn renumbered(text: &str) -> String {
    let mut out = String::new();
    for function in text.split_inclusive("\n}") {
        let mut seen: [Vec<&str>; 3] = Default::default();
        let mut rest = function;
        while let Some(at) = rest.find(['%', '^', '&']) {
            let (before, id) = rest.split_at(at);
            let end = id[1..].find(|c: char| !c.is_ascii_digit());
            let (id, after) = id.split_at(end.map_or(id.len(), |end| end + 1));
            let seen = &mut seen["%^&".find(&id[..1]).expect("one of them")];
            let number = seen.iter().position(|s| *s == id).unwrap_or(seen.len());
            if number == seen.len() {
                seen.push(id);
            }
            out += &format!("{before}{}{number}", &id[..1]);
            rest = after;
        }
        out += rest;
    }
    out
}

/// Compares functions up to numbers.
#[track_caller]
fn assert_text(module: &Module, expected: &str) {
    let got = renumbered(&text(module));
    let expected = renumbered(&lines(expected));
    assert!(got == expected, "got\n{got}\n\nexpected\n{expected}");
}

/// The function of that name and variant.
fn function<'m>(module: &'m Module, name: &str, variant: u32) -> &'m Function {
    let mut functions = module.functions.iter();
    functions
        .find(|f| f.name == name && f.variant == variant)
        .expect("such a function")
}

/// The lanes of the value with that name, in the report of a function's first variant of that name.
fn lanes(report: &[FunctionReport], function: &str, variant: u32, name: &str) -> &'static str {
    let function = report
        .iter()
        .find(|f| f.function == function && f.variant == variant);
    let mut values = function.expect("such a function").values.iter();
    values
        .find(|v| v.name == name)
        .unwrap_or_else(|| panic!("no {name} in {function:?}"))
        .lanes
        .name()
}
