//! Closures as numbers: the weight and the arguments of each of their leaves, as outputs of a
//! program. So a wave knows which number of a lobe is which output, whose gradient can be taken.

use super::closures::{LEAVES, LeafInfo, Lobe};
use super::number::{Colour, LobeNumber};
use adumbra::access::{AccessError, OutputSlot};
use adumbra::batch::BatchEvaluator;
use adumbra::closure::{LeafOutputs, LeafProgram};
use adumbra::value::HostValue;
use adumbra::{Evaluator, Program, Scalar, Type};
use std::ops::Range;

/// Numbers of a leaf's weight.
const CHANNELS: usize = 3;

/// Arguments that lobes take as they are, whatever they depend on.
const CONSTANT_ARGUMENTS: [&str; 5] = ["normal", "tangent", "layer", "ior", "radius"];

/// The outputs of a closure's leaves, or of a colour that is emitted.
#[derive(Clone, Debug)]
pub struct LeafReader {
    leaves: Vec<LeafSlots>,
}

/// The outputs of a leaf.
#[derive(Clone, Debug)]
struct LeafSlots {
    info: &'static LeafInfo,
    weight: NamedSlot<[f32; 3]>,
    arguments: Vec<ArgumentSlot>,
}

#[derive(Clone, Debug)]
struct NamedSlot<T> {
    name: String,
    slot: OutputSlot<T>,
}

impl<T: HostValue> NamedSlot<T> {
    fn new(program: &Program, name: &str) -> Result<NamedSlot<T>, AccessError> {
        Ok(NamedSlot {
            name: name.to_owned(),
            slot: program.output_slot(name)?,
        })
    }
}

/// The output with an argument.
#[derive(Clone, Debug)]
enum ArgumentSlot {
    Vector(NamedSlot<[f32; 3]>),
    Float(NamedSlot<f32>),
    Int(OutputSlot<i32>),
    /// No output: the radiance of a colour that is emitted as it is.
    White,
}

/// A point whose outputs are read.
pub(super) trait PointOutputs {
    fn vector(&self, slot: OutputSlot<[f32; 3]>) -> [f32; 3];
    fn float(&self, slot: OutputSlot<f32>) -> f32;
    fn int(&self, slot: OutputSlot<i32>) -> i32;
}

impl PointOutputs for Evaluator {
    fn vector(&self, slot: OutputSlot<[f32; 3]>) -> [f32; 3] {
        self.read(slot)
    }

    fn float(&self, slot: OutputSlot<f32>) -> f32 {
        self.read(slot)
    }

    fn int(&self, slot: OutputSlot<i32>) -> i32 {
        self.read(slot)
    }
}

/// A point of a batch.
pub(super) struct BatchPoint<'b>(pub(super) &'b BatchEvaluator, pub(super) usize);

impl PointOutputs for BatchPoint<'_> {
    fn vector(&self, slot: OutputSlot<[f32; 3]>) -> [f32; 3] {
        self.0.read(slot, self.1)
    }

    fn float(&self, slot: OutputSlot<f32>) -> f32 {
        self.0.read(slot, self.1)
    }

    fn int(&self, slot: OutputSlot<i32>) -> i32 {
        self.0.read(slot, self.1)
    }
}

impl LeafReader {
    /// For a program that gives leaves as outputs. All are leaves of this renderer: its compiler
    /// refuses others.
    ///
    /// # Errors
    /// If the program does not have the outputs that it says.
    pub fn of_leaves(found: &LeafProgram) -> Result<LeafReader, AccessError> {
        let program = found.program();
        let info = |leaf: &LeafOutputs| LEAVES.iter().find(|info| info.name == leaf.shape.name);
        let known = found.leaves().iter();
        let known = known.filter_map(|leaf| info(leaf).zip(Some(leaf)));
        let leaves = known.map(|(info, leaf)| {
            let arguments = leaf.arguments.iter().flatten().zip(info.params);
            let arguments = arguments.map(|(name, (_, ty))| {
                Ok(match ty {
                    Type::Vector(3) => ArgumentSlot::Vector(NamedSlot::new(program, name)?),
                    Type::Scalar(Scalar::I32) => ArgumentSlot::Int(program.output_slot(name)?),
                    _ => ArgumentSlot::Float(NamedSlot::new(program, name)?),
                })
            });
            Ok(LeafSlots {
                info,
                weight: NamedSlot::new(program, &leaf.weight)?,
                arguments: arguments.collect::<Result<_, AccessError>>()?,
            })
        });
        Ok(LeafReader {
            leaves: leaves.collect::<Result<_, AccessError>>()?,
        })
    }

    /// For a program with a colour that is emitted.
    ///
    /// # Errors
    /// If it has no such output.
    pub fn of_colour(program: &Program, output: &str) -> Result<LeafReader, AccessError> {
        let info = LeafInfo::emission();
        Ok(LeafReader {
            leaves: vec![LeafSlots {
                info,
                weight: NamedSlot::new(program, output)?,
                arguments: vec![ArgumentSlot::White],
            }],
        })
    }

    /// Whether any of its leaves lets light pass straight through.
    pub(super) fn passes(&self) -> bool {
        self.leaves.iter().any(|leaf| leaf.info.is_transparent())
    }

    /// Whether any of its leaves emits light.
    pub(super) fn emits(&self) -> bool {
        self.leaves.iter().any(|leaf| leaf.info.is_emission())
    }

    /// Appends the numbers of a point: of each leaf its weight, then its arguments.
    pub(super) fn read(&self, point: &impl PointOutputs, values: &mut Vec<f32>) {
        for leaf in &self.leaves {
            values.extend(point.vector(leaf.weight.slot));
            for argument in &leaf.arguments {
                match argument {
                    ArgumentSlot::Vector(named) => values.extend(point.vector(named.slot)),
                    ArgumentSlot::Float(named) => values.push(point.float(named.slot)),
                    ArgumentSlot::Int(slot) => values.push(point.int(*slot) as f32),
                    ArgumentSlot::White => values.extend([1.0; CHANNELS]),
                }
            }
        }
    }

    /// Appends the lobes of a point by its numbers, also of leaves of weight 0.
    pub(super) fn lobes<R: LobeNumber>(&self, values: &[R], lobes: &mut Vec<Lobe<R>>) {
        let mut rest = values;
        for leaf in &self.leaves {
            let (own, others) = rest.split_at(CHANNELS + leaf.info.scalars());
            rest = others;
            let weight = Colour([own[0], own[1], own[2]]);
            lobes.extend(leaf.info.lobe(weight, &own[CHANNELS..]));
        }
    }

    /// The outputs that lobes have derivatives by, each with the positions of its numbers among
    /// those of a point.
    pub(crate) fn outputs(&self) -> Vec<(&str, Range<usize>)> {
        let (mut outputs, mut at) = (Vec::new(), 0);
        for leaf in &self.leaves {
            outputs.push((leaf.weight.name.as_str(), at..at + CHANNELS));
            at += CHANNELS;
            for (argument, (name, ty)) in leaf.arguments.iter().zip(leaf.info.params) {
                let named = match argument {
                    ArgumentSlot::Vector(named) => Some(&named.name),
                    ArgumentSlot::Float(named) => Some(&named.name),
                    ArgumentSlot::Int(_) | ArgumentSlot::White => None,
                };
                let count = ty.scalar_count();
                let named = named.filter(|_| !CONSTANT_ARGUMENTS.contains(name));
                outputs.extend(named.map(|name| (name.as_str(), at..at + count)));
                at += count;
            }
        }
        outputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shading::closures::MAX_LEAF_SCALARS;

    #[test]
    fn arguments_are_within_the_limit() {
        let most = LEAVES.iter().map(LeafInfo::scalars).max();
        assert_eq!(most, Some(MAX_LEAF_SCALARS));
    }

    #[test]
    fn constant_arguments_are_those_of_leaves() {
        for name in CONSTANT_ARGUMENTS {
            let mut params = LEAVES.iter().flat_map(|leaf| leaf.params);
            assert!(params.any(|(known, _)| *known == name), "{name}");
        }
    }
}
