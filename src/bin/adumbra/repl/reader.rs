//! Where a session's items come from: a terminal with history, editing, completion and colours, or a pipe. An item goes on over as many lines as it needs.

use super::colour::coloured;
use super::complete::complete;
use super::plot::PLAIN_WIDTH;
use super::session::{Session, is_unfinished};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper, Hinter};
use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, BufRead, Read, StdinLock};
use std::path::PathBuf;
use std::rc::Rc;

/// The longest line that is read whole, in bytes. The rest of a longer one is dropped, and the item refused as too long.
pub const MAX_LINE: usize = adumbra::MAX_SOURCE + 1;

/// How many items the history keeps.
const HISTORY: usize = 10_000;

/// What there was to read.
#[derive(Debug, PartialEq)]
pub enum Read1 {
    /// An item, or what there is of it at the end of the input.
    Item(String),
    /// Something that is not text.
    NotText,
    /// Ctrl-C: forget what was typed so far.
    Cancelled,
    /// Ctrl-D, or the end of the pipe.
    End,
}

/// Helps who types: asks for another line as long as the item is unfinished, completes and colours words.
#[derive(Helper, Hinter)]
pub struct Assistant {
    session: Rc<RefCell<Session>>,
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        Ok(match is_unfinished(context.input()) {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
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
        Cow::Owned(coloured(line))
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        // Moving about changes no word.
        kind != CmdKind::MoveCursor
    }
}

/// A source of items.
pub enum Reader {
    /// A person.
    Terminal {
        editor: Box<Editor<Assistant, DefaultHistory>>,
        history: Option<PathBuf>,
    },
    /// Another program, or a file.
    Pipe(StdinLock<'static>),
}

impl Reader {
    /// A line editor with the history of earlier sessions.
    pub fn terminal(session: Rc<RefCell<Session>>) -> rustyline::Result<Reader> {
        let config = Config::builder()
            .max_history_size(HISTORY)?
            .auto_add_history(true)
            .completion_type(CompletionType::List)
            .build();
        let mut editor = Editor::with_config(config)?;
        editor.set_helper(Some(Assistant { session }));
        let history = history_file();
        if let Some(path) = &history {
            // The first session has none.
            let _ = editor.load_history(path);
        }
        Ok(Reader::Terminal {
            editor: Box::new(editor),
            history,
        })
    }

    /// Standard input as it comes.
    pub fn pipe() -> Reader {
        Reader::Pipe(io::stdin().lock())
    }

    /// Waits for the next item.
    pub fn next(&mut self) -> io::Result<Read1> {
        match self {
            Reader::Terminal { editor, .. } => match editor.readline("> ") {
                Ok(item) => Ok(Read1::Item(item)),
                Err(ReadlineError::Interrupted) => Ok(Read1::Cancelled),
                Err(ReadlineError::Eof) => Ok(Read1::End),
                Err(ReadlineError::Io(error)) => Err(error),
                Err(other) => Err(io::Error::other(other)),
            },
            Reader::Pipe(stdin) => read_item(stdin),
        }
    }

    /// How many characters fit in a line.
    pub fn width(&mut self) -> usize {
        let columns = match self {
            Reader::Terminal { editor, .. } => editor.dimensions().map(|(columns, _)| columns),
            Reader::Pipe(_) => None,
        };
        columns.map_or(PLAIN_WIDTH, usize::from)
    }

    /// Keeps the history for later sessions.
    pub fn close(self) {
        if let Reader::Terminal {
            mut editor,
            history: Some(path),
        } = self
        {
            if let Some(directory) = path.parent() {
                // A session without a place to write to is a session without history.
                let _ = std::fs::create_dir_all(directory);
            }
            let _ = editor.save_history(&path);
        }
    }
}

/// `$XDG_STATE_HOME/adumbra/history`, or the same below `~/.local/state`.
fn history_file() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let state = state.filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(std::env::home_dir()?.join(".local/state")))?;
    Some(state.join("adumbra/history"))
}

fn read_item(input: &mut impl BufRead) -> io::Result<Read1> {
    let mut item = String::new();
    let mut brackets = Brackets::default();
    loop {
        let mut line = Vec::new();
        let read = input
            .by_ref()
            .take(MAX_LINE as u64)
            .read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(if item.is_empty() {
                Read1::End
            } else {
                Read1::Item(item)
            });
        }
        if read == MAX_LINE && line.last() != Some(&b'\n') {
            skip_line(input)?;
        }
        let Ok(line) = String::from_utf8(line) else {
            return Ok(Read1::NotText);
        };
        brackets.read(&line);
        item.push_str(&line);
        // Asking the parser is for where brackets do not answer: it reads the item from its beginning.
        let goes_on = brackets.are_open() || is_unfinished(&item);
        if !goes_on || item.len() > adumbra::MAX_SOURCE {
            return Ok(Read1::Item(item));
        }
    }
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

/// Counts brackets line by line, so that an item of many lines is not parsed anew with each of them.
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

    fn items(text: &[u8]) -> Vec<Read1> {
        let mut input = text;
        let mut items = Vec::new();
        loop {
            items.push(read_item(&mut input).unwrap());
            if items.last() == Some(&Read1::End) {
                return items;
            }
        }
    }

    fn item(text: &str) -> Read1 {
        Read1::Item(text.to_owned())
    }

    #[test]
    fn an_unfinished_item_goes_on_in_the_next_line() {
        let text = b"1 + 2\nfloat f(float x)\n{\n  return x; // }\n}\nf(1)";
        let function = "float f(float x)\n{\n  return x; // }\n}\n";
        let expected = [item("1 + 2\n"), item(function), item("f(1)"), Read1::End];
        assert_eq!(items(text), expected);
        let comment = b"/* ( \n ) */ 1\n2";
        assert_eq!(
            items(comment),
            [item("/* ( \n ) */ 1\n"), item("2"), Read1::End]
        );
    }

    #[test]
    fn what_is_not_text_costs_one_line() {
        assert_eq!(
            items(b"\xff\xfe\n1\n"),
            [Read1::NotText, item("1\n"), Read1::End]
        );
    }

    #[test]
    fn a_line_beyond_the_limit_is_cut() {
        let mut text = vec![b' '; 2 * MAX_LINE];
        text.extend(b"\n7\n");
        let items = items(&text);
        let Read1::Item(long) = &items[0] else {
            panic!("a long line is an item");
        };
        assert_eq!(long.len(), MAX_LINE);
        assert_eq!(items[1], item("7\n"));
    }
}
