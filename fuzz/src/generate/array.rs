//! Statements about arrays: of fixed length, of arrays, of structs, sized while shading, and whole
//! ones.

use super::Generator;
use super::loops::MAX_LOOPS;
use super::scope::{Function, Ty};
use crate::feature::Feature;

/// The most numbers that a local array has.
const MAX_NUMBERS: usize = 96;

impl Generator<'_> {
    /// The type of an array.
    pub(super) fn array_type(&mut self) -> Ty {
        let element = self.element_type();
        let n = self.choices.between(2, 8) as usize;
        match n * element.size(&self.structs) > MAX_NUMBERS {
            true => Ty::Array(Box::new(Ty::Float), n),
            false => Ty::Array(Box::new(element), n),
        }
    }

    fn element_type(&mut self) -> Ty {
        match self.choices.weighted(&[6, 2, 2, 4, 3, 1, 1]) {
            1 => Ty::Vector(3),
            2 => Ty::Int,
            3 if !self.structs.is_empty() => Ty::Struct(self.choices.below(self.structs.len())),
            4 => {
                let inner = match self.choices.below(4) {
                    0 => Ty::Vector(2),
                    1 => Ty::Array(Box::new(Ty::Float), 2),
                    _ => Ty::Float,
                };
                Ty::Array(Box::new(inner), self.choices.between(2, 4) as usize)
            }
            5 => Ty::Matrix(self.choices.between(2, 3) as usize),
            6 => Ty::Bool,
            _ => Ty::Float,
        }
    }

    /// A local array, filled in a loop, by an initialiser or by a function, and read.
    pub(super) fn array(&mut self) {
        let ty = self.array_type();
        let Ty::Array(element, n) = &ty else {
            return;
        };
        let (element, n) = ((**element).clone(), *n);
        if self.choices.one_in(5) && self.returned_array().is_some() {
            return;
        }
        let name = self.name("w");
        let head = format!("{} {name}{}", ty.text(&self.structs), ty.suffix());
        if self.choices.one_in(2) || self.place.loops >= MAX_LOOPS {
            let value = self.initialiser(&ty, 2);
            self.line(&format!("{head} = {value};"));
            self.scope.declare(&name, &ty, true);
        } else {
            self.line(&format!("{head};"));
            self.fill(&name, &ty, &n.to_string(), n as u64);
        }
        self.read_back(&name, &ty, &element);
    }

    /// Sets something in each of `n` elements, at most `most`, and declares the array.
    fn fill(&mut self, name: &str, ty: &Ty, n: &str, most: u64) {
        let (Ty::Array(element, _) | Ty::Sized(element, _)) = ty else {
            return;
        };
        let counter = self.name("i");
        let mark = self.scope.enter();
        self.scope.declare(&counter, &Ty::Int, false);
        let times = self.place.times;
        self.place.times = times * most;
        self.place.cost += self.place.times;
        let wanted = match element.holds(&Ty::Float, &self.structs) {
            true => Ty::Float,
            false => (**element).clone(),
        };
        let place = self.down(format!("{name}[{counter}]"), element, &wanted, 1);
        let value = self.kept(&wanted, 3);
        self.place.times = times;
        self.scope.leave(mark);
        self.scope.declare(name, ty, true);
        self.line(&format!(
            "for (int {counter} = 0; {counter} < {n}; ++{counter}) {{"
        ));
        self.line(&format!("    {place} = {value};"));
        self.line("}");
    }

    /// Reads something of an array, so that it is no dead store.
    fn read_back(&mut self, name: &str, ty: &Ty, element: &Ty) {
        let wanted = match element {
            Ty::Array(..) | Ty::Struct(_) if element.holds(&Ty::Float, &self.structs) => Ty::Float,
            Ty::Array(inner, _) => (**inner).clone(),
            _ => element.clone(),
        };
        let part = self.down(name.to_owned(), ty, &wanted, 2);
        let read = self.name("v");
        self.line(&format!("{} {read} = {part};", wanted.text(&self.structs)));
        self.scope.declare(&read, &wanted, true);
    }

    /// An array whose length depends on the point, filled and read.
    pub(super) fn sized_array(&mut self) {
        if self.place.loops >= MAX_LOOPS {
            return self.array();
        }
        let length = self.name("n");
        let turns = match self.wild(6) {
            true => self.expression(&Ty::Int, 2).text,
            false => self.iterations(),
        };
        self.line(&format!("int {length} = {turns};"));
        self.scope.declare(&length, &Ty::Int, false);
        let element = self.element_type();
        let ty = Ty::Sized(Box::new(element.clone()), length.clone());
        let name = self.name("w");
        let text = ty.text(&self.structs);
        self.line(&format!("{text} {name}{};", ty.suffix()));
        self.note(Feature::Sized);
        self.fill(&name, &ty, &length, 6);
        self.read_back(&name, &ty, &element);
    }

    /// An element of some array is set, or something in it.
    pub(super) fn store(&mut self) {
        let arrays: Vec<(String, Ty)> = self
            .scope
            .visible()
            .filter(|v| v.writable && v.ty.is_array())
            .map(|v| (v.name.clone(), v.ty.clone()))
            .collect();
        if arrays.is_empty() {
            return self.array();
        }
        let (name, ty) = self.choices.pick(&arrays).clone();
        self.store_in(&name, &ty);
    }

    /// Something in an array is set.
    pub(super) fn store_in(&mut self, name: &str, ty: &Ty) {
        let able = [Ty::Float, Ty::Vector(3), Ty::Int, Ty::Bool, Ty::Matrix(2)];
        let able = able.into_iter();
        let able: Vec<Ty> = able.filter(|part| ty.holds(part, &self.structs)).collect();
        if able.is_empty() {
            return self.assign();
        }
        let wanted = self.choices.pick(&able).clone();
        let place = self.down(name.to_owned(), ty, &wanted, 3);
        let value = self.kept(&wanted, 3);
        self.line(&format!("{place} = {value};"));
    }

    /// A whole array becomes another one.
    pub(super) fn copy(&mut self) {
        let arrays: Vec<(String, Ty)> = self
            .scope
            .visible()
            .filter(|v| matches!(v.ty, Ty::Array(..)))
            .map(|v| (v.name.clone(), v.ty.clone()))
            .collect();
        if arrays.is_empty() {
            return self.array();
        }
        let (from, ty) = self.choices.pick(&arrays).clone();
        self.note(Feature::Whole);
        match self.path(&ty, true, 1) {
            Some(place) if place != from && self.choices.one_in(2) => {
                self.line(&format!("{place} = {from};"));
            }
            _ => {
                let name = self.name("w");
                let text = ty.text(&self.structs);
                self.line(&format!("{text} {name}{} = {from};", ty.suffix()));
                self.scope.declare(&name, &ty, true);
            }
        }
    }

    /// A local array that a function gives, if there is such a function.
    fn returned_array(&mut self) -> Option<()> {
        let able: Vec<Function> = self
            .functions
            .iter()
            .filter(|f| f.result.as_ref().is_some_and(Ty::is_array))
            .cloned()
            .collect();
        if able.is_empty() {
            return None;
        }
        let ty = self.choices.pick(&able).result.clone()?;
        let call = self.call(Some(&ty), 2)?;
        self.note(Feature::Whole);
        let name = self.name("w");
        let text = ty.text(&self.structs);
        self.line(&format!("{text} {name}{} = {call};", ty.suffix()));
        self.scope.declare(&name, &ty, true);
        Some(())
    }

    /// An initialiser: elements or members in braces, maybe not all, or an expression.
    pub(super) fn initialiser(&mut self, ty: &Ty, depth: u32) -> String {
        let parts: Vec<Ty> = match ty {
            Ty::Array(element, n) => vec![(**element).clone(); *n],
            Ty::Struct(i) => {
                let members = self.structs[*i].members.iter();
                members.map(|(_, ty)| ty.clone()).collect()
            }
            _ => return self.kept(ty, depth),
        };
        let count = match !parts.is_empty() && self.choices.one_in(3) {
            true => self.choices.between(1, parts.len() as i64) as usize,
            false => parts.len(),
        };
        let depth = depth.saturating_sub(1);
        let values: Vec<String> = parts[..count]
            .iter()
            .map(|ty| self.initialiser(ty, depth))
            .collect();
        format!("{{ {} }}", values.join(", "))
    }
}
