//! Statements.

use super::Generator;
use super::range::Range;
use super::scope::{Function, Mode, Ty};

/// How deep statements nest.
const MAX_DEPTH: u32 = 3;

/// How deep loops nest.
const MAX_LOOPS: u32 = 2;

/// About how often a loop turns.
const TURNS: u64 = 4;

/// What is written around a loop's statements.
struct Loop {
    /// Lines before them.
    head: Vec<String>,
    /// The line behind them.
    tail: String,
    /// Variables that they can read.
    counters: Vec<(String, Ty)>,
}

impl Loop {
    fn of<const N: usize>(head: [String; N], tail: &str) -> Loop {
        Loop {
            head: head.into(),
            tail: tail.to_owned(),
            counters: Vec::new(),
        }
    }

    fn counting(mut self, counter: String, ty: Ty) -> Loop {
        self.counters.push((counter, ty));
        self
    }
}

impl Generator<'_> {
    /// One statement.
    pub(super) fn statement(&mut self) {
        if self.budget == 0 || self.choices.exhausted() {
            return;
        }
        match self.choices.weighted(&[10, 12, 5, 8, 7, 7, 3, 4, 4, 5, 2]) {
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
            _ => self.block_with_hidden_names(),
        }
    }

    /// Declares a variable and gives its name.
    pub(super) fn declaration(&mut self, ty: &Ty, depth: u32) -> String {
        let name = self.name("v");
        let text = ty.text(&self.structs);
        if matches!(ty, Ty::Array(..)) || self.choices.one_in(9) {
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

    /// What a variable can be declared with: a struct's members in braces, or an expression.
    fn initialiser(&mut self, ty: &Ty, depth: u32) -> String {
        let members = match ty {
            Ty::Struct(i) => self.structs[*i].members.clone(),
            _ => return self.kept(ty, depth),
        };
        if ty.has_arrays(&self.structs) {
            return self.kept(ty, depth);
        }
        let values: Vec<String> = members
            .iter()
            .map(|(_, ty)| self.initialiser(ty, depth.saturating_sub(1)))
            .collect();
        format!("{{ {} }}", values.join(", "))
    }

    fn assign(&mut self) {
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
                let amount = self.fit(amount, &ty, Range::new(0.0, 7.0)).text;
                format!("{place} {operator} {amount};")
            }
            _ => {
                let operator = *self.choices.pick(&["+=", "-=", "*=", "/="]);
                let range = match operator {
                    "*=" => Range::new(-1.0, 1.0),
                    "/=" => Range::new(1.0, 3.0),
                    _ => Range::new(-2.0, 2.0),
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
    fn block(&mut self, most: i64) {
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

    /// A loop of any form. How often it turns depends on the point, mostly.
    pub(super) fn repetition(&mut self) {
        if self.place.loops >= MAX_LOOPS || self.place.depth >= MAX_DEPTH {
            return self.assign();
        }
        let mark = self.scope.enter();
        let Loop {
            head,
            tail,
            counters,
        } = match self.wild(200) {
            true => Loop::of(["while (true) {".to_owned()], "}"),
            false => self.counted(),
        };
        for line in head {
            self.line(&line);
        }
        // To write a counter is left to the loop.
        for (counter, ty) in &counters {
            self.scope.declare(counter, ty, false);
        }
        let times = self.place.times;
        self.place.times = times * TURNS;
        self.place.cost += self.place.times;
        self.place.loops += 1;
        self.block(3);
        self.place.loops -= 1;
        self.place.times = times;
        self.line(&tail);
        self.scope.leave(mark);
    }

    /// A loop that ends.
    fn counted(&mut self) -> Loop {
        let i = self.name("i");
        let turns = self.turns();
        let made = match self.choices.below(6) {
            0 | 1 => Loop::of([format!("for (int {i} = 0; {i} < {turns}; ++{i}) {{")], "}"),
            2 => {
                let condition = self.condition(2);
                let head = format!("while ({i}-- > 0 && {condition}) {{");
                Loop::of([format!("int {i} = {turns};"), head], "}")
            }
            3 => {
                let condition = self.condition(2);
                let tail = format!("}} while (++{i} < {turns} && {condition});");
                Loop::of([format!("int {i} = 0;"), "do {".to_owned()], &tail)
            }
            4 => {
                let j = self.name("i");
                let head = format!("for (int {i} = 0, {j} = 4; {i} < {turns}; ++{i}, --{j}) {{");
                Loop::of([head], "}").counting(j, Ty::Int)
            }
            _ => {
                let end = self.expression(&Ty::Float, 2);
                let end = self.fit(end, &Ty::Float, Range::new(0.5, 1.5)).text;
                let head = format!("for (float {i} = 0.0; {i} < {end}; {i} += 0.25) {{");
                return Loop::of([head], "}").counting(i, Ty::Float);
            }
        };
        made.counting(i, Ty::Int)
    }

    /// How often a loop turns: a number, or something that depends on the point.
    fn turns(&mut self) -> String {
        match self.choices.below(4) {
            0 => self.choices.between(1, 6).to_string(),
            1 => {
                let n = self.expression(&Ty::Int, 2);
                self.fit(n, &Ty::Int, Range::new(1.0, 4.0)).text
            }
            _ => {
                let x = self.expression(&Ty::Float, 2);
                let x = self.fit(x, &Ty::Float, Range::new(0.5, 6.5)).text;
                format!("((int){x})")
            }
        }
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
            if (place || matches!(p.ty, Ty::Array(..))) && self.path(&p.ty, place, 0).is_none() {
                self.declaration(&p.ty, 2);
                // An initialised constant is no place.
                if place && self.path(&p.ty, true, 0).is_none() {
                    let name = self.name("v");
                    let text = p.ty.text(&self.structs);
                    self.line(&format!("{text} {name}{};", p.ty.suffix()));
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

    /// A local array, filled in a loop or by an initialiser.
    pub(super) fn array(&mut self) {
        let ty = self.array_type();
        let Ty::Array(element, n) = &ty else {
            return;
        };
        let (element, n) = ((**element).clone(), *n);
        let name = self.name("w");
        let text = ty.text(&self.structs);
        if self.choices.one_in(2) || self.place.loops >= MAX_LOOPS {
            let count = self.choices.between(1, n as i64);
            let values: Vec<String> = (0..count).map(|_| self.kept(&element, 2)).collect();
            self.line(&format!(
                "{text} {name}[{n}] = {{ {} }};",
                values.join(", ")
            ));
            self.scope.declare(&name, &ty, true);
        } else {
            self.line(&format!("{text} {name}[{n}];"));
            let counter = self.name("i");
            let mark = self.scope.enter();
            self.scope.declare(&counter, &Ty::Int, false);
            let times = self.place.times;
            self.place.times = times * n as u64;
            self.place.cost += self.place.times;
            let value = self.kept(&element, 3);
            self.place.times = times;
            self.scope.leave(mark);
            self.scope.declare(&name, &ty, true);
            self.line(&format!(
                "for (int {counter} = 0; {counter} < {n}; ++{counter}) {{"
            ));
            self.line(&format!("    {name}[{counter}] = {value};"));
            self.line("}");
        }
        // Something is read back, so that the array is no dead store.
        let index = self.index(n, 2);
        let read = self.name("v");
        let text = element.text(&self.structs);
        self.line(&format!("{text} {read} = {name}[{index}];"));
        self.scope.declare(&read, &element, true);
    }

    /// An element of some array is set.
    fn store(&mut self) {
        let arrays: Vec<(String, Ty, usize)> = self
            .scope
            .visible()
            .filter(|v| v.writable)
            .filter_map(|v| match &v.ty {
                Ty::Array(element, n) => Some((v.name.clone(), (**element).clone(), *n)),
                _ => None,
            })
            .collect();
        if arrays.is_empty() {
            return self.array();
        }
        let (name, element, n) = self.choices.pick(&arrays).clone();
        let index = self.index(n, 3);
        let value = self.kept(&element, 3);
        self.line(&format!("{name}[{index}] = {value};"));
    }

    /// A texture is sampled where the program then stands.
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
            _ => match self.place.result.clone() {
                Some(ty) => {
                    let value = self.kept(&ty, 2);
                    format!("return {value};")
                }
                None if self.choices.one_in(4) => "return;".into(),
                None => return self.assign(),
            },
        };
        self.line(&format!("if ({condition}) {leave}"));
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
