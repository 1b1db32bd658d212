//! Where the coefficients of the linear part come from.
//!
//! Activity, the two sweeps, tapes and calls assume only this: the tangent of an op's result is a
//! sum of those of its operands, each times a coefficient that the primal function can compute. So
//! rules for other derivatives than the classic one are another [`CoefficientProvider`]. They may
//! give tangents to booleans and integers too: adjoints are floats, of whatever type the value is.

use super::field::{Coefficient, Trace, TraceFloat};
use super::slopes;
use crate::module::ValueId;
use crate::passes::shadow_flow::TangentRules;
use crate::types::Scalar;
use adumbra_ops::definition::{BitOpDef, OpDef, Partial};
use adumbra_ops::{MAX_OPERANDS, Op, OpVisitor};
use smallvec::{SmallVec, smallvec};

/// An op of the function that is differentiated.
pub(in crate::passes) struct AppliedOp<'a> {
    pub(in crate::passes) op: Op,
    pub(in crate::passes) args: &'a [ValueId],
    pub(in crate::passes) result: ValueId,
    /// By operand: whether its tangent matters.
    pub(in crate::passes) wanted: &'a [bool],
}

/// By operand, what its tangent is multiplied by; nothing if it is not wanted, or that is 0.
pub(in crate::passes) type Coefficients = SmallVec<[Option<Coefficient>; MAX_OPERANDS]>;

/// A set of derivative rules for ops.
pub(in crate::passes) trait CoefficientProvider: TangentRules {
    /// The coefficients of an op, which was written to the trace last. What has to be computed is
    /// written there.
    fn coefficients(&self, at: &AppliedOp<'_>, trace: &Trace) -> Coefficients;
}

/// The classic derivative: coefficients are the partials of the op table.
pub(in crate::passes) struct Partials;

impl TangentRules for Partials {
    fn carries(&self, op: Op, constants: [Option<u32>; MAX_OPERANDS]) -> [bool; MAX_OPERANDS] {
        op.passes_shadows_given(constants)
    }

    fn has_tangents(&self, ty: Scalar) -> bool {
        ty == Scalar::F32
    }
}

impl CoefficientProvider for Partials {
    fn coefficients(&self, at: &AppliedOp<'_>, trace: &Trace) -> Coefficients {
        at.op.visit(PartialsOf { at, trace })
    }
}

/// The partials that are wanted.
fn coefficients(partials: &[Partial<TraceFloat<'_>>], wanted: &[bool]) -> Coefficients {
    (partials.iter().zip(wanted))
        .map(|(&partial, &wanted)| wanted.then(|| Coefficient::new(partial)).flatten())
        .collect()
}

/// The partials of an op's operands that are wanted.
struct PartialsOf<'t> {
    at: &'t AppliedOp<'t>,
    trace: &'t Trace,
}

impl OpVisitor for PartialsOf<'_> {
    type Out = Coefficients;

    fn float<R: OpDef<N>, const N: usize>(self) -> Coefficients {
        let PartialsOf { at, trace } = self;
        let partials = slopes::partials::<R, N>(trace, at.args, at.result);
        coefficients(&partials, at.wanted)
    }

    fn bits<R: BitOpDef<N>, const N: usize>(self) -> Coefficients {
        smallvec![None; self.at.args.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::super::differentiate_by;
    use super::*;
    use crate::eval::{EvalOptions, EvalPoint, EvalValue, evaluate};
    use crate::host::ConstantTexture;
    use crate::span::FileId;
    use crate::text::parse;
    use adumbra_ops::field::Field;

    /// Rules that give booleans tangents: that of a comparison is three times the margin's, and a
    /// selection adds the difference of its operands times that of its condition.
    struct Margins;

    impl TangentRules for Margins {
        fn carries(&self, op: Op, constants: [Option<u32>; MAX_OPERANDS]) -> [bool; MAX_OPERANDS] {
            match op {
                Op::FLt | Op::LNot | Op::Select => [true; MAX_OPERANDS],
                _ => Partials.carries(op, constants),
            }
        }

        fn has_tangents(&self, ty: Scalar) -> bool {
            matches!(ty, Scalar::F32 | Scalar::Bool)
        }
    }

    impl CoefficientProvider for Margins {
        fn coefficients(&self, at: &AppliedOp<'_>, trace: &Trace) -> Coefficients {
            let number = |value: ValueId| trace.float(value);
            match at.op {
                Op::FLt => {
                    let three = number(at.args[0]).lit(3.0);
                    smallvec![
                        Some(Coefficient::Of((-three).value())),
                        Some(Coefficient::Of(three.value())),
                    ]
                }
                Op::LNot => smallvec![Some(Coefficient::MinusOne)],
                Op::Select => {
                    let apart = number(at.args[1]) - number(at.args[2]);
                    let mut all = Partials.coefficients(at, trace);
                    all[0] = Some(Coefficient::Of(apart.value()));
                    all
                }
                _ => Partials.coefficients(at, trace),
            }
        }
    }

    /// x < 0.5, or where x is not negative the opposite, selects 2x or 5.
    const PROGRAM: &str = "adumbra ir 1
input x: float = 0.0
output o: float
names x, o
entry main

fn main(%0: f32 $x) -> (f32) ^0 {
  member x: float in params[0, 1]
  member o: float out params[1, 0] results[0, 1]
  %1: f32 = const 1.0
  %2: f32 = call gradient(%0, %1)
  return %2
}

fn gradient(%0: f32, %1: f32) -> (f32) ^0 {
  derive backward f params[1] results[1] arrays[]
  unreachable
}

fn f(%0: f32) -> (f32) ^0 {
  %1: f32 = const 0.5
  %2: bool = flt %0, %1
  %3: f32 = const 0.0
  %4: bool = flt %0, %3
  %5: bool = if %4 ^1 {
    yield %2
  } else ^2 {
    %6: bool = lnot %2
    yield %6
  }
  %7: f32 = add %0, %0
  %8: f32 = const 5.0
  %9: f32 = select %5, %7, %8
  return %9
}
";

    fn gradient(rules: &dyn CoefficientProvider, x: f64) -> f64 {
        let mut module = parse(PROGRAM, FileId::MAIN).expect("it is well-formed");
        differentiate_by(&mut module, rules).expect("nothing is lost");
        assert_eq!(crate::verify(&module), Ok(()));
        let point = EvalPoint {
            inputs: vec![EvalValue::float(x, [0.0; 2])],
            globals: Vec::new(),
            buffers: Default::default(),
            replaced: None,
        };
        let mut host = ConstantTexture([0.5; 4]);
        let outcome = evaluate(&module, &point, &EvalOptions::default(), &mut host);
        outcome.outputs[0].float
    }

    #[test]
    fn other_rules_give_booleans_tangents() {
        // 2 − 3 (2x − 5), and 3 (2x − 5).
        assert_eq!(gradient(&Margins, -1.0), 2.0 + 7.0 * 3.0);
        assert_eq!(gradient(&Margins, 0.25), -4.5 * 3.0);
        assert_eq!(gradient(&Partials, -1.0), 2.0);
        assert_eq!(gradient(&Partials, 0.25), 0.0);
    }
}
