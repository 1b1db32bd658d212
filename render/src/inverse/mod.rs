//! Inverse rendering: how a loss of an image depends on inputs of materials.
//!
//! An [`InverseScene`] draws a scene whose inputs are set anew, and gives the gradient of any loss
//! of the image by them: by colours, roughnesses, scales of textures, whatever leads to weights and
//! arguments of closures. Geometry, lamps and the camera stay as they are. Samples do, too, so
//! these count as constants: normals, tangents, indices of refraction, layers, and the roughness
//! below which a lobe is a mirror. A surface that is black in all channels has no gradient by its
//! lobes, since no light is followed there.

mod error;
mod material;
mod objective;

pub use error::InverseError;
pub use objective::SceneObjective;

use crate::frame::{FrameJob, draw_tiles, share_tiles, tiles};
use crate::scene::Scene;
use crate::scene_image::{
    ImageSettings, SceneImageError, add_textures, load_environment, path_settings,
};
use crate::scene_textures::{PartialSource, SceneTextures};
use crate::shading::environment::EnvironmentLight;
use crate::shading::{
    AreaLights, ClosureTable, GradientMaterial, GradientShader, ImageTile, InputSums,
    MaterialShader, PathScene, ShadingError, WaveShader, tile_gradient,
};
use crate::texture::cache::{CacheSettings, MissPolicy, TextureCache};
use crate::texture::host::TextureHost;
use adumbra::program::Input;
use glam::Vec3;
use material::{differentiable, find_input, numbers, set_numbers};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// An input of a material that a gradient is by.
#[derive(Clone, Debug)]
pub struct InverseInput {
    /// The material's name in the scene.
    pub material: String,
    /// The input: its name, its type and its metadata.
    pub input: Input,
    /// Its numbers now: one for a float, one for each component of a vector.
    pub value: Vec<f32>,
    /// The gradient program of its material, and its number among that one's inputs.
    place: [usize; 2],
}

impl fmt::Display for InverseInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.material, self.input.name)
    }
}

/// A material whose inputs have gradients.
#[derive(Debug)]
struct InverseMaterial {
    /// Its number in the scene.
    number: usize,
    gradient: GradientMaterial,
}

/// A scene whose inputs of materials are set anew for each image, with gradients by them.
#[derive(Debug)]
pub struct InverseScene<'s> {
    scene: &'s Scene,
    settings: ImageSettings,
    cache: Arc<TextureCache>,
    table: ClosureTable,
    environment: EnvironmentLight,
    shaders: Vec<MaterialShader>,
    materials: Vec<InverseMaterial>,
    inputs: Vec<InverseInput>,
    /// Set until an input is set.
    area_lights: Option<AreaLights>,
}

/// The gradient of a loss by inputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InverseGradient {
    /// For each input, in the order in which they were named, the derivative by each number.
    pub by_inputs: Vec<Vec<f64>>,
    /// Points that are in no sum: those whose gradient is not finite, and those that were stopped.
    pub left_out: u64,
}

impl<'s> InverseScene<'s> {
    /// For gradients by these inputs, each named `material.input`. Textures are read as threads
    /// need them, whatever the settings of the cache say of misses.
    ///
    /// # Errors
    /// If a name is not that of an input of floats, a material has no gradient by it, or the scene
    /// cannot be drawn.
    pub fn new(
        scene: &'s Scene,
        settings: &ImageSettings,
        names: &[impl AsRef<str>],
    ) -> Result<InverseScene<'s>, InverseError> {
        let table = ClosureTable::new();
        let mut wanted: Vec<(usize, Vec<String>)> = Vec::new();
        let mut inputs = Vec::new();
        for name in names {
            let (number, input) = find_input(scene, name.as_ref())?;
            let material = &scene.materials[number];
            let at = wanted.iter().position(|(known, _)| *known == number);
            let at = at.unwrap_or_else(|| {
                wanted.push((number, Vec::new()));
                wanted.len() - 1
            });
            let of_material = &mut wanted[at].1;
            if of_material.contains(&input.name) {
                continue;
            }
            of_material.push(input.name.clone());
            inputs.push(InverseInput {
                material: material.name.clone(),
                value: numbers(&material.unfolded, &input.name)?,
                input,
                place: [at, of_material.len() - 1],
            });
        }
        let shaders = scene.materials.iter();
        let shaders = shaders.map(|material| MaterialShader::new(material, &table));
        let mut shaders: Vec<_> = shaders
            .collect::<Result<_, _>>()
            .map_err(SceneImageError::Closures)?;
        let mut materials = Vec::new();
        for (number, inputs) in wanted {
            let material = &scene.materials[number];
            let (shader, gradient) = differentiable(material, &shaders[number], &inputs, &table)?;
            shaders[number] = shader;
            materials.push(InverseMaterial { number, gradient });
        }
        let cache = TextureCache::new(CacheSettings {
            policy: MissPolicy::Block,
            ..settings.cache
        });
        add_textures(&cache, scene);
        Ok(InverseScene {
            environment: load_environment(&scene.environment)?,
            settings: settings.clone(),
            scene,
            cache,
            table,
            shaders,
            materials,
            inputs,
            area_lights: None,
        })
    }

    /// The inputs, in the order in which they were named, each once.
    pub fn inputs(&self) -> &[InverseInput] {
        &self.inputs
    }

    /// Width and height of its images in pixels.
    pub fn size(&self) -> [u32; 2] {
        self.scene.camera.size
    }

    /// Has images and gradients to come be of other random numbers.
    pub fn set_seed(&mut self, seed: u32) {
        self.settings.seed = seed;
    }

    /// Sets an input, by its number among [`InverseScene::inputs`], for the images to come.
    ///
    /// # Errors
    /// If it has another number of components.
    ///
    /// # Panics
    /// If there is no such input.
    pub fn set(&mut self, input: usize, value: &[f32]) -> Result<(), InverseError> {
        let InverseInput {
            input,
            value: own,
            place: [at, _],
            ..
        } = &mut self.inputs[input];
        let material = &mut self.materials[*at];
        set_numbers(
            &mut self.shaders[material.number].instance,
            &input.name,
            value,
        )?;
        set_numbers(&mut material.gradient.instance, &input.name, value)?;
        *own = value.to_vec();
        self.area_lights = None;
        Ok(())
    }

    /// Draws the image: linear radiance, row by row.
    ///
    /// # Errors
    /// If a material cannot be evaluated here.
    pub fn image(&mut self) -> Result<Vec<[f32; 3]>, InverseError> {
        self.prepare()?;
        let [width, height] = self.size().map(|side| side as usize);
        let mut pixels = vec![[0.0; 3]; width * height];
        let stop = AtomicBool::new(false);
        draw_tiles(
            &self.job(&stop),
            &tiles(ImageTile::whole(self.size())),
            || self.textures(),
            |tile, drawn, _| {
                for ([x, y], [red, green, blue, _]) in tile.pixels().zip(drawn) {
                    pixels[y as usize * width + x as usize] = [*red, *green, *blue];
                }
            },
        )?;
        Ok(pixels)
    }

    /// The gradient of a loss whose derivative by each pixel is `adjoint`, row by row. It is that
    /// of the image of the same inputs, by the same random numbers, and has the same bits with any
    /// number of threads.
    ///
    /// # Errors
    /// If a material cannot be evaluated here.
    ///
    /// # Panics
    /// If there are not as many derivatives as pixels.
    pub fn gradient(&mut self, adjoint: &[[f32; 3]]) -> Result<InverseGradient, InverseError> {
        let [width, height] = self.size().map(|side| side as usize);
        assert_eq!(adjoint.len(), width * height, "one for each pixel");
        self.prepare()?;
        let stop = AtomicBool::new(false);
        let job = self.job(&stop);
        let all = tiles(ImageTile::whole(self.size()));
        let results = share_tiles(&job, &all, |next| -> Result<Vec<InputSums>, ShadingError> {
            let mut textures = self.textures();
            let mut shader = WaveShader::new(job.shaders, job.table, job.engine).at_time(job.time);
            let evaluators = self.materials.iter().map(|material| {
                let gradient = &material.gradient;
                let evaluator = GradientShader::new(gradient, job.engine, job.time)?;
                Ok((material.number, evaluator, gradient.zeros()))
            });
            let mut evaluators: Vec<_> = evaluators.collect::<Result<_, ShadingError>>()?;
            while let Some(tile) = next() {
                let pixels = tile.pixels();
                let pixels = pixels.map(|[x, y]| adjoint[y as usize * width + x as usize]);
                let own: Vec<Vec3> = pixels.map(Vec3::from).collect();
                tile_gradient(
                    (&job.scene, &job.settings),
                    (tile, &own),
                    &mut shader,
                    &mut evaluators,
                    &mut textures,
                )?;
            }
            Ok(evaluators.into_iter().map(|(_, _, sums)| sums).collect())
        });
        let mut sums: Vec<_> = (self.materials.iter())
            .map(|material| material.gradient.zeros())
            .collect();
        for of_thread in results {
            let pairs = sums.iter_mut().zip(of_thread?);
            pairs.for_each(|(sums, other)| sums.join(&other));
        }
        let by_inputs = self.inputs.iter().map(|input| {
            let [material, number] = input.place;
            let own = &sums[material].sums[number];
            own.iter().map(|sum| sum.to_f64()).collect()
        });
        Ok(InverseGradient {
            by_inputs: by_inputs.collect(),
            left_out: sums.iter().map(|sums| sums.left_out).sum(),
        })
    }

    fn textures(&self) -> SceneTextures {
        let host = TextureHost::new(self.cache.clone(), self.settings.lookup);
        SceneTextures::new(host, PartialSource::Request)
    }

    /// Estimates the power of emissive triangles, if an input was set since.
    fn prepare(&mut self) -> Result<(), ShadingError> {
        if self.area_lights.is_none() {
            let mut shader = WaveShader::new(&self.shaders, &self.table, self.settings.engine);
            let found = AreaLights::new(&self.scene.world, &mut shader, &mut self.textures());
            self.area_lights = Some(found?);
        }
        Ok(())
    }

    fn job<'a>(&'a self, stop: &'a AtomicBool) -> FrameJob<'a> {
        let area_lights = self.area_lights.as_ref();
        FrameJob {
            scene: PathScene {
                world: &self.scene.world,
                lights: &self.scene.lights,
                environment: &self.environment,
                area_lights: area_lights.expect("they were estimated"),
            },
            settings: path_settings(self.scene, &self.settings),
            shaders: &self.shaders,
            table: &self.table,
            engine: self.settings.engine,
            time: 0.0,
            threads: self.settings.threads,
            stop,
        }
    }
}
