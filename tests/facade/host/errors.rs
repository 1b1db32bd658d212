//! Messages of the facade's errors that are not formatted as reports.

use adumbra::{Compiler, GlobalsLayout, Sources};

#[test]
fn error_of_main_prints_its_report() {
    let text = "shader half(float x, out float y) { y = x / 2 }";
    let compiled = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("half.adu", text));
    // What the standard library prints of an error that `main` returns.
    let printed = format!("Error: {:?}", compiled.unwrap_err());
    for part in ["[E0105]", "half.adu:1:", "y = x / 2 }", "Help: "] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    assert!(!printed.contains('\u{1b}'), "no colour");
}
