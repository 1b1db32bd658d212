//! Networks beside C: two hidden layers, of 16 and of 64 neurons; the value, the sum of the
//! gradient by the inputs, and the sum of that by all weights.

use crate::c_reference::{CNetworks, networks};
use adumbra::batch::{SimdLevel, Tier};
use adumbra_cli::benchmarks::{
    BatchRunner, BenchCandidate, BenchReport, PixelGlobals, ROUNDS, RatioGoal, grid, input_planes,
    output_planes, program, tier_suffix, tiers, time_round_robin,
};
use std::cell::RefCell;
use std::fmt::Write as _;
use std::hint::black_box;

/// The most that ours is to take by machine code, over the best C of the same width, of the value
/// and the gradient by the inputs.
const MOST: f64 = 4.0;

/// A network with these inputs and that many neurons in each hidden layer.
struct Network {
    name: &'static str,
    /// Its index in the table of the C reference.
    index: usize,
    /// The first two are x and y, a third is their product.
    inputs: usize,
    width: usize,
}

const NETWORKS: [Network; 2] = [
    Network {
        name: "mlp16",
        index: 0,
        inputs: 2,
        width: 16,
    },
    Network {
        name: "mlp64",
        index: 1,
        inputs: 3,
        width: 64,
    },
];

/// What is computed: its name, and what the shader does with the function.
const KINDS: [(&str, &str); 3] = [
    ("value", "f = of(global_value<x>, global_value<y>, w);"),
    (
        "by_inputs",
        "var x = diffPair(global_value<x>), y = diffPair(global_value<y>);
    bwd_diff(of)(x, y, w, 1.0);
    f = x.d + y.d;",
    ),
    (
        "by_weights",
        "var p = diffPair(w);
    bwd_diff(of)(global_value<x>, global_value<y>, p, 1.0);
    f = 0.0;
    for (int i = 0; i < COUNT; i++) f += p.d[i];",
    ),
];

impl Network {
    fn weights(&self) -> Vec<f32> {
        let Network { inputs, width, .. } = self;
        let count = inputs * width + width + width * width + width + width + 1;
        (1..=count)
            .map(|i| 0.5 * (0.4234 * i as f32).sin())
            .collect()
    }

    /// A shader of its value or gradient. The weights are an input, or constants if there are more
    /// than inputs may have.
    fn source(&self, what: &str) -> String {
        let Network { inputs, width, .. } = *self;
        let weights = self.weights();
        let count = weights.len();
        let bias1 = inputs * width;
        let second = bias1 + width;
        let bias2 = second + width * width;
        let last = bias2 + width;
        let mut values = String::new();
        for weight in &weights {
            write!(values, "{weight:?}, ").expect("writing to a string");
        }
        let values = values.trim_end_matches(", ");
        let third = match inputs {
            3 => format!(" + w[{inputs} * i + 2] * (x * y)"),
            _ => String::new(),
        };
        let what = what.replace("COUNT", &count.to_string());
        let (input, local) = match count < 4096 {
            true => (format!("float w[{count}] = {{{values}}}, "), String::new()),
            false => (String::new(), format!("float w[{count}] = {{{values}}};")),
        };
        format!(
            "[Differentiable]
float of(float x, float y, float w[{count}])
{{
    float a[{width}], b[{width}];
    for (int i = 0; i < {width}; i++) {{
        float s = w[{bias1} + i] + w[{inputs} * i] * x + w[{inputs} * i + 1] * y{third};
        a[i] = max(s, 0.0);
    }}
    for (int i = 0; i < {width}; i++) {{
        float s = w[{bias2} + i];
        for (int j = 0; j < {width}; j++) s += w[{second} + {width} * i + j] * a[j];
        b[i] = max(s, 0.0);
    }}
    float s = w[{last_bias}];
    for (int i = 0; i < {width}; i++) s += w[{last} + i] * b[i];
    return s;
}}
shader network({input}out float f)
{{
    {local}
    {what}
}}
",
            last_bias = last + width,
        )
    }
}

/// Checks and times the networks.
pub fn run(report: &mut BenchReport) {
    for network in &NETWORKS {
        for (kind, (name, what)) in KINDS.iter().enumerate() {
            measure(network, kind, name, &network.source(what), report);
        }
    }
}

fn measure(network: &Network, kind: usize, what: &str, source: &str, report: &mut BenchReport) {
    let points: Vec<PixelGlobals> = grid(16);
    let weights = network.weights();
    let planes = &input_planes(&points);
    let program = program(source, false);
    for level in SimdLevel::available() {
        let references: Vec<CNetworks> = networks()
            .into_iter()
            .filter(|c| c.level == level.name())
            .collect();
        if references.is_empty() {
            continue;
        }
        let title = format!("{}_{what}_{level}", network.name);
        check(&title, network, kind, &references, &program, level, &points);
        let out = &RefCell::new(output_planes(points.len()));
        let mut candidates = Vec::new();
        for tier in tiers(level) {
            let mut ours = BatchRunner::new(&program, level, tier, &points);
            let title = format!("{title}{}", tier_suffix(Some(tier)));
            candidates.push(BenchCandidate::new(title, move || {
                ours.run_on(planes, &mut out.borrow_mut());
            }));
        }
        let count = candidates.len();
        let weights = &weights;
        for reference in &references {
            let title = format!("{title}_c_{}", reference.compiler);
            candidates.push(BenchCandidate::new(title, move || {
                let out = &mut out.borrow_mut()[0];
                reference.run(network.index, kind, weights, planes, black_box(out));
            }));
        }
        let samples = time_round_robin(&mut candidates, ROUNDS, points.len());
        report.title(format!("{title}, nanoseconds a point"));
        for (candidate, sample) in &samples {
            report.timing(candidate, "ns", *sample);
        }
        let (ours, theirs) = samples.split_at(count);
        let least = theirs.iter().map(|(_, c)| c.min).min_by(f64::total_cmp);
        let least = least.expect("there is a build of C");
        for ((_, ours), tier) in ours.iter().zip(tiers(level)) {
            let goal = tier == Tier::Native && kind < 2;
            let ratio = format!("{title}{}_over_c", tier_suffix(Some(tier)));
            report.ratio(
                ratio,
                ours.min / least,
                goal.then_some(RatioGoal::AtMost(MOST)),
            );
        }
    }
}

/// Checks that C has our numbers.
///
/// # Panics
/// If it has not.
fn check(
    title: &str,
    network: &Network,
    kind: usize,
    references: &[CNetworks],
    program: &std::sync::Arc<adumbra::Program>,
    level: SimdLevel,
    points: &[PixelGlobals],
) {
    let planes = input_planes(points);
    let mut ours = BatchRunner::new(program, level, Tier::Interpreter, points);
    ours.run();
    for reference in references {
        let mut theirs = vec![0.0; points.len()];
        reference.run(
            network.index,
            kind,
            &network.weights(),
            &planes,
            &mut theirs,
        );
        for (i, &theirs) in theirs.iter().enumerate() {
            let ours = ours.at(i).value;
            // Sums of thousands of products, in another order. At an edge of a `max` the gradient
            // of one side is as right as that of the other.
            let is_near = (ours - theirs).abs() <= 2e-3 * ours.abs().max(1.0);
            assert!(
                is_near,
                "{title}, {}: {theirs} at point {i}, not {ours}",
                reference.compiler
            );
        }
    }
}
