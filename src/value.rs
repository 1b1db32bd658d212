//! Values as a host sees them: Rust types in, Rust types out, and a view of any type for printing.

pub use crate::dual::Part;

use crate::dual::Dual;
use adumbra_ir::{Scalar, Type};
use adumbra_vm::FloatEnvironment;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use std::fmt;

#[cfg(any(feature = "glam", feature = "mint"))]
mod vectors;

/// A bool of four bytes, as globals hold it.
///
/// ```
/// use adumbra::{Dual, globals::Flag};
/// let inside = Dual::from(Flag::from(true));
/// assert!(bool::from(inside.value));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Flag(u32);

impl From<bool> for Flag {
    fn from(value: bool) -> Flag {
        Flag(u32::from(value))
    }
}

impl From<Flag> for bool {
    fn from(flag: Flag) -> bool {
        flag.0 != 0
    }
}

impl Flag {
    /// Its word.
    #[inline]
    pub(crate) fn word(&self) -> &u32 {
        &self.0
    }
}

/// A Rust type that a global, an input or an output can be read or set as: `f32`, `i32`, `u32`,
/// `bool`, `[f32; 2]` to `[f32; 4]` for vectors, arrays of such rows for matrices. With the feature
/// `glam` its `Vec2` to `Vec4`, `Mat3` and `Mat4` are, too. With the feature `mint` so are that
/// crate's vectors, and its matrices in rows or columns.
pub trait HostValue: Copy + sealed::Sealed {
    /// The shading language's type for it.
    fn ty() -> Type;
    /// Writes its scalars, one word each.
    fn write(self, words: &mut [u32]);
    /// Reads its scalars, one word each.
    fn read(words: &[u32]) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! host_scalars {
    ($($ty:ty, $scalar:ident, $value:ident => $write:expr, $word:ident => $read:expr;)*) => { $(
        impl sealed::Sealed for $ty {}

        impl HostValue for $ty {
            fn ty() -> Type {
                Type::Scalar(Scalar::$scalar)
            }
            fn write(self, words: &mut [u32]) {
                let $value = self;
                words[0] = $write;
            }
            fn read(words: &[u32]) -> Self {
                let $word = words[0];
                $read
            }
        }
    )* };
}

host_scalars! {
    f32, F32, value => value.to_bits(), word => f32::from_bits(word);
    i32, I32, value => value as u32, word => word as i32;
    u32, U32, value => value, word => word;
    bool, Bool, value => u32::from(value), word => word != 0;
    Flag, Bool, value => u32::from(bool::from(value)), word => Flag::from(word != 0);
}

macro_rules! host_floats {
    ($($n:literal)*) => { $(
        impl sealed::Sealed for [f32; $n] {}

        impl HostValue for [f32; $n] {
            fn ty() -> Type {
                Type::Vector($n)
            }
            fn write(self, words: &mut [u32]) {
                words.copy_from_slice(&self.map(f32::to_bits));
            }
            fn read(words: &[u32]) -> Self {
                std::array::from_fn(|i| f32::from_bits(words[i]))
            }
        }

        impl sealed::Sealed for [[f32; $n]; $n] {}

        /// `m[row][column]`.
        impl HostValue for [[f32; $n]; $n] {
            fn ty() -> Type {
                Type::Matrix($n)
            }
            fn write(self, words: &mut [u32]) {
                words.copy_from_slice(self.map(|row| row.map(f32::to_bits)).as_flattened());
            }
            fn read(words: &[u32]) -> Self {
                std::array::from_fn(|row| <[f32; $n]>::read(&words[$n * row..]))
            }
        }
    )* };
}

host_floats! { 2 3 4 }

/// The types that outputs are read as: a [`HostValue`], which is the value alone, or a [`Dual`] of
/// one, which has the derivatives too. These are there only in a program compiled with
/// [`output_derivatives`](crate::Options::output_derivatives).
pub trait OutputValue: Copy {
    /// The type of the value.
    type Value: HostValue;
    /// Whether it has the derivatives.
    #[doc(hidden)]
    const HAS_DERIVATIVES: bool;
    /// Made of those parts that it has.
    #[doc(hidden)]
    fn of_parts(part: impl FnMut(Part) -> Self::Value) -> Self;
}

impl<T: HostValue> OutputValue for T {
    type Value = T;
    const HAS_DERIVATIVES: bool = false;
    #[inline]
    fn of_parts(mut part: impl FnMut(Part) -> T) -> T {
        part(Part::Value)
    }
}

impl<T: HostValue> OutputValue for Dual<T> {
    type Value = T;
    const HAS_DERIVATIVES: bool = true;
    #[inline]
    fn of_parts(part: impl FnMut(Part) -> T) -> Dual<T> {
        Dual::of_parts(part)
    }
}

/// Words together with their type. Closures and resources show as `closure` and `resource`: their
/// words mean something to one evaluator alone.
///
/// It prints for people (`Display`: `(0.5, 1.0, 0.0)`) and serialises for programs. Floats are the
/// shortest decimal that reads back to the same bits, `"nan"`, `"inf"` and `"-inf"` as strings.
/// Vectors and arrays are arrays, matrices are arrays of rows, structs are objects.
///
/// ```
/// use adumbra::{Type, value::ValueView};
/// let words = [0.1_f32.to_bits(), f32::INFINITY.to_bits()];
/// let view = ValueView::new(&Type::Vector(2), &words);
/// assert_eq!(view.to_string(), "(0.1, inf)");
/// assert_eq!(serde_json::to_string(&view).unwrap(), r#"[0.1,"inf"]"#);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ValueView<'a> {
    ty: &'a Type,
    words: &'a [u32],
    /// Words from one scalar to the next: engines give value, ddx and ddy of a scalar side by side.
    stride: usize,
}

/// The maximum number of scalars of a [`HostValue`]: a 4×4 matrix.
pub(crate) const MAX_HOST_SCALARS: usize = 16;

impl<'a> ValueView<'a> {
    /// The words as a value of that type.
    ///
    /// # Panics
    /// If there is not one word for each scalar of the type.
    pub fn new(ty: &'a Type, words: &'a [u32]) -> ValueView<'a> {
        assert_eq!(words.len(), ty.scalar_count(), "one word for each scalar");
        ValueView::strided(ty, words, 1)
    }

    /// The words of a scalar with a stride.
    pub(crate) fn strided(ty: &'a Type, words: &'a [u32], stride: usize) -> ValueView<'a> {
        ValueView { ty, words, stride }
    }

    /// The type of the words.
    pub fn ty(&self) -> &'a Type {
        self.ty
    }

    /// One word for each scalar, in order.
    pub fn words(&self) -> impl Iterator<Item = u32> + use<'a> {
        let words = self.words.iter().step_by(self.stride).copied();
        words.take(self.ty.scalar_count())
    }

    /// As a Rust value; `None` if the type is another.
    pub fn get<T: HostValue>(&self) -> Option<T> {
        if T::ty() != *self.ty {
            return None;
        }
        let mut words = [0; MAX_HOST_SCALARS];
        for (to, from) in words.iter_mut().zip(self.words()) {
            *to = from;
        }
        Some(T::read(&words[..self.ty.scalar_count()]))
    }

    /// The parts that a vector, matrix (rows), array or struct consists of, structs' with their
    /// names. A scalar has none.
    fn for_each_part(&self, mut f: impl FnMut(Option<&'a str>, ValueView<'a>)) {
        const FLOAT: &Type = &Type::FLOAT;
        const ROWS: [&Type; 3] = [&Type::Vector(2), &Type::Vector(3), &Type::Vector(4)];
        let mut rest = self.words;
        let mut part = |name, ty: &'a Type| {
            let words = rest;
            rest = rest
                .get(ty.scalar_count() * self.stride..)
                .unwrap_or_default();
            f(name, ValueView { ty, words, ..*self });
        };
        match self.ty {
            Type::Scalar(_) => {}
            Type::Vector(n) => (0..*n).for_each(|_| part(None, FLOAT)),
            Type::Matrix(n) => (0..*n).for_each(|_| part(None, ROWS[*n as usize - 2])),
            Type::Array(element, n) => (0..*n).for_each(|_| part(None, element)),
            Type::Struct(s) => s.members.iter().for_each(|(name, ty)| part(Some(name), ty)),
        }
    }
}

/// A float for programs: a JSON number that reads back to the same bits, or a string where JSON has
/// no number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JsonFloat(pub f32);

impl Serialize for JsonFloat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            serializer.serialize_f32(self.0)
        } else {
            serializer.collect_str(&HumanFloat(self.0))
        }
    }
}

/// A float for people: the shortest decimal that reads back to the same bits; `nan`, `inf`, `-inf`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HumanFloat(pub f32);

impl fmt::Display for HumanFloat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A number gets no exponent if it compares as 0, which denormals must not.
        let _mode = FloatEnvironment::enter();
        if self.0.is_nan() {
            f.write_str("nan")
        } else {
            write!(f, "{:?}", self.0)
        }
    }
}

impl Serialize for ValueView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.ty {
            Type::Scalar(scalar) => {
                let word = self.words[0];
                match scalar {
                    Scalar::F32 => JsonFloat(f32::from_bits(word)).serialize(serializer),
                    Scalar::I32 => serializer.serialize_i32(word as i32),
                    Scalar::U32 => serializer.serialize_u32(word),
                    Scalar::Bool => serializer.serialize_bool(word != 0),
                    Scalar::Closure | Scalar::Resource => serializer.serialize_str(scalar.name()),
                }
            }
            Type::Struct(members) => {
                let mut map = serializer.serialize_map(Some(members.members.len()))?;
                let mut result = Ok(());
                self.for_each_part(|name, part| {
                    if result.is_ok() {
                        result = map.serialize_entry(name.unwrap_or_default(), &part);
                    }
                });
                result?;
                map.end()
            }
            _ => {
                let mut list = serializer.serialize_seq(None)?;
                let mut result = Ok(());
                self.for_each_part(|_, part| {
                    if result.is_ok() {
                        result = list.serialize_element(&part);
                    }
                });
                result?;
                list.end()
            }
        }
    }
}

impl fmt::Display for ValueView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Type::Scalar(scalar) = self.ty {
            let word = self.words[0];
            return match scalar {
                Scalar::F32 => HumanFloat(f32::from_bits(word)).fmt(f),
                Scalar::I32 => (word as i32).fmt(f),
                Scalar::U32 => word.fmt(f),
                Scalar::Bool => (word != 0).fmt(f),
                Scalar::Closure | Scalar::Resource => f.write_str(scalar.name()),
            };
        }
        let (open, close) = match self.ty {
            Type::Vector(_) => ("(", ")"),
            Type::Matrix(_) | Type::Array(..) => ("[", "]"),
            _ => ("{ ", " }"),
        };
        f.write_str(open)?;
        let mut result = Ok(());
        let mut first = true;
        self.for_each_part(|name, part| {
            if result.is_err() {
                return;
            }
            let comma = if std::mem::take(&mut first) { "" } else { ", " };
            result = match name {
                Some(name) => write!(f, "{comma}{name}: {part}"),
                None => write!(f, "{comma}{part}"),
            };
        });
        result?;
        f.write_str(close)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_ir::types::StructType;
    use std::sync::Arc;

    fn json(x: f32) -> String {
        serde_json::to_string(&JsonFloat(x)).unwrap()
    }

    #[test]
    fn printed_floats_round_trip() {
        for (x, text) in [
            (0.17684336, "0.17684336"),
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1e-45, "1e-45"),
            (0.1, "0.1"),
            (16777216.0, "16777216.0"),
            (f32::NAN, "\"nan\""),
            (f32::INFINITY, "\"inf\""),
            (f32::NEG_INFINITY, "\"-inf\""),
        ] {
            assert_eq!(json(x), text);
        }
        for bits in (0..0x7f80_0000_u32).step_by(99_991) {
            for x in [f32::from_bits(bits), -f32::from_bits(bits)] {
                assert_eq!(json(x).parse::<f32>().unwrap().to_bits(), x.to_bits());
                let human = HumanFloat(x).to_string();
                assert_eq!(human.parse::<f32>().unwrap().to_bits(), x.to_bits());
            }
        }
    }

    #[test]
    fn values_print_in_line_and_serialise_by_shape() {
        let pair = Type::Struct(Arc::new(StructType {
            name: "pair".to_owned(),
            members: vec![
                ("n".to_owned(), Type::Scalar(Scalar::I32)),
                (
                    "flags".to_owned(),
                    Type::Array(Arc::new(Type::Scalar(Scalar::Bool)), 2),
                ),
                ("m".to_owned(), Type::Matrix(2)),
            ],
        }));
        let [one, half] = [1.0_f32, 0.5].map(f32::to_bits);
        let words = [-3_i32 as u32, 1, 0, one, half, half, one];
        let view = ValueView::new(&pair, &words);
        assert_eq!(
            view.to_string(),
            "{ n: -3, flags: [true, false], m: [(1.0, 0.5), (0.5, 1.0)] }"
        );
        assert_eq!(
            serde_json::to_string(&view).unwrap(),
            r#"{"n":-3,"flags":[true,false],"m":[[1.0,0.5],[0.5,1.0]]}"#
        );
        assert_eq!(view.get::<f32>(), None);
    }
}
