//! Textures in memory as sources of texels: every level of a `MipPyramid` is there.

use super::{TexelSource, TileMissing};
use adumbra_image::MipPyramid;

impl TexelSource for &MipPyramid {
    fn levels(&self) -> u32 {
        MipPyramid::levels(self).len() as u32
    }

    fn size(&self, level: u32) -> [u32; 2] {
        let size = MipPyramid::levels(self)[level as usize].size();
        [size.width(), size.height()]
    }

    fn texel(&mut self, level: u32, x: u32, y: u32) -> Result<[f32; 4], TileMissing> {
        let image = &MipPyramid::levels(self)[level as usize];
        let row = y as usize * image.size().width() as usize;
        Ok(image.pixels()[row + x as usize])
    }
}

impl TexelSource for MipPyramid {
    fn levels(&self) -> u32 {
        TexelSource::levels(&self)
    }

    fn size(&self, level: u32) -> [u32; 2] {
        TexelSource::size(&self, level)
    }

    fn texel(&mut self, level: u32, x: u32, y: u32) -> Result<[f32; 4], TileMissing> {
        (&*self).texel(level, x, y)
    }
}
