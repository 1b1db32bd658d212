//! Host structs as the globals of batches: read in place, column by column.

use super::host_struct::{GlobalValue, Member, MemberVisitor, ShaderGlobals, read_struct};
use crate::value::HostValue;
use adumbra_ir::Type;
use adumbra_vm::GlobalSource;
use adumbra_vm::words::all_as_words;

/// For each word of the layout of a struct's members, its values in an array of structs.
///
/// # Panics
/// If a trait that was implemented by hand does not list all of the struct's memory in order.
pub(crate) fn columns<'a, S: ShaderGlobals>(points: &'a [S], sources: &mut [GlobalSource<'a>]) {
    let words = all_as_words(points, |point| read_struct(point).0);
    S::members(&mut Columns {
        words: words.expect("the members are the whole struct"),
        stride: size_of::<S>() / size_of::<u32>(),
        passed: 0,
        sources: sources.iter_mut(),
    });
}

/// Finds the offset of each word of the layout in a struct.
struct Columns<'s, 'a> {
    /// All structs.
    words: &'a [u32],
    /// Words of a struct.
    stride: usize,
    /// Words of a struct that the members so far have.
    passed: usize,
    /// Those of the words to come.
    sources: std::slice::IterMut<'s, GlobalSource<'a>>,
}

impl<S> MemberVisitor<S> for Columns<'_, '_> {
    fn member<M: Member>(&mut self, _: &str, _: impl Fn(&S) -> &M) {
        let count = M::Value::ty().scalar_count();
        for part in 0..3 {
            let is_there = part == 0 || M::HAS_SHADOWS;
            for (scalar, source) in (0..count).zip(&mut self.sources) {
                let first = self.passed + word_of::<M::Value>(scalar);
                *source = match is_there {
                    true => GlobalSource::Varying {
                        words: self.words.get(first..).unwrap_or_default(),
                        stride: self.stride,
                    },
                    false => GlobalSource::Uniform(0),
                };
            }
            self.passed += if is_there { count } else { 0 };
        }
    }
}

/// Which word of a value in memory a scalar of its type is.
fn word_of<T: GlobalValue>(scalar: usize) -> usize {
    match T::ty() {
        Type::Matrix(n) if T::COLUMN_MAJOR => {
            let n = usize::from(n);
            scalar % n * n + scalar / n
        }
        _ => scalar,
    }
}
