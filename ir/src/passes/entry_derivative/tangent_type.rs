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

/// A global of floats, which has a value that belongs to another, or a part of that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FloatGlobal {
    /// Its name.
    pub name: String,
    /// Its type: a float, a vector or a matrix.
    pub ty: Type,
}

/// The globals for the tangent of a value in a derivative of that many derivatives, in the order
/// of the value's floats: `d(name)`, or, since globals are no arrays and no structs, one for each
/// element (`d(name[0])`) and member (`d(name.member)`).
pub fn tangent_globals(nested: usize, name: &str, ty: &Type) -> Vec<FloatGlobal> {
    float_globals(name, ty, &|name| tangent_name(nested, name))
}

/// The globals for a value of the floats of another one, in their order, by the names of its
/// elements and members.
pub(in crate::passes) fn float_globals(
    name: &str,
    ty: &Type,
    named: &dyn Fn(&str) -> String,
) -> Vec<FloatGlobal> {
    let mut globals = Vec::new();
    append(name, ty, named, &mut globals);
    globals
}

fn append(name: &str, ty: &Type, named: &dyn Fn(&str) -> String, to: &mut Vec<FloatGlobal>) {
    match ty {
        Type::Scalar(Scalar::F32) | Type::Vector(_) | Type::Matrix(_) => to.push(FloatGlobal {
            name: named(name),
            ty: ty.clone(),
        }),
        Type::Scalar(_) => {}
        Type::Array(element, n) => {
            (0..*n).for_each(|at| append(&format!("{name}[{at}]"), element, named, to));
        }
        Type::Struct(of) => {
            let members = of.members.iter();
            members.for_each(|(member, ty)| append(&format!("{name}.{member}"), ty, named, to));
        }
    }
}
