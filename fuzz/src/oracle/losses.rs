//! The hunts for gradients that are lost in silence, and for false alarms.
//!
//! A program has one expression that loses a gradient: a sample, an integer, a call of a function
//! that is not marked, a plain struct. Its value matters by construction, or it does not: it is
//! overwritten, only compared, multiplied by 0, or never read. The compiler must say the one, and
//! must be silent about the other; so must the gradient of a shader that calls it, without marks.

use super::chain::compiler;
use super::modes::MODES;
use crate::bundle;
use crate::choices::bytes_of_seed;
use crate::parallel::check_seeds;
use adumbra::Compiler;
use adumbra::gradient::GradientRequest;
use std::fmt;
use std::ops::AddAssign;

/// Functions that programs may call.
const DECLARATIONS: &str = "\
texture2d wood;
buffer<float> weights;
struct part : IDifferentiable { float a; float b; };
struct plain { float a; };
float unmarked(float a) { return a * a + 1.0; }
int stairs(float a) { return (int)(4.0 * a); }
void ruled_back(plain p, inout DifferentialPair<float> k, float d) { k = diffPair(k.p, d); }
[BackwardDerivative(ruled_back)] float ruled(plain p, float k) { return p.a * k; }
[Differentiable] float curve(float a) { return sin(a) * a; }
[Differentiable] float second(float a, float b) { return b * b; }
[Differentiable] float first(float a, float b) { return a * b; }
[Differentiable] void both(float a, float b, out float p, out float q) { p = 2.0 * a; q = b * b; }
";

/// Ways to lose the gradient of `X`, with what is said of each.
const LOSSES: &[(&str, &str)] = &[
    ("texture2d_sample_alpha<wood>(X, 0.5)", "E0553"),
    ("texture2d_sample<wood>(0.25, X).y", "E0553"),
    ("(float)((int)(8.0 * X))", "W0515"),
    ("asfloat(asint(X) + 1)", "W0515"),
    ("(0.25 * stairs(X))", "W0515"),
    ("unmarked(X)", "E0552"),
    ("ruled(plain(X), 2.0)", "E0558"),
];

/// Values with a gradient.
const VARIED: &[&str] = &[
    "x",
    "y",
    "(x * y)",
    "curve(x)",
    "(y + 0.5)",
    "m",
    "first(x, y)",
    "(weights[1] * y)",
    "(x + weights[3])",
];

/// Statements in which the lost value `T` does not matter.
const DEAD: &[&str] = &[
    "float t = T; t = x * y; r += t;",
    "float t = T; if (y > 0.5) t = x; else t = y; r += t;",
    "float t = T; float u = t + 1.0; t = u; t = x; r += t;",
    "float t = T; for (int i = 0; i < 3; i++) { t = x * i; r += t; }",
    "part q; q.a = T; q.b = x; q.a = y; r += q.a * q.b;",
    "part q; q.a = T; q.b = x; r += q.b * y;",
    "float3 v = float3(T, x, y); r += v.y * v.z;",
    "float3 v = float3(x); v.x = T; v = float3(y); r += v.x;",
    "float w[2]; w[0] = T; w[0] = x; w[1] = y; r += w[0] * w[1];",
    "float w[2]; w[0] = T; w[1] = x; r += w[1];",
    "float w[2]; w[0] = T; float z[2] = { x, y }; w = z; r += w[0] + w[1];",
    "if (T > 0.5) r += x; else r += y;",
    "r += T > 0.25 ? x : y;",
    "bool b = T > 0.25; float t = 1.0; if (b && x > 0.1) t = x; r += t;",
    "r += 0.0 * T + x;",
    "float zero = 1.0 - 1.0; r += T * zero + y;",
    "if (false) r += T;",
    "r += true ? x : T;",
    "const bool on = 2 < 1; if (on) { r += T; } else { r += x; }",
    "float w[2] = { x, y }; r += w[(int)(T) & 1];",
    "for (int i = 0; i < ((int)(T) & 3); i++) r += x;",
    "r += x * weights[(int)(T)];",
    "for (int i = (int)(T); i < weights.length(); i++) r += weights[i] * y;",
    "r += floor(T) + step(0.5, T);",
    "r += second(T, x);",
    "float p, q; both(T, x, p, q); r += q;",
    "r += no_diff (T);",
    "r += detach(T) * x;",
    "printf(\"%f\", T);",
    "float t = T; t += x; r += y;",
    "switch ((int)(T)) { case 1: r += x; break; default: r += y; break; }",
];

/// Statements in which it matters.
const LIVE: &[&str] = &[
    "r += T;",
    "float t = T; if (y > 0.5) t = x; r += t;",
    "float t = x; for (int i = 0; i < 3; i++) { r += t; t = T; }",
    "float t = T; while (t > 4.0) t *= 0.5; r += t;",
    "part q; q.a = T; q.b = x; r += q.a * q.b;",
    "part q; q.b = T; part s = q; r += s.b;",
    "float3 v = float3(x, T, y); r += dot(v, float3(1.0));",
    "float w[2]; w[0] = x; w[1] = T; r += w[0] * w[1];",
    "float w[2]; w[0] = x; w[0] = T; r += w[0];",
    "r += y > 0.5 ? T : x;",
    "r += first(T, y);",
    "float p, q; both(T, x, p, q); r += p;",
    "r += 0.5 * T * y;",
    "if (x > 0.25) { if (y > 0.25) return T; }",
    "r += T * weights[2];",
    "for (int i = 0; i < weights.length(); i++) r += weights[i] * T;",
    "r += max(T, x);",
    "int n = (int)(3.0 * T); r += n * 0.5;",
];

/// Statements around them.
const OTHERS: &[&str] = &[
    "r = r * 0.5 + x;",
    "r += curve(y) * m;",
    "for (int i = 0; i < 2; i++) r += x * y;",
    "if (r > 3.0) r -= y;",
    "{ float k = r; r = k * x; }",
];

/// A program of a seed.
#[derive(Clone, Debug)]
pub struct LossProgram {
    /// Its source.
    pub source: String,
    /// What is said of its loss, if that matters.
    pub code: Option<&'static str>,
}

struct Choices(Vec<u8>);

impl Choices {
    fn below(&mut self, count: usize) -> usize {
        usize::from(self.0.pop().unwrap_or(0)) % count
    }

    fn of<'c>(&mut self, all: &[&'c str]) -> &'c str {
        all[self.below(all.len())]
    }
}

impl LossProgram {
    /// The program of a seed: every other one loses nothing.
    pub fn of_seed(seed: u64) -> LossProgram {
        let mut choices = Choices(bytes_of_seed(seed, 64));
        let (loss, code) = LOSSES[choices.below(LOSSES.len())];
        let lost = loss.replace('X', choices.of(VARIED));
        let is_live = seed % 2 == 1;
        let place = choices.of(if is_live { LIVE } else { DEAD });
        let code = is_live.then_some(code);
        let mut statement = place.replace('T', &lost);
        for _ in 0..choices.below(3) {
            statement = match choices.below(3) {
                0 => format!("if (x + y > 0.2) {{ {statement} }}"),
                1 => format!("for (int j = 0; j < 2; j++) {{ {statement} }}"),
                _ => format!("{{ {} {statement} }}", choices.of(OTHERS)),
            };
        }
        let mut body = String::from("float m = x * x; float r = 0.0;");
        let before = choices.below(3);
        (0..before).for_each(|_| body += choices.of(OTHERS));
        let after = choices.below(3);
        let after: String = (0..after).map(|_| choices.of(OTHERS)).collect();
        let function = |name: &str, body: &str| {
            format!(
                "[Differentiable] float {name}(float x, float y) {{ {body} return r + x * y; }}\n"
            )
        };
        // Within a function that the differentiated one calls, or in that itself.
        let functions = match choices.below(2) {
            0 => function("f", &format!("{body} {statement} {after}")),
            _ => {
                let inner = function("g", &format!("float m = y; float r = x; {statement}"));
                inner + &function("f", &format!("{body} r += g(x, m); {after}"))
            }
        };
        let source = format!(
            "{DECLARATIONS}{functions}\
             shader main(float u = 0.7, float v = 0.6, out float a, out float b)\n\
             {{ var p = diffPair(u), q = diffPair(v); bwd_diff(f)(p, q, 1.0); a = p.d; b = q.d; }}\n"
        );
        LossProgram { source, code }
    }

    /// Checks what is said of the program.
    ///
    /// # Errors
    /// The source, and what is said or not.
    pub fn check(&self) -> Result<(), String> {
        let sources = bundle::sources(&self.source).map_err(|no| format!("{no:?}"))?;
        let without_slopes = compiler(&MODES[0]).texture_slopes(false);
        let said = without_slopes.check(&sources);
        let codes: Vec<String> = said.iter().map(|d| d.code.to_string()).collect();
        let of_losses = ["E0552", "E0553", "E0558", "W0513", "W0515"];
        let mut alarms = codes.iter().filter(|code| of_losses.contains(&&code[..]));
        let is_right = match self.code {
            Some(code) => codes.iter().any(|said| said == code),
            None => alarms.next().is_none() && !codes.iter().any(|code| code.starts_with('E')),
        };
        self.check_shader(&without_slopes)?;
        match is_right {
            true => Ok(()),
            false => Err(format!(
                "{}: {codes:?}, expected {:?}\n{}",
                if self.code.is_some() {
                    "silent"
                } else {
                    "false alarm"
                },
                self.code,
                self.source
            )),
        }
    }
}

impl LossProgram {
    /// Checks what is said of the gradient of a shader that calls the function, without marks: by
    /// its inputs, and by a buffer that has the arguments. There a call of a function without a
    /// mark loses nothing.
    fn check_shader(&self, compiler: &Compiler) -> Result<(), String> {
        let at = self.source.find("shader main(").unwrap_or(0);
        let functions = self.source[..at].replace("[Differentiable] ", "");
        let rounds = self.source.contains("int n = (int)");
        let loses = self.code.is_some_and(|code| code != "E0552" || rounds);
        let by_inputs = (
            "float u = 0.7, float v = 0.6, out float o) { o = f(u, v); }",
            GradientRequest::new(),
        );
        let by_buffer = (
            "out float o) { o = f(weights[0], weights[1]); }",
            GradientRequest::new().by_buffer("weights"),
        );
        for (shader, request) in [by_inputs, by_buffer] {
            let source = format!("{functions}shader main({shader}\n");
            let found = bundle::sources(&source).and_then(|sources| compiler.compile(&sources));
            let found = found.and_then(|program| program.gradient(&request));
            let found =
                found.map_err(|no| format!("a shader without a gradient: {no}\n{source}"))?;
            if loses == found.ends().is_empty() {
                return Err(format!(
                    "{} of a shader: {:?}\n{source}",
                    if loses { "silent" } else { "false alarm" },
                    found.ends()
                ));
            }
        }
        Ok(())
    }
}

/// What was checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct LossCounts {
    /// Programs that lose a gradient.
    pub losing: usize,
    /// Programs that lose none.
    pub keeping: usize,
}

impl AddAssign for LossCounts {
    fn add_assign(&mut self, other: LossCounts) {
        self.losing += other.losing;
        self.keeping += other.keeping;
    }
}

impl fmt::Display for LossCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LossCounts { losing, keeping } = self;
        write!(
            f,
            "{losing} programs that lose a gradient, {keeping} that lose none"
        )
    }
}

/// Checks `programs` seeds from `first` on, or up to the first failure.
pub fn run_losses(first: u64, programs: u64) -> (LossCounts, Option<String>) {
    let seeds = first..first.saturating_add(programs);
    check_seeds(seeds, &LossCounts::default(), |seed, counts| {
        let program = LossProgram::of_seed(seed);
        match program.code {
            Some(_) => counts.losing += 1,
            None => counts.keeping += 1,
        }
        program.check()
    })
}
