//! The interface of engines and host: limits, faults, texture requests, closure trees.
//!
//! These types define the observable results of an evaluation, so engines that agree to the bit
//! agree in them. None of them holds pixels, threads or global state.

#[cfg(test)]
mod tests;
mod texture;

use crate::codes::Code;
use crate::module::{ClosureId, MessageId};
use crate::span::Span;
use adumbra_ops::OpFault;
pub use adumbra_ops::canonical::{CANONICAL_NAN, canonical_float, read_shadow};
use std::iter::{Chain, Copied, Flatten, Once, once};
use std::slice;
pub use texture::{SampleRequest, Sampled, Texel, TexelSlopes};

/// Steps that a point may take: one for each iteration of a loop but its first, one for each
/// function entered, the shader's own included, and those of instructions that move many words
/// ([`move_steps`]).
pub const DEFAULT_STEPS: u64 = 1 << 20;
/// Functions that may be active at once, the shader's own included.
pub const DEFAULT_CALL_DEPTH: u32 = 256;
/// Array elements that all active functions may hold together.
pub const DEFAULT_ARRAY_ELEMENTS: u32 = 1 << 22;
/// Nodes and argument words that one point's closures may take together.
pub const DEFAULT_CLOSURE_SIZE: u32 = 1 << 18;
/// Words that a point may keep on its tapes: one for each value, whether it has shadows or not.
pub const DEFAULT_KEPT_WORDS: u32 = 1 << 22;
/// Points of one evaluator that may be parked at once.
pub const DEFAULT_PARKED: u32 = 1 << 12;
/// Bytes that parked points may hold together.
pub const DEFAULT_PARKED_BYTES: usize = 1 << 28;
/// The upper bound of [`Limits::call_depth`].
pub const MAX_CALL_DEPTH: u32 = 1 << 14;
/// The upper bound of [`Limits::array_elements`].
pub const MAX_ARRAY_ELEMENTS: u32 = 1 << 24;
/// The upper bound of [`Limits::kept_words`].
pub const MAX_KEPT_WORDS: u32 = 1 << 26;
/// Words that an instruction moves for one step: elements, arguments, values of a record, each one
/// word whether it has shadows or not. So no program can keep an engine busy for long within its
/// budget, and arrays and records of ordinary size cost nothing extra.
pub const WORDS_PER_STEP: u32 = 256;
/// Distinct faults that are kept for a point.
pub const MAX_FAULTS: usize = 16;

/// Work between two queries for cancellation, some milliseconds: instructions that round once, each
/// for up to [`QUERY_POINTS`] points.
pub const QUERY_WORK: u64 = 1 << 21;
/// Points for which an instruction in a batch is as much work as for one.
pub const QUERY_POINTS: usize = 8;
/// The most steps between two queries for cancellation.
pub const MAX_QUERY_PERIOD: u64 = 1 << 10;

/// Steps between two queries for cancellation. The budget does not depend on how long a step is,
/// since optimisation may not change it. So a program with long steps asks after fewer of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryPeriod {
    /// The period, a power of two, less one.
    mask: u64,
}

impl QueryPeriod {
    /// The host is asked at each step.
    pub const EVERY_STEP: QueryPeriod = QueryPeriod { mask: 0 };

    /// The period of a program whose steps take at most that much work: the greatest that keeps to
    /// [`QUERY_WORK`] and [`MAX_QUERY_PERIOD`].
    pub const fn of(step_work: u64) -> QueryPeriod {
        let mut period = MAX_QUERY_PERIOD;
        while period > 1 && step_work > QUERY_WORK / period {
            period /= 2;
        }
        QueryPeriod { mask: period - 1 }
    }

    /// The number of steps.
    pub const fn steps(self) -> u64 {
        self.mask + 1
    }

    /// Whether a query is due: `taken` steps were taken, 1 or more, and `left` are left.
    #[inline(always)]
    pub const fn is_due(self, left: u64, taken: u64) -> bool {
        match left & self.mask {
            0 => taken > 0,
            past => taken > self.steps() - past,
        }
    }

    /// The steps, of those left, before the next one at which the host is asked. The last step of
    /// all counts as one.
    #[inline(always)]
    pub const fn steps_before_query(self, left: u64) -> u64 {
        left.saturating_sub(1) & self.mask
    }
}

/// Steps for moving `words` words. Instructions take them before they do anything else, for the
/// words that they [move](crate::moved_words), and `array_resize` for those that it clears.
/// Entering a function takes them for arrays that it [clears](crate::entry_steps). A call takes
/// them for array parameters, in and out. It takes them for all arrays of a caller that may be
/// entered again before the call returns.
pub const fn move_steps(words: u32) -> u64 {
    (words / WORDS_PER_STEP) as u64
}

/// The limits of a point before it is stopped, and of parked points. On entering a function its
/// step is taken first, then the depth is checked, then the arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// See [`DEFAULT_STEPS`].
    pub steps: u64,
    /// See [`DEFAULT_CALL_DEPTH`]; at most [`MAX_CALL_DEPTH`].
    pub call_depth: u32,
    /// See [`DEFAULT_ARRAY_ELEMENTS`]; at most [`MAX_ARRAY_ELEMENTS`]. Array parameters count for
    /// caller and callee.
    pub array_elements: u32,
    /// See [`DEFAULT_CLOSURE_SIZE`].
    pub closure_size: u32,
    /// See [`DEFAULT_KEPT_WORDS`]; at most [`MAX_KEPT_WORDS`].
    pub kept_words: u32,
    /// See [`DEFAULT_PARKED`]. It stops no point: parking one more is an error for its host.
    pub parked: u32,
    /// See [`DEFAULT_PARKED_BYTES`]; as for `parked`.
    pub parked_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            steps: DEFAULT_STEPS,
            call_depth: DEFAULT_CALL_DEPTH,
            array_elements: DEFAULT_ARRAY_ELEMENTS,
            closure_size: DEFAULT_CLOSURE_SIZE,
            kept_words: DEFAULT_KEPT_WORDS,
            parked: DEFAULT_PARKED,
            parked_bytes: DEFAULT_PARKED_BYTES,
        }
    }
}

impl Limits {
    /// The limits with those above the upper bounds reduced to them.
    pub fn bounded(self) -> Limits {
        Limits {
            call_depth: self.call_depth.min(MAX_CALL_DEPTH),
            array_elements: self.array_elements.min(MAX_ARRAY_ELEMENTS),
            kept_words: self.kept_words.min(MAX_KEPT_WORDS),
            ..self
        }
    }
}

/// The kinds of fault of a point's evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// An array index was out of range, and clamped.
    IndexOutOfRange,
    /// An integer was divided by zero, which gave 0.
    DivisionByZero,
    /// An array was to have a negative number of elements, and has none.
    NegativeArraySize,
    /// A loop of a function that is differentiated backward had more iterations than its
    /// `[MaxIters]` says. The gradient is right.
    TooManyIterations,
    /// The host gave no slopes of a texel whose derivatives are needed, which count as 0.
    NoSlopes,
    /// Something that is not finite was added to a sum of gradients.
    SumNotFinite,
    /// More than [`Limits::steps`]: the point was stopped.
    StepBudget,
    /// More than [`Limits::call_depth`]: the point was stopped.
    CallDepth,
    /// More than [`Limits::array_elements`], or than an array sized while shading may have: the
    /// point was stopped.
    ArraySize,
    /// More than [`Limits::closure_size`]: the point was stopped.
    ClosureSize,
    /// More than [`Limits::kept_words`]: the point was stopped.
    KeptWords,
    /// A record was taken that was never kept: the point was stopped.
    NothingKept,
    /// Control reached an unreachable instruction: the point was stopped.
    Unreachable,
    /// The host cancelled: the point was stopped.
    Cancelled,
}

impl From<OpFault> for FaultKind {
    fn from(fault: OpFault) -> FaultKind {
        match fault {
            OpFault::IndexOutOfRange => FaultKind::IndexOutOfRange,
            OpFault::DivisionByZero => FaultKind::DivisionByZero,
            OpFault::TooManyIterations => FaultKind::TooManyIterations,
        }
    }
}

impl FaultKind {
    /// Whether the point is stopped: its outputs and shadows are zero, its closures empty.
    pub const fn stops(self) -> bool {
        !matches!(
            self,
            FaultKind::IndexOutOfRange
                | FaultKind::DivisionByZero
                | FaultKind::NegativeArraySize
                | FaultKind::TooManyIterations
                | FaultKind::NoSlopes
                | FaultKind::SumNotFinite
        )
    }

    /// The advice for it.
    pub const fn help(self) -> &'static str {
        match self {
            FaultKind::IndexOutOfRange => {
                "the nearest element was taken (in an empty array 0 is read, and nothing written); keep the index between 0 and the length less one"
            }
            FaultKind::DivisionByZero => "the result is 0; ask whether the divisor is 0 before",
            FaultKind::NegativeArraySize => {
                "the array is empty; ask whether the size is negative before, or write `max(n, 0)`"
            }
            FaultKind::TooManyIterations => {
                "the gradient is right; write a greater number, or remove `[MaxIters]`"
            }
            FaultKind::NoSlopes => {
                "let the host answer with slopes, or compile without `texture_slopes`"
            }
            FaultKind::SumNotFinite => {
                "the sum of that number is not finite, either; look for a division by 0, or a root or logarithm at its end"
            }
            FaultKind::StepBudget => {
                "let the loop or recursion end, or allow more steps (`--steps`, `Limits::steps`)"
            }
            FaultKind::CallDepth => "let the recursion end, or use a loop and an array",
            FaultKind::ArraySize => {
                "use smaller arrays, or let fewer functions with arrays be active at once"
            }
            FaultKind::ClosureSize => "add up the weights of equal closures before making one",
            FaultKind::KeptWords => {
                "let the loop or recursion be shorter, or allow more kept words (`Limits::kept_words`)"
            }
            FaultKind::NothingKept => {
                "the program was not made by the compiler; compile its source again"
            }
            FaultKind::Unreachable => {
                "the program was not made by the compiler; compile its source again"
            }
            FaultKind::Cancelled => "the host did not want to wait any longer",
        }
    }

    /// The code that it is reported under.
    pub const fn code(self) -> Code {
        match self {
            FaultKind::IndexOutOfRange => Code::IndexOutOfRange,
            FaultKind::DivisionByZero => Code::DivisionByZero,
            FaultKind::NegativeArraySize => Code::NegativeArraySize,
            FaultKind::TooManyIterations => Code::TooManyIterations,
            FaultKind::NoSlopes => Code::NoSlopes,
            FaultKind::SumNotFinite => Code::SumNotFinite,
            FaultKind::StepBudget => Code::StepBudget,
            FaultKind::CallDepth => Code::CallDepth,
            FaultKind::ArraySize => Code::ArraySize,
            FaultKind::ClosureSize => Code::ClosureSize,
            FaultKind::KeptWords => Code::KeptWords,
            FaultKind::NothingKept => Code::NothingKept,
            FaultKind::Unreachable => Code::UnreachableReached,
            FaultKind::Cancelled => Code::Cancelled,
        }
    }
}

/// One fault of one point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// The kind.
    pub kind: FaultKind,
    /// The span of the instruction; of the call, for limits met on entering a function.
    pub span: Span,
}

impl<'a> IntoIterator for &'a Faults {
    type Item = Fault;
    type IntoIter = Copied<Flatten<Chain<slice::Iter<'a, Option<Fault>>, Once<&'a Option<Fault>>>>>;

    fn into_iter(self) -> Self::IntoIter {
        let kept = self.kept[..self.len].iter();
        kept.chain(once(&self.stopped)).flatten().copied()
    }
}

/// The faults of one point: a set in order of first occurrence, of bounded size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    kept: [Option<Fault>; MAX_FAULTS],
    len: usize,
    more: u32,
    stopped: Option<Fault>,
}

impl Faults {
    /// Records a fault. A second one of the same kind and span changes nothing; one beyond
    /// [`MAX_FAULTS`] is only counted, unless it stops the point.
    pub fn add(&mut self, kind: FaultKind, span: Span) {
        let fault = Some(Fault { kind, span });
        if kind.stops() {
            self.stopped = self.stopped.or(fault);
        } else if !self.kept[..self.len].contains(&fault) {
            match self.kept.get_mut(self.len) {
                Some(free) => {
                    *free = fault;
                    self.len += 1;
                }
                None => self.more = self.more.saturating_add(1),
            }
        }
    }

    /// Forgets everything, for the next point.
    pub fn clear(&mut self) {
        *self = Faults::default();
    }

    /// The faults kept, in order; the one that stopped the point last.
    pub fn iter(&self) -> impl Iterator<Item = Fault> {
        self.into_iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0 && self.stopped.is_none()
    }

    /// The number of faults beyond the capacity, repetitions included.
    pub fn omitted_count(&self) -> u32 {
        self.more
    }

    /// The fault that stopped the point.
    pub fn stopped(&self) -> Option<Fault> {
        self.stopped
    }
}

/// The host's callbacks during an evaluation. The engines own no pixels and no clock.
pub trait Host<F = f32> {
    /// Answers one request. Requests of a point come in the order in which it executes them. A
    /// sample that always comes after an equal one takes its answer.
    fn sample(&mut self, request: &SampleRequest<F>) -> Sampled;

    /// Answers the requests of one sample for many points of a batch at once: `points` are their
    /// indices, ascending. The answers are in the same order.
    fn sample_batch(
        &mut self,
        points: &[usize],
        requests: &[SampleRequest<F>],
        answers: &mut [Sampled],
    ) {
        for ((&point, request), answer) in points.iter().zip(requests).zip(answers) {
            self.at_point(point);
            *answer = self.sample(request);
        }
    }

    /// Announces the point of a batch whose requests follow, or the point, 0 to 3, of a quad that
    /// is evaluated by itself. Only batches and quads call it.
    fn at_point(&mut self, point: usize) {
        let _ = point;
    }

    /// Receives the adjoint of a sample: the derivative by each number of the texel, and by the
    /// slopes if these were used. A gradient by a texture calls it, backward. What a sample reads
    /// is linear in the texels, so a host adds to each texel's gradient its weight in the answer
    /// times the adjoint. The request is that of the sample, but that `slopes` says whether the
    /// adjoint has any. Adjoints of a point come in the reverse order of its samples, also of one
    /// that is stopped later; those of different points in any order, so that sums are the same
    /// only if they are exact.
    fn texture_adjoint(&mut self, request: &SampleRequest<F>, adjoint: &Texel) {
        let _ = (request, adjoint);
    }

    /// Receives the adjoints of one sample for many points of a batch at once: `points` are their
    /// indices, ascending.
    fn texture_adjoint_batch(
        &mut self,
        points: &[usize],
        requests: &[SampleRequest<F>],
        adjoints: &[Texel],
    ) {
        for ((&point, request), adjoint) in points.iter().zip(requests).zip(adjoints) {
            self.at_point(point);
            self.texture_adjoint(request, adjoint);
        }
    }

    /// Answers a request of a helper: a point that is evaluated only for its neighbours in a quad,
    /// whose derivatives need its samples. A helper gives no messages, and its outputs and faults
    /// are dropped.
    fn sample_for_helper(&mut self, request: &SampleRequest<F>) -> Sampled {
        self.sample(request)
    }

    /// Receives a message of the point, in order with its requests: its number among the program's,
    /// and the arguments for [`Message::render`](crate::message::Message::render). It is called for
    /// each one executed, also of a point that is stopped later.
    fn message(&mut self, message: MessageId, args: &[u32]) {
        let _ = (message, args);
    }

    /// Whether the point is to be stopped, by a cancellation or deadline of the host. An engine
    /// asks after at most [`MAX_QUERY_PERIOD`] steps, and every few milliseconds of its own work.
    /// The other points of a batch are asked about at their next steps.
    fn is_cancelled(&mut self) -> bool {
        false
    }
}

/// A host whose every texture is the same four channels everywhere, with slopes of 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConstantTexture(pub [f32; 4]);

impl<F> Host<F> for ConstantTexture {
    fn sample(&mut self, _: &SampleRequest<F>) -> Sampled {
        Texel::flat(self.0).into()
    }
}

/// A reference to a node of a [`ClosureArena`], or the empty closure. Only an arena makes others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClosureRef(u32);

impl ClosureRef {
    /// The closure that reflects nothing; the value of an uninitialised closure.
    pub const EMPTY: ClosureRef = ClosureRef(0);

    /// As a register holds it: 0 for the empty closure, which is the bit pattern of the only
    /// closure constant.
    pub const fn word(self) -> u32 {
        self.0
    }

    /// From a register of a verified program.
    pub const fn from_word(word: u32) -> ClosureRef {
        ClosureRef(word)
    }

    /// Whether it is the empty closure.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// One node of a closure tree. Children are older than their parents. `A` says where the arguments
/// of leaves are; of an arena's, start and count in [`ClosureArena::args`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClosureNode<A = (u32, u32)> {
    /// Made by `make_closure`.
    Leaf {
        /// Its shape: name and parameter types.
        shape: ClosureId,
        /// Its arguments' scalars.
        args: A,
    },
    /// The sum of two closures, neither empty.
    Add(ClosureRef, ClosureRef),
    /// A closure, not empty, times a number.
    Scale(ClosureRef, f32),
    /// A closure, not empty, times a colour.
    Tint(ClosureRef, [f32; 3]),
}

/// The closures of one point. A loop can make a tree as deep as the limit allows: walk it without
/// recursion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClosureArena {
    nodes: Vec<ClosureNode>,
    args: Vec<u32>,
}

impl ClosureArena {
    /// Forgets all closures but keeps the memory.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.args.clear();
    }

    /// Becomes a copy of another arena, reusing its memory if that is enough.
    pub fn copy_from(&mut self, other: &ClosureArena) {
        self.clear();
        self.nodes.reserve_exact(other.nodes.len());
        self.nodes.extend_from_slice(&other.nodes);
        self.args.reserve_exact(other.args.len());
        self.args.extend_from_slice(&other.args);
    }

    /// Bytes of the heap that it holds.
    pub fn memory(&self) -> usize {
        self.memory_for(&ClosureArena::default())
    }

    /// Bytes of the heap that it would hold with a copy of another arena.
    pub fn memory_for(&self, other: &ClosureArena) -> usize {
        let nodes = self.nodes.capacity().max(other.nodes.len());
        let args = self.args.capacity().max(other.args.len());
        nodes * size_of::<ClosureNode>() + args * size_of::<u32>()
    }

    /// Nodes and argument words so far, which [`Limits::closure_size`] bounds.
    pub fn size(&self) -> usize {
        self.nodes.len() + self.args.len()
    }

    /// How many nodes there are: their numbers begin at 1.
    pub fn count(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// The node, or `None` for the empty closure.
    pub fn node(&self, closure: ClosureRef) -> Option<ClosureNode> {
        let index = closure.0.checked_sub(1)?;
        self.nodes.get(index as usize).copied()
    }

    /// The words of a leaf's arguments; floats by their bits, no NaN but the canonical one.
    pub fn args(&self, args: (u32, u32)) -> &[u32] {
        &self.args[args.0 as usize..][..args.1 as usize]
    }

    fn push(&mut self, node: ClosureNode) -> ClosureRef {
        self.nodes.push(node);
        ClosureRef(self.nodes.len() as u32)
    }

    /// Makes a leaf. The caller has made NaNs canonical.
    pub fn leaf(&mut self, shape: ClosureId, args: impl IntoIterator<Item = u32>) -> ClosureRef {
        let start = self.args.len() as u32;
        self.args.extend(args);
        let args = (start, self.args.len() as u32 - start);
        self.push(ClosureNode::Leaf { shape, args })
    }

    /// `a + b`; adding the empty closure gives the other one.
    pub fn add(&mut self, a: ClosureRef, b: ClosureRef) -> ClosureRef {
        match (a.is_empty(), b.is_empty()) {
            (true, _) => b,
            (_, true) => a,
            _ => self.push(ClosureNode::Add(a, b)),
        }
    }

    /// `weight · a`; the empty closure stays empty.
    pub fn scale(&mut self, a: ClosureRef, weight: f32) -> ClosureRef {
        if a.is_empty() {
            return a;
        }
        self.push(ClosureNode::Scale(a, canonical_float(weight)))
    }

    /// `color · a`; the empty closure stays empty.
    pub fn tint(&mut self, a: ClosureRef, color: [f32; 3]) -> ClosureRef {
        if a.is_empty() {
            return a;
        }
        self.push(ClosureNode::Tint(a, color.map(canonical_float)))
    }
}
