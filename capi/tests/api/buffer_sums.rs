//! Gradients by buffers in sums over points, against the facade, on threads and among hosts.

use crate::buffers::{SHADER, TABLE, WEIGHTS, filled, output_of, set};
use crate::common::{compile, hit_compiler, sized, text};
use crate::gradient::{gradient, names, rust_program};
use adumbra::batch::{BatchGlobals, Part, WholeBatch};
use adumbra::gradient::GradientRequest;
use adumbra::{Instance, NoTextures};
use adumbra_capi::*;
use std::ffi::CStr;
use std::ops::Range;
use std::ptr::{null, null_mut};
use std::thread;

const POINTS: usize = 20_000;

/// The program of a gradient by all buffers.
fn by_buffers(shader: &str) -> *mut AdumbraProgram {
    let program = compile(hit_compiler(), shader);
    let request = AdumbraGradientRequest {
        all_buffers: 1,
        ..sized()
    };
    let (status, made, _) = gradient(program, &request);
    assert_eq!(status, AdumbraStatus::Ok);
    call!(adumbra_program_free(program));
    made
}

/// A plane of positions and one of cotangents.
fn planes() -> [Vec<f32>; 2] {
    [0.37, 0.73].map(|step| {
        let points = 0..POINTS;
        points.map(|at| (at as f32 * step).sin()).collect()
    })
}

const PLANES: [&CStr; 2] = [c"position", c"d(o)"];

fn globals(program: *const AdumbraProgram, planes: &[Vec<f32>; 2]) -> *mut AdumbraBatchGlobals {
    let globals = made!(adumbra_batch_globals_new(program));
    for (name, plane) in PLANES.iter().zip(planes) {
        ok!(adumbra_batch_globals_plane(
            globals,
            name.as_ptr(),
            0,
            0,
            plane.as_ptr().cast(),
            plane.len(),
            1
        ));
    }
    globals
}

/// Sums of no outputs, whose names may be NULL.
fn sums(
    instance: *const AdumbraInstance,
    options: &AdumbraSumsOptions,
    globals: *const AdumbraBatchGlobals,
    points: Range<usize>,
) -> *mut AdumbraSums {
    made!(adumbra_sums_new(
        instance,
        options,
        globals,
        points.start,
        points.len(),
        null(),
        0,
        null()
    ))
}

/// The gradient by a buffer, as bits.
fn total(sums: *const AdumbraSums, buffer: &CStr) -> Vec<u64> {
    let mut needed = 0;
    let mut totals = [f64::NAN; 8];
    ok!(adumbra_sums_buffer(
        sums,
        buffer.as_ptr(),
        totals.as_mut_ptr(),
        8,
        &raw mut needed
    ));
    totals[..needed].iter().map(|sum| sum.to_bits()).collect()
}

fn totals(sums: *const AdumbraSums) -> [Vec<u64>; 2] {
    [c"w", c"table"].map(|buffer| total(sums, buffer))
}

/// The same of all points by the facade.
fn rust_totals(planes: &[Vec<f32>; 2]) -> [Vec<u64>; 2] {
    let gradient = rust_program(SHADER).gradient(&GradientRequest::new().by_buffers());
    let gradient = gradient.expect("it is one");
    let mut instance = Instance::new(gradient.program());
    instance.set_buffer("w", WEIGHTS.to_vec()).unwrap();
    instance.set_buffer("table", TABLE.to_vec()).unwrap();
    instance.set_buffer("order", vec![2_i32, 0]).unwrap();
    let mut globals = BatchGlobals::new(gradient.program().globals());
    for (name, plane) in ["position", "d(o)"].into_iter().zip(planes) {
        globals.plane(name, Part::Value, 0, plane, 1).unwrap();
    }
    let batch = WholeBatch::new(&instance);
    let (sums, _) = batch.sums(&globals, 0..POINTS, &[], || NoTextures).unwrap();
    ["w", "table"].map(|buffer| {
        let sums = sums.buffer(buffer).unwrap();
        assert!(sums.iter().any(|&sum| sum != 0.0));
        sums.into_iter().map(f64::to_bits).collect()
    })
}

#[test]
fn sums_by_buffers_have_bits_of_facade() {
    let planes = planes();
    let expected = rust_totals(&planes);
    let program = by_buffers(SHADER);
    let (instance, globals) = (filled(program), globals(program, &planes));
    for (width, threads) in [(0, 0), (1024, 1), (7, 2), (100, 3)] {
        let batch = AdumbraBatchOptions { width, ..sized() };
        let options = AdumbraSumsOptions {
            threads,
            batch: &raw const batch,
            ..sized()
        };
        let sums = sums(instance, &options, globals, 0..POINTS);
        assert_eq!(totals(sums), expected);
        call!(adumbra_sums_free(sums));
    }

    // In shards; sums of no outputs know their points, too.
    let shard = |points| sums(instance, &sized(), globals, points);
    let (whole, part) = (shard(0..7777), shard(7777..POINTS));
    ok!(adumbra_sums_join(whole, part));
    assert_eq!(totals(whole), expected);
    let point = shard(12_345..12_346);
    for (twice, first) in [(whole, 0), (part, 7777), (point, 12_345)] {
        let joined = call!(adumbra_sums_join(whole, twice));
        assert_eq!(joined, AdumbraStatus::Duplicate);
        let said = format!("`other` does not fit: point {first} is in both sums");
        assert_eq!(text(adumbra_last_error()), said);
    }
    assert_eq!(totals(whole), expected);
    for sums in [whole, part, point] {
        call!(adumbra_sums_free(sums));
    }

    // Of outputs and by buffers at once.
    let outputs = names(&[c"o"]);
    let both = made!(adumbra_sums_new(
        instance,
        null(),
        globals,
        0,
        POINTS,
        outputs.as_ptr(),
        1,
        null()
    ));
    assert_eq!(totals(both), expected);
    let mut sum = 0.0;
    let to = &raw mut sum;
    ok!(adumbra_sums_total(both, outputs[0], to, 1, null_mut()));
    assert!(sum != 0.0);
    call!(adumbra_sums_free(both));
    call!(adumbra_batch_globals_free(globals));
    call!(adumbra_instance_free(instance));
    call!(adumbra_program_free(program));
}

#[test]
fn sums_of_other_buffers_are_refused() {
    let planes = planes();
    let program = by_buffers(SHADER);
    let (instance, globals) = (filled(program), globals(program, &planes));
    let shard = |points| sums(instance, &sized(), globals, points);
    let before = shard(0..10);
    let expected = totals(before);
    let refused = |other: *mut AdumbraSums| {
        let joined = call!(adumbra_sums_join(before, other));
        assert_eq!(joined, AdumbraStatus::Size);
        let said = "`other` does not fit: the sums have gradients by other buffers, or by longer or shorter ones";
        assert_eq!(text(adumbra_last_error()), said);
        assert_eq!(totals(before), expected, "as they were");
        call!(adumbra_sums_free(other));
    };
    // Longer, shorter, and without any numbers.
    for length in [4, 2, 0] {
        let numbers = vec![1.0_f32; length];
        let status = set(instance, c"w", AdumbraType::Float, &numbers);
        assert_eq!(status, AdumbraStatus::Ok);
        refused(shard(10..20));
    }
    // Of a program without gradients by buffers.
    let other = compile(hit_compiler(), "shader s(out float o) { o = 1.0; }");
    let of_other = made!(adumbra_instance_new(other));
    let without = made!(adumbra_batch_globals_new(other));
    refused(sums(of_other, &sized(), without, 10..20));

    let none = sums(of_other, &sized(), without, 0..10);
    let (mut sum, mut needed) = (0.0_f64, 0);
    let to = &raw mut sum;
    let absent = |sums, name: &CStr| {
        let name = name.as_ptr();
        let status = call!(adumbra_sums_buffer(sums, name, null_mut(), 0, null_mut()));
        assert_eq!(status, AdumbraStatus::UnknownName);
        text(adumbra_last_error())
    };
    let said = "`buffer` is `w`, and there is no gradient by a buffer of that name";
    assert_eq!(absent(none, c"w"), said);
    // One that has no gradient, and an output.
    for name in [c"order", c"o", c"d(w)", c""] {
        absent(before, name);
    }
    let (table, count) = (c"table".as_ptr(), &raw mut needed);
    let short = call!(adumbra_sums_buffer(before, table, to, 1, count));
    assert_eq!((short, needed), (AdumbraStatus::BufferTooSmall, 6));
    assert_eq!(sum, 0.0, "nothing was written");
    // Without numbers there are none.
    let status = set(instance, c"w", AdumbraType::Float, &[]);
    assert_eq!(status, AdumbraStatus::Ok);
    let empty = shard(0..10);
    assert!(total(empty, c"w").is_empty());
    for sums in [none, before, empty] {
        call!(adumbra_sums_free(sums));
    }
    call!(adumbra_batch_globals_free(without));
    call!(adumbra_instance_free(of_other));
    call!(adumbra_program_free(other));
    call!(adumbra_batch_globals_free(globals));
    call!(adumbra_instance_free(instance));
    call!(adumbra_program_free(program));
}

/// A handle that threads share.
#[derive(Clone, Copy)]
struct Shared<T>(*mut T);

// SAFETY: handles may be used by any thread; that is what is tested.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: the handles live until the threads were joined, and each call is one that threads may
// share.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn get(&self) -> *mut T {
        self.0
    }
}

#[test]
fn threads_share_instances_and_sums() {
    // The sum is 1 for any of the lengths only if all numbers are of one setting.
    let shader = "buffer<float> w; shader s(out float o) {
        o = 0; for (int i = 0; i < w.length(); i++) { o += w[i]; } }";
    let program = by_buffers(shader);
    let instance = Shared(made!(adumbra_instance_new(program)));
    let globals = Shared(made!(adumbra_batch_globals_new(program)));
    let seed = 1.0_f32;
    ok!(adumbra_batch_globals_uniform(
        globals.get(),
        c"d(o)".as_ptr(),
        0,
        (&raw const seed).cast(),
        1
    ));
    let of = |length: usize| vec![1.0 / length as f32; length];
    let status = set(instance.get(), c"w", AdumbraType::Float, &of(4));
    assert_eq!(status, AdumbraStatus::Ok);
    let all = Shared(sums(instance.get(), &sized(), globals.get(), 0..1));
    thread::scope(|scope| {
        for number in 0..8_usize {
            let of = &of;
            let (instance, globals, all) = (&instance, &globals, &all);
            scope.spawn(move || {
                for round in 0..100 {
                    let length = 1 << (8 + (number + round) % 8);
                    let status = set(instance.get(), c"w", AdumbraType::Float, &of(length));
                    assert_eq!(status, AdumbraStatus::Ok);
                    let evaluator = made!(adumbra_evaluator_new(instance.get(), null()));
                    assert_eq!(output_of(evaluator, &[0.0; 57]), 1.0);
                    call!(adumbra_evaluator_free(evaluator));
                    assert_eq!(total(all.get(), c"w").len(), 4);
                    let mut other = null_mut();
                    let status = call!(adumbra_sums_new(
                        instance.get(),
                        null(),
                        globals.get(),
                        1,
                        1,
                        null(),
                        0,
                        null(),
                        &raw mut other
                    ));
                    // Another thread has the globals, or these sums are of a longer buffer.
                    if status == AdumbraStatus::Ok {
                        let joined = call!(adumbra_sums_join(all.get(), other));
                        assert_eq!(joined, AdumbraStatus::Size);
                        call!(adumbra_sums_free(other));
                    } else {
                        assert_eq!(status, AdumbraStatus::Busy);
                    }
                }
            });
        }
    });
    assert_eq!(total(all.get(), c"w"), [1.0_f64.to_bits(); 4]);
    call!(adumbra_sums_free(all.get()));
    call!(adumbra_batch_globals_free(globals.get()));
    call!(adumbra_instance_free(instance.get()));
    call!(adumbra_program_free(program));
}
