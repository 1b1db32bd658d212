//! Loaders of scenes, models and images on files with some of their bytes changed: each is loaded,
//! or is an error; none panics, and none exceeds the bounds
//! of memory and time below.

use crate::bounds::peak_bytes;
use crate::choices::{Choices, bytes_of_seed};
use crate::panics::watched;
use adumbra_image::{
    Image, ImagePart, ImageRegion, ImageSize, merge_parts, read_image, write_exr_part,
};
use adumbra_render::geometry::GeometryLimits;
use adumbra_render::scene::SceneLoader;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The most bytes that loading a file of this campaign may hold at once: 16 MiB.
pub const MAX_BYTES: usize = 16 << 20;

/// What an image may hold for each byte of its file, beside that: the pixels that a byte gives by
/// DWA, the compression with the greatest expansion, if they have three channels. A pixel is 16
/// bytes, and half as many while it is decoded.
pub const MAX_IMAGE_BYTES_PER_BYTE: usize = 64 * 1_032 / 12 * 24;

/// The most time that it may take, where clocks count.
pub const MAX_TIME: Duration = Duration::from_secs(2);

/// The limits of scenes: few, so that what passes them takes little.
const LIMITS: GeometryLimits = GeometryLimits {
    triangles: 10_000,
    instances: 1_000,
};

/// Most changes of a file.
const CHANGES: usize = 6;

/// A loader, with a file that it loads.
#[derive(Clone, Copy, Debug)]
pub struct FuzzLoader {
    /// Its name.
    pub name: &'static str,
    /// The file that is changed, and one beside it.
    file: &'static str,
    beside: Option<(&'static str, &'static str)>,
    valid: fn() -> Vec<u8>,
    /// What a change may put in.
    words: &'static [&'static str],
    load: fn(&Path) -> Result<(), String>,
    /// The most bytes that it may hold for each byte of a file, beside [`MAX_BYTES`].
    max_bytes_per_byte: usize,
}

const TRIANGLE_OBJ: &str = "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0 1\nv 1 1 0\nvt 0 0\n\
    vt 1 0\nvn 0 0 1\no a\nusemtl red\nf 1/1/1 2/2/1 3/1/1\ng b\nf -4 -3 -2 -1\nf 1 2\nl 1 2\n";

const MTL: &str = "newmtl red\nKa 0 0 0\nKd 1 0 0\nKe 0 0 0\nKs 0.5 0.5 0.5\nNs 10\nNi 1.5\nd 0.5\n\
    illum 2\nPr 0.5\nPm 1\nnewmtl blue\nKd 0 0 1\n";

const GLTF: &str = r#"{"nodes":[{"mesh":0,"children":[1]},{"camera":0,"scale":[1,2,1]}],
"scenes":[{"nodes":[0]}],"scene":0,
"meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1,"material":0,"mode":4}]}],
"materials":[{"pbrMetallicRoughness":{"baseColorFactor":[1,0,0,1]},"emissiveFactor":[0,0,0]}],
"cameras":[{"type":"perspective","perspective":{"yfov":1.0,"znear":0.1}}],
"accessors":[{"bufferView":0,"componentType":5126,"type":"VEC3","count":3,"min":[0,0,0],"max":[1,1,0],
"sparse":{"count":1,"indices":{"bufferView":1,"componentType":5123},"values":{"bufferView":0}}},
{"bufferView":1,"componentType":5123,"type":"SCALAR","count":3}],
"bufferViews":[{"buffer":0,"byteLength":36,"byteStride":12},{"buffer":0,"byteOffset":36,"byteLength":6}],
"buffers":[{"byteLength":42,"uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAABAAIA"}],
"asset":{"version":"2.0"}}"#;

const SCENE: &str = r#"{"image":{"width":8,"height":8},"options":{"spp":1,"bounces":2},
"camera":{"perspective":{"from":[0,2,4],"to":[0,0,0],"fov":60}},
"meshes":{"p":{"plane":{"segments":[2,2]}},"s":{"sphere":{"segments":[8,4]}},"t":{"terrain":{"segments":[4,4],"height":0.1}},
"own":{"triangles":{"positions":[[0,0,0],[0,0,1],[1,0,0]],"triangles":[[0,1,2]]}},"o":{"file":{"path":"m.obj"}}},
"materials":{"m":{"standard":{"base-color":[1,0,0],"roughness":0.5}}},
"instances":[{"mesh":"p","material":"m","transform":[{"scale":[2,2,2]},{"rotate":{"axis":[0,1,0],"degrees":30}},{"translate":[0,1,0]}]},
{"mesh":"s"},{"scene":"m.obj"}],
"lights":[{"point":{"position":[0,1,0],"intensity":[1,1,1]}},{"spot":{"position":[0,1,0],"direction":[0,-1,0],"intensity":[1,1,1],"outer":30}}],
"environment":{"constant":[0.1,0.1,0.1]}}"#;

const JSON_WORDS: &[&str] = &[
    "0",
    "-1",
    "1",
    "3",
    "4294967295",
    "18446744073709551615",
    "1e308",
    "1e-320",
    "null",
    "\"\"",
    "[]",
    "{}",
    "true",
    "[[]]",
];
const LINE_WORDS: &[&str] = &[
    "0",
    "-1",
    "9223372036854775807",
    "-9223372036854775808",
    "nan",
    "inf",
    "1e39",
    "/",
    "//",
    "v",
    "f",
    "o",
    "usemtl",
    "Kd",
    "Ns",
    "newmtl",
    "mtllib m.mtl",
    "\n",
    " ",
];

/// Every loader.
pub static LOADERS: [FuzzLoader; 6] = [
    FuzzLoader {
        name: "gltf",
        file: "m.gltf",
        beside: None,
        valid: || GLTF.into(),
        words: JSON_WORDS,
        load: load_scene,
        max_bytes_per_byte: 0,
    },
    FuzzLoader {
        name: "glb",
        file: "m.glb",
        beside: None,
        valid: glb,
        words: JSON_WORDS,
        load: load_scene,
        max_bytes_per_byte: 0,
    },
    FuzzLoader {
        name: "obj",
        file: "m.obj",
        beside: Some(("m.mtl", MTL)),
        valid: || TRIANGLE_OBJ.into(),
        words: LINE_WORDS,
        load: load_scene,
        max_bytes_per_byte: 0,
    },
    FuzzLoader {
        name: "mtl",
        file: "m.mtl",
        beside: Some(("m.obj", TRIANGLE_OBJ)),
        valid: || MTL.into(),
        words: LINE_WORDS,
        load: |file| load_scene(&file.with_file_name("m.obj")),
        max_bytes_per_byte: 0,
    },
    FuzzLoader {
        name: "scene",
        file: "s.json",
        beside: Some(("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")),
        valid: || SCENE.into(),
        words: JSON_WORDS,
        load: load_scene,
        max_bytes_per_byte: 0,
    },
    FuzzLoader {
        name: "exr",
        file: "i.exr",
        beside: None,
        valid: exr,
        words: &[],
        load: load_part,
        max_bytes_per_byte: MAX_IMAGE_BYTES_PER_BYTE,
    },
];

fn load_scene(file: &Path) -> Result<(), String> {
    let loader = SceneLoader::new().with_limits(LIMITS);
    loader
        .load(file)
        .map(drop)
        .map_err(|error| error.to_string())
}

/// Reads a file as an image by itself, and as a part of one.
fn load_part(file: &Path) -> Result<(), String> {
    let read = read_image(file).map(drop);
    let merged = merge_parts(&[file.to_owned()]).map(drop);
    read.map_err(|error| error.to_string())?;
    merged.map_err(|error| error.to_string())
}

/// The model as a binary file.
fn glb() -> Vec<u8> {
    let mut json = GLTF.as_bytes().to_vec();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut file = b"glTF\x02\0\0\0".to_vec();
    file.extend((20 + json.len() as u32).to_le_bytes());
    file.extend((json.len() as u32).to_le_bytes());
    file.extend(b"JSON");
    file.extend(json);
    file
}

fn exr() -> Vec<u8> {
    let size = ImageSize::new(9, 5).expect("a small image");
    let pixels = (0..45).map(|at| [at as f32, 0.5, 1e-3, 1.0]).collect();
    let mut bytes = Cursor::new(Vec::new());
    let part = ImagePart {
        region: ImageRegion::whole(size),
        key: 1,
        is_interrupted: false,
    };
    let image = Image::from_pixels(size, 4, pixels);
    write_exr_part(&image, &part, 1, &mut bytes).expect("memory can be written");
    bytes.into_inner()
}

/// A file with some changes: a byte, a number of four bytes, a word, or a range cut out or doubled.
fn mutate(mut file: Vec<u8>, words: &[&str], choices: &mut Choices<'_>) -> Vec<u8> {
    let most = 1 + choices.below(CHANGES);
    for _ in 0..=choices.below(most) {
        let at = choices.word() as usize % (file.len() + 1);
        let end = (at + 1 + choices.below(12)).min(file.len());
        match choices.below(6) {
            0 if at < file.len() => file[at] ^= 1 << choices.below(8),
            1 => {
                let numbers = [0, 1, u32::MAX, u32::MAX / 2, 1 << 20];
                let number = numbers[choices.below(numbers.len())].to_le_bytes();
                let end = (at + number.len()).min(file.len());
                file[at..end].copy_from_slice(&number[..end - at]);
            }
            2 | 3 if !words.is_empty() => {
                let word = words[choices.below(words.len())].bytes();
                // A number or word as a whole is exchanged more often than a part.
                let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || b".-".contains(byte);
                let length = file[at..]
                    .iter()
                    .take_while(|byte| is_of_word(byte))
                    .count();
                file.splice(at..at + length, word);
            }
            4 => drop(file.drain(at..end)),
            _ => {
                let again = file[at..end].to_vec();
                file.splice(at..at, again);
            }
        }
    }
    file
}

/// What became of the inputs of a loader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoaderCounts {
    /// Files that were loaded.
    pub loaded: usize,
    /// Files that were refused.
    pub refused: usize,
    /// The most bytes that one took.
    pub peak: usize,
    /// The most time that one took.
    pub slowest: Duration,
}

/// A loader with a folder for its files.
#[derive(Debug)]
pub struct LoaderFolder {
    loader: &'static FuzzLoader,
    path: PathBuf,
    _folder: TempDir,
}

/// What loading a file took, and whether it was loaded or why not.
#[derive(Debug)]
pub struct Loaded {
    result: Result<(), String>,
    peak: usize,
    time: Duration,
}

impl Loaded {
    /// What became of the file, as tables call it.
    pub fn fate(&self) -> &'static str {
        match self.result {
            Ok(()) => "loaded",
            Err(_) => "refused",
        }
    }
}

impl FuzzLoader {
    /// The loader of that name.
    pub fn from_name(name: &str) -> Option<&'static FuzzLoader> {
        LOADERS.iter().find(|loader| loader.name == name)
    }

    /// A file that it loads.
    pub fn valid_file(&self) -> Vec<u8> {
        (self.valid)()
    }

    /// The most bytes that loading a file of some bytes may hold at once.
    fn max_bytes(&self, len: usize) -> usize {
        MAX_BYTES + self.max_bytes_per_byte * len
    }
}

impl LoaderFolder {
    /// A folder for the files of a loader.
    ///
    /// # Panics
    /// If no folder can be made.
    pub fn new(loader: &'static FuzzLoader) -> LoaderFolder {
        let folder = tempfile::tempdir().expect("there is space");
        if let Some((name, content)) = loader.beside {
            std::fs::write(folder.path().join(name), content).expect("there is space");
        }
        LoaderFolder {
            loader,
            path: folder.path().join(loader.file),
            _folder: folder,
        }
    }

    /// Loads a file.
    ///
    /// # Errors
    /// If the loader panics or exceeds a bound; with `clocks`, also that of time.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn load(&self, file: &[u8], clocks: bool) -> Result<Loaded, String> {
        std::fs::write(&self.path, file).expect("there is space");
        let start = Instant::now();
        let ((result, panic), peak) = peak_bytes(|| watched(|| (self.loader.load)(&self.path)));
        let time = start.elapsed();
        match (result, panic) {
            (_, Some(panic)) => Err(panic),
            (None, None) => Err("a panic on another thread".to_owned()),
            _ if peak > self.loader.max_bytes(file.len()) => Err(format!("{peak} bytes")),
            _ if clocks && time > MAX_TIME => Err(format!("{time:?}")),
            (Some(result), None) => Ok(Loaded { result, peak, time }),
        }
    }
}

/// Loads `inputs` changed files from a seed on. With `clocks`, one that takes too long is a
/// failure.
///
/// # Errors
/// The first file at which the loader panics or exceeds a bound, with its seed.
pub fn run_loader(
    loader: &'static FuzzLoader,
    first: u64,
    inputs: u64,
    clocks: bool,
) -> Result<LoaderCounts, String> {
    let folder = LoaderFolder::new(loader);
    let mut counts = LoaderCounts::default();
    for seed in first..first.saturating_add(inputs) {
        let bytes = bytes_of_seed(seed, 64);
        let file = match seed == first {
            true => loader.valid_file(),
            false => mutate(loader.valid_file(), loader.words, &mut Choices::new(&bytes)),
        };
        let loaded = folder.load(&file, clocks);
        let loaded = loaded.and_then(|loaded| match &loaded.result {
            Err(why) if seed == first => Err(format!("the valid file: {why}")),
            _ => Ok(loaded),
        });
        let loaded = loaded.map_err(|why| {
            let text = String::from_utf8_lossy(&file);
            format!("{} seed {seed}: {why}\n{text}", loader.name)
        })?;
        counts.peak = counts.peak.max(loaded.peak);
        counts.slowest = counts.slowest.max(loaded.time);
        match loaded.result {
            Ok(()) => counts.loaded += 1,
            Err(_) => counts.refused += 1,
        }
    }
    Ok(counts)
}
