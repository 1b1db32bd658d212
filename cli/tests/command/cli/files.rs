//! Files: includes, names of sources, and the shader that a command chooses.

use super::*;
use std::path::{Path, PathBuf};

/// A folder for the files of a test.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).expect("the directory for tests can be written to");
    path
}

#[test]
fn files_include_files_beside_them() {
    let half = scratch(
        "include_half.adu",
        "#include \"include_two.adu\"\nfloat half(float x) { return x / TWO; }",
    );
    scratch("include_two.adu", "const float TWO = 2.0;");
    let main = scratch(
        "include_main.adu",
        "#include \"include_half.adu\"\n#include \"include_two.adu\"\nshader s(out float o) { o = half(3.0) * TWO; }",
    );
    let json = json_of(&adumbra(["run", &main, "--json"]));
    assert_eq!(json["outputs"]["o"]["value"], 3.0);
    let json = json_of(&adumbra(["eval", "half(1.0)", "--with", &half, "--json"]));
    assert_eq!(json["value"], 0.5);
    scratch("include_wrong.adu", "float wrong() { return nothing; }");
    let wrong = scratch(
        "include_of_wrong.adu",
        "#include \"include_wrong.adu\"\nshader s() {}",
    );
    let diagnostic = json_of(&adumbra(["check", &wrong, "--json"]));
    assert!(
        diagnostic["file"]
            .as_str()
            .unwrap()
            .ends_with("include_wrong.adu"),
        "{diagnostic}"
    );
    let missing = scratch(
        "include_missing.adu",
        "\n#include \"no_such_file.adu\"\nshader s() {}",
    );
    let diagnostic = json_of(&adumbra(["check", &missing, "--json"]));
    assert_eq!(
        (&diagnostic["code"], &diagnostic["span"]["line"]),
        (&json!("E0112"), &json!(2))
    );
    let absolute = scratch(
        "include_absolute.adu",
        "#include \"/etc/passwd\"\nshader s() {}",
    );
    assert_eq!(
        json_of(&adumbra(["check", &absolute, "--json"]))["code"],
        "E0112"
    );
}

#[test]
fn included_dash_is_a_file() {
    let folder = folder("dash");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
    write(
        "main.adu",
        "#include \"-\"\nshader s(out int o) { o = WHICH; }",
    );
    write(
        "unit.json",
        r#"{"units": {"a": {"source": "-"}}, "outputs": {"o": "a.o"}}"#,
    );
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_adumbra"));
        let child = start(command.arg("run").args(args).current_dir(&folder));
        finish(child, "const int WHICH = 2; shader t(out int o) { o = 2; }")
    };
    for args in [&["main.adu"][..], &["--group", "unit.json"]] {
        write("-", "const int WHICH = 1; shader u(out int o) { o = 1; }");
        let ran = run(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "o  1\n"), "{ran:?}");
        std::fs::remove_file(folder.join("-")).expect("it is there");
        let ran = run(args);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(
            ran.stderr.contains("`-`") && ran.stderr.contains("Help: "),
            "{ran:?}"
        );
    }
    // On the command line it is standard input.
    assert_eq!(run(&["-"]).stdout, "o  2\n");
}

#[test]
fn spellings_of_an_include_are_one_source() {
    let folder = folder("spellings");
    let path = |name: &str| folder.join(name).display().to_string();
    std::fs::create_dir_all(folder.join("sub")).expect("a folder can be made");
    for (name, text) in [
        (
            "sub/lib.adu",
            "#include \"../twice.adu\"\nfloat lib(float x) { return twice(x); }",
        ),
        ("twice.adu", "float twice(float x) { return 2 * x; }"),
        (
            "main.adu",
            "#include \"sub/lib.adu\"\n#include \"./sub/lib.adu\"\n#include \"sub/../sub/lib.adu\"\n#include \"./twice.adu\"\n\
             shader t(out float o) { o = lib(2); }",
        ),
    ] {
        std::fs::write(folder.join(name), text).expect("a file can be written");
    }
    let folder_name = folder
        .file_name()
        .and_then(|name| name.to_str())
        .expect("a name");
    for main in [
        path("main.adu"),
        path("./sub/../main.adu"),
        path(&format!("../{folder_name}/main.adu")),
    ] {
        let ran = adumbra(["run", &main]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "o  4.0\n"), "{ran:?}");
    }
    let (lib, same) = (path("sub/lib.adu"), path("./sub/../sub/lib.adu"));
    let ran = adumbra(["eval", "lib(2)", "--with", &lib, "--with", &same, "--json"]);
    assert_eq!(json_of(&ran)["value"], 4.0, "{ran:?}");
    let typed = format!(":load {same}\nlib(2)");
    let ran = adumbra_with_input(["--with", &lib], &typed);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
}

#[test]
fn included_shader_is_not_the_default() {
    let folder = folder("own_shader");
    let path = |name: &str| folder.join(name).display().to_string();
    std::fs::write(folder.join("a.adu"), "shader a(out int o) { o = 1; }").expect("can be written");
    let text = "#include \"a.adu\"\nshader b(out int o) { o = 2; }";
    std::fs::write(folder.join("b.adu"), text).expect("can be written");
    assert_eq!(adumbra(["run", &path("b.adu")]).stdout, "o  2\n");
    assert_eq!(
        adumbra(["run", &path("b.adu"), "--shader", "a"]).stdout,
        "o  1\n"
    );
    std::fs::write(folder.join("c.adu"), "#include \"b.adu\"").expect("can be written");
    let ran = adumbra(["run", &path("c.adu")]);
    assert!(ran.stderr.contains("E0208"), "{ran:?}");
}

/// An output replaces neither an input nor another output.
#[test]
fn outputs_never_replace_inputs() {
    let text = "shader s(out float o) { o = 1; }";
    let file = scratch("kept.adu", text);
    let other = scratch("kept.o", "");
    let refused = |arguments: &[&str], why: &str| {
        let ran = adumbra(arguments.iter().copied());
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains(why), "{ran:?}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    };
    let read = "is read, and would be written over";
    refused(&["aot", &file, "-o", &file], read);
    refused(&["aot", &file, "-o", &other, "--header", &file], read);
    refused(&["emit", &file, "--stage", "ir", "-o", &file], read);
    let twice = "would be written twice";
    refused(&["aot", &file, "-o", &other, "--header", &other], twice);
    let new = scratch("kept.h", "");
    std::fs::remove_file(&new).unwrap();
    refused(&["aot", &file, "-o", &new, "--header", &new], twice);
    #[cfg(unix)]
    assert_eq!(
        adumbra(["aot", &file, "-o", "/dev/null", "--header", "/dev/null"]).code,
        0
    );
    let image = scratch("kept.png", "");
    let texture = format!("wood={image}");
    let ran = adumbra(["image", &file, "--texture", &texture, "-o", &image]);
    assert!(ran.code == 2 && ran.stderr.contains(read), "{ran:?}");
}
