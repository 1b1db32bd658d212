//! Hooks of a source for tools that change its text: blocks that can be left out, and functions
//! that are meant to be replaced.

use adumbra_frontend::Interner;
use adumbra_frontend::ast::{self, AstFile, EliminableBlock, FunctionDef};
use adumbra_ir::{FileId, Span};
use adumbra_vm::FloatEnvironment;
use bumpalo::Bump;
use std::ops::Range;

/// The bytes of each block after `[EliminateIfUnused]`, from its first attribute to its `}`, in the
/// order of the source. The position of a block here is its number; a block within another one
/// comes after it.
///
/// ```
/// use adumbra::sources::eliminable_blocks;
/// let text = "shader s(out float o) { o = 1; [EliminateIfUnused] { o += 1; } }";
/// let blocks = eliminable_blocks(text);
/// assert_eq!(&text[blocks[0].clone()], "[EliminateIfUnused] { o += 1; }");
/// ```
pub fn eliminable_blocks(text: &str) -> Vec<Range<usize>> {
    let blocks = parsed(text, ast::eliminable_blocks);
    blocks.iter().map(|block| bytes(block.span)).collect()
}

/// The source without the blocks of these numbers, and all else as it was written. A line on which
/// nothing else is left goes with its block. A block that is the body of a condition or loop leaves
/// `{}`. Numbers of no block mean nothing.
///
/// It is the source of the program that
/// [`Compiler::without_blocks`](crate::Compiler::without_blocks) makes.
///
/// ```
/// use adumbra::sources::without_blocks;
/// let text = "shader s(out float o)\n{\n    o = 1; // one\n    [EliminateIfUnused] { o += 1; }\n}";
/// assert_eq!(without_blocks(text, &[0]), "shader s(out float o)\n{\n    o = 1; // one\n}");
/// ```
pub fn without_blocks(text: &str, numbers: &[u32]) -> String {
    let blocks: Vec<EliminableBlock> = parsed(text, ast::eliminable_blocks);
    let mut left = String::with_capacity(text.len());
    let mut kept = 0;
    for (number, block) in blocks.iter().enumerate() {
        let span = bytes(block.span);
        // One within a block that is gone is gone.
        if !numbers.contains(&(number as u32)) || span.start < kept {
            continue;
        }
        let (removed, instead) = match block.is_body {
            true => (span, "{}"),
            false => (with_lines(text, span), ""),
        };
        left.push_str(&text[kept..removed.start]);
        left.push_str(instead);
        kept = removed.end;
    }
    left + &text[kept..]
}

/// The bytes, with the lines that have nothing else.
fn with_lines(text: &str, bytes: Range<usize>) -> Range<usize> {
    let before = text[..bytes.start].trim_end_matches([' ', '\t']);
    let after = text[bytes.end..].trim_start_matches([' ', '\t', '\r']);
    match (before.ends_with('\n'), after.strip_prefix('\n')) {
        (true, Some(rest)) => before.len()..text.len() - rest.len(),
        _ => bytes,
    }
}

/// A function after `[Animate]`: a hook, which is meant to be replaced where its shader is
/// animated. While the shader is fitted it is what the source says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnimationHook {
    /// The name of the function.
    pub name: String,
    /// Its result, name and parameters, in one line.
    pub signature: String,
    /// The bytes of its body, from `{` to `}`.
    pub body: Range<usize>,
}

/// The functions of a source after `[Animate]`, in order.
///
/// ```
/// use adumbra::sources::animation_hooks;
/// let text = "[Animate] float2 moved(float2 p, float time) { return p; }";
/// let hooks = animation_hooks(text);
/// assert_eq!(hooks[0].signature, "float2 moved(float2 p, float time)");
/// assert_eq!(&text[hooks[0].body.clone()], "{ return p; }");
/// ```
pub fn animation_hooks(text: &str) -> Vec<AnimationHook> {
    parsed(text, |file, interner| {
        let hook = |function: &FunctionDef<'_>| {
            let body = function.body.expect("hooks have bodies");
            let written = |span: Span| &text[bytes(span)];
            let result = function.result.map_or("", |result| written(result.span));
            let parameters = function.parameters.iter();
            let parameters: Vec<&str> = parameters.map(|one| written(one.span)).collect();
            let name = interner.name(function.name.symbol);
            AnimationHook {
                name: name.to_owned(),
                signature: format!("{result} {name}({})", parameters.join(", ")),
                body: bytes(body.span),
            }
        };
        ast::animated_functions(file, interner).map(hook).collect()
    })
}

/// Something of the syntax of a source.
fn parsed<T>(text: &str, of: impl FnOnce(&AstFile<'_>, &Interner) -> T) -> T {
    let _mode = FloatEnvironment::enter();
    let (arena, mut interner) = (Bump::new(), Interner::new());
    let (file, _) = adumbra_frontend::parse(&arena, &mut interner, FileId::MAIN, text);
    of(&file, &interner)
}

fn bytes(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const NESTED: &str = "shader s(float x, out float o)
{
    // before
    [EliminateIfUnused]
    {
        o = x;
        [EliminateIfUnused] { o += 1; } // within
    }
    if (x > 0) [EliminateIfUnused] { o = 2; }
    o += 3; [EliminateIfUnused] {}   o += 4;
}
";

    #[test]
    fn blocks_are_numbered_by_first_bytes() {
        let blocks = eliminable_blocks(NESTED);
        let lines = blocks
            .iter()
            .map(|block| NESTED[..block.start].lines().count());
        assert_eq!(lines.collect::<Vec<_>>(), [4, 7, 9, 10]);
        assert!(blocks[0].end > blocks[1].end);
    }

    #[test]
    fn removal_keeps_all_else() {
        let without = without_blocks(NESTED, &[1, 2, 3, 9]);
        let expected = NESTED
            .replace("[EliminateIfUnused] { o += 1; }", "")
            .replace("[EliminateIfUnused] { o = 2; }", "{}")
            .replace("[EliminateIfUnused] {}", "");
        assert_eq!(without, expected);
        assert!(without.contains("// within"));
    }

    #[test]
    fn block_goes_with_those_within() {
        let without = without_blocks(NESTED, &[1, 0]);
        let (head, rest) = NESTED.split_once("    [EliminateIfUnused]\n").unwrap();
        let (_, tail) = rest.split_once("// within\n    }\n").unwrap();
        assert_eq!(without, format!("{head}{tail}"));
        assert!(without.contains("// before\n    if"));
    }

    #[test]
    fn broken_source_loses_nothing() {
        let text = "shader s( { [EliminateIfUnused] {";
        assert_eq!(without_blocks(text, &[7]), text);
    }

    #[test]
    fn hooks_are_functions_and_have_bodies() {
        let text = "[Animate] float a(float x); struct s { float m(float x) { return x; } };
            [Animate] [Differentiable] color paint(color k = color(1), // fitted
                float t) { return k; } float b() { return 1; }";
        let hooks = animation_hooks(text);
        assert_eq!(hooks.len(), 1);
        assert_eq!(hooks[0].name, "paint");
        let signature = "color paint(color k = color(1), float t)";
        assert_eq!(hooks[0].signature, signature);
    }
}
