//! Blanks parts of a source, so that each location in the rest keeps its byte offset.

use std::ops::Range;

/// The source with these bytes replaced by as many spaces, but for line feeds.
pub fn blanked(text: &str, bytes: Range<usize>) -> String {
    let blank = |byte: u8| if byte == b'\n' { '\n' } else { ' ' };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..bytes.start]);
    out.extend(text[bytes.clone()].bytes().map(blank));
    out.push_str(&text[bytes.end..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanking_keeps_byte_offsets() {
        assert_eq!(blanked("aé\nb c", 1..5), "a  \n  c");
        assert_eq!(blanked("aé\nb", 0..5).len(), 5);
    }
}
