//! Calls in the reverse sweep.

use super::super::array::zero_array;
use super::super::linear::LinearCall;
use super::super::plan::Kept;
use super::Transpose;
use crate::module::*;
use crate::span::Span;
use crate::types::Scalar;
use adumbra_ops::Op;

impl Transpose<'_> {
    /// A call: the reverse sweep of the callee.
    pub(super) fn call(&mut self, at: (RegionId, usize), inst: &Inst, call: &LinearCall) {
        let span = inst.span;
        let mut args = Args::new();
        let mut passed = Vec::new();
        match &call.custom {
            None => {
                for i in 0..call.kept.len() as u32 {
                    let id = self.plan.id(Kept::Callee(at.0, at.1, i));
                    args.push(self.visible[&id.expect("it is planned")]);
                }
            }
            Some(custom) => {
                for &arg in &custom.args {
                    args.push(self.value(arg, span));
                }
                for (array, elements) in &custom.arrays {
                    let shape = self.linear.function.arrays[array.index()];
                    let copy = zero_array(&mut self.builder, &shape, span);
                    for (i, &element) in (0..).zip(elements) {
                        let index = self.builder.int(i, span);
                        let element = self.value(element, span);
                        self.store(copy, index, element, span);
                    }
                    passed.push(copy);
                }
            }
        }
        let cotangents = args.len();
        for &result in &call.results {
            args.push(self.adjoint_or_zero(result, span));
        }
        let taken = match &call.custom {
            Some(_) => self.any_taken(&args[cotangents..], call, span),
            None => None,
        };

        // Arrays of cotangents that are the caller's own, but where two parameters share one: the
        // last that is written has it, and the others are added.
        let mut added = Vec::new();
        let mut cleared = Vec::new();
        for (i, &(array, mode)) in call.arrays.iter().enumerate() {
            let own = self.adjoint_arrays[array.index()];
            let shares = |other: &(ArrayId, PassingMode)| other.0 == array;
            let is_written = |other: &&(ArrayId, PassingMode)| other.1 != PassingMode::In;
            let is_last = !(call.arrays[i + 1..].iter()).filter(is_written).any(shares);
            let is_apart = match (mode, &call.custom) {
                (PassingMode::In, Some(_)) => true,
                (PassingMode::In, None) => call.arrays.iter().filter(|a| shares(a)).count() > 1,
                _ => !is_last,
            };
            passed.push(match own {
                Some(own) if !is_apart => {
                    if mode == PassingMode::Out && call.custom.is_some() {
                        cleared.push(own);
                    }
                    own
                }
                _ => {
                    let shape = self.linear.function.arrays[array.index()];
                    let apart = zero_array(&mut self.builder, &shape, span);
                    if let (Some(own), true) = (own, mode != PassingMode::Out) {
                        added.push((own, apart));
                    }
                    apart
                }
            });
        }
        let types = call.params.iter().map(|_| Scalar::F32);
        let kind = InstKind::Call(call.reverse_sweep, passed.into_boxed_slice());
        let gradients = self.builder.inst(kind, args, types, span);
        for own in cleared {
            self.builder.inst(InstKind::ArrayZero(own), [], [], span);
        }
        for (own, apart) in added {
            self.add_array(own, apart, span);
        }
        for (&param, mut gradient) in call.params.iter().zip(gradients.iter()) {
            if let Some(taken) = taken {
                gradient = self.taken_or_finite(taken, gradient, span);
            }
            self.add(param, gradient, span);
        }
    }

    /// Whether a cotangent of a custom backward derivative is not 0. If all are, nothing of the
    /// call is taken.
    ///
    /// `None` if that is not to be asked: a rule with arrays has cotangents in them.
    fn any_taken(
        &mut self,
        cotangents: &[ValueId],
        call: &LinearCall,
        span: Span,
    ) -> Option<ValueId> {
        if !call.arrays.is_empty() {
            return None;
        }
        let mut any = None;
        for &cotangent in cotangents {
            let zero = self.builder.float(0.0, span);
            let is_taken = self.builder.op(Op::FNe, &[cotangent, zero], span);
            any = Some(match any {
                Some(any) => self.builder.op(Op::Or, &[any, is_taken], span),
                None => is_taken,
            });
        }
        any
    }

    /// A gradient of a custom backward derivative if it is taken or finite, else 0.
    ///
    /// A rule is linear, so that a finite gradient of what is not taken is 0 by itself. It is not
    /// replaced, since its derivative by the cotangents need not be 0.
    fn taken_or_finite(&mut self, taken: ValueId, gradient: ValueId, span: Span) -> ValueId {
        let size = self.builder.op(Op::Abs, &[gradient], span);
        let infinity = self.builder.float(f32::INFINITY, span);
        let is_finite = self.builder.op(Op::FLt, &[size, infinity], span);
        let is_right = self.builder.op(Op::Or, &[taken, is_finite], span);
        let zero = self.builder.float(0.0, span);
        self.builder
            .op(Op::Select, &[is_right, gradient, zero], span)
    }
}
