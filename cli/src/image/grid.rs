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
    uniform: Globals,
    varying: Vec<VaryingWord>,
    surface: Option<Surface>,
}

/// One word of the globals that varies over the pixels.
#[derive(Clone, Debug)]
struct VaryingWord {
    name: String,
    part: Part,
    scalar: usize,
    /// Its index among the words.
    word: usize,
    variation: Variation,
}

/// The way in which a word varies.
#[derive(Clone, Copy, Debug)]
enum Variation {
    /// Evenly: the value at the image's corner, and the slopes along x and y.
    Affine([f64; 3]),
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
            uniform: setup.globals.clone(),
            varying: Vec::new(),
            surface,
        };
        for global in image_globals::IMAGE_GLOBALS {
            grid.set_unless_given(global.name, &set, |i| {
                global.corner_and_slopes(i, sides, time)
            });
        }
        for member in set.layout().members() {
            grid.vary_by_derivatives(member.name());
        }
        if on_surface {
            let names = SurfaceHit::NAMES.into_iter().enumerate();
            for (index, name) in names.filter(|(_, name)| !is_set(name)) {
                grid.vary_with_surface(index, name);
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
        let member = self.uniform.layout().member(name).expect("it was declared");
        let offset = match part {
            Part::Value => member.value_offset(),
            Part::Ddx => member.ddx_offset(),
            Part::Ddy => member.ddy_offset(),
        };
        (offset / 4, member.ty().scalar_count())
    }

    /// Gives a float or vector of the image its value and slopes, unless it was set.
    fn set_unless_given(&mut self, name: &str, set: &Globals, steps: impl Fn(usize) -> [f64; 3]) {
        if set.layout().member(name).is_some() {
            return;
        }
        for (part, at) in Part::ALL.into_iter().zip(0..) {
            let (first, count) = self.words(name, part);
            for scalar in 0..count {
                let number = steps(scalar)[at] as f32;
                self.uniform.words_mut()[first + scalar] = number.to_bits();
            }
        }
        let (first, count) = self.words(name, Part::Value);
        for scalar in 0..count {
            self.add_steps(name, scalar, first + scalar, steps(scalar));
        }
    }

    /// Makes a member that was set vary by its derivatives.
    fn vary_by_derivatives(&mut self, name: &str) {
        let member = self.uniform.layout().member(name).expect("it was declared");
        let mut scalars = Vec::new();
        member
            .ty()
            .for_each_scalar(&mut |scalar| scalars.push(scalar));
        for (i, scalar) in scalars.into_iter().enumerate() {
            if scalar == Scalar::F32 {
                let words = Part::ALL.map(|part| self.words(name, part).0 + i);
                let steps = words.map(|word| f32::from_bits(self.uniform.words()[word]).into());
                self.add_steps(name, i, words[0], steps);
            }
        }
    }

    fn add_steps(&mut self, name: &str, scalar: usize, word: usize, steps: [f64; 3]) {
        if steps[1..] != [0.0; 2] {
            self.varying.push(VaryingWord {
                name: name.to_owned(),
                part: Part::Value,
                scalar,
                word,
                variation: Variation::Affine(steps),
            });
        }
    }

    fn vary_with_surface(&mut self, member: usize, name: &str) {
        for part in Part::ALL {
            let (first, count) = self.words(name, part);
            let words = (0..count).map(|scalar| VaryingWord {
                name: name.to_owned(),
                part,
                scalar,
                word: first + scalar,
                variation: Variation::Surface(member),
            });
            self.varying.extend(words);
        }
    }

    /// The grid for a program, which may have been compiled elsewhere, for some of these globals.
    ///
    /// # Errors
    /// If it lacks one that was set, or has one with another type.
    pub fn for_program(mut self, setup: &Setup, program: &Program) -> CliResult<PixelGrid> {
        self.uniform = setup.adopt_globals(&self.uniform, program)?;
        let layout = program.globals().clone();
        self.varying.retain(|varying| {
            layout.member(&varying.name).is_some() && program.reads(&varying.name)
        });
        for i in 0..self.varying.len() {
            let VaryingWord {
                name, part, scalar, ..
            } = &self.varying[i];
            let word = self.words(name, *part).0 + scalar;
            self.varying[i].word = word;
        }
        Ok(self)
    }

    /// The grid with the image's own `time` set to this one.
    pub fn at_time(mut self, time: f32) -> PixelGrid {
        if self.uniform.layout().member("time").is_some() {
            let (word, _) = self.words("time", Part::Value);
            self.uniform.words_mut()[word] = time.to_bits();
        }
        self
    }

    /// The varying words at one point of each pixel at these positions, which may lie beyond the
    /// image. The point is `right` and `down` from the pixel's upper left corner.
    pub fn planes(&self, positions: &[[usize; 2]], [right, down]: [f64; 2]) -> GlobalPlanes {
        let positions = positions.iter();
        self.planes_at(positions.map(|&[column, row]| [column as f64 + right, row as f64 + down]))
    }

    /// The varying words at places, in pixels from the image's upper left corner.
    pub fn planes_at(&self, places: impl ExactSizeIterator<Item = [f64; 2]>) -> GlobalPlanes {
        let mut planes: GlobalPlanes = vec![Vec::with_capacity(places.len()); self.varying.len()];
        for [x, y] in places {
            let hit = self.surface.as_ref().map(|surface| surface.hit(x, y));
            for (varying, plane) in self.varying.iter().zip(&mut planes) {
                plane.push(match varying.variation {
                    Variation::Affine([value, ddx, ddy]) => (value + x * ddx + y * ddy) as f32,
                    Variation::Surface(member) => {
                        let hit = hit.as_ref().expect("there is a surface");
                        hit.0[member][varying.part as usize][varying.scalar] as f32
                    }
                });
            }
        }
        planes
    }

    /// The globals of a batch of the pixels that the planes were made for.
    pub fn batch_globals<'p>(&self, planes: &'p GlobalPlanes) -> BatchGlobals<'p> {
        let mut globals = BatchGlobals::uniform_from(&self.uniform);
        for (varying, plane) in self.varying.iter().zip(planes) {
            globals
                .plane(&varying.name, varying.part, varying.scalar, plane, 1)
                .expect("the member is there");
        }
        globals
    }

    /// The globals of one of the pixels that the planes were made for.
    pub fn fill_point(&self, planes: &GlobalPlanes, at: usize, globals: &mut Globals) {
        for (varying, plane) in self.varying.iter().zip(planes) {
            globals.words_mut()[varying.word] = plane[at].to_bits();
        }
    }

    /// The globals that are the same at all pixels, to be set.
    pub fn globals_mut(&mut self) -> &mut Globals {
        &mut self.uniform
    }

    /// Globals for [`fill_point`](PixelGrid::fill_point) to fill.
    pub fn globals(&self) -> Globals {
        self.uniform.clone()
    }
}
