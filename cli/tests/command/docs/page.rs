//! The fenced blocks of a page, and where they stand.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use std::ops::Range;

/// A fenced block.
pub(crate) struct Block<'a> {
    /// What stands behind the opening fence.
    pub(crate) info: String,
    /// What stands between the fences.
    pub(crate) body: &'a str,
    /// The bytes of the body in the page.
    pub(crate) range: Range<usize>,
}

impl Block<'_> {
    /// The first word behind the fence: what kind of block it is.
    pub(crate) fn word(&self) -> &str {
        self.info.split_whitespace().next().unwrap_or_default()
    }

    /// The name that the page's commands call it by.
    pub(crate) fn file(&self) -> Option<&str> {
        let words = self.info.split_whitespace().skip(1);
        words.filter_map(|word| word.strip_prefix("file=")).next()
    }

    /// The line of the page where it begins, counted from 1.
    pub(crate) fn line(&self, page: &str) -> usize {
        page[..self.range.start].matches('\n').count() + 1
    }
}

/// The fenced blocks of a page, in order.
pub(crate) fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut open: Option<(String, Range<usize>)> = None;
    for (event, range) in Parser::new(page).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                let first_line = page[range.clone()]
                    .find('\n')
                    .map_or(range.len(), |n| n + 1);
                let start = range.start + first_line;
                open = Some((info.to_string(), start..start));
            }
            Event::Text(_) => {
                if let Some((_, body)) = &mut open {
                    body.end = range.end;
                }
            }
            Event::End(TagEnd::CodeBlock) => {
                if let Some((info, range)) = open.take() {
                    let body = &page[range.clone()];
                    found.push(Block { info, body, range });
                }
            }
            _ => {}
        }
    }
    found
}

/// Where the links of a page lead, but for those into the world, without the place in the page.
pub(crate) fn links(page: &str) -> Vec<String> {
    let link = |event| match event {
        Event::Start(Tag::Link { dest_url, .. }) => {
            let file = dest_url.split('#').next().unwrap_or_default().to_owned();
            (!file.is_empty() && !file.contains("://")).then_some(file)
        }
        _ => None,
    };
    Parser::new(page).filter_map(link).collect()
}

/// Where the pictures of a page are.
pub(crate) fn pictures(page: &str) -> Vec<String> {
    let picture = |event| match event {
        Event::Start(Tag::Image { dest_url, .. }) => Some(dest_url.to_string()),
        _ => None,
    };
    Parser::new(page).filter_map(picture).collect()
}

/// Where two versions of a page part, for people.
pub(crate) fn difference(name: &str, now: &str, then: &str) -> Option<String> {
    let at = now
        .lines()
        .zip(then.lines())
        .take_while(|(a, b)| a == b)
        .count();
    let from = |text: &str| {
        text.lines()
            .skip(at)
            .take(12)
            .collect::<Vec<_>>()
            .join("\n")
    };
    (now != then).then(|| {
        format!(
            "docs/{name}:{}: the page says\n{}\nbut what happens is\n{}",
            at + 1,
            from(now),
            from(then)
        )
    })
}

#[test]
fn blocks_are_found_with_their_places() {
    let page = "a\n\n```adu file=x.adu\nint a;\n\nint b;\n```\n\n- b\n\n```console\n```\n";
    let found = blocks(page);
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].word(), found[0].file()), ("adu", Some("x.adu")));
    assert_eq!(
        (found[0].body, found[0].line(page)),
        ("int a;\n\nint b;\n", 4)
    );
    assert_eq!((found[1].word(), found[1].body), ("console", ""));
    assert_eq!(&page[found[1].range.start..], "```\n");
}
