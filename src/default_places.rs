//! The places in a source where the defaults of a shader's inputs are written.

use adumbra_frontend::Interner;
use adumbra_frontend::ast::{FunctionDef, ItemKind, ParamDecl, ParamDirection};
use adumbra_ir::{FileId, Span};
use adumbra_vm::FloatEnvironment;
use bumpalo::Bump;
use std::ops::Range;

/// The place of an input's default in the source of its shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultPlace {
    /// The name of the input.
    pub input: String,
    /// The bytes of its type as written, without dimensions after the name.
    pub ty: Range<usize>,
    /// The bytes of the default. Without one they are empty, and lie where ` = ` and a default
    /// would be.
    pub default: Range<usize>,
}

/// The places of the defaults of a shader's inputs in its source, in order; none if the source has
/// no such shader. So a program can write other defaults, and keep all else.
///
/// ```
/// use adumbra::sources::default_places;
/// let text = "shader s(float a = 2.0, float b, out float o) { o = a * b; }";
/// let places = default_places(text, "s");
/// assert_eq!(&text[places[0].default.clone()], "2.0");
/// assert_eq!((places[1].input.as_str(), places[1].default.clone()), ("b", 31..31));
/// ```
pub fn default_places(text: &str, shader: &str) -> Vec<DefaultPlace> {
    let _mode = FloatEnvironment::enter();
    let (arena, mut interner) = (Bump::new(), Interner::new());
    let (file, _) = adumbra_frontend::parse(&arena, &mut interner, FileId::MAIN, text);
    let is_wanted = |function: &&FunctionDef<'_>| {
        function.is_shader() && interner.name(function.name.symbol) == shader
    };
    let mut functions = file.items.iter().filter_map(|item| match item.kind {
        ItemKind::Function(function) => Some(function),
        _ => None,
    });
    let found = functions.find(is_wanted);
    let parameters = found.map_or(&[][..], |function| function.parameters);
    let inputs = parameters
        .iter()
        .filter(|parameter| parameter.direction != ParamDirection::Out);
    let place = |parameter: &ParamDecl<'_>| DefaultPlace {
        input: interner.name(parameter.declarator.name.symbol).to_owned(),
        ty: bytes(parameter.ty.span),
        default: default_bytes(parameter),
    };
    inputs.map(place).collect()
}

fn default_bytes(parameter: &ParamDecl<'_>) -> Range<usize> {
    let declarator = &parameter.declarator;
    if let Some(default) = declarator.init {
        return bytes(default.span);
    }
    let last = declarator.dimensions.last();
    let end = bytes(last.map_or(declarator.name.span, |last| last.span)).end;
    end..end
}

fn bytes(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_named_shader() {
        let text = "shader a(float x = 1, out float o) { o = x; }
            /* a comment */ shader b(color k = color(1, /* one */ 2, 3) <<< keep >>>,
                float w[2] <<< min = 0 >>>, out float o, float y = -0.5) { o = y; }";
        let places = default_places(text, "b");
        let names: Vec<&str> = places.iter().map(|place| place.input.as_str()).collect();
        assert_eq!(names, ["k", "w", "y"]);
        let written = |bytes: &Range<usize>| &text[bytes.clone()];
        assert_eq!(written(&places[0].default), "color(1, /* one */ 2, 3)");
        assert_eq!(written(&places[0].ty), "color");
        assert!(text[..places[1].default.start].ends_with("w[2]"));
        assert_eq!(written(&places[2].default), "-0.5");
        assert!(default_places(text, "c").is_empty());
    }
}
