//! Activity analysis for derivatives of functions: which values and arrays have a derivative that
//! matters.
//!
//! A slot is *varied* if a parameter that is differentiated by flows into it, and *useful* if it
//! flows into a result that is differentiated; it is *active* if it is both. The graph is that of
//! shadows, [`ShadowFlow`], but that a `Detach` cuts it, and that a call joins all that goes in
//! with all that comes out.

use crate::module::*;
use crate::passes::dataflow::FlowNode;
use crate::passes::flow_signature::{FlowSignature, FlowSlot};
use crate::passes::shadow_flow::{
    DerivativeWiring, FlowOptions, ShadowFlow, Wiring, inner_in, inner_out, outer_out,
};

/// The active slots of a function.
#[derive(Debug)]
pub(super) struct ActiveSlots {
    nodes: Vec<bool>,
    values: usize,
    memory: ActiveMemory,
}

impl ActiveSlots {
    /// The slots of a function that are active by its signature's activity.
    pub(super) fn new(
        wiring: DerivativeWiring<'_>,
        function: &Function,
        activity: &Activity,
    ) -> ActiveSlots {
        let flow = Wiring {
            options: FlowOptions::default(),
            callees: None,
            derivative: Some(wiring),
        };
        let flow = ShadowFlow::new(function, &flow);
        let signature = FlowSignature::new(function);
        let is_active = |slot: FlowSlot, scalars: &[bool]| match slot {
            FlowSlot::Scalar(i) => scalars[i as usize],
            FlowSlot::Array(i) => activity.arrays[i as usize],
        };
        let mut work = Vec::new();
        let mut varied = vec![false; flow.nodes()];
        for &source in &flow.sources {
            varied[source as usize] = true;
        }
        for &slot in &signature.ins {
            varied[inner_in(function, slot) as usize] |= is_active(slot, &activity.params);
        }
        if !activity.memory.is_empty() {
            for_each_read(wiring, function, &activity.memory, |node| {
                varied[node as usize] = true;
            });
        }
        flow.forward.flood(&mut varied, &mut work);

        let mut useful = vec![false; flow.nodes()];
        for seed in &flow.seeds {
            useful[seed.node as usize] = true;
        }
        for &slot in &signature.outs {
            useful[inner_out(function, slot) as usize] |= is_active(slot, &activity.results);
        }
        flow.backward.flood(&mut useful, &mut work);

        let mut nodes: Vec<bool> = varied.iter().zip(useful).map(|(&v, u)| v && u).collect();
        // Parameters are active as the signature says, so that callers and the body agree. But what
        // is written to an array that no caller differentiates may be read again: then its
        // derivative matters within the function.
        for (i, &param) in function.params().iter().enumerate() {
            nodes[param.index()] = activity.params[i];
        }
        for (i, array) in function.array_params().enumerate() {
            debug_assert!(array.mode != Some(PassingMode::Return));
            nodes[function.values.len() + i] |= activity.arrays[i];
        }
        ActiveSlots {
            nodes,
            values: function.values.len(),
            memory: activity.memory.clone(),
        }
    }

    /// What is active of a call.
    pub(super) fn of_call(&self, call: &Inst, arrays: &[ArrayId]) -> Activity {
        Activity {
            params: call.args.iter().map(|&arg| self.value(arg)).collect(),
            results: call.results.iter().map(|r| self.value(r)).collect(),
            arrays: arrays.iter().map(|&array| self.array(array)).collect(),
            memory: self.memory.clone(),
        }
    }

    /// The buffer of the derivative of what a value was read from, if the value is active.
    pub(super) fn derivative_of(&self, value: ValueId, buffer: BufferId) -> Option<BufferId> {
        self.memory.of_buffer(buffer).filter(|_| self.value(value))
    }

    /// The texture of the derivative of a sample, if any of its results is active.
    pub(super) fn derivative_of_sample(
        &self,
        inst: &Inst,
        texture: TextureId,
    ) -> Option<TextureId> {
        let derivative = self.memory.of_texture(texture);
        derivative.filter(|_| inst.results.iter().any(|result| self.value(result)))
    }

    /// Whether a value is active; false for values that were added since.
    pub(super) fn value(&self, value: ValueId) -> bool {
        value.index() < self.values && self.nodes[value.index()]
    }

    /// Whether an array is active.
    pub(super) fn array(&self, array: ArrayId) -> bool {
        self.nodes[self.values + array.index()]
    }
}

impl Activity {
    /// Whether nothing goes in that is active.
    pub(super) fn lacks_ins(&self, callee: &Function) -> bool {
        !(self.params.contains(&true) || self.has_arrays(callee, PassingMode::Out))
            && self.memory.is_empty()
    }

    /// Whether nothing comes out that is active.
    pub(super) fn lacks_outs(&self, callee: &Function) -> bool {
        !(self.results.contains(&true) || self.has_arrays(callee, PassingMode::In))
    }

    /// Whether array parameters of other modes than this are active.
    fn has_arrays(&self, callee: &Function, leave_out: PassingMode) -> bool {
        (callee.array_params().zip(&self.arrays))
            .any(|(array, &active)| active && array.mode != Some(leave_out))
    }
}

/// Calls `each` with the nodes that the numbers of active memory come in by: reads, and all that
/// comes out of calls of functions that read.
fn for_each_read(
    wiring: DerivativeWiring<'_>,
    function: &Function,
    active: &ActiveMemory,
    mut each: impl FnMut(FlowNode),
) {
    let insts = function.regions.iter().flat_map(|region| &region.insts);
    for inst in insts {
        match &inst.kind {
            _ if active.is_read_by(inst) => inst.results.iter().for_each(|result| each(result.0)),
            InstKind::Call(callee, _) if wiring.reads.any(*callee, active) => {
                let callee = &wiring.functions[callee.index()];
                let has_rule = callee.custom.forward.is_some() || callee.custom.backward.is_some();
                if !callee.custom.is_zero && !has_rule {
                    for slot in FlowSignature::new(callee).outs {
                        each(outer_out(function, inst, slot));
                    }
                }
            }
            _ => {}
        }
    }
}
