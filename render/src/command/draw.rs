//! Draws a scene.

use super::Fallible;
use super::arguments::{DrawArguments, SeedsName, View, filter, level_rule};
use super::output::{OutputImage, image_format, write};
use super::progress::{ImageInputs, ProgressFile};
use adumbra::Diagnostics;
use adumbra::diagnostics::fault_diagnostic;
use adumbra_image::{Fingerprint, Image, ImageSize, NO_LEVEL, read_image};
use adumbra_render::derivative_mode::DerivativeMode;
use adumbra_render::differential::{Differentials, PathDifferentials, SeedRule, SurfaceSeeds};
use adumbra_render::frame::{FrameJob, TILE_SIDE, draw_tiles, tiles};
use adumbra_render::scene::{DEFAULT_SAMPLES, Scene, SceneLoader};
use adumbra_render::scene_image::{add_textures, load_environment};
use adumbra_render::scene_textures::SceneTextures;
use adumbra_render::shading::{
    AreaLights, ClosureTable, ImageTile, MaterialFaults, MaterialShader, PathScene, PathSettings,
    PhaseTimes, WaveShader,
};
use adumbra_render::texture::cache::{CacheSettings, CacheStatistics, MissPolicy, TextureCache};
use adumbra_render::texture::host::{LookupSettings, TextureHost};
use adumbra_render::texture::{Footprint, KeepConversions, LevelRule};
use glam::{DVec2, Vec3};
use indicatif::{ProgressBar, ProgressStyle};
use signal_hook::consts::SIGINT;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The size of the texture that the view `footprint` shows levels of.
const FOOTPRINT_TEXELS: u32 = 1024;

/// Loads the scene, draws it and writes the image.
///
/// # Errors
/// If a file is at fault, an option does not fit the scene, or the image cannot be written.
pub(crate) fn draw(arguments: &DrawArguments) -> Fallible<()> {
    image_format(&arguments.out)?;
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
    let loaded = start.elapsed();
    let image = match &view {
        View::Footprint | View::Derivative(..) => OutputImage {
            pixels: seed_view(&scene, arguments, &view)?,
            stopped: 0,
            is_whole: true,
            progress: None,
        },
        _ => draw_paths(&scene, arguments, &view, image_size)?,
    };
    write(
        &arguments.out,
        &view,
        arguments.tone(),
        arguments.alpha,
        image_size,
        &image.pixels,
    )?;
    if arguments.stats {
        let drawn = start.elapsed() - loaded;
        let triangles = scene.world.instanced_triangles();
        println!(
            "scene       {triangles} triangles, {} materials, {loaded:.2?}",
            scene.materials.len()
        );
        println!("image       {}×{}, {drawn:.2?}", size[0], size[1]);
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
    image_size: ImageSize,
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
        View::Difference => Some(reference(arguments, image_size)?),
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
    let threads = match arguments.threads {
        Some(threads) => threads.into(),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let job = FrameJob {
        scene: PathScene {
            world: &scene.world,
            lights: &scene.lights,
            environment: &environment,
            area_lights: &area_lights,
        },
        settings: PathSettings {
            samples,
            bounces: arguments.bounces.or(options.bounces).unwrap_or(4),
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
    let all = tiles(scene.camera.size);
    let width = scene.camera.size[0] as usize;
    let empty = if *view == View::Level {
        [NO_LEVEL, 0.0, 0.0, 0.0]
    } else {
        [0.0; 4]
    };
    let mut pixels = vec![empty; image_size.pixels()];
    let is_level = *view == View::Level;
    let inputs = image_inputs(scene, arguments, &job.settings, &lookup, is_level);
    let mut is_drawn = vec![false; all.len()];
    let restore = |tile: usize, drawn: &[[f32; 4]]| {
        is_drawn[tile] = true;
        copy_tile(&mut pixels, width, all[tile], drawn);
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
    let columns = scene.camera.size[0].div_ceil(TILE_SIDE);
    let report = draw_tiles(&job, &left, textures, |tile, drawn, textures| {
        let levels = textures.take_levels(drawn.len());
        let levels: Vec<_> = levels.iter().map(|level| [*level, 0.0, 0.0, 0.0]).collect();
        let drawn = if is_level { &levels } else { drawn };
        copy_tile(&mut pixels, width, tile, drawn);
        let index = tile.y / TILE_SIDE * columns + tile.x / TILE_SIDE;
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
        difference(&reference, &mut pixels);
    }
    if arguments.stats {
        print_statistics(&cache.statistics(), environment.bytes());
        print_times(&report.times);
    }
    Ok(OutputImage {
        pixels,
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
) -> ImageInputs {
    let mut options = Fingerprint::new();
    options.add_debug(&(settings, lookup, is_level));
    options.add_debug(&(arguments.derivatives, arguments.time));
    ImageInputs {
        size: scene.camera.size,
        scene: scene.fingerprint(),
        images: scene.image_fingerprint(),
        options: options.value(),
    }
}

/// Copies the pixels of a tile, row by row, into an image.
fn copy_tile(pixels: &mut [[f32; 4]], width: usize, tile: ImageTile, drawn: &[[f32; 4]]) {
    for ([x, y], pixel) in tile.pixels().zip(drawn) {
        pixels[y as usize * width + x as usize] = *pixel;
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

/// What the seeds of hits give, without shading.
fn seed_view(scene: &Scene, arguments: &DrawArguments, view: &View) -> Fallible<Vec<[f32; 4]>> {
    let differentials = differentials(scene, arguments, 1);
    let [width, height] = scene.camera.size;
    let of_seeds = |seeds: &SurfaceSeeds| -> Fallible<[f32; 4]> {
        Ok(match view {
            View::Derivative(name, direction) => {
                let global = global(seeds, name)?;
                [global.ddx, global.ddy][*direction].extend(0.0).to_array()
            }
            _ => {
                let uvw = seeds.uvw;
                let footprint = Footprint {
                    uv: [uvw.value.x, uvw.value.y],
                    dx: [uvw.ddx.x, uvw.ddx.y],
                    dy: [uvw.ddy.x, uvw.ddy.y],
                };
                let level = LevelRule::default().level([FOOTPRINT_TEXELS; 2], &footprint, 0.0);
                [level, 0.0, 0.0, 0.0]
            }
        })
    };
    let missed = if *view == View::Footprint {
        [NO_LEVEL, 0.0, 0.0, 0.0]
    } else {
        [0.0; 4]
    };
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| DVec2::new(x.into(), y.into())));
    let pixels = pixels.map(|pixel| {
        let ray = differentials.camera_ray(pixel + 0.5, DVec2::ZERO);
        let hit = scene
            .world
            .intersect(ray.origin, ray.direction, 0.0, f64::INFINITY);
        let Some(hit) = hit else {
            return Ok(missed);
        };
        let triangle = scene.world.triangle(&hit);
        of_seeds(&differentials.surface(&ray, &triangle, hit.t).seeds())
    });
    pixels.collect()
}

fn global(seeds: &SurfaceSeeds, name: &str) -> Fallible<adumbra::Dual<Vec3>> {
    Ok(match name {
        "uvw" | "uv" => seeds.uvw,
        "position" => seeds.position,
        "normal" => seeds.normal,
        "gnormal" => seeds.gnormal,
        "I" => seeds.incoming,
        "tangent" => seeds.tangent,
        "bitangent" => seeds.bitangent,
        _ => {
            return Err(
                "the globals are uvw, uv, position, normal, gnormal, I, tangent and bitangent"
                    .into(),
            );
        }
    })
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
fn difference(reference: &Image, pixels: &mut [[f32; 4]]) {
    let mut squares = 0.0_f64;
    for (pixel, other) in pixels.iter_mut().zip(reference.pixels()) {
        for (value, other) in pixel.iter_mut().zip(other).take(3) {
            *value = (*value - other).abs();
            squares += f64::from(*value) * f64::from(*value);
        }
    }
    let mean = squares / (3 * pixels.len().max(1)) as f64;
    println!("RMSE        {:.6}", mean.sqrt());
}

fn print_statistics(statistics: &CacheStatistics, environment: usize) {
    let megabytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!(
        "textures    {} lookups, {} waited",
        statistics.lookups, statistics.parked
    );
    println!(
        "tiles       {} read, {} different, {} again",
        statistics.tiles_read,
        statistics.unique_tiles,
        statistics.redundant_reads()
    );
    println!(
        "tile bytes  {:.1} MB read, {:.1} MB loaded",
        megabytes(statistics.bytes_read),
        megabytes(statistics.bytes_loaded)
    );
    println!(
        "memory      {:.1} MB of tiles at most, {:.1} MB of textures besides, {:.1} MB of environment",
        megabytes(statistics.peak_bytes),
        megabytes(statistics.resident_bytes),
        megabytes(environment as u64)
    );
}

/// The share of each part in the time of all threads.
fn print_times(times: &PhaseTimes) {
    let total = times.total().as_secs_f64().max(f64::MIN_POSITIVE);
    let share = |part: Duration| 100.0 * part.as_secs_f64() / total;
    println!(
        "time        {:.0} % intersection, {:.0} % shading, {:.0} % textures, {:.0} % other",
        share(times.intersection),
        share(times.shading),
        share(times.textures),
        share(times.other)
    );
}
