//! Records the events of a point. Its memory is bounded: iterations of each loop, events, and
//! bytes.

use super::super::textures::Textures;
use crate::checkerboard::Interrupt;
use adumbra::{
    Host, Program, SampleRequest, Sampled, Scalar,
    derivatives::{Corner, Quad},
    host::MessageId,
    inspect::{Observation, ObservedArguments, ObservedEvent},
};
use std::collections::HashMap;

/// Most iterations of each loop that are recorded; further ones are counted.
pub const MAX_TRACED_ITERATIONS: u64 = 100;
/// Most events that are recorded.
pub const MAX_TRACE_EVENTS: usize = 10_000;
/// Most bytes of names, values and messages together.
pub const MAX_TRACE_BYTES: usize = 1 << 22;

/// An event of a point.
#[derive(Debug)]
pub struct TraceEvent {
    pub kind: TraceEventKind,
    /// Calls that were open around it.
    pub depth: usize,
    /// The ddx and ddy of a reported value, if they are known.
    pub shadows: [Option<Vec<u32>>; 2],
}

/// The kind of an event. Observations are numbered as messages are.
#[derive(Debug)]
pub enum TraceEventKind {
    /// A call, a return, an assignment, or a condition.
    Observed(usize, ObservedArguments),
    /// An iteration of a loop begins, counted from 1.
    Iteration(usize, u64),
    /// A loop ended after this number of iterations; or, in the end, it did not.
    Loop(usize, u64, bool),
    /// A request, by the observation of its location if it is in the source.
    Sample(Option<usize>, Box<TracedSample>),
    /// A message of `printf`.
    Message(String),
}

/// A texture request with its answer.
#[derive(Debug)]
pub struct TracedSample {
    pub request: SampleRequest,
    /// The level that the answer is from.
    pub level: f32,
    pub color: [f32; 4],
}

/// The first part of a value that was no finite number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstNonfinite {
    /// The observation of the value.
    pub observation: usize,
    /// The name that the value was given to.
    pub name: String,
    /// `value`, `ddx` or `ddy`.
    pub part: &'static str,
}

/// A loop or a call that is open around an event, by its observation, and the iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct OpenScope {
    observation: usize,
    is_loop: bool,
    iterations: u64,
}

/// The events of one point.
#[derive(Debug, Default)]
pub struct PointTrace {
    pub events: Vec<TraceEvent>,
    /// Events beyond the capacity.
    pub omitted_events: u64,
    pub first_nan: Option<FirstNonfinite>,
    pub first_infinity: Option<FirstNonfinite>,
    open: Vec<OpenScope>,
    bytes: usize,
    /// The observation of the next request.
    sampling: Option<usize>,
    /// The event of each observation by what was open around it: an observation is made once in
    /// each iteration. Only for points of quads.
    by_scope: Option<HashMap<(Vec<OpenScope>, usize), usize>>,
}

impl PointTrace {
    fn new(is_in_quad: bool) -> PointTrace {
        PointTrace {
            by_scope: is_in_quad.then(HashMap::new),
            ..PointTrace::default()
        }
    }

    /// Whether some reported value or derivative is NaN.
    pub fn has_nan(&self) -> bool {
        self.first_nan.is_some()
    }

    /// Adds an event, if its loops are within the recorded iterations and there is capacity.
    fn add(&mut self, what: TraceEventKind, bytes: usize) {
        if self
            .open
            .iter()
            .any(|open| open.iterations > MAX_TRACED_ITERATIONS)
        {
            return;
        }
        self.bytes = self.bytes.saturating_add(bytes);
        if self.events.len() == MAX_TRACE_EVENTS || self.bytes > MAX_TRACE_BYTES {
            self.omitted_events += 1;
            return;
        }
        if let (Some(by_scope), TraceEventKind::Observed(observation, _)) =
            (&mut self.by_scope, &what)
        {
            by_scope.insert((self.open.clone(), *observation), self.events.len());
        }
        self.events.push(TraceEvent {
            kind: what,
            depth: self.open.iter().filter(|open| !open.is_loop).count(),
            shadows: [None, None],
        });
    }

    fn observe(&mut self, number: usize, observation: &Observation, args: &[u32]) {
        let open = |is_loop| OpenScope {
            observation: number,
            is_loop,
            iterations: 0,
        };
        let observed = |name: &str| {
            let bytes = name.len() + 12 * args.len();
            (
                TraceEventKind::Observed(number, observation.read(args)),
                bytes,
            )
        };
        match &observation.event {
            ObservedEvent::Call(name) => {
                let (what, bytes) = observed(name);
                self.add(what, bytes);
                self.open.push(open(false));
            }
            ObservedEvent::Return(_) => {
                self.note_nonfinite(number, observation, args);
                // The loops that it leaves, so that their end is reported in any case.
                while self.open.last().is_some_and(|open| open.is_loop) {
                    self.leave_loop();
                }
                let (what, bytes) = observed("");
                self.add(what, bytes);
                // The call that returns, if it is not the shader's own.
                self.open.pop();
            }
            ObservedEvent::Assign { place, .. } => {
                self.note_nonfinite(number, observation, args);
                let bytes: usize = place.iter().map(String::len).sum();
                let (what, more) = observed("");
                self.add(what, bytes + more);
            }
            ObservedEvent::Condition(..) => {
                let (what, bytes) = observed("");
                self.add(what, bytes);
            }
            ObservedEvent::LoopBegins => self.open.push(open(true)),
            ObservedEvent::Iteration => {
                let Some(innermost) = self.open.last_mut() else {
                    return;
                };
                innermost.iterations += 1;
                let pass = innermost.iterations;
                self.add(TraceEventKind::Iteration(number, pass), 0);
            }
            ObservedEvent::LoopEnds => self.leave_loop(),
            ObservedEvent::Sampling => self.sampling = Some(number),
        }
    }

    fn leave_loop(&mut self) {
        if let Some(left) = self.open.pop() {
            self.add(
                TraceEventKind::Loop(left.observation, left.iterations, true),
                0,
            );
        }
    }

    /// Keeps which value was the first that is NaN, and which was the first that is infinite.
    fn note_nonfinite(&mut self, number: usize, observation: &Observation, args: &[u32]) {
        let (name, shape) = match &observation.event {
            ObservedEvent::Assign { value, .. } => (None, value),
            ObservedEvent::Return(value) => (Some("return"), value),
            _ => return,
        };
        let Some(shape) = shape else { return };
        if self.first_nan.is_some() && self.first_infinity.is_some() {
            return;
        }
        let observed = observation.read(args);
        let [ddx, ddy] = &observed.shadows;
        for (part, words) in [("value", &observed.value), ("ddx", ddx), ("ddy", ddy)] {
            let mut words = words.iter();
            shape.ty.for_each_scalar(&mut |scalar| {
                let word = words.next().copied().unwrap_or_default();
                let number_is = f32::from_bits(word);
                if scalar != Scalar::F32 || number_is.is_finite() {
                    return;
                }
                let first = match number_is.is_nan() {
                    true => &mut self.first_nan,
                    false => &mut self.first_infinity,
                };
                first.get_or_insert_with(|| FirstNonfinite {
                    observation: number,
                    name: name.map_or_else(|| assigned_name(observation, &observed), str::to_owned),
                    part,
                });
            });
        }
    }

    /// Ends the trace. Loops of a point that was stopped are still open.
    fn finish(&mut self) {
        while let Some(open) = self.open.pop() {
            if open.is_loop {
                self.add(
                    TraceEventKind::Loop(open.observation, open.iterations, false),
                    0,
                );
            }
        }
    }
}

/// The source of the location that was assigned to, with its indices.
pub fn assigned_name(observation: &Observation, observed: &ObservedArguments) -> String {
    let ObservedEvent::Assign { place, .. } = &observation.event else {
        return String::new();
    };
    let mut indices = observed.indices.iter();
    let mut text = String::new();
    for (at, part) in place.iter().enumerate() {
        if at > 0 {
            let index = indices.next().copied().unwrap_or_default();
            text.push_str(&format!("[{index}]"));
        }
        text.push_str(part);
    }
    text
}

/// Gives a point of a quad derivatives: differences between its neighbours' values of the same
/// event, where both came by.
pub fn add_quad_derivatives(rule: Quad, corner: Corner, recorders: &mut [PointTrace]) {
    let Some(by_scope) = recorders[corner as usize].by_scope.take() else {
        return;
    };
    let mut found = Vec::new();
    for (key, &at) in &by_scope {
        for direction in adumbra::derivatives::Direction::BOTH {
            let (first, second) = rule.neighbours(corner, direction);
            let value = |of: Corner| {
                let recorder = &recorders[of as usize];
                let step = match of == corner {
                    true => Some(at),
                    false => recorder.by_scope.as_ref()?.get(key).copied(),
                };
                match &recorder.events[step?].kind {
                    TraceEventKind::Observed(_, observed) => Some(&observed.value),
                    _ => None,
                }
            };
            let (Some(first), Some(second)) = (value(first), value(second)) else {
                continue;
            };
            let both = first.iter().zip(second);
            let differences = both.map(|(&first, &second)| {
                Quad::between(f32::from_bits(first), f32::from_bits(second)).to_bits()
            });
            found.push((at, direction, differences.collect()));
        }
    }
    for (at, direction, words) in found {
        recorders[corner as usize].events[at].shadows[direction as usize] = Some(words);
    }
}

/// The host of a point, or of the four of a quad: it answers as the image's host does, and records
/// the events of each.
pub struct TraceHost<'a> {
    observations: &'a [Option<Observation>],
    program: &'a Program,
    textures: &'a Textures,
    interrupt: &'a Interrupt,
    points: Vec<PointTrace>,
    point: usize,
}

impl<'a> TraceHost<'a> {
    pub fn new(
        observations: &'a [Option<Observation>],
        program: &'a Program,
        textures: &'a Textures,
        interrupt: &'a Interrupt,
    ) -> TraceHost<'a> {
        let is_in_quad = program.quad().is_some();
        let points = (0..if is_in_quad { 4 } else { 1 }).map(|_| PointTrace::new(is_in_quad));
        TraceHost {
            observations,
            program,
            textures,
            interrupt,
            points: points.collect(),
            point: 0,
        }
    }

    /// The events of each point.
    pub fn finish(mut self) -> Vec<PointTrace> {
        for recorder in &mut self.points {
            recorder.finish();
            for step in &mut recorder.events {
                if let TraceEventKind::Observed(_, observed) = &mut step.kind {
                    let known = std::mem::take(&mut observed.shadows);
                    step.shadows = known.map(|words| Some(words).filter(|w| !w.is_empty()));
                }
            }
        }
        self.points
    }
}

impl Host for TraceHost<'_> {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        let texel = self.textures.sample(request);
        let recorder = &mut self.points[self.point];
        let from = recorder.sampling.take();
        let sample = TracedSample {
            request: *request,
            level: self.textures.level(request),
            color: texel.numbers,
        };
        recorder.add(
            TraceEventKind::Sample(from, Box::new(sample)),
            size_of::<TracedSample>(),
        );
        texel.into()
    }

    fn at_point(&mut self, point: usize) {
        self.point = point;
    }

    fn message(&mut self, message: MessageId, args: &[u32]) {
        let number = message.index();
        let recorder = &mut self.points[self.point];
        match self.observations.get(number).and_then(Option::as_ref) {
            Some(observation) => recorder.observe(number, observation, args),
            None => {
                let text = self.program.messages()[number].render(args);
                let bytes = text.len();
                recorder.add(TraceEventKind::Message(text), bytes);
            }
        }
    }

    fn is_cancelled(&mut self) -> bool {
        self.interrupt.is_pressed()
    }
}
