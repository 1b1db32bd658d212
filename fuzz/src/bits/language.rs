//! The programs of `tests/lang`: each with the globals, arguments and limits that its header names,
//! run by run.
//!
//! A header is read as the command would read its `run` lines; a program without any is run as it
//! is. In quads the corners are the point itself and where its derivatives lead.

use super::observation::{MERGED, ObservationHash, SPECIALISED, in_quads};
use super::{Hashes, shaders, text};
use crate::fnv::FnvHasher;
use crate::generate::{GlobalBits, Point};
use adumbra::{
    Compiler, Derivatives, GlobalsLayout, Instance, Limits, Options, Scalar, Sources, Type,
    derivatives::Quad, value::ValueView,
};

/// The start of a header's lines that give the outputs.
const EXPECTED: [&str; 6] = ["out", "sample", "closure", "tree", "message", "fault"];

/// The mark in the header of a program that is refused.
const REFUSED: &str = "\n// refused: ";

/// The paths of the programs, from the workspace on.
///
/// # Errors
/// If they cannot be listed.
pub fn programs() -> Result<Vec<String>, String> {
    shaders("tests/lang")
}

/// The hashes of a program.
///
/// # Errors
/// If it cannot be read, or its header cannot.
pub fn hashes(path: &str) -> Result<Hashes, String> {
    let text = text(path)?;
    let sources = Sources::new(path, text.as_str());
    let mut shown = ObservationHash::default();
    for options in runs(&text) {
        let no = |no: String| format!("{path}: {options}: {no}");
        let run = Run::read(&options).map_err(no)?;
        shown.limits = run.limits;
        let was_run = run.add(&sources, &mut shown).map_err(no)?;
        if was_run == text.contains(REFUSED) {
            return Err(no(format!("run: {was_run}, which the header does not say")));
        }
    }
    Ok(Hashes {
        source: FnvHasher::of(text.as_bytes()),
        shown: shown.get(),
    })
}

/// The options of each run that a header names; of one without any if something must come out
/// before the first, or no run is named.
fn runs(text: &str) -> Vec<String> {
    let mut runs = Vec::new();
    for line in text.lines().map_while(|line| line.strip_prefix("// ")) {
        match line.split_once(": ") {
            Some(("run", options)) => runs.push(options.to_owned()),
            Some((key, _)) if runs.is_empty() && EXPECTED.contains(&key) => {
                runs.push(String::new());
            }
            _ => {}
        }
    }
    if runs.is_empty() {
        runs.push(String::new());
    }
    runs
}

/// The inputs of one run.
#[derive(Debug)]
struct Run {
    shader: Option<String>,
    derivatives: Derivatives,
    limits: Limits,
    layout: GlobalsLayout,
    /// The values of the layout's members.
    point: Point,
    /// Names and values of inputs.
    args: Vec<(String, String)>,
}

impl Run {
    fn read(options: &str) -> Result<Run, String> {
        let mut run = Run {
            shader: None,
            derivatives: Derivatives::Dual,
            limits: Limits::default(),
            layout: GlobalsLayout::new(),
            point: Point::new(),
            args: Vec::new(),
        };
        let mut set = Vec::new();
        let mut words = options.split_whitespace();
        while let Some(option) = words.next() {
            let mut value = || words.next().ok_or(format!("{option} without a value"));
            match option {
                "-g" => set.push(global(value()?)?),
                "--arg" => {
                    let (name, value) = value()?.split_once('=').ok_or("there is no `=`")?;
                    run.args.push((name.to_owned(), value.to_owned()));
                }
                "--shader" => run.shader = Some(value()?.to_owned()),
                "--steps" => run.limits.steps = value()?.parse().map_err(|_| "no number")?,
                "--globals" if value()? == "hit" => run.layout = GlobalsLayout::hit(),
                "--derivatives" if value()? == "off" => run.derivatives = Derivatives::Off,
                // Shadows of outputs are looked at anyway.
                "--derivs" => {}
                _ => return Err(format!("{option} is not known here")),
            }
        }
        for (name, ty, _) in &set {
            if !run.layout.members().iter().any(|m| m.name() == name) {
                let layout = run.layout.with(name, ty.clone());
                run.layout = layout.map_err(|no| no.to_string())?;
            }
        }
        for member in run.layout.members() {
            let given = set.iter().find(|(name, ..)| name == member.name());
            let zeros = || vec![0; member.ty().scalar_count()];
            run.point.push(match given {
                Some((_, ty, value)) if ty == member.ty() => value.clone(),
                Some((name, ..)) => return Err(format!("{name} has another type")),
                None => GlobalBits {
                    value: zeros(),
                    ddx: zeros(),
                    ddy: zeros(),
                },
            });
        }
        Ok(run)
    }

    /// Adds what the program shows. Gives whether it was run, quads aside, which [may be
    /// refused](super::shown::may_be_refused).
    fn add(&self, sources: &Sources, shown: &mut ObservationHash) -> Result<bool, String> {
        let compile = |options: Options| {
            let options = Options {
                shader: self.shader.clone(),
                ..options
            };
            let compiler = Compiler::new(self.layout.clone()).with_options(options);
            compiler.compile(sources)
        };
        let set = |instance: &mut Instance| self.set(instance);
        let mut was_run = true;
        for options in [SPECIALISED, MERGED] {
            let compiled = compile(Options {
                derivatives: self.derivatives,
                ..options
            });
            was_run &= shown.add(compiled, set, std::slice::from_ref(&self.point))?;
        }
        let corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
        let quad = corners.map(|by| moved(&self.layout, &self.point, by));
        shown.add(compile(in_quads(Quad::Fine)), set, &quad)?;
        Ok(was_run)
    }

    /// Sets the inputs that the run names.
    fn set(&self, instance: &mut Instance) -> Result<(), String> {
        for (name, text) in &self.args {
            let inputs = instance.program().inputs().iter();
            let input = inputs.clone().find(|input| input.name == *name);
            let ty = input.ok_or(format!("there is no input {name}"))?.ty.clone();
            let words = words(text, &ty)?;
            let set = instance.set_view(name, ValueView::new(&ty, &words));
            set.map_err(|no| no.to_string())?;
        }
        Ok(())
    }
}

/// The point some pixels further along x and y, as far as its derivatives say.
fn moved(layout: &GlobalsLayout, point: &Point, [x, y]: [f32; 2]) -> Point {
    let mut point = point.clone();
    for (member, at) in layout.members().iter().zip(&mut point) {
        let mut scalars = Vec::new();
        member
            .ty()
            .for_each_scalar(&mut |scalar| scalars.push(scalar));
        for (i, _) in scalars
            .iter()
            .enumerate()
            .filter(|(_, s)| **s == Scalar::F32)
        {
            let [value, ddx, ddy] = [&at.value, &at.ddx, &at.ddy].map(|w| f32::from_bits(w[i]));
            // What does not move keeps its bits, as -0 and NaN have.
            if ddx != 0.0 || ddy != 0.0 {
                at.value[i] = (value + x * ddx + y * ddy).to_bits();
            }
        }
    }
    point
}

/// Reads `NAME=VALUE[:DDX[:DDY]]`; the type follows the shape.
fn global(text: &str) -> Result<(String, Type, GlobalBits), String> {
    let (name, rest) = text.split_once('=').ok_or("there is no `=`")?;
    let mut parts = rest.split(':');
    let value = parts.next().unwrap_or_default();
    let ty = match value.split(',').count() {
        1 if value.parse::<bool>().is_ok() => Type::Scalar(Scalar::Bool),
        1 if value.ends_with('i') => Type::Scalar(Scalar::I32),
        1 => Type::FLOAT,
        count @ 2..=4 => Type::Vector(count as u8),
        _ => return Err(format!("{value} is no vector")),
    };
    let value = words(value, &ty)?;
    let mut shadow = || match parts.next() {
        None => Ok(vec![0; value.len()]),
        Some(text) => words(text, &ty),
    };
    let (ddx, ddy) = (shadow()?, shadow()?);
    Ok((name.to_owned(), ty, GlobalBits { value, ddx, ddy }))
}

/// Reads a word for each scalar of a type.
fn words(text: &str, ty: &Type) -> Result<Vec<u32>, String> {
    let (mut parts, mut words) = (text.split(','), Vec::new());
    let mut missed = false;
    ty.for_each_scalar(&mut |scalar| {
        let part = parts.next().unwrap_or_default();
        let word = match scalar {
            Scalar::F32 => part.parse::<f32>().map(f32::to_bits).ok(),
            Scalar::I32 => {
                let digits = part.strip_suffix('i').unwrap_or(part);
                digits.parse::<i32>().map(|value| value as u32).ok()
            }
            Scalar::U32 => part.parse().ok(),
            Scalar::Bool => part.parse::<bool>().map(u32::from).ok(),
            _ => None,
        };
        missed |= word.is_none();
        words.extend(word);
    });
    match missed || parts.next().is_some() {
        true => Err(format!("{text} is no {ty}")),
        false => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_say_how_often_a_program_is_run() {
        let none = "// A program.\n// source: by hand\nshader s() {}\n// run: --derivs\n";
        assert_eq!(runs(none), [""]);
        let both = "// out: a = 1\n// run: -g n=1i\n// out: a = 2\n// run: --derivs\n";
        assert_eq!(runs(both), ["", "-g n=1i", "--derivs"]);
    }

    #[test]
    fn options_are_read_as_by_the_command() {
        let run = Run::read("--steps 9 -g x=-1.5:1:0 -g v=1,2:0,3 -g n=-3i -g b=true --arg m=1,2");
        let run = run.expect("all of these are known");
        assert_eq!(run.limits.steps, 9);
        assert_eq!(run.args, [("m".to_owned(), "1,2".to_owned())]);
        let types: Vec<String> = (run.layout.members().iter())
            .map(|m| m.ty().to_string())
            .collect();
        assert_eq!(types, ["float", "float2", "int", "bool"]);
        let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<u32>>();
        assert_eq!(run.point[0].value, bits(&[-1.5]));
        assert_eq!(run.point[1].ddx, bits(&[0.0, 3.0]));
        assert_eq!(run.point[2].value, [-3_i32 as u32]);
        let far = moved(&run.layout, &run.point, [1.0, 1.0]);
        assert_eq!(far[0].value, bits(&[-0.5]));
        assert_eq!(far[1].value, bits(&[1.0, 5.0]));
        assert_eq!(far[2..], run.point[2..]);
        for unknown in ["--engine point", "-g", "-g x", "-g x=1,", "--globals sun"] {
            assert!(Run::read(unknown).is_err(), "{unknown}");
        }
    }
}
