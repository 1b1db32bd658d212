//! Slips about globals on the command line that are no errors: a `-g` that nothing reads, globals that are read and were never set.

use crate::args::CompileArgs;
use crate::report::{self, OutputFormat};
use adumbra::{Program, globals::GlobalMember};
use adumbra_frontend::closest_name;

/// Which unread `-g` are slips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnreadGlobals {
    /// All: they were given for this one text.
    All,
    /// Those that nearly have the name of a global that is read and was not set. Others may be there for other shaders.
    Misspelt,
}

/// Says what a point will be evaluated with that was hardly meant.
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
