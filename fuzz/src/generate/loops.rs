//! Loops of every form. Their number of iterations depends on the point, mostly.

use super::Generator;
use super::range::ValueRange;
use super::scope::Ty;
use super::statement::MAX_DEPTH;

/// The greatest depth of nested loops.
pub(super) const MAX_LOOPS: u32 = 2;

/// About how often a loop turns.
const TURNS: u64 = 4;

/// The source around a loop's statements.
struct Loop {
    /// Lines before them.
    head: Vec<String>,
    /// The line after them.
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
        } = match self.wild(80) {
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
        let turns = self.iterations();
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
                let end = self.fit(end, &Ty::Float, ValueRange::new(0.5, 1.5)).text;
                let head = format!("for (float {i} = 0.0; {i} < {end}; {i} += 0.25) {{");
                return Loop::of([head], "}").counting(i, Ty::Float);
            }
        };
        made.counting(i, Ty::Int)
    }

    /// A loop's number of iterations: a constant, or an expression that depends on the point.
    pub(super) fn iterations(&mut self) -> String {
        match self.choices.below(4) {
            0 => self.choices.between(1, 6).to_string(),
            1 => {
                let n = self.expression(&Ty::Int, 2);
                self.fit(n, &Ty::Int, ValueRange::new(1.0, 4.0)).text
            }
            _ => {
                let x = self.expression(&Ty::Float, 2);
                let x = self.fit(x, &Ty::Float, ValueRange::new(0.5, 6.5)).text;
                format!("((int){x})")
            }
        }
    }
}
