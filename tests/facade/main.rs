//! The public API, suite by suite.
//!
//! The suites are one binary, since linking each by itself takes longer than running it. Tests that
//! need a process of their own (an allocator that counts, the pages of the process) are beside it.

mod agreement;
mod antialiased;
mod assembly;
mod batch;
mod bits;
mod buffers;
mod closure_leaves;
mod closures;
mod counts;
mod crates;
mod decisions;
mod derived;
mod differences;
mod discontinuities;
mod discontinuity_facts;
mod dropped;
mod edge_errors;
mod edge_rules;
mod edges;
mod eliminated;
mod fits;
mod floats;
mod gradient_facts;
mod gradients;
mod groups;
mod host;
mod limits;
mod marches;
mod materials;
mod native;
mod noise;
mod numerics;
mod observed;
mod output_bits;
mod pair_rules;
mod pairs;
mod program_files;
mod quads;
mod shader_gradients;
mod shadow_rules;
mod smoke;
mod stdlib;
mod suspension;
mod switches;
mod texture_gradients;
mod texture_slopes;
mod threads;
mod tidy;
mod tiers;
mod whole_batches;
