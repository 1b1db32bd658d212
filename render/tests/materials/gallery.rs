//! The ten materials on a sphere and a square, and shaders in place of a model's materials.

use adumbra_render::scene::{MaterialReplacement, PreviewShape, Scene, SceneError, SceneLoader};
use adumbra_render::scene_image::{ImageSettings, SceneImage, draw_scene};
use std::path::{Path, PathBuf};

const NAMES: [&str; 10] = [
    "brick",
    "car_paint",
    "fabric",
    "lava",
    "marble",
    "rust",
    "sdf_scene",
    "terrain",
    "tiles",
    "wood",
];

fn examples(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples")
        .join(path)
}

fn draw(scene: &Scene, samples: u32) -> SceneImage {
    assert_eq!(scene.warnings, [""; 0]);
    let settings = ImageSettings {
        samples,
        ..ImageSettings::default()
    };
    let image = draw_scene(scene, &settings).expect("it is drawn");
    for index in 0..scene.materials.len() {
        let faults = image.faults.of(index);
        assert!(
            faults.is_empty(),
            "{}: {faults:?}",
            scene.materials[index].name
        );
    }
    image
}

/// The mean of all pixels that are covered, and their share.
fn mean(image: &SceneImage) -> ([f32; 3], f32) {
    let mut sums = [0.0; 4];
    for pixel in &image.pixels {
        assert!(pixel.iter().all(|c| c.is_finite()), "{pixel:?}");
        for (sum, value) in sums.iter_mut().zip(pixel) {
            *sum += if pixel[3] == 1.0 { *value } else { 0.0 };
        }
    }
    let [r, g, b, covered] = sums;
    let share = covered / image.pixels.len() as f32;
    ([r, g, b].map(|sum| sum / covered), share)
}

#[test]
fn ten_materials_are_drawn_on_both_shapes() {
    for name in NAMES {
        let path = examples(&format!("materials/{name}.adu"));
        let means = [PreviewShape::Sphere, PreviewShape::Plane].map(|shape| {
            let loader = SceneLoader::new()
                .with_size(Some([24, 24]))
                .with_preview(shape);
            let scene = loader.load(&path).expect("a scene");
            let (mean, share) = mean(&draw(&scene, 4));
            assert!(share > 0.4, "{name} {shape:?}: {share}");
            let [least, greatest] = [f32::min, f32::max].map(|f| mean.into_iter().reduce(f));
            assert!(
                least > Some(0.01) && greatest < Some(2.0) && greatest > Some(0.08),
                "{name} {shape:?}: {mean:?}"
            );
            mean
        });
        assert!(means[0] != means[1], "{name}");
    }
}

#[test]
fn gallery_has_all_materials_on_both_shapes() {
    let loader = SceneLoader::new().with_size(Some([40, 51]));
    let scene = loader
        .load(&examples("render/gallery.json"))
        .expect("a scene");
    let names: Vec<&str> = scene.materials.iter().map(|m| &*m.name).collect();
    assert_eq!(names, NAMES.map(|name| format!("{name}.adu")));
    let one = SceneLoader::new().load(&examples("materials/brick.adu"));
    let triangles = one.expect("a scene").world.instanced_triangles();
    assert_eq!(scene.world.instanced_triangles(), 10 * triangles);
    assert!(mean(&draw(&scene, 1)).1 > 0.5);
}

/// A folder with a model of two materials, and a shader.
struct Model(tempfile::TempDir);

impl Model {
    fn new() -> Model {
        let model = Model(tempfile::tempdir().expect("a folder"));
        model.write(
            "m.mtl",
            "newmtl Body\nKd 0 0 0\nmap_Kd t.png\nnewmtl Rest\nKd 0 1 0\n",
        );
        let quad = |x: f32| {
            format!(
                "v {x} 0 0\nv {} 0 0\nv {} 1 0\nv {x} 1 0\n",
                x + 1.0,
                x + 1.0
            )
        };
        model.write(
            "m.obj",
            &format!(
                "mtllib m.mtl\n{}{}vt 0 0\nusemtl Body\nf 1/1 2/1 3/1 4/1\nusemtl Rest\nf 5/1 6/1 7/1 8/1\n",
                quad(0.0),
                quad(2.0)
            ),
        );
        std::fs::copy(examples("render/tiles.png"), model.path("t.png")).expect("it is copied");
        model
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("it is written");
    }

    fn load(&self, name: &str, shader: &str) -> Result<Scene, SceneError> {
        self.write("own.adu", shader);
        let replacement = MaterialReplacement {
            name: name.to_owned(),
            file: self.path("own.adu"),
        };
        let loader = SceneLoader::new().with_size(Some([30, 20]));
        loader
            .with_replacements(vec![replacement])
            .load(&self.path("m.obj"))
    }
}

#[test]
fn shader_replaces_a_material_and_has_its_textures() {
    let model = Model::new();
    let shader = "texture2d base_color_map; texture2d other;
        shader own(out closure c) {
            float t = texture2d_sample<base_color_map>(float2(0)).x + texture2d_sample<other>(float2(0)).x;
            c = make_closure<emission>(color(3, 0, 0) + 0.0 * t);
        }";
    let mut scene = model.load("Body", shader).expect("a scene");
    let warnings = std::mem::take(&mut scene.warnings);
    let (mean, _) = mean(&draw(&scene, 1));
    assert!(mean[0] > 1.0 && mean[1] > 0.05, "{mean:?}");
    let own = scene
        .materials
        .iter()
        .find(|m| m.name == "Body")
        .expect("it is there");
    let [map, other] = own.textures[..] else {
        panic!("{own:?}")
    };
    assert!(scene.textures[map].name().ends_with("t.png"));
    assert_eq!(scene.textures[other].name(), "checkerboard");
    let [warning] = &warnings[..] else {
        panic!("{warnings:?}")
    };
    assert!(
        warning.contains("`other` is drawn as a checkerboard")
            && warning.ends_with("no map of `Body`, which has base_color_map"),
        "{warning}"
    );
    let near = shader.replace("other", "base_colour_map");
    let scene = model.load("Body", &near).expect("a scene");
    assert!(scene.warnings[0].ends_with("did you mean `base_color_map`?"));
    let none = near.replace("base_color_map", "normal_map");
    let scene = model.load("Rest", &none).expect("a scene");
    assert!(scene.warnings.len() == 2 && scene.warnings[0].contains("has no maps"));
}

#[test]
fn replacement_of_no_material_is_refused() {
    let model = Model::new();
    let fine = "shader own(out color c) { c = color(1); }";
    let message = model
        .load("Bodi", fine)
        .expect_err("no such material")
        .to_string();
    assert!(
        message.ends_with("there is no material `Bodi`; there are `Body`, `Rest`"),
        "{message}"
    );
    let message = model.load("Body", "shader own(out float o) { o = 1; }");
    let message = message.expect_err("nothing is drawn").to_string();
    assert!(message.contains("`out closure surface`"), "{message}");
    let loader = |names: [&str; 2]| {
        let replacement = |name: &str| MaterialReplacement {
            name: name.to_owned(),
            file: model.path("own.adu"),
        };
        let loader = SceneLoader::new().with_replacements(names.map(replacement).to_vec());
        loader.load(&model.path("m.obj"))
    };
    model.write("own.adu", fine);
    assert!(loader(["Body", "Rest"]).is_ok());
    let twice = loader(["Body", "Body"])
        .expect_err("it is given twice")
        .to_string();
    assert!(twice.contains("`Body` is replaced twice"), "{twice}");
    std::fs::remove_file(model.path("own.adu")).expect("it is there");
    let gone = loader(["Body", "Rest"])
        .expect_err("there is no file")
        .to_string();
    assert!(gone.contains("the shader cannot be read"), "{gone}");
    let message = model.load("Body", "shader own(out color c) { c = d; }");
    let message = message.expect_err("it does not compile").to_string();
    assert!(
        message.contains("own.adu") && message.contains("nothing is called `d`"),
        "{message}"
    );
}
