//! `#define` is refused: the help is the declaration that the macro most likely means.
//!
//! A proposal is parsed and checked before it is shown, after those of the macros before it. The
//! type of a constant is that of its value. Parameters get the first type with which the value has
//! the same type, else the only one with which it has a type. Where nothing fits, the help has no
//! text to copy.

use crate::ast::{ExprKind, ReplEntry, Stmt, StmtKind};
use crate::check::{CheckRequest, SessionOutput, check, is_built_in};
use crate::interner::Interner;
use crate::lexer::word_len;
use crate::limits::MAX_MACRO_BYTES;
use adumbra_ir::{Diagnostic, FileId, Scalar, Type};
use bumpalo::Bump;

/// The file of proposals. Their diagnostics are not shown.
const PROPOSED: FileId = FileId(0);

/// Types that the parameters of a macro may have, the likeliest first. Integers become floats where
/// these fit, so they are tried where none does.
const PARAMETER_TYPES: [&[(&str, Type)]; 2] = [
    &[
        ("float", Type::FLOAT),
        ("float2", Type::Vector(2)),
        ("float3", Type::Vector(3)),
        ("float4", Type::Vector(4)),
    ],
    &[
        ("int", Type::Scalar(Scalar::I32)),
        ("uint", Type::Scalar(Scalar::U32)),
    ],
];

/// The macros of a source, in order, with the declarations that replace those before.
#[derive(Debug, Default)]
pub(crate) struct MacroFixes {
    /// The declarations that were proposed.
    proposed: String,
}

/// What to write for a macro.
struct Proposal {
    text: String,
    /// Whether parameters of other types are as likely.
    is_one_of_several: bool,
}

impl MacroFixes {
    /// The help for `#define` followed by `after`, the rest of its line.
    pub(crate) fn help(&mut self, after: &str) -> String {
        let after = without_comment(after);
        let name = &after[..word_len(after.as_bytes())];
        let rest = &after[name.len()..];
        let (parameters, value) = match rest.strip_prefix('(').and_then(|r| r.split_once(')')) {
            Some((parameters, value)) => (Some(parameters), value),
            None => (None, rest),
        };
        let value = value.trim().trim_end_matches([';', ' ', '\t']);
        if name.is_empty() {
            return "write a constant, `const float name = 1.0;`, or a function".to_owned();
        }
        if value.is_empty() {
            return "remove the line: there is nothing that asks whether a name is defined"
                .to_owned();
        }
        if parameters.is_some() && is_built_in(name) {
            return format!("remove the line if it means the same: `{name}` is built in");
        }
        let proposal = match after.len() > MAX_MACRO_BYTES || after.contains('#') {
            true => None,
            false => self.proposal(name, parameters, value),
        };
        let help = match (&proposal, parameters) {
            (
                Some(Proposal {
                    text,
                    is_one_of_several: true,
                }),
                _,
            ) => format!(
                "write a function, and an overload for each other type that it is called with: `{text}`"
            ),
            (Some(Proposal { text, .. }), Some(_)) => format!("write a function: `{text}`"),
            (Some(Proposal { text, .. }), None) => format!("write `{text}`"),
            (None, Some(_)) => {
                "write a function, with a type for its result and for each parameter".to_owned()
            }
            (None, None) => {
                "write a constant if it is one, else a function, or the value in its place"
                    .to_owned()
            }
        };
        if let Some(Proposal { text, .. }) = proposal {
            self.proposed.push_str(&text);
            self.proposed.push('\n');
        }
        help
    }

    /// A declaration that parses and has types.
    fn proposal(&self, name: &str, parameters: Option<&str>, value: &str) -> Option<Proposal> {
        let Some(parameters) = parameters else {
            let ty = self.type_of(value, &[])?;
            let text = format!("const {ty} {name} = {value};");
            return self.is_right(&text).then_some(Proposal {
                text,
                is_one_of_several: false,
            });
        };
        let names: Vec<&str> = parameters
            .split(',')
            .map(str::trim)
            .filter(|parameter| !parameter.is_empty())
            .collect();
        let with = |(written, ty): &(&'static str, Type)| {
            let typed: Vec<(String, Type)> = names
                .iter()
                .map(|name| ((*name).to_owned(), ty.clone()))
                .collect();
            Some((*written, self.type_of(value, &typed)?))
        };
        let mut sets = PARAMETER_TYPES.iter();
        let (first, others) = sets.find_map(|set| {
            let mut fitting = set.iter().filter_map(with);
            let first = fitting.next()?;
            Some((first, fitting.collect::<Vec<_>>()))
        })?;
        let is_kept = |(ty, result): &&(&'static str, String)| *ty == result.as_str();
        let (ty, result) = match std::iter::once(&first).chain(&others).find(is_kept) {
            Some(kept) => kept,
            None if others.is_empty() || names.is_empty() => &first,
            None => return None,
        };
        let list: Vec<String> = names.iter().map(|name| format!("{ty} {name}")).collect();
        let text = format!("{result} {name}({}) {{ return {value}; }}", list.join(", "));
        let is_one_of_several = !names.is_empty() && !others.is_empty();
        self.is_right(&text).then_some(Proposal {
            text,
            is_one_of_several,
        })
    }

    /// The type of an expression in which these names have these types.
    fn type_of(&self, value: &str, names: &[(String, Type)]) -> Option<String> {
        let (arena, mut interner) = (Bump::new(), Interner::new());
        let (before, _) = crate::parse(&arena, &mut interner, PROPOSED, &self.proposed);
        let (expr, wrong) = crate::parse_expression(&arena, &mut interner, PROPOSED, value);
        if !wrong.is_empty() || matches!(expr.kind, ExprKind::Assign { .. }) {
            return None;
        }
        let statement = Stmt {
            attributes: &[],
            kind: StmtKind::Expr(expr),
            span: expr.span,
        };
        let checked = check(
            &arena,
            &mut interner,
            CheckRequest {
                files: &[before],
                globals: names,
                closures: None,
                entry: Some(ReplEntry::Statement(&statement)),
                all_marked: false,
                slopes: adumbra_ir::module::Slopes::Omitted,
                is_host_struct: false,
                eliminated: &[],
            },
        );
        let (entry, outputs) = checked.entry?;
        if has_error(&checked.diagnostics) || outputs != [SessionOutput::Value] {
            return None;
        }
        let shader = &checked.program.functions[entry.0 as usize];
        let ty = shader.params.first()?.ty;
        Some(checked.program.types.name(ty, &interner))
    }

    /// Whether a declaration has no error.
    fn is_right(&self, text: &str) -> bool {
        let (arena, mut interner) = (Bump::new(), Interner::new());
        let source = format!("{}{text}", self.proposed);
        let (file, wrong) = crate::parse(&arena, &mut interner, PROPOSED, &source);
        let request = CheckRequest {
            files: &[file],
            globals: &[],
            closures: None,
            entry: None,
            all_marked: false,
            slopes: adumbra_ir::module::Slopes::Omitted,
            is_host_struct: false,
            eliminated: &[],
        };
        wrong.is_empty() && !has_error(&check(&arena, &mut interner, request).diagnostics)
    }
}

fn has_error(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(Diagnostic::is_error)
}

/// A directive without its comments and line breaks.
pub(crate) fn without_comment(text: &str) -> String {
    let text = text.replace("\\\r\n", " ").replace("\\\n", " ");
    let mut in_string = false;
    let begins_comment = |&(at, c): &(usize, char)| {
        in_string ^= c == '"';
        !in_string && (text[at..].starts_with("//") || text[at..].starts_with("/*"))
    };
    let end = text.char_indices().find(begins_comment);
    text[..end.map_or(text.len(), |(at, _)| at)]
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_begin_outside_of_strings() {
        let cases = [
            ("1 // one", "1"),
            ("1 /* one */", "1"),
            ("\"a//b\" // c", "\"a//b\""),
            ("a \\\n b", "a   b"),
        ];
        for (text, expected) in cases {
            assert_eq!(without_comment(text), expected);
        }
    }

    fn help(after: &str) -> String {
        MacroFixes::default().help(after)
    }

    #[test]
    fn define_help_is_a_declaration_of_the_values_type() {
        for (after, fix) in [
            ("N 96", "write `const int N = 96;`"),
            ("N -3 // three", "write `const int N = -3;`"),
            ("MASK 0xffu", "write `const uint MASK = 0xffu;`"),
            ("PI 3.14;", "write `const float PI = 3.14;`"),
            ("THIRD (1.0/3.0)", "write `const float THIRD = (1.0/3.0);`"),
            ("ON true", "write `const bool ON = true;`"),
            (
                "RED float3(1, 0, 0)",
                "write `const float3 RED = float3(1, 0, 0);`",
            ),
            ("C color(1)", "write `const float3 C = color(1);`"),
            (
                "HALF_PI 3.14 \\\n * 0.5",
                "write `const float HALF_PI = 3.14   * 0.5;`",
            ),
        ] {
            assert_eq!(help(after), fix, "{after}");
        }
        assert!(help("DEBUG").starts_with("remove the line"));
        assert!(help("").starts_with("write a constant"));
    }

    #[test]
    fn define_help_has_types_of_parameters_where_they_are_known() {
        for (after, fix) in [
            (
                "MAD(a, b) ((a)*(b)) /* x */",
                "`float MAD(float a, float b) { return ((a)*(b)); }`",
            ),
            (
                "rot(a) float2x2(cos(a), sin(a), -sin(a), cos(a))",
                "write a function: `float2x2 rot(float a) { return float2x2(cos(a), sin(a), -sin(a), cos(a)); }`",
            ),
            (
                "clamp3(x) clamp(x, vec3(0.0), vec3(1.0))",
                "`float3 clamp3(float3 x) { return clamp(x, vec3(0.0), vec3(1.0)); }`",
            ),
            (
                "BITS(n) ((n) ^ 7)",
                "`int BITS(int n) { return ((n) ^ 7); }`",
            ),
            (
                "ONE() 1.0",
                "write a function: `float ONE() { return 1.0; }`",
            ),
        ] {
            let help = help(after);
            assert!(help.ends_with(fix), "{after}: {help}");
        }
    }

    #[test]
    fn define_help_without_a_type_has_no_text() {
        for after in [
            "rot(a) mat2(cos(a), sin(a), -sin(a), cos(a))",
            "LOOP(n) for (int i = 0; i < n; i++)",
            "UNKNOWN(x) unknown(x)",
            "OPEN (1.0 +",
            "A #define A 1",
            "INCREASED(x) x++",
        ] {
            let help = help(after);
            assert!(!help.contains('`'), "{after}: {help}");
        }
    }

    #[test]
    fn define_help_knows_the_macros_before() {
        let mut macros = MacroFixes::default();
        macros.help("PI 3.14");
        assert_eq!(
            macros.help("TAU (2.0 * PI)"),
            "write `const float TAU = (2.0 * PI);`"
        );
        macros.help("SQ(x) ((x) * (x))");
        assert!(
            macros
                .help("QUAD(x) SQ(SQ(x))")
                .contains("float QUAD(float x)")
        );
    }

    #[test]
    fn long_macro_has_no_proposal() {
        let value = "1.0 + ".repeat(MAX_MACRO_BYTES / 6) + "1.0";
        assert!(!help(&format!("A {value}")).contains('`'));
    }
}
