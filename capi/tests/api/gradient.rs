//! Gradients of programs and sums over points through the C interface, against the facade.

use crate::common::{compile, hit_compiler, report, rust_compiler, sized, text};
use adumbra::batch::{BatchGlobals, BatchSetup, Part, WholeBatch};
use adumbra::gradient::{DerivativePlace, Gradient, GradientRequest, ParameterKind};
use adumbra::{Instance, NoTextures, Program, Sources};
use adumbra_capi::*;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Two outputs with floats, inputs with and without, a group, and one that leads nowhere.
const SHADER: &str = "struct Wave { float k; float2 gain; };
    shader s(Wave wave, float unused = 1.0, int n = 2, float list[2],
             out float o, out float2 both, out int whole)
    {
        float3 p = global_value<position>;
        o = wave.gain.x * sin(wave.k * p.x) + list[1] * p.y;
        both = float2(wave.gain.y * o, n * p.z);
        whole = n;
    }";

/// Points of the planes, of several blocks of the threads.
const POINTS: usize = 20_000;

pub(crate) fn rust_program(shader: &str) -> Arc<Program> {
    let compiled = rust_compiler().compile(&Sources::new("s.adu", shader));
    compiled.expect("it compiles")
}

pub(crate) fn names(names: &[&CStr]) -> Vec<*const c_char> {
    names.iter().map(|name| name.as_ptr()).collect()
}

/// The program of a gradient, or its diagnostics.
pub(crate) fn gradient(
    program: *const AdumbraProgram,
    request: *const AdumbraGradientRequest,
) -> (AdumbraStatus, *mut AdumbraProgram, *mut AdumbraDiagnostics) {
    let (mut made, mut found) = (null_mut(), null_mut());
    let status = call!(adumbra_program_gradient(
        program,
        request,
        &raw mut made,
        &raw mut found
    ));
    assert_eq!(made.is_null(), status != AdumbraStatus::Ok);
    (status, made, found)
}

fn variable(program: *const AdumbraProgram, list: u32, index: usize) -> AdumbraVariable {
    let mut variable: AdumbraVariable = sized();
    ok!(adumbra_program_variable(
        program,
        list,
        index,
        &raw mut variable
    ));
    variable
}

/// What a gradient is of and by: list, name, list and names of the derivative, and whether it is
/// zero.
pub(crate) type Described = Vec<(u32, String, u32, Vec<String>, bool)>;

pub(crate) fn described(program: *const AdumbraProgram) -> Described {
    let mut count = usize::MAX;
    ok!(adumbra_program_differentiated_count(
        program,
        &raw mut count
    ));
    let one = |index| {
        let mut value: AdumbraDifferentiated = sized();
        ok!(adumbra_program_differentiated(
            program,
            index,
            &raw mut value
        ));
        let own = variable(program, value.list, value.index);
        assert_eq!(text(own.name), text(value.name));
        let derivative = (0..value.derivative_count).map(|at| {
            let entry = variable(program, value.derivative_list, value.derivative_index + at);
            text(entry.name).to_owned()
        });
        let derivative = derivative.collect();
        let name = text(value.name).to_owned();
        let list = value.derivative_list;
        (value.list, name, list, derivative, value.is_zero == 1)
    };
    let all = (0..count).map(one).collect();
    let mut value: AdumbraDifferentiated = sized();
    let beyond = call!(adumbra_program_differentiated(
        program,
        count,
        &raw mut value
    ));
    assert_eq!(beyond, AdumbraStatus::Index);
    all
}

/// The same of the facade.
pub(crate) fn rust_described(gradient: &Gradient) -> Described {
    let place = |place: &DerivativePlace| match place {
        DerivativePlace::Output(name) => (0, vec![name.clone()]),
        DerivativePlace::Globals(globals) => {
            let names = globals.iter().map(|(name, _)| name.clone());
            (2, names.collect())
        }
        DerivativePlace::Buffer(name) => (6, vec![name.clone()]),
        DerivativePlace::Sum => (6, Vec::new()),
        DerivativePlace::Texture(name) => (3, vec![name.clone()]),
        DerivativePlace::Adjoints => (3, Vec::new()),
    };
    let outputs = gradient.outputs().iter().map(|value| {
        let (list, names) = place(&value.place);
        (0, value.name.clone(), list, names, false)
    });
    let parameters = gradient.parameters().iter().map(|by| {
        let (list, names) = place(&by.value.place);
        let own = match by.kind {
            ParameterKind::Input => 1,
            ParameterKind::Global => 2,
            ParameterKind::Buffer => 6,
            ParameterKind::Texture => 3,
        };
        (own, by.value.name.clone(), list, names, by.is_zero)
    });
    outputs.chain(parameters).collect()
}

#[test]
fn gradients_are_of_and_by_what_facade_says() {
    let program = compile(hit_compiler(), SHADER);
    let rust = rust_program(SHADER);
    assert_eq!(described(program), []);
    let (of, inputs, globals) = (
        names(&[c"both"]),
        names(&[c"list", c"wave"]),
        names(&[c"position"]),
    );
    let named = AdumbraGradientRequest {
        of: of.as_ptr(),
        of_count: 1,
        inputs: inputs.as_ptr(),
        input_count: 2,
        globals: globals.as_ptr(),
        global_count: 1,
        ..sized()
    };
    let all = AdumbraGradientRequest {
        mode: AdumbraGradientMode::Forward as u32,
        all_inputs: 1,
        all_globals: 1,
        ..sized()
    };
    let new = GradientRequest::new;
    let (zero, mut given) = (sized(), Vec::new());
    let asked_in_rust = [
        new(),
        new(),
        new()
            .of("both")
            .by_input("list")
            .by_input("wave")
            .by_global("position"),
        new().forward().by_inputs().by_globals(),
    ];
    let asked = [null(), &raw const zero, &raw const named, &raw const all];
    for (asked, asked_in_rust) in asked.into_iter().zip(asked_in_rust) {
        let (status, made, found) = gradient(program, asked);
        assert_eq!((status, found.is_null()), (AdumbraStatus::Ok, true));
        let facade = rust.gradient(&asked_in_rust).expect("it is one");
        let described = described(made);
        assert_eq!(described, rust_described(&facade));
        // Names may have dots, and are found whole.
        for (.., list, names, _) in &described {
            for name in names {
                let path = CString::new(name.as_str()).unwrap();
                let mut found: AdumbraVariable = sized();
                let path = path.as_ptr();
                ok!(adumbra_program_find(made, *list, path, &raw mut found));
                assert_eq!(text(found.name), name);
            }
        }
        call!(adumbra_program_free(made));
        let wave = described.into_iter().find(|value| value.1 == "wave");
        given = wave.expect("it is by all inputs").3;
    }
    assert_eq!(given, ["d(wave.k)", "d(wave.gain)"]);
    // A member of a gradient is found by its path.
    let (_, made, _) = gradient(program, null());
    let mut gain: AdumbraVariable = sized();
    let path = c"d(wave).gain".as_ptr();
    ok!(adumbra_program_find(made, 0, path, &raw mut gain));
    assert_eq!((text(gain.type_name), gain.scalars), ("float2", 2));
    for lost in [c"d(wave).loss", c"d(wav", c"d(wave)."] {
        let status = call!(adumbra_program_find(made, 0, lost.as_ptr(), &raw mut gain));
        assert_eq!(status, AdumbraStatus::UnknownName);
    }
    call!(adumbra_program_free(made));
    // The gradient of a gradient, whose program is freed before.
    let (_, first, _) = gradient(program, null());
    let (_, second, _) = gradient(first, &raw const named);
    call!(adumbra_program_free(first));
    assert_eq!(described(second)[0].3, ["d2(both)"]);
    call!(adumbra_program_free(second));
    call!(adumbra_program_free(program));
}

#[test]
fn refused_requests_are_reported_by_name() {
    let program = compile(hit_compiler(), SHADER);
    let refused = |request: &AdumbraGradientRequest, says: &str| {
        let (status, _, found) = gradient(program, request);
        assert_eq!(status, AdumbraStatus::Refused);
        let said = report(found);
        assert!(said.contains(says) && said.contains("E0570"), "{said}");
        call!(adumbra_diagnostics_free(found));
    };
    let (wrong, whole) = (names(&[c"wive"]), names(&[c"whole"]));
    let mut request = AdumbraGradientRequest {
        inputs: wrong.as_ptr(),
        input_count: 1,
        ..sized()
    };
    refused(&request, "there is no input `wive`");
    refused(&request, "did you mean `wave`?");
    request = AdumbraGradientRequest {
        globals: wrong.as_ptr(),
        global_count: 1,
        ..sized()
    };
    refused(&request, "there is no global `wive`");
    request = AdumbraGradientRequest {
        of: whole.as_ptr(),
        of_count: 1,
        ..sized()
    };
    refused(&request, "the output `whole` is of type `int`");
    // A host that does not need to know why.
    let mut made = null_mut();
    let status = call!(adumbra_program_gradient(
        program,
        &raw const request,
        &raw mut made,
        null_mut()
    ));
    assert_eq!((status, made.is_null()), (AdumbraStatus::Refused, true));

    let mut bytes = vec![0_u8; 1 << 20];
    let mut length = 0;
    ok!(adumbra_program_save(
        program,
        bytes.as_mut_ptr(),
        bytes.len(),
        &raw mut length
    ));
    let loaded = made!(adumbra_program_load(bytes.as_ptr(), length ; null_mut()));
    let (status, derived, found) = gradient(loaded, null());
    assert_eq!((status, found), (AdumbraStatus::Ok, null_mut()));
    ok!(adumbra_program_save(
        derived,
        bytes.as_mut_ptr(),
        bytes.len(),
        &raw mut length
    ));
    call!(adumbra_program_free(derived));
    call!(adumbra_program_free(loaded));
    let loaded = made!(adumbra_program_load(bytes.as_ptr(), length ; null_mut()));
    let (status, _, found) = gradient(loaded, null());
    assert_eq!(status, AdumbraStatus::Refused);
    assert!(report(found).contains("was loaded and has derivatives"));
    call!(adumbra_diagnostics_free(found));
    call!(adumbra_program_free(loaded));

    let with_null = [wrong[0], null()];
    let last = || text(adumbra_last_error());
    for (request, said) in [
        (
            AdumbraGradientRequest { mode: 2, ..sized() },
            "`request->mode` is 2, which is not from 0 to 1",
        ),
        (
            AdumbraGradientRequest {
                all_globals: 2,
                ..sized()
            },
            "`request->all_globals` is 2, which is not from 0 to 1",
        ),
        (
            AdumbraGradientRequest {
                of_count: 1,
                ..sized()
            },
            "`request->of` is NULL",
        ),
        (
            AdumbraGradientRequest {
                inputs: with_null.as_ptr(),
                input_count: 2,
                ..sized()
            },
            "`request->inputs[1]` is NULL",
        ),
    ] {
        let (status, _, found) = gradient(program, &raw const request);
        assert!(status != AdumbraStatus::Ok && found.is_null());
        assert_eq!(last(), said);
    }
    call!(adumbra_program_free(program));
}

#[test]
fn ends_of_gradients_are_warnings() {
    let shader = "shader s(float a, out float o, out closure c) { o = a; c = a * make_closure<k>(floor(a), (int)a); o += (float)(int)a; }";
    let program = compile(hit_compiler(), shader);
    let rust = rust_program(shader);
    let facade = rust.gradient(&GradientRequest::new()).expect("it is one");
    let (status, made, found) = gradient(program, null());
    assert_eq!(status, AdumbraStatus::Ok);
    let mut count = 0;
    ok!(adumbra_diagnostics_count(found, &raw mut count));
    assert_eq!(count, facade.ends().len());
    assert!(count > 0);
    let mut first: AdumbraDiagnostic = sized();
    ok!(adumbra_diagnostics_get(found, 0, &raw mut first));
    assert_eq!((text(first.code), first.severity), ("W0518", 0));
    assert_eq!(first.line, 1);
    call!(adumbra_diagnostics_free(found));
    call!(adumbra_program_free(made));
    call!(adumbra_program_free(program));
}

/// The planes of the points: two globals and a cotangent.
fn planes() -> [Vec<f32>; 3] {
    [0.37, 0.11, 0.73].map(|step| {
        let points = 0..POINTS;
        points.map(|at| (at as f32 * step).sin()).collect()
    })
}

const PLANES: [(&CStr, usize); 3] = [(c"position", 0), (c"position", 1), (c"d(o)", 0)];

/// The totals of an output.
fn total(sums: *const AdumbraSums, output: &CStr) -> Vec<u64> {
    let mut numbers = [f64::NAN; 8];
    let mut count = 0;
    ok!(adumbra_sums_total(
        sums,
        output.as_ptr(),
        numbers.as_mut_ptr(),
        8,
        &raw mut count
    ));
    numbers[..count]
        .iter()
        .map(|number| number.to_bits())
        .collect()
}

/// Everything that sums are made of.
struct Fitted {
    program: *mut AdumbraProgram,
    instance: *mut AdumbraInstance,
    planes: [Vec<f32>; 3],
}

impl Fitted {
    fn new() -> Fitted {
        let program = compile(hit_compiler(), SHADER);
        let (_, made, _) = gradient(program, null());
        call!(adumbra_program_free(program));
        let instance = made!(adumbra_instance_new(made));
        let wave = [1.5_f32, 0.75, -0.5];
        ok!(adumbra_instance_set(
            instance,
            c"wave".as_ptr(),
            3,
            wave.as_ptr().cast(),
            3
        ));
        Fitted {
            program: made,
            instance,
            planes: planes(),
        }
    }

    /// Globals whose planes begin with a point.
    fn globals(&self, first: usize) -> *mut AdumbraBatchGlobals {
        let globals = made!(adumbra_batch_globals_new(self.program));
        for ((name, scalar), plane) in PLANES.iter().zip(&self.planes) {
            let plane = &plane[first..];
            ok!(adumbra_batch_globals_plane(
                globals,
                name.as_ptr(),
                0,
                *scalar,
                plane.as_ptr().cast(),
                plane.len(),
                1
            ));
        }
        globals
    }

    /// The sums of a range of points.
    fn sums(
        &self,
        options: &AdumbraSumsOptions,
        globals: *const AdumbraBatchGlobals,
        points: std::ops::Range<usize>,
        host: *const AdumbraHost,
    ) -> *mut AdumbraSums {
        let outputs = names(&[c"d(wave)", c"o", c"d(list)"]);
        made!(adumbra_sums_new(
            self.instance,
            options,
            globals,
            points.start,
            points.len(),
            outputs.as_ptr(),
            outputs.len(),
            host
        ))
    }

    fn totals(sums: *const AdumbraSums) -> [Vec<u64>; 3] {
        [c"d(wave)", c"o", c"d(list)"].map(|output| total(sums, output))
    }

    fn free(self) {
        call!(adumbra_instance_free(self.instance));
        call!(adumbra_program_free(self.program));
    }
}

/// The sums of all points by the facade.
fn rust_totals(planes: &[Vec<f32>; 3]) -> [Vec<u64>; 3] {
    let facade = rust_program(SHADER).gradient(&GradientRequest::new());
    let facade = facade.expect("it is one");
    let mut instance = Instance::new(facade.program());
    instance.set("wave.k", 1.5_f32).unwrap();
    instance.set("wave.gain", [0.75_f32, -0.5]).unwrap();
    let mut globals = BatchGlobals::new(facade.program().globals());
    for ((name, scalar), plane) in PLANES.iter().zip(planes) {
        let name = name.to_str().unwrap();
        globals.plane(name, Part::Value, *scalar, plane, 1).unwrap();
    }
    let outputs = ["d(wave)", "o", "d(list)"];
    let batch = WholeBatch::new(&instance).setup(BatchSetup {
        width: Some(64),
        ..BatchSetup::default()
    });
    let (sums, _) = batch
        .sums(&globals, 0..POINTS, &outputs, || NoTextures)
        .unwrap();
    outputs.map(|output| {
        let totals = sums.total(output).unwrap();
        totals.iter().map(|number| number.to_bits()).collect()
    })
}

#[test]
fn sums_have_bits_of_facade_for_every_width_and_threads() {
    let fitted = Fitted::new();
    let expected = rust_totals(&fitted.planes);
    let whole = fitted.globals(0);
    for (width, threads) in [(0, 0), (1024, 1), (7, 2), (100, 3)] {
        let batch = AdumbraBatchOptions { width, ..sized() };
        let options = AdumbraSumsOptions {
            threads,
            batch: &raw const batch,
            ..sized()
        };
        let sums = fitted.sums(&options, whole, 0..POINTS, null());
        assert_eq!(Fitted::totals(sums), expected);
        let mut report: AdumbraSumsReport = sized();
        ok!(adumbra_sums_report(sums, &raw mut report));
        assert_eq!((report.stopped, report.pending, report.faulty), (0, 0, 0));
        assert_eq!(report.not_finite, 0);
        call!(adumbra_sums_free(sums));
    }

    // In shards: one of the same planes, and one whose planes begin with its first point.
    let middle = 7777;
    let shard = fitted.globals(middle);
    let there = AdumbraSumsOptions {
        numbered_from: middle as u64,
        threads: 2,
        ..sized()
    };
    let sums = fitted.sums(&sized(), whole, 0..middle, null());
    let other = fitted.sums(&there, shard, 0..POINTS - middle, null());
    call!(adumbra_batch_globals_free(shard));
    ok!(adumbra_sums_join(sums, other));
    assert_eq!(Fitted::totals(sums), expected);
    // Points are summed once.
    for twice in [sums, other] {
        let joined = call!(adumbra_sums_join(sums, twice));
        assert_eq!(joined, AdumbraStatus::Duplicate);
    }
    assert_eq!(Fitted::totals(sums), expected);
    call!(adumbra_sums_free(other));
    call!(adumbra_sums_free(sums));
    call!(adumbra_batch_globals_free(whole));
    fitted.free();
}

#[test]
fn invalid_sums_are_refused() {
    let fitted = Fitted::new();
    let globals = fitted.globals(0);
    let (instance, last) = (fitted.instance, || text(adumbra_last_error()));
    let tried = |options: &AdumbraSumsOptions, globals, first, points, outputs: &[&CStr]| {
        let outputs = names(outputs);
        let mut sums = null_mut();
        let status = call!(adumbra_sums_new(
            instance,
            options,
            globals,
            first,
            points,
            outputs.as_ptr(),
            outputs.len(),
            null(),
            &raw mut sums
        ));
        assert_eq!(sums.is_null(), status != AdumbraStatus::Ok);
        call!(adumbra_sums_free(sums));
        status
    };
    let none = sized();
    assert_eq!(tried(&none, globals, 0, 10, &[]), AdumbraStatus::Ok);
    assert_eq!(
        tried(&none, globals, usize::MAX, 0, &[]),
        AdumbraStatus::Size
    );
    let unknown = tried(&none, globals, 0, 10, &[c"o", c"d(k)"]);
    assert_eq!(unknown, AdumbraStatus::UnknownName);
    assert_eq!(
        last(),
        "`outputs[1]` is `d(k)`, and there is no output of that name"
    );
    let whole = tried(&none, globals, 0, 10, &[c"whole"]);
    assert_eq!(whole, AdumbraStatus::WrongType);
    let beyond = tried(&none, globals, POINTS, 1, &[c"o"]);
    assert_eq!(beyond, AdumbraStatus::Size);
    assert!(last().starts_with("`globals` has a plane that is too short for 20001 points"));
    let many = tried(&none, globals, 1, usize::MAX, &[c"o"]);
    assert_eq!(many, AdumbraStatus::Size);
    let numbered = AdumbraSumsOptions {
        numbered_from: u64::MAX,
        ..sized()
    };
    let numbered = tried(&numbered, globals, 0, 1, &[c"o"]);
    assert_eq!(numbered, AdumbraStatus::Size);
    let threads = AdumbraSumsOptions {
        threads: 1025,
        ..sized()
    };
    let threads = tried(&threads, globals, 0, 1, &[c"o"]);
    assert_eq!(threads, AdumbraStatus::Size);
    assert_eq!(last(), "`options->threads` is 1025, and the most is 1024");
    let others = compile(hit_compiler(), SHADER);
    let wrong = made!(adumbra_batch_globals_new(others));
    let wrong_globals = tried(&none, wrong, 0, 1, &[c"o"]);
    assert_eq!(wrong_globals, AdumbraStatus::WrongGlobals);

    // Points that come in quads are evaluated quad by quad.
    let layout = made!(adumbra_layout_new());
    let in_quads = AdumbraCompilerOptions {
        derivatives: AdumbraDerivatives::QuadFine as u32,
        ..sized()
    };
    let compiler = made!(adumbra_compiler_new(layout, &raw const in_quads));
    let quads = compile(compiler, "shader s(out float o) { o = 1.0; }");
    let of_quads = made!(adumbra_instance_new(quads));
    let zero = made!(adumbra_batch_globals_new(quads));
    let (output, mut none_of_them) = (c"o".as_ptr(), null_mut());
    let refused = call!(adumbra_sums_new(
        of_quads,
        null(),
        zero,
        0,
        4,
        &raw const output,
        1,
        null(),
        &raw mut none_of_them
    ));
    assert_eq!(refused, AdumbraStatus::Quads);
    call!(adumbra_batch_globals_free(zero));
    call!(adumbra_instance_free(of_quads));
    call!(adumbra_program_free(quads));
    call!(adumbra_compiler_free(compiler));
    call!(adumbra_layout_free(layout));

    // Sums of other outputs are not joined, and have no totals of these.
    let sums = fitted.sums(&none, globals, 0..10, null());
    let outputs = names(&[c"both"]);
    let both = made!(adumbra_sums_new(
        instance,
        null(),
        globals,
        10,
        10,
        outputs.as_ptr(),
        1,
        null()
    ));
    let joined = call!(adumbra_sums_join(sums, both));
    assert_eq!(joined, AdumbraStatus::WrongType);
    let (mut number, mut needed) = (0.0_f64, 0);
    let to = &raw mut number;
    let (o, count) = (c"o".as_ptr(), &raw mut needed);
    let absent = call!(adumbra_sums_total(both, o, to, 1, count));
    assert_eq!(absent, AdumbraStatus::UnknownName);
    let both_of = c"both".as_ptr();
    let short = call!(adumbra_sums_total(both, both_of, to, 1, count));
    assert_eq!((short, needed), (AdumbraStatus::BufferTooSmall, 2));
    call!(adumbra_sums_free(both));
    call!(adumbra_sums_free(sums));
    call!(adumbra_batch_globals_free(wrong));
    call!(adumbra_program_free(others));
    call!(adumbra_batch_globals_free(globals));
    fitted.free();
}

unsafe extern "C" fn counted(
    user: *mut c_void,
    request: *const AdumbraSampleRequest,
    texel: *mut f32,
) -> u32 {
    // SAFETY: the test passes a counter; the library passes a request, and memory for four numbers.
    unsafe {
        (*user.cast::<AtomicUsize>()).fetch_add(1, Ordering::Relaxed);
        let point = (*request).point;
        texel.copy_from([point as f32, 0.0, 0.0, 1.0].as_ptr(), 4);
        match point % 1000 {
            999 => AdumbraAnswer::Pending as u32,
            _ => AdumbraAnswer::Ready as u32,
        }
    }
}

#[test]
fn hosts_answer_on_all_threads() {
    let shader = "texture2d t; shader s(out float o) {
        o = texture2d_sample<t>(0.5, 0.5).x; if (o == 5) o = o / 0.0 + 1 / (int)(o - 5); }";
    let program = compile(hit_compiler(), shader);
    let instance = made!(adumbra_instance_new(program));
    let globals = made!(adumbra_batch_globals_new(program));
    let mut calls = AtomicUsize::new(0);
    let host = AdumbraHost {
        user: (&raw mut calls).cast(),
        sample: Some(counted),
        ..sized()
    };
    let options = AdumbraSumsOptions {
        threads: 4,
        ..sized()
    };
    let output = c"o".as_ptr();
    let sums = |first| {
        made!(adumbra_sums_new(
            instance,
            &raw const options,
            globals,
            first,
            POINTS - first,
            &raw const output,
            1,
            &raw const host
        ))
    };
    let finite = sums(6);
    assert_eq!(calls.load(Ordering::Relaxed), POINTS - 6);
    let waiting: usize = (999..POINTS).step_by(1000).sum();
    let expected = (6..POINTS).sum::<usize>() - waiting;
    assert_eq!(total(finite, c"o"), [(expected as f64).to_bits()]);
    let mut report: AdumbraSumsReport = sized();
    ok!(adumbra_sums_report(finite, &raw mut report));
    assert_eq!((report.pending, report.stopped, report.faulty), (20, 0, 0));

    let all = sums(0);
    ok!(adumbra_sums_report(all, &raw mut report));
    assert_eq!((report.faulty, report.first_faulty), (1, 5));
    assert_eq!((report.not_finite, report.first_not_finite), (1, 5));
    call!(adumbra_sums_free(all));
    call!(adumbra_sums_free(finite));
    call!(adumbra_batch_globals_free(globals));
    call!(adumbra_instance_free(instance));
    call!(adumbra_program_free(program));
}
