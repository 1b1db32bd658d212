//! The topological order in which units run, and the report of cycles, which have none. (Kahn,
//! "Topological sorting of large networks", 1962.)

use super::{MAX_LISTED, Planner};
use adumbra_ir::{Code, Diagnostic};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

impl Planner<'_> {
    /// The units that results depend on, each after those that feed it; else as they were added.
    /// Cycles are reported, also among other units.
    pub(super) fn order(&mut self, results: &[(usize, u32)]) -> Vec<usize> {
        let count = self.modules.len();
        let mut takers = vec![Vec::new(); count];
        let mut givers = vec![Vec::new(); count];
        for (wire, &(from, to, _)) in self.wires.iter().enumerate() {
            takers[from].push(to);
            givers[to].push((from, wire));
        }
        let mut waits: Vec<usize> = givers.iter().map(Vec::len).collect();
        let ready = (0..count).filter(|&unit| waits[unit] == 0);
        let mut ready: BinaryHeap<Reverse<usize>> = ready.map(Reverse).collect();
        let mut order = Vec::with_capacity(count);
        while let Some(Reverse(unit)) = ready.pop() {
            order.push(unit);
            for &taker in &takers[unit] {
                waits[taker] -= 1;
                if waits[taker] == 0 {
                    ready.push(Reverse(taker));
                }
            }
        }
        if order.len() < count {
            self.cycles(&waits, &givers);
        }

        let mut needed = vec![false; count];
        let mut pending: Vec<usize> = results.iter().map(|&(unit, _)| unit).collect();
        while let Some(unit) = pending.pop() {
            if !std::mem::replace(&mut needed[unit], true) {
                pending.extend(givers[unit].iter().map(|&(giver, _)| giver));
            }
        }
        order.retain(|&unit| needed[unit]);
        order
    }

    /// Reports cycles among the units that wait for one another. Each of them is fed by another one
    /// of them, so following the wires backwards ends in a cycle.
    fn cycles(&mut self, waits: &[usize], givers: &[Vec<(usize, usize)>]) {
        let mut seen = HashSet::new();
        for start in (0..waits.len()).filter(|&unit| waits[unit] > 0) {
            let mut path: Vec<(usize, usize)> = Vec::new();
            let mut places = HashMap::new();
            let mut unit = start;
            while seen.insert(unit) {
                places.insert(unit, path.len());
                let giver = givers[unit].iter().find(|(giver, _)| waits[*giver] > 0);
                let &(giver, wire) = giver.expect("a unit that waits is fed by one that waits");
                path.push((unit, wire));
                unit = giver;
            }
            let Some(&first) = places.get(&unit) else {
                continue;
            };
            let mut cycle = path.split_off(first);
            cycle.reverse();
            self.cycle(&cycle);
        }
    }

    /// Each unit of a cycle in the order of the wires, with the wire that feeds it.
    fn cycle(&mut self, cycle: &[(usize, usize)]) {
        let name = |&(unit, _): &(usize, usize)| format!("`{}`", self.group.units[unit].name);
        let mut names: Vec<String> = cycle.iter().take(MAX_LISTED).map(name).collect();
        if cycle.len() > MAX_LISTED {
            names.push(format!("{} more", cycle.len() - MAX_LISTED));
        }
        names.push(name(&cycle[0]));
        let message = match cycle {
            [(unit, _)] => format!("the unit `{}` feeds itself", self.group.units[*unit].name),
            _ => format!("units feed each other in a cycle: {}", names.join(" → ")),
        };
        let span = |&(_, wire): &(usize, usize)| self.wires[wire].2;
        let mut diagnostic = Diagnostic::new(Code::UnitCycle, span(&cycle[0]), message)
            .here("closes the cycle")
            .help("leave out one of these connections");
        for wire in cycle.iter().skip(1).take(MAX_LISTED) {
            diagnostic = diagnostic.label(span(wire), "part of it");
        }
        self.report(diagnostic);
    }
}
