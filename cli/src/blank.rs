//! Texts of which parts are blank, so that every place in the rest stays where it is.

use std::ops::Range;

/// The text with these bytes replaced by as many spaces, but for line feeds.
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
    fn blanking_keeps_every_place() {
        assert_eq!(blanked("aé\nb c", 1..5), "a  \n  c");
        assert_eq!(blanked("aé\nb", 0..5).len(), 5);
    }
}
