//! The command line: arguments, drawing, merging, files.

mod arguments;
mod draw;
mod fit;
mod merge;
mod output;
mod progress;
mod seed_view;
mod statistics;
mod tone;

use crate::texture::{TiledOptions, convert_to_tiled};
use adumbra_image::ImageFormat;
use arguments::{Arguments, Subcommand, TextureArguments};
use clap::Parser;
use std::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write};

/// Any failure, with a message for people.
pub(crate) type Fallible<T> = Result<T, Box<dyn Error>>;

/// Options that do not fit together, or not the scene. The status is 2, as for those that cannot be
/// read.
#[derive(Debug)]
pub(crate) struct UsageError(pub(crate) String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for UsageError {}

/// The threads that are asked for, or as many as the system has processors for.
fn thread_count(asked: Option<u16>) -> usize {
    match asked {
        Some(threads) => threads.into(),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    }
}

/// Runs the command `adumbra-render` by its arguments, of which the first is its name, and gives
/// the exit status: 0 fine, 1 a file is at fault, 2 the usage is.
///
/// ```
/// let arguments = ["adumbra-render", "nosuch.json", "-o", "a.png"];
/// assert_eq!(adumbra_render::run_command(arguments.map(Into::into)), 1);
/// ```
pub fn run_command(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // There is nowhere to report a failure of this write to.
            let _ = error.print().and_then(|()| io::stdout().flush());
            return if error.use_stderr() { 2 } else { 0 };
        }
    };
    match execute(arguments) {
        Ok(()) => 0,
        Err(error) => {
            anstream::eprintln!("adumbra-render: {error}");
            if error.is::<UsageError>() { 2 } else { 1 }
        }
    }
}

/// # Errors
/// If a file is at fault, or cannot be written.
fn execute(arguments: Arguments) -> Fallible<()> {
    match (arguments.command, arguments.draw) {
        (Some(Subcommand::Texture(texture)), _) => convert(&texture),
        (Some(Subcommand::Merge(parts)), _) => merge::merge(&parts),
        (Some(Subcommand::Fit(arguments)), _) => fit::fit(&arguments),
        (None, Some(draw)) => draw::draw(&draw),
        (None, None) => Err("name a scene: a .json, .gltf, .glb, .obj or .adu file".into()),
    }
}

/// Converts an image to a tiled texture.
fn convert(arguments: &TextureArguments) -> Fallible<()> {
    if ImageFormat::from_path(&arguments.out) != Some(ImageFormat::Exr) {
        let out = arguments.out.display();
        return Err(format!("{out} does not end in .exr, which tiled textures are").into());
    }
    let options = TiledOptions {
        wrap: arguments.wrap,
        format: arguments.format.into(),
        color_space: arguments.color,
        ..TiledOptions::default()
    };
    let tiled = convert_to_tiled(&arguments.input, &arguments.out, &options)?;
    let [width, height] = tiled.size(0);
    let (levels, tiles) = (tiled.levels(), tiled.tile_count());
    println!(
        "{}: {width}×{height}, {levels} levels, {tiles} tiles",
        arguments.out.display()
    );
    Ok(())
}
