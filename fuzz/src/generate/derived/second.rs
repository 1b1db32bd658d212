//! The shader of a program about second derivatives.
//!
//! `total` is the sum of what the last function gives, `slope…` its derivative along numbers,
//! forward and backward. Outputs: `u` and `d`, two directions; `h` gradients of the backward slope
//! along `u`, `k` of the forward one, `j` of the backward one along `d`; `p` and `q`, the forward
//! derivatives of both along `d`; `z`, the slope itself.

use super::Writer;
use super::function::Function;

fn along(prefix: &str, i: usize) -> f64 {
    match prefix {
        "u" => 0.45 + 0.19 * ((i * 2) % 5) as f64,
        _ => 1.05 - 0.31 * ((i * 3) % 5) as f64,
    }
}

impl Writer<'_> {
    pub(super) fn second_shader(&mut self, function: &Function) {
        let count = self.input_count(function);
        let moved = self.moved(count);
        let xs: Vec<String> = (0..count).map(|i| format!("float x{i}")).collect();
        let names: Vec<String> = (0..count).map(|i| format!("x{i}")).collect();
        let params = xs.join(", ");
        self.total(function, &params, &names);

        let pairs = |prefix: &str| -> String {
            let pairs = (0..count).map(|i| format!("diffPair(x{i}, {:.2})", along(prefix, i)));
            pairs.collect::<Vec<_>>().join(", ")
        };
        for (name, prefix) in [("slope_u", "u"), ("slope_d", "d")] {
            self.out.line("[Differentiable]");
            self.out.open(&format!("float {name}({params})"));
            for x in &names {
                self.out.line(&format!("var p{x} = diffPair({x});"));
            }
            let all: Vec<String> = names.iter().map(|x| format!("p{x}")).collect();
            self.out
                .line(&format!("bwd_diff(total)({}, 1.0);", all.join(", ")));
            let terms: Vec<String> = (all.iter().enumerate())
                .map(|(i, p)| format!("{:.2} * {p}.d", along(prefix, i)))
                .collect();
            self.out.line(&format!("return {};", terms.join(" + ")));
            self.out.close();
        }
        self.out.line("[Differentiable]");
        self.out.line(&format!(
            "float slope_f({params}) {{ return fwd_diff(total)({}).d; }}",
            pairs("u")
        ));

        let values: Vec<String> = moved.iter().map(|m| m.text.clone()).collect();
        let values = values.join(", ");
        let mut outputs = vec!["z0".to_owned(), "p0".to_owned(), "q0".to_owned()];
        let mut lines = vec![format!("z0 = slope_u({values});")];
        let pairs: Vec<String> = (moved.iter().enumerate())
            .map(|(i, m)| format!("diffPair({}, {:.2})", m.text, along("d", i)))
            .collect();
        let pairs = pairs.join(", ");
        lines.push(format!("p0 = fwd_diff(slope_u)({pairs}).d;"));
        lines.push(format!("q0 = fwd_diff(slope_f)({pairs}).d;"));
        for i in 0..count {
            for prefix in ["u", "d"] {
                lines.push(format!("{prefix}{i} = {:.2};", along(prefix, i)));
                outputs.push(format!("{prefix}{i}"));
            }
        }
        for (prefix, slope) in [("h", "slope_u"), ("k", "slope_f"), ("j", "slope_d")] {
            for (i, m) in moved.iter().enumerate() {
                lines.push(format!("var p{prefix}{i} = diffPair({});", m.text));
            }
            let all: Vec<String> = (0..count).map(|i| format!("p{prefix}{i}")).collect();
            lines.push(format!("bwd_diff({slope})({}, 1.0);", all.join(", ")));
            for (i, m) in moved.iter().enumerate() {
                let global = m.global.map(|g| format!("_{g}")).unwrap_or_default();
                lines.push(format!("{prefix}{i}{global} = p{prefix}{i}.d;"));
                outputs.push(format!("{prefix}{i}{global}"));
            }
        }
        let outputs: Vec<String> = outputs.iter().map(|o| format!("out float {o}")).collect();
        self.out
            .open(&format!("shader main({})", outputs.join(", ")));
        for line in lines {
            self.out.line(&line);
        }
        self.out.close();
    }

    /// A function of floats alone that gives one.
    fn total(&mut self, function: &Function, params: &str, names: &[String]) {
        self.out.line("[Differentiable]");
        self.out.open(&format!("float total({params})"));
        self.built(function, "a", names);
        let args: Vec<String> = (0..function.params.len())
            .map(|i| format!("a{i}"))
            .collect();
        let call = format!("{}({})", function.name, args.join(", "));
        self.called(function.result.as_ref(), "a_", &call);
        let mut terms = Vec::new();
        for (from, ty) in self.results(function) {
            let name = from.map_or("a_".to_owned(), |i| format!("a{i}"));
            for leaf in self.active_leaves(&ty) {
                let weight = 1.0 - 0.37 * ((terms.len() * 2) % 5) as f64;
                terms.push(format!("{weight:.2} * {name}{}", leaf.path));
            }
        }
        self.out.line(&format!("return {};", terms.join(" + ")));
        self.out.close();
    }
}
