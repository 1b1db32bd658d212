//! A toy renderer: `cargo run --release --example toy` draws spheres on a floor into `toy.png`.
//! A group of shaders runs on two threads; points wait for textures, and closures become light.

use adumbra::batch::{BatchEvaluator, BatchGlobals};
use adumbra::closure::{ClosureRegistry, ClosureView};
use adumbra::{Compiler, Dual, Evaluator, GlobalsLayout, Host, Instance, SampleRequest, Sampled};
use adumbra::{ShaderGlobals, Type, group::Group, sources::Folder};
use glam::Vec3;
use std::{error::Error, mem::replace, sync::Mutex, thread, time::Duration, time::Instant};

/// The globals of a point: values, and how each changes from pixel to pixel.
#[derive(ShaderGlobals)]
#[repr(C)]
struct Hit {
    position: Dual<Vec3>,
    normal: Dual<Vec3>,
    uvw: Dual<Vec3>,
    incoming: Dual<Vec3>,
}

const SUN: Vec3 = Vec3::new(-0.48, 0.64, -0.6);
/// Centres, seen from the eye, and radii. The floor is the first.
const SPHERES: [(Vec3, f32); 3] = [
    (Vec3::new(0.0, -501.6, 5.0), 500.0),
    (Vec3::new(-0.9, -0.6, 5.5), 1.0),
    (Vec3::new(0.9, -1.0, 4.5), 0.6),
];

/// How far a ray goes, and the sphere that it meets there.
fn nearest(from: Vec3, ray: Vec3) -> Option<(f32, (Vec3, f32))> {
    let spheres = SPHERES.iter().map(|&(centre, radius)| {
        let (from, square) = (from - centre, ray.length_squared());
        let half = from.dot(ray);
        let root = half * half - square * (from.length_squared() - radius * radius);
        ((-half - root.sqrt()) / square, (centre, radius)) // NaN if it is missed
    });
    let met = spheres.filter(|(t, _)| *t > 1e-3);
    met.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// What shaders are told of the point that a ray from the eye meets.
fn trace(ray: Dual<Vec3>) -> Option<Hit> {
    let (t, (centre, radius)) = nearest(Vec3::ZERO, ray.value)?;
    let out = t * ray.value - centre;
    // Where the next pixel's ray meets the tangent plane: Igehy, "Tracing Ray Differentials".
    let moved = ray.map(|d| t * (d - ray.value * (d.dot(out) / ray.value.dot(out))));
    let [position, out] = [out + centre, out].map(|value| Dual { value, ..moved });
    Some(Hit {
        position,
        normal: out.map(|p| p / radius),
        uvw: out.map(|p| Vec3::new(p.x, p.z - p.y, 0.0)),
        incoming: ray,
    })
}

/// Waves. Each mip level is there when it was asked for fifty times; until then it is loaded.
struct Waves([u32; 7]);

impl Host for Waves {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        let along_x = request.dudx.hypot(request.dvdx);
        let longer = along_x.max(request.dudy.hypot(request.dvdy));
        let level = (64.0 * longer).clamp(1.0, 64.0).log2().floor();
        self.0[level as usize] += 1;
        if self.0[level as usize] <= 50 {
            return Sampled::Pending;
        }
        let [u, v] = [request.u, request.v].map(|at| (10.0 * at).sin());
        Sampled::Ready([0.5 + 0.4 * u * v * (1.0 - level / 6.0); 4])
    }
}

pub(crate) type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;
/// The pixels; the shares of each thread's time for intersection, shading and walking closures.
pub(crate) fn render(height: usize, threads: usize) -> Fallible<(Vec<Vec3>, Vec<[f32; 3]>)> {
    let args = [("axis", Type::Vector(3)), ("exponent", Type::FLOAT)];
    let known = ClosureRegistry::new().with("Lobe", &args)?;
    let (axis, exponent) = (known.slot("Lobe", "axis")?, known.slot("Lobe", "exponent")?);
    let folder = Folder::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/group"));
    let compiler = Compiler::new(GlobalsLayout::of::<Hit>()).with_closures(known.clone());
    let program = compiler.compile_group(&Group::load("toy.json", &folder)?)?;
    let (reader, surface) = (known.reader(&program)?, program.closure_slot("surface")?);
    let material = Instance::new(&program);
    let (width, step) = (height * 8 / 5, 1.0 / height as f32);
    let mut image = vec![Vec3::new(0.4, 0.6, 0.9); width * height];
    let chunk = BatchEvaluator::new(&material)?.width();
    let chunks = Mutex::new((0..).step_by(chunk).zip(image.chunks_mut(chunk)));
    let next = || chunks.lock().expect("no thread panicked").next();
    let draw = || -> Fallible<[f32; 3]> {
        let (mut batch, mut single) = (BatchEvaluator::new(&material)?, Evaluator::new(&material));
        let (mut waves, mut weights, mut parked) = (Waves([0; 7]), vec![], vec![]);
        let (mut spent, mut clock) = ([Duration::ZERO; 3], Instant::now());
        let mut spend = |part: usize| spent[part] += replace(&mut clock, Instant::now()).elapsed();
        // The light that a closure reflects: of the sun, unless it is 0, and of the sky.
        let mut light = |closure: ClosureView<'_>, sun: f32| -> Vec3 {
            let leaves = reader.leaves(closure, &mut weights).map(|leaf| {
                let lobe = SUN.dot(leaf.read(axis)).max(0.0).powf(leaf.read(exponent));
                Vec3::from(leaf.weight) * (sun * lobe + 0.3)
            });
            leaves.sum()
        };
        while let Some((first, pixels)) = next() {
            let (mut hits, mut places) = (Vec::new(), Vec::new());
            for (index, pixel) in (first..).zip(pixels) {
                let (x, y) = ((index % width) as f32, (index / width) as f32);
                let value = Vec3::new(x * step - 0.8, 0.4 - y * step, 1.5);
                let (ddx, ddy) = (Vec3::X * step, Vec3::NEG_Y * step);
                if let Some(hit) = trace(Dual { value, ddx, ddy }) {
                    places.push((pixel, f32::from(nearest(hit.position.value, SUN).is_none())));
                    hits.push(hit);
                }
            }
            spend(0);
            batch.evaluate(&BatchGlobals::from(&hits[..]), 0, hits.len(), &mut waves);
            batch.park_all(&mut parked)?;
            spend(1);
            for (point, (pixel, sun)) in places.iter_mut().enumerate() {
                **pixel = light(batch.closure(surface, point), *sun);
            }
            // Texels come while a renderer shades other points. This one asks until they are there.
            while let Some((point, waiting)) = parked.pop() {
                let Sampled::Ready(texel) = waves.sample(waiting.request()) else {
                    parked.push((point, waiting));
                    continue;
                };
                single.resume(waiting, texel, &mut waves)?;
                *places[point].0 = light(single.closure(surface), places[point].1);
            }
            spend(2);
        }
        Ok(spent.map(|part| part.div_duration_f32(spent.iter().sum())))
    };
    let spent: Fallible<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(draw)).collect();
        let done = threads.into_iter().map(|thread| thread.join());
        done.map(|done| done.expect("no thread panicked")).collect()
    });
    Ok((image, spent?))
}

pub(crate) fn main() -> Fallible<()> {
    let (image, spent) = render(400, 2)?;
    let mut png = png::Encoder::new(std::fs::File::create("toy.png")?, 640, 400);
    png.set_color(png::ColorType::Rgb);
    let bytes = image.iter().flat_map(|c| (255.0 * c.powf(0.5)).to_array());
    let bytes: Vec<u8> = bytes.map(|byte| byte as u8).collect();
    png.write_header()?.write_image_data(&bytes)?;
    println!("{spent:.2?} of each thread's time: intersection, shading, walking closures");
    Ok(())
}
