//! The materials of a wave's hits, in batches of one material each. Points whose texels are missing
//! are parked until all others are shaded.

use super::closures::{ClosureTable, Lobe, LobeShape};
use super::material::{MaterialShader, ShaderOutput};
use crate::differential::SurfaceSeeds;
use adumbra::batch::{BatchEvaluator, BatchGlobals, BatchSetup, Tier};
use adumbra::closure::ClosureView;
use adumbra::evaluator::{Engine, EngineError, ParkError, ParkedPoint, ResumeError};
use adumbra::{Dual, Evaluator, Host, Limits, Outcome};
use glam::Vec3;
use std::fmt;
use std::ops::Range;

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
    fn answer(&mut self, waiting: &mut Self::Waiting) -> Option<[f32; 4]>;

    /// Waits until something has come that requests wait for. It returns at once if anything came
    /// since the last call.
    fn wait(&mut self);

    /// Whether requests wait for more than can be kept: what comes would be dropped before it is
    /// used. Points that wait are then finished before others begin.
    fn is_saturated(&self) -> bool {
        false
    }
}

/// What filters need of a point beside a request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TexturePoint {
    /// A number of [0, 1), the same however often the point is evaluated.
    pub random: f32,
    /// The coordinates of the mesh with their derivatives, for hosts that ignore those of requests.
    pub uvw: Dual<Vec3>,
    /// The pixel's index in its tile, for views.
    pub pixel: u32,
    /// Whether the camera sees the point directly.
    pub is_primary: bool,
}

/// A hit to be shaded.
#[derive(Clone, Copy, Debug)]
pub struct WavePoint {
    /// The index of its material.
    pub material: usize,
    /// The globals of its shader.
    pub hit: SurfaceSeeds,
    /// What its texture requests depend on beside.
    pub texture: TexturePoint,
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

/// A parked point with the request that it waits for.
#[derive(Debug)]
struct WaitingPoint<W> {
    /// The point's index in the wave.
    at: usize,
    point: ParkedPoint,
    request: W,
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
    hits: Vec<SurfaceSeeds>,
    texture_points: Vec<TexturePoint>,
}

/// The lobes of a wave's points.
#[derive(Debug, Default)]
struct WaveOutput {
    lobes: Vec<Lobe>,
    /// For each point its lobes.
    ranges: Vec<Range<usize>>,
    /// Memory for walking closures.
    weights: Vec<[f32; 3]>,
    /// Points that a limit stopped.
    stopped: usize,
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
            hits: Vec::new(),
            texture_points: Vec::new(),
        }
    }

    /// Shades all points. Their lobes are readable until the next wave.
    ///
    /// # Errors
    /// If a material cannot be evaluated here.
    ///
    /// # Panics
    /// If a point has a material that is not there.
    pub fn shade<T: TextureAccess>(
        &mut self,
        points: &[WavePoint],
        textures: &mut T,
    ) -> Result<(), ShadingError> {
        self.output.lobes.clear();
        self.output.ranges.clear();
        self.output.ranges.resize(points.len(), 0..0);
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(0..points.len());
        order.sort_by_key(|&at| points[at].material);
        let mut parked = Vec::new();
        for same in order.chunk_by(|&a, &b| points[a].material == points[b].material) {
            let material = points[same[0]].material;
            match self.engine {
                ShadingEngine::Point => {
                    self.shade_singly(material, same, points, textures, &mut parked)?
                }
                _ => self.shade_batches(material, same, points, textures, &mut parked)?,
            }
        }
        self.order = order;
        while !parked.is_empty() {
            self.resume_parked(&mut parked, points, textures)?;
        }
        Ok(())
    }

    /// The lobes of a point of the last wave.
    pub fn lobes(&self, point: usize) -> &[Lobe] {
        &self.output.lobes[self.output.ranges[point].clone()]
    }

    /// How many points were stopped by a limit, in all waves.
    pub fn stopped(&self) -> usize {
        self.output.stopped
    }

    fn shade_batches<T: TextureAccess>(
        &mut self,
        material: usize,
        same: &[usize],
        points: &[WavePoint],
        textures: &mut T,
        parked: &mut Vec<WaitingPoint<T::Waiting>>,
    ) -> Result<(), ShadingError> {
        let shader = &self.materials[material];
        let mut suspended = Vec::new();
        let mut rest = same;
        while !rest.is_empty() {
            let batch = match &mut self.batches[material] {
                Some(batch) => batch,
                none => none.insert(new_batch(shader, self.engine)?),
            };
            let (chunk, others) = rest.split_at(batch.width().min(rest.len()));
            rest = others;
            self.hits.clear();
            self.hits.extend(chunk.iter().map(|&at| points[at].hit));
            self.texture_points.clear();
            self.texture_points
                .extend(chunk.iter().map(|&at| points[at].texture));
            textures.begin(&shader.textures, &self.texture_points);
            batch.evaluate(
                &BatchGlobals::from(&self.hits[..]),
                0,
                chunk.len(),
                textures,
            );
            for (at, &point) in chunk.iter().enumerate() {
                match batch.outcomes()[at] {
                    Outcome::Finished => match shader.output {
                        ShaderOutput::Closure(slot) => {
                            self.output
                                .walk(self.table, shader, point, batch.closure(slot, at));
                        }
                        ShaderOutput::Colour(slot) => {
                            self.output.emit(point, batch.read(slot, at).value)
                        }
                        ShaderOutput::Nothing => {}
                    },
                    Outcome::Stopped => self.output.stopped += 1,
                    Outcome::Pending => {}
                }
            }
            batch.park_all(&mut suspended)?;
            let mut waiting = textures.take_waiting();
            waiting.sort_by_key(|(at, _)| *at);
            // Each point that waits made one request that was not answered.
            let pairs = suspended.drain(..).zip(waiting);
            parked.extend(pairs.map(|((at, point), (_, request))| WaitingPoint {
                at: chunk[at],
                point,
                request,
            }));
            self.relieve(parked, points, textures)?;
        }
        Ok(())
    }

    fn shade_singly<T: TextureAccess>(
        &mut self,
        material: usize,
        same: &[usize],
        points: &[WavePoint],
        textures: &mut T,
        parked: &mut Vec<WaitingPoint<T::Waiting>>,
    ) -> Result<(), ShadingError> {
        for &at in same {
            let shader = &self.materials[material];
            let single = single(&mut self.singles[material], shader)?;
            textures.begin(&shader.textures, &[points[at].texture]);
            let outcome = single.evaluate(&points[at].hit, textures);
            let output = &mut self.output;
            parked.extend(output.settle(self.table, shader, at, single, outcome, textures)?);
            self.relieve(parked, points, textures)?;
        }
        Ok(())
    }

    /// Resumes parked points as long as more wait than can be kept.
    fn relieve<T: TextureAccess>(
        &mut self,
        parked: &mut Vec<WaitingPoint<T::Waiting>>,
        points: &[WavePoint],
        textures: &mut T,
    ) -> Result<(), ShadingError> {
        while !parked.is_empty() && textures.is_saturated() {
            self.resume_parked(parked, points, textures)?;
        }
        Ok(())
    }

    /// Asks for the texel of each parked point, and resumes those whose texels have come. If none
    /// has, the thread waits.
    fn resume_parked<T: TextureAccess>(
        &mut self,
        parked: &mut Vec<WaitingPoint<T::Waiting>>,
        points: &[WavePoint],
        textures: &mut T,
    ) -> Result<(), ShadingError> {
        let mut has_gone_on = false;
        for mut one in std::mem::take(parked) {
            let Some(texel) = textures.answer(&mut one.request) else {
                parked.push(one);
                continue;
            };
            has_gone_on = true;
            let at = one.at;
            let material = points[at].material;
            let shader = &self.materials[material];
            let single = single(&mut self.singles[material], shader)?;
            textures.begin(&shader.textures, &[points[at].texture]);
            let outcome = single.resume(one.point, texel, textures)?;
            let output = &mut self.output;
            parked.extend(output.settle(self.table, shader, at, single, outcome, textures)?);
        }
        if !has_gone_on {
            textures.wait();
        }
        Ok(())
    }
}

fn new_batch(
    shader: &MaterialShader,
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
    BatchEvaluator::with(&shader.instance, &setup)
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
    /// Reads what a single point gave, or parks it with the request that it waits for.
    fn settle<T: TextureAccess>(
        &mut self,
        table: &ClosureTable,
        shader: &MaterialShader,
        at: usize,
        single: &mut Evaluator,
        outcome: Outcome,
        textures: &mut T,
    ) -> Result<Option<WaitingPoint<T::Waiting>>, ParkError> {
        match (outcome, shader.output) {
            (Outcome::Pending, _) => {
                let point = single.park()?;
                let request = textures.take_waiting().pop();
                return Ok(request.map(|(_, request)| WaitingPoint { at, point, request }));
            }
            (Outcome::Stopped, _) => self.stopped += 1,
            (_, ShaderOutput::Closure(slot)) => self.walk(table, shader, at, single.closure(slot)),
            (_, ShaderOutput::Colour(slot)) => self.emit(at, single.read(slot).value),
            (_, ShaderOutput::Nothing) => {}
        }
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

    fn emit(&mut self, point: usize, colour: [f32; 3]) {
        let weight = Vec3::from(colour);
        let first = self.lobes.len();
        if weight.is_finite() {
            self.lobes.push(Lobe {
                shape: LobeShape::Emission,
                weight: weight.max(Vec3::ZERO),
                layer: 0,
            });
        }
        self.ranges[point] = first..self.lobes.len();
    }
}
