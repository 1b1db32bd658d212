//! Arrays of NumPy: files that are read (`.npy`), and those of several arrays that are written
//! (`.npz`: a zip file whose members are stored as they are).

use adumbra::Scalar;
use adumbra::program::BufferNumbers;
use crc32fast::Hasher;
use npyz::{NpyFile, TypeChar, WriterBuilder};
use std::io::{self, Write};

/// Bytes in which the shape of an array is looked for: headers of NumPy are shorter.
const MAX_HEADER: usize = 1 << 16;

/// An array that was read: its shape, and its numbers in the order of C.
#[derive(Debug)]
pub struct ReadArray {
    pub shape: Vec<u64>,
    pub numbers: BufferNumbers,
}

/// Whether a file begins as an array does.
pub fn is_array(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x93NUMPY")
}

/// Reads an array: of `float32` or `float64` for floats, of `int32` or `int64` for ints.
///
/// # Errors
/// If it is none, or has numbers of another type.
pub fn read_array(bytes: &[u8], scalar: Scalar) -> Result<ReadArray, String> {
    if has_vast_shape(bytes) {
        return Err("its shape is that of more numbers than there can be".to_owned());
    }
    let file = NpyFile::new(bytes).map_err(|no| no.to_string())?;
    if file.header().order() != npyz::Order::C {
        return Err("the array is in the order of Fortran; save a copy in that of C".to_owned());
    }
    let shape = file.header().shape().to_vec();
    let ty = file.header().dtype();
    let npyz::DType::Plain(plain) = &ty else {
        return Err("it is an array of records".to_owned());
    };
    let kind = (plain.type_char(), plain.size_field());
    let failed = |no: io::Error| no.to_string();
    let numbers = match (scalar, kind) {
        (Scalar::F32, (TypeChar::Float, 4)) => file.into_vec::<f32>().map_err(failed)?.into(),
        (Scalar::F32, (TypeChar::Float, 8)) => {
            let wide = file.into_vec::<f64>().map_err(failed)?;
            let floats = wide.into_iter().map(|number| number as f32);
            floats.collect::<Vec<f32>>().into()
        }
        (Scalar::I32, (TypeChar::Int, 4)) => file.into_vec::<i32>().map_err(failed)?.into(),
        (Scalar::I32, (TypeChar::Int, 8)) => {
            let wide = file.into_vec::<i64>().map_err(failed)?;
            let ints: Result<Vec<i32>, _> = wide.into_iter().map(i32::try_from).collect();
            let ints = ints.map_err(|_| "a number is beyond 32 bits".to_owned())?;
            ints.into()
        }
        (Scalar::F32, _) => {
            return Err(format!(
                "it has numbers of type {plain}, not floats of 4 or 8 bytes"
            ));
        }
        _ => {
            return Err(format!(
                "it has numbers of type {plain}, not ints of 4 or 8 bytes"
            ));
        }
    };
    Ok(ReadArray { shape, numbers })
}

/// Whether the sides of an array multiply to more than 64 bits, which the crate does not ask. What
/// is no shape at all it refuses itself.
fn has_vast_shape(bytes: &[u8]) -> bool {
    let header = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_HEADER)]);
    let shape = header
        .split_once("'shape'")
        .or(header.split_once("\"shape\""));
    let sides = shape.and_then(|(_, rest)| rest.split_once('(')?.1.split_once(')'));
    let Some((sides, _)) = sides else {
        return false;
    };
    let sides = sides
        .split(',')
        .map(|side| side.trim().trim_end_matches('L'));
    let mut sides = sides.filter_map(|side| side.parse::<u64>().ok());
    // A side of 0 makes the others no smaller.
    let all = sides.try_fold(1_u64, |all, side| all.checked_mul(side.max(1)));
    all.is_none()
}

/// An array to be written, in the order of C.
pub struct NamedArray {
    pub name: String,
    pub shape: Vec<u64>,
    pub numbers: ArrayNumbers,
}

/// The numbers of an array to be written.
pub enum ArrayNumbers {
    Floats(Vec<f32>),
    Doubles(Vec<f64>),
}

impl NamedArray {
    /// It as a file.
    fn bytes(&self) -> io::Result<Vec<u8>> {
        fn file<T: npyz::AutoSerialize + Copy>(
            shape: &[u64],
            numbers: &[T],
        ) -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            let options = npyz::WriteOptions::new().default_dtype().shape(shape);
            let mut writer = options.writer(&mut bytes).begin_nd()?;
            writer.extend(numbers.iter().copied())?;
            writer.finish()?;
            Ok(bytes)
        }
        match &self.numbers {
            ArrayNumbers::Floats(numbers) => file(&self.shape, numbers),
            ArrayNumbers::Doubles(numbers) => file(&self.shape, numbers),
        }
    }
}

/// Writes arrays as one file, as `numpy.savez` does.
///
/// # Errors
/// If it cannot be written, or is too large: places in it are numbers of 32 bits.
pub fn write_npz(arrays: impl Iterator<Item = NamedArray>, to: &mut impl Write) -> io::Result<()> {
    // A zip file (APPNOTE.TXT 6.3, 4.3): each member after its header, then a list of all of them.
    let (mut place, mut list, mut count) = (0_u64, Vec::new(), 0_u16);
    for array in arrays {
        let name = format!("{}.npy", array.name);
        let bytes = array.bytes()?;
        let mut hasher = Hasher::new();
        hasher.update(&bytes);
        let common = common_header(&name, hasher.finalize(), small(bytes.len() as u64)?)?;
        list.extend(b"PK\x01\x02\x14\x00");
        list.extend(&common);
        // No comment, the first disk, no attributes.
        list.extend([0; 10]);
        list.extend(small(place)?.to_le_bytes());
        list.extend(name.as_bytes());
        let header = [b"PK\x03\x04", &common[..], name.as_bytes()].concat();
        to.write_all(&header)?;
        to.write_all(&bytes)?;
        place += (header.len() + bytes.len()) as u64;
        count = count.checked_add(1).ok_or_else(too_large)?;
    }
    to.write_all(&list)?;
    to.write_all(b"PK\x05\x06\0\0\0\0")?;
    to.write_all(&[count.to_le_bytes(), count.to_le_bytes()].concat())?;
    to.write_all(&small(list.len() as u64)?.to_le_bytes())?;
    to.write_all(&small(place)?.to_le_bytes())?;
    // No comment.
    to.write_all(&[0; 2])
}

/// What the header of a member and its entry in the list both have.
fn common_header(name: &str, checksum: u32, bytes: u32) -> io::Result<Vec<u8>> {
    let name = u16::try_from(name.len()).map_err(|_| too_large())?;
    let mut header = Vec::new();
    // Read by version 2.0; the name is UTF-8; stored; at midnight of the first day, 1980-01-01, so
    // that equal arrays give equal files.
    for number in [20, 1 << 11, 0, 0, 1 << 5 | 1] {
        header.extend(u16::to_le_bytes(number));
    }
    for number in [checksum, bytes, bytes] {
        header.extend(number.to_le_bytes());
    }
    header.extend(name.to_le_bytes());
    // No further fields.
    header.extend([0; 2]);
    Ok(header)
}

fn small(bytes: u64) -> io::Result<u32> {
    u32::try_from(bytes).map_err(|_| too_large())
}

fn too_large() -> io::Error {
    io::Error::other("the arrays are too large for one file")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that is a header alone.
    fn header(shape: &str) -> Vec<u8> {
        let text =
            format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}          \n");
        let length = (text.len() as u16).to_le_bytes();
        [&b"\x93NUMPY\x01\x00"[..], &length, text.as_bytes()].concat()
    }

    #[test]
    fn shapes_beyond_64_bits_are_refused() {
        for vast in ["(4294967296, 4294967296)", "(9223372036854775808, 2, 0)"] {
            let no = read_array(&header(vast), Scalar::F32).unwrap_err();
            assert!(
                no.contains("more numbers than there can be"),
                "{vast}: {no}"
            );
        }
        for short in ["(3,)", "(1099511627776, 4096)", "()"] {
            assert!(read_array(&header(short), Scalar::F32).is_err(), "{short}");
        }
        let empty = read_array(&header("(0, 4)"), Scalar::F32).unwrap();
        assert_eq!((empty.shape, empty.numbers.len()), (vec![0, 4], 0));
    }

    #[test]
    fn arrays_are_members_that_are_stored() {
        let array = |name: &str, shape: &[u64], numbers| NamedArray {
            name: name.to_owned(),
            shape: shape.to_vec(),
            numbers,
        };
        let arrays = || {
            [
                array("uv", &[1, 2], ArrayNumbers::Floats(vec![0.5, -2.0])),
                array("w", &[], ArrayNumbers::Doubles(vec![1e100])),
            ]
        };
        let mut file = Vec::new();
        write_npz(arrays().into_iter(), &mut file).unwrap();
        let end = file.len() - 22;
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!(
            (&file[end..end + 4], file[end + 10]),
            (&b"PK\x05\x06"[..], 2)
        );
        let mut entry = word(end + 16);
        assert_eq!(entry + word(end + 12), end);
        for array in arrays() {
            let name = format!("{}.npy", array.name);
            let (bytes, place) = (array.bytes().unwrap(), word(entry + 42));
            assert_eq!(&file[entry..entry + 4], b"PK\x01\x02");
            assert_eq!(&file[entry + 46..][..name.len()], name.as_bytes());
            assert_eq!(&file[place + 30..][..name.len()], name.as_bytes());
            assert_eq!(&file[place + 30 + name.len()..][..bytes.len()], bytes);
            assert_eq!(word(place + 14), crc32fast::hash(&bytes) as usize);
            let read = NpyFile::new(&bytes[..]).unwrap();
            assert_eq!(read.header().shape(), array.shape);
            entry += 46 + name.len();
        }
    }
}
