//! Tiled textures on disk, their cache, and the host of textures.

mod article;
mod budget;
mod changing;
mod conversions;
mod eviction;
mod parked;
mod support;
mod tiled_files;
mod unreadable;
