//! The types of a program, as numbers.
//!
//! Invariants: equal types have one [`TypeId`], so comparing ids compares types. The simple types
//! have fixed ids. A struct is equal to itself alone. Every type knows its *leaves*: the scalars
//! and the scalar arrays that a value of it consists of, in order; lowering turns it into those.
//! Nested arrays are one: a leaf of an element type becomes an array of those of all elements,
//! concatenated. No type has more than [`MAX_LEAVES`] leaves or is deeper than [`MAX_TYPE_DEPTH`].

use super::differential::Differentials;
use crate::interner::{Interner, Symbol};
use crate::limits::{MAX_LEAVES, MAX_RUN_TIME_ARRAY_SCALARS, MAX_TOTAL_LEAVES, MAX_TYPE_DEPTH};
use adumbra_ir::{Scalar, Span};
use std::collections::HashMap;
use std::sync::Arc;

/// A type of one compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub u32);

impl TypeId {
    /// The type of an expression with a reported error; further checks skip it in silence.
    pub const ERROR: TypeId = TypeId(0);
    /// `void`
    pub const VOID: TypeId = TypeId(1);
    /// `bool`
    pub const BOOL: TypeId = TypeId(2);
    /// `int`
    pub const INT: TypeId = TypeId(3);
    /// `uint`
    pub const UINT: TypeId = TypeId(4);
    /// `float`
    pub const FLOAT: TypeId = TypeId(5);
    /// `float2`
    pub const FLOAT2: TypeId = TypeId(6);
    /// `float3`
    pub const FLOAT3: TypeId = TypeId(7);
    /// `float4`
    pub const FLOAT4: TypeId = TypeId(8);
    /// `closure`
    pub const CLOSURE: TypeId = TypeId(9);
    /// `texture2d`
    pub const TEXTURE: TypeId = TypeId(10);
    /// `float2x2`
    pub const FLOAT2X2: TypeId = TypeId(11);
    /// `float3x3`
    pub const FLOAT3X3: TypeId = TypeId(12);
    /// `float4x4`
    pub const FLOAT4X4: TypeId = TypeId(13);
    /// `shader_resource`
    pub const RESOURCE: TypeId = TypeId(14);

    /// The type of `count` floats, 1 to 4.
    pub const fn floats(count: u32) -> TypeId {
        debug_assert!(count >= 1 && count <= 4);
        TypeId(TypeId::FLOAT.0 + count - 1)
    }

    /// The type that a host means; `None` for arrays and structs, which only sources declare, and
    /// for vectors and matrices of a size that the language lacks.
    pub fn from_host_type(ty: &adumbra_ir::Type) -> Option<TypeId> {
        Some(match ty {
            adumbra_ir::Type::Scalar(scalar) => match scalar {
                Scalar::F32 => TypeId::FLOAT,
                Scalar::I32 => TypeId::INT,
                Scalar::U32 => TypeId::UINT,
                Scalar::Bool => TypeId::BOOL,
                Scalar::Closure => TypeId::CLOSURE,
                Scalar::Resource => TypeId::RESOURCE,
            },
            adumbra_ir::Type::Vector(n @ 2..=4) => TypeId::floats(u32::from(*n)),
            adumbra_ir::Type::Matrix(n @ 2..=4) => TypeId::matrix(u32::from(*n)),
            adumbra_ir::Type::Vector(_)
            | adumbra_ir::Type::Matrix(_)
            | adumbra_ir::Type::Array(..)
            | adumbra_ir::Type::Struct(_) => return None,
        })
    }

    /// Whether it is `bool`, `int`, `uint` or `float`.
    pub const fn is_number(self) -> bool {
        matches!(
            self,
            TypeId::BOOL | TypeId::INT | TypeId::UINT | TypeId::FLOAT
        )
    }

    /// Whether it is `int` or `uint`.
    pub const fn is_integer(self) -> bool {
        matches!(self, TypeId::INT | TypeId::UINT)
    }

    /// How many floats a float or float vector has; 0 for other types.
    pub const fn float_count(self) -> u32 {
        if self.0 >= TypeId::FLOAT.0 && self.0 <= TypeId::FLOAT4.0 {
            self.0 - TypeId::FLOAT.0 + 1
        } else {
            0
        }
    }

    /// The type of `size` rows of `size` floats, 2 to 4.
    pub const fn matrix(size: u32) -> TypeId {
        debug_assert!(size >= 2 && size <= 4);
        TypeId(TypeId::FLOAT2X2.0 + size - 2)
    }

    /// How many rows, and columns, a matrix has; 0 for other types.
    pub const fn matrix_size(self) -> u32 {
        if self.0 >= TypeId::FLOAT2X2.0 && self.0 <= TypeId::FLOAT4X4.0 {
            self.0 - TypeId::FLOAT2X2.0 + 2
        } else {
            0
        }
    }

    /// Whether it is made of floats alone: a float, a vector or a matrix.
    pub const fn is_floats(self) -> bool {
        self.float_count() > 0 || self.matrix_size() > 0
    }

    /// Whether it is `float2`, `float3` or `float4`.
    pub const fn is_vector(self) -> bool {
        self.float_count() > 1
    }
}

/// The kind of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// An error was reported.
    Error,
    /// No value.
    Void,
    /// One scalar.
    Scalar(Scalar),
    /// 2 to 4 floats.
    Vector(u32),
    /// As many rows as columns of floats, 2 to 4.
    Matrix(u32),
    /// A name for a texture; not a value.
    Texture,
    /// A struct, by its number.
    Struct(u32),
    /// An array of a fixed number of elements of one type.
    Array(TypeId, u32),
    /// Elements of one type, their number known while shading: the first leaf holds it. Only
    /// variables have such a type, and they can only be indexed.
    RunTimeArray(TypeId),
}

/// A part of a value: a scalar, or an array of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The type of the scalar or of the elements.
    pub scalar: Scalar,
    /// Number of elements; 0 for a scalar.
    pub len: u32,
}

/// A member of a struct.
#[derive(Clone, Copy, Debug)]
pub struct StructMember {
    /// Its name.
    pub name: Symbol,
    /// Its type.
    pub ty: TypeId,
    /// Its first leaf among those of the struct.
    pub leaf: u32,
    /// Whether it is declared `no_diff`.
    pub is_no_diff: bool,
    /// Where it is declared.
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    kind: TypeKind,
    /// How deeply structs and arrays are nested in it.
    depth: u32,
    /// Range in `leaves`.
    leaves: (u32, u32),
}

#[derive(Clone, Copy, Debug)]
struct Struct {
    name: Symbol,
    /// Range in `members`.
    members: (u32, u32),
}

/// All types of one compilation.
#[derive(Debug)]
pub struct TypeTable {
    entries: Vec<Entry>,
    leaves: Vec<Leaf>,
    structs: Vec<Struct>,
    members: Vec<StructMember>,
    arrays: HashMap<(TypeId, u32), TypeId>,
    run_time_arrays: HashMap<TypeId, TypeId>,
    pub(super) differentials: Differentials,
}

/// A type that would have too many leaves or be too deep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeSizeError;

const fn scalar_leaf(scalar: Scalar) -> Leaf {
    Leaf { scalar, len: 0 }
}

/// Leaves of the simple types; vectors and matrices share theirs.
const SIMPLE_LEAVES: [Leaf; 21] = {
    let mut leaves = [scalar_leaf(Scalar::F32); 21];
    leaves[0] = scalar_leaf(Scalar::Bool);
    leaves[1] = scalar_leaf(Scalar::I32);
    leaves[2] = scalar_leaf(Scalar::U32);
    leaves[19] = scalar_leaf(Scalar::Closure);
    leaves[20] = scalar_leaf(Scalar::Resource);
    leaves
};

const fn simple(kind: TypeKind, first: u32, count: u32) -> Entry {
    Entry {
        kind,
        depth: 0,
        leaves: (first, first + count),
    }
}

/// The simple types, in the order of their ids.
const SIMPLE: [Entry; 15] = [
    simple(TypeKind::Error, 0, 0),
    simple(TypeKind::Void, 0, 0),
    simple(TypeKind::Scalar(Scalar::Bool), 0, 1),
    simple(TypeKind::Scalar(Scalar::I32), 1, 1),
    simple(TypeKind::Scalar(Scalar::U32), 2, 1),
    simple(TypeKind::Scalar(Scalar::F32), 3, 1),
    simple(TypeKind::Vector(2), 3, 2),
    simple(TypeKind::Vector(3), 3, 3),
    simple(TypeKind::Vector(4), 3, 4),
    simple(TypeKind::Scalar(Scalar::Closure), 19, 1),
    simple(TypeKind::Texture, 0, 0),
    simple(TypeKind::Matrix(2), 3, 4),
    simple(TypeKind::Matrix(3), 3, 9),
    simple(TypeKind::Matrix(4), 3, 16),
    simple(TypeKind::Scalar(Scalar::Resource), 20, 1),
];

impl TypeTable {
    /// The simple types.
    pub fn new() -> TypeTable {
        TypeTable {
            entries: SIMPLE.to_vec(),
            leaves: SIMPLE_LEAVES.to_vec(),
            structs: Vec::new(),
            members: Vec::new(),
            arrays: HashMap::new(),
            run_time_arrays: HashMap::new(),
            differentials: Differentials::default(),
        }
    }

    /// The kind of a type.
    #[inline]
    pub fn kind(&self, ty: TypeId) -> TypeKind {
        self.entries[ty.0 as usize].kind
    }

    /// The leaves of a value of that type, in order.
    #[inline]
    pub fn leaves(&self, ty: TypeId) -> &[Leaf] {
        let (start, end) = self.entries[ty.0 as usize].leaves;
        &self.leaves[start as usize..end as usize]
    }

    /// How many leaves a value of that type has.
    #[inline]
    pub fn leaf_count(&self, ty: TypeId) -> u32 {
        let (start, end) = self.entries[ty.0 as usize].leaves;
        end - start
    }

    /// Whether a value of that type holds an array.
    pub fn has_arrays(&self, ty: TypeId) -> bool {
        self.leaves(ty).iter().any(|leaf| leaf.len > 0)
    }

    /// How many scalars a value of that type has, array elements counted.
    pub fn scalar_count(&self, ty: TypeId) -> u64 {
        let count = |leaf: &Leaf| u64::from(leaf.len.max(1));
        self.leaves(ty).iter().map(count).sum()
    }

    fn add(
        &mut self,
        kind: TypeKind,
        depth: u32,
        first_leaf: usize,
    ) -> Result<TypeId, TypeSizeError> {
        let count = self.leaves.len() - first_leaf;
        let all = self.leaves.len();
        if count > MAX_LEAVES || all > MAX_TOTAL_LEAVES || depth as usize > MAX_TYPE_DEPTH {
            self.leaves.truncate(first_leaf);
            return Err(TypeSizeError);
        }
        self.entries.push(Entry {
            kind,
            depth,
            leaves: (first_leaf as u32, self.leaves.len() as u32),
        });
        Ok(TypeId(self.entries.len() as u32 - 1))
    }

    /// The type of `len` elements, at least 1. The caller bounds the number of scalars.
    pub fn array(&mut self, element: TypeId, len: u32) -> Result<TypeId, TypeSizeError> {
        debug_assert!(len > 0);
        if let Some(&known) = self.arrays.get(&(element, len)) {
            return Ok(known);
        }
        let first = self.leaves.len();
        self.repeat(element, len);
        let depth = self.entries[element.0 as usize].depth + 1;
        let ty = self.add(TypeKind::Array(element, len), depth, first)?;
        self.arrays.insert((element, len), ty);
        Ok(ty)
    }

    /// The array type whose length is known while shading.
    /// [`run_time_capacity`](TypeTable::run_time_capacity) is not 0.
    pub fn run_time_array(&mut self, element: TypeId) -> Result<TypeId, TypeSizeError> {
        if let Some(&known) = self.run_time_arrays.get(&element) {
            return Ok(known);
        }
        let first = self.leaves.len();
        self.leaves.push(scalar_leaf(Scalar::I32));
        self.repeat(element, self.run_time_capacity(element));
        let depth = self.entries[element.0 as usize].depth + 1;
        let ty = self.add(TypeKind::RunTimeArray(element), depth, first)?;
        self.run_time_arrays.insert(element, ty);
        Ok(ty)
    }

    /// The capacity of an array sized while shading, in elements of that type.
    pub fn run_time_capacity(&self, element: TypeId) -> u32 {
        (MAX_RUN_TIME_ARRAY_SCALARS / self.scalar_count(element).max(1)) as u32
    }

    /// Adds the leaves of `len` elements.
    fn repeat(&mut self, element: TypeId, len: u32) {
        let first = self.leaves.len();
        let (start, end) = self.entries[element.0 as usize].leaves;
        self.leaves.extend_from_within(start as usize..end as usize);
        for leaf in &mut self.leaves[first..] {
            leaf.len = leaf.len.max(1) * len;
        }
    }

    /// A new struct with these members; their `leaf` is set here.
    pub fn add_struct(
        &mut self,
        name: Symbol,
        members: &[StructMember],
    ) -> Result<TypeId, TypeSizeError> {
        let first_leaf = self.leaves.len();
        let first = self.members.len();
        let mut depth = 0;
        for &member in members {
            let leaf = (self.leaves.len() - first_leaf) as u32;
            self.members.push(StructMember { leaf, ..member });
            let inner = self.entries[member.ty.0 as usize];
            depth = depth.max(inner.depth);
            self.leaves
                .extend_from_within(inner.leaves.0 as usize..inner.leaves.1 as usize);
            if self.leaves.len() - first_leaf > MAX_LEAVES || self.leaves.len() > MAX_TOTAL_LEAVES {
                break;
            }
        }
        let number = self.structs.len() as u32;
        let ty = self.add(TypeKind::Struct(number), depth + 1, first_leaf)?;
        self.structs.push(Struct {
            name,
            members: (first as u32, self.members.len() as u32),
        });
        Ok(ty)
    }

    /// The name of a struct.
    pub fn struct_name(&self, number: u32) -> Symbol {
        self.structs[number as usize].name
    }

    /// The members of a struct, in order.
    pub fn members(&self, number: u32) -> &[StructMember] {
        let (start, end) = self.structs[number as usize].members;
        &self.members[start as usize..end as usize]
    }

    /// Whether the member of a struct that begins with that leaf is declared `no_diff`.
    pub fn is_no_diff_member(&self, structure: TypeId, leaf: u32, ty: TypeId) -> bool {
        let TypeKind::Struct(number) = self.kind(structure) else {
            return false;
        };
        let mut members = self.members(number).iter();
        members.any(|member| member.is_no_diff && member.leaf == leaf && member.ty == ty)
    }

    /// The type as written in a shader.
    pub fn name(&self, ty: TypeId, interner: &Interner) -> String {
        match self.kind(ty) {
            TypeKind::Error => "?".to_owned(),
            TypeKind::Void => "void".to_owned(),
            TypeKind::Texture => "texture2d".to_owned(),
            TypeKind::Scalar(scalar) => adumbra_ir::Type::Scalar(scalar).to_string(),
            TypeKind::Vector(n) => format!("float{n}"),
            TypeKind::Matrix(n) => format!("float{n}x{n}"),
            TypeKind::Struct(number) => interner.name(self.struct_name(number)).to_owned(),
            TypeKind::Array(mut element, _) | TypeKind::RunTimeArray(mut element) => {
                // In a declaration, the outermost length comes first.
                let mut lengths = match self.kind(ty) {
                    TypeKind::Array(_, len) => format!("[{len}]"),
                    _ => "[…]".to_owned(),
                };
                while let TypeKind::Array(inner, len) = self.kind(element) {
                    lengths.push_str(&format!("[{len}]"));
                    element = inner;
                }
                self.name(element, interner) + &lengths
            }
        }
    }

    /// The type as hosts see it.
    ///
    /// # Panics
    /// For types that no value has.
    pub fn host_type(&self, ty: TypeId, interner: &Interner) -> adumbra_ir::Type {
        match self.kind(ty) {
            TypeKind::Error | TypeKind::Void | TypeKind::Texture | TypeKind::RunTimeArray(_) => {
                panic!("not a value's type")
            }
            TypeKind::Scalar(scalar) => adumbra_ir::Type::Scalar(scalar),
            TypeKind::Vector(n) => adumbra_ir::Type::Vector(n as u8),
            TypeKind::Matrix(n) => adumbra_ir::Type::Matrix(n as u8),
            TypeKind::Array(element, len) => {
                adumbra_ir::Type::Array(Arc::new(self.host_type(element, interner)), len)
            }
            TypeKind::Struct(number) => {
                let member = |m: &StructMember| {
                    (
                        interner.name(m.name).to_owned(),
                        self.host_type(m.ty, interner),
                    )
                };
                adumbra_ir::Type::Struct(Arc::new(adumbra_ir::types::StructType {
                    name: interner.name(self.struct_name(number)).to_owned(),
                    members: self.members(number).iter().map(member).collect(),
                }))
            }
        }
    }
}

impl Default for TypeTable {
    fn default() -> TypeTable {
        TypeTable::new()
    }
}
