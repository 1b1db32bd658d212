//! Types of tangents and cotangents: those of the values without what is no float.

use super::tangent_name;
use crate::types::{Scalar, StructType, Type};
use std::sync::Arc;

/// The type of a value's derivative, which has its floats in order; `None` if it has none.
pub fn tangent_type(ty: &Type) -> Option<Type> {
    match ty {
        Type::Scalar(Scalar::F32) | Type::Vector(_) | Type::Matrix(_) => Some(ty.clone()),
        Type::Scalar(_) | Type::Array(_, 0) => None,
        Type::Array(element, n) => Some(Type::Array(Arc::new(tangent_type(element)?), *n)),
        Type::Struct(of) => {
            let members = of.members.iter();
            let members = members.filter_map(|(name, ty)| Some((name.clone(), tangent_type(ty)?)));
            let members: Vec<(String, Type)> = members.collect();
            (!members.is_empty()).then(|| {
                Type::Struct(Arc::new(StructType {
                    name: of.name.clone(),
                    members,
                }))
            })
        }
    }
}

/// A global that has a tangent or cotangent, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TangentGlobal {
    /// Its name.
    pub name: String,
    /// Its type: a float, a vector or a matrix.
    pub ty: Type,
}

/// The globals for the tangent of a value in a derivative of that many derivatives, in the order
/// of the value's floats: `d(name)`, or, since globals are no arrays and no structs, one for each
/// element (`d(name[0])`) and member (`d(name.member)`).
pub fn tangent_globals(nested: usize, name: &str, ty: &Type) -> Vec<TangentGlobal> {
    let mut globals = Vec::new();
    append(nested, name, ty, &mut globals);
    globals
}

fn append(nested: usize, name: &str, ty: &Type, to: &mut Vec<TangentGlobal>) {
    match ty {
        Type::Scalar(Scalar::F32) | Type::Vector(_) | Type::Matrix(_) => to.push(TangentGlobal {
            name: tangent_name(nested, name),
            ty: ty.clone(),
        }),
        Type::Scalar(_) => {}
        Type::Array(element, n) => {
            (0..*n).for_each(|at| append(nested, &format!("{name}[{at}]"), element, to));
        }
        Type::Struct(of) => {
            let members = of.members.iter();
            members.for_each(|(member, ty)| append(nested, &format!("{name}.{member}"), ty, to));
        }
    }
}
