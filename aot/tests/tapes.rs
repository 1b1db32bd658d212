//! Tests that programs with tapes have the same results with machine code and without, in chunks.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

use adumbra_aot::NativeCompiler;
use adumbra_ir::host::{ConstantTexture, Faults, Limits};
use adumbra_ir::module::InstKind;
use adumbra_ir::passes::{self, PassOptions};
use adumbra_ir::random::generate;
use adumbra_vm::{BatchMachine, BatchOptions, GlobalSource, Outcome, lower};
use fastrand::Rng;
use std::sync::Arc;

const POINTS: usize = 90;

/// Outcome, outputs and faults of each point.
type Shown = Vec<(Outcome, Vec<u32>, Faults)>;

#[test]
fn chunks_of_random_programs_agree() {
    let mut coded = 0;
    for seed in 0..150 {
        let options = PassOptions {
            output_shadows: seed % 3 > 0,
            ..PassOptions::default()
        };
        let (module, _) = passes::run(generate(seed), &options);
        let mut insts = module.functions.iter().flat_map(|f| &f.regions);
        let keeps = insts.any(|region| {
            let mut kinds = region.insts.iter().map(|inst| &inst.kind);
            kinds.any(|kind| matches!(kind, InstKind::Keep(..)))
        });
        if !keeps {
            continue;
        }
        let program = Arc::new(lower(&module).expect("the module fits"));
        let mut random = Rng::with_seed(seed);
        let words = program.interface().global_words();
        let globals: Vec<Vec<u32>> = (0..words)
            .map(|_| {
                (0..POINTS)
                    .map(|_| (random.f32() * 4.0 - 2.0).to_bits())
                    .collect()
            })
            .collect();
        let inputs: Vec<u32> = module
            .inputs
            .iter()
            .flat_map(|i| i.default.clone())
            .collect();
        let limits = Limits {
            steps: 3_000,
            kept_words: 60,
            ..Limits::default()
        };
        for width in [8, 64, 90] {
            let mut run = |native: bool| -> Option<Shown> {
                let native = match native {
                    true => Some(Arc::new(NativeCompiler::new("tapes")?) as Arc<_>),
                    false => None,
                };
                let is_native = native.is_some();
                let options = BatchOptions {
                    width: Some(width),
                    native,
                    ..BatchOptions::default()
                };
                let mut machine = BatchMachine::new(program.clone(), limits, &options);
                coded += usize::from(is_native && machine.has_machine_code());
                let sources = globals.iter();
                let sources: Vec<_> = sources
                    .map(|words| GlobalSource::Varying { words, stride: 1 })
                    .collect();
                let mut shown = Vec::new();
                for first in (0..POINTS).step_by(width) {
                    let points = width.min(POINTS - first);
                    let mut host = ConstantTexture([0.1, 0.2, 0.3, 0.4]);
                    machine.run(&sources, &inputs, first, points, &mut host);
                    shown.extend((0..points).map(|point| {
                        let scalars = program.output_lanes().len();
                        let outputs =
                            (0..3 * scalars).map(|at| machine.output(at / 3, at % 3, point));
                        let faults = machine.faults(point).clone();
                        (machine.outcomes()[point], outputs.collect(), faults)
                    }));
                }
                Some(shown)
            };
            let Some(native) = run(true) else { return };
            assert_eq!(
                Some(native),
                run(false),
                "seed {seed}, width {width}\n{program}"
            );
        }
    }
    assert!(coded > 30, "{coded}");
}
