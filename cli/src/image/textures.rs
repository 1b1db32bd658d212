//! The textures of an image: files, or the checkerboard.

use crate::args::image::TextureFile;
use crate::checkerboard;
use crate::error::{CliError, CliResult};
use adumbra::{Program, SampleRequest};
use adumbra_image::{ImageSize, MipPyramid, mip_level};
use std::sync::Arc;

/// The textures of a program, one for each index.
#[derive(Clone, Debug)]
pub struct Textures(Vec<Option<Arc<MipPyramid>>>);

/// Texels along each side of the checkerboard, by which its levels are chosen; it is drawn without
/// texels.
pub const CHECKERBOARD_SIDE: u64 = 256;

impl Textures {
    /// Loads the files that are given; every other texture is the checkerboard.
    ///
    /// # Errors
    /// If the program has no texture of a name, a name is given twice, or a file cannot be read.
    pub fn load(program: &Program, files: &[TextureFile]) -> CliResult<Textures> {
        let names = program.textures();
        let mut textures = vec![None; names.len()];
        for TextureFile { name, file } in files {
            let Some(at) = names.iter().position(|other| other == name) else {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                return Err(CliError::usage(match names.as_slice() {
                    [] => format!("there is no texture `{name}`: the shader has none"),
                    names => format!("there is no texture `{name}`, only {}", names.join(", ")),
                }));
            };
            if textures[at].is_some() {
                let twice = format!("the texture `{name}` is given twice");
                return Err(CliError::Usage(twice));
            }
            let image = adumbra_image::read_image(file).map_err(|error| {
                CliError::usage(format!(
                    "cannot read the texture {}: {error}",
                    file.display()
                ))
            })?;
            textures[at] = Some(Arc::new(MipPyramid::new(image)));
        }
        Ok(Textures(textures))
    }

    /// The colour that answers a request.
    pub fn sample(&self, request: &SampleRequest) -> [f32; 4] {
        let at = [request.u, request.v];
        match (&self.0[request.texture.index()], request.level) {
            (None, _) => checkerboard::checkerboard_colour(request.u.into(), request.v.into()),
            (Some(pyramid), Some(level)) => pyramid.sample_level(at, level),
            (Some(pyramid), None) => {
                let (dx, dy) = steps(request);
                pyramid.sample(at, dx, dy)
            }
        }
    }

    /// The level that answers a request.
    pub fn level(&self, request: &SampleRequest) -> f32 {
        let checker = ImageSize::new(CHECKERBOARD_SIDE, CHECKERBOARD_SIDE).expect("it has pixels");
        let size = match &self.0[request.texture.index()] {
            Some(pyramid) => pyramid.size(),
            None => checker,
        };
        match request.level {
            // NaN is the finest level.
            Some(level) => level
                .max(0.0)
                .min(size.width().max(size.height()).ilog2() as f32),
            None => {
                let (dx, dy) = steps(request);
                mip_level(size, dx, dy)
            }
        }
    }
}

/// The changes of u and v along x and along y.
fn steps(request: &SampleRequest) -> ([f32; 2], [f32; 2]) {
    ([request.dudx, request.dvdx], [request.dudy, request.dvdy])
}
