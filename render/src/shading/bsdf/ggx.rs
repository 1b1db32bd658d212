//! The GGX distribution of normals (Walter et al., EGSR 2007), with Smith's height-correlated
//! shadowing (Heitz, "Understanding the Masking-Shadowing Function", JCGT 2014).

use super::{Scatter, frame, fresnel};
use crate::shading::number::{Colour, LobeNumber};
use glam::{Vec2, Vec3};
use std::f32::consts::PI;

/// The density of microscopic normals, per steradian.
fn distribution<R: LobeNumber>(alpha: [R; 2], normal: Vec3) -> R {
    let (x, y) = (R::from(normal.x) / alpha[0], R::from(normal.y) / alpha[1]);
    let square = x * x + y * y + normal.z * normal.z;
    R::from(1.0) / (alpha[0] * PI * alpha[1] * square * square)
}

/// Smith's Λ.
fn lambda<R: LobeNumber>(alpha: [R; 2], direction: Vec3) -> R {
    let (x, y) = (alpha[0] * direction.x, alpha[1] * direction.y);
    let square = (x * x + y * y) / (direction.z * direction.z);
    ((square + 1.0).sqrt() - 1.0) * 0.5
}

/// The part of a microscopic normal that both directions see.
fn shadowing<R: LobeNumber>(alpha: [R; 2], out: Vec3, into: Vec3) -> R {
    R::from(1.0) / (lambda(alpha, out) + 1.0 + lambda(alpha, into))
}

/// The density of normals that `out` sees.
fn visible_density(alpha: [f32; 2], out: Vec3, normal: Vec3) -> f32 {
    let masking = 1.0 / (1.0 + lambda(alpha, out));
    masking * out.dot(normal).max(0.0) * distribution(alpha, normal) / out.z
}

/// A normal that `out` sees.
pub(super) fn visible_normal(alpha: [f32; 2], out: Vec3, unit: Vec2) -> Vec3 {
    visible_normal_at(alpha, out, frame::disk(unit))
}

/// The normal of a point of the unit disk.
pub(super) fn visible_normal_at(alpha: [f32; 2], out: Vec3, mut at: Vec2) -> Vec3 {
    let stretched = Vec3::new(alpha[0] * out.x, alpha[1] * out.y, out.z).normalize();
    let across = Vec2::new(-stretched.y, stretched.x);
    let first = across.try_normalize().unwrap_or(Vec2::X).extend(0.0);
    let second = stretched.cross(first);
    let share = 0.5 * (1.0 + stretched.z);
    at.y = (1.0 - share) * (1.0 - at.x * at.x).max(0.0).sqrt() + share * at.y;
    let up = (1.0 - at.length_squared()).max(0.0).sqrt();
    let normal = at.x * first + at.y * second + up * stretched;
    Vec3::new(alpha[0] * normal.x, alpha[1] * normal.y, normal.z.max(1e-6)).normalize()
}

/// Reflection, with the Fresnel term of the cosine to the microscopic normal.
pub(super) fn reflect<R: LobeNumber>(
    alpha: [R; 2],
    out: Vec3,
    into: Vec3,
    fresnel: impl Fn(f32) -> Colour<R>,
) -> Scatter<R> {
    if into.z <= 0.0 {
        return Scatter::default();
    }
    let half = (out + into).normalize_or_zero();
    let cosine = out.dot(half);
    if cosine <= 0.0 {
        return Scatter::default();
    }
    let value = distribution(alpha, half) * shadowing(alpha, out, into) / (4.0 * out.z);
    Scatter {
        value: fresnel(cosine).scaled(value),
        density: visible_density(alpha.map(R::value), out, half) / (4.0 * cosine),
    }
}

/// Reflection and transmission together. `eta` is the index on the side of `out` over the one
/// beyond. Radiance changes by its square on its way through.
pub(super) fn dielectric<R: LobeNumber>(alpha: R, eta: f32, out: Vec3, into: Vec3) -> Scatter<R> {
    let alpha = [alpha; 2];
    if into.z > 0.0 {
        let half = (out + into).normalize_or_zero();
        let part = fresnel::dielectric(out.dot(half), eta);
        let whole = reflect(alpha, out, into, |_| Colour::white());
        return Scatter {
            value: whole.value.scaled(R::from(part)),
            density: whole.density * part,
        };
    }
    // The microscopic normal that refracts one into the other; away from the denser side.
    let half = (eta * out + into).normalize_or_zero();
    let half = if half.z < 0.0 { -half } else { half };
    let (cosine, beyond) = (out.dot(half), into.dot(half));
    if cosine <= 0.0 || beyond >= 0.0 || into.z >= 0.0 {
        return Scatter::default();
    }
    let through = 1.0 - fresnel::dielectric(cosine, eta);
    let sum = eta * cosine + beyond;
    let jacobian = -beyond / (sum * sum);
    let seen = distribution(alpha, half) * (eta * eta) * shadowing(alpha, out, into);
    let value = seen * cosine * jacobian / out.z;
    Scatter {
        value: Colour::splat(value * through),
        density: through * visible_density(alpha.map(R::value), out, half) * jacobian,
    }
}
