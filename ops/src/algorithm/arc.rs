//! Inverse circular functions.

use super::{clamp, constants, flip_sign, is_finite, polynomial};
use crate::field::{FloatField, SlowFn};
use std::f64::consts::FRAC_PI_2;

/// π/2 as a sum of two floats; the first is what it rounds to.
const HALF_PI: [f64; 2] = [FRAC_PI_2, -4.371139e-8];

/// (asin s − s)/s³ in s², s ≤ 1/2; 2^-27.6.
const ASIN: [f64; 5] = [0.16666752, 0.074953094, 0.04546927, 0.024183506, 0.04216158];

/// (atan q − q)/q³ in q², q ≤ 1, 2^-31: the first coefficient and the others.
const ATAN_FIRST: f64 = -0.33333328;

const ATAN: [f64; 9] = [
    0.19999716,
    -0.14280343,
    0.110612325,
    -0.08821454,
    0.06763613,
    -0.044982463,
    0.022776667,
    -0.007424778,
    0.0011343764,
];

/// asin(s) as a sum of two floats: s = |t| if that is at most 1/2, else √((1 − |t|)/2), whose
/// double is acos |t|.
struct ArcSine<L: FloatField> {
    s: L,
    rest: L,
    /// Where |t| ≤ 1/2.
    direct: L::Mask,
}

#[inline(always)]
fn arc_sine<L: FloatField>(t: L) -> ArcSine<L> {
    let (zero, half) = (t.lit(0.0), t.lit(0.5));
    let magnitude = t.magnitude();
    let direct = magnitude.le(half);
    let halved = (t.lit(1.0) - magnitude) * half;
    let root = halved.square_root();
    let lost = (-root).mul_add(root, halved) * half / root;
    let s = L::select(direct, magnitude, root);
    let tail = L::select(direct | halved.same(zero), zero, lost);
    let square = L::select(direct, magnitude * magnitude, halved);
    let rest = polynomial(square, ASIN).mul_add(square * s, tail);
    ArcSine { s, rest, direct }
}

#[inline(always)]
pub(crate) fn asin<L: FloatField>(t: L) -> L {
    let ArcSine { s, rest, direct } = arc_sine(t);
    let two = t.lit(2.0);
    let [p0, p1] = constants(t, HALF_PI);
    // π/2 − 2(s + rest)
    let head = (-two).mul_add(s, p0);
    let lost = (-two).mul_add(s, p0 - head);
    let outer = head + (lost + (-two).mul_add(rest, p1));
    flip_sign(L::select(direct, s + rest, outer), t.bits())
}

#[inline(always)]
pub(crate) fn acos<L: FloatField>(t: L) -> L {
    let ArcSine { s, rest, direct } = arc_sine(t);
    let (zero, two) = (t.lit(0.0), t.lit(2.0));
    let negative = t.lt(zero);
    let [p0, p1] = constants(t, HALF_PI);
    // base + factor·(s + rest): π/2 ∓ asin|t| inside, 2·asin(s) or π − 2·asin(s) outside.
    let turns = L::select(direct, t.lit(1.0), L::select(negative, two, zero));
    let size = L::select(direct, t.lit(1.0), two);
    let factor = L::select((direct & negative) | !(direct | negative), size, -size);
    let base = turns * p0;
    let head = factor.mul_add(s, base);
    let lost = factor.mul_add(s, base - head);
    head + (lost + factor.mul_add(rest, turns * p1))
}

/// The polynomial part of atan(q + lost) beyond q.
#[inline(always)]
fn arc_tangent<L: FloatField>(q: L, lost: L) -> L {
    let square = q * q;
    // The terms of the lost part, lost/(1 + q²), and of the rounding of the square, about -0.2·q.
    let square_lost = q.mul_add(q, -square);
    let shared = (q * q.lit(-0.2)).mul_add(square_lost, lost);
    let tail = (lost * square).mul_add(q.lit(-0.5), shared);
    let cube = square * q;
    let small = polynomial(square, ATAN).mul_add(cube * square, tail);
    cube.mul_add(q.lit(ATAN_FIRST), small)
}

#[inline(always)]
pub(crate) fn atan<L: FloatField>(t: L) -> L {
    let one = t.lit(1.0);
    let magnitude = t.magnitude();
    let outside = one.lt(magnitude);
    // From 2^60 on the angle is π/2; infinity has no remainder.
    let size = clamp(magnitude, 0.0, 2f64.powi(60));
    let inverse = one / size;
    let lost = (-inverse).mul_add(size, one) * inverse;
    let q = L::select(outside, inverse, magnitude);
    let rest = arc_tangent(q, L::select(outside, lost, t.lit(0.0)));
    let [p0, p1] = constants(t, HALF_PI);
    let head = p0 - q;
    let lost = (p0 - head) - q;
    let complement = head + (lost + (p1 - rest));
    flip_sign(L::select(outside, complement, q + rest), t.bits())
}

/// atan2 of a point whose coordinates are finite and not both 0, and neither so great nor so small
/// that scaling by a quotient fails.
#[inline(always)]
fn direction<L: FloatField>(y: L, x: L) -> L {
    let (zero, one, two) = (x.lit(0.0), x.lit(1.0), x.lit(2.0));
    let (width, height) = (x.magnitude(), y.magnitude());
    let steep = width.lt(height);
    let (less, greater) = (
        L::select(steep, width, height),
        L::select(steep, height, width),
    );
    let q = less / greater;
    let lost = (-q).mul_add(greater, less) / greater;
    let rest = arc_tangent(q, lost);
    // Quarter turns plus or minus the angle from the nearest axis. A zero x counts by its sign.
    let left = flip_sign(one, x.bits()).lt(zero);
    let turns = L::select(steep, one, L::select(left, two, zero));
    let sign = L::select(steep ^ left, -one, one);
    let [p0, p1] = constants(x, HALF_PI);
    let base = turns * p0;
    let head = sign.mul_add(q, base);
    let lost = sign.mul_add(q, base - head);
    let angle = head + (lost + sign.mul_add(rest, turns * p1));
    flip_sign(angle, y.bits())
}

#[inline(always)]
pub(crate) fn atan2<L: FloatField>(y: L, x: L) -> L {
    let size = {
        let (width, height) = (x.magnitude(), y.magnitude());
        L::select(width.lt(height), height, width)
    };
    let usual = size.lit(2f64.powi(-90)).lt(size) & size.lt(size.lit(2f64.powi(120)));
    // A NaN in y is a size only if x is not the greater.
    let usual = usual & y.same(y);
    L::with_slow_path(!usual, UnusualAtan2 { y, x, size }, direction(y, x))
}

struct UnusualAtan2<L> {
    y: L,
    x: L,
    size: L,
}

impl<L: FloatField> UnusualAtan2<L> {
    /// A coordinate of the same direction, neither great nor small.
    #[inline(always)]
    fn scaled(&self, v: L) -> L {
        let (zero, one) = (v.lit(0.0), v.lit(1.0));
        let small = self.size.lt(one);
        let factor = L::select(small, v.lit(2f64.powi(80)), v.lit(2f64.powi(-20)));
        let v_infinite = !is_finite(v.magnitude());
        let at_infinity = flip_sign(L::select(v_infinite, one, zero), v.bits());
        L::select(!is_finite(self.size), at_infinity, v * factor)
    }
}

impl<L: FloatField> SlowFn<L> for UnusualAtan2<L> {
    #[inline(always)]
    fn compute(self) -> L {
        let UnusualAtan2 { y, x, size } = self;
        let origin = size.same(size.lit(0.0));
        let (sx, sy) = (self.scaled(x), self.scaled(y));
        let sx = L::select(origin, flip_sign(x.lit(1.0), x.bits()), sx);
        let angle = direction(sy, sx);
        L::select(x.same(x) & y.same(y), angle, x + y)
    }
}
