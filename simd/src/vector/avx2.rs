//! SIMD vectors of sixteen points, in two registers, with AVX2 and FMA.

vector_types!(16, #[target_feature(enable = "avx2,fma")]);
pairs!(8);

/// Each function needs a processor with AVX2 and FMA.
mod one {
    use std::arch::x86_64::*;

    pub(super) type Floats = __m256;
    pub(super) type Words = __m256i;
    /// All bits of a word, or none.
    pub(super) type Bools = __m256i;

    macro_rules! each {
        ($($name:ident($($x:ident: $ty:ty),*) -> $out:ty { $body:expr })*) => { $(
            /// # Safety
            /// The processor has AVX2 and FMA; where words are loaded or stored, there are as many
            /// as a register has.
            #[inline(always)]
            pub(super) unsafe fn $name($($x: $ty),*) -> $out {
                // SAFETY: guaranteed by the caller.
                unsafe { $body }
            }
        )* };
    }

    each! {
        splat(x: f32) -> Floats { _mm256_set1_ps(x) }
        splat_word(x: u32) -> Words { _mm256_set1_epi32(x as i32) }
        load(from: *const u32) -> Words { _mm256_loadu_si256(from.cast()) }
        store(to: *mut u32, words: Words) -> () { _mm256_storeu_si256(to.cast(), words) }
        add(a: Floats, b: Floats) -> Floats { _mm256_add_ps(a, b) }
        sub(a: Floats, b: Floats) -> Floats { _mm256_sub_ps(a, b) }
        mul(a: Floats, b: Floats) -> Floats { _mm256_mul_ps(a, b) }
        div(a: Floats, b: Floats) -> Floats { _mm256_div_ps(a, b) }
        neg(a: Floats) -> Floats { _mm256_xor_ps(a, _mm256_set1_ps(-0.0)) }
        lt(a: Floats, b: Floats) -> Bools { bits(_mm256_cmp_ps::<_CMP_LT_OQ>(a, b)) }
        le(a: Floats, b: Floats) -> Bools { bits(_mm256_cmp_ps::<_CMP_LE_OQ>(a, b)) }
        same(a: Floats, b: Floats) -> Bools { bits(_mm256_cmp_ps::<_CMP_EQ_OQ>(a, b)) }
        select(m: Bools, a: Floats, b: Floats) -> Floats { _mm256_blendv_ps(b, a, float(m)) }
        mul_add(a: Floats, b: Floats, c: Floats) -> Floats { _mm256_fmadd_ps(a, b, c) }
        square_root(a: Floats) -> Floats { _mm256_sqrt_ps(a) }
        magnitude(a: Floats) -> Floats { _mm256_andnot_ps(_mm256_set1_ps(-0.0), a) }
        round_even(a: Floats) -> Floats { _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a) }
        round_down(a: Floats) -> Floats { _mm256_round_ps::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(a) }
        round_up(a: Floats) -> Floats { _mm256_round_ps::<{ _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC }>(a) }
        round_to_zero(a: Floats) -> Floats { _mm256_round_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(a) }
        bits(a: Floats) -> Words { _mm256_castps_si256(a) }
        float(a: Words) -> Floats { _mm256_castsi256_ps(a) }
        to_i32(a: Floats) -> Words {{
            // The conversion gives the least integer for all that does not fit.
            let low = _mm256_cvttps_epi32(a);
            let above = bits(_mm256_cmp_ps::<_CMP_GE_OQ>(a, _mm256_set1_ps(2_147_483_648.0)));
            let number = bits(_mm256_cmp_ps::<_CMP_ORD_Q>(a, a));
            _mm256_and_si256(_mm256_xor_si256(low, above), number)
        }}
        to_u32(a: Floats) -> Words {{
            // NaN becomes 0, since the maximum takes its second operand then.
            let a = _mm256_max_ps(a, _mm256_setzero_ps());
            let half = _mm256_set1_ps(2_147_483_648.0);
            let above = bits(_mm256_cmp_ps::<_CMP_GE_OQ>(a, half));
            let beyond = bits(_mm256_cmp_ps::<_CMP_GE_OQ>(a, _mm256_set1_ps(4_294_967_296.0)));
            let low = _mm256_cvttps_epi32(_mm256_sub_ps(a, _mm256_and_ps(half, float(above))));
            let top = _mm256_and_si256(above, _mm256_set1_epi32(i32::MIN));
            _mm256_or_si256(_mm256_xor_si256(low, top), beyond)
        }}
        i32_to_float(a: Words) -> Floats { _mm256_cvtepi32_ps(a) }
        u32_to_float(a: Words) -> Floats {{
            // Both halves are exact, and their sum is rounded once.
            let high = _mm256_cvtepi32_ps(_mm256_srli_epi32::<16>(a));
            let low = _mm256_cvtepi32_ps(_mm256_and_si256(a, _mm256_set1_epi32(0xffff)));
            _mm256_fmadd_ps(high, _mm256_set1_ps(65_536.0), low)
        }}
        leading_zeros(a: Words) -> Words {{
            let mut all = [0_u32; 8];
            store(all.as_mut_ptr(), a);
            for word in &mut all {
                *word = word.leading_zeros();
            }
            load(all.as_ptr())
        }}
        plus(a: Words, b: Words) -> Words { _mm256_add_epi32(a, b) }
        minus(a: Words, b: Words) -> Words { _mm256_sub_epi32(a, b) }
        times(a: Words, b: Words) -> Words { _mm256_mullo_epi32(a, b) }
        times_high(a: Words, b: Words) -> Words {{
            let even = _mm256_srli_epi64::<32>(_mm256_mul_epu32(a, b));
            let odd = _mm256_mul_epu32(_mm256_srli_epi64::<32>(a), _mm256_srli_epi64::<32>(b));
            _mm256_blend_epi32::<0b1010_1010>(even, odd)
        }}
        shl(a: Words, b: Words) -> Words { _mm256_sllv_epi32(a, low_five(b)) }
        shr(a: Words, b: Words) -> Words { _mm256_srlv_epi32(a, low_five(b)) }
        sar(a: Words, b: Words) -> Words { _mm256_srav_epi32(a, low_five(b)) }
        low_five(b: Words) -> Words { _mm256_and_si256(b, _mm256_set1_epi32(31)) }
        lt_signed(a: Words, b: Words) -> Bools { _mm256_cmpgt_epi32(b, a) }
        lt_unsigned(a: Words, b: Words) -> Bools {{
            let sign = _mm256_set1_epi32(i32::MIN);
            _mm256_cmpgt_epi32(_mm256_xor_si256(b, sign), _mm256_xor_si256(a, sign))
        }}
        same_word(a: Words, b: Words) -> Bools { _mm256_cmpeq_epi32(a, b) }
        select_word(m: Bools, a: Words, b: Words) -> Words { _mm256_blendv_epi8(b, a, m) }
        word_and(a: Words, b: Words) -> Words { _mm256_and_si256(a, b) }
        word_or(a: Words, b: Words) -> Words { _mm256_or_si256(a, b) }
        word_xor(a: Words, b: Words) -> Words { _mm256_xor_si256(a, b) }
        word_not(a: Words) -> Words { _mm256_xor_si256(a, _mm256_set1_epi32(-1)) }
        bool_and(a: Bools, b: Bools) -> Bools { _mm256_and_si256(a, b) }
        bool_or(a: Bools, b: Bools) -> Bools { _mm256_or_si256(a, b) }
        bool_xor(a: Bools, b: Bools) -> Bools { _mm256_xor_si256(a, b) }
        bool_not(a: Bools) -> Bools { _mm256_xor_si256(a, _mm256_set1_epi32(-1)) }
        bool_bits(a: Bools) -> u32 { _mm256_movemask_ps(float(a)) as u32 }
        bools_of(bits: u32) -> Bools {{
            let each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let set = _mm256_and_si256(_mm256_set1_epi32(bits as i32), each);
            _mm256_cmpeq_epi32(set, each)
        }}
    }
}
