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
    let unread = args.global_settings.iter().map(|setting| &setting.name);
    for name in unread.filter(|name| !program.reads(name)) {
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
