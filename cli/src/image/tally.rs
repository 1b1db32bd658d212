//! Tallies the faults and messages of a region's pixels: counted, and shown where they came first
//! in the image.

use crate::report;
use adumbra::{
    Program, Sources,
    diagnostics::{Span, fault_diagnostic},
    host::{Fault, FaultKind, Faults, MessageId},
};
use adumbra_image::ImageRegion;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Most messages that are shown of an image: those of its first pixels.
pub const MAX_SHOWN_MESSAGES: usize = 100;

/// The number of pixels that had a fault, and the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FaultCount {
    pixels: usize,
    first: usize,
}

/// The faults of pixels, in whatever order they were drawn.
#[derive(Debug, Default)]
pub struct FaultTally {
    met: BTreeMap<(FaultKind, Span), FaultCount>,
    /// Faults beyond those that a pixel keeps.
    more: u64,
}

impl FaultTally {
    /// Adds the faults of a pixel.
    pub fn add(&mut self, pixel: usize, faults: &Faults) {
        for Fault { kind, span } in faults {
            self.join(
                (kind, span),
                FaultCount {
                    pixels: 1,
                    first: pixel,
                },
            );
        }
        self.more += u64::from(faults.omitted_count());
    }

    /// Adds the faults of another part of the image.
    pub fn merge(&mut self, other: FaultTally) {
        for (fault, met) in other.met {
            self.join(fault, met);
        }
        self.more += other.more;
    }

    /// Adds the faults of other points of the same pixels: each fault counts as in the point that
    /// has it most often.
    pub fn merge_sample(&mut self, other: FaultTally) {
        for (fault, met) in other.met {
            let known = self.met.entry(fault).or_insert(met);
            known.pixels = known.pixels.max(met.pixels);
            known.first = known.first.min(met.first);
        }
        self.more += other.more;
    }

    fn join(&mut self, fault: (FaultKind, Span), met: FaultCount) {
        let known = self.met.entry(fault).or_insert(FaultCount {
            pixels: 0,
            first: met.first,
        });
        known.pixels += met.pixels;
        known.first = known.first.min(met.first);
    }

    /// Reports each fault once, in the order in which pixels first met them.
    pub fn report(&self, sources: &Sources, region: ImageRegion) {
        let mut met: Vec<_> = self.met.iter().collect();
        met.sort_by_key(|(_, met)| met.first);
        let diagnostics: Vec<_> = met
            .into_iter()
            .map(|((kind, span), FaultCount { pixels, first })| {
                let mut diagnostic = fault_diagnostic(Fault {
                    kind: *kind,
                    span: *span,
                });
                let count = match pixels {
                    1 => "at 1 pixel:".to_owned(),
                    n => format!("at {n} pixels, the first"),
                };
                let [x, y] = region.place(*first);
                diagnostic.label = format!("{} {count} ({x}, {y})", diagnostic.label);
                diagnostic
            })
            .collect();
        report::diagnostics_to_stderr(&diagnostics, sources, report::OutputFormat::Text);
        if self.more > 0 {
            report::message(&format!("… and {} more faults", self.more));
        }
    }
}

/// The messages of the first pixels that gave any.
#[derive(Debug, Default)]
pub struct MessageTally {
    by_pixel: BTreeMap<usize, Vec<Message>>,
    kept: usize,
    more: u64,
}

/// A message and its arguments.
type Message = (MessageId, Box<[u32]>);

impl MessageTally {
    /// Takes a message of a pixel, if it is among the first.
    pub fn add(&mut self, pixel: usize, message: MessageId, args: &[u32]) {
        let last = self.by_pixel.keys().next_back();
        let is_full = self.kept == MAX_SHOWN_MESSAGES;
        if is_full && last.is_none_or(|last| pixel >= *last) {
            self.more += 1;
            return;
        }
        let of_pixel = self.by_pixel.entry(pixel).or_default();
        of_pixel.push((message, args.into()));
        self.kept += 1;
        self.drop_last();
    }

    /// Drops messages beyond [`MAX_SHOWN_MESSAGES`].
    fn drop_last(&mut self) {
        while self.kept > MAX_SHOWN_MESSAGES
            && let Some(mut last) = self.by_pixel.last_entry()
        {
            last.get_mut().pop();
            if last.get().is_empty() {
                last.remove();
            }
            self.kept -= 1;
            self.more += 1;
        }
    }

    /// Adds the messages of another part of the image.
    pub fn merge(&mut self, other: MessageTally) {
        self.kept += other.kept;
        self.more += other.more;
        self.by_pixel.extend(other.by_pixel);
        self.drop_last();
    }

    /// Prints the messages, each with its pixel, and how many there were beyond.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn print(&self, program: &Program, region: ImageRegion) -> io::Result<()> {
        let mut out = io::stdout().lock();
        for (pixel, messages) in &self.by_pixel {
            let [x, y] = region.place(*pixel);
            for (message, args) in messages {
                let text = program.messages()[message.index()].render(args);
                writeln!(out, "({x}, {y}) {}", text.trim_end_matches('\n'))?;
            }
        }
        match self.more {
            0 => Ok(()),
            n => writeln!(out, "… and {n} more messages"),
        }
    }
}
