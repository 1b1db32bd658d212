//! Where derivatives come from: dual numbers or neighbouring points, and finite differences to hold them against.

pub use crate::differences::{Difference, STEP, central_differences};
pub use adumbra_ir::passes::{AtDivergence, Derivatives};
pub use adumbra_ir::quad::{Corner, Quad};
pub use adumbra_ir::{Direction, Lanes};
