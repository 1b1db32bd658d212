//! Light against numbers that are known without a renderer: lamps, shadows through layers, panes,
//! blends, white furnaces, and points far from the origin.

mod cornell;
mod far;
mod furnace;
mod lamps;
mod layers;

use adumbra_render::scene::{Scene, SceneLoader};
use adumbra_render::scene_image::{ImageSettings, draw_scene};
use serde_json::{Value, json};

/// A scene, and what it is drawn with.
pub(crate) struct Sketch<'a> {
    /// A scene file without a camera.
    pub(crate) scene: Value,
    /// The shaders of its materials, by the names of files.
    pub(crate) shaders: &'a [(&'a str, &'a str)],
    /// The height from which the camera looks down to the origin.
    pub(crate) height: f64,
    pub(crate) samples: u32,
    pub(crate) bounces: u32,
}

impl Default for Sketch<'_> {
    fn default() -> Self {
        Sketch {
            scene: json!({}),
            shaders: &[],
            height: 100.0,
            samples: 1,
            bounces: 0,
        }
    }
}

impl Sketch<'_> {
    /// What is seen at the origin, by a camera of one small pixel.
    pub(crate) fn pixel(&self) -> [f32; 4] {
        let mut scene = self.scene.clone();
        scene["image"] = json!({ "width": 1, "height": 1 });
        scene["camera"] = json!({ "orthographic": {
            "from": [0, self.height, 0], "to": [0, 0, 0], "up": [0, 0, -1], "height": 0.001
        } });
        self.draw(&scene)[0]
    }

    /// The pixels of a scene file.
    pub(crate) fn draw(&self, scene: &Value) -> Vec<[f32; 4]> {
        let scene = load(scene, self.shaders);
        let settings = ImageSettings {
            samples: self.samples,
            bounces: self.bounces,
            ..ImageSettings::default()
        };
        let image = draw_scene(&scene, &settings).expect("the scene can be drawn");
        assert_eq!(image.faults.stopped(), 0);
        image.pixels
    }
}

/// A scene of a file, with its shaders beside it.
pub(crate) fn load(scene: &Value, files: &[(&str, &str)]) -> Scene {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, content: &str| {
        std::fs::write(folder.path().join(name), content).expect("it is written");
    };
    write("scene.json", &scene.to_string());
    files
        .iter()
        .for_each(|(name, content)| write(name, content));
    let scene = SceneLoader::new().load(&folder.path().join("scene.json"));
    scene.unwrap_or_else(|error| panic!("{error}"))
}

/// A material of a shader's file.
pub(crate) fn shader(file: &str) -> Value {
    json!({ "shader": { "file": file } })
}

/// A square across y around a point, of this side.
pub(crate) fn square(material: &str, side: f64, at: [f64; 3]) -> Value {
    json!({ "mesh": "square", "material": material, "transform": [
        { "scale": [side, 1, side] }, { "translate": at }
    ] })
}

/// Lambert's reflection of all light.
pub(crate) const WHITE: (&str, &str) = (
    "white.adu",
    "shader white(out closure c) { c = make_closure<diffuse>(global_value<normal>); }",
);

/// Panics unless a number is as expected, to a relative error.
pub(crate) fn assert_near(value: f32, expected: f64, error: f64, of: &str) {
    let off = (f64::from(value) - expected).abs();
    assert!(
        off <= error * expected.abs().max(1e-9),
        "{of}: {value} is not {expected}"
    );
}
