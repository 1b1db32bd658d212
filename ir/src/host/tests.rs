//! Tests of faults, limits and closure trees.

use super::*;
use crate::span::FileId;

fn at(start: u32) -> Span {
    Span::new(FileId::MAIN, start, start + 1)
}

#[test]
fn faults_are_a_set_in_order_of_first_occurrence() {
    let mut faults = Faults::default();
    assert!(faults.is_empty());
    faults.add(FaultKind::DivisionByZero, at(2));
    faults.add(FaultKind::IndexOutOfRange, at(1));
    faults.add(FaultKind::DivisionByZero, at(2));
    let starts: Vec<u32> = faults.iter().map(|f| f.span.start).collect();
    assert_eq!((starts, faults.omitted_count()), (vec![2, 1], 0));
}

#[test]
fn faults_beyond_the_limit_are_counted_but_the_stop_is_kept() {
    let mut faults = Faults::default();
    for i in 0..MAX_FAULTS as u32 + 3 {
        faults.add(FaultKind::IndexOutOfRange, at(i));
    }
    faults.add(FaultKind::IndexOutOfRange, at(0));
    faults.add(FaultKind::StepBudget, at(99));
    faults.add(FaultKind::CallDepth, at(100));
    assert_eq!(faults.iter().count(), MAX_FAULTS + 1);
    assert_eq!(faults.omitted_count(), 3);
    assert_eq!(
        faults.stopped().map(|f| f.kind),
        Some(FaultKind::StepBudget)
    );
    faults.clear();
    assert_eq!(faults, Faults::default());
}

#[test]
fn many_steps_at_once_ask_as_often_as_single_ones() {
    for work in [1, QUERY_WORK / 8, QUERY_WORK] {
        let period = QueryPeriod::of(work);
        let steps = period.steps();
        for left in [0, 1, steps.saturating_sub(1), steps, 5 * steps + 3] {
            for taken in [1, 2, 7, steps, 3 * steps] {
                let single = (0..taken).any(|i| (left + i).is_multiple_of(steps));
                assert_eq!(period.is_due(left, taken), single, "{work} {left} {taken}");
            }
            let free = period.steps_before_query(left);
            assert!(free == 0 || !period.is_due(left - free, free), "{left}");
            assert!(left == 0 || period.is_due(left - free - 1, 1), "{left}");
        }
    }
}

#[test]
fn query_period_keeps_to_work() {
    for work in [0, 1, 2_048, 2_049, 100_000, QUERY_WORK, QUERY_WORK + 1] {
        let steps = QueryPeriod::of(work).steps();
        assert!(steps.is_power_of_two() && steps <= MAX_QUERY_PERIOD);
        assert!(steps == 1 || steps * work <= QUERY_WORK, "{work} {steps}");
        let is_greatest = steps == MAX_QUERY_PERIOD || 2 * steps * work > QUERY_WORK;
        assert!(is_greatest, "{work} {steps}");
    }
    assert_eq!(QueryPeriod::of(u64::MAX), QueryPeriod::EVERY_STEP);
}

#[test]
fn move_steps_count_whole_ones() {
    assert_eq!(move_steps(WORDS_PER_STEP - 1), 0);
    assert_eq!(move_steps(3 * WORDS_PER_STEP), 3);
}

#[test]
fn the_empty_closure_is_neutral() {
    let mut arena = ClosureArena::default();
    let leaf = arena.leaf(ClosureId(3), [1, 2]);
    assert_eq!(arena.add(leaf, ClosureRef::EMPTY), leaf);
    assert_eq!(arena.add(ClosureRef::EMPTY, leaf), leaf);
    assert!(arena.scale(ClosureRef::EMPTY, 2.0).is_empty());
    assert!(arena.tint(ClosureRef::EMPTY, [1.0; 3]).is_empty());
    assert_eq!(arena.size(), 3);
    assert_eq!(arena.node(ClosureRef::EMPTY), None);
}

#[test]
fn the_arena_keeps_trees_and_makes_nan_canonical() {
    let mut arena = ClosureArena::default();
    let a = arena.leaf(ClosureId(0), [7]);
    let b = arena.leaf(ClosureId(1), [8, 9]);
    let sum = arena.add(a, b);
    let scaled = arena.scale(sum, -f32::NAN);
    assert_eq!(arena.node(sum), Some(ClosureNode::Add(a, b)));
    let Some(ClosureNode::Scale(of, weight)) = arena.node(scaled) else {
        panic!("a scaled closure is a Scale node");
    };
    assert_eq!((of, weight.to_bits()), (sum, CANONICAL_NAN));
    let Some(ClosureNode::Leaf { shape, args }) = arena.node(b) else {
        panic!("a leaf is a Leaf node");
    };
    assert_eq!((shape, arena.args(args)), (ClosureId(1), &[8, 9][..]));
}

#[test]
fn reading_a_shadow_hides_the_sign_of_zero() {
    assert_eq!(read_shadow(-0.0).to_bits(), 0);
    assert_eq!(read_shadow(-2.5), -2.5);
    for bits in [0, 1, 0x8000_0001, 0x7f80_0000, 0xff80_0000] {
        assert_eq!(read_shadow(f32::from_bits(bits)).to_bits(), bits);
    }
}

#[test]
fn exactly_the_surviving_faults_are_warnings() {
    use crate::Severity;
    for kind in [
        FaultKind::IndexOutOfRange,
        FaultKind::DivisionByZero,
        FaultKind::NegativeArraySize,
        FaultKind::TooManyIterations,
        FaultKind::NoSlopes,
        FaultKind::StepBudget,
        FaultKind::CallDepth,
        FaultKind::ArraySize,
        FaultKind::ClosureSize,
        FaultKind::Unreachable,
        FaultKind::Cancelled,
    ] {
        assert_eq!(
            kind.stops(),
            kind.code().severity() == Severity::Error,
            "{kind:?}"
        );
    }
}
