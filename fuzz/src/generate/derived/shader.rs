//! The shader of a program: it takes a tangent and a gradient of one function.
//!
//! Its outputs are named for the oracles: `v` values of the function, `w` their weights, `e` their
//! tangents, each with the number of the value; `d` directions of parameters and `g` gradients,
//! with the number of the parameter and of the global that moves it.

use super::function::{Function, Mode};
use super::types::Ty;
use super::{DerivedKind, Writer};

/// The floats of the globals, in order: how they are read, and their number among all scalars.
pub(super) const INPUTS: [&str; 11] = [
    "global_value<ga>",
    "global_value<gb>",
    "global_value<guv>.x",
    "global_value<guv>.y",
    "global_value<gpos>.x",
    "global_value<gpos>.y",
    "global_value<gpos>.z",
    "global_value<gcol>.x",
    "global_value<gcol>.y",
    "global_value<gcol>.z",
    "global_value<gcol>.w",
];

/// A float of a parameter: the global that moves it, if one does.
#[derive(Clone, Debug)]
pub(super) struct Moved {
    pub(super) text: String,
    pub(super) global: Option<usize>,
}

impl Writer<'_> {
    /// A value for each float of the parameters: globals, then numbers.
    pub(super) fn moved(&mut self, count: usize) -> Vec<Moved> {
        (0..count)
            .map(|i| match INPUTS.get(i) {
                Some(text) => Moved {
                    text: (*text).to_owned(),
                    global: Some(i),
                },
                None => Moved {
                    text: format!("{:.1}", 0.3 + 0.1 * (i % 7) as f64),
                    global: None,
                },
            })
            .collect()
    }

    /// The number of scalars of the parameters that are passed in.
    pub(super) fn input_count(&self, function: &Function) -> usize {
        let read = function.params.iter().filter(|p| p.mode != Mode::Out);
        read.flat_map(|p| self.leaves(&p.ty))
            .filter(|leaf| leaf.is_float)
            .count()
    }

    /// A variable for each parameter; floats that are passed in have these values.
    pub(super) fn built(&mut self, function: &Function, prefix: &str, values: &[String]) {
        let mut values = values.iter();
        for (i, param) in function.params.iter().enumerate() {
            let name = format!("{prefix}{i}");
            let declared = self.declared(&param.ty, &name);
            self.out.line(&format!("{declared};"));
            if param.mode == Mode::Out {
                continue;
            }
            for (k, leaf) in self.leaves(&param.ty).into_iter().enumerate() {
                let value = match (leaf.is_float, function.is_recursive) {
                    (true, _) => values.next().expect("a value for each float").clone(),
                    (false, true) => "2".to_owned(),
                    (false, false) => format!("(global_value<gn> + {k})"),
                };
                self.out.line(&format!("{name}{} = {value};", leaf.path));
            }
        }
    }

    /// A differential of a type, of these numbers.
    fn differential(&mut self, ty: &Ty, name: &str, numbers: &mut impl Iterator<Item = String>) {
        let declared = self.declared_differential(ty, name);
        self.out.line(&format!("{declared};"));
        for leaf in self.active_leaves(ty) {
            let number = numbers.next().expect("a number for each float");
            self.out.line(&format!("{name}{} = {number};", leaf.path));
        }
    }

    /// What a function gives that has a differential: the result, then parameters that it writes.
    pub(super) fn results(&self, function: &Function) -> Vec<(Option<usize>, Ty)> {
        let mut results: Vec<(Option<usize>, Ty)> = Vec::new();
        results.extend(function.result.clone().map(|ty| (None, ty)));
        for (i, param) in function.params.iter().enumerate() {
            if param.mode != Mode::In && param.is_active() {
                results.push((Some(i), param.ty.clone()));
            }
        }
        results
    }

    pub(super) fn shader(&mut self, function: &Function) {
        let moved = {
            let count = self.input_count(function);
            self.moved(count)
        };
        let values: Vec<String> = moved.iter().map(|m| m.text.clone()).collect();
        let body = std::mem::take(&mut self.out.text);
        self.out.indent = 1;
        let is_shadow = self.kind == DerivedKind::Shadow;
        let mut outputs = Vec::new();
        self.value(function, &values, &mut outputs);
        self.tangent(function, &moved, is_shadow, &mut outputs);
        if !is_shadow {
            self.gradient(function, &moved, &mut outputs);
        }
        let inside = std::mem::replace(&mut self.out.text, body);
        self.out.indent = 0;
        let outputs: Vec<String> = outputs.iter().map(|o| format!("out float {o}")).collect();
        self.out
            .line(&format!("shader main({}) {{", outputs.join(", ")));
        self.out.text.push_str(&inside);
        self.out.line("}");
    }

    /// The function itself.
    fn value(&mut self, function: &Function, values: &[String], outputs: &mut Vec<String>) {
        self.built(function, "a", values);
        let args: Vec<String> = (0..function.params.len())
            .map(|i| format!("a{i}"))
            .collect();
        let call = format!("{}({})", function.name, args.join(", "));
        self.called(function.result.as_ref(), "a_", &call);
        for (from, ty) in self.results(function) {
            let name = from.map_or("a_".to_owned(), |i| format!("a{i}"));
            for leaf in self.active_leaves(&ty) {
                let output = format!("v{}", outputs.len());
                self.out.line(&format!("{output} = {name}{};", leaf.path));
                outputs.push(output);
            }
        }
    }

    pub(super) fn called(&mut self, result: Option<&Ty>, name: &str, call: &str) {
        match result {
            None => self.out.line(&format!("{call};")),
            Some(ty) => {
                let declared = self.declared(ty, name);
                self.out.line(&format!("{declared} = {call};"));
            }
        }
    }

    /// The forward derivative: along the screen, or along numbers.
    fn tangent(
        &mut self,
        function: &Function,
        moved: &[Moved],
        along_screen: bool,
        outputs: &mut Vec<String>,
    ) {
        let values: Vec<String> = moved.iter().map(|m| m.text.clone()).collect();
        self.built(function, "b", &values);
        let mut args = Vec::new();
        let mut at = 0;
        for (i, param) in function.params.iter().enumerate() {
            let mut directions = Vec::new();
            if param.mode != Mode::Out {
                for leaf in self.leaves(&param.ty) {
                    if leaf.is_active && param.is_active() {
                        directions.push(at);
                    }
                    at += usize::from(leaf.is_float);
                }
            }
            if !param.is_active() {
                args.push(format!("b{i}"));
                continue;
            }
            if param.mode == Mode::Out {
                self.out.line(&format!("var f{i} = diffPair(b{i});"));
            } else {
                let mut numbers = Vec::new();
                for &d in &directions {
                    let number = match along_screen {
                        true => format!("ddx({})", moved[d].text),
                        false => format!("{:.2}", 0.35 + 0.23 * ((d * 3) % 5) as f64),
                    };
                    if !along_screen {
                        let output = format!("d{d}");
                        self.out.line(&format!("{output} = {number};"));
                        outputs.push(output);
                    }
                    numbers.push(number);
                }
                let name = format!("t{i}");
                self.differential(&param.ty, &name, &mut numbers.into_iter());
                self.out
                    .line(&format!("var f{i} = diffPair(b{i}, {name});"));
            }
            args.push(format!("f{i}"));
        }
        let call = format!("fwd_diff({})({})", function.name, args.join(", "));
        match function.result {
            Some(_) => self.out.line(&format!("var f_ = {call};")),
            None => self.out.line(&format!("{call};")),
        }
        let mut number = 0;
        for (from, ty) in self.results(function) {
            let name = from.map_or("f_".to_owned(), |i| format!("f{i}"));
            for leaf in self.active_leaves(&ty) {
                let output = format!("e{number}");
                self.out.line(&format!("{output} = {name}.d{};", leaf.path));
                outputs.push(output);
                number += 1;
            }
        }
    }

    /// The backward derivative.
    fn gradient(&mut self, function: &Function, moved: &[Moved], outputs: &mut Vec<String>) {
        let values: Vec<String> = moved.iter().map(|m| m.text.clone()).collect();
        self.built(function, "c", &values);
        let mut number = 0;
        let mut weights = vec![Vec::new(); function.params.len() + 1];
        let last = function.params.len();
        for (from, ty) in self.results(function) {
            for _ in self.active_leaves(&ty) {
                let weight = match self.choices.one_in(3) {
                    true => format!("(0.5 + 0.25 * {})", INPUTS[7 + number % 4]),
                    false => format!("{:.2}", 1.0 - 0.37 * ((number * 2) % 5) as f64),
                };
                let output = format!("w{number}");
                self.out.line(&format!("{output} = {weight};"));
                outputs.push(output);
                weights[from.unwrap_or(last)].push(weight);
                number += 1;
            }
        }
        let mut args = Vec::new();
        for (i, param) in function.params.iter().enumerate() {
            let mut weights = weights[i].clone().into_iter();
            args.push(match (param.is_active(), param.mode) {
                (false, _) => format!("c{i}"),
                (true, Mode::In) => {
                    self.out.line(&format!("var h{i} = diffPair(c{i});"));
                    format!("h{i}")
                }
                (true, mode) => {
                    self.differential(&param.ty, &format!("u{i}"), &mut weights);
                    if mode == Mode::InOut {
                        self.out.line(&format!("var h{i} = diffPair(c{i}, u{i});"));
                        format!("h{i}")
                    } else {
                        format!("u{i}")
                    }
                }
            });
        }
        if let Some(ty) = &function.result {
            let mut weights = weights[last].clone().into_iter();
            self.differential(ty, "u_", &mut weights);
            args.push("u_".to_owned());
        }
        self.out.line(&format!(
            "bwd_diff({})({});",
            function.name,
            args.join(", ")
        ));
        let mut at = 0;
        for (i, param) in function.params.iter().enumerate() {
            if param.mode == Mode::Out {
                continue;
            }
            for leaf in self.leaves(&param.ty) {
                if leaf.is_active && param.is_active() {
                    let output = match moved[at].global {
                        Some(global) => format!("g{at}_{global}"),
                        None => format!("g{at}"),
                    };
                    self.out.line(&format!("{output} = h{i}.d{};", leaf.path));
                    outputs.push(output);
                }
                at += usize::from(leaf.is_float);
            }
        }
    }
}
