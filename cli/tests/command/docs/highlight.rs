//! The book highlights `adu` blocks by `docs/highlight/adu.js`: the keyword table for highlight.js.

use super::{blesses, folder, page};
use adumbra_frontend::{check::predeclared_type_names, token_kind::TokenKind};

/// The definition, made from the keyword table.
fn definition() -> String {
    let written = |is_meant: &dyn Fn(&TokenKind) -> bool| -> String {
        let meant = TokenKind::KEYWORDS.iter().filter(|kind| is_meant(kind));
        meant.map(|kind| kind.text()).collect::<Vec<_>>().join(" ")
    };
    let is_type = |kind: &TokenKind| kind.type_keyword().is_some();
    let is_literal = |kind: &TokenKind| matches!(kind, TokenKind::True | TokenKind::False);
    let types = written(&is_type);
    let built_in = written(&|kind| kind.takes_name());
    let literals = written(&is_literal);
    let keywords = written(&|kind| !is_type(kind) && !kind.takes_name() && !is_literal(kind));
    let aliases = predeclared_type_names().collect::<Vec<_>>().join(" ");
    format!(
        r#"// Highlights `adu` blocks. Made from the keyword table in `frontend/src/token_kind.rs`:
// `ADUMBRA_BLESS=1 cargo test -p adumbra-cli --test command docs::highlight` writes it.
hljs.registerLanguage("adu", (hljs) => ({{
  keywords: {{
    keyword: "{keywords}",
    type: "{types} {aliases}",
    built_in: "{built_in}",
    literal: "{literals}",
  }},
  contains: [
    hljs.C_LINE_COMMENT_MODE,
    hljs.C_BLOCK_COMMENT_MODE,
    hljs.QUOTE_STRING_MODE,
    {{ className: "number", begin: /\b0x[0-9a-fA-F]+|(\b\d+\.?\d*|\B\.\d+)([eE][-+]?\d+)?[fFuU]?/ }},
    {{ className: "meta", begin: /#include\b/ }},
  ],
}}));

// The page's script has run before this one, without the language.
for (const block of document.querySelectorAll("code.language-adu")) {{
  hljs.highlightBlock(block);
}}
"#
    )
}

#[test]
fn highlighting_is_the_keyword_table() {
    let path = folder().join("highlight/adu.js");
    let mut now = std::fs::read_to_string(&path).unwrap_or_default();
    let then = definition();
    if blesses() && now != then {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be made");
        std::fs::write(path, &then).expect("the definition can be written");
        now.clone_from(&then);
    }
    assert_eq!(page::difference("highlight/adu.js", &now, &then), None);
}
