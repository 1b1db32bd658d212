//! Tests that an evaluation leaves the heap and the caller's floating-point environment alone.

#![allow(unsafe_code)]

use crate::support::*;
use adumbra_ir::host::{ConstantTexture, Host, SampleRequest, Sampled};
use adumbra_vm::{Outcome, Parked};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, counting what each thread asks of it.
struct Counting;

thread_local! {
    static REQUESTS: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    // While a thread ends, its count is gone already.
    let _ = REQUESTS.try_with(|n| n.set(n.get() + 1));
}

// SAFETY: every call is passed to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: guaranteed by the caller.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// What this thread has asked of the allocator.
pub(crate) fn requests() -> usize {
    REQUESTS.get()
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Loops, recursion with arrays, samples, faults and closures in one.
pub(crate) const BUSY: &str = "
    global u: float
    texture wood
    closure glow(float)
    input n: int = 0
    output s: float
    output c: closure
    entry main
    fn main(%0: i32) -> (f32:xy, closure) ^0 {
        %1: f32:xy = global u[0]
        %2: f32:xy, %3: closure = call down(%0, %1)
        return %2, %3
    }
    fn down(%0: i32, %1: f32:xy) -> (f32:xy, closure) ^0 {
        array &0: f32:xy[4]
        %2: i32 = const 1
        %3: closure = const empty
        %4: bool = ilt %0, %2
        if %4 ^1 { return %1, %3 } else ^2 { yield }
        store &0[%0], %1 @1..2
        %5: i32 = idiv %0, %0
        %6: i32 = isub %0, %5
        %7: f32, %8: f32, %9: f32, %10: f32 = sample wood(%1, %1)
        %11: f32:xy, %12: closure = call down(%6, %1)
        %13: f32:xy = load &0[%0] @3..4
        %14: f32:xy = add %13, %11
        %15: closure = make_closure glow(%10)
        %16: closure = closure_add %15, %12
        return %14, %16
    }";

#[test]
fn evaluation_allocates_nothing() {
    let mut machine = machine(BUSY);
    let globals = [0.5, 1.0, 2.0].map(f32::to_bits);
    let mut texture = ConstantTexture([0.0; 4]);
    let mut evaluate = |n| machine.run(&globals, &[n], &mut texture);
    // The closures of the first point warm up their arena.
    assert_eq!(evaluate(10), Outcome::Finished);
    let before = REQUESTS.get();
    for n in 0..100 {
        assert_eq!(evaluate(n % 11), Outcome::Finished);
        assert_eq!(evaluate(1 << 20), Outcome::Stopped);
    }
    assert_eq!(REQUESTS.get() - before, 0);
    assert_eq!(machine.run(&globals, &[3], &mut texture), Outcome::Finished);
    assert_eq!(floats(&machine)[0], [2.0, 4.0, 8.0]);
}

#[test]
fn parking_into_grown_memory_allocates_nothing() {
    /// Never has a texel at once.
    struct Absent;
    impl Host for Absent {
        fn sample(&mut self, _: &SampleRequest) -> Sampled {
            Sampled::Pending
        }
    }
    let mut machine = machine(BUSY);
    let globals = [0.5, 1.0, 2.0].map(f32::to_bits);
    let mut parked: [Parked; 4] = Default::default();
    // The four points are at different depths, and run in turn.
    let mut round = |first: u32| {
        for (point, n) in parked.iter_mut().zip([first, 9, 10, 10 - first]) {
            assert_eq!(machine.run(&globals, &[n], &mut Absent), Outcome::Pending);
            machine.park(point);
        }
        for _ in 0..20 {
            for point in parked.iter_mut().filter(|point| point.request().is_some()) {
                machine.unpark(point);
                if machine.answer([0.5; 4], &mut Absent) == Outcome::Pending {
                    machine.park(point);
                }
            }
        }
        assert!(parked.iter().all(|point| point.request().is_none()));
    };
    round(1);
    round(9);
    let before = REQUESTS.get();
    round(1);
    round(5);
    round(9);
    assert_eq!(REQUESTS.get() - before, 0);
}

#[cfg(target_arch = "x86_64")]
#[test]
#[cfg_attr(miri, ignore = "Miri has no control register")]
fn float_environment_of_caller_is_preserved() {
    use std::arch::asm;
    /// Rounding down, up and to zero; operands flushed; results flushed; all of it at once.
    const MODES: [u32; 6] = [0x3f80, 0x5f80, 0x7f80, 0x1fc0, 0x9f80, 0xffc0];
    let text = "
        global x: float
        output third: float output tiny: float
        entry main
        fn main() -> (f32, f32) ^0 {
            %0: f32 = global x[0]
            %1: f32 = const 3.0
            %2: f32 = div %0, %1
            %3: f32 = const 1e-38
            %4: f32 = div %3, %1
            return %2, %4
        }";
    let mut machine = machine(text);
    let globals = [2.0, 0.0, 0.0].map(f32::to_bits);
    let mut texture = ConstantTexture([0.0; 4]);
    for mode in MODES {
        let (mut before, mut after) = (0_u32, 0_u32);
        // SAFETY: the mode is a valid one, and given back before any arithmetic but the machine's.
        unsafe {
            asm!("stmxcsr [{}]", in(reg) &raw mut before);
            asm!("ldmxcsr [{}]", in(reg) &raw const mode);
        }
        machine.run(&globals, &[], &mut texture);
        // SAFETY: as above.
        unsafe {
            asm!("stmxcsr [{}]", in(reg) &raw mut after);
            asm!("ldmxcsr [{}]", in(reg) &raw const before);
        }
        assert_eq!(after & !0x3f, mode);
        let outputs = [machine.outputs()[0], machine.outputs()[3]].map(f32::from_bits);
        assert_eq!(outputs, [2.0_f32 / 3.0, 1e-38 / 3.0], "mode {mode:#x}");
    }
}
