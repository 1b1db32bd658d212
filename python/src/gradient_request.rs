//! What a gradient is made for: names and rules become a request, and this a program.

use crate::values::{Kind, find_parameter};
use adumbra::gradient::{
    Axis, Gradient as ShaderGradient, GradientRequest, JumpGradient, Parameter,
};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// What a gradient program is made for.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct GradientKey {
    pub by: Vec<String>,
    pub of: Vec<String>,
    pub is_forward: bool,
    pub rules: String,
    /// Names of globals' floats, and distances by their bits.
    pub axes: Vec<(String, u64)>,
}

/// A gradient program.
pub enum GradientProgram {
    Smooth(ShaderGradient),
    Jumps(Box<JumpGradient>),
}

impl GradientProgram {
    /// The gradient of the smooth parts.
    pub fn smooth(&self) -> &ShaderGradient {
        match self {
            GradientProgram::Smooth(gradient) => gradient,
            GradientProgram::Jumps(jumps) => jumps.smooth(),
        }
    }

    pub fn is_zero(&self, parameter: &Parameter) -> bool {
        match self {
            GradientProgram::Smooth(_) => parameter.is_zero,
            GradientProgram::Jumps(jumps) => jumps.is_zero(parameter),
        }
    }

    pub fn ends(&self) -> &[adumbra::Diagnostic] {
        match self {
            GradientProgram::Smooth(gradient) => gradient.ends(),
            GradientProgram::Jumps(jumps) => jumps.ends(),
        }
    }
}

/// The names of a string or of a sequence of strings.
///
/// # Errors
/// If it is neither.
pub fn names(given: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    match given.is_instance_of::<PyString>() {
        true => Ok(vec![given.extract()?]),
        false => given.extract(),
    }
}

/// The request of a key, by what the program has.
pub fn request(program: &adumbra::Program, key: &GradientKey) -> PyResult<GradientRequest> {
    let mut request = GradientRequest::new();
    if key.is_forward {
        request = request.forward();
    }
    for output in &key.of {
        request = request.of(output);
    }
    let is_texture = |name: &str| {
        program
            .textures()
            .iter()
            .any(|texture| texture.name == name)
    };
    for name in &key.by {
        request = match name.as_str() {
            "all" => request.by_inputs(),
            "globals" => request.by_globals(),
            "buffers" => request.by_buffers(),
            "textures" => request.by_textures(),
            name => match (find_parameter(program, name), name.strip_prefix("texture:")) {
                (_, Some(own)) if is_texture(own) => request.by_texture(own),
                (Ok((Kind::Input, own)), _) => request.by_input(own),
                (Ok((Kind::Global, own)), _) => request.by_global(own),
                (Ok((Kind::Buffer, own)), _) => request.by_buffer(own),
                (Err(_), _) if is_texture(name) => request.by_texture(name),
                (Err(error), _) => return Err(error),
            },
        };
    }
    Ok(request)
}

/// The axis of a name like `uv.x`.
pub fn axis(program: &adumbra::Program, name: &str, spacing: f64) -> PyResult<Axis> {
    let (global, component) = name.split_once('.').unwrap_or((name, ""));
    let scalar = match component {
        "" | "x" | "r" => 0,
        "y" | "g" => 1,
        "z" | "b" => 2,
        "w" | "a" => 3,
        _ => {
            return Err(PyValueError::new_err(format!(
                "an axis is like \"uv.x\", not {name:?}"
            )));
        }
    };
    match program.globals().member(global) {
        Some(_) => Ok(Axis::new(global, scalar, spacing)),
        None => Err(PyKeyError::new_err(format!(
            "the program has no global `{global}`"
        ))),
    }
}
