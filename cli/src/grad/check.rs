//! Central differences of the reference evaluator in f64, beside a gradient.

use super::GradJob;
use crate::checkerboard::CheckerboardHost;
use crate::error::{CliError, CliResult};
use crate::report;
use crate::run::unfolded_instance;
use adumbra::Globals;
use adumbra::derivatives::{ParameterScalar, parameter_differences};
use adumbra::gradient::ParameterKind;
use adumbra::program::BufferNumbers;

/// The most differences that are taken: points times numbers of parameters.
pub const MAX_DIFFERENCES: usize = 1 << 16;

/// The slopes by a parameter that differences see, summed over all points.
pub struct DifferenceSlopes {
    /// Of each float of it.
    pub sums: Vec<f64>,
    /// Points where some step met another path, a kink or what is not finite: there a difference
    /// means little.
    pub unsmooth: usize,
}

/// Refuses differences that cannot be taken.
///
/// # Errors
/// If they are too many, or what is sampled is in files.
pub fn refuse(job: &GradJob<'_>) -> CliResult {
    let parameters = job.gradient.parameters();
    if !job.textures.are_checkerboards() {
        return Err(CliError::usage(
            "--check samples a checkerboard in double precision: it cannot read the files of textures",
        ));
    }
    let scalars = parameters.iter().map(|parameter| job.floats_of(parameter));
    let scalars: usize = scalars.sum();
    let points = job.points.points().numbers();
    if points.len().saturating_mul(scalars) > MAX_DIFFERENCES {
        return Err(CliError::usage(format!(
            "--check would take {} differences at {} points each, and {MAX_DIFFERENCES} is the limit: give a smaller `--size`, or `--at`",
            scalars,
            points.len()
        )));
    }
    Ok(())
}

/// The slopes of Σ seed·output by each parameter.
///
/// # Errors
/// If Ctrl-C was pressed.
pub fn differences(job: &GradJob<'_>) -> CliResult<Vec<DifferenceSlopes>> {
    let parameters = job.gradient.parameters();
    let points = job.points.points().numbers();
    let limits = job.setup.limits(job.program);
    let mut instance = unfolded_instance(&job.args.arguments, job.program)?;
    for buffer in job.program.buffers() {
        let numbers = job.instance.buffer(&buffer.name);
        let set = numbers.and_then(|numbers| instance.set_buffer(&buffer.name, numbers.clone()));
        set.map_err(CliError::usage)?;
    }
    let by: Vec<Vec<ParameterScalar>> = (parameters.iter())
        .map(|parameter| scalars_of(job, &parameter.value.name, parameter.kind))
        .collect();
    let scalars = by.concat();
    let mut slopes: Vec<DifferenceSlopes> = (parameters.iter())
        .map(|parameter| DifferenceSlopes {
            sums: vec![0.0; job.floats_of(parameter)],
            unsmooth: 0,
        })
        .collect();
    let mut host = CheckerboardHost::new(job.interrupt);
    let mut here = Globals::new(job.program.globals());
    job.points.for_each_point(points, |point, globals| {
        // The program without the gradient has no seeds; its own globals come first.
        let own = here.words().len();
        here.words_mut().copy_from_slice(&globals.words()[..own]);
        let weights = weights(job, point);
        let found = parameter_differences(&instance, &here, &scalars, limits, &mut host);
        let mut found = found.unwrap_or_default().into_iter();
        for (by, slopes) in by.iter().zip(&mut slopes) {
            let mut is_smooth = true;
            for sum in &mut slopes.sums[..by.len()] {
                let found = found.next().unwrap_or_default();
                for (weight, (slope, smooth)) in weights.iter().zip(&found) {
                    if *weight != 0.0 {
                        *sum += weight * slope;
                        is_smooth &= smooth;
                    }
                }
                is_smooth &= !found.is_empty();
            }
            slopes.unsmooth += usize::from(!is_smooth);
        }
    });
    if job.interrupt.is_pressed() {
        report::message("interrupted");
        return Err(CliError::Interrupted);
    }
    Ok(slopes)
}

/// By scalar of the program's outputs, its seed at a point.
fn weights(job: &GradJob<'_>, point: usize) -> Vec<f64> {
    let mut weights = Vec::new();
    for output in job.program.outputs() {
        let of = job.gradient.outputs().iter().zip(job.seeds);
        let mut of = of.filter(|(of, _)| of.name == output.name);
        let mut seeds = of.next().map(|(_, seeds)| seeds.at(point).iter());
        output.ty.for_each_scalar(&mut |scalar| {
            let seed = match (scalar, &mut seeds) {
                (adumbra::Scalar::F32, Some(seeds)) => seeds.next(),
                _ => None,
            };
            weights.push(seed.map_or(0.0, |seed| f64::from(*seed)));
        });
    }
    weights
}

/// The floats of a parameter, among those of all inputs or globals; the numbers of a buffer.
fn scalars_of(job: &GradJob<'_>, name: &str, kind: ParameterKind) -> Vec<ParameterScalar> {
    if kind == ParameterKind::Buffer {
        let mut buffers = job.program.buffers();
        let at = buffers.position(|buffer| buffer.name == name);
        let at = at.expect("the gradient is by it");
        let numbers = job.instance.buffer(name).map_or(0, BufferNumbers::len);
        let numbers = 0..numbers;
        return numbers
            .map(|number| ParameterScalar::Buffer(at, number))
            .collect();
    }
    let (mut before, mut found) = (0, Vec::new());
    let mut add = |known: &str, ty: &adumbra::Type| {
        ty.for_each_scalar(&mut |scalar| {
            if known == name && scalar == adumbra::Scalar::F32 {
                found.push(match kind {
                    ParameterKind::Input => ParameterScalar::Input(before),
                    _ => ParameterScalar::Global(before),
                });
            }
            before += 1;
        });
    };
    match kind {
        ParameterKind::Input => {
            for input in job.program.inputs() {
                add(&input.name, &input.ty);
            }
        }
        _ => {
            for member in job.program.globals().members() {
                add(member.name(), member.ty());
            }
        }
    }
    found
}
