//! Tests of random modules: they verify, they read back from IR text, all evaluations agree, and
//! the passes are unobservable.

use super::{Random, buffers, generate, generate_by};
use crate::eval::{EvalOptions, EvalOutcome, EvalPoint, EvalValue, Number, ShadowMode, evaluate};
use crate::host::{Host, SampleRequest, Sampled, TexelSlopes};
use crate::module::*;
use crate::passes::{self, PassOptions};
use crate::span::FileId;
use crate::text::{SpanComments, parse, print};
use crate::verify;
use std::sync::Arc;

/// Keeps the first request of each place, since passes make equal samples one, and messages with
/// the number of requests before; answers with something of the coordinates.
#[derive(Default)]
struct Recorder<F>(Vec<SampleRequest<F>>, Vec<(usize, MessageId, Vec<u32>)>);

impl<F: Number> Host<F> for Recorder<F> {
    fn sample(&mut self, request: &SampleRequest<F>) -> Sampled {
        let place = |of: &SampleRequest<F>| {
            let numbers = [Some(of.u), Some(of.v), of.level];
            numbers.map(|number| number.map(|number| number.to_f64().to_bits()))
        };
        if !self.0.iter().any(|known| place(known) == place(request)) {
            self.0.push(*request);
        }
        let [u, v] = [request.u, request.v].map(Number::to_f32);
        let slopes = TexelSlopes {
            u: [1.0, 0.0, v, 0.5],
            v: [0.0, 1.0, u, 0.25],
        };
        Sampled::Sloped([u, v, 0.5, 0.25], slopes)
    }

    fn message(&mut self, message: MessageId, args: &[u32]) {
        self.1.push((self.0.len(), message, args.to_vec()));
    }
}

/// Outcome and requests at a point that depends on the seed.
fn observe(module: &Module, seed: u64, shadows: ShadowMode) -> (EvalOutcome, Recorder<f32>) {
    let mut random = Random::Seed(seed ^ 0x5851_f42d_4c95_7f2d);
    let mut point = EvalPoint::new(module);
    point.buffers = Arc::new(buffers(module));
    for slot in &mut point.globals[..4] {
        *slot = EvalValue::float(random.float(), [random.float(), random.float()]);
    }
    point.globals[4] = EvalValue::word(random.below(6) as u32);
    let mut options = EvalOptions {
        shadows,
        path: true,
        ..EvalOptions::default()
    };
    options.limits.steps = 5_000;
    let mut host = Recorder::default();
    let outcome = evaluate(module, &point, &options, &mut host);
    (outcome, host)
}

/// A hash of each node of a closure tree, with all nodes below it.
fn digest(outcome: &EvalOutcome) -> u64 {
    use crate::host::{ClosureNode, ClosureRef};
    use std::hash::{DefaultHasher, Hash, Hasher};
    let arena = &outcome.closures;
    let mut digests = vec![0_u64];
    while let Some(node) = arena.node(ClosureRef::from_word(digests.len() as u32)) {
        let mut hasher = DefaultHasher::new();
        let below = |c: ClosureRef| digests[c.word() as usize];
        match node {
            ClosureNode::Leaf { shape, args } => (shape, arena.args(args)).hash(&mut hasher),
            ClosureNode::Add(a, b) => (1, below(a), below(b)).hash(&mut hasher),
            ClosureNode::Scale(a, w) => (2, below(a), w.to_bits()).hash(&mut hasher),
            ClosureNode::Tint(a, c) => (3, below(a), c.map(f32::to_bits)).hash(&mut hasher),
        }
        digests.push(hasher.finish());
    }
    digests[outcome.outputs[4].word as usize]
}

/// All bits of an outcome that do not depend on shadows.
fn values(outcome: &EvalOutcome, host: &Recorder<f32>) -> impl PartialEq + std::fmt::Debug + use<> {
    let floats: Vec<u32> = outcome.outputs[..3]
        .iter()
        .map(|s| s.float.to_bits())
        .collect();
    let coordinates = host
        .0
        .iter()
        .map(|r| [Some(r.u), Some(r.v), r.level].map(|x| x.map(f32::to_bits)));
    let added = (outcome.added.iter()).map(|added| {
        (
            added.buffer,
            added.index,
            added.number,
            added.value.to_bits(),
        )
    });
    (
        floats,
        outcome.outputs[3].word,
        digest(outcome),
        outcome.faults.clone(),
        added.collect::<Vec<_>>(),
        coordinates.collect::<Vec<_>>(),
        host.1.clone(),
    )
}

/// Every shadow that the host sees, those of outputs only if `of_outputs`.
fn shadows(outcome: &EvalOutcome, host: &Recorder<f32>, of_outputs: bool) -> Vec<f32> {
    let outputs = &outcome.outputs[..if of_outputs { 3 } else { 0 }];
    let outputs = outputs.iter().flat_map(|s| s.shadows);
    let partials = host.0.iter().flat_map(|r| [r.dudx, r.dudy, r.dvdx, r.dvdy]);
    outputs.chain(partials).collect()
}

/// Whether a shadow may become a value.
fn reads_shadows(module: &Module) -> bool {
    let regions = module.functions.iter().flat_map(|f| &f.regions);
    let mut insts = regions.flat_map(|r| &r.insts);
    insts.any(|i| matches!(i.kind, InstKind::Shadow(_)))
}

fn sound(module: &Module, seed: u64) {
    if let Err(violations) = verify(module) {
        panic!(
            "seed {seed}: {}\n{}",
            violations[0],
            print(module, SpanComments::Hidden)
        );
    }
}

const SEEDS: u64 = 400;

#[test]
fn random_modules_are_sound_and_read_back() {
    let mut kinds = std::collections::HashSet::new();
    for seed in 0..SEEDS {
        let module = generate(seed);
        sound(&module, seed);
        let text = print(&module, SpanComments::Shown);
        let read = parse(&text, FileId::MAIN);
        assert!(read.is_ok_and(|read| read == module), "seed {seed}\n{text}");
        let insts = module
            .functions
            .iter()
            .flat_map(|f| &f.regions)
            .flat_map(|r| &r.insts);
        kinds.extend(insts.map(|i| std::mem::discriminant(&i.kind)));
    }
    // All but `Unreachable`.
    assert_eq!(kinds.len(), 33);
}

#[test]
fn modules_of_choices_are_sound_and_shrink_with_them() {
    let size = |module: &Module| {
        let regions = module.functions.iter().flat_map(|f| &f.regions);
        regions.map(|region| region.insts.len()).sum::<usize>()
    };
    let (mut whole, mut half) = (0, 0);
    for seed in 0..SEEDS {
        let mut random = fastrand::Rng::with_seed(seed);
        let choices: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(800).collect();
        let modules = [800, 400, 0].map(|count| generate_by(&choices[..count]));
        modules.iter().for_each(|module| sound(module, seed));
        let [all, some, none] = modules.each_ref().map(size);
        assert!(none < 30 && none <= some, "seed {seed}: {none} {some}");
        (whole, half) = (whole + all, half + some);
    }
    assert!(whole > half * 5 / 4, "{whole} {half}");
}

#[test]
fn shadows_change_no_value() {
    let mut finished = 0;
    for seed in 0..SEEDS {
        let module = generate(seed);
        let (none, none_requests) = observe(&module, seed, ShadowMode::Annotated);
        let (full, full_requests) = observe(&module, seed, ShadowMode::Full);
        if reads_shadows(&module) || full.faults.stopped().is_some() {
            continue;
        }
        finished += 1;
        assert_eq!(
            values(&none, &none_requests),
            values(&full, &full_requests),
            "seed {seed}"
        );
        assert_eq!(
            (none.steps, none.path),
            (full.steps, full.path),
            "seed {seed}"
        );
    }
    assert!(finished > SEEDS / 40, "{finished} comparable modules");
}

#[test]
fn passes_are_unobservable() {
    let (mut finite, mut seen) = (0, 0);
    for seed in 0..SEEDS {
        let module = generate(seed);
        let options = PassOptions {
            merge_demand: seed % 2 == 0,
            output_shadows: seed % 4 < 2,
            ..PassOptions::default()
        };
        let (passed, _) = passes::run(module.clone(), &options);
        sound(&passed, seed);
        let text = print(&passed, SpanComments::Shown);
        let read = parse(&text, FileId::MAIN);
        assert!(read.is_ok_and(|read| read == passed), "seed {seed}\n{text}");

        let (before, asked_before) = observe(&module, seed, ShadowMode::Full);
        let (after, asked_after) = observe(&passed, seed, ShadowMode::Annotated);
        if before.faults.stopped().is_some() || before.tally.nonfinite > 0 && reads_shadows(&module)
        {
            continue;
        }
        assert_eq!(
            values(&before, &asked_before),
            values(&after, &asked_after),
            "seed {seed}"
        );
        if before.tally.nonfinite == 0 {
            let wanted = options.output_shadows;
            let shadows_before = shadows(&before, &asked_before, wanted);
            let shadows_after = shadows(&after, &asked_after, wanted);
            assert_eq!(shadows_before, shadows_after, "seed {seed}");
            finite += 1;
            seen += shadows_before.iter().filter(|d| **d != 0.0).count() as u64;
        }
    }
    assert!(
        finite > SEEDS / 10 && seen > SEEDS,
        "{finite} finite points, {seen} shadows"
    );
}
