//! SIMD vectors of arrays, which the compiler makes into SSE2 or NEON: no feature beyond the
//! target's. A vector has four points; on aarch64 it has sixteen, since machine code computes
//! sixteen at once.

#[cfg(not(target_arch = "aarch64"))]
vector_types!(4);
#[cfg(target_arch = "aarch64")]
vector_types!(16);

/// Every function is unsafe, as at other levels, where it needs the processor. Here `load` and
/// `store` alone have a requirement.
mod raw {
    /// Elements of a vector.
    const ELEMENTS: usize = if cfg!(target_arch = "aarch64") { 16 } else { 4 };

    pub(super) type Floats = [f32; ELEMENTS];
    pub(super) type Words = [u32; ELEMENTS];
    /// All bits of a word, or none.
    pub(super) type Bools = [u32; ELEMENTS];

    macro_rules! each {
        ($($name:ident($($x:ident: $ty:ty),*) -> $out:ty { $body:expr })*) => { $(
            /// # Safety
            /// No requirement at this level.
            #[inline(always)]
            pub(super) unsafe fn $name($($x: [$ty; ELEMENTS]),*) -> [$out; ELEMENTS] {
                let mut all = [<$out>::default(); ELEMENTS];
                let mut i = 0;
                while i < ELEMENTS {
                    $(let $x = $x[i];)*
                    all[i] = $body;
                    i += 1;
                }
                all
            }
        )* };
    }

    const fn all(holds: bool) -> u32 {
        (holds as u32).wrapping_neg()
    }

    each! {
        add(a: f32, b: f32) -> f32 { a + b }
        sub(a: f32, b: f32) -> f32 { a - b }
        mul(a: f32, b: f32) -> f32 { a * b }
        div(a: f32, b: f32) -> f32 { a / b }
        neg(a: f32) -> f32 { -a }
        lt(a: f32, b: f32) -> u32 { all(a < b) }
        le(a: f32, b: f32) -> u32 { all(a <= b) }
        same(a: f32, b: f32) -> u32 { all(a == b) }
        select(m: u32, a: f32, b: f32) -> f32 { f32::from_bits(m & a.to_bits() | !m & b.to_bits()) }
        mul_add(a: f32, b: f32, c: f32) -> f32 { a.mul_add(b, c) }
        square_root(a: f32) -> f32 { a.sqrt() }
        magnitude(a: f32) -> f32 { a.abs() }
        round_even(a: f32) -> f32 { a.round_ties_even() }
        round_down(a: f32) -> f32 { a.floor() }
        round_up(a: f32) -> f32 { a.ceil() }
        round_to_zero(a: f32) -> f32 { a.trunc() }
        bits(a: f32) -> u32 { a.to_bits() }
        to_i32(a: f32) -> u32 { a as i32 as u32 }
        to_u32(a: f32) -> u32 { a as u32 }
        float(a: u32) -> f32 { f32::from_bits(a) }
        i32_to_float(a: u32) -> f32 { a as i32 as f32 }
        u32_to_float(a: u32) -> f32 { a as f32 }
        leading_zeros(a: u32) -> u32 { a.leading_zeros() }
        plus(a: u32, b: u32) -> u32 { a.wrapping_add(b) }
        minus(a: u32, b: u32) -> u32 { a.wrapping_sub(b) }
        times(a: u32, b: u32) -> u32 { a.wrapping_mul(b) }
        times_high(a: u32, b: u32) -> u32 { ((u64::from(a) * u64::from(b)) >> 32) as u32 }
        shl(a: u32, b: u32) -> u32 { a.wrapping_shl(b) }
        shr(a: u32, b: u32) -> u32 { a.wrapping_shr(b) }
        sar(a: u32, b: u32) -> u32 { (a as i32).wrapping_shr(b) as u32 }
        lt_signed(a: u32, b: u32) -> u32 { all((a as i32) < b as i32) }
        lt_unsigned(a: u32, b: u32) -> u32 { all(a < b) }
        same_word(a: u32, b: u32) -> u32 { all(a == b) }
        select_word(m: u32, a: u32, b: u32) -> u32 { m & a | !m & b }
        word_and(a: u32, b: u32) -> u32 { a & b }
        word_or(a: u32, b: u32) -> u32 { a | b }
        word_xor(a: u32, b: u32) -> u32 { a ^ b }
        word_not(a: u32) -> u32 { !a }
        bool_and(a: u32, b: u32) -> u32 { a & b }
        bool_or(a: u32, b: u32) -> u32 { a | b }
        bool_xor(a: u32, b: u32) -> u32 { a ^ b }
        bool_not(a: u32) -> u32 { !a }
    }

    /// # Safety
    /// No requirement at this level.
    #[inline(always)]
    pub(super) unsafe fn splat(x: f32) -> Floats {
        [x; ELEMENTS]
    }

    /// # Safety
    /// No requirement at this level.
    #[inline(always)]
    pub(super) unsafe fn splat_word(x: u32) -> Words {
        [x; ELEMENTS]
    }

    /// # Safety
    /// There are `ELEMENTS` words; they need not be aligned.
    #[inline(always)]
    pub(super) unsafe fn load(from: *const u32) -> Words {
        // SAFETY: guaranteed by the caller.
        unsafe { from.cast::<Words>().read_unaligned() }
    }

    /// # Safety
    /// There is space for `ELEMENTS` words, which need not be aligned.
    #[inline(always)]
    pub(super) unsafe fn store(to: *mut u32, words: Words) {
        // SAFETY: guaranteed by the caller.
        unsafe { to.cast::<Words>().write_unaligned(words) }
    }

    /// # Safety
    /// No requirement at this level.
    #[inline(always)]
    pub(super) unsafe fn bool_bits(a: Bools) -> u32 {
        let mut bits = 0;
        let mut i = 0;
        while i < ELEMENTS {
            bits |= a[i] & 1 << i;
            i += 1;
        }
        bits
    }

    /// # Safety
    /// No requirement at this level.
    #[inline(always)]
    pub(super) unsafe fn bools_of(bits: u32) -> Bools {
        let mut bools = [0; ELEMENTS];
        let mut i = 0;
        while i < ELEMENTS {
            bools[i] = all(bits >> i & 1 == 1);
            i += 1;
        }
        bools
    }
}
