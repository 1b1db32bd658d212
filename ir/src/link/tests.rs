//! Tests of linked modules against their units one by one; the oracle is the reference evaluator.

use super::*;
use crate::eval::{EvalOptions, EvalOutcome, EvalPoint, EvalValue, ShadowMode, evaluate};
use crate::host::{Host, Limits, SampleRequest, Sampled};
use crate::module::InstKind;
use crate::passes::{PassOptions, run};
use crate::random::generate;
use crate::text::{SpanComments, parse, print};
use crate::types::{Scalar, Type};
use crate::{FileId, Op, verify};

const PAIRS: u64 = 400;

#[derive(Default)]
struct Recorder(Vec<[u32; 6]>);

impl Host for Recorder {
    fn sample(&mut self, r: &SampleRequest) -> Sampled {
        let words = [r.u, r.v, r.dudx, r.dudy, r.dvdx, r.dvdy];
        self.0.push(words.map(f32::to_bits));
        Sampled::Ready([r.u.fract(), 0.5, 1.0, 0.25])
    }
}

fn evaluated(
    module: &Module,
    point: &EvalPoint,
    shadows: ShadowMode,
    host: &mut Recorder,
) -> EvalOutcome {
    let limits = Limits {
        steps: 20_000,
        ..Limits::default()
    };
    let options = EvalOptions {
        limits,
        shadows,
        ..EvalOptions::default()
    };
    evaluate(module, point, &options, host)
}

fn point(module: &Module, seed: u64) -> EvalPoint {
    let mut point = EvalPoint::new(module);
    for (i, slot) in point.globals.iter_mut().enumerate() {
        let x = (seed % 13) as f32 * 0.37 + i as f32 * 0.61 - 1.5;
        *slot = match module.globals[i.saturating_sub(2).min(2)].ty {
            Type::Scalar(Scalar::I32) if i == 4 => EvalValue::word(seed as u32 % 5),
            _ => EvalValue::float(x, [0.5 + x, 0.25 - x]),
        };
    }
    point
}

fn checked(module: Module) -> Module {
    if let Err(violations) = verify(&module) {
        panic!("{violations:#?}\n{}", print(&module, SpanComments::Hidden));
    }
    module
}

/// The bits of all outputs but closures.
fn words(module: &Module, outcome: &EvalOutcome) -> Vec<u32> {
    let results = module.entry().results.iter().zip(&outcome.outputs);
    let results = results.filter(|(result, _)| result.ty != Scalar::Closure);
    results
        .map(|(result, slot)| match result.ty {
            Scalar::F32 if slot.float.is_nan() => f32::NAN.to_bits(),
            ty => slot.bits(ty),
        })
        .collect()
}

#[test]
fn bound_inputs_equal_host_inputs() {
    for seed in 0..PAIRS {
        let module = generate(seed);
        let words_of = [[0.75_f32.to_bits()], [seed as u32 % 7]];
        let (k, i) = (Some(&words_of[0][..]), Some(&words_of[1][..]));
        for constants in [[k, i], [k, None], [None, i], [None, None]] {
            let bound = checked(bind(&module, &constants));
            let mut by_host = point(&module, seed);
            by_host.inputs[1] = EvalValue::word(match constants[1] {
                Some(words) => words[0],
                None => 3,
            });
            let mut by_bound = point(&bound, seed);
            if constants[1].is_none() {
                *by_bound.inputs.last_mut().unwrap() = EvalValue::word(3);
            }
            for shadows in [ShadowMode::Annotated, ShadowMode::Full] {
                let (mut a, mut b) = (Recorder::default(), Recorder::default());
                let expected = evaluated(&module, &by_host, shadows, &mut a);
                let got = evaluated(&bound, &by_bound, shadows, &mut b);
                let (expected_words, got_words) = (words(&module, &expected), words(&bound, &got));
                assert_eq!(expected_words, got_words, "{seed}");
                assert_eq!((expected.faults, expected.steps), (got.faults, got.steps));
                assert_eq!(a.0, b.0, "{seed}");
            }
        }
    }
}

fn texture_names(module: &Module) -> Vec<String> {
    module.textures.iter().map(|t| t.name.clone()).collect()
}

/// A group made by hand passes values without shadows; the linked one passes shadows too. Without
/// any, they are the same.
#[test]
fn a_chain_does_what_its_units_do_one_by_one() {
    let to_float: &[Op] = &[Op::IToF];
    for seed in 0..PAIRS {
        let modules = [generate(seed), generate(seed + 10_000)];
        let names = modules.each_ref().map(texture_names);
        let feeds = vec![
            InputSource::Output {
                unit: 0,
                scalar: 3,
                conversions: to_float,
            },
            InputSource::Output {
                unit: 0,
                scalar: 3,
                conversions: &[],
            },
        ];
        let unit = |at: usize, inputs: Vec<InputSource>| LinkUnit {
            name: Some(["first", "second"][at]),
            module: &modules[at],
            inputs,
            textures: &names[at],
        };
        let units = [
            unit(
                0,
                vec![
                    InputSource::Constant(0.5_f32.to_bits()),
                    InputSource::Input(0),
                ],
            ),
            unit(1, feeds),
        ];
        let shell = LinkedInterface {
            name: "group".to_owned(),
            span: Span::default(),
            globals: Vec::new(),
            inputs: vec![modules[0].inputs[1].clone()],
            outputs: modules[1].outputs.clone(),
            results: (0..5).map(|k| (1, k)).collect(),
        };
        let linked = checked(link(&units, shell));
        assert!(linked.textures.len() == 1 && linked.globals.len() == 3);

        let mut first = point(&modules[0], seed);
        first.inputs[0] = EvalValue::float(0.5, [0.0; 2]);
        let mut host = Recorder::default();
        let given = evaluated(&modules[0], &first, ShadowMode::Annotated, &mut host);
        let mut second = point(&modules[1], seed);
        let count = given.outputs[3].word;
        second.inputs = vec![
            EvalValue::float(count as i32 as f32, [0.0; 2]),
            EvalValue::word(count),
        ];
        let expected = evaluated(&modules[1], &second, ShadowMode::Annotated, &mut host);

        let whole = point(&linked, seed);
        let mut linked_host = Recorder::default();
        let got = evaluated(&linked, &whole, ShadowMode::Annotated, &mut linked_host);
        if given.faults.stopped().is_none() && expected.faults.stopped().is_none() {
            assert_eq!(
                words(&linked, &got),
                words(&modules[1], &expected),
                "{seed}"
            );
            assert_eq!(host.0, linked_host.0, "{seed}");
            assert_eq!(got.steps, given.steps + expected.steps - 1);
        }

        // The passes keep the results, derivatives included.
        let options = PassOptions {
            output_shadows: true,
            ..PassOptions::default()
        };
        let passed = checked(run(linked.clone(), &options).0);
        let full = evaluated(&linked, &whole, ShadowMode::Full, &mut Recorder::default());
        let laid = evaluated(
            &passed,
            &whole,
            ShadowMode::Annotated,
            &mut Recorder::default(),
        );
        if full.tally.nonfinite == 0 && full.faults.stopped().is_none() {
            assert_eq!(words(&linked, &full), words(&passed, &laid), "{seed}");
        }
    }
}

/// Early returns, an array, a function that the body calls, and a shader that calls itself.
const RETURNS: &str = "adumbra ir 1
texture wood
input n: int = 0
output o: int
names a, o
entry main

fn main(%0: i32 $a) -> (i32) ^0 {
  array &0: i32[2]
  %1: i32 = const 1
  store &0[%1], %0
  %2: bool = ile %0, %1
  if %2 ^1 {
    return %1
  } else ^2 {
    yield
  }
  %3: i32 = isub %0, %1
  %4: i32 = call main(%3)
  %5: i32 = load &0[%1]
  %6: i32 $o = imul %5, %4
  return %6
}
";

#[test]
fn returns_leave_the_unit_alone() {
    let module = checked(parse(RETURNS, FileId::MAIN).unwrap());
    let names = texture_names(&module);
    let unit = |name, inputs| LinkUnit {
        name: Some(name),
        module: &module,
        inputs,
        textures: &names,
    };
    let second = InputSource::Output {
        unit: 0,
        scalar: 0,
        conversions: &[],
    };
    let units = [
        unit("first", vec![InputSource::Constant(3)]),
        unit("second", vec![second]),
    ];
    let shell = LinkedInterface {
        name: "group".to_owned(),
        span: Span::default(),
        globals: Vec::new(),
        inputs: Vec::new(),
        outputs: [module.outputs.clone(), module.outputs.clone()].concat(),
        results: vec![(0, 0), (1, 0)],
    };
    let linked = checked(link(&units, shell));
    assert_eq!(linked.functions.len(), 2, "the recursive one once");
    let outcome = evaluate::<f32>(
        &linked,
        &EvalPoint::new(&linked),
        &EvalOptions::default(),
        &mut Recorder::default(),
    );
    let outputs: Vec<u32> = outcome.outputs.iter().map(|slot| slot.word).collect();
    assert_eq!(outputs, [6, 720]);
    // One for the group, two calls of the first, five of the second.
    assert_eq!(outcome.steps, 8);
    for name in ["first.a", "first.o", "second.a", "second.o"] {
        assert!(linked.names.iter().any(|n| n == name), "{name}");
    }
}

#[test]
fn units_that_call_textures_differently_have_functions_of_their_own() {
    let text = "adumbra ir 1
texture wood
output o: float
entry main

fn main() -> (f32) ^0 {
  %0: f32 = call look()
  return %0
}

fn look() -> (f32) ^0 {
  %0: f32 = const 0.5
  %1: f32, %2: f32, %3: f32, %4: f32 = sample wood(%0, %0)
  return %4
}
";
    let module = checked(parse(text, FileId::MAIN).unwrap());
    let names = [vec!["oak".to_owned()], vec!["ash".to_owned()]];
    let unit = |name: usize| LinkUnit {
        name: Some("u"),
        module: &module,
        inputs: Vec::new(),
        textures: &names[name],
    };
    let units = [unit(0), unit(1), unit(0)];
    let output = |name: &str| Output {
        name: name.to_owned(),
        ty: Type::FLOAT,
        metadata: Vec::new(),
    };
    let shell = LinkedInterface {
        name: "group".to_owned(),
        span: Span::default(),
        globals: Vec::new(),
        inputs: Vec::new(),
        outputs: vec![output("a"), output("b"), output("c")],
        results: vec![(0, 0), (1, 0), (2, 0)],
    };
    let linked = checked(link(&units, shell));
    let size = LinkedSize {
        functions: linked.functions.len(),
        instructions: 3 * 2 + 2 * 5,
    };
    assert_eq!(linked_size(&units), size);
    let names: Vec<&str> = linked.textures.iter().map(|t| &*t.name).collect();
    assert_eq!(names, ["oak", "ash"]);
    let calls: Vec<FuncId> = crate::calls::callees(linked.entry()).collect();
    assert!(calls[0] == calls[2] && calls[0] != calls[1]);
    let sampled = |id: FuncId| {
        let insts = linked.function(id).regions.iter().flat_map(|r| &r.insts);
        insts
            .filter_map(|inst| match inst.kind {
                InstKind::Sample(texture, ..) => Some(texture.0),
                _ => None,
            })
            .collect::<Vec<_>>()
    };
    assert_eq!((sampled(calls[0]), sampled(calls[1])), (vec![0], vec![1]));
}
