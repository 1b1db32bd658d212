//! Shaders in f64, by the reference evaluator: what gradients are held against.
//!
//! The average of a shader over [-Δ, Δ] along an axis is integrated between the places where its
//! value jumps, and those are found by bisection of the value alone. So the truth, a central
//! difference of that average by a parameter, knows neither decisions nor margins.

use adumbra_ir::Module;
use adumbra_ir::eval::{EvalOptions, EvalPoint, EvalValue, evaluate};
use adumbra_ir::host::ConstantTexture;

/// Intervals that a line is cut into: a jump that is undone within one is not seen.
const INTERVALS: usize = 32;

/// The least jump: within an interval smooth parts change less, and each edge of the programs more.
const LEAST_JUMP: f64 = 0.01;

/// Bisections of an interval with a jump.
const BISECTIONS: usize = 44;

/// How far a line moves to see along which axis an edge is crossed faster.
const ASIDE: f64 = 1e-4;

/// A place along an axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// The pixel's place.
    pub(crate) place: [f64; 2],
    pub(crate) axis: usize,
    /// Δ.
    pub(crate) spacing: f64,
}

impl Line {
    pub(crate) fn at(&self, offset: f64) -> [f64; 2] {
        let mut place = self.place;
        place[self.axis] += offset;
        place
    }
}

/// A place on a line where the value jumps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jump {
    /// Over Δ.
    pub(crate) at: f64,
    /// How much the value grows there.
    size: f64,
}

/// A line's jumps, and the average of the value.
struct Crossed {
    jumps: Vec<Jump>,
    mean: f64,
}

/// The derivative of an average, and the jumps that it has.
pub(crate) struct AverageSlope {
    pub(crate) slope: f64,
    pub(crate) jumps: Vec<Jump>,
}

/// A shader whose outputs are added up, by one of its inputs, over places `pixel`.
pub(crate) struct Reference {
    module: Module,
    point: EvalPoint<f64>,
    /// The scalar of the input, among those of all inputs.
    parameter: usize,
    /// The step of differences by it: edges move by about a thousandth of a pixel.
    pub(crate) step: f64,
}

impl Reference {
    /// The first float of an input of a module whose first global is `pixel`.
    pub(crate) fn new(module: &Module, parameter: &str, step: f64) -> Reference {
        let before = module.inputs.iter().take_while(|of| of.name != parameter);
        Reference {
            module: module.clone(),
            point: EvalPoint::new(module),
            parameter: before.map(|of| of.ty.scalar_count()).sum(),
            step,
        }
    }

    /// The scalars of the outputs at a place, with the input moved by that, and these values of the
    /// globals after `pixel`.
    pub(crate) fn outputs(
        &self,
        place: [f64; 2],
        moved: f64,
        others: &[EvalValue<f64>],
    ) -> Vec<EvalValue<f64>> {
        let mut point = self.point.clone();
        let place = place.map(|at| EvalValue::float(at, [0.0; 2]));
        point.globals.clear();
        point.globals.extend(place.iter().chain(others));
        point.inputs[self.parameter].float += moved;
        let (options, mut host) = (EvalOptions::default(), ConstantTexture([0.0; 4]));
        evaluate(&self.module, &point, &options, &mut host).outputs
    }

    /// The sum of the outputs.
    fn value(&self, place: [f64; 2], moved: f64) -> f64 {
        let outputs = self.outputs(place, moved, &[]);
        outputs.iter().map(|output| output.float).sum()
    }

    fn crossed(&self, line: &Line, moved: f64) -> Crossed {
        let value = |at: f64| self.value(line.at(at * line.spacing), moved);
        let mut found = Crossed {
            jumps: Vec::new(),
            mean: 0.0,
        };
        let mut from = (-1.0, value(-1.0));
        for interval in 1..=INTERVALS {
            let at = -1.0 + 2.0 * interval as f64 / INTERVALS as f64;
            let to = (at, value(at));
            let (mut low, mut high) = (from, to);
            if (to.1 - from.1).abs() < LEAST_JUMP {
                found.mean += 0.25 * (to.0 - from.0) * (from.1 + to.1);
                from = to;
                continue;
            }
            for _ in 0..BISECTIONS {
                let at = 0.5 * (low.0 + high.0);
                let middle = (at, value(at));
                let is_low = (middle.1 - low.1).abs() < (middle.1 - high.1).abs();
                *(if is_low { &mut low } else { &mut high }) = middle;
            }
            found.mean += 0.25 * (low.0 - from.0) * (from.1 + low.1);
            found.mean += 0.25 * (to.0 - high.0) * (high.1 + to.1);
            found.jumps.push(Jump {
                at: low.0,
                size: high.1 - low.1,
            });
            from = to;
        }
        found
    }

    /// The derivative of the average along a line; `None` if an edge enters or leaves it within a
    /// step.
    pub(crate) fn average_slope(&self, line: &Line) -> Option<AverageSlope> {
        let [less, more] = [-self.step, self.step].map(|moved| self.crossed(line, moved));
        (less.jumps.len() == more.jumps.len()).then_some(AverageSlope {
            slope: (more.mean - less.mean) / (2.0 * self.step),
            jumps: less.jumps,
        })
    }

    /// What all edges beside a place count, of a shader that is constant between its edges: each
    /// along the axis along which it is crossed faster. `None` if a line has other edges after a
    /// step.
    pub(crate) fn edges_slope(&self, place: [f64; 2], spacing: f64) -> Option<f64> {
        let mut sum = 0.0;
        for axis in [0, 1] {
            let line = Line {
                place,
                axis,
                spacing,
            };
            let [less, more] = [-self.step, self.step].map(|moved| self.crossed(&line, moved));
            if less.jumps.is_empty() && more.jumps.is_empty() {
                continue;
            }
            let mut aside = line;
            aside.place[1 - axis] += ASIDE;
            let aside = self.crossed(&aside, -self.step);
            let counts = [&less, &more, &aside].map(|crossed| crossed.jumps.len());
            if counts != [counts[0]; 3] {
                return None;
            }
            for ((less, more), aside) in less.jumps.iter().zip(&more.jumps).zip(&aside.jumps) {
                if (aside.at - less.at).abs() * spacing <= ASIDE {
                    sum -= 0.5 * less.size * (more.at - less.at) / (2.0 * self.step);
                }
            }
        }
        Some(sum)
    }
}
