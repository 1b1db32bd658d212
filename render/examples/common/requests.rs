//! Access to textures that records the requests of each pixel, or replaces their partials.

use adumbra::{Host, SampleRequest, Sampled};
use adumbra_render::differential::corner_of;
use adumbra_render::scene_textures::SceneTextures;
use adumbra_render::shading::{TextureAccess, TexturePoint};
use adumbra_render::texture::{DFootprint, Footprint};
use glam::DVec2;

/// A texture request of a pixel's path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PixelRequest {
    /// The scene's texture.
    pub(crate) texture: usize,
    /// Whether the camera sees the surface directly, not through glass or in a mirror.
    pub(crate) is_primary: bool,
    /// Coordinates, and the partials that the lookup has.
    pub(crate) footprint: Footprint,
}

impl PixelRequest {
    /// What a path meets: requests of one surface along one kind of path have the same.
    pub(crate) fn surface(&self) -> (usize, bool) {
        (self.texture, self.is_primary)
    }
}

/// The requests of all pixels, row by row, each pixel's in the order of its path.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestImage {
    ends: Vec<u32>,
    requests: Vec<PixelRequest>,
}

impl RequestImage {
    /// The requests of pixels in their order.
    pub(crate) fn from_pixels<'r>(
        pixels: impl Iterator<Item = &'r [PixelRequest]>,
    ) -> RequestImage {
        let mut image = RequestImage::default();
        for pixel in pixels {
            image.requests.extend_from_slice(pixel);
            image.ends.push(image.requests.len() as u32);
        }
        image
    }

    /// The number of pixels.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The requests of a pixel.
    pub(crate) fn pixel(&self, pixel: usize) -> &[PixelRequest] {
        let start = if pixel == 0 { 0 } else { self.ends[pixel - 1] };
        &self.requests[start as usize..self.ends[pixel] as usize]
    }

    /// Whether a pixel's path meets the same surfaces in both.
    pub(crate) fn has_same_path(&self, other: &RequestImage, pixel: usize) -> bool {
        let (a, b) = (self.pixel(pixel), other.pixel(pixel));
        let surfaces = a.iter().map(PixelRequest::surface);
        surfaces.eq(b.iter().map(PixelRequest::surface))
    }

    /// Changes each request.
    pub(crate) fn map(
        &self,
        mut change: impl FnMut(usize, usize, PixelRequest) -> PixelRequest,
    ) -> RequestImage {
        let mut changed = self.clone();
        let mut start = 0;
        for (pixel, &end) in self.ends.iter().enumerate() {
            for at in start..end as usize {
                changed.requests[at] = change(pixel, at - start, self.requests[at]);
            }
            start = end as usize;
        }
        changed
    }
}

/// How a footprint changes between two requests on the two sides of a pixel, `width` pixels apart.
/// Textures repeat, so whole steps do not count.
pub(crate) fn difference(before: &Footprint, after: &Footprint, width: f64) -> DVec2 {
    let axis = |i: usize| {
        let step = f64::from(after.uv[i]) - f64::from(before.uv[i]);
        (step - step.round()) / width
    };
    DVec2::new(axis(0), axis(1))
}

/// A footprint with other partials.
pub(crate) fn with_partials(footprint: &Footprint, dx: DVec2, dy: DVec2) -> Footprint {
    let uv = DFootprint::from(*footprint).uv;
    Footprint {
        uv: uv.as_vec2().to_array(),
        dx: dx.as_vec2().to_array(),
        dy: dy.as_vec2().to_array(),
    }
}

/// What answers requests.
#[derive(Debug)]
pub(crate) enum Answers {
    /// The same grey for all: only requests are wanted.
    Grey,
    /// Textures.
    Textures(Box<SceneTextures>),
}

/// Access that records the requests of a tile's pixels.
#[derive(Debug)]
pub(crate) struct RecordingTextures<'a> {
    answers: Answers,
    /// The partials of all pixels' requests, in place of those that come.
    replaced: Option<&'a RequestImage>,
    /// Whether points come in quads, with helpers that make requests, too.
    has_helpers: bool,
    /// The tile's pixels: column, row and index in the image.
    pixels: Vec<([u32; 2], usize)>,
    bound: Vec<usize>,
    points: Vec<TexturePoint>,
    point: usize,
    recorded: Vec<Vec<PixelRequest>>,
}

impl<'a> RecordingTextures<'a> {
    /// Access with these answers. Requests get the partials of `replaced`, if it is there. Of quads
    /// the requests of helpers are not recorded.
    pub(crate) fn new(
        answers: Answers,
        replaced: Option<&'a RequestImage>,
        has_helpers: bool,
    ) -> RecordingTextures<'a> {
        RecordingTextures {
            answers,
            replaced,
            has_helpers,
            pixels: Vec::new(),
            bound: Vec::new(),
            points: Vec::new(),
            point: 0,
            recorded: Vec::new(),
        }
    }

    /// Begins a tile of pixels: column, row and index in the image.
    pub(crate) fn begin_tile(&mut self, pixels: Vec<([u32; 2], usize)>) {
        self.recorded = vec![Vec::new(); pixels.len()];
        self.pixels = pixels;
    }

    /// The requests of each of the tile's pixels.
    pub(crate) fn take_requests(&mut self) -> Vec<Vec<PixelRequest>> {
        std::mem::take(&mut self.recorded)
    }
}

fn footprint(request: &SampleRequest) -> Footprint {
    Footprint {
        uv: [request.u, request.v],
        dx: [request.dudx, request.dvdx],
        dy: [request.dudy, request.dvdy],
    }
}

impl Host for RecordingTextures<'_> {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        let mut request = *request;
        let point = self.points[self.point];
        let pixel = point.pixel as usize;
        let count = self.recorded[pixel].len();
        if let Some(replaced) = self.replaced
            && let Some(known) = replaced.pixel(self.pixels[pixel].1).get(count)
        {
            let Footprint { dx, dy, .. } = known.footprint;
            [request.dudx, request.dvdx] = dx;
            [request.dudy, request.dvdy] = dy;
        }
        let mut recorded = PixelRequest {
            texture: self.bound[request.texture.index()],
            is_primary: point.is_primary,
            footprint: footprint(&request),
        };
        let sampled = match &mut self.answers {
            Answers::Grey => Sampled::Ready([0.5, 0.5, 0.5, 1.0]),
            Answers::Textures(textures) => {
                textures.host().record();
                let sampled = textures.sample(&request);
                if let Some(looked_up) = textures.host().take_recorded().pop() {
                    recorded.footprint = looked_up.footprint;
                }
                sampled
            }
        };
        let own = corner_of(self.pixels[pixel].0) as usize;
        if !self.has_helpers || self.point % 4 == own {
            self.recorded[pixel].push(recorded);
        }
        sampled
    }

    fn at_point(&mut self, point: usize) {
        self.point = point;
        if let Answers::Textures(textures) = &mut self.answers {
            textures.at_point(point);
        }
    }
}

impl TextureAccess for RecordingTextures<'_> {
    type Waiting = <SceneTextures as TextureAccess>::Waiting;

    fn begin(&mut self, textures: &[usize], points: &[TexturePoint]) {
        self.bound = textures.to_vec();
        self.points = points.to_vec();
        self.point = 0;
        if let Answers::Textures(inner) = &mut self.answers {
            inner.begin(textures, points);
        }
    }

    fn take_waiting(&mut self) -> Vec<(usize, Self::Waiting)> {
        match &mut self.answers {
            Answers::Grey => Vec::new(),
            Answers::Textures(textures) => textures.take_waiting(),
        }
    }

    fn answer(&mut self, waiting: &mut Self::Waiting) -> Option<adumbra::Texel> {
        match &mut self.answers {
            Answers::Grey => None,
            Answers::Textures(textures) => textures.answer(waiting),
        }
    }

    fn wait(&mut self) {
        if let Answers::Textures(textures) = &mut self.answers {
            textures.wait();
        }
    }
}
