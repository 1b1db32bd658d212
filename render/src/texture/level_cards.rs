//! Level cards: a texture that shows which of its levels is read.

use super::{level_size, whole_levels};
use adumbra_image::{Image, ImageSize, LEVEL_COLOURS, MipPyramid, SizeError, srgb};

/// The side of a card in texels of its level.
const CARD: u32 = 32;

/// Digits of 3 × 5 dots, the first row in the highest bits.
const DIGITS: [u16; 10] = [
    0b111_101_101_101_111,
    0b010_110_010_010_111,
    0b111_001_111_100_111,
    0b111_001_111_001_111,
    0b101_101_111_001_001,
    0b111_100_111_001_111,
    0b111_100_111_101_111,
    0b111_001_010_010_010,
    0b111_101_111_101_111,
    0b111_101_111_001_111,
];

/// A texture of cards: level l has the colour of the legend ([`LEVEL_COLOURS`]) and the digit l.
///
/// `side` is the side of the finest level. Each level is divided into cards of 32 × 32 texels;
/// coarse levels are one card, and those of less than 8 texels have no digit. In an image a card
/// spans about 32 pixels wherever levels are right.
///
/// # Errors
/// If an image of that size cannot be.
pub fn level_cards(side: u32) -> Result<MipPyramid, SizeError> {
    let levels = (0..whole_levels([side; 2])).map(|level| {
        let [side, _] = level_size([side; 2], level);
        let size = ImageSize::new(side.into(), side.into())?;
        let texels = (0..side).flat_map(|y| (0..side).map(move |x| [x, y]));
        let texels = texels.map(|[x, y]| texel(level, side, x, y)).collect();
        Ok(Image::from_pixels(size, 3, texels))
    });
    let levels = levels.collect::<Result<Vec<_>, SizeError>>()?;
    Ok(MipPyramid::from_levels(levels).expect("each level is half of the one before"))
}

/// A texel of a level with that side.
fn texel(level: u32, side: u32, x: u32, y: u32) -> [f32; 4] {
    let colour = LEVEL_COLOURS[(level as usize).min(LEVEL_COLOURS.len() - 1)];
    let [r, g, b] = colour.map(|byte| srgb::to_linear(f64::from(byte) / 255.0) as f32);
    let card = side.min(CARD);
    let [x, y] = [x % card, y % card];
    let is_edge = card >= 16 && (x == 0 || y == 0);
    let ink = match (0.2126 * r + 0.7152 * g + 0.0722 * b > 0.2, is_edge) {
        (_, true) => [0.5 * r, 0.5 * g, 0.5 * b, 1.0],
        (true, _) => [0.0, 0.0, 0.0, 1.0],
        (false, _) => [1.0; 4],
    };
    match is_edge || is_digit(level % 10, card, x, y) {
        true => ink,
        false => [r, g, b, 1.0],
    }
}

/// Whether a texel of a card is of its digit, which is in the middle.
fn is_digit(digit: u32, card: u32, x: u32, y: u32) -> bool {
    let dot = card * 5 / 32;
    if dot == 0 || card < 8 {
        return false;
    }
    let [left, top] = [(card - 3 * dot) / 2, (card - 5 * dot) / 2];
    let (Some(column), Some(row)) = (x.checked_sub(left), y.checked_sub(top)) else {
        return false;
    };
    let [column, row] = [column / dot, row / dot];
    column < 3 && row < 5 && DIGITS[digit as usize] >> (14 - 3 * row - column) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_has_its_colour_and_digit() {
        let cards = level_cards(256).expect("a small image");
        assert_eq!(cards.levels().len(), 9);
        for (level, image) in cards.levels().iter().enumerate() {
            let expected =
                LEVEL_COLOURS[level].map(|byte| srgb::to_linear(f64::from(byte) / 255.0));
            let side = image.size().width();
            // Within the first card, off its edge and its digit.
            let at = |x: u32, y: u32| image.pixels()[(y * side + x) as usize];
            let pixel = at(side.min(CARD) - 1, side.min(CARD) - 1);
            assert_eq!(pixel[..3], expected.map(|x| x as f32), "level {level}");
            let card = side.min(CARD);
            let ink =
                (0..card).flat_map(|y| (0..card).map(move |x| is_digit(level as u32, card, x, y)));
            let dots = DIGITS[level].count_ones() as usize;
            let expected = if card < 8 {
                0
            } else {
                dots * (card as usize * 5 / 32).pow(2)
            };
            assert_eq!(ink.filter(|is| *is).count(), expected, "level {level}");
        }
    }
}
