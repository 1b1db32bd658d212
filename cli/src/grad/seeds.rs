//! The seeds of outputs: the weights of their floats, the same at all points or of each point.

use super::points::GradPoints;
use crate::error::{CliError, CliResult};
use crate::numpy::{ReadArray, is_array, read_array};
use crate::setting::InputSetting;
use adumbra::Scalar;
use adumbra::gradient::DifferentiatedValue;
use adumbra::program::BufferNumbers;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The seeds of an output: one for each of its floats.
#[derive(Clone, Debug)]
pub enum Seeds {
    /// At all points.
    Uniform(Vec<f32>),
    /// Of each pixel in turn: how many it has, and all of them.
    Pixels(usize, Arc<[f32]>),
}

impl Seeds {
    /// Those of a point.
    pub fn at(&self, point: usize) -> &[f32] {
        match self {
            Seeds::Uniform(seeds) => seeds,
            Seeds::Pixels(count, seeds) => &seeds[point * count..][..*count],
        }
    }
}

/// The file of a setting, if it is one of an array.
fn file_of(setting: &InputSetting) -> Option<&Path> {
    let file = Path::new(&setting.literal);
    file.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("npy"))
        .then_some(file)
}

/// The files that seeds are read from.
pub fn files(given: &[InputSetting]) -> impl Iterator<Item = PathBuf> + '_ {
    given.iter().filter_map(file_of).map(Path::to_owned)
}

/// The seeds of each output: those that are given; if none is, 1 for each float, else 0.
///
/// # Errors
/// If a name is unknown or given twice; if seeds are not as many as there are floats, or are not
/// finite; if a file cannot be read.
pub fn read(
    given: &[InputSetting],
    outputs: &[DifferentiatedValue],
    points: &GradPoints,
) -> CliResult<Vec<Seeds>> {
    for (index, seed) in given.iter().enumerate() {
        let name = &seed.name;
        if given[..index].iter().any(|other| other.name == *name) {
            return Err(CliError::usage(format!(
                "the seed of `{name}` is given twice"
            )));
        }
        if outputs.iter().all(|output| output.name != *name) {
            let known: Vec<String> = (outputs.iter())
                .map(|output| format!("`{}`", output.name))
                .collect();
            return Err(CliError::usage(format!(
                "--seed {name}: no such output is differentiated, only {}",
                known.join(", ")
            )));
        }
    }
    let seeds = |output: &DifferentiatedValue| {
        let Some(seed) = given.iter().find(|seed| seed.name == output.name) else {
            let without = if given.is_empty() { 1.0 } else { 0.0 };
            return Ok(Seeds::Uniform(vec![without; output.ty.scalar_count()]));
        };
        let seeds = match file_of(seed) {
            Some(file) => of_file(file, output.ty.scalar_count(), points)
                .map_err(|no| format!("{}: {no}", file.display())),
            None => uniform(seed, output),
        };
        seeds.map_err(|no| CliError::usage(format!("--seed {}: {no}", output.name)))
    };
    outputs.iter().map(seeds).collect()
}

fn uniform(seed: &InputSetting, output: &DifferentiatedValue) -> Result<Seeds, String> {
    let words = seed.words(&output.ty)?;
    let seeds: Vec<f32> = words.into_iter().map(f32::from_bits).collect();
    match seeds.iter().find(|seed| !seed.is_finite()) {
        Some(seed) => Err(format!("a seed is {seed}")),
        None => Ok(Seeds::Uniform(seeds)),
    }
}

/// The seeds of a file: an array with the floats of each point, one after the other or along both
/// sides of the image.
fn of_file(file: &Path, floats: usize, points: &GradPoints) -> Result<Seeds, String> {
    let bytes = std::fs::read(file).map_err(|no| no.to_string())?;
    if !is_array(&bytes) {
        return Err("it is no array of NumPy".to_owned());
    }
    let ReadArray { shape, numbers } = read_array(&bytes, Scalar::F32)?;
    let (count, size) = match points {
        GradPoints::One(_) => (1, None),
        GradPoints::Image(grid, _) => (grid.size().pixels(), Some(grid.size())),
    };
    let all = [count as u64];
    let sides = size.map(|size| [size.height(), size.width()].map(u64::from));
    let leading = [Some(&all[..]), sides.as_ref().map(|sides| &sides[..])];
    let with_floats = |leading: &[u64]| [leading, &[floats as u64]].concat();
    let fits = leading
        .iter()
        .flatten()
        .any(|&leading| shape == with_floats(leading) || (floats == 1 && shape == leading));
    let BufferNumbers::Floats(seeds) = numbers else {
        return Err("it has no floats".to_owned());
    };
    if !fits || seeds.len() != count * floats {
        let needs: Vec<String> = (leading.iter().flatten())
            .map(|&leading| match floats {
                1 => tuple(leading),
                _ => tuple(&with_floats(leading)),
            })
            .collect();
        return Err(format!(
            "its shape is {}, and seeds for {count} points have {}",
            tuple(&shape),
            needs.join(" or ")
        ));
    }
    if let Some(at) = seeds.iter().position(|seed| !seed.is_finite()) {
        let (point, seed) = (at / floats, seeds[at]);
        return Err(match size {
            None => format!("a seed is {seed}"),
            Some(size) => {
                let width = size.width() as usize;
                format!(
                    "the seed of pixel {},{} is {seed}",
                    point % width,
                    point / width
                )
            }
        });
    }
    Ok(match points.numbers() {
        // One point, whichever it is.
        one if one.len() == 1 => Seeds::Uniform(seeds[one.start * floats..][..floats].to_vec()),
        _ => Seeds::Pixels(floats, seeds),
    })
}

/// A shape as Python writes it.
fn tuple(shape: &[u64]) -> String {
    match shape {
        [one] => format!("({one},)"),
        many => {
            let sides: Vec<String> = many.iter().map(u64::to_string).collect();
            format!("({})", sides.join(", "))
        }
    }
}
