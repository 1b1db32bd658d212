//! Conversions of images to tiled textures, and where they are kept.
//!
//! A conversion is kept beside the image as `wood.png.adumbra-srgb.exr`, or else in a cache folder,
//! under a name that its contents give. It has a key in its header: the fingerprint of the image's
//! contents and of the options. A conversion of another key is replaced. Where nothing can be kept,
//! a conversion is in a temporary folder, or else in memory: a full disk takes time and memory, and
//! never the image.

use super::TextureSource;
use super::tiled_file::{
    SampleFormat, TiledFile, TiledFileError, TiledOptions, convert, convert_in_memory,
};
use adumbra_image::ColorSpace;
use adumbra_image::Fingerprint;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Counts the changes of what a conversion has; older ones are made again.
const CONVERSION_VERSION: u64 = 1;

/// Whether conversions are kept for the next time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeepConversions {
    /// They are in a temporary folder as long as their cache is there.
    #[default]
    No,
    /// They are beside their images, or else in the folder.
    Yes {
        /// The cache folder, if there is one.
        folder: Option<PathBuf>,
    },
}

impl KeepConversions {
    /// Keeps them, with the user's cache folder: `adumbra` in `$XDG_CACHE_HOME`, or else in
    /// `~/.cache`; on Windows in `%LOCALAPPDATA%`.
    pub fn in_user_folder() -> KeepConversions {
        let variable = |name: &str| {
            let folder = std::env::var_os(name).map(PathBuf::from);
            // A relative path is to be ignored (XDG Base Directory Specification).
            folder.filter(|folder| folder.is_absolute())
        };
        let caches = match cfg!(windows) {
            true => variable("LOCALAPPDATA"),
            false => variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache"))),
        };
        KeepConversions::Yes {
            folder: caches.map(|caches| caches.join("adumbra")),
        }
    }
}

/// Makes and finds conversions.
#[derive(Debug, Default)]
pub(super) struct Conversions {
    keep: KeepConversions,
    temporary: Option<TempDir>,
    /// Why a conversion is not where it should be: the first time.
    warning: Option<String>,
    /// Conversions that were made.
    made: usize,
}

/// An image that is converted.
struct Conversion<'a> {
    source: &'a TextureSource,
    color_space: ColorSpace,
    /// Its key, as it is written.
    key: String,
}

impl Conversions {
    pub(super) fn new(keep: KeepConversions) -> Conversions {
        Conversions {
            keep,
            ..Conversions::default()
        }
    }

    /// Why a conversion is not kept where it should be, the first time that it was so.
    pub(super) fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// The tiled texture of an image: a conversion that was kept, or a new one.
    pub(super) fn tiled(
        &mut self,
        source: &TextureSource,
        color_space: ColorSpace,
    ) -> Result<TiledFile, TiledFileError> {
        let conversion = Conversion::new(source, color_space);
        let places = match &self.keep {
            KeepConversions::No => Vec::new(),
            KeepConversions::Yes { folder } => conversion.places(folder.as_deref()),
        };
        let kept = places.iter().find_map(|place| conversion.find(place));
        kept.map_or_else(|| self.make(&conversion, &places), Ok)
    }

    /// Converts an image to the first of these places that can be written, or else to a temporary
    /// one.
    fn make(
        &mut self,
        conversion: &Conversion<'_>,
        places: &[PathBuf],
    ) -> Result<TiledFile, TiledFileError> {
        self.made += 1;
        let mut failed = None;
        for place in places {
            match conversion.write(place) {
                Err(error) if error.is_target_unwritable() => failed = Some(error.to_string()),
                made => return made,
            }
        }
        if let Some(why) = failed {
            self.warn(format!("conversions of textures are not kept: {why}"));
        }
        let temporary = match &self.temporary {
            Some(folder) => Ok(folder),
            None => tempfile::tempdir().map(|folder| &*self.temporary.insert(folder)),
        };
        let why = match temporary {
            Ok(folder) => {
                match conversion.write(&folder.path().join(format!("{}.exr", self.made))) {
                    Err(error) if error.is_target_unwritable() => error.to_string(),
                    made => return made,
                }
            }
            Err(error) => error.to_string(),
        };
        self.warn(format!("conversions of textures are in memory: {why}"));
        convert_in_memory(conversion.source, &conversion.options())
    }

    fn warn(&mut self, why: String) {
        self.warning.get_or_insert(why);
    }
}

impl Conversion<'_> {
    fn new(source: &TextureSource, color_space: ColorSpace) -> Conversion<'_> {
        let mut all = Fingerprint::new();
        all.add(CONVERSION_VERSION);
        all.add_debug(&color_space);
        source.add_to(&mut all);
        Conversion {
            source,
            color_space,
            key: format!("{:016x}", all.value()),
        }
    }

    /// Where it may be kept: beside the file, then in the cache folder.
    fn places(&self, folder: Option<&Path>) -> Vec<PathBuf> {
        let beside = match self.source {
            TextureSource::File(path) => path.file_name().map(|name| {
                let mut name = OsString::from(name);
                name.push(format!(".adumbra-{}.exr", self.color_space.name()));
                path.with_file_name(name)
            }),
            TextureSource::Part { .. } | TextureSource::Bytes { .. } => None,
        };
        let in_folder = folder.map(|folder| folder.join(format!("{}.exr", self.key)));
        beside.into_iter().chain(in_folder).collect()
    }

    /// Finds the conversion of this key at a place.
    fn find(&self, place: &Path) -> Option<TiledFile> {
        let tiled = TiledFile::open(place).ok()?;
        (tiled.source() == Some(self.label())).then_some(tiled)
    }

    /// The name of the source in the header, with the key.
    fn label(&self) -> String {
        format!("adumbra {}", self.key)
    }

    fn options(&self) -> TiledOptions {
        TiledOptions {
            format: SampleFormat::Source,
            color_space: self.color_space,
            source: Some(self.label()),
            ..TiledOptions::default()
        }
    }

    fn write(&self, place: &Path) -> Result<TiledFile, TiledFileError> {
        if let Some(folder) = place
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            fs::create_dir_all(folder)
                .map_err(|error| TiledFileError::target(place, error.into()))?;
        }
        convert(self.source, place, &self.options())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_image::{ImageSize, PngImage, write_png};

    #[test]
    fn conversion_without_any_folder_is_in_memory() {
        let mut bytes = Vec::new();
        let png = PngImage {
            size: ImageSize::new(1, 1).expect("a size"),
            bytes: &[255, 0, 255],
            has_alpha: false,
            is_srgb: true,
        };
        write_png(&png, &mut bytes).expect("it is written");
        let source = TextureSource::Bytes {
            name: "images[0]".to_owned(),
            bytes: bytes.into(),
        };
        let temporary = tempfile::tempdir().expect("a folder");
        // A file in its place: nothing can be written into it.
        let path = temporary.path().to_owned();
        fs::remove_dir(&path).expect("it is empty");
        fs::write(&path, "").expect("it is written");
        let mut conversions = Conversions {
            temporary: Some(temporary),
            ..Conversions::default()
        };
        let tiled = conversions
            .tiled(&source, ColorSpace::Srgb)
            .expect("a texture");
        fs::remove_file(&path).expect("it is there");
        let mut bytes = tiled.open_bytes().expect("they are in memory");
        let (texels, _) = tiled.read_tile(&mut bytes, 0, 0, 0).expect("a tile");
        assert_eq!(texels.texel(0, 0), [1.0, 0.0, 1.0, 1.0]);
        assert!(tiled.resident_bytes() > 100);
        let warning = conversions.warning().expect("it is said");
        assert!(warning.contains("in memory"), "{warning}");
    }
}
