//! What a point said with `printf`, kept until the point is done.

use adumbra::{MessageId, Program};

/// Most messages that are kept of one point; further ones are counted.
pub const MAX_MESSAGES: usize = 1_000;
/// Most words that their arguments may have together.
pub const MAX_WORDS: usize = 1 << 16;
/// Most bytes of their texts together.
pub const MAX_BYTES: usize = 1 << 20;

/// The messages of one point, in the order given.
#[derive(Debug, Default)]
pub struct Messages {
    kept: Vec<(MessageId, Box<[u32]>)>,
    words: usize,
    more: usize,
}

impl Messages {
    /// Takes a message, or counts it.
    pub fn add(&mut self, message: MessageId, args: &[u32]) {
        let is_full = self.kept.len() == MAX_MESSAGES || self.words + args.len() > MAX_WORDS;
        if is_full || self.more > 0 {
            self.more += 1;
            return;
        }
        self.words += args.len();
        self.kept.push((message, args.into()));
    }

    /// The texts of the first ones, and how many there were beyond.
    pub fn texts(&self, program: &Program) -> (Vec<String>, usize) {
        let mut bytes = 0;
        let texts = self.kept.iter().map(|(message, args)| {
            let text = program.messages()[message.index()].text(args);
            bytes += text.len();
            (bytes <= MAX_BYTES).then_some(text)
        });
        let texts: Vec<String> = texts.map_while(|text| text).collect();
        let more = self.more + self.kept.len() - texts.len();
        (texts, more)
    }

    /// All of it for people: the texts as they are, the end of a line behind the last.
    pub fn printed(&self, program: &Program) -> String {
        let (texts, more) = self.texts(program);
        let mut all = texts.concat();
        if !all.is_empty() && !all.ends_with('\n') {
            all.push('\n');
        }
        if more > 0 {
            all.push_str(&format!("… and {more} more messages\n"));
        }
        all
    }
}
