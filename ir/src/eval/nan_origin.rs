//! NaN origins: the instructions that NaNs come from.
//!
//! An instruction that gives a NaN though none of its operands is one is its origin. The payload of
//! the NaN holds the origin; no program can see it. So variables, arrays, loops and calls move the
//! origin along with the value. An instruction that gives a NaN because an operand is one passes
//! that operand's origin.

use super::{EvalValue, Number};
use crate::instruction::Effect;
use crate::module::{Inst, InstKind};
use crate::span::Span;
use crate::types::Direction;

/// Distinct origins at a point; NaNs of further ones have none.
pub const MAX_NAN_ORIGINS: usize = 1 << 10;

/// The origins of an output scalar: of its value, its ddx and its ddy, if they are NaN.
pub type NanOrigin = [Option<Span>; 3];

/// The origins so far.
#[derive(Clone, Debug, Default)]
pub(super) struct NanOrigins {
    /// The payload of a NaN is the position of its origin, from 1 on.
    spans: Vec<Span>,
    /// The origin of the first NaN in a message.
    observed: Option<Span>,
}

impl NanOrigins {
    /// The payload for an origin.
    fn payload(&mut self, span: Span) -> u32 {
        let known = self.spans.iter().position(|other| *other == span);
        let at = known.unwrap_or_else(|| {
            self.spans.push(span);
            self.spans.len() - 1
        });
        self.spans.truncate(MAX_NAN_ORIGINS);
        if at < MAX_NAN_ORIGINS {
            at as u32 + 1
        } else {
            0
        }
    }

    /// Marks the NaNs of a result of an instruction that has these operands.
    pub(super) fn mark<F: Number>(
        &mut self,
        inst: &Inst,
        args: &[EvalValue<F>],
        result: &mut EvalValue<F>,
    ) {
        // Elements and fields keep the marks that they were stored with; what an `Attach` joins has
        // marks of its own.
        if matches!(inst.kind.effect(), Effect::ReadsArray | Effect::UsesTape)
            || inst.kind == InstKind::Attach
        {
            return;
        }
        let values = || args.iter().map(|value| value.float);
        let shadows = |direction| args.iter().map(move |value| value.shadow(direction));
        let mut marked =
            |inherited: Option<u32>| F::nan(inherited.unwrap_or_else(|| self.payload(inst.span)));
        if is_nan(result.float) {
            result.float = match inst.kind {
                InstKind::Shadow(direction) => marked(first_payload(shadows(direction))),
                _ => marked(first_payload(values())),
            };
        }
        for direction in Direction::BOTH {
            let shadow = &mut result.shadows[direction as usize];
            if is_nan(*shadow) {
                *shadow = marked(first_payload(shadows(direction).chain(values())));
            }
        }
    }

    /// The origins of an output scalar.
    pub(super) fn of<F: Number>(&self, value: &EvalValue<F>) -> NanOrigin {
        let [x, y] = value.shadows;
        [value.float, x, y].map(|number| {
            let at = is_nan(number).then(|| number.payload() as usize)?;
            self.spans.get(at.checked_sub(1)?).copied()
        })
    }

    /// Records the origin of the first NaN among the arguments of a message.
    pub(super) fn observe<F: Number>(&mut self, args: &[EvalValue<F>]) {
        if self.observed.is_none() {
            self.observed = args.iter().find_map(|value| self.of(value)[0]);
        }
    }

    /// The origin of the first NaN in a message.
    pub(super) fn observed(&self) -> Option<Span> {
        self.observed
    }

    /// Bytes of the heap that it holds.
    pub(super) fn memory(&self) -> usize {
        self.spans.capacity() * size_of::<Span>()
    }
}

fn is_nan<F: Number>(x: F) -> bool {
    x.to_f64().is_nan()
}

/// The payload of the first NaN.
fn first_payload<F: Number>(mut numbers: impl Iterator<Item = F>) -> Option<u32> {
    numbers.find(|x| is_nan(*x)).map(Number::payload)
}
