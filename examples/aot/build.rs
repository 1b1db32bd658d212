//! Compiles `ripple.adu` ahead of time, for the processor that the host is built for.

use adumbra::{Compiler, GlobalsLayout, Options, Sources, Type, object::{ObjectFile, Platform}};
use std::error::Error;
use std::path::Path;
use std::{env, fs};

const SHADER: &str = "ripple.adu";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={SHADER}");
    let layout = GlobalsLayout::new()
        .with("uv", Type::Vector(2))?
        .with("time", Type::FLOAT)?;
    let options = Options {
        output_derivatives: true,
        ..Options::default()
    };
    let sources = Sources::new(SHADER, fs::read_to_string(SHADER)?);
    let program = Compiler::new(layout)
        .with_options(options)
        .compile(&sources)?;

    let [arch, system] = ["CARGO_CFG_TARGET_ARCH", "CARGO_CFG_TARGET_OS"].map(env::var);
    let name = format!("{}-{}", arch?, system?);
    let platform = Platform::from_name(&name).ok_or(format!("no objects are made for {name}"))?;
    let mut file = ObjectFile::new(platform);
    // An image has one time for all of its pixels.
    file.add("ripple", &program, &["time".to_owned()])?;
    let object = Path::new(&env::var("OUT_DIR")?).join("ripple.o");
    fs::write(&object, file.to_bytes()?)?;
    println!("cargo::rustc-link-arg={}", object.display());
    Ok(())
}
