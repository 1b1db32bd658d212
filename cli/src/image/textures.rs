//! The textures of an image: files, or the checkerboard.

use crate::checkerboard;
use crate::error::{CliError, CliResult};
use crate::files::FileLoader;
use crate::mip_lookup::{lookup, request_steps};
use crate::report::{OutputFormat, report_diagnostics};
use crate::setting::NamedFile;
use adumbra::{Program, SampleRequest, Sources, Texel};
use adumbra_image::{ImageSize, MipPyramid, TextureSettings, mip_level, read_image_as};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The textures of a program, one for each index.
#[derive(Clone, Debug)]
pub struct Textures(Vec<Option<Arc<MipPyramid>>>);

/// Texels along each side of the checkerboard, by which its levels are chosen; it is drawn without
/// texels.
pub const CHECKERBOARD_SIDE: u64 = 256;

impl Textures {
    /// Loads the files that the declarations of textures name, or the command line in their place;
    /// every other texture is the checkerboard. The files are added to `read` before they are read.
    ///
    /// # Errors
    /// If the program has no texture of a name, a name is given twice, a file cannot be read, or
    /// the metadata of a texture has a value that is not known, as that of bytecode may.
    pub fn load(
        program: &Program,
        sources: &Sources,
        files: &[NamedFile],
        format: OutputFormat,
        read: &mut Vec<PathBuf>,
    ) -> CliResult<Textures> {
        let declared = program.textures();
        let mut chosen: Vec<Option<&Path>> = vec![None; declared.len()];
        for NamedFile { name, file } in files {
            let Some(at) = declared.iter().position(|other| other.name == *name) else {
                let names = declared.iter().map(|texture| format!("`{}`", texture.name));
                let names: Vec<String> = names.collect();
                return Err(CliError::usage(match names.as_slice() {
                    [] => format!("there is no texture `{name}`: the shader has none"),
                    names => format!("there is no texture `{name}`, only {}", names.join(", ")),
                }));
            };
            if chosen[at].replace(file).is_some() {
                let twice = format!("the texture `{name}` is given twice");
                return Err(CliError::Usage(twice));
            }
        }
        let loader = FileLoader::with_names_of(sources);
        let mut textures = Vec::with_capacity(declared.len());
        for (texture, file) in declared.iter().zip(chosen) {
            let mut pyramid = |file: &Path| {
                read.push(file.to_owned());
                let settings = TextureSettings::of_metadata(|name| texture.metadata_str(name))?;
                let image =
                    read_image_as(file, settings.color_space).map_err(|error| error.to_string())?;
                Ok(Arc::new(MipPyramid::new(image).with_wrap(settings.wrap)))
            };
            textures.push(match file {
                Some(file) => Some(pyramid(file).map_err(|error: String| {
                    let file = file.display();
                    CliError::usage(format!("cannot read the texture {file}: {error}"))
                })?),
                None => sources
                    .read_texture(texture, &loader, |name| pyramid(name.as_ref()))
                    .map_err(|missing| report_diagnostics(&missing, format))?,
            });
        }
        Ok(Textures(textures))
    }

    /// Whether none is read from a file.
    pub fn are_checkerboards(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// The texel that answers a request.
    pub fn sample(&self, request: &SampleRequest) -> Texel {
        let at = [request.u, request.v];
        let Some(pyramid) = &self.0[request.texture.index()] else {
            let [u, v] = at.map(f64::from);
            return Texel::flat(checkerboard::checkerboard_colour(u, v));
        };
        lookup(pyramid, request)
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
                let [dx, dy] = request_steps(request);
                mip_level(size, dx, dy)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra::program::Texture;
    use adumbra_image::{ColorSpace, Wrap};

    #[test]
    fn names_of_metadata_are_those_of_images() {
        assert_eq!(Texture::WRAPS, Wrap::NAMES);
        assert_eq!(Texture::COLOR_SPACES, ColorSpace::NAMES);
        for name in [Texture::WRAP_U, Texture::WRAP_V, Texture::COLOR_SPACE] {
            let unknown = TextureSettings::of_metadata(|key| (key == name).then_some("foo"));
            assert!(unknown.unwrap_err().contains(name));
        }
    }
}
