//! Running the reference evaluator on generated points, and textures for it.

use super::observation::{ObservedMessage, ObservedRun};
use crate::buffers::buffer_set;
use crate::generate::Point;
use adumbra_ir::Module;
use adumbra_ir::eval::{self, EvalOptions, EvalOutcome, EvalValue, Number};
use adumbra_ir::host::{Host, Limits, SampleRequest, Sampled, Texel, TexelSlopes};
use adumbra_ir::module::MessageId;
use std::sync::Arc;

/// Steps that a generated program may take. It means to take far fewer.
pub const STEP_BUDGET: u64 = 20_000;

/// Limits under which generated programs run, whatever the engine.
pub fn limits() -> Limits {
    Limits {
        steps: STEP_BUDGET,
        ..Limits::default()
    }
}

/// Textures whose colour and slopes depend on where they are asked, never on the partials. Every
/// request, adjoint and message is kept.
#[derive(Clone, Debug, Default)]
pub struct TextureRecorder {
    /// The requests, in the order in which they came.
    pub requests: Vec<SampleRequest>,
    /// The messages, in the order in which they came, and the numbers of adjoints as such.
    pub messages: Vec<ObservedMessage>,
}

/// The number that adjoints have among messages.
const ADJOINT: MessageId = MessageId(u32::MAX);

impl TextureRecorder {
    /// The answer to a request.
    pub fn texel(&self, request: &SampleRequest) -> Texel {
        // A difference in the last bit of a coordinate makes another colour.
        let mut mixed =
            request.texture.0 ^ request.u.to_bits().rotate_left(7) ^ request.v.to_bits();
        let mut four = || {
            std::array::from_fn(|_| {
                mixed = mixed.wrapping_mul(0x9E37_79B1) ^ (mixed >> 15);
                (mixed >> 8) as f32 / (1 << 24) as f32
            })
        };
        Texel {
            numbers: four(),
            slopes: request.slopes.then(|| TexelSlopes {
                u: four(),
                v: four(),
            }),
        }
    }
}

impl Host for TextureRecorder {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        self.requests.push(*request);
        self.texel(request).into()
    }

    fn texture_adjoint(&mut self, request: &SampleRequest, adjoint: &Texel) {
        self.requests.push(*request);
        let numbers: Vec<u32> = adjoint.words().collect();
        self.message(ADJOINT, &numbers);
    }

    fn message(&mut self, message: MessageId, args: &[u32]) {
        let before = self.requests.len();
        self.messages.push((before, message.0, args.to_vec()));
    }
}

/// Textures of one colour each, whose slopes are 0 in differences, too. Every request is kept.
#[derive(Clone, Debug)]
pub struct Plain<F> {
    /// The requests, in the order in which they came.
    pub requests: Vec<SampleRequest<F>>,
}

impl<F> Default for Plain<F> {
    fn default() -> Plain<F> {
        Plain {
            requests: Vec::new(),
        }
    }
}

impl<F: Number> Host<F> for Plain<F> {
    fn sample(&mut self, request: &SampleRequest<F>) -> Sampled {
        self.requests.push(*request);
        let shade = (request.texture.0 % 4) as f32 / 8.0;
        Texel::flat([0.125 + shade, 0.5, 0.75 - shade, 0.375]).into()
    }
}

/// The point as the evaluator wants it. The module's globals must be those that the point was drawn
/// for.
pub fn place<F: Number>(module: &Module, point: &Point) -> eval::EvalPoint<F> {
    let mut globals = Vec::new();
    for (global, at) in module.globals.iter().zip(point) {
        let mut i = 0;
        global.ty.for_each_scalar(&mut |ty| {
            let mut slot = EvalValue::from_bits(ty, at.value[i]);
            slot.shadows = [&at.ddx, &at.ddy].map(|d| F::from_f32(f32::from_bits(d[i])));
            globals.push(slot);
            i += 1;
        });
    }
    eval::EvalPoint {
        globals,
        buffers: Arc::new(buffer_set(&module.buffers)),
        ..eval::EvalPoint::new(module)
    }
}

/// The observation of a module at a point by the reference evaluator.
pub fn observe(module: &Module, point: &Point) -> ObservedRun {
    let mut textures = TextureRecorder::default();
    let options = EvalOptions {
        limits: limits(),
        ..EvalOptions::default()
    };
    let outcome = eval::evaluate(module, &place(module, point), &options, &mut textures);
    ObservedRun::of_outcome(module, &outcome, &textures)
}

/// Evaluates over `f32` or `f64` with plain textures, and says which path was taken.
pub fn trace<F: Number>(
    module: &Module,
    point: &eval::EvalPoint<F>,
) -> (EvalOutcome<F>, Vec<SampleRequest<F>>) {
    let mut textures = Plain::default();
    let options = EvalOptions {
        limits: limits(),
        path: true,
        ..EvalOptions::default()
    };
    let outcome = eval::evaluate(module, point, &options, &mut textures);
    (outcome, textures.requests)
}
