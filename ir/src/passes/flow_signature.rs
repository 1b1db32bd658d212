//! The boundary of a function in the shadow flow: its slots, and what a call needs to know of it.
//!
//! The graph of a caller ([`shadow_flow`](super::shadow_flow)) has edges by the summaries of its
//! callees; [`summary`](super::summary) makes these from the graphs.

use super::dataflow::InBits;
use crate::module::*;
use crate::types::{Lanes, Scalar};

/// A slot at a function's boundary that can have shadows: a float or an array of floats, by
/// position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlowSlot {
    /// A scalar parameter, or a result.
    Scalar(u32),
    /// An array parameter.
    Array(u32),
}

/// The slots of a function.
#[derive(Debug, Default)]
pub(super) struct FlowSignature {
    /// The slots that are copied in.
    pub(super) ins: Vec<FlowSlot>,
    /// The slots that are copied out.
    pub(super) outs: Vec<FlowSlot>,
}

impl FlowSignature {
    /// The slots of a function.
    pub(super) fn new(function: &Function) -> FlowSignature {
        let arrays = |leave_out: PassingMode| {
            (0..)
                .zip(function.array_params())
                .filter(move |(_, a)| a.element == Scalar::F32 && a.mode != Some(leave_out))
                .map(|(i, _)| FlowSlot::Array(i))
        };
        let ins = (0..)
            .zip(function.params())
            .filter(|(_, p)| function.value(**p).ty == Scalar::F32)
            .map(|(i, _)| FlowSlot::Scalar(i));
        let outs = (0..)
            .zip(&function.results)
            .filter(|(_, r)| r.ty == Scalar::F32)
            .map(|(i, _)| FlowSlot::Scalar(i));
        FlowSignature {
            ins: ins.chain(arrays(PassingMode::Out)).collect(),
            outs: outs.chain(arrays(PassingMode::In)).collect(),
        }
    }
}

/// Sets of ins, and globals, as bits.
pub(super) const INS: InBits = InBits { shared: 62 };

/// Globals.
pub(super) const SOURCE: u64 = 1 << 63;

/// The effect of a call on shadows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ShadowSummary {
    /// By out: the ins, and perhaps globals, that flow into it.
    pub(super) flow: Vec<u64>,
    /// By in: the shadows demanded inside.
    pub(super) demanded: Vec<Lanes>,
    /// By out: whether a rule makes its shadows, not the body; empty if none does.
    pub(super) ruled: Vec<bool>,
}

impl ShadowSummary {
    /// Whether a rule makes the shadows of an out.
    pub(super) fn is_ruled(&self, out: usize) -> bool {
        self.ruled.get(out).copied().unwrap_or(false)
    }
}
