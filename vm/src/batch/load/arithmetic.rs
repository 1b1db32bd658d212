//! Loading of arithmetic instructions: once for all points, with aliased shadows, or in planes of
//! their own.

use super::super::instruction::{BatchOp, OperandLocation};
use super::{DualLocation, Loader};
use crate::bytecode::value_registers;
use crate::bytecode::{BytecodeInstruction, ShadowPattern};
use crate::native::ArithmeticKind;
use adumbra_ir::types::{Direction, Lanes};
use adumbra_ops::{MAX_OPERANDS, Op};
use adumbra_simd::{OpRoutines, OperandShape, find_faults, find_op, unit_partials};

impl Loader<'_> {
    pub(super) fn arithmetic(
        &mut self,
        op: Op,
        pattern: ShadowPattern,
        code: &BytecodeInstruction,
        last_uses: &[u32],
    ) {
        let words = &code.words;
        let (info, to) = (op.info(), words[0]);
        if info.is_bit_cast {
            let from = self.dual_location(words[1], Lanes::NONE);
            self.alias_or_copy(to, Lanes::NONE, from, last_uses);
            if from.value == OperandLocation::Plane(to) {
                self.extend_last_use(from.value, last_uses[0]);
            }
            return;
        }
        let mut all = [DualLocation::ZERO; MAX_OPERANDS];
        let operands = &mut all[..op.arity()];
        for (i, operand) in operands.iter_mut().enumerate() {
            *operand = self.dual_location(words[i + 1], pattern.operand(i));
        }
        let result = pattern.result();
        let locations = |operands: &[DualLocation]| -> Vec<OperandLocation> {
            operands
                .iter()
                .flat_map(|operand| operand.locations())
                .collect()
        };
        if let Some(kind) = info.fault {
            let test = find_faults(op, self.level);
            let test = test.expect("an op that can fault has a test for it");
            self.emit(BatchOp::Fault(test, kind.into()), locations(operands));
        } else if self.is_computed_once(code) {
            let uniform = self.new_uniform();
            let routines = self.find_routines(op, Lanes::NONE, operands, true);
            let operands = locations(operands);
            self.emit(
                BatchOp::Uniform(routines),
                [uniform].into_iter().chain(operands),
            );
            self.alias(to, uniform, last_uses[0]);
            return;
        }
        if let Some(shadows) = self.aliased_shadows(op, pattern, operands) {
            let from = DualLocation {
                value: OperandLocation::Plane(to),
                shadows,
            };
            if self.can_alias(to, result, from) {
                let mut values = all;
                for operand in &mut values {
                    operand.shadows = [None; 2];
                }
                self.prepare_writes([to]);
                self.emit_arithmetic(op, ShadowPattern::default(), to, &values[..op.arity()]);
                let end = self.out.instructions.len();
                for ((register, location), &last_use) in value_registers(to, result)
                    .zip(from.locations())
                    .zip(last_uses)
                {
                    self.alias(register, location, last_use);
                }
                // Unless planes had to be cleared for its shadows after it.
                if !self.native && end == self.out.instructions.len() {
                    self.fuse(op, from, &all[..op.arity()], last_uses);
                }
                return;
            }
        }
        self.prepare_writes(value_registers(to, result));
        self.emit_arithmetic(op, pattern, to, operands);
        let result = DualLocation {
            value: OperandLocation::Plane(to),
            shadows: Direction::BOTH.map(|direction| {
                let shadow = OperandLocation::Plane(to + 1 + direction as u32);
                result.has(direction).then_some(shadow)
            }),
        };
        if !self.native {
            self.fuse(op, result, operands, last_uses);
        }
    }

    /// Emits an arithmetic instruction into the planes of its result.
    pub(super) fn emit_arithmetic(
        &mut self,
        op: Op,
        pattern: ShadowPattern,
        to: u32,
        operands: &[DualLocation],
    ) {
        let routines = self.find_routines(op, pattern.result(), operands, false);
        let results = value_registers(to, pattern.result()).map(OperandLocation::Plane);
        let operands = operands.iter().flat_map(|operand| operand.locations());
        self.emit_on_planes(
            ArithmeticKind::Op(op),
            routines,
            pattern,
            results.chain(operands),
        );
    }

    /// The shadows of an op's result, if they equal those of one of its operands.
    pub(super) fn aliased_shadows(
        &self,
        op: Op,
        pattern: ShadowPattern,
        operands: &[DualLocation],
    ) -> Option<[Option<OperandLocation>; 2]> {
        let result = pattern.result();
        if result.is_none() {
            return None;
        }
        let with_shadows = |i: &usize| !pattern.operand(*i).is_none();
        let mut others = (0..operands.len()).filter(with_shadows);
        let (only, None) = (others.next()?, others.next()) else {
            return None;
        };
        if unit_partials(op) >> only & 1 == 0 {
            return None;
        }
        Some(Direction::BOTH.map(|direction| {
            let shadow = operands[only].shadows[direction as usize];
            let shadow = shadow.unwrap_or(OperandLocation::Zero);
            result.has(direction).then_some(shadow)
        }))
    }

    /// The routines for operands at these locations; once for all points, or for planes.
    pub(super) fn find_routines(
        &self,
        op: Op,
        result: Lanes,
        operands: &[DualLocation],
        once: bool,
    ) -> OpRoutines {
        let mut shapes = [OperandShape::Varying; MAX_OPERANDS];
        let mut fits = result.is_none() || result == Lanes::XY;
        for (shape, operand) in shapes.iter_mut().zip(operands) {
            match operand.shape() {
                Some(OperandShape::Uniform) if once => {}
                Some(found) => *shape = found,
                None => fits = false,
            }
        }
        let shapes = &shapes[..operands.len()];
        fits &= result.is_none() != shapes.contains(&OperandShape::Dual);
        find_op(op, self.level, fits.then_some(shapes))
    }
}
