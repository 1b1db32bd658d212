//! Buffers the `printf` messages of a point until the point is done.

use adumbra::{Program, host::MessageId};

/// Most messages that are kept of one point; further ones are counted.
pub const MAX_MESSAGES: usize = 1_000;
/// Most words of the arguments of all messages together.
pub const MAX_ARGUMENT_WORDS: usize = 1 << 16;
/// Most bytes of the formatted messages together.
pub const MAX_FORMATTED_BYTES: usize = 1 << 20;

/// The messages of one point, in the order given.
#[derive(Debug, Default)]
pub struct MessageBuffer {
    kept: Vec<(MessageId, Box<[u32]>)>,
    words: usize,
    more: usize,
}

impl MessageBuffer {
    /// Adds a message, or counts it.
    pub fn add(&mut self, message: MessageId, args: &[u32]) {
        let is_full =
            self.kept.len() == MAX_MESSAGES || self.words + args.len() > MAX_ARGUMENT_WORDS;
        if is_full || self.more > 0 {
            self.more += 1;
            return;
        }
        self.words += args.len();
        self.kept.push((message, args.into()));
    }

    /// The first messages, formatted, and the number of further ones.
    pub fn formatted(&self, program: &Program) -> (Vec<String>, usize) {
        let mut bytes = 0;
        let strings = self.kept.iter().map(|(message, args)| {
            let text = program.messages()[message.index()].render(args);
            bytes += text.len();
            (bytes <= MAX_FORMATTED_BYTES).then_some(text)
        });
        let strings: Vec<String> = strings.map_while(|text| text).collect();
        let more = self.more + self.kept.len() - strings.len();
        (strings, more)
    }

    /// All messages for people, with a line feed after the last.
    pub fn to_text(&self, program: &Program) -> String {
        let (strings, more) = self.formatted(program);
        let mut all = strings.concat();
        if !all.is_empty() && !all.ends_with('\n') {
            all.push('\n');
        }
        if more > 0 {
            all.push_str(&format!("… and {more} more messages\n"));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra::{Compiler, GlobalsLayout, Sources};

    #[test]
    fn messages_beyond_limits_are_counted() {
        let mut messages = MessageBuffer::default();
        for _ in 0..MAX_MESSAGES + 3 {
            messages.add(MessageId(0), &[]);
        }
        assert_eq!((messages.kept.len(), messages.more), (MAX_MESSAGES, 3));

        let mut messages = MessageBuffer::default();
        messages.add(MessageId(0), &[0; MAX_ARGUMENT_WORDS]);
        messages.add(MessageId(0), &[0]);
        // All that follows an omitted message is omitted too.
        messages.add(MessageId(0), &[]);
        assert_eq!((messages.kept.len(), messages.more), (1, 2));
    }

    #[test]
    fn formatted_messages_are_bounded_in_bytes() {
        let long = "a".repeat(2 * MAX_FORMATTED_BYTES / MAX_MESSAGES);
        let text = format!("shader s() {{ printf(\"{long}\"); }}");
        let sources = Sources::new("long.adu", text);
        let compiled = Compiler::new(GlobalsLayout::new()).compile(&sources);
        let program = compiled.unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        let mut messages = MessageBuffer::default();
        for _ in 0..MAX_MESSAGES {
            messages.add(MessageId(0), &[]);
        }
        let (strings, more) = messages.formatted(&program);
        assert_eq!(strings.len(), MAX_FORMATTED_BYTES / long.len());
        assert_eq!(strings.len() + more, MAX_MESSAGES);
        let end = format!("… and {more} more messages\n");
        assert!(messages.to_text(&program).ends_with(&end));
    }
}
