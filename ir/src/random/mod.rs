//! Random valid modules, without lanes, for the tests of passes and engines. `tests.rs` has the
//! properties of all of them.
//!
//! Every kind of instruction appears but `Unreachable`. Loops are counted and functions call only
//! later ones, so every point ends by itself.

#[cfg(test)]
mod tests;

use crate::builder::FunctionBuilder;
use crate::metadata::{Metadata, MetadataValue};
use crate::module::*;
use crate::passes;
use crate::quad::Quad;
use crate::span::{FileId, Span};
use crate::types::{Direction, Lanes, Scalar, Type};
use Scalar::{Bool, Closure, F32, I32, Resource, U32};
use adumbra_ops::Op;
use adumbra_ops::definition::OperandKind;
use std::collections::HashSet;

/// The source of random decisions.
enum Random {
    /// A pseudo-random generator: xorshift (Marsaglia 2003).
    Seed(u64),
    /// Bytes, and 0 for ever after them: fewer and smaller ones make smaller modules, which is how
    /// they shrink.
    Choices(std::vec::IntoIter<u8>),
}

impl Random {
    fn below(&mut self, n: usize) -> usize {
        match self {
            Random::Seed(state) => {
                *state ^= *state << 13;
                *state ^= *state >> 7;
                *state ^= *state << 17;
                ((*state >> 16) % n as u64) as usize
            }
            Random::Choices(bytes) => {
                let mut byte = || usize::from(bytes.next().unwrap_or_default());
                let low = byte();
                let high = if n > 256 { byte() } else { 0 };
                (low | high << 8) % n
            }
        }
    }

    /// True once in `n` times; never where choices have run out.
    fn one_in(&mut self, n: usize) -> bool {
        let rare = match self {
            Random::Seed(_) => 0,
            Random::Choices(_) => n - 1,
        };
        self.below(n) == rare
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A small number, sometimes a special one.
    fn float(&mut self) -> f32 {
        match self.below(60) {
            0 => self.pick(&[0.0, -0.0, f32::INFINITY, f32::NAN, 1e-40, 3e38]),
            n => (n as f32 - 30.0) / 8.0 + self.below(1000) as f32 / 4096.0,
        }
    }
}

/// The signature of a function.
#[derive(Clone)]
struct Signature {
    params: Vec<Scalar>,
    results: Vec<Scalar>,
    arrays: Vec<(Scalar, u32, PassingMode)>,
    /// Whether it is one region without arrays, and calls its like alone.
    is_straight: bool,
}

/// A region that jumps can leave.
struct Target {
    region: RegionId,
    results: Vec<Scalar>,
}

/// Makes one function.
struct Maker<'a> {
    random: &'a mut Random,
    signatures: &'a [Signature],
    index: usize,
    b: FunctionBuilder,
    /// The values that can be read here.
    visible: Vec<ValueId>,
    /// Loops and blocks around this place.
    targets: Vec<Target>,
    /// Each instruction gets a place of its own.
    place: u32,
}

/// The kinds of record.
const RECORDS: [&[Scalar]; 3] = [&[F32, I32], &[F32], &[Bool, U32, F32, F32]];

const ANY: [Scalar; 6] = [F32, F32, I32, U32, Bool, Closure];

/// Ops that keep numbers small and pass shadows, so that chains of them grow long.
const FLOWING: [Op; 16] = [
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::Mix,
    Op::Min,
    Op::Max,
    Op::Clamp,
    Op::Select,
    Op::Abs,
    Op::Fract,
    Op::Saturate,
    Op::Sin,
    Op::Cos,
    Op::Tanh,
    Op::FLt,
    Op::FToI,
];

impl Maker<'_> {
    fn span(&mut self) -> Span {
        self.place += 10;
        let start = self.index as u32 * 100_000 + self.place;
        Span::new(FileId(self.random.below(2) as u16), start, start + 5)
    }

    /// Any value of that type: mostly one that is there, else a constant.
    fn value(&mut self, ty: Scalar) -> ValueId {
        let fitting: Vec<ValueId> = self
            .visible
            .iter()
            .copied()
            .filter(|&v| self.b.ty(v) == ty)
            .collect();
        if !fitting.is_empty() && !self.random.one_in(12) {
            // Mostly recent values, so that values depend on each other.
            let recent = fitting.len().saturating_sub(4);
            let from = if self.random.one_in(4) { 0 } else { recent };
            return self.random.pick(&fitting[from..]);
        }
        let span = self.span();
        if ty == Resource {
            return self.keep(InstKind::Resource(ResourceId(0)), &[], &[Resource])[0];
        }
        let bits = match ty {
            F32 => self.random.float().to_bits(),
            I32 | U32 => (self.random.below(9) as u32).wrapping_sub(2),
            Bool => self.random.below(2) as u32,
            Closure | Resource => 0,
        };
        let value = self.b.constant(ty, bits, span);
        self.visible.push(value);
        value
    }

    fn values(&mut self, types: &[Scalar]) -> Vec<ValueId> {
        types.iter().map(|&ty| self.value(ty)).collect()
    }

    /// Appends an instruction and remembers its results.
    fn keep(&mut self, kind: InstKind, args: &[ValueId], results: &[Scalar]) -> Vec<ValueId> {
        let span = self.span();
        let results = self
            .b
            .inst(kind, args.iter().copied(), results.iter().copied(), span);
        self.visible.extend(results.iter());
        for value in results.iter() {
            if self.random.one_in(3) {
                let name = NameId(self.random.below(3) as u32);
                self.b.name(value, name);
            }
        }
        results.iter().collect()
    }

    fn types(&mut self, most: usize) -> Vec<Scalar> {
        (0..self.random.below(most + 1))
            .map(|_| self.random.pick(&ANY))
            .collect()
    }

    fn array(&mut self) -> ArrayId {
        ArrayId(self.random.below(self.b.function().arrays.len()) as u32)
    }

    fn statements(&mut self, depth: usize) {
        for _ in 0..1 + self.random.below(6) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        match self.random.below(if depth > 0 { 30 } else { 25 }) {
            0..9 => self.op(),
            11..=14 if self.b.function().arrays.is_empty() => self.op(),
            9 => {
                let (global, scalar, ty) =
                    self.random.pick(&[(0, 0, F32), (1, 2, F32), (2, 0, I32)]);
                self.keep(InstKind::Global(GlobalId(global), scalar), &[], &[ty]);
            }
            10 => {
                let direction = self.random.pick(&Direction::BOTH);
                let of = self.value(F32);
                self.keep(InstKind::Shadow(direction), &[of], &[F32]);
            }
            11 | 12 => {
                let array = self.array();
                let element = self.b.function().arrays[array.index()].element;
                let args = self.values(&[I32, element]);
                self.keep(InstKind::Store(array), &args, &[]);
            }
            13 => {
                let array = self.array();
                let element = self.b.function().arrays[array.index()].element;
                let index = self.value(I32);
                self.keep(InstKind::Load(array), &[index], &[element]);
            }
            14 => {
                let (to, from) = (self.array(), self.array());
                let arrays = &self.b.function().arrays;
                let shape = |a: ArrayId| (arrays[a.index()].element, arrays[a.index()].len);
                let (copy, alike) = (
                    InstKind::ArrayCopy { to, from },
                    shape(to).0 == shape(from).0,
                );
                if shape(to) == shape(from) && !self.random.one_in(4) {
                    self.keep(copy, &[], &[]);
                } else if alike {
                    let start = self.value(I32);
                    self.keep(copy, &[start], &[]);
                } else if self.random.one_in(2) {
                    self.resize(to);
                } else {
                    self.keep(InstKind::ArrayZero(to), &[], &[]);
                }
            }
            15 | 16 => {
                let channels = self.random.pick(&[Channels::Color, Channels::Alpha]);
                let detail = match self.random.below(6) {
                    0 => MipSelection::Gradients,
                    1 => MipSelection::Level,
                    _ => MipSelection::Shadows,
                };
                let args = self.values(&[F32; 6][..detail.operand_count()]);
                let results = &[F32; 3][..channels.count() as usize];
                let kind = InstKind::Sample(TextureId(0), channels, detail);
                self.keep(kind, &args, results);
            }
            17 => {
                let args = self.values(&[F32, F32, I32, Resource]);
                self.keep(InstKind::MakeClosure(ClosureId(0)), &args, &[Closure]);
            }
            18 => {
                let args = self.values(&[Closure, Closure]);
                self.keep(InstKind::ClosureAdd, &args, &[Closure]);
            }
            19 => {
                let count = self.random.pick(&[2, 4]);
                let args = self.values(&[Closure, F32, F32, F32][..count]);
                self.keep(InstKind::ClosureScale, &args, &[Closure]);
            }
            20 => {
                let args = self.values(&[I32, F32, F32]);
                self.keep(InstKind::Message(MessageId(0)), &args, &[]);
            }
            21 | 22 => self.call(),
            23 if self.random.one_in(4) => {
                let counted = match self.random.below(4) as u32 {
                    3 => InstKind::NextIteration,
                    open => InstKind::EnterInlined(open),
                };
                self.keep(counted, &[], &[]);
            }
            23 => self.op(),
            24 if self.random.one_in(3) => self.kept(),
            24 => self.op(),
            25 | 26 => self.branch(depth - 1),
            27 => self.counted(depth - 1),
            28 => self.taped(depth - 1),
            _ => self.block(depth - 1),
        }
    }

    /// An array begins anew, nearly always within its capacity.
    fn resize(&mut self, array: ArrayId) {
        let len = self.b.function().arrays[array.index()].len;
        let part = 1 + self.random.below(2) as u32;
        let mut parts = self.value(I32);
        if !self.random.one_in(16) {
            let span = self.span();
            let most = self.b.constant(I32, (len / part).min(3), span);
            parts = self.b.op(Op::IMin, &[parts, most], span);
        }
        self.keep(InstKind::ArrayResize(array, part), &[parts], &[I32]);
    }

    fn op(&mut self) {
        let op = if self.random.one_in(3) {
            self.random.pick(Op::ALL)
        } else {
            self.random.pick(&FLOWING)
        };
        let shared = self.random.pick(&[I32, U32, Bool]);
        let mut types = op.info().operands.iter().map(|kind| match kind {
            OperandKind::Float => F32,
            OperandKind::I32 => I32,
            OperandKind::U32 => U32,
            OperandKind::Bool => Bool,
            OperandKind::Int if shared == Bool => I32,
            OperandKind::Int | OperandKind::Word => shared,
        });
        let types: Vec<Scalar> = types.by_ref().collect();
        let args = self.values(&types);
        let span = self.span();
        let value = self.b.op(op, &args, span);
        self.visible.push(value);
    }

    fn call(&mut self) {
        if self.index + 1 >= self.signatures.len() {
            return self.op();
        }
        let callee = self.index + 1 + self.random.below(self.signatures.len() - self.index - 1);
        let signature = self.signatures[callee].clone();
        if self.signatures[self.index].is_straight && !signature.is_straight {
            return self.op();
        }
        let mine = self.b.function().arrays.clone();
        let arrays: Option<Box<[ArrayId]>> = signature
            .arrays
            .iter()
            .map(|&(element, len, _)| {
                let fits = |a: &Array| (a.element, a.len) == (element, len);
                mine.iter().position(fits).map(|i| ArrayId(i as u32))
            })
            .collect();
        let Some(arrays) = arrays else {
            return self.op();
        };
        let args = self.values(&signature.params);
        self.keep(
            InstKind::Call(FuncId(callee as u32), arrays),
            &args,
            &signature.results,
        );
    }

    /// Ends a region that yields these types: mostly so, else by a jump further out.
    fn end(&mut self, yields: &[Scalar]) {
        let span = self.span();
        let (kind, types) = match self.random.below(12) {
            0 if !self.targets.is_empty() => {
                let target = &self.targets[self.random.below(self.targets.len())];
                (InstKind::Break(target.region), target.results.clone())
            }
            1 => (
                InstKind::Return,
                self.signatures[self.index].results.clone(),
            ),
            _ => (InstKind::Yield, yields.to_vec()),
        };
        let args = self.values(&types);
        self.b.terminate(kind, args, span);
    }

    /// Fills a region, which sees the values visible here and hides its own.
    fn region(&mut self, fill: impl FnOnce(&mut Self, RegionId)) -> RegionId {
        let visible = self.visible.len();
        let region = self.b.open_region();
        fill(self, region);
        self.b.close_region();
        self.visible.truncate(visible);
        region
    }

    fn branch(&mut self, depth: usize) {
        let condition = self.value(Bool);
        let results = self.types(3);
        let mut arms = [RegionId(0); 2];
        for arm in &mut arms {
            *arm = self.region(|m, _| {
                m.statements(depth);
                m.end(&results);
            });
        }
        self.keep(InstKind::If(arms[0], arms[1]), &[condition], &results);
    }

    fn block(&mut self, depth: usize) {
        let results = self.types(2);
        let region = self.region(|m, region| {
            m.targets.push(Target {
                region,
                results: results.clone(),
            });
            m.statements(depth);
            m.end(&results);
            m.targets.pop();
        });
        self.keep(InstKind::Block(region), &[], &results);
    }

    /// A loop with a counter from at most 4 down to 0, and other things that it carries.
    fn counted(&mut self, depth: usize) {
        let results = self.types(2);
        let mut carried = self.types(3);
        carried.push(I32);
        let span = self.span();
        // Most loops have as many iterations as the point decides; a loop with a constant count is
        // unrolled.
        let count = match self.random.one_in(4) {
            true => {
                let count = self.random.below(5) as i32;
                self.b.int(count, span)
            }
            false => {
                let [any, most] = [self.value(I32), self.b.int(3, span)];
                self.b.op(Op::And, &[any, most], span)
            }
        };
        let mut initial = self.values(&carried[..carried.len() - 1]);
        initial.push(count);
        let region = self.region(|m, region| {
            let params: Vec<ValueId> = carried.iter().map(|&ty| m.b.param(ty, span)).collect();
            m.visible.extend(&params);
            let counter = params[params.len() - 1];
            let zero = m.b.int(0, span);
            let done = m.b.op(Op::ILe, &[counter, zero], span);
            let leave = m.region(|m, _| {
                let args = m.values(&results);
                m.b.terminate(InstKind::Break(region), args, span);
            });
            let stay = m.region(|m, _| m.b.terminate(InstKind::Yield, [], span));
            m.b.inst(InstKind::If(leave, stay), [done], [], span);
            m.targets.push(Target {
                region,
                results: results.clone(),
            });
            m.statements(depth);
            m.targets.pop();
            let one = m.b.int(1, span);
            let next = m.b.op(Op::ISub, &[counter, one], span);
            let mut args = m.values(&carried[..carried.len() - 1]);
            args.push(next);
            m.b.terminate(InstKind::Continue(region), args, span);
        });
        self.keep(InstKind::Loop(region), &initial, &results);
    }
}

/// Tapes.
impl Maker<'_> {
    fn tape(&mut self) -> (TapeId, usize) {
        (
            TapeId(self.random.pick(&[0, 1, 7])),
            self.random.below(RECORDS.len()),
        )
    }

    /// A record that is taken where it was kept; rarely it stays on its tape, or is taken twice.
    fn kept(&mut self) {
        let (tape, record) = self.tape();
        let (fields, id) = (RECORDS[record], RecordId(record as u32));
        let args = self.values(fields);
        self.keep(InstKind::Keep(tape, id), &args, &[]);
        if self.random.one_in(8) {
            return;
        }
        self.op();
        let last = self.value(F32);
        self.keep(InstKind::Take(tape, id), &[], fields);
        self.visible.push(last);
        if self.random.one_in(24) {
            self.keep(InstKind::Take(tape, id), &[], fields);
        }
    }

    /// A loop that keeps a record in each iteration, and one that takes them; rarely it takes one
    /// that was not kept.
    fn taped(&mut self, depth: usize) {
        let (tape, record) = self.tape();
        let (fields, id) = (RECORDS[record], RecordId(record as u32));
        let span = self.span();
        let [any, most] = [self.value(I32), self.b.int(7, span)];
        let mut count = self.b.op(Op::And, &[any, most], span);
        let carried = self.value(F32);
        let first = self.sweep(depth, count, carried, |m| {
            let args = m.values(fields);
            m.keep(InstKind::Keep(tape, id), &args, &[]);
        });
        if self.random.one_in(24) {
            let one = self.b.int(1, span);
            count = self.b.op(Op::IAdd, &[count, one], span);
        }
        self.sweep(depth, count, first, |m| {
            m.keep(InstKind::Take(tape, id), &[], fields);
        });
    }

    /// A loop of `count` iterations that begin alike, and carry a float, which is the result.
    fn sweep(
        &mut self,
        depth: usize,
        count: ValueId,
        carried: ValueId,
        each: impl FnOnce(&mut Self),
    ) -> ValueId {
        let span = self.span();
        let region = self.region(|m, region| {
            let params = [F32, I32].map(|ty| m.b.param(ty, span));
            m.visible.extend(params);
            let zero = m.b.int(0, span);
            let done = m.b.op(Op::ILe, &[params[1], zero], span);
            let leave = m.region(|m, _| m.b.terminate(InstKind::Break(region), [params[0]], span));
            let stay = m.region(|m, _| m.b.terminate(InstKind::Yield, [], span));
            m.b.inst(InstKind::If(leave, stay), [done], [], span);
            each(m);
            m.statements(depth);
            let one = m.b.int(1, span);
            let next = m.b.op(Op::ISub, &[params[1], one], span);
            let carried = m.value(F32);
            m.b.terminate(InstKind::Continue(region), [carried, next], span);
        });
        self.keep(InstKind::Loop(region), &[carried, count], &[F32])[0]
    }
}

fn function(random: &mut Random, signatures: &[Signature], index: usize) -> Function {
    let signature = &signatures[index];
    let span = Span::new(
        FileId::MAIN,
        index as u32 * 100_000,
        index as u32 * 100_000 + 9,
    );
    let mut m = Maker {
        b: FunctionBuilder::new(["main", "f", "f", "g"][index.min(3)], span),
        random,
        signatures,
        index,
        visible: Vec::new(),
        targets: Vec::new(),
        place: 0,
    };
    let params = signature.params.iter().map(|&ty| m.b.param(ty, span));
    m.visible = params.collect();
    let params = signature
        .arrays
        .iter()
        .map(|&(element, len, mode)| (element, len, Some(mode)));
    let locals = [
        (F32, 4, None),
        (I32, 3, None),
        (F32, 4, None),
        (F32, 7, None),
    ];
    let locals = locals.into_iter().filter(|_| !signature.is_straight);
    for (element, len, mode) in params.chain(locals) {
        m.b.array(Array {
            element,
            len,
            lanes: Lanes::NONE,
            mode,
            span,
            name: None,
        });
    }
    for (global, scalar) in [(0, 0), (1, 0), (1, 1)] {
        m.keep(InstKind::Global(GlobalId(global), scalar), &[], &[F32]);
    }
    for _ in 0..4 {
        m.statements(if signature.is_straight { 0 } else { 3 });
    }
    let args = m.values(&signature.results);
    let place = m.span();
    m.b.terminate(InstKind::Return, args, place);
    let function = m.b.function_mut();
    function.results = signature
        .results
        .iter()
        .map(|&ty| FuncResult {
            ty,
            lanes: Lanes::NONE,
        })
        .collect();
    // Places in straight functions of the library would become those of their calls.
    function.library = index > 0 && !signature.is_straight && m.random.one_in(2);
    m.b.finish()
}

/// A valid module in which every derivative can be taken from neighbours; the refused ones become
/// explicit gradients, or no derivatives.
pub fn generate_convergent(seed: u64) -> Module {
    let mut module = generate(seed);
    // A refusal in the library is reported at a call of it.
    let mut shown = module.clone();
    let functions = shown.functions.iter_mut();
    functions.for_each(|function| function.library = false);
    let Err(refused) = passes::quads(shown, Quad::Fine, passes::AtDivergence::Refuse) else {
        return module;
    };
    // Each instruction has a place of its own.
    let refused: HashSet<Span> = refused.into_iter().map(|found| found.span).collect();
    let functions = module.functions.iter_mut();
    let regions = functions.flat_map(|function| &mut function.regions);
    for inst in regions.flat_map(|region| &mut region.insts) {
        match inst.kind {
            _ if !refused.contains(&inst.span) => {}
            InstKind::Shadow(_) => inst.kind = InstKind::Op(Op::Fract),
            InstKind::Sample(texture, channels, _) => {
                let coordinates = inst.args.clone();
                inst.args
                    .extend(coordinates.iter().cycle().take(4).copied());
                inst.kind = InstKind::Sample(texture, channels, MipSelection::Gradients);
            }
            _ => unreachable!("nothing else is refused"),
        }
    }
    module
}

/// A few entries of all types.
fn metadata(random: &mut Random) -> Vec<Metadata> {
    let names = ["label", "min", "max", "odd \"name\""];
    let entry = |name: &&str| {
        let value = match random.below(6) {
            0 => MetadataValue::Bool(random.one_in(2)),
            1 => MetadataValue::Int(random.below(9) as i32 - 4),
            2 => MetadataValue::Uint(random.below(9) as u32),
            3 => MetadataValue::Float(random.below(9) as f32 / 8.0),
            4 => MetadataValue::String("a \"b\"\n\u{fc}".into()),
            _ => return None,
        };
        let name = (*name).into();
        Some(Metadata { name, value })
    };
    names.iter().filter_map(entry).collect()
}

/// A record of these types, without lanes.
fn record(types: &[Scalar]) -> Record {
    let lanes = Lanes::NONE;
    let fields = types.iter().map(|&ty| FuncResult { ty, lanes });
    Record {
        fields: fields.collect(),
    }
}

/// A valid module without lanes; the same for the same seed.
pub fn generate(seed: u64) -> Module {
    let state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    module(Random::Seed(state))
}

/// A valid module without lanes, by these choices: fewer and smaller ones make a smaller module.
pub fn generate_by(choices: &[u8]) -> Module {
    module(Random::Choices(Vec::from(choices).into_iter()))
}

fn module(mut random: Random) -> Module {
    let types = |random: &mut Random, most: usize| -> Vec<Scalar> {
        (0..random.below(most + 1))
            .map(|_| random.pick(&ANY))
            .collect()
    };
    let mut signatures = vec![Signature {
        params: vec![F32, I32],
        results: vec![F32, F32, F32, I32, Closure],
        arrays: Vec::new(),
        is_straight: false,
    }];
    for _ in 0..random.below(5) {
        let is_straight = random.one_in(2);
        let modes = [PassingMode::In, PassingMode::Out, PassingMode::InOut];
        let arrays = match is_straight {
            true => 0,
            false => random.below(3),
        };
        let arrays = (0..arrays).map(|_| (F32, 4, random.pick(&modes)));
        signatures.push(Signature {
            is_straight,
            arrays: arrays.collect(),
            params: types(&mut random, 3),
            results: types(&mut random, 3),
        });
    }
    let functions = (0..signatures.len()).map(|i| function(&mut random, &signatures, i));
    let global = |name: &str, ty| Global {
        name: name.into(),
        ty,
    };
    Module {
        functions: functions.collect(),
        entry: FuncId(0),
        globals: vec![
            global("a", Type::FLOAT),
            global("v", Type::Vector(3)),
            global("n", Type::Scalar(I32)),
        ],
        textures: vec!["wood".into()],
        resources: vec!["tab".into()],
        closures: vec![ClosureShape {
            name: "glow".into(),
            params: vec![Type::Vector(2), Type::Scalar(I32), Type::Scalar(Resource)],
        }],
        messages: vec![Message {
            format: "n %d at %g\n".into(),
            params: vec![Type::Scalar(I32), Type::Vector(2)],
        }],
        records: RECORDS.map(record).into(),
        hints: Default::default(),
        inputs: vec![
            Input {
                name: "k".into(),
                ty: Type::FLOAT,
                default: vec![0.75_f32.to_bits()],
                metadata: metadata(&mut random),
            },
            Input {
                name: "i".into(),
                ty: Type::Scalar(I32),
                default: vec![2],
                metadata: metadata(&mut random),
            },
        ],
        outputs: vec![
            Output {
                name: "color".into(),
                ty: Type::Vector(3),
                metadata: Vec::new(),
            },
            Output {
                name: "count".into(),
                ty: Type::Scalar(I32),
                metadata: Vec::new(),
            },
            Output {
                name: "c".into(),
                ty: Type::Scalar(Closure),
                metadata: Vec::new(),
            },
        ],
        names: ["x", "y.z", "x"].map(String::from).into(),
        quad: None,
    }
}
