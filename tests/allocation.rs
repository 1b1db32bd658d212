//! Evaluating allocates nothing: counted by the allocator, after a first point that may let the closures' memory grow.

#![allow(unsafe_code)]

use adumbra::{
    Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Options, Sources,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.with(|n| n.set(n.get() + 1));
}

// SAFETY: every request goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as asked of us.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as asked of us.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as asked of us.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SHADER: &str = "
    texture2d wood;
    float fall(float x, int n) { return n < 1 ? x : fall(sin(x), n - 1) + x; }
    float sum(float w[4]) { float s = 0; for (int i = 0; i < 5; i += 1) s += w[i]; return s; }
    shader s(float gain = 2.0, out float o, out closure c, out color k) {
        float3 p = global_value<position>;
        float w[4] = { p.x, p.y, p.z, gain };
        o = fall(sum(w), 5) + ddx(p.x * p.y);
        k = texture2d_sample<wood>(p.x, exp(p.y));
        c = o * make_closure<glow>(k) + make_closure<rest>(p, 1);
    }";

#[test]
fn evaluating_allocates_nothing() {
    let options = Options {
        output_derivatives: true,
        ..Options::default()
    };
    let compiler = Compiler::new(GlobalsLayout::hit()).with_options(options);
    let program = compiler.compile(&Sources::new("all.adu", SHADER)).unwrap();
    let mut evaluator = Evaluator::new(&Instance::new(&program));
    let mut globals = Globals::new(program.globals());
    let mut evaluate = |x: f32| {
        let (ddx, ddy) = ([0.1, 0.0, 0.0], [0.0, 0.1, 0.0]);
        globals.set("position", [x, 2.0, 3.0], ddx, ddy).unwrap();
        evaluator.evaluate(&globals, &mut NoTextures);
        assert!(!evaluator.faults().is_empty(), "an index is out of range");
        evaluator.get::<f32>("o").unwrap()
    };
    let first = evaluate(0.0);
    let before = ALLOCATIONS.get();
    let mut last = first;
    for i in 1..1_000 {
        last = evaluate(i as f32 * 0.01);
    }
    assert_eq!(ALLOCATIONS.get() - before, 0);
    assert_ne!(last, first);
}
