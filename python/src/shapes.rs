//! Types of the language as shapes and dtypes of arrays.
//!
//! A value that is a struct has no array of its own: its members do, by their paths
//! (`ray.origin`).

use adumbra::{Scalar, Type};
use numpy::{PyArrayDescr, dtype};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A value that is an array by itself: all of a value, or a member of one that is a struct.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayLeaf {
    /// Its name, or its path.
    pub path: String,
    /// The sides of one value: none for a number.
    pub shape: Vec<usize>,
    /// What its numbers are.
    pub scalar: Scalar,
}

impl ArrayLeaf {
    /// The numbers of one value.
    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }
}

/// The leaves of a value of that name, in order. Arrays of structs have none.
pub fn leaves(name: &str, ty: &Type) -> Vec<ArrayLeaf> {
    if let Type::Struct(of) = ty {
        let members = of.members.iter();
        let members = members.flat_map(|(member, ty)| leaves(&format!("{name}.{member}"), ty));
        return members.collect();
    }
    let shaped = shape_of(ty).map(|(shape, scalar)| ArrayLeaf {
        path: name.to_owned(),
        shape,
        scalar,
    });
    shaped.into_iter().collect()
}

/// The sides of a value, and what its numbers are; `None` if they are not all the same.
pub fn shape_of(ty: &Type) -> Option<(Vec<usize>, Scalar)> {
    let floats = |sides: &[u8]| {
        let sides = sides.iter().map(|&side| side.into()).collect();
        Some((sides, Scalar::F32))
    };
    match ty {
        Type::Scalar(Scalar::Closure) => None,
        Type::Scalar(scalar) => Some((Vec::new(), *scalar)),
        Type::Vector(n) => floats(&[*n]),
        Type::Matrix(n) => floats(&[*n, *n]),
        Type::Array(element, n) => {
            let (mut shape, scalar) = shape_of(element)?;
            shape.insert(0, *n as usize);
            Some((shape, scalar))
        }
        Type::Struct(_) => None,
    }
}

/// The type of the numbers in arrays: bools are one byte, all others four.
pub fn dtype_of(py: Python<'_>, scalar: Scalar) -> Bound<'_, PyArrayDescr> {
    match scalar {
        Scalar::I32 => dtype::<i32>(py),
        Scalar::U32 => dtype::<u32>(py),
        Scalar::Bool => dtype::<bool>(py),
        _ => dtype::<f32>(py),
    }
}

/// Names of types that globals can have, with what they are.
const GLOBAL_TYPES: [(&str, Type); 11] = [
    ("float", Type::FLOAT),
    ("int", Type::Scalar(Scalar::I32)),
    ("uint", Type::Scalar(Scalar::U32)),
    ("bool", Type::Scalar(Scalar::Bool)),
    ("float2", Type::Vector(2)),
    ("float3", Type::Vector(3)),
    ("color", Type::Vector(3)),
    ("float4", Type::Vector(4)),
    ("float2x2", Type::Matrix(2)),
    ("float3x3", Type::Matrix(3)),
    ("float4x4", Type::Matrix(4)),
];

/// The type that a global is said to have.
///
/// # Errors
/// If there is none of that name.
pub fn global_type(name: &str, ty: &str) -> PyResult<Type> {
    let found = GLOBAL_TYPES.iter().find(|(known, _)| *known == ty);
    found.map(|(_, ty)| ty.clone()).ok_or_else(|| {
        let known = GLOBAL_TYPES.map(|(known, _)| known).join(", ");
        PyValueError::new_err(format!(
            "the global `{name}` cannot be of type {ty:?}, only {known}"
        ))
    })
}
