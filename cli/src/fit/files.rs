//! The files of a fit: the source with its values, an image of it for each target, a strip and
//! frames of its course, a chart, and a report.

use super::images::FitImages;
use crate::error::{CliError, CliResult};
use crate::image::{numbered_paths, save_colours};
use adumbra_fit::{Raster, RestartRecord, convergence_svg, write_atomically};
use adumbra_image::{Image, ImageSize};
use std::fs::{File, remove_file};
use std::path::{Path, PathBuf};

/// The files that are written.
pub struct FitFiles {
    pub source: PathBuf,
    /// One for each target.
    pub images: Vec<PathBuf>,
    pub strip: PathBuf,
    /// By target, those of the frames.
    pub frames: Vec<Vec<PathBuf>>,
    pub chart: PathBuf,
    pub report: PathBuf,
}

impl FitFiles {
    /// Those beside OUT, with its name before the last dot, and of as many frames.
    ///
    /// # Errors
    /// If OUT does not end in `.adu`, or they cannot be written: a search may take hours before
    /// they are.
    pub fn beside(out: &Path, targets: usize, frames: Option<u32>) -> CliResult<FitFiles> {
        if out.file_name().is_some_and(|name| name == ".adu") {
            let out = out.display();
            return Err(CliError::usage(format!(
                "{out} has no name before its ending: name it, as `best.adu`"
            )));
        }
        let is_source = out.extension().is_some_and(|ending| ending == "adu");
        if !is_source {
            let out = out.display();
            return Err(CliError::usage(format!("{out} does not end in .adu")));
        }
        let folder = out.parent().unwrap_or(Path::new(""));
        if !(folder.as_os_str().is_empty() || folder.is_dir()) {
            let folder = folder.display();
            return Err(CliError::usage(format!("there is no folder {folder}")));
        }
        let named = |ending: &str| out.with_extension(ending);
        let images: Vec<PathBuf> = match targets {
            1 => vec![named("png")],
            _ => (1..=targets)
                .map(|at| named(&format!("{at}.png")))
                .collect(),
        };
        let of_frames = images.iter().map(|image| match frames {
            Some(frames) => numbered_paths(image, frames),
            None => Vec::new(),
        });
        let files = FitFiles {
            source: out.to_owned(),
            frames: of_frames.collect(),
            images,
            strip: named("strip.png"),
            chart: named("convergence.svg"),
            report: named("run.json"),
        };
        if let Some(folder) = files.paths().find(|path| path.is_dir()) {
            let folder = folder.display();
            return Err(CliError::usage(format!("{folder} is a folder")));
        }
        // A file that is there for a moment says whether there can be some.
        let probe = named("part");
        if !probe.exists() {
            let made = File::create_new(&probe).and_then(|_| remove_file(&probe));
            made.map_err(|error| {
                CliError::usage(format!("cannot write beside {}: {error}", out.display()))
            })?;
        }
        Ok(files)
    }

    /// All of them, in the order in which they are written.
    pub fn paths(&self) -> impl Iterator<Item = &Path> + Clone {
        self.single_paths()
            .chain(self.frames.iter().flatten().map(PathBuf::as_path))
    }

    /// All but frames.
    fn single_paths(&self) -> impl Iterator<Item = &Path> + Clone {
        let images = self.images.iter().map(PathBuf::as_path);
        let others = [&*self.strip, &*self.chart, &*self.report];
        std::iter::once(&*self.source).chain(images).chain(others)
    }

    /// Their names for people: of frames the first and last.
    pub fn names(&self) -> Vec<String> {
        let frames = self.frames.iter().filter_map(|frames| match &frames[..] {
            [] => None,
            [frame] => Some(frame.display().to_string()),
            [first, .., last] => Some(format!("{} to {}", first.display(), last.display())),
        });
        let single = self.single_paths().map(|path| path.display().to_string());
        single.chain(frames).collect()
    }

    /// Writes all of them.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn write(
        &self,
        source: &str,
        images: &FitImages,
        records: &[RestartRecord],
        report: &str,
    ) -> CliResult {
        write(&self.source, source.as_bytes())?;
        for (path, image) in self.images.iter().zip(&images.best) {
            save(path, image)?;
        }
        save_colours(&self.strip, &images.strip)?;
        for (target, paths) in self.frames.iter().enumerate() {
            for (path, images) in paths.iter().zip(&images.frames) {
                save(path, &images[target])?;
            }
        }
        let title = self.source.file_name().unwrap_or_default();
        let records: Vec<&RestartRecord> = records.iter().collect();
        let chart = convergence_svg(&title.to_string_lossy(), &records);
        write(&self.chart, chart.as_bytes())?;
        write(&self.report, report.as_bytes())
    }
}

/// Writes a file as a whole or not at all.
///
/// # Errors
/// If it cannot be written.
fn write(path: &Path, bytes: &[u8]) -> CliResult {
    let written = write_atomically(path, bytes);
    written.map_err(|error| CliError::usage(format!("cannot write {}: {error}", path.display())))
}

fn save(path: &Path, image: &Raster) -> CliResult {
    let shape = image.shape();
    let size = ImageSize::new(shape.width as u64, shape.height as u64).map_err(CliError::usage)?;
    let pixels = image.values().chunks_exact(shape.channels).map(|colour| {
        let mut pixel = [0.0; 4];
        pixel[..colour.len()].copy_from_slice(colour);
        pixel
    });
    let image = Image::from_pixels(size, shape.channels, pixels.collect());
    save_colours(path, &image)
}
