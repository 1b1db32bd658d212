//! The materials of `examples/materials`, on a grid of quads over a part of [`surface`].

use super::observation::{MERGED, ObservationHash, SPECIALISED, in_quads, may_be_refused};
use super::{Hashes, shaders, text};
use crate::fnv::FnvHasher;
use crate::generate::Point;
use crate::surface::{self, SIDE};
use adumbra::derivatives::{Corner, Quad};
use adumbra::{Compiler, GlobalsLayout, Limits, Sources};

/// Pixels from one quad of the grid to the next, along x and y.
const STRIDE: usize = 8;

/// The paths of the materials, from the workspace on.
///
/// # Errors
/// If they cannot be listed.
pub fn programs() -> Result<Vec<String>, String> {
    shaders("examples/materials")
}

/// The points of the grid, quad by quad.
fn grid() -> Vec<Point> {
    let is_first = |side: usize| side.is_multiple_of(STRIDE);
    let quads = (0..SIDE * SIDE).filter(|i| is_first(i % SIDE) && is_first(i / SIDE));
    let points = quads.flat_map(|first| [0, 1, SIDE, SIDE + 1].map(|next| first + next));
    points
        .map(|index| surface::point(surface::middle(index)))
        .collect()
}

/// The hashes of a material.
///
/// # Errors
/// If it cannot be read or run.
pub fn hashes(path: &str) -> Result<Hashes, String> {
    let text = text(path)?;
    let sources = Sources::new(path, text.as_str());
    let grid = grid();
    let mut shown = ObservationHash::within(Limits::default());
    let rules = [Quad::Fine, Quad::Coarse(Corner::UpperLeft)].map(in_quads);
    for options in [SPECIALISED, MERGED].into_iter().chain(rules) {
        let may_be_refused = may_be_refused(&options);
        let compiler = Compiler::new(GlobalsLayout::hit()).with_options(options);
        let added = shown.add(compiler.compile(&sources), |_| Ok(()), &grid);
        let was_run = added.map_err(|no| format!("{path}: {no}"))?;
        if !was_run && !may_be_refused {
            return Err(format!("{path}: refused"));
        }
    }
    Ok(Hashes {
        source: FnvHasher::of(text.as_bytes()),
        shown: shown.get(),
    })
}
