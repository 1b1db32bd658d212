//! The mix of a campaign: a campaign fails if it ran nothing of interest.

use crate::feature::{Feature, Features, ProgramKind};
use crate::generate::library::UNRECORDED_FUNCTIONS;
use crate::generate::ops::UNRECORDED;
use adumbra_ir::module::InstKind;
use adumbra_ir::{Module, Op};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::AddAssign;

/// Programs after which every op of the op table is expected to have occurred, and nearly all of
/// the library.
const PROGRAMS_FOR_ALL_OPS: usize = 1_000;

/// The least percentage of the library's functions that occur.
const LEAST_LIBRARY: f64 = 90.0;

/// Counts of the features of programs, and of outputs that say nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramMix {
    /// The kind of the programs.
    pub kind: ProgramKind,
    /// Programs that were run.
    pub programs: usize,
    /// Points that they were run on, all together.
    pub points: usize,
    /// Points with a NaN among the outputs.
    pub nan: usize,
    /// Points where every output was zero.
    pub zero: usize,
    /// The ops of the op table that the programs are made of.
    pub ops: BTreeSet<Op>,
    /// The functions of the library that they call.
    pub library: BTreeSet<String>,
    counts: FeatureCounts,
}

/// By feature, the programs that had it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FeatureCounts([usize; Feature::ALL.len()]);

impl Default for FeatureCounts {
    fn default() -> FeatureCounts {
        FeatureCounts([0; Feature::ALL.len()])
    }
}

impl ProgramMix {
    /// To count programs that were made for this.
    pub fn of(kind: ProgramKind) -> ProgramMix {
        ProgramMix {
            kind,
            ..ProgramMix::default()
        }
    }

    /// Counts a program that did this at some of its points, or is written with it.
    pub fn program(&mut self, module: &Module, features: Features) {
        self.programs += 1;
        let library = module.functions.iter().filter(|f| f.library);
        self.library.extend(library.map(|f| f.name.clone()));
        let regions = module.functions.iter().flat_map(|f| &f.regions);
        for inst in regions.flat_map(|r| &r.insts) {
            if let InstKind::Op(op) = inst.kind {
                self.ops.insert(op);
            }
        }
        for &feature in Feature::ALL {
            self.counts.0[feature as usize] += usize::from(features.has(feature));
        }
    }

    /// Counts a point by its float outputs.
    pub fn point(&mut self, outputs: impl IntoIterator<Item = f32>) {
        let (mut nan, mut zero) = (false, true);
        for x in outputs {
            nan |= x.is_nan();
            zero &= x == 0.0;
        }
        self.points += 1;
        self.nan += usize::from(nan);
        self.zero += usize::from(zero && !nan);
    }

    /// Programs in a hundred that had the feature.
    pub fn percent(&self, feature: Feature) -> f64 {
        percent(self.counts.0[feature as usize], self.programs)
    }

    /// Why the campaign says too little, if it does: a feature has less than its least share, an op
    /// of the op table or much of the library is missing, or more than a fifth of the points give
    /// NaN or nothing but zeros.
    pub fn missing_coverage(&self) -> Option<String> {
        for &feature in Feature::ALL {
            if self.percent(feature) < feature.min_percent(self.kind) {
                return Some(format!("too few programs: {}\n{self}", feature.name()));
            }
        }
        if self.programs >= PROGRAMS_FOR_ALL_OPS {
            // The generator writes no derivatives of functions.
            let wanted = |op: &&Op| !op.is_internal() && !UNRECORDED.contains(**op);
            let mut wanted = Op::ALL.iter().filter(wanted);
            if let Some(op) = wanted.find(|op| !self.ops.contains(op)) {
                return Some(format!("no program has the op {}\n{self}", op.info().name));
            }
            if percent(self.library.len(), library_size()) < LEAST_LIBRARY {
                let mut names = adumbra_stdlib::function_names();
                let missing = names.find(|name| !self.library.contains(*name));
                let missing = missing.unwrap_or_default();
                return Some(format!("too little of the library, as {missing}\n{self}"));
            }
        }
        if percent(self.nan + self.zero, self.points) > 20.0 {
            return Some(format!("too many points give NaN or zeros\n{self}"));
        }
        None
    }
}

impl AddAssign for ProgramMix {
    /// Of both together; what the programs were made for is the left one's.
    fn add_assign(&mut self, other: ProgramMix) {
        // Each field is named, so that none is forgotten.
        let ProgramMix {
            kind: _,
            programs,
            points,
            nan,
            zero,
            ops,
            library,
            counts,
        } = other;
        self.programs += programs;
        self.points += points;
        self.nan += nan;
        self.zero += zero;
        self.ops.extend(ops);
        self.library.extend(library);
        for (count, more) in self.counts.0.iter_mut().zip(counts.0) {
            *count += more;
        }
    }
}

fn library_size() -> usize {
    let names = adumbra_stdlib::function_names();
    names
        .filter(|name| !UNRECORDED_FUNCTIONS.contains(name))
        .count()
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

impl fmt::Display for ProgramMix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ops, all) = (self.ops.len(), Op::ALL.len());
        let ProgramMix {
            programs, points, ..
        } = self;
        writeln!(
            f,
            "{programs} programs, {points} points, {ops} of {all} ops, {} of {} functions of the library",
            self.library.len(),
            library_size()
        )?;
        for &feature in Feature::ALL {
            let (percent, least) = (self.percent(feature), feature.min_percent(self.kind));
            writeln!(
                f,
                "  {percent:5.1} %  {} (at least {least} %)",
                feature.name()
            )?;
        }
        writeln!(
            f,
            "  {:5.1} %  of points: NaN",
            percent(self.nan, self.points)
        )?;
        write!(
            f,
            "  {:5.1} %  of points: zeros",
            percent(self.zero, self.points)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixes_add_up() {
        let count = |programs: &[&[Feature]]| {
            let mut mix = ProgramMix::of(ProgramKind::Gradient);
            for features in programs {
                let mut all = Features::default();
                features.iter().for_each(|&feature| all.insert(feature));
                mix.program(&Module::default(), all);
                mix.point([0.0]);
                mix.point([f32::NAN]);
            }
            mix
        };
        let (first, last) = (Feature::ALL[0], Feature::ALL[Feature::ALL.len() - 1]);
        let mut sum = count(&[&[first], &[]]);
        sum += count(&[&[first, last]]);
        assert_eq!(sum, count(&[&[first], &[], &[first, last]]));
    }

    #[test]
    fn hollow_mix_is_reported() {
        let mut features = Features::default();
        for &feature in Feature::ALL {
            features.insert(feature);
        }
        let module = Module::default();
        let mut mix = ProgramMix::default();
        mix.program(&module, features);
        mix.point([1.0]);
        assert_eq!(mix.missing_coverage(), None);

        // This number of programs without a feature brings it below its least share.
        for &feature in Feature::ALL {
            let least = feature.min_percent(ProgramKind::Any);
            let without = (100.0 / least) as usize;
            let mut still = mix.clone();
            let mut others = Features::default();
            let rest = Feature::ALL.iter().filter(|other| **other != feature);
            rest.for_each(|&other| others.insert(other));
            for _ in 0..without {
                still.program(&module, others);
            }
            let why = still.missing_coverage();
            assert!(why.is_some_and(|why| why.contains(feature.name())));
        }

        mix.point([0.0, -0.0]);
        mix.point([1.0, f32::NAN]);
        assert_eq!((mix.nan, mix.zero), (1, 1));
        assert!(
            mix.missing_coverage()
                .is_some_and(|why| why.contains("NaN"))
        );
    }
}
