//! The gradient of a tile's pixels by inputs of materials.

use super::{AdjointPoints, GradientShader, InputSums, WaveRecord};
use crate::shading::path::{ImageTile, PathScene, PathSettings, next_wave, samples_of};
use crate::shading::tracer::PathTracer;
use crate::shading::wave::{ShadingError, TextureAccess, WaveShader};
use glam::Vec3;

/// The evaluator and the sums of a material, by its number.
pub(crate) type MaterialSums<'a> = (usize, GradientShader<'a>, InputSums);

/// Traces the samples of a tile's pixels again, and adds the gradient of a loss by inputs.
/// `adjoint` has the derivative of the loss by each pixel of the tile, row by row. Materials that
/// have a gradient give [leaves as numbers](crate::shading::ShaderOutput::Leaves).
///
/// # Errors
/// If a material cannot be evaluated here.
pub(crate) fn tile_gradient<T: TextureAccess>(
    (scene, settings): (&PathScene<'_>, &PathSettings),
    (tile, adjoint): (ImageTile, &[Vec3]),
    shader: &mut WaveShader<'_>,
    gradients: &mut [MaterialSums<'_>],
    textures: &mut T,
) -> Result<(), ShadingError> {
    let mut tracer = PathTracer::new(scene, settings);
    tracer.record = Some(WaveRecord::default());
    let mut points = AdjointPoints::default();
    let (mut paths, mut of_paths) = (Vec::new(), Vec::new());
    let mut samples = samples_of(settings, tile);
    let share = 1.0 / settings.samples.max(1) as f32;
    while next_wave(&mut samples, settings, &mut paths) {
        tracer.trace(&mut paths, shader, textures)?;
        // An image leaves out paths that are not finite.
        of_paths.clear();
        of_paths.extend(paths.iter().map(|path| match path.radiance.is_finite() {
            true => adjoint[path.pixel] * share,
            false => Vec3::ZERO,
        }));
        if let Some(record) = &tracer.record {
            points.follow(record, shader.materials(), &of_paths);
        }
        for (material, gradient, sums) in gradients.iter_mut() {
            gradient.add((*material, &points), textures, sums);
        }
    }
    Ok(())
}
