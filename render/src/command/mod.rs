//! The command line: arguments, drawing, merging, files.

mod arguments;
mod draw;
mod merge;
mod output;
mod progress;
mod seed_view;
mod statistics;
mod tone;

pub(crate) use arguments::Arguments;

use adumbra_image::ImageFormat;
use adumbra_render::texture::{TiledOptions, convert_to_tiled};
use arguments::{Subcommand, TextureArguments};
use std::error::Error;
use std::fmt;

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

/// Runs the command.
///
/// # Errors
/// If a file is at fault, or cannot be written.
pub(crate) fn run(arguments: Arguments) -> Fallible<()> {
    match (arguments.command, arguments.draw) {
        (Some(Subcommand::Texture(texture)), _) => convert(&texture),
        (Some(Subcommand::Merge(parts)), _) => merge::merge(&parts),
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
