//! Evaluating allocates nothing, parking neither, and parked points leave nothing behind: counted by the allocator, after first points that may
//! let the memory of closures and parked points grow.

#![allow(unsafe_code)]

use adumbra::{
    Compiler, Engine, Evaluator, Globals, GlobalsLayout, Host, Instance, Limits, NoTextures,
    Options, Outcome, ParkedPoint, Program, SampleRequest, Sampled, Sources,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Bytes allocated and not freed.
    static LIVE: Cell<usize> = const { Cell::new(0) };
}

fn count(freed: usize, allocated: usize) {
    ALLOCATIONS.set(ALLOCATIONS.get() + u64::from(allocated > 0));
    LIVE.set(LIVE.get().wrapping_sub(freed).wrapping_add(allocated));
}

// SAFETY: every request goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(0, layout.size());
        // SAFETY: as asked of us.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size(), 0);
        // SAFETY: as asked of us.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(layout.size(), size);
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

fn program() -> Arc<Program> {
    let options = Options {
        output_derivatives: true,
        ..Options::default()
    };
    let compiler = Compiler::new(GlobalsLayout::hit()).with_options(options);
    compiler.compile(&Sources::new("all.adu", SHADER)).unwrap()
}

#[test]
fn evaluating_allocates_nothing() {
    let program = program();
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

/// Its textures are never there yet.
struct Late;

impl Host for Late {
    fn sample(&mut self, _: &SampleRequest) -> Sampled {
        Sampled::Pending
    }
}

fn park(evaluator: &mut Evaluator, globals: &Globals) -> ParkedPoint {
    assert_eq!(evaluator.evaluate(globals, &mut Late), Outcome::Pending);
    evaluator.park().unwrap()
}

#[test]
fn parking_allocates_nothing_once_there_was_as_much() {
    let program = program();
    let mut evaluator = Evaluator::new(&Instance::new(&program));
    let globals = Globals::new(program.globals());
    let mut parked = Vec::with_capacity(20);
    let mut turn = || {
        while parked.len() < 20 {
            parked.push(park(&mut evaluator, &globals));
        }
        // Every other one is given up.
        while let Some(point) = parked.pop() {
            let outcome = evaluator.resume(point, [0.5; 4], &mut NoTextures);
            assert_eq!(outcome.unwrap(), Outcome::Finished);
            drop(parked.pop());
        }
        assert_eq!(evaluator.parked(), 0);
    };
    turn();
    let before = ALLOCATIONS.get();
    for _ in 0..100 {
        turn();
    }
    assert_eq!(ALLOCATIONS.get() - before, 0);
}

#[test]
fn parked_points_leave_nothing_behind() {
    let program = program();
    let instance = Instance::new(&program);
    let globals = Globals::new(program.globals());
    for engine in [Engine::Point, Engine::Reference] {
        let before = LIVE.get();
        let mut evaluator = Evaluator::with(&instance, engine, Limits::default()).unwrap();
        let mut parked: Vec<ParkedPoint> =
            (0..50).map(|_| park(&mut evaluator, &globals)).collect();
        assert_eq!(evaluator.parked(), 50);
        // Half of them outlive their evaluator, some were taken in by another.
        parked.truncate(30);
        assert_eq!(evaluator.parked(), 30);
        let mut other = Evaluator::with(&instance, engine, Limits::default()).unwrap();
        let outcome = other.resume(parked.remove(0), [0.5; 4], &mut NoTextures);
        assert_eq!(outcome.unwrap(), Outcome::Finished);
        let outcome = other.resume(parked.remove(0), [0.5; 4], &mut Late);
        drop((outcome.unwrap(), other));
        assert_eq!(evaluator.parked(), 28);
        drop(evaluator);
        assert!(LIVE.get() > before);
        drop(parked);
        assert_eq!(LIVE.get(), before);
    }
}
