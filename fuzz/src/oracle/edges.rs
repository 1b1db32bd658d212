//! Gradients through edges: every engine finds the same ones, to the bit, and adds what is finite
//! where all that it is made of is.

use super::Disagreement;
use super::batch::words;
use super::chain::compiler;
use super::derived::refused;
use super::derived::shader::{drawn, may_have_none};
use super::modes::MODES;
use super::reference::limits;
use crate::bundle;
use crate::generate::{GeneratedProgram, GlobalBits, Point};
use adumbra::Instance;
use adumbra::batch::{BatchGlobals, BatchSetup, OutputPlane, Part};
use adumbra::evaluator::Engine;
use adumbra::gradient::{
    Axis, DerivativePlace, GradientRequest, JumpBatch, JumpGradient, JumpRules,
};
use adumbra_ir::Type;
use adumbra_ir::host::ConstantTexture;
use std::fmt;
use std::ops::AddAssign;

/// Points of a program.
const POINTS: u64 = 2;

/// What was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeCounts {
    /// Programs.
    pub programs: usize,
    /// Programs without a gradient.
    pub refused: usize,
    /// Points beside which there are edges.
    pub points: usize,
    /// Edges.
    pub roots: usize,
    /// Points some of whose edges do not count.
    pub unresolved: usize,
    /// Numbers that were compared to the bit.
    pub bits: usize,
}

impl EdgeCounts {
    /// What a campaign lacks that looked at edges.
    pub fn hollow(&self) -> Option<String> {
        (self.programs > 100 && self.roots < self.programs / 10)
            .then(|| format!("{} edges of {} programs", self.roots, self.programs))
    }
}

impl AddAssign for EdgeCounts {
    fn add_assign(&mut self, other: EdgeCounts) {
        let EdgeCounts {
            programs,
            refused,
            points,
            roots,
            unresolved,
            bits,
        } = other;
        self.programs += programs;
        self.refused += refused;
        self.points += points;
        self.roots += roots;
        self.unresolved += unresolved;
        self.bits += bits;
    }
}

impl fmt::Display for EdgeCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EdgeCounts {
            programs,
            refused,
            points,
            roots,
            unresolved,
            bits,
        } = self;
        write!(
            f,
            "{programs} programs ({refused} refused), {points} points with {roots} edges ({unresolved} with some that do not count): {bits} numbers to the bit"
        )
    }
}

/// Checks what edges add to the gradient of a shader by the globals that it reads.
///
/// # Errors
/// The disagreement.
pub fn check_edges(
    program: &GeneratedProgram,
    counts: &mut EdgeCounts,
) -> Result<(), Disagreement> {
    counts.programs += 1;
    let sources = bundle::sources(&program.source);
    let plain = sources.and_then(|sources| compiler(&MODES[0]).compile(&sources));
    let plain = plain.map_err(|no| refused(program, &no))?;
    let axes = [Axis::new("ga", 0, 0.5), Axis::new("gb", 0, 0.25)];
    let request = GradientRequest::new().by_globals();
    let edges = match plain.jump_gradient(&request, &axes, JumpRules::Edge) {
        Ok(edges) => edges,
        Err(no) if may_have_none(&no) => {
            counts.refused += 1;
            return Ok(());
        }
        Err(no) => return Err(refused(program, &no)),
    };
    let gradient = edges.smooth().program();
    let mut lot = program.seed;
    let points: Vec<Point> = (0..POINTS)
        .map(|number| with_seeds(program.point(number), &edges, &mut lot))
        .collect();
    let words = words(gradient, &points);
    let globals = BatchGlobals::interleaved(gradient.globals(), &words);
    let mut first: Option<(Engine, Vec<Vec<f32>>)> = None;
    for engine in Engine::available() {
        let report = |what: String| Disagreement::new(program, None, what);
        let floats = floats_of(&edges);
        let mut found = vec![vec![0.0_f32; points.len()]; floats.len()];
        let mut planes: Vec<OutputPlane<'_>> = (floats.iter().zip(&mut found))
            .map(|((name, scalar), plane)| OutputPlane::new(name, Part::Value, *scalar, plane, 1))
            .collect();
        let setup = BatchSetup {
            limits: limits(),
            ..BatchSetup::default()
        };
        let batch = JumpBatch::new(&edges, &Instance::new(gradient))
            .setup(setup)
            .engine(engine);
        let host = || ConstantTexture([0.5; 4]);
        let done = batch.add(&globals, 0..points.len(), &mut planes, host);
        let (_, seen) = done.map_err(|no| report(no.to_string()))?;
        match &first {
            None => {
                counts.points += seen.points;
                counts.roots += seen.roots;
                counts.unresolved += seen.nullified;
                first = Some((engine, found));
            }
            Some((other, expected)) => {
                let pairs = expected.iter().flatten().zip(found.iter().flatten());
                for (expected, found) in pairs {
                    counts.bits += 1;
                    let both_nan = expected.is_nan() && found.is_nan();
                    if expected.to_bits() != found.to_bits() && !both_nan {
                        return Err(report(format!(
                            "edges: {expected:e} by {other:?}, {found:e} by {engine:?}"
                        )));
                    }
                }
            }
        }
    }
    Ok(())
}

/// A point with weights of the outputs.
fn with_seeds(mut point: Point, edges: &JumpGradient, lot: &mut u64) -> Point {
    let members = edges.smooth().program().globals().members();
    for member in &members[point.len()..] {
        let count = member.ty().scalar_count();
        let seeds = drawn(lot, count).into_iter();
        point.push(GlobalBits {
            value: seeds.map(f32::to_bits).collect(),
            ddx: vec![0; count],
            ddy: vec![0; count],
        });
    }
    point
}

/// The floats of the gradient: output and scalar.
fn floats_of(edges: &JumpGradient) -> Vec<(String, usize)> {
    let mut floats = Vec::new();
    for parameter in edges.smooth().parameters() {
        if let DerivativePlace::Output(name) = &parameter.value.place {
            let scalars: Vec<usize> = Type::float_scalars(&parameter.value.ty);
            floats.extend(scalars.into_iter().map(|scalar| (name.clone(), scalar)));
        }
    }
    floats
}
