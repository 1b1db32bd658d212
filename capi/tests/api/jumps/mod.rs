//! Gradients through discontinuities through the C interface, against the facade.

mod refused;
mod sums;

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
