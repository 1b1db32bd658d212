//! Functions with a forward derivative of their own, which makes shadows where these are demanded.
//!
//! It is right by construction: the partials of a closed form, the derivative of what a search
//! converges to, or the rule of a function that is called. So shadows by rules are those of bodies,
//! within rounding.

use super::Generator;
use super::closed_form::ClosedForm;
use super::expression::Expr;
use super::fit::kept_range;
use super::scope::{Function, Mode, Parameter, Ty};
use crate::feature::Feature;

/// A function of two floats with a rule, both of which others may call.
#[derive(Clone, Debug)]
pub(super) struct RuledPair {
    function: String,
    rule: String,
}

/// A function and its rule.
struct Ruled {
    result: Ty,
    parameters: Vec<Parameter>,
    /// The statements of the function.
    body: Vec<String>,
    /// Those of the rule: of a parameter `x` it has `x.p` and `x.d`.
    rule: Vec<String>,
    /// About how many steps a call costs.
    cost: u64,
}

fn parameter(name: &str, ty: Ty, mode: Mode) -> Parameter {
    Parameter {
        name: name.to_owned(),
        ty,
        mode,
        default: false,
    }
}

impl Generator<'_> {
    /// A function with a rule.
    pub(super) fn ruled_item(&mut self) {
        let (function, rule) = (self.name("c"), self.name("d"));
        let ruled = match self.choices.weighted(&[5, 2, 3, 3, 3]) {
            1 => self.search(&function),
            2 => self.several_results(),
            3 => self.of_vectors(&function),
            4 if !self.ruled.is_empty() => self.chain(),
            _ => self.of_floats(&function),
        };
        self.write_ruled(&function, &rule, &ruled);
        let is_float = |p: &Parameter| p.ty == Ty::Float;
        if ruled.parameters.len() == 2 && ruled.parameters.iter().all(is_float) {
            self.ruled.push(RuledPair { function, rule });
        }
    }

    fn write_ruled(&mut self, name: &str, rule: &str, ruled: &Ruled) {
        let result = ruled.result.text(&self.structs);
        let (mut plain, mut pairs) = (Vec::new(), Vec::new());
        for p in &ruled.parameters {
            let mode = match p.mode {
                Mode::In => "",
                Mode::Out => "out ",
                Mode::InOut => "inout ",
            };
            let ty = p.ty.text(&self.structs);
            plain.push(format!("{mode}{ty} {}", p.name));
            pairs.push(match p.ty {
                Ty::Int => format!("int {}", p.name),
                _ => format!("{mode}DifferentialPair<{ty}> {}", p.name),
            });
        }
        let function = format!("{result} {name}({})", plain.join(", "));
        let derivative = format!("DifferentialPair<{result}> {rule}({})", pairs.join(", "));
        let is_before = self.choices.one_in(2);
        if is_before {
            self.write_function(rule, &derivative, &ruled.rule);
            self.line(&format!("[ForwardDerivative({rule})]"));
        }
        self.write_function(name, &function, &ruled.body);
        self.note(Feature::Rule);
        if !is_before {
            self.line(&format!("[ForwardDerivativeOf({name})]"));
            self.write_function(rule, &derivative, &ruled.rule);
        }
        self.functions.push(Function {
            name: name.to_owned(),
            result: Some(ruled.result.clone()),
            parameters: ruled.parameters.clone(),
            recursive: false,
            has_rule: true,
            cost: ruled.cost,
        });
    }

    fn write_function(&mut self, name: &str, head: &str, statements: &[String]) {
        self.begin(name);
        self.line(&format!("{head} {{"));
        for statement in statements {
            self.line(&format!("    {statement}"));
        }
        self.line("}");
    }

    /// The value in a rule: computed again, or by a call of the function with what it was called
    /// with.
    fn rule_value(&mut self, call: String, value: String) -> String {
        match self.choices.one_in(3) {
            true => call,
            false => value,
        }
    }

    /// A closed form of two floats, times something that has no derivative.
    fn of_floats(&mut self, name: &str) -> Ruled {
        let form = ClosedForm::draw(&mut self.choices);
        let mut parameters = ["x", "y"]
            .map(|x| parameter(x, Ty::Float, Mode::In))
            .to_vec();
        let mut call = format!("{name}(x.p, y.p)");
        let floats = self.buffers.iter().filter(|buffer| buffer.is_of_floats());
        let buffer = floats.map(|buffer| buffer.name().to_owned()).next();
        let factor = match (self.choices.below(8), buffer) {
            (6, Some(buffer)) => {
                self.note(Feature::Buffer);
                format!(" * {buffer}[1]")
            }
            (5 | 7, _) => {
                parameters.push(parameter("n", Ty::Int, Mode::In));
                call = format!("{name}(x.p, y.p, n)");
                " * (float)(n & 3)".to_owned()
            }
            _ => String::new(),
        };
        let value = |x: &str, y: &str| format!("({}){factor}", form.value(x, y));
        let of_rule = self.rule_value(call, value("x.p", "y.p"));
        let tangent = form.tangent(["x.p", "x.d"], ["y.p", "y.d"]);
        Ruled {
            result: Ty::Float,
            parameters,
            body: vec![format!("return {};", value("x", "y"))],
            rule: vec![format!("return diffPair({of_rule}, ({tangent}){factor});")],
            cost: 2,
        }
    }

    /// Newton's iteration for a root, whose derivative is the implicit one.
    fn search(&mut self, name: &str) -> Ruled {
        Ruled {
            result: Ty::Float,
            parameters: vec![parameter("x", Ty::Float, Mode::In)],
            body: vec![
                "float t = 1.0;".to_owned(),
                "for (int i = 0; i < 32; i++) t = 0.5 * (t + (1.5 + x * x) / t);".to_owned(),
                "return t;".to_owned(),
            ],
            rule: vec![
                format!("float t = {name}(x.p);"),
                "return diffPair(t, x.p * x.d / t);".to_owned(),
            ],
            cost: 36,
        }
    }

    /// Closed forms of two floats, given by a result and by arguments.
    fn several_results(&mut self) -> Ruled {
        let forms = [(); 3].map(|()| ClosedForm::draw(&mut self.choices));
        let [first, second, third] = &forms;
        let tangent = |form: &ClosedForm| form.tangent(["x.p", "x.d"], ["z.p", "z.d"]);
        let values = |x: &str, z: &str| forms.each_ref().map(|form| form.value(x, z));
        let [a, b, c] = values("x", "z");
        let [of_a, of_b, of_c] = values("x.p", "z.p");
        Ruled {
            result: Ty::Float,
            parameters: vec![
                parameter("x", Ty::Float, Mode::In),
                parameter("s", Ty::Float, Mode::Out),
                parameter("z", Ty::Float, Mode::InOut),
            ],
            body: vec![
                format!("float a = {a};"),
                format!("s = {b};"),
                format!("z = {c};"),
                "return a;".to_owned(),
            ],
            rule: vec![
                format!("float a = {of_a}, da = {};", tangent(first)),
                format!("float c = {of_c}, dc = {};", tangent(third)),
                format!("s = diffPair({of_b}, {});", tangent(second)),
                "z = diffPair(c, dc);".to_owned(),
                "return diffPair(a, da);".to_owned(),
            ],
            cost: 2,
        }
    }

    /// A closed form of each component and a float.
    fn of_vectors(&mut self, name: &str) -> Ruled {
        let form = ClosedForm::draw(&mut self.choices);
        let n = self.choices.between(2, 4) as usize;
        let each = |of: &dyn Fn(&str) -> String| {
            let parts: Vec<String> = ["x", "y", "z", "w"][..n].iter().map(|c| of(c)).collect();
            format!("float{n}({})", parts.join(", "))
        };
        let value = each(&|c| form.value(&format!("v.{c}"), "k"));
        let again = each(&|c| form.value(&format!("v.p.{c}"), "k.p"));
        let tangent = each(&|c| {
            let (value, direction) = (format!("v.p.{c}"), format!("v.d.{c}"));
            form.tangent([&value, &direction], ["k.p", "k.d"])
        });
        let again = self.rule_value(format!("{name}(v.p, k.p)"), again);
        Ruled {
            result: Ty::Vector(n),
            parameters: vec![
                parameter("v", Ty::Vector(n), Mode::In),
                parameter("k", Ty::Float, Mode::In),
            ],
            body: vec![format!("return {value};")],
            rule: vec![
                format!("float{n} tangent = {tangent};"),
                format!("return diffPair({again}, tangent);"),
            ],
            cost: 2,
        }
    }

    /// A closed form of what another function with a rule gives.
    fn chain(&mut self) -> Ruled {
        let form = ClosedForm::draw(&mut self.choices);
        let inner = self.choices.pick(&self.ruled).clone();
        let tangent = form.tangent(["t.p", "t.d"], ["y.p", "y.d"]);
        Ruled {
            result: Ty::Float,
            parameters: ["x", "y"]
                .map(|x| parameter(x, Ty::Float, Mode::In))
                .to_vec(),
            body: vec![
                format!("float t = {}(x, y);", inner.function),
                format!("return {};", form.value("t", "y")),
            ],
            rule: vec![
                format!("DifferentialPair<float> t = {}(x, y);", inner.rule),
                format!("return diffPair({}, {tangent});", form.value("t.p", "y.p")),
            ],
            cost: 4,
        }
    }

    /// A variable from a function that has a rule, if there is one to be called.
    pub(super) fn ruled_call(&mut self) {
        let functions = self.functions.iter();
        let able: Vec<Function> = functions
            .filter(|f| f.has_rule && self.affords(f) && self.callable(f))
            .cloned()
            .collect();
        if able.is_empty() {
            return;
        }
        let callee = self.choices.pick(&able).clone();
        self.place.cost += callee.cost * self.place.times;
        let arguments = self.arguments(&callee, 3).join(", ");
        let ty = callee.result.clone().unwrap_or(Ty::Float);
        let call = Expr::new(
            format!("{}({arguments})", callee.name),
            kept_range(&ty).widened(1.0),
        );
        let value = self.fit(call, &ty, kept_range(&ty)).text;
        let name = self.name("v");
        self.line(&format!("{} {name} = {value};", ty.text(&self.structs)));
        self.scope.declare(&name, &ty, true);
    }
}
