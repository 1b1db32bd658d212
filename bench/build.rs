//! Builds the C reference with the C compilers found, and translates the statements of W4 to C.
//!
//! C is built in release builds only: measurements are of use only there, and tests should not wait
//! for it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// One statement of W4: op, destination, operands.
type Statement<'a> = (&'a str, &'a str, &'a str, &'a str);

/// SIMD levels: their names in Rust and in C.
const LEVELS: [(&str, &str); 2] = [("avx2", "x86-64-v3"), ("avx512", "x86-64-v4")];

/// Sets of transcendentals.
const MATHS: [&str; 2] = ["cheap", "equal"];

fn main() {
    println!("cargo::rerun-if-changed=c");
    println!("cargo::rerun-if-changed=../cli/src/benchmarks/programs/w4.txt");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let source = fs::read_to_string("../cli/src/benchmarks/programs/w4.txt")
        .expect("the statements are part of the repository");
    let statements: Vec<Statement<'_>> = source
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            (words[0], words[1], words[2], words[3])
        })
        .collect();
    write(&out.join("w4_value.inc"), &statements, c_value);
    write(&out.join("w4_dual.inc"), &statements, c_dual);
    write(&out.join("w4_first50.inc"), &statements[..50], c_dual);

    let mut tables = Tables::default();
    let compilers: Vec<&str> = ["clang", "gcc"]
        .into_iter()
        .filter(|c| is_there(c))
        .collect();
    for compiler in &compilers {
        for maths in MATHS {
            tables.point(&out, compiler, maths);
        }
    }
    // The levels of what computes many points are those of x86-64.
    if env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("x86_64") {
        tables.many_points(&out, &compilers);
    }
    fs::write(out.join("c_reference_tables.rs"), tables.source()).expect("OUT_DIR can be written");
}

/// Whether this build needs a compiler, and finds it.
fn is_there(compiler: &str) -> bool {
    let version = Command::new(compiler).arg("--version").output();
    env::var("PROFILE").as_deref() == Ok("release") && version.is_ok()
}

/// The builds, as Rust code that declares and lists them.
#[derive(Default)]
struct Tables {
    declarations: String,
    points: String,
    batches: String,
    edges: String,
    networks: String,
}

impl Tables {
    fn point(&mut self, out: &Path, compiler: &str, maths: &str) {
        let name = format!("{compiler}_{maths}");
        let mut build = base(out, compiler, maths, &name);
        build.file("c/point.c").flag("-march=native");
        build.compile(&format!("limit_{name}"));
        self.declare(&name, "point", "PointTable");
        writeln!(
            self.points,
            "CPoint {{ compiler: {compiler:?}, maths: {maths:?}, table: &{name}_point }},"
        )
        .expect("writing to a string");
    }

    fn many_points(&mut self, out: &Path, compilers: &[&str]) {
        for compiler in compilers {
            self.edges(out, compiler);
            for level in LEVELS {
                self.networks(out, compiler, level);
            }
        }
        // In batches gcc is slower, and takes minutes to compile: it is used only without clang.
        let Some(compiler) = compilers.first() else {
            return;
        };
        let interleaves: &[usize] = if *compiler == "clang" {
            &[1, 2, 4]
        } else {
            &[1]
        };
        for (maths, level) in MATHS
            .into_iter()
            .flat_map(|maths| LEVELS.map(|level| (maths, level)))
        {
            for &interleave in interleaves {
                self.batch(out, compiler, maths, level, interleave);
            }
        }
    }

    fn batch(
        &mut self,
        out: &Path,
        compiler: &str,
        maths: &str,
        level: (&str, &str),
        interleave: usize,
    ) {
        let (level, march) = level;
        let name = format!("{compiler}_{maths}_{level}_{interleave}");
        let mut build = base(out, compiler, maths, &name);
        build
            .file("c/batch.c")
            .define("INTERLEAVE", interleave.to_string().as_str())
            .flag(format!("-march={march}"))
            .flag("-mprefer-vector-width=512");
        build.compile(&format!("limit_{name}"));
        self.declare(&name, "batch", "BatchTable");
        writeln!(
            self.batches,
            "CBatch {{ compiler: {compiler:?}, maths: {maths:?}, level: {level:?}, interleave: {interleave}, table: &{name}_batch }},"
        )
        .expect("writing to a string");
    }

    /// Gradients through edges: their only function is a root, of which both sets have one.
    fn edges(&mut self, out: &Path, compiler: &str) {
        let name = format!("{compiler}_edges");
        let mut build = base(out, compiler, "equal", &name);
        build.file("c/edges.c").flag("-march=x86-64-v3");
        build.compile(&format!("limit_{name}"));
        self.declare(&name, "edges", "EdgeTable");
        writeln!(
            self.edges,
            "CEdges {{ compiler: {compiler:?}, table: &{name}_edges }},"
        )
        .expect("writing to a string");
    }

    /// Networks, which have no transcendental function; with contraction and reassociation.
    fn networks(&mut self, out: &Path, compiler: &str, level: (&str, &str)) {
        let (level, march) = level;
        let name = format!("{compiler}_networks_{level}");
        let mut build = base(out, compiler, "cheap", &name);
        build
            .file("c/networks.c")
            .flag(format!("-march={march}"))
            .flag("-mprefer-vector-width=512");
        build.compile(&format!("limit_{name}"));
        self.declare(&name, "networks", "NetworkTable");
        writeln!(
            self.networks,
            "CNetworks {{ compiler: {compiler:?}, level: {level:?}, table: &{name}_networks }},"
        )
        .expect("writing to a string");
    }

    fn declare(&mut self, name: &str, kind: &str, table: &str) {
        writeln!(self.declarations, "safe static {name}_{kind}: {table};")
            .expect("writing to a string");
    }

    fn source(&self) -> String {
        let Tables {
            declarations,
            points,
            batches,
            edges,
            networks,
        } = self;
        format!(
            "// SAFETY: the build script built C that defines each of these tables, which never change, with this type.
unsafe extern \"C\" {{\n{declarations}}}
/// Every build of the C reference over one point; none without a C compiler.
pub fn points() -> Vec<CPoint> {{ vec![{points}] }}
/// Every build of the C reference over many points.
pub fn batches() -> Vec<CBatch> {{ vec![{batches}] }}
/// Every build of the C reference of gradients through edges.
pub fn edges() -> Vec<CEdges> {{ vec![{edges}] }}
/// Every build of the C reference of networks.
pub fn networks() -> Vec<CNetworks> {{ vec![{networks}] }}
"
        )
    }
}

/// The options of all builds. The equal-accuracy algorithms rely on the order of their operations.
fn base(out: &Path, compiler: &str, maths: &str, name: &str) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .compiler(compiler)
        .include("c")
        .include(out)
        .define("BUILD", name)
        .define("MATHS", format!("\"{maths}.h\"").as_str())
        .opt_level(3)
        .debug(false)
        .warnings(false);
    match maths {
        "cheap" => build
            .flag("-ffast-math")
            .flag("-ffp-contract=fast")
            .flag_if_supported("-mrecip=none"),
        _ => build
            .flag("-ffp-contract=off")
            .flag("-fno-math-errno")
            .flag("-fno-trapping-math"),
    };
    build
}

fn write(path: &Path, statements: &[Statement<'_>], line: fn(Statement<'_>) -> String) {
    let mut source = String::new();
    for &statement in statements {
        writeln!(source, "{}", line(statement)).expect("writing to a string");
    }
    fs::write(path, source).expect("OUT_DIR can be written");
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
        _ => panic!("../cli/src/benchmarks/programs/w4.txt has an unknown op {op}"),
    }
}

fn c_value(s: Statement<'_>) -> String {
    format!("v{} = {};", s.1, c_expression(s))
}

fn c_dual(s: Statement<'_>) -> String {
    let (op, d, a, b) = s;
    let v = c_expression(s);
    // Each shadow is x or y; `$` is replaced by it.
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
        _ => panic!("../cli/src/benchmarks/programs/w4.txt has an unknown op {op}"),
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
