//! Cases evaluated by the formulas in f64.

use adumbra_render::differential::double as formulas;
use glam::{DVec2 as Vec2, DVec3 as Vec3};
type Real = f64;

#[path = "evaluate.rs"]
#[allow(clippy::duplicate_mod, reason = "one source for two precisions")]
mod evaluate;
pub(super) use evaluate::evaluate;
