//! No lane is idle: each is read where it stands, and taking one away changes what can be observed.

use super::random::{Seen, observe};
use super::*;
use crate::eval::{Point, Shadows, Slot};
use crate::module::*;
use crate::types::Direction;

/// Whether a lane is there in what takes over from the operand.
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
            InstKind::Op(op) if op.carries()[k] => self.lanes(Some(inst.results.first)),
            InstKind::Shadow(direction) => direction.lanes(),
            InstKind::Sample(..) => Lanes::XY,
            InstKind::Store(array) if k == 1 => self.function.arrays[array.index()].lanes,
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

/// Lanes whose removal changes nothing on the points, as `function %value direction`.
fn idle(module: &Module, points: &[Point], outputs: bool) -> Vec<String> {
    let see = |module: &Module, point: &Point| observe(module, point, Shadows::Annotated, outputs);
    let expected: Vec<Seen> = points.iter().map(|p| see(module, p)).collect();
    let mut found = Vec::new();
    let mut changed = module.clone();
    for f in 0..module.functions.len() {
        for v in 0..module.functions[f].values.len() {
            let lanes = module.functions[f].values[v].lanes;
            for direction in Direction::BOTH {
                if !lanes.has(direction) {
                    continue;
                }
                changed.functions[f].values[v].lanes = lanes.without(direction.lanes());
                let mut both = points.iter().zip(&expected);
                if both.all(|(point, seen)| seen.agrees(&see(&changed, point))) {
                    found.push(format!("{} %{v} {direction:?}", module.functions[f].name));
                }
                changed.functions[f].values[v].lanes = lanes;
            }
        }
    }
    found
}

/// Points on a grid, with shadows that are all different.
fn grid(module: &Module) -> Vec<Point> {
    (0..1000)
        .map(|i| {
            let at = |k: f32| Slot::float((i as f32 * k).fract() + 0.25, [k, 1.0 + i as f32 * k]);
            let mut point = Point::new(module);
            point.globals = vec![at(0.37), at(0.73), Slot::word(i % 5)];
            for (input, declared) in point.inputs.iter_mut().zip(&module.inputs) {
                *input = match declared.ty {
                    crate::types::Type::FLOAT => Slot::float((i % 7) as f32, [0.0; 2]),
                    _ => Slot::word(i % 6),
                };
            }
            point
        })
        .collect()
}

#[test]
fn no_lane_of_the_post_s_programs_is_idle() {
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
        %13: f32 = sample_alpha wood(%12, %2)
        %14: f32 = floor %2
        %15: f32 = call twice(%14)
        %16: f32 = ddx %15
        %17: f32 = add %13, %16
        return %17
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
            let points = grid(&out);
            let found = idle(&out, &points, options.output_shadows);
            assert!(found.is_empty(), "{found:?}\n{}", super::text(&out));
            assert!(unread(&out).is_empty(), "{:?}", unread(&out));
        }
    }
}

#[test]
fn merged_demand_has_idle_lanes_and_they_are_found() {
    let out = passed(analysis::TERNARY, &MERGED);
    let found = idle(&out, &grid(&out), false);
    assert_eq!(found, ["main %0 Y", "main %1 X"]);
    assert_eq!(unread(&out), ["main %0", "main %1"]);
}
