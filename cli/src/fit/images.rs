//! The images that a fit writes: its result, its course, and a strip of both beside the targets.

use super::objective::ImageObjective;
use super::search::FoundFit;
use super::strip::{course, evenly, shown, strip};
use crate::error::CliResult;
use adumbra_fit::Raster;
use adumbra_image::Image;

/// The images of a fit.
pub struct FitImages {
    /// What the result draws, by target.
    pub best: Vec<Raster>,
    pub strip: Image,
    /// By frame of the course, the images by target.
    pub frames: Vec<Vec<Raster>>,
}

impl FitImages {
    /// Draws those of the best restart, beside its targets: the result last.
    ///
    /// # Errors
    /// If the engine cannot evaluate the shader, or Ctrl-C was pressed.
    pub fn of_course(
        objective: &mut ImageObjective<'_>,
        found: &FoundFit,
        targets: &[Raster],
        frames: Option<u32>,
    ) -> CliResult<FitImages> {
        let course = course(found.best());
        let frames = evenly(&course, frames.unwrap_or(0) as usize).into_iter();
        let frames: CliResult<Vec<Vec<Raster>>> =
            frames.map(|point| objective.images(point.values)).collect();
        let shown = shown(&course).into_iter();
        let shown: CliResult<Vec<Vec<Raster>>> =
            shown.map(|point| objective.images(point.values)).collect();
        let shown = shown?;
        let lines = targets.iter().enumerate().map(|(at, target)| {
            let images = shown.iter().map(|images| images[at].clone());
            (images.collect(), target)
        });
        let lines: Vec<(Vec<Raster>, &Raster)> = lines.collect();
        Ok(FitImages {
            strip: strip(&lines),
            frames: frames?,
            best: shown.into_iter().next_back().expect("a best one is shown"),
        })
    }
}
