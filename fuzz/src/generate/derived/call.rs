//! Calls, and derivatives within differentiable functions.

use super::Writer;
use super::function::{Function, Mode};
use super::types::Ty;

impl Writer<'_> {
    /// A call of a function that gives a float, or nothing if there is none.
    pub(super) fn call(&mut self, depth: u32) -> Option<String> {
        let is_pure = |f: &&Function| f.params.iter().all(|p| p.mode == Mode::In);
        let gives = |f: &&Function| f.result == Some(Ty::Float);
        let found: Vec<Function> = self.functions.iter().filter(gives).cloned().collect();
        let found: Vec<Function> = found.iter().filter(is_pure).cloned().collect();
        if found.is_empty() {
            return None;
        }
        let function = self.choices.pick(&found).clone();
        let args = self.arguments(&function, depth);
        Some(format!("{}({})", function.name, args.join(", ")))
    }

    /// A statement that calls a function of any signature.
    pub(super) fn call_statement(&mut self) {
        if self.functions.is_empty() {
            return self.assign();
        }
        let functions = self.functions.clone();
        let function = self.choices.pick(&functions).clone();
        let args = self.arguments(&function, 1);
        let call = format!("{}({})", function.name, args.join(", "));
        match &function.result {
            None => self.out.line(&format!("{call};")),
            Some(ty) => {
                let name = self.out.name("v");
                let declared = self.declared(ty, &name);
                self.out.line(&format!("{declared} = {call};"));
                self.declare(&name, ty, true);
            }
        }
    }

    fn arguments(&mut self, function: &Function, depth: u32) -> Vec<String> {
        let count = function.params.len();
        let params = function.params.iter().enumerate();
        params
            .map(|(i, param)| match param.mode {
                _ if function.is_recursive && i + 1 == count => {
                    format!("({} & 3)", self.int(1))
                }
                Mode::In => self.argument(&param.ty, depth),
                _ => self.place(&param.ty),
            })
            .collect()
    }

    /// An argument that is read: arrays and structs are variables.
    pub(super) fn argument(&mut self, ty: &Ty, depth: u32) -> String {
        match ty {
            Ty::Array(_) | Ty::Struct(_) => self.place(ty),
            _ => self.expression(ty, depth),
        }
    }

    /// A variable that may be written, of exactly that type.
    pub(super) fn place(&mut self, ty: &Ty) -> String {
        let fits = |v: &&super::Variable| v.ty == *ty && v.is_writable;
        let found: Vec<String> = (self.scope.iter().filter(fits))
            .map(|v| v.name.clone())
            .collect();
        if !found.is_empty() && !self.choices.one_in(8) {
            return self.choices.pick(&found).clone();
        }
        let name = self.out.name("v");
        self.variable(&name, ty, 1);
        name
    }

    /// A derivative of a function within a differentiable one: a float.
    pub(super) fn inner_derivative(&mut self, depth: u32) -> Option<String> {
        let is_simple = |f: &&Function| {
            let floats = f.params.iter().all(|p| p.ty == Ty::Float && p.is_active());
            let plain = f.params.iter().all(|p| p.mode == Mode::In);
            floats && plain && f.result == Some(Ty::Float) && !f.is_recursive
        };
        let found: Vec<Function> = self.functions.iter().filter(is_simple).cloned().collect();
        if found.is_empty() {
            return None;
        }
        let function = self.choices.pick(&found).clone();
        let mut args = Vec::new();
        for _ in &function.params {
            args.push(format!(
                "diffPair({}, {})",
                self.float(depth),
                self.float(0)
            ));
        }
        if self.choices.one_in(2) {
            let args = args.join(", ");
            return Some(format!("fwd_diff({})({args}).d", function.name));
        }
        let mut names = Vec::new();
        for arg in args {
            let name = self.out.name("p");
            self.out.line(&format!("var {name} = {arg};"));
            names.push(name);
        }
        let seed = self.float(0);
        let all = names.join(", ");
        self.out
            .line(&format!("bwd_diff({})({all}, {seed});", function.name));
        Some(format!("{}.d", self.choices.pick(&names)))
    }
}
