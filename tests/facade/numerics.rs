//! Every op is as accurate as it claims, and no more: a few million operands of the sweeps that
//! `adumbra-fuzz numerics` makes over all floats.

use crate::counts::{OPERAND_PAIRS, OPERAND_STRIDE};
use adumbra_fuzz::numerics::engine::SweepEngine;
use adumbra_fuzz::numerics::operands::SweepOperands;
use adumbra_fuzz::numerics::report::{stated, sweep_error};
use adumbra_fuzz::numerics::sweep::{error, sweep};
use adumbra_fuzz::numerics::swept_ops;
use adumbra_ir::Op::{self, *};
use adumbra_ops::definition::OpClass;
use std::f64::consts::FRAC_PI_2;

#[test]
fn no_error_is_larger_than_claimed() {
    for op in swept_ops() {
        let found = sweep(
            op,
            &SweepOperands::of(op, OPERAND_STRIDE, OPERAND_PAIRS),
            SweepEngine::Table,
            1,
            |_, _| {},
        );
        assert_eq!(sweep_error(op, &found, false), None, "{found:?}");
    }
}

#[test]
fn the_error_is_as_large_as_claimed_where_it_is_claimed() {
    for op in swept_ops() {
        let info = op.info();
        if info.ulp == 0.0 {
            assert!(info.worst_operands.is_empty(), "{}", info.name);
            continue;
        }
        assert_eq!(info.worst_operands.len(), op.arity(), "{}", info.name);
        let worst: Vec<u32> = info.worst_operands.iter().map(|x| x.to_bits()).collect();
        let error = error(op, &worst);
        assert_eq!(stated(error), info.ulp, "{}: {error}", info.name);
    }
}

#[test]
fn functions_of_one_operand_are_within_one_ulp() {
    let unary = swept_ops().filter(|op| op.arity() == 1);
    let claims: Vec<_> = unary.map(|op| (op.info().name, op.info().ulp)).collect();
    assert!(claims.len() > 20);
    assert!(claims.iter().all(|(_, ulp)| *ulp <= 1.0), "{claims:?}");
}

/// An op, an operand's bits, and the value, worked out with mpmath in 400 bits.
const KNOWN: &[(Op, u32, f64)] = &[
    // The float nearest to a multiple of a quarter turn, beside its size, and other great angles.
    (Sin, 0x6f79be45, 1.0),
    (Cos, 0x6f79be45, -1.6147697982476211e-09),
    (Tan, 0x6f79be45, -619283318.9506139),
    (Sin, 0x7f7fffff, -0.5218765233336585),
    (Cos, 0x7f7fffff, 0.8530210398303042),
    (Tan, 0x7f7fffff, -0.6117979498342481),
    (Sin, 0x64078678, -0.7340815352961015),
    (Cos, 0x501502f9, 0.873119622676856),
    (Tan, 0x7149f2ca, 1.2935860826880194),
    (Exp, 0x42b10000, 2.7230878250681117e+38),
    (Exp, 0xc2cf0000, 1.1233656060805691e-45),
    (Exp2, 0xc314c000, 1.666434104017459e-45),
    (Log, 0x3f800001, 1.1920928244535446e-07),
    (Log, 0x00000001, -103.27892990343184),
    (Log2, 0x7f61b1e6, 127.81823010908478),
    (Log10, 0x00000001, -44.8534693539332),
    (Sinh, 0x42b28000, 2.882388485453482e+38),
    (Sinh, 0x1e3ce508, 9.999999682655225e-21),
    (Cosh, 0xc2b28000, 2.882388485453482e+38),
    (Tanh, 0x41100000, 0.999999969540041),
    (Tanh, 0x2edbe6ff, 1.000000013351432e-10),
    (Asinh, 0x2edbe6ff, 1.000000013351432e-10),
    (Asinh, 0x3a83126f, 0.000999999880830836),
    (Asinh, 0x7f61b1e6, 89.28999300483437),
    (Acosh, 0x3f800001, 0.0004882812451493617),
    (Acosh, 0x7f61b1e6, 89.28999300483437),
    (Atanh, 0x3f7fffff, 8.664339742098155),
    (Asin, 0x3f7fffff, 1.5704510598101804),
    (Acos, 0x3f7fffff, 0.0003452669847162036),
    (Acos, 0xbf7fffff, 3.141247386605077),
    (Atan, 0x2edbe6ff, 1.000000013351432e-10),
    (Atan, 0x7149f2ca, FRAC_PI_2),
    (Cbrt, 0x00000001, 1.1190346870425511e-15),
    (Cbrt, 0xff61b1e6, -6694329504911.005),
    (Rsqrt, 0x00000001, 2.671373890628154e+22),
    (Sqrt, 0x40400000, 1.7320508075688772),
];

/// The specs are the system's: this is where one that is not good enough would show.
#[test]
fn the_reference_is_worth_its_name() {
    for &(op, bits, want) in KNOWN {
        let got = op.spec(&[f64::from(f32::from_bits(bits))]);
        let error = (got - want).abs() / want.abs();
        let name = op.info().name;
        assert!(error < 8.0 * f64::EPSILON, "{name}({bits:#x}) = {got:e}");
    }
}

#[test]
fn what_a_sweep_finds_does_not_depend_on_threads() {
    for op in swept_ops()
        .filter(|op| op.info().class != OpClass::Discrete)
        .step_by(5)
    {
        let operands = SweepOperands::of(op, 1_000_003, 10_000);
        let alone = sweep(op, &operands, SweepEngine::Table, 1, |_, _| {});
        assert_eq!(
            alone,
            sweep(op, &operands, SweepEngine::Table, 3, |_, _| {})
        );
        assert_eq!(alone.operands, operands.count());
    }
}

#[test]
fn every_level_gives_the_bits_of_the_table() {
    println!(
        "engines: {:?}",
        SweepEngine::available().collect::<Vec<_>>()
    );
    for op in swept_ops() {
        let operands = SweepOperands::of(op, 100_003, 20_000);
        let hashes = SweepEngine::available().map(|engine| {
            let found = sweep(op, &operands, engine, 1, |_, _| {});
            (engine, found.hash)
        });
        let hashes: Vec<_> = hashes.collect();
        let (_, first) = hashes[0];
        assert!(
            hashes.iter().all(|(_, hash)| *hash == first),
            "{}: {hashes:x?}",
            op.info().name
        );
    }
}
