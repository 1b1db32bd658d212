//! Features of programs: the lines of a campaign's table.
//!
//! A feature of the first part counts when a point *did* it. What the IR no longer shows counts
//! when the generator wrote it into a function that the shader reaches. Each has a least share,
//! below which a campaign says that its generator is hollow.

use std::fmt;

/// The programs that a share is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgramKind {
    /// Programs with all that the language has.
    #[default]
    Any,
    /// Programs that are held against finite differences.
    Gradient,
}

macro_rules! features {
    ($($(#[doc = $doc:literal])+ $feature:ident = $name:literal, $any:literal, $gradient:literal;)*) => {
        /// Something that a program did or is written with.
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

            /// The least percentage of programs that have it.
            pub const fn min_percent(self, kind: ProgramKind) -> f64 {
                match (self, kind) {
                    $((Feature::$feature, ProgramKind::Any) => $any,
                    (Feature::$feature, ProgramKind::Gradient) => $gradient,)*
                }
            }
        }
    };
}

// Each with its least share among programs of all kinds, and among those to be differentiated.
features! {
    /// A loop turned more than once.
    Loop = "loop, more than one turn", 20.0, 20.0;
    /// Two points of one program turned a loop a different number of times.
    Divergence = "loop, turns differ by point", 10.0, 0.0;
    /// A function was called.
    Call = "call", 20.0, 20.0;
    /// A function called itself.
    Recursion = "recursion", 5.0, 5.0;
    /// A function wrote to an argument of its caller.
    Inout = "out or inout argument", 20.0, 20.0;
    /// An array was read or written.
    Array = "array", 20.0, 20.0;
    /// A texture was sampled with a partial other than zero.
    Sample = "sample, partials not zero", 20.0, 20.0;
    /// A texture was sampled at a level.
    Level = "sample at a level", 5.0, 5.0;
    /// A shadow was read with `ddx` or `ddy`.
    Shadow = "ddx or ddy", 20.0, 0.0;
    /// A closure was given out.
    Closure = "closure", 5.0, 5.0;
    /// A message was given.
    Message = "message", 10.0, 10.0;
    /// An output had a shadow other than zero.
    Derivative = "output, shadow not zero", 50.0, 50.0;
    /// A function's shadows were made by a rule.
    RuledShadow = "shadows by a rule", 10.0, 10.0;
    /// A fault was reported that the point survived.
    Fault = "fault survived", 5.0, 0.0;
    /// The point was stopped.
    Stop = "point stopped", 0.2, 0.0;

    /// `texture2d_sample_grad`.
    Footprint = "written: sample with gradients", 5.0, 0.0;
    /// `switch`.
    Switch = "written: switch", 10.0, 10.0;
    /// A case that falls into the next.
    FallThrough = "written: case that falls through", 5.0, 5.0;
    /// A matrix's row or element, or a function of one.
    Matrix = "written: matrix", 10.0, 10.0;
    /// An array whose length depends on the point.
    Sized = "written: array sized while shading", 5.0, 5.0;
    /// An element of an array of arrays.
    NestedArray = "written: array of arrays", 5.0, 5.0;
    /// A member of a struct in an array.
    StructArray = "written: array of structs", 5.0, 5.0;
    /// A member of a struct in a struct.
    NestedStruct = "written: struct in a struct", 5.0, 5.0;
    /// An array or struct assigned whole, or an array returned.
    Whole = "written: array as a whole", 5.0, 5.0;
    /// A resource of the host.
    Resource = "written: resource", 3.0, 3.0;
    /// An op of noise.
    Noise = "written: noise, all operands", 10.0, 10.0;
    /// A function of the library.
    Library = "written: function of the library", 20.0, 20.0;
    /// An element of a buffer.
    Buffer = "written: element of a buffer", 30.0, 30.0;
    /// The same in a function.
    BufferInFunction = "written: element of a buffer, in a function", 10.0, 10.0;
    /// An element of a buffer that has none.
    EmptyBuffer = "written: element of an empty buffer", 2.0, 2.0;
    /// A sum over a buffer.
    BufferLoop = "written: elements of a buffer in a loop", 10.0, 10.0;
    /// The length of a buffer.
    BufferLength = "written: length of a buffer", 10.0, 10.0;
    /// A function with a forward derivative of its own.
    Rule = "written: function with a rule", 15.0, 15.0;
    /// Metadata of an input or output.
    Metadata = "written: metadata", 10.0, 10.0;
    /// Text in another file.
    Include = "written: included text", 10.0, 10.0;
}

/// A set of features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features(u64);

impl Features {
    /// Adds a feature.
    pub fn insert(&mut self, feature: Feature) {
        self.0 |= 1 << feature as u64;
    }

    /// Adds a feature if something holds.
    pub fn insert_if(&mut self, feature: Feature, holds: bool) {
        if holds {
            self.insert(feature);
        }
    }

    /// Whether it has the feature.
    pub fn has(self, feature: Feature) -> bool {
        self.0 & 1 << feature as u64 != 0
    }

    /// Adds all of another set.
    pub fn extend(&mut self, other: Features) {
        self.0 |= other.0;
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = Feature::ALL.iter().filter(|feature| self.has(**feature));
        let names: Vec<&str> = all.map(|feature| feature.name()).collect();
        f.write_str(&names.join("; "))
    }
}
