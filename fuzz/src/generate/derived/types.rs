//! Types of generated programs about derivatives, and their scalars.

use super::Writer;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    /// `int`.
    Int,
    /// `float`.
    Float,
    /// `float2`, `float3`, `float4`.
    Vector(usize),
    /// That many floats.
    Array(usize),
    /// A struct of the program, by its number.
    Struct(usize),
}

/// A struct of the program.
#[derive(Clone, Debug)]
pub(super) struct Struct {
    pub(super) name: String,
    pub(super) members: Vec<Member>,
}

/// A member of a struct.
#[derive(Clone, Debug)]
pub(super) struct Member {
    name: String,
    ty: Ty,
    is_constant: bool,
}

/// A scalar of a type.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// What leads to it, after a name.
    pub(super) path: String,
    /// Whether it has a differential.
    pub(super) is_active: bool,
    /// Whether it is a float.
    pub(super) is_float: bool,
}

const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

impl Writer<'_> {
    /// A type with floats.
    pub(super) fn some_type(&mut self) -> Ty {
        match self.choices.weighted(&[10, 4, 4, 4]) {
            1 => Ty::Vector(self.choices.between(2, 4) as usize),
            2 => Ty::Array(*self.choices.pick(&[2, 4, 3])),
            3 if !self.structs.is_empty() => Ty::Struct(self.choices.below(self.structs.len())),
            _ => Ty::Float,
        }
    }

    /// Declares a struct that has a differential.
    pub(super) fn structure(&mut self) {
        let name = self.out.name("S");
        self.out.open(&format!("struct {name} : IDifferentiable"));
        let mut members = Vec::new();
        for _ in 0..self.choices.between(1, 3) {
            let ty = match self.choices.one_in(6) {
                true => Ty::Int,
                false => self.some_type(),
            };
            let is_constant = self.has_constants && ty == Ty::Float && self.choices.one_in(3);
            let member = self.out.name("m");
            let before = if is_constant { "no_diff " } else { "" };
            let declared = self.declared(&ty, &member);
            self.out.line(&format!("{before}{declared};"));
            members.push(Member {
                name: member,
                ty,
                is_constant,
            });
        }
        // One at least has a differential.
        let member = self.out.name("m");
        self.out.line(&format!("float {member};"));
        members.push(Member {
            name: member,
            ty: Ty::Float,
            is_constant: false,
        });
        self.out.indent -= 1;
        self.out.line("};");
        self.structs.push(Struct { name, members });
    }

    /// A declaration without its value.
    pub(super) fn declared(&self, ty: &Ty, name: &str) -> String {
        match ty {
            Ty::Array(n) => format!("float {name}[{n}]"),
            _ => format!("{} {name}", self.type_name(ty)),
        }
    }

    /// A declaration of a differential without its value.
    pub(super) fn declared_differential(&self, ty: &Ty, name: &str) -> String {
        match ty {
            Ty::Struct(_) => format!("{}.Differential {name}", self.type_name(ty)),
            _ => self.declared(ty, name),
        }
    }

    /// The name of a type that is no array.
    pub(super) fn type_name(&self, ty: &Ty) -> String {
        match ty {
            Ty::Int => "int".to_owned(),
            Ty::Vector(n) => format!("float{n}"),
            Ty::Struct(i) => self.structs[*i].name.clone(),
            Ty::Float | Ty::Array(_) => "float".to_owned(),
        }
    }

    /// The scalars of a type, in order.
    pub(super) fn leaves(&self, ty: &Ty) -> Vec<Leaf> {
        let leaf = |path: String, is_float: bool| Leaf {
            path,
            is_active: is_float,
            is_float,
        };
        match ty {
            Ty::Int => vec![leaf(String::new(), false)],
            Ty::Float => vec![leaf(String::new(), true)],
            Ty::Vector(n) => {
                let components = COMPONENTS[..*n].iter();
                components.map(|c| leaf(format!(".{c}"), true)).collect()
            }
            Ty::Array(n) => (0..*n).map(|i| leaf(format!("[{i}]"), true)).collect(),
            Ty::Struct(i) => {
                let members = self.structs[*i].members.iter();
                members
                    .flat_map(|member| {
                        self.leaves(&member.ty).into_iter().map(|inner| Leaf {
                            path: format!(".{}{}", member.name, inner.path),
                            is_active: inner.is_active && !member.is_constant,
                            ..inner
                        })
                    })
                    .collect()
            }
        }
    }

    /// The scalars of a type that have a differential.
    pub(super) fn active_leaves(&self, ty: &Ty) -> Vec<Leaf> {
        let leaves = self.leaves(ty).into_iter();
        leaves.filter(|leaf| leaf.is_active).collect()
    }
}
