//! The interface of a program as C sees it: names and types that live as long as the program.

use crate::argument::Argument;
use crate::error::c_string;
use crate::guard::Result;
use crate::sized_struct::SizedStruct;
use crate::status::AdumbraStatus;
use adumbra::access::{AccessError, closest_name};
use adumbra::{Program, Scalar, Type};
use std::ffi::{CString, c_char};
use std::ptr::null;

/// A type of the shading language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdumbraType {
    /// `bool`: 0 or 1 in four bytes.
    Bool = 0,
    /// `int`: 32 bits.
    Int = 1,
    /// `uint`: 32 bits.
    Uint = 2,
    /// `float`: 32 bits.
    Float = 3,
    /// `float2`.
    Float2 = 4,
    /// `float3`, which is also `color`.
    Float3 = 5,
    /// `float4`.
    Float4 = 6,
    /// `float2x2`, row by row.
    Float2x2 = 7,
    /// `float3x3`, row by row.
    Float3x3 = 8,
    /// `float4x4`, row by row.
    Float4x4 = 9,
    /// A closure, by its number; 0 is the empty one.
    Closure = 10,
    /// A resource of the host, by its number among the program's.
    Resource = 11,
    /// A texture.
    Texture = 12,
    /// An array, element by element.
    Array = 13,
    /// A struct, member by member.
    Struct = 14,
}

/// The lists of named things that a program has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdumbraList {
    /// Results of the shader.
    Outputs = 0,
    /// Values that the host may set for a material.
    Parameters = 1,
    /// Values that the host fills for every point.
    Globals = 2,
    /// Textures that may be sampled, by the numbers that requests have.
    Textures = 3,
    /// Closures that may be made, by the numbers that leaves have in `shape`.
    Closures = 4,
    /// Resources that closures are given, by the numbers that arguments have.
    Resources = 5,
    /// Buffers that the host sets for a material: each entry has the type of an element, and its
    /// scalars.
    Buffers = 6,
}

pub(crate) const LISTS: [AdumbraList; 7] = [
    AdumbraList::Outputs,
    AdumbraList::Parameters,
    AdumbraList::Globals,
    AdumbraList::Textures,
    AdumbraList::Closures,
    AdumbraList::Resources,
    AdumbraList::Buffers,
];

impl AdumbraList {
    /// The name of an entry, for errors.
    fn entry(self) -> &'static str {
        match self {
            AdumbraList::Outputs => "output",
            AdumbraList::Parameters => "parameter",
            AdumbraList::Globals => "global",
            AdumbraList::Textures => "texture",
            AdumbraList::Closures => "closure",
            AdumbraList::Resources => "resource",
            AdumbraList::Buffers => "buffer",
        }
    }
}

/// A named thing of a program. Its strings live as long as the program.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraVariable {
    /// Bytes of this struct.
    pub size: u32,
    /// Its `AdumbraType`.
    pub r#type: u32,
    /// Its name; of a member of a struct, the name of the whole.
    pub name: *const c_char,
    /// Its type as the language writes it.
    pub type_name: *const c_char,
    /// The number of scalars before it in its list. A global begins at byte 12 * first of the
    /// globals.
    pub first: usize,
    /// How many scalars it has; of a closure, those of all its arguments.
    pub scalars: usize,
    /// Whether the program reads a global; 1 for other lists.
    pub is_read: u32,
}

// SAFETY: numbers and pointers, of which zeros are some.
unsafe impl SizedStruct for AdumbraVariable {}

/// The type of a number of the caller's, if it is one that can be named so.
pub(crate) fn type_from_number(ty: Argument<u32>) -> Result<Type> {
    let number = ty.value;
    Ok(match number {
        0 => Type::Scalar(Scalar::Bool),
        1 => Type::Scalar(Scalar::I32),
        2 => Type::Scalar(Scalar::U32),
        3 => Type::FLOAT,
        4..=6 => Type::Vector(number as u8 - 2),
        7..=9 => Type::Matrix(number as u8 - 5),
        10 => Type::Scalar(Scalar::Closure),
        11 => Type::Scalar(Scalar::Resource),
        12..=14 => {
            let what = format!("is {number}, a type that a number does not describe");
            return Err(ty.error(AdumbraStatus::WrongType, what));
        }
        _ => {
            let what = format!("is {number}, which is no type");
            return Err(ty.error(AdumbraStatus::InvalidValue, what));
        }
    })
}

fn number_of(ty: &Type) -> AdumbraType {
    match ty {
        Type::Scalar(Scalar::Bool) => AdumbraType::Bool,
        Type::Scalar(Scalar::I32) => AdumbraType::Int,
        Type::Scalar(Scalar::U32) => AdumbraType::Uint,
        Type::Scalar(Scalar::F32) => AdumbraType::Float,
        Type::Scalar(Scalar::Closure) => AdumbraType::Closure,
        Type::Scalar(Scalar::Resource) => AdumbraType::Resource,
        Type::Vector(2) => AdumbraType::Float2,
        Type::Vector(3) => AdumbraType::Float3,
        Type::Vector(_) => AdumbraType::Float4,
        Type::Matrix(2) => AdumbraType::Float2x2,
        Type::Matrix(3) => AdumbraType::Float3x3,
        Type::Matrix(_) => AdumbraType::Float4x4,
        Type::Array(..) => AdumbraType::Array,
        Type::Struct(_) => AdumbraType::Struct,
    }
}

/// All names and types of a program, as strings that C can read.
#[derive(Debug)]
pub(crate) struct ProgramInterface {
    lists: [Vec<Variable>; 7],
    /// The arguments of each closure.
    arguments: Vec<Vec<Variable>>,
    /// All types of the interface, and those within them.
    types: Vec<(Type, CString)>,
}

#[derive(Debug)]
struct Variable {
    name: CString,
    ty: AdumbraType,
    type_name: CString,
    first: usize,
    scalars: usize,
    is_read: bool,
}

impl Variable {
    fn shown(&self) -> AdumbraVariable {
        AdumbraVariable {
            size: 0,
            r#type: self.ty as u32,
            name: self.name.as_ptr(),
            type_name: self.type_name.as_ptr(),
            first: self.first,
            scalars: self.scalars,
            is_read: u32::from(self.is_read),
        }
    }
}

impl Variable {
    /// One with no scalars before it.
    fn of_type(name: &str, ty: &Type) -> Variable {
        Variable {
            name: c_string(name),
            ty: number_of(ty),
            type_name: c_string(&ty.to_string()),
            first: 0,
            scalars: ty.scalar_count(),
            is_read: true,
        }
    }
}

/// Variables whose scalars follow each other.
fn with_offsets<'t>(named: impl Iterator<Item = (&'t str, &'t Type)>) -> Vec<Variable> {
    let mut first = 0;
    named
        .map(|(name, ty)| {
            let before = first;
            first += ty.scalar_count();
            Variable {
                first: before,
                ..Variable::of_type(name, ty)
            }
        })
        .collect()
}

/// Variables that have a name and no scalars.
fn names<'t>(names: impl Iterator<Item = (&'t str, usize)>, ty: AdumbraType) -> Vec<Variable> {
    let type_name = match ty {
        AdumbraType::Texture => c"texture2d",
        AdumbraType::Closure => c"closure",
        _ => c"shader_resource",
    };
    names
        .map(|(name, scalars)| Variable {
            name: c_string(name),
            ty,
            type_name: type_name.into(),
            first: 0,
            scalars,
            is_read: true,
        })
        .collect()
}

impl ProgramInterface {
    pub(crate) fn new(program: &Program) -> ProgramInterface {
        let outputs = program.outputs().iter();
        let inputs = program.inputs().iter();
        let members = program.globals().members().iter();
        let mut types = Vec::new();
        outputs
            .clone()
            .for_each(|port| add_types(&port.ty, &mut types));
        inputs
            .clone()
            .for_each(|port| add_types(&port.ty, &mut types));
        let mut globals = with_offsets(members.clone().map(|m| (m.name(), m.ty())));
        for (global, member) in globals.iter_mut().zip(members) {
            global.is_read = program.reads(member.name());
        }
        let textures = program.textures().iter().map(|t| (t.name.as_str(), 0));
        let resources = program.resources().iter().map(|name| (name.as_str(), 1));
        let buffers = program.buffers();
        let buffers = buffers.map(|buffer| Variable::of_type(&buffer.name, &buffer.element));
        let closures = program.closures().iter().map(|shape| {
            let scalars = shape.params.iter().map(Type::scalar_count);
            (shape.name.as_str(), scalars.sum())
        });
        let arguments = program.closures().iter().map(|shape| {
            let unnamed = shape.params.iter().map(|ty| ("", ty));
            with_offsets(unnamed)
        });
        ProgramInterface {
            lists: [
                with_offsets(outputs.map(|output| (output.name.as_str(), &output.ty))),
                with_offsets(inputs.map(|input| (input.name.as_str(), &input.ty))),
                globals,
                names(textures, AdumbraType::Texture),
                names(closures, AdumbraType::Closure),
                names(resources, AdumbraType::Resource),
                buffers.collect(),
            ],
            arguments: arguments.collect(),
            types,
        }
    }

    pub(crate) fn count(&self, list: AdumbraList) -> usize {
        self.lists[list as usize].len()
    }

    pub(crate) fn variable(
        &self,
        list: AdumbraList,
        index: Argument<usize>,
    ) -> Result<AdumbraVariable> {
        let list = &self.lists[list as usize];
        let variable = list.get(index.value);
        let variable = variable.ok_or_else(|| index.beyond(list.len(), "entries of the list"))?;
        Ok(variable.shown())
    }

    /// The name of an entry of a list.
    pub(crate) fn name(&self, list: AdumbraList, index: usize) -> Option<*const c_char> {
        let variable = self.lists[list as usize].get(index)?;
        Some(variable.name.as_ptr())
    }

    /// The variable that a path names: in outputs and parameters, members of structs, too. Names
    /// may have dots themselves, so the longest one that fits is meant.
    pub(crate) fn find(
        &self,
        program: &Program,
        list: AdumbraList,
        argument: Argument<&str>,
    ) -> Result<AdumbraVariable> {
        let path = argument.value;
        let unknown = || argument.unknown(path, list.entry());
        let variables = self.lists[list as usize].iter();
        let named = variables.filter(|variable| {
            let after = path.as_bytes().strip_prefix(variable.name.to_bytes());
            after.is_some_and(|after| matches!(after, [] | [b'.', ..]))
        });
        let named = named.max_by_key(|variable| variable.name.count_bytes());
        let named = named.ok_or_else(unknown)?;
        let whole = named.shown();
        if named.name.count_bytes() == path.len() {
            return Ok(whole);
        }
        let member = match list {
            AdumbraList::Outputs => program.find_output(path),
            AdumbraList::Parameters => program.find_input(path),
            _ => None,
        };
        let (first, ty) = member.ok_or_else(unknown)?;
        let known = self.types.iter().find(|(known, _)| known == ty);
        Ok(AdumbraVariable {
            r#type: number_of(ty) as u32,
            type_name: known.map_or(null(), |(_, name)| name.as_ptr()),
            first,
            scalars: ty.scalar_count(),
            ..whole
        })
    }

    /// The name that an unknown path probably means, if any is near; a known path itself.
    pub(crate) fn closest(
        &self,
        program: &Program,
        list: AdumbraList,
        argument: Argument<&str>,
    ) -> Option<String> {
        let path = argument.value;
        if self.find(program, list, argument).is_ok() {
            return Some(path.to_owned());
        }
        let error = match list {
            AdumbraList::Outputs => program.output_slot::<f32>(path).err(),
            AdumbraList::Parameters => program.input_slot::<f32>(path).err(),
            _ => {
                let variables = self.lists[list as usize].iter();
                let names = variables.filter_map(|variable| variable.name.to_str().ok());
                return closest_name(path, names).map(str::to_owned);
            }
        };
        match error {
            Some(AccessError::Unknown { closest, .. }) => closest,
            _ => None,
        }
    }

    pub(crate) fn argument(
        &self,
        closure: Argument<usize>,
        index: Argument<usize>,
    ) -> Result<AdumbraVariable> {
        let all = self.arguments.get(closure.value);
        let all = all.ok_or_else(|| closure.beyond(self.arguments.len(), "closures"))?;
        let argument = all.get(index.value);
        let argument = argument.ok_or_else(|| index.beyond(all.len(), "parameters"))?;
        Ok(argument.shown())
    }
}

/// Notes a type, and those of its members.
fn add_types(ty: &Type, types: &mut Vec<(Type, CString)>) {
    if types.iter().any(|(known, _)| known == ty) {
        return;
    }
    types.push((ty.clone(), c_string(&ty.to_string())));
    if let Type::Struct(whole) = ty {
        for (_, member) in &whole.members {
            add_types(member, types);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_numbers_are_one_to_one() {
        let ty = |number| {
            let ty = type_from_number(Argument::new("type", number));
            ty.map(|ty| number_of(&ty) as u32)
                .map_err(|error| error.status)
        };
        for number in 0..=11 {
            assert_eq!(ty(number), Ok(number));
        }
        for number in 12..=14 {
            assert_eq!(ty(number), Err(AdumbraStatus::WrongType));
        }
        assert_eq!(ty(15), Err(AdumbraStatus::InvalidValue));
        assert_eq!(ty(u32::MAX), Err(AdumbraStatus::InvalidValue));
    }

    #[test]
    fn list_numbers_are_their_positions() {
        for (number, list) in LISTS.into_iter().enumerate() {
            assert_eq!(list as usize, number);
        }
    }

    #[test]
    fn nul_in_c_string_is_dropped() {
        assert_eq!(c_string("a\0b").as_bytes(), b"ab");
    }
}
