//! Rewrites a function whose arrays are replaced: in program order, with the value of each element
//! at the place that was reached. Control flow is structured, so what joins is known beforehand:
//! the elements that a region writes (SSA construction on structured control flow; Brandis and
//! Mössenböck 1994).

use super::arrays::ReplacedArrays;
use crate::entry_steps::cleared_arrays;
use crate::module::*;
use crate::moved_words::steps_for;
use crate::passes::replacement::Replacements;
use crate::span::Span;
use crate::types::Scalar;

/// Replaces the arrays.
pub(super) fn rewrite(function: &mut Function, arrays: &ReplacedArrays) {
    let mut first = Vec::new();
    let cleared = cleared_arrays(function);
    for (at, array) in function.arrays.iter().enumerate() {
        let is_replaced = arrays.elements(function, ArrayId(at as u32)).is_some();
        if is_replaced && cleared[at] {
            first.extend(steps_for(array.len, function.span));
        }
    }
    let mut rewriter = Rewriter {
        aliases: Replacements::new(function.values.len()),
        current: vec![None; arrays.array_of.len()],
        given: vec![Vec::new(); function.regions.len()],
        zeros: Vec::new(),
        arrays,
        function,
    };
    let body = rewriter.function.body;
    rewriter.region(body);
    let zeros = rewriter.zeros.into_iter().map(|(_, inst)| inst);
    first.splice(..0, zeros);
    let insts = &mut rewriter.function.regions[body.index()].insts;
    insts.splice(..0, first);
}

struct Rewriter<'f> {
    function: &'f mut Function,
    arrays: &'f ReplacedArrays,
    /// Loads are replaced by what was stored.
    aliases: Replacements,
    /// By element: its value, zero if there is none.
    current: Vec<Option<ValueId>>,
    /// By open region: the elements that its exits give to what comes after its instruction.
    given: Vec<Vec<u32>>,
    /// Constants at the beginning of the function, by type.
    zeros: Vec<(Scalar, Inst)>,
}

impl Rewriter<'_> {
    fn region(&mut self, id: RegionId) {
        let insts = std::mem::take(&mut self.function.regions[id.index()].insts);
        let mut out = Vec::with_capacity(insts.len());
        for mut inst in insts {
            self.aliases.rewrite(&mut inst);
            self.inst(id, inst, &mut out);
        }
        self.function.regions[id.index()].insts = out;
    }

    fn inst(&mut self, region: RegionId, mut inst: Inst, out: &mut Vec<Inst>) {
        match inst.kind {
            InstKind::Load(array) => match self.arrays.element(array, inst.args[0]) {
                Some(element) => {
                    let value = self.current(element);
                    self.aliases.replace(inst.results.first, value);
                }
                None => out.push(inst),
            },
            InstKind::Store(array) => match self.arrays.element(array, inst.args[0]) {
                Some(element) => self.current[element as usize] = Some(inst.args[1]),
                None => out.push(inst),
            },
            InstKind::ArrayZero(array) => match self.arrays.elements(self.function, array) {
                Some(elements) => {
                    out.extend(steps_for(elements.len() as u32, inst.span));
                    elements.for_each(|element| self.current[element as usize] = None);
                }
                None => out.push(inst),
            },
            InstKind::ArrayCopy { to, from } => self.copy(to, from, inst, out),
            InstKind::If(then, other) => {
                let mut written = self.arrays.written[then.index()].clone();
                written.extend(&self.arrays.written[other.index()]);
                written.sort_unstable();
                written.dedup();
                for arm in [then, other] {
                    let before = self.values_of(&written);
                    self.nested(arm, &written);
                    self.set(&written, &before);
                }
                self.join(inst, &written, out);
            }
            InstKind::Block(body) => {
                let written = self.arrays.written[body.index()].clone();
                self.nested(body, &written);
                self.join(inst, &written, out);
            }
            InstKind::Loop(body) => {
                let written = self.arrays.written[body.index()].clone();
                let params = self.new_values(&[], &written, inst.span);
                for (&element, param) in written.iter().zip(params.iter()) {
                    inst.args.push(self.current(element));
                    self.current[element as usize] = Some(param);
                }
                self.function.regions[body.index()]
                    .params
                    .extend(params.iter());
                self.nested(body, &written);
                self.join(inst, &written, out);
            }
            InstKind::Yield => self.give(region, inst, out),
            InstKind::Break(to) | InstKind::Continue(to) => self.give(to, inst, out),
            _ => out.push(inst),
        }
    }

    fn nested(&mut self, region: RegionId, written: &[u32]) {
        self.given[region.index()] = written.to_vec();
        self.region(region);
        self.given[region.index()] = Vec::new();
    }

    /// A terminator that leads to the end of a region, or to the beginning of a loop's.
    fn give(&mut self, to: RegionId, mut inst: Inst, out: &mut Vec<Inst>) {
        let given = std::mem::take(&mut self.given[to.index()]);
        for &element in &given {
            inst.args.push(self.current(element));
        }
        self.given[to.index()] = given;
        out.push(inst);
    }

    /// Appends an instruction with regions, which has the written elements for further results.
    fn join(&mut self, mut inst: Inst, written: &[u32], out: &mut Vec<Inst>) {
        if !written.is_empty() {
            let old: Vec<ValueId> = inst.results.iter().collect();
            inst.results = self.new_values(&old, written, inst.span);
            let mut new = inst.results.iter();
            for (&old, new) in old.iter().zip(&mut new) {
                self.aliases.replace(old, new);
            }
            for (&element, new) in written.iter().zip(new) {
                self.current[element as usize] = Some(new);
            }
        }
        out.push(inst);
    }

    /// Copies between two arrays of which one is replaced or both are.
    fn copy(&mut self, to: ArrayId, from: ArrayId, inst: Inst, out: &mut Vec<Inst>) {
        let [to_len, from_len] = [to, from].map(|a| self.function.arrays[a.index()].len);
        let [to_first, from_first] =
            [to, from].map(|a| self.arrays.elements(self.function, a).map(|e| e.start));
        if to_first.is_none() && from_first.is_none() {
            out.push(inst);
            return;
        }
        let count = to_len.min(from_len);
        out.extend(steps_for(count, inst.span));
        let start = inst.args.first().map_or(0, |start| {
            let start = self.arrays.known[start.index()].expect("starts are constants");
            // A part beyond an end is moved inside.
            (start as i32).clamp(0, to_len.abs_diff(from_len) as i32) as u32
        });
        let (to_start, from_start) = match to_len > from_len {
            true => (start, 0),
            false => (0, start),
        };
        let ty = self.function.arrays[to.index()].element;
        let mut values = Vec::with_capacity(count as usize);
        for at in from_start..from_start + count {
            values.push(match from_first {
                Some(first) => self.current(first + at),
                None => {
                    let index = self.index(at, inst.span, out);
                    self.push(InstKind::Load(from), &[index], Some(ty), inst.span, out)
                }
            });
        }
        for (at, value) in (to_start..).zip(values) {
            match to_first {
                Some(first) => self.current[(first + at) as usize] = Some(value),
                None => {
                    let index = self.index(at, inst.span, out);
                    self.push(InstKind::Store(to), &[index, value], None, inst.span, out);
                }
            }
        }
    }

    fn index(&mut self, at: u32, span: Span, out: &mut Vec<Inst>) -> ValueId {
        self.push(InstKind::Const(at), &[], Some(Scalar::I32), span, out)
    }

    /// Appends an instruction. Returns its result, which is meaningless if it has none.
    fn push(
        &mut self,
        kind: InstKind,
        args: &[ValueId],
        ty: Option<Scalar>,
        span: Span,
        out: &mut Vec<Inst>,
    ) -> ValueId {
        let results = Results::of_new(&mut self.function.values, ty, span);
        self.aliases.extend(self.function.values.len());
        out.push(Inst {
            kind,
            args: args.into(),
            results,
            span,
        });
        results.first
    }

    /// New values for old ones, then for elements.
    fn new_values(&mut self, old: &[ValueId], elements: &[u32], span: Span) -> Results {
        let function = &mut *self.function;
        let first = ValueId(function.values.len() as u32);
        for &old in old {
            function.values.push(*function.value(old));
        }
        for &element in elements {
            let array = function.arrays[self.arrays.array_of[element as usize].index()];
            let value = Results::of_new(&mut function.values, [array.element], span);
            function.values[value.first.index()].name = array.name;
        }
        self.aliases.extend(function.values.len());
        Results {
            first,
            count: (old.len() + elements.len()) as u32,
        }
    }

    /// The value of an element.
    fn current(&mut self, element: u32) -> ValueId {
        if let Some(value) = self.current[element as usize] {
            return value;
        }
        let array = self.arrays.array_of[element as usize];
        let ty = self.function.arrays[array.index()].element;
        if let Some((_, zero)) = self.zeros.iter().find(|(of, _)| *of == ty) {
            return zero.results.first;
        }
        let mut zero = Vec::new();
        let span = self.function.span;
        let value = self.push(InstKind::Const(0), &[], Some(ty), span, &mut zero);
        self.zeros.extend(zero.pop().map(|inst| (ty, inst)));
        value
    }

    fn values_of(&self, elements: &[u32]) -> Vec<Option<ValueId>> {
        elements.iter().map(|&e| self.current[e as usize]).collect()
    }

    fn set(&mut self, elements: &[u32], values: &[Option<ValueId>]) {
        for (&element, &value) in elements.iter().zip(values) {
            self.current[element as usize] = value;
        }
    }
}
