//! Tiled textures on disk, their cache, and the host of textures.

mod budget;
mod parked;
mod support;
mod tiled_files;
mod unreadable;
