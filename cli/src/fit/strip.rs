//! The images of a fit's course: frames, and a strip for people: start, stages, best, target, and
//! the difference of the last two.

use super::target::resized;
use adumbra_fit::{Raster, RestartRecord};
use adumbra_image::{Image, ImageSize};

/// The greatest side of a panel; larger images are shown smaller.
pub const MAX_PANEL_SIDE: u32 = 256;

/// White pixels between panels.
const GAP: usize = 2;

/// Parameters with their loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoursePoint<'r> {
    loss: f64,
    pub values: &'r [f64],
}

/// The parameters with the least loss so far, before the first iteration and after each stage of a
/// restart; at last its best.
pub fn course(best: &RestartRecord) -> Vec<CoursePoint<'_>> {
    let mut course: Vec<CoursePoint<'_>> = Vec::with_capacity(best.trace.len() + 1);
    let points = best.trace.iter().filter(|point| !point.values.is_empty());
    for point in points {
        let own = CoursePoint {
            loss: point.loss,
            values: &point.values,
        };
        let before = course.last().copied();
        let is_best = |before: &CoursePoint<'_>| before.loss <= own.loss || own.loss.is_nan();
        course.push(before.filter(is_best).unwrap_or(own));
    }
    course.push(CoursePoint {
        loss: best.loss,
        values: &best.values,
    });
    course
}

/// As many of these, evenly from the first to the last; of one alone the last.
pub fn evenly<T: Copy>(all: &[T], count: usize) -> Vec<T> {
    let last = all.len() - 1;
    let at = |number: usize| match count {
        1 => last,
        _ => number * last / (count - 1),
    };
    (0..count).map(|number| all[at(number)]).collect()
}

/// What a strip shows of a course: its start, the first points after 1/4, 2/4 and 3/4 of the way
/// to the best loss, by logarithms, and the best.
pub fn shown<'r>(course: &[CoursePoint<'r>]) -> Vec<CoursePoint<'r>> {
    let [first, best] = [course[0], course[course.len() - 1]];
    let between = |a: f64, b: f64| (a * b).sqrt();
    let half = between(first.loss, best.loss);
    let losses = [between(first.loss, half), half, between(half, best.loss)];
    let reached = losses.map(|loss| {
        let mut points = course.iter();
        points
            .find(|point| point.loss <= loss)
            .copied()
            .unwrap_or(best)
    });
    [&[first], &reached[..], &[best]].concat()
}

/// A strip: the images of each target in a line, with the target itself, and how far the last image
/// is from it, channel by channel.
pub fn strip(lines: &[(Vec<Raster>, &Raster)]) -> Image {
    let mut panels: Vec<Vec<Image>> = Vec::with_capacity(lines.len());
    for (images, target) in lines {
        let best = images.last().expect("there is a best one");
        let values = best.values().iter().zip(target.values());
        let apart = values.map(|(own, target)| (own - target).abs());
        let difference = Raster::from_values(target.shape(), apart.collect());
        let all = images.iter().chain([*target, &difference]);
        panels.push(all.map(panel).collect());
    }
    let side = |image: &Image| [image.size().width(), image.size().height()].map(|n| n as usize);
    let width = |line: &Vec<Image>| line.len() * (side(&line[0])[0] + GAP) - GAP;
    let total = panels.iter().map(width).max().expect("there is a target");
    let height: usize = panels.iter().map(|line| side(&line[0])[1] + GAP).sum();
    let height = height - GAP;
    let mut pixels = vec![[1.0_f32; 4]; total * height];
    let mut top = 0;
    for line in &panels {
        let [width, below] = side(&line[0]);
        for (number, panel) in line.iter().enumerate() {
            let left = number * (width + GAP);
            for (y, colours) in panel.pixels().chunks_exact(width).enumerate() {
                let start = (top + y) * total + left;
                pixels[start..start + width].copy_from_slice(colours);
            }
        }
        top += below + GAP;
    }
    let size = ImageSize::new(total as u64, height as u64).expect("panels are small");
    Image::from_pixels(size, 3, pixels)
}

/// An image as it is shown: grey is in all channels, and no side is too long.
fn panel(raster: &Raster) -> Image {
    let shape = raster.shape();
    let pixels = raster.values().chunks_exact(shape.channels);
    let pixels = pixels.map(|colour| match colour {
        [r, g, b] => [*r, *g, *b, 1.0],
        _ => [colour[0], colour[0], colour[0], 1.0],
    });
    let size = ImageSize::new(shape.width as u64, shape.height as u64);
    let size = size.expect("it was rendered");
    let image = Image::from_pixels(size, 3, pixels.collect());
    let longest = size.width().max(size.height());
    if longest <= MAX_PANEL_SIDE {
        return image;
    }
    let smaller = |side: u32| u64::from((side * MAX_PANEL_SIDE).div_ceil(longest));
    let size = ImageSize::new(smaller(size.width()), smaller(size.height()));
    resized(&image, size.expect("it is smaller"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_fit::{RasterShape, TracePoint};

    fn record(losses: &[f64]) -> RestartRecord {
        let points = losses.iter().enumerate().map(|(at, &loss)| TracePoint {
            iteration: at,
            loss,
            cpu_s: 0.0,
            values: vec![at as f64],
        });
        RestartRecord {
            restart: 0,
            loss: 0.0,
            values: vec![9.0],
            iterations: losses.len(),
            cpu_s: 0.0,
            non_finite: 0,
            still: 0,
            trace: points.collect(),
        }
    }

    #[test]
    fn course_has_the_best_so_far() {
        let record = record(&[3.0, 4.0, 1.0, f64::NAN, 2.0]);
        let course = course(&record);
        let course: Vec<f64> = course.iter().map(|point| point.values[0]).collect();
        assert_eq!(course, [0.0, 0.0, 2.0, 2.0, 2.0, 9.0]);
        assert_eq!(evenly(&course, 3), [0.0, 2.0, 9.0]);
        assert_eq!(evenly(&course, 1), [9.0]);
        assert_eq!(evenly(&course[..1], 3), [0.0; 3]);
    }

    #[test]
    fn shown_points_are_on_the_way_to_the_best_loss() {
        let mut record = record(&[16.0, 9.0, 7.0, 3.9, 1.5]);
        record.loss = 1.0;
        let shown: Vec<f64> = shown(&course(&record))
            .iter()
            .map(|point| point.loss)
            .collect();
        assert_eq!(shown, [16.0, 7.0, 3.9, 1.5, 1.0]);
        record.trace.iter_mut().for_each(|point| point.loss = 1.0);
        assert_eq!(super::shown(&course(&record)).len(), 5);
        // Where nothing is finite, the start and the best are what there is.
        record.loss = f64::INFINITY;
        record
            .trace
            .iter_mut()
            .for_each(|point| point.loss = f64::NAN);
        assert_eq!(super::shown(&course(&record)).len(), 5);
    }

    #[test]
    fn strip_has_lines_of_panels() {
        let grey = |width: usize, value: f32| {
            let shape = RasterShape {
                width,
                height: 1,
                channels: 1,
            };
            Raster::from_values(shape, vec![value; width])
        };
        let (first, second) = (grey(2, 0.75), grey(1000, 0.0));
        let lines = [
            (vec![grey(2, 0.0), grey(2, 0.25)], &first),
            (vec![grey(1000, 0.5), grey(1000, 0.5)], &second),
        ];
        let strip = strip(&lines);
        assert_eq!(strip.size().width(), 4 * MAX_PANEL_SIDE + 6);
        assert_eq!(strip.size().height(), 4);
        let red = |at: usize| strip.pixels()[at][0];
        assert_eq!(
            [0, 1, 2, 4, 8, 12].map(red),
            [0.0, 0.0, 1.0, 0.25, 0.75, 0.5]
        );
    }
}
