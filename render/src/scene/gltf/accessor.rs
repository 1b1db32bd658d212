//! Accessors of glTF (section 3.6.2): typed numbers in buffers, with every range checked.

use super::File;
use gltf::Accessor;
use gltf::accessor::sparse::IndexType;
use gltf::accessor::{DataType, Dimensions};

/// The entries of an accessor at once; more are refused before memory is taken.
pub(super) const MAX_ENTRIES: usize = 200_000_000;

/// The entries of an accessor without a buffer view, which are zero: 1,048,576.
pub(super) const MAX_ZEROS: usize = 1 << 20;

/// The number of bytes of a component.
fn size(data_type: DataType) -> usize {
    match data_type {
        DataType::I8 | DataType::U8 => 1,
        DataType::I16 | DataType::U16 => 2,
        DataType::U32 | DataType::F32 => 4,
    }
}

/// A component, as a number. Bytes past the end are 0; callers pass enough.
fn component(bytes: &[u8], data_type: DataType, is_normalized: bool) -> f32 {
    let mut word = [0; 4];
    let count = size(data_type).min(bytes.len());
    word[..count].copy_from_slice(&bytes[..count]);
    let [a, b, ..] = word;
    let (number, greatest) = match data_type {
        DataType::F32 => return f32::from_le_bytes(word),
        DataType::U32 => return u32::from_le_bytes(word) as f32,
        DataType::I8 => (f32::from(a as i8), 127.0),
        DataType::U8 => (f32::from(a), 255.0),
        DataType::I16 => (f32::from(i16::from_le_bytes([a, b])), 32767.0),
        DataType::U16 => (f32::from(u16::from_le_bytes([a, b])), 65535.0),
    };
    match is_normalized {
        true => (number / greatest).max(-1.0),
        false => number,
    }
}

/// Entries of bytes with a stride, of which all are within.
struct Strided<'a> {
    bytes: &'a [u8],
    stride: usize,
}

impl<'a> Strided<'a> {
    fn new(
        bytes: &'a [u8],
        offset: usize,
        stride: usize,
        size: usize,
        count: usize,
    ) -> Result<Strided<'a>, String> {
        let last = count.saturating_sub(1).checked_mul(stride);
        let end = last.and_then(|last| last.checked_add(offset)?.checked_add(size));
        match (bytes.get(offset..), end) {
            (Some(bytes), Some(end)) if count == 0 || end <= bytes.len() + offset => {
                Ok(Strided { bytes, stride })
            }
            _ => Err("it is beyond the end of its buffer view".to_owned()),
        }
    }

    fn get(&self, index: usize) -> &'a [u8] {
        &self.bytes[index * self.stride..]
    }
}

/// The entries of an accessor of vectors with N components.
pub(super) fn vectors<const N: usize>(
    file: &File<'_>,
    accessor: &Accessor<'_>,
) -> Result<Vec<[f32; N]>, String> {
    let dimensions = match accessor.dimensions() {
        Dimensions::Scalar => 1,
        Dimensions::Vec2 => 2,
        Dimensions::Vec3 => 3,
        Dimensions::Vec4 => 4,
        _ => 0,
    };
    if dimensions != N {
        return Err(format!("it is not of vectors with {N} components"));
    }
    let data_type = accessor.data_type();
    let entry = |bytes: &[u8]| -> [f32; N] {
        std::array::from_fn(|i| {
            let bytes = &bytes[i * size(data_type)..];
            component(bytes, data_type, accessor.normalized())
        })
    };
    read(file, accessor, N * size(data_type), [0.0; N], entry)
}

/// The entries of an accessor of indices.
pub(super) fn indices(file: &File<'_>, accessor: &Accessor<'_>) -> Result<Vec<u32>, String> {
    let data_type = accessor.data_type();
    let is_index = matches!(data_type, DataType::U8 | DataType::U16 | DataType::U32);
    if accessor.dimensions() != Dimensions::Scalar || !is_index {
        return Err("it is not of unsigned scalars".to_owned());
    }
    let entry = |bytes: &[u8]| match data_type {
        DataType::U8 => u32::from(bytes[0]),
        DataType::U16 => u32::from(u16::from_le_bytes([bytes[0], bytes[1]])),
        _ => u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
    };
    read(file, accessor, size(data_type), 0, entry)
}

fn read<T: Copy>(
    file: &File<'_>,
    accessor: &Accessor<'_>,
    size: usize,
    zero: T,
    entry: impl Fn(&[u8]) -> T,
) -> Result<Vec<T>, String> {
    let count = accessor.count();
    if count > MAX_ENTRIES {
        return Err(format!(
            "it has {count} entries; the limit is {MAX_ENTRIES}"
        ));
    }
    let mut entries = match accessor.view() {
        Some(view) => {
            let bytes = file.buffers.view(&view)?;
            let stride = view.stride().unwrap_or(size);
            let all = Strided::new(bytes, accessor.offset(), stride, size, count)?;
            (0..count).map(|index| entry(all.get(index))).collect()
        }
        None if count > MAX_ZEROS => {
            let why =
                format!("it has {count} entries and no buffer view; the limit is {MAX_ZEROS}");
            return Err(why);
        }
        None => vec![zero; count],
    };
    if let Some(sparse) = accessor.sparse() {
        let (at, values) = (sparse.indices(), sparse.values());
        let index_size = match at.index_type() {
            IndexType::U8 => 1,
            IndexType::U16 => 2,
            IndexType::U32 => 4,
        };
        let bytes = file.buffers.view(&at.view())?;
        let at = Strided::new(bytes, at.offset(), index_size, index_size, sparse.count())?;
        let bytes = file.buffers.view(&values.view())?;
        let values = Strided::new(bytes, values.offset(), size, size, sparse.count())?;
        for number in 0..sparse.count() {
            let mut word = [0; 4];
            word[..index_size].copy_from_slice(&at.get(number)[..index_size]);
            let index = u32::from_le_bytes(word) as usize;
            let slot = entries.get_mut(index);
            let slot = slot.ok_or_else(|| format!("its sparse index {index} is beyond its end"))?;
            *slot = entry(values.get(number));
        }
    }
    Ok(entries)
}
