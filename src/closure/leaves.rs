//! The closure of a point as a flat list of leaves, each with the product of the weights above it.
//!
//! Nodes are numbered as they were made, children before parents. So one pass from the root
//! downwards gives each node the sum of the weights of all paths to it. A sum of a closure with
//! itself, which has more paths than any machine has memory, takes no longer than others.

use super::{ClosureLeaf, ClosureView};
use crate::access::{Fingerprint, Named, find_typed};
use crate::program::Program;
use crate::value::{HostValue, MAX_HOST_SCALARS};
use crate::{
    access::AccessError,
    closure::{ClosureRegistry, RegistryError},
};
use adumbra_frontend::check::RegisteredClosure;
use adumbra_ir::host::{ClosureNode, ClosureRef};
use adumbra_ir::module::ClosureShape;
use adumbra_ir::{Scalar, Type};
use adumbra_vm::FloatEnvironment;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// One of the closures of a [`ClosureRegistry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClosureKind {
    index: u32,
    /// The shape's number in the registry.
    signature: Fingerprint,
}

impl ClosureKind {
    /// The number of closures that were registered before it.
    pub fn index(self) -> usize {
        self.index as usize
    }
}

/// The location of a parameter of type `T` among the arguments of a registered closure:
/// [`ClosureRegistry::slot`].
pub struct ArgumentSlot<T> {
    kind: ClosureKind,
    /// First of its words, and how many there are.
    words: [u32; 2],
    marker: PhantomData<fn() -> T>,
}

impl<T> Clone for ArgumentSlot<T> {
    fn clone(&self) -> ArgumentSlot<T> {
        *self
    }
}

impl<T> Copy for ArgumentSlot<T> {}

impl<T> fmt::Debug for ArgumentSlot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slot = &mut f.debug_struct("ArgumentSlot");
        slot.field("closure", &self.kind.index())
            .field("words", &self.words)
            .finish()
    }
}

impl Named for RegisteredClosure {
    fn named(&self) -> (&str, &Type) {
        (&self.name, &Type::Scalar(Scalar::Closure))
    }
}

impl Named for (String, Type) {
    fn named(&self) -> (&str, &Type) {
        (&self.0, &self.1)
    }
}

/// A fingerprint of a registry.
fn signature(registry: &ClosureRegistry) -> Fingerprint {
    let closures = registry.closures().iter();
    Fingerprint::of_hashes(closures.map(|closure| (&closure.name, &closure.params)))
}

impl ClosureRegistry {
    /// A closure by its name, to know its leaves by.
    ///
    /// # Errors
    /// If none of that name is registered.
    pub fn kind(&self, closure: &str) -> Result<ClosureKind, AccessError> {
        Ok(ClosureKind {
            // A closure counts as one scalar.
            index: find_typed(self.closures(), closure, &Type::Scalar(Scalar::Closure))? as u32,
            signature: signature(self),
        })
    }

    /// A closure's parameter by its name, to be read of each leaf without looking for it.
    ///
    /// # Errors
    /// If there is no such closure or parameter, or it has another type.
    pub fn slot<T: HostValue>(
        &self,
        closure: &str,
        param: &str,
    ) -> Result<ArgumentSlot<T>, AccessError> {
        self.slot_of(closure, param, &T::ty())
    }

    /// A closure's parameter that is a closure itself.
    ///
    /// # Errors
    /// If there is no such closure or parameter, or it has another type.
    pub fn closure_slot(
        &self,
        closure: &str,
        param: &str,
    ) -> Result<ArgumentSlot<ClosureView<'static>>, AccessError> {
        self.slot_of(closure, param, &Type::Scalar(Scalar::Closure))
    }

    fn slot_of<T>(
        &self,
        closure: &str,
        param: &str,
        ty: &Type,
    ) -> Result<ArgumentSlot<T>, AccessError> {
        let kind = self.kind(closure)?;
        let params = &self.closures()[kind.index()].params;
        Ok(ArgumentSlot {
            kind,
            words: [
                find_typed(params, param, ty)? as u32,
                ty.scalar_count() as u32,
            ],
            marker: PhantomData,
        })
    }

    /// The reader of the closures of a program's points.
    ///
    /// # Errors
    /// If the program makes closures that are not registered, or with other arguments: it was
    /// compiled without the registry.
    pub fn reader(&self, program: &Arc<Program>) -> Result<ClosureReader, RegistryError> {
        let signature = signature(self);
        let kind = |shape: &ClosureShape| {
            let is_it = |known: &RegisteredClosure| {
                known.name == shape.name && known.params.iter().map(|(_, ty)| ty).eq(&shape.params)
            };
            match self.closures().iter().position(is_it) {
                Some(index) => Ok(ClosureKind {
                    index: index as u32,
                    signature,
                }),
                None => Err(RegistryError::Unregistered(shape.name.clone())),
            }
        };
        Ok(ClosureReader {
            kinds: program
                .closures()
                .iter()
                .map(kind)
                .collect::<Result<_, _>>()?,
            program: program.clone(),
        })
    }
}

/// Gives the closures of a program's points as flat lists, to hosts with a [`ClosureRegistry`].
/// Threads can share it.
///
/// ```
/// use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Sources, Type, batch::{BatchEvaluator, BatchGlobals}, closure::ClosureRegistry};
/// let registry = ClosureRegistry::new()
///     .with("diffuse", &[("normal", Type::Vector(3))])?
///     .with("glossy", &[("normal", Type::Vector(3)), ("roughness", Type::FLOAT)])?;
/// let roughness = registry.slot::<f32>("glossy", "roughness")?;
/// let source = "shader s(out closure c) {
///     float3 n = float3(0, 1, 0);
///     c = 0.5 * (color(0.2, 0.4, 0.8) * make_closure<diffuse>(n) + make_closure<glossy>(n, 0.25));
/// }";
/// let compiler = Compiler::new(GlobalsLayout::new()).with_closures(registry.clone());
/// let program = compiler.compile(&Sources::new("s.adu", source))?;
/// let reader = registry.reader(&program)?;
/// let surface = program.closure_slot("c")?;
///
/// let mut evaluator = BatchEvaluator::new(&Instance::new(&program))?;
/// evaluator.evaluate(&BatchGlobals::new(program.globals()), 0, 100, &mut NoTextures);
/// let mut weights = Vec::new();
/// for point in 0..100 {
///     for leaf in reader.leaves(evaluator.closure(surface, point), &mut weights) {
///         match leaf.kind.index() {
///             0 => assert_eq!(leaf.weight, [0.1, 0.2, 0.4]),
///             _ => assert_eq!((leaf.weight, leaf.read(roughness)), ([0.5; 3], 0.25)),
///         }
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ClosureReader {
    program: Arc<Program>,
    /// The registered shape of each shape of the program.
    kinds: Vec<ClosureKind>,
}

/// A leaf, which `make_closure` made, and its weight.
#[derive(Clone, Copy, Debug)]
pub struct WeightedLeaf<'a> {
    /// The product of all numbers and colours on the way to it; their sum, if it is reached along
    /// several ways.
    pub weight: [f32; 3],
    /// Which of the registered closures it is.
    pub kind: ClosureKind,
    leaf: ClosureLeaf<'a>,
}

impl ClosureReader {
    /// The leaves of a closure, each once, in the order in which they were made. Leaves with weight
    /// 0 are left out. `weights` is scratch memory, and nothing else is allocated.
    ///
    /// # Panics
    /// If the closure is one of another program.
    pub fn leaves<'a>(
        &'a self,
        closure: ClosureView<'a>,
        weights: &'a mut Vec<[f32; 3]>,
    ) -> impl Iterator<Item = WeightedLeaf<'a>> {
        assert!(
            std::ptr::eq(self.program.closures(), closure.shapes),
            "the closure is of the reader's program"
        );
        let leaves = closure.leaves(weights);
        leaves.map(|(weight, leaf)| WeightedLeaf {
            weight,
            kind: self.kinds[leaf.shape()],
            leaf,
        })
    }
}

impl<'a> ClosureView<'a> {
    /// The leaves of a closure as [`ClosureReader::leaves`] gives them, with the product of all
    /// numbers and colours on the way to each, for hosts without a [`ClosureRegistry`].
    pub fn leaves(
        self,
        weights: &'a mut Vec<[f32; 3]>,
    ) -> impl Iterator<Item = ([f32; 3], ClosureLeaf<'a>)> + Clone + use<'a> {
        weigh(&self, weights);
        let nodes = (1..).zip(weights.iter()).filter(|&(_, &w)| w != [0.0; 3]);
        nodes.filter_map(move |(number, &weight)| {
            let root = ClosureRef::from_word(number);
            Some((weight, ClosureView { root, ..self }.leaf()?))
        })
    }
}

/// The weight of each node up to the root.
fn weigh(closure: &ClosureView<'_>, weights: &mut Vec<[f32; 3]>) {
    let _mode = FloatEnvironment::enter_for_point();
    let root = closure.root.word();
    let root = if root <= closure.closures.count() {
        root
    } else {
        0
    };
    weights.clear();
    weights.resize(root as usize, [0.0; 3]);
    if let Some(weight) = weights.last_mut() {
        *weight = [1.0; 3];
    }
    for number in (1..=root).rev() {
        let weight = weights[number as usize - 1];
        let mut add = |child: ClosureRef, by: [f32; 3]| {
            let sum = &mut weights[child.word() as usize - 1];
            for ((sum, weight), by) in sum.iter_mut().zip(weight).zip(by) {
                *sum += weight * by;
            }
        };
        match closure.closures.node(ClosureRef::from_word(number)) {
            // A node that no path reaches has no weight, not even 0 times infinity.
            _ if weight == [0.0; 3] => {}
            None | Some(ClosureNode::Leaf { .. }) => {}
            Some(ClosureNode::Add(a, b)) => {
                add(a, [1.0; 3]);
                add(b, [1.0; 3]);
            }
            Some(ClosureNode::Scale(child, by)) => add(child, [by; 3]),
            Some(ClosureNode::Tint(child, by)) => add(child, by),
        }
    }
}

impl<'a> WeightedLeaf<'a> {
    /// An argument.
    ///
    /// # Panics
    /// If the slot is one of another closure.
    pub fn read<T: HostValue>(&self, slot: ArgumentSlot<T>) -> T {
        let (words, stride) = self.words(slot);
        let mut read = [0; MAX_HOST_SCALARS];
        let read = &mut read[..slot.words[1] as usize];
        for (to, from) in read.iter_mut().zip(words.iter().step_by(stride)) {
            *to = *from;
        }
        T::read(read)
    }

    /// An argument that is a closure, whose leaves take a list of weights of their own.
    ///
    /// # Panics
    /// If the slot is one of another closure.
    pub fn closure(&self, slot: ArgumentSlot<ClosureView<'static>>) -> ClosureView<'a> {
        ClosureView {
            root: ClosureRef::from_word(self.words(slot).0[0]),
            ..self.leaf.tree
        }
    }

    /// The leaf itself.
    pub fn leaf(&self) -> ClosureLeaf<'a> {
        self.leaf
    }

    /// The words from an argument's first on, and the distance from one to the next.
    fn words<T>(&self, slot: ArgumentSlot<T>) -> (&'a [u32], usize) {
        assert_eq!(self.kind, slot.kind, "the slot is of this closure");
        self.leaf.words.strided_from(slot.words[0] as usize)
    }
}
