//! Derivatives of hits: against differences of hits of shifted cameras, by the rules of paths, and
//! where none exist.

mod limits;
mod paths;
mod quads;
mod scenes;
mod shifted;
mod whole_images;
