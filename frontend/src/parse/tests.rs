use super::parse;
use crate::ast::print;
use crate::interner::Interner;
use adumbra_ir::FileId;
use bumpalo::Bump;

/// The tree of a text without errors, printed.
fn printed(text: &str) -> String {
    let arena = Bump::new();
    let mut interner = Interner::new();
    let (file, diagnostics) = parse(&arena, &mut interner, FileId::MAIN, text);
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
    print(&file, &interner)
}

#[test]
fn a_function() {
    assert_eq!(
        printed("int tri(int n) { return n ? n + tri(n-1) : 0; }"),
        "(function int tri ((in int n))\n  (return (?: n (+ n (tri (- n 1))) 0)))\n"
    );
}
