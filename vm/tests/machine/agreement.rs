//! Differential tests of random modules against the reference evaluator: outputs, shadows, faults,
//! requests and closures, bit by bit.

use crate::park::{Hesitant, run_hesitantly};
use crate::support::Recorder;
use adumbra_ir::eval::{EvalOptions, EvalPoint, EvalValue, ShadowMode, evaluate};
use adumbra_ir::host::{Limits, SampleRequest};
use adumbra_ir::module::*;
use adumbra_ir::passes::{self, PassOptions};
use adumbra_ir::random::generate;
use adumbra_ir::span::Span;
use adumbra_ir::text::{SpanComments, print};
use adumbra_ir::types::{Direction, Lanes, Scalar};
use adumbra_ir::verify::verify;
use adumbra_ops::Op;
use adumbra_vm::{Outcome, PointMachine, lower};
use fastrand::Rng;
use std::sync::Arc;

pub(crate) const LIMITS: Limits = Limits {
    steps: 5_000,
    call_depth: 40,
    array_elements: 10_000,
    closure_size: 1_000,
    kept_words: 60,
    parked: 0,
    parked_bytes: 0,
};

/// A pseudo-random sequence.
pub(crate) struct Random(Rng);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(Rng::with_seed(seed))
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0.usize(..n)
    }

    fn float(&mut self) -> f32 {
        const CORNERS: [f32; 5] = [0.0, -0.0, f32::INFINITY, f32::NAN, 1e-40];
        match self.below(50) {
            n @ 0..5 => CORNERS[n],
            n => n as f32 / 8.0 - 3.0,
        }
    }
}

/// A point for a module, and the same as words for a machine.
pub(crate) fn point(module: &Module, random: &mut Random) -> (EvalPoint, Vec<u32>, Vec<u32>) {
    let mut point = EvalPoint::new(module);
    let mut words = Vec::new();
    let mut next = 0;
    for global in &module.globals {
        let first = next;
        global.ty.for_each_scalar(&mut |ty| {
            point.globals[next] = match ty {
                Scalar::F32 => EvalValue::float(random.float(), [random.float(), random.float()]),
                _ => EvalValue::word(random.below(6) as u32),
            };
            next += 1;
        });
        let mut types = Vec::new();
        global.ty.for_each_scalar(&mut |ty| types.push(ty));
        let registers = &point.globals[first..next];
        words.extend(registers.iter().zip(&types).map(|(s, &ty)| s.bits(ty)));
        for direction in Direction::BOTH {
            words.extend(registers.iter().map(|s| s.shadow(direction).to_bits()));
        }
    }
    let mut inputs = Vec::new();
    for input in &module.inputs {
        inputs.extend_from_slice(&input.default);
    }
    (point, words, inputs)
}

fn bits(request: &SampleRequest) -> ([u32; 7], Option<u32>) {
    let r = request;
    let [u, v] = [r.u, r.v].map(f32::to_bits);
    let [a, b, c, d] = [r.dudx, r.dudy, r.dvdx, r.dvdy].map(f32::to_bits);
    ([r.texture.0, u, v, a, b, c, d], r.level.map(f32::to_bits))
}

/// Counts of the points' outcomes, which show that the tests reach each of them.
#[derive(Default)]
struct Mix {
    points: usize,
    stopped: usize,
    shadowed: usize,
    recursive: usize,
    waited: usize,
}

fn agree(module: &Module, seed: u64, mix: &mut Mix) {
    verify(module).expect("the module is valid");
    let program = lower(module).expect("the module fits");
    let program = Arc::new(program);
    let mut machine = PointMachine::new(program.clone(), LIMITS);
    let mut others = [(); 2].map(|()| PointMachine::new(program.clone(), LIMITS));
    let mut random = Random::new(seed);
    for _ in 0..3 {
        let (point, globals, inputs) = point(module, &mut random);
        let options = EvalOptions {
            limits: LIMITS,
            ..EvalOptions::default()
        };
        let mut expected_requests = Recorder::default();
        let expected = evaluate(module, &point, &options, &mut expected_requests);
        let mut requests = Recorder::default();
        let outcome = machine.run(&globals, &inputs, &mut requests);
        let context = || {
            let text = print(module, SpanComments::Hidden);
            format!("seed {seed}, globals {globals:x?}\n{text}\n{program}")
        };
        assert_eq!(machine.faults(), &expected.faults, "{}", context());
        let stopped = expected.faults.stopped().is_some();
        assert_eq!(outcome == Outcome::Stopped, stopped, "{}", context());
        let types = module.entry().results.iter().map(|r| r.ty);
        let outputs: Vec<u32> = expected
            .outputs
            .iter()
            .zip(types)
            .flat_map(|(register, ty)| {
                let shadow = |d| register.shadow(d).to_bits();
                [
                    register.bits(ty),
                    shadow(Direction::X),
                    shadow(Direction::Y),
                ]
            })
            .collect();
        assert_eq!(machine.outputs(), outputs, "{}", context());
        assert_eq!(requests.1, expected_requests.1, "{}", context());
        let messages = requests.1.clone();
        let expected_requests: Vec<_> = expected_requests.0.iter().map(bits).collect();
        let requests: Vec<_> = requests.0.iter().map(bits).collect();
        assert_eq!(requests, expected_requests, "{}", context());
        // Weights may be NaN, so the arenas are compared as they print.
        let arenas = [machine.closures(), &expected.closures].map(|c| format!("{c:?}"));
        assert_eq!(arenas[0], arenas[1], "{}", context());
        // The same with samples that stay pending, in another machine than where they are answered.
        let mut hesitant = Hesitant::default();
        let last = run_hesitantly(&mut others, &globals, &inputs, &mut hesitant, &mut random);
        let other = &others[last];
        assert_eq!(other.outputs(), outputs, "waited: {}", context());
        assert_eq!(other.faults(), &expected.faults, "waited: {}", context());
        let arena = format!("{:?}", other.closures());
        assert_eq!(arena, arenas[1], "waited: {}", context());
        let Recorder(requests_then, messages_then) = &hesitant.recorder;
        assert_eq!(messages_then, &messages, "waited: {}", context());
        let requests_then: Vec<_> = requests_then.iter().map(bits).collect();
        assert_eq!(requests_then, requests, "waited: {}", context());
        mix.waited += hesitant.waits;
        mix.points += 1;
        mix.stopped += usize::from(stopped);
        mix.shadowed += usize::from(requests.iter().any(|(r, _)| r[3..] != [0; 4]));
        mix.recursive += usize::from(expected.tally.recursions > 0);
    }
}

/// The shader becomes a function that calls itself in its midst, and continues with the result.
fn make_recursive(module: &mut Module, random: &mut Random) {
    let at = Span::default();
    let inner = FuncId(module.functions.len() as u32);
    let mut function = module.entry().clone();
    let results: Vec<Scalar> = function.results.iter().map(|r| r.ty).collect();
    let mut outer = adumbra_ir::FunctionBuilder::new("outer", at);
    let params = function.params().to_vec();
    let args: Vec<ValueId> = params
        .iter()
        .map(|&p| outer.param(function.value(p).ty, at))
        .collect();
    let call = InstKind::Call(inner, Box::default());
    let got = outer.inst(call.clone(), args, results.iter().copied(), at);
    outer.terminate(InstKind::Return, got.iter(), at);
    let mut outer = outer.finish();
    outer.results = function.results.clone();
    module.functions[module.entry.index()] = outer;

    let value = |function: &mut Function, ty| {
        let id = ValueId(function.values.len() as u32);
        function.values.push(Value {
            ty,
            lanes: Lanes::NONE,
            span: at,
            name: None,
        });
        id
    };
    let inst = |kind, args: &[ValueId], first, count| Inst {
        kind,
        args: args.iter().copied().collect(),
        results: Results { first, count },
        span: at,
    };
    let (k, i) = (params[0], params[1]);
    let body = function.body.index();
    let position = random.below(function.regions[body].insts.len());
    let [most, one, next] = [0; 3].map(|_| value(&mut function, Scalar::I32));
    let goes_on = value(&mut function, Scalar::Bool);
    let first = ValueId(function.values.len() as u32);
    for &ty in &results {
        value(&mut function, ty);
    }
    let joined = value(&mut function, Scalar::F32);
    let [yes, no] = [0, 1].map(|n| RegionId(function.regions.len() as u32 + n));
    let none = ValueId(0);
    function.regions.push(Region {
        params: Vec::new(),
        insts: vec![
            inst(InstKind::Op(Op::IAdd), &[i, one], next, 1),
            inst(call, &[k, next], first, results.len() as u32),
            inst(InstKind::Yield, &[first], none, 0),
        ],
    });
    function.regions.push(Region {
        params: Vec::new(),
        insts: vec![inst(InstKind::Yield, &[k], none, 0)],
    });
    // Regions after that position, and the instructions after it in the body, read the result.
    let mut later: Vec<RegionId> = function.regions[body].insts[position..]
        .iter()
        .flat_map(|i| i.kind.regions())
        .collect();
    let replace = |insts: &mut [Inst]| {
        for arg in insts.iter_mut().flat_map(|i| &mut i.args) {
            *arg = if *arg == k { joined } else { *arg };
        }
    };
    replace(&mut function.regions[body].insts[position..]);
    while let Some(region) = later.pop() {
        let insts = &mut function.regions[region.index()].insts;
        replace(insts);
        later.extend(insts.iter().flat_map(|i| i.kind.regions()));
    }
    let new = [
        inst(InstKind::Const(5), &[], most, 1),
        inst(InstKind::Const(1), &[], one, 1),
        inst(InstKind::Op(Op::ILt), &[i, most], goes_on, 1),
        inst(InstKind::If(yes, no), &[goes_on], joined, 1),
    ];
    function.regions[body].insts.splice(position..position, new);
    module.functions.push(function);
}

#[test]
#[cfg_attr(miri, ignore = "hundreds of random programs take hours")]
fn point_machine_agrees_with_reference() {
    let mut mix = Mix::default();
    for seed in 0..400 {
        let mut module = generate(seed);
        if seed % 4 == 3 {
            make_recursive(&mut module, &mut Random::new(seed));
        }
        agree(&module, seed, &mut mix);
        for (merge_demand, output_shadows) in [(false, true), (true, false)] {
            let options = PassOptions {
                merge_demand,
                output_shadows,
                ..PassOptions::default()
            };
            let (module, _) = passes::run(module.clone(), &options);
            agree(&module, seed, &mut mix);
        }
    }
    let Mix {
        points,
        stopped,
        shadowed,
        recursive,
        waited,
    } = mix;
    assert!(stopped < points / 3, "{stopped} of {points} stopped");
    assert!(
        shadowed > points / 10,
        "{shadowed} of {points} have samples with shadows"
    );
    assert!(recursive > points / 20, "{recursive} of {points} recurse");
    assert!(waited > points / 4, "{waited} waits in {points}");
}

/// Arrays so large that they take steps: cleared, copied, passed on and saved around calls that
/// come back.
#[test]
#[cfg_attr(miri, ignore = "thousands of rounds take hours")]
fn large_arrays_take_same_steps() {
    let text = "
        output o: int
        entry main
        fn main() -> (i32) ^0 {
            array &0: i32[600]
            array &1: i32[600]
            %0: i32 = const 3
            %1: i32 = const 200
            array_zero &0
            store &0[%0], %0
            array_copy &1, &0
            array_copy &1, &0, %0
            %2: i32 = array_resize &1[%1], 3
            %3: i32 = call down(%0) [&0]
            %4: i32 = load &0[%0]
            %5: i32 = iadd %3, %4
            return %5
        }
        fn down(%0: i32) -> (i32) ^0 {
            array &0 inout: i32[600]
            array &1: i32[300]
            %1: i32 = const 0
            %2: i32 = const 1
            %3: bool = ilt %1, %0
            %4: i32 = if %3 ^1 {
                %5: i32 = isub %0, %2
                %6: i32 = call down(%5) [&0]
                yield %6
            } else ^2 {
                %7: i32 = const 3
                %8: i32 = load &0[%7]
                yield %8
            }
            return %4
        }";
    let module = crate::support::module(text);
    let program = Arc::new(lower(&module).expect("the module fits"));
    let mut needed = None;
    for steps in 0..100 {
        let limits = Limits { steps, ..LIMITS };
        let options = EvalOptions {
            limits,
            ..EvalOptions::default()
        };
        let expected = evaluate(
            &module,
            &EvalPoint::new(&module),
            &options,
            &mut Recorder::default(),
        );
        let mut machine = PointMachine::new(program.clone(), limits);
        machine.run(&[], &[], &mut Recorder::default());
        assert_eq!(machine.faults(), &expected.faults, "{steps}\n{program}");
        assert_eq!(machine.outputs()[0], expected.outputs[0].word, "{steps}");
        if needed.is_none() && expected.faults.is_empty() {
            assert_eq!((expected.steps, expected.outputs[0].word), (steps, 6));
            needed = Some(steps);
        }
    }
    // The shader's own entry and its four instructions; four calls, each with its arrays in and
    // out; three times what was saved.
    assert_eq!(needed, Some(1 + 4 * 2 + 4 * (1 + 2 + 2) + 3 * (2 + 1)));
}

/// Inlining with whatever limits: a point is stopped at the same position as in the module before.
#[test]
#[cfg_attr(miri, ignore = "hundreds of random programs take hours")]
fn limits_count_inlined_calls() {
    // Closures that are not used are not made.
    const LIMITS: Limits = Limits {
        closure_size: u32::MAX,
        ..self::LIMITS
    };
    let (mut in_place, mut stopped) = (0, 0);
    for seed in 0..200 {
        let mut before = generate(seed);
        before.functions.iter_mut().for_each(|f| f.library = false);
        let options = PassOptions {
            output_shadows: true,
            ..PassOptions::default()
        };
        let (after, _) = passes::run(before.clone(), &options);
        let insts = after.functions.iter().flat_map(|f| &f.regions);
        let mut insts = insts.flat_map(|r| &r.insts);
        in_place += usize::from(insts.any(|i| matches!(i.kind, InstKind::EnterInlined(_))));
        let program = Arc::new(lower(&after).expect("the module fits"));
        let (point, globals, inputs) = point(&before, &mut Random::new(seed));
        let evaluated = |limits| {
            let options = EvalOptions {
                limits,
                shadows: ShadowMode::Full,
                ..EvalOptions::default()
            };
            evaluate(&before, &point, &options, &mut Recorder::default())
        };
        let all = evaluated(LIMITS);
        if all.tally.nonfinite > 0 {
            continue;
        }
        let steps = (0..8).chain([all.steps.saturating_sub(1), all.steps]);
        let steps = steps.map(|steps| Limits { steps, ..LIMITS });
        let depths = (0..6).map(|call_depth| Limits {
            call_depth,
            ..LIMITS
        });
        for limits in steps.chain(depths) {
            let expected = evaluated(limits);
            let mut machine = PointMachine::new(program.clone(), limits);
            machine.run(&globals, &inputs, &mut Recorder::default());
            assert_eq!(
                machine.faults(),
                &expected.faults,
                "{seed} {limits:?}\n{program}"
            );
            let values: Vec<u32> = machine.outputs().iter().step_by(3).copied().collect();
            let types = before.entry().results.iter().map(|r| r.ty);
            let outputs = expected.outputs.iter().zip(types).zip(values);
            for ((register, ty), value) in outputs.filter(|((_, ty), _)| *ty != Scalar::Closure) {
                assert_eq!(register.bits(ty), value, "{seed} {limits:?}\n{program}");
            }
            stopped += usize::from(expected.faults.stopped().is_some());
        }
    }
    assert!(in_place > 60 && stopped > 300, "{in_place} {stopped}");
}
