//! The points of a chunk while they run: where each is, what each has left, and who runs next.
//!
//! Control goes by the jumps of the bytecode. Every point has a position: how many calls are open, and the next step. Those at the least
//! position run, the deepest call first, then the least step; where their ways part, one part waits. Code goes forward but for loops, so
//! whoever can still come to where others wait is behind them, and comes before they go on. That is only a matter of speed: a point owns its
//! column of every plane, and nothing that it finds depends on who runs with it.
//!
//! Since the deepest call comes first, nobody is deeper than a group that makes a call. So all who are deeper later came by that call, and one
//! stack of open calls serves the whole chunk.

use super::group::Group;
use super::memory::Memory;
use super::quads::{QUAD, Quads};
use super::regions::Exchange;
use super::results::Results;
use super::source::Source;
use super::waiting::{Account, Position, Waiting};
use crate::bytecode::Bytecode;
use crate::point::{Outcome, PointMachine};
use adumbra_ir::host::{FaultKind, Host, Limits, SampleRequest, Sampled, is_time_to_ask};
use adumbra_ir::span::Span;
use std::sync::Arc;

/// More steps than a point has left: it is to be stopped.
const NONE_LEFT: u64 = u64::MAX;

/// Where something happens. What of the source it comes from is looked up if there is something to tell of it.
#[derive(Clone, Copy)]
pub(super) enum Site {
    /// The shader as a whole.
    Shader,
    /// An instruction of the bytecode.
    Instruction(u32),
}

/// What a run has beside the chunk.
pub(super) struct Context<'a> {
    pub(super) host: &'a mut dyn Host,
    pub(super) sources: &'a [Source<'a>],
    /// Which point of the sources the chunk's first one is.
    pub(super) first: usize,
}

pub(super) struct Chunk {
    pub(super) program: Arc<Bytecode>,
    pub(super) limits: Limits,
    pub(super) width: usize,
    pub(super) memory: Memory,
    pub(super) results: Results,
    /// Finish points that go on alone: one machine, or one for each corner of a quad.
    pub(super) alone: Box<[PointMachine]>,
    /// If its points stand in quads.
    pub(super) quads: Option<Quads>,
    /// Room for the globals of one point.
    pub(super) globals: Box<[u32]>,
    pub(super) group: Group,
    pub(super) waiting: Waiting,
    /// Steps that each point has left, less what its group owes; not written while they are `alike`.
    pub(super) steps: Box<[u64]>,
    /// Nobody waits, and each point of the group has the steps that are the least of its account.
    alike: bool,
    /// What the group owes.
    pub(super) account: Account,
    /// Array elements that points have left, for each number of open calls.
    pub(super) elements: Box<[u32]>,
    /// For each open call, the step behind it.
    pub(super) returns: Box<[u32]>,
    /// Open calls of the group.
    pub(super) depth: usize,
    /// The group's next step.
    pub(super) at: usize,
    /// Answers of tests, by pack.
    pub(super) found: Box<[u32]>,
    pub(super) asking: Asking,
    pub(super) exchange: Exchange,
}

/// Room for the requests of one sample.
#[derive(Default)]
pub(super) struct Asking {
    pub(super) points: Vec<usize>,
    pub(super) requests: Vec<SampleRequest>,
    pub(super) answers: Vec<Sampled>,
    /// The arguments of a message or a closure.
    pub(super) arguments: Vec<u32>,
}

impl Chunk {
    pub(super) fn new(
        program: &Arc<Bytecode>,
        limits: Limits,
        memory: Memory,
        [width, lanes, depth, places]: [usize; 4],
    ) -> Chunk {
        let padded = width.next_multiple_of(lanes);
        let ways = memory.regions.iter().map(|region| region.ways.len());
        let exchange = Exchange::new(padded, ways.max().unwrap_or(0));
        let samples = !program.interface.textures.is_empty();
        let asking = if samples { width } else { 0 };
        let machines = if program.quad.is_some() { QUAD } else { 1 };
        Chunk {
            program: program.clone(),
            limits,
            width,
            memory,
            results: Results::new(program, width),
            alone: (0..machines)
                .map(|_| PointMachine::new(program.clone(), limits))
                .collect(),
            quads: Quads::of(program, width),
            globals: vec![0; program.interface.global_words()].into_boxed_slice(),
            group: Group::new(width, lanes),
            waiting: Waiting::new(width.min(places * (depth + 1)), padded / lanes),
            steps: vec![0; padded].into_boxed_slice(),
            alike: false,
            account: Account::default(),
            elements: vec![0; depth + 1].into_boxed_slice(),
            returns: vec![0; depth].into_boxed_slice(),
            depth: 0,
            at: 0,
            found: vec![0; padded / lanes].into_boxed_slice(),
            asking: Asking {
                points: Vec::with_capacity(asking),
                requests: Vec::with_capacity(asking),
                answers: Vec::with_capacity(asking),
                arguments: Vec::with_capacity(program.most_arguments()),
            },
            exchange,
        }
    }

    /// Bytes of the heap that it holds; the program's are not among them.
    pub(super) fn heap(&self) -> usize {
        // Each field is named, so that none is forgotten.
        let Chunk {
            program: _,
            limits: _,
            width: _,
            memory,
            results,
            alone,
            quads,
            globals,
            group,
            waiting,
            steps,
            alike: _,
            account: _,
            elements,
            returns,
            depth: _,
            at: _,
            found,
            asking,
            exchange,
        } = self;
        let Asking {
            points,
            requests,
            answers,
            arguments,
        } = asking;
        memory.heap()
            + results.heap()
            + alone.iter().map(PointMachine::memory).sum::<usize>()
            + quads.as_ref().map_or(0, Quads::heap)
            + size_of_val(&globals[..])
            + group.memory()
            + waiting.heap()
            + size_of_val(&steps[..])
            + size_of_val(&elements[..])
            + size_of_val(&returns[..])
            + size_of_val(&found[..])
            + points.capacity() * size_of::<usize>()
            + requests.capacity() * size_of::<SampleRequest>()
            + answers.capacity() * size_of::<Sampled>()
            + arguments.capacity() * size_of::<u32>()
            + exchange.heap()
    }

    /// All of so many points stand before a step, with nothing taken.
    pub(super) fn begin(&mut self, points: usize, entry: usize) {
        self.group.begin(points);
        self.alike = true;
        self.elements[0] = self.limits.array_elements;
        self.account = Account {
            owed: 0,
            least: self.limits.steps,
        };
        self.depth = 0;
        self.at = entry;
        self.waiting.clear();
    }

    /// Runs all points from the shader's first step on.
    ///
    /// # Safety
    /// As for [`run`](Chunk::run).
    pub(super) unsafe fn start(&mut self, points: usize, entry: usize, context: &mut Context<'_>) {
        self.begin(points, entry);
        self.take_steps(1, context, Site::Shader);
        if self.limits.call_depth == 0 {
            self.stop(Site::Shader, |_| Some(FaultKind::CallDepth));
        }
        let elements = self.program.functions[self.program.entry as usize].elements;
        self.hold(elements, Site::Shader);
        if self.group.points > 0 {
            // SAFETY: asked of the caller.
            unsafe { self.run(context) };
        }
        self.join_outputs(0..points / QUAD);
    }

    /// Runs all points one by one.
    pub(super) fn run_alone(&mut self, inputs: &[u32], context: &mut Context<'_>) {
        if self.quads.is_some() {
            return self.run_quads_alone(inputs, context);
        }
        for point in 0..self.results.points {
            self.take_globals(point, context);
            let outcome = self.alone[0].run(&self.globals, inputs, context.host);
            self.take_results(0, point, outcome);
        }
    }

    /// A point comes next: its globals, and who it is.
    pub(super) fn take_globals(&mut self, point: usize, context: &mut Context<'_>) {
        context.host.at_point(context.first + point);
        for (global, source) in self.globals.iter_mut().zip(context.sources) {
            *global = source.get(context.first + point);
        }
    }

    /// Whether others wait where the group is, or have to go on before it does.
    pub(super) fn others_come_first(&self) -> bool {
        let next = self.waiting.next();
        next.is_some_and(|next| next <= Position::new(self.depth, self.at))
    }

    /// Points of the group wait at a step: of each pack those whose bits are set.
    pub(super) fn part(&mut self, points: &[u32], step: usize) {
        self.wait_at(step, Some(points));
        self.group.remove(points);
    }

    /// These points of the group wait at a step, or all.
    fn wait_at(&mut self, step: usize, points: Option<&[u32]>) {
        self.tell_apart();
        let position = Position::new(self.depth, step);
        let points = points.unwrap_or(self.group.active());
        let lanes = self.group.lanes();
        (self.waiting).add(position, self.account, points, lanes, &mut self.steps);
    }

    /// The group waits where it is, and whoever is to run runs: at the least position. `false` if nobody is left.
    pub(super) fn switch(&mut self) -> bool {
        if self.group.points > 0 {
            self.wait_at(self.at, None);
        }
        let Some((position, account, points)) = self.waiting.take() else {
            self.group.clear();
            return false;
        };
        self.group.set(points);
        self.account = account;
        self.depth = position.depth();
        self.at = position.step();
        true
    }

    /// From now on points have steps of their own.
    fn tell_apart(&mut self) {
        if std::mem::take(&mut self.alike) {
            self.steps[..self.results.points].fill(self.account.least);
        }
    }

    /// The group enters a function.
    pub(super) fn call(&mut self, target: usize) {
        self.returns[self.depth] = self.at as u32 + 1;
        self.elements[self.depth + 1] = self.elements[self.depth];
        self.depth += 1;
        self.at = target;
    }

    /// The group goes back to where it was called from.
    pub(super) fn go_back(&mut self) {
        self.depth -= 1;
        self.at = self.returns[self.depth] as usize;
    }

    /// The points of the group hold so many array elements more.
    pub(super) fn hold(&mut self, elements: u32, site: Site) {
        let left = &mut self.elements[self.depth];
        match left.checked_sub(elements) {
            Some(rest) => *left = rest,
            None => self.stop(site, |_| Some(FaultKind::ArraySize)),
        }
    }

    /// Steps that a point of the group has left.
    pub(super) fn steps_left(&self, point: usize) -> u64 {
        match self.alike {
            true => self.account.left(),
            false => self.steps[point] - self.account.owed,
        }
    }

    /// Where the group is.
    pub(super) fn site(&self) -> Site {
        Site::Instruction(self.memory.steps[self.at].position)
    }

    /// What of the source a site comes from.
    pub(super) fn span_of(&self, site: Site) -> Span {
        match site {
            Site::Shader => self.program.functions[self.program.entry as usize].span,
            Site::Instruction(position) => self.program.span(position).unwrap_or_default(),
        }
    }

    /// The group takes steps; those that have too few are stopped.
    pub(super) fn take_steps(&mut self, taken: u64, context: &mut Context<'_>, site: Site) {
        self.account.owed += taken;
        if self.account.owed > self.account.least {
            self.take_exactly(taken, |_| taken, site);
        }
        self.ask_for_patience(taken, context, site);
    }

    /// Each point of the group takes steps of its own.
    pub(super) fn take_each(
        &mut self,
        taken: impl Fn(usize) -> u64,
        context: &mut Context<'_>,
        site: Site,
    ) {
        let most = self.group.iter().map(&taken).max().unwrap_or(0);
        self.take_exactly(0, taken, site);
        self.ask_for_patience(most, context, site);
    }

    /// Accounts for what is owed, of which `now` is not taken yet, and for what each point takes now.
    fn take_exactly(&mut self, now: u64, taken: impl Fn(usize) -> u64, site: Site) {
        self.tell_apart();
        let before = self.account.owed - now;
        self.account.owed = 0;
        self.account.least = u64::MAX;
        let mut stopped = false;
        for point in self.group.iter() {
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

    /// Asks the host whether the group is to be stopped, as often as for a point.
    fn ask_for_patience(&mut self, taken: u64, context: &mut Context<'_>, site: Site) {
        if self.group.points > 0
            && is_time_to_ask(self.account.left(), taken)
            && context.host.is_cancelled()
        {
            self.stop(site, |_| Some(FaultKind::Cancelled));
        }
    }

    /// Stops those points of the group for which there is a reason.
    pub(super) fn stop(&mut self, site: Site, why: impl Fn(usize) -> Option<FaultKind>) {
        let mut gone = std::mem::take(&mut self.found);
        gone.fill(0);
        for point in self.group.iter() {
            if let Some(kind) = why(point) {
                let span = self.span_of(site);
                self.results.faults.add(point, kind, span);
                self.results.outcomes[point] = Outcome::Stopped;
                let (pack, bit) = self.group.bit_of(point);
                gone[pack] |= bit;
            }
        }
        self.group.remove(&gone);
        for (pack, &bits) in gone.iter().enumerate() {
            for point in self.group.points_of(pack, bits) {
                self.no_outputs(point);
            }
        }
        self.found = gone;
    }

    /// The group has finished.
    pub(super) fn finish(&mut self) {
        if self.group.is_everyone() {
            let points = self.results.points;
            self.results.outcomes[..points].fill(Outcome::Finished);
        } else {
            for point in self.group.iter() {
                self.results.outcomes[point] = Outcome::Finished;
            }
        }
        self.group.clear();
    }

    /// A point that does not finish has no outputs.
    pub(super) fn no_outputs(&mut self, point: usize) {
        for slot in 0..3 * self.program.output_lanes.len() as u32 {
            // SAFETY: the point is the chunk's, and outputs have planes.
            unsafe { *self.memory.slot(slot).add(point) = 0 };
        }
        if let Some(closures) = self.results.closures.get_mut(point) {
            closures.clear();
        }
    }
}
