//! Keywords and word operators of other languages, with their replacements.

/// A keyword of another language, and the fix.
type Word = (&'static str, &'static str);

/// Words for operators: between or before operands.
const OPERATORS: &[Word] = &[
    ("and", "write `&&`"),
    ("or", "write `||`"),
    ("not", "write `!`"),
    (
        "xor",
        "write `!=` between booleans, `^` between whole numbers",
    ),
    ("is", "write `==`"),
    ("new", "remove it: a variable is there once it is declared"),
    ("then", "remove it: the body follows the condition's `)`"),
];

/// Words that begin a statement or an item.
const OPENERS: &[Word] = &[
    (
        "let",
        "a declaration starts with its type: `float x = 1.0;`",
    ),
    (
        "var",
        "a declaration starts with its type: `float x = 1.0;`",
    ),
    (
        "auto",
        "a declaration starts with its type: `float x = 1.0;`",
    ),
    (
        "val",
        "a declaration starts with its type: `const float x = 1.0;`",
    ),
    (
        "function",
        "a function starts with the type it returns: `float f(float x) { … }`",
    ),
    (
        "func",
        "a function starts with the type it returns: `float f(float x) { … }`",
    ),
    (
        "fn",
        "a function starts with the type it returns: `float f(float x) { … }`",
    ),
    (
        "def",
        "a function starts with the type it returns: `float f(float x) { … }`",
    ),
    ("elif", "write `else if (…)`"),
    ("elsif", "write `else if (…)`"),
    ("elseif", "write `else if (…)`"),
    (
        "foreach",
        "a loop is written `for (int i = 0; i < n; ++i) …`",
    ),
    (
        "loop",
        "a loop is written `for (int i = 0; i < n; ++i) …` or `while (condition) …`",
    ),
    (
        "uniform",
        "values from the host are read by `global_value<name>`, or are inputs of the shader",
    ),
    (
        "varying",
        "values from the host are read by `global_value<name>`, or are inputs of the shader",
    ),
    (
        "attribute",
        "values from the host are read by `global_value<name>`, or are inputs of the shader",
    ),
    (
        "cbuffer",
        "its members are inputs of the shader, or globals: `global_value<name>`",
    ),
    (
        "tbuffer",
        "its members are inputs of the shader, or globals: `global_value<name>`",
    ),
    ("sampler2D", "a texture is declared by `texture2d name;`"),
    ("surface", "an entry is introduced by `shader`"),
    ("volume", "an entry is introduced by `shader`"),
    ("displacement", "an entry is introduced by `shader`"),
    (
        "static",
        "remove it: file-scope constants are `const float name = 1.0;`",
    ),
    ("inline", "remove it: the compiler decides"),
    (
        "extern",
        "remove it: there are no external functions, every function has its body in the program",
    ),
    ("typedef", "write `typedef float3 name;` at file level"),
    ("enum", "write constants: `const int name = 0;`"),
    (
        "class",
        "write `struct name { … };` and functions beside it",
    ),
    (
        "template",
        "generics do not exist yet: write one overload for each type",
    ),
    (
        "__generic",
        "generics do not exist yet: write one overload for each type",
    ),
    (
        "interface",
        "interfaces do not exist yet: write one overload for each struct",
    ),
    (
        "protocol",
        "interfaces do not exist yet: write one overload for each struct",
    ),
    (
        "trait",
        "interfaces do not exist yet: write one overload for each struct",
    ),
    (
        "associatedtype",
        "interfaces do not exist yet: write one overload for each struct",
    ),
    (
        "property",
        "properties do not exist yet: write a method, `float area() { … }`",
    ),
    (
        "extension",
        "extensions do not exist yet: write the method in its struct, or a function",
    ),
    ("using", "remove it: there are no namespaces"),
    ("namespace", "remove it: there are no namespaces"),
    ("import", "write `#include \"FILE\"`"),
    ("unsigned", "write `uint` for the whole type"),
    ("signed", "write `int` for the whole type"),
    ("long", "write `int` for the whole type: it has 32 bits"),
    ("short", "write `int` for the whole type: it has 32 bits"),
    ("constexpr", "write `const`"),
    ("volatile", "remove it: the compiler decides"),
    (
        "layout",
        "remove it: inputs and outputs are the parameters of the shader",
    ),
    ("goto", "use a loop with `break` and `continue`"),
    (
        "discard",
        "a shader always yields its outputs; give them a value that means nothing is there",
    ),
    ("try", "remove it: there are no exceptions"),
    ("throw", "remove it: there are no exceptions"),
];

/// The fix for `word` as the first word of a declaration, if it is a keyword of another language.
pub(crate) fn foreign_opener_fix(word: &str) -> Option<&'static str> {
    find(OPENERS, word)
}

/// The replacement of a word that is an operator in another language.
pub(super) fn foreign_operator_fix(word: &str) -> Option<&'static str> {
    find(OPERATORS, word)
}

fn find(words: &[Word], word: &str) -> Option<&'static str> {
    words
        .iter()
        .find(|(w, _)| *w == word)
        .map(|(_, help)| *help)
}
