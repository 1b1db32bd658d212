//! Machine code gives the results of the interpreters.
//!
//! The longer search is `cargo run --release -p adumbra-fuzz -- batch --native --programs 1000000`.

use crate::counts::NATIVE_BATCHES;
use crate::output_bits::{output_bits, point_bits};
use adumbra::{
    Compiler, Evaluator, Globals, GlobalsLayout, Host, Instance, Limits, NoTextures, Options,
    Outcome, Program, SampleRequest, Sampled, Sources, Type,
    batch::{BatchEvaluator, BatchGlobals, BatchSetup, CompileWhen, Part, Tier, TierUp},
    evaluator::Engine,
    host::Fault,
    object::Target,
};
use adumbra_fuzz::campaign::run_batch;
use adumbra_fuzz::oracle::batch::TierChoice;
use std::sync::Arc;
use std::thread;

/// Whether there is machine code for this processor; says so if not.
fn is_there() -> bool {
    let is = Tier::Native.is_available();
    if !is {
        println!("skipped: there is no machine code for this processor");
    }
    is
}

#[test]
fn code_shows_what_points_show() {
    if !is_there() {
        return;
    }
    let (report, failure) = run_batch(1_000_000, NATIVE_BATCHES, TierChoice::Native);
    if let Some(failure) = failure {
        panic!("{failure}");
    }
    println!("{report}");
    assert_eq!(report.mix.missing_coverage(), None);
}

/// Points that go on in a loop while others wait inside, before its later blocks: each shader at
/// many points in chunks, by both tiers.
#[test]
fn points_that_turn_early_do_not_pass_waiting_points() {
    if !is_there() {
        return;
    }
    let bodies = [
        "while (i < 40) { if (fract(x * 7.31 + float(i) * 0.37) < 0.5) { i += 1; continue; } sum += float(i) * 1.01; i += 3; }",
        "for (; i < 40; ) { if (fract(x * 7.31 + float(i) * 0.37) < 0.5) { i += 1; continue; } sum += float(i) * 1.01; i += 3; } sum += float(i);",
        "for (; i < 40; ++i) { if (fract(x * 3.1 + float(i) * 0.37) < 0.5) continue; sum += sin(sum + x); if (sum > 3) break; }",
        "while (sum < 9) { for (int k = 0; k < 5; ++k) { if (fract(x * float(k)) > 0.6) break; sum += x + 0.1; } sum += 0.3; i += 1; if (i > 30) break; }",
    ];
    let at = |i: usize| (i % 64) as f32 * 0.0137 + (i / 64) as f32 * 0.0071;
    let x: Vec<f32> = (0..2048).map(at).collect();
    for body in bodies {
        let program = compiled(&format!(
            "shader s(out float o) {{ float x = global_value<x>; float sum = 0; int i = 0; {body} o = sum; }}"
        ));
        let [expected, found] = [Tier::Interpreter, Tier::Native].map(|tier| {
            let setup = BatchSetup {
                tier,
                ..BatchSetup::default()
            };
            let mut evaluator = BatchEvaluator::with(&Instance::new(&program), &setup).unwrap();
            let mut globals = BatchGlobals::new(program.globals());
            globals.plane("x", Part::Value, 0, &x, 1).unwrap();
            let mut out = vec![0.0_f32; x.len()];
            let width = evaluator.width().min(x.len());
            for first in (0..x.len()).step_by(width) {
                let points = width.min(x.len() - first);
                evaluator.evaluate(&globals, first, points, &mut NoTextures);
                evaluator
                    .copy("o", Part::Value, 0, &mut out[first..], 1)
                    .unwrap();
            }
            out
        });
        assert_eq!(found, expected, "{body}");
    }
}

/// Segments with more uniform values than a kernel's frame holds are interpreted.
#[test]
fn what_is_too_large_for_a_frame_is_interpreted() {
    if !is_there() {
        return;
    }
    let uniform: String = (0..6000)
        .map(|i| format!("o = o * 0.5 + k * {i};\n"))
        .collect();
    let program = compiled(&format!(
        "shader s(float k = 0.25, out float o) {{ float x = global_value<x>; o = x; {uniform} }}"
    ));
    let kernels = program.assembly(Target::host().unwrap()).batches.kernels;
    assert!(kernels.iter().any(|own| own.code.is_none()));
    let mut point = Evaluator::new(&Instance::new(&program));
    let mut alone = native(&program);
    let x = [0.5, 3.5, 1.25, 2.0].repeat(16);
    let together = batch(&program, Tier::Native, &x, &mut NoTextures);
    for (x, (_, words, _)) in x.into_iter().zip(together) {
        let expected = value(&mut point, x);
        assert_eq!(value(&mut alone, x), expected);
        assert_eq!(words[0], expected.to_bits());
    }
}

/// Arms of more nodes than a unit of single points has: units end within their blocks, and pass on
/// what is used later alone.
#[test]
fn units_of_single_points_end_within_blocks() {
    if !is_there() {
        return;
    }
    let arm = |first: u32| -> String {
        let line = |i: u32| {
            let (by, of) = (0.3 + 0.0001 * f64::from(i), 0.25 + 0.0001 * f64::from(i));
            format!(
                "a = a * 0.5 + b * {by}; b = b * 0.6 - a * {of} + 1; kept{} += a;\n",
                i % 3
            )
        };
        (first..first + 1500).map(line).collect()
    };
    let program = compiled(&format!(
        "shader s(out float o) {{
            float x = global_value<x>, a = x, b = x + 1, kept0 = 2, kept1 = x * x, kept2 = 3;
            float first = sin(x), second = cos(x);
            if (x > 1) {{ {} kept0 += first; }} else {{ {} kept0 += second; }}
            o = kept0 + 2 * kept1 - 3 * kept2;
        }}",
        arm(0),
        arm(1500)
    ));
    let [mut point, mut alone] = [Evaluator::new(&Instance::new(&program)), native(&program)];
    for x in [-0.5, 0.25, 1.5, 2.0] {
        assert_eq!(value(&mut alone, x), value(&mut point, x), "{x}");
    }
}

/// Noise is thousands of instructions: of a shader with much of it the rest is interpreted, in
/// chunks and single points.
#[test]
fn what_would_be_too_much_code_is_interpreted() {
    if !is_there() {
        return;
    }
    let text = |noises: usize| {
        let noises = (0..noises).map(|i| format!("o += worley(float4(x, o, x, {i}.5));\n"));
        let noises: String = noises.collect();
        compiled(&format!(
            "shader s(out float o) {{ float x = global_value<x>;\n{noises} if (x > 0.5) o = x; }}"
        ))
    };
    let bytes = |program: &Arc<Program>| {
        let setup = BatchSetup {
            tier: Tier::Native,
            ..BatchSetup::default()
        };
        let evaluator = BatchEvaluator::with(&Instance::new(program), &setup).unwrap();
        evaluator.stats().native.unwrap()
    };
    let few = bytes(&text(2));
    assert!(few.code_bytes > 20_000, "{few:?}");
    let program = text(2_000);
    let many = bytes(&program);
    assert!(many.code_bytes < 100 * few.code_bytes, "{few:?}, {many:?}");
    let mut point = Evaluator::new(&Instance::new(&program));
    let mut alone = native(&program);
    let x = [0.25, 0.75];
    let together = batch(&program, Tier::Native, &x, &mut NoTextures);
    for (x, (_, words, _)) in x.into_iter().zip(together) {
        let expected = value(&mut point, x);
        assert_eq!(value(&mut alone, x), expected);
        assert_eq!(words[0], expected.to_bits());
    }
}

/// A host that cancels when it is asked for the `cancel_at`th time; never with 0.
struct CancellingHost {
    asked: u32,
    cancel_at: u32,
}

impl Host for CancellingHost {
    fn sample(&mut self, _: &SampleRequest) -> Sampled {
        Sampled::Ready([1.0; 4])
    }

    fn is_cancelled(&mut self) -> bool {
        self.asked += 1;
        self.asked == self.cancel_at
    }
}

/// The observation of a point of a batch: its words, and the fault that stopped it.
type Shown = (Outcome, Vec<u32>, Option<Fault>);

/// The observations of a batch's points by a tier.
fn batch(program: &Arc<Program>, tier: Tier, x: &[f32], host: &mut dyn Host) -> Vec<Shown> {
    let setup = BatchSetup {
        tier,
        width: Some(x.len()),
        ..BatchSetup::default()
    };
    let mut evaluator = BatchEvaluator::with(&Instance::new(program), &setup).unwrap();
    let mut globals = BatchGlobals::new(program.globals());
    globals.plane("x", Part::Value, 0, x, 1).unwrap();
    evaluator.evaluate(&globals, 0, x.len(), host);
    let shown = (0..x.len()).map(|point| {
        let stopped = evaluator.faults(point).stopped();
        let words = point_bits(&evaluator, point);
        (evaluator.outcomes()[point], words, stopped)
    });
    shown.collect()
}

/// Long loops of points that have diverged ask the host whether it cancels.
#[test]
fn long_loops_ask_the_host() {
    if !is_there() {
        return;
    }
    let program = compiled(
        "shader s(out float o, out int n) { float x = global_value<x>, sum = 0; while (n < int(x)) { sum = sum * 0.99 + x; n += 1; } o = sum; }",
    );
    // Half of the points leave at once.
    let x = [0, 1].map(|half| (0..32).map(move |i| (half * (20_000 + 17 * i)) as f32));
    let x: Vec<f32> = x.into_iter().flatten().collect();
    for cancel_at in [0, 3] {
        let [expected, found] = [Tier::Interpreter, Tier::Native].map(|tier| {
            let mut host = CancellingHost {
                asked: 0,
                cancel_at,
            };
            let shown = batch(&program, tier, &x, &mut host);
            (shown, host.asked)
        });
        assert!(
            found.0 == expected.0,
            "{:?}, not {:?}",
            found.0[63],
            expected.0[63]
        );
        let stopped = found
            .0
            .iter()
            .filter(|(outcome, ..)| *outcome == Outcome::Stopped);
        let least = if cancel_at == 0 { 19 } else { cancel_at };
        assert!(found.1 >= least, "asked {} times", found.1);
        assert_eq!(stopped.count(), if cancel_at == 0 { 0 } else { 32 });
    }
}

/// Code is kept for a few sets of uniform globals; there are 32 here, each of which comes twice,
/// while all evaluators live.
#[test]
fn any_number_of_sets_of_uniform_globals_shows_the_same() {
    if !is_there() {
        return;
    }
    let names = ["a", "b", "c", "d", "e"];
    let layout = names.iter().try_fold(GlobalsLayout::new(), |layout, name| {
        layout.with(*name, Type::FLOAT)
    });
    let text = "shader s(out float o) {
        float a = global_value<a>, b = global_value<b>, c = global_value<c>, d = global_value<d>, e = global_value<e>;
        o = sin(a * b) + cos(b * c) * sqrt(c + d) + exp(d - e) / (1 + e * a) + a * c - b * d; }";
    let compiler = Compiler::new(layout.unwrap());
    let program = compiler.compile(&Sources::new("s.adu", text)).unwrap();
    let values = [0.3_f32, 1.7, 2.9, 0.6, 1.1];
    let mut point = Evaluator::new(&Instance::new(&program));
    let mut globals = Globals::new(program.globals());
    for (name, value) in names.into_iter().zip(values) {
        globals.set(name, value, 0.0, 0.0).unwrap();
    }
    point.evaluate(&globals, &mut NoTextures);
    let expected = output_bits(&point);
    let globals = BatchGlobals::uniform_from(&globals);
    let at_once = TierUp {
        when: CompileWhen::AtOnce,
        after: 0,
    };
    for (tier, tier_up) in [(Tier::Native, TierUp::default()), (Tier::Auto, at_once)] {
        let mut evaluators = Vec::new();
        for set in (0..32).chain(0..32) {
            let uniform = names.iter().enumerate();
            let uniform = uniform.filter(|(bit, _)| set >> bit & 1 == 1);
            let setup = BatchSetup {
                tier,
                tier_up,
                width: Some(64),
                uniform: uniform.map(|(_, name)| (*name).to_owned()).collect(),
                ..BatchSetup::default()
            };
            evaluators.push(BatchEvaluator::with(&Instance::new(&program), &setup).unwrap());
            for evaluator in evaluators.iter_mut().rev().step_by(7) {
                evaluator.evaluate(&globals, 0, 64, &mut NoTextures);
                for point in [0, 63] {
                    let found = point_bits(evaluator, point);
                    assert_eq!(found, expected, "{tier:?}, set {set}");
                }
            }
        }
        let made = evaluators[0].stats().native.unwrap();
        assert!(made.code_bytes > 0 && made.refused == 0, "{made:?}");
    }
}

/// Budgets that end anywhere, and hosts that cancel.
///
/// Loops are within loops, inlined functions count, operations fault, and arms leave.
#[test]
fn single_points_stop_where_the_interpreter_stops_them() {
    if !is_there() {
        return;
    }
    let program = compiled(
        "float half_of(float v, int i) { if (v > 3.0) return v / 2 + float(i) * 0.01; return v * 1.25 + 0.01; }
         shader s(out float o, out int n) {
             float x = global_value<x>, sum = 0;
             for (int i = 0; i < 90; ++i) {
                 for (int k = 0; k < i % 40; ++k) {
                     sum = half_of(sum, k);
                     if (fract(sum * x) > 0.9) break;
                     n += 1;
                 }
                 if (sum > 1e6) continue;
                 n += 7 / (i % 5);
                 sum += sin(x + float(i));
             }
             o = sum;
         }",
    );
    let budgets = (0..200).chain(1000..1060).chain(2040..2060);
    let (mut stopped, mut finished) = (0, 0);
    for (steps, call_depth) in budgets
        .chain([1 << 20])
        .flat_map(|steps| [(steps, 64), (steps, 1)])
    {
        let limits = Limits {
            steps,
            call_depth,
            ..Limits::default()
        };
        let cancel_at = if steps % 3 == 0 { 2 } else { 0 };
        let [expected, found] = [Engine::Point, Engine::Native].map(|engine| {
            let mut evaluator = Evaluator::with(&Instance::new(&program), engine, limits).unwrap();
            let mut globals = Globals::new(program.globals());
            globals.set("x", 0.7, 0.0, 0.0).unwrap();
            let mut host = CancellingHost {
                asked: 0,
                cancel_at,
            };
            let outcome = evaluator.evaluate(&globals, &mut host);
            let faults = format!("{:?}", evaluator.faults());
            (outcome, output_bits(&evaluator), faults, host.asked)
        });
        assert_eq!(found, expected, "{steps} steps, {call_depth} calls");
        match found.0 {
            Outcome::Finished => finished += 1,
            _ => stopped += 1,
        }
    }
    assert!(stopped > 300 && finished > 0, "{stopped} and {finished}");
}

/// Loops that carry few values or many from turn to turn, which change places in rounds, are kept
/// within bounds, or go on as they are; with the shadows of half of them.
#[test]
fn turns_find_what_those_before_them_left() {
    if !is_there() {
        return;
    }
    let at = [0.0, 0.35, 0.71, 1.9, 4.0, f32::NAN, -0.0, f32::INFINITY];
    let mut differ = 0;
    for (width, lot) in [1_usize, 2, 3, 5, 9, 24, 40, 150]
        .into_iter()
        .flat_map(|width| (0..24_usize).map(move |lot| (width, lot)))
    {
        let list = |what: &dyn Fn(usize) -> String, between| {
            let all: Vec<String> = (0..width).map(what).collect();
            all.join(between)
        };
        // Each takes the value of another one; a step that has a divisor in common with the width
        // makes several rounds.
        let from = |i: usize| (i * (1 + lot % 2) + lot) % width;
        let next = |i: usize| match (i + lot) % 9 {
            0 => format!("float n{i} = max(v{} * 1.5 - 0.5, 0.25);", from(i)),
            1 => format!("float n{i} = min(1.75, v{} + 0.125);", from(i)),
            2 => format!("float n{i} = max(-0.0, v{i} - v{});", from(i)),
            3 => format!("float n{i} = v{i} * 0.75 + v{} * x;", from(i)),
            4 => format!("float n{i} = v{i};"),
            // A zero of either sign is as good as a bound.
            5 => format!("float n{i} = min(1.0, 1.0 / max(v{i} - v{i}, -0.0)) + v{i};"),
            _ => format!("float n{i} = v{};", from(i)),
        };
        let first = |i: usize| match i % 2 {
            0 => format!("float v{i} = x * {i}.5;"),
            _ => format!("float v{i} = {i}.25;"),
        };
        // With what it was before, and with what it has become.
        let early = ["", "if (n0 > 2.5 || i > 7) break;"][lot / 3 % 2];
        let leave = ["", "if (v0 > 1.5) continue;", "if (v0 > 3.0) break;"][lot % 3];
        let text = format!(
            "shader s(out float o, out int k) {{
                 float x = global_value<x>;
                 int turns = 3 + int(x * 5.0) % 60;
                 {}
                 for (int i = 0; i < turns; ++i) {{
                     {}
                     {early}
                     {}
                     k = k * 3 + i;
                     {leave}
                     o = max(o * 0.5, 0.0) + n0;
                 }}
                 {}
             }}",
            list(&first, " "),
            list(&next, "\n"),
            list(&|i| format!("v{i} = n{i};"), " "),
            list(&|i| format!("o = o * 0.9 + v{i};"), " "),
        );
        let program = compiled_with(&text, true);
        let seen = at.map(|x| as_by_reference(&program, x, &text));
        let mut seen = seen.to_vec();
        seen.dedup();
        differ += usize::from(seen.len() > 3);
    }
    assert!(differ > 150, "{differ}");
}

/// Octaves of noise, whose corners and octaves one point computes side by side; with derivatives
/// there are more values than registers.
#[test]
fn what_is_alike_shows_what_it_shows_one_by_one() {
    if !is_there() {
        return;
    }
    let at = [
        0.0,
        -0.0,
        0.35,
        -7.71,
        1e4,
        -3e9,
        1e-40,
        f32::NAN,
        f32::INFINITY,
    ];
    for octaves in [1, 2, 3, 4, 5, 8, 13] {
        let text = format!(
            "float2 gradient(int ix, int iy) {{
                 uint h = uint(ix) * 374761393u + uint(iy) * 668265263u;
                 h = (h ^ (h >> 13)) * 1274126177u;
                 h ^= h >> 16;
                 return float2(h & 0xffffu, h >> 16) * (2.0 / 65535.0) - 1.0;
             }}
             float fade(float t) {{ return t * t * t * (t * (t * 6.0 - 15.0) + 10.0); }}
             float field(float x, float y) {{
                 int ix = (int)floor(x), iy = (int)floor(y);
                 float2 p = float2(x - floor(x), y - floor(y));
                 float a = dot(gradient(ix, iy), p);
                 float b = dot(gradient(ix + 1, iy), p - float2(1, 0));
                 float c = dot(gradient(ix, iy + 1), p - float2(0, 1));
                 float d = dot(gradient(ix + 1, iy + 1), p - float2(1, 1));
                 return lerp(lerp(a, b, fade(p.x)), lerp(c, d, fade(p.x)), fade(p.y));
             }}
             shader s(out float o) {{
                 float x = global_value<x>, y = x * 0.75 - x * x, gain = 1.0;
                 for (int octave = 0; octave < {octaves}; octave++) {{
                     o += gain * field(x, y);
                     x *= 2.0;
                     y *= 1.875;
                     gain *= 0.5;
                 }}
             }}"
        );
        for derivatives in [false, true] {
            let program = compiled_with(&text, derivatives);
            let more = (0..40).map(|i| i as f32 * 0.537 - 9.0);
            for x in at.into_iter().chain(more) {
                as_by_reference(&program, x, &text);
            }
        }
    }
}

/// Budgets that end anywhere among steps that are taken at once, and calls that are too deep.
///
/// Steps are taken at once before segments, inlined calls and unrolled iterations, with and without
/// divergence.
#[test]
fn points_of_chunks_stop_where_they_stop_alone() {
    if !is_there() {
        return;
    }
    let program = compiled(
        "float half_of(float v) { return v * 0.5 + 0.1; }
         float quarter_of(float v) { return half_of(half_of(v)); }
         float sum_of(float v) {
             float sum = v;
             for (int i = 0; i < 3; ++i) sum += half_of(sum) * float(i);
             return sum;
         }
         shader s(out float o, out int n) {
             float x = global_value<x>;
             o = quarter_of(x);
             for (int k = 0; k < 4; ++k) o = o * x + quarter_of(o);
             for (int i = 0; i < int(x * 6.0); ++i) {
                 for (int k = 0; k < 2; ++k) o = sin(o + half_of(o) * float(k));
                 n += 1;
             }
             o += sum_of(o);
         }",
    );
    let listing = program.listing();
    assert!(
        listing.contains("turn") && listing.contains("loop"),
        "{listing}"
    );
    let x: Vec<f32> = (0..64).map(|i| i as f32 * 0.0157).collect();
    let mut outcomes = [0; 2];
    for (steps, call_depth) in (0..70).flat_map(|steps| (1..5).map(move |depth| (steps, depth))) {
        let limits = Limits {
            steps,
            call_depth,
            ..Limits::default()
        };
        let setup = BatchSetup {
            limits,
            tier: Tier::Native,
            ..BatchSetup::default()
        };
        let instance = Instance::new(&program);
        let mut batch = BatchEvaluator::with(&instance, &setup).unwrap();
        let mut planes = BatchGlobals::new(program.globals());
        planes.plane("x", Part::Value, 0, &x, 1).unwrap();
        batch.evaluate(&planes, 0, x.len(), &mut NoTextures);
        let mut alone = Evaluator::with(&instance, Engine::Point, limits).unwrap();
        for (point, &x) in x.iter().enumerate() {
            let mut globals = Globals::new(program.globals());
            globals.set("x", x, 0.0, 0.0).unwrap();
            let outcome = alone.evaluate(&globals, &mut NoTextures);
            let found = point_bits(&batch, point);
            let what = format!("{steps} steps, {call_depth} calls, x = {x}");
            assert_eq!(batch.outcomes()[point], outcome, "{what}");
            assert_eq!(found, output_bits(&alone), "{what}");
            assert_eq!(batch.faults(point), alone.faults(), "{what}");
            outcomes[usize::from(outcome == Outcome::Finished)] += 1;
        }
    }
    assert!(outcomes.iter().all(|&count| count > 1_000), "{outcomes:?}");
}

fn compiled(text: &str) -> Arc<Program> {
    compiled_with(text, false)
}

/// A shader of x, with the derivatives of its outputs or without.
fn compiled_with(text: &str, derivatives: bool) -> Arc<Program> {
    let layout = GlobalsLayout::new().with("x", Type::FLOAT).unwrap();
    let options = Options {
        output_derivatives: derivatives,
        ..Options::default()
    };
    let compiler = Compiler::new(layout).with_options(options);
    compiler.compile(&Sources::new("s.adu", text)).unwrap()
}

/// The output of machine code, and of the reference, at a point whose x has shadows.
fn as_by_reference(program: &Arc<Program>, x: f32, what: &str) -> Vec<u32> {
    let [expected, found] = [Engine::Reference, Engine::Native].map(|engine| {
        let instance = Instance::new(program);
        let mut evaluator = Evaluator::with(&instance, engine, Limits::default()).unwrap();
        let mut globals = Globals::new(program.globals());
        globals.set("x", x, 1.0, -0.5).unwrap();
        let outcome = evaluator.evaluate(&globals, &mut NoTextures);
        (outcome, output_bits(&evaluator))
    });
    assert_eq!(found, expected, "x = {x}: {what}");
    found.1
}

fn native(program: &Arc<Program>) -> Evaluator {
    Evaluator::with(&Instance::new(program), Engine::Native, Limits::default()).unwrap()
}

/// The output of a shader of x at a point.
fn value(evaluator: &mut Evaluator, x: f32) -> f32 {
    let mut globals = Globals::new(evaluator.instance().program().globals());
    globals.set("x", x, 0.0, 0.0).unwrap();
    assert_eq!(
        evaluator.evaluate(&globals, &mut NoTextures),
        Outcome::Finished
    );
    evaluator.get::<f32>("o").unwrap()
}

#[test]
fn evaluators_of_a_program_share_its_code() {
    if !is_there() {
        return;
    }
    let program = compiled("shader s(out float o) { o = exp(global_value<x>) * 2; }");
    let mut first = native(&program);
    let stats = first.stats().native.unwrap();
    assert!(
        stats.code_bytes > 0 && stats.compile_us > 0.0 && stats.refused == 0,
        "{stats:?}"
    );
    let expected = value(&mut first, 0.5).to_bits();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut own = native(&program);
                for _ in 0..100 {
                    assert_eq!(value(&mut own, 0.5).to_bits(), expected);
                }
            });
        }
    });
    assert_eq!(
        first.stats().native,
        Some(stats),
        "nothing was compiled again"
    );
    let chunk = || {
        let shown = batch(&program, Tier::Native, &[0.5; 40], &mut NoTextures);
        assert!(shown.iter().all(|(_, words, _)| words[0] == expected));
    };
    chunk();
    let stats = first.stats().native;
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..10).for_each(|_| chunk()));
        }
    });
    assert_eq!(first.stats().native, stats, "nor for batches");
}
