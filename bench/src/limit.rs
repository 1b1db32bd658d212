//! The C limit: `c/limit.c` as built by each compiler found, with each set of transcendentals.

/// A value with both shadows, as C has it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dual {
    /// The value.
    pub v: f32,
    /// Its ddx.
    pub x: f32,
    /// Its ddy.
    pub y: f32,
}

/// Value of a program at one point.
pub type ValueFn = fn(&[Dual; 2]) -> f32;
/// Value and shadows of a program at one point.
pub type DualFn = fn(&[Dual; 2], &mut Dual);

/// One build of the C limit.
pub struct Limit {
    /// The compiler.
    pub compiler: &'static str,
    /// `equal`: the algorithms of our engines. `cheap`: polynomials of 2 to 5 ulp.
    pub maths: &'static str,
    /// W1, value alone.
    pub w1_value: ValueFn,
    /// W1, value and shadows.
    pub w1_dual: DualFn,
    /// W4, value alone.
    pub w4_value: ValueFn,
    /// W4, value and shadows.
    pub w4_dual: DualFn,
    /// The first 50 statements of W4, value and shadows.
    pub w4_first50: DualFn,
}

macro_rules! build {
    ($compiler:literal, $maths:literal, $w1v:ident $w1d:ident $w4v:ident $w4d:ident $w4f:ident) => {{
        // SAFETY: limit.c defines these symbols, once per build, with these signatures: a pointer to two duals that are read,
        // a pointer to one that is written, nothing kept.
        unsafe extern "C" {
            safe fn $w1v(points: &[Dual; 2]) -> f32;
            safe fn $w1d(points: &[Dual; 2], out: &mut Dual);
            safe fn $w4v(points: &[Dual; 2]) -> f32;
            safe fn $w4d(points: &[Dual; 2], out: &mut Dual);
            safe fn $w4f(points: &[Dual; 2], out: &mut Dual);
        }
        Limit {
            compiler: $compiler,
            maths: $maths,
            w1_value: |p| $w1v(p),
            w1_dual: |p, o| $w1d(p, o),
            w4_value: |p| $w4v(p),
            w4_dual: |p, o| $w4d(p, o),
            w4_first50: |p, o| $w4f(p, o),
        }
    }};
}

/// Every build that the build script could make; none without a C compiler.
pub fn builds() -> Vec<Limit> {
    vec![
        #[cfg(c_limit = "gcc")]
        build!("gcc", "equal", gcc_equal_w1_value gcc_equal_w1_dual gcc_equal_w4_value gcc_equal_w4_dual gcc_equal_w4_first50),
        #[cfg(c_limit = "gcc")]
        build!("gcc", "cheap", gcc_cheap_w1_value gcc_cheap_w1_dual gcc_cheap_w4_value gcc_cheap_w4_dual gcc_cheap_w4_first50),
        #[cfg(c_limit = "clang")]
        build!("clang", "equal", clang_equal_w1_value clang_equal_w1_dual clang_equal_w4_value clang_equal_w4_dual clang_equal_w4_first50),
        #[cfg(c_limit = "clang")]
        build!("clang", "cheap", clang_cheap_w1_value clang_cheap_w1_dual clang_cheap_w4_value clang_cheap_w4_dual clang_cheap_w4_first50),
    ]
}
