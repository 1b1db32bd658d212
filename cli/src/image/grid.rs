//! The pixels of an image, and the globals at each of them.
//!
//! A global varies from pixel to pixel by its derivatives: at the middle of the pixel in column x
//! and row y it is value + (x + ½)·ddx + (y + ½)·ddy. So derivatives are true, whether an option or
//! the image set them: `pixel` is (0, 0) with derivatives (1, 0) and (0, 1).

use super::surface::{Surface, SurfaceHit};
use crate::error::{CliError, CliResult};
use crate::image_globals;
use crate::setup::Setup;
use adumbra::{
    Globals, GlobalsLayout, Program, Scalar, Type,
    batch::{BatchGlobals, Part},
};
use adumbra_image::ImageSize;

/// A grid of pixels, with the globals at each.
#[derive(Clone, Debug)]
pub struct PixelGrid {
    size: ImageSize,
    /// The globals that are the same at all pixels; zero where one varies.
    still: Globals,
    moving: Vec<Moving>,
    surface: Option<Surface>,
}

/// One word of the globals that varies over the pixels.
#[derive(Clone, Debug)]
struct Moving {
    name: String,
    part: Part,
    scalar: usize,
    /// Its index among the words.
    word: usize,
    by: By,
}

/// How a word varies.
#[derive(Clone, Copy, Debug)]
enum By {
    /// Evenly: the value at the image's corner, and the slopes along x and y.
    Steps([f64; 3]),
    /// With the point of the surface that is seen: that member of the hit.
    Surface(usize),
}

/// The values of varying words at some pixels.
pub type GlobalPlanes = Vec<Vec<f32>>;

/// The middle of a pixel.
pub const PIXEL_CENTRE: [f64; 2] = [0.5, 0.5];

impl PixelGrid {
    /// Adds the globals of an image to those that were set, which stay as they are. On a surface,
    /// it adds those of a hit, too.
    ///
    /// # Errors
    /// If there are too many.
    pub fn new(
        setup: &mut Setup,
        size: ImageSize,
        time: f32,
        on_surface: bool,
    ) -> CliResult<PixelGrid> {
        let set = setup.globals.clone();
        let is_set = |name: &str| set.layout().member(name).is_some();
        let surface = on_surface.then(|| Surface::new(size));
        let mut add = |name: &str, ty: Type, moves: bool| -> CliResult {
            let with = |layout: &GlobalsLayout| layout.clone().with(name, ty.clone());
            let layout = with(setup.globals.layout()).map_err(CliError::usage)?;
            let mut globals = Globals::new(&layout);
            let words = setup.globals.words();
            globals.words_mut()[..words.len()].copy_from_slice(words);
            setup.globals = globals;
            setup.layout = with(&setup.layout).map_err(CliError::usage)?;
            if !moves {
                let layout = setup.layout.clone().shadowless(name);
                setup.layout = layout.map_err(CliError::usage)?;
            }
            Ok(())
        };
        for global in image_globals::IMAGE_GLOBALS {
            if !is_set(global.name) {
                add(global.name, global.ty(), global.is_varying)?;
            }
        }
        for name in SurfaceHit::NAMES {
            if on_surface && !is_set(name) {
                add(name, Type::Vector(3), true)?;
            }
        }

        let sides = [size.width(), size.height()].map(f64::from);
        let mut grid = PixelGrid {
            size,
            still: setup.globals.clone(),
            moving: Vec::new(),
            surface,
        };
        for global in image_globals::IMAGE_GLOBALS {
            grid.give(global.name, &set, |i| {
                global.corner_and_slopes(i, sides, time)
            });
        }
        for member in set.layout().members() {
            grid.move_by_its_derivatives(member.name());
        }
        if on_surface {
            let names = SurfaceHit::NAMES.into_iter().enumerate();
            for (index, name) in names.filter(|(_, name)| !is_set(name)) {
                grid.move_with_surface(index, name);
            }
        }
        Ok(grid)
    }

    /// Width and height.
    pub fn size(&self) -> ImageSize {
        self.size
    }

    /// The first word of a part of a member, and how many words it has.
    fn words(&self, name: &str, part: Part) -> (usize, usize) {
        let member = self.still.layout().member(name).expect("it was declared");
        let offset = match part {
            Part::Value => member.value_offset(),
            Part::Ddx => member.ddx_offset(),
            Part::Ddy => member.ddy_offset(),
        };
        (offset / 4, member.ty().scalar_count())
    }

    /// Gives a float or vector of the image its value and slopes, unless it was set.
    fn give(&mut self, name: &str, set: &Globals, steps: impl Fn(usize) -> [f64; 3]) {
        if set.layout().member(name).is_some() {
            return;
        }
        for (part, at) in Part::ALL.into_iter().zip(0..) {
            let (first, count) = self.words(name, part);
            for scalar in 0..count {
                let number = steps(scalar)[at] as f32;
                self.still.words_mut()[first + scalar] = number.to_bits();
            }
        }
        let (first, count) = self.words(name, Part::Value);
        for scalar in 0..count {
            self.add_steps(name, scalar, first + scalar, steps(scalar));
        }
    }

    /// Makes a member that was set vary by its derivatives.
    fn move_by_its_derivatives(&mut self, name: &str) {
        let member = self.still.layout().member(name).expect("it was declared");
        let mut scalars = Vec::new();
        member
            .ty()
            .for_each_scalar(&mut |scalar| scalars.push(scalar));
        for (i, scalar) in scalars.into_iter().enumerate() {
            if scalar == Scalar::F32 {
                let words = Part::ALL.map(|part| self.words(name, part).0 + i);
                let steps = words.map(|word| f32::from_bits(self.still.words()[word]).into());
                self.add_steps(name, i, words[0], steps);
            }
        }
    }

    fn add_steps(&mut self, name: &str, scalar: usize, word: usize, steps: [f64; 3]) {
        if steps[1..] != [0.0; 2] {
            self.moving.push(Moving {
                name: name.to_owned(),
                part: Part::Value,
                scalar,
                word,
                by: By::Steps(steps),
            });
        }
    }

    fn move_with_surface(&mut self, member: usize, name: &str) {
        for part in Part::ALL {
            let (first, count) = self.words(name, part);
            let words = (0..count).map(|scalar| Moving {
                name: name.to_owned(),
                part,
                scalar,
                word: first + scalar,
                by: By::Surface(member),
            });
            self.moving.extend(words);
        }
    }

    /// The grid for a program, which may have been compiled elsewhere, for some of these globals.
    ///
    /// # Errors
    /// If it lacks one that was set, or has one with another type.
    pub fn for_program(mut self, setup: &Setup, program: &Program) -> CliResult<PixelGrid> {
        self.still = setup.adopt_globals(&self.still, program)?;
        let layout = program.globals().clone();
        self.moving
            .retain(|moving| layout.member(&moving.name).is_some() && program.reads(&moving.name));
        for i in 0..self.moving.len() {
            let Moving {
                name, part, scalar, ..
            } = &self.moving[i];
            let word = self.words(name, *part).0 + scalar;
            self.moving[i].word = word;
        }
        Ok(self)
    }

    /// The grid with the image's own `time` set to this one.
    pub fn at_time(mut self, time: f32) -> PixelGrid {
        if self.still.layout().member("time").is_some() {
            let (word, _) = self.words("time", Part::Value);
            self.still.words_mut()[word] = time.to_bits();
        }
        self
    }

    /// The varying words at one point of each pixel at these positions, which may lie beyond the
    /// image. The point is `right` and `down` from the pixel's upper left corner.
    pub fn planes(&self, positions: &[[usize; 2]], [right, down]: [f64; 2]) -> GlobalPlanes {
        let mut planes: GlobalPlanes = vec![Vec::with_capacity(positions.len()); self.moving.len()];
        for &[column, row] in positions {
            let [x, y] = [column as f64 + right, row as f64 + down];
            let hit = self.surface.as_ref().map(|surface| surface.hit(x, y));
            for (moving, plane) in self.moving.iter().zip(&mut planes) {
                plane.push(match moving.by {
                    By::Steps([value, ddx, ddy]) => (value + x * ddx + y * ddy) as f32,
                    By::Surface(member) => {
                        let hit = hit.as_ref().expect("there is a surface");
                        hit.0[member][moving.part as usize][moving.scalar] as f32
                    }
                });
            }
        }
        planes
    }

    /// The globals of a batch of the pixels that the planes were made for.
    pub fn batch_globals<'p>(&self, planes: &'p GlobalPlanes) -> BatchGlobals<'p> {
        let mut globals = BatchGlobals::uniform_from(&self.still);
        for (moving, plane) in self.moving.iter().zip(planes) {
            globals
                .plane(&moving.name, moving.part, moving.scalar, plane, 1)
                .expect("the member is there");
        }
        globals
    }

    /// The globals of one of the pixels that the planes were made for.
    pub fn fill_point(&self, planes: &GlobalPlanes, at: usize, globals: &mut Globals) {
        for (moving, plane) in self.moving.iter().zip(planes) {
            globals.words_mut()[moving.word] = plane[at].to_bits();
        }
    }

    /// Globals for [`fill_point`](PixelGrid::fill_point) to fill.
    pub fn globals(&self) -> Globals {
        self.still.clone()
    }
}
