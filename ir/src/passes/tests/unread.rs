//! Tests that every lane has a reader. `cli/tests/command/language/dead_lanes.rs` removes each
//! lane, over the public API, to test that it matters.

use super::*;
use crate::module::*;

/// Whether a lane of an operand exists in the receiving value.
struct Readers<'m> {
    module: &'m Module,
    function: &'m Function,
    /// By region: the results of its instruction.
    gives: Vec<Results>,
}

impl Readers<'_> {
    fn lanes(&self, value: Option<ValueId>) -> Lanes {
        value.map_or(Lanes::NONE, |v| self.function.value(v).lanes)
    }

    /// The lanes that an instruction reads of its operand `k`.
    fn of_operand(&self, region: RegionId, inst: &Inst, k: usize) -> Lanes {
        let gives = |to: RegionId| self.lanes(self.gives[to.index()].iter().nth(k));
        let takes = |to: RegionId| self.lanes(self.function.region(to).params.get(k).copied());
        match &inst.kind {
            InstKind::Op(op) if op.passes_shadows()[k] => self.lanes(Some(inst.results.first)),
            InstKind::Shadow(direction) => direction.lanes(),
            InstKind::Sample(..) => Lanes::XY,
            InstKind::Store(array) if k == 1 => self.function.arrays[array.index()].lanes,
            InstKind::Keep(_, record) => self.module.records[record.index()].fields[k].lanes,
            InstKind::Yield => gives(region),
            InstKind::Break(to) => gives(*to),
            InstKind::Continue(to) | InstKind::Loop(to) => takes(*to),
            InstKind::Return => self.function.results[k].lanes,
            InstKind::Call(callee, _) => {
                let callee = self.module.function(*callee);
                callee.value(callee.params()[k]).lanes
            }
            _ => Lanes::NONE,
        }
    }
}

/// Lanes of values that nothing reads, as `function %value`.
pub(super) fn unread(module: &Module) -> Vec<String> {
    let mut found = Vec::new();
    for function in &module.functions {
        let mut readers = Readers {
            module,
            function,
            gives: vec![Results::NONE; function.regions.len()],
        };
        let mut read = vec![Lanes::NONE; function.values.len()];
        function.for_each_region(|region| {
            for inst in &function.region(region).insts {
                for nested in inst.kind.regions() {
                    readers.gives[nested.index()] = inst.results;
                }
                for (k, arg) in inst.args.iter().enumerate() {
                    read[arg.index()] |= readers.of_operand(region, inst, k);
                }
            }
        });
        for (i, value) in function.values.iter().enumerate() {
            if !read[i].contains(value.lanes) {
                found.push(format!("{} %{i}", function.name));
            }
        }
    }
    found
}

#[test]
fn no_lane_of_the_post_s_programs_is_unread() {
    let texture = "fn main(%0: i32) -> (f32) ^0 {
        array &0: f32[4]
        %1: f32 = global g[0]
        %2: f32 = global h[0]
        %3: f32 = loop ^1 (%4: i32 = %0, %5: f32 = %2) {
          %6: i32 = const 1
          %7: i32 = isub %4, %6
          %8: bool = ilt %7, %6
          if %8 ^2 {
            break ^1 %5
          } else ^3 {
            %9: f32 = sin %5
            %10: f32 = add %9, %1
            continue ^1 %7, %10
          }
          unreachable
        }
        store &0[%0], %3
        %11: f32 = load &0[%0]
        %12: f32 = call twice(%11)
        %13: f32, %14: f32, %15: f32, %16: f32 = sample wood(%12, %2)
        %17: f32 = floor %2
        %18: f32 = call twice(%17)
        %19: f32 = ddx %18
        %20: f32 = add %16, %19
        return %20
      }
      fn twice(%0: f32) -> (f32) ^0 {
        %1: f32 = add %0, %0
        return %1
      }";
    for text in [
        post::PRACTICAL,
        post::FUNC,
        analysis::TERNARY,
        analysis::LATER,
        texture,
    ] {
        for options in [&DUAL, &OUTPUTS] {
            let out = passed(text, options);
            assert_eq!(unread(&out), [""; 0], "{}", super::text(&out));
        }
    }
}

#[test]
fn unread_lanes_of_merged_demand_are_found() {
    let out = passed(analysis::TERNARY, &MERGED);
    assert_eq!(unread(&out), ["main %0", "main %1"]);
}
