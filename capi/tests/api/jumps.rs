//! Gradients through discontinuities through the C interface, against the facade.

use crate::common::{compile, report, rust_compiler, sized, text};
use crate::gradient::{names, rust_program};
use adumbra::batch::{BatchGlobals, BatchSetup, OutputPlane, Part};
use adumbra::gradient::{Axis, GradientRequest, JumpBatch, JumpGradient, JumpRules, QuietRules};
use adumbra::{Instance, NoTextures};
use adumbra_capi::*;
use std::ffi::{CStr, c_void};
use std::ops::Range;
use std::ptr::{null, null_mut};

/// A disc over a ramp: edges, a smooth part, and an input that leads nowhere.
const DISC: &str = "shader disc(float radius = 3.3, float2 centre = float2(6.2, 4.9), color ink = color(1, 0.5, 0.2),
           float unused = 1.0, out color c, out int inside)
    {
        float2 p = float2(global_value<position>.x, global_value<position>.y) - centre;
        inside = length(p) < radius ? 1 : 0;
        c = length(p) < radius ? ink : 0.01 * radius * p.x * color(1, 1, 1);
    }";
const WIDTH: usize = 12;
const HEIGHT: usize = 9;
const POINTS: usize = WIDTH * HEIGHT;

/// The axes of pixels.
fn axes() -> [AdumbraAxis; 2] {
    [0, 1].map(|scalar| AdumbraAxis {
        global: c"position".as_ptr(),
        scalar,
        spacing: 1.0,
    })
}

const EDGE: u32 = AdumbraJumpRules::Edge as u32;

/// A gradient through discontinuities, or its diagnostics.
fn jump_gradient(
    program: *const AdumbraProgram,
    request: *const AdumbraGradientRequest,
    axes: &[AdumbraAxis],
    rules: u32,
) -> (
    AdumbraStatus,
    *mut AdumbraJumpGradient,
    *mut AdumbraDiagnostics,
) {
    let (mut made, mut found) = (null_mut(), null_mut());
    let status = call!(adumbra_program_jump_gradient(
        program,
        request,
        axes.as_ptr(),
        axes.len(),
        rules,
        &raw mut made,
        &raw mut found
    ));
    assert_eq!(made.is_null(), status != AdumbraStatus::Ok);
    (status, made, found)
}

/// What is evaluated of a gradient.
struct Made {
    jumps: *mut AdumbraJumpGradient,
    smooth: *mut AdumbraProgram,
    instance: *mut AdumbraInstance,
    globals: *mut AdumbraBatchGlobals,
}

impl Made {
    fn new(
        shader: &str,
        request: &AdumbraGradientRequest,
        axes: &[AdumbraAxis],
        rules: u32,
    ) -> Made {
        let program = compile(crate::common::hit_compiler(), shader);
        let (status, jumps, found) = jump_gradient(program, request, axes, rules);
        assert_eq!((status, found.is_null()), (AdumbraStatus::Ok, true));
        call!(adumbra_program_free(program));
        let smooth = made!(adumbra_jump_gradient_smooth(jumps));
        Made {
            jumps,
            smooth,
            instance: made!(adumbra_instance_new(smooth)),
            globals: made!(adumbra_batch_globals_new(smooth)),
        }
    }

    fn plane(&self, name: &CStr, scalar: usize, plane: &[f32]) {
        ok!(adumbra_batch_globals_plane(
            self.globals,
            name.as_ptr(),
            0,
            scalar,
            plane.as_ptr().cast(),
            plane.len(),
            1
        ));
    }

    fn seed(&self, name: &CStr, values: &[f32]) {
        ok!(adumbra_batch_globals_uniform(
            self.globals,
            name.as_ptr(),
            0,
            values.as_ptr().cast(),
            values.len()
        ));
    }

    /// The status of an evaluation into planes, and its report.
    fn planes(
        &self,
        options: &AdumbraJumpOptions,
        points: Range<usize>,
        planes: &[AdumbraOutputPlane],
    ) -> (AdumbraStatus, AdumbraJumpReport) {
        let mut report = sized();
        let status = call!(adumbra_jump_gradient_planes(
            self.jumps,
            self.instance,
            options,
            self.globals,
            points.start,
            points.len(),
            planes.as_ptr(),
            planes.len(),
            null(),
            &raw mut report
        ));
        (status, report)
    }

    fn sums(
        &self,
        options: &AdumbraJumpOptions,
        points: Range<usize>,
        of: &[&CStr],
    ) -> *mut AdumbraSums {
        let of = names(of);
        made!(adumbra_jump_gradient_sums(
            self.jumps, self.instance, options, self.globals, points.start, points.len(), of.as_ptr(), of.len(),
            null() ; null_mut()
        ))
    }

    fn points(&self, options: &AdumbraJumpOptions, points: Range<usize>) -> Vec<AdumbraJumpPoint> {
        let mut needed = 0;
        let none = AdumbraJumpPoint {
            point: 0,
            axis: 0,
            flips: 0,
            roots: 0,
            counted: 0,
            nullified: 0,
            has_axis: 0,
        };
        let mut found = vec![none; points.len()];
        let mut fill = |capacity| {
            call!(adumbra_jump_gradient_points(
                self.jumps,
                self.instance,
                options,
                self.globals,
                points.start,
                points.len(),
                null(),
                found.as_mut_ptr(),
                capacity,
                &raw mut needed
            ))
        };
        assert_eq!(fill(0), AdumbraStatus::BufferTooSmall);
        assert_eq!(fill(points.len()), AdumbraStatus::Ok);
        found.truncate(needed);
        found
    }

    fn free(self) {
        call!(adumbra_jump_gradient_free(self.jumps));
        call!(adumbra_program_free(self.smooth));
        call!(adumbra_instance_free(self.instance));
        call!(adumbra_batch_globals_free(self.globals));
    }
}

/// A plane of the value of a scalar.
fn plane_of(scalar: usize, words: &mut [f32], stride: usize) -> AdumbraOutputPlane {
    AdumbraOutputPlane {
        part: 0,
        scalar,
        plane: words.as_mut_ptr().cast::<c_void>(),
        capacity: words.len(),
        stride,
    }
}

/// The first scalar of an output.
fn scalar_of(program: *const AdumbraProgram, output: &CStr) -> usize {
    let mut variable: AdumbraVariable = sized();
    ok!(adumbra_program_find(
        program,
        0,
        output.as_ptr(),
        &raw mut variable
    ));
    variable.first
}

/// The positions of the points of lines of pixels.
fn pixels(points: Range<usize>) -> [Vec<f32>; 2] {
    let x = points.clone().map(|at| (at % WIDTH) as f32 + 0.5);
    [
        x.collect(),
        points.map(|at| (at / WIDTH) as f32 + 0.5).collect(),
    ]
}

/// The image of the disc.
fn disc(rules: u32) -> (Made, [Vec<f32>; 2]) {
    let made = Made::new(DISC, &sized(), &axes(), rules);
    let pixels = pixels(0..POINTS);
    for (scalar, plane) in pixels.iter().enumerate() {
        made.plane(c"position", scalar, plane);
    }
    made.seed(c"d(c)", &[1.0, 0.5, 0.25]);
    (made, pixels)
}

/// The gradient of the disc by the facade.
fn rust_disc(rules: JumpRules) -> JumpGradient {
    let axes = [0, 1].map(|at| Axis::new("position", at, 1.0));
    let jumps = rust_program(DISC).jump_gradient(&GradientRequest::new(), &axes, rules);
    jumps.expect("it is one")
}

/// The outputs that are compared, with their scalars.
const COMPARED: [(&CStr, usize); 4] = [
    (c"c", 1),
    (c"d(radius)", 0),
    (c"d(centre)", 0),
    (c"d(centre)", 1),
];

fn bits(words: &[f32]) -> Vec<u32> {
    words.iter().map(|word| word.to_bits()).collect()
}

#[test]
fn planes_and_points_have_bits_of_facade() {
    for (rules, rust_rules) in [(0, JumpRules::Pair), (EDGE, JumpRules::Edge)] {
        for (quiet, rust_quiet) in [(0, QuietRules::Smooth), (1, QuietRules::Secants)] {
            let (made, pixels) = disc(rules);
            let jumps = rust_disc(rust_rules);
            let program = jumps.smooth().program();
            let mut globals = BatchGlobals::new(program.globals());
            for (scalar, plane) in pixels.iter().enumerate() {
                globals
                    .plane("position", Part::Value, scalar, plane, 1)
                    .unwrap();
            }
            globals
                .uniform_part("d(c)", Part::Value, [1.0_f32, 0.5, 0.25])
                .unwrap();
            let batch = JumpBatch::new(&jumps, &Instance::new(program)).quiet(rust_quiet);
            for (threads, width, is_image) in [(0, 0, false), (2, 7, false), (1, 0, true)] {
                let setup = BatchSetup::default();
                let mut batch = batch.clone().setup(setup);
                let options = AdumbraBatchOptions { width, ..sized() };
                let mut options = AdumbraJumpOptions {
                    threads,
                    batch: &raw const options,
                    quiet,
                    ..sized()
                };
                if is_image {
                    batch = batch.image(WIDTH, 0..POINTS);
                    options.image_width = WIDTH as u32;
                    options.planes_points = POINTS;
                }
                // The last lines, whose neighbours above are there.
                let points = 2 * WIDTH..POINTS;
                let mut expected = vec![vec![0.0_f32; points.len()]; COMPARED.len()];
                let mut planes: Vec<OutputPlane<'_>> = (COMPARED.iter().zip(&mut expected))
                    .map(|((name, scalar), plane)| {
                        OutputPlane::new(name.to_str().unwrap(), Part::Value, *scalar, plane, 1)
                    })
                    .collect();
                let done = batch.planes(&globals, points.clone(), &mut planes, || NoTextures);
                let (.., facade) = done.unwrap();
                // Interleaved, with one number between that stays.
                let stride = COMPARED.len() + 1;
                let mut all = vec![7.0_f32; points.len() * stride];
                let planes: Vec<AdumbraOutputPlane> = COMPARED
                    .iter()
                    .enumerate()
                    .map(|(at, (name, scalar))| {
                        plane_of(
                            scalar_of(made.smooth, name) + scalar,
                            &mut all[at..],
                            stride,
                        )
                    })
                    .collect();
                let (status, report) = made.planes(&options, points.clone(), &planes);
                assert_eq!(status, AdumbraStatus::Ok);
                for (at, expected) in expected.iter().enumerate() {
                    let own: Vec<f32> = all.iter().skip(at).step_by(stride).copied().collect();
                    assert_eq!(bits(&own), bits(expected), "{:?}", COMPARED[at]);
                }
                assert!(
                    all.iter()
                        .skip(stride - 1)
                        .step_by(stride)
                        .all(|&word| word == 7.0)
                );
                assert_eq!(
                    (
                        report.points,
                        report.roots,
                        report.nullified,
                        report.first_nullified
                    ),
                    (
                        facade.points as u64,
                        facade.roots as u64,
                        facade.nullified as u64,
                        facade.first_nullified.unwrap_or(0) as u64
                    )
                );
                assert!(report.points > 10 && report.stopped + report.pending + report.faulty == 0);
                let expected = batch
                    .points(&globals, points.clone(), || NoTextures)
                    .unwrap();
                let expected = expected.iter().map(|point| {
                    let axis = point.axis.map_or((0, 0), |axis| (axis, 1));
                    (point.point, axis, point.flips, point.roots, point.counted)
                });
                let found = made.points(&options, points).into_iter().map(|point| {
                    let axis = (point.axis, point.has_axis);
                    (point.point, axis, point.flips, point.roots, point.counted)
                });
                assert!(found.eq(expected));
            }
            made.free();
        }
    }
}

#[test]
fn sums_of_strips_are_those_of_image() {
    let (made, _pixels) = disc(EDGE);
    let image = AdumbraJumpOptions {
        image_width: WIDTH as u32,
        ..sized()
    };
    let of = [c"d(radius)", c"d(centre)", c"c"];
    let totals = |sums| {
        let total = |name: &&CStr| {
            let (mut totals, mut count) = ([0.0; 3], 0);
            ok!(adumbra_sums_total(
                sums,
                name.as_ptr(),
                totals.as_mut_ptr(),
                3,
                &raw mut count
            ));
            totals.map(f64::to_bits)[..count].to_vec()
        };
        of.iter().map(total).collect::<Vec<_>>()
    };
    let whole = made.sums(&image, 0..POINTS, &of);
    let expected = totals(whole);
    let mut by_radius = vec![0.0_f32; POINTS];
    let plane = plane_of(scalar_of(made.smooth, c"d(radius)"), &mut by_radius, 1);
    let (status, _) = made.planes(&image, 0..POINTS, &[plane]);
    assert_eq!(status, AdumbraStatus::Ok);
    let sum: f64 = by_radius.iter().map(|&float| f64::from(float)).sum();
    assert!((f64::from_bits(expected[0][0]) - sum).abs() < 1e-9 && sum > 1.0);
    // By strips, each with planes of its own lines and those around them.
    let mut joined: *mut AdumbraSums = null_mut();
    for lines in [0..2, 2..7, 7..HEIGHT] {
        let around = lines.start.saturating_sub(1)..HEIGHT.min(lines.end + 1);
        let pixels = pixels(around.start * WIDTH..around.end * WIDTH);
        for (scalar, plane) in pixels.iter().enumerate() {
            made.plane(c"position", scalar, plane);
        }
        let options = AdumbraJumpOptions {
            numbered_from: (around.start * WIDTH) as u64,
            planes_points: around.len() * WIDTH,
            threads: 2,
            ..image
        };
        let first = (lines.start - around.start) * WIDTH;
        let strip = made.sums(&options, first..first + lines.len() * WIDTH, &of);
        if joined.is_null() {
            joined = strip;
            continue;
        }
        ok!(adumbra_sums_join(joined, strip));
        let twice = call!(adumbra_sums_join(joined, strip));
        assert_eq!(twice, AdumbraStatus::Duplicate);
        call!(adumbra_sums_free(strip));
    }
    assert_eq!(totals(joined), expected);
    call!(adumbra_sums_free(joined));
    call!(adumbra_sums_free(whole));
    made.free();
}

#[test]
fn buffers_have_edges_in_sums() {
    let shader = "buffer<float> w; shader s(out float c) { c = w[0] * step(global_value<position>.x, w[1]); }";
    let by = AdumbraGradientRequest {
        all_buffers: 1,
        ..sized()
    };
    let made = Made::new(shader, &by, &axes()[..1], EDGE);
    let w = [3.0_f32, 0.4];
    let (name, float) = (c"w".as_ptr(), AdumbraType::Float as u32);
    ok!(adumbra_instance_set_buffer(
        made.instance,
        name,
        float,
        w.as_ptr().cast(),
        2
    ));
    made.plane(c"position", 0, &[-1.0, 0.0, 1.0, 2.0]);
    made.seed(c"d(c)", &[1.0]);
    let sums = made.sums(&sized(), 0..4, &[]);
    let mut totals = [0.0; 2];
    ok!(adumbra_sums_buffer(
        sums,
        name,
        totals.as_mut_ptr(),
        2,
        null_mut()
    ));
    // As the facade's test has it.
    assert_eq!(totals, [2.0, 3.0]);
    call!(adumbra_sums_free(sums));
    made.free();
}

#[test]
fn zero_gradients_are_those_of_edges() {
    let (made, _) = disc(EDGE);
    let jumps = rust_disc(JumpRules::Edge);
    let smooth = jumps.smooth();
    let outputs = smooth.outputs().len();
    for (at, by) in smooth.parameters().iter().enumerate() {
        let mut is_zero = 7;
        ok!(adumbra_jump_gradient_is_zero(
            made.jumps,
            outputs + at,
            &raw mut is_zero
        ));
        assert_eq!(is_zero == 1, jumps.is_zero(by), "{}", by.value.name);
        assert_eq!(is_zero == 1, by.value.name == "unused");
    }
    let (count, mut is_zero) = (outputs + smooth.parameters().len(), 7);
    ok!(adumbra_jump_gradient_is_zero(
        made.jumps,
        0,
        &raw mut is_zero
    ));
    assert_eq!(is_zero, 0);
    let beyond = call!(adumbra_jump_gradient_is_zero(
        made.jumps,
        count,
        &raw mut is_zero
    ));
    assert_eq!(beyond, AdumbraStatus::Index);
    made.free();
}

#[test]
fn uniform_global_has_neighbours_along_axis() {
    let made = Made::new(
        "shader s(float edge = 0.4, out float c) { c = step(global_value<position>.x, edge); }",
        &sized(),
        &axes()[..1],
        EDGE,
    );
    made.seed(c"d(c)", &[1.0]);
    let uniform = names(&[c"position"]);
    let batch = AdumbraBatchOptions {
        uniform: uniform.as_ptr(),
        uniform_count: 1,
        ..sized()
    };
    let options = AdumbraJumpOptions {
        batch: &raw const batch,
        ..sized()
    };
    let mut by_edge = [7.0_f32; 3];
    let plane = plane_of(scalar_of(made.smooth, c"d(edge)"), &mut by_edge, 1);
    let (status, report) = made.planes(&options, 0..3, &[plane]);
    assert_eq!((status, report.points), (AdumbraStatus::Ok, 3));
    assert_eq!(by_edge, [0.5; 3]);
    made.free();
}

#[test]
fn refused_jump_gradients_say_why() {
    let program = compile(crate::common::hit_compiler(), DISC);
    let refused = |request: &AdumbraGradientRequest, axes: &[AdumbraAxis], says: &str| {
        let (status, _, found) = jump_gradient(program, request, axes, EDGE);
        assert_eq!(status, AdumbraStatus::Refused);
        let said = report(found);
        assert!(said.contains(says), "{said}");
        call!(adumbra_diagnostics_free(found));
    };
    let [x, y] = axes();
    let at = |scalar| AdumbraAxis { scalar, ..x };
    let spaced = |spacing| AdumbraAxis { spacing, ..x };
    refused(&sized(), &[], "there is no axis");
    refused(&sized(), &[x, x], "is given twice");
    refused(&sized(), &[at(3)], "is no float of a global");
    refused(&sized(), &[at(usize::MAX)], "is no float of a global");
    for spacing in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        refused(&sized(), &[spaced(spacing)], "have no distance");
    }
    let mut many = [x, y, at(2), x, y];
    many[3].global = c"uvw".as_ptr();
    many[4].global = c"uvw".as_ptr();
    refused(&sized(), &many, "there are 5 axes, and at most 4");
    let unknown = AdumbraAxis {
        global: c"positoin".as_ptr(),
        ..x
    };
    refused(&sized(), &[unknown], "did you mean `position`?");
    let wrong = names(&[c"radios"]);
    let request = AdumbraGradientRequest {
        inputs: wrong.as_ptr(),
        input_count: 1,
        ..sized()
    };
    refused(&request, &[x], "did you mean `radius`?");
    let forward = AdumbraGradientRequest {
        mode: AdumbraGradientMode::Forward as u32,
        ..sized()
    };
    refused(&forward, &[x], "this one is forward");

    let last = |axes: &[AdumbraAxis], rules| {
        let (status, _, found) = jump_gradient(program, null(), axes, rules);
        assert!(found.is_null());
        (status, text(adumbra_last_error()))
    };
    let (status, said) = last(&[x], 2);
    assert_eq!(status, AdumbraStatus::InvalidValue);
    assert_eq!(said, "`rules` is 2, which is not from 0 to 1");
    let unnamed = AdumbraAxis {
        global: null(),
        ..x
    };
    let (status, said) = last(&[y, unnamed], EDGE);
    assert_eq!(status, AdumbraStatus::Null);
    assert_eq!(said, "`axes[1].global` is NULL");
    call!(adumbra_program_free(program));

    // Rules of pairs refuse control flow; gradients end at what has none.
    let shader = "shader s(float a = 0.5, out float o) {
        float x = global_value<position>.x; o = 0; while (o < 10 * x) { o += a; } }";
    let program = compile(crate::common::hit_compiler(), shader);
    let (status, _, found) = jump_gradient(program, null(), &[x], 0);
    assert_eq!(status, AdumbraStatus::Refused);
    assert!(report(found).contains("E0571"));
    call!(adumbra_diagnostics_free(found));
    call!(adumbra_program_free(program));
    let shader =
        "texture2d t; shader s(float a = 0.5, out color o) { o = texture2d_sample<t>(a, a); }";
    let program = compile(crate::common::hit_compiler(), shader);
    let (status, made, found) = jump_gradient(program, null(), &[x], EDGE);
    assert_eq!(status, AdumbraStatus::Ok);
    assert!(report(found).contains("W0518"));
    call!(adumbra_diagnostics_free(found));
    call!(adumbra_jump_gradient_free(made));
    // A program of a file has no gradient.
    let bytes = rust_compiler()
        .compile(&adumbra::Sources::new("s.adu", shader))
        .unwrap()
        .to_bytecode();
    let loaded = made!(adumbra_program_load(bytes.as_ptr(), bytes.len() ; null_mut()));
    let (status, _, found) = jump_gradient(loaded, null(), &[x], EDGE);
    assert_eq!((status, found.is_null()), (AdumbraStatus::Refused, false));
    call!(adumbra_diagnostics_free(found));
    call!(adumbra_program_free(loaded));
    call!(adumbra_program_free(program));
}

#[test]
fn invalid_evaluations_of_jumps_are_named() {
    let (made, _pixels) = disc(EDGE);
    let mut plane = vec![7.0_f32; POINTS];
    let radius = plane_of(scalar_of(made.smooth, c"d(radius)"), &mut plane, 1);
    let says =
        |options: AdumbraJumpOptions, points, planes: &[AdumbraOutputPlane], status, says: &str| {
            let (given, report) = made.planes(&options, points, planes);
            assert_eq!((given, report.points), (status, 0), "{says}");
            assert_eq!(text(adumbra_last_error()), says);
        };
    let size = AdumbraStatus::Size;
    let value = AdumbraStatus::InvalidValue;
    let all = 0..POINTS;
    let threads = AdumbraJumpOptions {
        threads: 1025,
        ..sized()
    };
    let most = "`options->threads` is 1025, and the most is 1024";
    says(threads, all.clone(), &[radius], size, most);
    let quiet = AdumbraJumpOptions {
        quiet: 2,
        ..sized()
    };
    let to = "`options->quiet` is 2, which is not from 0 to 1";
    says(quiet, all.clone(), &[radius], value, to);
    let image = |first, count| AdumbraJumpOptions {
        image_width: u32::MAX,
        planes_first: first,
        planes_points: count,
        ..sized()
    };
    let outside =
        "`options->planes_points` says that there are points 5 to 9, and 4 to 8 are evaluated";
    says(image(5, 4), 4..8, &[radius], size, outside);
    let beyond = "`options->planes_points` is greater than any number of points";
    says(image(1, usize::MAX), 4..8, &[radius], size, beyond);
    let beyond = "`points` is greater than any number of points";
    says(sized(), 1..usize::MAX, &[radius], size, beyond);
    let long = "`globals` has a plane that is too short for 109 points: scalar 0 of the value of `position`";
    says(image(0, POINTS + 1), all.clone(), &[radius], size, long);
    says(
        sized(),
        1..POINTS + 1,
        &[AdumbraOutputPlane {
            capacity: POINTS,
            ..radius
        }],
        size,
        long,
    );
    let short = [
        radius,
        AdumbraOutputPlane {
            stride: 2,
            ..radius
        },
    ];
    let few = "`planes[1].capacity` is 108, too few for 108 points";
    says(sized(), all.clone(), &short, size, few);
    let shared = AdumbraOutputPlane {
        stride: 0,
        ..radius
    };
    let few = "`planes[0].capacity` is 108, too few for 108 points";
    says(sized(), all.clone(), &[shared], size, few);
    let part = AdumbraOutputPlane { part: 3, ..radius };
    let parts = "`planes[0].part` is 3, which is not from 0 to 2";
    says(sized(), all.clone(), &[part], value, parts);
    let scalar = AdumbraOutputPlane {
        scalar: usize::MAX,
        ..radius
    };
    let scalars = format!(
        "`planes[0].scalar` is {}, and the number of scalars of outputs is 11",
        usize::MAX
    );
    says(
        sized(),
        all.clone(),
        &[scalar],
        AdumbraStatus::Index,
        &scalars,
    );
    let nowhere = AdumbraOutputPlane {
        plane: null_mut(),
        ..radius
    };
    says(
        sized(),
        all.clone(),
        &[nowhere],
        AdumbraStatus::Null,
        "`planes[0].plane` is NULL",
    );
    assert_eq!(plane, [7.0; POINTS]);

    // No points at all, wherever; and an image of one line that is as wide as there can be.
    let (status, report) = made.planes(&sized(), 1_000_000..1_000_000, &[radius]);
    assert_eq!((status, report.points), (AdumbraStatus::Ok, 0));
    assert_eq!(plane, [7.0; POINTS]);
    let (status, _) = made.planes(&image(0, POINTS), 4..POINTS, &[radius]);
    assert_eq!(status, AdumbraStatus::Ok);
    assert!(made.points(&sized(), 0..POINTS).len() > 10);

    let other = Made::new(DISC, &sized(), &axes()[..1], EDGE);
    let with = |instance, globals, options: &AdumbraJumpOptions| {
        let (mut sums, outputs) = (null_mut(), names(&[c"d(radios)"]));
        let status = call!(adumbra_jump_gradient_sums(
            other.jumps,
            instance,
            options,
            globals,
            0,
            1,
            outputs.as_ptr(),
            1,
            null(),
            &raw mut sums,
            null_mut()
        ));
        assert!(sums.is_null());
        (status, text(adumbra_last_error()))
    };
    let said = with(made.instance, other.globals, &sized());
    let of_other = "`instance` is of another program than the smooth one of `jumps`";
    assert_eq!(said, (AdumbraStatus::WrongType, of_other));
    let said = with(other.instance, other.globals, &image(0, 0));
    let one = "`options->image_width` is not 0, and `jumps` has one axis, where an image has two";
    assert_eq!(said, (value, one));
    let (status, said) = with(other.instance, other.globals, &sized());
    assert_eq!(status, AdumbraStatus::UnknownName);
    assert_eq!(
        said,
        "`outputs[0]` is `d(radios)`, and there is no output of that name"
    );
    let shader = "shader s(float a = 1.0, out float o) { o = a * length(global_value<position>); }";
    let different = Made::new(shader, &sized(), &axes(), EDGE);
    let (status, _) = {
        let mut plane = radius;
        plane.scalar = 0;
        let wrong = Made {
            globals: different.globals,
            ..other
        };
        let done = wrong.planes(&sized(), 0..1, &[plane]);
        wrong.free();
        done
    };
    assert_eq!(status, AdumbraStatus::WrongGlobals);
    call!(adumbra_jump_gradient_free(different.jumps));
    call!(adumbra_program_free(different.smooth));
    call!(adumbra_instance_free(different.instance));
    made.free();
}
