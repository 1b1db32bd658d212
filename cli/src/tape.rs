//! What the reverse mode of a program keeps, for people.

use crate::show;
use adumbra::inspect::TapeStats;
use std::fmt::Write;

/// Each record with its values and the reasons; nothing if nothing is kept.
pub fn tape_text(tape: &[TapeStats]) -> String {
    let mut out = String::new();
    for record in tape {
        let _ = writeln!(out, "{}: {}", record.function, record_text(record));
        let lines = record.values.iter().map(|value| {
            let needed = value.needed_by.iter().zip(&value.needed_at).next();
            vec![
                format!("  {}", value.value),
                value.ty.clone(),
                value.at.to_string(),
                needed.map_or_else(String::new, |(by, at)| format!("for the {by} at {at}")),
                value.reason.clone(),
            ]
        });
        out.push_str(&show::table(&lines.collect::<Vec<_>>()));
    }
    out
}

/// All records in one line.
pub fn tape_line(tape: &[TapeStats]) -> String {
    let records: Vec<String> = tape.iter().map(record_text).collect();
    records.join("; ")
}

fn record_text(record: &TapeStats) -> String {
    let copies = match record.copies {
        1 => String::new(),
        copies => format!(" ({copies} copies)"),
    };
    let TapeStats { bytes, at, .. } = record;
    match record.per {
        "iteration" => format!("{bytes} bytes an iteration of the loop at {at}{copies}"),
        _ => format!("{bytes} bytes a call of the function at {at}{copies}"),
    }
}
