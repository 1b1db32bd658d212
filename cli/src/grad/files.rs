//! The files of `-o`: images of gradients, or arrays.

use super::evaluate::Evaluated;
use super::points::GradPoints;
use super::{GradJob, label};
use crate::args::grad::{GradArgs, GradRules, GradView};
use crate::args::image::ViewName;
use crate::error::{CliError, CliResult};
use crate::image::{image_format, save_atomically, save_numbers};
use crate::numpy::{ArrayNumbers, NamedArray, write_npz};
use adumbra::Type;
use adumbra::gradient::{Gradient, JumpPoint, MAX_AXES, Parameter, ParameterKind};
use adumbra_image::{Image, ImageFormat};
use std::path::{Path, PathBuf};

/// The most bytes of the gradients of all points that files are made of.
pub const MAX_FILE_BYTES: u64 = 1 << 30;

/// The colours of axes.
const AXIS_COLOURS: [[f32; 4]; MAX_AXES] = [
    [1.0, 0.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 0.0],
    [0.0, 0.0, 1.0, 0.0],
    [1.0, 1.0, 1.0, 0.0],
];

/// The files that are written.
pub enum OutputFiles {
    None,
    /// An image for each parameter, with its number.
    Images(Vec<(PathBuf, usize)>),
    /// All in one file of arrays.
    Arrays(PathBuf),
    /// An image of what the edges beside each pixel come to.
    Edges(PathBuf, GradView),
}

impl OutputFiles {
    /// The files that `-o` asks for.
    ///
    /// # Errors
    /// If the gradient has no such files.
    pub fn choose(args: &GradArgs, gradient: &Gradient) -> CliResult<OutputFiles> {
        let Some(out) = &args.out else {
            return Ok(OutputFiles::None);
        };
        let ending = out.extension().unwrap_or_default();
        if ending.eq_ignore_ascii_case("npz") {
            if args.view.is_some() || args.scale.is_some() {
                return Err(CliError::usage(
                    "`--view` and `--scale` are of images, and -o is a file of arrays",
                ));
            }
            if out.metadata().is_ok_and(|found| !found.is_file()) {
                return Err(CliError::usage(format!("{} is not a file", out.display())));
            }
            return Ok(OutputFiles::Arrays(out.clone()));
        }
        if ImageFormat::from_path(out).is_none() {
            return Err(CliError::usage(format!(
                "{} ends in none of .png, .exr and .npz",
                out.display()
            )));
        }
        image_format(out)?;
        if args.size.is_none() || args.at.is_some() {
            return Err(CliError::usage(
                "-o is an image of the gradient at all pixels: give `--size WxH`, without `--at`",
            ));
        }
        match args.view {
            None | Some(GradView::Gradient | GradView::Difference) => {
                Ok(OutputFiles::Images(images(out, gradient)?))
            }
            Some(view) => {
                if !matches!(args.rules, GradRules::Pair | GradRules::Edge) {
                    return Err(CliError::usage(
                        "the view is one of edges: give `--rules edge` or `--rules pair`",
                    ));
                }
                Ok(OutputFiles::Edges(out.clone(), view))
            }
        }
    }

    /// Their paths.
    pub fn paths(&self) -> impl Iterator<Item = &Path> + Clone {
        let (images, arrays) = match self {
            OutputFiles::None => (&[][..], None),
            OutputFiles::Images(images) => (&images[..], None),
            OutputFiles::Arrays(path) | OutputFiles::Edges(path, _) => {
                (&[][..], Some(path.as_path()))
            }
        };
        let images = images.iter().map(|(path, _)| path.as_path());
        images.chain(arrays)
    }

    /// Whether the gradient of each point is written.
    pub fn has_points(&self, gradient: &Gradient) -> bool {
        match self {
            OutputFiles::None | OutputFiles::Edges(..) => false,
            OutputFiles::Images(_) => true,
            OutputFiles::Arrays(_) => (gradient.parameters().iter())
                .any(|parameter| parameter.kind != ParameterKind::Buffer),
        }
    }
}

/// The images of a gradient, each with the number of its parameter.
fn images(out: &Path, gradient: &Gradient) -> CliResult<Vec<(PathBuf, usize)>> {
    let parameters = gradient.parameters();
    if let Some(buffer) = parameters
        .iter()
        .find(|by| by.kind == ParameterKind::Buffer)
    {
        return Err(CliError::usage(format!(
            "-o writes the gradient at each pixel, and that by the buffer `{}` is a sum over all: give -o OUT.npz",
            buffer.value.name
        )));
    }
    for parameter in parameters {
        let count = parameter.value.ty.scalar_count();
        if count > 4 {
            return Err(CliError::usage(format!(
                "the gradient by `{}` has {count} numbers at each pixel, more than the 4 of an image: give -o OUT.npz",
                parameter.value.name
            )));
        }
    }
    if parameters.len() == 1 {
        return Ok(vec![(out.to_owned(), 0)]);
    }
    let names = parameters.iter().map(|parameter| {
        let ending = out.extension().unwrap_or_default().to_string_lossy();
        out.with_extension(format!(
            "{}.{ending}",
            label(gradient, parameter).replace(':', "_")
        ))
    });
    Ok(names.zip(0..).collect())
}

impl GradJob<'_> {
    /// Refuses files whose numbers would take more than [`MAX_FILE_BYTES`].
    ///
    /// # Errors
    /// If they would.
    pub fn check_files(&self) -> CliResult {
        if !self.files.has_points(self.gradient) {
            return Ok(());
        }
        let parameters = self.gradient.parameters().iter();
        let floats = (parameters.filter(|parameter| parameter.kind != ParameterKind::Buffer))
            .map(|parameter| parameter.value.ty.scalar_count() as u64);
        let points = self.points.points().numbers().len() as u64;
        let bytes = floats.sum::<u64>().saturating_mul(4).saturating_mul(points);
        match bytes <= MAX_FILE_BYTES {
            true => Ok(()),
            false => Err(CliError::usage(format!(
                "the gradients of all pixels would take {bytes} bytes, and {MAX_FILE_BYTES} is the limit: give a smaller `--size`, or fewer parameters"
            ))),
        }
    }

    /// Writes the files. Returns the gradient that is white in each PNG image, by parameter.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn write_files(&self, done: &Evaluated) -> CliResult<Vec<(String, f32)>> {
        let parameters = self.gradient.parameters();
        match (self.files, self.points.points()) {
            (OutputFiles::Images(images), GradPoints::Image(grid, _)) => {
                let mut scales = Vec::new();
                for (path, parameter) in images {
                    let parameter = &parameters[*parameter];
                    let planes = done.planes(parameter);
                    let mut pixels = vec![[0.0; 4]; done.points];
                    for (channel, plane) in planes.iter().enumerate() {
                        for (pixel, number) in pixels.iter_mut().zip(plane) {
                            pixel[channel] = *number;
                        }
                    }
                    let channels = planes.len();
                    let (size, view) = (grid.size(), ViewName::Ddx);
                    let image = Image::from_pixels(size, channels, pixels);
                    let scale = save_numbers(path, &image, view, self.args.scale)?;
                    scales.extend(scale.map(|scale| (label(self.gradient, parameter), scale)));
                }
                Ok(scales)
            }
            (OutputFiles::Edges(path, view), GradPoints::Image(grid, _)) => {
                let (numbers, scale) = edge_view(*view, &done.jump_points, done.points);
                let channels = if *view == GradView::Axis { 3 } else { 1 };
                let (size, tone) = (grid.size(), ViewName::Width);
                let scale = Some(self.args.scale.unwrap_or(scale));
                let image = Image::from_pixels(size, channels, numbers);
                save_numbers(path, &image, tone, scale)?;
                Ok(Vec::new())
            }
            (OutputFiles::Arrays(path), _) => {
                let arrays = parameters
                    .iter()
                    .map(|parameter| self.array(done, parameter));
                save_atomically(path, |file| Ok(write_npz(arrays, file)?))?;
                Ok(Vec::new())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// The gradient by a parameter as an array: of each point, or the sum of a buffer.
    fn array(&self, done: &Evaluated, parameter: &Parameter) -> NamedArray {
        let name = label(self.gradient, parameter);
        let mut shape = shape_of(&parameter.value.ty);
        if parameter.kind == ParameterKind::Buffer {
            let numbers = done.gradient(parameter);
            let width = parameter.value.ty.scalar_count().max(1);
            shape.insert(0, (numbers.len() / width) as u64);
            return NamedArray {
                name,
                shape,
                numbers: ArrayNumbers::Doubles(numbers),
            };
        }
        if let GradPoints::Image(grid, None) = self.points.points() {
            let sides = [grid.size().height(), grid.size().width()];
            shape.splice(0..0, sides.map(u64::from));
        }
        let planes = done.planes(parameter);
        let points = 0..done.points;
        let numbers = points.flat_map(|point| planes.iter().map(move |plane| plane[point]));
        NamedArray {
            name,
            shape,
            numbers: ArrayNumbers::Floats(numbers.collect()),
        }
    }
}

/// The pixels of a view of edges, and the number that is white.
fn edge_view(view: GradView, seen: &[JumpPoint], points: usize) -> (Vec<[f32; 4]>, f32) {
    let mut pixels = vec![[0.0; 4]; points];
    let mut greatest = 1;
    for point in seen {
        let count = match view {
            GradView::Axis => {
                if let Some(axis) = point.axis.filter(|_| point.roots > 0) {
                    pixels[point.point] = AXIS_COLOURS[axis];
                }
                continue;
            }
            GradView::Flips => point.flips,
            GradView::Roots => point.roots,
            GradView::Nullified => point.nullified,
            GradView::Gradient | GradView::Difference => unreachable!("it is none of edges"),
        };
        greatest = greatest.max(count);
        pixels[point.point][0] = count as f32;
    }
    (pixels, greatest as f32)
}

/// The shape of a value of a type, of whose scalars all are floats; one with members has them side
/// by side.
fn shape_of(ty: &Type) -> Vec<u64> {
    match ty {
        Type::Scalar(_) => Vec::new(),
        Type::Vector(n) => vec![u64::from(*n)],
        Type::Matrix(n) => vec![u64::from(*n); 2],
        Type::Array(element, n) => {
            let mut shape = shape_of(element);
            shape.insert(0, u64::from(*n));
            shape
        }
        Type::Struct(_) => vec![ty.scalar_count() as u64],
    }
}
