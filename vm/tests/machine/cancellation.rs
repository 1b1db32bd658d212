//! Every engine asks the host after a bounded amount of work, however long a step is.

use crate::step_programs::{products, shader};
use crate::support::*;
use adumbra_ir::eval::{EvalOptions, EvalPoint, evaluate};
use adumbra_ir::host::{FaultKind, Host, Limits, SampleRequest, Sampled, move_steps};
use adumbra_ir::limits::MAX_RECORD_FIELDS;
use adumbra_vm::{
    BatchMachine, BatchOptions, Bytecode, GlobalSource, Outcome, PointMachine, lower,
};
use std::sync::Arc;

/// Points of a batch.
const WIDTH: usize = 512;

/// Counts the queries, and cancels at one and all after it.
struct CountingHost {
    asked: u32,
    cancels_at: u32,
}

impl CountingHost {
    fn cancelling_at(cancels_at: u32) -> CountingHost {
        CountingHost {
            asked: 0,
            cancels_at,
        }
    }
}

impl Host for CountingHost {
    fn sample(&mut self, _: &SampleRequest) -> Sampled {
        Sampled::Ready([0.0; 4])
    }

    fn is_cancelled(&mut self) -> bool {
        self.asked += 1;
        self.asked >= self.cancels_at
    }
}

impl Host<f64> for CountingHost {
    fn sample(&mut self, _: &SampleRequest<f64>) -> Sampled {
        Sampled::Ready([0.0; 4])
    }
}

/// The queries of the reference evaluator and of the point engine, within the first limits, and of
/// the batch engine for a whole chunk, within the second.
fn queries(text: &str, [point_limits, batch_limits]: [Limits; 2]) -> [u32; 3] {
    let module = module(text);
    let program = Arc::new(lower(&module).expect("it fits"));
    let mut hosts = [0; 3].map(|_| CountingHost::cancelling_at(u32::MAX));
    let options = EvalOptions {
        limits: point_limits,
        ..EvalOptions::default()
    };
    let point = EvalPoint::<f32>::new(&module);
    evaluate(&module, &point, &options, &mut hosts[0]);
    let globals = vec![0; program.interface().global_words()];
    PointMachine::new(program.clone(), point_limits).run(&globals, &[], &mut hosts[1]);
    let options = BatchOptions {
        width: Some(WIDTH),
        ..BatchOptions::default()
    };
    let mut machine = BatchMachine::new(program, batch_limits, &options);
    let sources = vec![GlobalSource::Uniform(0); globals.len()];
    let width = machine.width();
    machine.run(&sources, &[], 0, width, &mut hosts[2]);
    hosts.map(|host| host.asked)
}

fn steps(steps: u64) -> Limits {
    Limits {
        steps,
        call_depth: 1_000,
        ..Limits::default()
    }
}

#[test]
#[cfg_attr(miri, ignore = "it runs millions of instructions")]
fn long_iterations_ask_after_fewer_steps() {
    let text = shader(
        "loop ^1 {
            %1: f32 = mul %0, %0
            continue ^1
        }",
        "%0",
    );
    let long = text.replace("%1: f32 = mul %0, %0", &products(4_000));
    let [reference, point, batch] = queries(&long, [600, 40].map(steps));
    assert!(
        reference >= 20 && point >= 1 && batch >= 4,
        "{reference} {point} {batch}"
    );
    let [_, point, batch] = queries(&text, [steps(1_000); 2]);
    assert!(point <= 1 && (4..=16).contains(&batch), "{point} {batch}");
}

#[test]
#[cfg_attr(miri, ignore = "it runs tens of thousands of instructions")]
fn straight_code_asks() {
    let count = 50_000;
    let text = shader(&products(count), &format!("%{count}"));
    for asked in queries(&text, [Limits::default(); 2]) {
        assert!((2..=5).contains(&asked), "{asked}");
    }
}

/// Records of fewer words than take a step.
#[test]
#[cfg_attr(miri, ignore = "it runs millions of instructions")]
fn small_records_are_work() {
    let list = |what: &str| vec![what; 255].join(", ");
    let keep = format!("keep 0 #0({})\n", list("%0")).repeat(100);
    let text = shader(&format!("loop ^1 {{\n{keep}\ncontinue ^1\n}}"), "%0");
    let text = text.replace("entry", &format!("record ({})\nentry", list("f32")));
    let [_, point, batch] = queries(&text, [160, 4].map(steps));
    assert!(point >= 2 && batch >= 3, "{point} {batch}");
}

/// Returns take no steps, and the code after calls is long.
#[test]
#[cfg_attr(miri, ignore = "it runs millions of instructions")]
fn way_out_of_recursion_asks() {
    let tail = 8_000;
    let text = format!(
        "global x: float
        output o: float
        fn deep(%0: f32, %1: i32) -> (f32) ^0 {{
            %2: i32 = const 1
            %3: i32 = isub %1, %2
            %4: bool = ilt %3, %2
            if %4 ^1 {{
                return %0
            }} else ^2 {{
                yield
            }}
            %5: f32 = call deep(%0, %3)
            {}
            return %{}
        }}
        entry main
        fn main() -> (f32) ^0 {{
            %0: f32 = global x[0]
            %1: i32 = const 900
            %2: f32 = call deep(%0, %1)
            return %2
        }}",
        (5..5 + tail)
            .map(|i| format!("%{}: f32 = mul %{i}, %{i}\n", i + 1))
            .collect::<String>(),
        5 + tail
    );
    let [_, point, _] = queries(&text, [2_000, 0].map(steps));
    // As many on the way out as on the way in.
    assert_eq!(point, 6);
}

/// A loop of as many iterations as the point's global says.
fn counting_loop() -> String {
    shader(
        "%1: f32 = const 1.0
        %2: f32 = const 0.0
        %3: f32 = loop ^1 (%4: f32 = %2) {
            %5: bool = flt %4, %0
            if %5 ^2 {
                yield
            } else ^3 {
                break ^1 %4
            }
            %6: f32 = add %4, %1
            continue ^1 %6
        }",
        "%3",
    )
}

/// Once the host cancels, points stop that had not come to a query of their own.
#[test]
fn cancelled_batch_stops_at_next_steps() {
    for pointwise in [false, true] {
        let program = Arc::new(bytecode(&counting_loop()));
        let options = BatchOptions {
            width: Some(64),
            pointwise,
            ..BatchOptions::default()
        };
        let mut machine = BatchMachine::new(program, Limits::default(), &options);
        let x: Vec<u32> = (0..64)
            .map(|i| if i == 0 { 1e5 } else { 1e2 })
            .map(f32::to_bits)
            .collect();
        let mut sources = [GlobalSource::Uniform(0); 3];
        sources[0] = GlobalSource::Varying {
            words: &x,
            stride: 1,
        };
        machine.run(&sources, &[], 0, 64, &mut CountingHost::cancelling_at(1));
        let stopped = |machine: &BatchMachine, point: usize| {
            machine.faults(point).stopped().map(|fault| fault.kind)
        };
        assert_eq!(stopped(&machine, 0), Some(FaultKind::Cancelled));
        if pointwise {
            assert_eq!(stopped(&machine, 63), Some(FaultKind::Cancelled));
        }
        // The next run asks as rarely as before.
        let mut host = CountingHost::cancelling_at(u32::MAX);
        machine.run(&sources, &[], 0, 64, &mut host);
        assert!(
            machine
                .outcomes()
                .iter()
                .all(|&outcome| outcome == Outcome::Finished)
        );
        assert!((50..1_000).contains(&host.asked), "{}", host.asked);
    }
}

/// `pairs` times `keep` and `take`, of the longest record.
fn records(pairs: usize, is_endless: bool) -> String {
    let list = |item: &dyn Fn(usize) -> String| {
        let items: Vec<String> = (0..MAX_RECORD_FIELDS).map(item).collect();
        items.join(", ")
    };
    let (fields, kept) = (list(&|_| "f32".to_owned()), list(&|_| "%0".to_owned()));
    let mut code = String::new();
    for pair in 0..pairs {
        let taken = list(&|field| format!("%{}: f32", 1 + pair * MAX_RECORD_FIELDS + field));
        code += &format!("keep 0 #0({kept}) {taken} = take 0 #0 ");
    }
    let [open, close] = match is_endless {
        true => ["loop ^1 {", "continue ^1 }"],
        false => ["", ""],
    };
    format!(
        "record ({fields}) entry main fn main() -> () ^0 {{
         %0: f32 = const 1.0 {open} {code} {close} return }}"
    )
}

/// Endless records once took no steps, and had no queries.
#[test]
#[cfg_attr(miri, ignore = "it moves millions of words")]
fn longest_records_take_steps_and_are_cancelled() {
    let run = |program: &Arc<Bytecode>, steps: u64, cancels_at: u32| {
        let limits = Limits {
            steps,
            ..Limits::default()
        };
        let mut host = CountingHost::cancelling_at(cancels_at);
        let mut machine = PointMachine::new(program.clone(), limits);
        machine.run(&[], &[], &mut host);
        (
            machine.faults().stopped().map(|fault| fault.kind),
            host.asked,
        )
    };
    let (pairs, never) = (3, u32::MAX);
    let once = Arc::new(bytecode(&records(pairs, false)));
    let steps = 2 * pairs as u64 * move_steps(MAX_RECORD_FIELDS as u32);
    assert!(steps > 90, "{steps}");
    assert_eq!(run(&once, steps + 1, never).0, None);
    let stopped = run(&once, steps - 1, never).0;
    assert_eq!(stopped, Some(FaultKind::StepBudget));

    let endless = Arc::new(bytecode(&records(30, true)));
    let (stopped, asked) = run(&endless, 100_000, never);
    assert_eq!(stopped, Some(FaultKind::StepBudget));
    assert!(asked > 90, "{asked}");
    assert_eq!(run(&endless, 100_000, 2), (Some(FaultKind::Cancelled), 2));
}
