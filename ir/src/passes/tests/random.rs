//! Random modules: every pass keeps what can be observed.
//!
//! The oracle is the reference evaluator with both shadows of every float, on the module before any
//! pass.

use super::*;
use crate::eval::{EvalOptions, EvalPoint, EvalValue, ShadowMode, evaluate};
use crate::host::{Fault, Host, Limits, SampleRequest, Sampled, Texel, TexelSlopes};
use crate::module::*;
use crate::passes::{dce::dce, fold::fold, gvn::gvn, unroll::unroll};
use crate::random::generate;
use std::cell::Cell;

const MODULES: u64 = 1_000;
const POINTS: u64 = 3;

/// A host whose texels depend on the place, and which records the first request of each place,
/// since passes make equal samples one, and the words of messages after the number of requests
/// before each.
#[derive(Default)]
pub(super) struct Recorder(Vec<SampleRequest>, Vec<u32>);

fn place(of: &SampleRequest) -> (TextureId, [u32; 2], Option<u32>) {
    (
        of.texture,
        [of.u, of.v].map(f32::to_bits),
        of.level.map(f32::to_bits),
    )
}

impl Host for Recorder {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        if !self.0.iter().any(|known| place(known) == place(request)) {
            self.0.push(*request);
        }
        let texel = if request.u < request.v { 0.25 } else { 0.75 };
        let slopes = TexelSlopes {
            u: [texel, -1.0, 0.0, 2.0],
            v: [0.5; 4],
        };
        Sampled::Sloped([texel, 0.5, 1.0 - texel, texel], slopes)
    }

    fn texture_adjoint(&mut self, request: &SampleRequest, adjoint: &Texel) {
        self.1.extend([request.u, request.v].map(f32::to_bits));
        self.1.extend(adjoint.words());
    }

    fn message(&mut self, _: MessageId, args: &[u32]) {
        self.1.push(self.0.len() as u32);
        self.1.extend_from_slice(args);
    }
}

/// The observations of a point, in order: faults, values by their bits, shadows.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) faults: Vec<Fault>,
    values: Vec<u32>,
    shadows: Vec<f32>,
    /// Steps taken.
    pub(super) steps: u64,
    /// Whether the point went to its end, over finite numbers alone: else shadows may differ
    /// between compilations, and so may their uses.
    pub(super) comparable: bool,
}

pub(super) fn observe(
    module: &Module,
    point: &EvalPoint,
    shadows: ShadowMode,
    outputs: bool,
) -> Seen {
    let limits = Limits {
        steps: 5_000,
        ..Limits::default()
    };
    observe_within(module, point, shadows, outputs, limits)
}

pub(super) fn observe_within(
    module: &Module,
    point: &EvalPoint,
    shadows: ShadowMode,
    outputs: bool,
    limits: Limits,
) -> Seen {
    let mut host = Recorder::default();
    let options = EvalOptions {
        shadows,
        limits,
        ..EvalOptions::default()
    };
    let outcome = evaluate(module, point, &options, &mut host);
    let mut seen = Seen {
        faults: outcome.faults.iter().collect(),
        values: host.1,
        shadows: Vec::new(),
        steps: outcome.steps,
        comparable: outcome.tally.nonfinite == 0 && outcome.faults.stopped().is_none(),
    };
    for request in host.0 {
        let SampleRequest {
            dudx,
            dudy,
            dvdx,
            dvdy,
            level,
            ..
        } = request;
        let places = [request.u, request.v].into_iter().chain(level);
        seen.values.extend(places.map(f32::to_bits));
        seen.shadows.extend([dudx, dudy, dvdx, dvdy]);
    }
    for (slot, result) in outcome.outputs.iter().zip(&module.entry().results) {
        match result.ty {
            Scalar::Closure => {}
            ty => seen.values.push(slot.bits(ty)),
        }
        if outputs && result.ty == Scalar::F32 {
            seen.shadows.extend(slot.shadows);
        }
    }
    seen
}

/// What a module shows at a point, with full shadows, of outputs too, within that many steps.
pub(super) fn observe_in_steps(module: &Module, point: &EvalPoint, steps: u64) -> Seen {
    let limits = Limits {
        steps,
        ..Limits::default()
    };
    observe_within(module, point, ShadowMode::Full, true, limits)
}

impl Seen {
    /// Whether `other` shows the same to the bit.
    pub(super) fn agrees(&self, other: &Seen) -> bool {
        let shadows = self.shadows.iter().zip(&other.shadows);
        self.faults == other.faults
            && self.values == other.values
            && self.shadows.len() == other.shadows.len()
            && shadows.into_iter().all(|(a, b)| a.to_bits() == b.to_bits())
    }
}

/// Points with numbers around 0; their shadows are 0 unless `moving`.
pub(super) fn points(module: &Module, seed: u64, moving: bool) -> impl Iterator<Item = EvalPoint> {
    (0..POINTS).map(move |number| {
        let mut random = fastrand::Rng::with_seed(seed * POINTS + number);
        let mut float = || 4.0 * random.f32() - 2.0;
        let mut point = EvalPoint::new(module);
        let mut globals = point.globals.iter_mut();
        for ty in module.globals.iter().map(|g| &g.ty) {
            ty.for_each_scalar(&mut |ty| {
                let slot = globals.next().expect("one for each scalar");
                *slot = match ty {
                    Scalar::F32 if moving => EvalValue::float(float(), [float(), float()]),
                    Scalar::F32 => EvalValue::float(float(), [0.0; 2]),
                    _ => EvalValue::word(number as u32),
                };
            });
        }
        point
    })
}

/// The counts of comparisons of a random module.
#[derive(Default)]
struct Mix {
    compared: usize,
    shadows: usize,
    loops: usize,
    variants: usize,
}

fn compare(
    seed: u64,
    before: &Module,
    after: &Module,
    shadows: ShadowMode,
    outputs: bool,
    moving: bool,
) -> usize {
    let mut compared = 0;
    for point in points(before, seed, moving) {
        let expected = observe(before, &point, ShadowMode::Full, outputs);
        if !expected.comparable {
            continue;
        }
        let got = observe(after, &point, shadows, outputs);
        assert!(
            expected.agrees(&got),
            "module {seed}\n{:?} {:?} {:?}\n{:?} {:?} {:?}\n{}\n\n{}",
            expected.faults,
            expected.values,
            expected.shadows,
            got.faults,
            got.values,
            got.shadows,
            text(before),
            text(after)
        );
        compared += 1;
    }
    compared
}

#[test]
fn each_pass_keeps_values_shadows_and_faults() {
    let unrolled = Cell::new(0);
    for seed in 0..MODULES {
        let before = generate(seed);
        let mut module = before.clone();
        let unroll = |function: &mut Function| {
            unrolled.set(
                unrolled.get()
                    + u32::from(unroll(
                        function,
                        &Default::default(),
                        &mut usize::MAX.clone(),
                    )),
            );
        };
        let passes: [&dyn Fn(&mut Function); 6] = [&fold, &gvn, &dce, &unroll, &fold, &dce];
        for pass in passes {
            module.functions.iter_mut().for_each(pass);
            module = verified(module);
            compare(seed, &before, &module, ShadowMode::Full, true, true);
        }
    }
    let unrolled = unrolled.get();
    assert!(unrolled > MODULES as u32 / 10, "{unrolled}");
}

/// The module whose `Attach`es give their values alone, since with derivatives off there are none.
fn without_given_shadows(mut module: Module) -> Module {
    let regions = module.functions.iter_mut().flat_map(|f| &mut f.regions);
    for inst in regions.flat_map(|r| &mut r.insts) {
        if inst.kind == InstKind::Attach {
            inst.kind = InstKind::Detach;
            inst.args.truncate(1);
        }
    }
    module
}

#[test]
fn assigned_lanes_match_full_shadows() {
    let mut mix = Mix::default();
    for seed in 0..MODULES {
        let before = generate(seed);
        for options in [&DUAL, &MERGED, &OUTPUTS] {
            let after = verified(run(before.clone(), options).0);
            let outputs = options.output_shadows;
            if !options.merge_demand {
                assert_eq!(unread::unread(&after), [""; 0], "module {seed}");
            }
            mix.compared += compare(seed, &before, &after, ShadowMode::Annotated, outputs, true);
            let functions = &after.functions;
            let carried = functions
                .iter()
                .flat_map(|f| &f.values)
                .filter(|v| !v.lanes.is_none());
            mix.shadows += usize::from(carried.count() > 10);
            mix.variants += usize::from(functions.iter().any(|f| f.variant > 0));
            let mut insts = functions
                .iter()
                .flat_map(|f| &f.regions)
                .flat_map(|r| &r.insts);
            mix.loops += usize::from(insts.any(|i| matches!(i.kind, InstKind::Loop(_))));
        }
        let before = without_given_shadows(before);
        let off = verified(run(before.clone(), &OFF).0);
        compare(seed, &before, &off, ShadowMode::Annotated, false, false);
    }
    // The campaign must not be hollow.
    let runs = 3 * MODULES as usize;
    assert!(mix.compared > 2 * runs, "{}", mix.compared);
    assert!(mix.shadows > runs / 20, "{}", mix.shadows);
    assert!(mix.loops > runs / 4, "{}", mix.loops);
    assert!(mix.variants > runs / 200, "{}", mix.variants);
}
