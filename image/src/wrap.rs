//! Wrap modes: which texel a coordinate beyond the texture reads (OpenGL 4.6, section 8.14.2).

/// How coordinates beyond the texture are brought back along one axis.
///
/// ```
/// use adumbra_image::Wrap;
/// assert_eq!(Wrap::Mirror.texel(4, 4), Some(3));
/// assert_eq!(Wrap::from_name("clamp"), Some(Wrap::Clamp));
/// let both: [Wrap; 2] = Wrap::Black.into();
/// assert_eq!(both, [Wrap::Black, Wrap::Black]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// The texture repeats.
    #[default]
    Repeat,
    /// The texels at the border go on.
    Clamp,
    /// The texture repeats; every other copy is mirrored.
    Mirror,
    /// Zero beyond.
    Black,
}

/// The same along u and v.
impl From<Wrap> for [Wrap; 2] {
    fn from(wrap: Wrap) -> [Wrap; 2] {
        [wrap; 2]
    }
}

/// Magnitude of texel coordinates at which those of [`Wrap::Clamp`] and [`Wrap::Black`] end. Every
/// texel there is beyond any texture, and sums with offsets are exact.
const FAR: f64 = (1_u64 << 52) as f64;

impl Wrap {
    /// Every wrap mode.
    pub const ALL: [Wrap; 4] = [Wrap::Repeat, Wrap::Clamp, Wrap::Mirror, Wrap::Black];

    /// The [`name`](Wrap::name) of each.
    pub const NAMES: [&'static str; 4] = ["repeat", "clamp", "mirror", "black"];

    /// The name on the command line, in scene files and in shaders.
    pub fn name(self) -> &'static str {
        Wrap::NAMES[self as usize]
    }

    /// The wrap mode with that [`name`](Wrap::name).
    pub fn from_name(name: &str) -> Option<Wrap> {
        Wrap::ALL.into_iter().find(|wrap| wrap.name() == name)
    }

    /// The column or row that a texel beyond a side of that many texels reads; `None` is zero.
    pub fn texel(self, at: i64, side: u32) -> Option<u32> {
        let length = i64::from(side.max(1));
        let inside = match self {
            Wrap::Repeat => at.rem_euclid(length),
            Wrap::Clamp => at.clamp(0, length - 1),
            Wrap::Mirror => {
                let within = at.rem_euclid(2 * length);
                within.min(2 * length - 1 - within)
            }
            Wrap::Black if (0..length).contains(&at) => at,
            Wrap::Black => return None,
        };
        Some(inside as u32)
    }

    /// A finite coordinate in texels of a side, small enough for exact sums with offsets. It reads
    /// what the coordinate reads.
    pub fn in_texels(self, coordinate: f64, side: u32) -> f64 {
        let reduced = match self {
            Wrap::Repeat => coordinate - coordinate.floor(),
            Wrap::Mirror => coordinate - 2.0 * (0.5 * coordinate).floor(),
            Wrap::Clamp | Wrap::Black => coordinate,
        };
        (reduced * f64::from(side)).clamp(-FAR, FAR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texels_beyond_are_brought_back() {
        let of = |wrap: Wrap| -> Vec<Option<u32>> { (-4..7).map(|at| wrap.texel(at, 3)).collect() };
        let some = |texels: [u32; 11]| texels.map(Some).to_vec();
        assert_eq!(of(Wrap::Repeat), some([2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0]));
        assert_eq!(of(Wrap::Clamp), some([0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2]));
        assert_eq!(of(Wrap::Mirror), some([2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0]));
        let inside = [None, None, None, None, Some(0), Some(1), Some(2)];
        let black = of(Wrap::Black);
        assert_eq!((&black[..7], &black[7..]), (&inside[..], &[None; 4][..]));
    }

    #[test]
    fn extreme_texels_are_inside() {
        for wrap in Wrap::ALL {
            for side in [0, 1, 3, u32::MAX] {
                for at in [i64::MIN, -1, 0, i64::MAX] {
                    assert!(
                        wrap.texel(at, side).is_none_or(|x| x < side.max(1)),
                        "{wrap:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn reduced_coordinates_read_the_same_texels() {
        for wrap in Wrap::ALL {
            for eighths in -80..80 {
                let coordinate = f64::from(eighths) / 8.0;
                let direct = (coordinate * 24.0).floor() as i64;
                let reduced = wrap.in_texels(coordinate, 24).floor() as i64;
                assert_eq!(wrap.texel(direct, 24), wrap.texel(reduced, 24), "{wrap:?}");
            }
            for far in [1e30, -1e30, f64::MAX, f64::MIN] {
                assert!(wrap.in_texels(far, u32::MAX).abs() <= FAR.max(2.0 * f64::from(u32::MAX)));
            }
        }
    }

    #[test]
    fn wrap_names_are_read_back() {
        for wrap in Wrap::ALL {
            assert_eq!(Wrap::from_name(wrap.name()), Some(wrap));
        }
        assert_eq!(Wrap::from_name("Repeat"), None);
    }
}
