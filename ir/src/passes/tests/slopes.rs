//! Ops with their slopes: one instruction in derived code, expanded where slopes have derivatives.

use super::derivatives::{calling, derived, written};
use super::op_gradients::{float_ops, function_of};
use super::*;
use crate::derivative::DifferentiationMode::{Backward, Forward};
use crate::module::FuncId;
use adumbra_ops::definition::{BitOpDef, OpDef, Partial};
use adumbra_ops::{MAX_OPERANDS, OpVisitor};

/// How many instructions with slopes a module has, and instructions in all.
fn counted(module: &Module) -> (usize, usize) {
    let regions = module.functions.iter().flat_map(|f| &f.regions);
    let insts: Vec<_> = regions.flat_map(|r| &r.insts).collect();
    let is_sloped = |kind: &InstKind| matches!(kind, InstKind::WithSlopes(_));
    let sloped = insts.iter().filter(|inst| is_sloped(&inst.kind)).count();
    (sloped, insts.len())
}

#[test]
fn value_beside_slopes_is_computed_once() {
    let text = "fn main() -> (f32, f32) ^0 {
           %0: f32 = global g[0]
           %1: f32 = const 1.0
           %2: f32, %3: f32, %4: f32, %5: f32 = with_slopes perlin2 %0, %1, %1
           %6: f32 = perlin2 %0, %1, %1
           %7: f32, %8: f32, %9: f32, %10: f32 = with_slopes perlin2 %0, %1, %1
           %11: f32 = add %6, %7
           %12: f32 = add %3, %9
           return %11, %12
         }";
    let expected = "fn main() -> (f32, f32) ^0 {
           %0: f32 = global g[0]
           %1: f32 = const 1.0
           %2: f32, %3: f32, %4: f32, %5: f32 = with_slopes perlin2 %0, %1, %1
           %6: f32 = add %2, %2
           %7: f32 = add %3, %4
           return %6, %7
         }";
    assert_text(&passed(text, &DUAL), expected);
}

#[test]
fn op_whose_slopes_are_unread_is_alone() {
    let text = "fn main() -> (f32) ^0 {
           %0: f32 = global g[0]
           %1: f32, %2: f32, %3: f32 = with_slopes perlin1 %0, %0
           return %1
         }";
    let expected = "fn main() -> (f32) ^0 {
           %0: f32 = global g[0]
           %1: f32 = perlin1 %0, %0
           return %1
         }";
    assert_text(&passed(text, &DUAL), expected);
}

#[test]
fn slopes_of_constants_are_constants() {
    let text = "fn main() -> (f32, f32, f32) ^0 {
           %0: f32 = const 2.0
           %1: f32 = const 3.0
           %2: f32, %3: f32, %4: f32 = with_slopes mul %0, %1
           return %2, %3, %4
         }";
    let expected = "fn main() -> (f32, f32, f32) ^0 {
           %0: f32 = const 2.0
           %1: f32 = const 3.0
           %2: f32 = const 6.0
           return %2, %1, %0
         }";
    assert_text(&passed(text, &DUAL), expected);
}

#[test]
fn slopes_with_demanded_shadows_are_expanded() {
    let text = "fn main() -> (f32) ^0 {
           %0: f32 = global g[0]
           %1: f32, %2: f32, %3: f32 = with_slopes perlin1 %0, %0
           %4: f32 = ddx %2
           return %4
         }";
    let expanded = passed(text, &DUAL);
    let (sloped, all) = counted(&expanded);
    assert!(sloped == 0 && all > 20, "{}", super::text(&expanded));
    assert_eq!(counted(&passed(text, &OFF)).0, 0);
}

#[test]
fn value_alone_with_demanded_shadows_leaves_slopes_together() {
    let text = "fn main() -> (f32, f32) ^0 {
           %0: f32 = global g[0]
           %1: f32, %2: f32, %3: f32 = with_slopes perlin1 %0, %0
           %4: f32 = ddx %1
           return %4, %2
         }";
    let expected = "fn main() -> (f32, f32) ^0 {
           %0: f32:x = global g[0]
           %1: f32:x = perlin1 %0, %0
           %2: f32, %3: f32, %4: f32 = with_slopes perlin1 %0, %0
           %5: f32 = ddx %1
           return %5, %3
         }";
    assert_text(&passed(text, &DUAL), expected);
}

#[test]
fn derivatives_of_noise_are_short() {
    for op in float_ops().filter(|op| op.info().shares_shadow_routine) {
        let is_active = op.passes_shadows_given([None; MAX_OPERANDS])[0];
        for mode in [Forward, Backward] {
            let mut shader = module("fn main() -> () ^0 {\n  return\n}");
            let id = FuncId(shader.functions.len() as u32);
            shader.functions.push(function_of(op, false));
            let derivative = derived(&mut shader, mode, id);
            let shader = run(written(calling(shader, derivative)), &DUAL).0;
            let (sloped, all) = counted(&verified(shader));
            assert_eq!(sloped, usize::from(is_active), "{}", op.info().name);
            assert!(all < 40, "{}, {mode:?}: {all} instructions", op.info().name);
        }
    }
}

#[test]
fn derivatives_of_derivatives_are_expanded() {
    let mut shader = module("fn main() -> () ^0 {\n  return\n}");
    let id = FuncId(shader.functions.len() as u32);
    shader.functions.push(function_of(Op::Perlin2, false));
    let inner = derived(&mut shader, Backward, id);
    let outer = derived(&mut shader, Forward, inner);
    assert_eq!(counted(&written(calling(shader, outer))).0, 0);
}

/// The kinds of an op's partials: whether each is 0 or a number.
struct ArePlain;

impl OpVisitor for ArePlain {
    type Out = bool;

    fn float<R: OpDef<N>, const N: usize>(self) -> bool {
        let is_plain = |p: &Partial<f32>| matches!(p, Partial::Zero | Partial::Of(_));
        R::partials([0.5_f32; N], 0.5).iter().all(is_plain)
    }

    fn bits<R: BitOpDef<N>, const N: usize>(self) -> bool {
        false
    }
}

#[test]
fn partials_of_long_ops_are_numbers() {
    for op in float_ops().filter(|op| op.info().shares_shadow_routine) {
        assert!(
            InstKind::has_slopes(op) && op.visit(ArePlain),
            "{}",
            op.info().name
        );
    }
}
