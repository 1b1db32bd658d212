//! `adumbra.hpp`: its claims hold, it defines no macros, and wraps every function of the C API.
//!
//! Structs that do not fit do not compile.

use crate::compilers::{Language, Library, compiler, crate_dir, link, project, scratch};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Functions of the C API that the wrapper does without, each with the reason.
const LEFT_OUT: [(&str, &str); 1] = [(
    "adumbra_status_message",
    "what() of an Error has the sentence of the last error",
)];

/// The files of the wrapper.
fn headers() -> Vec<PathBuf> {
    let include = crate_dir().join("include");
    let parts = fs::read_dir(include.join("adumbra")).expect("the wrapper has parts");
    let parts = parts.map(|entry| entry.expect("the folder can be read").path());
    let mut all: Vec<PathBuf> = parts.collect();
    all.push(include.join("adumbra.hpp"));
    all
}

/// All these files without comments.
fn code() -> String {
    let sources = headers().into_iter().map(|file| {
        let text = fs::read_to_string(file).expect("the header is there");
        let lines = text
            .lines()
            .map(|line| line.split("//").next().unwrap_or_default());
        lines.collect::<Vec<_>>().join("\n")
    });
    sources.collect::<Vec<_>>().join("\n")
}

/// The functions of a header of C or of what uses them, without comments.
fn functions(code: &str) -> BTreeSet<&str> {
    let words = code.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words
        .filter(|word| word.starts_with("adumbra_") && !word.ends_with('_'))
        .collect()
}

#[test]
fn wrapper_calls_every_c_function() {
    let header =
        fs::read_to_string(crate_dir().join("include/adumbra.h")).expect("the header is there");
    let declared: String = header
        .lines()
        .filter(|line| !line.starts_with("///") && !line.starts_with(" *"))
        .collect::<Vec<_>>()
        .join("\n");
    let declared = functions(&declared);
    assert!(declared.len() > 70, "{}", declared.len());
    let wrapper = code();
    let mut used = functions(&wrapper);
    for (function, _) in LEFT_OUT {
        assert!(used.insert(function), "{function} is used after all");
    }
    let forgotten: Vec<_> = declared.difference(&used).collect();
    assert!(forgotten.is_empty(), "wrap these by hand: {forgotten:?}");
}

/// Lines of a header that begin a declaration without a comment that says what it is.
fn undocumented(text: &str) -> Vec<(usize, &str)> {
    let (mut is_public, mut is_detail, mut is_body) = (true, false, false);
    let mut before = "{";
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let (code, indent) = (line.trim(), line.len() - line.trim_start().len());
        match line {
            "namespace detail {" => is_detail = true,
            "} // namespace detail" => is_detail = false,
            "public:" => is_public = true,
            "private:" => is_public = false,
            "{" => is_body = true,
            "}" => is_body = false,
            _ if line.starts_with("class ")
                || (line.starts_with("template ") && line.contains("> class ")) =>
            {
                is_public = false;
            }
            _ if line.starts_with("struct ") || line.contains("> struct ") => is_public = true,
            _ => {}
        }
        let begins = !before.starts_with("///")
            && (before.ends_with([';', '{', '}', ':']) || before.contains(" // namespace"));
        let is_shown = !is_detail && (indent == 0 || indent == 4 && is_public && !is_body);
        // Specialisations, deduction guides, destructors and the like say nothing of their own.
        let says_nothing = [
            "///",
            "//",
            "#",
            "}",
            "{",
            "public:",
            "private:",
            "namespace ",
        ]
        .iter()
        .any(|word| code.starts_with(word))
            || [
                "template <>",
                "static_assert",
                "~",
                ") -> Span<",
                "struct PartOf",
            ]
            .iter()
            .any(|word| code.contains(word));
        if begins && is_shown && !code.is_empty() && !says_nothing {
            found.push((at + 1, code));
        }
        if !code.is_empty() && !code.starts_with('#') {
            before = code;
        }
    }
    found
}

#[test]
fn public_names_are_documented() {
    let mut bare = Vec::new();
    for file in headers() {
        let text = fs::read_to_string(&file).expect("the header is there");
        let lines = undocumented(&text).into_iter();
        bare.extend(lines.map(|(line, code)| format!("{}:{line}: {code}", file.display())));
        assert!(
            text.contains("\n    /// ") || text.contains("\n/// "),
            "{}",
            file.display()
        );
    }
    assert!(bare.is_empty(), "{}", bare.join("\n"));
    let bare = "/// Said.\nclass A {\n    int hidden;\n\npublic:\n    /// Said.\n    int a();\n    int b();\n};\nstruct B {};\n";
    let lines: Vec<usize> = undocumented(bare)
        .into_iter()
        .map(|(line, _)| line)
        .collect();
    assert_eq!(lines, [8, 10]);
}

#[test]
fn wrapper_checks_pass() {
    for library in [Library::Static, Library::Shared] {
        let here = crate_dir().join("tests/c");
        let sources = [here.join("wrapper.cpp"), here.join("wrapper_other.cpp")];
        let sources = sources.each_ref().map(PathBuf::as_path);
        let name = format!("wrapper_{library:?}");
        let folder = scratch(&name);
        let Some(program) = link(Language::Cpp, &sources, &folder, &name, library) else {
            continue;
        };
        let said = Command::new(program).output().expect("the program starts");
        let errors = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success() && errors.is_empty(), "{errors}");
    }
}

/// The macros that are defined after a file; none without a compiler that can list them.
fn macros(include: &str) -> Option<BTreeSet<String>> {
    let compiler = compiler(Language::Cpp)?;
    if compiler.is_like_msvc() {
        println!("skipped: the compiler does not list macros");
        return None;
    }
    let file = scratch("macros").join("macros.cpp");
    fs::write(&file, include).expect("the folder can be written");
    let mut command = compiler.to_command();
    command.args(["-std=c++17", "-dM", "-E", "-I"]);
    let said = command
        .arg(crate_dir().join("include"))
        .arg(&file)
        .output()
        .expect("the compiler starts");
    assert!(said.status.success());
    let text = String::from_utf8(said.stdout).expect("UTF-8");
    let names = text
        .lines()
        .filter_map(|line| line.split([' ', '(']).nth(1));
    Some(names.map(str::to_owned).collect())
}

#[test]
fn wrapper_defines_only_include_guards() {
    let text = code();
    let standard: BTreeSet<&str> = text
        .lines()
        .filter(|line| line.starts_with("#include <"))
        .collect();
    let standard: Vec<&str> = standard.into_iter().collect();
    let before = format!("#include \"adumbra.h\"\n{}\n", standard.join("\n"));
    let Some(before) = macros(&before) else {
        return;
    };
    let after = macros("#include \"adumbra.hpp\"\n").expect("as before");
    let left: Vec<_> = after.difference(&before).collect();
    let guards = headers().len();
    let is_guard = |name: &&&String| name.starts_with("ADUMBRA_") && name.ends_with("_HPP");
    assert_eq!(left.iter().filter(is_guard).count(), guards, "{left:?}");
    assert_eq!(left.len(), guards, "{left:?}");
}

/// A file with a struct of globals, compiled alone: what the compiler says, or nothing if it takes
/// it.
fn refused(members: &str, table: &str) -> Option<String> {
    let compiler = compiler(Language::Cpp)?;
    let file = scratch("fits").join("fits.cpp");
    let text = format!(
        "#include \"adumbra.hpp\"\nstruct Hit {{ {members} }};\ntemplate <> struct adumbra::HostStruct<Hit> {{\n\
         static constexpr AdumbraMember members[] = {{ {table} }};\n}};\nstatic_assert(adumbra::is_globals<Hit>());\n"
    );
    fs::write(&file, text).expect("the folder can be written");
    let mut command = compiler.to_command();
    command.args(Language::Cpp.strict()).arg("-fsyntax-only");
    command
        .arg("-I")
        .arg(crate_dir().join("include"))
        .arg(Path::new(&file));
    let said = command.output().expect("the compiler starts");
    let errors = String::from_utf8_lossy(&said.stderr).into_owned();
    (!said.status.success()).then_some(errors)
}

#[test]
fn mismatched_structs_do_not_compile() {
    if compiler(Language::Cpp).is_none() {
        return;
    }
    let a = "member<decltype(Hit::a)>(\"a\", offsetof(Hit, a))";
    let b = "member<decltype(Hit::b)>(\"b\", offsetof(Hit, b))";
    let both = format!("{a}, {b}");
    let two = "float a[3]; adumbra::Dual<adumbra::Float3> b;";
    assert_eq!(refused(two, &both), None);
    let again = b.replace("\"b\"", "\"a\"");
    for (members, table, expected) in [
        (two, format!("{a}, {again}"), "two members have one name"),
        (
            two,
            format!("{b}, {a}"),
            "without gaps, and fill the struct",
        ),
        (two, a.to_owned(), "without gaps, and fill the struct"),
        (
            "float a[3]; int gap; adumbra::Dual<adumbra::Float3> b;",
            both.clone(),
            "without gaps, and fill the struct",
        ),
        ("double a[3]; float b[3];", both.clone(), "TypeOf<double>"),
        ("float a[4]; float b[3];", both.clone(), "PartOf<float [4]>"),
    ] {
        let said = refused(members, &table).expect("it does not compile");
        let plain = said.replace("float[4]", "float [4]");
        assert!(plain.contains(expected), "{expected}: {said}");
    }
}

#[test]
fn toy_renderer_is_short() {
    let toy = project("examples/capi/toy/toy.cpp");
    let text = fs::read_to_string(toy).expect("the toy is there");
    assert!(text.lines().count() <= 60, "{}", text.lines().count());
    assert!(text.lines().all(|line| line.len() <= 140));
}
