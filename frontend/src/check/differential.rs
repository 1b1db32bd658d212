//! Differentials of types, and pairs of a value and its differential.
//!
//! The differential D(T) of a type has a float for each float of T that has a derivative, in order.
//! D(T) is T for floats, vectors and matrices, and D(D(T)) is D(T). A struct has one if it says
//! `: IDifferentiable`: its members that have one and are not `no_diff`. If those are all of its
//! members, unchanged, D(S) is S itself. `typealias Differential = D;` in a struct gives it another
//! type with the same leaves. `DifferentialPair<T>` is a struct of T and D(T).

use super::types::{StructMember, TypeId, TypeKind, TypeSizeError, TypeTable};
use crate::ast::{DIFFERENTIAL, PAIR};
use crate::interner::Interner;
use adumbra_ir::Span;
use std::collections::{HashMap, HashSet};

/// The differentials and pairs of one compilation.
#[derive(Debug, Default)]
pub(super) struct Differentials {
    /// The structs that are `IDifferentiable`, by number.
    structs: HashSet<u32>,
    /// The differentials that structs were given, by number.
    written: HashMap<u32, TypeId>,
    /// Differentials of arrays and structs that were asked for.
    known: HashMap<TypeId, Option<TypeId>>,
    /// The pair of each type.
    pairs: HashMap<TypeId, TypeId>,
    /// The type of the values of each pair.
    primals: HashMap<TypeId, TypeId>,
}

impl TypeTable {
    /// Makes a struct differentiable.
    pub(super) fn set_differentiable(&mut self, number: u32) {
        self.differentials.structs.insert(number);
    }

    /// Whether a struct says that it is differentiable.
    pub(super) fn is_differentiable_struct(&self, number: u32) -> bool {
        self.differentials.structs.contains(&number)
    }

    /// Gives a struct a differential in place of the one that is made of its members; it must have
    /// the same leaves. `None` gives that one back.
    pub(super) fn set_differential(&mut self, number: u32, differential: Option<TypeId>) {
        match differential {
            Some(differential) => self.differentials.written.insert(number, differential),
            None => self.differentials.written.remove(&number),
        };
    }

    /// The type of differentials of `ty`, if it is differentiable.
    ///
    /// # Errors
    /// If the type would be too large.
    pub(super) fn differential(
        &mut self,
        ty: TypeId,
        interner: &mut Interner,
    ) -> Result<Option<TypeId>, TypeSizeError> {
        if ty.is_floats() {
            return Ok(Some(ty));
        }
        if let Some(&known) = self.differentials.known.get(&ty) {
            return Ok(known);
        }
        let found = match self.kind(ty) {
            TypeKind::Array(element, len) => match self.differential(element, interner)? {
                Some(element) => Some(self.array(element, len)?),
                None => None,
            },
            TypeKind::Struct(number) => match self.primal_of_pair(ty) {
                Some(primal) => match self.differential(primal, interner)? {
                    Some(differential) => Some(self.pair(differential, interner)?),
                    None => None,
                },
                None if self.differentials.written.contains_key(&number) => {
                    self.differentials.written.get(&number).copied()
                }
                None if self.differentials.structs.contains(&number) => {
                    Some(self.differential_struct(number, ty, interner)?)
                }
                None => None,
            },
            _ => None,
        };
        self.differentials.known.insert(ty, found);
        if let Some(found) = found {
            self.differentials.known.insert(found, Some(found));
        }
        Ok(found)
    }

    /// The differential of a struct that is made of its members.
    ///
    /// # Errors
    /// If the type would be too large.
    pub(super) fn differential_struct(
        &mut self,
        number: u32,
        ty: TypeId,
        interner: &mut Interner,
    ) -> Result<TypeId, TypeSizeError> {
        let members = self.members(number).to_vec();
        let mut kept: Vec<StructMember> = Vec::with_capacity(members.len());
        let mut is_itself = true;
        for member in members {
            let differential = match member.is_no_diff {
                true => None,
                false => self.differential(member.ty, interner)?,
            };
            is_itself &= differential == Some(member.ty);
            if let Some(differential) = differential {
                kept.push(StructMember {
                    ty: differential,
                    ..member
                });
            }
        }
        if is_itself {
            return Ok(ty);
        }
        let name = format!("{}.{DIFFERENTIAL}", self.name(ty, interner));
        let made = self.add_struct(interner.intern(&name), &kept)?;
        if let TypeKind::Struct(number) = self.kind(made) {
            self.set_differentiable(number);
        }
        Ok(made)
    }

    /// The differential of a type, if it was asked for while the program was checked.
    pub(crate) fn known_differential(&self, ty: TypeId) -> Option<TypeId> {
        match ty.is_floats() {
            true => Some(ty),
            false => self.differentials.known.get(&ty).copied().flatten(),
        }
    }

    /// Whether values of the type have differentials, as far as that was asked for; floats always.
    pub(crate) fn is_differentiable(&self, ty: TypeId) -> bool {
        self.has_floats(ty)
            && (self.known_differential(ty).is_some()
                || !matches!(self.kind(ty), TypeKind::Struct(_)))
    }

    /// The type `DifferentialPair<ty>` of a differentiable type.
    ///
    /// # Errors
    /// If the type would be too large.
    ///
    /// # Panics
    /// If the type is not differentiable.
    pub(super) fn pair(
        &mut self,
        ty: TypeId,
        interner: &mut Interner,
    ) -> Result<TypeId, TypeSizeError> {
        if let Some(&known) = self.differentials.pairs.get(&ty) {
            return Ok(known);
        }
        let differential = self.differential(ty, interner)?;
        let differential = differential.expect("a differentiable type");
        let mut member = |name, ty| StructMember {
            name: interner.intern(name),
            ty,
            leaf: 0,
            is_no_diff: false,
            span: Span::default(),
        };
        let members = [member("p", ty), member("d", differential)];
        let name = format!("{PAIR}<{}>", self.name(ty, interner));
        let pair = self.add_struct(interner.intern(&name), &members)?;
        self.differentials.pairs.insert(ty, pair);
        self.differentials.primals.insert(pair, ty);
        Ok(pair)
    }

    /// The type of the values of a pair.
    pub(crate) fn primal_of_pair(&self, ty: TypeId) -> Option<TypeId> {
        self.differentials.primals.get(&ty).copied()
    }

    /// Whether each leaf of a differentiable type has one in its differential.
    pub(crate) fn differentiable_leaves(&self, ty: TypeId) -> Vec<bool> {
        let mut leaves = Vec::with_capacity(self.leaf_count(ty) as usize);
        self.add_differentiable_leaves(ty, true, &mut leaves);
        leaves
    }

    fn add_differentiable_leaves(&self, ty: TypeId, is_active: bool, leaves: &mut Vec<bool>) {
        let is_active = is_active && self.known_differential(ty).is_some();
        match self.kind(ty) {
            TypeKind::Array(element, _) => {
                self.add_differentiable_leaves(element, is_active, leaves);
            }
            TypeKind::Struct(number) => {
                for member in self.members(number) {
                    let is_active = is_active && !member.is_no_diff;
                    self.add_differentiable_leaves(member.ty, is_active, leaves);
                }
            }
            _ => leaves.extend((0..self.leaf_count(ty)).map(|_| is_active)),
        }
    }

    /// Whether a value of the type holds a float.
    pub(crate) fn has_floats(&self, ty: TypeId) -> bool {
        let is_float = |leaf: &super::types::Leaf| leaf.scalar == adumbra_ir::Scalar::F32;
        self.leaves(ty).iter().any(is_float)
    }
}
