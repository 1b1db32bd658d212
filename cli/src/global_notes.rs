//! Notes on globals of the command line: a `-g` that nothing reads, a global that is read but
//! unset.

use crate::args::CompileArgs;
use crate::report::{self, OutputFormat};
use adumbra::{Program, globals::GlobalMember};
use adumbra_frontend::closest_name;

/// Which unread `-g` are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnreadGlobals {
    /// All: they were given for this one source.
    All,
    /// Those that nearly have the name of a global that is read and was not set. Others may be
    /// there for other shaders.
    Misspelt,
}

/// Notes each unread `-g` and each global that is read without a value.
pub fn note_unread_and_unset(
    args: &CompileArgs,
    program: &Program,
    slips: UnreadGlobals,
    format: OutputFormat,
) {
    let members = program.globals().members().iter().map(GlobalMember::name);
    let missed: Vec<&str> = members
        .filter(|name| !args.sets(name) && program.reads(name))
        .collect();
    note_inputs(args, program, format);
    for name in unread(args, program).filter(|name| !is_input(name, program)) {
        match closest_name(name, missed.iter().copied()) {
            Some(meant) => {
                let text = format!("nothing reads the global `{name}`; did you mean `{meant}`?");
                report::note(&text, format);
            }
            None if slips == UnreadGlobals::All => {
                report::note(&format!("nothing reads the global `{name}`"), format);
            }
            None => {}
        }
    }
    let zero: Vec<String> = missed
        .iter()
        .filter(|name| !args.has_value(name))
        .map(|name| format!("`{name}`"))
        .collect();
    if args.global_settings.is_empty() && !zero.is_empty() {
        report::note(
            &format!(
                "no `-g` sets {}, so all is 0, derivatives too: `-g NAME=VALUE:DDX:DDY` sets one",
                zero.join(", ")
            ),
            format,
        );
    }
}

/// Notes each input that `-g` was given for: `-g` sets globals alone, so the input keeps its
/// default.
pub fn note_inputs(args: &CompileArgs, program: &Program, format: OutputFormat) {
    for name in unread(args, program).filter(|name| is_input(name, program)) {
        let text = format!(
            "nothing reads the global `{name}`; the input of that name is set by `--arg {name}=VALUE`"
        );
        report::note(&text, format);
    }
}

/// The globals that `-g` sets in vain.
fn unread<'a>(args: &'a CompileArgs, program: &'a Program) -> impl Iterator<Item = &'a str> {
    let set = args.global_settings.iter().map(|setting| &*setting.name);
    set.filter(|name| !program.reads(name))
}

fn is_input(name: &str, program: &Program) -> bool {
    program.inputs().iter().any(|input| input.name == name)
}
