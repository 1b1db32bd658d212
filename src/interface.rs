//! A program's interface as one JSON object.

use crate::program::Program;
use crate::sources::{SourceFile, animation_hooks, eliminable_blocks};
use crate::value::{JsonFloat, ValueView};
use adumbra_ir::metadata::{Metadata, MetadataValue};
use adumbra_ir::module::{Buffer, Input, Output, Texture};
use adumbra_ir::{FileId, Type};
use serde::{Serialize, Serializer};
use std::ops::Range;

/// The interface of a program for other programs: inputs with types, defaults and metadata,
/// outputs, textures with their metadata and the names of the sources that declare them, buffers
/// with the types of their elements, and hooks and blocks that can be left out.
///
/// ```
/// use adumbra::{Compiler, GlobalsLayout, Sources, program::JsonInterface};
/// let source = "texture2d wood; shader s(float gain = 0.5 <<< max = 2 >>>, out color c) { c = gain * texture2d_sample<wood>(0.5, 0.5); }";
/// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
/// let json = serde_json::to_value(JsonInterface::new(&program))?;
/// assert_eq!(json["inputs"][0]["metadata"]["max"], 2);
/// assert_eq!(json["textures"][0]["name"], "wood");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Serialize)]
pub struct JsonInterface<'a> {
    inputs: Vec<JsonPort<'a>>,
    outputs: Vec<JsonPort<'a>>,
    textures: Vec<JsonTexture<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    buffers: Vec<JsonPort<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hooks: Vec<JsonHook>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blocks: Vec<JsonBlock>,
}

/// A function after `[Animate]` in JSON.
#[derive(Debug, Serialize)]
struct JsonHook {
    name: String,
    signature: String,
}

/// A block after `[EliminateIfUnused]` in JSON; its position is its number.
#[derive(Debug, Serialize)]
struct JsonBlock {
    line: u32,
}

/// An input or output in JSON.
#[derive(Debug, Serialize)]
struct JsonPort<'a> {
    name: &'a str,
    #[serde(rename = "type", serialize_with = "as_text")]
    ty: &'a Type,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<ValueView<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "by_name")]
    metadata: &'a [Metadata],
}

/// A texture in JSON.
#[derive(Debug, Serialize)]
struct JsonTexture<'a> {
    name: &'a str,
    /// The source that declares it, from which its file is found.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "by_name")]
    metadata: &'a [Metadata],
}

impl<'a> JsonInterface<'a> {
    /// The interface of a program.
    pub fn new(program: &'a Program) -> JsonInterface<'a> {
        let input = |input: &'a Input| JsonPort {
            name: &input.name,
            ty: &input.ty,
            default: Some(ValueView::new(&input.ty, &input.default)),
            metadata: &input.metadata,
        };
        let output = |output: &'a Output| JsonPort {
            name: &output.name,
            ty: &output.ty,
            default: None,
            metadata: &output.metadata,
        };
        let buffer = |buffer: &'a Buffer| JsonPort {
            name: &buffer.name,
            ty: &buffer.element,
            default: None,
            metadata: &buffer.metadata,
        };
        let texture = |texture: &'a Texture| JsonTexture {
            name: &texture.name,
            source: (program.sources())
                .and_then(|sources| sources.get(texture.span.file))
                .map(SourceFile::name),
            metadata: &texture.metadata,
        };
        let main = program
            .sources()
            .and_then(|sources| sources.get(FileId::MAIN));
        let hooks = main
            .into_iter()
            .flat_map(|main| animation_hooks(main.text()));
        let line =
            |main: &SourceFile, block: Range<usize>| main.line_column(block.start as u32).line;
        let blocks = main.into_iter().flat_map(|main| {
            let blocks = eliminable_blocks(main.text()).into_iter();
            blocks.map(move |block| JsonBlock {
                line: line(main, block),
            })
        });
        JsonInterface {
            inputs: program.inputs().iter().map(input).collect(),
            outputs: program.outputs().iter().map(output).collect(),
            textures: program.textures().iter().map(texture).collect(),
            buffers: program.buffers().map(buffer).collect(),
            hooks: hooks
                .map(|hook| JsonHook {
                    name: hook.name,
                    signature: hook.signature,
                })
                .collect(),
            blocks: blocks.collect(),
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
            MetadataValue::String(text) => JsonMetadata::Text(text),
        }
    }
}

fn by_name<S: Serializer>(metadata: &&[Metadata], serializer: S) -> Result<S::Ok, S::Error> {
    let entries = metadata.iter();
    serializer.collect_map(entries.map(|entry| (&entry.name, JsonMetadata::new(&entry.value))))
}

fn as_text<S: Serializer>(ty: &Type, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(ty)
}
