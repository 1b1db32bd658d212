//! C and C++ build against what `capi/install.sh` installs.
//!
//! They use pkg-config and CMake, the static library and the shared one, from a prefix with blanks
//! in it. Parts that need a missing program are skipped, and say so.

use crate::compilers::{Language, Library, compiler, crate_dir, project, scratch};
use crate::examples::{assert_toy_draws, numbers, point};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Whether a program is there; says so if not.
fn is_there(program: &str) -> bool {
    let said = Command::new(program).arg("--version").output();
    let is_there = said.is_ok_and(|said| said.status.success());
    if !is_there {
        println!("skipped: there is no {program}");
    }
    is_there
}

/// Runs a command that has to end well; gives what it prints.
fn run(command: &mut Command) -> String {
    let said = command.output().expect("the command starts");
    assert!(said.status.success(), "{command:?}: {}", all_of(&said));
    String::from_utf8(said.stdout).expect("UTF-8")
}

fn all_of(said: &Output) -> String {
    let outputs = [&said.stdout, &said.stderr];
    outputs.map(|text| String::from_utf8_lossy(text)).join("\n")
}

/// The script, with the libraries that are beside the tests.
fn script(prefix: &Path) -> Option<Command> {
    if cfg!(windows) || !is_there("sh") && !Path::new("/bin/sh").exists() {
        println!("skipped: there is no shell");
        return None;
    }
    let libraries = Library::Static.file()?;
    let mut command = Command::new("sh");
    command.arg(crate_dir().join("install.sh"));
    command.arg("--prefix").arg(prefix);
    command
        .arg("--from")
        .arg(libraries.parent().expect("it is in a folder"));
    command.env_remove("DESTDIR");
    Some(command)
}

/// An empty folder for an installation.
fn empty(name: &str) -> PathBuf {
    let folder = scratch(name);
    fs::remove_dir_all(&folder).expect("the folder is the test's");
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

/// A prefix with blanks in it, installed to; nothing without a shell.
fn installed(name: &str) -> Option<PathBuf> {
    let prefix = empty(name).join("with two blanks");
    run(&mut script(&prefix)?);
    Some(prefix)
}

/// The folders of libraries, for programs that look for the shared one when they start.
const PATHS: [&str; 2] = ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"];

/// The output of pkg-config, as a shell reads it.
fn pkg_config(folder: &Path, arguments: &str) -> String {
    let mut command = Command::new("pkg-config");
    command.args(arguments.split(' '));
    command.env("PKG_CONFIG_PATH", folder);
    run(&mut command).trim().to_owned()
}

#[test]
fn pkg_config_builds_c_and_cpp() {
    let Some(prefix) = installed("pkg_config") else {
        return;
    };
    if !is_there("pkg-config") {
        return;
    }
    let folder = prefix.join("lib/pkgconfig");
    for package in ["adumbra", "adumbra-static"] {
        let version = pkg_config(&folder, &format!("--modversion {package}"));
        assert_eq!(version, env!("CARGO_PKG_VERSION"));
        let said = pkg_config(&folder, &format!("--variable=prefix {package}"));
        assert_eq!(said, prefix.to_str().expect("UTF-8"));
    }
    let sources = [
        (Language::C, "examples/capi/point.c"),
        (Language::Cpp, "examples/capi/toy/toy.cpp"),
    ];
    for (language, source) in sources {
        let Some(compiler) = compiler(language) else {
            continue;
        };
        for package in ["adumbra-static", "adumbra"] {
            let flags = pkg_config(&folder, &format!("--cflags --libs {package}"));
            let program = prefix.join(format!("{language:?}_{package}"));
            // The flags are for a shell, which takes the blanks for what they are.
            let mut command = Command::new("sh");
            let line = format!(
                "\"$1\" {} -ffp-contract=off \"$2\" -o \"$3\" {flags}",
                language.strict().join(" ")
            );
            command.args(["-c", &line, "sh"]);
            command
                .arg(compiler.path())
                .arg(project(source))
                .arg(&program);
            run(&mut command);
            let mut started = Command::new(&program);
            for path in PATHS {
                started.env(path, prefix.join("lib"));
            }
            match language {
                Language::C => assert_eq!(numbers(&run(&mut started)), point()),
                Language::Cpp => assert_toy_draws(started, &prefix.join("toy.ppm")),
            }
            // One of them looks for the shared library, by its name alone.
            let mut alone = Command::new(&program);
            for path in PATHS {
                alone.env_remove(path);
            }
            let ends_well = alone.arg(prefix.join("alone")).output().expect("it starts");
            assert_eq!(
                ends_well.status.success(),
                package == "adumbra-static",
                "{}",
                all_of(&ends_well)
            );
        }
    }
}

/// Configures and builds a project against a prefix.
fn cmake(project: &Path, build: &Path, prefix: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new("cmake");
    command.arg("-S").arg(project).arg("-B").arg(build);
    command.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()));
    command.args(arguments);
    let said = command.output().expect("cmake starts");
    if !said.status.success() {
        return said;
    }
    let mut command = Command::new("cmake");
    command.arg("--build").arg(build);
    command.output().expect("cmake starts")
}

#[test]
fn cmake_builds_examples_against_both_libraries() {
    let Some(prefix) = installed("cmake") else {
        return;
    };
    if !is_there("cmake") || compiler(Language::Cpp).is_none() || compiler(Language::C).is_none() {
        return;
    }
    // Nothing in the files says where it was installed.
    let moved = prefix.with_file_name("moved elsewhere");
    fs::rename(&prefix, &moved).expect("the folder can be moved");
    let exact = "-DCMAKE_CXX_FLAGS=-ffp-contract=off -Wall -Wextra -pedantic -Werror";
    for shared in ["OFF", "ON"] {
        let build = moved.join(format!("toy {shared}"));
        let option = format!("-DBUILD_SHARED_LIBS={shared}");
        let said = cmake(
            &project("examples/capi/toy"),
            &build,
            &moved,
            &[exact, &option],
        );
        assert!(said.status.success(), "{}", all_of(&said));
        assert_toy_draws(Command::new(build.join("toy")), &build.join("toy.ppm"));
    }

    let version = env!("CARGO_PKG_VERSION");
    let folder = moved.join("point");
    fs::create_dir_all(&folder).expect("the folder can be made");
    let text = format!(
        "cmake_minimum_required(VERSION 3.12)\nproject(point C)\nfind_package(adumbra {version} EXACT REQUIRED)\n\
         foreach(kind static shared)\nadd_executable(point_${{kind}} \"{}\")\n\
         target_link_libraries(point_${{kind}} PRIVATE adumbra::${{kind}})\nendforeach()\n\
         message(STATUS \"version ${{adumbra_VERSION}}\")\n",
        project("examples/capi/point.c").display()
    );
    fs::write(folder.join("CMakeLists.txt"), text).expect("the folder can be written");
    let said = cmake(&folder, &folder.join("build"), &moved, &[]);
    assert!(said.status.success(), "{}", all_of(&said));
    for kind in ["static", "shared"] {
        let program = folder.join("build").join(format!("point_{kind}"));
        assert_eq!(numbers(&run(&mut Command::new(program))), point());
    }

    // Versions that it does not serve are not found.
    let (major, minor) = (
        env!("CARGO_PKG_VERSION_MAJOR"),
        env!("CARGO_PKG_VERSION_MINOR"),
    );
    let next = minor.parse::<u32>().expect("a number") + 1;
    for (asked, is_found) in [
        (format!("{major}.{minor}"), true),
        (format!("{major}.0"), true),
        (format!("{major}.{next}"), false),
        (
            format!("{}.0", major.parse::<u32>().expect("a number") + 1),
            false,
        ),
    ] {
        let asks = moved.join("asks");
        fs::create_dir_all(&asks).expect("the folder can be made");
        let text = format!(
            "cmake_minimum_required(VERSION 3.12)\nproject(asks NONE)\nfind_package(adumbra {asked} REQUIRED)\n"
        );
        fs::write(asks.join("CMakeLists.txt"), text).expect("the folder can be written");
        let said = cmake(&asks, &asks.join("build"), &moved, &[]);
        assert_eq!(
            said.status.success(),
            is_found,
            "{asked}: {}",
            all_of(&said)
        );
    }
}

#[test]
fn destdir_stages_packages() {
    let stage = empty("staged").join("stage of a package");
    let Some(mut script) = script(Path::new("/opt/adumbra")) else {
        return;
    };
    run(script
        .env("DESTDIR", &stage)
        .args(["--libdir", "lib/some-linux"]));
    let prefix = stage.join("opt/adumbra");
    let lib = prefix.join("lib/some-linux");
    for file in [
        "include/adumbra.h",
        "include/adumbra.hpp",
        "include/adumbra/values.hpp",
    ] {
        let staged = fs::read(prefix.join(file)).expect("a header is staged");
        assert!(staged == fs::read(crate_dir().join(file)).expect("the header is there"));
    }
    let parts = |folder: &Path| fs::read_dir(folder).expect("a folder").count();
    assert_eq!(
        parts(&prefix.join("include/adumbra")),
        parts(&crate_dir().join("include/adumbra"))
    );
    assert!(lib.join("libadumbra_capi.a").exists());
    let mut outputs = Vec::new();
    for file in [
        "pkgconfig/adumbra.pc",
        "pkgconfig/adumbra-static.pc",
        "cmake/adumbra/adumbraConfig.cmake",
        "cmake/adumbra/adumbraConfigVersion.cmake",
    ] {
        outputs.push(fs::read_to_string(lib.join(file)).expect("a file for builds"));
    }
    for text in &outputs {
        let filled = text.split('@').all(|word| {
            word.is_empty() || !word.chars().all(|c| c.is_ascii_uppercase() || c == '_')
        });
        assert!(filled && !text.contains("stage of a package"), "{text}");
    }
    assert!(
        outputs[0].starts_with("prefix=/opt/adumbra\nlibdir=${prefix}/lib/some-linux\n"),
        "{}",
        outputs[0]
    );
    let version = env!("CARGO_PKG_VERSION");
    assert!(outputs[0].contains(&format!("\nVersion: {version}\n")));
    assert!(outputs[1].contains(&format!("\nVersion: {version}\n")));
    assert!(outputs[3].contains(&format!("set(PACKAGE_VERSION \"{version}\")")));

    if is_there("cmake") {
        // The prefix is three folders above the CMake files in most installations, and four here.
        let asks = empty("staged_asks");
        let text = format!(
            "cmake_minimum_required(VERSION 3.12)\nproject(asks NONE)\nfind_package(adumbra REQUIRED PATHS \"{}\" NO_DEFAULT_PATH)\n\
             get_target_property(where adumbra::static INTERFACE_INCLUDE_DIRECTORIES)\n\
             if(NOT EXISTS \"${{where}}/adumbra.hpp\")\nmessage(FATAL_ERROR \"${{where}}\")\nendif()\n",
            lib.join("cmake/adumbra").display()
        );
        fs::write(asks.join("CMakeLists.txt"), text).expect("the folder can be written");
        let said = cmake(&asks, &asks.join("build"), &asks, &[]);
        assert!(said.status.success(), "{}", all_of(&said));
    }
}

#[test]
fn install_script_refuses_bad_arguments() {
    let folder = empty("refused");
    let Some(_) = script(&folder) else {
        return;
    };
    let nowhere = folder.join("nowhere");
    fs::create_dir_all(&nowhere).expect("the folder can be made");
    let nowhere = nowhere.to_str().expect("UTF-8");
    let quoted = folder.join("a\"b").to_str().expect("UTF-8").to_owned();
    let prefix = folder.to_str().expect("UTF-8");
    for (arguments, says) in [
        (&["--prefix", "relative/path"][..], "absolute"),
        (&["--prefix"], "--prefix needs a value"),
        (
            &["--prefix", &quoted, "--from", nowhere],
            "cannot have any of",
        ),
        (&["--frob"], "there is no option --frob"),
        (
            &["--prefix", prefix, "--libdir", "../lib"],
            "below the prefix",
        ),
        (&["--prefix", prefix, "--from", nowhere], "there is neither"),
    ] {
        let mut script = Command::new("sh");
        script.arg(crate_dir().join("install.sh")).args(arguments);
        let said = script.output().expect("the script starts");
        assert_eq!(said.status.code(), Some(2), "{arguments:?}");
        assert!(all_of(&said).contains(says), "{says}: {}", all_of(&said));
    }
    assert!(!folder.join("include").exists(), "nothing was done");
    let help = run(Command::new("sh")
        .arg(crate_dir().join("install.sh"))
        .arg("--help"));
    for option in [
        "--prefix", "--libdir", "--target", "--from", "--strip", "DESTDIR",
    ] {
        assert!(help.contains(option), "{option}: {help}");
    }
    assert!(!help.contains('#') && !help.contains("set -eu"), "{help}");
}
