//! A renderer in a hundred lines: `cargo run --example embed` shades a floor and prints it as text.
//!
//! The floor runs to the horizon. The renderer fills its own struct of globals, answers texture
//! requests with the mip level that fits, and walks closures.

use adumbra::{
    Compiler, Dual, Evaluator, GlobalsLayout, Host, Instance, SampleRequest, Sampled,
    ShaderGlobals, Sources,
    closure::{Closure, ClosureView},
};

const SHADER: &str = "
    texture2d tiles;

    shader tiled(float scale = 1.0, out closure surface)
    {
        float2 p = global_value<ground> * scale;
        p.x += 0.1 * sin(3.0 * p.y); // Whatever the artist does to coordinates, their derivatives follow.
        surface = texture2d_sample<tiles>(p) * make_closure<Lambert>(float3(0, 1, 0))
                + 0.1 * make_closure<Gloss>(float3(0, 1, 0), 8.0);
    }";

/// The globals of a point: its position on the floor, and the change from pixel to pixel. A shader
/// reads it as `global_value<ground>`.
#[derive(Clone, Copy, Default, ShaderGlobals)]
#[repr(C)]
struct Hit {
    ground: Dual<[f32; 2]>,
}

/// A texture of two by two tiles, black and white, with 64 texels along each side.
struct Tiles;

impl Host for Tiles {
    /// The footprint's longer side, in texels, chooses the mip level. Higher ones are greyer.
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        let along_x = request.dudx.hypot(request.dvdx);
        let along_y = request.dudy.hypot(request.dvdy);
        let level = (64.0 * along_x.max(along_y)).max(1.0).log2();
        let is_white = (2.0 * request.u).floor() as i32 + (2.0 * request.v).floor() as i32;
        let tile = if is_white % 2 == 0 { 1.0 } else { 0.0 };
        let sharpness = 1.0 - (level / 6.0).min(1.0);
        let grey = 0.5 + (tile - 0.5) * sharpness;
        Sampled::Ready([grey, grey, grey, 1.0])
    }
}

/// The brightness of a surface in the light of a lamp, by its closures.
fn brightness(surface: ClosureView<'_>, to_lamp: [f32; 3]) -> f32 {
    match surface.closure() {
        None => 0.0,
        Some(Closure::Add(a, b)) => brightness(a, to_lamp) + brightness(b, to_lamp),
        Some(Closure::Scale(weight, scaled)) => weight * brightness(scaled, to_lamp),
        Some(Closure::Tint([r, g, b], tinted)) => (r + g + b) / 3.0 * brightness(tinted, to_lamp),
        Some(Closure::Leaf(leaf)) => {
            let mut args = leaf.args();
            let normal: [f32; 3] = args.next().and_then(|arg| arg.get()).unwrap_or_default();
            let cosine: f32 = normal.iter().zip(to_lamp).map(|(n, l)| n * l).sum();
            let exponent: f32 = args.next().and_then(|arg| arg.get()).unwrap_or(1.0); // of Gloss
            cosine.max(0.0).powf(exponent)
        }
    }
}

const WIDTH: usize = 64;
const HEIGHT: usize = 20;

pub(crate) fn render() -> Result<String, Box<dyn std::error::Error>> {
    // Once for each shader, once for each material, once for each thread.
    let compiler = Compiler::new(GlobalsLayout::of::<Hit>());
    let program = compiler.compile(&Sources::new("tiled.adu", SHADER))?;
    let mut material = Instance::new(&program);
    material.set("scale", 0.5_f32)?;
    let mut evaluator = Evaluator::new(&material);
    let surface = program.closure_slot("surface")?;

    // For every point.
    let mut image = String::new();
    let mut hit = Hit::default();
    for y in 1..=HEIGHT {
        for x in 0..WIDTH {
            // The floor lies one below the eye; a pixel is 1/40 high and 1/80 wide at distance one.
            let (right, down) = ((x as f32 - 32.0) / 80.0, y as f32 / 40.0);
            hit.ground.value = [right / down, 1.0 / down];
            hit.ground.ddx = [1.0 / 80.0 / down, 0.0];
            hit.ground.ddy = [-right / 40.0 / (down * down), -1.0 / 40.0 / (down * down)];
            evaluator.evaluate(&hit, &mut Tiles);
            let light = brightness(evaluator.closure(surface), [0.6, 0.8, 0.0]);
            let shade = (light * 9.99).clamp(0.0, 9.0) as usize;
            image.push(char::from(b" .:-=+*#%@"[shade]));
        }
        image.push('\n');
    }
    Ok(image)
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    print!("{}", render()?);
    Ok(())
}
