//! Samples of textures in gradients: their coordinates, by slopes.

use super::{compiler, globals, gradient};
use adumbra::gradient::GradientRequest;
use adumbra::{Evaluator, Globals, Host, Instance, SampleRequest, Sampled, Sources, TexelSlopes};

/// A texture of u·v in red, with its slopes.
struct Saddle;
impl Host for Saddle {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        let (u, v) = (request.u, request.v);
        let slopes = TexelSlopes {
            u: [v, 0.0, 0.0, 0.0],
            v: [u, 0.0, 0.0, 0.0],
        };
        Sampled::Sloped([u * v, 0.0, 0.0, 1.0], slopes)
    }
}

#[test]
fn coordinates_have_gradients_by_slopes() {
    let source = "texture2d t; shader s(float a = 2.0, float b = 5.0, out float o) {
        o = texture2d_sample<t>(a * 3.0, b).x; }";
    let sources = Sources::new("s.adu", source);
    let with = compiler().texture_slopes(true).compile(&sources).unwrap();
    let found = with.gradient(&GradientRequest::new()).unwrap();
    assert!(found.ends().is_empty());
    for request in [GradientRequest::new(), GradientRequest::new().forward()] {
        let found = with.gradient(&request).unwrap();
        let seeds = match request.mode() {
            adumbra::gradient::Mode::Backward => [("d(o)", 1.0), ("x", 0.0)],
            adumbra::gradient::Mode::Forward => [("d(a)", 1.0), ("d(b)", 1.0)],
        };
        let mut evaluator = Evaluator::new(&Instance::new(found.program()));
        evaluator.evaluate(&globals(found.program(), &seeds), &mut Saddle);
        match request.mode() {
            adumbra::gradient::Mode::Backward => {
                assert_eq!(evaluator.get::<f32>("d(a)"), Ok(15.0));
                assert_eq!(evaluator.get::<f32>("d(b)"), Ok(6.0));
            }
            adumbra::gradient::Mode::Forward => {
                assert_eq!(evaluator.get::<f32>("d(o)"), Ok(21.0));
            }
        }
    }
    let without = gradient(source, GradientRequest::new());
    assert_eq!(without.ends().len(), 1);
    assert!(
        without.ends()[0].message.contains("`t`"),
        "{:?}",
        without.ends()
    );
}

#[test]
fn marked_functions_pass_samples_by_slopes() {
    let source = "texture2d t;
        [Differentiable] float f(float a, float b) { return texture2d_sample<t>(a * 3.0, b).x; }
        shader s(float a = 2.0, out float by_a, out float by_b, out float forward) {
            var p = diffPair(a), q = diffPair(5.0);
            bwd_diff(f)(p, q, 1.0);
            by_a = p.d; by_b = q.d; forward = fwd_diff(f)(diffPair(a, 1.0), diffPair(5.0, 10.0)).d; }";
    let sources = Sources::new("s.adu", source);
    let no = compiler().compile(&sources).unwrap_err();
    assert_eq!(no.diagnostics[0].code.to_string(), "E0553");
    let program = compiler().texture_slopes(true).compile(&sources).unwrap();
    let mut evaluator = Evaluator::new(&Instance::new(&program));
    evaluator.evaluate(&Globals::new(program.globals()), &mut Saddle);
    let found = ["by_a", "by_b", "forward"].map(|name| evaluator.get::<f32>(name).unwrap());
    assert_eq!(found, [15.0, 6.0, 75.0]);
}
