//! The public API, suite by suite. One binary, since linking each suite by itself takes longer than running it; what needs a process of
//! its own (an allocator that counts, the pages of the process) stands beside.

mod agreement;
mod assembly;
mod batch;
mod bits;
mod closures;
mod crates;
mod floats;
mod gradients;
mod groups;
mod host;
mod limits;
mod materials;
mod native;
mod numerics;
mod observed;
mod quads;
mod smoke;
mod stdlib;
mod suspension;
mod switches;
mod threads;
mod tidy;
mod tiers;
