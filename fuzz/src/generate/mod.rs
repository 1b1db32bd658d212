//! Random well-typed programs as source text.
//!
//! Any bytes make a program, few bytes a small one. Every program is accepted by the checker, ends
//! (but for a rare wild one, which the step budget stops), and does something with its globals.
//! Values are kept tame by [`range`], so that outputs say something: NaN everywhere would agree
//! with anything.

mod apply;
mod array;
mod buffer;
mod closed_form;
mod closure;
pub mod derived;
mod expression;
mod fit;
pub mod graph;
mod item;
pub mod jumps;
pub(crate) mod library;
mod loops;
mod matrix;
mod message;
pub(crate) mod ops;
pub(crate) mod point;
mod range;
mod reach;
mod rule;
mod scope;
mod shader;
mod source_lines;
mod statement;
mod structure;
mod switch;
mod texture;
pub mod token_soup;
mod vector;

pub use point::{GlobalBits, GlobalVariable, Point, globals, point};

use crate::bundle::MARK;
use crate::choices::{Choices, bytes_of_seed};
use crate::feature::{Feature, Features, ProgramKind};
use adumbra_ir::Module;
use buffer::Buffer;
use derived::DerivedKind;
use rule::RuledPair;
use scope::{Function, Scope, Struct, Ty};
use std::fmt::{self, Write};

/// The kind of programs to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Whether `ddx` and `ddy` occur inside expressions.
    pub shadows: bool,
    /// Whether untamed values, indices out of range, divisions by zero and endless loops occur.
    pub wild: bool,
    /// Whether all of it is as old as `tests/data/bits.txt`, which has the bits of such programs.
    pub recorded: bool,
    /// Whether the shader has inputs of several types, to be fed by other shaders.
    pub inputs: bool,
    /// The derivatives of functions that programs are about, if they are.
    pub derived: Option<DerivedKind>,
    /// Whether it is a small shader that decides ([`jumps`]).
    pub jumps: bool,
}

impl Profile {
    /// The weight of an alternative that is younger than the record: its programs have none.
    const fn younger(self, weight: usize) -> usize {
        if self.recorded { 0 } else { weight }
    }

    /// The purpose of its programs.
    pub fn kind(self) -> ProgramKind {
        match self.shadows {
            true => ProgramKind::Any,
            false => ProgramKind::Gradient,
        }
    }

    /// Everything that the language has.
    pub const ANY: Profile = Profile {
        shadows: true,
        wild: true,
        recorded: false,
        inputs: false,
        derived: None,
        jumps: false,
    };

    /// The same without what is younger than the record, so that the bytes of one program make it
    /// for ever.
    pub const RECORDED: Profile = Profile {
        recorded: true,
        ..Profile::ANY
    };

    /// Programs whose outputs can be differentiated numerically.
    pub const GRADIENT: Profile = Profile {
        shadows: false,
        wild: false,
        recorded: false,
        inputs: false,
        derived: None,
        jumps: false,
    };

    /// The same without what is younger than the record, rules that make shadows among it. So steps
    /// do not depend on which shadows are demanded.
    pub const fn without_rules(self) -> Profile {
        Profile {
            recorded: true,
            ..self
        }
    }

    /// Programs that can be differentiated numerically, with `ddx` and `ddy`.
    pub const SCREEN_GRADIENT: Profile = Profile {
        shadows: true,
        ..Profile::GRADIENT
    };

    /// Programs about derivatives of functions.
    pub const fn derived(kind: DerivedKind) -> Profile {
        Profile {
            derived: Some(kind),
            ..Profile::GRADIENT
        }
    }

    /// Small shaders that decide.
    pub const JUMPS: Profile = Profile {
        jumps: true,
        ..Profile::GRADIENT
    };

    /// Units of groups.
    pub const UNIT: Profile = Profile {
        inputs: true,
        ..Profile::ANY
    };
}

/// The greatest number of bytes that the generator reads.
pub const MAX_BYTES: usize = 4096;

/// The greatest number of expressions that a program has, about.
const MAX_EXPRESSIONS: usize = 400;

/// A generated program.
#[derive(Clone, PartialEq)]
pub struct GeneratedProgram {
    /// Its text, with those that it includes: a [bundle](crate::bundle). The shader is called
    /// `main`.
    pub source: String,
    /// Names the sequence of its points.
    pub seed: u64,
    /// Whether points may be wild.
    pub wild: bool,
    /// By function, what the generator wrote into it.
    written: Vec<(String, Features)>,
    /// The bytes that it was generated from, and as what.
    choices: Option<(Vec<u8>, Profile)>,
    /// Whether the text is another one than was generated or written.
    is_cut: bool,
}

/// The text, as it is: what a test reports.
impl fmt::Debug for GeneratedProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "points of seed {}\n{}", self.seed, self.source)
    }
}

impl GeneratedProgram {
    /// The program that these bytes generate. Bytes beyond [`MAX_BYTES`] are not read.
    pub fn generate(bytes: &[u8], profile: Profile) -> GeneratedProgram {
        let bytes = &bytes[..bytes.len().min(MAX_BYTES)];
        let mut choices = Choices::new(bytes);
        let seed = u64::from(choices.word());
        let (source, written) = match profile.derived {
            Some(kind) => (derived::program(choices, kind), Vec::new()),
            None if profile.jumps => (jumps::program(choices), Vec::new()),
            None => {
                let mut generator = Generator::new(choices, profile);
                (generator.program(), generator.written)
            }
        };
        GeneratedProgram {
            source,
            seed,
            wild: profile.wild,
            written,
            choices: Some((bytes.to_vec(), profile)),
            is_cut: false,
        }
    }

    /// A program that was written by hand, to be run on wild points.
    pub fn of_text(source: impl Into<String>) -> GeneratedProgram {
        GeneratedProgram {
            source: source.into(),
            seed: 0,
            wild: true,
            written: Vec::new(),
            choices: None,
            is_cut: false,
        }
    }

    /// The features that the generator wrote into those functions that the module has kept.
    pub fn written(&self, module: &Module) -> Features {
        let mut all = Features::default();
        for (function, features) in &self.written {
            if module.functions.iter().any(|f| f.name == *function) {
                all.extend(*features);
            }
        }
        all
    }

    /// The program of a seed.
    pub fn of_seed(seed: u64, profile: Profile) -> GeneratedProgram {
        GeneratedProgram::generate(&bytes_of_seed(seed, MAX_BYTES), profile)
    }

    /// Other text, to be run on the same points as this program.
    pub fn with_source(&self, source: String) -> GeneratedProgram {
        GeneratedProgram {
            source,
            is_cut: true,
            ..self.clone()
        }
    }

    /// The bytes that it was generated from, and as what; nothing if it was written by hand.
    pub fn choices(&self) -> Option<(&[u8], Profile)> {
        let (bytes, profile) = self.choices.as_ref()?;
        Some((bytes, *profile))
    }

    /// Whether its text is another one than was generated or written: then it may be no program.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The point of that number.
    pub fn point(&self, number: u64) -> Point {
        let globals = globals();
        point(globals.iter().map(|g| &g.ty), self.seed, number, self.wild)
    }
}

/// The generator's place in the program.
#[derive(Clone, Debug, Default)]
struct Place {
    /// The result type of the function around; `None` also in the shader.
    result: Option<Ty>,
    /// The function around, if it may call itself here.
    own: Option<Function>,
    /// The number of loops around.
    loops: u32,
    /// The number of statements around.
    depth: u32,
    /// About how often this place is run per call of the function around.
    times: u64,
    /// About how many steps of the budget the function around costs so far.
    cost: u64,
}

/// Writes one program.
struct Generator<'a> {
    choices: Choices<'a>,
    profile: Profile,
    out: String,
    structs: Vec<Struct>,
    functions: Vec<Function>,
    /// Those of two floats with a rule.
    ruled: Vec<RuledPair>,
    textures: usize,
    buffers: Vec<Buffer>,
    resources: usize,
    scope: Scope,
    /// Sources to be included, in the order in which they were written.
    included: Vec<String>,
    /// By function, what was written into it; the last is the one around.
    written: Vec<(String, Features)>,
    /// The number of names that were made.
    names: usize,
    /// The number of expressions that may still be made.
    budget: usize,
    place: Place,
    indent: usize,
}

impl<'a> Generator<'a> {
    fn new(choices: Choices<'a>, profile: Profile) -> Generator<'a> {
        Generator {
            choices,
            profile,
            out: String::new(),
            structs: Vec::new(),
            functions: Vec::new(),
            ruled: Vec::new(),
            textures: 0,
            buffers: Vec::new(),
            resources: 0,
            scope: Scope::default(),
            included: Vec::new(),
            written: Vec::new(),
            names: 0,
            budget: MAX_EXPRESSIONS,
            place: Place::default(),
            indent: 0,
        }
    }

    /// The bundle of all sources.
    fn program(&mut self) -> String {
        self.file();
        let mut bundle = std::mem::take(&mut self.out);
        for (i, text) in self.included.iter().enumerate() {
            let _ = write!(bundle, "{MARK}{}\n{text}", text_name(i));
        }
        bundle
    }

    /// Puts what was written so far into a source of its own, which is included.
    fn part(&mut self) {
        let name = text_name(self.included.len());
        self.included.push(std::mem::take(&mut self.out));
        self.line(&format!("#include \"{name}\""));
        if self.choices.one_in(4) {
            // Named twice it counts once.
            let again = text_name(self.choices.below(self.included.len()));
            self.line(&format!("#include \"{again}\""));
        }
    }

    /// Notes something that is written into the function around.
    fn note(&mut self, feature: Feature) {
        if let Some((_, features)) = self.written.last_mut() {
            features.insert(feature);
        }
    }

    /// Whether what is written now is in the shader, and not in a function.
    fn is_in_shader(&self) -> bool {
        self.written.last().is_some_and(|(name, _)| name == "main")
    }

    /// Begins a function: what is noted from now on is about it.
    fn begin(&mut self, function: &str) {
        self.written
            .push((function.to_owned(), Features::default()));
    }

    /// Appends a line.
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:width$}{text}", "", width = self.indent * 4);
    }

    /// A name that occurs nowhere else.
    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// True once in `n` times in wild programs.
    fn wild(&mut self, n: usize) -> bool {
        self.profile.wild && self.choices.one_in(n)
    }
}

/// The name of the included source of that number.
fn text_name(number: usize) -> String {
    format!("part{number}.adu")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_make_a_program_of_bounded_size() {
        for seed in 0..2_000 {
            let len = (seed as usize * 37) % MAX_BYTES;
            let bytes = bytes_of_seed(seed, len);
            for profile in [
                Profile::ANY,
                Profile::RECORDED,
                Profile::GRADIENT,
                Profile::JUMPS,
            ] {
                let program = GeneratedProgram::generate(&bytes, profile);
                assert!(program.source.contains("shader main("));
                assert!(program.source.len() < 60_000, "{}", program.source);
            }
        }
    }

    #[test]
    fn any_seed_makes_a_program() {
        for seed in 0..8_000 {
            assert!(
                !GeneratedProgram::of_seed(seed, Profile::ANY)
                    .source
                    .is_empty()
            );
        }
    }

    #[test]
    fn few_bytes_make_a_small_program() {
        let empty = GeneratedProgram::generate(&[], Profile::ANY);
        assert!(empty.source.lines().count() < 20, "{}", empty.source);
    }

    #[test]
    fn tame_programs_have_no_wild_literals_and_no_shadows() {
        for seed in 0..300 {
            let source = GeneratedProgram::of_seed(seed, Profile::GRADIENT).source;
            assert!(
                !["1e30", "ddx", "ddy", "while (true)"]
                    .iter()
                    .any(|s| source.contains(s))
            );
        }
    }
}
