//! `adumbra info FILE`: what a host may set and read, with what the shader says about it, and the textures that it samples.

use crate::args::InfoArgs;
use crate::load::{Wanted, load};
use crate::outcome::Outcome;
use crate::report::Format;
use crate::setup::Setup;
use crate::show;
use adumbra::render::harmless;
use adumbra::{Input, JsonFloat, Metadata, MetadataValue, Output, Program, Type, View};
use serde::{Serialize, Serializer};
use std::io::{self, Write};

/// # Errors
/// If the file is at fault.
pub fn info(args: InfoArgs) -> Outcome {
    let setup = Setup::new(&args.compile)?;
    let wanted = Wanted {
        file: &args.file,
        group: args.group,
        shader: args.shader.as_deref(),
        derivs: false,
        is_evaluated: false,
        format: Format::of(args.json),
        compile: &args.compile,
    };
    let (program, _) = load(&wanted, &setup)?;
    let mut stdout = io::stdout().lock();
    match args.json {
        true => {
            serde_json::to_writer(&mut stdout, &JsonInfo::new(&program))
                .map_err(io::Error::from)?;
            writeln!(stdout)?;
        }
        false => stdout.write_all(harmless(&text(&program)).as_bytes())?,
    }
    Ok(())
}

#[derive(Serialize)]
struct JsonInfo<'a> {
    inputs: Vec<JsonPort<'a>>,
    outputs: Vec<JsonPort<'a>>,
    textures: &'a [String],
}

/// An input or output.
#[derive(Serialize)]
struct JsonPort<'a> {
    name: &'a str,
    #[serde(rename = "type", serialize_with = "show::as_text")]
    ty: &'a Type,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<View<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "by_name")]
    metadata: &'a [Metadata],
}

impl<'a> JsonInfo<'a> {
    fn new(program: &'a Program) -> JsonInfo<'a> {
        let input = |input: &'a Input| JsonPort {
            name: &input.name,
            ty: &input.ty,
            default: Some(View::new(&input.ty, &input.default)),
            metadata: &input.metadata,
        };
        let output = |output: &'a Output| JsonPort {
            name: &output.name,
            ty: &output.ty,
            default: None,
            metadata: &output.metadata,
        };
        JsonInfo {
            inputs: program.inputs().iter().map(input).collect(),
            outputs: program.outputs().iter().map(output).collect(),
            textures: program.textures(),
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum JsonMetadata<'a> {
    Bool(bool),
    Int(i32),
    Uint(u32),
    Float(JsonFloat),
    Text(&'a str),
}

impl<'a> JsonMetadata<'a> {
    fn new(value: &'a MetadataValue) -> JsonMetadata<'a> {
        match value {
            MetadataValue::Bool(value) => JsonMetadata::Bool(*value),
            MetadataValue::Int(value) => JsonMetadata::Int(*value),
            MetadataValue::Uint(value) => JsonMetadata::Uint(*value),
            MetadataValue::Float(value) => JsonMetadata::Float(JsonFloat(*value)),
            MetadataValue::Text(text) => JsonMetadata::Text(text),
        }
    }
}

fn by_name<S: Serializer>(metadata: &&[Metadata], serializer: S) -> Result<S::Ok, S::Error> {
    let entries = metadata.iter();
    serializer.collect_map(entries.map(|entry| (&entry.name, JsonMetadata::new(&entry.value))))
}

/// A line each, for people.
fn text(program: &Program) -> String {
    let row = |kind: &str, name: &str, ty: &Type, default: String, said: &[Metadata]| {
        let said: Vec<String> = (said.iter())
            .map(|Metadata { name, value }| format!("{name} = {value}"))
            .collect();
        let cells = [kind, name, &ty.to_string(), &default, &said.join(", ")];
        cells.map(str::to_owned).to_vec()
    };
    let inputs = program.inputs().iter().map(|input| {
        let default = View::new(&input.ty, &input.default).to_string();
        row("input", &input.name, &input.ty, default, &input.metadata)
    });
    let outputs = program.outputs().iter().map(|output| {
        row(
            "output",
            &output.name,
            &output.ty,
            String::new(),
            &output.metadata,
        )
    });
    let textures = program.textures().iter();
    let textures = textures.map(|name| vec!["texture".to_owned(), name.clone()]);
    let rows: Vec<_> = inputs.chain(outputs).chain(textures).collect();
    show::table(&rows)
}
