//! The host's side: structs as globals, slots, and the example of an embedder.

#[path = "../examples/embed.rs"]
mod embed;
#[path = "host/example.rs"]
mod example;
#[path = "host/globals.rs"]
mod globals;
#[path = "host/metadata.rs"]
mod metadata;
#[path = "host/slots.rs"]
mod slots;
