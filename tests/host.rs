//! The host's side: structs as globals, slots, and the example of an embedder.

#[path = "host/globals.rs"]
mod globals;
