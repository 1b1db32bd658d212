//! The Rust examples of the documentation, for rustdoc to run.

#![allow(
    rustdoc::invalid_codeblock_attributes,
    reason = "other blocks name the files that they show"
)]

#[doc = include_str!("../docs/batches.md")]
struct Batches;
#[doc = include_str!("../docs/closures.md")]
struct Closures;
#[doc = include_str!("../docs/embedding.md")]
struct Embedding;
#[doc = include_str!("../docs/errors/E0110.md")]
struct ErrorsE0110;
#[doc = include_str!("../docs/errors/E0114.md")]
struct ErrorsE0114;
#[doc = include_str!("../docs/errors/E0541.md")]
struct ErrorsE0541;
#[doc = include_str!("../docs/errors/E0543.md")]
struct ErrorsE0543;
#[doc = include_str!("../docs/errors/E0572.md")]
struct ErrorsE0572;
#[doc = include_str!("../docs/errors/E0574.md")]
struct ErrorsE0574;
#[doc = include_str!("../docs/errors/E0601.md")]
struct ErrorsE0601;
#[doc = include_str!("../docs/errors/E0544.md")]
struct ErrorsE0544;
#[doc = include_str!("../docs/errors/E0603.md")]
struct ErrorsE0603;
#[doc = include_str!("../docs/errors/E0606.md")]
struct ErrorsE0606;
#[doc = include_str!("../docs/errors/E0611.md")]
struct ErrorsE0611;
#[doc = include_str!("../docs/errors/E0612.md")]
struct ErrorsE0612;
#[doc = include_str!("../docs/errors/E0701.md")]
struct ErrorsE0701;
#[doc = include_str!("../docs/errors/E0702.md")]
struct ErrorsE0702;
#[doc = include_str!("../docs/errors/E0703.md")]
struct ErrorsE0703;
#[doc = include_str!("../docs/errors/E0704.md")]
struct ErrorsE0704;
#[doc = include_str!("../docs/errors/E0711.md")]
struct ErrorsE0711;
#[doc = include_str!("../docs/errors/E0712.md")]
struct ErrorsE0712;
#[doc = include_str!("../docs/errors/E0713.md")]
struct ErrorsE0713;
#[doc = include_str!("../docs/errors/E0714.md")]
struct ErrorsE0714;
#[doc = include_str!("../docs/errors/E0813.md")]
struct ErrorsE0813;
#[doc = include_str!("../docs/errors/E0815.md")]
struct ErrorsE0815;
#[doc = include_str!("../docs/errors/E0816.md")]
struct ErrorsE0816;
#[doc = include_str!("../docs/errors/E0817.md")]
struct ErrorsE0817;
#[doc = include_str!("../docs/errors/E0818.md")]
struct ErrorsE0818;
#[doc = include_str!("../docs/fit.md")]
struct Fit;
#[doc = include_str!("../docs/shader-gradients.md")]
struct ShaderGradients;
#[doc = include_str!("../docs/edges.md")]
struct Edges;
#[doc = include_str!("../docs/errors/W0805.md")]
struct ErrorsW0805;
#[doc = include_str!("../docs/errors/W0806.md")]
struct ErrorsW0806;
#[doc = include_str!("../docs/groups.md")]
struct Groups;
#[doc = include_str!("../docs/loaders.md")]
struct Loaders;
#[doc = include_str!("../README.md")]
struct Readme;
#[doc = include_str!("../docs/suspension.md")]
struct Suspension;
