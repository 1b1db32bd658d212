//! What words of registers mean outside of a program. Bytecode may be anybody's, so a register that should hold a closure or a resource may hold
//! anything.

use adumbra_ir::host::{ClosureArena, ClosureRef, leaving};
use adumbra_ir::types::Scalar;

/// A closure from a register; what the arena did not make is the empty closure.
pub(crate) fn closure(arena: &ClosureArena, word: u32) -> ClosureRef {
    let closure = ClosureRef::from_word(word);
    match arena.node(closure) {
        Some(_) => closure,
        None => ClosureRef::EMPTY,
    }
}

/// A value as it leaves, of a point with these closures and a program with so many resources: a float as [`leaving`] says, a closure that
/// there is, a resource that there is (the last one for what is none).
pub(crate) fn value(scalar: Scalar, word: u32, arena: &ClosureArena, resources: usize) -> u32 {
    match scalar {
        Scalar::F32 => leaving(f32::from_bits(word)).to_bits(),
        Scalar::Closure => closure(arena, word).word(),
        Scalar::Resource => word.min((resources as u32).saturating_sub(1)),
        Scalar::I32 | Scalar::U32 | Scalar::Bool => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_ir::module::ClosureId;

    #[test]
    fn what_is_not_there_becomes_something_that_is() {
        let mut arena = ClosureArena::default();
        let leaf = arena.leaf(ClosureId(0), []).word();
        let made = |word| value(Scalar::Closure, word, &arena, 0);
        assert_eq!(made(leaf), leaf);
        assert_eq!([made(leaf + 1), made(u32::MAX)], [0, 0]);
        let resource = |word, count| value(Scalar::Resource, word, &arena, count);
        assert_eq!([resource(1, 3), resource(3, 3), resource(7, 0)], [1, 2, 0]);
        let word = |scalar| value(scalar, u32::MAX, &arena, 0);
        assert_eq!(word(Scalar::I32), u32::MAX);
        assert!(f32::from_bits(word(Scalar::F32)).is_nan() && word(Scalar::F32) != u32::MAX);
    }
}
