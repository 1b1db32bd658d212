//! A renderer in fifty lines: `cargo run --example embed` shades a square with a procedural pattern and draws it as text, with the mip level that each
//! texture request asks for.

use adumbra::{
    Compiler, Evaluator, Globals, GlobalsLayout, Host, Instance, SampleRequest, Sampled, Sources,
};

const SHADER: &str = "
    texture2d rings;

    shader disc(float zoom = 3.0, out float brightness)
    {
        const float2 p = (global_value<uvw>.xy - 0.5) * zoom;
        const float r = length(p);
        // The rings get finer towards the rim: so do the derivatives of the texture coordinate, and the mip level rises.
        brightness = texture2d_sample<rings>(exp(r), 0.5).x;
    }";

/// Pixels along each side.
const SIZE: usize = 40;

/// Texels along each side of the texture.
const TEXELS: f32 = 256.0;

/// A texture that knows no pixels, only how blurred it would be.
struct Levels;

impl Host for Levels {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        let along_x = request.dudx.hypot(request.dvdx);
        let along_y = request.dudy.hypot(request.dvdy);
        let texels = TEXELS * along_x.max(along_y);
        let level = texels.max(1.0).log2();
        Sampled::Ready([level, level, level, 1.0])
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sources = Sources::new("disc.adu", SHADER);
    let program = Compiler::new(GlobalsLayout::hit()).compile(&sources)?;
    let mut material = Instance::new(&program);
    material.set("zoom", 4.0_f32)?;

    let mut evaluator = Evaluator::new(&material);
    let mut globals = Globals::new(program.globals());
    let pixel = 1.0 / SIZE as f32;
    for y in 0..SIZE / 2 {
        let mut line = String::new();
        for x in 0..SIZE {
            let uvw = [x as f32 * pixel, 2.0 * y as f32 * pixel, 0.0];
            globals.set("uvw", uvw, [pixel, 0.0, 0.0], [0.0, pixel, 0.0])?;
            evaluator.evaluate(&globals, &mut Levels);
            let level = evaluator.get::<f32>("brightness")?.value;
            line.push(char::from_digit(level as u32, 10).unwrap_or('+'));
        }
        println!("{line}");
    }
    Ok(())
}
