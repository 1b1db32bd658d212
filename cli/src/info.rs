//! `adumbra info FILE` lists a shader's inputs, outputs and textures, with their metadata, and its
//! source's hooks and blocks that can be left out.

use crate::args::InfoArgs;
use crate::error::CliResult;
use crate::load::{ProgramRequest, load};
use crate::report::{self, OutputFormat};
use crate::setup::Setup;
use crate::show;
use adumbra::diagnostics::FileId;
use adumbra::render::harmless;
use adumbra::sources::{SourceFile, animation_hooks, eliminable_blocks};
use adumbra::{
    Program,
    program::{JsonInterface, Metadata},
    value::ValueView,
};
use std::io::{self, Write};

/// # Errors
/// If the file is at fault.
pub fn info(args: InfoArgs) -> CliResult {
    let setup = Setup::new(&args.compile)?;
    let wanted = ProgramRequest {
        file: &args.file,
        group: args.group,
        shader: args.shader.as_deref(),
        derivs: false,
        is_evaluated: false,
        texture_slopes: false,
        format: OutputFormat::of(args.json),
    };
    let (program, sources) = load(&wanted, &setup)?;
    report::diagnostics_to_stderr(program.warnings(), &sources, wanted.format);
    let mut stdout = io::stdout().lock();
    match args.json {
        true => {
            serde_json::to_writer(&mut stdout, &JsonInterface::new(&program))
                .map_err(io::Error::from)?;
            writeln!(stdout)?;
        }
        false => {
            let listing = text(&program, sources.get(FileId::MAIN));
            stdout.write_all(harmless(&listing).as_bytes())?;
        }
    }
    Ok(())
}

/// The listing for people, one line an item.
fn text(program: &Program, source: Option<&SourceFile>) -> String {
    let row = |kind: &str, name: &str, ty: &str, default: String, said: &[Metadata]| {
        let said: Vec<String> = (said.iter())
            .map(|Metadata { name, value }| format!("{name} = {value}"))
            .collect();
        let cells = [kind, name, ty, &default, &said.join(", ")];
        cells.map(str::to_owned).to_vec()
    };
    let inputs = program.inputs().iter().map(|input| {
        let default = ValueView::new(&input.ty, &input.default).to_string();
        let ty = input.ty.to_string();
        row("input", &input.name, &ty, default, &input.metadata)
    });
    let outputs = program.outputs().iter().map(|output| {
        row(
            "output",
            &output.name,
            &output.ty.to_string(),
            String::new(),
            &output.metadata,
        )
    });
    let textures = program.textures().iter();
    let textures = textures.map(|texture| {
        row(
            "texture",
            &texture.name,
            "",
            String::new(),
            &texture.metadata,
        )
    });
    let buffers = program.buffers().map(|buffer| {
        let ty = format!("buffer<{}>", buffer.element);
        row("buffer", &buffer.name, &ty, String::new(), &buffer.metadata)
    });
    let hooks = (source.into_iter()).flat_map(|source| animation_hooks(source.text()));
    let hooks = hooks.map(|hook| row("hook", &hook.name, &hook.signature, String::new(), &[]));
    let blocks = source.into_iter().flat_map(|source| {
        let lines = eliminable_blocks(source.text()).into_iter();
        lines.map(|block| source.line_column(block.start as u32).line)
    });
    let blocks = blocks.enumerate().map(|(number, line)| {
        let place = format!("line {line}");
        row("block", &number.to_string(), &place, String::new(), &[])
    });
    let rows: Vec<_> = (inputs.chain(outputs))
        .chain(textures)
        .chain(buffers)
        .chain(hooks)
        .chain(blocks)
        .collect();
    show::table(&rows)
}
