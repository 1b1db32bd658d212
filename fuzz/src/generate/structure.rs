//! Structs: their declarations, and expressions that give one.

use super::Generator;
use super::expression::Expr;
use super::scope::{Struct, Ty};

/// The most numbers that a member has.
const MAX_MEMBER: usize = 24;

impl Generator<'_> {
    /// A struct, and a function that makes one from a float.
    pub(super) fn structure_item(&mut self) {
        let name = self.name("S");
        let mut members = Vec::new();
        let count = match self.choices.one_in(16) {
            true => 0,
            false => self.choices.between(1, 4),
        };
        for i in 0..count {
            members.push((format!("m{i}"), self.member_type()));
        }
        self.line(&format!("struct {name} {{"));
        for (member, ty) in &members {
            let text = ty.text(&self.structs);
            self.line(&format!("    {text} {member}{};", ty.suffix()));
        }
        self.line("};");
        self.line(&format!("{name} make_{name}(float seed) {{"));
        self.line(&format!("    {name} made;"));
        for (member, ty) in &members {
            self.made(&format!("made.{member}"), ty);
        }
        self.line("    return made;");
        self.line("}");
        self.structs.push(Struct { name, members });
    }

    /// Sets a place from `seed`; of an array one element.
    fn made(&mut self, place: &str, ty: &Ty) {
        let value = match ty {
            Ty::Float => "seed * 0.75".to_owned(),
            Ty::Vector(n) => format!("seed * float{n}(0.5{})", ", 0.25".repeat(n - 1)),
            Ty::Matrix(n) => format!("seed * float{n}x{n}(0.375)"),
            Ty::Int => "(int)(seed * 4.0)".into(),
            Ty::Bool => "seed > 0.0".into(),
            Ty::Struct(i) => format!("make_{}(seed)", self.structs[*i].name),
            Ty::Array(element, n) => {
                let at = self.choices.below(*n);
                return self.made(&format!("{place}[{at}]"), element);
            }
            _ => return,
        };
        self.line(&format!("    {place} = {value};"));
    }

    fn member_type(&mut self) -> Ty {
        let ty = match self.choices.weighted(&[8, 5, 2, 1, 9, 2, 2, 2]) {
            1 => Ty::Vector(self.choices.between(2, 4) as usize),
            2 => Ty::Int,
            3 => Ty::Bool,
            4 if !self.structs.is_empty() => Ty::Struct(self.choices.below(self.structs.len())),
            5 => Ty::Array(Box::new(Ty::Float), self.choices.between(2, 5) as usize),
            6 => Ty::Matrix(self.choices.between(2, 4) as usize),
            7 => {
                let element = match self.choices.below(self.structs.len() + 1) {
                    0 => Ty::Array(Box::new(Ty::Float), 2),
                    i => Ty::Struct(i - 1),
                };
                Ty::Array(Box::new(element), self.choices.between(2, 3) as usize)
            }
            _ => Ty::Float,
        };
        match ty.size(&self.structs) > MAX_MEMBER {
            true => Ty::Float,
            false => ty,
        }
    }

    /// A struct of that type.
    pub(super) fn structure(&mut self, ty: &Ty, depth: u32) -> Expr {
        match self.choices.weighted(&[4, 3, 1, 1, 1]) {
            0 => self.leaf(ty),
            1 => self.call_or_leaf(ty, depth),
            2 => self.path_or_leaf(ty, depth),
            3 if !ty.has_arrays(&self.structs) => self.shadow(ty, depth),
            _ => self.ternary(ty, depth),
        }
    }
}
