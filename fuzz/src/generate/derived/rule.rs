//! Functions with custom derivatives that are right.

use super::function::{Function, Mode, Parameter};
use super::types::Ty;
use super::{DerivedKind, Writer};
use crate::generate::closed_form::ClosedForm;

impl Writer<'_> {
    /// A function with a custom derivative, or a substitute.
    pub(super) fn rule(&mut self) {
        // Shadows are by rules alone where these have no arrays, and are no substitutes.
        let is_shadow = self.kind == DerivedKind::Shadow;
        if !is_shadow && self.choices.one_in(4) {
            return self.array_rule();
        }
        let form = ClosedForm::draw(&mut self.choices);
        let (name, rule) = (self.out.name("c"), self.out.name("d"));
        let plain = form.value("x", "y");
        let primal = format!("float {name}(float x, float y) {{ return {plain}; }}");
        let [by_x, by_y] = form.partials("x.p", "y.p");
        let kinds = if is_shadow { 2 } else { 3 };
        let (attribute, derivative) = match self.choices.below(kinds) {
            0 => {
                let pair = "DifferentialPair<float>";
                let of = form.value("x.p", "y.p");
                let body = format!("return diffPair({of}, {by_x} * x.d + {by_y} * y.d);");
                let head = format!("{pair} {rule}({pair} x, {pair} y)");
                ("ForwardDerivative", format!("{head} {{ {body} }}"))
            }
            1 => {
                // Both are computed before they are written.
                let pair = "inout DifferentialPair<float>";
                let body = format!(
                    "float a = {by_x} * w; float b = {by_y} * w; x = diffPair(x.p, a); y = diffPair(y.p, b);"
                );
                let head = format!("void {rule}({pair} x, {pair} y, float w)");
                ("BackwardDerivative", format!("{head} {{ {body} }}"))
            }
            _ => {
                let body = format!("float a = {plain}; return a;");
                let head = format!("float {rule}(float x, float y)");
                ("PrimalSubstitute", format!("{head} {{ {body} }}"))
            }
        };
        let both = attribute == "BackwardDerivative";
        if both {
            // The mode that is left has a rule too, or it would be an error.
            let pair = "DifferentialPair<float>";
            let of = form.value("x.p", "y.p");
            self.out.line("[Differentiable]");
            self.out.line(&format!(
                "{pair} {rule}f({pair} x, {pair} y) {{ return diffPair({of}, {by_x} * x.d + {by_y} * y.d); }}"
            ));
        }
        match self.choices.one_in(2) {
            true => {
                self.out.line("[Differentiable]");
                self.out.line(&derivative);
                if both {
                    self.out.line(&format!("[ForwardDerivative({rule}f)]"));
                }
                self.out.line(&format!("[{attribute}({rule})]"));
                self.out.line(&primal);
            }
            false => {
                if both {
                    self.out.line(&format!("[ForwardDerivative({rule}f)]"));
                }
                self.out.line(&primal);
                self.out.line("[Differentiable]");
                self.out.line(&format!("[{attribute}Of({name})]"));
                self.out.line(&derivative);
            }
        }
        self.functions.push(Function {
            name,
            result: Some(Ty::Float),
            params: ["x", "y"]
                .map(|x| Parameter::of(x.to_owned(), Ty::Float))
                .into(),
            is_recursive: false,
        });
    }

    /// A function with a custom derivative that writes an array.
    fn array_rule(&mut self) {
        let (name, rule) = (self.out.name("c"), self.out.name("d"));
        self.out.line("[Differentiable]");
        let pair = "DifferentialPair";
        if self.choices.one_in(2) {
            self.out.line(&format!(
                "void {rule}(inout {pair}<float[2]> a, {pair}<float> k) {{ float q[2] = a.p; float t[2] = a.d; float v[2] = {{ q[1] * k.p, q[0] }}; float s[2] = {{ t[1] * k.p + q[1] * k.d, t[0] }}; a = diffPair(v, s); }}"
            ));
            self.out.line(&format!("[ForwardDerivative({rule})]"));
        } else {
            self.out.line(&format!(
                "void {rule}f(inout {pair}<float[2]> a, {pair}<float> k) {{ float q[2] = a.p; float t[2] = a.d; float v[2] = {{ q[1] * k.p, q[0] }}; float s[2] = {{ t[1] * k.p + q[1] * k.d, t[0] }}; a = diffPair(v, s); }}"
            ));
            self.out.line("[Differentiable]");
            self.out.line(&format!(
                "void {rule}(inout {pair}<float[2]> a, inout {pair}<float> k) {{ float first = a.d[1]; float second = a.d[0] * k.p; float of = a.d[0] * a.p[1]; a.d[0] = first; a.d[1] = second; k.d = of; }}"
            ));
            self.out.line(&format!("[ForwardDerivative({rule}f)]"));
            self.out.line(&format!("[BackwardDerivative({rule})]"));
        }
        self.out.line(&format!(
            "void {name}(inout float a[2], float k) {{ float b = a[0]; a[0] = a[1] * k; a[1] = b; }}"
        ));
        let mut array = Parameter::of("a".to_owned(), Ty::Array(2));
        array.mode = Mode::InOut;
        self.functions.push(Function {
            name,
            result: None,
            params: vec![array, Parameter::of("k".to_owned(), Ty::Float)],
            is_recursive: false,
        });
    }
}
