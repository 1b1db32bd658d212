//! Vectors and matrices of the crates `glam` and `mint` as values, each by the feature of its name.
//!
//! The language's matrices are rows of vectors, `m[row][column]`, and a matrix of these crates
//! becomes the matrix that does the same: its columns are transposed.

use super::{HostValue, sealed};
use crate::dual::Dual;
use crate::globals::GlobalValue;
use adumbra_ir::Type;

/// Types that convert to their array and back, and the array that they are in memory.
macro_rules! vectors {
    ($($ty:ty: $array:ty, $words:ty, $column_major:literal, $to:expr, $from:expr;)*) => { $(
        impl sealed::Sealed for $ty {}

        impl HostValue for $ty {
            fn ty() -> Type {
                <$array>::ty()
            }
            fn write(self, words: &mut [u32]) {
                let to: fn($ty) -> $array = $to;
                to(self).write(words);
            }
            fn read(words: &[u32]) -> Self {
                let from: fn($array) -> $ty = $from;
                from(<$array>::read(words))
            }
        }

        impl GlobalValue for $ty {
            type Words = $words;
            const COLUMN_MAJOR: bool = $column_major;
            fn words(&self) -> &$words {
                self.as_ref()
            }
        }

        impl From<Dual<$array>> for Dual<$ty> {
            fn from(dual: Dual<$array>) -> Dual<$ty> {
                dual.map($from)
            }
        }

        impl From<Dual<$ty>> for Dual<$array> {
            fn from(dual: Dual<$ty>) -> Dual<$array> {
                dual.map($to)
            }
        }
    )* };
}

/// Rows from columns, or the other way.
fn transposed<const N: usize>(matrix: [[f32; N]; N]) -> [[f32; N]; N] {
    std::array::from_fn(|row| std::array::from_fn(|column| matrix[column][row]))
}

#[cfg(feature = "glam")]
mod of_glam {
    use super::*;
    use glam::{Mat3, Mat4, Vec2, Vec3, Vec4};

    vectors! {
        Vec2: [f32; 2], [f32; 2], false, |v| v.to_array(), Vec2::from_array;
        Vec3: [f32; 3], [f32; 3], false, |v| v.to_array(), Vec3::from_array;
        Vec4: [f32; 4], [f32; 4], false, |v| v.to_array(), Vec4::from_array;
        Mat3: [[f32; 3]; 3], [f32; 9], true,
            |m| transposed(m.to_cols_array_2d()), |m| Mat3::from_cols_array_2d(&transposed(m));
        Mat4: [[f32; 4]; 4], [f32; 16], true,
            |m| transposed(m.to_cols_array_2d()), |m| Mat4::from_cols_array_2d(&transposed(m));
    }
}

#[cfg(feature = "mint")]
mod of_mint {
    use super::*;
    use mint::{ColumnMatrix3, ColumnMatrix4, RowMatrix3, RowMatrix4, Vector2, Vector3, Vector4};

    vectors! {
        Vector2<f32>: [f32; 2], [f32; 2], false, Into::into, Into::into;
        Vector3<f32>: [f32; 3], [f32; 3], false, Into::into, Into::into;
        Vector4<f32>: [f32; 4], [f32; 4], false, Into::into, Into::into;
        RowMatrix3<f32>: [[f32; 3]; 3], [[f32; 3]; 3], false, Into::into, Into::into;
        RowMatrix4<f32>: [[f32; 4]; 4], [[f32; 4]; 4], false, Into::into, Into::into;
        ColumnMatrix3<f32>: [[f32; 3]; 3], [[f32; 3]; 3], true,
            |m| transposed(m.into()), |m| transposed(m).into();
        ColumnMatrix4<f32>: [[f32; 4]; 4], [[f32; 4]; 4], true,
            |m| transposed(m.into()), |m| transposed(m).into();
    }
}
