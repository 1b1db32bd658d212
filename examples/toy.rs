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

/// The distance that a ray goes, and the sphere that it hits there.
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

/// The globals of the point that a ray from the eye hits.
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

/// Waves. Each mip level is loaded once it was requested fifty times.
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
/// The pixels; the shares of each thread's time for rays and light, shading, walking closures.
pub(crate) fn render(height: usize, threads: usize) -> Fallible<(Vec<Vec3>, Vec<[f32; 3]>)> {
    let args = [("axis", Type::Vector(3)), ("exponent", Type::FLOAT)];
    let known = ClosureRegistry::new().with("Lobe", &args)?;
    let (axis, exponent) = (known.slot("Lobe", "axis")?, known.slot("Lobe", "exponent")?);
    let folder = Folder::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/group"));
    let compiler = Compiler::new(GlobalsLayout::of::<Hit>()).with_closures(known.clone());
    let program = compiler.compile_group(&Group::load("toy.json", &folder)?)?;
    let (reader, surface) = (known.reader(&program)?, program.closure_slot("surface")?);
    let (width, step, material) = (height * 8 / 5, 1.0 / height as f32, Instance::new(&program));
    let mut image = vec![Vec3::new(0.4, 0.6, 0.9); width * height];
    let chunk = BatchEvaluator::new(&material)?.width();
    let chunks = Mutex::new((0..).step_by(chunk).zip(image.chunks_mut(chunk)));
    let next = || chunks.lock().expect("no thread panicked").next();
    let draw = || -> Fallible<[f32; 3]> {
        let (mut batch, mut single) = (BatchEvaluator::new(&material)?, Evaluator::new(&material));
        let (mut waves, mut parked) = (Waves([0; 7]), vec![]);
        let (mut weights, mut lobes) = (vec![], vec![]);
        let (mut spent, mut clock) = ([Duration::ZERO; 3], Instant::now());
        let mut spend = |part: usize| spent[part] += replace(&mut clock, Instant::now()).elapsed();
        let mut walk = |lobes: &mut Vec<_>, point: usize, closure: ClosureView<'_>| {
            let leaves = reader.leaves(closure, &mut weights);
            lobes.extend(leaves.map(|l| (point, l.weight, l.read(axis), l.read(exponent))));
        };
        while let Some((first, pixels)) = next() {
            let (mut hits, mut places) = (Vec::new(), Vec::new());
            for (index, pixel) in (first..).zip(pixels) {
                let (x, y) = ((index % width) as f32, (index / width) as f32);
                let value = Vec3::new(x * step - 0.8, 0.4 - y * step, 1.5);
                let (ddx, ddy) = (Vec3::X * step, Vec3::NEG_Y * step);
                if let Some(hit) = trace(Dual { value, ddx, ddy }) {
                    *pixel = Vec3::ZERO;
                    places.push((pixel, f32::from(nearest(hit.position.value, SUN).is_none())));
                    hits.push(hit);
                }
            }
            spend(0);
            batch.evaluate(&BatchGlobals::from(&hits[..]), 0, hits.len(), &mut waves);
            batch.park_all(&mut parked)?;
            spend(1);
            let points = 0..places.len();
            points.for_each(|point| walk(&mut lobes, point, batch.closure(surface, point)));
            spend(2);
            // Texels come while a renderer shades other points. This one polls until then.
            while let Some((point, waiting)) = parked.pop() {
                if let Sampled::Ready(texel) = waves.sample(waiting.request()) {
                    single.resume(waiting, texel, &mut waves)?;
                    spend(1);
                    walk(&mut lobes, point, single.closure(surface));
                    spend(2);
                } else {
                    parked.push((point, waiting));
                }
            }
            // Each lobe reflects the sun, unless a sphere hides it, and the sky.
            for (point, tint, axis, exponent) in lobes.drain(..) {
                let (pixel, sun) = &mut places[point];
                **pixel += Vec3::from(tint) * (*sun * SUN.dot(axis).max(0.0).powf(exponent) + 0.3);
            }
        }
        Ok(spent.map(|part| part.div_duration_f32(spent.iter().sum())))
    };
    let spent: Fallible<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(draw)).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    Ok((image, spent?))
}

pub(crate) fn main() -> Fallible<()> {
    let (image, spent) = render(400, 2)?;
    let mut png = png::Encoder::new(std::fs::File::create("toy.png")?, 640, 400);
    png.set_color(png::ColorType::Rgb);
    let bytes = |c: &Vec3| (255.0 * c.powf(0.5)).to_array().map(|byte| byte as u8);
    let bytes: Vec<u8> = image.iter().flat_map(bytes).collect();
    println!("{spent:.2?} of each thread's time: rays and light, shading, walking closures");
    Ok(png.write_header()?.write_image_data(&bytes)?)
}
