//! Arrays: copies, shadows of elements, indices.

use crate::support::*;
use adumbra_ir::host::FaultKind;
use adumbra_vm::Outcome;

#[test]
fn recursion_copies_arrays_in_and_out() {
    // Each activation fills its own array, passes it on, and gets it back changed.
    let text = "
        input n: int = 0
        output s: int
        entry main
        fn main(%0: i32) -> (i32) ^0 {
            array &0: i32[2]
            %1: i32 = const 1
            store &0[%1], %0
            call down(%0) [&0]
            %2: i32 = load &0[%1]
            return %2
        }
        fn down(%0: i32) -> () ^0 {
            array &0 inout: i32[2]
            array &1: i32[2]
            %1: i32 = const 1
            %2: bool = ilt %0, %1
            if %2 ^1 { return } else ^2 { yield }
            %3: i32 = load &0[%1]
            %4: i32 = iadd %3, %0
            store &1[%1], %4
            %5: i32 = isub %0, %1
            call down(%5) [&1]
            %6: i32 = load &1[%1]
            %7: i32 = load &0[%1]
            %8: i32 = iadd %6, %7
            store &0[%1], %8
            return
        }";
    // down(n, a) leaves a + down(n - 1, a + n).
    fn down(n: i32, a: i32) -> i32 {
        if n < 1 { a } else { a + down(n - 1, a + n) }
    }
    assert_eq!(int(text, &[4]), down(4, 4));
}

#[test]
fn copied_part_takes_target_lanes() {
    let text = "
        global x: float
        input i: int = 0
        output o: float output p: float output q: float
        entry main
        fn main(%0: i32) -> (f32:xy, f32:xy, f32:xy) ^0 {
            array &0: f32:xy[5]
            array &1: f32:x[2]
            %1: f32:xy = global x[0]
            %2: i32 = const 3
            store &0[%2], %1
            array_copy &1, &0, %2
            array_copy &0, &1, %0
            %3: i32 = const 1
            %4: f32:xy = load &0[%3]
            %5: f32:xy = load &0[%2]
            %6: i32 = const 2
            %7: f32:xy = load &0[%6]
            return %4, %5, %7
        }";
    let (copied, whole, none) = ([2.0, 3.0, 0.0], [2.0, 3.0, 4.0], [0.0; 3]);
    assert_eq!(outputs(text, &[2.0, 3.0, 4.0], &[1]), [copied, whole, none]);
    assert_eq!(outputs(text, &[2.0, 3.0, 4.0], &[9]), [none, copied, none]);
    assert_eq!(
        outputs(text, &[2.0, 3.0, 4.0], &[-2_i32 as u32]),
        [none, whole, none]
    );
}

#[test]
fn elements_keep_stored_shadows_only() {
    let text = "
        global x: float
        input i: int = 0
        output o: float output p: float
        entry main
        fn main(%0: i32) -> (f32:xy, f32:xy) ^0 {
            array &0: f32:xy[4]
            array &1: f32:x[4]
            %1: f32:xy = global x[0]
            store &0[%0], %1
            array_copy &1, &0
            %2: f32:xy = load &0[%0]
            %3: f32:x = load &1[%0]
            %4: i32 = const 3
            store &0[%4], %3
            %5: f32:xy = load &0[%4]
            return %2, %5
        }";
    assert_eq!(
        outputs(text, &[2.0, 3.0, 4.0], &[1]),
        [[2.0, 3.0, 4.0], [2.0, 3.0, 0.0]]
    );
}

#[test]
fn out_of_range_index_is_clamped_and_reported() {
    let text = "
        input i: int = 0
        output o: int
        entry main
        fn main(%0: i32) -> (i32) ^0 {
            array &0: i32[3]
            %1: i32 = const 0
            %2: i32 = const 2
            %3: i32 = const 7
            store &0[%1], %2
            store &0[%2], %3
            %4: i32 = load &0[%0] @11..15
            return %4
        }";
    let mut machine = machine(text);
    for (index, value, fault) in [(0, 2, false), (2, 7, false), (3, 7, true), (-1, 2, true)] {
        assert_eq!(run(&mut machine, &[], &[index as u32]), Outcome::Finished);
        assert_eq!(machine.outputs()[0], value);
        let faults: Vec<_> = machine
            .faults()
            .iter()
            .map(|f| (f.kind, f.span.start))
            .collect();
        let expected = vec![(FaultKind::IndexOutOfRange, 11); usize::from(fault)];
        assert_eq!(faults, expected);
    }
}

#[test]
fn array_is_zeroed_at_function_entry() {
    let text = "
        input i: int = 0
        output a: int output b: int
        entry main
        fn main(%0: i32) -> (i32, i32) ^0 {
            %1: i32 = call count(%0)
            %2: i32 = call count(%0)
            return %1, %2
        }
        fn count(%0: i32) -> (i32) ^0 {
            array &0: i32[4]
            %1: i32 = load &0[%0]
            %2: i32 = const 1
            %3: i32 = iadd %1, %2
            store &0[%0], %3
            %4: i32 = load &0[%0]
            return %4
        }";
    let mut machine = machine(text);
    for _ in 0..2 {
        assert_eq!(run(&mut machine, &[], &[2]), Outcome::Finished);
        assert_eq!([machine.outputs()[0], machine.outputs()[3]], [1, 1]);
    }
}
