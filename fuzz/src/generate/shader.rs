//! The shader: its inputs with their metadata, its outputs, its statements.

use super::expression::Expr;
use super::fit::kept_range;
use super::scope::Ty;
use super::{Generator, Place};
use crate::feature::Feature;

impl Generator<'_> {
    /// The metadata of an input, an output or a buffer, at times.
    pub(super) fn metadata(&mut self) -> String {
        if !self.choices.one_in(2) {
            return String::new();
        }
        self.note(Feature::Metadata);
        let number = self.choices.between(-8, 8);
        let mut entries = vec![
            format!("label = \"Number {number}\""),
            format!("min = {number}"),
            format!("max = {:?}", number as f64 / 2.0),
            "hidden".to_owned(),
        ];
        entries.retain(|_| self.choices.one_in(2));
        format!(" <<< {} >>>", entries.join(", "))
    }

    /// The shader. What the mix of a campaign asks for is put into most of them.
    pub(super) fn shader(&mut self) {
        self.begin("main");
        if !self.included.is_empty() {
            self.note(Feature::Include);
        }
        let mut parameters = Vec::new();
        if self.choices.one_in(2) {
            let metadata = self.metadata();
            parameters.push(format!("float gain = 0.75{metadata}"));
            self.scope.declare("gain", &Ty::Float, false);
        }
        if self.profile.inputs {
            for i in 0..self.choices.between(1, 4) {
                let (ty, default) = match self.choices.weighted(&[5, 3, 2, 1, 2, 2]) {
                    1 => {
                        let n = self.choices.between(2, 4) as usize;
                        (Ty::Vector(n), format!(" = float{n}(0.375)"))
                    }
                    2 => (Ty::Int, " = 2".to_owned()),
                    3 => (Ty::Bool, " = true".to_owned()),
                    4 => (Ty::Closure, String::new()),
                    5 => {
                        let n = self.choices.between(2, 4) as usize;
                        (Ty::Matrix(n), format!(" = float{n}x{n}(0.875)"))
                    }
                    _ => (Ty::Float, " = 0.625".to_owned()),
                };
                let name = format!("input{i}");
                let metadata = self.metadata();
                let text = ty.text(&self.structs);
                parameters.push(format!("{text} {name}{default}{metadata}"));
                self.scope.declare(&name, &ty, false);
            }
        }
        let mut outputs = vec![("o0".to_owned(), Ty::Float)];
        for i in 1..=self.choices.between(0, 3) {
            let ty = match self.choices.weighted(&[7, 1, 1]) {
                1 => Ty::Closure,
                2 => self.array_type(),
                _ => self.variable_type(),
            };
            outputs.push((format!("o{i}"), ty));
        }
        for (name, ty) in &outputs {
            let text = ty.text(&self.structs);
            let (suffix, metadata) = (ty.suffix(), self.metadata());
            parameters.push(format!("out {text} {name}{suffix}{metadata}"));
        }
        self.line(&format!("shader main({}) {{", parameters.join(", ")));
        self.indent += 1;
        self.place = Place {
            times: 1,
            cost: 1,
            ..Place::default()
        };
        for ty in [Ty::Float, Ty::Vector(3)] {
            self.declaration(&ty, 2);
        }
        if self.choices.percent(50) {
            self.array();
        }
        if self.choices.percent(40) {
            self.call_statement();
        }
        if self.choices.percent(60) {
            self.recursion();
        }
        if self.choices.percent(40) {
            self.nested_struct();
        }
        if self.choices.percent(15) {
            self.switch();
        }
        if self.choices.percent(10) {
            self.sized_array();
        }
        if self.choices.percent(10) {
            self.message();
        }
        if !self.profile.recorded {
            if self.choices.percent(50) {
                self.ruled_call();
            }
            if self.choices.percent(25) {
                self.buffer_sum();
            }
        }
        for _ in 0..self.choices.between(1, 4) {
            self.statement();
        }
        if self.choices.percent(45) {
            self.repetition();
        }
        if self.choices.percent(50) {
            self.sampling();
        }
        for _ in 0..self.choices.between(0, 3) {
            self.statement();
        }
        for (i, (name, ty)) in outputs.iter().enumerate() {
            let value = match i {
                0 => self.summary(),
                _ if ty.is_array() => {
                    self.store_in(name, ty);
                    self.scope.declare(name, ty, true);
                    continue;
                }
                _ => self.kept(ty, 3),
            };
            self.line(&format!("{name} = {value};"));
            self.scope.declare(name, ty, true);
        }
        self.indent -= 1;
        self.line("}");
    }

    /// A variable from a function that calls itself, if there is one.
    fn recursion(&mut self) {
        let recursive = self.functions.iter().filter(|f| f.recursive);
        let results: Vec<Ty> = recursive.filter_map(|f| f.result.clone()).collect();
        if results.is_empty() {
            return;
        }
        let ty = self.choices.pick(&results).clone();
        if let Some(call) = self.call(Some(&ty), 2) {
            let name = self.name("v");
            self.line(&format!("{} {name} = {call};", ty.text(&self.structs)));
            self.scope.declare(&name, &ty, true);
        }
    }

    /// A struct with one inside, and what that holds.
    fn nested_struct(&mut self) {
        let is_struct = |ty: &Ty| matches!(ty, Ty::Struct(_));
        let outer = (self.structs.iter())
            .position(|s| s.members.iter().any(|(_, member)| is_struct(member)));
        let Some(outer) = outer else {
            return;
        };
        let outer_ty = Ty::Struct(outer);
        let members = self.structs[outer].members.clone();
        let (_, inner) = (members.iter())
            .find(|(_, member)| is_struct(member))
            .expect("it was found by having one");
        let name = self.declaration(&outer_ty, 2);
        let part = self.down(name, &outer_ty, inner, 1);
        if inner.holds(&Ty::Float, &self.structs) {
            let part = self.down(part, inner, &Ty::Float, 1);
            let read = self.name("v");
            self.line(&format!("float {read} = {part};"));
            self.scope.declare(&read, &Ty::Float, true);
        }
    }

    /// A float that hangs on everything in scope.
    fn summary(&mut self) -> String {
        let floats: Vec<String> = self
            .scope
            .visible()
            .filter(|v| v.ty == Ty::Float)
            .map(|v| v.name.clone())
            .collect();
        let mut terms = Vec::new();
        for (i, name) in floats.iter().rev().take(6).enumerate() {
            terms.push(format!("{:?} * {name}", 0.5 + 0.125 * i as f64));
        }
        for _ in 0..2 {
            terms.push(self.kept(&Ty::Float, 2));
        }
        let sum = Expr {
            text: format!("({})", terms.join(" + ")),
            range: kept_range(&Ty::Float).widened(2.0),
        };
        self.fit(sum, &Ty::Float, kept_range(&Ty::Float)).text
    }
}
