//! The texels of a tile in memory: half or full floats as in the file, channel by channel.

use super::{error, sample_type};
use exr::meta::attribute::SampleType;
use exr::meta::header::Header;
use exr::prelude::f16;

/// The texels of a tile: `R`, `G`, `B`, or grey, and alpha if there is one, for each texel.
#[derive(Clone, Debug, PartialEq)]
pub struct TileTexels {
    width: usize,
    channels: usize,
    samples: Samples,
}

#[derive(Clone, Debug, PartialEq)]
enum Samples {
    Half(Box<[f16]>),
    Float(Box<[f32]>),
    /// All texels alike.
    Constant([f32; 4]),
}

/// A channel that is read: where it is among the channels of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChannelLocation {
    index: usize,
    /// Whether all channels are kept as half floats.
    is_half: bool,
}

impl ChannelLocation {
    /// Bytes of a sample in memory.
    pub(super) fn bytes(&self) -> usize {
        if self.is_half { 2 } else { 4 }
    }
}

/// The channels `R`, `G`, `B`, or else `Y`, and `A` if there is one.
pub(super) fn channels(header: &Header) -> Result<Vec<ChannelLocation>, error::Kind> {
    let list = &header.channels.list;
    let find = |name: &str| list.iter().position(|channel| channel.name == *name);
    let of = |names: &[&str]| {
        names
            .iter()
            .map(|name| find(name))
            .collect::<Option<Vec<usize>>>()
    };
    let why = "it has no channels `R`, `G`, `B` or `Y`";
    let found = of(&["R", "G", "B"]).or_else(|| of(&["Y"]));
    let mut found = found.ok_or_else(|| error::Kind::Malformed(why.to_owned()))?;
    found.extend(find("A"));
    let is_half = |&index: &usize| sample_type(header, index) == SampleType::F16;
    let is_half = found.iter().all(is_half);
    let location = |index| ChannelLocation { index, is_half };
    Ok(found.into_iter().map(location).collect())
}

impl TileTexels {
    /// From a decompressed block: for each line, for each channel of the file, its samples.
    ///
    /// `None` if the block does not have that size.
    pub(super) fn from_block(
        header: &Header,
        channels: &[ChannelLocation],
        size: [u32; 2],
        block: &[u8],
    ) -> Option<TileTexels> {
        let [width, height] = size.map(|side| side as usize);
        let line_bytes = header.channels.bytes_per_pixel * width;
        if line_bytes == 0 || block.len() != line_bytes * height {
            return None;
        }
        let count = channels.len();
        let texels = width * height * count;
        let is_half = channels.iter().all(|channel| channel.is_half);
        let mut half = vec![f16::ZERO; if is_half { texels } else { 0 }];
        let mut float = vec![0.0_f32; if is_half { 0 } else { texels }];
        for (y, line) in block.chunks_exact(line_bytes).enumerate() {
            for (at, channel) in channels.iter().enumerate() {
                let before = &header.channels.list[..channel.index];
                let before = before.iter().map(|c| c.sample_type.bytes_per_sample());
                let samples = &line[width * before.sum::<usize>()..];
                let first = y * width * count + at;
                match sample_type(header, channel.index) {
                    SampleType::F16 => {
                        let samples = samples.as_chunks::<2>().0.iter().take(width);
                        let samples = samples.map(|bytes| f16::from_ne_bytes(*bytes));
                        for (x, sample) in samples.enumerate() {
                            match is_half {
                                true => half[first + x * count] = sample,
                                false => float[first + x * count] = sample.to_f32(),
                            }
                        }
                    }
                    of => {
                        let samples = samples.as_chunks::<4>().0.iter().take(width);
                        for (x, bytes) in samples.enumerate() {
                            float[first + x * count] = match of {
                                SampleType::U32 => u32::from_ne_bytes(*bytes) as f32,
                                _ => f32::from_ne_bytes(*bytes),
                            };
                        }
                    }
                }
            }
        }
        Some(TileTexels {
            width,
            channels: count,
            samples: match is_half {
                true => Samples::Half(half.into()),
                false => Samples::Float(float.into()),
            },
        })
    }

    /// A tile whose every texel is the same.
    pub fn constant(colour: [f32; 4]) -> TileTexels {
        TileTexels {
            width: 0,
            channels: 4,
            samples: Samples::Constant(colour),
        }
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        match &self.samples {
            Samples::Half(samples) => size_of_val(&**samples),
            Samples::Float(samples) => size_of_val(&**samples),
            Samples::Constant(_) => 0,
        }
    }

    /// A texel within the tile: red, green, blue, alpha. Grey is all three alike; without an alpha
    /// channel alpha is 1. A position beyond the tile is zero.
    pub fn texel(&self, x: u32, y: u32) -> [f32; 4] {
        let first = (y as usize * self.width + x as usize) * self.channels;
        let sample = |channel: usize| match &self.samples {
            Samples::Half(samples) => samples.get(first + channel).map(|half| half.to_f32()),
            Samples::Float(samples) => samples.get(first + channel).copied(),
            Samples::Constant(colour) => colour.get(channel).copied(),
        };
        let sample = |channel| sample(channel).unwrap_or(0.0);
        match self.channels {
            1 => {
                let grey = sample(0);
                [grey, grey, grey, 1.0]
            }
            2 => {
                let grey = sample(0);
                [grey, grey, grey, sample(1)]
            }
            3 => [sample(0), sample(1), sample(2), 1.0],
            _ => [sample(0), sample(1), sample(2), sample(3)],
        }
    }
}
