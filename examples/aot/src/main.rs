//! A host of a shader that was compiled ahead of time.
//!
//! It makes no machine code, and prints how much linked code it found.

use adumbra::{Evaluator, Globals, Instance, Limits, NoTextures, Program, batch::{BatchEvaluator, BatchGlobals, BatchSetup, Part, Tier}, evaluator::Engine, object::ObjectShader};
use std::error::Error;

// SAFETY: the build script wrote the object in which the linker finds it.
unsafe extern "C" {
    safe static adumbra_object_ripple: ObjectShader;
}

const POINTS: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let program = Program::from_object(&adumbra_object_ripple).map_err(|no| no.message)?;
    let instance = Instance::new(&program);
    let u: Vec<f32> = (0..POINTS).map(|i| i as f32 / POINTS as f32).collect();

    let mut globals = BatchGlobals::new(program.globals());
    globals.plane("uv", Part::Value, 0, &u, 1)?;
    globals.uniform_part("time", Part::Value, 0.5_f32)?;
    let setup = BatchSetup {
        tier: Tier::Native,
        uniform: vec!["time".to_owned()],
        ..BatchSetup::default()
    };
    let mut batch = BatchEvaluator::with(&instance, &setup)?;
    batch.evaluate(&globals, 0, POINTS, &mut NoTextures);
    let mut heights = vec![0.0_f32; POINTS];
    batch.copy("height", Part::Value, 0, &mut heights, 1)?;

    let mut one = Evaluator::with(&instance, Engine::Native, Limits::default())?;
    let mut at = Globals::new(program.globals());
    at.set("time", 0.5_f32, 0.0, 0.0)?;
    for (&u, &height) in u.iter().zip(&heights) {
        at.set("uv", [u, 0.0], [0.0; 2], [0.0; 2])?;
        one.evaluate(&at, &mut NoTextures);
        assert_eq!(one.get::<f32>("height")?.to_bits(), height.to_bits());
    }

    let native = batch
        .stats()
        .native
        .ok_or("the processor has no machine code")?;
    assert_eq!(native.code_bytes, 0, "all was compiled before");
    println!(
        "{POINTS} points, {} bytes of code, height of the last {}",
        native.linked_bytes,
        heights[POINTS - 1]
    );
    Ok(())
}
