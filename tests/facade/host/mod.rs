//! The host's side: structs as globals, slots, and the examples for embedders.

mod derivatives;
#[path = "../../../examples/embed.rs"]
mod embed;
mod errors;
mod example;
mod globals;
mod metadata;
mod slots;
mod structs;
#[allow(dead_code, reason = "its `main` writes a file into the current folder")]
#[path = "../../../examples/toy.rs"]
mod toy;
