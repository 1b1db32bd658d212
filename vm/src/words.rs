//! Host structs as words, without trust in a list of their members.
//!
//! A host lists references to the members of a struct. If they are consecutive and fill the struct,
//! all of its bytes are words that may be read. Their addresses are compared, so a wrong list gives
//! nothing.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

/// Types that consist of four-byte words.
///
/// # Safety
/// Size and alignment are multiples of four bytes, and every byte of a value is initialised and may
/// be read as part of a `u32`. Nothing inside can change through a shared reference.
pub unsafe trait Words: Copy + 'static {}

// SAFETY: four bytes, aligned so, all initialised.
unsafe impl Words for f32 {}
// SAFETY: four bytes, aligned so, all initialised.
unsafe impl Words for i32 {}
// SAFETY: four bytes, aligned so, all initialised.
unsafe impl Words for u32 {}
// SAFETY: elements are consecutive, and each is such a type.
unsafe impl<T: Words, const N: usize> Words for [T; N] {}

/// A slice as its words.
pub fn as_words<T: Words>(slice: &[T]) -> &[u32] {
    let words = size_of_val(slice) / size_of::<u32>();
    // SAFETY: by its promise the type consists of words that may be read, aligned so; the slice is
    // borrowed for as long.
    unsafe { std::slice::from_raw_parts(slice.as_ptr().cast(), words) }
}

/// Types that any words make a value of: scalars, and arrays of them.
///
/// # Safety
/// Every pattern of bits is a value.
pub unsafe trait AnyWords: Words {}

// SAFETY: every pattern of bits is a float.
unsafe impl AnyWords for f32 {}
// SAFETY: every pattern of bits is an integer.
unsafe impl AnyWords for i32 {}
// SAFETY: every pattern of bits is an integer.
unsafe impl AnyWords for u32 {}
// SAFETY: of each element every pattern is a value.
unsafe impl<T: AnyWords, const N: usize> AnyWords for [T; N] {}

/// A slice as its words, to be written.
pub fn as_words_mut<T: AnyWords>(slice: &mut [T]) -> &mut [u32] {
    let words = size_of_val(slice) / size_of::<u32>();
    // SAFETY: as for `as_words`; whatever is written is a value of the type.
    unsafe { std::slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), words) }
}

/// A slice as its words, to be written: whether they were set before does not matter.
pub fn as_uninit_words_mut<T: AnyWords>(slice: &mut [MaybeUninit<T>]) -> &mut [MaybeUninit<u32>] {
    let words = size_of_val(slice) / size_of::<u32>();
    // SAFETY: the type consists of words, aligned so; the slice is borrowed for as long. Neither
    // side takes its words for initialised, and whatever is written is a value of the type.
    unsafe { std::slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), words) }
}

/// A struct whose members are being listed, in order.
#[derive(Debug)]
pub struct MemberWords<'a, S> {
    whole: &'a S,
    /// Bytes of the struct that the members so far fill.
    filled: usize,
    /// Whether each member started where the one before ended.
    in_order: bool,
}

impl<'a, S> MemberWords<'a, S> {
    /// Starts the list of a struct's members.
    pub fn of(whole: &'a S) -> MemberWords<'a, S> {
        MemberWords {
            whole,
            filled: 0,
            in_order: true,
        }
    }

    /// Adds the next member.
    #[inline]
    pub fn add<T: Words>(&mut self, member: &'a T) {
        let next = std::ptr::from_ref(self.whole).addr() + self.filled;
        self.in_order &= std::ptr::from_ref(member).addr() == next;
        self.filled += size_of::<T>();
    }

    /// The struct as words; `None` if the members do not fill it in order.
    #[inline]
    pub fn words(self) -> Option<&'a [u32]> {
        if !self.in_order || self.filled != size_of::<S>() {
            return None;
        }
        if self.filled == 0 {
            return Some(&[]);
        }
        let start = std::ptr::from_ref(self.whole).cast::<u32>();
        // SAFETY: the members fill the struct from its first byte to its last. Each consists of
        // words, was readable when it was added, and is borrowed for as long as the slice lives.
        // The first one is at the start, which is therefore aligned.
        Some(unsafe { std::slice::from_raw_parts(start, self.filled / size_of::<u32>()) })
    }
}

/// Consecutive structs as words, if `words` gives those of each, all of it.
pub fn all_as_words<'a, S>(
    structs: &'a [S],
    words: impl Fn(&'a S) -> Option<&'a [u32]>,
) -> Option<&'a [u32]> {
    let is_whole = |one: &'a S| {
        words(one).is_some_and(|words| {
            words.as_ptr().addr() == std::ptr::from_ref(one).addr()
                && size_of_val(words) == size_of::<S>()
        })
    };
    if size_of::<S>() == 0 || structs.is_empty() {
        return Some(&[]);
    }
    if !structs.iter().all(is_whole) {
        return None;
    }
    let count = size_of_val(structs) / size_of::<u32>();
    // SAFETY: each struct's bytes, from its first to its last, were just seen as a slice of words
    // that is borrowed for as long as the structs are. They are aligned so, since a struct starts
    // where its words do, and nothing is between them.
    Some(unsafe { std::slice::from_raw_parts(structs.as_ptr().cast(), count) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C)]
    struct Three {
        a: f32,
        b: [i32; 2],
        c: u32,
    }

    const THREE: Three = Three {
        a: 1.0,
        b: [-1, 2],
        c: 3,
    };

    #[test]
    fn ordered_members_fill_the_struct() {
        let three = THREE;
        let mut members = MemberWords::of(&three);
        members.add(&three.a);
        members.add(&three.b);
        members.add(&three.c);
        assert_eq!(
            members.words(),
            Some(&[1.0_f32.to_bits(), u32::MAX, 2, 3][..])
        );
    }

    #[test]
    fn slices_convert_to_words() {
        let mut pairs = [[1.0_f32, 2.0], [3.0, 4.0]];
        assert_eq!(as_words(&pairs)[2], 3.0_f32.to_bits());
        as_words_mut(&mut pairs)[1] = 5.0_f32.to_bits();
        assert_eq!(pairs, [[1.0, 5.0], [3.0, 4.0]]);
        assert!(as_words::<i32>(&[]).is_empty());
        let mut unset = [MaybeUninit::<[f32; 2]>::uninit(); 2];
        let words = as_uninit_words_mut(&mut unset);
        assert_eq!(words.len(), 4);
        for (word, value) in words.iter_mut().zip([1.0_f32, 2.0, 3.0, 4.0]) {
            word.write(value.to_bits());
        }
        // SAFETY: all four words were set.
        assert_eq!(
            unset.map(|pair| unsafe { pair.assume_init() }),
            [[1.0, 2.0], [3.0, 4.0]]
        );
    }

    #[test]
    fn empty_struct_has_no_words() {
        assert_eq!(MemberWords::of(&()).words(), Some(&[][..]));
    }

    #[test]
    fn structs_convert_if_each_is_complete() {
        fn whole(three: &Three) -> Option<&[u32]> {
            let mut members = MemberWords::of(three);
            members.add(&three.a);
            members.add(&three.b);
            members.add(&three.c);
            members.words()
        }
        let threes = [THREE, Three { c: 4, ..THREE }];
        let words = all_as_words(&threes, whole).expect("each is its members");
        assert_eq!((words.len(), words[3], words[7]), (8, 3, 4));
        assert_eq!(all_as_words(&threes[..0], whole), Some(&[][..]));
        assert_eq!(all_as_words(&[(); 3], |_| None), Some(&[][..]));
        // One that is not, a part of one, and the words of another.
        let first = |three| whole(three).filter(|words| words[3] == 3);
        assert_eq!(all_as_words(&threes, first), None);
        let part = |three| whole(three).map(|words| &words[..3]);
        assert_eq!(all_as_words(&threes, part), None);
        assert_eq!(all_as_words(&threes, |_| whole(&threes[0])), None);
    }

    fn is_whole<'a>(three: &'a Three, list: impl FnOnce(&mut MemberWords<'a, Three>)) -> bool {
        let mut members = MemberWords::of(three);
        list(&mut members);
        members.words().is_some()
    }

    #[test]
    fn wrong_member_list_is_refused() {
        let (three, other) = (&THREE, &Three { c: 4, ..THREE });
        let wrong = [
            is_whole(three, |_| {}),
            is_whole(three, |members| {
                members.add(&three.a);
                members.add(&three.b);
            }),
            is_whole(three, |members| {
                members.add(&three.b);
                members.add(&three.a);
                members.add(&three.c);
            }),
            is_whole(three, |members| {
                members.add(&three.a);
                members.add(&three.a);
                members.add(&three.b);
            }),
            is_whole(three, |members| {
                members.add(&three.a);
                members.add(&three.b);
                members.add(&other.c);
            }),
        ];
        assert_eq!(wrong, [false; 5]);
    }

    #[test]
    fn padding_between_members_is_refused() {
        #[repr(C)]
        struct Gap {
            a: u32,
            b: u64,
        }
        let gap = Gap { a: 1, b: 2 };
        let mut members = MemberWords::of(&gap);
        members.add(&gap.a);
        assert_eq!(gap.b, 2);
        assert_eq!(members.words(), None);
    }
}
