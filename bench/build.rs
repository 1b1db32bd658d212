//! Builds the C limit with every C compiler found, and turns `data/w4.txt` into C and into a shader.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// One statement of W4: op, destination, operands.
type Statement<'a> = (&'a str, &'a str, &'a str, &'a str);

fn main() {
    println!("cargo::rerun-if-changed=c");
    println!("cargo::rerun-if-changed=data");
    println!("cargo::rustc-check-cfg=cfg(c_limit, values(\"gcc\", \"clang\"))");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let text = fs::read_to_string("data/w4.txt").expect("data/w4.txt is part of the repository");
    let statements: Vec<Statement<'_>> = text
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            (words[0], words[1], words[2], words[3])
        })
        .collect();
    write(&out.join("w4_value.inc"), &statements, c_value);
    write(&out.join("w4_dual.inc"), &statements, c_dual);
    write(&out.join("w4_first50.inc"), &statements[..50], c_dual);
    write(&out.join("w4_body.adu"), &statements, shader_line);

    for compiler in ["gcc", "clang"] {
        if Command::new(compiler).arg("--version").output().is_ok() {
            for maths in ["cheap", "equal"] {
                build(compiler, maths, &out);
            }
            println!("cargo::rustc-cfg=c_limit=\"{compiler}\"");
        }
    }
}

fn write(path: &Path, statements: &[Statement<'_>], line: fn(Statement<'_>) -> String) {
    let mut text = String::new();
    for &statement in statements {
        writeln!(text, "{}", line(statement)).expect("writing to a string");
    }
    fs::write(path, text).expect("OUT_DIR can be written");
}

/// The fastest flags for each set: the equal-accuracy algorithms rely on the order of their operations.
fn build(compiler: &str, maths: &str, out: &Path) {
    let mut build = cc::Build::new();
    build
        .compiler(compiler)
        .file("c/limit.c")
        .include("c")
        .include(out)
        .define("BUILD", format!("{compiler}_{maths}").as_str())
        .define("MATHS", format!("\"{maths}.h\"").as_str())
        .opt_level(3)
        .debug(false)
        .flag("-march=native")
        .flag("-ffp-contract=off")
        .warnings(false);
    if maths == "cheap" {
        build.flag("-ffast-math").flag("-ffp-contract=fast");
        build.flag_if_supported("-mrecip=none");
    }
    build.compile(&format!("limit_{compiler}_{maths}"));
}

fn infix(op: &str) -> Option<char> {
    match op {
        "add" => Some('+'),
        "sub" => Some('-'),
        "mul" => Some('*'),
        "div" => Some('/'),
        _ => None,
    }
}

fn c_expression((op, _, a, b): Statement<'_>) -> String {
    match (infix(op), op) {
        (Some(sign), _) => format!("v{a} {sign} v{b}"),
        (_, "max") => format!("v{a} < v{b} ? v{b} : v{a}"),
        (_, "min") => format!("v{b} < v{a} ? v{b} : v{a}"),
        (_, "abs") => format!("__builtin_fabsf(v{a})"),
        (_, "sqrt" | "sin" | "cos") => format!("m_{op}(v{a})"),
        _ => panic!("data/w4.txt has an unknown op {op}"),
    }
}

fn c_value(s: Statement<'_>) -> String {
    format!("v{} = {};", s.1, c_expression(s))
}

fn c_dual(s: Statement<'_>) -> String {
    let (op, d, a, b) = s;
    let v = c_expression(s);
    // Each shadow is x or y; `$` stands for it.
    let rule = match op {
        "add" | "sub" => format!("$n = $a {} $b", infix(op).expect("an operator")),
        "mul" => "$n = $a * vb + va * $b".to_string(),
        "div" => "$n = ($a - n * $b) * r".to_string(),
        "max" => "$n = va < vb ? $b : $a".to_string(),
        "min" => "$n = vb < va ? $b : $a".to_string(),
        "abs" => "$n = va < 0 ? -$a : va > 0 ? $a : 0".to_string(),
        "sqrt" => "$n = $a * h".to_string(),
        "sin" => "$n = c * $a".to_string(),
        "cos" => "$n = -s * $a".to_string(),
        _ => panic!("data/w4.txt has an unknown op {op}"),
    };
    let prelude = match op {
        "div" => "float r = 1.0f / vb, n = va * r;".to_string(),
        "sqrt" => "float n = m_sqrt(va), h = 0.5f / n;".to_string(),
        "sin" => "float s, c; m_sincos(va, &s, &c); float n = s;".to_string(),
        "cos" => "float s, c; m_sincos(va, &s, &c); float n = c;".to_string(),
        _ => format!("float n = {v};"),
    };
    let both: String = ["x", "y"]
        .iter()
        .map(|direction| format!("float {};", rule.replace('$', direction)))
        .collect();
    let names = [("va", "v"), ("xa", "x"), ("ya", "y")];
    let mut line = format!("{{ {prelude} {both} v{d} = n; x{d} = xn; y{d} = yn; }}");
    for (from, to) in names {
        line = line.replace(from, &format!("{to}{a}"));
        line = line.replace(&from.replace('a', "b"), &format!("{to}{b}"));
    }
    line
}

fn shader_line((op, d, a, b): Statement<'_>) -> String {
    match (infix(op), op) {
        (Some(sign), _) => format!(" v{d} = v{a} {sign} v{b};"),
        (_, "max" | "min") => format!(" v{d} = {op}(v{a}, v{b});"),
        _ => format!(" v{d} = {op}(v{a});"),
    }
}
