//! Cases evaluated by the formulas in f32.

use adumbra_render::differential::single as formulas;
use glam::{Vec2, Vec3};
type Real = f32;

#[path = "evaluate.rs"]
#[allow(clippy::duplicate_mod, reason = "one source for two precisions")]
mod evaluate;
pub(super) use evaluate::evaluate;
