//! The texture host of commands without a renderer: it answers a checkerboard and records each
//! request.

use crate::messages::MessageBuffer;
use adumbra::{Host, SampleRequest, Sampled, host::MessageId, program::Texture, value::JsonFloat};
use serde::Serialize;
use signal_hook::consts::SIGINT;
use signal_hook::flag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A host whose every texture is a checkerboard of 8 by 8 fields: 1 where floor(8u) + floor(8v) is
/// even, else 0; alpha 1. It keeps requests in the order executed.
#[derive(Debug, Default)]
pub struct CheckerboardHost {
    pub requests: Vec<SampleRequest>,
    pub messages: MessageBuffer,
    interrupt: Interrupt,
}

/// Whether Ctrl-C was pressed; never, unless a session listens.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens to Ctrl-C from now on, instead of being ended by it.
    pub fn listen(&self) -> io::Result<()> {
        flag::register(SIGINT, self.0.clone()).map(drop)
    }

    /// Forgets that it was pressed.
    pub fn clear(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Acts as if Ctrl-C were pressed.
    #[cfg(test)]
    pub fn press(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether Ctrl-C was pressed.
    pub fn is_pressed(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl CheckerboardHost {
    /// A host whose evaluations are cancelled by Ctrl-C, and by nothing else: a clock would stop
    /// other points on a busy machine.
    pub fn new(interrupt: &Interrupt) -> CheckerboardHost {
        CheckerboardHost {
            interrupt: interrupt.clone(),
            ..CheckerboardHost::default()
        }
    }
}

impl Host for CheckerboardHost {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        self.requests.push(*request);
        Sampled::Ready(checkerboard_colour(request.u.into(), request.v.into()))
    }

    fn sample_for_helper(&mut self, request: &SampleRequest) -> Sampled {
        Sampled::Ready(checkerboard_colour(request.u.into(), request.v.into()))
    }

    fn message(&mut self, message: MessageId, args: &[u32]) {
        self.messages.add(message, args);
    }

    fn is_cancelled(&mut self) -> bool {
        self.interrupt.is_pressed()
    }
}

/// Differences in f64 sample too; their requests are not recorded.
impl Host<f64> for CheckerboardHost {
    fn sample(&mut self, request: &SampleRequest<f64>) -> Sampled {
        Sampled::Ready(checkerboard_colour(request.u, request.v))
    }

    fn is_cancelled(&mut self) -> bool {
        self.interrupt.is_pressed()
    }
}

/// The colour of the checkerboard.
pub fn checkerboard_colour(u: f64, v: f64) -> [f32; 4] {
    // NaN and infinity are in no field; the remainder is then NaN.
    let is_even = ((8.0 * u).floor() + (8.0 * v).floor()).rem_euclid(2.0) == 0.0;
    let level = if is_even { 1.0 } else { 0.0 };
    [level, level, level, 1.0]
}

/// A request as programs see it.
#[derive(Debug, Serialize)]
pub struct JsonSample<'a> {
    pub texture: &'a str,
    pub u: JsonFloat,
    pub v: JsonFloat,
    pub dudx: JsonFloat,
    pub dudy: JsonFloat,
    pub dvdx: JsonFloat,
    pub dvdy: JsonFloat,
    /// Where the shader chose the level itself, or a texture was looked up at one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<JsonFloat>,
}

impl<'a> JsonSample<'a> {
    /// A request with the name of its texture.
    pub fn new(request: &SampleRequest, textures: &'a [Texture]) -> JsonSample<'a> {
        JsonSample {
            texture: &textures[request.texture.index()].name,
            u: JsonFloat(request.u),
            v: JsonFloat(request.v),
            dudx: JsonFloat(request.dudx),
            dudy: JsonFloat(request.dudy),
            dvdx: JsonFloat(request.dvdx),
            dvdy: JsonFloat(request.dvdy),
            level: request.level.map(JsonFloat),
        }
    }
}

impl CheckerboardHost {
    /// The requests with the names of their textures, for JSON.
    pub fn json_samples<'a>(&self, textures: &'a [Texture]) -> Vec<JsonSample<'a>> {
        let sample = |request| JsonSample::new(request, textures);
        self.requests.iter().map(sample).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkerboard_has_eight_by_eight_fields() {
        let mut checker = CheckerboardHost::default();
        let mut at = |u, v| {
            let request = SampleRequest {
                texture: Default::default(),
                u,
                v,
                dudx: 0.0,
                dudy: 0.0,
                dvdx: 0.0,
                dvdy: 0.0,
                level: None,
                slopes: false,
            };
            let Sampled::Ready([r, g, b, a]) = checker.sample(&request) else {
                panic!("the checker is always there");
            };
            assert!(r == g && g == b && a == 1.0);
            r
        };
        assert_eq!(at(0.0, 0.0), 1.0);
        assert_eq!(at(0.125, 0.0), 0.0);
        assert_eq!(at(0.125, 0.99), 1.0);
        assert_eq!(at(-0.01, 0.0), 0.0);
        assert_eq!(at(f32::NAN, f32::INFINITY), 0.0);
        assert_eq!(checker.requests.len(), 5);
    }
}
