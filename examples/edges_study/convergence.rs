//! Errors by the distance of neighbours, at pixels that see one edge.

use crate::plot::{Curve, LogAxis, Plot, Stroke};
use crate::reference::{Line, Reference};
use crate::rule::ReferenceRule;
use crate::study::{Gradients, StudiedProgram, Study};
use crate::{Fallible, Goals};
use adumbra::gradient::JumpRules;
use std::path::Path;

/// Distances of neighbours, in pixels.
const SPACINGS: [f64; 4] = [2.0, 1.0, 0.5, 0.25];

/// Pixels of a program, at each distance.
const MOST_PIXELS: usize = 240;

/// The share of the error by `pair` that is left by `edge`, at the distance of pixels.
const EDGE_OVER_PAIR: f64 = 1.0 / 50.0;

/// The error in f64 up to which a shader without smooth parts is exact.
const EXACT: f64 = 1e-6;

/// How errors in f64 go with the distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exactness {
    /// The shader is constant between edges, so nothing is left.
    Constant,
    /// Smooth parts are the same on both sides of an edge.
    Smooth,
    /// Smooth parts differ by the side: what a pixel's own side says of the other one is wrong.
    Sided,
}

const STUDIES: [(Study, Exactness); 8] = [
    (by("disc", [256, 256], "r", 1e-3), Exactness::Constant),
    (by("ring", [256, 256], "r", 1e-3), Exactness::Constant),
    (
        by("rectangle", [320, 320], "phi", 1e-5),
        Exactness::Constant,
    ),
    (by("wedge", [64, 64], "first", 3e-5), Exactness::Constant),
    (
        by("threshold", [128, 128], "level", 2e-5),
        Exactness::Constant,
    ),
    (by("spiral", [128, 128], "turn", 1e-6), Exactness::Constant),
    (by("lamp", [128, 128], "r", 1e-3), Exactness::Smooth),
    (by("dome", [128, 128], "r", 1e-3), Exactness::Sided),
];

pub(crate) const fn by(
    name: &'static str,
    size: [usize; 2],
    parameter: &'static str,
    step: f64,
) -> Study {
    Study {
        name,
        size,
        parameter,
        step,
    }
}

/// Errors by spacing, each over the mean size of the truth.
type Errors = [f64; 4];

/// Prints the table, writes the plot, and checks that errors go as they are to.
pub(crate) fn run(out: &Path, goals: &mut Goals) -> Fallible<()> {
    println!("| program | rules | Δ = 2 | 1 | ½ | ¼ | slope |");
    println!("|---|---|---|---|---|---|---|");
    let mut curves = Vec::new();
    for (colour, (study, exactness)) in STUDIES.into_iter().enumerate() {
        let program = StudiedProgram::new(study)?;
        let pair = errors(&program, JumpRules::Pair)?;
        let edge = errors(&program, JumpRules::Edge)?.expect("it refuses nothing");
        let measured = [
            ("`pair`", Stroke::Whole, pair.map(|measured| measured.found)),
            ("`edge`", Stroke::Dashed, Some(edge.found)),
            ("`edge` in f64", Stroke::Dotted, Some(edge.in_f64)),
        ];
        for (rules, stroke, errors) in measured {
            let Some(errors) = errors else {
                println!("| {} | {rules} | refused | | | | |", study.name);
                continue;
            };
            let is_level = stroke != Stroke::Whole && exactness == Exactness::Constant;
            let slope = match is_level {
                true => "–".to_owned(),
                false => format!("{:.2}", slope(&errors)),
            };
            let errors_text = errors.map(|error| format!("{error:.1e}")).join(" | ");
            println!("| {} | {rules} | {errors_text} | {slope} |", study.name);
            curves.push(Curve {
                name: study.name,
                colour,
                stroke,
                points: SPACINGS.into_iter().zip(errors).collect(),
            });
        }
        check(study, exactness, &pair, &edge, goals);
    }
    let plot = Plot {
        x: LogAxis {
            name: "Δ, pixels",
            ends: [0.2, 2.5],
            ticks: &[(0.25, "¼"), (0.5, "½"), (1.0, "1"), (2.0, "2")],
        },
        y: LogAxis {
            name: "mean error / mean gradient",
            ends: [1e-11, 1.0],
            ticks: &[
                (1.0, "1"),
                (1e-2, "1e-2"),
                (1e-4, "1e-4"),
                (1e-6, "1e-6"),
                (1e-8, "1e-8"),
                (1e-10, "1e-10"),
            ],
        },
        curves,
    };
    Ok(std::fs::write(
        out.join("edges_convergence.svg"),
        plot.svg(),
    )?)
}

fn check(
    study: Study,
    exactness: Exactness,
    pair: &Option<Measured>,
    edge: &Measured,
    goals: &mut Goals,
) {
    let name = study.name;
    if let Some(pair) = pair {
        let by_pair = slope(&pair.found);
        goals.check((by_pair - 1.0).abs() <= 0.15, || {
            format!("{name}: the slope by `pair` is {by_pair:.2}, not 1 ± 0.15")
        });
    }
    let in_f64 = &edge.in_f64;
    match exactness {
        Exactness::Constant => goals.check(in_f64.iter().all(|error| *error <= EXACT), || {
            format!("{name}: errors of `edge` in f64 are {in_f64:?}")
        }),
        Exactness::Smooth => goals.check(slope(in_f64) >= 1.8, || {
            format!("{name}: the slope of `edge` in f64 is {:.2}", slope(in_f64))
        }),
        Exactness::Sided => {}
    }
    if let (Some(pair), true) = (pair, exactness != Exactness::Sided) {
        let (pair, edge) = (pair.found[1], edge.found[1]);
        goals.check(edge <= EDGE_OVER_PAIR * pair, || {
            format!("{name}: at Δ = 1 the error of `edge` is {edge:.1e}, of `pair` {pair:.1e}")
        });
    }
}

/// Errors of one set of rules.
#[derive(Clone, Copy, Debug)]
struct Measured {
    /// Of the library.
    found: Errors,
    /// Of the rules `edge` in f64, at the same pixels.
    in_f64: Errors,
}

/// The errors of rules; `None` if they refuse the program.
fn errors(program: &StudiedProgram, rules: JumpRules) -> Fallible<Option<Measured>> {
    let (places, reference) = (program.pixels(), program.reference());
    let in_f64 = (rules == JumpRules::Edge).then(|| program.reference_rule());
    let mut measured = Measured {
        found: Errors::default(),
        in_f64: Errors::default(),
    };
    for (at, spacing) in SPACINGS.into_iter().enumerate() {
        let Some(gradients) = program.gradients(rules, &places, spacing)? else {
            return Ok(None);
        };
        let pixels = PixelErrors::of(&gradients, &places, spacing, &reference, in_f64.as_ref());
        measured.found[at] = pixels.found / pixels.truth;
        measured.in_f64[at] = pixels.in_f64 / pixels.truth;
    }
    Ok(Some(measured))
}

/// Sums over pixels.
#[derive(Default)]
struct PixelErrors {
    truth: f64,
    found: f64,
    in_f64: f64,
}

impl PixelErrors {
    /// Pixels that see one edge, taken evenly.
    fn of(
        gradients: &Gradients,
        places: &[[f64; 2]],
        spacing: f64,
        reference: &Reference,
        rule: Option<&ReferenceRule>,
    ) -> PixelErrors {
        let mut sums = PixelErrors::default();
        let points = gradients.points.iter();
        let points = points.filter(|point| point.counted == 1 && point.nullified == 0);
        let points: Vec<_> = points.collect();
        for point in points
            .iter()
            .step_by(points.len().div_ceil(MOST_PIXELS).max(1))
        {
            let place = places[point.point];
            let line = Line {
                place,
                axis: point.axis.expect("one edge counts"),
                spacing,
            };
            let Some(truth) = reference
                .average_slope(&line)
                .filter(|of| of.jumps.len() == 1)
            else {
                continue;
            };
            let in_f64 = match rule.map(|rule| rule.gradient(place, spacing)) {
                Some(None) => continue,
                gradient => gradient.flatten().unwrap_or(truth.slope),
            };
            let found: f64 = gradients.by_place[point.point].into();
            sums.truth += truth.slope.abs();
            sums.found += (found - truth.slope).abs();
            sums.in_f64 += (in_f64 - truth.slope).abs();
        }
        sums
    }
}

/// The slope of the line through logarithms, by least squares.
fn slope(errors: &Errors) -> f64 {
    let points = SPACINGS.iter().zip(errors);
    let points: Vec<[f64; 2]> = points.map(|(x, y)| [x.ln(), y.ln()]).collect();
    let mean = |axis: usize| points.iter().map(|point| point[axis]).sum::<f64>() / 4.0;
    let [x, y] = [0, 1].map(mean);
    let products = points.iter().map(|point| (point[0] - x) * (point[1] - y));
    let squares = points.iter().map(|point| (point[0] - x) * (point[0] - x));
    products.sum::<f64>() / squares.sum::<f64>()
}
