//! The materials of `examples/materials`: nothing to warn of, and derivatives that are the slopes
//! of values.
//!
//! A material is evaluated on a curved surface, at 64×64 pixels. At each, shadows of the outputs
//! and of texture coordinates (`f32`, by the point interpreter) are held against Richardson
//! differences of the `f64` reference: central differences at a step and its half, extrapolated. A
//! derivative agrees that is off by at most [`CLOSE`] of the slope, or of the root mean square of
//! that quantity's slopes over the surface, whichever is more. A pixel agrees if all its
//! derivatives do. Of those that do not, a kink is one whose path through the shader (branches,
//! sides of kinks) differs within the stencil, or between `f32` and `f64`; each material says in
//! its head where its kinks are. What is left must be rounding: there the shadows over `f64`, by
//! the same rules, agree with the slopes.

use adumbra::{
    Compiler, Evaluator, Globals, GlobalsLayout, Instance, Options, Outcome, Program,
    SampleRequest, Scalar, Sources, derivatives::Direction, value::Part,
};
use adumbra_fuzz::Point;
use adumbra_fuzz::oracle::reference::{Plain, place, trace};
use adumbra_fuzz::surface::{SIDE, middle, point};
use adumbra_ir::Module;
use adumbra_ir::eval::{self, Number};
use std::collections::BTreeSet;
use std::iter::repeat;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The greatest error of a derivative, relative to its size.
const CLOSE: f64 = 1e-3;

/// The larger step of differences, in pixels.
const STEP: f64 = 1.0 / 1024.0;

/// Of the pixels this part must agree.
const AGREE: f64 = 0.99;

/// Most pixels of a material where the rounding of `f32` alone is that large: single ones.
const MAX_ROUNDED: usize = 4;

macro_rules! materials {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            derivatives_agree(stringify!($name));
        })*

        const MATERIALS: &[&str] = &[$(stringify!($name)),*];
    };
}

materials! { brick car_paint fabric lava marble rust sdf_scene terrain tiles wood }

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/materials")
}

fn sources(name: &str) -> Sources {
    let file = format!("{name}.adu");
    let text = std::fs::read_to_string(folder().join(&file)).expect("the material can be read");
    Sources::new(file, text)
}

#[test]
fn every_material_is_tested() {
    let files = std::fs::read_dir(folder()).expect("the folder can be read");
    let names: BTreeSet<String> = files
        .map(|file| file.expect("the folder can be read").path())
        .map(|path| {
            path.file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    assert!(names.iter().eq(MATERIALS), "{names:?}");
}

#[test]
fn materials_give_nothing_to_warn_of_and_say_where_their_kinks_are() {
    for name in MATERIALS {
        let sources = sources(name);
        let diagnostics = Compiler::new(GlobalsLayout::hit()).check(&sources);
        assert!(
            diagnostics.is_empty(),
            "{}",
            adumbra::render::text(&diagnostics, &sources, false)
        );
        let (_, text) = sources.iter().next().expect("one text");
        let lines = text.text().lines().count();
        assert!((50..=300).contains(&lines), "{name} has {lines} lines");
        assert!(
            text.text().contains("\n// Kinks: "),
            "{name} does not say where its kinks are"
        );
    }
}

/// The values of float outputs, then u and v of each texture request.
fn values<F: Number>(
    outcome: &eval::EvalOutcome<F>,
    requests: &[SampleRequest<F>],
    module: &Module,
) -> Vec<f64> {
    let outputs = outcome.outputs.iter().zip(&module.entry().results);
    let floats = outputs.filter(|(_, result)| result.ty == Scalar::F32);
    let values = floats.map(|(slot, _)| slot.float.to_f64());
    values
        .chain(requests.iter().flat_map(|r| [r.u.to_f64(), r.v.to_f64()]))
        .collect()
}

/// Derivatives along x and y of what [`values`] gives.
type Derivatives = [Vec<f64>; 2];

/// The result at a pixel: the shadows, the slopes, and whether its path is one.
struct Pixel {
    shadows: Derivatives,
    slopes: Derivatives,
    is_one_path: bool,
}

/// The shadows that the point interpreter gives.
fn shadows(evaluator: &mut Evaluator, globals: &mut Globals, point: &Point) -> Derivatives {
    let words = point
        .iter()
        .flat_map(|at| at.value.iter().chain(&at.ddx).chain(&at.ddy));
    globals
        .words_mut()
        .iter_mut()
        .zip(words)
        .for_each(|(to, from)| *to = *from);
    let mut textures = Plain::default();
    assert_eq!(
        evaluator.evaluate(globals, &mut textures),
        Outcome::Finished
    );
    assert!(evaluator.faults().is_empty());
    let mut shadows: Derivatives = Default::default();
    for (shadows, part) in shadows.iter_mut().zip([Part::Ddx, Part::Ddy]) {
        // Those that were not asked for have no lanes in the module.
        let words = evaluator.words(part).ok();
        let mut words = words.into_iter().flatten().chain(repeat(0));
        for output in evaluator.instance().program().outputs() {
            output.ty.for_each_scalar(&mut |scalar| {
                let word = words.next().expect("it is endless");
                if scalar == Scalar::F32 {
                    shadows.push(f32::from_bits(word).into());
                }
            });
        }
    }
    for r in &textures.requests {
        shadows[0].extend([r.dudx, r.dvdx].map(f64::from));
        shadows[1].extend([r.dudy, r.dvdy].map(f64::from));
    }
    shadows
}

/// The shadows that the reference gives over `f64`.
fn exact_shadows(module: &Module, here: &eval::EvalPoint<f64>) -> Derivatives {
    let (outcome, requests) = trace(module, here);
    Direction::BOTH.map(|direction| {
        let outputs = outcome.outputs.iter().zip(&module.entry().results);
        let floats = outputs.filter(|(_, result)| result.ty == Scalar::F32);
        let shadows = floats.map(|(slot, _)| slot.shadow(direction));
        let coordinates = requests.iter().flat_map(|r| match direction {
            Direction::X => [r.dudx, r.dvdx],
            Direction::Y => [r.dudy, r.dvdy],
        });
        shadows.chain(coordinates).collect()
    })
}

/// The slopes of values over `f64`, and whether all paths are one; without slopes where another
/// texture is sampled nearby.
fn slopes(module: &Module, point: &Point) -> (Derivatives, bool) {
    let here = place::<f64>(module, point);
    let path = trace(module, &here).0.path;
    let mut is_one_path = trace(module, &place::<f32>(module, point)).0.path == path;
    let slopes = Direction::BOTH.map(|direction| {
        let mut at = |t: f64| {
            let mut moved = here.clone();
            moved
                .globals
                .iter_mut()
                .for_each(|slot| slot.float += t * slot.shadow(direction));
            let (outcome, requests) = trace(module, &moved);
            is_one_path &= outcome.path == path;
            values(&outcome, &requests, module)
        };
        let [wide, narrow] = [STEP, 0.5 * STEP].map(|h| {
            let pairs = at(h).into_iter().zip(at(-h));
            pairs
                .map(|(ahead, back)| (ahead - back) / (2.0 * h))
                .collect::<Vec<f64>>()
        });
        wide.iter()
            .zip(&narrow)
            .map(|(wide, narrow)| (4.0 * narrow - wide) / 3.0)
            .collect()
    });
    (slopes, is_one_path)
}

fn compiled(name: &str, output_derivatives: bool) -> Arc<Program> {
    let options = Options {
        output_derivatives,
        ..Options::default()
    };
    let compiler = Compiler::new(GlobalsLayout::hit()).with_options(options);
    compiler
        .compile(&sources(name))
        .unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

fn derivatives_agree(name: &str) {
    let program = compiled(name, true);
    // Slopes are those of values alone, which cost less where no shadows are asked for.
    let of_values = compiled(name, false);
    let module = of_values.module();
    let mut evaluator = Evaluator::new(&Instance::new(&program));
    let mut globals = Globals::new(program.globals());
    let mut pixels = Vec::new();
    for index in 0..SIDE * SIDE {
        let point = point(middle(index));
        let (slopes, is_one_path) = slopes(module, &point);
        pixels.push(Pixel {
            shadows: shadows(&mut evaluator, &mut globals, &point),
            slopes,
            is_one_path,
        });
    }
    let sizes = root_mean_squares(&pixels);
    assert!(
        sizes.iter().any(|size| *size > 0.0),
        "{name}: nothing changes"
    );
    let agree = |shadows: &Derivatives, slopes: &Derivatives| {
        shadows.iter().zip(slopes).all(|(shadows, slopes)| {
            let is_close = |(i, (shadow, slope)): (usize, (&f64, &f64))| {
                (shadow - slope).abs() <= CLOSE * slope.abs().max(sizes[i])
            };
            shadows.len() == slopes.len() && shadows.iter().zip(slopes).enumerate().all(is_close)
        })
    };
    let (mut kinks, mut rounded) = (0, 0);
    for (index, pixel) in pixels.iter().enumerate() {
        if agree(&pixel.shadows, &pixel.slopes) {
            continue;
        }
        if !pixel.is_one_path {
            kinks += 1;
            continue;
        }
        let module = program.module();
        let exact = exact_shadows(module, &place(module, &point(middle(index))));
        assert!(
            agree(&exact, &pixel.slopes),
            "{name}, pixel {index}: {exact:?} are no slopes, {:?}",
            pixel.slopes
        );
        rounded += 1;
    }
    let agreed = pixels.len() - kinks - rounded;
    println!(
        "{name}: of {} pixels {agreed} agree, {kinks} have a kink, {rounded} are rounded",
        pixels.len()
    );
    assert!(
        agreed as f64 >= AGREE * pixels.len() as f64,
        "{name}: {agreed} pixels agree"
    );
    assert!(
        rounded <= MAX_ROUNDED,
        "{name}: {rounded} pixels are rounded"
    );
}

/// The size of each quantity's slopes over the image; at kinks they say nothing.
fn root_mean_squares(pixels: &[Pixel]) -> Vec<f64> {
    let count = pixels
        .iter()
        .map(|pixel| pixel.shadows[0].len())
        .max()
        .unwrap_or(0);
    let mut sums = vec![(0.0, 0.0); count];
    for pixel in pixels.iter().filter(|pixel| pixel.is_one_path) {
        for slopes in &pixel.slopes {
            for (sum, slope) in sums.iter_mut().zip(slopes) {
                *sum = (sum.0 + slope * slope, sum.1 + 1.0);
            }
        }
    }
    sums.iter()
        .map(|(sum, count)| (sum / f64::max(*count, 1.0)).sqrt())
        .collect()
}
