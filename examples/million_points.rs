//! A material over a million points with derivatives, on one thread: its time by the Rust API,
//! which `python/bench/marble.py` compares with the Python package.

use adumbra::batch::{BatchGlobals, BatchSetup, OutputPlane, Part, Tier, WholeBatch};
use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Options, Sources};
use std::error::Error;
use std::time::Instant;

const POINTS: usize = 1_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/python/bench/marble.adu");
    let sources = Sources::new("marble.adu", std::fs::read_to_string(path)?);
    let options = Options {
        output_derivatives: true,
        ..Options::default()
    };
    let compiler = Compiler::new(GlobalsLayout::hit()).with_options(options);
    let program = compiler.compile(&sources)?;
    let number = |at: usize| (at.wrapping_mul(0x9E37_79B9) >> 8 & 0xffff) as f32 / 65536.0;
    let uvw: Vec<[f32; 3]> = (0..POINTS)
        .map(|at| [number(3 * at), number(3 * at + 1), number(3 * at + 2)])
        .collect();
    let mut globals = BatchGlobals::new(program.globals());
    for scalar in 0..3 {
        globals.plane("uvw", Part::Value, scalar, &uvw.as_flattened()[scalar..], 3)?;
    }
    globals.uniform_part("uvw", Part::Ddx, [0.001_f32, 0.0, 0.0])?;
    globals.uniform_part("uvw", Part::Ddy, [0.0_f32, 0.001, 0.0])?;
    let setup = BatchSetup {
        tier: Tier::Native,
        ..BatchSetup::default()
    };
    let batch = WholeBatch::new(&Instance::new(&program)).setup(setup);
    let mut least = f64::INFINITY;
    for _ in 0..9 {
        let mut parts = [(); 3].map(|()| vec![0.0_f32; 3 * POINTS]);
        let start = Instant::now();
        let [value, ddx, ddy] = &mut parts;
        let planes = &mut [
            OutputPlane::interleaved("c", Part::Value, value),
            OutputPlane::interleaved("c", Part::Ddx, ddx),
            OutputPlane::interleaved("c", Part::Ddy, ddy),
        ];
        batch.planes(&globals, 0..POINTS, planes, || NoTextures)?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    println!("{:.1} ms", least * 1e3);
    Ok(())
}
