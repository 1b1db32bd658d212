//! `aot` writes object files and headers for every system's linker. The tests of `capi` link and
//! run them.

use super::*;

const TARGETS: [(&str, &[u8]); 6] = [
    ("x86_64-linux", b"\x7fELF"),
    ("x86_64-macos", b"\xcf\xfa\xed\xfe\x07\x00\x00\x01"),
    ("x86_64-windows", b"\x64\x86"),
    ("aarch64-linux", b"\x7fELF"),
    ("aarch64-macos", b"\xcf\xfa\xed\xfe\x0c\x00\x00\x01"),
    ("aarch64-windows", b"\x64\xaa"),
];

fn holds(bytes: &[u8], part: &str) -> bool {
    let mut windows = bytes.windows(part.len());
    windows.any(|window| window == part.as_bytes())
}

#[test]
fn objects_are_made_for_every_system() {
    let file = example("aot/ripple.adu");
    for (target, begin) in TARGETS {
        let out = scratch(&format!("{target}.o"), "");
        let globals = ["-g", "uv=0,0", "-g", "time=0"];
        let aot = [
            "aot", &file, "--target", target, "--same", "time", "-o", &out,
        ];
        let ran = adumbra(aot.into_iter().chain(globals));
        assert_eq!(ran.code, 0, "{target}: {ran:?}");
        let bytes = std::fs::read(&out).unwrap();
        assert!(bytes.starts_with(begin), "{target}: {:x?}", &bytes[..16]);
        assert!(holds(&bytes, "adumbra_object_ripple"), "{target}");
        for variant in 0..2 {
            let kernel = format!("ripple.{variant}.kernel0");
            assert!(holds(&bytes, &kernel), "{target}: {kernel}");
        }
    }
}

#[test]
fn several_shaders_share_object_and_header() {
    let both = scratch(
        "both.adu",
        "shader half(float x, out float o) { o = 0.5 * x; } shader twice(float x, out float o) { o = 2 * x; }",
    );
    let none = scratch("none.adu", "shader none() {}");
    let [out, header] = ["several.o", "several.h"].map(|name| scratch(name, ""));
    let of_one = ["--shader", "half", "--shader", "twice"];
    let ran = adumbra(
        ["aot", &both, "-o", &out, "--header", &header]
            .into_iter()
            .chain(of_one),
    );
    assert_eq!((ran.code, &*ran.stdout), (0, ""), "{ran:?}");
    let text = std::fs::read_to_string(&header).unwrap();
    for name in ["half", "twice"] {
        let variable = format!("extern const AdumbraObjectShader adumbra_object_{name};");
        assert!(text.contains(&variable), "{text}");
        let object = std::fs::read(&out).unwrap();
        assert!(holds(&object, &format!("adumbra_object_{name}")));
    }
    let half = scratch("half.adb", "");
    let emit = [
        "emit", &both, "--shader", "half", "--stage", "bytecode", "-o", &half,
    ];
    assert_eq!(adumbra(emit).code, 0);
    let ran = adumbra(["aot", &half, &none, "-o", &out, "--header", &header]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let text = std::fs::read_to_string(&header).unwrap();
    assert!(text.contains("half_outputs") && text.contains("adumbra_object_none"));
    let twice = adumbra(["aot", &half, &half, "-o", &out]);
    assert_eq!(twice.code, 2, "{twice:?}");
    assert!(
        twice.stderr.contains("the shader `half` is there twice"),
        "{twice:?}"
    );
}

#[test]
fn unsupported_targets_are_refused_by_name() {
    let file = example("aot/ripple.adu");
    let out = scratch("refused.o", "");
    let aot = |more: &[&str]| {
        let globals = ["-g", "uv=0,0", "-g", "time=0"];
        let all = ["aot", &file, "-o", &out].into_iter().chain(globals);
        adumbra(all.chain(more.iter().copied()))
    };
    for (more, words) in [
        (&["--target", "riscv64-linux"][..], "`riscv64-linux`"),
        (&["--same", "tim"], "`tim`"),
        (&[&*file, "--shader", "ripple"], "--shader"),
        (
            &["--header", "/nowhere/at/all.h"],
            "cannot write /nowhere/at/all.h",
        ),
    ] {
        let ran = aot(more);
        assert_eq!(ran.code, 2, "{more:?}: {ran:?}");
        assert!(ran.stderr.contains(words), "{more:?}: {ran:?}");
        let object = std::fs::read(&out).unwrap();
        assert!(object.is_empty(), "{more:?}: no object without its header");
    }
    let unknown = aot(&["--shader", "rippel"]);
    assert_eq!(unknown.code, 2, "{unknown:?}");
    assert!(unknown.stderr.contains("rippel"), "{unknown:?}");
}
