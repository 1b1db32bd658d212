//! Inputs by name, and the programs of a material whose inputs have gradients.

use super::InverseError;
use crate::scene::{Material, Scene};
use crate::scene_image::SceneImageError;
use crate::shading::{ClosureTable, GradientMaterial, LeafReader, MaterialShader, ShaderOutput};
use adumbra::access::{AccessError, closest_name};
use adumbra::gradient::GradientRequest;
use adumbra::program::Input;
use adumbra::{Instance, Scalar, Type};

/// The one of `known` that was probably meant, or all.
fn probably(name: &str, known: Vec<String>) -> Vec<String> {
    let closest = closest_name(name, known.iter().map(String::as_str));
    match closest.map(str::to_owned) {
        Some(meant) => vec![meant],
        None => known,
    }
}

/// Whether gradients are by inputs of a type.
fn has_gradient(ty: &Type) -> bool {
    matches!(ty, Type::Scalar(Scalar::F32) | Type::Vector(_))
}

/// Sets an input of floats.
pub(super) fn set_numbers(
    instance: &mut Instance,
    name: &str,
    value: &[f32],
) -> Result<(), AccessError> {
    match *value {
        [x] => instance.set(name, x),
        [x, y] => instance.set(name, [x, y]),
        [x, y, z] => instance.set(name, [x, y, z]),
        [x, y, z, w] => instance.set(name, [x, y, z, w]),
        _ => Err(AccessError::Unknown {
            name: name.to_owned(),
            closest: None,
        }),
    }
}

/// The numbers of an input of floats as they are set.
pub(super) fn numbers(instance: &Instance, name: &str) -> Result<Vec<f32>, AccessError> {
    Ok(instance.view(name)?.words().map(f32::from_bits).collect())
}

/// The material and the input of a name.
pub(super) fn find_input(scene: &Scene, name: &str) -> Result<(usize, Input), InverseError> {
    let Some((material, input)) = name.rsplit_once('.') else {
        return Err(InverseError::NotAnInput(name.to_owned()));
    };
    let mut materials = scene.materials.iter();
    let Some(number) = materials.position(|known| known.name == material) else {
        let known = scene.materials.iter().map(|known| known.name.clone());
        let known = probably(material, known.collect());
        return Err(InverseError::UnknownMaterial(material.to_owned(), known));
    };
    let inputs = scene.materials[number].unfolded.program().inputs();
    match inputs.iter().find(|known| known.name == input) {
        Some(found) if has_gradient(&found.ty) => Ok((number, found.clone())),
        Some(_) => Err(InverseError::NoFloats(name.to_owned())),
        None => {
            let known = inputs.iter().filter(|known| has_gradient(&known.ty));
            let known = known.map(|known| known.name.clone()).collect();
            let (material, input) = (material.to_owned(), input.to_owned());
            let known = probably(&input, known);
            Err(InverseError::UnknownInput(material, input, known))
        }
    }
}

/// The shader of a material whose leaves are numbers, and the program of its gradient by inputs.
pub(super) fn differentiable(
    material: &Material,
    drawn: &MaterialShader,
    inputs: &[String],
    table: &ClosureTable,
) -> Result<(MaterialShader, GradientMaterial), InverseError> {
    let program = material.unfolded.program();
    if program.quad().is_some() {
        return Err(InverseError::Quads(material.name.clone()));
    }
    let refused = |no| InverseError::Gradient(material.name.clone(), no);
    let first = |ty: Type| {
        let mut outputs = program.outputs().iter();
        outputs
            .find(|output| output.ty == ty)
            .map(|output| &*output.name)
    };
    let (leaves, reader) = match (&drawn.output, first(Type::Vector(3))) {
        (ShaderOutput::Colour(_), Some(colour)) => {
            (program.clone(), LeafReader::of_colour(program, colour)?)
        }
        _ => {
            let closure = first(Type::Scalar(Scalar::Closure)).unwrap_or_default();
            let found = program.closure_leaves(closure).map_err(refused)?;
            (found.program().clone(), LeafReader::of_leaves(&found)?)
        }
    };
    let mut request = GradientRequest::new();
    for (output, _) in reader.outputs() {
        request = request.of(output);
    }
    for input in inputs {
        request = request.by_input(input);
    }
    let gradient = leaves.gradient(&request).map_err(refused)?;
    // All programs of a shader have its textures, in the same order.
    let textures = || drawn.textures.clone();
    let mut gradient = GradientMaterial::new(&gradient, &reader, inputs, textures())?;
    let mut instance = Instance::new(&leaves);
    for input in program.inputs() {
        let value = material.unfolded.view(&input.name)?;
        instance.set_view(&input.name, value)?;
        gradient.instance.set_view(&input.name, value)?;
    }
    let shader = MaterialShader::of_leaves(instance, reader, textures(), table);
    Ok((shader.map_err(SceneImageError::Closures)?, gradient))
}
