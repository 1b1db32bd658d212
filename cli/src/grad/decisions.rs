//! What becomes of each decision beside the one point that a gradient is of.

use super::GradJob;
use crate::decision::SourceDecision;
use crate::error::{CliError, CliResult};
use crate::show::table;
use adumbra::gradient::{JumpDecision, JumpDecisions, MAX_LISTED_DECISIONS};
use adumbra::value::HumanFloat;
use serde::Serialize;
use serde_json::Value;

/// The most decisions that are shown to people.
const MAX_SHOWN: usize = 64;

/// A decision between the point and a neighbour, for programs.
#[derive(Serialize)]
pub struct JsonDecision {
    line: u32,
    text: String,
    /// Here and there.
    margin: [Value; 2],
    axis: String,
    side: &'static str,
    flips: bool,
    root: bool,
    /// How often it turns between the two.
    roots: usize,
    visible: bool,
    nullified: bool,
    weight: f64,
}

impl GradJob<'_> {
    /// The decisions beside the point, if there is one alone, and jumps count.
    ///
    /// # Errors
    /// If the engine cannot run the program.
    pub fn list_decisions(&self, of: Option<&JumpDecisions>) -> CliResult<Vec<JumpDecision>> {
        let Some(of) = of else {
            return Ok(Vec::new());
        };
        let point = self.points.points().numbers();
        let varying = self.points.planes(&point);
        let globals = self.points.batch_globals(&varying);
        let batch = self.jump_batch(of.jumps(), point.start);
        let found = batch.decisions(of, &globals, 0, &mut self.host());
        found.map_err(CliError::usage)
    }

    fn json_decision(&self, decision: &JumpDecision) -> JsonDecision {
        let source = SourceDecision::new(&decision.site, self.sources);
        let margin = |margin: Option<f32>| margin.map_or(Value::Null, super::show::shortest);
        JsonDecision {
            line: source.line,
            text: source.text,
            margin: decision.margins.map(margin),
            axis: self.axis_name(decision),
            side: side(decision),
            flips: decision.flips,
            root: decision.roots > 0,
            roots: decision.roots,
            visible: decision.is_visible,
            nullified: decision.is_nullified,
            weight: decision.weight,
        }
    }

    /// The decisions, for programs.
    pub fn json_decisions(&self, decisions: &[JumpDecision]) -> Vec<JsonDecision> {
        let decisions = decisions.iter();
        decisions.map(|one| self.json_decision(one)).collect()
    }

    /// The decisions that flip, or are roots, for people, by place; how many others there are.
    pub fn shown_decisions(&self, decisions: &[JumpDecision]) -> String {
        let is_shown = |one: &&JumpDecision| one.flips || one.roots > 0;
        let mut shown: Vec<&JumpDecision> = decisions.iter().filter(is_shown).collect();
        // Those of one place stay in order of neighbours and of execution.
        shown.sort_by_key(|one| (one.site.span.file, one.site.span.start));
        let is_alone = |one: &&JumpDecision| !is_shown(one) && one.margins.contains(&None);
        let alone = decisions.iter().filter(is_alone).count();
        let quiet = decisions.len() - shown.len() - alone;
        let mut out = String::new();
        if !shown.is_empty() {
            let head = [
                "line",
                "decision",
                "neighbour",
                "margin here",
                "there",
                "counts",
            ];
            let mut lines = vec![head.map(str::to_owned).to_vec()];
            for decision in shown.iter().take(MAX_SHOWN) {
                let source = SourceDecision::new(&decision.site, self.sources);
                let margin = |margin: Option<f32>| match margin {
                    Some(margin) => HumanFloat(margin).to_string(),
                    None => "-".to_owned(),
                };
                lines.push(vec![
                    source.shown_line(),
                    source.text,
                    format!("{}{}", self.axis_name(decision), side(decision)),
                    margin(decision.margins[0]),
                    margin(decision.margins[1]),
                    self.counts(decision),
                ]);
            }
            out += &table(&lines);
        }
        if shown.len() > MAX_SHOWN {
            out += &format!("and {} more\n", shown.len() - MAX_SHOWN);
        }
        if quiet > 0 {
            out += &format!("decisions that are the same at a neighbour: {quiet}\n");
        }
        if alone > 0 {
            out += &format!("decisions that the pixel or its neighbour alone comes to: {alone}\n");
        }
        let of_kernels = decisions.chunk_by(|a, b| (a.axis, a.side) == (b.axis, b.side));
        let most = of_kernels.map(<[JumpDecision]>::len).max();
        if most >= Some(MAX_LISTED_DECISIONS as usize) {
            out += &format!("of each sample, the first {MAX_LISTED_DECISIONS} are listed\n");
        }
        out
    }

    /// What a decision counts, or why it does not.
    fn counts(&self, decision: &JumpDecision) -> String {
        match decision {
            one if one.is_nullified => "no: there are too many, or one has no place".to_owned(),
            one if one.roots == 0 => "no: its margin jumps itself".to_owned(),
            one if !one.is_visible => "no: no output jumps there".to_owned(),
            one if one.weight == 0.0 => "no: another axis counts, or its margin is flat".to_owned(),
            one => {
                let counts = format!("{} × jump × slope", HumanFloat(one.weight as f32));
                match one.roots {
                    1 => counts,
                    roots => format!("{roots} edges, the first {counts}"),
                }
            }
        }
    }

    fn axis_name(&self, decision: &JumpDecision) -> String {
        let axes = self.jumps.map_or(&[][..], |jumps| jumps.axes());
        axes[decision.axis].name_in(self.program.globals())
    }
}

fn side(decision: &JumpDecision) -> &'static str {
    match decision.side < 0.0 {
        true => "-",
        false => "+",
    }
}
