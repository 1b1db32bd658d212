//! Pixels with two edges between them and a neighbour: a corner that is narrower than a pixel.

use crate::convergence::by;
use crate::reference::Line;
use crate::study::StudiedProgram;
use crate::{Fallible, Goals};
use adumbra::gradient::JumpRules;

/// Where the two lines of the wedge meet.
const CORNER: [f64; 2] = [31.8, 32.7];

/// How far places are from the corner, and from each other.
const AROUND: f64 = 1.5;
const APART: f64 = 1.0 / 16.0;

/// The error up to which edges at a corner are right, over the truth.
const GOAL: f64 = 0.02;

/// Compares places around the corner with the sum of what both edges count.
pub(crate) fn run(goals: &mut Goals) -> Fallible<()> {
    let program = StudiedProgram::new(by("wedge", [64, 64], "x", 1e-3))?;
    let reference = program.reference();
    let side = (2.0 * AROUND / APART) as usize;
    let offset = |at: usize| (at as f64 + 0.5) * APART - AROUND;
    let places =
        (0..side * side).map(|at| [CORNER[0] + offset(at % side), CORNER[1] + offset(at / side)]);
    let places: Vec<[f64; 2]> = places.collect();
    let gradients = program.gradients(JumpRules::Edge, &places, 1.0)?;
    let gradients = gradients.expect("it refuses nothing");
    let (mut count, mut error, mut size) = (0, 0.0, 0.0);
    for (place, found) in places.iter().zip(&gradients.by_place) {
        let has_corner = [0, 1].into_iter().any(|axis| {
            let line = Line {
                place: *place,
                axis,
                spacing: 1.0,
            };
            let jumps = reference
                .average_slope(&line)
                .map_or(Vec::new(), |of| of.jumps);
            [-1.0, 1.0].iter().any(|side| {
                let beside = jumps.iter().filter(|jump| jump.at * side > 0.0);
                beside.count() == 2
            })
        });
        if let (true, Some(truth)) = (has_corner, reference.edges_slope(*place, 1.0)) {
            count += 1;
            error += (f64::from(*found) - truth).abs();
            size += truth.abs();
        }
    }
    let relative = error / size;
    println!("\n{count} places with two edges to a neighbour: error of `edge` {relative:.1e}\n");
    goals.check(count > 100 && relative <= GOAL, || {
        format!("a corner has an error of {relative:.1e} at {count} places")
    });
    Ok(())
}
