//! SIMD vectors: as many points of a plane as one routine computes at once.
//!
//! A level is a set of plain functions over the processor's types. The fields of floats, words and
//! booleans that ops need are made from them here, once for all levels. Everything is inlined into
//! routines that have the level's features, so a vector stays in registers.

use adumbra_ops::field::{FloatField, Mask, WordField};

/// Floats of neighbouring points, at some level.
pub(super) trait SimdFloats: FloatField<Word = Self::Words, Mask = Self::Bools> {
    /// The same number of words.
    type Words: SimdWords<Float = Self, Mask = Self::Bools>;
    /// The same number of booleans.
    type Bools: SimdMask;
}

/// Words of neighbouring points.
pub(super) trait SimdWords: WordField {
    /// Elements of the vector.
    const ELEMENTS: usize;

    /// Loads the words at an address.
    ///
    /// # Safety
    /// There are `ELEMENTS` words there; they need not be aligned. The processor has the level.
    unsafe fn load(from: *const u32) -> Self;

    /// Writes the words to an address.
    ///
    /// # Safety
    /// As for `load`.
    unsafe fn store(self, to: *mut u32);
}

/// Booleans of neighbouring points.
pub(super) trait SimdMask: Mask {
    /// One bit each, the first point's lowest.
    fn bits(self) -> u32;
    /// From one bit each.
    fn from_bits(bits: u32) -> Self;
}

/// Makes the types of a level from its functions, which are in the module `raw` beside the call.
/// The attribute enables the features of the level for the functions that are not inlined.
macro_rules! vector_types {
    ($lanes:literal $(, #[$features:meta])?) => {
        use super::{SimdMask, SimdFloats, SimdWords};
        use adumbra_ops::Libcall;
        use adumbra_ops::field::{Field, FloatField, Mask, SlowFn, WordField};
        use adumbra_ops::lattice::lattice_numbers;
        use adumbra_ops::definition::OpDef;
        use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

        /// Floats of neighbouring points.
        #[derive(Clone, Copy)]
        pub(crate) struct Floats(raw::Floats);
        /// Words of neighbouring points.
        #[derive(Clone, Copy)]
        pub(crate) struct Words(raw::Words);
        /// Booleans of neighbouring points.
        #[derive(Clone, Copy)]
        pub(crate) struct Bools(raw::Bools);

        vector_types!(@operators Floats: Add add, Sub sub, Mul mul, Div div);
        vector_types!(@operators Words: BitAnd word_and, BitOr word_or, BitXor word_xor);
        vector_types!(@operators Bools: BitAnd bool_and, BitOr bool_or, BitXor bool_xor);
        vector_types!(@negation Floats: Neg neg neg);
        vector_types!(@negation Words: Not not word_not);
        vector_types!(@negation Bools: Not not bool_not);

        impl Mask for Bools {}

        impl SimdMask for Bools {
            #[inline(always)]
            fn bits(self) -> u32 {
                // SAFETY: only routines of this level have vectors.
                unsafe { raw::bool_bits(self.0) }
            }
            #[inline(always)]
            fn from_bits(bits: u32) -> Bools {
                // SAFETY: only routines of this level have vectors.
                Bools(unsafe { raw::bools_of(bits) })
            }
        }

        impl SimdFloats for Floats {
            type Words = Words;
            type Bools = Bools;
        }

        impl SimdWords for Words {
            const ELEMENTS: usize = $lanes;

            #[inline(always)]
            unsafe fn load(from: *const u32) -> Words {
                // SAFETY: guaranteed by the caller.
                Words(unsafe { raw::load(from) })
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut u32) {
                // SAFETY: guaranteed by the caller.
                unsafe { raw::store(to, self.0) }
            }
        }

        impl Words {
            #[inline(always)]
            fn array(self) -> [u32; $lanes] {
                let mut all = [0; $lanes];
                // SAFETY: `all` has space for a vector, and only routines of this level have
                // vectors.
                unsafe { raw::store(all.as_mut_ptr(), self.0) };
                all
            }
            #[inline(always)]
            fn of(all: [u32; $lanes]) -> Words {
                // SAFETY: `all` has the words of a vector, and only routines of this level have
                // vectors.
                Words(unsafe { raw::load(all.as_ptr()) })
            }
        }

        impl Field for Floats {
            type Mask = Bools;

            #[inline(always)]
            fn lit(self, c: f64) -> Floats {
                // SAFETY: only routines of this level have vectors.
                Floats(unsafe { raw::splat(c as f32) })
            }
            #[inline(always)]
            fn call<R: OpDef<N>, const N: usize>(args: [Floats; N]) -> Floats {
                R::value(args)
            }
            #[inline(always)]
            fn lattice<const N: usize, const M: usize>(
                salt: u32,
                seed: Floats,
                cell: [Floats; N],
                step: [Floats; N],
            ) -> [Floats; M] {
                let (mut cells, mut steps) = ([seed.to_i32(); N], [seed.to_i32(); N]);
                for i in 0..N {
                    cells[i] = cell[i].to_i32();
                    steps[i] = step[i].to_i32();
                }
                lattice_numbers(salt, seed.to_i32(), cells, steps)
            }
            vector_types!(@methods -> Bools: lt lt, le le, same same);
            #[inline(always)]
            fn select(mask: Bools, yes: Floats, no: Floats) -> Floats {
                // SAFETY: only routines of this level have vectors.
                Floats(unsafe { raw::select(mask.0, yes.0, no.0) })
            }
        }

        impl FloatField for Floats {
            type Word = Words;

            vector_types!(@method -> Words: bits bits);
            vector_types!(@method -> Words: to_i32 to_i32);
            vector_types!(@method -> Words: to_u32 to_u32);
            vector_types!(@method -> Floats: square_root square_root);
            vector_types!(@method -> Floats: magnitude magnitude);
            vector_types!(@method -> Floats: round_even round_even);
            vector_types!(@method -> Floats: round_down round_down);
            vector_types!(@method -> Floats: round_up round_up);
            vector_types!(@method -> Floats: round_to_zero round_to_zero);
            #[inline(always)]
            fn mul_add(self, b: Floats, c: Floats) -> Floats {
                // SAFETY: only routines of this level have vectors.
                Floats(unsafe { raw::mul_add(self.0, b.0, c.0) })
            }
            #[inline(always)]
            fn with_slow_path(mask: Bools, slow: impl SlowFn<Floats>, fast: Floats) -> Floats {
                if mask.bits() == 0 {
                    return fast;
                }
                // SAFETY: only routines of this level have vectors.
                Floats::select(mask, unsafe { out_of_line(slow) }, fast)
            }
        }

        /// Calls a slow path out of line, so that a level has it once and not in every routine.
        ///
        /// # Safety
        /// The processor has the level.
        #[cold]
        #[inline(never)]
        $(#[$features])?
        unsafe fn out_of_line(slow: impl SlowFn<Floats>) -> Floats {
            slow.compute()
        }

        impl WordField for Words {
            type Float = Floats;
            type Mask = Bools;

            #[inline(always)]
            fn lit(self, c: u32) -> Words {
                // SAFETY: only routines of this level have vectors.
                Words(unsafe { raw::splat_word(c) })
            }
            vector_types!(@method -> Floats: float float);
            vector_types!(@method -> Floats: i32_to_float i32_to_float);
            vector_types!(@method -> Floats: u32_to_float u32_to_float);
            vector_types!(@method -> Words: leading_zeros leading_zeros);
            vector_types!(@methods -> Words: plus plus, minus minus, times times, times_high times_high, shl shl, shr shr, sar sar);
            vector_types!(@methods -> Bools: lt_signed lt_signed, lt_unsigned lt_unsigned, same same_word);
            #[inline(always)]
            fn select(mask: Bools, yes: Words, no: Words) -> Words {
                // SAFETY: only routines of this level have vectors.
                Words(unsafe { raw::select_word(mask.0, yes.0, no.0) })
            }
            #[inline(always)]
            fn boolean(self, mask: Bools) -> Words {
                WordField::select(mask, self.lit(1), self.lit(0))
            }
            #[inline(always)]
            fn lookup(self, table: &'static [u32]) -> Words {
                let mut all = self.array();
                for word in &mut all {
                    *word = table[*word as usize];
                }
                Words::of(all)
            }
            #[inline(always)]
            fn libcall(self, function: Libcall, b: Words) -> Words {
                let (mut all, b) = (self.array(), b.array());
                for (a, b) in all.iter_mut().zip(b) {
                    *a = function.call(*a, b);
                }
                Words::of(all)
            }
        }
    };
    (@operators $type:ident: $($operator:ident $name:ident),*) => { $(
        impl $operator for $type {
            type Output = $type;
            vector_types!(@operator $operator $type $name);
        }
    )* };
    (@operator Add $type:ident $name:ident) => { vector_types!(@binary add $type $name); };
    (@operator Sub $type:ident $name:ident) => { vector_types!(@binary sub $type $name); };
    (@operator Mul $type:ident $name:ident) => { vector_types!(@binary mul $type $name); };
    (@operator Div $type:ident $name:ident) => { vector_types!(@binary div $type $name); };
    (@operator BitAnd $type:ident $name:ident) => { vector_types!(@binary bitand $type $name); };
    (@operator BitOr $type:ident $name:ident) => { vector_types!(@binary bitor $type $name); };
    (@operator BitXor $type:ident $name:ident) => { vector_types!(@binary bitxor $type $name); };
    (@binary $method:ident $type:ident $name:ident) => {
        #[inline(always)]
        fn $method(self, other: $type) -> $type {
            // SAFETY: only routines of this level have vectors.
            $type(unsafe { raw::$name(self.0, other.0) })
        }
    };
    (@negation $type:ident: $operator:ident $method:ident $name:ident) => {
        impl $operator for $type {
            type Output = $type;
            #[inline(always)]
            fn $method(self) -> $type {
                // SAFETY: only routines of this level have vectors.
                $type(unsafe { raw::$name(self.0) })
            }
        }
    };
    (@methods -> $out:ident: $($method:ident $name:ident),*) => { $(
        #[inline(always)]
        fn $method(self, other: Self) -> $out {
            // SAFETY: only routines of this level have vectors.
            $out(unsafe { raw::$name(self.0, other.0) })
        }
    )* };
    (@method -> $out:ident: $method:ident $name:ident) => {
        #[inline(always)]
        fn $method(self) -> $out {
            // SAFETY: only routines of this level have vectors.
            $out(unsafe { raw::$name(self.0) })
        }
    };
}

/// Makes the functions of a level from those for one register, which are in the module `one` beside
/// the call. A vector is two registers: one computes while the other waits, and both share the
/// constants that a routine loads.
#[cfg(target_arch = "x86_64")]
macro_rules! pairs {
    ($elements_of_one:literal) => {
        mod raw {
            use super::one;

            pub(super) type Floats = [one::Floats; 2];
            pub(super) type Words = [one::Words; 2];
            pub(super) type Bools = [one::Bools; 2];

            pairs! {
                @each
                add sub mul div (a: Floats, b: Floats) -> Floats;
                neg square_root magnitude (a: Floats) -> Floats;
                round_even round_down round_up round_to_zero (a: Floats) -> Floats;
                mul_add (a: Floats, b: Floats, c: Floats) -> Floats;
                lt le same (a: Floats, b: Floats) -> Bools;
                select (m: Bools, a: Floats, b: Floats) -> Floats;
                bits to_i32 to_u32 (a: Floats) -> Words;
                float i32_to_float u32_to_float (a: Words) -> Floats;
                leading_zeros word_not (a: Words) -> Words;
                plus minus times times_high shl shr sar (a: Words, b: Words) -> Words;
                word_and word_or word_xor (a: Words, b: Words) -> Words;
                lt_signed lt_unsigned same_word (a: Words, b: Words) -> Bools;
                select_word (m: Bools, a: Words, b: Words) -> Words;
                bool_and bool_or bool_xor (a: Bools, b: Bools) -> Bools;
                bool_not (a: Bools) -> Bools;
            }

            /// # Safety
            /// The processor has what the functions of `one` require.
            #[inline(always)]
            pub(super) unsafe fn splat(x: f32) -> Floats {
                // SAFETY: guaranteed by the caller.
                [unsafe { one::splat(x) }; 2]
            }

            /// # Safety
            /// The processor has what the functions of `one` require.
            #[inline(always)]
            pub(super) unsafe fn splat_word(x: u32) -> Words {
                // SAFETY: guaranteed by the caller.
                [unsafe { one::splat_word(x) }; 2]
            }

            /// # Safety
            /// The processor has what the functions of `one` require; there are the words of both
            /// registers, which need not be aligned.
            #[inline(always)]
            pub(super) unsafe fn load(from: *const u32) -> Words {
                // SAFETY: guaranteed by the caller.
                unsafe { [one::load(from), one::load(from.add($elements_of_one))] }
            }

            /// # Safety
            /// The processor has what the functions of `one` require; there is space for the words
            /// of both registers, which need not be aligned.
            #[inline(always)]
            pub(super) unsafe fn store(to: *mut u32, [low, high]: Words) {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    one::store(to, low);
                    one::store(to.add($elements_of_one), high);
                }
            }

            /// # Safety
            /// The processor has what the functions of `one` require.
            #[inline(always)]
            pub(super) unsafe fn bool_bits([low, high]: Bools) -> u32 {
                // SAFETY: guaranteed by the caller.
                unsafe { one::bool_bits(low) | one::bool_bits(high) << $elements_of_one }
            }

            /// # Safety
            /// The processor has what the functions of `one` require.
            #[inline(always)]
            pub(super) unsafe fn bools_of(bits: u32) -> Bools {
                // SAFETY: guaranteed by the caller.
                unsafe { [one::bools_of(bits), one::bools_of(bits >> $elements_of_one)] }
            }
        }
    };
    (@each) => {};
    (@each $($name:ident)+ ($($x:ident: $ty:ident),*) -> $out:ident; $($rest:tt)*) => {
        pairs!(@functions [$($name)+] ($($x: $ty),*) -> $out);
        pairs!(@each $($rest)*);
    };
    (@functions [] $signature:tt -> $out:ident) => {};
    (@functions [$name:ident $($rest:ident)*] ($($x:ident: $ty:ident),*) -> $out:ident) => {
        /// # Safety
        /// The processor has what the functions of `one` require.
        #[inline(always)]
        pub(super) unsafe fn $name($($x: $ty),*) -> $out {
            // SAFETY: guaranteed by the caller.
            unsafe { [one::$name($($x[0]),*), one::$name($($x[1]),*)] }
        }
        pairs!(@functions [$($rest)*] ($($x: $ty),*) -> $out);
    };
}

// After the macros, which they use.
#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
pub(super) mod portable;
