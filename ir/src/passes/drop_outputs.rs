//! Drops outputs that are not read, so that only what the others need is computed.
//!
//! Assumes a verified module as lowering, or a transformation of the shader, leaves it. Guarantees
//! one whose entry has the inputs, the effects and the other outputs of the one before. What was
//! computed for the dropped ones alone is dead, and cleanup removes it.

use crate::module::*;

/// Drops the outputs of a module's shader of which `is_dropped` says so, by their names.
pub fn drop_outputs(module: &mut Module, is_dropped: impl Fn(&str) -> bool) {
    let mut keeps = Vec::new();
    for output in &module.outputs {
        let is_kept = !is_dropped(&output.name);
        output.ty.for_each_scalar(&mut |_| keeps.push(is_kept));
    }
    module.outputs.retain(|output| !is_dropped(&output.name));
    let entry = &mut module.functions[module.entry.index()];
    let kept_before = |result: u32| {
        let before = keeps[..result as usize].iter();
        before.filter(|is_kept| **is_kept).count() as u32
    };
    let is_output = |member: &SourceParam| member.results.1 > 0;
    entry
        .members
        .retain(|member| !is_output(member) || keeps[member.results.0 as usize]);
    for member in entry.members.iter_mut().filter(|member| is_output(member)) {
        member.results.0 = kept_before(member.results.0);
    }
    let mut results = keeps.iter();
    entry.results.retain(|_| results.next() == Some(&true));
    let insts = entry
        .regions
        .iter_mut()
        .flat_map(|region| &mut region.insts);
    for inst in insts.filter(|inst| matches!(inst.kind, InstKind::Return)) {
        let kept = inst.args.iter().zip(&keeps).filter(|(_, keep)| **keep);
        let kept: Vec<ValueId> = kept.map(|(&arg, _)| arg).collect();
        inst.args = Args::from_slice(&kept);
    }
}
