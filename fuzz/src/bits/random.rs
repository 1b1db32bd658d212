//! Random programs, by seed: in every one of them values and derivatives, in a share merged demand,
//! quads, or no derivatives.

use super::Hashes;
use super::observation::{MERGED, OFF, ObservationHash, SPECIALISED, in_quads, may_be_refused};
use crate::bundle;
use crate::fnv::FnvHasher;
use crate::generate::Point;
use crate::oracle::chain::layout;
use crate::oracle::reference::limits;
use crate::{GeneratedProgram, Profile};
use adumbra::Compiler;
use adumbra::derivatives::Quad;

/// Points of each program; one quad where it takes derivatives from quads.
const POINTS: u64 = 4;

/// The hashes of the program of a seed.
///
/// # Errors
/// If it cannot be run.
pub fn hashes(seed: u64) -> Result<Hashes, String> {
    let program = GeneratedProgram::of_seed(seed, Profile::RECORDED);
    let points: Vec<Point> = (0..POINTS).map(|number| program.point(number)).collect();
    let mut shown = ObservationHash::within(limits());
    let other = match seed % 4 {
        0 => None,
        1 => Some(MERGED),
        2 => Some(OFF),
        _ => Some(in_quads(Quad::ALL[(seed / 4) as usize % Quad::ALL.len()])),
    };
    for options in [Some(SPECIALISED), other].into_iter().flatten() {
        let may_be_refused = may_be_refused(&options);
        let compiler = Compiler::new(layout()).with_options(options);
        let sources = bundle::sources(&program.source);
        let compiled = sources.and_then(|sources| compiler.compile(&sources));
        let added = shown.add(compiled, |_| Ok(()), &points);
        let was_run = added.map_err(|no| format!("seed {seed}: {no}"))?;
        if !was_run && !may_be_refused {
            return Err(format!("seed {seed}: refused though generated"));
        }
    }
    Ok(Hashes {
        source: FnvHasher::of(program.source.as_bytes()),
        shown: shown.get(),
    })
}
