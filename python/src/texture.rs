//! HostTextures of arrays and of files: an image with its mip levels, and how it is looked up.

use crate::planes::numpy_module;
use adumbra::gradient::ExactSum;
use adumbra::{SampleRequest, Texel};
use adumbra_cli::mip_lookup::lookup_level;
use adumbra_image::{
    ColorSpace, Image, ImageSize, MipPyramid, TextureSettings, Wrap, read_image_as, srgb,
};
use numpy::{PyArray3, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// The most texels of all levels that a gradient by a texture has: each takes 160 bytes a thread.
pub const MAX_GRADIENT_TEXELS: usize = 1 << 22;

/// An image with its mip levels, as shaders look it up: each request at the level that its four
/// partials ask for, with interpolation in it and between levels.
///
/// `image` is an array of shape (height, width) or (height, width, channels), 1 to 4 of them, or
/// the path of a PNG, JPEG or EXR file. Floats are taken as they are. Integers of one or two bytes
/// are divided by their greatest, and so are the numbers of files; `color_space` says what these
/// mean: `"srgb"`, or `"linear"` for normals and roughness. `wrap` says what is beyond the image,
/// along both axes or as a pair: `"repeat"`, `"mirror"`, `"clamp"`, `"black"`.
///
/// >>> import adumbra, numpy as np
/// >>> wood = adumbra.Texture(np.ones((4, 8, 3), np.float32))
/// >>> wood.shape, wood.levels
/// ((4, 8, 3), 4)
#[pyclass(frozen, name = "Texture", module = "adumbra")]
pub struct PyTexture {
    pub pyramid: Arc<MipPyramid>,
    settings: TextureSettings,
}

#[pymethods]
impl PyTexture {
    #[new]
    #[pyo3(signature = (image, *, color_space = "srgb", wrap = None))]
    fn new(
        image: &Bound<'_, PyAny>,
        color_space: &str,
        wrap: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyTexture> {
        let color_space = named_color_space(color_space)?;
        let wrap_mode = |name: &Bound<'_, PyAny>| -> PyResult<Wrap> {
            let name: String = name.extract()?;
            Wrap::from_name(&name).ok_or_else(|| {
                let known = Wrap::NAMES;
                PyValueError::new_err(format!("a wrap mode is one of {known:?}, not {name:?}"))
            })
        };
        let wrap = match wrap {
            None => [Wrap::default(); 2],
            Some(name) if name.is_instance_of::<pyo3::types::PyString>() => [wrap_mode(name)?; 2],
            Some(pair) => {
                let (u, v): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
                [wrap_mode(&u)?, wrap_mode(&v)?]
            }
        };
        PyTexture::with(image, TextureSettings { wrap, color_space })
    }

    /// Height, width and channels of the finest level.
    #[getter]
    fn shape(&self) -> (u32, u32, usize) {
        let (finest, size) = (&self.pyramid.levels()[0], self.pyramid.size());
        (size.height(), size.width(), finest.channels())
    }

    /// The number of levels.
    #[getter]
    fn levels(&self) -> usize {
        self.pyramid.levels().len()
    }

    /// The image of a level, 0 the finest: a new array (height, width, channels).
    fn level<'py>(&self, py: Python<'py>, level: usize) -> PyResult<Bound<'py, PyArray3<f32>>> {
        let levels = self.pyramid.levels();
        let image = levels.get(level).ok_or_else(|| {
            PyValueError::new_err(format!(
                "there are {} levels, and none of number {level}",
                levels.len()
            ))
        })?;
        image_array(py, image)
    }

    fn __repr__(&self) -> String {
        let (height, width, channels) = self.shape();
        format!("<Texture {width}x{height}, {channels} channels>")
    }

    fn __reduce__<'py>(slf: &Bound<'py, PyTexture>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let texture = slf.get();
        let names = texture.settings.wrap.map(Wrap::name);
        let arguments = (
            slf.get_type(),
            (texture.level(py, 0)?,),
            pyo3::types::PyDict::from_sequence(
                &vec![("wrap", (names[0], names[1]))]
                    .into_pyobject(py)?
                    .into_any(),
            )?,
        );
        let rebuild = py.import("adumbra._pickles")?.getattr("texture")?;
        Ok((rebuild, arguments).into_pyobject(py)?.into_any())
    }
}

/// The color space of a name.
///
/// # Errors
/// If there is none.
pub fn named_color_space(name: &str) -> PyResult<ColorSpace> {
    ColorSpace::from_name(name).ok_or_else(|| {
        let known = ColorSpace::NAMES;
        PyValueError::new_err(format!("a color space is one of {known:?}, not {name:?}"))
    })
}

/// The numbers of an image that mean something, in an array.
pub fn image_array<'py>(py: Python<'py>, image: &Image) -> PyResult<Bound<'py, PyArray3<f32>>> {
    let (size, channels) = (image.size(), image.channels());
    let numbers = image.pixels().iter().flat_map(|pixel| &pixel[..channels]);
    let numbers: Vec<f32> = numbers.copied().collect();
    let sides = [size.height() as usize, size.width() as usize, channels];
    numpy::PyArray1::from_vec(py, numbers).reshape(sides)
}

impl PyTexture {
    /// The texture of an array or a file, by these settings.
    ///
    /// # Errors
    /// If it is no image.
    pub fn with(image: &Bound<'_, PyAny>, settings: TextureSettings) -> PyResult<PyTexture> {
        let is_path = image.is_instance_of::<pyo3::types::PyString>()
            || image.hasattr(intern!(image.py(), "__fspath__"))?;
        let image = match is_path {
            true => {
                let path: PathBuf = image.extract()?;
                let read = image
                    .py()
                    .detach(|| read_image_as(&path, settings.color_space));
                read.map_err(|error| {
                    PyOSError::new_err(format!("cannot read {}: {error}", path.display()))
                })?
            }
            false => image_of_array(image, settings.color_space)?,
        };
        Ok(PyTexture {
            pyramid: Arc::new(MipPyramid::new(image).with_wrap(settings.wrap)),
            settings,
        })
    }
}

/// The image of an array (height, width) or (height, width, channels).
///
/// # Errors
/// If it has another shape, or numbers that are no colours.
pub fn image_of_array(array: &Bound<'_, PyAny>, color_space: ColorSpace) -> PyResult<Image> {
    let py = array.py();
    let numpy = numpy_module(py)?;
    let array = numpy.call_method1(intern!(py, "asarray"), (array,))?;
    let array = array.cast_into::<PyUntypedArray>()?;
    let dtype = array.dtype();
    // The greatest number, of integers.
    let whole = match (dtype.kind(), dtype.itemsize()) {
        (b'f', _) => None,
        (b'u', 1) => Some(255.0),
        (b'u', 2) => Some(65535.0),
        _ => {
            let of = dtype.str()?;
            return Err(PyTypeError::new_err(format!(
                "an image has floats, or unsigned integers of one or two bytes, not {of}"
            )));
        }
    };
    let floats = array.call_method1(intern!(py, "astype"), (numpy::dtype::<f32>(py), "C"))?;
    let sides = array.shape();
    let (height, width, channels) = match *sides {
        [height, width] => (height, width, 1),
        [height, width, channels @ 1..=4] => (height, width, channels),
        _ => {
            return Err(PyValueError::new_err(format!(
                "an image has the shape (height, width) or (height, width, channels) with 1 to 4 channels, not {sides:?}"
            )));
        }
    };
    let size = ImageSize::new(width as u64, height as u64);
    let size = size.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let flat = floats.call_method1(intern!(py, "reshape"), (-1,))?;
    let flat = flat.cast_into::<numpy::PyArray1<f32>>()?;
    let flat = flat.try_readonly()?;
    let colours = flat.as_slice()?.chunks_exact(channels).map(|given| {
        let mut pixel = [0.0, 0.0, 0.0, 1.0];
        for (at, (own, &number)) in pixel.iter_mut().zip(given).enumerate() {
            *own = match (whole, color_space) {
                (None, _) => number,
                (Some(whole), ColorSpace::Srgb) if at < 3 => {
                    srgb::to_linear(f64::from(number) / whole) as f32
                }
                (Some(whole), _) => (f64::from(number) / whole) as f32,
            };
        }
        // One number is grey, as in files.
        if channels < 3 {
            let (grey, alpha) = (pixel[0], if channels == 2 { pixel[1] } else { 1.0 });
            pixel = [grey, grey, grey, alpha];
        }
        pixel
    });
    Ok(Image::from_pixels(size, channels, colours.collect()))
}

/// The gradient by the texels of all levels of a texture, as exact sums.
pub struct TexelSums {
    pyramid: Arc<MipPyramid>,
    levels: Vec<Vec<[ExactSum; 4]>>,
    /// Whether something was added that is not finite.
    is_spoiled: bool,
}

impl TexelSums {
    /// Sums of nothing.
    ///
    /// # Errors
    /// If there are more than [`MAX_GRADIENT_TEXELS`].
    pub fn new(pyramid: &Arc<MipPyramid>) -> PyResult<TexelSums> {
        let texels = pyramid.levels().iter().map(|level| level.pixels().len());
        let all: usize = texels.clone().sum();
        if all > MAX_GRADIENT_TEXELS {
            return Err(PyValueError::new_err(format!(
                "a texture of {all} texels in all levels is too large for a gradient: {MAX_GRADIENT_TEXELS} is the most"
            )));
        }
        Ok(TexelSums {
            levels: texels
                .map(|count| vec![Default::default(); count])
                .collect(),
            pyramid: pyramid.clone(),
            is_spoiled: false,
        })
    }

    /// Sums of nothing for the same texture.
    pub fn empty(&self) -> TexelSums {
        TexelSums {
            pyramid: self.pyramid.clone(),
            levels: self
                .levels
                .iter()
                .map(|level| vec![Default::default(); level.len()])
                .collect(),
            is_spoiled: false,
        }
    }

    /// Adds the adjoint of a sample.
    pub fn add(&mut self, request: &SampleRequest, adjoint: &Texel) {
        let (at, level) = ([request.u, request.v], lookup_level(&self.pyramid, request));
        let TexelSums {
            pyramid,
            levels,
            is_spoiled,
        } = self;
        let slopes = adjoint.slopes.unwrap_or_default();
        pyramid.for_each_weight(at, level, |read| {
            let sums = &mut levels[read.level][read.texel];
            for (channel, sum) in sums.iter_mut().enumerate() {
                let own = read.weight * f64::from(adjoint.numbers[channel])
                    + read.slopes[0] * f64::from(slopes.u[channel])
                    + read.slopes[1] * f64::from(slopes.v[channel]);
                match (own as f32).is_finite() {
                    true => sum.add(own as f32),
                    false => *is_spoiled = true,
                }
            }
        });
    }

    /// Adds the sums of another thread.
    pub fn join(&mut self, other: &TexelSums) {
        self.is_spoiled |= other.is_spoiled;
        let own = self.levels.iter_mut().flatten().flatten();
        own.zip(other.levels.iter().flatten().flatten())
            .for_each(|(sum, more)| sum.join(more));
    }

    /// The gradient by the finest level: an array like that of the texture, NaN throughout if
    /// something was added that is not finite.
    pub fn gradient<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let levels = self.levels.iter().map(|level| {
            let texels = level
                .iter()
                .map(|sums| sums.map(|sum| f64::from(sum.to_f32())));
            texels.collect()
        });
        let finest = self.pyramid.finest_gradient(levels.collect());
        let image = &self.pyramid.levels()[0];
        let channels = image.channels();
        let numbers = finest.iter().flat_map(|texel| {
            let [red, green, blue, alpha] = *texel;
            // One number is all three colours.
            let grey = red + green + blue;
            let own = match channels {
                1 => [grey, 0.0, 0.0, 0.0],
                2 => [grey, alpha, 0.0, 0.0],
                _ => *texel,
            };
            let spoiled = self.is_spoiled;
            own.into_iter()
                .take(channels)
                .map(move |number| match spoiled {
                    true => f32::NAN,
                    false => number as f32,
                })
        });
        let numbers: Vec<f32> = numbers.collect();
        let sides = [
            image.size().height() as usize,
            image.size().width() as usize,
            channels,
        ];
        Ok(numpy::PyArray1::from_vec(py, numbers)
            .reshape(sides)?
            .into_any())
    }
}
