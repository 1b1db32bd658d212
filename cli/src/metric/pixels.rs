//! The pixels that are looked at: drawn from those near an edge.

use fastrand::Rng;

/// How many columns and lines from an edge's pixels the pixels are drawn from.
const NEAR: usize = 3;

/// Pixels of an image that were drawn from some of them.
pub struct DrawnPixels {
    /// Column and line of each.
    pub pixels: Vec<[usize; 2]>,
    /// The share of the pixels that they were drawn from among all.
    pub share: f64,
}

impl DrawnPixels {
    /// Draws pixels, each once, from those near the pixels of edges; all if there are no more.
    pub fn draw(
        [width, height]: [usize; 2],
        edges: &[usize],
        wanted: usize,
        random: &mut Rng,
    ) -> DrawnPixels {
        let mut is_near = vec![false; width * height];
        for &edge in edges {
            let [column, line] = [edge % width, edge / width];
            for line in line.saturating_sub(NEAR)..(line + NEAR + 1).min(height) {
                let columns = column.saturating_sub(NEAR)..(column + NEAR + 1).min(width);
                is_near[line * width..][columns].fill(true);
            }
        }
        let near = (0..is_near.len()).filter(|&pixel| is_near[pixel]);
        let mut near: Vec<usize> = near.collect();
        let share = near.len() as f64 / is_near.len() as f64;
        let count = wanted.min(near.len());
        for at in 0..count {
            let other = random.usize(at..near.len());
            near.swap(at, other);
        }
        let mut drawn = near[..count].to_vec();
        drawn.sort_unstable();
        let pixels = drawn.into_iter().map(|at| [at % width, at / width]);
        DrawnPixels {
            pixels: pixels.collect(),
            share,
        }
    }

    /// The mean over all pixels of the image of what the drawn ones have, where those far from
    /// edges have 0; and its standard error.
    pub fn mean(&self, of_each: &[f64]) -> (f64, f64) {
        if of_each.is_empty() {
            return (0.0, 0.0);
        }
        let count = of_each.len() as f64;
        let mean = of_each.iter().sum::<f64>() / count;
        let squares = of_each.iter().map(|one| (one - mean) * (one - mean));
        let variance = squares.sum::<f64>() / (count - 1.0).max(1.0);
        (self.share * mean, self.share * (variance / count).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_drawn_near_edges() {
        let mut random = Rng::with_seed(1);
        let drawn = DrawnPixels::draw([20, 10], &[5 * 20 + 10], 10, &mut random);
        assert_eq!(drawn.pixels.len(), 10);
        let is_near = |[x, y]: &[usize; 2]| x.abs_diff(10) <= 3 && y.abs_diff(5) <= 3;
        assert!(drawn.pixels.iter().all(is_near), "{:?}", drawn.pixels);
        assert_eq!(drawn.share, 49.0 / 200.0);
        let all = DrawnPixels::draw([20, 10], &[0], 1000, &mut random);
        assert_eq!((all.pixels.len(), all.mean(&[2.0; 16])), (16, (0.16, 0.0)));
        let none = DrawnPixels::draw([20, 10], &[], 5, &mut random);
        assert_eq!(none.mean(&[]), (0.0, 0.0));
    }
}
