//! Whether what a gradient through edges is made of is finite.

use super::{SPACINGS, Weighed, planes, setup};
use crate::generate::Point;
use crate::oracle::batch::words;
use adumbra::batch::{BatchGlobals, WholeBatch};
use adumbra::{Instance, Program};
use adumbra_ir::host::ConstantTexture;

/// The greatest magnitude that is looked at: products of larger numbers overflow.
const LARGE: f32 = 1e6;

/// By point: whether all outputs, and their gradients by each group of weights, are finite and of
/// moderate size at the point and at its neighbours.
pub(super) fn are_finite(weighed: &Weighed<'_>, plain: &Program) -> Result<Vec<bool>, String> {
    let gradient = weighed.jumps.smooth().program();
    let groups = &weighed.weights[..weighed.weights.len() - 1];
    let mut all: Vec<Point> = Vec::new();
    for point in &weighed.points {
        for sample in samples(point) {
            let weighed = groups
                .iter()
                .map(|group| weighed.with_weights(&sample, group, 1.0));
            all.extend(weighed);
        }
    }
    let mut names = weighed.floats.clone();
    for output in plain.outputs() {
        let scalars = output.ty.float_scalars().into_iter();
        names.extend(scalars.map(|scalar| (output.name.clone(), scalar)));
    }
    let mut floats = vec![vec![0.0_f32; all.len()]; names.len()];
    let words = words(gradient, &all);
    let globals = BatchGlobals::interleaved(gradient.globals(), &words);
    let batch = WholeBatch::new(&Instance::new(gradient)).setup(setup());
    let host = || ConstantTexture([0.5; 4]);
    let done = batch.planes(
        &globals,
        0..all.len(),
        &mut planes(&names, &mut floats),
        host,
    );
    let (_, report) = done.map_err(|no| no.to_string())?;
    let per_point = all.len() / weighed.points.len();
    let is_finite = |point: usize| {
        let own = point * per_point..(point + 1) * per_point;
        let mut numbers = floats.iter().flat_map(|plane| &plane[own.clone()]);
        report.stopped == 0 && numbers.all(|number| number.abs() < LARGE)
    };
    Ok((0..weighed.points.len()).map(is_finite).collect())
}

/// A point and its neighbours, as gradients through edges take them: along the first axis all
/// floats but the axis move by their slopes along x, along the second by those along y.
fn samples(point: &Point) -> Vec<Point> {
    let mut samples = vec![point.clone()];
    for (axis, spacing) in SPACINGS.into_iter().enumerate() {
        for distance in [-spacing, spacing] {
            let mut moved = point.clone();
            for (at, global) in moved.iter_mut().enumerate() {
                // The globals after the floats are integers.
                if at >= FLOAT_GLOBALS {
                    break;
                }
                let slopes = [&global.ddx, &global.ddy][axis].clone();
                for (value, slope) in global.value.iter_mut().zip(slopes) {
                    let slope = match at == axis {
                        true => 1.0,
                        false => f64::from(f32::from_bits(slope)),
                    };
                    let from = f64::from(f32::from_bits(*value));
                    *value = ((from + distance * slope) as f32).to_bits();
                }
            }
            samples.push(moved);
        }
    }
    samples
}

/// The globals of floats, which come first.
const FLOAT_GLOBALS: usize = 5;
