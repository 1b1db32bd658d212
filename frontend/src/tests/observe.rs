//! Tests of observed programs: each variable and branch is reported, and the results do not change.

use super::*;
use crate::lower::LowerOptions;
use crate::lower::{
    ConditionKind, MAX_OBSERVED_ELEMENTS, MAX_OBSERVED_SCALARS, Observation, ObservedEvent,
    lower_observed,
};
use adumbra_ir::host::{Host, SampleRequest, Sampled, move_steps};
use adumbra_ir::module::MessageId;

/// The observations of a point, a line each.
struct Log {
    observations: Vec<Option<Observation>>,
    lines: Vec<String>,
    /// The steps that messages took because of their size.
    steps: u64,
}

impl Host for Log {
    fn sample(&mut self, _: &SampleRequest) -> Sampled {
        self.lines.push("request".to_owned());
        Sampled::Ready([0.25, 0.5, 0.75, 1.0])
    }

    fn message(&mut self, message: MessageId, args: &[u32]) {
        self.steps += move_steps(args.len() as u32);
        let line = match &self.observations[message.index()] {
            Some(observation) => line(observation, args),
            None => "printf".to_owned(),
        };
        self.lines.push(line);
    }
}

fn line(observation: &Observation, args: &[u32]) -> String {
    let observed = observation.read(args);
    let value = |shape: &Option<crate::lower::ObservedShape>| {
        let Some(shape) = shape else {
            return "(not observed)".to_owned();
        };
        let mut types = Vec::new();
        shape.ty.for_each_scalar(&mut |scalar| types.push(scalar));
        let text = |words: &[u32]| {
            let words = words
                .iter()
                .zip(&types)
                .map(|(&word, scalar)| match scalar {
                    Scalar::F32 => f32::from_bits(word).to_string(),
                    _ => (word as i32).to_string(),
                });
            words.collect::<Vec<_>>().join(" ")
        };
        let [ddx, ddy] = &observed.shadows;
        let mut all = text(&observed.value);
        if ddx.iter().chain(ddy).any(|&word| word != 0) {
            all += &format!(" : {} : {}", text(ddx), text(ddy));
        }
        if shape.is_shortened {
            all += " …";
        }
        all
    };
    let what = match &observation.event {
        ObservedEvent::Call(name) => format!("call {name}"),
        ObservedEvent::Return(None) => "return".to_owned(),
        ObservedEvent::Return(shape) => format!("return {}", value(shape)),
        ObservedEvent::Assign {
            place,
            value: shape,
        } => {
            let mut indices = observed.indices.iter();
            let mut name = place[0].clone();
            for part in &place[1..] {
                name += &format!("[{}]{part}", indices.next().expect("an index"));
            }
            format!("{name} = {}", value(shape))
        }
        ObservedEvent::Condition(choice, _) => {
            let asks = match choice {
                ConditionKind::If => "if",
                ConditionKind::Ternary => "?",
                ConditionKind::Loop => "while",
                ConditionKind::Switch => "switch",
            };
            format!("{asks} {}", observed.value[0])
        }
        ObservedEvent::LoopBegins => "loop".to_owned(),
        ObservedEvent::Iteration => "iteration".to_owned(),
        ObservedEvent::LoopEnds => "end".to_owned(),
        ObservedEvent::Sampling => "sample".to_owned(),
    };
    format!("{}: {what}", observation.function)
}

/// The first shader's observed module.
fn observed(text: &str, with_shadows: bool) -> (Module, Vec<Option<Observation>>) {
    let lowered = checked(text, |program, interner, shader| {
        let shader = shader.expect("a shader");
        lower_observed(
            program,
            interner,
            shader,
            LowerOptions::default(),
            with_shadows,
        )
    });
    let (lowered, _) = lowered.unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    lowered
}

/// The observations of the shader at the point that tests have, before and after the passes. Its
/// results are those of the unobserved shader.
fn observations_of(before: &str, body: &str) -> Vec<String> {
    let text = shader("float", 1, before, body);
    let (module, observations) = observed(&text, true);
    verified(&module);
    let plain = outcome(&text);
    let mut log = Log {
        observations,
        lines: Vec::new(),
        steps: 0,
    };
    let full = EvalOptions {
        shadows: ShadowMode::Full,
        ..EvalOptions::default()
    };
    let outcome = evaluate(&module, &point(&module), &full, &mut log);
    assert_eq!(outcome.outputs, plain.outputs, "{text}");
    assert_eq!(outcome.faults, plain.faults, "{text}");
    assert_eq!(outcome.steps, plain.steps + log.steps, "{text}");
    let lines = std::mem::take(&mut log.lines);
    let (passed, _) = adumbra_ir::passes::run(module, &Default::default());
    evaluate(&passed, &point(&passed), &EvalOptions::default(), &mut log);
    assert_eq!(log.lines, lines, "{text}");
    lines
}

#[test]
fn each_function_observes_its_variables() {
    let before = "float halved(float x) { float y = 0.5 * x; return y; }
        float f(float x) { if (x > 1) return halved(x); { float x = 7; x += 1; } return x; }";
    let body = "o0 = f(global_value<x>); o0 = f(global_value<y>);";
    assert_eq!(
        observations_of(before, body),
        [
            "main: call f",
            "f: x = 1.5 : 1 : 0",
            "f: if 1",
            "f: call halved",
            "halved: x = 1.5 : 1 : 0",
            "halved: y = 0.75 : 0.5 : 0",
            "halved: return 0.75 : 0.5 : 0",
            "f: return 0.75 : 0.5 : 0",
            "main: o0 = 0.75 : 0.5 : 0",
            "main: call f",
            "f: x = 0.5 : 0 : 1",
            "f: if 0",
            "f: x = 7",
            "f: x = 8",
            "f: return 0.5 : 0 : 1",
            "main: o0 = 0.5 : 0 : 1",
            "main: return",
        ]
    );
}

#[test]
fn loops_observe_each_iteration() {
    let body = "float s = 0; for (int i = 0; i < 3; ++i) { if (i == 1) continue; s += i; }
        do s *= 2; while (s < 6); for (;;) break; o0 = s;";
    assert_eq!(
        observations_of("", body),
        [
            "main: s = 0",
            "main: i = 0",
            "main: loop",
            "main: while 1",
            "main: iteration",
            "main: if 0",
            "main: s = 0",
            "main: i = 1",
            "main: while 1",
            "main: iteration",
            "main: if 1",
            "main: i = 2",
            "main: while 1",
            "main: iteration",
            "main: if 0",
            "main: s = 2",
            "main: i = 3",
            "main: while 0",
            "main: end",
            "main: loop",
            "main: iteration",
            "main: s = 4",
            "main: while 1",
            "main: iteration",
            "main: s = 8",
            "main: while 0",
            "main: end",
            "main: loop",
            "main: iteration",
            "main: end",
            "main: o0 = 8",
            "main: return",
        ]
    );
}

#[test]
fn parts_of_variables_are_observed() {
    let before = "struct P { float2 at; float w; };
        void g(out float a, inout float2 b) { a = 3; b.y = a; }";
    let body = "P p; p.at.x = 2; float a[3]; int n = 1; a[n] = 4; a[2] += 1;
        int k[2]; k[n] = 2; a[k[n]] = 6;
        float2x2 m = float2x2(1, 2, 3, 4); m[n][0] = 9; m[0] = float2(5, 6); m[0].yx = float2(7, 8);
        g(a[n - 1], p.at); float b[3] = a; float c[20]; o0 = b[0] + c[0] + m[0][0] + p.w;";
    assert_eq!(
        observations_of(before, body),
        [
            "main: p = 0 0 0",
            "main: p.at.x = 2",
            "main: a = 0 0 0",
            "main: n = 1",
            "main: a[1] = 4",
            "main: a[2] = 1",
            "main: k = 0 0",
            "main: k[1] = 2",
            "main: a[2] = 6",
            "main: m = 1 2 3 4",
            "main: m[1][0] = 9",
            "main: m[0] = 5 6",
            "main: m[0].yx = 7 8",
            "main: call g",
            "g: b = 2 0",
            "g: a = 3",
            "g: b.y = 3",
            "g: return",
            "main: a[0] = 3",
            "main: p.at = 2 3",
            "main: b = 3 4 6",
            "main: c = 0 0 0 0 0 0 0 0 …",
            "main: o0 = 11",
            "main: return",
        ]
    );
    assert_eq!(MAX_OBSERVED_ELEMENTS, 8);
}

#[test]
fn conditions_and_requests_are_observed() {
    let before = "texture2d wood;";
    let body = "switch (global_value<n>) { case 1: o0 = 1; break; case 5: o0 = 2; case 6: o0 += 1; break; default: o0 = 9; }
        o0 = global_value<flag> ? o0 : 0; if (o0 < 0) o0 = 1; else if (o0 < 9) o0 = 4; else o0 = 5;
        color c = texture2d_sample<wood>(global_value<x>, 0); closure k = make_closure<glow>(c); printf(\"%f\", c);";
    assert_eq!(
        observations_of(before, body),
        [
            "main: switch 5",
            "main: o0 = 2",
            "main: o0 = 3",
            "main: ? 1",
            "main: o0 = 3",
            "main: if 0",
            "main: if 1",
            "main: o0 = 4",
            "main: sample",
            "request",
            "main: c = 0.25 0.5 0.75",
            "main: k = (not observed)",
            "printf",
            "main: return",
        ]
    );
}

#[test]
fn too_large_values_are_not_observed() {
    let scalars = MAX_OBSERVED_ELEMENTS as usize * MAX_OBSERVED_ELEMENTS as usize * 4;
    assert_eq!(scalars, MAX_OBSERVED_SCALARS);
    let last = |ty: &str| {
        let body = format!("{ty} big[8][8]; o0 = global_value<x>;");
        let lines = observations_of("", &body);
        lines[0].clone()
    };
    assert!(last("float4").starts_with("main: big = 0 0"));
    let before = "struct S { float4 v; float w; };";
    let lines = observations_of(before, "S big[8][8]; o0 = big[0][0].w;");
    assert_eq!(lines[0], "main: big = (not observed)");
}

#[test]
fn observation_without_derivatives_has_values() {
    let text = shader("float", 1, "", "float2 v = global_value<p>.xy; o0 = v.y;");
    let (module, observations) = observed(&text, false);
    let inst_reads_shadows = |module: &Module| {
        let insts = module.functions.iter().flat_map(|f| &f.regions);
        let mut kinds = insts.flat_map(|region| &region.insts);
        kinds.any(|inst| matches!(inst.kind, adumbra_ir::module::InstKind::Shadow(_)))
    };
    assert!(!inst_reads_shadows(&module));
    let arguments = observations.iter().flatten().map(|o| o.read(&[0; 2]));
    for observed in arguments {
        assert_eq!(observed.shadows, [vec![], vec![]]);
    }
}
