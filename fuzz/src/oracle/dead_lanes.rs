//! Lanes that do nothing, found by force.
//!
//! Each lane of a module is removed in turn. If no output, request, fault or closure of any point
//! changes, the lane was idle.

use super::observation::{ComparisonExtent, ObservedRun};
use super::reference::observe;
use crate::generate::{Point, point};
use adumbra_ir::module::FuncId;
use adumbra_ir::{Direction, Lanes, Module};

/// A lane of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadLane {
    /// The function that it is in.
    pub function: FuncId,
    /// What it belongs to.
    pub owner: LaneOwner,
    /// Its direction.
    pub direction: Direction,
}

/// A thing that has lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneOwner {
    /// The value of that number.
    Value(usize),
    /// The array of that number.
    Array(usize),
}

impl DeadLane {
    fn lanes<'m>(&self, module: &'m mut Module) -> &'m mut Lanes {
        let function = &mut module.functions[self.function.index()];
        match self.owner {
            LaneOwner::Value(i) => &mut function.values[i].lanes,
            LaneOwner::Array(i) => &mut function.arrays[i].lanes,
        }
    }
}

/// Every lane of a module.
pub fn all_lanes(module: &Module) -> Vec<DeadLane> {
    let mut found = Vec::new();
    for (i, function) in module.functions.iter().enumerate() {
        let values = function.values.iter().enumerate();
        let values = values.map(|(i, v)| (LaneOwner::Value(i), v.lanes));
        let arrays = function.arrays.iter().enumerate();
        let arrays = arrays.map(|(i, a)| (LaneOwner::Array(i), a.lanes));
        for (owner, lanes) in values.chain(arrays) {
            let function = FuncId(i as u32);
            let directions = Direction::BOTH.into_iter().filter(|&d| lanes.has(d));
            found.extend(directions.map(|direction| DeadLane {
                function,
                owner,
                direction,
            }));
        }
    }
    found
}

/// The lanes of a module whose removal changes nothing at any of this many points.
pub fn dead_lanes(module: &Module, points: u64) -> Vec<DeadLane> {
    let types: Vec<_> = module.globals.iter().map(|g| g.ty.clone()).collect();
    let points: Vec<Point> = (0..points).map(|i| point(&types, 1, i, false)).collect();
    let shown: Vec<ObservedRun> = points.iter().map(|p| observe(module, p)).collect();
    let mut without = module.clone();
    all_lanes(module)
        .into_iter()
        .filter(|lane| {
            let kept = *lane.lanes(&mut without);
            *lane.lanes(&mut without) = kept.without(lane.direction.lanes());
            let changes = points.iter().zip(&shown).any(|(point, shown)| {
                let now = observe(&without, point);
                shown.difference(&now, ComparisonExtent::All).is_some()
            });
            *lane.lanes(&mut without) = kept;
            !changes
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_ir::{FileId, text};

    #[test]
    fn only_dead_lanes_are_found() {
        let text = "adumbra ir 1
global x: float
output o: float
entry main
fn main() -> (f32:x) ^0 {
  %0: f32:x = global x[0]
  %1: f32:xy = cos %0
  %2: f32:x = mul %0, %0
  return %2
}";
        let module = text::parse(text, FileId::MAIN).expect("the program is IR");
        assert_eq!(all_lanes(&module).len(), 4);
        let found: Vec<LaneOwner> = dead_lanes(&module, 10).iter().map(|l| l.owner).collect();
        assert_eq!(found, [LaneOwner::Value(1), LaneOwner::Value(1)]);
    }
}
