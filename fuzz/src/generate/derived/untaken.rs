//! Values that are infinite or NaN, or can be, and are then not taken.

use super::Writer;
use super::types::Ty;

/// Expressions that are infinite or NaN for some operands. `A`, `B` and `C` are floats, `N` is an
/// int.
const WILD: &[&str] = &[
    "sqrt(A)",
    "rsqrt(A)",
    "log(A)",
    "log(A - A)",
    "pow(A, B)",
    "pow(A - A, B)",
    "asin(1.5 * A)",
    "acos(1.5 * A)",
    "acosh(A)",
    "atanh(1.5 * A)",
    "(A / (B - B))",
    "((A - A) / (B - B))",
    "(A / max(B, 0.0))",
    "rcp(min(A, 0.0))",
    "exp(1000000.0 * A)",
    "fmod(A, B - B)",
    "mod(A, min(B, 0.0))",
    "normalize(float2(A - A, B - B)).x",
    "smoothstep(A, A, B)",
    "cosh(1000000.0 * A)",
];

/// What is made of such a value, `V`; it need not be finite either.
const MADE: &[&str] = &[
    "V",
    "(V * V)",
    "(A * V)",
    "(V * A + B)",
    "((A - V) / (A + V))",
    "(V / (1.0 + A * A))",
    "(A / V)",
    "(sin(V) * A)",
    "(V * sqrt(V))",
    "pow(V, 2.0)",
    "pow(A, V)",
    "exp(V)",
    "mix(A, B, V)",
    "mix(V, A, B)",
    "dot(float2(V, A), float2(B, V))",
    "length(float2(V, A))",
    "noise(float2(V, A))",
    "(V - V)",
];

/// Finite numbers that come of a value `V`, whatever it is.
const SETTLED: &[&str] = &[
    "(abs(V) < 20.0 ? V : A)",
    "select(abs(V) < 20.0, V, A)",
    "select(abs(V) < 20.0, V * B, A * B)",
    "clamp(min(A, V), -9.0, 9.0)",
    "clamp(max(A, V), -9.0, 9.0)",
    "atan(max(A, V))",
    "tanh(min(A, V))",
    "atan2(A, max(0.5, V))",
    "exp(-abs(min(9.0, V)) - 1.0)",
    "(A / max(1.5, V))",
    "rcp(max(1.5, V))",
    "smoothstep(-1.0, 1.0, max(A, V))",
    "step(A, V)",
    "(V > A ? 0.3 * B : B * A)",
];

impl Writer<'_> {
    /// A value that may be infinite or NaN, what is made of it, and a finite number that comes of
    /// both; or what is made of it is assigned where a branch found it finite.
    pub(super) fn untaken(&mut self) {
        let mut value = self.out.name("u");
        let template = *self.choices.pick(WILD);
        let wild = self.filled(template, 1);
        self.out.line(&format!("float {value} = {wild};"));
        for _ in 0..self.choices.below(3) {
            let template = *self.choices.pick(MADE);
            let made = self.filled(template, 1).replace('V', &value);
            value = self.out.name("u");
            self.out.line(&format!("float {value} = {made};"));
        }
        if self.choices.one_in(4) {
            let other = self.float(1);
            let name = self.out.name("v");
            self.out.line(&format!("float {name} = {other};"));
            self.out.line(&format!(
                "if (abs({value}) < 20.0) {name} = {name} * {value};"
            ));
            return self.declare(&name, &Ty::Float, true);
        }
        let template = *self.choices.pick(SETTLED);
        let settled = self.filled(template, 1).replace('V', &value);
        let name = self.out.name("v");
        self.out.line(&format!("float {name} = {settled};"));
        self.declare(&name, &Ty::Float, true);
    }
}
