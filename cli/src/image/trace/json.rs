//! Prints the trace of a pixel for programs: one object.

use super::PixelTrace;
use super::record::{
    FirstNonfinite, MAX_TRACED_ITERATIONS, TraceEvent, TraceEventKind, assigned_name,
};
use super::text::{branch_keyword, read_globals};
use crate::checkerboard::JsonSample;
use crate::report::{self, JsonFault};
use crate::show::JsonValue;
use adumbra::diagnostics::Span;
use adumbra::inspect::ObservedEvent;
use adumbra::value::{JsonFloat, ValueView};
use adumbra::{Scalar, Type};
use serde::{Serialize, Serializer};

#[derive(Serialize)]
pub struct JsonPixel<'a> {
    pixel: [usize; 2],
    size: [usize; 2],
    shader: &'a str,
    globals: NamedValues<'a>,
    trace: Vec<JsonStep<'a>>,
    #[serde(skip_serializing_if = "is_zero")]
    more_steps: u64,
    outputs: NamedValues<'a>,
    nonfinite: Vec<JsonFirst<'a>>,
    faults: Vec<JsonFault>,
    #[serde(skip_serializing_if = "is_zero")]
    more_faults: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Values by name, in order.
struct NamedValues<'a>(Vec<(&'a str, JsonValue<'a>)>);

impl Serialize for NamedValues<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// A location in a source.
#[derive(Serialize)]
struct JsonLocation<'a> {
    file: &'a str,
    line: u32,
    column: u32,
}

#[derive(Serialize)]
struct JsonStep<'a> {
    event: &'static str,
    depth: usize,
    #[serde(flatten)]
    location: Option<JsonLocation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<&'a str>,
    #[serde(flatten)]
    detail: Detail<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Detail<'a> {
    Call {
        callee: &'a str,
    },
    Assign {
        name: String,
        #[serde(flatten)]
        value: Option<JsonValue<'a>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        shortened: bool,
    },
    Return {
        #[serde(flatten)]
        value: Option<JsonValue<'a>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        shortened: bool,
    },
    Branch {
        of: &'static str,
        value: JsonWord,
    },
    Iteration {
        iteration: u64,
    },
    Loop {
        iterations: u64,
        left_out: u64,
    },
    Sample {
        #[serde(flatten)]
        request: JsonSample<'a>,
        color: [JsonFloat; 4],
    },
    Message {
        text: &'a str,
    },
}

/// The condition of a branch.
#[derive(Serialize)]
#[serde(untagged)]
enum JsonWord {
    Bool(bool),
    Int(i32),
    Uint(u32),
}

/// The first value that was NaN, or infinite.
#[derive(Serialize)]
struct JsonFirst<'a> {
    kind: &'static str,
    name: &'a str,
    part: &'a str,
    function: &'a str,
    #[serde(flatten)]
    location: Option<JsonLocation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    born: Option<JsonNanOrigin<'a>>,
}

/// The operation that gave a NaN though no operand was one.
#[derive(Serialize)]
struct JsonNanOrigin<'a> {
    #[serde(flatten)]
    location: JsonLocation<'a>,
    text: &'a str,
}

/// The whole trace of a pixel.
pub fn to_json<'a>(followed: &'a PixelTrace<'_>) -> JsonPixel<'a> {
    let globals = read_globals(followed).map(|(name, ty, words)| {
        let [value, ddx, ddy] = words.map(|words| ValueView::new(ty, words));
        (name, JsonValue::of(ty, value, [Some(ddx), Some(ddy)]))
    });
    let outputs = followed.evaluator.outputs();
    let outputs = outputs.map(|output| {
        let value = JsonValue::new(&output, followed.has_derivatives);
        (output.name(), value)
    });
    let recorder = followed.trace;
    let mut nonfinite = Vec::new();
    if let Some(first) = &recorder.first_infinity {
        nonfinite.push(followed.first("infinity", first, None));
    }
    if let Some(first) = &recorder.first_nan {
        nonfinite.push(followed.first("nan", first, followed.nan_origin));
    }
    let faults = report::fault_diagnostics(followed.evaluator);
    JsonPixel {
        pixel: followed.at,
        size: followed.size,
        shader: &followed.program.module().entry().name,
        globals: NamedValues(globals.collect()),
        trace: recorder.events.iter().map(|s| followed.step(s)).collect(),
        more_steps: recorder.omitted_events,
        outputs: NamedValues(outputs.collect()),
        nonfinite,
        faults: JsonFault::all(&faults, followed.sources),
        more_faults: followed.evaluator.faults().omitted_count().into(),
    }
}

impl<'a> PixelTrace<'a> {
    fn location(&self, span: Span) -> Option<JsonLocation<'_>> {
        let file = self.sources.get(span.file)?;
        let position = file.line_column(span.start);
        Some(JsonLocation {
            file: file.name(),
            line: position.line,
            column: position.column,
        })
    }

    fn first<'s>(
        &'s self,
        kind: &'static str,
        first: &'s FirstNonfinite,
        born: Option<Span>,
    ) -> JsonFirst<'s> {
        let observation = self.observation(first.observation);
        let born = born.and_then(|span| {
            let text = self.sources.get(span.file)?.text();
            let text = text.get(span.start as usize..span.end as usize)?;
            Some(JsonNanOrigin {
                location: self.location(span)?,
                text,
            })
        });
        JsonFirst {
            kind,
            name: &first.name,
            part: first.part,
            function: &observation.function,
            location: self.location(observation.span),
            born,
        }
    }

    fn step<'s>(&'s self, step: &'s TraceEvent) -> JsonStep<'s> {
        let (number, event, detail) = match &step.kind {
            TraceEventKind::Observed(number, observed) => {
                let observation = self.observation(*number);
                let value = |ty: &'s Type| {
                    let view = |words| ValueView::new(ty, words);
                    let known = step.shadows.each_ref();
                    let known = known.map(|words| words.as_ref().map(|words| view(words)));
                    JsonValue::of(ty, view(&observed.value), known)
                };
                let (event, detail) = match &observation.event {
                    ObservedEvent::Call(callee) => ("call", Detail::Call { callee }),
                    ObservedEvent::Return(shape) => {
                        let value = shape.as_ref().map(|shape| value(&shape.ty));
                        let shortened = shape.as_ref().is_some_and(|shape| shape.is_shortened);
                        ("return", Detail::Return { value, shortened })
                    }
                    ObservedEvent::Condition(choice, scalar) => {
                        let word = observed.value.first().copied().unwrap_or_default();
                        let of = branch_keyword(*choice);
                        let value = match scalar {
                            Scalar::Bool => JsonWord::Bool(word != 0),
                            Scalar::I32 => JsonWord::Int(word as i32),
                            _ => JsonWord::Uint(word),
                        };
                        ("branch", Detail::Branch { of, value })
                    }
                    event => {
                        let shape = match event {
                            ObservedEvent::Assign { value, .. } => value.as_ref(),
                            _ => None,
                        };
                        let detail = Detail::Assign {
                            name: assigned_name(observation, observed),
                            value: shape.map(|shape| value(&shape.ty)),
                            shortened: shape.is_some_and(|shape| shape.is_shortened),
                        };
                        ("assign", detail)
                    }
                };
                (Some(*number), event, detail)
            }
            TraceEventKind::Iteration(number, iteration) => {
                let iteration = *iteration;
                (Some(*number), "iteration", Detail::Iteration { iteration })
            }
            TraceEventKind::Loop(number, iterations, is_left) => {
                let event = if *is_left {
                    "loop_left"
                } else {
                    "loop_stopped"
                };
                let detail = Detail::Loop {
                    iterations: *iterations,
                    left_out: iterations.saturating_sub(MAX_TRACED_ITERATIONS),
                };
                (Some(*number), event, detail)
            }
            TraceEventKind::Sample(number, sample) => {
                let detail = Detail::Sample {
                    request: JsonSample {
                        level: Some(JsonFloat(sample.level)),
                        ..JsonSample::new(&sample.request, self.program.textures())
                    },
                    color: sample.color.map(JsonFloat),
                };
                (*number, "sample", detail)
            }
            TraceEventKind::Message(text) => (None, "message", Detail::Message { text }),
        };
        let observation = number.map(|number| self.observation(number));
        JsonStep {
            event,
            depth: step.depth,
            location: observation.and_then(|observation| self.location(observation.span)),
            function: observation.map(|observation| &*observation.function),
            detail,
        }
    }
}
