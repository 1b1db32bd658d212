//! Draws a scene.

use super::arguments::{DrawArguments, SeedsName, View, filter, level_rule};
use super::output::{OutputImage, image_format, write};
use super::progress::{ImageInputs, ProgressFile};
use super::seed_view::seed_view;
use super::statistics::{print_statistics, print_times};
use super::{Fallible, UsageError, thread_count};
use crate::derivative_mode::DerivativeMode;
use crate::differential::{Differentials, PathDifferentials, SeedRule};
use crate::frame::{FrameJob, TILE_SIDE, draw_tiles, tiles};
use crate::scene::{DEFAULT_BOUNCES, DEFAULT_SAMPLES, Scene, SceneLoader};
use crate::scene_image::{add_textures, load_environment};
use crate::scene_textures::SceneTextures;
use crate::shading::{
    AreaLights, ClosureTable, ImageTile, MaterialFaults, MaterialShader, PathScene, PathSettings,
    WaveShader,
};
use crate::texture::KeepConversions;
use crate::texture::cache::{CacheSettings, MissPolicy, TextureCache};
use crate::texture::host::{LookupSettings, TextureHost};
use adumbra::Diagnostics;
use adumbra::diagnostics::fault_diagnostic;
use adumbra_image::{
    Fingerprint, Image, ImageFormat, ImagePart, ImageRegion, ImageSize, NO_LEVEL, read_image,
};
use indicatif::{ProgressBar, ProgressStyle};
use signal_hook::consts::SIGINT;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Loads the scene, draws it and writes the image.
///
/// # Errors
/// If a file is at fault, an option does not fit the scene, or the image cannot be written.
pub(crate) fn draw(arguments: &DrawArguments) -> Fallible<()> {
    let format = image_format(&arguments.out)?;
    let start = Instant::now();
    let scene = SceneLoader::new()
        .with_options(DerivativeMode::from(arguments.derivatives).options())
        .with_size(arguments.size)
        .with_preview(arguments.shape.into())
        .with_replacements(arguments.replacements.clone())
        .load(&arguments.scene)?;
    for warning in &scene.warnings {
        anstream::eprintln!("adumbra-render: {warning}");
    }
    let size = scene.camera.size;
    let image_size = ImageSize::new(size[0].into(), size[1].into())?;
    let at = |key: &str, why: String| option_error(arguments, key, &why);
    let view = match (&arguments.view, &scene.options.view) {
        (Some(view), _) => view.clone(),
        (None, Some(name)) => name.parse().map_err(|why: String| at("view", why))?,
        (None, None) => View::Beauty,
    };
    if arguments.alpha && view != View::Beauty {
        return Err("--alpha is of the beauty view: other views have no transparent pixels".into());
    }
    let region = region(arguments, image_size, (&view, format))?;
    let loaded = start.elapsed();
    let image = match &view {
        View::Footprint | View::Derivative(..) => {
            let differentials = differentials(&scene, arguments, 1);
            OutputImage {
                pixels: seed_view(&scene, &differentials, &view, region)?,
                key: seed_key(&scene, arguments, &view),
                stopped: 0,
                is_whole: true,
                progress: None,
            }
        }
        _ => draw_paths(&scene, arguments, &view, region)?,
    };
    let part = arguments.region.map(|_| ImagePart {
        region,
        key: image.key,
        is_interrupted: !image.is_whole,
    });
    write(
        arguments,
        &view,
        region.size(),
        &image.pixels,
        part.as_ref(),
    )?;
    if arguments.stats {
        let drawn = start.elapsed() - loaded;
        let triangles = scene.world.instanced_triangles();
        println!(
            "scene       {triangles} triangles, {} materials, {loaded:.2?}",
            scene.materials.len()
        );
        let (width, height) = (region.size().width(), region.size().height());
        println!("image       {width}×{height}, {drawn:.2?}");
    }
    if !image.is_whole {
        return Err(match image.progress {
            Some(_) => "interrupted; what was drawn is written, and --resume continues it".into(),
            None => "interrupted; what was drawn is written".into(),
        });
    }
    if let Some(progress) = image.progress {
        progress.finish();
    }
    match image.stopped {
        0 => Ok(()),
        1 => Err("1 point was stopped: it is black".into()),
        stopped => Err(format!("{stopped} points were stopped: they are black").into()),
    }
}

/// The pixels of `--region`, or all.
///
/// # Errors
/// If they are not in the image, or have colours that depend on all others.
fn region(
    arguments: &DrawArguments,
    image: ImageSize,
    shown: (&View, ImageFormat),
) -> Fallible<ImageRegion> {
    let Some(corners) = arguments.region else {
        return Ok(ImageRegion::whole(image));
    };
    if let (View::Derivative(..), ImageFormat::Png) = shown {
        let why = "the scale of a derivative in PNG is that of all pixels, and --region draws some: write an .exr file, which has the numbers";
        return Err(UsageError(why.to_owned()).into());
    }
    let region = corners.within(image);
    Ok(region.map_err(|error| UsageError(error.to_string()))?)
}

/// Prints the faults of each material, with the numbers of points.
fn report_faults(scene: &Scene, faults: &MaterialFaults) {
    for (index, material) in scene.materials.iter().enumerate() {
        let program = material.instance.program();
        for (fault, count) in faults.of(index) {
            let points = if count == 1 { "point" } else { "points" };
            let name = &material.name;
            let diagnostic = fault_diagnostic(fault);
            let report = match program.sources() {
                Some(sources) => Diagnostics {
                    sources: sources.clone(),
                    diagnostics: vec![diagnostic],
                }
                .to_string(),
                None => diagnostic.to_string(),
            };
            let report = report.trim_end();
            anstream::eprintln!(
                "adumbra-render: material `{name}`, at {count} {points}:\n{report}"
            );
        }
    }
}

/// What is wrong with an option of the scene.
fn option_error(arguments: &DrawArguments, key: &str, why: &str) -> String {
    format!("{}: options.{key}: {why}", arguments.scene.display())
}

fn differentials(scene: &Scene, arguments: &DrawArguments, samples: u32) -> PathDifferentials {
    let rule = match arguments.seeds {
        SeedsName::Exact => SeedRule::Exact,
        SeedsName::OnePixel => SeedRule::OnePixel,
    };
    let step = 1.0 / f64::from(samples).sqrt();
    PathDifferentials::new(&scene.camera, rule, Differentials::default(), step)
}

/// Draws what paths give: light, or the levels of their requests.
fn draw_paths(
    scene: &Scene,
    arguments: &DrawArguments,
    view: &View,
    region: ImageRegion,
) -> Fallible<OutputImage> {
    let options = &scene.options;
    let mode = DerivativeMode::from(arguments.derivatives);
    let samples = arguments.spp.or(options.spp).unwrap_or(DEFAULT_SAMPLES);
    let at = |key: &'static str| move |why: String| option_error(arguments, key, &why);
    let named_rule = options.mip_rule.as_deref().map(level_rule).transpose();
    let named_rule = named_rule.map_err(at("mip-rule"))?;
    let named_filter = options.filter.as_deref().map(filter).transpose();
    let named_filter = named_filter.map_err(at("filter"))?;
    let lookup = LookupSettings {
        rule: arguments.mip_rule.or(named_rule).unwrap_or_default(),
        filter: arguments.filter.or(named_filter).unwrap_or_default(),
        bias: arguments.bias.or(options.bias).unwrap_or(0.0),
        wrap: None,
        ignores_partials: mode.ignores_partials(),
    };
    let reference = match view {
        View::Difference => Some(reference(arguments, region.image())?),
        _ => None,
    };
    let stop = Arc::new(AtomicBool::new(false));
    // The second ends the process at once.
    signal_hook::flag::register_conditional_shutdown(SIGINT, 130, stop.clone())?;
    signal_hook::flag::register(SIGINT, stop.clone())?;
    let cache = texture_cache(scene, arguments);
    let table = ClosureTable::new();
    let shaders: Result<Vec<_>, _> = scene
        .materials
        .iter()
        .map(|material| MaterialShader::new(material, &table))
        .collect();
    let shaders = shaders?;
    let environment = load_environment(&scene.environment)?;
    let textures = || SceneTextures::new(TextureHost::new(cache.clone(), lookup), mode.partials());
    let engine = arguments.engine.into();
    let mut shader = WaveShader::new(&shaders, &table, engine).at_time(arguments.time);
    let area_lights = AreaLights::new(&scene.world, &mut shader, &mut textures())?;
    let threads = thread_count(arguments.threads);
    let job = FrameJob {
        scene: PathScene {
            world: &scene.world,
            lights: &scene.lights,
            environment: &environment,
            area_lights: &area_lights,
        },
        settings: PathSettings {
            samples,
            bounces: arguments
                .bounces
                .or(options.bounces)
                .unwrap_or(DEFAULT_BOUNCES),
            clamp: arguments.clamp.or(options.clamp),
            hides_surroundings: arguments.alpha,
            seed: arguments.seed.or(options.seed).unwrap_or(0),
            filter: arguments.pixel_filter,
            differentials: differentials(scene, arguments, samples),
        },
        shaders: &shaders,
        table: &table,
        engine,
        time: arguments.time,
        threads,
        stop: &stop,
    };
    let all = tiles(region.into());
    let empty = if *view == View::Level {
        [NO_LEVEL, 0.0, 0.0, 0.0]
    } else {
        [0.0; 4]
    };
    let mut pixels = vec![empty; region.size().pixels()];
    let is_level = *view == View::Level;
    let inputs = image_inputs(scene, arguments, &job.settings, &lookup, is_level, region);
    let mut is_drawn = vec![false; all.len()];
    let restore = |tile: usize, drawn: &[[f32; 4]]| {
        is_drawn[tile] = true;
        copy_tile(&mut pixels, region, all[tile], drawn);
    };
    let mut progress =
        ProgressFile::open(&arguments.out, &inputs, &all, arguments.resume, restore)?;
    let left: Vec<_> = (0..all.len())
        .filter(|tile| !is_drawn[*tile])
        .map(|tile| all[tile])
        .collect();
    let mut finished = all.len() - left.len();
    if arguments.resume && finished > 0 {
        anstream::eprintln!(
            "adumbra-render: {finished} of {} tiles are drawn",
            all.len()
        );
    }
    let bar = progress_bar(all.len(), finished);
    let first = all[0];
    let columns = region.size().width().div_ceil(TILE_SIDE);
    let report = draw_tiles(&job, &left, textures, |tile, drawn, textures| {
        let levels = textures.take_levels(drawn.len());
        let levels: Vec<_> = levels.iter().map(|level| [*level, 0.0, 0.0, 0.0]).collect();
        let drawn = if is_level { &levels } else { drawn };
        copy_tile(&mut pixels, region, tile, drawn);
        let index = (tile.y - first.y) / TILE_SIDE * columns + (tile.x - first.x) / TILE_SIDE;
        if let Some(mut file) = progress.take() {
            match file.append(index as usize, drawn) {
                Ok(()) => progress = Some(file),
                Err(error) => file.lose(&error),
            }
        }
        textures.host().flush();
        finished += 1;
        bar.inc(1);
    })?;
    bar.finish_and_clear();
    for diagnostic in cache.diagnostics() {
        // Some messages begin with the file.
        let file = diagnostic.file.display().to_string();
        let message = diagnostic.message.trim_start_matches(&format!("{file}: "));
        anstream::eprintln!("adumbra-render: {file}: {message}");
    }
    report_faults(scene, &report.faults);
    if let Some(reference) = reference {
        difference(&reference, region, &mut pixels);
    }
    if arguments.stats {
        print_statistics(&cache.statistics(), environment.bytes());
        print_times(&report.times);
    }
    Ok(OutputImage {
        pixels,
        key: inputs.part_key(view),
        stopped: report.faults.stopped(),
        is_whole: !stop.load(Ordering::Relaxed) || finished == all.len(),
        progress,
    })
}

/// All that decides the bits of an image.
fn image_inputs(
    scene: &Scene,
    arguments: &DrawArguments,
    settings: &PathSettings,
    lookup: &LookupSettings,
    is_level: bool,
    region: ImageRegion,
) -> ImageInputs {
    let mut options = Fingerprint::new();
    options.add_debug(&(settings, lookup, is_level));
    options.add_debug(&(arguments.derivatives, arguments.time));
    ImageInputs {
        region,
        scene: scene.fingerprint(),
        images: scene.image_fingerprint(),
        options: options.value(),
    }
}

/// The key of the parts of a view of seeds.
fn seed_key(scene: &Scene, arguments: &DrawArguments, view: &View) -> u64 {
    let mut all = Fingerprint::new();
    all.add(scene.fingerprint());
    all.add_debug(&(view, arguments.seeds));
    all.value()
}

/// Copies the pixels of a tile of a region, row by row.
fn copy_tile(pixels: &mut [[f32; 4]], region: ImageRegion, tile: ImageTile, drawn: &[[f32; 4]]) {
    for (place, pixel) in tile.pixels().zip(drawn) {
        let at = region.pixel(place.map(|side| side as usize));
        pixels[at.expect("tiles are in the region")] = *pixel;
    }
}

/// A bar with the time left, where there is a terminal.
fn progress_bar(tiles: usize, finished: usize) -> ProgressBar {
    let bar = ProgressBar::new(tiles as u64).with_position(finished as u64);
    let style = ProgressStyle::with_template("{bar:40} {percent:>3} %  {eta} left");
    bar.reset_eta();
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The cache with the textures of the scene, in their order.
fn texture_cache(scene: &Scene, arguments: &DrawArguments) -> Arc<TextureCache> {
    let mut settings = CacheSettings {
        disk_latency: Duration::from_millis(arguments.disk_latency),
        ..CacheSettings::default()
    };
    if let Some(megabytes) = arguments.texture_memory {
        settings.budget = u64::from(megabytes) << 20;
    }
    if arguments.block {
        settings.policy = MissPolicy::Block;
    }
    let keep = match arguments.no_texture_cache {
        true => KeepConversions::No,
        false => KeepConversions::in_user_folder(),
    };
    let cache = TextureCache::keeping(settings, keep);
    add_textures(&cache, scene);
    if let Some(warning) = cache.conversion_warning() {
        anstream::eprintln!("adumbra-render: {warning}");
    }
    cache
}

/// The image to compare with.
fn reference(arguments: &DrawArguments, size: ImageSize) -> Fallible<Image> {
    let file = arguments.reference.as_deref();
    let file = file.ok_or("the view `difference` needs --reference FILE")?;
    let image = read_image(file).map_err(|error| format!("{}: {error}", file.display()))?;
    if image.size() != size {
        return Err(format!("{} has another size than the image", file.display()).into());
    }
    Ok(image)
}

/// Replaces pixels by their distance to the reference, and says how far all are.
fn difference(reference: &Image, region: ImageRegion, pixels: &mut [[f32; 4]]) {
    let whole = ImageRegion::whole(reference.size());
    let mut squares = 0.0_f64;
    for (at, pixel) in pixels.iter_mut().enumerate() {
        let at = whole.pixel(region.place(at));
        let other = reference.pixels()[at.expect("it is in the image")];
        for (value, other) in pixel.iter_mut().zip(other).take(3) {
            *value = (*value - other).abs();
            squares += f64::from(*value) * f64::from(*value);
        }
    }
    let mean = squares / (3 * pixels.len().max(1)) as f64;
    println!("RMSE        {:.6}", mean.sqrt());
}
