//! Parses a page: its fenced blocks, links, anchors and images.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use std::ops::Range;

/// A fenced block.
pub(crate) struct CodeBlock<'a> {
    /// The info string after the opening fence.
    pub(crate) info: String,
    /// The content between the fences.
    pub(crate) body: &'a str,
    /// The bytes of the body in the page.
    pub(crate) range: Range<usize>,
}

impl CodeBlock<'_> {
    /// The language: the first word of the info string.
    pub(crate) fn language(&self) -> &str {
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
pub(crate) fn blocks(page: &str) -> Vec<CodeBlock<'_>> {
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
                    found.push(CodeBlock { info, body, range });
                }
            }
            _ => {}
        }
    }
    found
}

/// A link of a page, but for those to other sites.
#[derive(Debug, PartialEq)]
pub(crate) struct Link {
    /// The file, as it is written; empty for the page itself.
    pub(crate) file: String,
    /// The heading in it.
    pub(crate) anchor: Option<String>,
}

/// The links of a page, but for those to other sites.
pub(crate) fn links(page: &str) -> Vec<Link> {
    let link = |event| match event {
        Event::Start(Tag::Link { dest_url, .. }) if !dest_url.contains("://") => {
            let mut parts = dest_url.splitn(2, '#');
            let file = parts.next().unwrap_or_default().to_owned();
            let anchor = parts.next().map(str::to_owned);
            Some(Link { file, anchor })
        }
        _ => None,
    };
    Parser::new(page).filter_map(link).collect()
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
pub(crate) fn anchors(page: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut heading: Option<String> = None;
    for event in Parser::new(page) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let anchor = slug(&heading.take().unwrap_or_default());
                let times = found.iter().filter(|other| **other == anchor).count();
                found.push(match times {
                    0 => anchor,
                    _ => format!("{anchor}-{times}"),
                });
            }
            _ => {}
        }
    }
    found
}

/// A heading in lower case, with `-` for spaces and without punctuation.
fn slug(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|c| match c {
        ' ' => Some('-'),
        _ if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// The paths of the images of a page.
pub(crate) fn images(page: &str) -> Vec<String> {
    let image = |event| match event {
        Event::Start(Tag::Image { dest_url, .. }) => Some(dest_url.to_string()),
        _ => None,
    };
    Parser::new(page).filter_map(image).collect()
}

/// The first difference of two versions of a page, for people.
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
fn blocks_are_found_with_their_lines() {
    let page = "a\n\n```adu file=x.adu\nint a;\n\nint b;\n```\n\n- b\n\n```console\n```\n";
    let found = blocks(page);
    assert_eq!(found.len(), 2);
    assert_eq!(
        (found[0].language(), found[0].file()),
        ("adu", Some("x.adu"))
    );
    assert_eq!(
        (found[0].body, found[0].line(page)),
        ("int a;\n\nint b;\n", 4)
    );
    assert_eq!((found[1].language(), found[1].body), ("console", ""));
    assert_eq!(&page[found[1].range.start..], "```\n");
}

#[test]
fn links_have_files_and_anchors() {
    let link = |file: &str, anchor: Option<&str>| Link {
        file: file.to_owned(),
        anchor: anchor.map(str::to_owned),
    };
    let found = links("[a](b.md) [c](#d) [e](f.md#g) [h](https://i.org)");
    let expected = [
        link("b.md", None),
        link("", Some("d")),
        link("f.md", Some("g")),
    ];
    assert_eq!(found, expected);
}

#[test]
fn anchors_are_slugs_of_headings() {
    let found = anchors("# `A` pixel, as data!\n\n## x_y\n\n## x_y\n");
    assert_eq!(found, ["a-pixel-as-data", "x_y", "x_y-1"]);
}
