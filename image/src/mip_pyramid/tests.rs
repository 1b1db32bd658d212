//! Compares levels to an independent table, reductions and lookups to values worked out by hand.

use super::*;

/// Texture sizes and derivatives with the level that each of ten rules gives, computed in double
/// elsewhere. `gl_iso` is ours.
const TABLE: &str = include_str!("../../../tests/data/mip_table.csv");

/// The fields of a line; a field in quotes may have commas.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            _ => fields.last_mut().unwrap().push(c),
        }
    }
    fields
}

#[test]
fn levels_match_the_table() {
    let mut lines = TABLE.lines();
    let header = fields(lines.next().unwrap());
    let mut rows = 0;
    for line in lines {
        let row = fields(line);
        let number = |name: &str| -> f64 {
            let column = header.iter().position(|other| other == name).unwrap();
            row[column].parse().unwrap()
        };
        let size = ImageSize::new(number("W") as u64, number("H") as u64).unwrap();
        let [dx, dy] = [["dudx", "dvdx"], ["dudy", "dvdy"]].map(|d| d.map(|n| number(n) as f32));
        let (found, expected) = (mip_level(size, dx, dy), number("gl_iso"));
        assert!(
            (f64::from(found) - expected).abs() < 1e-6,
            "{line}: {found}"
        );
        rows += 1;
    }
    assert_eq!(rows, 11);
}

#[test]
fn hostile_steps_have_a_level() {
    let size = ImageSize::new(256, 64).unwrap();
    let at = |x: f32| mip_level(size, [x, 0.0], [0.0, x]);
    assert_eq!(at(f32::NAN), 0.0);
    assert_eq!(mip_level(size, [f32::NAN, 0.0], [1.0 / 64.0, 0.0]), 2.0);
    assert_eq!(
        (at(f32::INFINITY), at(f32::MAX), at(-f32::MAX)),
        (8.0, 8.0, 8.0)
    );
    assert_eq!((at(0.0), at(1e-45)), (0.0, 0.0));
}

/// A texture whose red is given row by row; green is 1 minus it.
fn texture(width: u64, height: u64, red: &[f32]) -> MipPyramid {
    let pixels = red.iter().map(|&r| [r, 1.0 - r, 0.0, 1.0]).collect();
    MipPyramid::new(Image::from_pixels(
        ImageSize::new(width, height).unwrap(),
        4,
        pixels,
    ))
}

fn reds(image: &Image) -> Vec<f32> {
    image.pixels().iter().map(|texel| texel[0]).collect()
}

#[test]
fn levels_halve_down_to_one_texel_and_keep_the_mean() {
    let red: Vec<f32> = (0..32).map(|i| i as f32).collect();
    let pyramid = texture(8, 4, &red);
    let sizes: Vec<String> = pyramid
        .levels()
        .iter()
        .map(|l| l.size().to_string())
        .collect();
    assert_eq!(sizes, ["8x4", "4x2", "2x1", "1x1"]);
    assert_eq!(reds(&pyramid.levels()[1])[..2], [4.5, 6.5]);
    assert_eq!(reds(&pyramid.levels()[3]), [15.5]);
    // Sides that are not powers of two: a texel that two share counts for both in part.
    let pyramid = texture(3, 1, &[3.0, 6.0, 9.0]);
    assert_eq!(reds(&pyramid.levels()[1]), [6.0]);
    let pyramid = texture(5, 5, &[[1.0, 2.0, 3.0, 4.0, 5.0]; 5].concat());
    let sizes: Vec<String> = pyramid
        .levels()
        .iter()
        .map(|l| l.size().to_string())
        .collect();
    assert_eq!(sizes, ["5x5", "2x2", "1x1"]);
    // (1 + 2 + 3/2) / 2.5 and (3/2 + 4 + 5) / 2.5
    let halves = reds(&pyramid.levels()[1]);
    assert!((halves[0] - 1.8).abs() < 1e-6 && (halves[1] - 4.2).abs() < 1e-6);
    assert!((reds(&pyramid.levels()[2])[0] - 3.0).abs() < 1e-6);
    assert_eq!(texture(1, 1, &[0.5]).levels().len(), 1);
}

#[test]
fn lookups_interpolate_and_repeat() {
    let pyramid = texture(4, 2, &[0.0, 1.0, 0.5, 0.25, 1.0, 0.0, 0.75, 0.5]);
    let at = |u, v| pyramid.sample_level([u, v], 0.0)[0];
    // The middles of texels.
    assert_eq!(
        [at(0.125, 0.25), at(0.375, 0.25), at(0.875, 0.75)],
        [0.0, 1.0, 0.5]
    );
    assert_eq!(at(0.25, 0.25), 0.5);
    // Across the edge: the last texel of the row, the first of the next period.
    assert_eq!(at(0.0, 0.25), 0.125);
    for (u, v) in [
        (1.125, 0.25),
        (-0.875, 0.25),
        (0.125, -1.75),
        (1000.125, 64.25),
    ] {
        assert_eq!(at(u, v), 0.0, "{u} {v}");
    }
    let [r, g, b, a] = pyramid.sample_level([0.25, 0.5], 0.0);
    assert_eq!((r, g, b, a), (0.5, 0.5, 0.0, 1.0));
    // Just below 0 the fraction rounds to 1.
    assert_eq!(at(-1e-20, 0.25), 0.125);
}

#[test]
fn lookups_obey_wrap_modes_of_each_axis() {
    let at = |wrap: [Wrap; 2], u, v| {
        let texels = [0.0, 1.0, 0.5, 0.25, 1.0, 0.0, 0.75, 0.5];
        texture(4, 2, &texels)
            .with_wrap(wrap)
            .sample_level([u, v], 0.0)
    };
    let red = |wrap, u, v| at(wrap, u, v)[0];
    // One texel beyond the right, and one above the top.
    let right = |wrap| red([wrap, Wrap::Repeat], 1.125, 0.25);
    let above = |wrap| red([Wrap::Repeat, wrap], 0.125, -0.25);
    let all = Wrap::ALL;
    assert_eq!(all.map(right), [0.0, 0.25, 0.25, 0.0]);
    assert_eq!(all.map(above), [1.0, 0.0, 0.0, 0.0]);
    // At the left edge, halfway between the first texel and what is beyond it.
    let edge = |wrap| red([wrap, Wrap::Repeat], 0.0, 0.75);
    assert_eq!(all.map(edge), [0.75, 1.0, 1.0, 0.5]);
    assert_eq!(at(Wrap::Black.into(), 2.0, 0.25), [0.0; 4]);
    assert_eq!(red(Wrap::Clamp.into(), 1e30, -1e30), 0.25);
}

#[test]
fn lookups_lie_between_levels() {
    let pyramid = texture(2, 2, &[0.0, 1.0, 1.0, 0.0]);
    let at = |level| pyramid.sample_level([0.25, 0.25], level)[0];
    assert_eq!([at(0.0), at(0.5), at(1.0), at(7.0)], [0.0, 0.25, 0.5, 0.5]);
    assert_eq!([at(-3.0), at(f32::NAN), at(f32::INFINITY)], [0.0, 0.0, 0.5]);
    assert_eq!(pyramid.sample([0.25, 0.25], [1.0, 0.0], [0.0, 0.5])[0], 0.5);
    for position in [[f32::NAN, 0.0], [0.0, f32::INFINITY]] {
        assert_eq!(pyramid.sample_level(position, 0.0), [0.0; 4]);
    }
    // An infinite texel does not spoil the middle of its neighbour.
    let pyramid = texture(2, 1, &[0.5, f32::INFINITY]);
    assert_eq!(pyramid.sample_level([0.25, 0.5], 0.0)[0], 0.5);
}

/// A pyramid of an odd size whose texels are uneven.
fn odd_pyramid(wrap: Wrap) -> MipPyramid {
    let size = ImageSize::new(7, 5).unwrap();
    let number = |texel: usize, channel: usize| ((37 * texel + 11 * channel) % 101) as f32 / 101.0;
    let texels = (0..size.pixels()).map(|at| [0, 1, 2, 3].map(|channel| number(at, channel)));
    MipPyramid::new(Image::from_pixels(size, 4, texels.collect())).with_wrap(wrap)
}

#[test]
fn weights_give_what_is_read_and_its_slopes() {
    for wrap in Wrap::ALL {
        let pyramid = odd_pyramid(wrap);
        let places = (0..200_u16).map(|i| [f32::from(i) * 0.017 - 1.3, 1.6 - f32::from(i) * 0.013]);
        for (at, level) in places.zip((0..200_u16).map(|i| f32::from(i % 13) * 0.2)) {
            let (mut numbers, mut slopes) = ([0.0; 4], [[0.0; 4]; 2]);
            pyramid.for_each_weight(at, level, |read| {
                let texel = pyramid.levels()[read.level].pixels()[read.texel].map(f64::from);
                for i in 0..4 {
                    numbers[i] += read.weight * texel[i];
                    for axis in [0, 1] {
                        slopes[axis][i] += read.slopes[axis] * texel[i];
                    }
                }
            });
            let found = pyramid.sample_level(at, level);
            let found_slopes = pyramid.slopes(at, level);
            for i in 0..4 {
                assert!(
                    (numbers[i] - f64::from(found[i])).abs() < 1e-6,
                    "{wrap:?} {at:?}"
                );
                for axis in [0, 1] {
                    let difference = slopes[axis][i] - f64::from(found_slopes[axis][i]);
                    assert!(difference.abs() < 1e-5, "{wrap:?} {at:?} {level}");
                }
            }
        }
    }
    let none = odd_pyramid(Wrap::Black);
    none.for_each_weight([f32::NAN, 0.5], 0.0, |_| panic!("nothing is read"));
    none.for_each_weight([-9.0, 0.5], 0.0, |_| panic!("nothing is read"));
}

/// Reductions are linear: a change of the finest level changes all levels by what the transpose
/// says.
#[test]
fn gradient_of_the_finest_level_is_the_transpose_of_the_reductions() {
    let pyramid = odd_pyramid(Wrap::Repeat);
    let of_levels: Vec<Vec<[f64; 4]>> = (pyramid.levels().iter().enumerate())
        .map(|(level, image)| {
            let numbers = (0..image.pixels().len()).map(|i| [(i + level) as f64 * 0.25 - 1.0; 4]);
            numbers.collect()
        })
        .collect();
    let product = |of: &[Vec<[f64; 4]>]| -> f64 {
        let levels = pyramid.levels().iter().zip(of);
        let texels = levels.flat_map(|(image, of)| image.pixels().iter().zip(of));
        texels.map(|(texel, of)| f64::from(texel[2]) * of[2]).sum()
    };
    let whole = product(&of_levels);
    let finest = pyramid.finest_gradient(of_levels);
    assert!((product(&[finest]) - whole).abs() < 1e-5, "{whole}");
}
