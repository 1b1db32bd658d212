//! A scene as what is fitted: images that depend on inputs of materials, with their gradients.

use super::{InverseError, InverseScene};
use adumbra::program::Input;
use adumbra_fit::{
    BoundsError, FitParameter, Objective, ParameterBounds, ParameterGradient, ParameterPoint,
    Raster, RasterShape, Render,
};

/// The images of a scene by the inputs of its materials, which a [`Fit`](adumbra_fit::Fit) finds.
///
/// The parameters are the numbers of the inputs, with the bounds of their metadata (`min`, `max`,
/// `range`, `learning_rate`). All images have the same random numbers, and all gradients have
/// others: those of an image would count how its noise depends on the inputs, too.
#[derive(Debug)]
pub struct SceneObjective<'s> {
    scene: InverseScene<'s>,
    parameters: Vec<FitParameter>,
    shapes: [RasterShape; 1],
    seeds: [u32; 2],
    /// Points that were in no gradient so far.
    left_out: u64,
}

/// What an input's metadata says of its numbers.
fn bounds(input: &Input) -> Result<ParameterBounds, BoundsError> {
    ParameterBounds::read(&input.name, |name| {
        let value = input.metadata_value(name)?;
        // What is no number is NaN here.
        Some(value.as_number().unwrap_or(f64::NAN))
    })
}

impl<'s> SceneObjective<'s> {
    /// The images of a scene, whose settings have that seed.
    ///
    /// # Errors
    /// If the metadata of an input makes no sense, or one of its numbers is not finite.
    pub fn new(scene: InverseScene<'s>, seed: u32) -> Result<SceneObjective<'s>, InverseError> {
        let mut parameters = Vec::new();
        for input in scene.inputs() {
            let bounds = bounds(&input.input).map_err(InverseError::Bounds)?;
            for &number in &input.value {
                if !number.is_finite() {
                    return Err(InverseError::NotFinite(input.to_string()));
                }
                parameters.push(bounds.parameter(&input.to_string(), number.into()));
            }
        }
        let [width, height] = scene.size().map(|side| side as usize);
        Ok(SceneObjective {
            scene,
            parameters,
            shapes: [RasterShape {
                width,
                height,
                channels: 3,
            }],
            seeds: [seed, seed.wrapping_add(1)],
            left_out: 0,
        })
    }

    /// The scene with the inputs of the last image.
    pub fn scene(&self) -> &InverseScene<'s> {
        &self.scene
    }

    /// Points that were in no gradient, since theirs was not finite or they were stopped.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Sets the inputs to these values of the parameters.
    ///
    /// # Errors
    /// If there are not as many.
    pub fn set(&mut self, values: &[f64]) -> Result<(), InverseError> {
        let mut rest = values;
        for at in 0..self.scene.inputs().len() {
            let count = self.scene.inputs()[at].value.len();
            let (own, others) = rest.split_at(count.min(rest.len()));
            rest = others;
            let value: Vec<f32> = own.iter().map(|number| *number as f32).collect();
            if value != self.scene.inputs()[at].value {
                self.scene.set(at, &value)?;
            }
        }
        Ok(())
    }
}

impl Render for SceneObjective<'_> {
    type Error = InverseError;

    fn parameters(&self) -> &[FitParameter] {
        &self.parameters
    }

    fn shapes(&self) -> &[RasterShape] {
        &self.shapes
    }

    fn render(
        &mut self,
        point: &ParameterPoint<'_>,
        images: &mut [Raster],
    ) -> Result<(), InverseError> {
        self.set(point.values)?;
        self.scene.set_seed(self.seeds[0]);
        let image = self.scene.image()?;
        images[0].values_mut().copy_from_slice(image.as_flattened());
        Ok(())
    }
}

impl Objective for SceneObjective<'_> {
    fn gradient(
        &mut self,
        point: &ParameterPoint<'_>,
        adjoint: &[Raster],
        gradient: &mut ParameterGradient,
    ) -> Result<(), InverseError> {
        self.set(point.values)?;
        self.scene.set_seed(self.seeds[1]);
        let pixels = adjoint[0].values().chunks_exact(3);
        let pixels: Vec<[f32; 3]> = pixels.map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        let found = self.scene.gradient(&pixels)?;
        self.left_out += found.left_out;
        gradient.values.clear();
        gradient
            .values
            .extend(found.by_inputs.into_iter().flatten());
        // No input is a random variable.
        gradient.scales.fill(0.0);
        Ok(())
    }
}
