//! Refused images, and that nothing remains of them.

use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

const FINE: &str = "texture2d wood; shader s(float gain = 1, out float o, out closure surface) { o = gain * texture2d_sample<wood>(global_value<uv>).x; surface = o * make_closure<glow>(); }";

/// The message for a shader that cannot be drawn; nothing is written.
fn refused(text: &str, args: &str, code: i32) -> String {
    // A name for each, since tests run side by side.
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let (ran, file) = draw(&format!("refused_{number}.png"), text, args);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (code, ""),
        "{args}: {}",
        ran.stderr
    );
    assert_eq!(listing(file.parent().expect("a folder")), [""; 0], "{args}");
    ran.stderr
}

#[test]
fn sizes_are_checked() {
    for size in [
        "0x4",
        "4x0",
        "-4x4",
        "4",
        "x",
        "4x4x4",
        "1e3x1",
        "1000000000x1000000000",
        "33554433x1",
        "99999999999999999999x1",
    ] {
        let said = refused(FINE, &format!("--size={size}"), 2);
        assert!(said.contains(size), "{said}");
    }
    assert!(refused(FINE, "--size 8193x4097", 2).contains("more than 33554432 pixels"));
}

#[test]
fn options_are_checked() {
    for (args, expected) in [
        ("--view depth", "possible values"),
        ("--threads 0", "1 to 256 threads"),
        ("--threads 257", "1 to 256 threads"),
        ("--scale 0", "greater than 0"),
        ("--scale nan", "greater than 0"),
        ("--time 1 -g time=2", "given twice"),
        (
            "--derivatives quad-fine --coarse upper-left",
            "which neighbours `--derivatives quad-coarse` takes",
        ),
        ("--arg gains=2", "only `gain`"),
        ("--output x", "no output `x` can be shown, only `o`"),
        ("--output surface", "`surface` is of type `closure`"),
        ("--texture wood", "there is no `=`"),
        (
            "--texture wool=a.png",
            "there is no texture `wool`, only `wood`",
        ),
        (
            "--texture wood=no_such.png",
            "cannot read the texture no_such.png",
        ),
        ("--texture wood=src", "it is not a file"),
        ("--texture wood=Cargo.toml", "no PNG, EXR or JPEG file"),
        ("--shader t", "t"),
    ] {
        let (ran, _) = draw("options.png", FINE, args);
        assert_eq!(ran.code, 2, "{args}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{args}: {}", ran.stderr);
    }
}

#[test]
fn missing_outputs_are_reported() {
    let said = refused("shader s(float x) { }", "", 2);
    assert!(
        said.contains("no output can be shown: the shader has none"),
        "{said}"
    );
    let said = refused(
        "shader s(out float3x3 m, out closure k) { m = float3x3(1); k = make_closure<a>(); }",
        "",
        2,
    );
    assert!(
        said.contains("`m` is of type `float3x3`, `k` is of type `closure`"),
        "{said}"
    );
}

#[test]
fn shader_errors_are_reported_by_image() {
    let said = refused("shader s(out float o) { o = nothing; }", "", 1);
    assert!(said.contains("E0") && said.contains("nothing"), "{said}");
    let said = refused(
        "shader s(out float o) { o = global_value<position>.x; }",
        "",
        1,
    );
    assert!(said.contains("position"), "{said}");
}

#[test]
fn image_format_follows_the_file_ending() {
    let source = scratch("image_file.adu", FINE);
    let folder = place("file");
    let to = |name: &str| {
        let out = folder.join(name);
        adumbra([
            "image",
            &source,
            "--size",
            "4x4",
            "-o",
            out.to_str().expect("text"),
        ])
    };
    for name in ["a.jpg", "a", "png", ".png"] {
        let ran = to(name);
        assert_eq!(ran.code, 2);
        assert!(
            ran.stderr.contains("ends neither in .png nor in .exr"),
            "{}",
            ran.stderr
        );
    }
    std::fs::create_dir(folder.join("folder.png")).expect("a folder");
    assert!(to("folder.png").stderr.contains("is not a file"));
    let ran = to("no/such/folder.png");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("cannot write"), "{}", ran.stderr);
    assert_eq!(to("good.PNG").code, 0);
    assert_eq!(to("good.exr").code, 0);
    assert_eq!(listing(&folder), ["folder.png", "good.PNG", "good.exr"]);
    let ran = adumbra(["image", &source]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("-o"), "{}", ran.stderr);
}

#[test]
fn failed_drawing_keeps_the_old_image() {
    let (ran, file) = draw("last.png", FINE, "--size 4x4");
    assert_eq!(ran.code, 0);
    let before = std::fs::read(&file).expect("an image");
    let source = scratch("image_last.adu", "shader s(out float o) { o = ; }");
    let ran = adumbra(["image", &source, "-o", file.to_str().expect("text")]);
    assert_eq!(ran.code, 1);
    assert_eq!(std::fs::read(&file).expect("an image"), before);
    assert_eq!(listing(file.parent().expect("a folder")), ["last.png"]);
}

#[test]
fn hidden_outputs_give_no_derivative_warning() {
    let text = "shader s(out float o, out float slope) { o = global_value<uv>.x; slope = ddx(o); }";
    let said = |args: &str| {
        let (ran, _) = draw("second.png", text, args);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stderr
    };
    assert_eq!(said("--size 4x4 --view ddx"), "");
    assert!(said("--size 4x4 --view ddx --output slope").contains("[W0512]"));
}
