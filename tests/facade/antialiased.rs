//! Images that are antialiased by their edges: their finite differences are the gradient by edges,
//! and they are the means of many samples.

use adumbra::batch::{BatchGlobals, OutputPlane, Part, WholeBatch};
use adumbra::evaluator::Engine;
use adumbra::gradient::{
    Axis, GradientRequest, JumpBatch, JumpGradient, JumpPoint, JumpReport, JumpRules,
};
use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Sources, Type};

const WIDTH: usize = 48;
const HEIGHT: usize = 40;

const DISC: &str = "
    shader disc(float r = 13.3, float cx = 23.1, float cy = 20.4, out float c)
    {
        c = length(global_value<pixel> - float2(cx, cy)) < r ? 0.8 : 0.3;
    }";
/// In its own glow, which the radius widens on both sides alike.
const LAMP: &str = "
    shader lamp(float r = 13.3, float cx = 23.1, float cy = 20.4, out float c)
    {
        float2 p = global_value<pixel> - float2(cx, cy);
        c = 0.4 * exp(-dot(p, p) / (r * r)) + (length(p) - r < 0.0 ? 0.5 : 0.0);
    }";
/// Decisions in a loop, one of them by what the others gave.
const RINGS: &str = "
    shader rings(float x = 22.3, float y = 19.8, float r = 7.7, float step = 4.3, out float c)
    {
        float best = -100.0;
        for (int i = 0; i < 3; i++) {
            float2 p = global_value<pixel> - float2(x + 3 * i, y);
            float z = 0.3 * p.x - i;
            float d = length(p);
            if (d < r + i * step && d > 0.7 * (r + i * step) && z > best) {
                best = z;
                c = 0.3 + 0.2 * i;
            }
        }
    }";
const SQUARE: &str = "
    shader square(float phi = 0.4, float x = 24.3, float size = 12.2, out float c)
    {
        float2 p = global_value<pixel> - float2(x, 19.7);
        float a = cos(phi) * p.x + sin(phi) * p.y;
        float b = sin(phi) * p.x - cos(phi) * p.y;
        c = abs(a) <= size && abs(b) <= size ? 1.0 : 0.0;
    }";

/// A shader over an image, with what finds its edges.
struct Scene {
    jumps: JumpGradient,
    parameters: Vec<(String, f32)>,
    pixels: [Vec<f32>; 2],
}

impl Scene {
    fn new(text: &str, spacing: f64, rules: JumpRules) -> Scene {
        let layout = GlobalsLayout::new().with("pixel", Type::Vector(2)).unwrap();
        let program = Compiler::new(layout).compile(&Sources::new("s.adu", text));
        let program = program.unwrap_or_else(|refused| panic!("{refused}"));
        let axes = [0, 1].map(|axis| Axis::new("pixel", axis, spacing));
        let jumps = program.jump_gradient(&GradientRequest::new(), &axes, rules);
        let inputs = program.inputs().iter();
        let default = |input: &adumbra::program::Input| f32::from_bits(input.default[0]);
        let middle = |at: usize| at as f32 + 0.5;
        Scene {
            jumps: jumps.unwrap(),
            parameters: inputs
                .map(|input| (input.name.clone(), default(input)))
                .collect(),
            pixels: [
                (0..WIDTH * HEIGHT).map(|at| middle(at % WIDTH)).collect(),
                (0..WIDTH * HEIGHT).map(|at| middle(at / WIDTH)).collect(),
            ],
        }
    }

    /// An instance with one parameter moved.
    fn instance(&self, moved: &str, by: f32) -> Instance {
        let mut instance = Instance::new(self.jumps.smooth().program());
        for (name, value) in &self.parameters {
            let by = if name == moved { by } else { 0.0 };
            instance.set(name, value + by).unwrap();
        }
        instance
    }

    fn globals(&self) -> BatchGlobals<'_> {
        let mut globals = BatchGlobals::new(self.jumps.smooth().program().globals());
        for (axis, plane) in self.pixels.iter().enumerate() {
            globals.plane("pixel", Part::Value, axis, plane, 1).unwrap();
        }
        globals.uniform("d(c)", 1.0_f32, 0.0, 0.0).unwrap();
        globals
    }

    /// The image without antialiasing.
    fn plain(&self, instance: &Instance) -> Vec<f32> {
        let mut c = vec![0.0_f32; WIDTH * HEIGHT];
        let planes = &mut [OutputPlane::new("c", Part::Value, 0, &mut c, 1)];
        let all = 0..WIDTH * HEIGHT;
        let batch = WholeBatch::new(instance);
        batch
            .planes(&self.globals(), all, planes, || NoTextures)
            .unwrap();
        c
    }

    fn antialiased(&self, batch: &JumpBatch, instance: &Instance) -> (Vec<f32>, JumpReport) {
        let mut c = self.plain(instance);
        let planes = &mut [OutputPlane::new("c", Part::Value, 0, &mut c, 1)];
        let all = 0..WIDTH * HEIGHT;
        let report = batch.antialias(&self.globals(), all, planes, || NoTextures);
        (c, report.unwrap())
    }

    fn points(&self, instance: &Instance) -> Vec<JumpPoint> {
        let batch = JumpBatch::new(&self.jumps, instance);
        let all = 0..WIDTH * HEIGHT;
        batch.points(&self.globals(), all, || NoTextures).unwrap()
    }

    /// The gradient by a parameter at each pixel.
    fn gradient(&self, name: &str) -> Vec<f32> {
        let mut found = vec![0.0_f32; WIDTH * HEIGHT];
        let output = format!("d({name})");
        let planes = &mut [OutputPlane::new(&output, Part::Value, 0, &mut found, 1)];
        let batch = JumpBatch::new(&self.jumps, &self.instance("", 0.0));
        let all = 0..WIDTH * HEIGHT;
        batch
            .planes(&self.globals(), all, planes, || NoTextures)
            .unwrap();
        found
    }
}

/// Asserts that differences of the image by a parameter are its gradient, where the same edges
/// count at both ends: where one comes in or goes, the image has a kink.
fn check_differences(text: &str, name: &str, step: f32) {
    let scene = Scene::new(text, 1.0, JumpRules::Edge);
    let ends = [-step, 0.0, step].map(|by| scene.instance(name, by));
    let [low, _, high] = ends.each_ref().map(|instance| {
        let batch = JumpBatch::new(&scene.jumps, instance);
        scene.antialiased(&batch, instance).0
    });
    let points = ends.each_ref().map(|instance| scene.points(instance));
    let value = scene.parameters.iter().find(|own| own.0 == name).unwrap().1;
    let distance = f64::from(value + step) - f64::from(value - step);
    let gradient = scene.gradient(name);
    let greatest = gradient.iter().fold(0.0, |most: f32, g| most.max(g.abs()));
    let (mut compared, mut seen) = (0, 0);
    for pixel in 0..WIDTH * HEIGHT {
        let at = points
            .each_ref()
            .map(|points| points.iter().find(|found| found.point == pixel));
        seen += usize::from(at[1].is_some());
        if at[0] != at[1] || at[1] != at[2] {
            continue;
        }
        compared += usize::from(at[1].is_some());
        let difference = (f64::from(high[pixel]) - f64::from(low[pixel])) / distance;
        let error = (difference - f64::from(gradient[pixel])).abs();
        let most = 1e-3 * f64::from(greatest);
        assert!(
            error <= most,
            "{name} at {pixel}: {difference} {}",
            gradient[pixel]
        );
    }
    assert!(
        seen > 100 && compared * 10 > seen * 9,
        "{name}: {compared} of {seen}"
    );
}

#[test]
fn differences_of_the_image_are_the_gradient_by_edges() {
    for (text, parameters) in [
        (DISC, &[("r", 0.02), ("cx", 0.02), ("cy", 0.02)][..]),
        (LAMP, &[("r", 0.02), ("cx", 0.02)]),
        (
            RINGS,
            &[("x", 0.02), ("y", 0.02), ("r", 0.02), ("step", 0.01)],
        ),
        (SQUARE, &[("phi", 0.001), ("x", 0.02), ("size", 0.02)]),
    ] {
        for &(name, step) in parameters {
            check_differences(text, name, step);
        }
    }
}

/// The values of a disc, computed here.
fn disc(x: f64, y: f64) -> f64 {
    let (dx, dy) = (x - f64::from(23.1_f32), y - f64::from(20.4_f32));
    if (dx * dx + dy * dy).sqrt() < f64::from(13.3_f32) {
        0.8
    } else {
        0.3
    }
}

#[test]
fn pixels_are_means_along_the_axis_of_their_edge() {
    let scene = Scene::new(DISC, 1.0, JumpRules::Edge);
    let instance = scene.instance("", 0.0);
    let batch = JumpBatch::new(&scene.jumps, &instance);
    let (image, report) = scene.antialiased(&batch, &instance);
    let points = scene.points(&instance);
    assert_eq!((report.points, report.nullified), (points.len(), 0));
    let mut compared = 0;
    for point in points {
        // Where an edge counts on both axes, as at 45°, the pixel is no mean along one.
        let Some(axis) = point.axis else {
            continue;
        };
        let [x, y] = scene
            .pixels
            .each_ref()
            .map(|plane| f64::from(plane[point.point]));
        let offsets = (0..64).map(|sample| (f64::from(sample) + 0.5) / 32.0 - 1.0);
        let sum: f64 = offsets
            .map(|offset| match axis {
                0 => disc(x + offset, y),
                _ => disc(x, y + offset),
            })
            .sum();
        let error = (sum / 64.0 - f64::from(image[point.point])).abs();
        // A sample is 1/64 of the step.
        assert!(error <= 0.5 / 64.0, "{point:?}: {error}");
        compared += 1;
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn halves_of_spacings_are_close_to_supersampled_pixels() {
    let scene = Scene::new(DISC, 0.5, JumpRules::Edge);
    let instance = scene.instance("", 0.0);
    let batch = JumpBatch::new(&scene.jumps, &instance);
    let images = [
        scene.antialiased(&batch, &instance).0,
        scene.plain(&instance),
    ];
    let errors = images.map(|image| {
        let pixels = image.iter().enumerate().map(|(pixel, value)| {
            let [x, y] = scene
                .pixels
                .each_ref()
                .map(|plane| f64::from(plane[pixel]) - 0.5);
            let middle = |at: usize| (at as f64 + 0.5) / 8.0;
            let samples = (0..64).map(|at| disc(x + middle(at % 8), y + middle(at / 8)));
            let mean = samples.sum::<f64>() / 64.0;
            (mean - f64::from(*value)).abs()
        });
        pixels.sum::<f64>()
    });
    let [antialiased, plain] = errors;
    assert!(antialiased < 0.2 * plain, "{antialiased} {plain}");
}

#[test]
fn engines_threads_and_images_give_the_same_bits() {
    let scene = Scene::new(RINGS, 1.0, JumpRules::Edge);
    let instance = scene.instance("", 0.0);
    let batch = || JumpBatch::new(&scene.jumps, &instance);
    let (expected, report) = scene.antialiased(&batch(), &instance);
    let bits = |image: &[f32]| image.iter().map(|c| c.to_bits()).collect::<Vec<_>>();
    assert_ne!(bits(&expected), bits(&scene.plain(&instance)));
    let as_image = || batch().image(WIDTH, 0..WIDTH * HEIGHT);
    for other in [
        batch().engine(Engine::Reference),
        batch().engine(Engine::Point),
        batch().engine(Engine::Native),
        as_image().threads(3),
        as_image().engine(Engine::Native),
    ] {
        let (image, same) = scene.antialiased(&other, &instance);
        assert_eq!((bits(&image), same), (bits(&expected), report));
    }
}

#[test]
#[should_panic(expected = "by the rules `Edge` alone")]
fn pairs_know_no_places_of_edges() {
    let scene = Scene::new(DISC, 1.0, JumpRules::Pair);
    let instance = scene.instance("", 0.0);
    scene.antialiased(&JumpBatch::new(&scene.jumps, &instance), &instance);
}
