//! What is refused before a fit begins.

use super::*;

#[test]
fn misused_fits_are_refused() {
    let folder = folder();
    let target = path(&folder, "t.png");
    for (name, args, why) in [
        ("a.png", &[][..], "does not end in .adu"),
        ("none/a.adu", &[], "there is no folder"),
        ("disc.adu", &[], "is read, and would be written over"),
        ("t.adu", &[], "t.png is read, and would be written over"),
        ("a.adu", &["--engine", "point"], "`--engine batch`"),
        (
            "a.adu",
            &["--target", "none.png@time=1"],
            "values of one global",
        ),
        ("a.adu", &["--target", "none.png"], "cannot read none.png"),
        (
            "a.adu",
            &["--arg", "radios=2"],
            "there is no input `radios`",
        ),
        ("a.adu", &["--resume"], "--checkpoint"),
        ("a.adu", &["--time-limit", "0"], "greater than 0"),
        ("a.adu", &["--accept", "-1"], "a loss is a number from 0 on"),
        ("a.adu", &["--restarts", "-1"], "a whole number from 1"),
        ("a.adu", &["--frames", "0"], "images can be drawn"),
        (".adu", &[], "has no name before its ending"),
    ] {
        let said = refused(&folder, name, args);
        assert!(said.contains(why), "{said}");
    }
    let of = |source: &str| {
        let (shader, out) = (path(&folder, "s.adu"), path(&folder, "out.adu"));
        fs::write(&shader, source).unwrap();
        let ran = adumbra(["fit", &shader, "--target", &target, "-o", &out]);
        assert_eq!(ran.code, 2, "{ran:?}");
        ran.stderr
    };
    for (inputs, why) in [
        ("int n", "there is nothing to fit"),
        ("float x <<< keep >>>", "there is nothing to fit"),
        (
            "float x <<< min = 2, max = 1 >>>",
            "the first below the second",
        ),
        ("float x <<< range = -1 >>>", "`range` of the input `x`"),
        ("int n <<< fit >>>", "cannot be fitted"),
    ] {
        let said = of(&format!(
            "shader s({inputs}, out color c) {{ c = color(0, 0, 0); }}"
        ));
        assert!(said.contains(why), "{said}");
    }
    let said = of("shader s(float x, out int c) { c = (int)x; }");
    assert!(said.contains("`c` is no color"), "{said}");
}
