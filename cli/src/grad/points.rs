//! The points that a gradient is evaluated at, with their globals.

use super::seed_globals;
use super::seeds::Seeds;
use crate::args::image::PixelPosition;
use crate::error::{CliError, CliResult};
use crate::image::{GlobalPlanes, PIXEL_CENTRE, PixelGrid};
use crate::setup::Setup;
use adumbra::batch::{BatchGlobals, Part};
use adumbra::gradient::Gradient;
use adumbra::{Globals, Program};
use std::ops::Range;

/// The points of a gradient.
pub enum GradPoints {
    /// One, with these globals.
    One(Globals),
    /// The pixels of an image, of which one alone may be meant.
    Image(Box<PixelGrid>, Option<usize>),
}

/// Points with the seeds of the outputs.
pub struct SeededPoints {
    points: GradPoints,
    varying: Vec<VaryingSeed>,
}

/// The seed of one float that each pixel has of its own.
struct VaryingSeed {
    /// The global that has it, and its scalar there.
    global: String,
    scalar: usize,
    /// Its index among the words of the globals.
    word: usize,
    seeds: Seeds,
    /// The float among those of the output.
    float: usize,
}

/// What varies at some points.
pub struct PointPlanes {
    grid: GlobalPlanes,
    /// A plane for each seed that varies.
    seeds: Vec<Vec<f32>>,
}

impl GradPoints {
    /// The pixels of an image, or one of them.
    ///
    /// # Errors
    /// If the pixel is not in the image.
    pub fn of_image(
        grid: PixelGrid,
        at: Option<PixelPosition>,
        setup: &Setup,
        program: &Program,
    ) -> CliResult<GradPoints> {
        let grid = grid.for_program(setup, program)?;
        let at = at.map(|at| at.within(grid.size())).transpose();
        let at = at.map_err(CliError::usage)?;
        let pixel = at.map(|[x, y]| y * grid.size().width() as usize + x);
        Ok(GradPoints::Image(Box::new(grid), pixel))
    }

    /// The numbers of the points.
    pub fn numbers(&self) -> Range<usize> {
        match self {
            GradPoints::One(_) => 0..1,
            GradPoints::Image(_, Some(pixel)) => *pixel..*pixel + 1,
            GradPoints::Image(grid, None) => 0..grid.size().pixels(),
        }
    }

    /// Pixels of a line, if they are those of a whole image.
    pub fn width(&self) -> Option<usize> {
        match self {
            GradPoints::Image(grid, None) => Some(grid.size().width() as usize),
            _ => None,
        }
    }

    /// The same points for a program without seeds.
    pub fn without_seeds(self) -> SeededPoints {
        SeededPoints {
            points: self,
            varying: Vec::new(),
        }
    }

    /// The same points with the seeds of the outputs.
    pub fn with_seeds(mut self, gradient: &Gradient, seeds: &[Seeds]) -> SeededPoints {
        let globals = match &mut self {
            GradPoints::One(globals) => globals,
            GradPoints::Image(grid, _) => grid.globals_mut(),
        };
        let mut varying = Vec::new();
        for (output, seeds) in gradient.outputs().iter().zip(seeds) {
            for (name, first, count) in seed_globals(output) {
                let member = globals.layout().member(name).expect("it has the seeds");
                let word = member.value_offset() / 4;
                match seeds {
                    Seeds::Uniform(seeds) => {
                        let words = seeds[first..][..count].iter().map(|seed| seed.to_bits());
                        for (to, seed) in globals.words_mut()[word..].iter_mut().zip(words) {
                            *to = seed;
                        }
                    }
                    Seeds::Pixels(..) => {
                        varying.extend((0..count).map(|scalar| VaryingSeed {
                            global: name.to_owned(),
                            scalar,
                            word: word + scalar,
                            seeds: seeds.clone(),
                            float: first + scalar,
                        }));
                    }
                }
            }
        }
        SeededPoints {
            points: self,
            varying,
        }
    }
}

impl SeededPoints {
    /// The points.
    pub fn points(&self) -> &GradPoints {
        &self.points
    }

    /// What varies at some points.
    pub fn planes(&self, numbers: &Range<usize>) -> PointPlanes {
        let grid = match &self.points {
            GradPoints::One(_) => GlobalPlanes::new(),
            GradPoints::Image(grid, _) => {
                let width = grid.size().width() as usize;
                let positions: Vec<[usize; 2]> = (numbers.clone())
                    .map(|at| [at % width, at / width])
                    .collect();
                grid.planes(&positions, PIXEL_CENTRE)
            }
        };
        let seeds = self.varying.iter().map(|seed| {
            let points = numbers.clone();
            points.map(|at| seed.seeds.at(at)[seed.float]).collect()
        });
        PointPlanes {
            grid,
            seeds: seeds.collect(),
        }
    }

    /// The globals of a batch of the points that the planes were made for.
    pub fn batch_globals<'p>(&self, planes: &'p PointPlanes) -> BatchGlobals<'p> {
        let mut globals = match &self.points {
            GradPoints::One(globals) => BatchGlobals::uniform_from(globals),
            GradPoints::Image(grid, _) => grid.batch_globals(&planes.grid),
        };
        for (seed, plane) in self.varying.iter().zip(&planes.seeds) {
            globals
                .plane(&seed.global, Part::Value, seed.scalar, plane, 1)
                .expect("it has the seeds");
        }
        globals
    }

    /// The globals of each of some points in turn, with its number.
    pub fn for_each_point(&self, numbers: Range<usize>, mut visit: impl FnMut(usize, &Globals)) {
        let planes = self.planes(&numbers);
        let (grid, mut globals) = match &self.points {
            GradPoints::One(globals) => (None, globals.clone()),
            GradPoints::Image(grid, _) => (Some(grid), grid.globals()),
        };
        for (at, number) in numbers.enumerate() {
            if let Some(grid) = grid {
                grid.fill_point(&planes.grid, at, &mut globals);
            }
            for (seed, plane) in self.varying.iter().zip(&planes.seeds) {
                globals.words_mut()[seed.word] = plane[at].to_bits();
            }
            visit(number, &globals);
        }
    }
}
