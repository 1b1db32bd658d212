//! What a campaign really ran.
//!
//! A feature counts when a point *executed* it, not when the program's text has it. A campaign asserts its mix, so that it cannot pass by
//! running nothing of interest.

use adumbra_ir::module::InstKind;
use adumbra_ir::{Module, Op};
use std::collections::BTreeSet;
use std::fmt;

/// Programs after which every row of the op table is expected to have occurred.
const PROGRAMS_FOR_ALL_ROWS: usize = 1_000;

macro_rules! features {
    ($($(#[doc = $doc:literal])+ $feature:ident = $name:literal,)*) => {
        /// Something that a program did at a point.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Feature {
            $($(#[doc = $doc])+ $feature,)*
        }

        impl Feature {
            /// Every feature.
            pub const ALL: &[Feature] = &[$(Feature::$feature,)*];

            /// As the table calls it.
            pub const fn name(self) -> &'static str {
                match self { $(Feature::$feature => $name,)* }
            }
        }
    };
}

features! {
    /// A loop turned more than once.
    Loop = "loop, more than one turn",
    /// Two points of one program turned a loop a different number of times.
    Divergence = "loop, turns differ by point",
    /// A function was called.
    Call = "call",
    /// A function called itself.
    Recursion = "recursion",
    /// A function wrote to an argument of its caller.
    Inout = "out or inout argument",
    /// An array was read or written.
    Array = "array",
    /// A texture was sampled with a partial other than zero.
    Sample = "sample, partials not zero",
    /// A shadow was read with `ddx` or `ddy`.
    Shadow = "ddx or ddy",
    /// A closure was made.
    Closure = "closure",
    /// An output had a shadow other than zero.
    Derivative = "output, shadow not zero",
    /// A fault was reported that the point survived.
    Fault = "fault survived",
    /// The point was stopped.
    Stop = "point stopped",
}

/// A set of features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features(u32);

impl Features {
    /// Adds a feature.
    pub fn insert(&mut self, feature: Feature) {
        self.0 |= 1 << feature as u32;
    }

    /// Adds a feature if something holds.
    pub fn insert_if(&mut self, feature: Feature, holds: bool) {
        if holds {
            self.insert(feature);
        }
    }

    /// Whether it has the feature.
    pub fn has(self, feature: Feature) -> bool {
        self.0 & 1 << feature as u32 != 0
    }

    /// Adds all of another set.
    pub fn extend(&mut self, other: Features) {
        self.0 |= other.0;
    }
}

/// How often programs did what, and how often their outputs said nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mix {
    /// Programs that were run.
    pub programs: usize,
    /// Points that they were run on, all together.
    pub points: usize,
    /// Points with a NaN among the outputs.
    pub nan: usize,
    /// Points where every output was zero.
    pub zero: usize,
    /// The rows of the op table that the programs are made of.
    pub rows: BTreeSet<Op>,
    counts: [usize; Feature::ALL.len()],
}

impl Mix {
    /// Counts a program that did this at some of its points.
    pub fn program(&mut self, module: &Module, features: Features) {
        self.programs += 1;
        let regions = module.functions.iter().flat_map(|f| &f.regions);
        for inst in regions.flat_map(|r| &r.insts) {
            if let InstKind::Op(op) = inst.kind {
                self.rows.insert(op);
            }
        }
        for &feature in Feature::ALL {
            self.counts[feature as usize] += usize::from(features.has(feature));
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
        percent(self.counts[feature as usize], self.programs)
    }

    /// Why the campaign says too little, if it does: at least a fifth of the programs must loop, call, use arrays, write arguments, and
    /// sample with partials; at most a fifth of the points may give NaN or nothing but zeros; every row of the op table must occur.
    pub fn hollow(&self) -> Option<String> {
        let wanted = [
            Feature::Loop,
            Feature::Call,
            Feature::Array,
            Feature::Inout,
            Feature::Sample,
        ];
        for feature in wanted {
            if self.percent(feature) < 20.0 {
                return Some(format!("too few programs: {}\n{self}", feature.name()));
            }
        }
        let missing = Op::ALL.iter().find(|op| !self.rows.contains(op));
        if let (Some(op), true) = (missing, self.programs >= PROGRAMS_FOR_ALL_ROWS) {
            return Some(format!("no program has the row {}\n{self}", op.info().name));
        }
        if percent(self.nan + self.zero, self.points) > 20.0 {
            return Some(format!("too many points give NaN or zeros\n{self}"));
        }
        None
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, all) = (self.rows.len(), Op::ALL.len());
        let Mix {
            programs, points, ..
        } = self;
        writeln!(
            f,
            "{programs} programs, {points} points, {rows} of {all} rows"
        )?;
        for &feature in Feature::ALL {
            writeln!(f, "  {:5.1} %  {}", self.percent(feature), feature.name())?;
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
    fn a_hollow_mix_is_told() {
        let mut features = Features::default();
        for &feature in Feature::ALL {
            features.insert(feature);
        }
        let module = Module::default();
        let mut mix = Mix::default();
        mix.program(&module, features);
        mix.point([1.0]);
        assert_eq!(mix.hollow(), None);

        let mut still = mix.clone();
        for _ in 0..5 {
            still.program(&module, Features::default());
        }
        assert!(still.hollow().is_some_and(|why| why.contains("16.7 %")));

        mix.point([0.0, -0.0]);
        mix.point([1.0, f32::NAN]);
        assert_eq!((mix.nan, mix.zero), (1, 1));
        assert!(mix.hollow().is_some_and(|why| why.contains("NaN")));
    }
}
