//! What the library for OBJ and MTL files takes on trust: how many numbers a line has, and that
//! indices are of entries that there are.

/// A line that is wrong, counted from 1, and why.
pub(super) type LineError = (usize, String);

/// The numbers of the lines of a file, from 1, with their words. Bytes that are not UTF-8 are left
/// to the library, which refuses them.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, std::str::SplitWhitespace<'_>)> {
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    lines.map(|(at, line)| {
        let text = str::from_utf8(line).unwrap_or_default();
        (at + 1, text.split_whitespace())
    })
}

/// Checks that a colour of an MTL file has three numbers.
pub(super) fn check_mtl(bytes: &[u8]) -> Result<(), LineError> {
    for (line, mut words) in lines(bytes) {
        let Some(key @ ("Ka" | "Kd" | "Ks" | "Ke")) = words.next() else {
            continue;
        };
        let count = words.count();
        if count < 3 {
            return Err((line, format!("`{key}` needs 3 numbers, and has {count}")));
        }
    }
    Ok(())
}

/// The entries that the corners of faces have indices of, by the keys of their lines.
const ENTRIES: [(&str, &str); 3] = [
    ("v", "positions"),
    ("vt", "texture coordinates"),
    ("vn", "normals"),
];

/// Checks that the indices of an OBJ file are of entries that it has: a positive one of any, a
/// negative one of those before its line. An attribute without any entry is not there, so that its
/// indices do not count.
pub(super) fn check_obj(bytes: &[u8]) -> Result<(), LineError> {
    let mut total = [0_usize; 3];
    for (_, mut words) in lines(bytes) {
        if let Some(kind) = entry(words.next()) {
            total[kind] += 1;
        }
    }
    let mut before = [0_usize; 3];
    for (line, mut words) in lines(bytes) {
        let key = words.next();
        if let Some(kind) = entry(key) {
            before[kind] += 1;
        }
        if !matches!(key, Some("f" | "l")) {
            continue;
        }
        for corner in words {
            for (kind, index) in corner.split('/').take(ENTRIES.len()).enumerate() {
                // What is no number is left to the library.
                let Ok(index) = index.parse::<isize>() else {
                    continue;
                };
                let (_, entries) = ENTRIES[kind];
                let limit = if index < 0 { before } else { total }[kind];
                let is_required = kind == 0;
                let is_missing = index == 0 && is_required;
                let is_counted = is_required || total[kind] > 0;
                if is_missing || is_counted && index.unsigned_abs() > limit {
                    let why = format!("the index {index} is of none of {limit} {entries}");
                    return Err((line, why));
                }
            }
        }
    }
    Ok(())
}

fn entry(key: Option<&str>) -> Option<usize> {
    ENTRIES.iter().position(|(known, _)| key == Some(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_have_three_numbers() {
        for (mtl, line) in [
            ("Kd 1", Some(1)),
            ("newmtl a\nKe", Some(2)),
            ("newmtl a\n\tKs 1 2\r\n", Some(2)),
            ("Ka spectral a.rfl", Some(1)),
            ("Kd 1 2 3\nKa 1 2 3 4\nKf 1\nNs 1\n# Kd 1", None),
        ] {
            assert_eq!(check_mtl(mtl.as_bytes()).err().map(|e| e.0), line, "{mtl}");
        }
    }

    #[test]
    fn indices_are_of_entries() {
        let two = "v 0 0 0\nv 1 0 0\nvt 0 0\n";
        let wrong = |face: &str| check_obj(format!("{two}{face}").as_bytes()).err();
        for face in [
            "f 1 2 1",
            "f -1 -2 -1",
            "f 1/1 2/-1 1/0",
            "f 3 1 1\nv 0 0 0",
            // There are no normals, so their indices do not count.
            "f 1//9223372036854775807 2//-5 1//0",
            "f a 1/b",
            "f",
        ] {
            assert_eq!(wrong(face), None, "{face}");
        }
        for (face, why) in [
            ("f 1 3 1", "the index 3 is of none of 2 positions"),
            ("f 0 1 1", "the index 0 is of none of 2 positions"),
            ("l 1 -3\nv 0 0 0", "the index -3 is of none of 2 positions"),
            (
                "f 1/9223372036854775807 1 1",
                "the index 9223372036854775807 is of none of 1 texture coordinates",
            ),
            (
                "f 1/-9223372036854775808 1 1",
                "the index -9223372036854775808 is of none of 1 texture coordinates",
            ),
            (
                "f 1//-2 1 1\nvn 0 0 1",
                "the index -2 is of none of 0 normals",
            ),
        ] {
            assert_eq!(wrong(face), Some((4, why.to_owned())), "{face}");
        }
    }
}
