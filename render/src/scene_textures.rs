//! The textures of a scene as one thread's shaders see them: the cache's host, with the partials
//! that a renderer of another kind would have, and the levels of each pixel.

use crate::shading::{LookupClock, TextureAccess, TexturePoint};
use crate::texture::host::{TextureHost, WaitingLookup};
use adumbra::{Host, SampleRequest, Sampled, Texel};
use adumbra_image::NO_LEVEL;
use std::time::Duration;

/// Whose partials choose levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartialSource {
    /// The request's: those of the shader's own arithmetic.
    #[default]
    Request,
    /// Those of the mesh's coordinates, whatever the shader makes of them: what a renderer has that
    /// knows no derivatives of arithmetic.
    Mesh,
}

/// The textures of one thread.
#[derive(Debug)]
pub struct SceneTextures {
    host: TextureHost,
    partials: PartialSource,
    points: Vec<TexturePoint>,
    /// The point that asks.
    point: usize,
    /// The greatest level of each pixel's own requests, by its index in the tile.
    levels: Vec<f32>,
    clock: LookupClock,
}

impl SceneTextures {
    /// Access by a host of the scene's cache.
    pub fn new(host: TextureHost, partials: PartialSource) -> SceneTextures {
        SceneTextures {
            host,
            partials,
            points: Vec::new(),
            point: 0,
            levels: Vec::new(),
            clock: LookupClock::default(),
        }
    }

    /// The host, with its counts.
    pub fn host(&mut self) -> &mut TextureHost {
        &mut self.host
    }

    /// Takes the greatest level of each of a tile's pixels, of what the camera sees directly.
    pub fn take_levels(&mut self, pixels: usize) -> Vec<f32> {
        let mut levels = std::mem::take(&mut self.levels);
        levels.resize(pixels, NO_LEVEL);
        levels
    }

    fn record_level(&mut self) {
        let (Some(level), Some(point)) = (self.host.last_level(), self.points.get(self.point))
        else {
            return;
        };
        if point.is_primary {
            let pixel = point.pixel as usize;
            if self.levels.len() <= pixel {
                self.levels.resize(pixel + 1, NO_LEVEL);
            }
            self.levels[pixel] = self.levels[pixel].max(level as f32);
        }
    }
}

impl Host for SceneTextures {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        let mut request = *request;
        if let (PartialSource::Mesh, Some(point)) = (self.partials, self.points.get(self.point)) {
            let uvw = point.uvw;
            [request.dudx, request.dvdx] = [uvw.ddx.x, uvw.ddx.y];
            [request.dudy, request.dvdy] = [uvw.ddy.x, uvw.ddy.y];
        }
        let sampled = self.clock.lookup(|| self.host.sample(&request));
        self.record_level();
        sampled
    }

    fn at_point(&mut self, point: usize) {
        self.point = point;
        self.host.at_point(point);
    }
}

impl TextureAccess for SceneTextures {
    type Waiting = (WaitingLookup, TexturePoint);

    fn begin(&mut self, textures: &[usize], points: &[TexturePoint]) {
        self.points.clear();
        self.points.extend_from_slice(points);
        self.point = 0;
        self.host.bind(textures);
        let seeds: Vec<u64> = points
            .iter()
            .map(|point| point.random.to_bits().into())
            .collect();
        self.host.begin(&seeds);
    }

    fn take_waiting(&mut self) -> Vec<(usize, Self::Waiting)> {
        let waiting = self.host.take_waiting().into_iter();
        waiting
            .map(|one| (one.point, (one.clone(), self.points[one.point])))
            .collect()
    }

    fn answer(&mut self, (waiting, point): &mut Self::Waiting) -> Option<Texel> {
        let texel = self.clock.lookup(|| self.host.answer(waiting));
        if texel.is_some() {
            self.points.clear();
            self.points.push(*point);
            self.point = 0;
            self.record_level();
        }
        texel
    }

    fn wait(&mut self) {
        self.clock.wait(|| self.host.wait());
    }

    fn order(&self, (waiting, _): &Self::Waiting) -> u128 {
        waiting.tile_order()
    }

    fn take_time(&mut self) -> Duration {
        self.clock.take()
    }
}
