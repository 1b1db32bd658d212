//! Canonical values of words that leave a program. Bytecode from a file may hold anything in a
//! register that should be a closure or a resource.

use adumbra_ir::host::{ClosureArena, ClosureRef, canonical_float};
use adumbra_ir::types::Scalar;

/// The closure of a register; the empty closure if the arena did not make it.
pub(crate) fn closure(arena: &ClosureArena, word: u32) -> ClosureRef {
    let closure = ClosureRef::from_word(word);
    match arena.node(closure) {
        Some(_) => closure,
        None => ClosureRef::EMPTY,
    }
}

/// The canonical value of a word, for a point with these closures and a program with `resources`
/// resources. A float becomes [`canonical_float`], a closure or a resource one that exists (the
/// last resource if it does not).
pub(crate) fn value(scalar: Scalar, word: u32, arena: &ClosureArena, resources: usize) -> u32 {
    match scalar {
        Scalar::F32 => canonical_float(f32::from_bits(word)).to_bits(),
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
    fn missing_handles_become_existing_ones() {
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
