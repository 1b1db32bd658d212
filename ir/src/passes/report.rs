//! The reports of `emit --stage lineage` and `emit --stage demand`.

use super::flow_signature::{FlowSignature, FlowSlot};
use super::shadow_flow::{FlowOptions, ShadowFlow, Wiring, outer_in};
use crate::module::{Function, Module, NameId};
use crate::types::{Lanes, Scalar};

/// One variant of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionReport {
    /// The function's name in the source.
    pub function: String,
    /// The variant, from 0.
    pub variant: u32,
    /// Whether it comes from the standard library.
    pub library: bool,
    /// Every float, in program order, then every array of floats.
    pub values: Vec<ValueReport>,
}

/// One float, or array of floats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueReport {
    /// The variable that it is a definition of, or `%` and its number, as in IR text.
    pub name: String,
    /// Its lanes, or its lineage.
    pub lanes: Lanes,
}

/// The demand on every float of a module after the passes: its lanes, and those that only a call
/// demands.
///
/// A variant that serves several callers may have a parameter with lanes that an argument lacks,
/// because the argument depends on no global. Then the call passes zeros, which are not needed. The
/// demand is listed for the argument and for its operands.
pub fn demand(module: &Module) -> Vec<FunctionReport> {
    let wiring = Wiring {
        options: FlowOptions::default(),
        callees: None,
        derivative: None,
    };
    let functions = module.functions.iter();
    functions
        .map(|function| {
            let flow = ShadowFlow::new(function, &wiring);
            let values = function.values.iter().map(|v| v.lanes);
            let own: Vec<Lanes> = (values.chain(function.arrays.iter().map(|a| a.lanes))).collect();
            let mut asked = vec![Lanes::NONE; flow.nodes()];
            for &(callee, call) in &flow.calls {
                let callee = module.function(callee);
                for slot in FlowSignature::new(callee).ins {
                    let lanes = lanes_in(callee, slot);
                    let argument = outer_in(function, call, slot) as usize;
                    asked[argument] |= lanes.without(own[argument]);
                }
            }
            let mut work = (0..flow.nodes() as u32).collect();
            flow.backward.propagate(&mut asked, &mut work);
            for (asked, own) in asked.iter_mut().zip(own) {
                *asked |= own;
            }
            report(module, function, function.variant, &asked)
        })
        .collect()
}

/// The lanes that a call passes for a parameter of its callee.
fn lanes_in(callee: &Function, slot: FlowSlot) -> Lanes {
    match slot {
        FlowSlot::Scalar(i) => callee.value(callee.params()[i as usize]).lanes,
        FlowSlot::Array(i) => callee.arrays[i as usize].lanes,
    }
}

/// One function, with the lanes of its values and then its arrays.
pub(super) fn report(
    module: &Module,
    function: &Function,
    variant: u32,
    lanes: &[Lanes],
) -> FunctionReport {
    let name = |name: Option<NameId>, sigil: char, number: usize| match name {
        Some(name) => module.names[name.index()].clone(),
        None => format!("{sigil}{number}"),
    };
    let values = function.values.iter().enumerate();
    let values = values.filter(|(_, v)| v.ty == Scalar::F32);
    let arrays = function.arrays.iter().enumerate();
    let arrays = arrays.filter(|(_, a)| a.element == Scalar::F32);
    FunctionReport {
        function: function.name.clone(),
        variant,
        library: function.library,
        values: values
            .map(|(i, v)| ValueReport {
                name: name(v.name, '%', i),
                lanes: lanes[i],
            })
            .chain(arrays.map(|(i, a)| ValueReport {
                name: name(a.name, '&', i),
                lanes: lanes[function.values.len() + i],
            }))
            .collect(),
    }
}
