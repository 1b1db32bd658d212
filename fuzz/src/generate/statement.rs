//! Statements: which one comes next, declarations, assignments, branches, calls, leaving.

use super::Generator;
use super::range::ValueRange;
use super::scope::{Function, Mode, Ty};

/// The greatest depth of nested statements.
pub(super) const MAX_DEPTH: u32 = 3;

impl Generator<'_> {
    /// One statement.
    pub(super) fn statement(&mut self) {
        if self.budget == 0 || self.choices.exhausted() {
            return;
        }
        let buffers = self.profile.younger(2);
        match self
            .choices
            .weighted(&[10, 12, 5, 8, 7, 7, 3, 4, 4, 5, 2, 5, 4, 2, 2, 1, buffers])
        {
            0 if self.resources > 0 && self.choices.one_in(8) => {
                self.declaration(&Ty::Resource, 1);
            }
            0 => {
                let ty = self.variable_type();
                self.declaration(&ty, 3);
            }
            1 => self.assign(),
            2 => self.compound(),
            3 => self.branch(),
            4 => self.repetition(),
            5 => self.call_statement(),
            6 => self.array(),
            7 => self.store(),
            8 => self.sampling(),
            9 => self.leave_early(),
            10 => self.block_with_hidden_names(),
            11 => self.switch(),
            12 => self.message(),
            13 => self.sized_array(),
            14 => self.copy(),
            16 => self.buffer_sum(),
            _ => self.library_statement(),
        }
    }

    /// Declares a variable and gives its name.
    pub(super) fn declaration(&mut self, ty: &Ty, depth: u32) -> String {
        let name = self.name("v");
        let text = ty.text(&self.structs);
        let is_plain = ty.is_array() || *ty != Ty::Resource && self.choices.one_in(9);
        if is_plain {
            self.line(&format!("{text} {name}{};", ty.suffix()));
            self.scope.declare(&name, ty, true);
            return name;
        }
        if self.choices.one_in(12)
            && let Ty::Float | Ty::Int | Ty::Vector(_) = ty
        {
            return self.declarations(ty, depth);
        }
        let value = match self.choices.one_in(3) {
            true => self.initialiser(ty, depth),
            false => self.kept(ty, depth),
        };
        let writable = !self.choices.one_in(6);
        let qualifier = if writable { "" } else { "const " };
        self.line(&format!("{qualifier}{text} {name} = {value};"));
        self.scope.declare(&name, ty, writable);
        name
    }

    /// Declares three variables at once, and gives the last one's name.
    fn declarations(&mut self, ty: &Ty, depth: u32) -> String {
        let names = ["v"; 3].map(|prefix| self.name(prefix));
        let first = self.kept(ty, depth);
        let last = self.kept(ty, depth);
        let text = ty.text(&self.structs);
        let [a, b, c] = &names;
        self.line(&format!("{text} {a} = {first}, {b}, {c} = {last};"));
        for name in &names {
            self.scope.declare(name, ty, true);
        }
        let [_, _, c] = names;
        c
    }

    /// Something that can be written is.
    pub(super) fn assign(&mut self) {
        let ty = self.variable_type();
        match self.path(&ty, true, 2) {
            Some(place) => {
                let value = self.kept(&ty, 3);
                self.line(&format!("{place} = {value};"));
            }
            None => {
                self.declaration(&ty, 3);
            }
        }
    }

    /// `+=` and the like, by amounts that a few turns of a loop survive.
    fn compound(&mut self) {
        let ty = self
            .choices
            .pick(&[Ty::Float, Ty::Vector(3), Ty::Int])
            .clone();
        let Some(place) = self.path(&ty, true, 1) else {
            return self.assign();
        };
        let amount = self.expression(&ty, 2);
        let line = match ty {
            Ty::Int => {
                let operator = *self.choices.pick(&["+=", "-=", "^=", "|=", "*="]);
                let amount = self.fit(amount, &ty, ValueRange::new(0.0, 7.0)).text;
                format!("{place} {operator} {amount};")
            }
            _ => {
                let operator = *self.choices.pick(&["+=", "-=", "*=", "/="]);
                let range = match operator {
                    "*=" => ValueRange::new(-1.0, 1.0),
                    "/=" => ValueRange::new(1.0, 3.0),
                    _ => ValueRange::new(-2.0, 2.0),
                };
                let amount = self.fit(amount, &ty, range).text;
                format!("{place} {operator} {amount};")
            }
        };
        self.line(&line);
    }

    fn branch(&mut self) {
        if self.place.depth >= MAX_DEPTH {
            return self.assign();
        }
        let condition = self.condition(3);
        self.line(&format!("if ({condition}) {{"));
        self.block(2);
        if self.choices.one_in(2) {
            self.line("} else {");
            self.block(2);
        }
        self.line("}");
    }

    /// At least one statement and at most `most`, in a scope of their own.
    pub(super) fn block(&mut self, most: i64) {
        self.indent += 1;
        self.place.depth += 1;
        let mark = self.scope.enter();
        self.assign();
        for _ in 1..self.choices.between(1, most) {
            self.statement();
        }
        self.scope.leave(mark);
        self.place.depth -= 1;
        self.indent -= 1;
    }

    /// A call that is a statement, of a function that writes to its arguments if there is one.
    pub(super) fn call_statement(&mut self) {
        let writing: Vec<Function> = self
            .functions
            .iter()
            .filter(|f| f.parameters.iter().any(|p| p.mode != Mode::In))
            .filter(|f| self.affords(f))
            .cloned()
            .collect();
        if writing.is_empty() {
            return self.assign();
        }
        let callee = self.choices.pick(&writing).clone();
        for p in &callee.parameters {
            let place = p.mode != Mode::In;
            if (place || p.ty.is_array()) && self.path(&p.ty, place, 0).is_none() {
                self.declaration(&p.ty, 2);
                // An initialised constant is no place.
                if place && self.path(&p.ty, true, 0).is_none() {
                    let name = self.name("v");
                    let (text, suffix) = (p.ty.text(&self.structs), p.ty.suffix());
                    // A resource cannot begin without a value.
                    let value = match p.ty {
                        Ty::Resource => format!(" = {}", self.leaf(&p.ty).text),
                        _ => String::new(),
                    };
                    self.line(&format!("{text} {name}{suffix}{value};"));
                    self.scope.declare(&name, &p.ty, true);
                }
            }
        }
        self.place.cost += callee.cost * self.place.times;
        let mut arguments = self.arguments(&callee, 3);
        if callee.recursive {
            arguments.push(self.choices.between(0, 3).to_string());
        }
        let call = format!("{}({})", callee.name, arguments.join(", "));
        self.line(&format!("{call};"));
    }

    /// A texture is sampled at this place of the program.
    pub(super) fn sampling(&mut self) {
        if self.textures == 0 {
            return self.assign();
        }
        let color = self.sample_color(3).text;
        let name = self.name("c");
        self.line(&format!("float3 {name} = {color};"));
        self.scope.declare(&name, &Ty::Vector(3), true);
    }

    /// `return`, `break` or `continue`, on a condition.
    fn leave_early(&mut self) {
        let condition = self.condition(3);
        let leave = match (self.place.loops > 0, self.choices.below(3)) {
            (true, 0) => "break;".to_owned(),
            (true, 1) => "continue;".into(),
            _ if self.place.result.is_some() => self.returned(2),
            _ if self.choices.one_in(4) => "return;".into(),
            _ => return self.assign(),
        };
        self.line(&format!("if ({condition}) {leave}"));
    }

    /// The `return` of the function around.
    pub(super) fn returned(&mut self, depth: u32) -> String {
        let value = match self.place.result.clone() {
            Some(ty) if ty.is_array() => {
                // A block may hide the one that the function begins with.
                let array = self.path(&ty, false, 1).or_else(|| {
                    self.declaration(&ty, 1);
                    self.path(&ty, false, 1)
                });
                array.expect("one was declared")
            }
            Some(ty) => self.kept(&ty, depth),
            None => return "return;".to_owned(),
        };
        format!("return {value};")
    }

    /// A block that declares a name of the scope around anew.
    fn block_with_hidden_names(&mut self) {
        if self.place.depth >= MAX_DEPTH {
            return self.assign();
        }
        let ty = self.variable_type();
        let value = self.kept(&ty, 2);
        let outer = self
            .scope
            .visible()
            .filter(|v| v.writable && v.name.starts_with('v'))
            .map(|v| v.name.clone())
            .next_back();
        let name = match outer {
            Some(name) => name,
            None => self.name("v"),
        };
        let text = ty.text(&self.structs);
        self.line("{");
        let mark = self.scope.enter();
        self.line(&format!("    {text} {name} = {value};"));
        self.scope.declare(&name, &ty, true);
        self.block(2);
        self.scope.leave(mark);
        self.line("}");
    }
}
