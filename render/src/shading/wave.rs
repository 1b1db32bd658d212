//! The materials of a wave's hits, in batches of one material each. Points whose texels are missing
//! are parked until all others are shaded.

use super::closures::{ClosureTable, Lobe, LobeShape};
use super::leaf_values::{BatchPoint, LeafReader, PointOutputs};
use super::material::{MaterialShader, ShaderOutput};
use super::material_faults::MaterialFaults;
use super::number::{Colour, LobeNumber};
use super::phase_times::{PhaseClock, PhaseTimes};
use super::point::{BatchPoints, QUAD, TexturePoint, Wave, WavePoint, is_in_quads};
use crate::differential::QuadSeeds;
use adumbra::batch::{BatchEvaluator, BatchGlobals, BatchSetup, Tier};
use adumbra::closure::ClosureView;
use adumbra::evaluator::{Engine, EngineError, ParkError, ParkedPoint, ResumeError};
use adumbra::{Evaluator, Host, Instance, Limits, Outcome, Texel};
use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

/// The engine that evaluates materials. All give the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShadingEngine {
    /// One point after the other.
    Point,
    /// Batches, by the interpreter.
    Batch,
    /// Batches, by machine code.
    Native,
    /// Batches, by the interpreter first and by machine code once it pays.
    #[default]
    Auto,
}

/// The textures of a scene, as one thread asks for them.
pub trait TextureAccess: Host {
    /// A request that waits for its texels.
    type Waiting;

    /// Says what the next evaluation's points are: the textures of the program, by their indices
    /// into the scene's, and for each point its random number for filters and the hit's own
    /// texture coordinates.
    fn begin(&mut self, textures: &[usize], points: &[TexturePoint]);

    /// Takes the requests that were not answered since `begin`, each with the point that waits for
    /// it, by its index in `points`.
    fn take_waiting(&mut self) -> Vec<(usize, Self::Waiting)>;

    /// The answer to a request that waited, or none if it has to wait longer.
    fn answer(&mut self, waiting: &mut Self::Waiting) -> Option<Texel>;

    /// Waits until something has come that requests wait for. It returns at once if anything came
    /// since the last call.
    fn wait(&mut self);

    /// The order in which requests that wait are best answered: those of the same texels together.
    fn order(&self, _waiting: &Self::Waiting) -> u128 {
        0
    }

    /// The time that lookups and waiting took since the last call, for [`PhaseTimes`].
    fn take_time(&mut self) -> Duration {
        Duration::ZERO
    }
}

/// Why points cannot be shaded.
#[derive(Debug)]
pub enum ShadingError {
    /// The engine cannot run a material here.
    Engine(EngineError),
    /// More points wait than the limits allow.
    Park(ParkError),
    /// A parked point does not go on.
    Resume(Box<ResumeError>),
}

impl fmt::Display for ShadingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShadingError::Engine(error) => error.fmt(f),
            ShadingError::Park(error) => error.fmt(f),
            ShadingError::Resume(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ShadingError {}

impl From<EngineError> for ShadingError {
    fn from(error: EngineError) -> ShadingError {
        ShadingError::Engine(error)
    }
}

impl From<ParkError> for ShadingError {
    fn from(error: ParkError) -> ShadingError {
        ShadingError::Park(error)
    }
}

impl From<ResumeError> for ShadingError {
    fn from(error: ResumeError) -> ShadingError {
        ShadingError::Resume(Box::new(error))
    }
}

/// A parked point with the requests that it waits for.
#[derive(Debug)]
struct WaitingPoint<W> {
    /// The point's index in the wave.
    at: usize,
    point: ParkedPoint,
    /// One, or those of several points of its quad with their corners, in their order. Points of a
    /// quad go on in this order.
    requests: VecDeque<(usize, W)>,
}

/// The evaluators of one thread, and the lobes of its last wave.
#[derive(Debug)]
pub struct WaveShader<'a> {
    materials: &'a [MaterialShader],
    table: &'a ClosureTable,
    engine: ShadingEngine,
    /// For each material, once it is used.
    batches: Vec<Option<BatchEvaluator>>,
    singles: Vec<Option<Evaluator>>,
    output: WaveOutput,
    /// Indices of points, sorted by material.
    order: Vec<usize>,
    batch_points: BatchPoints,
    pub(super) clock: PhaseClock,
}

/// The lobes of a wave's points.
#[derive(Debug, Default)]
struct WaveOutput {
    lobes: Vec<Lobe>,
    /// For each point its lobes.
    ranges: Vec<Range<usize>>,
    /// The numbers of leaves, and for each point its own.
    values: Vec<f32>,
    value_ranges: Vec<Range<usize>>,
    /// Memory for walking closures.
    weights: Vec<[f32; 3]>,
    faults: MaterialFaults,
}

/// The limits of points: as many may wait as a wave has.
fn limits() -> Limits {
    Limits {
        parked: u32::MAX,
        parked_bytes: usize::MAX,
        ..Limits::default()
    }
}

impl<'a> WaveShader<'a> {
    /// Evaluators for these materials.
    pub fn new(
        materials: &'a [MaterialShader],
        table: &'a ClosureTable,
        engine: ShadingEngine,
    ) -> WaveShader<'a> {
        WaveShader {
            materials,
            table,
            engine,
            batches: materials.iter().map(|_| None).collect(),
            singles: materials.iter().map(|_| None).collect(),
            output: WaveOutput::default(),
            order: Vec::new(),
            batch_points: BatchPoints::default(),
            clock: PhaseClock::default(),
        }
    }

    /// The same at another time of the image than 0 seconds.
    pub fn at_time(mut self, time: f32) -> WaveShader<'a> {
        self.batch_points.time = time;
        self
    }

    /// Where the time of all tiles went that were traced with it.
    pub fn times(&self) -> PhaseTimes {
        self.clock.times
    }

    /// Whether points are evaluated in quads: those of any material.
    pub fn is_in_quads(&self) -> bool {
        self.materials.iter().any(is_in_quads)
    }

    /// All materials.
    pub(super) fn materials(&self) -> &'a [MaterialShader] {
        self.materials
    }

    /// A material.
    pub(super) fn material(&self, index: usize) -> &'a MaterialShader {
        &self.materials[index]
    }

    /// Shades all points. Their lobes are readable until the next wave. Where points are evaluated
    /// in quads, each has its own of `quads`; else those may be left out.
    ///
    /// # Errors
    /// If a material cannot be evaluated here.
    ///
    /// # Panics
    /// If a point has a material that is not there, or no quad and needs one.
    pub fn shade<T: TextureAccess>(
        &mut self,
        points: &[WavePoint],
        quads: &[QuadSeeds],
        textures: &mut T,
    ) -> Result<(), ShadingError> {
        self.output.lobes.clear();
        self.output.ranges.clear();
        self.output.ranges.resize(points.len(), 0..0);
        self.output.values.clear();
        self.output.value_ranges.clear();
        self.output.value_ranges.resize(points.len(), 0..0);
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(0..points.len());
        order.sort_by_key(|&at| points[at].material);
        let wave = Wave { points, quads };
        let mut parked = Vec::new();
        for same in order.chunk_by(|&a, &b| points[a].material == points[b].material) {
            let material = points[same[0]].material;
            match self.engine {
                ShadingEngine::Point => {
                    self.shade_singly(material, same, wave, textures, &mut parked)?
                }
                _ => self.shade_batches(material, same, wave, textures, &mut parked)?,
            }
        }
        self.order = order;
        while !parked.is_empty() {
            self.resume_parked(&mut parked, wave, textures)?;
        }
        Ok(())
    }

    /// The lobes of a point of the last wave.
    pub fn lobes(&self, point: usize) -> &[Lobe] {
        &self.output.lobes[self.output.ranges[point].clone()]
    }

    /// The numbers of a point's leaves; none if its material gives no [leaves as
    /// numbers](ShaderOutput::Leaves).
    pub(super) fn leaf_values(&self, point: usize) -> &[f32] {
        &self.output.values[self.output.value_ranges[point].clone()]
    }

    /// The faults of the points of all waves.
    pub fn faults(&self) -> &MaterialFaults {
        &self.output.faults
    }

    fn shade_batches<T: TextureAccess>(
        &mut self,
        material: usize,
        same: &[usize],
        wave: Wave<'_>,
        textures: &mut T,
        parked: &mut Vec<WaitingPoint<T::Waiting>>,
    ) -> Result<(), ShadingError> {
        let shader = &self.materials[material];
        let each = if is_in_quads(shader) { QUAD } else { 1 };
        let mut suspended = Vec::new();
        let mut rest = same;
        while !rest.is_empty() {
            let batch = match &mut self.batches[material] {
                Some(batch) => batch,
                none => none.insert(new_batch(&shader.instance, self.engine)?),
            };
            let (chunk, others) = rest.split_at((batch.width() / each).min(rest.len()));
            rest = others;
            let points = &mut self.batch_points;
            points.clear();
            for &at in chunk {
                points.push(wave, at, each == QUAD);
            }
            textures.begin(&shader.textures, &points.textures);
            let globals = BatchGlobals::from(&points.hits[..]);
            match each {
                QUAD => batch.evaluate_quads(&globals, 0, &points.helpers, textures),
                _ => batch.evaluate(&globals, 0, chunk.len(), textures),
            }
            for (number, &point) in chunk.iter().enumerate() {
                let own = wave.corner(shader, point).map_or(0, |own| own as usize);
                let at = each * number + own;
                match batch.outcomes()[at] {
                    Outcome::Finished => match &shader.output {
                        ShaderOutput::Closure(slot) => {
                            self.output
                                .walk(self.table, shader, point, batch.closure(*slot, at));
                        }
                        ShaderOutput::Colour(slot) => {
                            self.output.emit(point, batch.read(*slot, at))
                        }
                        ShaderOutput::Leaves(reader) => {
                            self.output
                                .read_leaves(reader, point, &BatchPoint(batch, at));
                        }
                        ShaderOutput::Nothing => {}
                    },
                    Outcome::Stopped => {}
                    Outcome::Pending => continue,
                }
                self.output.faults.add(material, batch.faults(at));
            }
            // A point is parked with its quad.
            batch.park_all(&mut suspended)?;
            suspended.sort_by_key(|(at, _)| *at);
            let mut waiting = VecDeque::from(textures.take_waiting());
            waiting.make_contiguous().sort_by_key(|(at, _)| *at);
            for (first, point) in suspended.drain(..) {
                let number = first / each;
                let mut requests = VecDeque::new();
                while let Some((at, request)) = waiting.pop_front_if(|(at, _)| *at / each == number)
                {
                    requests.push_back((at % each, request));
                }
                parked.push(WaitingPoint {
                    at: chunk[number],
                    point,
                    requests,
                });
            }
        }
        Ok(())
    }

    fn shade_singly<T: TextureAccess>(
        &mut self,
        material: usize,
        same: &[usize],
        wave: Wave<'_>,
        textures: &mut T,
        parked: &mut Vec<WaitingPoint<T::Waiting>>,
    ) -> Result<(), ShadingError> {
        for &at in same {
            let shader = &self.materials[material];
            let single = single(&mut self.singles[material], shader)?;
            let points = &mut self.batch_points;
            points.clear();
            points.push(wave, at, is_in_quads(shader));
            textures.begin(&shader.textures, &points.textures);
            let outcome = match &points.hits[..] {
                [a, b, c, d] => {
                    let helpers = std::array::from_fn(|corner| points.helpers[corner]);
                    single.evaluate_quad([a, b, c, d], helpers, textures)
                }
                hits => single.evaluate(&hits[0], textures),
            };
            let outcome = wave
                .corner(shader, at)
                .map_or(outcome, |own| single.show(own));
            let point = (single, outcome);
            let output = &mut self.output;
            parked.extend(output.settle(
                self.table,
                (material, shader),
                at,
                point,
                VecDeque::new(),
                textures,
            )?);
        }
        Ok(())
    }

    /// Asks for the texel of each parked point, and resumes those whose texels have come. If none
    /// has, the thread waits.
    fn resume_parked<T: TextureAccess>(
        &mut self,
        parked: &mut Vec<WaitingPoint<T::Waiting>>,
        wave: Wave<'_>,
        textures: &mut T,
    ) -> Result<(), ShadingError> {
        let mut has_gone_on = false;
        let order = |point: &WaitingPoint<T::Waiting>| {
            let request = point.requests.front();
            request.map_or(0, |(_, request)| textures.order(request))
        };
        parked.sort_by_key(order);
        for mut one in std::mem::take(parked) {
            // A host that says "not yet" keeps the request; else its point is given up.
            let Some((_, request)) = one.requests.front_mut() else {
                continue;
            };
            let Some(texel) = textures.answer(request) else {
                parked.push(one);
                continue;
            };
            one.requests.pop_front();
            has_gone_on = true;
            let at = one.at;
            let material = wave.points[at].material;
            let shader = &self.materials[material];
            let single = single(&mut self.singles[material], shader)?;
            let points = &mut self.batch_points;
            points.clear();
            points.push(wave, at, is_in_quads(shader));
            textures.begin(&shader.textures, &points.textures);
            let outcome = single.resume(one.point, texel, textures)?;
            let outcome = wave
                .corner(shader, at)
                .map_or(outcome, |own| single.show(own));
            let (point, rest) = ((single, outcome), one.requests);
            let output = &mut self.output;
            parked.extend(output.settle(
                self.table,
                (material, shader),
                at,
                point,
                rest,
                textures,
            )?);
        }
        if !has_gone_on && !parked.is_empty() {
            textures.wait();
        }
        Ok(())
    }
}

/// A batch evaluator of a program by an engine.
pub(super) fn new_batch(
    instance: &Instance,
    engine: ShadingEngine,
) -> Result<BatchEvaluator, EngineError> {
    let tier = match engine {
        ShadingEngine::Native => Tier::Native,
        ShadingEngine::Auto => Tier::Auto,
        ShadingEngine::Batch | ShadingEngine::Point => Tier::Interpreter,
    };
    let setup = BatchSetup {
        limits: limits(),
        tier,
        ..BatchSetup::default()
    };
    BatchEvaluator::with(instance, &setup)
}

fn single<'e>(
    place: &'e mut Option<Evaluator>,
    shader: &MaterialShader,
) -> Result<&'e mut Evaluator, EngineError> {
    Ok(match place {
        Some(single) => single,
        none => none.insert(Evaluator::with(&shader.instance, Engine::Point, limits())?),
    })
}

impl WaveOutput {
    /// Reads what a single point gave, or parks it with the requests that it waits for: the new
    /// ones and `rest`.
    fn settle<T: TextureAccess>(
        &mut self,
        table: &ClosureTable,
        (material, shader): (usize, &MaterialShader),
        at: usize,
        (single, outcome): (&mut Evaluator, Outcome),
        mut rest: VecDeque<(usize, T::Waiting)>,
        textures: &mut T,
    ) -> Result<Option<WaitingPoint<T::Waiting>>, ParkError> {
        match (outcome, &shader.output) {
            (Outcome::Pending, _) => {
                let point = single.park()?;
                rest.extend(textures.take_waiting());
                rest.make_contiguous().sort_by_key(|(corner, _)| *corner);
                return Ok(Some(WaitingPoint {
                    at,
                    point,
                    requests: rest,
                }));
            }
            (Outcome::Stopped, _) => {}
            (_, ShaderOutput::Closure(slot)) => self.walk(table, shader, at, single.closure(*slot)),
            (_, ShaderOutput::Colour(slot)) => self.emit(at, single.read(*slot)),
            (_, ShaderOutput::Leaves(reader)) => self.read_leaves(reader, at, &*single),
            (_, ShaderOutput::Nothing) => {}
        }
        self.faults.add(material, single.faults());
        Ok(None)
    }

    fn walk(
        &mut self,
        table: &ClosureTable,
        shader: &MaterialShader,
        point: usize,
        closure: ClosureView<'_>,
    ) {
        let first = self.lobes.len();
        let leaves = shader.reader.leaves(closure, &mut self.weights);
        self.lobes
            .extend(leaves.filter_map(|leaf| table.lobe(&leaf)));
        self.ranges[point] = first..self.lobes.len();
    }

    fn read_leaves(&mut self, reader: &LeafReader, point: usize, outputs: &impl PointOutputs) {
        let (lobe, value) = (self.lobes.len(), self.values.len());
        reader.read(outputs, &mut self.values);
        reader.lobes(&self.values[value..], &mut self.lobes);
        self.ranges[point] = lobe..self.lobes.len();
        self.value_ranges[point] = value..self.values.len();
    }

    fn emit(&mut self, point: usize, colour: [f32; 3]) {
        let weight = Colour(colour);
        let first = self.lobes.len();
        if weight.value().is_finite() {
            self.lobes.push(Lobe {
                shape: LobeShape::Emission,
                weight: weight.map(f32::at_least_zero),
                layer: 0,
            });
        }
        self.ranges[point] = first..self.lobes.len();
    }
}
