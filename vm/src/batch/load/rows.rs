//! Steps for rows: once for all points, with another value's shadows, or in planes of their own.

use super::super::step::{Act, Place};
use super::{Loader, Triple, slots};
use crate::bytecode::Pattern;
use crate::native::What;
use adumbra_ir::types::{Direction, Lanes};
use adumbra_ops::{MAX_OPERANDS, Op};
use adumbra_packs::{Routines, Shape, find_faults, find_row, partials_of_one};

impl Loader<'_> {
    pub(super) fn row(&mut self, op: Op, pattern: Pattern, words: &[u32], deaths: &[u32]) {
        let (info, to) = (op.info(), words[0]);
        if info.same_bits {
            let from = self.triple(words[1], Lanes::NONE);
            self.take(to, Lanes::NONE, from, deaths);
            if from.value == Place::Own(to) {
                self.live_on(from.value, deaths[0]);
            }
            return;
        }
        let mut all = [Triple::ZERO; MAX_OPERANDS];
        let operands = &mut all[..op.arity()];
        for (i, operand) in operands.iter_mut().enumerate() {
            *operand = self.triple(words[i + 1], pattern.operand(i));
        }
        let result = pattern.result();
        let places = |operands: &[Triple]| -> Vec<Place> {
            operands
                .iter()
                .flat_map(|operand| operand.places())
                .collect()
        };
        if let Some(kind) = info.fault {
            let test = find_faults(op, self.level);
            let test = test.expect("a row that can fault has a test for it");
            self.emit(Act::Fault(test, kind.into()), places(operands));
        } else if result.is_none()
            && operands.iter().all(|operand| operand.value.is_cell())
            && !self.in_array[to as usize]
        {
            let cell = self.new_cell();
            let routines = self.find(op, Lanes::NONE, operands, true);
            let operands = places(operands);
            self.emit(
                Act::Cell(What::Row(op), routines, Pattern::default()),
                [cell].into_iter().chain(operands),
            );
            self.stay(to, cell, deaths[0]);
            return;
        }
        if let Some(shadows) = self.shadows_of_another(op, pattern, operands) {
            let from = Triple {
                value: Place::Own(to),
                shadows,
            };
            if self.can_stay(to, result, from) {
                let mut values = all;
                for operand in &mut values {
                    operand.shadows = [None; 2];
                }
                self.written([to]);
                self.rows(op, Pattern::default(), to, &values[..op.arity()]);
                let end = self.out.steps.len();
                for ((slot, place), &death) in slots(to, result).zip(from.places()).zip(deaths) {
                    self.stay(slot, place, death);
                }
                // Unless planes had to be cleared for its shadows behind it.
                if !self.native && end == self.out.steps.len() {
                    self.join_rows(op, from, &all[..op.arity()], deaths);
                }
                return;
            }
        }
        self.written(slots(to, result));
        self.rows(op, pattern, to, operands);
        let result = Triple {
            value: Place::Own(to),
            shadows: Direction::BOTH.map(|direction| {
                let shadow = Place::Own(to + 1 + direction as u32);
                result.has(direction).then_some(shadow)
            }),
        };
        if !self.native {
            self.join_rows(op, result, operands, deaths);
        }
    }

    /// A row in the planes of its result.
    pub(super) fn rows(&mut self, op: Op, pattern: Pattern, to: u32, operands: &[Triple]) {
        let routines = self.find(op, pattern.result(), operands, false);
        let results = slots(to, pattern.result()).map(Place::Own);
        let operands = operands.iter().flat_map(|operand| operand.places());
        self.row_step(What::Row(op), routines, pattern, results.chain(operands));
    }

    /// The shadows of a row's result, if they are just those of one of its operands.
    pub(super) fn shadows_of_another(
        &self,
        op: Op,
        pattern: Pattern,
        operands: &[Triple],
    ) -> Option<[Option<Place>; 2]> {
        let result = pattern.result();
        if result.is_none() {
            return None;
        }
        let with_shadows = |i: &usize| !pattern.operand(*i).is_none();
        let mut others = (0..operands.len()).filter(with_shadows);
        let (only, None) = (others.next()?, others.next()) else {
            return None;
        };
        if partials_of_one(op) >> only & 1 == 0 {
            return None;
        }
        Some(Direction::BOTH.map(|direction| {
            let shadow = operands[only].shadows[direction as usize];
            let shadow = shadow.unwrap_or(Place::Zero);
            result.has(direction).then_some(shadow)
        }))
    }

    /// The routines for operands at these places; once for all points, or for planes.
    pub(super) fn find(&self, op: Op, result: Lanes, operands: &[Triple], once: bool) -> Routines {
        let mut shapes = [Shape::Varying; MAX_OPERANDS];
        let mut fits = result.is_none() || result == Lanes::XY;
        for (shape, operand) in shapes.iter_mut().zip(operands) {
            match operand.shape() {
                Some(Shape::Uniform) if once => {}
                Some(found) => *shape = found,
                None => fits = false,
            }
        }
        let shapes = &shapes[..operands.len()];
        fits &= result.is_none() != shapes.contains(&Shape::Dual);
        find_row(op, self.level, fits.then_some(shapes))
    }
}
