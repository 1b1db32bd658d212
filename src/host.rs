//! What a point asks of its host, and what bounds and stops it: textures, messages, limits, faults.

pub use adumbra_ir::host::{
    DEFAULT_STEPS, Fault, FaultKind, Faults, Host, Limits, SampleRequest, Sampled,
};
pub use adumbra_ir::message::Message;
pub use adumbra_ir::module::{MessageId, TextureId};
