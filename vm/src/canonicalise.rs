//! Canonical values of words that leave a program: floats without an engine's bits of NaN, and
//! closures and resources that exist.

use adumbra_ir::host::{ClosureRef, canonical_float};
use adumbra_ir::types::Scalar;

/// The closure of a register, for a point with `nodes` nodes; the empty closure if it has not made
/// it.
pub(crate) fn closure(nodes: u32, word: u32) -> ClosureRef {
    match word <= nodes {
        true => ClosureRef::from_word(word),
        false => ClosureRef::EMPTY,
    }
}

/// The canonical value of a word, for a point with `nodes` nodes of closures and a program with
/// `resources` resources. A float becomes [`canonical_float`], a closure or a resource one that
/// exists (the last resource if it does not).
pub(crate) fn value(
    scalar: Scalar,
    word: u32,
    nodes: impl FnOnce() -> u32,
    resources: usize,
) -> u32 {
    match scalar {
        Scalar::F32 => canonical_float(f32::from_bits(word)).to_bits(),
        Scalar::Closure => closure(nodes(), word).word(),
        Scalar::Resource => word.min((resources as u32).saturating_sub(1)),
        Scalar::I32 | Scalar::U32 | Scalar::Bool => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_ir::host::ClosureArena;
    use adumbra_ir::module::ClosureId;

    #[test]
    fn missing_handles_become_existing_ones() {
        let mut arena = ClosureArena::default();
        let leaf = arena.leaf(ClosureId(0), []).word();
        let nodes = || arena.count();
        let made = |word| value(Scalar::Closure, word, nodes, 0);
        assert_eq!(made(leaf), leaf);
        assert_eq!([made(leaf + 1), made(u32::MAX)], [0, 0]);
        let resource = |word, count| value(Scalar::Resource, word, nodes, count);
        assert_eq!([resource(1, 3), resource(3, 3), resource(7, 0)], [1, 2, 0]);
        let word = |scalar| value(scalar, u32::MAX, nodes, 0);
        assert_eq!(word(Scalar::I32), u32::MAX);
        assert!(f32::from_bits(word(Scalar::F32)).is_nan() && word(Scalar::F32) != u32::MAX);
    }
}
