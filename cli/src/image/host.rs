//! The host of an image's points: it samples textures, and records the levels of requests, and
//! messages.

use super::tally::MessageTally;
use super::textures::Textures;
use crate::checkerboard::Interrupt;
use adumbra::{Host, SampleRequest, Sampled, host::MessageId};

/// The host of one tile.
#[derive(Debug)]
pub struct TileHost<'a> {
    textures: &'a Textures,
    interrupt: &'a Interrupt,
    /// The pixels of the tile, by the numbers of its points; none beyond the region.
    pixels: &'a [Option<usize>],
    /// The point that the engine calls its first one.
    first: usize,
    /// The point that makes the request.
    point: usize,
    /// The greatest level of each point's requests; less than 0 without any.
    pub levels: Vec<f32>,
    pub messages: MessageTally,
}

impl<'a> TileHost<'a> {
    /// A host for the pixels of a tile.
    pub fn new(
        textures: &'a Textures,
        interrupt: &'a Interrupt,
        pixels: &'a [Option<usize>],
    ) -> TileHost<'a> {
        TileHost {
            textures,
            interrupt,
            pixels,
            first: 0,
            point: 0,
            levels: vec![adumbra_image::NO_LEVEL; pixels.len()],
            messages: MessageTally::default(),
        }
    }

    /// Sets which point of the tile is the first of the engine's next call.
    pub fn set_first_point(&mut self, first: usize) {
        (self.first, self.point) = (first, first);
    }
}

impl Host for TileHost<'_> {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        let level = &mut self.levels[self.point];
        *level = level.max(self.textures.level(request));
        self.textures.sample(request).into()
    }

    fn sample_for_helper(&mut self, request: &SampleRequest) -> Sampled {
        self.textures.sample(request).into()
    }

    fn at_point(&mut self, point: usize) {
        self.point = self.first + point;
    }

    fn message(&mut self, message: MessageId, args: &[u32]) {
        if let Some(pixel) = self.pixels[self.point] {
            self.messages.add(pixel, message, args);
        }
    }

    fn is_cancelled(&mut self) -> bool {
        self.interrupt.is_pressed()
    }
}
