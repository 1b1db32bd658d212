//! Checks of properties: their expressions are compiled and evaluated at random points.

use super::draw::{Random, Variables, fill, layout};
use super::signature::Called;
use super::suite::{Function, Property, VARIABLES};
use crate::output_bits::output_bits;
use adumbra::{
    Compiler, Evaluator, Globals, Instance, NoTextures, Options, Outcome, Program, Scalar, Sources,
};
use adumbra_fuzz::Point;
use adumbra_fuzz::signature::signatures;
use std::sync::Arc;

/// A program with what evaluates it.
pub(crate) struct Compiled {
    pub(crate) program: Arc<Program>,
    evaluator: Evaluator,
    globals: Globals,
}

/// The variables of properties.
pub(crate) fn variables() -> Variables {
    VARIABLES
        .iter()
        .map(|(name, ty, domain)| ((*name).to_owned(), ty.clone(), *domain))
        .collect()
}

impl Compiled {
    /// The shader of a text whose globals are these variables. `user` is a text beside it, whose
    /// functions hide the library's.
    pub(crate) fn shader(
        text: &str,
        variables: &Variables,
        user: &str,
    ) -> Result<Compiled, String> {
        let mut sources = Sources::new("shader", text);
        sources.add("user", user);
        let program = compiler(variables).compile(&sources);
        Ok(Compiled::new(program.map_err(|f| format!("{text}\n{f}"))?))
    }

    fn expression(text: &str, variables: &Variables, user: &str) -> Result<Compiled, String> {
        let mut sources = Sources::new("expression", text);
        sources.add("user", user);
        let program = compiler(variables).compile_expression(&sources);
        Ok(Compiled::new(
            program.map_err(|diagnostics| diagnostics.to_string())?,
        ))
    }

    fn new(program: Arc<Program>) -> Compiled {
        Compiled {
            evaluator: Evaluator::new(&Instance::new(&program)),
            globals: Globals::new(program.globals()),
            program,
        }
    }

    /// Value, ddx and ddy of each scalar of the outputs at a point.
    pub(crate) fn at(&mut self, point: &Point) -> Result<Vec<u32>, String> {
        fill(&mut self.globals, point);
        let outcome = self.evaluator.evaluate(&self.globals, &mut NoTextures);
        if outcome != Outcome::Finished || !self.evaluator.faults().is_empty() {
            return Err(format!("{outcome:?} with {:?}", self.evaluator.faults()));
        }
        Ok(output_bits(&self.evaluator))
    }

    /// For each scalar of the outputs, whether it is a float.
    pub(crate) fn floats(&self) -> Vec<bool> {
        let mut floats = Vec::new();
        for output in self.program.outputs() {
            let mut push = |scalar| floats.push(scalar == Scalar::F32);
            output.ty.for_each_scalar(&mut push);
        }
        floats
    }
}

fn compiler(variables: &Variables) -> Compiler {
    Compiler::new(layout(variables)).with_options(Options {
        output_derivatives: true,
        ..Options::default()
    })
}

/// Whether the property holds at `points` points. `user` is a source whose functions hide the
/// library's.
pub(crate) fn check(
    function: &Function,
    property: &Property,
    points: usize,
    user: &str,
) -> Result<(), String> {
    let user = &format!("{}\n{user}", function.helpers);
    match property {
        Property::Equal(one, other, tolerance) => {
            let variables = variables();
            let mut one = Compiled::expression(one, &variables, user)?;
            let mut other = Compiled::expression(other, &variables, user)?;
            let floats = one.floats();
            if floats != other.floats() {
                return Err("the types differ".into());
            }
            let mut random = Random(0);
            for _ in 0..points {
                let point = random.point(&variables);
                let (one, other) = (one.at(&point)?, other.at(&point)?);
                for (i, (one, other)) in one.chunks(3).zip(other.chunks(3)).enumerate() {
                    let is_same = match floats[i] {
                        true => is_close(one[0], other[0], *tolerance),
                        false => one[0] == other[0],
                    };
                    if !is_same {
                        return Err(differ(floats[i], one[0], other[0], &variables, &point));
                    }
                }
            }
        }
        Property::Holds(condition) => {
            let variables = variables();
            let mut compiled = Compiled::expression(condition, &variables, user)?;
            let mut random = Random(0);
            for _ in 0..points {
                let point = random.point(&variables);
                if compiled.at(&point)?[0] != 1 {
                    return Err(format!("does not hold at {}", show(&variables, &point)));
                }
            }
        }
        Property::Componentwise => {
            for signature in signatures(function.name) {
                let Some(text) = signature.componentwise_shader() else {
                    continue;
                };
                let variables = signature.variables(function).ok_or("not of floats")?;
                let mut compiled = Compiled::shader(&text, &variables, user)?;
                let mut random = Random(0);
                for _ in 0..points {
                    let point = random.moving_point(&variables, false);
                    let words = compiled.at(&point)?;
                    let (one, other) = words.split_at(words.len() / 2);
                    if let Some(i) = (0..one.len()).find(|&i| !is_close(one[i], other[i], 1e-6)) {
                        return Err(differ(true, one[i], other[i], &variables, &point));
                    }
                }
            }
        }
    }
    Ok(())
}

fn is_close(one: u32, other: u32, tolerance: f32) -> bool {
    let (one, other) = (f32::from_bits(one), f32::from_bits(other));
    one == other || (one - other).abs() <= tolerance * other.abs().max(1.0)
}

fn differ(is_float: bool, one: u32, other: u32, variables: &Variables, point: &Point) -> String {
    let number = |word: u32| match is_float {
        true => f32::from_bits(word).to_string(),
        false => word.to_string(),
    };
    let at = show(variables, point);
    format!("{} and {} at {at}", number(one), number(other))
}

/// A point for people.
pub(crate) fn show(variables: &Variables, point: &Point) -> String {
    let each = variables
        .iter()
        .zip(point)
        .map(|((name, ty, _), at)| format!("{name} = {}", at.text(ty)));
    each.collect::<Vec<_>>().join(", ")
}
