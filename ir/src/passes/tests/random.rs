//! Random modules: every pass keeps what can be observed.
//!
//! The oracle is the reference evaluator with both shadows of every float, on the module before any pass.

use super::*;
use crate::eval::{Options, Outcome, Point, Shadows, Slot, evaluate};
use crate::host::{Fault, SampleRequest, Sampled, TextureHost};
use crate::module::*;
use crate::passes::{dedupe::dedupe, fold::fold, prune::prune};
use crate::span::Span;
use crate::types::Direction;
use crate::{Builder, Op};

const MODULES: u64 = 400;
const POINTS: usize = 3;

/// A small generator of numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % n as u64) as usize
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn float(&mut self) -> f32 {
        self.below(4001) as f32 / 1000.0 - 2.0
    }
}

/// What callers must know of a function.
struct Callee {
    params: Vec<Scalar>,
    results: Vec<Scalar>,
    arrays: usize,
}

/// Makes one function.
struct Maker<'a> {
    dice: &'a mut Dice,
    b: Builder,
    callees: &'a [Callee],
    floats: Vec<ValueId>,
    ints: Vec<ValueId>,
    bools: Vec<ValueId>,
    arrays: Vec<ArrayId>,
    /// Results of the function, for early returns.
    results: Vec<Scalar>,
    /// Regions that can be broken to, and the types that they give.
    targets: Vec<(RegionId, Vec<Scalar>)>,
    spans: &'a mut u32,
    depth: usize,
    budget: usize,
}

const TAME: [Op; 16] = [
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::Sin,
    Op::Cos,
    Op::Min,
    Op::Max,
    Op::Clamp,
    Op::Mix,
    Op::Floor,
    Op::Fract,
    Op::Step,
    Op::Abs,
    Op::Tanh,
    Op::Select,
    Op::Saturate,
];

impl Maker<'_> {
    fn span(&mut self) -> Span {
        *self.spans += 1;
        Span::new(FileId::MAIN, *self.spans, *self.spans + 1)
    }

    fn value(&mut self, ty: Scalar) -> ValueId {
        let of = match ty {
            Scalar::F32 => &self.floats,
            Scalar::I32 => &self.ints,
            _ => &self.bools,
        };
        // The newest are the likeliest, so that chains grow long.
        let back = self.dice.below(of.len()).min(self.dice.below(of.len()));
        of[of.len() - 1 - back]
    }

    fn values(&mut self, types: &[Scalar]) -> Vec<ValueId> {
        types.iter().map(|&ty| self.value(ty)).collect()
    }

    fn add(&mut self, value: ValueId) {
        match self.b.ty(value) {
            Scalar::F32 => self.floats.push(value),
            Scalar::I32 => self.ints.push(value),
            _ => self.bools.push(value),
        }
    }

    fn types(&mut self) -> Vec<Scalar> {
        let n = self.dice.below(4);
        (0..n)
            .map(|_| self.dice.pick(&[Scalar::F32, Scalar::F32, Scalar::I32]))
            .collect()
    }

    fn op(&mut self) {
        let op = match self.dice.below(8) {
            0 => self.dice.pick(Op::ALL),
            1 => self.dice.pick(&[
                Op::FLt,
                Op::ILt,
                Op::IEq,
                Op::FToI,
                Op::IToF,
                Op::IAdd,
                Op::IDiv,
            ]),
            _ => self.dice.pick(&TAME),
        };
        let mut types = [Scalar::I32; 3];
        for (ty, kind) in types.iter_mut().zip(op.info().operands) {
            let one = [Scalar::Bool, Scalar::I32, Scalar::F32].into_iter();
            let Some(fits) = { one }.find(|t| kind.accepts(*t)) else {
                return;
            };
            *ty = fits;
        }
        let kind = op.info().operands[op.arity() - 1];
        if !kind.accepts(Scalar::U32) || kind.accepts(Scalar::I32) {
            let args = self.values(&types[..op.arity()]);
            let span = self.span();
            if op.info().result.resolve(types[op.arity() - 1]) == Scalar::U32 {
                return;
            }
            let value = self.b.op(op, &args, span);
            self.add(value);
        }
    }

    fn statement(&mut self) {
        let span = self.span();
        match self.dice.below(24) {
            0 => {
                let float = self.dice.float();
                let value = self.b.float(float, span);
                self.add(value);
            }
            1 => {
                let global = self.dice.below(3) as u32;
                let ty = if global == 2 {
                    Scalar::I32
                } else {
                    Scalar::F32
                };
                let kind = InstKind::Global(GlobalId(global), 0);
                let value = self.b.inst(kind, [], [ty], span).first;
                self.add(value);
            }
            2 | 3 => {
                let value = self.value(Scalar::F32);
                let direction = self.dice.pick(&Direction::BOTH);
                let value = self.b.shadow(direction, value, span);
                self.add(value);
            }
            4 => {
                let args = self.values(&[Scalar::F32; 2]);
                let channels = self.dice.pick(&[Channels::Color, Channels::Alpha]);
                let types = vec![Scalar::F32; channels.count() as usize];
                let kind = InstKind::Sample(TextureId(0), channels);
                let results = self.b.inst(kind, args, types, span);
                results.iter().for_each(|r| self.add(r));
            }
            5 | 6 => {
                let array = self.dice.pick(&self.arrays);
                let args = self.values(&[Scalar::I32, Scalar::F32]);
                self.b.inst(InstKind::Store(array), args, [], span);
            }
            7 | 8 => {
                let array = self.dice.pick(&self.arrays);
                let index = self.value(Scalar::I32);
                let kind = InstKind::Load(array);
                let value = self.b.inst(kind, [index], [Scalar::F32], span).first;
                self.add(value);
            }
            9 => {
                let (to, from) = (self.dice.pick(&self.arrays), self.dice.pick(&self.arrays));
                let kind = match to == from {
                    true => InstKind::ArrayZero(to),
                    false => InstKind::ArrayCopy { to, from },
                };
                self.b.inst(kind, [], [], span);
            }
            10 | 11 if !self.callees.is_empty() => {
                let callee = self.dice.below(self.callees.len());
                let Callee {
                    params,
                    results,
                    arrays,
                } = &self.callees[callee];
                let args = self.values(params);
                let arrays = self.arrays[..*arrays].into();
                // `main` is function 0.
                let kind = InstKind::Call(FuncId(callee as u32 + 1), arrays);
                let results = self.b.inst(kind, args, results.iter().copied(), span);
                results.iter().for_each(|r| self.add(r));
            }
            12 | 13 if self.depth < 4 => self.branch(span),
            14 if self.depth < 4 => self.turns(span),
            15 if self.depth < 4 => {
                let types = self.types();
                let body = self.b.open_region();
                self.targets.push((body, types.clone()));
                self.inside(&types, InstKind::Yield);
                self.targets.pop();
                let results = self.b.inst(InstKind::Block(body), [], types, span);
                results.iter().for_each(|r| self.add(r));
            }
            _ => self.op(),
        }
    }

    /// Fills the region that is open and ends it. What it defined is forgotten.
    fn inside(&mut self, gives: &[Scalar], end: InstKind) {
        let marks = (self.floats.len(), self.ints.len(), self.bools.len());
        self.depth += 1;
        self.statements();
        let span = self.span();
        let args = self.values(gives);
        match (self.dice.below(6), &end) {
            (0, InstKind::Yield) if !self.targets.is_empty() => {
                let at = self.dice.below(self.targets.len());
                let (target, types) = self.targets[at].clone();
                let args = self.values(&types);
                self.b.terminate(InstKind::Break(target), args, span);
            }
            (1, InstKind::Yield) if self.dice.below(4) == 0 => {
                let types = self.results.clone();
                let args = self.values(&types);
                self.b.terminate(InstKind::Return, args, span);
            }
            _ => self.b.terminate(end, args, span),
        }
        self.depth -= 1;
        self.floats.truncate(marks.0);
        self.ints.truncate(marks.1);
        self.bools.truncate(marks.2);
        self.b.close_region();
    }

    fn branch(&mut self, span: Span) {
        let types = self.types();
        let condition = match self.dice.below(6) {
            0 => {
                let bit = self.dice.below(2) as u32;
                self.b.constant(Scalar::Bool, bit, span)
            }
            _ => self.value(Scalar::Bool),
        };
        let then = self.b.open_region();
        self.inside(&types, InstKind::Yield);
        let other = self.b.open_region();
        self.inside(&types, InstKind::Yield);
        let kind = InstKind::If(then, other);
        let results = self.b.inst(kind, [condition], types, span);
        results.iter().for_each(|r| self.add(r));
    }

    /// A loop of at most four turns that carries a few values around.
    fn turns(&mut self, span: Span) {
        let carried = self.types();
        let gives = self.types();
        let trips = self.dice.below(5) as i32;
        let count = self.b.int(trips, span);
        let mut initial = self.values(&carried);
        initial.push(count);

        let marks = (self.floats.len(), self.ints.len(), self.bools.len());
        let body = self.b.open_region();
        let params: Vec<_> = carried.iter().map(|&ty| self.b.param(ty, span)).collect();
        let counter = self.b.param(Scalar::I32, span);
        params.iter().for_each(|&p| self.add(p));
        self.targets.push((body, gives.clone()));
        let zero = self.b.int(0, span);
        let one = self.b.int(1, span);
        let done = self.b.op(Op::ILe, &[counter, zero], span);
        let leave = self.b.open_region();
        let args = self.values(&gives);
        self.b.terminate(InstKind::Break(body), args, span);
        self.b.close_region();
        let stay = self.b.open_region();
        self.b.terminate(InstKind::Yield, [], span);
        self.b.close_region();
        self.b.inst(InstKind::If(leave, stay), [done], [], span);
        self.depth += 1;
        self.statements();
        self.depth -= 1;
        let less = self.b.op(Op::ISub, &[counter, one], span);
        let mut args = self.values(&carried);
        args.push(less);
        self.b.terminate(InstKind::Continue(body), args, span);
        self.b.close_region();
        self.targets.pop();
        self.floats.truncate(marks.0);
        self.ints.truncate(marks.1);
        self.bools.truncate(marks.2);
        let results = self.b.inst(InstKind::Loop(body), initial, gives, span);
        results.iter().for_each(|r| self.add(r));
    }

    fn statements(&mut self) {
        for _ in 0..2 + self.dice.below(8) {
            if self.budget > 0 {
                self.budget -= 1;
                self.statement();
            }
        }
    }
}

/// A function whose callees are those before it; `name` is `main` for the shader.
fn function_of(
    dice: &mut Dice,
    name: &str,
    callees: &[Callee],
    spans: &mut u32,
) -> (Function, Callee) {
    let is_main = name == "main";
    let b = Builder::new(name, Span::default());
    let mut maker = Maker {
        dice,
        b,
        callees,
        floats: Vec::new(),
        ints: Vec::new(),
        bools: Vec::new(),
        arrays: Vec::new(),
        results: Vec::new(),
        targets: Vec::new(),
        spans,
        depth: 0,
        budget: 60,
    };
    let params = match is_main {
        true => vec![Scalar::F32, Scalar::I32],
        false => maker.types(),
    };
    maker.results = match is_main {
        true => vec![Scalar::F32, Scalar::F32, Scalar::I32, Scalar::F32],
        false => maker.types(),
    };
    for &ty in &params {
        let span = maker.span();
        let param = maker.b.param(ty, span);
        maker.add(param);
    }
    let passed = if is_main { 0 } else { maker.dice.below(3) };
    for at in 0..3 {
        let mode = maker.dice.pick(&[Mode::In, Mode::Out, Mode::InOut]);
        let array = Array {
            element: Scalar::F32,
            len: 3,
            lanes: Lanes::NONE,
            mode: (at < passed).then_some(mode),
            span: Span::default(),
            name: None,
        };
        let array = maker.b.array(array);
        maker.arrays.push(array);
    }
    for kind in [Scalar::F32, Scalar::I32, Scalar::Bool] {
        let span = maker.span();
        let value = maker.b.constant(kind, 1, span);
        maker.add(value);
    }
    for global in 0..2 {
        let span = maker.span();
        let kind = InstKind::Global(GlobalId(global), 0);
        let value = maker.b.inst(kind, [], [Scalar::F32], span).first;
        maker.add(value);
    }
    while maker.budget > 20 {
        maker.statements();
    }
    let span = maker.span();
    let results = maker.results.clone();
    let args = maker.values(&results);
    maker.b.terminate(InstKind::Return, args, span);
    let mut function = maker.b.finish();
    function.results = (results.iter())
        .map(|&ty| FuncResult {
            ty,
            lanes: Lanes::NONE,
        })
        .collect();
    let callee = Callee {
        params,
        results,
        arrays: passed,
    };
    (function, callee)
}

/// A module of up to four functions.
fn random_module(seed: u64) -> Module {
    let mut dice = Dice(seed);
    let mut module =
        module("fn main(%0: f32, %1: i32) -> (f32, f32, i32, f32) ^0 {\nreturn %0, %0, %1, %0\n}");
    let mut callees = Vec::new();
    let mut spans = 0;
    for i in 0..dice.below(4) {
        let name = format!("f{i}");
        let (function, callee) = function_of(&mut dice, &name, &callees, &mut spans);
        module.functions.push(function);
        callees.push(callee);
    }
    module.functions[0] = function_of(&mut dice, "main", &callees, &mut spans).0;
    verified(module)
}

/// A host whose texels depend on where it is asked, and which remembers.
#[derive(Default)]
struct Recorder(Vec<SampleRequest>);

impl TextureHost for Recorder {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        self.0.push(*request);
        let texel = if request.u < request.v { 0.25 } else { 0.75 };
        Sampled::Ready([texel, 0.5, 1.0 - texel, texel])
    }
}

/// What can be observed of a point, in order: faults, values by their bits, shadows.
pub(super) struct Seen {
    faults: Vec<Fault>,
    values: Vec<u32>,
    shadows: Vec<f32>,
}

pub(super) fn observe(module: &Module, point: &Point, shadows: Shadows, outputs: bool) -> Seen {
    let mut host = Recorder::default();
    let options = Options {
        shadows,
        ..Options::default()
    };
    let Outcome {
        outputs: slots,
        faults,
        ..
    } = evaluate(module, point, &options, &mut host);
    let mut seen = Seen {
        faults: faults.iter().collect(),
        values: Vec::new(),
        shadows: Vec::new(),
    };
    for request in host.0 {
        seen.values
            .extend([request.u.to_bits(), request.v.to_bits()]);
        let SampleRequest {
            dudx,
            dudy,
            dvdx,
            dvdy,
            ..
        } = request;
        seen.shadows.extend([dudx, dudy, dvdx, dvdy]);
    }
    for (slot, result) in slots.iter().zip(&module.entry().results) {
        seen.values.push(slot.bits(result.ty));
        if outputs && result.ty == Scalar::F32 {
            seen.shadows.extend(slot.shadows);
        }
    }
    seen
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

    fn is_finite(&self) -> bool {
        self.shadows.iter().all(|d| d.is_finite())
    }
}

fn random_points(seed: u64, shadows: bool) -> Vec<Point> {
    let mut dice = Dice(!seed);
    (0..POINTS)
        .map(|_| {
            let mut float = |shadows: bool| {
                let shadow = if shadows {
                    [dice.float(), dice.float()]
                } else {
                    [0.0; 2]
                };
                Slot::float(dice.float(), shadow)
            };
            Point {
                globals: vec![float(shadows), float(shadows), Slot::word(2)],
                inputs: vec![float(false), Slot::word(1)],
            }
        })
        .collect()
}

/// What of a random module was compared.
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
    shadows: Shadows,
    outputs: bool,
    moving: bool,
) -> usize {
    let mut compared = 0;
    for point in random_points(seed, moving) {
        let expected = observe(before, &point, Shadows::Full, outputs);
        if !expected.is_finite() {
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
    for seed in 0..MODULES {
        let before = random_module(seed);
        let mut module = before.clone();
        let quiet = vec![false; module.functions.len()];
        let prune = |f: &mut Function| prune(f, &quiet);
        let passes: [&dyn Fn(&mut Function); 4] = [&fold, &dedupe, &prune, &fold];
        for pass in passes {
            module.functions.iter_mut().for_each(pass);
            module = verified(module);
            compare(seed, &before, &module, Shadows::Full, true, true);
        }
    }
}

#[test]
fn lanes_give_what_full_shadows_give() {
    let mut mix = Mix::default();
    for seed in 0..MODULES {
        let before = random_module(seed);
        for options in [&DUAL, &MERGED, &OUTPUTS] {
            let after = verified(run(before.clone(), options).0);
            let outputs = options.output_shadows;
            if !options.merge_demand {
                assert_eq!(idle::unread(&after), [""; 0], "module {seed}");
            }
            mix.compared += compare(seed, &before, &after, Shadows::Annotated, outputs, true);
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
        let off = verified(run(before.clone(), &OFF).0);
        compare(seed, &before, &off, Shadows::Annotated, false, false);
    }
    // The campaign must not be hollow.
    let runs = 3 * MODULES as usize;
    assert!(mix.compared > runs * POINTS / 2, "{}", mix.compared);
    assert!(mix.shadows > runs / 8, "{}", mix.shadows);
    assert!(mix.loops > runs / 4, "{}", mix.loops);
    assert!(mix.variants > runs / 20, "{}", mix.variants);
}
