//! Finds inputs of materials with which a scene looks like an image.

use super::arguments::FitArguments;
use super::{Fallible, UsageError, thread_count};
use crate::inverse::{InverseError, InverseScene, SceneObjective};
use crate::scene::{DEFAULT_BOUNCES, DEFAULT_SAMPLES, Scene, SceneLoader, with_inputs};
use crate::scene_image::ImageSettings;
use adumbra_fit::{
    Adjoint, Distance, Fit, FitOptions, FitProgress, FitReport, FitTarget, PyramidLoss, Raster,
    RasterShape, Render, Schedule, write_atomically,
};
use adumbra_image::{Image, read_image};
use signal_hook::consts::SIGINT;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Fits the scene, and writes it with the inputs that were found.
///
/// # Errors
/// If a file is at fault or cannot be written, a name is not that of an input, or the fit is
/// interrupted.
pub(crate) fn fit(arguments: &FitArguments) -> Fallible<()> {
    check_paths(arguments)?;
    let target = read_image(&arguments.target);
    let target = target.map_err(|error| format!("{}: {error}", arguments.target.display()))?;
    let size = [target.size().width(), target.size().height()];
    let scene = SceneLoader::new()
        .with_size(Some(size))
        .load(&arguments.scene)?;
    for warning in &scene.warnings {
        anstream::eprintln!("adumbra-render: {warning}");
    }
    let text = std::fs::read_to_string(&arguments.scene)?;
    let objective = objective(arguments, &scene)?;
    // What cannot be written is not fitted.
    fitted(&text, &objective, arguments)?;
    let loss = PyramidLoss::new(vec![fit_target(&target)], Distance::L2)?;
    let defaults = Schedule::default();
    let options = FitOptions {
        restarts: arguments.restarts as usize,
        random_seed: arguments.random_seed.into(),
        noise: false,
        first_given: true,
        schedule: Schedule {
            iterations: arguments.iterations as usize,
            ..defaults
        },
        ..FitOptions::default()
    };
    let mut fit = Fit::new(objective, loss, Adjoint, options)?;
    let is_whole = search(&mut fit)?;
    let Some(best) = fit.best().cloned() else {
        return Err("interrupted before the first iteration".into());
    };
    let objective = fit.objective_mut();
    objective.set(&best.values)?;
    let written = fitted(&text, objective, arguments)?;
    let saved = write_atomically(&arguments.out, written.as_bytes());
    saved.map_err(|error| format!("cannot write {}: {error}", arguments.out.display()))?;
    report(arguments, &fit)?;
    match is_whole {
        true => Ok(()),
        false => Err("interrupted; the best so far is written".into()),
    }
}

/// Checks that the result is a scene file beside the scene, whose paths hold there.
fn check_paths(arguments: &FitArguments) -> Fallible<()> {
    let is_json = |path: &Path| path.extension().is_some_and(|ending| ending == "json");
    let folder = |path: &Path| {
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        parent.unwrap_or(Path::new(".")).canonicalize().ok()
    };
    let why = if !is_json(&arguments.scene) {
        format!(
            "{} is no scene file (.json), whose materials have inputs that can be written",
            arguments.scene.display()
        )
    } else if !is_json(&arguments.out) {
        format!(
            "{} does not end in .json, as scene files do",
            arguments.out.display()
        )
    } else if folder(&arguments.scene) != folder(&arguments.out) {
        format!(
            "{} is in another folder than the scene: paths in a scene are relative to its file",
            arguments.out.display()
        )
    } else if arguments.scene.canonicalize().ok() == arguments.out.canonicalize().ok() {
        "the result would replace the scene: write another file".to_owned()
    } else {
        return Ok(());
    };
    Err(UsageError(why).into())
}

/// The images of the scene by the inputs that are named.
fn objective<'s>(arguments: &FitArguments, scene: &'s Scene) -> Fallible<SceneObjective<'s>> {
    let options = &scene.options;
    let threads = thread_count(arguments.threads);
    let settings = ImageSettings {
        samples: arguments.spp.or(options.spp).unwrap_or(DEFAULT_SAMPLES),
        bounces: arguments
            .bounces
            .or(options.bounces)
            .unwrap_or(DEFAULT_BOUNCES),
        engine: arguments.engine.into(),
        threads,
        ..ImageSettings::default()
    };
    let usage = |error: InverseError| -> Box<dyn std::error::Error> {
        match error.is_of_names() {
            true => UsageError(format!("--wrt: {error}")).into(),
            false => error.into(),
        }
    };
    let inverse = InverseScene::new(scene, &settings, &arguments.wrt).map_err(usage)?;
    Ok(SceneObjective::new(inverse, arguments.random_seed)?)
}

fn fit_target(image: &Image) -> FitTarget {
    let shape = RasterShape {
        width: image.size().width() as usize,
        height: image.size().height() as usize,
        channels: 3,
    };
    let colours = image.pixels().iter().flat_map(|pixel| &pixel[..3]);
    FitTarget {
        image: Raster::from_values(shape, colours.copied().collect()),
        weights: None,
    }
}

/// The scene file with the inputs as they are set.
fn fitted(
    text: &str,
    objective: &SceneObjective<'_>,
    arguments: &FitArguments,
) -> Fallible<String> {
    let inputs = objective.scene().inputs().iter();
    let inputs: Vec<_> = inputs
        .map(|of| (&*of.material, &*of.input.name, &of.value[..]))
        .collect();
    let written = with_inputs(text, &inputs)?;
    Ok(written.ok_or_else(|| {
        format!(
            "{}: inputs can be written of materials with a `shader` or a `group` in the file itself",
            arguments.scene.display()
        )
    })?)
}

type SceneFit<'s> = Fit<SceneObjective<'s>, PyramidLoss, Adjoint>;

/// Steps until the fit is done, or Ctrl-C is pressed: then it is not whole.
fn search(fit: &mut SceneFit<'_>) -> Fallible<bool> {
    let stop = Arc::new(AtomicBool::new(false));
    // The second ends the process at once.
    signal_hook::flag::register_conditional_shutdown(SIGINT, 130, stop.clone())?;
    signal_hook::flag::register(SIGINT, stop.clone())?;
    loop {
        let begin = Instant::now();
        let Some(progress) = fit.step()? else {
            return Ok(true);
        };
        fit.charge(begin.elapsed().as_secs_f64());
        if progress.ends_stage {
            show(&progress);
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
    }
}

/// Says where the fit is, to people.
fn show(progress: &FitProgress) {
    let FitProgress {
        restart,
        stage,
        stages,
        iteration,
        best,
        ..
    } = progress;
    anstream::eprintln!(
        "start {}, stage {stage} of {stages}, {iteration} iterations: loss {best:.3e}",
        restart + 1
    );
}

/// Prints what was found.
fn report(arguments: &FitArguments, fit: &SceneFit<'_>) -> Fallible<()> {
    let objective = fit.objective();
    let seed = arguments.random_seed.into();
    let report = FitReport::new(objective.parameters(), fit.records(), None, seed);
    if arguments.json {
        println!("{}", serde_json::to_string(&report)?);
        return Ok(());
    }
    for input in objective.scene().inputs() {
        let value: Vec<String> = input.value.iter().map(f32::to_string).collect();
        println!("{input}  {}", value.join(", "));
    }
    println!("loss  {}", report.loss);
    if objective.left_out() > 0 {
        let count = objective.left_out();
        anstream::eprintln!(
            "adumbra-render: {count} points had no finite gradient, and count nothing"
        );
    }
    Ok(())
}
