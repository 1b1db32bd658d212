//! Where NaNs come from.
//!
//! An instruction that gives a NaN though none of its operands is one is its origin. Which one that was travels in the payload of the NaN, which
//! no program can see: so whatever moves a value, through variables, arrays, loops and calls, moves its origin along. An instruction that gives a
//! NaN because an operand is one hands that operand's origin on.

use super::{EvalValue, Number};
use crate::module::{Inst, InstKind};
use crate::span::Span;
use crate::types::Direction;

/// Origins that are told apart at a point; NaNs of further ones have none.
pub const MAX_NAN_ORIGINS: usize = 1 << 10;

/// Of a scalar that leaves: where its value, its ddx and its ddy come from, if they are NaN.
pub type NanOrigin = [Option<Span>; 3];

/// The origins so far.
#[derive(Clone, Debug, Default)]
pub(super) struct NanOrigins {
    /// The payload of a NaN is the position of its origin, from 1 on.
    spans: Vec<Span>,
    /// The origin of the first NaN that a message told of.
    told: Option<Span>,
}

impl NanOrigins {
    /// The payload that stands for an origin.
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

    /// Marks what is NaN of a result of an instruction that has these operands.
    pub(super) fn mark<F: Number>(
        &mut self,
        inst: &Inst,
        args: &[EvalValue<F>],
        result: &mut EvalValue<F>,
    ) {
        // Elements keep the marks that they were stored with.
        if matches!(inst.kind, InstKind::Load(_)) {
            return;
        }
        let values = || args.iter().map(|slot| slot.float);
        let shadows = |direction| args.iter().map(move |slot| slot.shadow(direction));
        let mut marked =
            |handed_on: Option<u32>| F::nan(handed_on.unwrap_or_else(|| self.payload(inst.span)));
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

    /// The origins of a scalar that leaves.
    pub(super) fn of<F: Number>(&self, slot: &EvalValue<F>) -> NanOrigin {
        let [x, y] = slot.shadows;
        [slot.float, x, y].map(|number| {
            let at = is_nan(number).then(|| number.payload() as usize)?;
            self.spans.get(at.checked_sub(1)?).copied()
        })
    }

    /// Keeps the origin of the first NaN among what messages tell of.
    pub(super) fn observe<F: Number>(&mut self, args: &[EvalValue<F>]) {
        if self.told.is_none() {
            self.told = args.iter().find_map(|slot| self.of(slot)[0]);
        }
    }

    /// The origin of the first NaN that a message told of.
    pub(super) fn observed(&self) -> Option<Span> {
        self.told
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
