//! What the derivative of a function is to be: the mode, and what it is with respect to.
//!
//! A *derived function* is a [`Function`] with a [`Recipe`]. It is called as any other, by the
//! **canonical signature**, in scalars:
//!
//! - *Forward.* Parameters: all scalar parameters of the primal function, then a tangent for each
//!   active one. Results: all its results, then a tangent for each active one. Arrays: all its
//!   array parameters, then a tangent array of the same mode for each active one.
//! - *Backward.* Parameters: all scalar parameters of the primal function, then the cotangent of
//!   each active result. Results: the gradient of each active parameter; before them those of the
//!   primal function, if the recipe is [with results](Recipe::with_results), else no primal ones.
//!   Arrays: its array parameters of mode `In` and `InOut`, all as `In`; then for each active array
//!   parameter an `Out` array for the gradient of an `In` array, an `In` array for the cotangent of
//!   an `Out` array, and for an `InOut` array an `InOut` array, cotangent before and gradient
//!   after.
//!
//! A recipe of a derived function follows the same rule over its canonical signature, so
//! derivatives nest. Only floats are active. Buffers and textures are no parameters: the tangents
//! of one are in another; the gradient of a buffer is added to a sum, that of a texture the host
//! adds up from the adjoints of samples.

use crate::module::{Array, BufferId, FuncId, Function, Inst, InstKind, PassingMode, TextureId};
use crate::span::Span;
use crate::types::Direction;

/// The two modes of automatic differentiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DifferentiationMode {
    /// Tangents are pushed from parameters to results.
    Forward,
    /// Cotangents are pulled back from results to parameters.
    Backward,
}

/// The derivative that a function is to be.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Recipe {
    /// The mode.
    pub mode: DifferentiationMode,
    /// The primal function.
    pub of: FuncId,
    /// What it is with respect to.
    pub activity: Activity,
    /// Whether a backward derivative returns the results of the primal function too.
    pub with_results: bool,
    /// The direction of the screen that the tangents of a forward derivative are along, if they
    /// are its shadows as values: then each `Shadow` in it is such a tangent, and `Detach` passes
    /// them.
    pub screen: Option<Direction>,
}

/// The slots of a function that a derivative is with respect to. Only floats are active.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Activity {
    /// Whether each scalar parameter is active.
    pub params: Vec<bool>,
    /// Whether each scalar result is active.
    pub results: Vec<bool>,
    /// Whether each array parameter is active.
    pub arrays: Vec<bool>,
    /// The memory of the host that is active.
    pub memory: ActiveMemory,
}

/// The buffers and textures that a derivative is with respect to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ActiveMemory {
    /// For each buffer of the module that is active, the one that its derivative is in: its
    /// tangents, or the sum of its gradient. Empty if none is.
    pub buffers: Vec<Option<BufferId>>,
    /// For each texture of the module that is active, the one that its derivative is in: its
    /// tangents, or itself in backward mode. Empty if none is.
    pub textures: Vec<Option<TextureId>>,
}

impl ActiveMemory {
    /// Whether none is active.
    pub fn is_empty(&self) -> bool {
        self.buffers.is_empty() && self.textures.is_empty()
    }

    /// The buffer that the derivative of one is in, if it is active.
    pub(crate) fn of_buffer(&self, buffer: BufferId) -> Option<BufferId> {
        self.buffers.get(buffer.index()).copied().flatten()
    }

    /// The texture that the derivative of one is in, if it is active.
    pub(crate) fn of_texture(&self, texture: TextureId) -> Option<TextureId> {
        self.textures.get(texture.index()).copied().flatten()
    }

    /// Whether an instruction reads what is active.
    pub(crate) fn is_read_by(&self, inst: &Inst) -> bool {
        match inst.kind {
            InstKind::Buffer(buffer, ..) => self.of_buffer(buffer).is_some(),
            InstKind::Sample(texture, ..) => self.of_texture(texture).is_some(),
            _ => false,
        }
    }
}

/// The derivatives of a function that its writer gave in place of those of its body.
///
/// `forward` and `backward` have the canonical signature for `activity`, in which everything is
/// active that is a float and not declared `no_diff`. Calls through which less is active pass
/// zeros.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomDerivatives {
    /// The forward derivative.
    pub forward: Option<FuncId>,
    /// The backward derivative.
    pub backward: Option<FuncId>,
    /// A function of the same signature, which derived code has in its place.
    pub substitute: Option<FuncId>,
    /// Whether its derivative is zero on purpose.
    pub is_zero: bool,
    /// What `forward` and `backward` are with respect to; empty without them.
    pub activity: Activity,
    /// The parameters with floats that they do not have, although nothing says that these are
    /// constants: scalars, then arrays. Empty if there are none.
    pub lost: Vec<bool>,
}

impl CustomDerivatives {
    /// Whether it is no more than a forward derivative, as it is for shadows.
    pub(crate) fn is_forward_alone(&self) -> bool {
        let CustomDerivatives {
            forward,
            backward,
            substitute,
            is_zero,
            activity,
            lost,
        } = self;
        backward.is_none()
            && substitute.is_none()
            && !is_zero
            && lost.is_empty()
            && (forward.is_some() || *activity == Activity::default())
    }

    /// The forward derivative alone.
    pub(crate) fn forward_alone(self) -> CustomDerivatives {
        match self.forward {
            None => CustomDerivatives::default(),
            Some(_) => CustomDerivatives {
                forward: self.forward,
                activity: self.activity,
                ..CustomDerivatives::default()
            },
        }
    }
}

impl Function {
    /// The rule that makes its shadows, with what that is with respect to: its forward derivative,
    /// but for functions that write arrays, or whose arrays have tangents.
    pub(crate) fn shadow_rule(&self) -> Option<(FuncId, &Activity)> {
        let activity = &self.custom.activity;
        let reads = |array: &Array| array.mode == Some(PassingMode::In);
        let serves = self.array_params().all(reads) && !activity.arrays.contains(&true);
        Some((self.custom.forward.filter(|_| serves)?, activity))
    }
}

/// What the shader writer said of how code is differentiated. It changes no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DerivativeHint {
    /// The function or loop that it is about: instructions inside of this span, which they keep
    /// when they are copied.
    pub about: Span,
    /// Where it was said.
    pub span: Span,
    /// What was said.
    pub kind: HintKind,
}

/// A kind of hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintKind {
    /// Values are kept for the reverse sweep, rather than computed again.
    Checkpoint,
    /// Values are computed again where that is possible.
    Recompute,
    /// The loop has at most that many iterations.
    MaxIterations(u32),
    /// The loop is unrolled before it is differentiated.
    Unroll,
    /// The loop is unrolled to blocks of that many iterations.
    UnrollBlocks(u32),
}

/// The hints of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DerivativeHints(pub Vec<DerivativeHint>);

impl DerivativeHints {
    /// Whether what is computed by an instruction at that span is kept for the reverse sweep, if
    /// the innermost hint around it says.
    pub fn keeps(&self, span: Span) -> Option<bool> {
        let around = |hint: &&DerivativeHint| {
            let about = hint.about;
            about.file == span.file && about.start <= span.start && span.end <= about.end
        };
        let says = |hint: &DerivativeHint| match hint.kind {
            HintKind::Checkpoint => Some((hint.about, true)),
            HintKind::Recompute => Some((hint.about, false)),
            _ => None,
        };
        let inner = self.0.iter().filter(around).filter_map(says);
        let inner = inner.min_by_key(|(about, _)| about.end - about.start);
        inner.map(|(_, keeps)| keeps)
    }

    /// The hints about exactly the loop of an instruction at that span.
    pub fn of_loop(&self, span: Span) -> impl Iterator<Item = &DerivativeHint> {
        self.0.iter().filter(move |hint| hint.about == span)
    }

    /// The most iterations that the loop of an instruction at that span is said to have.
    pub fn max_iterations(&self, span: Span) -> Option<(u32, Span)> {
        self.of_loop(span).find_map(|hint| match hint.kind {
            HintKind::MaxIterations(count) => Some((count, hint.span)),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forward_derivatives_are_alone_if_nothing_else_goes() {
        let with = |change: fn(&mut CustomDerivatives)| {
            let mut changed = CustomDerivatives::default();
            change(&mut changed);
            changed
        };
        let changes: [fn(&mut CustomDerivatives); 6] = [
            |_| (),
            |own| own.backward = Some(FuncId(1)),
            |own| own.substitute = Some(FuncId(2)),
            |own| own.is_zero = true,
            |own| own.activity.params = vec![true],
            |own| own.lost = vec![false],
        ];
        let mut alone = 0;
        for forward in [None, Some(FuncId(3))] {
            for change in changes {
                let custom = CustomDerivatives {
                    forward,
                    ..with(change)
                };
                let is_alone = custom == custom.clone().forward_alone();
                assert_eq!(custom.is_forward_alone(), is_alone, "{custom:?}");
                alone += usize::from(is_alone);
            }
        }
        assert_eq!(
            alone, 3,
            "without anything, and a forward one with its activity or not"
        );
    }
}
