//! Reads a session's items: from a terminal with history, editing, completion and colours, or from
//! a pipe.
//!
//! An item goes on over as many lines as it needs. An unfinished one ends outside of brackets at an
//! empty line, and anywhere at a `:command`, so that there is always a way out.

use super::command::is_known_command;
use super::complete::complete;
use super::highlight::highlighted;
use super::plot::DEFAULT_WIDTH;
use super::session::{ReplSession, is_unfinished};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::history::DefaultHistory;
use rustyline::{CompletionType, Config, Context, Editor, Helper, Hinter, Validator};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, BufRead, Read, StdinLock};
use std::path::PathBuf;
use std::rc::Rc;

/// The longest line that is read whole, in bytes. The rest of a longer one is dropped, and the item
/// refused as too long.
pub const MAX_LINE: usize = adumbra::sources::MAX_SOURCE_BYTES + 1;

/// Most items that the history keeps.
const HISTORY: usize = 10_000;

/// The result of reading an item.
#[derive(Debug, PartialEq)]
pub enum ReadItem {
    /// An item, or what there is of it at the end of the input.
    Item(String),
    /// Bytes that are not UTF-8.
    NotUtf8,
    /// Ctrl-C: forget what was typed so far.
    Cancelled,
    /// Ctrl-D, or the end of the pipe.
    EndOfInput,
}

/// The helper of the line editor: it completes and colours words.
#[derive(Helper, Hinter, Validator)]
pub struct Assistant {
    session: Rc<RefCell<ReplSession>>,
}

impl Completer for Assistant {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let completion = complete(&self.session.borrow(), &line[..at]);
        Ok((completion.start, completion.words))
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        Cow::Owned(highlighted(line))
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        // A move of the cursor changes no word.
        kind != CmdKind::MoveCursor
    }
}

/// A source of items.
pub struct ItemReader {
    lines: LineSource,
    /// The command that ended the item before.
    next: Option<String>,
}

enum LineSource {
    /// A person.
    Terminal {
        editor: Box<Editor<Assistant, DefaultHistory>>,
        history: Option<PathBuf>,
        /// LineSource that were pasted together, or recalled, and are still to be processed.
        pasted: VecDeque<String>,
    },
    /// Another program, or a file.
    Pipe(StdinLock<'static>),
}

impl ItemReader {
    /// A line editor with the history of earlier sessions.
    pub fn terminal(session: Rc<RefCell<ReplSession>>) -> rustyline::Result<ItemReader> {
        let config = Config::builder()
            .max_history_size(HISTORY)?
            .completion_type(CompletionType::List)
            .build();
        let mut editor = Editor::with_config(config)?;
        editor.set_helper(Some(Assistant { session }));
        let history = history_file();
        if let Some(path) = &history {
            // The first session has none.
            let _ = editor.load_history(path);
        }
        Ok(ItemReader {
            lines: LineSource::Terminal {
                editor: Box::new(editor),
                history,
                pasted: VecDeque::new(),
            },
            next: None,
        })
    }

    /// Standard input as it comes.
    pub fn pipe() -> ItemReader {
        ItemReader {
            lines: LineSource::Pipe(io::stdin().lock()),
            next: None,
        }
    }

    /// Waits for the next item.
    pub fn next(&mut self) -> io::Result<ReadItem> {
        let lines = &mut self.lines;
        let read = item(&mut self.next, |is_first| match lines {
            LineSource::Terminal { editor, pasted, .. } => {
                let prompt = if is_first { "> " } else { ". " };
                pasted_or_edited(pasted, || edited(editor, prompt))
            }
            LineSource::Pipe(stdin) => piped(stdin),
        })?;
        if let (LineSource::Terminal { editor, .. }, ReadItem::Item(item)) =
            (&mut self.lines, &read)
        {
            // An item is recalled as a whole. A failure leaves the session without history.
            let _ = editor.add_history_entry(item.trim_end());
        }
        Ok(read)
    }

    /// The number of characters that fit in a line.
    pub fn width(&mut self) -> usize {
        let columns = match &mut self.lines {
            LineSource::Terminal { editor, .. } => editor.dimensions().map(|(columns, _)| columns),
            LineSource::Pipe(_) => None,
        };
        columns.map_or(DEFAULT_WIDTH, usize::from)
    }

    /// Keeps the history for later sessions.
    pub fn close(self) {
        if let LineSource::Terminal {
            mut editor,
            history: Some(path),
            ..
        } = self.lines
        {
            if let Some(directory) = path.parent() {
                // A session whose directory cannot be written has no history.
                let _ = std::fs::create_dir_all(directory);
            }
            let _ = editor.save_history(&path);
        }
    }
}

/// The history file: `$XDG_STATE_HOME/adumbra/history`, or the same below `~/.local/state`.
fn history_file() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let state = state.filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(std::env::home_dir()?.join(".local/state")))?;
    Some(state.join("adumbra/history"))
}

/// Reads an item of as many lines as it needs. `next` is the line that it begins with, if there is
/// one, and afterwards the one that ended it. `line` gets a line; its argument is whether the line
/// is the first.
fn item(
    next: &mut Option<String>,
    mut line: impl FnMut(bool) -> io::Result<ReadItem>,
) -> io::Result<ReadItem> {
    let mut item = String::new();
    let mut brackets = Brackets::default();
    loop {
        let read = match next.take() {
            Some(line) => line,
            None => match line(item.is_empty())? {
                ReadItem::Item(line) => line,
                ReadItem::EndOfInput if !item.is_empty() => return Ok(ReadItem::Item(item)),
                other => return Ok(other),
            },
        };
        if !item.is_empty() {
            if is_known_command(&read) {
                *next = Some(read);
                return Ok(ReadItem::Item(item));
            }
            if read.trim().is_empty() && !brackets.are_open() {
                return Ok(ReadItem::Item(item));
            }
        }
        read.split_inclusive('\n')
            .for_each(|line| brackets.read(line));
        item.push_str(&read);
        // Brackets answer most cases; the parser, which reads the item from its beginning, answers
        // the others.
        let goes_on = brackets.are_open() || is_unfinished(&item);
        if !goes_on || item.len() > adumbra::sources::MAX_SOURCE_BYTES {
            return Ok(ReadItem::Item(item));
        }
    }
}

/// The next of the lines that came together; of those that come now, the first.
fn pasted_or_edited(
    pasted: &mut VecDeque<String>,
    edited: impl FnOnce() -> io::Result<ReadItem>,
) -> io::Result<ReadItem> {
    if let Some(line) = pasted.pop_front() {
        return Ok(ReadItem::Item(line));
    }
    let read = edited()?;
    let ReadItem::Item(text) = read else {
        return Ok(read);
    };
    let mut lines = text.split_inclusive('\n').map(str::to_owned);
    let first = lines.next().unwrap_or_default();
    pasted.extend(lines);
    Ok(ReadItem::Item(first))
}

/// The input up to the end of a line; several lines, if they were pasted or are an item of the
/// history.
fn edited(editor: &mut Editor<Assistant, DefaultHistory>, prompt: &str) -> io::Result<ReadItem> {
    match editor.readline(prompt) {
        Ok(line) => Ok(ReadItem::Item(line + "\n")),
        Err(ReadlineError::Interrupted) => Ok(ReadItem::Cancelled),
        Err(ReadlineError::Eof) => Ok(ReadItem::EndOfInput),
        Err(ReadlineError::Io(error)) => Err(error),
        Err(other) => Err(io::Error::other(other)),
    }
}

/// The next line of a pipe.
fn piped(input: &mut impl BufRead) -> io::Result<ReadItem> {
    let mut line = Vec::new();
    let read = input
        .by_ref()
        .take(MAX_LINE as u64)
        .read_until(b'\n', &mut line)?;
    if read == 0 {
        return Ok(ReadItem::EndOfInput);
    }
    if read == MAX_LINE && line.last() != Some(&b'\n') {
        skip_line(input)?;
    }
    Ok(String::from_utf8(line).map_or(ReadItem::NotUtf8, ReadItem::Item))
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let feed = buffer.iter().position(|&byte| byte == b'\n');
        let (skip, done) = match feed {
            Some(at) => (at + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        input.consume(skip);
        if done {
            return Ok(());
        }
    }
}

/// Counts brackets line by line, so that an item of many lines is not parsed anew with each of
/// them.
#[derive(Debug, Default)]
struct Brackets {
    open: i64,
    in_comment: bool,
}

impl Brackets {
    fn are_open(&self) -> bool {
        self.open > 0 || self.in_comment
    }

    fn read(&mut self, line: &str) {
        let mut bytes = line.bytes().peekable();
        let mut in_string = false;
        while let Some(byte) = bytes.next() {
            match byte {
                b'*' if self.in_comment && bytes.next_if_eq(&b'/').is_some() => {
                    self.in_comment = false;
                }
                _ if self.in_comment => {}
                b'\\' if in_string => {
                    bytes.next();
                }
                b'"' => in_string = !in_string,
                _ if in_string => {}
                b'/' if bytes.next_if_eq(&b'*').is_some() => self.in_comment = true,
                b'/' if bytes.next_if_eq(&b'/').is_some() => return,
                b'(' | b'[' | b'{' => self.open += 1,
                b')' | b']' | b'}' => self.open -= 1,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &[u8]) -> Vec<ReadItem> {
        let (mut input, mut next) = (text, None);
        let mut items = Vec::new();
        loop {
            items.push(super::item(&mut next, |_| piped(&mut input)).unwrap());
            if items.last() == Some(&ReadItem::EndOfInput) {
                return items;
            }
        }
    }

    fn item(text: &str) -> ReadItem {
        ReadItem::Item(text.to_owned())
    }

    #[test]
    fn unfinished_item_continues_on_next_line() {
        let text = b"1 + 2\nfloat f(float x)\n{\n  return x; // }\n}\nf(1)";
        let function = "float f(float x)\n{\n  return x; // }\n}\n";
        let expected = [
            item("1 + 2\n"),
            item(function),
            item("f(1)"),
            ReadItem::EndOfInput,
        ];
        assert_eq!(items(text), expected);
        let comment = b"/* ( \n ) */ 1\n2";
        assert_eq!(
            items(comment),
            [item("/* ( \n ) */ 1\n"), item("2"), ReadItem::EndOfInput]
        );
    }

    #[test]
    fn unfinished_item_can_always_be_left() {
        let empty_line = [item("bad +\n"), item("3\n"), ReadItem::EndOfInput];
        assert_eq!(items(b"bad +\n \n3\n"), empty_line);
        for open in ["(1\n\n", "bad +\n", "float f() {\n\n", "/* \n"] {
            let text = format!("{open}:help sin\n3");
            let expected = [
                item(open),
                item(":help sin\n"),
                item("3"),
                ReadItem::EndOfInput,
            ];
            assert_eq!(items(text.as_bytes()), expected);
        }
        // Within brackets empty lines are part of the item, and `? :` may be spread over lines.
        for whole in [
            "float f() {\n\nreturn 1; }\n",
            "true ?\n1\n: 2\n",
            "true ? 1\n:u\n",
        ] {
            let text = format!("{whole}3");
            let expected = [item(whole), item("3"), ReadItem::EndOfInput];
            assert_eq!(items(text.as_bytes()), expected);
        }
    }

    #[test]
    fn continuation_line_has_its_own_prompt() {
        let mut given = ["u +", "u"].into_iter();
        let mut firsts = Vec::new();
        let read = super::item(&mut None, |is_first| {
            firsts.push(is_first);
            Ok(given
                .next()
                .map_or(ReadItem::EndOfInput, |line| item(&format!("{line}\n"))))
        });
        assert_eq!(
            (read.unwrap(), firsts),
            (item("u +\nu\n"), vec![true, false])
        );
    }

    #[test]
    fn pasted_lines_are_items_of_their_own() {
        let paste = "a = 1\nfloat f(float x)\n{\n\n  return x;\n}\nf(a)\n(a +\n";
        let mut typed = [paste, "2)\n"].into_iter();
        let (mut pasted, mut next) = (VecDeque::new(), None);
        let mut items = Vec::new();
        while items.last() != Some(&ReadItem::EndOfInput) {
            let line = |_| {
                let edited = || Ok(typed.next().map_or(ReadItem::EndOfInput, item));
                pasted_or_edited(&mut pasted, edited)
            };
            items.push(super::item(&mut next, line).unwrap());
        }
        let function = "float f(float x)\n{\n\n  return x;\n}\n";
        let expected = [
            item("a = 1\n"),
            item(function),
            item("f(a)\n"),
            item("(a +\n2)\n"),
        ];
        assert_eq!(items[..4], expected);
    }

    #[test]
    fn invalid_utf8_costs_one_line() {
        assert_eq!(
            items(b"\xff\xfe\n1\n"),
            [ReadItem::NotUtf8, item("1\n"), ReadItem::EndOfInput]
        );
    }

    #[test]
    fn line_beyond_the_limit_is_cut() {
        let mut text = vec![b' '; 2 * MAX_LINE];
        text.extend(b"\n7\n");
        let items = items(&text);
        let ReadItem::Item(long) = &items[0] else {
            panic!("a long line is an item");
        };
        assert_eq!(long.len(), MAX_LINE);
        assert_eq!(items[1], item("7\n"));
    }
}
