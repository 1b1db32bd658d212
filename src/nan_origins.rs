//! The origins of a point's NaNs, found by the reference interpreter.

use crate::evaluator::quad_neighbours::QuadNeighbours;
use crate::evaluator::reference::reference_point;
use crate::globals::{PointGlobals, point_words};
use crate::program::Instance;
use adumbra_ir::eval::{self, EvalOutcome, NanOrigin, Progress};
use adumbra_ir::host::{Host, Limits};
use adumbra_ir::quad::{Corner, Lockstep, QuadPause, advance, with_host};
use adumbra_ir::{Direction, Scalar, Span};
use adumbra_vm::FloatEnvironment;

/// For each scalar of the outputs, in order, the source spans where its value, its ddx and its ddy
/// became NaN. They are the first operations on the way there that gave one though no operand was
/// one. A derivative is the one in the program, so it is never NaN where it has no demand. `None`
/// if the point was stopped, or the host let it wait.
///
/// ```
/// use adumbra::{Compiler, Globals, GlobalsLayout, Instance, Limits, NoTextures, Sources, Type, inspect::nan_origins};
/// let source = "shader s(out float o) { float x = global_value<x>; float y = sqrt(x); o = 2 * y + 1; }";
/// let layout = GlobalsLayout::new().with("x", Type::FLOAT)?;
/// let program = Compiler::new(layout).compile(&Sources::new("s.adu", source))?;
/// let mut globals = Globals::new(program.globals());
/// globals.set("x", -1.0, 0.0, 0.0)?;
/// let origins = nan_origins(&Instance::new(&program), &globals, Limits::default(), &mut NoTextures).unwrap();
/// let span = origins[0][0].unwrap();
/// assert_eq!(&source[span.start as usize..span.end as usize], "sqrt(x)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Where derivatives come from quads, the point is the upper left one of its own.
///
/// # Panics
/// If the globals have another layout than the program's.
pub fn nan_origins<G: PointGlobals>(
    instance: &Instance,
    globals: &G,
    limits: Limits,
    host: &mut dyn Host,
) -> Option<Vec<NanOrigin>> {
    let _mode = FloatEnvironment::enter();
    let program = instance.program();
    let module = program.module();
    let mut buffer = Vec::new();
    let globals = point_words(globals, program.globals(), &mut buffer);
    if module.quad.is_some() {
        let mut neighbours = QuadNeighbours::new(program.globals());
        let quad = neighbours.quad_globals(program.globals(), globals);
        let outcomes = in_quad(instance, quad, Corner::UpperLeft, limits, host);
        return origins_in_quad(instance, &outcomes, Corner::UpperLeft);
    }
    let outcome = alone(instance, globals, limits, host)?;
    (outcome.faults.stopped().is_none()).then_some(outcome.origins)
}

/// The source span of the origin of the first NaN that a message of the point reported: the first
/// operation on the way there that gave one though no operand was one. A program [compiled to be
/// observed](crate::Compiler::compile_observed) reports every variable. `None` if there is no such
/// NaN, the program is evaluated in quads, or the host let the point wait.
///
/// ```
/// use adumbra::{Compiler, Globals, GlobalsLayout, Instance, Limits, NoTextures, Sources, inspect::observed_nan_origin};
/// let source = "shader s(float x = -1, out float o) { float y = 2 * sqrt(x); o = x > 0 ? y : 0; }";
/// let (program, _) = Compiler::new(GlobalsLayout::new()).compile_observed(&Sources::new("s.adu", source))?;
/// let globals = Globals::new(program.globals());
/// let span = observed_nan_origin(&Instance::new(&program), &globals, Limits::default(), &mut NoTextures).unwrap();
/// assert_eq!(&source[span.start as usize..span.end as usize], "sqrt(x)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// If the globals have another layout than the program's.
pub fn observed_nan_origin<G: PointGlobals>(
    instance: &Instance,
    globals: &G,
    limits: Limits,
    host: &mut dyn Host,
) -> Option<Span> {
    let _mode = FloatEnvironment::enter();
    let program = instance.program();
    let module = program.module();
    if module.quad.is_some() {
        return None;
    }
    let mut buffer = Vec::new();
    let globals = point_words(globals, program.globals(), &mut buffer);
    alone(instance, globals, limits, host)?.observed_nan
}

/// One point without neighbours; `None` if it is suspended.
fn alone(
    instance: &Instance,
    globals: &[u32],
    limits: Limits,
    host: &mut dyn Host,
) -> Option<EvalOutcome> {
    let module = instance.program().module();
    let options = with_origins(limits);
    match eval::begin(module, &reference_point(globals, instance), &options, host) {
        Progress::Done(outcome) => Some(outcome),
        Progress::Pending(_) => None,
    }
}

fn with_origins(limits: Limits) -> eval::EvalOptions {
    eval::EvalOptions {
        limits,
        origins: true,
        ..eval::EvalOptions::default()
    }
}

/// The origins at one of the four points of a quad; the others are helpers. A derivative of an
/// output is NaN because of the values that it is the difference of, where these are; between
/// values that are infinite no operation of the source made it so.
///
/// ```
/// use adumbra::{Compiler, Derivatives, Globals, GlobalsLayout, Instance, Limits, NoTextures, Options, Sources, Type, derivatives::{Corner, Quad}, inspect::nan_origins_in_quad};
/// let source = "shader s(out float o) { o = sqrt(global_value<x>); }";
/// let options = Options { derivatives: Derivatives::Quad(Quad::Fine), output_derivatives: true, ..Options::default() };
/// let layout = GlobalsLayout::new().with("x", Type::FLOAT)?;
/// let program = Compiler::new(layout).with_options(options).compile(&Sources::new("s.adu", source))?;
/// let quad = [1.0, -1.0, 1.0, -1.0].map(|x| {
///     let mut globals = Globals::new(program.globals());
///     globals.set("x", x, 0.0, 0.0).map(|()| globals)
/// });
/// let [a, b, c, d] = quad;
/// let (a, b, c, d) = (a?, b?, c?, d?);
/// let instance = Instance::new(&program);
/// let origins = nan_origins_in_quad(&instance, [&a, &b, &c, &d], Corner::UpperLeft, Limits::default(), &mut NoTextures).unwrap();
/// let [value, ddx, ddy] = origins[0];
/// assert!(value.is_none() && ddx.is_some() && ddy.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// If the program's points are not evaluated in quads, or the globals have another layout than the
/// program's.
pub fn nan_origins_in_quad<G: PointGlobals>(
    instance: &Instance,
    globals: [&G; 4],
    corner: Corner,
    limits: Limits,
    host: &mut dyn Host,
) -> Option<Vec<NanOrigin>> {
    let outcomes = quad_of(instance, globals, corner, limits, host);
    origins_in_quad(instance, &outcomes, corner)
}

/// As [`observed_nan_origin`], of one of the four points of a quad.
///
/// # Panics
/// As [`nan_origins_in_quad`].
pub fn observed_nan_origin_in_quad<G: PointGlobals>(
    instance: &Instance,
    globals: [&G; 4],
    corner: Corner,
    limits: Limits,
    host: &mut dyn Host,
) -> Option<Span> {
    let outcomes = quad_of(instance, globals, corner, limits, host);
    outcomes[corner as usize].as_ref()?.observed_nan
}

fn quad_of<G: PointGlobals>(
    instance: &Instance,
    globals: [&G; 4],
    corner: Corner,
    limits: Limits,
    host: &mut dyn Host,
) -> [Option<EvalOutcome>; 4] {
    let _mode = FloatEnvironment::enter();
    let layout = instance.program().globals();
    let mut buffers = [const { Vec::new() }; 4];
    let mut buffers = buffers.iter_mut();
    let globals = globals.map(|globals| {
        let buffer = buffers.next().expect("one for each of the four");
        point_words(globals, layout, buffer)
    });
    in_quad(instance, globals, corner, limits, host)
}

/// A point of the reference engine.
struct Lane(Progress);

impl Lockstep for Lane {
    fn awaited(&self) -> Option<&QuadPause> {
        self.0.awaited()
    }

    fn is_at_same_instruction(&self, other: &Lane) -> bool {
        self.0.is_at_same_instruction(&other.0)
    }
}

fn in_quad(
    instance: &Instance,
    globals: [&[u32]; 4],
    corner: Corner,
    limits: Limits,
    host: &mut dyn Host,
) -> [Option<EvalOutcome>; 4] {
    let module = instance.program().module();
    let rule = module
        .quad
        .expect("the program's points are evaluated in quads");
    let options = with_origins(limits);
    let is_helper = |other: Corner| other != corner;
    let mut lanes = Corner::ALL.map(|corner| {
        let point = reference_point(globals[corner as usize], instance);
        host.at_point(corner as usize);
        Lane(with_host(is_helper(corner), host, |host| {
            eval::begin(module, &point, &options, host)
        }))
    });
    advance(rule, &mut lanes, |corner, lane, difference| {
        host.at_point(corner as usize);
        if let Progress::Pending(suspended) = lane.0.clone() {
            lane.0 = with_host(is_helper(corner), host, |host| {
                suspended.resume_difference(module, difference, host)
            });
        }
    });
    lanes.map(|lane| match lane.0 {
        Progress::Done(outcome) => Some(outcome),
        Progress::Pending(_) => None,
    })
}

/// The origins of a point's outputs, whose derivatives are differences between the four.
fn origins_in_quad(
    instance: &Instance,
    outcomes: &[Option<EvalOutcome>; 4],
    corner: Corner,
) -> Option<Vec<NanOrigin>> {
    let module = instance.program().module();
    let rule = module.quad?;
    let finished = |of: Corner| {
        let outcome = outcomes[of as usize].as_ref();
        outcome.filter(|outcome| outcome.faults.stopped().is_none())
    };
    let mut origins = finished(corner)?.origins.clone();
    for (scalar, result) in module.entry().results.iter().enumerate() {
        if result.ty != Scalar::F32 {
            continue;
        }
        for direction in Direction::BOTH {
            let (first, second) = rule.neighbours(corner, direction);
            let mut both = [first, second].into_iter();
            let origin = both.find_map(|of| finished(of)?.origins[scalar][0]);
            origins[scalar][1 + direction as usize] = origin;
        }
    }
    Some(origins)
}
