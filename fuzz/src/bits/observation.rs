//! A hash of all that a host can see of a program at some points.
//!
//! That is: of each output value, ddx and ddy by bits, closures as trees, each request with its
//! partials and level, messages with their arguments, faults with their places, and whether the
//! point finished. Any NaN counts as any other. Places within the standard library do not count:
//! its text may change.

use crate::buffers;
use crate::fnv::FnvHasher;
use crate::generate::Point;
use crate::oracle::chain::{point_globals, shown};
use crate::oracle::observation::ObservedRun;
use crate::oracle::reference::TextureRecorder;
use adumbra::{
    Derivatives, Diagnostics, Evaluator, Instance, Limits, Options, Outcome, Sources,
    derivatives::{AtDivergence, Corner, OpSet, Quad},
    evaluator::Engine,
};
use std::sync::Arc;

/// A compilation with the shadows of all outputs.
pub const SPECIALISED: Options = Options {
    shader: None,
    derivatives: Derivatives::Dual,
    at_divergence: AtDivergence::Refuse,
    merge_demand: false,
    output_derivatives: true,
    dropped_derivatives: OpSet::NONE,
};

/// The same with one variant of each function, which carries what any call asks for.
pub const MERGED: Options = Options {
    merge_demand: true,
    ..SPECIALISED
};

/// The same without derivatives.
pub const OFF: Options = Options {
    derivatives: Derivatives::Off,
    ..SPECIALISED
};

/// The same with differences in quads.
pub const fn in_quads(rule: Quad) -> Options {
    Options {
        derivatives: Derivatives::Quad(rule),
        at_divergence: AtDivergence::Flatten,
        ..SPECIALISED
    }
}

/// Whether these are such: a program that takes derivatives where points may diverge is refused.
pub fn may_be_refused(options: &Options) -> bool {
    matches!(options.derivatives, Derivatives::Quad(_))
}

/// A hash of what programs showed.
#[derive(Default)]
pub struct ObservationHash {
    hash: FnvHasher,
    /// Within what limits programs run from now on.
    pub limits: Limits,
}

impl ObservationHash {
    /// Nothing yet, of programs that run within these limits.
    pub fn within(limits: Limits) -> ObservationHash {
        let hash = FnvHasher::default();
        ObservationHash { hash, limits }
    }

    /// The hash.
    pub fn get(self) -> u64 {
        self.hash.get()
    }

    /// Adds what a compiled program shows at points, in quads if it takes derivatives so; or that
    /// it was refused, with the codes of its errors. Gives whether it was run.
    ///
    /// # Errors
    /// What `prepare` says, which sets inputs; or that the engine cannot run the program.
    pub fn add(
        &mut self,
        compiled: Result<Arc<adumbra::Program>, Diagnostics>,
        prepare: impl FnOnce(&mut Instance) -> Result<(), String>,
        points: &[Point],
    ) -> Result<bool, String> {
        let program = match compiled {
            Ok(program) => program,
            Err(found) => {
                self.refused(&found);
                return Ok(false);
            }
        };
        let mut instance = buffers::instance(&program);
        prepare(&mut instance)?;
        let evaluator = Evaluator::with(&instance, Engine::Point, self.limits);
        let mut evaluator = evaluator.map_err(|no| no.to_string())?;
        let sources = program.sources().ok_or("the program lost its sources")?;
        if program.quad().is_some() {
            self.quads(&mut evaluator, sources, points);
            return Ok(true);
        }
        for point in points {
            let mut host = TextureRecorder::default();
            let outcome = evaluator.evaluate(&point_globals(&program, point), &mut host);
            self.observed(outcome, &shown(&evaluator, &host), sources);
        }
        Ok(true)
    }

    /// Each four points are a quad, of which all corners ask and show.
    fn quads(&mut self, evaluator: &mut Evaluator, sources: &Sources, points: &[Point]) {
        let program = evaluator.instance().program().clone();
        for quad in points.chunks_exact(4) {
            let globals: Vec<_> = quad
                .iter()
                .map(|point| point_globals(&program, point))
                .collect();
            let globals = std::array::from_fn(|at| &globals[at]);
            let mut host = TextureRecorder::default();
            evaluator.evaluate_quad(globals, [false; 4], &mut host);
            for corner in Corner::ALL {
                let outcome = evaluator.show(corner);
                self.observed(outcome, &shown(evaluator, &host), sources);
                // What all of them asked counts once.
                host = TextureRecorder::default();
            }
        }
    }

    fn refused(&mut self, found: &Diagnostics) {
        let errors = found.diagnostics.iter().filter(|d| d.is_error());
        self.hash.string("refused");
        errors.for_each(|error| self.hash.string(&error.code.to_string()));
    }

    fn observed(&mut self, outcome: Outcome, shown: &ObservedRun, sources: &Sources) {
        let hash = &mut self.hash;
        hash.word(match outcome {
            Outcome::Finished => 0,
            Outcome::Stopped => 1,
            Outcome::Pending => 2,
        });
        hash.long(shown.outputs.len() as u64);
        for output in &shown.outputs {
            hash.string(&output.ty.to_string());
            hash.word(output.value);
            output.shadows.iter().for_each(|&bits| hash.word(bits));
        }
        hash.long(shown.requests.len() as u64);
        for (bits, level) in &shown.requests {
            bits.iter().for_each(|&bits| hash.word(bits));
            hash.word(u32::from(level.is_some()));
            hash.word(level.unwrap_or(0));
        }
        hash.long(shown.messages.len() as u64);
        for (before, number, args) in &shown.messages {
            hash.long(*before as u64);
            hash.word(*number);
            hash.long(args.len() as u64);
            args.iter().for_each(|&word| hash.word(word));
        }
        hash.long(shown.faults.len() as u64);
        for fault in &shown.faults {
            hash.string(&fault.kind.code().to_string());
            let span = fault.span;
            hash.word(span.file.0.into());
            let is_of_library = sources.get(span.file).is_none();
            for place in [span.start, span.end] {
                hash.word(if is_of_library { 0 } else { place });
            }
        }
        hash.word(shown.more_faults);
        hash.long(shown.closures.len() as u64);
        shown.closures.iter().for_each(|tree| hash.string(tree));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::chain::layout;
    use crate::{GeneratedProgram, Profile};
    use adumbra::Compiler;

    fn hash(options: Options, source: &str) -> u64 {
        let program = GeneratedProgram::of_seed(0, Profile::ANY);
        let points: Vec<Point> = (0..4).map(|number| program.point(number)).collect();
        let compiler = Compiler::new(layout()).with_options(options);
        let mut shown = ObservationHash::default();
        let compiled = compiler.compile(&Sources::new("s.adu", source));
        let was_run = shown.add(compiled, |_| Ok(()), &points);
        assert_eq!(was_run, Ok(!source.contains("nothing")), "{source}");
        shown.get()
    }

    #[test]
    fn each_part_of_an_observation_counts() {
        let sources = [
            "o = global_value<ga>;",
            // Another value; the same one without derivatives.
            "o = global_value<ga> + 0.000001;",
            "o = asfloat(asint(global_value<ga>));",
            "o = global_value<ga>; texture2d_sample<t>(o, 0.0);",
            "o = global_value<ga>; texture2d_sample<t>(asfloat(asint(o)), 0.0);",
            "o = global_value<ga>; texture2d_sample_level<t>(o, 0.0, 1.0);",
            "o = global_value<ga>; printf(\"%f\", o);",
            "o = global_value<ga>; printf(\"%f\", o + o);",
            "o = global_value<ga>; n = 1 / (int)(o * 0.0);",
            // The same fault elsewhere.
            "o = global_value<ga>;  n = 1 / (int)(o * 0.0);",
            "o = global_value<ga>; c = make_closure<A>(o);",
            "o = global_value<ga>; c = make_closure<A>(o + o);",
            "o = global_value<ga>; c = make_closure<A>(o) * 2.0;",
            "while (true) { }",
            "o = nothing;",
        ];
        let around = "texture2d t; shader s(out float o, out int n, out closure c)";
        let hashes: Vec<u64> = (sources.iter())
            .map(|text| hash(SPECIALISED, &format!("{around} {{ {text} }}")))
            .collect();
        let mut others = hashes.clone();
        others.sort_unstable();
        others.dedup();
        assert_eq!(others.len(), hashes.len());
    }
}
