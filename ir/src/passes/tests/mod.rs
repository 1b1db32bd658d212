//! The passes as a whole.

use super::*;
use crate::module::{Function, Global, InstKind, Output};
use crate::types::{Direction, Type};
use crate::{Builder, Op};

/// Equation 3 of the post, read for its derivative along x.
fn equation_3(shadow: bool) -> Module {
    let span = Default::default();
    let mut b = Builder::new("main", span);
    let mut global = |i| {
        b.inst(InstKind::Global(i, 0), [], [Scalar::F32], span)
            .first
    };
    let x1 = global(crate::module::GlobalId(0));
    let x2 = global(crate::module::GlobalId(1));
    let one = b.float(1.0, span);
    let product = b.op(Op::Mul, &[x1, x2], span);
    let below = b.op(Op::Add, &[x1, one], span);
    let u = b.op(Op::Div, &[product, below], span);
    let sine = b.op(Op::Sin, &[u], span);
    let inner = b.op(Op::Add, &[one, u], span);
    let log = b.op(Op::Log, &[inner], span);
    let sum = b.op(Op::Add, &[sine, log], span);
    let exp = b.op(Op::Exp, &[x2], span);
    let left = b.op(Op::Sub, &[sum, exp], span);
    let tanh = b.op(Op::Tanh, &[x2], span);
    let right = b.op(Op::Sub, &[u, tanh], span);
    let mut f = b.op(Op::Mul, &[left, right], span);
    if shadow {
        f = b.shadow(Direction::X, f, span);
    }
    b.terminate(InstKind::Return, [f], span);
    b.function_mut().results = vec![crate::module::FuncResult {
        ty: Scalar::F32,
        lanes: Lanes::NONE,
    }];
    module(vec![b.finish()])
}

fn module(functions: Vec<Function>) -> Module {
    Module {
        functions,
        globals: ["x1", "x2"]
            .map(|name| Global {
                name: name.into(),
                ty: Type::FLOAT,
            })
            .into(),
        outputs: vec![Output {
            name: "o".into(),
            ty: Type::FLOAT,
        }],
        ..Module::default()
    }
}

#[test]
fn every_intermediate_of_equation_3_carries_what_is_asked_for() {
    let (out, _) = run(equation_3(true), &PassOptions::default());
    let f = out.entry();
    for value in &f.values {
        let lanes: Vec<_> = f.values.iter().map(|v| v.lanes).collect();
        assert!(
            value.lanes.is_none() || value.lanes == Lanes::X,
            "{lanes:?}"
        );
    }
    // All but the literal and the shadow itself.
    let carried = f.values.iter().filter(|v| !v.lanes.is_none()).count();
    assert_eq!(carried, f.values.len() - 2);
}

#[test]
fn without_demand_nothing_differs_from_derivatives_off() {
    let off = PassOptions {
        derivatives: Derivatives::Off,
        ..PassOptions::default()
    };
    let dual = run(equation_3(false), &PassOptions::default()).0;
    assert_eq!(dual, run(equation_3(false), &off).0);
    assert!(dual.entry().values.iter().all(|v| v.lanes.is_none()));
    // With demand, off is the constant 0.
    let off = run(equation_3(true), &off).0;
    let kinds: Vec<_> = off.entry().regions[0]
        .insts
        .iter()
        .map(|i| &i.kind)
        .collect();
    assert_eq!(kinds, [&InstKind::Const(0), &InstKind::Return]);
}
