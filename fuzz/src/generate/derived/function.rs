//! Functions that say `[Differentiable]`.

use super::types::Ty;
use super::{DerivedKind, Writer};

/// The passing mode of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    In,
    Out,
    InOut,
}

/// A parameter.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) ty: Ty,
    pub(super) mode: Mode,
    /// Whether it says `no_diff`.
    pub(super) is_constant: bool,
}

impl Parameter {
    pub(super) fn of(name: String, ty: Ty) -> Parameter {
        Parameter {
            name,
            ty,
            mode: Mode::In,
            is_constant: false,
        }
    }

    /// Whether it has a differential.
    pub(super) fn is_active(&self) -> bool {
        !self.is_constant && self.ty != Ty::Int
    }
}

/// A function.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) result: Option<Ty>,
    pub(super) params: Vec<Parameter>,
    /// Whether its last parameter counts the calls that are left.
    pub(super) is_recursive: bool,
}

impl Writer<'_> {
    /// A function of any signature.
    pub(super) fn function(&mut self) {
        let name = self.out.name("f");
        let result = match self.choices.weighted(&[10, 3, 2, 2]) {
            1 => Some(Ty::Vector(self.choices.between(2, 4) as usize)),
            2 if !self.structs.is_empty() => {
                Some(Ty::Struct(self.choices.below(self.structs.len())))
            }
            3 => None,
            _ => Some(Ty::Float),
        };
        let params = self.params(result.is_none());
        self.body(Function {
            name,
            result,
            params,
            is_recursive: false,
        });
    }

    /// The function that the shader differentiates.
    pub(super) fn top(&mut self) -> Function {
        self.budget = self.budget.max(20);
        self.function();
        self.functions.last().expect("it was written").clone()
    }

    /// A function that calls itself a few times.
    pub(super) fn recursive(&mut self) {
        let name = self.out.name("r");
        let mut params = self.params(false);
        let left = self.out.name("left");
        params.push(Parameter::of(left, Ty::Int));
        self.body(Function {
            name,
            result: Some(Ty::Float),
            params,
            is_recursive: true,
        });
    }

    fn params(&mut self, has_output: bool) -> Vec<Parameter> {
        let mut params = vec![Parameter::of(self.out.name("x"), Ty::Float)];
        for _ in 0..self.choices.below(3) {
            let ty = self.some_type();
            let mut param = Parameter::of(self.out.name("x"), ty);
            param.mode = match self.choices.weighted(&[6, 1, 2]) {
                1 => Mode::Out,
                2 => Mode::InOut,
                _ => Mode::In,
            };
            let may_be = self.has_constants && param.mode == Mode::In;
            param.is_constant = may_be && self.choices.one_in(4);
            params.push(param);
        }
        if has_output && params.iter().all(|p| p.mode == Mode::In) {
            let ty = self.some_type();
            let mut param = Parameter::of(self.out.name("x"), ty);
            param.mode = self.choices.pick(&[Mode::Out, Mode::InOut]).to_owned();
            params.push(param);
        }
        if self.choices.one_in(2) {
            params.push(Parameter::of(self.out.name("n"), Ty::Int));
        }
        params
    }

    /// The parameters as they are declared.
    pub(super) fn declared_params(&self, params: &[Parameter]) -> String {
        let params = params.iter().map(|param| {
            let constant = if param.is_constant { "no_diff " } else { "" };
            let mode = match param.mode {
                Mode::In => "",
                Mode::Out => "out ",
                Mode::InOut => "inout ",
            };
            format!("{constant}{mode}{}", self.declared(&param.ty, &param.name))
        });
        params.collect::<Vec<_>>().join(", ")
    }

    /// Writes a function with a body.
    fn body(&mut self, function: Function) {
        self.out.line("[Differentiable]");
        match self.choices.weighted(&[10, 1, 1]) {
            1 => self.out.line("[PreferCheckpoint]"),
            2 => self.out.line("[PreferRecompute]"),
            _ => {}
        }
        let result = match &function.result {
            Some(ty) => self.type_name(ty),
            None => "void".to_owned(),
        };
        let params = self.declared_params(&function.params);
        self.out
            .open(&format!("{result} {}({params})", function.name));
        self.own = Some(function.clone());
        self.scope.clear();
        let count = function.params.len() - usize::from(function.is_recursive);
        for param in &function.params[..count] {
            // Only what is written is a place for sure.
            self.declare(&param.name, &param.ty, param.ty != Ty::Int);
        }
        for param in function.params.iter().filter(|p| p.mode == Mode::Out) {
            for leaf in self.leaves(&param.ty) {
                let value = self.scalar(leaf.is_float, 1);
                self.out
                    .line(&format!("{}{} = {value};", param.name, leaf.path));
            }
        }
        if function.is_recursive {
            let left = &function.params[count].name;
            let value = self.float(2);
            self.out.line(&format!("if ({left} <= 0) return {value};"));
        }
        if self.kind == DerivedKind::Engines && self.choices.one_in(4) {
            let value = self.float(1);
            self.out.line(&format!("printf(\"%g\", {value});"));
        }
        let count = self.choices.between(1, 5) as usize;
        self.statements(count, 0);
        self.leave(2);
        self.out.close();
        self.own = None;
        self.functions.push(function);
    }

    /// Returns from the function around.
    pub(super) fn leave(&mut self, depth: u32) {
        let Some(own) = self.own.clone() else {
            return;
        };
        let value = match &own.result {
            None => return self.out.line("return;"),
            Some(ty @ Ty::Struct(_)) => {
                let name = self.out.name("v");
                let declared = self.declared(ty, &name);
                self.out.line(&format!("{declared};"));
                for leaf in self.leaves(ty) {
                    let value = self.scalar(leaf.is_float, depth.saturating_sub(1));
                    self.out.line(&format!("{name}{} = {value};", leaf.path));
                }
                name
            }
            Some(ty) => self.expression(ty, depth),
        };
        match own.is_recursive && self.loops == 0 && self.choices.percent(80) {
            true => {
                let again = self.own_call(&own);
                self.out.line(&format!("return {value} + 0.5 * {again};"));
            }
            false => self.out.line(&format!("return {value};")),
        }
    }

    /// A call of the function around, with one call less left.
    fn own_call(&mut self, own: &Function) -> String {
        let mut args = Vec::new();
        let count = own.params.len() - 1;
        for param in &own.params[..count] {
            args.push(match param.mode {
                Mode::In => self.argument(&param.ty, 1),
                _ => self.place(&param.ty),
            });
        }
        args.push(format!("{} - 1", own.params[count].name));
        format!("{}({})", own.name, args.join(", "))
    }
}
