//! Prints the trace of a pixel for people: tables of one line an event.

use super::PixelTrace;
use super::record::{MAX_TRACED_ITERATIONS, TraceEvent, TraceEventKind, assigned_name};
use crate::show;
use adumbra::diagnostics::Span;
use adumbra::inspect::{ConditionKind, MAX_OBSERVED_ELEMENTS, ObservedEvent, ObservedShape};
use adumbra::value::{HumanFloat, ValueView};

type Row = Vec<String>;

/// The whole trace of a pixel.
pub fn to_text(followed: &PixelTrace<'_>) -> String {
    let ([x, y], [width, height]) = (followed.at, followed.size);
    let mut out = format!("pixel {x},{y} of {width}x{height}\n\n");
    let mut globals = vec![heads(["global", "value", "ddx", "ddy"])];
    for (name, ty, words) in read_globals(followed) {
        let mut row = vec![name.to_owned()];
        row.extend(words.map(|words| ValueView::new(ty, words).to_string()));
        if !show::has_floats(ty) {
            row.truncate(2);
        }
        globals.push(row);
    }
    if globals.len() > 1 {
        out += &show::table(&globals);
        out.push('\n');
    }
    let mut rows = vec![heads(["line", "in", "what", "value", "ddx", "ddy"])];
    for step in &followed.trace.events {
        rows.extend(followed.rows(step));
    }
    out += &show::table(&rows);
    if followed.trace.omitted_events > 0 {
        out += &format!("… and {} more steps\n", followed.trace.omitted_events);
    }
    out.push('\n');
    if followed.evaluator.faults().stopped().is_some() {
        out += "the point was stopped, so all outputs are zero\n";
    }
    let mut outputs = vec![heads(["output", "value", "ddx", "ddy"])];
    for output in followed.evaluator.outputs() {
        let mut row = vec![output.name().to_owned(), show::value_text(&output)];
        let derivatives = show::derivatives_of(&output, followed.has_derivatives);
        row.extend(derivatives.into_iter().flatten().map(|it| it.to_string()));
        outputs.push(row);
    }
    out += &show::table(&outputs);
    out + &followed.nonfinite()
}

fn heads<const N: usize>(heads: [&str; N]) -> Row {
    heads.map(str::to_owned).to_vec()
}

/// The globals that the shader reads: name, type, and the words of value, ddx and ddy.
pub fn read_globals<'a>(
    followed: &'a PixelTrace<'_>,
) -> impl Iterator<Item = (&'a str, &'a adumbra::Type, [&'a [u32]; 3])> {
    let members = followed.program.globals().members().iter();
    let read = members.filter(|member| followed.program.reads(member.name()));
    read.map(|member| {
        let offsets = [
            member.value_offset(),
            member.ddx_offset(),
            member.ddy_offset(),
        ];
        let count = member.ty().scalar_count();
        let words = offsets.map(|offset| &followed.globals.words()[offset / 4..][..count]);
        (member.name(), member.ty(), words)
    })
}

impl PixelTrace<'_> {
    /// The lines of an event.
    fn rows(&self, step: &TraceEvent) -> Vec<Row> {
        let indent = "  ".repeat(step.depth.min(MAX_INDENT));
        let row = |number: Option<usize>, what: String, values: Vec<String>| {
            let observation = number.map(|number| self.observation(number));
            let line = observation.map_or_else(String::new, |o| self.line(o.span));
            let function = observation.map_or("", |o| &o.function);
            let mut row = vec![line, function.to_owned(), format!("{indent}{what}")];
            row.extend(values);
            row
        };
        match &step.kind {
            TraceEventKind::Observed(number, observed) => {
                let number = *number;
                let observation = self.observation(number);
                let (what, shape) = match &observation.event {
                    ObservedEvent::Call(name) => {
                        return vec![row(Some(number), format!("{name}()"), vec![])];
                    }
                    ObservedEvent::Return(shape) => ("return".to_owned(), shape),
                    ObservedEvent::Condition(choice, scalar) => {
                        let ty = adumbra::Type::Scalar(*scalar);
                        let value = ValueView::new(&ty, &observed.value).to_string();
                        return vec![row(
                            Some(number),
                            branch_keyword(*choice).to_owned(),
                            vec![value],
                        )];
                    }
                    _ => match &observation.event {
                        ObservedEvent::Assign { value, .. } => {
                            (assigned_name(observation, observed), value)
                        }
                        _ => return vec![],
                    },
                };
                let Some(shape) = shape else {
                    let value = match observation.event {
                        ObservedEvent::Assign { .. } => vec!["(not shown)".to_owned()],
                        _ => vec![],
                    };
                    return vec![row(Some(number), what, value)];
                };
                let mut values = vec![shown(shape, &observed.value)];
                if show::has_floats(&shape.ty) {
                    for known in &step.shadows {
                        values.push(match known {
                            Some(words) => shown(shape, words),
                            None => "-".to_owned(),
                        });
                    }
                }
                vec![row(Some(number), what, values)]
            }
            TraceEventKind::Iteration(number, pass) => {
                vec![row(Some(*number), format!("iteration {pass}"), vec![])]
            }
            TraceEventKind::Loop(number, passes, is_left) => {
                let end = if *is_left {
                    "loop left after"
                } else {
                    "stopped in a loop, in"
                };
                let mut what = match (*is_left, *passes) {
                    (true, 1) => format!("{end} 1 iteration"),
                    (true, passes) => format!("{end} {passes} iterations"),
                    (false, passes) => format!("{end} iteration {passes}"),
                };
                if let Some(hidden) = passes.checked_sub(MAX_TRACED_ITERATIONS).filter(|n| *n > 0) {
                    what += &format!(", {hidden} of them left out here");
                }
                vec![row(Some(*number), what, vec![])]
            }
            TraceEventKind::Sample(number, sample) => {
                let r = &sample.request;
                let name = &self.program.textures()[r.texture.index()].name;
                let pair = |u: f32, v: f32| format!("({}, {})", HumanFloat(u), HumanFloat(v));
                let coordinates = vec![pair(r.u, r.v), pair(r.dudx, r.dvdx), pair(r.dudy, r.dvdy)];
                let [red, green, blue, alpha] = sample.color.map(HumanFloat);
                let color = vec![format!("({red}, {green}, {blue}, {alpha})")];
                let level = HumanFloat(sample.level);
                vec![
                    row(*number, format!("sample {name}: u, v"), coordinates),
                    row(*number, format!("sample {name}: level {level}"), color),
                ]
            }
            TraceEventKind::Message(text) => {
                let text = text.trim_end_matches('\n').replace('\n', "⏎");
                vec![row(None, format!("printf: {text}"), vec![])]
            }
        }
    }

    /// The line of a span, with the file's name if it is not the first.
    fn line(&self, span: Span) -> String {
        let Some(file) = self.sources.get(span.file) else {
            return String::new();
        };
        let line = file.line_column(span.start).line;
        match span.file == adumbra::diagnostics::FileId::MAIN {
            true => line.to_string(),
            false => format!("{}:{line}", file.name()),
        }
    }

    /// The lines of the first infinity and the first NaN.
    fn nonfinite(&self) -> String {
        let mut out = String::new();
        let firsts = [
            ("infinity", &self.trace.first_infinity, None),
            ("NaN", &self.trace.first_nan, self.birth()),
        ];
        for (what, first, birth) in firsts {
            let Some(first) = first else { continue };
            let part = match first.part {
                "value" => String::new(),
                part => format!("{part} of "),
            };
            let line = self.line(self.observation(first.observation).span);
            out += &format!("the first {what}: {part}`{}` in line {line}", first.name);
            if let Some(birth) = birth {
                out += &format!("; it was born in {birth}");
            }
            out.push('\n');
        }
        match out.is_empty() {
            true => out,
            false => format!("\n{out}"),
        }
    }
}

/// Greatest indent, in characters: deeper calls are shown no further to the right.
const MAX_INDENT: usize = 32;

/// The keyword of a condition.
pub fn branch_keyword(choice: ConditionKind) -> &'static str {
    match choice {
        ConditionKind::If => "if",
        ConditionKind::Ternary => "? :",
        ConditionKind::Loop => "loop",
        ConditionKind::Switch => "switch",
    }
}

fn shown(shape: &ObservedShape, words: &[u32]) -> String {
    let text = ValueView::new(&shape.ty, words).to_string();
    match shape.is_shortened {
        true => format!("{text} (the first {MAX_OBSERVED_ELEMENTS} elements)"),
        false => text,
    }
}
