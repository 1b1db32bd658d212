//! Items at the top of sources: textures, buffers, resources, constants, functions.

use super::scope::{Function, Mode, Parameter, Ty};
use super::{Generator, Place};
use crate::feature::Feature;

/// The most sources that a program includes.
const MAX_INCLUDED: usize = 3;

impl Generator<'_> {
    /// All sources. The shader is in the last one, which includes the others.
    pub(super) fn file(&mut self) {
        self.textures = self.choices.weighted(&[2, 6, 2]);
        for i in 0..self.textures {
            self.line(&format!("texture2d g{i};"));
        }
        if !self.profile.recorded {
            for _ in 0..self.choices.weighted(&[3, 3, 3, 1]) {
                self.buffer_item();
            }
        }
        self.resources = self.choices.weighted(&[5, 2, 2]);
        for i in 0..self.resources {
            self.line(&format!("shader_resource r{i};"));
        }
        for _ in 0..self.choices.weighted(&[3, 3, 5]) {
            self.structure_item();
            self.maybe_part();
        }
        for _ in 0..self.choices.weighted(&[4, 3, 2]) {
            self.constant_item();
        }
        if !self.profile.recorded {
            for _ in 0..self.choices.weighted(&[4, 3, 2]) {
                self.ruled_item();
            }
        }
        for _ in 0..self.choices.weighted(&[1, 3, 4, 3, 2]) {
            self.function_item();
            self.maybe_part();
        }
        self.shader();
    }

    fn maybe_part(&mut self) {
        if self.included.len() < MAX_INCLUDED && self.choices.one_in(12) {
            self.part();
        }
    }

    /// A constant or a constant array that the whole file sees.
    fn constant_item(&mut self) {
        let name = self.name("k");
        if self.choices.one_in(2) {
            let n = self.choices.between(2, 6) as usize;
            let values: Vec<String> = (0..n)
                .map(|_| format!("{:?}", self.choices.between(-16, 16) as f64 / 8.0))
                .collect();
            self.line(&format!(
                "const float {name}[{n}] = {{ {} }};",
                values.join(", ")
            ));
            let ty = Ty::Array(Box::new(Ty::Float), n);
            self.scope.declare(&name, &ty, false);
        } else {
            let value = self.choices.between(-16, 16) as f64 / 8.0;
            self.line(&format!("const float {name} = {value:?};"));
            self.scope.declare(&name, &Ty::Float, false);
        }
    }

    /// A type that parameters and variables may have.
    pub(super) fn variable_type(&mut self) -> Ty {
        match self.choices.weighted(&[10, 7, 4, 2, 2, 5, 1, 2]) {
            1 => Ty::Vector(self.choices.between(2, 4) as usize),
            2 => Ty::Int,
            3 => Ty::Uint,
            4 => Ty::Bool,
            5 if !self.structs.is_empty() => Ty::Struct(self.choices.below(self.structs.len())),
            6 => Ty::Closure,
            7 => Ty::Matrix(self.choices.between(2, 4) as usize),
            _ => Ty::Float,
        }
    }

    fn parameter(&mut self) -> Parameter {
        let name = self.name("p");
        if self.choices.one_in(9) {
            return Parameter {
                name,
                ty: self.array_type(),
                mode: *self.choices.pick(&[Mode::In, Mode::InOut, Mode::Out]),
                default: false,
            };
        }
        if self.resources > 0 && self.choices.one_in(9) {
            return Parameter {
                name,
                ty: Ty::Resource,
                mode: Mode::In,
                default: false,
            };
        }
        let mode = match self.choices.weighted(&[6, 2, 3]) {
            1 => Mode::Out,
            2 => Mode::InOut,
            _ => Mode::In,
        };
        Parameter {
            name,
            ty: self.variable_type(),
            mode,
            default: false,
        }
    }

    fn function_item(&mut self) {
        let result = match self.choices.weighted(&[2, 10, 4, 2, 1, 2, 1, 2, 1, 1]) {
            0 => None,
            2 => Some(Ty::Vector(self.choices.between(2, 4) as usize)),
            3 => Some(Ty::Int),
            4 => Some(Ty::Bool),
            5 if !self.structs.is_empty() => {
                Some(Ty::Struct(self.choices.below(self.structs.len())))
            }
            6 => Some(Ty::Uint),
            7 => Some(Ty::Matrix(self.choices.between(2, 4) as usize)),
            8 => Some(self.array_type()),
            9 => Some(Ty::Closure),
            _ => Some(Ty::Float),
        };
        let mut parameters: Vec<Parameter> = Vec::new();
        for _ in 0..self.choices.between(1, 4) {
            parameters.push(self.parameter());
        }
        if result.is_none() && parameters.iter().all(|p| p.mode == Mode::In) {
            parameters[0].mode = Mode::InOut;
        }
        let is_value = result.as_ref().is_some_and(|ty| !ty.is_array());
        let recursive = is_value && self.choices.one_in(3);
        if recursive {
            parameters.push(Parameter {
                name: "levels".into(),
                ty: Ty::Int,
                mode: Mode::In,
                default: false,
            });
        } else if self.choices.one_in(4) {
            let able = |p: &Parameter| p.mode == Mode::In && matches!(p.ty, Ty::Float | Ty::Int);
            for p in parameters.iter_mut().rev() {
                if !able(p) {
                    break;
                }
                p.default = true;
            }
        }
        let name = self.function_name(&parameters);
        let mut function = Function {
            name,
            result,
            parameters,
            recursive,
            has_rule: false,
            cost: 1,
        };
        self.body(&function);
        // Up to three levels below the first, one call of the next in each.
        function.cost = self.place.cost * if recursive { 4 } else { 1 };
        self.functions.push(function);
    }

    /// A new name, or that of a function with another number of parameters: an overload.
    fn function_name(&mut self, parameters: &[Parameter]) -> String {
        let plain = |ps: &[Parameter]| ps.iter().all(|p| !p.default);
        let others: Vec<&Function> = self
            .functions
            .iter()
            .filter(|f| !f.has_rule)
            .filter(|f| {
                self.functions
                    .iter()
                    .filter(|g| g.name == f.name)
                    .all(|g| g.parameters.len() != parameters.len() && plain(&g.parameters))
            })
            .collect();
        if !others.is_empty() && plain(parameters) && self.choices.one_in(3) {
            return self.choices.pick(&others).name.clone();
        }
        self.name("f")
    }

    fn body(&mut self, function: &Function) {
        let mark = self.scope.enter();
        let mut parameters = Vec::new();
        for p in &function.parameters {
            let constant = p.mode == Mode::In && p.name != "levels" && self.choices.one_in(6);
            let mode = match p.mode {
                Mode::In if constant => "in const ",
                Mode::In => "",
                Mode::Out => "out ",
                Mode::InOut => "inout ",
            };
            let default = match (p.default, &p.ty) {
                (true, Ty::Int) => " = 3",
                (true, _) => " = 0.625",
                (false, _) => "",
            };
            parameters.push(format!(
                "{mode}{} {}{}{default}",
                p.ty.text(&self.structs),
                p.name,
                p.ty.suffix()
            ));
            let writable = p.name != "levels" && !constant;
            self.scope.declare(&p.name, &p.ty, writable);
        }
        let result = match &function.result {
            Some(ty) => format!("{}{}", ty.text(&self.structs), ty.suffix()),
            None => "void".into(),
        };
        self.begin(&function.name);
        let head = format!("{result} {}({})", function.name, parameters.join(", "));
        if !function.parameters.iter().any(|p| p.default) && self.choices.one_in(5) {
            self.line(&format!("{head};"));
        }
        self.line(&format!("{head} {{"));
        self.indent += 1;
        self.place = Place {
            result: function.result.clone(),
            own: function.recursive.then(|| function.clone()),
            times: 1,
            cost: 1,
            ..Place::default()
        };
        for p in &function.parameters {
            if p.mode == Mode::Out && !p.ty.is_array() && self.choices.percent(70) {
                let value = self.kept(&p.ty, 2);
                self.line(&format!("{} = {value};", p.name));
            }
        }
        if let Some(ty) = function.result.as_ref().filter(|ty| ty.is_array()) {
            self.declaration(ty, 2);
            self.note(Feature::Whole);
        }
        for _ in 0..self.choices.between(0, 4) {
            self.statement();
        }
        if function.result.is_some() {
            let own = self.place.own.clone().filter(|_| self.choices.percent(60));
            let leave = match own.and_then(|own| self.call_itself(&own, 2)) {
                Some(call) => format!("return {call};"),
                None => self.returned(3),
            };
            self.line(&leave);
        }
        self.indent -= 1;
        self.line("}");
        self.scope.leave(mark);
    }
}
