//! Files, structs, functions, the shader.

use super::expression::home;
use super::scope::{Function, Mode, Parameter, Struct, Ty};
use super::{Generator, Place};

impl Generator<'_> {
    /// The whole file.
    pub(super) fn file(&mut self) {
        self.textures = self.choices.weighted(&[2, 6, 2]);
        for i in 0..self.textures {
            self.line(&format!("texture2d g{i};"));
        }
        for _ in 0..self.choices.weighted(&[3, 4, 3]) {
            self.structure_item();
        }
        for _ in 0..self.choices.weighted(&[4, 3, 2]) {
            self.constant_item();
        }
        for _ in 0..self.choices.weighted(&[1, 3, 4, 3, 2]) {
            self.function_item();
        }
        self.shader();
    }

    /// A struct, and a function that makes one from a float.
    fn structure_item(&mut self) {
        let name = self.name("S");
        let mut members = Vec::new();
        for i in 0..self.choices.between(1, 4) {
            members.push((format!("m{i}"), self.member_type()));
        }
        self.line(&format!("struct {name} {{"));
        for (member, ty) in &members {
            let text = ty.text(&self.structs);
            self.line(&format!("    {text} {member}{};", ty.suffix()));
        }
        self.line("};");
        self.line(&format!("{name} make_{name}(float seed) {{"));
        self.line(&format!("    {name} made;"));
        for (member, ty) in &members {
            let value = match ty {
                Ty::Float => "seed * 0.75".to_owned(),
                Ty::Vector(n) => format!("seed * float{n}(0.5{})", ", 0.25".repeat(n - 1)),
                Ty::Int => "(int)(seed * 4.0)".into(),
                Ty::Bool => "seed > 0.0".into(),
                Ty::Struct(i) => format!("make_{}(seed)", self.structs[*i].name),
                _ => continue,
            };
            self.line(&format!("    made.{member} = {value};"));
        }
        self.line("    return made;");
        self.line("}");
        self.structs.push(Struct { name, members });
    }

    fn member_type(&mut self) -> Ty {
        match self.choices.weighted(&[8, 5, 2, 1, 3, 2]) {
            1 => Ty::Vector(self.choices.between(2, 4) as usize),
            2 => Ty::Int,
            3 => Ty::Bool,
            4 if !self.structs.is_empty() => Ty::Struct(self.choices.below(self.structs.len())),
            5 => Ty::Array(Box::new(Ty::Float), self.choices.between(2, 5) as usize),
            _ => Ty::Float,
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
        match self.choices.weighted(&[10, 7, 4, 2, 2, 3, 1]) {
            1 => Ty::Vector(self.choices.between(2, 4) as usize),
            2 => Ty::Int,
            3 => Ty::Uint,
            4 => Ty::Bool,
            5 if !self.structs.is_empty() => Ty::Struct(self.choices.below(self.structs.len())),
            6 => Ty::Closure,
            _ => Ty::Float,
        }
    }

    /// The type of a local array.
    pub(super) fn array_type(&mut self) -> Ty {
        let element = match self.choices.weighted(&[6, 2, 2, 2]) {
            1 => Ty::Vector(3),
            2 => Ty::Int,
            3 if !self.structs.is_empty() => Ty::Struct(self.choices.below(self.structs.len())),
            _ => Ty::Float,
        };
        Ty::Array(Box::new(element), self.choices.between(2, 8) as usize)
    }

    fn parameter(&mut self) -> Parameter {
        let name = self.name("p");
        if self.choices.one_in(9) {
            let n = self.choices.between(3, 4) as usize;
            return Parameter {
                name,
                ty: Ty::Array(Box::new(Ty::Float), n),
                mode: *self.choices.pick(&[Mode::In, Mode::InOut, Mode::Out]),
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
        let result = match self.choices.weighted(&[2, 10, 4, 2, 1, 2, 1]) {
            0 => None,
            2 => Some(Ty::Vector(self.choices.between(2, 4) as usize)),
            3 => Some(Ty::Int),
            4 => Some(Ty::Bool),
            5 if !self.structs.is_empty() => {
                Some(Ty::Struct(self.choices.below(self.structs.len())))
            }
            6 => Some(Ty::Uint),
            _ => Some(Ty::Float),
        };
        let mut parameters: Vec<Parameter> = Vec::new();
        for _ in 0..self.choices.between(1, 4) {
            parameters.push(self.parameter());
        }
        if result.is_none() && parameters.iter().all(|p| p.mode == Mode::In) {
            parameters[0].mode = Mode::InOut;
        }
        let recursive = result.is_some() && self.choices.one_in(3);
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
            Some(ty) => ty.text(&self.structs),
            None => "void".into(),
        };
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
            if p.mode == Mode::Out && !matches!(p.ty, Ty::Array(..)) && self.choices.percent(70) {
                let value = self.kept(&p.ty, 2);
                self.line(&format!("{} = {value};", p.name));
            }
        }
        for _ in 0..self.choices.between(0, 4) {
            self.statement();
        }
        if let Some(ty) = &function.result {
            let value = self.kept(ty, 3);
            self.line(&format!("return {value};"));
        }
        self.indent -= 1;
        self.line("}");
        self.scope.leave(mark);
    }

    /// The shader. What the mix of a campaign asks for is put into most of them.
    fn shader(&mut self) {
        let mut parameters = Vec::new();
        if self.choices.one_in(3) {
            parameters.push("float gain = 0.75".to_owned());
            self.scope.declare("gain", &Ty::Float, false);
        }
        if self.profile.inputs {
            for i in 0..self.choices.between(1, 4) {
                let (ty, default) = match self.choices.weighted(&[5, 3, 2, 1, 2]) {
                    1 => {
                        let n = self.choices.between(2, 4) as usize;
                        (Ty::Vector(n), format!(" = float{n}(0.375)"))
                    }
                    2 => (Ty::Int, " = 2".to_owned()),
                    3 => (Ty::Bool, " = true".to_owned()),
                    4 => (Ty::Closure, String::new()),
                    _ => (Ty::Float, " = 0.625".to_owned()),
                };
                let name = format!("i{i}");
                parameters.push(format!("{} {name}{default}", ty.text(&self.structs)));
                self.scope.declare(&name, &ty, false);
            }
        }
        let mut outputs = vec![("o0".to_owned(), Ty::Float)];
        for i in 1..=self.choices.between(0, 3) {
            let ty = match self.choices.one_in(8) {
                true => Ty::Closure,
                false => self.variable_type(),
            };
            outputs.push((format!("o{i}"), ty));
        }
        for (name, ty) in &outputs {
            parameters.push(format!("out {} {name}", ty.text(&self.structs)));
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
                _ => self.kept(ty, 3),
            };
            self.line(&format!("{name} = {value};"));
            self.scope.declare(name, ty, true);
        }
        self.indent -= 1;
        self.line("}");
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
        let sum = super::expression::Expr {
            text: format!("({})", terms.join(" + ")),
            range: home(&Ty::Float).widened(2.0),
        };
        self.fit(sum, &Ty::Float, home(&Ty::Float)).text
    }
}
