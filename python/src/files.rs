//! Images in files, from and to arrays.

use crate::texture::{image_array, image_of_array, named_color_space};
use adumbra_image::{
    ColorSpace, ImageFormat, PngImage, read_image_as, save_atomically, srgb, to_byte, write_exr,
    write_png,
};
use numpy::PyArray3;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Reads a PNG, JPEG or EXR file: linear floats in an array (height, width, channels).
///
/// `color_space` says what the numbers of PNG and JPEG files mean: "srgb", or "linear" for those
/// that are no colours.
#[pyfunction]
#[pyo3(signature = (path, *, color_space = "srgb"))]
pub fn read_image<'py>(
    py: Python<'py>,
    path: PathBuf,
    color_space: &str,
) -> PyResult<Bound<'py, PyArray3<f32>>> {
    let color_space = named_color_space(color_space)?;
    let image = py.detach(|| read_image_as(&path, color_space));
    let image = image
        .map_err(|error| PyOSError::new_err(format!("cannot read {}: {error}", path.display())))?;
    image_array(py, &image)
}

/// Writes linear floats, an array (height, width) or (height, width, channels), to an EXR file,
/// which has them as they are, or to a PNG file, which has sRGB colours of eight bits.
#[pyfunction]
pub fn write_image(py: Python<'_>, path: PathBuf, image: &Bound<'_, PyAny>) -> PyResult<()> {
    let image = image_of_array(image, ColorSpace::Linear)?;
    let format = ImageFormat::from_path(&path).ok_or_else(|| {
        PyValueError::new_err(format!(
            "{} ends neither in .png nor in .exr",
            path.display()
        ))
    })?;
    let written = py.detach(|| match format {
        ImageFormat::Exr => save_atomically(&path, |file| write_exr(&image, 0, file)),
        ImageFormat::Png => {
            let has_alpha = image.channels().is_multiple_of(2);
            let bytes = image.pixels().iter().flat_map(|&[r, g, b, alpha]| {
                let [r, g, b] = [r, g, b].map(srgb::byte_from_linear);
                let alpha = has_alpha.then(|| to_byte(alpha.into()));
                [r, g, b].into_iter().chain(alpha)
            });
            let png = PngImage {
                size: image.size(),
                bytes: &bytes.collect::<Vec<u8>>(),
                has_alpha,
                is_srgb: true,
            };
            save_atomically(&path, |file| write_png(&png, file))
        }
    });
    written.map_err(|error| PyOSError::new_err(format!("cannot write {}: {error}", path.display())))
}
