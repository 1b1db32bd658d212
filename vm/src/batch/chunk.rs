//! The points of a chunk while they run: their positions, their budgets, and the schedule.
//!
//! Control follows the jumps of the bytecode. Each point has a position: its open calls, and the
//! next instruction. The points at the lowest position are active: the deepest call first, then the
//! lowest PC. Where they diverge, one part becomes an inactive group. Code goes forward except for
//! loops, so a point that can still reach an inactive group is before it, and runs first. The order
//! affects speed alone: a point owns its column of every plane, and none of its values depends on
//! the points that run with it.
//!
//! The deepest call comes first, so no inactive point is deeper than a group that makes a call.
//! Points that are deeper later came by that call, and one stack of open calls serves the whole
//! chunk.

use super::active::ActivePoints;
use super::closures::ClosureMaker;
use super::memory::{ChunkMemory, plane_words};
use super::min_pc::{InactiveGroups, SchedulePosition, StepAccount};
use super::quads::{QUAD, Quads};
use super::results::ChunkResults;
use super::saved_words::SavedWords;
use super::source::GlobalSource;
use super::tapes::ChunkTapes;
use crate::bytecode::{Bytecode, query_period};
use crate::point::{Outcome, PointMachine, no_buffers};
use adumbra_ir::buffer::BufferMemory;
use adumbra_ir::host::{
    FaultKind, Host, Limits, QUERY_POINTS, QueryPeriod, SampleRequest, Sampled, Texel,
};
use adumbra_ir::span::Span;
use adumbra_simd::SimdLevel;
use std::sync::Arc;

/// More steps than a point has left: it is to be stopped.
const NONE_LEFT: u64 = u64::MAX;

/// Where an event happens. Its source span is looked up when it is reported.
#[derive(Clone, Copy)]
pub(super) enum Site {
    /// The shader as a whole.
    Shader,
    /// An instruction of the bytecode.
    Instruction(u32),
}

/// The context of a run, apart from the chunk.
pub(super) struct RunContext<'a> {
    pub(super) host: &'a mut dyn Host,
    pub(super) sources: &'a [GlobalSource<'a>],
    /// The index of the chunk's first point in the sources.
    pub(super) first: usize,
}

impl RunContext<'_> {
    /// The globals of a point; those that are `uniform` are the first point's.
    pub(super) fn read_globals(&self, point: usize, uniform: &[bool], globals: &mut [u32]) {
        let sources = self.sources.iter().zip(uniform);
        for (global, (source, &is_uniform)) in globals.iter_mut().zip(sources) {
            *global = source.get(self.first + if is_uniform { 0 } else { point });
        }
    }
}

pub(super) struct Chunk {
    pub(super) program: Arc<Bytecode>,
    pub(super) limits: Limits,
    /// After how many steps the host is asked about cancellation: those of the program, or fewer
    /// once it has cancelled.
    pub(super) query_period: QueryPeriod,
    /// After how many it is asked for the work of a step of all points.
    pub(super) work_period: QueryPeriod,
    /// The same for the points of a point machine.
    pub(super) point_period: QueryPeriod,
    pub(super) width: usize,
    pub(super) memory: ChunkMemory,
    pub(super) results: ChunkResults,
    /// The machines for points that bail out: one, or one for each corner of a quad.
    pub(super) point_machines: Box<[PointMachine]>,
    /// The quads, if the program's points are evaluated in quads.
    pub(super) quads: Option<Quads>,
    /// Buffer for the globals of one point.
    pub(super) globals: Box<[u32]>,
    /// Words of the globals that are the same for all points.
    pub(super) uniform: Box<[bool]>,
    pub(super) active: ActivePoints,
    pub(super) inactive: InactiveGroups,
    /// Steps that each point has left, less what its group owes; not written while they are
    /// `alike`.
    pub(super) steps: Box<[u64]>,
    /// No point is inactive, and each active point has the least steps of the account left.
    alike: bool,
    /// The steps that the active group owes.
    pub(super) account: StepAccount,
    /// Array elements that points have left, for each number of open calls.
    pub(super) elements: Box<[u32]>,
    /// For each open call, the instruction after it.
    pub(super) return_addresses: Box<[u32]>,
    /// Open calls of the active group.
    pub(super) depth: usize,
    /// The next instruction of the active group.
    pub(super) pc: usize,
    /// Results of tests, by SIMD vector.
    pub(super) test_masks: Box<[u32]>,
    pub(super) requests: HostRequests,
    pub(super) maker: ClosureMaker,
    pub(super) saved_words: SavedWords,
    /// What points have kept.
    pub(super) tapes: ChunkTapes,
    /// The program's buffers.
    pub(super) buffers: Arc<BufferMemory>,
    /// Buffer for points that have kept too much.
    pub(super) beyond: Vec<usize>,
}

/// Buffers for the requests of one sample.
#[derive(Default)]
pub(super) struct HostRequests {
    pub(super) points: Vec<usize>,
    pub(super) requests: Vec<SampleRequest>,
    pub(super) answers: Vec<Sampled>,
    pub(super) adjoints: Vec<Texel>,
    /// The arguments of a message.
    pub(super) arguments: Vec<u32>,
}

impl Chunk {
    pub(super) fn new(
        program: &Arc<Bytecode>,
        limits: Limits,
        memory: ChunkMemory,
        level: SimdLevel,
        [width, vector_width, depth, reconvergence_points]: [usize; 4],
        uniform: Vec<bool>,
    ) -> Chunk {
        let padded = width.next_multiple_of(vector_width);
        let saved_words = SavedWords::new(memory.most_saved(), padded);
        let samples = !program.interface.textures.is_empty();
        let host_requests = if samples { width } else { 0 };
        let machines = if program.quad.is_some() { QUAD } else { 1 };
        let work_period = query_period(program, width.div_ceil(QUERY_POINTS));
        Chunk {
            program: program.clone(),
            limits,
            query_period: work_period,
            work_period,
            point_period: query_period(program, 1),
            width,
            memory,
            results: ChunkResults::new(program, width),
            point_machines: (0..machines)
                .map(|_| PointMachine::new(program.clone(), limits))
                .collect(),
            quads: Quads::of(program, width),
            globals: vec![0; program.interface.global_words()].into_boxed_slice(),
            uniform: uniform.into_boxed_slice(),
            active: ActivePoints::new(width, vector_width),
            inactive: InactiveGroups::new(
                width.min(reconvergence_points * (depth + 1)),
                padded / vector_width,
            ),
            steps: vec![0; padded].into_boxed_slice(),
            alike: false,
            account: StepAccount::default(),
            elements: vec![0; depth + 1].into_boxed_slice(),
            return_addresses: vec![0; depth].into_boxed_slice(),
            depth: 0,
            pc: 0,
            test_masks: vec![0; padded / vector_width].into_boxed_slice(),
            requests: HostRequests {
                points: Vec::with_capacity(host_requests),
                requests: Vec::with_capacity(host_requests),
                answers: Vec::with_capacity(host_requests),
                adjoints: Vec::new(),
                arguments: Vec::with_capacity(program.most_arguments()),
            },
            maker: ClosureMaker::new(program, level),
            saved_words,
            tapes: ChunkTapes::new(program, level, [padded, plane_words(width)]),
            buffers: no_buffers(program),
            beyond: Vec::new(),
        }
    }

    /// Bytes of the heap that it holds; the program's are not among them.
    pub(super) fn heap(&self) -> usize {
        // Each field is named, so that none is forgotten.
        let Chunk {
            program: _,
            limits: _,
            query_period: _,
            work_period: _,
            point_period: _,
            width: _,
            memory,
            results,
            point_machines,
            quads,
            globals,
            uniform,
            active: group,
            inactive,
            steps,
            alike: _,
            account: _,
            elements,
            return_addresses: returns,
            depth: _,
            pc: _,
            test_masks: found,
            requests: host_requests,
            maker,
            saved_words,
            tapes,
            buffers: _,
            beyond,
        } = self;
        let HostRequests {
            points,
            requests,
            answers,
            adjoints,
            arguments,
        } = host_requests;
        memory.heap()
            + results.heap()
            + point_machines
                .iter()
                .map(PointMachine::memory)
                .sum::<usize>()
            + quads.as_ref().map_or(0, Quads::heap)
            + size_of_val(&globals[..])
            + size_of_val(&uniform[..])
            + group.memory()
            + inactive.heap()
            + size_of_val(&steps[..])
            + size_of_val(&elements[..])
            + size_of_val(&returns[..])
            + size_of_val(&found[..])
            + points.capacity() * size_of::<usize>()
            + requests.capacity() * size_of::<SampleRequest>()
            + answers.capacity() * size_of::<Sampled>()
            + adjoints.capacity() * size_of::<Texel>()
            + arguments.capacity() * size_of::<u32>()
            + maker.heap()
            + saved_words.heap()
            + tapes.heap()
            + beyond.capacity() * size_of::<usize>()
    }

    /// Puts `points` points before an instruction, with no step taken.
    pub(super) fn begin(&mut self, points: usize, entry: usize) {
        self.active.begin(points);
        self.alike = true;
        self.elements[0] = self.limits.array_elements;
        self.account = StepAccount {
            owed: 0,
            least: self.limits.steps,
        };
        self.depth = 0;
        self.pc = entry;
        self.inactive.clear();
        self.tapes.begin();
    }

    /// Runs all points from the shader's first instruction on.
    ///
    /// # Safety
    /// As for [`run`](Chunk::run).
    pub(super) unsafe fn start(
        &mut self,
        points: usize,
        entry: usize,
        context: &mut RunContext<'_>,
    ) {
        self.begin(points, entry);
        self.take_steps(1, context, Site::Shader);
        if self.limits.call_depth == 0 {
            self.stop(Site::Shader, |_| Some(FaultKind::CallDepth));
        }
        let elements = self.program.functions[self.program.entry as usize].elements;
        self.take_elements(elements, Site::Shader);
        if self.active.points > 0 {
            // SAFETY: guaranteed by the caller.
            unsafe { self.run(context) };
        }
        self.difference_outputs(0..points / QUAD);
    }

    /// Runs all points one by one.
    pub(super) fn run_pointwise(&mut self, inputs: &[u32], context: &mut RunContext<'_>) {
        if self.quads.is_some() {
            return self.run_quads_pointwise(inputs, context);
        }
        for point in 0..self.results.points {
            self.load_globals(point, context);
            let outcome = self.point_machines[0].run(&self.globals, inputs, context.host);
            self.store_results(0, point, outcome);
        }
    }

    /// Loads the globals and the index of the next point.
    pub(super) fn load_globals(&mut self, point: usize, context: &mut RunContext<'_>) {
        context.host.at_point(context.first + point);
        context.read_globals(point, &self.uniform, &mut self.globals);
    }

    /// Whether an inactive group is at this position, or has to run before the active one.
    pub(super) fn is_preempted(&self) -> bool {
        let next = self.inactive.next();
        next.is_some_and(|next| next <= SchedulePosition::new(self.depth, self.pc))
    }

    /// Some active points become inactive at an instruction: of each vector those whose bits are
    /// set.
    pub(super) fn diverge(&mut self, points: &[u32], pc: usize) {
        self.deactivate(pc, Some(points));
        self.active.remove(points);
    }

    /// These active points become inactive at an instruction, or all of them.
    fn deactivate(&mut self, pc: usize, points: Option<&[u32]>) {
        self.split_budgets();
        let position = SchedulePosition::new(self.depth, pc);
        let points = points.unwrap_or(self.active.masks());
        let lanes = self.active.vector_width();
        (self.inactive).add(position, self.account, points, lanes, &mut self.steps);
    }

    /// The active group becomes inactive where it is, and the group at the lowest position becomes
    /// active. Returns `false` if no point is left.
    pub(super) fn schedule_next(&mut self) -> bool {
        if self.active.points > 0 {
            self.deactivate(self.pc, None);
        }
        let Some((position, account, points)) = self.inactive.take_next() else {
            self.active.clear();
            return false;
        };
        self.active.set(points);
        self.account = account;
        self.depth = position.depth();
        self.pc = position.pc();
        true
    }

    /// From now on points have steps of their own.
    fn split_budgets(&mut self) {
        if std::mem::take(&mut self.alike) {
            self.steps[..self.results.points].fill(self.account.least);
        }
    }

    /// The active group enters a function.
    pub(super) fn call(&mut self, target: usize) {
        self.return_addresses[self.depth] = self.pc as u32 + 1;
        self.elements[self.depth + 1] = self.elements[self.depth];
        self.depth += 1;
        self.pc = target;
    }

    /// The active group returns to its caller.
    pub(super) fn return_from_call(&mut self) {
        self.depth -= 1;
        self.pc = self.return_addresses[self.depth] as usize;
    }

    /// The active points take `elements` more array elements.
    pub(super) fn take_elements(&mut self, elements: u32, site: Site) {
        let left = &mut self.elements[self.depth];
        match left.checked_sub(elements) {
            Some(rest) => *left = rest,
            None => self.stop(site, |_| Some(FaultKind::ArraySize)),
        }
    }

    /// Steps that an active point has left.
    pub(super) fn steps_left(&self, point: usize) -> u64 {
        match self.alike {
            true => self.account.left(),
            false => self.steps[point] - self.account.owed,
        }
    }

    /// The position of the active group.
    pub(super) fn site(&self) -> Site {
        Site::Instruction(self.memory.instructions[self.pc].position)
    }

    /// The source span of a site.
    pub(super) fn span_of(&self, site: Site) -> Span {
        match site {
            Site::Shader => self.program.functions[self.program.entry as usize].span,
            Site::Instruction(position) => self.program.span(position).unwrap_or_default(),
        }
    }

    /// The active group takes steps; points that have too few are stopped.
    pub(super) fn take_steps(&mut self, taken: u64, context: &mut RunContext<'_>, site: Site) {
        self.account.owed += taken;
        if self.account.owed > self.account.least {
            self.take_exactly(taken, |_| taken, site);
        }
        self.check_cancellation(taken, context, site);
    }

    /// Each active point takes steps of its own.
    pub(super) fn take_steps_by_point(
        &mut self,
        taken: impl Fn(usize) -> u64,
        context: &mut RunContext<'_>,
        site: Site,
    ) {
        let most = self.active.iter().map(&taken).max().unwrap_or(0);
        self.take_exactly(0, taken, site);
        self.check_cancellation(most, context, site);
    }

    /// Charges the points the steps that are owed, of which `now` are not taken yet, and the steps
    /// that each takes now.
    fn take_exactly(&mut self, now: u64, taken: impl Fn(usize) -> u64, site: Site) {
        self.split_budgets();
        let before = self.account.owed - now;
        self.account.owed = 0;
        self.account.least = u64::MAX;
        let mut stopped = false;
        for point in self.active.iter() {
            let left = self.steps[point] - before;
            match left.checked_sub(taken(point)) {
                Some(left) => {
                    self.steps[point] = left;
                    self.account.least = self.account.least.min(left);
                }
                None => {
                    self.steps[point] = NONE_LEFT;
                    stopped = true;
                }
            }
        }
        if stopped {
            let steps = std::mem::take(&mut self.steps);
            self.stop(site, |point| {
                (steps[point] == NONE_LEFT).then_some(FaultKind::StepBudget)
            });
            self.steps = steps;
        }
    }

    /// Stops the active points for which `why` gives a reason.
    pub(super) fn stop(&mut self, site: Site, why: impl Fn(usize) -> Option<FaultKind>) {
        let mut gone = std::mem::take(&mut self.test_masks);
        gone.fill(0);
        for point in self.active.iter() {
            if let Some(kind) = why(point) {
                let span = self.span_of(site);
                self.results.faults.add(point, kind, span);
                self.results.outcomes[point] = Outcome::Stopped;
                let (vector, bit) = self.active.bit_of(point);
                gone[vector] |= bit;
            }
        }
        self.active.remove(&gone);
        for (vector, &bits) in gone.iter().enumerate() {
            for point in self.active.points_of(vector, bits) {
                self.clear_outputs(point);
            }
        }
        self.test_masks = gone;
    }

    /// The active group has finished.
    pub(super) fn finish(&mut self) {
        if self.active.is_all_points() {
            let points = self.results.points;
            self.results.outcomes[..points].fill(Outcome::Finished);
        } else {
            for point in self.active.iter() {
                self.results.outcomes[point] = Outcome::Finished;
            }
        }
        self.active.clear();
    }

    /// Clears the outputs of a point that does not finish.
    pub(super) fn clear_outputs(&mut self, point: usize) {
        for register in 0..3 * self.program.output_lanes.len() as u32 {
            // SAFETY: the point is the chunk's, and outputs have planes.
            unsafe { *self.memory.register(register).add(point) = 0 };
        }
        self.results.closures.clear(point);
    }
}
