//! What a search reads of programs: the scalars of their outputs, and words of their globals.

use super::JumpGradient;
use super::axes::Slope;
use crate::GlobalsLayout;
use crate::gradient::parts::{DerivativePlace, ParameterKind};
use crate::gradient::{DifferentiatedValue, Gradient};
use crate::value::Part;
use adumbra_ir::Type;

/// The words, and scalars of outputs, that a search reads: the same for all threads.
pub(super) struct Places {
    /// Words of the weights of the outputs' floats, among those of the smooth program's globals.
    pub(super) weights: Vec<usize>,
    /// Outputs that are differentiated.
    pub(super) outputs: Vec<String>,
    /// Per wanted float, its number among those of a margin's gradients.
    pub(super) wanted: Vec<usize>,
    /// By axis: the words that move along it and that the margin has a slope by, each by the number
    /// of that, with how it moves.
    pub(super) moves: Vec<Vec<(usize, Slope)>>,
    /// The global that weighs the margin.
    pub(super) seed: String,
}

/// A float of a gradient by a parameter.
#[derive(Clone, Debug)]
pub(super) struct Float {
    pub(super) kind: ParameterKind,
    pub(super) name: String,
    /// Its number among those of the parameter.
    pub(super) float: usize,
    /// The output that has it, and its scalar there.
    pub(super) output: String,
    pub(super) scalar: usize,
}

/// The floats of a gradient's outputs, in order.
pub(super) fn gradient_floats(gradient: &Gradient) -> Vec<Float> {
    let mut floats = Vec::new();
    for parameter in gradient.parameters() {
        if let DerivativePlace::Output(output) = &parameter.value.place {
            let scalars = parameter.value.ty.float_scalars().into_iter().enumerate();
            floats.extend(scalars.map(|(float, scalar)| Float {
                kind: parameter.kind,
                name: parameter.value.name.clone(),
                float,
                output: output.clone(),
                scalar,
            }));
        }
    }
    floats
}

/// The outputs that have floats, in order.
pub(super) fn outputs_of(floats: &[Float]) -> Vec<&str> {
    let mut outputs: Vec<&str> = floats.iter().map(|float| float.output.as_str()).collect();
    outputs.dedup();
    outputs
}

/// The words of the weights of an output's floats.
fn seed_words(output: &DifferentiatedValue, layout: &GlobalsLayout) -> Vec<usize> {
    let DerivativePlace::Globals(seeds) = &output.place else {
        panic!("the mode is backward");
    };
    let words = seeds.iter().flat_map(|(name, ty): &(String, Type)| {
        let member = layout.member(name).expect("it has the seeds");
        let first = member.value_offset() / 4;
        first..first + ty.scalar_count()
    });
    words.collect()
}

/// The global that weighs the margin.
pub(super) fn seed_of_margin(margins: &Gradient) -> String {
    match &margins.outputs()[0].place {
        DerivativePlace::Globals(seeds) => seeds[0].0.clone(),
        _ => panic!("the mode is backward"),
    }
}

impl Places {
    /// The places of what is wanted, by the gradient of a margin.
    pub(super) fn new(jumps: &JumpGradient, margins: &Gradient, wanted: &[Float]) -> Places {
        let smooth = jumps.smooth();
        let layout = smooth.program().globals();
        let of_margins = gradient_floats(margins);
        let number = |kind: ParameterKind, name: &str, float: usize| {
            let mut floats = of_margins.iter();
            floats.position(|of| of.kind == kind && of.name == name && of.float == float)
        };
        let wanted = wanted.iter().map(|of| {
            let number = number(of.kind, &of.name, of.float);
            number.expect("margins have the same parameters")
        });
        // By word, the number of the margin's slope.
        let mut slopes = vec![None; layout.size() / 4];
        for member in layout.members() {
            let first = member.part(Part::Value as usize).start;
            for (float, scalar) in member.ty().float_scalars().into_iter().enumerate() {
                slopes[first + scalar] = number(ParameterKind::Global, member.name(), float);
            }
        }
        let moves = jumps.moves.iter().map(|axis| {
            let moves = axis.moves.iter();
            moves
                .filter_map(|&(word, slope)| Some((slopes[word]?, slope)))
                .collect()
        });
        let outputs = smooth.outputs().iter();
        Places {
            weights: outputs
                .clone()
                .flat_map(|output| seed_words(output, layout))
                .collect(),
            outputs: outputs.map(|output| output.name.clone()).collect(),
            wanted: wanted.collect(),
            moves: moves.collect(),
            seed: seed_of_margin(margins),
        }
    }
}
