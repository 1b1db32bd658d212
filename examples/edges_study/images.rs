//! Gradients of all pixels of an image, beside the truth.

use crate::convergence::by;
use crate::reference::{Line, Reference};
use crate::study::{Gradients, StudiedProgram, Study};
use crate::{Fallible, Goals};
use adumbra::gradient::{JumpPoint, JumpRules};
use adumbra_image::{
    ImageSize, PngImage, derivative_grey, derivative_scale, save_atomically, write_png,
};
use std::path::Path;

/// A program with the part of its image that is shown: its corner.
const STUDIES: [(Study, [usize; 2]); 5] = [
    (by("disc", [256, 256], "r", 1e-3), [80, 79]),
    (by("ring", [256, 256], "r", 1e-3), [128, 36]),
    (by("rectangle", [320, 320], "phi", 1e-5), [80, 60]),
    (by("rings", [960, 480], "x", 1e-3), [170, 120]),
    (by("knot", [640, 640], "x", 1e-3), [270, 130]),
];

/// The side of the part that is shown, and how large its pixels are.
const SHOWN: usize = 96;
const MAGNIFIED: usize = 2;

/// How many times larger differences are drawn.
const DIFFERENCES: f32 = 20.0;

/// Columns between images.
const GAP: usize = 4;

/// Where a pixel is not counted.
const NULLIFIED: [u8; 3] = [0xf0, 0xa0, 0x2c];

/// The share of signs that are right, and errors in the middle.
const SIGNS: f64 = 0.995;
const MEDIANS: [(JumpRules, f64); 2] = [(JumpRules::Pair, 0.05), (JumpRules::Edge, 0.01)];

/// Of pixels that no rules say are changed, one of that many is looked at.
const UNCHANGED: usize = 16;

/// Pixels of an image that are compared.
const MOST_PIXELS: usize = 2000;

/// Threads of the reference.
const THREADS: usize = 2;

pub(crate) fn run(out: &Path, goals: &mut Goals) -> Fallible<()> {
    println!("| program | by | rules | pixels | signs | median error | nullified |");
    println!("|---|---|---|---|---|---|---|");
    for (study, corner) in STUDIES {
        let program = StudiedProgram::new(study)?;
        let places = program.pixels();
        let mut all = Vec::new();
        for (rules, _) in MEDIANS {
            let gradients = program.gradients(rules, &places, 1.0)?;
            all.push(gradients.expect("its loops are of known length"));
        }
        let is_looked_at = |point: &JumpPoint| {
            let is_changed = |of: &Gradients| of.by_place[point.point] != 0.0;
            point.point.is_multiple_of(UNCHANGED) || all.iter().any(is_changed)
        };
        for (gradients, (rules, most)) in all.iter().zip(MEDIANS) {
            let seen = SeenPixels::of(gradients, is_looked_at, &places, &program.reference());
            let name = match rules {
                JumpRules::Pair => "pair",
                JumpRules::Edge => "edge",
            };
            let (signs, median) = (seen.signs(), seen.median());
            println!(
                "| {} | `{}` | `{name}` | {} | {:.2} % | {median:.1e} | {} |",
                study.name,
                study.parameter,
                seen.errors.len(),
                100.0 * signs,
                gradients.nullified
            );
            goals.check(signs >= SIGNS && median <= most, || {
                let signs = 100.0 * signs;
                format!(
                    "{}: `{name}` has {signs:.2} % of signs, error {median:.1e}",
                    study.name
                )
            });
        }
        let file = out.join(format!("edges_{}.png", study.name));
        save(&file, &program, corner, &places, &all)?;
    }
    Ok(())
}

/// Pixels that see one edge that the parameter moves, taken evenly.
#[derive(Default)]
struct SeenPixels {
    right_signs: usize,
    /// Of each, over the truth.
    errors: Vec<f64>,
}

impl SeenPixels {
    fn of(
        gradients: &Gradients,
        is_looked_at: impl Fn(&JumpPoint) -> bool,
        places: &[[f64; 2]],
        reference: &Reference,
    ) -> SeenPixels {
        let points = gradients.points.iter().filter(|point| is_looked_at(point));
        let points = points.filter(|point| point.counted == 1 && point.nullified == 0);
        let points: Vec<JumpPoint> = points.copied().collect();
        let points = points
            .iter()
            .step_by(points.len().div_ceil(MOST_PIXELS).max(1));
        let points: Vec<JumpPoint> = points.copied().collect();
        let truth = |point: &JumpPoint| {
            let line = Line {
                place: places[point.point],
                axis: point.axis.expect("one edge counts"),
                spacing: 1.0,
            };
            let truth = reference.average_slope(&line)?;
            (truth.jumps.len() == 1).then_some(truth.slope)
        };
        let mut seen = SeenPixels::default();
        for (point, truth) in points.iter().zip(in_parallel(&points, truth)) {
            let found = f64::from(gradients.by_place[point.point]);
            let Some(truth) = truth.filter(|truth| *truth != 0.0 || found != 0.0) else {
                continue;
            };
            seen.right_signs += usize::from(found * truth > 0.0);
            seen.errors.push((found - truth).abs() / truth.abs());
        }
        seen.errors.sort_unstable_by(f64::total_cmp);
        seen
    }

    fn signs(&self) -> f64 {
        self.right_signs as f64 / self.errors.len() as f64
    }

    fn median(&self) -> f64 {
        self.errors[self.errors.len() / 2]
    }
}

/// Results in order, by threads that each have a part.
fn in_parallel<T: Sync, R: Send>(items: &[T], result: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let part = items.len().div_ceil(THREADS).max(1);
    let result = &result;
    std::thread::scope(|scope| {
        let threads = items.chunks(part);
        let threads = threads.map(|part| scope.spawn(|| part.iter().map(result).collect()));
        let threads: Vec<_> = threads.collect();
        let parts = threads.into_iter();
        let parts = parts.map(|thread| -> Vec<R> { thread.join().expect("it does not panic") });
        parts.flatten().collect()
    })
}

/// Writes a part of the truth, of the gradients by `pair` and `edge`, and what they are off it.
fn save(
    file: &Path,
    program: &StudiedProgram,
    corner: [usize; 2],
    places: &[[f64; 2]],
    gradients: &[Gradients],
) -> Fallible<()> {
    let width = program.study.size[0];
    let line = |y: usize| (0..SHOWN).map(move |x| (corner[1] + y) * width + corner[0] + x);
    let pixels: Vec<usize> = (0..SHOWN).flat_map(line).collect();
    let reference = program.reference();
    let truth = in_parallel(&pixels, |&pixel| {
        reference
            .edges_slope(places[pixel], 1.0)
            .map(|slope| slope as f32)
    });
    let found = |rules: usize| {
        pixels
            .iter()
            .map(move |&pixel| gradients[rules].by_place[pixel])
    };
    let scale = derivative_scale(found(1).filter(|gradient| *gradient != 0.0).collect());
    let is_nullified = |rules: usize, pixel: usize| {
        let points = &gradients[rules].points;
        let point = points.binary_search_by_key(&pixel, |point| point.point);
        point.is_ok_and(|at| points[at].nullified > 0)
    };
    let grey = |gradient: f32| [derivative_grey(gradient, scale); 3];
    let mut panels = vec![
        truth
            .iter()
            .map(|truth| grey(truth.unwrap_or(0.0)))
            .collect(),
    ];
    for rules in [0, 1] {
        let all = pixels.iter().zip(found(rules));
        let colour = |(&pixel, gradient)| match is_nullified(rules, pixel) {
            true => NULLIFIED,
            false => grey(gradient),
        };
        panels.push(all.map(colour).collect::<Vec<[u8; 3]>>());
    }
    for rules in [0, 1] {
        let all = pixels.iter().zip(found(rules)).zip(&truth);
        let colour = |((&pixel, gradient), truth): ((&usize, f32), &Option<f32>)| match (
            is_nullified(rules, pixel),
            truth,
        ) {
            (true, _) => NULLIFIED,
            (false, Some(truth)) => grey(DIFFERENCES * (gradient - truth)),
            (false, None) => grey(0.0),
        };
        panels.push(all.map(colour).collect());
    }
    let size = [
        panels.len() * (SHOWN * MAGNIFIED + GAP) - GAP,
        SHOWN * MAGNIFIED,
    ];
    let colour = |at: usize| {
        let [x, y] = [at % size[0], at / size[0] / MAGNIFIED];
        let (panel, x) = (x / (SHOWN * MAGNIFIED + GAP), x % (SHOWN * MAGNIFIED + GAP));
        match x < SHOWN * MAGNIFIED {
            true => panels[panel][y * SHOWN + x / MAGNIFIED],
            false => [0xff; 3],
        }
    };
    let bytes: Vec<u8> = (0..size[0] * size[1]).flat_map(colour).collect();
    let png = PngImage {
        size: ImageSize::new(size[0] as u64, size[1] as u64)?,
        bytes: &bytes,
        has_alpha: false,
        is_srgb: false,
    };
    Ok(save_atomically(file, |out| write_png(&png, out))?)
}
