//! Statements of textures in MTL files: options, then the name of a file, which may have blanks.

/// What a statement says after its keyword.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MapStatement<'a> {
    /// The name of the file.
    pub(super) name: &'a str,
    /// `-bm`: what heights are multiplied by.
    pub(super) multiplier: f32,
}

/// The options, and how many arguments each has at least and at most; those beyond the least are
/// numbers.
const OPTIONS: [(&str, usize, usize); 13] = [
    ("-blendu", 1, 1),
    ("-blendv", 1, 1),
    ("-bm", 1, 1),
    ("-boost", 1, 1),
    ("-cc", 1, 1),
    ("-clamp", 1, 1),
    ("-imfchan", 1, 1),
    ("-mm", 2, 2),
    ("-texres", 1, 1),
    ("-type", 1, 1),
    ("-o", 1, 3),
    ("-s", 1, 3),
    ("-t", 1, 3),
];

/// A word and what follows it.
fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(char::is_whitespace).unwrap_or((text, ""))
}

impl<'a> MapStatement<'a> {
    /// Reads a statement; none if it names no file.
    pub(super) fn read(statement: &'a str) -> Option<MapStatement<'a>> {
        let mut multiplier = 1.0;
        let mut rest = statement.trim();
        loop {
            let (word, after) = split_word(rest);
            let mut options = OPTIONS.iter();
            let Some(&(option, least, most)) = options.find(|(name, ..)| *name == word) else {
                break;
            };
            rest = after;
            for number in 0..most {
                let (argument, after) = split_word(rest);
                let value = argument.parse::<f32>().ok();
                if number >= least && value.is_none() {
                    break;
                }
                if option == "-bm" {
                    multiplier = value.filter(|value| value.is_finite()).unwrap_or(1.0);
                }
                rest = after;
            }
        }
        let name = rest.trim();
        (!name.is_empty()).then_some(MapStatement { name, multiplier })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_options_and_keep_blanks() {
        for (statement, name, multiplier) in [
            ("a.png", "a.png", 1.0),
            (" old oak.png ", "old oak.png", 1.0),
            ("-bm 2 oak.png", "oak.png", 2.0),
            ("-o 0 0 -s 2 2 2 -clamp on my map.png", "my map.png", 1.0),
            ("-s 2 3d map.png", "3d map.png", 1.0),
            ("-t 1 2 3 4.png", "4.png", 1.0),
            ("-mm 0 1 -bm nan a.png", "a.png", 1.0),
            ("-unknown 1 a.png", "-unknown 1 a.png", 1.0),
        ] {
            let expected = Some(MapStatement { name, multiplier });
            assert_eq!(MapStatement::read(statement), expected, "{statement}");
        }
        for statement in ["", "  ", "-bm", "-bm 2", "-o 1 2 3"] {
            assert_eq!(MapStatement::read(statement), None, "{statement}");
        }
    }
}
