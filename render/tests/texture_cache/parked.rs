//! Points of shaders that wait for tiles end with the bits of points that never waited.

use crate::support::{cache, textures};
use adumbra::batch::{BatchEvaluator, BatchGlobals, Part};
use adumbra::{Compiler, Evaluator, GlobalsLayout, Instance, Outcome, Sources, Type};
use adumbra_render::texture::Filter;
use adumbra_render::texture::cache::{DEFAULT_BUDGET, MissPolicy, TextureCache};
use adumbra_render::texture::host::{LookupSettings, TextureHost};
use std::sync::Arc;

const SHADER: &str = "texture2d wood;
    texture2d warp;
    shader s(out color c) {
        float2 p = global_value<uv>;
        color w = texture2d_sample<warp>(0.3 * p.x, p.y);
        c = texture2d_sample<wood>(3 * p.x + w.x, 2 * p.y + w.y);
    }";

/// Shades points in batches, and goes on with those that waited.
fn shade(cache: &Arc<TextureCache>, points: usize) -> (Vec<[f32; 3]>, usize) {
    let layout = GlobalsLayout::new().with("uv", Type::Vector(2)).unwrap();
    let program = Compiler::new(layout)
        .compile(&Sources::new("s.adu", SHADER))
        .unwrap();
    let material = Instance::new(&program);
    let slot = program.output_slot::<[f32; 3]>("c").unwrap();
    let mut batch = BatchEvaluator::new(&material).unwrap();
    let mut single = Evaluator::new(&material);
    let settings = LookupSettings {
        filter: Filter::OneTap,
        ..LookupSettings::default()
    };
    let mut host = TextureHost::new(cache.clone(), settings);
    host.bind(&[2, 1]);
    let mut colours = vec![[0.0; 3]; points];
    let mut parked = Vec::new();
    let mut waited = 0;
    for start in (0..points).step_by(64) {
        let count = 64.min(points - start);
        let seeds: Vec<u64> = (start..start + count).map(|point| point as u64).collect();
        let uv: Vec<f32> = (start..start + count)
            .flat_map(|point| [(point % 40) as f32 / 40.0, (point / 40) as f32 / 40.0])
            .collect();
        let step = [[1.0 / 40.0, 0.0], [0.0, 1.0 / 40.0]].map(|step| [step; 64].concat());
        let mut globals = BatchGlobals::new(program.globals());
        for component in 0..2 {
            for (part, values) in [
                (Part::Value, &uv),
                (Part::Ddx, &step[0]),
                (Part::Ddy, &step[1]),
            ] {
                globals
                    .plane("uv", part, component, &values[component..], 2)
                    .unwrap();
            }
        }
        host.begin(&seeds);
        batch.evaluate(&globals, 0, count, &mut host);
        for (point, outcome) in batch.outcomes().iter().enumerate() {
            if *outcome == Outcome::Finished {
                colours[start + point] = batch.read(slot, point);
            }
        }
        let mut of_batch = Vec::new();
        batch.park_all(&mut of_batch).unwrap();
        let mut lookups = host.take_waiting();
        lookups.sort_by_key(|lookup| lookup.point);
        of_batch.sort_by_key(|(point, _)| *point);
        assert_eq!(of_batch.len(), lookups.len());
        for ((point, waiting), lookup) in of_batch.into_iter().zip(lookups) {
            assert_eq!(point, lookup.point);
            parked.push((start + point, waiting, lookup));
        }
    }
    while !parked.is_empty() {
        let finished = cache.finished_reads();
        let mut still = Vec::new();
        let before = parked.len();
        for (point, waiting, mut lookup) in parked {
            let Some(texel) = host.answer(&mut lookup) else {
                still.push((point, waiting, lookup));
                continue;
            };
            waited += 1;
            host.begin(&[point as u64]);
            match single.resume(waiting, texel, &mut host).unwrap() {
                Outcome::Pending => {
                    let lookup = host.take_waiting().pop().unwrap();
                    still.push((point, single.park().unwrap(), lookup));
                }
                outcome => {
                    assert_eq!(outcome, Outcome::Finished);
                    colours[point] = single.read(slot);
                }
            }
        }
        parked = still;
        if parked.len() == before {
            cache.wait(finished);
        }
    }
    (colours, waited)
}

#[test]
fn parked_points_equal_blocking_ones() {
    let textures = textures(3);
    let bits = |colours: &[[f32; 3]]| -> Vec<[u32; 3]> {
        colours.iter().map(|c| c.map(f32::to_bits)).collect()
    };
    let blocking = cache(&textures.files, DEFAULT_BUDGET, MissPolicy::Block);
    let (expected, waited) = shade(&blocking, 1000);
    assert_eq!(waited, 0);
    assert!(expected.iter().any(|colour| *colour != expected[0]));
    for budget in [1, 100 << 10, DEFAULT_BUDGET] {
        let parking = cache(&textures.files, budget, MissPolicy::Park);
        let (colours, waited) = shade(&parking, 1000);
        assert!(waited > 0);
        assert!(bits(&colours) == bits(&expected), "{budget}");
    }
}
