//! Expressions that reach what exists: functions to call, variables and their parts.

use super::Generator;
use super::expression::{COMPONENTS, Expr};
use super::fit::kept_range;
use super::range::ValueRange;
use super::scope::{Function, Mode, Ty};
use crate::feature::Feature;

/// About how many steps a program may cost.
pub(super) const MAX_STEPS: u64 = 1000;

impl Generator<'_> {
    /// A call of a function that returns this type, or a leaf where there is none.
    pub(super) fn call_or_leaf(&mut self, ty: &Ty, depth: u32) -> Expr {
        match self.call(Some(ty), depth) {
            Some(text) => Expr::new(text, kept_range(ty)),
            None => self.leaf(ty),
        }
    }

    /// A call of a function with this result, where one can be called from here.
    pub(super) fn call(&mut self, result: Option<&Ty>, depth: u32) -> Option<String> {
        if let Some(own) = self.place.own.clone()
            && own.result.as_ref() == result
            && result.is_some()
            && self.place.loops == 0
            && self.choices.percent(60)
        {
            return self.call_itself(&own, depth);
        }
        let able: Vec<Function> = self
            .functions
            .iter()
            .filter(|f| f.result.as_ref() == result && self.affords(f) && self.callable(f))
            .cloned()
            .collect();
        if able.is_empty() {
            return None;
        }
        let callee = self.choices.pick(&able).clone();
        self.place.cost += callee.cost * self.place.times;
        let mut arguments = self.arguments(&callee, depth);
        if callee.recursive {
            let levels = self.choices.between(0, 3);
            arguments.push(levels.to_string());
        }
        Some(format!("{}({})", callee.name, arguments.join(", ")))
    }

    /// A call of the function around, one level deeper while there are levels left.
    pub(super) fn call_itself(&mut self, own: &Function, depth: u32) -> Option<String> {
        let ty = own.result.clone()?;
        if !self.callable(own) {
            return None;
        }
        self.place.own = None;
        let mut arguments = self.arguments(own, depth);
        arguments.push("(levels - 1)".into());
        let end = self.kept(&ty, 0);
        Some(format!(
            "(levels > 0 ? {}({}) : {end})",
            own.name,
            arguments.join(", ")
        ))
    }

    /// Whether a call from here leaves the program cheap enough.
    pub(super) fn affords(&self, f: &Function) -> bool {
        self.place.cost + f.cost * self.place.times <= MAX_STEPS
    }

    /// Whether there is something in scope for every argument that must be a place.
    pub(super) fn callable(&self, f: &Function) -> bool {
        f.parameters.iter().all(|p| {
            (p.mode == Mode::In && !p.ty.is_array()) || self.has_path(&p.ty, p.mode != Mode::In)
        })
    }

    /// Arguments for all parameters but a recursive function's last. The function must be
    /// [`callable`](Self::callable).
    pub(super) fn arguments(&mut self, f: &Function, depth: u32) -> Vec<String> {
        let mut arguments = Vec::new();
        let count = f.parameters.len() - usize::from(f.recursive);
        for p in &f.parameters[..count] {
            if p.default && self.choices.one_in(3) {
                break;
            }
            arguments.push(match (p.mode, &p.ty) {
                (Mode::In, ty) if !ty.is_array() => self.kept(ty, depth),
                (mode, ty) => self
                    .path(ty, mode != Mode::In, 1)
                    .expect("a callable function's arguments are in scope"),
            });
        }
        arguments
    }

    pub(super) fn path_or_leaf(&mut self, ty: &Ty, depth: u32) -> Expr {
        match self.path(ty, false, depth) {
            Some(text) => Expr::new(text, kept_range(ty)),
            None => self.leaf(ty),
        }
    }

    fn has_path(&self, ty: &Ty, writable: bool) -> bool {
        self.scope
            .visible()
            .any(|v| (v.writable || !writable) && v.ty.holds(ty, &self.structs))
    }

    /// A variable of the type, or some part of one; indices are at most `depth` deep.
    pub(super) fn path(&mut self, ty: &Ty, writable: bool, depth: u32) -> Option<String> {
        let able: Vec<(String, Ty)> = self
            .scope
            .visible()
            .filter(|v| (v.writable || !writable) && v.ty.holds(ty, &self.structs))
            .map(|v| (v.name.clone(), v.ty.clone()))
            .collect();
        if able.is_empty() {
            return None;
        }
        // Recent variables first: they hang on more.
        let recent = self.choices.below(able.len().min(256));
        let (text, from) = able[able.len() - 1 - recent].clone();
        Some(self.down(text, &from, ty, depth))
    }

    /// From a place of one type to a part of it of another, which it must hold; indices are at most
    /// `depth` deep.
    pub(super) fn down(&mut self, mut text: String, from: &Ty, to: &Ty, depth: u32) -> String {
        let mut at = from.clone();
        while at != *to {
            let next = match (&at, to) {
                (Ty::Vector(n), Ty::Float) => {
                    if depth > 0 && self.choices.one_in(6) {
                        let index = self.index(*n, depth - 1);
                        text = format!("{text}[{index}]");
                    } else {
                        let component = self.choices.pick(&COMPONENTS[..*n]);
                        text = format!("{text}.{component}");
                    }
                    Ty::Float
                }
                (Ty::Vector(n), Ty::Vector(m)) => {
                    let first = self.choices.below(*n);
                    let step = if *n == 3 {
                        self.choices.between(1, 2)
                    } else {
                        1
                    } as usize;
                    let swizzle: String = (0..*m)
                        .map(|i| COMPONENTS[(first + i * step) % n])
                        .collect();
                    text = format!("{text}.{swizzle}");
                    Ty::Vector(*m)
                }
                (Ty::Matrix(n), _) => {
                    self.note(Feature::Matrix);
                    let at = self.index(*n, depth);
                    text = format!("{text}[{at}]");
                    Ty::Vector(*n)
                }
                (Ty::Struct(i), _) => {
                    let members: Vec<(String, Ty)> = self.structs[*i]
                        .members
                        .iter()
                        .filter(|(_, member)| member.holds(to, &self.structs))
                        .cloned()
                        .collect();
                    let (name, member) = self.choices.pick(&members).clone();
                    text = format!("{text}.{name}");
                    member
                }
                (Ty::Array(element, n), _) => {
                    let index = self.index(*n, depth);
                    text = format!("{text}[{index}]");
                    (**element).clone()
                }
                (Ty::Sized(element, n), _) => {
                    let index = self.index_below(n, depth);
                    text = format!("{text}[{index}]");
                    (**element).clone()
                }
                _ => unreachable!("a type holds only itself and its parts"),
            };
            match (&at, &next) {
                (Ty::Struct(_), Ty::Struct(_)) => self.note(Feature::NestedStruct),
                (Ty::Array(..) | Ty::Sized(..), Ty::Struct(_)) => self.note(Feature::StructArray),
                (Ty::Array(..) | Ty::Sized(..), Ty::Array(..)) => self.note(Feature::NestedArray),
                _ => {}
            }
            at = next;
        }
        text
    }

    /// An index into `n` elements: a constant, or computed and within bounds, nearly always.
    pub(super) fn index(&mut self, n: usize, depth: u32) -> String {
        if depth == 0 || self.choices.percent(40) {
            return self.choices.below(n).to_string();
        }
        let e = self.expression(&Ty::Int, depth - 1);
        if ValueRange::new(0.0, n as f64 - 1.0).contains(e.range) || self.wild(8) {
            return e.text;
        }
        match n.is_power_of_two() {
            true => format!("{} & {}", e.text, n - 1),
            false => format!("({} % {n} + {n}) % {n}", e.text),
        }
    }

    /// An index into an array of as many elements as a variable says: within bounds unless there
    /// are none, nearly always.
    fn index_below(&mut self, length: &str, depth: u32) -> String {
        if depth == 0 || self.choices.percent(40) {
            return self.choices.below(2).to_string();
        }
        let e = self.expression(&Ty::Int, depth - 1);
        match self.wild(8) {
            true => e.text,
            false => format!("({} % {length} + {length}) % {length}", e.text),
        }
    }
}
