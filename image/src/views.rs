//! Colours of views: levels of detail in false colours, derivatives in greys. Commands that show
//! images share them.

use std::fmt::Write;

/// The level of a pixel that made no texture request.
pub const NO_LEVEL: f32 = -1.0;

/// The colours of levels, from the finest on; the last is that of all beyond.
pub const LEVEL_COLOURS: [[u8; 3]; 9] = [
    [0x1b, 0x2f, 0x8f],
    [0x2a, 0x7f, 0xd4],
    [0x35, 0xb8, 0xb0],
    [0x4f, 0xb8, 0x4a],
    [0xc9, 0xd1, 0x3b],
    [0xf0, 0xa0, 0x2c],
    [0xe2, 0x50, 0x2a],
    [0xa0, 0x18, 0x28],
    [0xff, 0xff, 0xff],
];

/// The colour of pixels without a texture request.
pub const WITHOUT_TEXTURE: [u8; 3] = [0x28, 0x28, 0x28];

/// The part of the pixels whose derivatives fit into the range of greys. The others are black or
/// white, so that an edge does not make all else grey.
const WITHIN: f64 = 0.99;

/// The colour of a level, interpolated between those of the two whole levels.
///
/// ```
/// use adumbra_image::{LEVEL_COLOURS, NO_LEVEL, WITHOUT_TEXTURE, level_colour};
/// assert_eq!(level_colour(1.0), LEVEL_COLOURS[1]);
/// assert_eq!(level_colour(20.0), LEVEL_COLOURS[8]);
/// assert_eq!(level_colour(NO_LEVEL), WITHOUT_TEXTURE);
/// ```
pub fn level_colour(level: f32) -> [u8; 3] {
    if level == NO_LEVEL {
        return WITHOUT_TEXTURE;
    }
    let last = LEVEL_COLOURS.len() - 1;
    let finer = (level as usize).min(last);
    let coarser = (finer + 1).min(last);
    let between = f64::from(level.fract());
    std::array::from_fn(|i| {
        let [a, b] = [finer, coarser].map(|level| f64::from(LEVEL_COLOURS[level][i]));
        (a + (b - a) * between).round() as u8
    })
}

/// The legend of the levels of pixels: each colour with the number of pixels nearest to its level.
pub fn level_legend(levels: impl Iterator<Item = f32> + Clone) -> String {
    let mut legend = String::new();
    let mut line = |name: &str, [r, g, b]: [u8; 3], count: usize| {
        let pixels = pixel_count(count);
        writeln!(legend, "{name:<10} #{r:02x}{g:02x}{b:02x}  {pixels}").expect("memory");
    };
    let last = LEVEL_COLOURS.len() - 1;
    for (level, colour) in LEVEL_COLOURS.into_iter().enumerate() {
        let is_near = |x: &f32| *x != NO_LEVEL && (x.round() as usize).min(last) == level;
        let count = levels.clone().filter(is_near).count();
        let name = match level == last {
            true => format!("level {level}+"),
            false => format!("level {level}"),
        };
        line(&name, colour, count);
    }
    let without = levels.filter(|level| *level == NO_LEVEL).count();
    line("no texture", WITHOUT_TEXTURE, without);
    legend
}

/// A number of pixels, in words.
pub fn pixel_count(count: usize) -> String {
    match count {
        1 => "1 pixel".to_owned(),
        _ => format!("{count} pixels"),
    }
}

/// The derivative that is white: 99 % of the numbers are within it.
///
/// ```
/// let numbers = vec![0.0, -0.5, 0.25, f32::NAN];
/// assert_eq!(adumbra_image::derivative_scale(numbers), 0.5);
/// assert_eq!(adumbra_image::derivative_scale(vec![0.0]), 1.0);
/// ```
pub fn derivative_scale(numbers: Vec<f32>) -> f32 {
    let sizes = numbers.into_iter().map(f32::abs);
    let mut sizes: Vec<f32> = sizes.filter(|x| x.is_finite()).collect();
    if sizes.is_empty() {
        return 1.0;
    }
    let at = ((sizes.len() - 1) as f64 * WITHIN).ceil() as usize;
    let (_, &mut within, beyond) = sizes.select_nth_unstable_by(at, f32::total_cmp);
    // Where most of an image is flat, the rest counts alone.
    let scale = match within > 0.0 {
        true => within,
        false => beyond.iter().copied().fold(0.0, f32::max),
    };
    if scale > 0.0 { scale } else { 1.0 }
}

/// The grey of a derivative: black −scale, the middle 0, white scale.
pub fn derivative_grey(derivative: f32, scale: f32) -> u8 {
    to_byte(0.5 + 0.5 * f64::from(derivative) / f64::from(scale))
}

/// The byte of a number of 0 to 1; numbers beyond are clamped, NaN is 0.
pub fn to_byte(number: f64) -> u8 {
    let unit = if number.is_nan() {
        0.0
    } else {
        number.clamp(0.0, 1.0)
    };
    (unit * 255.0).round() as u8
}
