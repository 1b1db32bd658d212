//! SIMD vectors of thirty-two points, in two registers, with AVX-512, whose booleans are one bit
//! each.

vector_types!(32, #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]);
pairs!(16);

/// Each function needs a processor with AVX-512 F, BW, DQ and VL.
mod one {
    use std::arch::x86_64::*;

    pub(super) type Floats = __m512;
    pub(super) type Words = __m512i;
    pub(super) type Bools = __mmask16;

    /// Rounding without exceptions: to even, down, up, to zero.
    const EVEN: i32 = 0x8;
    const DOWN: i32 = 0x9;
    const UP: i32 = 0xa;
    const ZERO: i32 = 0xb;

    macro_rules! each {
        ($($name:ident($($x:ident: $ty:ty),*) -> $out:ty { $body:expr })*) => { $(
            /// # Safety
            /// The processor has AVX-512 F, BW, DQ and VL; where words are loaded or stored, there
            /// are as many as a register has.
            #[inline(always)]
            pub(super) unsafe fn $name($($x: $ty),*) -> $out {
                // SAFETY: guaranteed by the caller.
                #[allow(unused_unsafe)]
                unsafe { $body }
            }
        )* };
    }

    each! {
        splat(x: f32) -> Floats { _mm512_set1_ps(x) }
        splat_word(x: u32) -> Words { _mm512_set1_epi32(x as i32) }
        load(from: *const u32) -> Words { _mm512_loadu_si512(from.cast()) }
        store(to: *mut u32, words: Words) -> () { _mm512_storeu_si512(to.cast(), words) }
        add(a: Floats, b: Floats) -> Floats { _mm512_add_ps(a, b) }
        sub(a: Floats, b: Floats) -> Floats { _mm512_sub_ps(a, b) }
        mul(a: Floats, b: Floats) -> Floats { _mm512_mul_ps(a, b) }
        div(a: Floats, b: Floats) -> Floats { _mm512_div_ps(a, b) }
        neg(a: Floats) -> Floats { _mm512_xor_ps(a, _mm512_set1_ps(-0.0)) }
        lt(a: Floats, b: Floats) -> Bools { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b) }
        le(a: Floats, b: Floats) -> Bools { _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b) }
        same(a: Floats, b: Floats) -> Bools { _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b) }
        select(m: Bools, a: Floats, b: Floats) -> Floats { _mm512_mask_blend_ps(m, b, a) }
        mul_add(a: Floats, b: Floats, c: Floats) -> Floats { _mm512_fmadd_ps(a, b, c) }
        square_root(a: Floats) -> Floats { _mm512_sqrt_ps(a) }
        magnitude(a: Floats) -> Floats { _mm512_andnot_ps(_mm512_set1_ps(-0.0), a) }
        round_even(a: Floats) -> Floats { _mm512_roundscale_ps::<EVEN>(a) }
        round_down(a: Floats) -> Floats { _mm512_roundscale_ps::<DOWN>(a) }
        round_up(a: Floats) -> Floats { _mm512_roundscale_ps::<UP>(a) }
        round_to_zero(a: Floats) -> Floats { _mm512_roundscale_ps::<ZERO>(a) }
        bits(a: Floats) -> Words { _mm512_castps_si512(a) }
        float(a: Words) -> Floats { _mm512_castsi512_ps(a) }
        to_i32(a: Floats) -> Words {{
            // The conversion gives the least integer for all that does not fit.
            let number = _mm512_cmp_ps_mask::<_CMP_ORD_Q>(a, a);
            let above = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(a, _mm512_set1_ps(2_147_483_648.0));
            let low = _mm512_maskz_cvttps_epi32(number, a);
            _mm512_mask_blend_epi32(above, low, _mm512_set1_epi32(i32::MAX))
        }}
        // NaN becomes 0, since the maximum takes its second operand then; what is too great becomes
        // all bits.
        to_u32(a: Floats) -> Words { _mm512_cvttps_epu32(_mm512_max_ps(a, _mm512_setzero_ps())) }
        i32_to_float(a: Words) -> Floats { _mm512_cvtepi32_ps(a) }
        u32_to_float(a: Words) -> Floats { _mm512_cvtepu32_ps(a) }
        leading_zeros(a: Words) -> Words {{
            let mut all = [0_u32; 16];
            store(all.as_mut_ptr(), a);
            for word in &mut all {
                *word = word.leading_zeros();
            }
            load(all.as_ptr())
        }}
        plus(a: Words, b: Words) -> Words { _mm512_add_epi32(a, b) }
        minus(a: Words, b: Words) -> Words { _mm512_sub_epi32(a, b) }
        times(a: Words, b: Words) -> Words { _mm512_mullo_epi32(a, b) }
        times_high(a: Words, b: Words) -> Words {{
            let even = _mm512_srli_epi64::<32>(_mm512_mul_epu32(a, b));
            let odd = _mm512_mul_epu32(_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
            _mm512_mask_blend_epi32(0xaaaa, even, odd)
        }}
        shl(a: Words, b: Words) -> Words { _mm512_sllv_epi32(a, low_five(b)) }
        shr(a: Words, b: Words) -> Words { _mm512_srlv_epi32(a, low_five(b)) }
        sar(a: Words, b: Words) -> Words { _mm512_srav_epi32(a, low_five(b)) }
        low_five(b: Words) -> Words { _mm512_and_si512(b, _mm512_set1_epi32(31)) }
        lt_signed(a: Words, b: Words) -> Bools { _mm512_cmplt_epi32_mask(a, b) }
        lt_unsigned(a: Words, b: Words) -> Bools { _mm512_cmplt_epu32_mask(a, b) }
        same_word(a: Words, b: Words) -> Bools { _mm512_cmpeq_epi32_mask(a, b) }
        select_word(m: Bools, a: Words, b: Words) -> Words { _mm512_mask_blend_epi32(m, b, a) }
        word_and(a: Words, b: Words) -> Words { _mm512_and_si512(a, b) }
        word_or(a: Words, b: Words) -> Words { _mm512_or_si512(a, b) }
        word_xor(a: Words, b: Words) -> Words { _mm512_xor_si512(a, b) }
        word_not(a: Words) -> Words { _mm512_xor_si512(a, _mm512_set1_epi32(-1)) }
        bool_and(a: Bools, b: Bools) -> Bools { a & b }
        bool_or(a: Bools, b: Bools) -> Bools { a | b }
        bool_xor(a: Bools, b: Bools) -> Bools { a ^ b }
        bool_not(a: Bools) -> Bools { !a }
        bool_bits(a: Bools) -> u32 { u32::from(a) }
        bools_of(bits: u32) -> Bools { bits as u16 }
    }
}
