//! Statements: assignments, branches, loops of every form with every exit.

use super::types::Ty;
use super::{DerivedKind, Writer};

/// The greatest depth of nested loops.
const MAX_LOOPS: u32 = 2;

/// The greatest depth of nested statements.
const MAX_DEPTH: u32 = 4;

impl Writer<'_> {
    pub(super) fn statements(&mut self, count: usize, depth: u32) {
        for _ in 0..count {
            if self.budget == 0 {
                return;
            }
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u32) {
        let nests = depth < MAX_DEPTH && self.budget > 4;
        if self.kind == DerivedKind::Untaken && self.choices.one_in(3) {
            return self.untaken();
        }
        match self.choices.weighted(&[8, 5, 5, 7, 2, 2, 4]) {
            0 => self.assign(),
            1 => {
                let ty = self.some_type();
                let name = self.out.name("v");
                self.variable(&name, &ty, 2);
            }
            2 if nests => self.branch(depth),
            3 if nests && self.loops < MAX_LOOPS => self.repetition(depth),
            4 if nests => self.switch(depth),
            5 => self.call_statement(),
            _ => self.exit(),
        }
    }

    /// Declares a variable with a value.
    pub(super) fn variable(&mut self, name: &str, ty: &Ty, depth: u32) {
        let declared = self.declared(ty, name);
        match ty {
            Ty::Array(n) => {
                let values: Vec<String> = (0..*n).map(|_| self.float(depth - 1)).collect();
                self.out
                    .line(&format!("{declared} = {{ {} }};", values.join(", ")));
            }
            Ty::Struct(_) => {
                self.out.line(&format!("{declared};"));
                for leaf in self.leaves(ty) {
                    let value = self.scalar(leaf.is_float, depth - 1);
                    self.out.line(&format!("{name}{} = {value};", leaf.path));
                }
            }
            _ => {
                let value = self.expression(ty, depth);
                self.out.line(&format!("{declared} = {value};"));
            }
        }
        self.declare(name, ty, true);
    }

    /// Assigns to a float of a variable.
    pub(super) fn assign(&mut self) {
        let found: Vec<super::Variable> = (self.scope.iter())
            .filter(|v| v.is_writable && v.ty != Ty::Int)
            .cloned()
            .collect();
        if found.is_empty() {
            let name = self.out.name("v");
            return self.variable(&name, &Ty::Float, 2);
        }
        let variable = self.choices.pick(&found).clone();
        if self.choices.one_in(6) {
            let copied: Vec<&super::Variable> =
                found.iter().filter(|v| v.ty == variable.ty).collect();
            let other = self.choices.pick(&copied).name.clone();
            if other != variable.name {
                return self.out.line(&format!("{} = {other};", variable.name));
            }
        }
        let place = match &variable.ty {
            Ty::Array(n) => {
                let index = self.index(*n);
                format!("{}[{index}]", variable.name)
            }
            ty => {
                let leaves = self.leaves(ty);
                let leaf = self.choices.pick(&leaves).clone();
                if !leaf.is_float {
                    let value = self.int(1);
                    return self
                        .out
                        .line(&format!("{}{} = {value};", variable.name, leaf.path));
                }
                format!("{}{}", variable.name, leaf.path)
            }
        };
        let value = self.float(2);
        let line = match self.choices.below(7) {
            0 => format!("{place} = {value};"),
            1 => format!("{place} = 0.7 * {place} + 0.3 * {value};"),
            2 => format!("{place} += 0.25 * {value};"),
            3 => format!("{place} -= 0.25 * {value};"),
            4 => format!("{place} *= 0.6 + 0.3 * sin({value});"),
            5 => format!("{place} /= 1.5 + 0.4 * cos({value});"),
            _ => format!("{place} = mix({place}, {value}, 0.4);"),
        };
        self.out.line(&line);
    }

    /// Some statements in a block.
    fn block(&mut self, depth: u32) {
        let mark = self.scope.len();
        let count = self.choices.between(1, 3) as usize;
        self.assign();
        self.statements(count - 1, depth + 1);
        self.scope.truncate(mark);
    }

    fn branch(&mut self, depth: u32) {
        let condition = self.condition(1);
        self.out.open(&format!("if {condition}"));
        self.block(depth);
        if self.choices.one_in(2) {
            self.out.indent -= 1;
            self.out.open("} else");
            self.block(depth);
        }
        self.out.close();
    }

    /// An exit under a condition: of a loop, of an iteration, of the function.
    fn exit(&mut self) {
        let condition = self.condition(1);
        let choice = self.choices.weighted(&[3, 3, 2]);
        if choice < 2 && self.loops == 0 {
            return self.assign();
        }
        self.out.open(&format!("if {condition}"));
        let mark = self.scope.len();
        if self.choices.one_in(2) {
            self.assign();
        }
        match choice {
            0 => self.out.line("break;"),
            1 => self.out.line("continue;"),
            _ => self.leave(1),
        }
        self.scope.truncate(mark);
        self.out.close();
    }

    fn repetition(&mut self, depth: u32) {
        let mark = self.scope.len();
        let i = self.out.name("i");
        let hint = match self.choices.weighted(&[8, 1, 1, 1]) {
            1 => "[MaxIters(8)]",
            2 => "[PreferCheckpoint]",
            3 => "[PreferRecompute]",
            _ => "",
        };
        let mut tail = "}".to_owned();
        match self.choices.below(6) {
            0 | 1 => {
                let start = self.start();
                let end = self.end();
                let stride = self.stride();
                self.hinted(hint);
                self.out.open(&format!(
                    "for (int {i} = {start}; {i} < {end}; {i} += {stride})"
                ));
                self.declare(&i, &Ty::Int, false);
            }
            2 => {
                let end = self.end();
                let stride = self.stride();
                self.hinted(hint);
                self.out
                    .open(&format!("for (int {i} = {end}; {i} > 0; {i} -= {stride})"));
                self.declare(&i, &Ty::Int, false);
            }
            3 => {
                self.out.line(&format!("int {i} = 0;"));
                self.declare(&i, &Ty::Int, false);
                let condition = self.condition(1);
                self.hinted(hint);
                self.out.open(&format!("while ({i} < 5 && {condition})"));
                self.out.line(&format!("{i}++;"));
            }
            4 => {
                let end = self.end();
                self.out.line(&format!("int {i} = 0;"));
                self.declare(&i, &Ty::Int, false);
                let condition = self.condition(1);
                tail = format!("}} while ({i} < {end} && {condition});");
                self.hinted(hint);
                self.out.open("do");
                self.out.line(&format!("{i}++;"));
            }
            _ => {
                let [end, step] = [(); 2].map(|()| self.float(1));
                self.hinted(hint);
                let test = format!("{i} < 1.0 + 0.5 * sin({end})");
                let head = format!("for (float {i} = 0.1; {test}; {i} += 0.4 + 0.1 * sin({step}))");
                self.out.open(&head);
                self.declare(&i, &Ty::Float, false);
            }
        }
        self.loops += 1;
        self.block(depth);
        self.loops -= 1;
        self.out.indent -= 1;
        self.out.line(&tail);
        self.scope.truncate(mark);
    }

    /// A hint before a loop, if it has one.
    fn hinted(&mut self, hint: &str) {
        if !hint.is_empty() {
            self.out.line(hint);
        }
    }

    fn start(&mut self) -> String {
        match self.choices.below(3) {
            0 => "0".to_owned(),
            1 => self.choices.between(-1, 2).to_string(),
            _ => format!("({} & 1)", self.int(1)),
        }
    }

    fn end(&mut self) -> String {
        match self.choices.below(3) {
            0 => self.choices.between(1, 5).to_string(),
            1 => format!("(({} & 3) + 2)", self.int(1)),
            _ => format!("({} & 7)", self.int(1)),
        }
    }

    fn stride(&mut self) -> String {
        match self.choices.below(3) {
            0 => "1".to_owned(),
            1 => "2".to_owned(),
            _ => format!("(({} & 1) + 1)", self.int(1)),
        }
    }

    fn switch(&mut self, depth: u32) {
        let value = self.int(1);
        self.out.line(&format!("switch ({value} & 3) {{"));
        let cases = self.choices.between(1, 3);
        for case in 0..cases {
            self.out.line(&format!("case {case}:"));
            self.out.indent += 1;
            self.out.open("");
            self.block(depth + 1);
            self.out.close();
            // The next case goes on, perhaps.
            if !self.choices.one_in(3) {
                self.out.line("break;");
            }
            self.out.indent -= 1;
        }
        if self.choices.one_in(2) {
            self.out.line("default:");
            self.out.indent += 1;
            self.out.open("");
            self.block(depth + 1);
            self.out.close();
            self.out.line("break;");
            self.out.indent -= 1;
        }
        self.out.line("}");
    }
}
