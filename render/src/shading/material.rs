//! The program of a material, as a wave evaluates it.

use super::closures::ClosureTable;
use super::leaf_values::LeafReader;
use crate::scene::Material;
use adumbra::Instance;
use adumbra::access::{ClosureSlot, OutputSlot};
use adumbra::closure::{ClosureReader, RegistryError};
use adumbra::{Scalar, Type};

/// What a material gives at a point.
#[derive(Clone, Debug)]
pub enum ShaderOutput {
    /// A closure, which is walked into lobes.
    Closure(ClosureSlot),
    /// A colour, which is emitted as it is: for patterns without light.
    Colour(OutputSlot<[f32; 3]>),
    /// The leaves of a closure as numbers, whose gradients are taken.
    Leaves(LeafReader),
    /// None of these: the surface is black.
    Nothing,
}

/// A material with the locations of what is read of it.
#[derive(Clone, Debug)]
pub struct MaterialShader {
    /// Its program with its inputs.
    pub instance: Instance,
    /// What is read of it.
    pub output: ShaderOutput,
    /// How its closures are read.
    pub reader: ClosureReader,
    /// Whether any of its points may let light pass straight through.
    pub passes: bool,
    /// Whether any of its points may emit light.
    pub emits: bool,
    /// The texture of the scene for each texture of the program.
    pub textures: Vec<usize>,
}

impl MaterialShader {
    /// Finds the outputs of a material: the first closure, or else the first colour.
    ///
    /// # Errors
    /// If its program makes closures that the table does not have: it was compiled without it.
    pub fn new(material: &Material, table: &ClosureTable) -> Result<MaterialShader, RegistryError> {
        let program = material.instance.program();
        let first = |wanted: &Type| {
            let mut outputs = program.outputs().iter();
            outputs
                .find(|output| output.ty == *wanted)
                .map(|output| &*output.name)
        };
        let closure = first(&Type::Scalar(Scalar::Closure));
        let closure = closure.and_then(|name| program.closure_slot(name).ok());
        let colour = first(&Type::Vector(3));
        let colour = colour.and_then(|name| program.output_slot(name).ok());
        let output = match (closure, colour) {
            (Some(slot), _) => ShaderOutput::Closure(slot),
            (None, Some(slot)) => ShaderOutput::Colour(slot),
            (None, None) => ShaderOutput::Nothing,
        };
        let is_closure = matches!(output, ShaderOutput::Closure(_));
        Ok(MaterialShader {
            instance: material.instance.clone(),
            passes: is_closure && table.may_pass(program),
            emits: match &output {
                ShaderOutput::Closure(_) => table.may_emit(program),
                ShaderOutput::Colour(_) => true,
                ShaderOutput::Leaves(_) | ShaderOutput::Nothing => false,
            },
            output,
            reader: table.registry().reader(program)?,
            textures: material.textures.clone(),
        })
    }

    /// A material whose leaves are numbers, of that program. The textures are those of the
    /// program, by their indices into the scene's.
    ///
    /// # Errors
    /// If the program makes closures, too.
    pub(crate) fn of_leaves(
        instance: Instance,
        leaves: LeafReader,
        textures: Vec<usize>,
        table: &ClosureTable,
    ) -> Result<MaterialShader, RegistryError> {
        Ok(MaterialShader {
            reader: table.registry().reader(instance.program())?,
            passes: leaves.passes(),
            emits: leaves.emits(),
            output: ShaderOutput::Leaves(leaves),
            instance,
            textures,
        })
    }
}
