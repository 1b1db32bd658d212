//! Random groups: generated shaders as units, wired to one another.

use crate::choices::Choices;
use adumbra::{Scalar, Type};

/// The most units of a group.
const MAX_UNITS: i64 = 5;

/// The inputs and outputs of a shader: names and types.
#[derive(Clone, Debug, Default)]
pub struct Face {
    /// Its inputs.
    pub inputs: Vec<(String, Type)>,
    /// Its outputs.
    pub outputs: Vec<(String, Type)>,
}

/// A group over some shaders.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The units; wires lead from earlier to later ones.
    pub units: Vec<Unit>,
    /// Unit and output of what is exposed.
    pub exposed: Vec<(usize, usize)>,
}

/// A unit.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Which of the shaders.
    pub shader: usize,
    /// The source of each input.
    pub inputs: Vec<Feed>,
    /// Whether its textures are bound to names of its own.
    pub binds: bool,
}

/// The source of an input.
#[derive(Clone, Debug, PartialEq)]
pub enum Feed {
    /// The shader's default.
    Default,
    /// A value of the input's type, by its words.
    Value(Vec<u32>),
    /// An output of an earlier unit, or a component of it.
    Wire {
        /// The unit.
        unit: usize,
        /// Which of its outputs.
        output: usize,
        /// Which component of a vector.
        component: Option<u32>,
    },
}

impl Graph {
    /// A group over shaders with these faces.
    pub fn generate(choices: &mut Choices<'_>, faces: &[Face]) -> Graph {
        let mut graph = Graph::default();
        for _ in 0..choices.between(2, MAX_UNITS) {
            let shader = choices.below(faces.len());
            let inputs = faces[shader].inputs.iter();
            let inputs = inputs
                .map(|(_, ty)| graph.feed(choices, faces, ty))
                .collect();
            let binds = choices.one_in(3);
            graph.units.push(Unit {
                shader,
                inputs,
                binds,
            });
        }
        for _ in 0..choices.between(1, 3) {
            // The last unit most often: the longest paths lead to it.
            let back = choices.weighted(&[4, 2, 1]).min(graph.units.len() - 1);
            let unit = graph.units.len() - 1 - back;
            let outputs = &faces[graph.units[unit].shader].outputs;
            graph.exposed.push((unit, choices.below(outputs.len())));
        }
        graph.exposed.dedup();
        graph
    }

    fn feed(&self, choices: &mut Choices<'_>, faces: &[Face], ty: &Type) -> Feed {
        match choices.weighted(&[1, 1, 4]) {
            0 => Feed::Default,
            1 => value(choices, ty).map_or(Feed::Default, Feed::Value),
            _ => {
                let mut able = Vec::new();
                for (unit, from) in self.units.iter().enumerate() {
                    for (output, (_, given)) in faces[from.shader].outputs.iter().enumerate() {
                        let mut add = |component| {
                            able.push(Feed::Wire {
                                unit,
                                output,
                                component,
                            });
                        };
                        if converts(given, ty) {
                            add(None);
                        }
                        if let (Type::Vector(n), true) = (given, converts(&Type::FLOAT, ty)) {
                            add(Some(choices.below(usize::from(*n)) as u32));
                        }
                    }
                }
                match able.is_empty() {
                    true => Feed::Default,
                    false => choices.pick(&able).clone(),
                }
            }
        }
    }

    /// By unit, whether something exposed depends on it. What has no numbers, as a struct without
    /// members, depends on nothing.
    pub fn needed(&self, faces: &[Face]) -> Vec<bool> {
        let has_numbers = |unit: usize, output: usize| {
            let (_, ty) = &faces[self.units[unit].shader].outputs[output];
            ty.scalar_count() > 0
        };
        let mut needed = vec![false; self.units.len()];
        for &(unit, output) in &self.exposed {
            needed[unit] |= has_numbers(unit, output);
        }
        for at in (0..self.units.len()).rev() {
            if !needed[at] {
                continue;
            }
            for feed in &self.units[at].inputs {
                if let Feed::Wire { unit, output, .. } = feed {
                    needed[*unit] |= has_numbers(*unit, *output);
                }
            }
        }
        needed
    }
}

/// The value at the end of a wire between these types; `None` if there can be no wire.
///
/// It is defined here a second time, to check the library.
pub fn converted(words: &[u32], from: &Type, to: &Type) -> Option<Vec<u32>> {
    let number = |from: Scalar, to: Scalar, word: u32| match (from, to) {
        _ if from == to => Some(word),
        (Scalar::I32, Scalar::F32) => Some((word as i32 as f32).to_bits()),
        (Scalar::U32, Scalar::F32) => Some((word as f32).to_bits()),
        (Scalar::I32, Scalar::U32) => Some(word),
        _ => None,
    };
    match (from, to) {
        _ if from == to => Some(words.to_vec()),
        (Type::Scalar(from), Type::Scalar(to)) => Some(vec![number(*from, *to, words[0])?]),
        (Type::Scalar(from), Type::Vector(n)) => {
            Some(vec![number(*from, Scalar::F32, words[0])?; usize::from(*n)])
        }
        _ => None,
    }
}

fn converts(from: &Type, to: &Type) -> bool {
    converted(&vec![0; from.scalar_count()], from, to).is_some()
}

/// Words of a value of that type; none of a closure.
fn value(choices: &mut Choices<'_>, ty: &Type) -> Option<Vec<u32>> {
    let mut words = Some(Vec::new());
    ty.for_each_scalar(&mut |scalar| {
        let number = choices.between(-16, 16) as i32;
        let word = match scalar {
            Scalar::F32 => (number as f32 / 8.0).to_bits(),
            Scalar::I32 => number as u32,
            Scalar::U32 => number.unsigned_abs(),
            Scalar::Bool => u32::from(number > 0),
            Scalar::Closure | Scalar::Resource => {
                words = None;
                return;
            }
        };
        if let Some(words) = &mut words {
            words.push(word);
        }
    });
    words
}
