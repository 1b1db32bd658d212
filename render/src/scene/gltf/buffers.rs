//! The bytes of a glTF file: the parts of a binary file, data URIs, and files beside it.

use super::super::bytes::read_bytes;
use super::super::error::SceneError;
use crate::texture::TextureSource;
use gltf::Document;
use gltf::buffer::Source;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The contents of all buffers.
pub(super) struct Buffers {
    all: Vec<Buffer>,
}

struct Buffer {
    bytes: Vec<u8>,
    /// The file that has them, and where they begin in it; none of a data URI.
    place: Option<(PathBuf, u64)>,
}

/// The second part of a binary file.
pub(super) struct Blob {
    bytes: Vec<u8>,
    /// Where it begins in the file.
    start: usize,
}

impl Blob {
    /// Takes a part of a file's bytes, without a copy of them.
    pub(super) fn new(mut file: Vec<u8>, part: Range<usize>) -> Blob {
        file.truncate(part.end);
        file.drain(..part.start);
        Blob {
            bytes: file,
            start: part.start,
        }
    }
}

/// The parts of a file that are its JSON, and the first buffer if it is a binary file
/// (section 4.4).
pub(super) fn split(bytes: &[u8]) -> Result<(Range<usize>, Option<Range<usize>>), String> {
    let Some(rest) = bytes.strip_prefix(b"glTF") else {
        return Ok((0..bytes.len(), None));
    };
    let before = bytes.len() - rest.len();
    let number = |at: usize| {
        let word = rest.get(at..at + 4)?;
        Some(u32::from_le_bytes(word.try_into().ok()?))
    };
    let early = || "the binary file ends early".to_owned();
    match number(0) {
        Some(2) => {}
        Some(version) => return Err(format!("it has version {version} of binary glTF, not 2")),
        None => return Err(early()),
    }
    let (mut json, mut binary) = (None, None);
    let mut at = 8;
    while let (Some(length), Some(kind)) = (number(at), number(at + 4)) {
        let start = at + 8;
        let end = start + length as usize;
        if end > rest.len() {
            return Err(early());
        }
        let part = before + start..before + end;
        match kind {
            0x4e4f_534a if json.is_none() => json = Some(part),
            0x004e_4942 if binary.is_none() => binary = Some(part),
            _ => {}
        }
        at = end;
    }
    Ok((json.ok_or("the binary file has no JSON")?, binary))
}

/// Says if the header of a binary file gives another length than the file has.
pub(super) fn length_warning(bytes: &[u8]) -> Option<String> {
    let header = bytes.strip_prefix(b"glTF")?.get(4..8)?;
    let length = u32::from_le_bytes(header.try_into().ok()?);
    (length as usize != bytes.len()).then(|| {
        let has = bytes.len();
        format!("its header says {length} bytes, and it has {has}")
    })
}

impl Buffers {
    /// Reads all buffers.
    pub(super) fn read(
        document: &Document,
        path: &Path,
        mut blob: Option<Blob>,
    ) -> Result<Buffers, SceneError> {
        let mut all = Vec::new();
        for buffer in document.buffers() {
            let at = |message: String| {
                SceneError::item(path, format!("buffers[{}]", buffer.index()), message)
            };
            let (bytes, place) = match buffer.source() {
                Source::Bin => {
                    let blob = blob.take();
                    let blob = blob.ok_or_else(|| at("it has no URI and no bytes".to_owned()))?;
                    (blob.bytes, Some((path.to_owned(), blob.start as u64)))
                }
                Source::Uri(uri) => match resolve(uri, path).map_err(at)? {
                    Resource::Bytes(bytes) => (bytes, None),
                    Resource::File(file) => {
                        let bytes = read_bytes(&file);
                        let named = |why: String| at(format!("{}: {why}", file.display()));
                        (bytes.map_err(named)?, Some((file, 0)))
                    }
                },
            };
            if bytes.len() < buffer.length() {
                let (has, needs) = (bytes.len(), buffer.length());
                return Err(at(format!("it has {has} bytes of {needs}")));
            }
            all.push(Buffer { bytes, place });
        }
        Ok(Buffers { all })
    }

    /// The bytes of a view, if they are within its buffer.
    pub(super) fn view(&self, view: &gltf::buffer::View<'_>) -> Result<&[u8], String> {
        let bytes = &self.all[view.buffer().index()].bytes;
        let end = view.offset().checked_add(view.length());
        let range = end.and_then(|end| bytes.get(view.offset()..end));
        range.ok_or_else(|| {
            let (view, buffer) = (view.index(), view.buffer().index());
            format!("bufferViews[{view}] is beyond the end of buffers[{buffer}]")
        })
    }

    /// The image file of a view, which has that name.
    pub(super) fn image(
        &self,
        view: &gltf::buffer::View<'_>,
        name: String,
    ) -> Result<TextureSource, String> {
        let bytes = self.view(view)?;
        let place = &self.all[view.buffer().index()].place;
        Ok(match place {
            Some((file, start)) => TextureSource::Part {
                name,
                file: file.clone(),
                start: start + view.offset() as u64,
                length: bytes.len() as u64,
            },
            None => TextureSource::Bytes {
                name,
                bytes: Arc::from(bytes),
            },
        })
    }
}

/// What a URI leads to.
pub(super) enum Resource {
    Bytes(Vec<u8>),
    File(PathBuf),
}

/// Resolves a URI: base64 data, or a path relative to the file.
pub(super) fn resolve(uri: &str, path: &Path) -> Result<Resource, String> {
    if let Some(data) = uri.strip_prefix("data:") {
        let base64 = data.split_once(";base64,").map(|(_, base64)| base64);
        let base64 = base64.ok_or("its data URI is not base64")?;
        return Ok(Resource::Bytes(decode_base64(base64)?));
    }
    let path_of_uri = decode_percent(uri)?;
    if uri.contains("://") || uri.starts_with("file:") || is_absolute(&path_of_uri) {
        return Err(format!("`{uri}` is not a file; URIs are relative paths"));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(Resource::File(folder.join(path_of_uri)))
}

/// Whether a path is one from the root on, of Unix or of Windows.
fn is_absolute(path: &str) -> bool {
    let is_drive = path.as_bytes().get(1) == Some(&b':');
    path.starts_with(['/', '\\']) || is_drive
}

/// Decodes base64 (RFC 4648), with or without padding.
fn decode_base64(text: &str) -> Result<Vec<u8>, String> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let text = text.trim_end_matches('=').as_bytes();
    if text.len() % 4 == 1 {
        return Err("its base64 ends early".to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.chunks(4) {
        let mut bits = 0_u32;
        for &byte in group {
            let value = digit(byte).ok_or("its base64 has other characters")?;
            bits = bits << 6 | u32::from(value);
        }
        bits <<= 6 * (4 - group.len());
        bytes.extend(&bits.to_be_bytes()[1..group.len()]);
    }
    Ok(bytes)
}

/// Decodes `%20` and the like.
fn decode_percent(uri: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = match byte {
            b'%' => after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok()),
            _ => None,
        };
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                rest = &after[2..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).map_err(|_| format!("`{uri}` is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_decodes_with_any_padding() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("Zg==", b"f"),
            ("Zg", b"f"),
            ("Zm8=", b"fo"),
            ("Zm9v", b"foo"),
            ("Zm9vYmE=", b"fooba"),
            ("-_8=", b"\xfb\xff"),
        ] {
            assert_eq!(decode_base64(text).unwrap(), bytes, "{text}");
        }
        assert!(decode_base64("Z").is_err());
        assert!(decode_base64("Zm9v!A==").is_err());
    }

    #[test]
    fn percent_signs_decode() {
        assert_eq!(decode_percent("a%20b%2Fc%").unwrap(), "a b/c%");
        assert_eq!(decode_percent("%é").unwrap(), "%é");
        assert!(decode_percent("%ff").is_err());
    }

    #[test]
    fn binary_files_split() {
        let chunk = |kind: u32, bytes: &[u8]| {
            let mut chunk = (bytes.len() as u32).to_le_bytes().to_vec();
            chunk.extend(kind.to_le_bytes());
            chunk.extend(bytes);
            chunk
        };
        let mut file = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
        file.extend(chunk(0x4e4f_534a, b"{}  "));
        file.extend(chunk(0x004e_4942, b"abcd"));
        assert_eq!(split(&file), Ok((20..24, Some(32..36))));
        assert_eq!(Blob::new(file.clone(), 32..36).bytes, b"abcd");
        assert!(split(&file[..file.len() - 1]).is_err());
        assert!(split(&file[..7]).is_err());
        assert!(split(b"glTF\x01\0\0\0\0\0\0\0").is_err());
        assert_eq!(split(b"{}"), Ok((0..2, None)));
    }
}
