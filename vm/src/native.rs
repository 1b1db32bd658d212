//! What a native backend is given, and what it gives back.
//!
//! The batch engine keeps control: jumps, tests, faults, samples and arrays stay steps of its own. What lies between them, rows that follow one another,
//! is a [`Stretch`]; a [`Translator`] makes one piece of code of each, which computes all of its rows for whole packs and writes only the words
//! that somebody reads later. The rows stay behind it, for groups that have to leave what others keep alone, and for where there is no code.

#![allow(unsafe_code)]

use adumbra_ir::ops::{MAX_OPERANDS, Op};
pub use adumbra_packs::{Ref, Run};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Rows that follow one another.
#[derive(Debug, Default)]
pub struct Stretch {
    /// How the words that rows name are found. The kernel's references stand in the same order.
    pub words: Vec<Home>,
    /// The rows, in order.
    pub rows: Vec<Computed>,
    /// Words that are read behind the stretch: what these hold at the end has to be in their planes.
    pub stored: Vec<u32>,
}

/// How a word is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Home {
    /// A plane: a value for each point.
    Plane,
    /// One value for all points, in each word of a cell of 32.
    Cell,
    /// These bits for all points.
    Constant(u32),
}

/// A row of a stretch.
#[derive(Clone, Copy, Debug)]
pub struct Computed {
    /// What is computed.
    pub what: What,
    /// Where it goes.
    pub result: Value,
    /// From what: as many as the row has operands; the rest mean nothing.
    pub operands: [Value; MAX_OPERANDS],
}

/// What a row computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// A row of the op table, with shadows by the tangent formula.
    Row(Op),
    /// The operand's word itself.
    Copy,
    /// The operand, a shadow, as it is read: [`read_shadow`](adumbra_ir::host::read_shadow).
    ReadShadow,
}

impl What {
    /// How many operands it has.
    pub fn arity(self) -> usize {
        match self {
            What::Row(op) => op.arity(),
            What::Copy | What::ReadShadow => 1,
        }
    }
}

/// A value, and its shadows along x and y if it has them: words of the stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Value {
    /// The word of the value.
    pub value: u32,
    /// Those of its shadows.
    pub shadows: [Option<u32>; 2],
}

/// Declares the type of kernels by the calling convention that code is written for.
macro_rules! kernel {
    ($abi:literal) => {
        /// Computes a stretch for runs of packs, of which each plane has so many bytes; there is a reference for each word.
        ///
        /// The code is entered with the usual floating-point mode: to the nearest, denormals kept.
        pub type Kernel = unsafe extern $abi fn(
            refs: *const Ref,
            runs: *const Run,
            count: usize,
            pack_bytes: usize,
        );
    };
}

#[cfg(target_arch = "x86_64")]
kernel!("sysv64");
#[cfg(not(target_arch = "x86_64"))]
kernel!("C");

/// The code of a program's stretches.
#[derive(Clone)]
pub struct Kernels {
    /// One for each stretch, in order; none where the rows themselves are better.
    pub entries: Arc<[Option<Kernel>]>,
    /// Keeps the code where it is.
    pub code: Arc<dyn Any + Send + Sync>,
}

impl fmt::Debug for Kernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernels")
            .field("entries", &self.entries.len())
            .finish_non_exhaustive()
    }
}

/// Makes machine code of stretches.
///
/// # Safety
/// Each kernel computes, to the bit, what the rows of its stretch compute one after the other, for every point of the packs that it is given; it
/// writes the planes of stored words in these packs, and nothing else that is not its own. It can be run while `code` lives, on any thread.
pub unsafe trait Translator: fmt::Debug + Send + Sync {
    /// Code for the stretches of the program that this was made for, whose packs are a multiple of 16 points. They depend on which words among the
    /// globals are the same for all points, and on nothing else, so that evaluators of a program can share their code. Nothing if there is no memory
    /// for it.
    fn translate(&self, uniform: &[bool], stretches: &[Stretch]) -> Option<Kernels>;
}
