//! The host's side: structs as globals, slots, and the example of an embedder.

#[path = "../../../examples/embed.rs"]
mod embed;
mod errors;
mod example;
mod globals;
mod metadata;
mod slots;
mod structs;
