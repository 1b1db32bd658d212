//! Fingerprints of scenes: whether an image that was begun can be continued.

use super::{Environment, Scene};
use adumbra_image::Fingerprint;

impl Scene {
    /// What decides the bits of an image but for textures and options: geometry, camera,
    /// compiled materials, lights, environment. Names of materials and warnings do not count.
    pub fn fingerprint(&self) -> u64 {
        let mut all = Fingerprint::new();
        self.world.add_to(&mut all);
        all.add_debug(&self.camera);
        for material in &self.materials {
            all.add_bytes(&material.instance.program().to_bytecode());
            all.add_debug(&material.textures);
        }
        all.add_debug(&self.lights);
        if let Environment::Constant(radiance) = &self.environment {
            all.add_debug(radiance);
        }
        all.value()
    }

    /// The contents of the images: of textures, and of the environment.
    pub fn image_fingerprint(&self) -> u64 {
        let mut all = Fingerprint::new();
        for texture in &self.textures {
            all.add_debug(&(texture.wrap, texture.color_space));
            texture.source.add_to(&mut all);
        }
        if let Environment::Image { file, scale } = &self.environment {
            all.add_debug(scale);
            all.add_file(file);
        }
        all.value()
    }
}
