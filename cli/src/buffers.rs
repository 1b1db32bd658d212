//! Buffers from files: NumPy arrays, or plain numbers.

use crate::error::{CliError, CliResult};
use crate::numpy::{is_array, read_array};
use crate::report;
use crate::setting::NamedFile;
use adumbra::program::BufferNumbers;
use adumbra::{Instance, Program, Scalar};
use std::path::Path;

/// Sets the buffers of an instance; says which have no elements.
///
/// # Errors
/// If a file cannot be read, or its numbers are not those of a buffer.
pub fn set_buffers(files: &[NamedFile], instance: &mut Instance) -> CliResult {
    for (index, NamedFile { name, file }) in files.iter().enumerate() {
        if files[..index].iter().any(|other| other.name == *name) {
            return Err(CliError::usage(format!(
                "the buffer `{name}` is given twice"
            )));
        }
        let program = instance.program().clone();
        let known = program.buffers().find(|buffer| buffer.name == *name);
        let scalar = known.map_or(Scalar::F32, |buffer| buffer.scalar());
        if known.is_none() {
            let names: Vec<String> = (program.buffers())
                .map(|buffer| format!("`{}`", buffer.name))
                .collect();
            return Err(CliError::usage(match names.as_slice() {
                [] => format!("there is no buffer `{name}`: the shader reads none"),
                names => format!("there is no buffer `{name}`, only {}", names.join(", ")),
            }));
        }
        let numbers = read(file, scalar)
            .map_err(|no| CliError::usage(format!("--buffer {name}: {}: {no}", file.display())))?;
        let set = instance.set_buffer(name, numbers);
        set.map_err(|no| CliError::usage(format!("--buffer {name}: {no}")))?;
    }
    let program = instance.program().clone();
    for buffer in program.buffers() {
        let name = &buffer.name;
        if instance.buffer(name).is_ok_and(BufferNumbers::is_empty) {
            report::message(&format!(
                "note: the buffer `{name}` has no elements: give it by `--buffer {name}=FILE`"
            ));
        }
    }
    Ok(())
}

/// Refuses a program that reads buffers, for a command that sets none.
///
/// # Errors
/// If it reads one.
pub fn refuse_buffers(program: &Program, command: &str) -> CliResult {
    match program.buffers().next() {
        None => Ok(()),
        Some(buffer) => Err(CliError::usage(format!(
            "the shader reads the buffer `{}`, and `{command}` sets none: make it an input, or a constant",
            buffer.name
        ))),
    }
}

/// The numbers of a file, for a buffer of that type: an array of NumPy, whatever its shape, in the
/// order of C; or words of four bytes, the lowest first.
fn read(file: &Path, scalar: Scalar) -> Result<BufferNumbers, String> {
    let bytes = std::fs::read(file).map_err(|no| no.to_string())?;
    if is_array(&bytes) {
        return Ok(read_array(&bytes, scalar)?.numbers);
    }
    let (words, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err("it is no array of NumPy, and no whole numbers of four bytes".to_owned());
    }
    Ok(match scalar {
        Scalar::I32 => words
            .iter()
            .map(|&word| i32::from_le_bytes(word))
            .collect::<Vec<i32>>()
            .into(),
        _ => words
            .iter()
            .map(|&word| f32::from_le_bytes(word))
            .collect::<Vec<f32>>()
            .into(),
    })
}
