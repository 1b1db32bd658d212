//! How much of a point's surroundings lies beyond an edge.
//!
//! Along an axis *x*, with the point at 0 and edges at *x_k*, let the output jump by *J_k* there:
//! from the side of the point to the side beyond. If it is constant between edges, its average is
//!
//! > *1/(2Δ) ∫ f over [-Δ, Δ] = f(0) + Σ J_k (Δ - |x_k|)/(2Δ)*,
//!
//! since what is beyond *x_k* is *Δ - |x_k|* long. As a parameter θ moves the edges, this changes
//! by *-Σ J_k sign(x_k) x_k' / (2Δ)*. A root of the margin *m* moves by *x_k' = -m_θ/m_x*, and
//! *J_k sign(x_k) = (f₁ - f₀) sign(m_x)*, where *f₁* is the side of the greater margin. So the
//! change is *Σ ½ (f₁ - f₀) m_θ/(|m_x| Δ)*: what the rules `edge` add to the gradient. An edge
//! counts on the axis on which it counts there, so the sum is over the edges of all axes.

use super::search::Root;
use super::shared::SeenRoot;

/// Adds what an edge covers, *J (Δ - |x|)/(2Δ)*, to the floats of the outputs.
pub(super) fn add_coverage(root: &Root, seen: SeenRoot, outputs: &mut [f64]) {
    let beyond = 0.5 * (1.0 - seen.offset.abs());
    for (sum, jump) in outputs.iter_mut().zip(&root.jump) {
        *sum += beyond * seen.rise * jump;
    }
}
