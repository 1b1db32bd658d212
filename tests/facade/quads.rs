//! Derivatives from neighbours: what GPUs compute, what is refused, and that all engines agree on
//! it.

use crate::counts::QUADS;
use adumbra::{
    Compiler, Derivatives, Diagnostics, Dual, Evaluator, Globals, GlobalsLayout, Host, Instance,
    Limits, NoTextures, Options, Outcome, Program, SampleRequest, Sampled, Sources, Type,
    batch::{BatchEvaluator, BatchGlobals, BatchSetup, Part},
    derivatives::{AtDivergence, Corner, Quad},
    evaluator::Engine,
    host::MessageId,
};
use adumbra_fuzz::campaign::run_quads;
use adumbra_fuzz::oracle::batch::TierChoice;
use fastrand::Rng;
use std::sync::Arc;

fn compiler(rule: Quad, at_divergence: AtDivergence) -> Compiler {
    let layout = GlobalsLayout::new().with("x", Type::FLOAT);
    let layout = layout.and_then(|layout| layout.with("y", Type::FLOAT));
    let options = Options {
        derivatives: Derivatives::Quad(rule),
        at_divergence,
        output_derivatives: true,
        ..Options::default()
    };
    Compiler::new(layout.unwrap()).with_options(options)
}

fn compiled(text: &str, rule: Quad) -> Result<Arc<Program>, Diagnostics> {
    compiler(rule, AtDivergence::Refuse).compile(&Sources::new("quads.adu", text))
}

/// The same with divergent derivatives taken by all points.
fn compiled_live(text: &str, rule: Quad) -> Result<Arc<Program>, Diagnostics> {
    compiler(rule, AtDivergence::Flatten).compile(&Sources::new("quads.adu", text))
}

/// A shader whose output `o` is an expression of `x` and `y`.
fn shader(expression: &str) -> String {
    format!(
        "shader s(out float o) {{ float x = global_value<x>; float y = global_value<y>; o = {expression}; }}"
    )
}

fn globals(program: &Program, x: f32, y: f32) -> Globals {
    let mut globals = Globals::new(program.globals());
    globals.set("x", x, 1.0, 0.0).unwrap();
    globals.set("y", y, 0.0, 1.0).unwrap();
    globals
}

/// Value, ddx and ddy of `o` at the four pixels whose first has these coordinates.
fn quad_at(program: &Arc<Program>, engine: Engine, x: f32, y: f32) -> [[f32; 3]; 4] {
    let mut evaluator =
        Evaluator::with(&Instance::new(program), engine, Limits::default()).unwrap();
    let quad = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)];
    let quad = quad.map(|(dx, dy)| globals(program, x + dx, y + dy));
    let outcome = evaluator.evaluate_quad(quad.each_ref(), [false; 4], &mut NoTextures);
    assert_eq!(outcome, Outcome::Finished);
    Corner::ALL.map(|corner| {
        evaluator.show(corner);
        let o = evaluator.get::<Dual<f32>>("o").unwrap();
        [o.value, o.ddx, o.ddy]
    })
}

/// The ddx of an expression at the pixels of a row, two quads wide.
fn ddx_of_row(expression: &str, engine: Engine, rule: Quad) -> [f32; 4] {
    let program = compiled(&shader(expression), rule).unwrap();
    let [left, right] = [8.5, 10.5].map(|x| quad_at(&program, engine, x, 0.5));
    [left[0][1], left[1][1], right[0][1], right[1][1]]
}

#[test]
fn a_step_shows_where_quads_begin() {
    for (engine, rule) in Engine::available().flat_map(|e| Quad::ALL.map(|r| (e, r))) {
        let odd = ddx_of_row("step(9.0, x)", engine, rule);
        let even = ddx_of_row("step(10.0, x)", engine, rule);
        assert_eq!((odd, even), ([1.0, 1.0, 0.0, 0.0], [0.0; 4]), "{rule:?}");
        assert_eq!(ddx_of_row("x * x", engine, rule), [18.0, 18.0, 22.0, 22.0]);
    }
}

#[test]
fn what_a_shader_reads_is_what_its_outputs_have() {
    for (engine, rule) in Engine::available().flat_map(|e| Quad::ALL.map(|r| (e, r))) {
        for expression in [
            "x * y",
            "sin(3 * x) / y",
            "floor(x) + fract(0.3 * y)",
            "exp(x - y)",
        ] {
            let own = compiled(&shader(expression), rule).unwrap();
            let own = quad_at(&own, engine, 2.5, 4.5);
            for (at, function) in [(1, "ddx"), (2, "ddy")] {
                let text = shader(&format!("{function}({expression})"));
                let read = quad_at(&compiled(&text, rule).unwrap(), engine, 2.5, 4.5);
                assert_eq!(own.map(|o| o[at]), read.map(|o| o[0]), "{expression}");
            }
        }
    }
}

#[test]
fn rows_and_columns_serve_as_the_rule_says() {
    // ddx is y and ddy is x, of the row and the column that are taken.
    let of = |rule, engine| {
        let program = compiled(&shader("x * y"), rule).unwrap();
        quad_at(&program, engine, 4.5, 6.5).map(|[_, dx, dy]| (dx, dy))
    };
    for engine in Engine::available() {
        let own = [(6.5, 4.5), (6.5, 5.5), (7.5, 4.5), (7.5, 5.5)];
        assert_eq!(of(Quad::Fine, engine), own);
        for corner in Corner::ALL {
            assert_eq!(of(Quad::Coarse(corner), engine), [own[corner as usize]; 4]);
        }
    }
}

#[test]
fn a_point_alone_is_the_upper_left_one_of_its_quad() {
    let text = shader("x * x + y * y * y");
    for (engine, rule) in Engine::available().flat_map(|e| Quad::ALL.map(|r| (e, r))) {
        let program = compiled(&text, rule).unwrap();
        let quad = quad_at(&program, engine, 8.5, 2.5);
        let mut evaluator =
            Evaluator::with(&Instance::new(&program), engine, Limits::default()).unwrap();
        evaluator.evaluate(&globals(&program, 8.5, 2.5), &mut NoTextures);
        let o = evaluator.get::<Dual<f32>>("o").unwrap();
        assert_eq!([o.value, o.ddx, o.ddy], quad[0]);
    }
}

#[test]
fn the_filter_width_is_the_sum_of_both_magnitudes() {
    for (engine, rule) in Engine::available().flat_map(|e| Quad::ALL.map(|r| (e, r))) {
        for e in ["x / 3 - y / 7", "cos(x) * y", "pow(y, 0.3) - x * x"] {
            let width = format!("fwidth({e}) - (abs(ddx({e})) + abs(ddy({e})))");
            let program = compiled(&shader(&width), rule).unwrap();
            let found = quad_at(&program, engine, 1.25, 2.75);
            assert_eq!(found.map(|o| o[0].to_bits()), [0; 4], "{e}");
        }
    }
}

#[test]
fn derivatives_of_derivatives_and_of_textures_are_no_zeros() {
    for engine in Engine::available() {
        let mixed = compiled(&shader("ddy(ddx(x * y))"), Quad::Fine).unwrap();
        assert!(mixed.warnings().is_empty());
        assert_eq!(quad_at(&mixed, engine, 1.5, 2.5).map(|o| o[0]), [1.0; 4]);
        let same = compiled(&shader("ddx(ddx(x * x))"), Quad::Fine).unwrap();
        assert_eq!(quad_at(&same, engine, 1.5, 2.5).map(|o| o[0]), [0.0; 4]);
    }
}

/// Answers with the request's u, and keeps what points asked that are no helpers.
#[derive(Default)]
struct Log {
    own: Vec<SampleRequest>,
    helpers: usize,
    messages: Vec<u32>,
}

impl Host for Log {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        self.own.push(*request);
        Sampled::Ready([request.u * request.u; 4])
    }

    fn sample_for_helper(&mut self, request: &SampleRequest) -> Sampled {
        self.helpers += 1;
        Sampled::Ready([request.u * request.u; 4])
    }

    fn message(&mut self, _: MessageId, args: &[u32]) {
        self.messages.extend(args);
    }
}

#[test]
fn requests_carry_differences_and_mark_helpers() {
    let text = "texture2d wood; shader s(out float o) {
        float x = global_value<x>; float y = global_value<y>;
        printf(\"%f\", x);
        o = texture2d_sample_alpha<wood>(x * x, x * y);
    }";
    for engine in Engine::available() {
        let program = compiled(text, Quad::Fine).unwrap();
        let mut evaluator =
            Evaluator::with(&Instance::new(&program), engine, Limits::default()).unwrap();
        let mut log = Log::default();
        evaluator.evaluate(&globals(&program, 3.0, 5.0), &mut log);
        let [r] = log.own[..] else {
            panic!("one point of its own asks once")
        };
        assert_eq!([r.u, r.v], [9.0, 15.0]);
        assert_eq!([r.dudx, r.dudy, r.dvdx, r.dvdy], [7.0, 0.0, 5.0, 3.0]);
        assert_eq!((log.helpers, log.messages), (3, vec![3.0_f32.to_bits()]));
        // What a texture gives has a derivative as well: u⁴ at 4 and 3.
        let o = evaluator.get::<Dual<f32>>("o").unwrap();
        assert_eq!([o.value, o.ddx, o.ddy], [81.0, 256.0 - 81.0, 0.0]);

        let quad = [3.0, 4.0, 3.0, 4.0].map(|x| globals(&program, x, 5.0));
        let mut log = Log::default();
        let helpers = [false, false, true, true];
        evaluator.evaluate_quad(quad.each_ref(), helpers, &mut log);
        assert_eq!((log.own.len(), log.helpers, log.messages.len()), (2, 2, 2));
    }
}

#[test]
fn a_neighbour_that_is_stopped_gives_no_difference_and_its_faults_stay_its_own() {
    // The right neighbour divides by zero and then never ends.
    let text = "shader s(out float o) {
        float x = global_value<x>;
        int n = (int)x;
        int d = 12 / (4 - n);
        while (n == 4) d += 1;
        o = ddx(x) + x + d;
    }";
    let limits = Limits {
        steps: 1000,
        ..Limits::default()
    };
    for engine in Engine::available() {
        let program = compiled(text, Quad::Fine).unwrap();
        let mut evaluator = Evaluator::with(&Instance::new(&program), engine, limits).unwrap();
        let outcome = evaluator.evaluate(&globals(&program, 3.0, 0.0), &mut NoTextures);
        assert_eq!(outcome, Outcome::Finished);
        assert!(evaluator.faults().is_empty());
        let o = evaluator.get::<Dual<f32>>("o").unwrap();
        assert_eq!([o.value, o.ddx, o.ddy], [15.0, 0.0, 0.0]);
        assert_eq!(evaluator.show(Corner::UpperRight), Outcome::Stopped);
        assert_eq!(evaluator.faults().iter().count(), 2);
        // One further to the left, no point is stopped.
        evaluator.evaluate(&globals(&program, 2.0, 0.0), &mut NoTextures);
        let o = evaluator.get::<Dual<f32>>("o").unwrap();
        assert_eq!([o.value, o.ddx], [1.0 + 2.0 + 6.0, 1.0 + 6.0]);
    }
}

/// A shader of this body.
fn with_body(body: &str) -> String {
    format!(
        "texture2d wood;
        float edge(float t) {{ return fwidth(t); }}
        float one(float t) {{ return 1.0; }}
        float late(float t) {{ if (t > 0.0) return 1.0; return ddx(t); }}
        float plain(float t) {{ if (t > 0.0) return 1.0; return t; }}
        shader s(float k, int n, bool b, out float o) {{
            float x = global_value<x>; float y = global_value<y>; {body} }}"
    )
}

/// Whether a shader's body is refused, all for derivatives in divergent flow.
fn is_refused(body: &str, at_divergence: AtDivergence) -> bool {
    let sources = Sources::new("quads.adu", with_body(body));
    match compiler(Quad::Fine, at_divergence).compile(&sources) {
        Ok(_) => false,
        Err(found) => {
            for diagnostic in found.diagnostics.iter().filter(|d| d.is_error()) {
                assert_eq!(diagnostic.code.to_string(), "E0521", "{body}: {found}");
                assert!(diagnostic.help.is_some());
            }
            true
        }
    }
}

#[test]
fn derivatives_where_points_may_part_are_refused() {
    for body in [
        "if (x > 0.5) o = ddx(x);",
        "if (x > 0.5) { if (b) o = ddy(x); }",
        "o = x > 0.5 ? ddx(x) : 0.0;",
        "o = b && x > 0.5 && ddx(x) > 0.0 ? 1.0 : 0.0;",
        "if (x > 0.5) o = texture2d_sample_alpha<wood>(x, y);",
        "if (x > 0.5) return; o = ddx(x);",
        "for (int i = 0; i < n; ++i) { if (x > i) return; } o = ddx(x);",
        "for (int i = 0; i < n; ++i) { if (x > i) break; o += ddx(x); }",
        "for (int i = 0; i < n; ++i) { o += ddx(x); if (x > i) break; }",
        "for (int i = 0; i < n; ++i) { if (x > i) continue; o += ddx(x); }",
        "while (o < x) o += ddx(y);",
        // Points come to the next iteration from several places; their counts are not compared.
        "for (int i = 0; i < n; ++i) { o += ddx(x); if (x > i) continue; o += 1.0; }",
        "int m = 0; for (int i = 0; i < n; ++i) { if (x > i) continue; ++m; } if (m == n) o = ddx(y);",
        "int m = 0; for (int i = 0; i < n; ++i) { if (x > i) break; ++m; } if (m == n) o = ddx(y);",
        "for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) { o += ddx(x); if (x > j) return; }",
        "int m = n; if (x > 0.5) m = 2; if (m == n) o = ddx(y);",
        "float w[4]; w[n] = x; if (w[0] > 0.5) o = ddx(y);",
        "float w[4]; if (x > 0.5) w[0] = 1.0; if (w[n] > 0.5) o = ddx(y);",
        "float w[4]; w[(int)x] = k; if (w[1] > 0.5) o = ddx(y);",
        "int i = 0; while (i < n) { ++i; if (x > i) break; } if (i == n) o = ddx(y);",
        "if (x > 0.5) o = edge(x);",
        "o = late(x);",
        "if (plain(x) > 0.5) o = ddx(x);",
        "switch ((int)x) { case 1: o = ddx(x); break; default: o = 1.0; }",
        "switch (n) { case 1: if (x > 0.5) break; o = ddx(x); break; default: o = 1.0; }",
        "if (texture2d_sample_alpha<wood>(x, y) > 0.5) o = ddx(x);",
        "if (ddx(x * x) > 3.0) o = ddx(y);",
    ] {
        assert!(is_refused(body, AtDivergence::Refuse), "{body}");
    }
}

#[test]
fn derivatives_where_points_stay_together_are_not_refused() {
    for body in [
        "o = ddx(x); if (x > 0.5) o = 1.0;",
        "float d = ddx(x); if (x > 0.5) o = d;",
        "if (b) o = ddx(x);",
        "if (k > 0.5) { if (x > 0.5) o = 1.0; o += ddx(x); }",
        "for (int i = 0; i < n; ++i) o += ddx(x * i);",
        "for (int i = 0; i < n; ++i) { if (x > i) o += 1.0; o += ddx(o); }",
        "for (int i = 0; i < n; ++i) { if (b) break; o += ddx(x); }",
        "for (int i = 0; i < n; ++i) { if (x > i) break; o += 1.0; } o = ddx(o);",
        "if (b) return; o = ddx(x);",
        "if (x > 0.5) o = x; else o = y; o = ddx(o);",
        "int m = n; if (b) m = 2; if (m == n) o = ddx(y);",
        "float w[4]; w[0] = x; if (n > 0) o = ddx(w[0]);",
        "o = edge(x) + edge(y);",
        "if (one(k) > 0.5) o = ddx(x);",
        "if (one(x) > 0.5) o = edge(y);",
        "if (plain(k) > 0.5) o = ddx(x);",
        "if (b) o = edge(x); if (x > 0.5) o = plain(x);",
        "switch (n) { case 1: o = ddx(x); break; default: o = 1.0; }",
        "switch ((int)x) { case 1: o = x; break; default: o = 1.0; } o = ddx(o);",
        "if (x > 0.5) o = texture2d_sample_level<wood>(x, y, 0.0).x;",
        "float2 d = float2(ddx(x), ddy(x)); if (x > 0.5) o = texture2d_sample_grad<wood>(x, y, d.x, 0.0, d.y, 0.0).x;",
    ] {
        assert!(!is_refused(body, AtDivergence::Refuse), "{body}");
    }
}

#[test]
fn live_branches_give_what_is_taken_before_them() {
    for (body, before) in [
        (
            "o = y; if (x > 9.0) o = ddx(x * x);",
            "float d = ddx(x * x); o = y; if (x > 9.0) o = d;",
        ),
        (
            "if (x > 9.0) o = ddx(x * x); else o = ddy(y * y) + x;",
            "float d = ddx(x * x); float e = ddy(y * y); if (x > 9.0) o = d; else o = e + x;",
        ),
        (
            "if (x > 8.0) { float t = x * y; if (y > 3.0) o = ddx(t * t); else o = t; o += ddy(t); }",
            "float t = x * y; float d = ddx(t * t); float e = ddy(t); if (x > 8.0) { if (y > 3.0) o = d; else o = t; o += e; }",
        ),
        (
            "o = x > 9.0 && ddx(x * y) > 3.0 ? fwidth(y * y) : 1.0;",
            "float d = ddx(x * y); float w = fwidth(y * y); o = x > 9.0 && d > 3.0 ? w : 1.0;",
        ),
        (
            "if (x > 9.0) o = edge(x * x); else o = 2.0;",
            "float w = edge(x * x); if (x > 9.0) o = w; else o = 2.0;",
        ),
        (
            "int m = 3; if (x > 9.0) m = ddx(x * x) > 18.5 ? 7 : 5; o = m;",
            "float d = ddx(x * x); int m = 3; if (x > 9.0) m = d > 18.5 ? 7 : 5; o = m;",
        ),
        // A condition that is uniform stays a branch.
        (
            "if (x > 9.0) { if (b) o = ddx(x * x); else o = x; }",
            "float d = b ? ddx(x * x) : x; if (x > 9.0) o = d;",
        ),
    ] {
        assert!(is_refused(body, AtDivergence::Refuse), "{body}");
        for (engine, rule) in Engine::available().flat_map(|e| Quad::ALL.map(|r| (e, r))) {
            let live = compiled_live(&with_body(body), rule).unwrap();
            let plain = compiled(&with_body(before), rule).unwrap();
            let [live, plain] = [live, plain].map(|p| quad_at(&p, engine, 8.5, 2.5));
            assert_eq!(live, plain, "{body}");
        }
    }
}

/// Two sources of a random shader: with branches around what is computed, and with both arms before
/// a choice.
struct Twins {
    lot: Rng,
    names: u32,
    branches: usize,
    values: Vec<String>,
}

impl Twins {
    fn below(&mut self, n: usize) -> usize {
        self.lot.usize(..n)
    }

    fn value(&mut self) -> String {
        let at = self.below(self.values.len());
        self.values[at].clone()
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    /// Statements that define another value, in both ways.
    fn statement(&mut self, depth: usize) -> [String; 2] {
        let (a, b, name) = (self.value(), self.value(), self.name());
        if depth > 0 && self.below(3) == 0 {
            self.branches += 1;
            let known = self.values.len();
            let arms = [(); 2].map(|()| {
                let inside: Vec<[String; 2]> = (0..1 + self.below(4))
                    .map(|_| self.statement(depth - 1))
                    .collect();
                let given = self.values.last().cloned().unwrap_or_default();
                self.values.truncate(known);
                (
                    [0, 1].map(|way| inside.iter().map(|s| s[way].as_str()).collect::<String>()),
                    given,
                )
            });
            let [([then, before], yes), ([other, later], no)] = arms;
            self.values.push(name.clone());
            return [
                format!(
                    "float {name}; if ({a} > {b}) {{ {then} {name} = {yes}; }} else {{ {other} {name} = {no}; }}\n"
                ),
                format!("{before} {later} float {name} = {a} > {b} ? {yes} : {no};\n"),
            ];
        }
        let value = match self.below(7) {
            0 => format!("ddx({a} * {b})"),
            1 => format!("ddy({a} + {b} * x)"),
            2 => format!("fwidth({a})"),
            3 => format!("texture2d_sample_alpha<wood>({a}, {b})"),
            4 => format!("edge({a})"),
            5 => format!("{a} * {b} - y"),
            _ => format!("sin({a}) + {b}"),
        };
        self.values.push(name.clone());
        [(); 2].map(|()| format!("float {name} = {value};\n"))
    }
}

#[test]
fn live_branches_are_both_arms_and_a_choice() {
    let (mut refused, mut branches) = (0, 0);
    for seed in 0..150 {
        let mut twins = Twins {
            lot: Rng::with_seed(seed),
            names: 0,
            branches: 0,
            values: ["x", "y", "k"].map(str::to_owned).to_vec(),
        };
        let statements: Vec<[String; 2]> = (0..5).map(|_| twins.statement(3)).collect();
        branches += twins.branches;
        let [inside, before] = [0, 1].map(|way| {
            let body: String = statements.iter().map(|s| s[way].as_str()).collect();
            let last = &twins.values[twins.values.len() - 1];
            let other = &twins.values[twins.values.len() - 2];
            with_body(&format!("{body} o = {last} + {other};"))
        });
        let rule = Quad::ALL[seed as usize % Quad::ALL.len()];
        refused += usize::from(compiled(&inside, rule).is_err());
        let before = compiled(&before, rule).unwrap();
        let inside = compiled_live(&inside, rule).unwrap();
        for engine in Engine::available() {
            let [inside, before] = [&inside, &before].map(|program| {
                let found = quad_at(program, engine, 0.3 + seed as f32 / 64.0, 0.25);
                found.map(|o| o.map(f32::to_bits))
            });
            assert_eq!(inside, before, "seed {seed}");
        }
    }
    println!("{branches} branches, {refused} shaders refused unless all points live");
    assert!(branches > 200 && refused > 70, "hollow");
}

#[test]
fn live_samples_are_those_of_all_points() {
    let text = "texture2d wood; shader s(out float o) {
        float x = global_value<x>;
        if (x > 3.5) o = texture2d_sample_alpha<wood>(x * x, 0.0);
    }";
    for engine in Engine::available() {
        let program = compiled_live(text, Quad::Fine).unwrap();
        let quad = [3.0, 4.0, 3.0, 4.0].map(|x| globals(&program, x, 5.0));
        let instance = Instance::new(&program);
        let mut evaluator = Evaluator::with(&instance, engine, Limits::default()).unwrap();
        let mut log = Log::default();
        evaluator.evaluate_quad(quad.each_ref(), [false; 4], &mut log);
        assert!(log.own.iter().all(|request| request.dudx == 7.0));
        assert_eq!(log.own.len(), 4);
        let values = Corner::ALL.map(|corner| {
            evaluator.show(corner);
            evaluator.get::<f32>("o").unwrap()
        });
        assert_eq!(values, [0.0, 256.0, 0.0, 256.0]);
    }
}

#[test]
fn what_more_than_computes_is_not_evaluated_by_all() {
    for body in [
        "if (x > 0.5) { printf(\"%f\", x); o = ddx(x); }",
        "float w[4]; if (x > 0.5) { w[n] = ddx(x); } o = w[0];",
        "int m = 1; if (x > 0.5) { m = n / m; o = ddx(x); }",
        "if (x > 0.5) { for (int i = 0; i < n; ++i) o += ddx(x); }",
        "if (x > 0.5) { if (y > 0.5) return; o = ddx(x); }",
        "if (x > 0.5) return; o = ddx(x);",
        "while (o < x) o += ddx(y);",
        "for (int i = 0; i < n; ++i) { if (x > i) break; o += ddx(x); }",
        "if (x > 0.5) o = late(x);",
        "switch ((int)x) { case 1: o = ddx(x); break; default: o = 1.0; }",
    ] {
        assert!(is_refused(body, AtDivergence::Flatten), "{body}");
    }
}

#[test]
fn a_refusal_in_the_library_is_shown_where_it_is_called() {
    let text = "shader s(out float o) { float x = global_value<x>; if (x > 0.5) o = fwidth(x) + filterwidth(x); }";
    let found = compiled(text, Quad::Fine).unwrap_err();
    assert!(!found.diagnostics.is_empty());
    for diagnostic in found.diagnostics {
        let at = diagnostic.span.start as usize..diagnostic.span.end as usize;
        let place = text.get(at).unwrap_or_default();
        assert!(
            place.contains("fwidth") || place.contains("filterwidth"),
            "{place}"
        );
    }
}

#[test]
fn bytecode_keeps_its_quads() {
    let program = compiled(&shader("ddx(x * x) + y"), Quad::Coarse(Corner::LowerRight)).unwrap();
    let loaded = Program::from_bytecode(&program.to_bytecode()).unwrap();
    let [expected, found] = [&program, &loaded].map(|p| quad_at(p, Engine::Point, 8.5, 3.5));
    assert_eq!(found, expected);
    assert_eq!(found[0], [18.0 + 3.5, 0.0, 1.0]);
}

#[test]
fn inputs_fold_in_quads_too() {
    let text = "shader s(float k = 2, out float o) { float x = global_value<x>; o = k > 1 ? ddx(k * x * x) : k; }";
    let program = compiled(text, Quad::Fine).unwrap();
    let mut instance = Instance::new(&program);
    instance.set("k", 3.0_f32).unwrap();
    let folded = instance.fold().unwrap();
    for instance in [instance, folded] {
        let mut evaluator = Evaluator::new(&instance);
        evaluator.evaluate(&globals(&program, 1.0, 0.0), &mut NoTextures);
        assert_eq!(evaluator.get::<f32>("o").unwrap(), 9.0);
    }
}

/// Answers nothing at once.
struct Later;

impl Host for Later {
    fn sample(&mut self, _: &SampleRequest) -> Sampled {
        Sampled::Pending
    }
}

#[test]
fn a_quad_waits_for_all_its_points_and_can_be_parked() {
    let text = "texture2d wood; shader s(out float o) {
        float x = global_value<x>;
        float a = texture2d_sample_alpha<wood>(x, x);
        o = ddx(a) + a;
    }";
    for engine in Engine::available() {
        let program = compiled(text, Quad::Fine).unwrap();
        let instance = Instance::new(&program);
        let mut evaluator = Evaluator::with(&instance, engine, Limits::default()).unwrap();
        let mut outcome = evaluator.evaluate(&globals(&program, 2.0, 0.0), &mut Later);
        let mut answers = 0;
        while outcome == Outcome::Pending {
            assert_eq!(evaluator.get::<f32>("o").unwrap(), 0.0);
            let parked = evaluator.park().unwrap();
            assert!(parked.memory() > 0 && evaluator.parked() == 1);
            // Another point in between.
            assert_eq!(
                evaluator.evaluate(&globals(&program, 7.0, 0.0), &mut Later),
                Outcome::Pending
            );
            let u = parked.request().u;
            outcome = evaluator.resume(parked, [u * u; 4], &mut Later).unwrap();
            answers += 1;
        }
        let o = evaluator.get::<Dual<f32>>("o").unwrap();
        assert_eq!((answers, o.value, o.ddx), (4, 5.0 + 4.0, 5.0));
    }
}

#[test]
fn a_batch_takes_differences_within_quads_whatever_the_width() {
    let program = compiled(&shader("ddx(x * x) + ddy(y * y * y)"), Quad::Fine).unwrap();
    // Two rows of 24 pixels, quad by quad.
    let pixels =
        (0..12).flat_map(|q| Corner::ALL.map(|c| [2 * q + c as usize % 2, c as usize / 2]));
    let pixels: Vec<[f32; 2]> = pixels.map(|p| p.map(|i| i as f32)).collect();
    let mut globals = BatchGlobals::new(program.globals());
    let [x, y] = [0, 1].map(|i| &pixels.as_flattened()[i..]);
    globals.plane("x", Part::Value, 0, x, 2).unwrap();
    globals.plane("y", Part::Value, 0, y, 2).unwrap();
    for (wanted, width) in [(1, 4), (4, 4), (13, 16), (48, 48), (1024, 1024)] {
        let setup = BatchSetup {
            width: Some(wanted),
            ..BatchSetup::default()
        };
        let mut evaluator = BatchEvaluator::with(&Instance::new(&program), &setup).unwrap();
        assert_eq!(evaluator.width(), width);
        for first in (0..pixels.len()).step_by(width) {
            let points = width.min(pixels.len() - first);
            evaluator.evaluate(&globals, first, points, &mut NoTextures);
            for point in 0..points {
                let left = ((first + point) / 4 * 2) as f32;
                let o = evaluator.get::<Dual<f32>>("o", point).unwrap();
                assert_eq!([o.value, o.ddx, o.ddy], [2.0 * left + 1.0 + 1.0, 0.0, 0.0]);
            }
        }
    }
}

#[test]
#[should_panic(expected = "whole quads")]
fn a_batch_of_half_a_quad_is_refused() {
    let program = compiled(&shader("x"), Quad::Fine).unwrap();
    let mut evaluator = BatchEvaluator::new(&Instance::new(&program)).unwrap();
    let globals = BatchGlobals::new(program.globals());
    evaluator.evaluate(&globals, 0, 6, &mut NoTextures);
}

#[test]
fn helpers_of_a_batch_are_marked() {
    let text = "texture2d wood; shader s(out float o) {
        float x = global_value<x>;
        printf(\"%f\", x);
        o = ddx(texture2d_sample_alpha<wood>(x, 0.0));
    }";
    let program = compiled(text, Quad::Fine).unwrap();
    let x = [3.0_f32, 4.0, 3.0, 4.0, 5.0, 6.0, 5.0, 6.0];
    let mut globals = BatchGlobals::new(program.globals());
    globals.plane("x", Part::Value, 0, &x, 1).unwrap();
    let helpers = [false, true, true, true, false, false, true, true];
    let mut evaluator = BatchEvaluator::new(&Instance::new(&program)).unwrap();
    let mut log = Log::default();
    evaluator.evaluate_quads(&globals, 0, &helpers, &mut log);
    let asked: Vec<f32> = log.own.iter().map(|request| request.u).collect();
    assert_eq!((asked, log.helpers), (vec![3.0, 5.0, 6.0], 5));
    assert_eq!(log.messages, [3.0_f32, 5.0, 6.0].map(f32::to_bits));
    let o = [0, 4, 5].map(|point| evaluator.get::<f32>("o", point).unwrap());
    assert_eq!(o, [7.0, 11.0, 11.0]);
    // A batch that is evaluated without helpers has none.
    evaluator.evaluate(&globals, 0, 8, &mut log);
    assert_eq!((log.own.len(), log.helpers), (11, 5));
}

#[test]
fn programs_with_large_arrays_have_quads_too() {
    let text = "shader s(out float o) {
        float w[200000]; int n = (int)global_value<y>; w[n] = global_value<x>; o = ddx(w[n] * w[n]) + w[0]; }";
    let program = compiled(text, Quad::Fine).unwrap();
    let mut evaluator = BatchEvaluator::new(&Instance::new(&program)).unwrap();
    let x = [8.5_f32, 9.5, 8.5, 9.5, 10.5, 11.5, 10.5, 11.5];
    let mut globals = BatchGlobals::new(program.globals());
    globals.plane("x", Part::Value, 0, &x, 1).unwrap();
    globals.uniform("y", 3.0_f32, 0.0, 0.0).unwrap();
    evaluator.evaluate(&globals, 0, 8, &mut NoTextures);
    let o = [0, 3, 4, 7].map(|point| evaluator.get::<f32>("o", point).unwrap());
    assert_eq!(o, [18.0, 18.0, 22.0, 22.0]);
}

/// Random programs: those that are not refused show the same whichever engine runs them.
///
/// The longer search is `cargo run --release -p adumbra-fuzz -- quads --programs 100000`.
#[test]
fn engines_agree_on_random_programs_in_quads() {
    let (mix, failure) = run_quads(0, QUADS, TierChoice::OneEngine);
    if let Some(failure) = failure {
        panic!("{failure}");
    }
    println!("{mix}");
    assert_eq!(mix.hollow(), None);
}
