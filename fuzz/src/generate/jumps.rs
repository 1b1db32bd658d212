//! Random small shaders that decide, with globals as parameters: what gradients through edges are
//! checked by.
//!
//! Every op that decides occurs, and kinks, integers, booleans, branches, loops, calls and early
//! exits between a decision and the outputs. Some programs have loops or stores that pairs of
//! samples cannot be compared through. Half of them are tame ([`is_tame`]): no value or derivative
//! of them is infinite at any place.

use super::source_lines::SourceLines;
use crate::choices::Choices;

/// The most expressions of statements, and those that outputs have beside.
const MAX_EXPRESSIONS: usize = 30;
const OUTPUT_EXPRESSIONS: usize = 12;

/// Floats of globals: along the first two samples have neighbours.
const GLOBALS: [&str; 7] = [
    "global_value<ga>",
    "global_value<gb>",
    "global_value<guv>.x",
    "global_value<guv>.y",
    "global_value<gpos>.x",
    "global_value<gpos>.y",
    "global_value<gcol>.w",
];

/// Smooth ops and kinks of floats `A`, `B` and `C`.
const CONTINUOUS: &[&str] = &[
    "(A + B)",
    "(A - B)",
    "(A * B)",
    "(0.5 * A + 0.3)",
    "(-A)",
    "sin(A)",
    "cos(3.0 * A)",
    "atan(A)",
    "tanh(A)",
    "min(A, B)",
    "max(A, B)",
    "abs(A)",
    "clamp(A, -0.5, 0.7)",
    "clamp(A, B, B + 1.0)",
    "saturate(A)",
    "mix(A, B, 0.3)",
    "smoothstep(-1.0, 1.5, A)",
    "(A * A * B)",
];

/// Ops that decide by a margin of `A`.
const DECIDING: &[&str] = &[
    "step(A, B)",
    "step(0.2, A)",
    "sign(A)",
    "floor(A)",
    "ceil(2.0 * A)",
    "round(A)",
    "trunc(3.0 * A)",
    "fract(A)",
    "mod(A, 0.7)",
    "fmod(A, 0.6)",
    "copysign(B, A)",
    "atan2(A, B + 3.0)",
    "cellnoise(2.0 * A)",
    "(float)(int)(2.0 * A)",
    "(float)(A < B)",
    "(A < B ? A : B)",
    "(A < 0.0 ? (-A) : A)",
];

/// Ops that have no value, or no finite derivative, for some floats.
const WILD: &[&str] = &[
    "(A / B)",
    "sqrt(A)",
    "log(A)",
    "pow(A, B)",
    "atan2(A, B)",
    "rsqrt(A)",
    "asin(A)",
    "mod(A, B)",
    "fmod(A, B)",
    "length(float2(A, B))",
    "exp(9.0 * A)",
    "(A > 0.0 ? sqrt(A) : B)",
    "(A == 0.0 ? 1.0 : B / A)",
];

/// The first line of a tame program.
const TAME: &str = "// tame";

/// Whether no value or derivative of a program is infinite anywhere.
pub fn is_tame(source: &str) -> bool {
    source.starts_with(TAME)
}

/// The program that these choices make.
pub(super) fn program(choices: Choices<'_>) -> String {
    let mut writer = Writer {
        choices,
        out: SourceLines::default(),
        floats: Vec::new(),
        writable: 0,
        bools: Vec::new(),
        ints: Vec::new(),
        budget: MAX_EXPRESSIONS,
        is_wild: false,
        has_function: false,
        loops: 0,
    };
    writer.file();
    writer.out.text
}

struct Writer<'a> {
    choices: Choices<'a>,
    out: SourceLines,
    /// Variables in scope.
    floats: Vec<String>,
    /// From here on floats are variables that statements may write.
    writable: usize,
    bools: Vec<String>,
    ints: Vec<String>,
    /// The number of expressions that may still be made.
    budget: usize,
    is_wild: bool,
    has_function: bool,
    /// The number of loops around.
    loops: u32,
}

impl Writer<'_> {
    fn file(&mut self) {
        self.is_wild = self.choices.one_in(2);
        if !self.is_wild {
            self.out.line(TAME);
        }
        if self.choices.one_in(3) {
            self.function();
        }
        let outputs = self.choices.between(1, 3);
        let names: Vec<String> = (0..outputs).map(|at| format!("o{at}")).collect();
        let declared: Vec<String> = names.iter().map(|o| format!("out float {o}")).collect();
        self.out
            .open(&format!("shader main({})", declared.join(", ")));
        let count = self.choices.between(1, 5);
        self.statements(count);
        self.budget += OUTPUT_EXPRESSIONS;
        for name in names {
            let value = self.float(3);
            self.out.line(&format!("{name} = {value};"));
        }
        self.out.close();
    }

    /// A function with early exits, `f`.
    fn function(&mut self) {
        self.out.open("float f(float a, float b)");
        self.floats = vec!["a".to_owned(), "b".to_owned()];
        self.writable = 2;
        for _ in 0..self.choices.between(1, 2) {
            let (condition, result) = (self.condition(1), self.float(2));
            self.out.line(&format!("if ({condition}) return {result};"));
            self.statements(1);
        }
        let result = self.float(2);
        self.out.line(&format!("return {result};"));
        self.out.close();
        self.floats.clear();
        self.writable = 0;
        self.bools.clear();
        self.ints.clear();
        self.has_function = true;
    }

    fn statements(&mut self, count: i64) {
        for _ in 0..count {
            self.statement();
        }
    }

    fn statement(&mut self) {
        let nested = usize::from(self.out.indent < 4);
        let [written, in_loop] = [self.floats.len() > self.writable, self.loops > 0];
        let weights = [
            6,
            3,
            2,
            4 * usize::from(written),
            4 * nested,
            2 * nested,
            usize::from(in_loop),
            nested,
        ];
        match self.choices.weighted(&weights) {
            0 => {
                let (value, name) = (self.float(3), self.out.name("v"));
                self.out.line(&format!("float {name} = {value};"));
                self.floats.push(name);
            }
            1 => {
                let (value, name) = (self.condition(2), self.out.name("b"));
                self.out.line(&format!("bool {name} = {value};"));
                self.bools.push(name);
            }
            2 => {
                let (value, name) = (self.int(1), self.out.name("n"));
                self.out.line(&format!("int {name} = {value};"));
                self.ints.push(name);
            }
            3 => self.assignment(),
            4 => self.branch(),
            5 => self.counted_loop(),
            6 => {
                let condition = self.condition(1);
                let exit = *self.choices.pick(&["continue", "break"]);
                self.out.line(&format!("if ({condition}) {exit};"));
            }
            _ => self.array(),
        }
    }

    fn assignment(&mut self) {
        let count = self.floats.len() - self.writable;
        let at = self.writable + self.choices.below(count);
        let (name, value) = (self.floats[at].clone(), self.float(2));
        let op = *self.choices.pick(&["=", "+=", "="]);
        self.out.line(&format!("{name} {op} {value};"));
    }

    /// Statements of a block, whose variables end with it.
    fn block(&mut self, head: &str) {
        let scope = (self.floats.len(), self.bools.len(), self.ints.len());
        self.out.open(head);
        let count = self.choices.between(1, 2);
        self.statements(count);
        if self.floats.len() > self.writable {
            self.assignment();
        }
        self.out.close();
        self.floats.truncate(scope.0);
        self.bools.truncate(scope.1);
        self.ints.truncate(scope.2);
    }

    fn branch(&mut self) {
        let condition = self.condition(2);
        self.block(&format!("if ({condition})"));
        if self.choices.one_in(2) {
            self.block("else");
        }
    }

    fn counted_loop(&mut self) {
        let (name, times) = (self.out.name("i"), self.choices.between(1, 4));
        self.ints.push(name.clone());
        self.loops += 1;
        self.block(&format!("for (int {name} = 0; {name} < {times}; ++{name})"));
        self.loops -= 1;
        self.ints.retain(|int| *int != name);
    }

    /// An array that is written and read, at places that are known or, rarely, decided.
    fn array(&mut self) {
        let (name, read) = (self.out.name("w"), self.out.name("v"));
        self.out.line(&format!("float {name}[3];"));
        for at in 0..2 {
            let value = self.float(1);
            self.out.line(&format!("{name}[{at}] = {value};"));
        }
        let index = match self.choices.one_in(5) {
            true => self.int(1),
            false => self.choices.below(3).to_string(),
        };
        self.out.line(&format!("float {read} = {name}[{index}];"));
        self.floats.push(read);
    }

    fn float(&mut self, depth: u32) -> String {
        if depth == 0 || self.budget == 0 {
            return self.atom();
        }
        self.budget -= 1;
        let calls = usize::from(self.has_function);
        match self.choices.weighted(&[3, 8, 8, 4, 1 + calls, 2]) {
            0 => self.atom(),
            1 => self.filled(CONTINUOUS, depth),
            2 => self.filled(DECIDING, depth),
            3 => {
                let condition = self.condition(depth - 1);
                let (yes, no) = (self.float(depth - 1), self.float(depth - 1));
                format!("({condition} ? {yes} : {no})")
            }
            4 if self.has_function => {
                let (a, b) = (self.float(depth - 1), self.float(depth - 1));
                format!("f({a}, {b})")
            }
            4 if self.is_wild => self.filled(WILD, depth),
            4 => self.filled(CONTINUOUS, depth),
            _ => format!("(float)({})", self.int(depth - 1)),
        }
    }

    /// One of these, with floats in the place of its letters.
    fn filled(&mut self, templates: &[&str], depth: u32) -> String {
        let template = *self.choices.pick(templates);
        let operands = [self.float(depth - 1), self.float(depth - 1)];
        let mut text = String::new();
        for letter in template.chars() {
            match letter {
                'A' => text.push_str(&operands[0]),
                'B' => text.push_str(&operands[1]),
                letter => text.push(letter),
            }
        }
        text
    }

    fn atom(&mut self) -> String {
        match self.choices.weighted(&[4, 6, 1]) {
            0 => (*self.choices.pick(&GLOBALS)).to_owned(),
            1 if !self.floats.is_empty() => self.choices.pick(&self.floats).clone(),
            1 => (*self.choices.pick(&GLOBALS[..2])).to_owned(),
            _ => {
                let tenths = self.choices.between(-15, 15);
                format!("({:.1})", 0.1 * tenths as f64)
            }
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        match self.choices.weighted(&[6, 2, 3, 1, 1]) {
            1 if !self.bools.is_empty() => self.choices.pick(&self.bools).clone(),
            2 if depth > 0 => {
                let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
                let op = *self.choices.pick(&["&&", "||", "!="]);
                format!("({a} {op} {b})")
            }
            3 if depth > 0 => format!("!{}", self.condition(depth - 1)),
            4 => {
                let (a, b) = (self.int(depth), self.choices.between(0, 2));
                let op = *self.choices.pick(&["==", "<", ">="]);
                format!("({a} {op} {b})")
            }
            _ => {
                let op = *self.choices.pick(&["<", ">", "<=", ">="]);
                let (a, b) = (self.float(depth), self.float(depth.min(1)));
                format!("({a} {op} {b})")
            }
        }
    }

    fn int(&mut self, depth: u32) -> String {
        match self.choices.weighted(&[4, 3, 2]) {
            1 if !self.ints.is_empty() => self.choices.pick(&self.ints).clone(),
            2 if depth > 0 => {
                let (a, b) = (self.int(depth - 1), self.int(depth - 1));
                let templates = ["(A + B)", "(A * B)", "(A - 2)", "(A % 3)", "(A & 3)"];
                let template = *self.choices.pick(&templates);
                template.replace('A', &a).replace('B', &b)
            }
            _ => {
                let of = self.float(depth.min(1));
                let rounded = *self.choices.pick(&["floor", "", "round"]);
                format!("(int){rounded}(2.0 * {of})")
            }
        }
    }
}
