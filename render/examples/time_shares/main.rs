//! What the time of drawing goes into, and what derivatives cost.
//!
//! Three scenes are drawn: a simple floor, a material group with noise, and two million triangles
//! with paths of six bounces. The first table shares the time among intersection, materials,
//! textures and the rest. The second has the time of materials, without that of textures, with
//! derivatives and with programs that were compiled without them. Runs of both are interleaved; the
//! least of all repeats counts.
//!
//! `cargo run --release -p adumbra-render --example time_shares -- OUT_DIR [REPEATS]`

mod scenes;

use adumbra::{Derivatives, Options};
use adumbra_render::scene::{Scene, SceneLoader};
use adumbra_render::scene_image::{ImageSettings, draw_scene};
use adumbra_render::shading::{PhaseTimes, ShadingEngine};
use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

/// The least of both kinds of runs.
struct Times {
    /// Of the run with derivatives that was the fastest.
    whole: PhaseTimes,
    /// Materials with derivatives, and without.
    shading: [Duration; 2],
}

fn measure(
    scenes: [&Scene; 2],
    settings: &ImageSettings,
    repeats: u32,
) -> Result<Times, Box<dyn Error>> {
    let mut times: [Vec<PhaseTimes>; 2] = [Vec::new(), Vec::new()];
    for _ in 0..repeats.max(1) {
        for (scene, times) in scenes.iter().zip(&mut times) {
            times.push(draw_scene(scene, settings)?.times);
        }
    }
    let whole = times[0].iter().min_by_key(|times| times.total()).copied();
    let shading = times.map(|all| {
        all.iter()
            .map(|times| times.shading)
            .min()
            .unwrap_or_default()
    });
    Ok(Times {
        whole: whole.unwrap_or_default(),
        shading,
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("name a folder for the scenes")?);
    let repeats = arguments.next().map_or(Ok(5), |repeats| repeats.parse())?;
    let scenes = scenes::write(&folder)?;
    let engine = match adumbra::evaluator::Tier::Native.is_available() {
        true => ShadingEngine::Native,
        false => ShadingEngine::Batch,
    };
    let mut rows = Vec::new();
    for scene in &scenes {
        let settings = ImageSettings {
            samples: scene.samples,
            bounces: scene.bounces,
            engine,
            ..ImageSettings::default()
        };
        let path = folder.join(scene.file);
        let with = SceneLoader::new().load(&path)?;
        let off = Options {
            derivatives: Derivatives::Off,
            ..Options::default()
        };
        let without = SceneLoader::new().with_options(off).load(&path)?;
        rows.push((scene.name, measure([&with, &without], &settings, repeats)?));
    }
    println!("| scene | intersection | shading | textures | other | ms |");
    println!("|---|---|---|---|---|---|");
    for (name, Times { whole, .. }) in &rows {
        let total = whole.total().as_secs_f64();
        let share = |part: Duration| format!("{:.0} %", 100.0 * part.as_secs_f64() / total);
        println!(
            "| {name} | {} | {} | {} | {} | {:.0} |",
            share(whole.intersection),
            share(whole.shading),
            share(whole.textures),
            share(whole.other),
            1e3 * total
        );
    }
    println!("\n| scene | ms with derivatives | ms without | ratio |");
    println!("|---|---|---|---|");
    for (name, Times { shading, .. }) in &rows {
        let [with, without] = shading.map(|time| 1e3 * time.as_secs_f64());
        println!(
            "| {name} | {with:.1} | {without:.1} | {:.2} |",
            with / without
        );
    }
    Ok(())
}
