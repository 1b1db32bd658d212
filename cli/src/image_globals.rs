//! The globals that each image has, and how they vary over it. `image` sets them at each pixel,
//! `--globals picture` at one.

use adumbra::Type;

/// The side of the image that a point of `--globals picture` is in.
const SIDE: f64 = 512.0;

/// The column and row of its pixel.
const MIDDLE: f64 = 256.0;

/// A global of an image.
#[derive(Clone, Copy, Debug)]
pub struct ImageGlobal {
    /// Its name.
    pub name: &'static str,
    floats: u8,
    /// Whether it differs from pixel to pixel.
    pub is_varying: bool,
}

const fn global(name: &'static str, floats: u8, moves: bool) -> ImageGlobal {
    ImageGlobal {
        name,
        floats,
        is_varying: moves,
    }
}

/// All globals of an image.
pub const IMAGE_GLOBALS: [ImageGlobal; 4] = [
    global("uv", 2, true),
    global("pixel", 2, true),
    global("resolution", 2, false),
    global("time", 1, false),
];

impl ImageGlobal {
    /// Its type.
    pub fn ty(self) -> Type {
        match self.floats {
            1 => Type::FLOAT,
            n => Type::Vector(n),
        }
    }

    /// A scalar of it at the image's corner, and its slopes along x and y.
    pub fn corner_and_slopes(self, scalar: usize, sides: [f64; 2], time: f32) -> [f64; 3] {
        let along = |step: f64| match scalar {
            0 => [0.0, step, 0.0],
            _ => [0.0, 0.0, step],
        };
        match self.name {
            "uv" => along(1.0 / sides[scalar]),
            "pixel" => along(1.0),
            "resolution" => [sides[scalar], 0.0, 0.0],
            _ => [time.into(), 0.0, 0.0],
        }
    }

    /// The words of value, ddx and ddy in the middle of an image of the default size.
    pub fn at_centre(self) -> [Vec<u32>; 3] {
        let mut words: [Vec<u32>; 3] = Default::default();
        for scalar in 0..usize::from(self.floats) {
            let [corner, ddx, ddy] = self.corner_and_slopes(scalar, [SIDE; 2], 0.0);
            let value = corner + (MIDDLE + 0.5) * (ddx + ddy);
            for (words, number) in words.iter_mut().zip([value, ddx, ddy]) {
                words.push((number as f32).to_bits());
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middle_pixel_has_the_globals_of_image() {
        let words = IMAGE_GLOBALS.map(|global| global.at_centre());
        let floats: [[Vec<f32>; 3]; 4] =
            words.map(|parts| parts.map(|part| part.into_iter().map(f32::from_bits).collect()));
        let expected: [[Vec<f32>; 3]; 4] = [
            [
                vec![256.5 / 512.0; 2],
                vec![1.0 / 512.0, 0.0],
                vec![0.0, 1.0 / 512.0],
            ],
            [vec![256.5; 2], vec![1.0, 0.0], vec![0.0, 1.0]],
            [vec![512.0; 2], vec![0.0; 2], vec![0.0; 2]],
            [vec![0.0], vec![0.0], vec![0.0]],
        ];
        assert_eq!(floats, expected);
    }
}
