//! The next coarser mip level, made while the rows of the finer one come: a few rows are in memory.

use std::collections::VecDeque;

/// Reduces an image to half its width and height, rounded down and at least 1, row by row from the
/// top. A texel is the mean of what it covers.
///
/// ```
/// use adumbra_image::HalvedRows;
/// let mut rows = HalvedRows::new([4, 2], 1);
/// assert_eq!((rows.size(), rows.push(&[1.0, 0.0, 2.0, 4.0])), ([2, 1], None));
/// assert_eq!(rows.push(&[1.0, 2.0, 2.0, 0.0]), Some(&[1.0, 2.0][..]));
/// ```
#[derive(Clone, Debug)]
pub struct HalvedRows {
    size: [u32; 2],
    channels: usize,
    columns: Vec<Vec<(usize, f64)>>,
    rows: Vec<Vec<(usize, f64)>>,
    /// Rows of the finer level that are still needed, and the number of the first.
    window: VecDeque<Vec<f32>>,
    first: usize,
    /// The next row of the coarser level.
    next: usize,
    /// The last row of the coarser level.
    row: Vec<f32>,
}

impl HalvedRows {
    /// The reduction of an image of that size, with the numbers of `channels` for each pixel.
    pub fn new(size: [u32; 2], channels: usize) -> HalvedRows {
        let [width, height] = size.map(|side| (side / 2).max(1));
        HalvedRows {
            size: [width, height],
            channels,
            columns: covers(size[0], width),
            rows: covers(size[1], height),
            window: VecDeque::new(),
            first: 0,
            next: 0,
            row: vec![0.0; width as usize * channels],
        }
    }

    /// Width and height of the coarser level.
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Takes the next row of the finer level; gives the row of the coarser one that it completes.
    pub fn push(&mut self, row: &[f32]) -> Option<&[f32]> {
        let at = self.first + self.window.len();
        self.window.push_back(row.to_vec());
        let covered = self.rows.get(self.next)?;
        if covered.last().is_some_and(|(last, _)| *last > at) {
            return None;
        }
        for (texel, column) in self.row.chunks_exact_mut(self.channels).zip(&self.columns) {
            let mut sum = [0.0_f64; 4];
            for &(y, of_row) in covered {
                let row = &self.window[y - self.first];
                for &(x, of_column) in column {
                    let texel = &row[x * self.channels..][..self.channels];
                    for (sum, channel) in sum.iter_mut().zip(texel) {
                        *sum += of_row * of_column * f64::from(*channel);
                    }
                }
            }
            for (channel, sum) in texel.iter_mut().zip(sum) {
                *channel = sum as f32;
            }
        }
        self.next += 1;
        let needed = self.rows.get(self.next).and_then(|row| row.first());
        let needed = needed.map_or(at + 1, |(first, _)| *first);
        self.window.drain(..needed - self.first);
        self.first = needed;
        Some(&self.row)
    }
}

/// For each texel along a side of the coarser level: the texels of the finer one that it covers,
/// each with its weight.
pub(super) fn covers(finer: u32, coarser: u32) -> Vec<Vec<(usize, f64)>> {
    let (finer, coarser) = (u64::from(finer), u64::from(coarser));
    let covered = |i: u64| {
        // In units of 1/coarser of a finer texel.
        let (start, end) = (i * finer, (i + 1) * finer);
        let texels = start / coarser..end.div_ceil(coarser);
        let part = move |texel: u64| {
            let (first, last) = (start.max(texel * coarser), end.min((texel + 1) * coarser));
            (texel as usize, (last - first) as f64 / finer as f64)
        };
        texels.map(part).collect()
    };
    (0..coarser).map(covered).collect()
}
