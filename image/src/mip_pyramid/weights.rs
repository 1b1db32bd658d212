//! What texels weigh in a lookup: the gradient by a texture is made of it.

use super::halved_rows::covers;
use super::{MipPyramid, places_around};

/// The weight of a texel in what is read at a place: [`MipPyramid::sample_level`] is the sum of
/// texels by their weights, and [`MipPyramid::slopes`] that by their slopes, but for rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TexelWeight {
    /// The level of the texel, 0 the finest.
    pub level: usize,
    /// Its number among the pixels of the level.
    pub texel: usize,
    /// Its weight in each number.
    pub weight: f64,
    /// Its weights in the slopes along u and along v.
    pub slopes: [f64; 2],
}

impl MipPyramid {
    /// Calls `each` with the texels that are read at a position of that level, at most eight. A
    /// texel comes twice if it is read twice. Where nothing is read there are none.
    ///
    /// The derivative of a loss by a texel is the sum, over all that is read, of its weight times
    /// the derivative by what is read.
    ///
    /// ```
    /// use adumbra_image::{Image, ImageSize, MipPyramid};
    /// let texels = vec![[1.0; 4], [2.0; 4], [3.0; 4], [4.0; 4]];
    /// let pyramid = MipPyramid::new(Image::from_pixels(ImageSize::new(2, 2)?, 4, texels));
    /// let (at, level, mut sum) = ([0.3, 0.4], 0.25, 0.0);
    /// pyramid.for_each_weight(at, level, |read| {
    ///     let texel = pyramid.levels()[read.level].pixels()[read.texel];
    ///     sum += read.weight * f64::from(texel[0]);
    /// });
    /// assert!((sum - f64::from(pyramid.sample_level(at, level)[0])).abs() < 1e-6);
    /// # Ok::<(), adumbra_image::SizeError>(())
    /// ```
    pub fn for_each_weight(&self, at: [f32; 2], level: f32, mut each: impl FnMut(TexelWeight)) {
        if !at.iter().all(|x| x.is_finite()) {
            return;
        }
        let (finer, between) = self.between_levels(level);
        self.for_each_around(at, (finer, 1.0 - between), &mut each);
        if between > 0.0 {
            self.for_each_around(at, (finer + 1, between), &mut each);
        }
    }

    /// Calls `each` with the texels around a position in one level, whose weights are together
    /// `whole`.
    fn for_each_around(
        &self,
        at: [f32; 2],
        (level, whole): (usize, f64),
        each: &mut impl FnMut(TexelWeight),
    ) {
        let size = self.levels[level].size();
        let (places, [x, y]) = places_around(size, at, self.wrap);
        let sides = [size.width(), size.height()].map(f64::from);
        let (across, down, signs) = ([1.0 - x, x], [1.0 - y, y], [-1.0, 1.0]);
        for (row, places) in places.into_iter().enumerate() {
            for (column, place) in places.into_iter().enumerate() {
                if let Some(texel) = place {
                    each(TexelWeight {
                        level,
                        texel: texel as usize,
                        weight: whole * across[column] * down[row],
                        slopes: [
                            whole * signs[column] * down[row] * sides[0],
                            whole * signs[row] * across[column] * sides[1],
                        ],
                    });
                }
            }
        }
    }

    /// The gradient by the texels of the finest level, if the others are its reductions, from that
    /// by the texels of all levels: the transpose of what [`MipPyramid::new`] does.
    ///
    /// # Panics
    /// If there are not as many numbers as texels.
    ///
    /// ```
    /// use adumbra_image::{Image, ImageSize, MipPyramid};
    /// let pyramid = MipPyramid::new(Image::new(ImageSize::new(2, 1)?, 4));
    /// let of_levels = vec![vec![[1.0; 4], [2.0; 4]], vec![[8.0; 4]]];
    /// assert_eq!(pyramid.finest_gradient(of_levels), [[5.0; 4], [6.0; 4]]);
    /// # Ok::<(), adumbra_image::SizeError>(())
    /// ```
    pub fn finest_gradient(&self, mut of_levels: Vec<Vec<[f64; 4]>>) -> Vec<[f64; 4]> {
        let counts = self.levels.iter().map(|level| level.pixels().len());
        assert!(
            counts.eq(of_levels.iter().map(Vec::len)),
            "a number for each texel"
        );
        for level in (1..of_levels.len()).rev() {
            let [to, from] = [level - 1, level].map(|level| self.levels[level].size());
            let columns = covers(to.width(), from.width());
            let rows = covers(to.height(), from.height());
            let mut sums = std::mem::take(&mut of_levels[level]).into_iter();
            let finer = &mut of_levels[level - 1];
            for covered in &rows {
                for (column, sums) in columns.iter().zip(sums.by_ref()) {
                    for &(y, of_row) in covered {
                        for &(x, of_column) in column {
                            let texel = &mut finer[y * to.width() as usize + x];
                            for (own, sum) in texel.iter_mut().zip(sums) {
                                *own += of_row * of_column * sum;
                            }
                        }
                    }
                }
            }
        }
        of_levels.swap_remove(0)
    }
}
