//! JSON whose parts keep their spans, so that errors can be pointed at.
//!
//! Objects keep the order and all of their keys. Nothing recurses: the inside of a value is read on
//! demand.

use adumbra_ir::Span;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// An object: keys and values in order.
#[derive(Debug)]
pub(super) struct JsonObject<'a> {
    pub(super) entries: Vec<JsonEntry<'a>>,
}

/// A key with its value, as text.
#[derive(Debug)]
pub(super) struct JsonEntry<'a> {
    pub(super) key: Cow<'a, str>,
    /// The span of the value, for a key with escapes.
    pub(super) key_span: Span,
    pub(super) value: &'a str,
    pub(super) span: Span,
}

/// Keys and raw values as serde finds them.
struct Pairs<'a>(Vec<(Key<'a>, &'a RawValue)>);

#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pairs<'a>, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Pairs<'de>, M::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

impl<'a> JsonObject<'a> {
    /// The text as an object; `span` is that of the text.
    ///
    /// # Errors
    /// If it is something else, or no JSON at all.
    pub(super) fn read(text: &'a str, span: Span) -> Result<JsonObject<'a>, serde_json::Error> {
        let Pairs(pairs) = serde_json::from_str(text)?;
        let entry = |(Key(key), value): (Key<'a>, &'a RawValue)| {
            let value = value.get();
            let here = inside(text, span, value);
            JsonEntry {
                key_span: match &key {
                    Cow::Borrowed(key) => inside(text, span, key),
                    Cow::Owned(_) => here,
                },
                key,
                value,
                span: here,
            }
        };
        Ok(JsonObject {
            entries: pairs.into_iter().map(entry).collect(),
        })
    }
}

/// The elements of an array, each with its span.
///
/// # Errors
/// If it is no array.
pub(super) fn elements(text: &str, span: Span) -> Result<Vec<(&str, Span)>, serde_json::Error> {
    let values: Vec<&RawValue> = serde_json::from_str(text)?;
    let values = values.into_iter().map(RawValue::get);
    Ok(values
        .map(|value| (value, inside(text, span, value)))
        .collect())
}

/// The content of a string.
///
/// # Errors
/// If it is no string.
pub(super) fn string(text: &str) -> Result<Cow<'_, str>, serde_json::Error> {
    serde_json::from_str::<Key<'_>>(text).map(|Key(text)| text)
}

/// The span of a part of a text that has the span `span`.
fn inside(text: &str, span: Span, part: &str) -> Span {
    let at = part.as_ptr().addr().saturating_sub(text.as_ptr().addr());
    let start = span.start + at.min(text.len()) as u32;
    Span::new(span.file, start, start + part.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_ir::FileId;

    #[test]
    fn json_parts_have_spans() {
        let text = r#"{ "a": [1, {"b" : "x"}], "\u0063": 2, "a": null }"#;
        let whole = Span::new(FileId(3), 100, 100 + text.len() as u32);
        let object = JsonObject::read(text, whole).unwrap();
        let shown = |span: Span| &text[span.start as usize - 100..span.end as usize - 100];
        let keys: Vec<_> = object
            .entries
            .iter()
            .map(|e| (&*e.key, shown(e.key_span)))
            .collect();
        assert_eq!(keys, [("a", "a"), ("c", "2"), ("a", "a")]);
        let first = &object.entries[0];
        assert_eq!(shown(first.span), first.value);
        let inner = elements(first.value, first.span).unwrap();
        assert_eq!(shown(inner[1].1), r#"{"b" : "x"}"#);
        let nested = JsonObject::read(inner[1].0, inner[1].1).unwrap();
        assert_eq!(shown(nested.entries[0].span), r#""x""#);
        assert_eq!(string(nested.entries[0].value).unwrap(), "x");
        assert!(JsonObject::read("[]", whole).is_err() && elements("{}", whole).is_err());
    }

    #[test]
    fn deep_nesting_does_not_recurse() {
        let text = format!("{{\"a\": {}1{}}}", "[".repeat(200_000), "]".repeat(200_000));
        // Whether it is taken or refused is the parser's business.
        let _ = JsonObject::read(&text, Span::default());
    }
}
