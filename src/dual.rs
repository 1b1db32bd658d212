//! A value with its derivatives, as hosts pass and get it.

/// Value, ddx or ddy of a global or an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The value itself.
    Value = 0,
    /// Its change per pixel along x.
    Ddx = 1,
    /// Its change per pixel along y.
    Ddy = 2,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 3] = [Part::Value, Part::Ddx, Part::Ddy];
}

/// A value with its changes per pixel along x and y. It lies in memory as globals do: value, ddx,
/// ddy.
///
/// ```
/// use adumbra::Dual;
/// let mut u = Dual::from(0.5_f32);
/// u.ddx = 1.0 / 512.0;
/// assert_eq!(u.map(|x| 2.0 * x), Dual { value: 1.0, ddx: 1.0 / 256.0, ddy: 0.0 });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Dual<T> {
    /// The value.
    pub value: T,
    /// Its derivative along x, per pixel.
    pub ddx: T,
    /// Its derivative along y, per pixel.
    pub ddy: T,
}

impl<T> Dual<T> {
    /// Makes one of its three parts.
    pub(crate) fn of_parts(part: impl FnMut(Part) -> T) -> Dual<T> {
        let [value, ddx, ddy] = Part::ALL.map(part);
        Dual { value, ddx, ddy }
    }

    /// The same done to the value and both derivatives. That is right for linear functions alone: a
    /// factor, a rotation, a component. A square, a length or an offset has other derivatives.
    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> Dual<U> {
        Dual {
            value: f(self.value),
            ddx: f(self.ddx),
            ddy: f(self.ddy),
        }
    }
}

impl<T: Default> From<T> for Dual<T> {
    /// A value that does not change from pixel to pixel.
    fn from(value: T) -> Dual<T> {
        Dual {
            value,
            ddx: T::default(),
            ddy: T::default(),
        }
    }
}
