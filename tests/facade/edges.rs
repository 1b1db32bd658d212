//! Gradients by edges: facts, and what edges must not change.

use crate::counts::EDGES;
use crate::discontinuities::{Fact, facts, hold_on_every_engine};
use adumbra::batch::{
    BatchGlobals, BatchSetup, OutputPlane, OutputSums, Part, SimdLevel, WholeBatch,
};
use adumbra::evaluator::Engine;
use adumbra::gradient::{Axis, GradientRequest, JumpBatch, JumpRules};
use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Sources, Type};
use adumbra_fuzz::campaign::run_edges;

/// The gradient of a fact by edges.
pub(crate) fn by_edges(fact: &Fact, engine: Engine, setup: &BatchSetup) -> Vec<f64> {
    let (program, axes) = fact.program();
    let edges = program.jump_gradient(&GradientRequest::new(), &axes, JumpRules::Edge);
    let edges = edges.unwrap_or_else(|found| panic!("{}: {found}", fact.id));
    let gradient = edges.smooth().program();
    let globals = fact.globals(edges.smooth());
    let mut found = vec![[0.0_f32]; fact.parameters.len()];
    let names = fact.names();
    let mut planes: Vec<OutputPlane<'_>> = (names.iter().zip(&mut found))
        .map(|(name, plane)| OutputPlane::new(name, Part::Value, 0, plane, 1))
        .collect();
    let batch = JumpBatch::new(&edges, &Instance::new(gradient));
    let batch = batch.setup(setup.clone()).engine(engine);
    let done = batch.planes(&globals, 0..1, &mut planes, || NoTextures);
    let (_, report, edges) = done.unwrap();
    assert_eq!((report.stopped, edges.nullified), (0, 0), "{}", fact.id);
    found.into_iter().map(|[float]| float.into()).collect()
}

#[test]
fn facts_of_edges_hold_on_every_engine() {
    let facts = facts("edge");
    assert!(facts.len() >= 53, "{} facts", facts.len());
    hold_on_every_engine(&facts, by_edges);
}

/// Rings: decisions in a loop, one of them by what the others gave.
const RINGS: &str = "
    shader rings(float2 centre = float2(9.3, 7.8), float radius = 2.7, float step = 2.3, color ink = color(0.9, 0.4, 0.1), out color c, out float count)
    {
        float2 p = global_value<pixel> - centre;
        float best = -10.0;
        c = color(0, 0, 0);
        for (int i = 0; i < 3; i++) {
            float outer = radius + i * step;
            float d = length(p);
            float z = 0.3 * p.x - i;
            if (d < outer && d > 0.8 * outer && z > best) {
                best = z;
                c = ink * (1.0 + 0.1 * i);
                count += 1.0;
            }
        }
        count += 0.5 * floor(0.4 * p.y + radius);
    }";
const WIDTH: usize = 24;
const HEIGHT: usize = 19;

/// What an image's gradient is evaluated by.
#[derive(Clone, Copy)]
struct Setting {
    engine: Engine,
    simd: Option<SimdLevel>,
    width: Option<usize>,
    threads: usize,
    /// Lines of pixels that are evaluated at a time.
    strip: usize,
    /// The only axis along which edges are looked for, if not along both.
    along: Option<usize>,
    /// The weights of the outputs: of each number of `c`, and of `count`.
    weights: [f32; 2],
}

const SETTING: Setting = Setting {
    engine: Engine::Batch,
    simd: None,
    width: None,
    threads: 1,
    strip: HEIGHT,
    along: None,
    weights: [1.0, 0.5],
};

/// The planes of a shader's gradient by its inputs, over an image, and how many points see edges.
fn image_gradient(source: &str, setting: Setting, is_smooth: bool) -> (Vec<Vec<f32>>, usize) {
    let layout = GlobalsLayout::new().with("pixel", Type::Vector(2)).unwrap();
    let program = Compiler::new(layout)
        .compile(&Sources::new("image.adu", source))
        .unwrap();
    let axes = [0, 1].map(|at| Axis::new("pixel", at, 1.0));
    let edges = program
        .jump_gradient(&GradientRequest::new(), &axes, JumpRules::Edge)
        .unwrap();
    let gradient = edges.smooth().program();
    let names = edges.smooth().parameters().iter().flat_map(|parameter| {
        let floats = 0..parameter.value.ty.scalar_count();
        floats.map(move |float| (format!("d({})", parameter.value.name), float))
    });
    let names: Vec<(String, usize)> = names.collect();
    let mut found = vec![vec![0.0_f32; WIDTH * HEIGHT]; names.len()];
    let mut points = 0;
    for line in (0..HEIGHT).step_by(setting.strip) {
        let lines = line..HEIGHT.min(line + setting.strip);
        // The lines of pixels around a strip are its neighbours.
        let around = lines.start.saturating_sub(1)..HEIGHT.min(lines.end + 1);
        let numbers = around.start * WIDTH..around.end * WIDTH;
        let x: Vec<f32> = numbers
            .clone()
            .map(|at| (at % WIDTH) as f32 + 0.5)
            .collect();
        let y: Vec<f32> = numbers
            .clone()
            .map(|at| (at / WIDTH) as f32 + 0.5)
            .collect();
        let mut globals = BatchGlobals::new(gradient.globals());
        globals.plane("pixel", Part::Value, 0, &x, 1).unwrap();
        globals.plane("pixel", Part::Value, 1, &y, 1).unwrap();
        globals
            .uniform_part("pixel", Part::Ddx, [1.0_f32, 0.0])
            .unwrap();
        globals
            .uniform_part("pixel", Part::Ddy, [0.0_f32, 1.0])
            .unwrap();
        for output in edges.smooth().outputs() {
            let seed = format!("d({})", output.name);
            let [of_colour, of_count] = setting.weights;
            match output.name.as_str() {
                "c" => globals
                    .uniform(&seed, [of_colour; 3], [0.0; 3], [0.0; 3])
                    .unwrap(),
                _ => globals.uniform(&seed, of_count, 0.0, 0.0).unwrap(),
            }
        }
        let own = lines.start * WIDTH..lines.end * WIDTH;
        let mut planes: Vec<OutputPlane<'_>> = (names.iter().zip(&mut found))
            .map(|((name, float), plane)| {
                OutputPlane::new(name, Part::Value, *float, &mut plane[own.clone()], 1)
            })
            .collect();
        let setup = BatchSetup {
            simd: setting.simd,
            width: setting.width,
            ..BatchSetup::default()
        };
        let instance = Instance::new(gradient);
        let own = own.start - numbers.start..own.end - numbers.start;
        if is_smooth {
            let batch = WholeBatch::new(&instance).setup(setup);
            batch
                .planes(&globals, own, &mut planes, || NoTextures)
                .unwrap();
            continue;
        }
        let mut batch = JumpBatch::new(&edges, &instance)
            .setup(setup)
            .engine(setting.engine)
            .threads(setting.threads)
            .numbered_from(numbers.start as u64)
            .image(WIDTH, 0..numbers.len());
        if let Some(axis) = setting.along {
            batch = batch.along(axis);
        }
        let (.., report) = batch
            .planes(&globals, own, &mut planes, || NoTextures)
            .unwrap();
        assert_eq!(report.nullified, 0);
        points += report.points;
    }
    (found, points)
}

fn bits(planes: &[Vec<f32>]) -> Vec<Vec<u32>> {
    let bits = |plane: &Vec<f32>| plane.iter().map(|number| number.to_bits()).collect();
    planes.iter().map(bits).collect()
}

#[test]
fn axes_alone_add_up_to_all() {
    let of = |along: Option<usize>| image_gradient(RINGS, Setting { along, ..SETTING }, false).0;
    let smooth = image_gradient(RINGS, SETTING, true).0;
    let (all, alone) = (of(None), [0, 1].map(|axis| of(Some(axis))));
    let mut shares = [0, 0];
    for float in 0..all.len() {
        for point in 0..WIDTH * HEIGHT {
            let jumps = |planes: &[Vec<f32>]| planes[float][point] - smooth[float][point];
            let each = alone.each_ref().map(|planes| jumps(planes));
            let error = jumps(&all) - each[0] - each[1];
            assert!(error.abs() < 1e-4, "float {float}, point {point}: {each:?}");
            (shares.iter_mut().zip(each)).for_each(|(sum, jump)| *sum += usize::from(jump != 0.0));
        }
    }
    assert!(shares[0] > 100 && shares[1] > 100, "{shares:?}");
}

#[test]
fn bits_do_not_depend_on_engines_widths_threads_and_strips() {
    let (one, points) = image_gradient(RINGS, SETTING, false);
    assert!(points > 100, "{points}");
    let mut settings = Vec::new();
    for engine in Engine::available() {
        settings.push(Setting { engine, ..SETTING });
    }
    for (width, threads) in [(7, 1), (64, 2), (512, 8)] {
        let width = Some(width);
        settings.push(Setting {
            width,
            threads,
            ..SETTING
        });
    }
    for strip in [1, 2, 7] {
        settings.push(Setting { strip, ..SETTING });
    }
    settings.push(Setting {
        simd: Some(SimdLevel::Baseline),
        ..SETTING
    });
    for (number, setting) in settings.into_iter().enumerate() {
        let (other, seen) = image_gradient(RINGS, setting, false);
        assert_eq!(
            (bits(&other), seen),
            (bits(&one), points),
            "setting {number}"
        );
    }
}

#[test]
fn gradient_is_linear_in_the_weights() {
    let of = |weights: [f32; 2]| image_gradient(RINGS, Setting { weights, ..SETTING }, false).0;
    let (colour, count, both) = (of([1.0, 0.0]), of([0.0, 1.0]), of([1.0, 0.5]));
    let (mut largest, mut worst) = (0.0_f32, 0.0_f32);
    for ((colour, count), both) in colour.iter().zip(&count).zip(&both) {
        for ((colour, count), both) in colour.iter().zip(count).zip(both) {
            largest = largest.max(both.abs());
            worst = worst.max((colour + 0.5 * count - both).abs());
        }
    }
    assert!(worst < 1e-5 * largest, "{worst} of {largest}");
}

#[test]
fn shader_without_decisions_has_the_smooth_gradient() {
    let source = "shader s(float a = 0.3, out float count) { float2 p = global_value<pixel>; count = sin(a * p.x) * max(p.y, a); }";
    let (edges, points) = image_gradient(source, SETTING, false);
    assert_eq!(points, 0);
    assert_eq!(bits(&edges), bits(&image_gradient(source, SETTING, true).0));
}

#[test]
fn sum_over_an_image_is_how_its_area_changes() {
    // By the radius the perimeter; by the centre nothing, since the disc is within the image, but
    // for what an edge gains where another axis takes over.
    let source = "
        shader round(float radius = 6.3, float2 centre = float2(11.2, 9.7), out float count)
        {
            float2 p = global_value<pixel> - centre;
            count = dot(p, p) < radius * radius ? 1.0 : 0.0;
        }";
    let weights = [0.0, 1.0];
    let (planes, _) = image_gradient(source, Setting { weights, ..SETTING }, false);
    let sums: Vec<f32> = planes.iter().map(|plane| plane.iter().sum()).collect();
    let perimeter = std::f32::consts::TAU * 6.3;
    assert!((sums[0] - perimeter).abs() < 0.02 * perimeter, "{sums:?}");
    assert!(
        sums[1..].iter().all(|sum| sum.abs() < 0.05 * perimeter),
        "{sums:?}"
    );
}

#[test]
fn each_pixel_of_a_disc_has_the_closed_form() {
    let source = "
        shader round(float radius = 6.3, float centre = 11.2, out float count)
        {
            float2 p = global_value<pixel> - float2(centre, 9.7);
            count = dot(p, p) < radius * radius ? 1.0 : 0.0;
        }";
    let weights = [0.0, 1.0];
    let (planes, _) = image_gradient(source, Setting { weights, ..SETTING }, false);
    let (radius, centre) = (6.3, [11.2, 9.7]);
    let mut seen = 0;
    let found = planes[0].iter().zip(&planes[1]);
    for (pixel, (&radius_found, &centre_found)) in found.enumerate() {
        let place = [pixel % WIDTH, pixel / WIDTH].map(|at| at as f64 + 0.5);
        let mut by_radius = 0.0;
        // By the first coordinate of the centre.
        let mut by_centre = 0.0;
        for (along, across) in [(0, 1), (1, 0)] {
            let height: f64 = place[across] - centre[across];
            let half = (radius * radius - height * height).sqrt();
            for side in [-1.0, 1.0] {
                let root = [side * half, height];
                // The axis along which the margin moves faster counts.
                let is_seen = (centre[along] + root[0] - place[along]).abs() < 1.0;
                if half.is_nan() || !is_seen || root[0].abs() <= height.abs() {
                    continue;
                }
                by_radius += 0.5 * radius / half;
                by_centre += 0.5 * if along == 0 { side } else { height / half };
                seen += 1;
            }
        }
        for (found, known) in [(radius_found, by_radius), (centre_found, by_centre)] {
            assert!(
                (f64::from(found) - known).abs() < 1e-4,
                "{place:?}: {found}, not {known}"
            );
        }
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn gradients_of_generated_shaders_are_finite_and_linear() {
    let (counts, failure) = run_edges(0, EDGES);
    assert_eq!(failure, None);
    assert_eq!(counts.hollow(), None, "{counts}");
    assert_eq!(counts.programs as u64, EDGES);
}

#[test]
fn buffers_get_what_their_edges_count() {
    // White left of w[1], which lies between 0 and 1; w[0] is how white.
    let source =
        "buffer<float> w; shader s(out float c) { c = w[0] * step(global_value<x>, w[1]); }";
    let layout = GlobalsLayout::new().with("x", Type::FLOAT).unwrap();
    let program = Compiler::new(layout)
        .compile(&Sources::new("s.adu", source))
        .unwrap();
    let request = GradientRequest::new().by_buffer("w");
    let axes = [Axis::new("x", 0, 1.0)];
    let edges = program.jump_gradient(&request, &axes, JumpRules::Edge);
    let edges = edges.unwrap();
    let gradient = edges.smooth().program();
    let x = [-1.0_f32, 0.0, 1.0, 2.0];
    let mut globals = BatchGlobals::new(gradient.globals());
    globals.plane("x", Part::Value, 0, &x, 1).unwrap();
    globals.uniform("d(c)", 1.0_f32, 0.0, 0.0).unwrap();
    let mut instance = Instance::new(gradient);
    instance.set_buffer("w", vec![3.0_f32, 0.4]).unwrap();
    let batch = JumpBatch::new(&edges, &instance);
    let done = batch.planes(&globals, 0..4, &mut [], || NoTextures);
    let (sums, _, report) = done.unwrap();
    assert_eq!((report.points, report.roots), (2, 2));
    // Two points are white; both beside the edge see it in half of their surroundings.
    assert_eq!(sums.of("w").unwrap(), [2.0, 3.0]);
}

#[test]
fn planes_and_sums_are_those_of_each() {
    let sources = Sources::new("rings.adu", RINGS);
    let layout = GlobalsLayout::new().with("pixel", Type::Vector(2)).unwrap();
    let program = Compiler::new(layout).compile(&sources).unwrap();
    let axes = [0, 1].map(|at| Axis::new("pixel", at, 1.0));
    let request = GradientRequest::new().by_inputs().by_global("pixel");
    let edges = program.jump_gradient(&request, &axes, JumpRules::Edge);
    let edges = edges.unwrap();
    let points = 0..WIDTH * HEIGHT;
    let pixel = points
        .clone()
        .map(|at| [at % WIDTH, at / WIDTH].map(|side| side as f32 + 0.5));
    let pixel: Vec<[f32; 2]> = pixel.collect();
    let mut globals = BatchGlobals::new(edges.smooth().program().globals());
    for scalar in 0..2 {
        let plane = &pixel.as_flattened()[scalar..];
        globals
            .plane("pixel", Part::Value, scalar, plane, 2)
            .unwrap();
    }
    globals
        .uniform_part("pixel", Part::Ddx, [1.0_f32, 0.0])
        .unwrap();
    globals
        .uniform_part("pixel", Part::Ddy, [0.0_f32, 1.0])
        .unwrap();
    globals
        .uniform_part("d(c)", Part::Value, [0.5_f32, 1.0, 2.0])
        .unwrap();
    let batch = JumpBatch::new(&edges, &Instance::new(edges.smooth().program()));
    let batch = batch.image(WIDTH, points.clone()).threads(2);
    let mut apart = vec![[0.0_f32; 2]; points.len()];
    let planes = &mut [OutputPlane::interleaved(
        "d(pixel)",
        Part::Value,
        apart.as_flattened_mut(),
    )];
    batch
        .planes(&globals, points.clone(), planes, || NoTextures)
        .unwrap();
    let sums = batch
        .sums(&globals, points.clone(), &["d(radius)"], || NoTextures)
        .unwrap();
    let mut both = vec![[0.0_f32; 2]; points.len()];
    let planes = &mut [OutputPlane::interleaved(
        "d(pixel)",
        Part::Value,
        both.as_flattened_mut(),
    )];
    let done = batch.planes_and_sums(&globals, points, planes, &["d(radius)"], || NoTextures);
    let (together, report, found) = done.unwrap();
    assert_eq!(both, apart);
    assert!(both.as_flattened().iter().any(|float| *float != 0.0));
    let of_radius = |sums: &OutputSums| sums.total("d(radius)").unwrap()[0].to_bits();
    assert_eq!(of_radius(&together), of_radius(&sums.0));
    assert_eq!((report, found), (sums.1, sums.2));
}

#[test]
fn sums_are_those_of_planes() {
    let source = "buffer<float> w;
        shader s(float edge = 0.4, out float2 c)
        {
            c = (global_value<x> < edge ? w[0] : 0.1 * global_value<x> * edge) * float2(1, 2);
        }";
    let layout = GlobalsLayout::new().with("x", Type::FLOAT).unwrap();
    let program = Compiler::new(layout)
        .compile(&Sources::new("s.adu", source))
        .unwrap();
    let request = GradientRequest::new().by_inputs().by_buffer("w");
    let axes = [Axis::new("x", 0, 1.0)];
    let forward = program.jump_gradient(&request.clone().forward(), &axes, JumpRules::Edge);
    let found = forward.unwrap_err().to_string();
    assert!(found.contains("this one is forward"), "{found}");
    let edges = program.jump_gradient(&request, &axes, JumpRules::Edge);
    let edges = edges.unwrap();
    let gradient = edges.smooth().program();
    let x: Vec<f32> = (0..100).map(|at| at as f32 * 0.07 - 3.0).collect();
    let mut globals = BatchGlobals::new(gradient.globals());
    globals.plane("x", Part::Value, 0, &x, 1).unwrap();
    globals
        .uniform("d(c)", [1.0_f32, 0.5], [0.0; 2], [0.0; 2])
        .unwrap();
    let mut instance = Instance::new(gradient);
    instance.set_buffer("w", vec![3.0_f32]).unwrap();
    let batch = JumpBatch::new(&edges, &instance);
    let mut found = [[0.0_f32; 100]; 2];
    let names = [("c", 1), ("d(edge)", 0)];
    let mut planes: Vec<OutputPlane<'_>> = (names.iter().zip(&mut found))
        .map(|((name, scalar), plane)| OutputPlane::new(name, Part::Value, *scalar, plane, 1))
        .collect();
    let done = batch.planes(&globals, 0..100, &mut planes, || NoTextures);
    let (buffers, went, report) = done.unwrap();
    let sums = |points| {
        let done = batch.sums(&globals, points, &["c", "d(edge)"], || NoTextures);
        done.unwrap()
    };
    let (mut first, mut first_went, mut first_report) = sums(0..37);
    let (rest, rest_went, rest_report) = sums(37..100);
    first.join(rest).unwrap();
    first_went.join(rest_went);
    first_report.join(rest_report);
    assert_eq!((first_went, first_report), (went, report));
    assert!(report.points > 20);
    let sum = |plane: &[f32]| plane.iter().map(|&float| f64::from(float)).sum::<f64>();
    let by_plane = [
        first.total("c").unwrap()[1],
        first.total("d(edge)").unwrap()[0],
    ];
    for (total, plane) in by_plane.into_iter().zip(&found) {
        assert!((total - sum(plane)).abs() < 1e-9 && total != 0.0);
    }
    assert_eq!(first.buffer("w").unwrap(), buffers.of("w").unwrap());
    assert!(batch.sums(&globals, 0..0, &["d"], || NoTextures).is_err());
    let (none, ..) = sums(0..0);
    assert_eq!(none.total("d(edge)").unwrap(), [0.0]);
    assert_eq!(none.buffer("w").unwrap(), [0.0]);
}
