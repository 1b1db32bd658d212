//! Shaders compiled ahead of time: the linked example gives the facade's bits.
//!
//! Headers are C and C++, and the linker's code is the code that runs.

use crate::compilers::{Language, Library, compiler, crate_dir, link, project, scratch};
use adumbra::{
    Compiler, Evaluator, Globals, GlobalsLayout, Host, Instance, Limits, Options, Program,
    SampleRequest, Sampled, Scalar, Sources, Type,
    batch::{BatchEvaluator, BatchGlobals, BatchSetup, Part, Tier},
    evaluator::Engine,
    object::{ObjectFile, ObjectShader, Platform},
};
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

const POINTS: usize = 100;

/// The scalars that come out of the example.
const OUTPUTS: [(&str, usize); 4] = [("c", 0), ("c", 1), ("c", 2), ("height", 0)];

fn compiled(text: &str, layout: GlobalsLayout) -> Arc<Program> {
    compiled_with(text, layout, true)
}

/// A program whose outputs have derivatives or not.
fn compiled_with(text: &str, layout: GlobalsLayout, output_derivatives: bool) -> Arc<Program> {
    let options = Options {
        output_derivatives,
        ..Options::default()
    };
    let compiler = Compiler::new(layout).with_options(options);
    compiler.compile(&Sources::new("object.adu", text)).unwrap()
}

fn layout() -> GlobalsLayout {
    let layout = GlobalsLayout::new().with("uv", Type::Vector(2)).unwrap();
    layout.with("time", Type::FLOAT).unwrap()
}

fn ripple() -> Arc<Program> {
    let text = std::fs::read_to_string(project("examples/aot/ripple.adu")).unwrap();
    compiled(&text, layout())
}

/// The object and the header of a program, in a folder.
fn write(folder: &Path, program: &Arc<Program>, same: &[&str]) -> PathBuf {
    let platform = Platform::host().expect("objects are made for this host");
    let mut file = ObjectFile::new(platform);
    let same: Vec<String> = same.iter().map(|&name| name.to_owned()).collect();
    file.add(program.name(), program, &same).unwrap();
    let header = format!("{}.h", program.name());
    std::fs::write(folder.join(&header), file.header(&header)).unwrap();
    let object = folder.join(program.name()).with_extension("o");
    std::fs::write(&object, file.to_bytes().unwrap()).unwrap();
    object
}

/// The texture of the example, written once more.
struct Footprint;

impl Host for Footprint {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        Sampled::Ready([request.u, request.dudx, request.dvdy, 1.0])
    }
}

/// The outputs of the example's points: value, ddx and ddy of each scalar.
fn shown(program: &Arc<Program>, tier: Tier) -> Vec<[[f32; 4]; 3]> {
    let mut instance = Instance::new(program);
    instance.set("rings", 9.0_f32).unwrap();
    let mut globals = BatchGlobals::new(program.globals());
    let u: Vec<f32> = (0..POINTS).map(|i| i as f32 / POINTS as f32).collect();
    let v = [0.25_f32; POINTS];
    globals.plane("uv", Part::Value, 0, &u, 1).unwrap();
    globals.plane("uv", Part::Value, 1, &v, 1).unwrap();
    let steps = [[1.0 / POINTS as f32, 0.0], [0.0, 0.01_f32]];
    globals.uniform_part("uv", Part::Ddx, steps[0]).unwrap();
    globals.uniform_part("uv", Part::Ddy, steps[1]).unwrap();
    globals.uniform_part("time", Part::Value, 0.5_f32).unwrap();
    let setup = BatchSetup {
        tier,
        ..BatchSetup::default()
    };
    let mut evaluator = BatchEvaluator::with(&instance, &setup).unwrap();
    evaluator.evaluate(&globals, 0, POINTS, &mut Footprint);
    let mut all = vec![[[0.0; 4]; 3]; POINTS];
    for (number, part) in [Part::Value, Part::Ddx, Part::Ddy].into_iter().enumerate() {
        for (scalar, (output, of_it)) in OUTPUTS.into_iter().enumerate() {
            let mut plane = [0.0_f32; POINTS];
            evaluator.copy(output, part, of_it, &mut plane, 1).unwrap();
            for (all, x) in all.iter_mut().zip(plane) {
                all[number][scalar] = x;
            }
        }
    }
    all
}

#[test]
fn linked_example_gives_bits_of_facade() {
    let folder = scratch("aot_example");
    let program = ripple();
    let object = write(&folder, &program, &[]);
    let expected = shown(&program, Tier::Interpreter);
    for library in [Library::Static, Library::Shared] {
        let source = project("examples/aot/host.c");
        let name = format!("host_{library:?}");
        let host = link(Language::C, &[&source, &object], &folder, &name, library);
        let Some(host) = host else { continue };
        let said = Command::new(host).output().expect("the example starts");
        let errors = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success(), "{errors}");
        let said = String::from_utf8(said.stdout).expect("UTF-8");
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines.len(), 1 + POINTS, "{said}");
        for (line, expected) in lines[1..].iter().zip(&expected) {
            let numbers = line.split_whitespace().skip(1);
            let found: Vec<u32> = numbers
                .map(|number| number.parse::<f32>().expect("a number").to_bits())
                .collect();
            let expected: Vec<u32> = expected.iter().flatten().map(|x| x.to_bits()).collect();
            assert_eq!(found, expected);
        }
    }
}

/// A host of an object without derivatives of outputs; it ends with the number of what is wrong.
const PLAIN_HOST: &str = r#"
#include "plain.h"
int main(void)
{
    AdumbraProgram *program;
    AdumbraInstance *instance;
    AdumbraEvaluator *evaluator;
    AdumbraBatchEvaluator *batch;
    AdumbraBatchGlobals *globals;
    plain_outputs values = {0};
    if (adumbra_program_from_object(&adumbra_object_plain, &program, NULL) || adumbra_instance_new(program, &instance)
        || adumbra_evaluator_new(instance, NULL, &evaluator) || adumbra_batch_evaluator_new(instance, NULL, &batch)
        || adumbra_batch_globals_new(program, &globals))
        return 1;
    if (plain_point(evaluator, NULL, NULL, &values) || values.o != 2.5f)
        return 2;
    values.o = 0;
    if (plain_batch(batch, globals, 0, 1, NULL, &values, NULL, NULL) || values.o != 2.5f)
        return 3;
    if (plain_batch(batch, globals, 0, 1, NULL, NULL, &values, NULL) != ADUMBRA_STATUS_NO_DERIVATIVES)
        return 4;
    return 0;
}
"#;

#[test]
fn object_without_derivatives_gives_values() {
    let folder = scratch("aot_plain");
    let text = "shader plain(out float o) { o = 2.5; }";
    let program = compiled_with(text, GlobalsLayout::new(), false);
    let object = write(&folder, &program, &[]);
    let source = folder.join("plain_host.c");
    std::fs::write(&source, PLAIN_HOST).unwrap();
    let library = Library::Shared;
    let host = link(
        Language::C,
        &[&source, &object],
        &folder,
        "plain_host",
        library,
    );
    let Some(host) = host else { return };
    let ended = Command::new(host).status().expect("it starts");
    assert_eq!(ended.code(), Some(0));
}

/// Shaders with all that a header speaks of, and with nothing of it.
#[test]
fn object_headers_are_c_and_cpp() {
    let everything = "struct hit { float t; int id; };\n\
        struct nested { hit first; float3x3 frame; bool is; };\n\
        texture2d paint; texture2d wood; shader_resource table;\n\
        shader everything(float class, nested typename[2], out hit h, out float4x4 double, out uint n[3], out closure union)\n\
        { double = float4x4(global_value<new>); n[1] = 7u; h.t = texture2d_sample<paint>(0.1, 0.2).x + texture2d_sample<wood>(class, 0.2).x;\n\
          union = make_closure<diffuse>(global_value<normal>) + make_closure<measured>(table); }";
    let layout = GlobalsLayout::new()
        .with("new", Type::FLOAT)
        .and_then(|layout| layout.with("normal", Type::Vector(3)))
        .and_then(|layout| layout.with("long", Type::Matrix(3)))
        .unwrap();
    let folder = scratch("aot_headers");
    let nothing = "shader nothing() {}";
    let programs = [(everything, layout), (nothing, GlobalsLayout::new())];
    for (text, layout) in programs {
        let program = compiled(text, layout);
        write(&folder, &program, &[]);
        assert_compiles(&folder, program.name(), &[]);
    }
}

/// Whether the header of that name is C and C++, by their older standards and by others.
fn assert_compiles(folder: &Path, name: &str, others: &[(Language, &str)]) {
    let older = [Language::C, Language::Cpp].map(|language| (language, language.strict()[0]));
    for &(language, standard) in older.iter().chain(others) {
        let Some(compiler) = compiler(language) else {
            continue;
        };
        let source = folder.join(name).with_extension(match language {
            Language::C => "c",
            Language::Cpp => "cpp",
        });
        let include = format!("#include \"{name}.h\"\n");
        // Twice, so that it has to know that it was read.
        std::fs::write(&source, include.repeat(2)).unwrap();
        let mut command = compiler.to_command();
        command.args(language.strict()).arg("-Wno-unused-function");
        command.arg(standard).arg("-fsyntax-only");
        command.arg("-I").arg(folder);
        command
            .arg("-I")
            .arg(crate_dir().join("include"))
            .arg(&source);
        let said = command.output().expect("the compiler starts");
        let errors = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success(), "{standard}: {errors}");
    }
}

/// Words of C and C++, macros, types: no name of a global breaks a header, and no two become one.
#[test]
fn names_reserved_in_c_are_renamed() {
    let names = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class class_ class__ compl \
        concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do double \
        dynamic_cast else enum explicit export extern false float for friend goto if inline int int32_t long mutable namespace new noexcept \
        not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires restrict return short signed \
        sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename typeof \
        typeof_unqual uint32_t union unsigned using virtual void volatile wchar_t while xor xor_eq \
        I NULL linux unix INT32_MIN SIZE_MAX ADUMBRA_API ADUMBRA_TO_NUL _Bool _Static_assert __attribute__ __cplusplus _ size_t x";
    let layout = names
        .split(' ')
        .try_fold(GlobalsLayout::new(), |layout, name| {
            layout.with(name, Type::Scalar(Scalar::U32))
        });
    let folder = scratch("aot_names");
    let program = compiled("shader kept(out uint o) { o = 1u; }", layout.unwrap());
    write(&folder, &program, &[]);
    let others = [
        (Language::C, "-std=gnu99"),
        (Language::C, "-std=gnu2x"),
        (Language::Cpp, "-std=gnu++20"),
    ];
    assert_compiles(&folder, program.name(), &others);
    let header = std::fs::read_to_string(folder.join("kept.h")).unwrap();
    for kept in ["uint32_t x[3]", "uint32_t size_t[3]", "uint32_t _[3]"] {
        assert!(header.contains(kept), "{kept}: {header}");
    }
}

/// Host names that are no names in C, and names of one shader that are another's.
#[test]
fn invalid_and_duplicate_c_names_are_renamed() {
    let names = ["a b", "a-b", "a_b", "0", "", "é", "x */ int y;", "x\ny"];
    let layout = names
        .into_iter()
        .try_fold(GlobalsLayout::new(), |layout, name| {
            layout.with(name, Type::Scalar(Scalar::F32))
        });
    let layout = layout.unwrap();
    let leaf =
        "shader a(out closure c) { c = make_closure<x>(1.0) + make_closure<x_arguments>(2.0); }";
    let other = "shader a_batch(out float o) { o = 1.0; }";
    for order in [[leaf, other], [other, leaf]] {
        let folder = scratch("aot_odd_names");
        let mut file = ObjectFile::new(Platform::host().expect("objects are made for this host"));
        for text in order {
            let program = compiled(text, layout.clone());
            file.add(program.name(), &program, &[]).unwrap();
        }
        std::fs::write(folder.join("odd.h"), file.header("odd.h")).unwrap();
        assert_compiles(&folder, "odd", &[]);
    }
}

// SAFETY: they are the C library's, as its manual says.
unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The shader in a shared library that is made of an object alone: it asks the linker for nothing.
/// Nothing without a compiler.
fn loaded(folder: &Path, object: &Path, name: &str) -> Option<&'static ObjectShader> {
    const NOW: c_int = 2;
    let library = folder.join(format!("lib{name}.so"));
    let mut command = compiler(Language::C)?.to_command();
    command.args(["-shared", "-nostdlib", "-Wl,-z,text", "-Wl,-z,defs"]);
    let said = command.arg(object).arg("-o").arg(&library).output();
    let said = said.expect("the compiler starts");
    let errors = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success() && errors.is_empty(), "{errors}");
    let text = |text: String| CString::new(text).unwrap();
    let file = text(library.to_str().expect("UTF-8").to_owned());
    let symbol = text(format!("adumbra_object_{name}"));
    // SAFETY: both are strings that end with NUL; the library is an object file of this version,
    // and is never closed.
    unsafe {
        let library = dlopen(file.as_ptr(), NOW);
        assert!(!library.is_null());
        let shader = dlsym(library, symbol.as_ptr()).cast::<ObjectShader>();
        Some(shader.as_ref().expect("the symbol is there"))
    }
}

#[test]
#[cfg(target_os = "linux")]
fn linked_code_is_executed() {
    let folder = scratch("aot_linked");
    let program = ripple();
    let object = write(&folder, &program, &[]);
    let Some(shader) = loaded(&folder, &object, "ripple") else {
        return;
    };
    let linked = Program::from_object(shader).unwrap();
    assert_eq!(linked.name(), "ripple");
    let expected = shown(&program, Tier::Interpreter);
    assert_eq!(shown(&linked, Tier::Interpreter), expected);
    if !Tier::Native.is_available() {
        return;
    }
    assert_eq!(shown(&linked, Tier::Native), expected);
    let setup = |same: &[&str]| BatchSetup {
        tier: Tier::Native,
        uniform: same.iter().map(|&name| name.to_owned()).collect(),
        ..BatchSetup::default()
    };
    let made = |same: &[&str]| {
        let evaluator = BatchEvaluator::with(&Instance::new(&linked), &setup(same)).unwrap();
        let native = evaluator.stats().native.expect("it is native");
        assert!(native.linked_bytes > 0);
        native.code_bytes
    };
    assert_eq!(made(&[]), 0, "all was compiled before");
    let instance = Instance::new(&linked);
    let mut one = Evaluator::with(&instance, Engine::Native, Limits::default()).unwrap();
    let mut globals = Globals::new(linked.globals());
    let uv = ([0.0, 0.25], [1.0 / POINTS as f32, 0.0], [0.0, 0.01]);
    globals.set("uv", uv.0, uv.1, uv.2).unwrap();
    globals.set("time", 0.5_f32, 0.0, 0.0).unwrap();
    let mut compiled = Evaluator::new(&Instance::new(&program));
    one.evaluate(&globals, &mut Footprint);
    compiled.evaluate(&globals, &mut Footprint);
    for part in Part::ALL {
        let words = [&one, &compiled].map(|evaluator| evaluator.words(part).unwrap());
        let [linked, compiled] = words.map(Vec::from_iter);
        assert_eq!(linked, compiled, "{part:?}");
    }
    let native = one.stats().native.expect("it is native");
    assert_eq!(native.code_bytes, 0, "single points were, too");
    // The object has no code for this set.
    assert!(made(&["time"]) > 0);
}
