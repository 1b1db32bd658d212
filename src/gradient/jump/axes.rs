//! The sampling axes: the globals along which a pixel has neighbours, and random variables.

use crate::globals::GlobalsLayout;
use crate::value::Part;
use adumbra_ir::{Scalar, Type};
use std::fmt;
use std::str::FromStr;

/// The most axes along which points have neighbours. Random variables are axes of their own number.
pub const MAX_AXES: usize = 4;

/// A float among the globals of a host, and the distance of neighbouring samples along it. Its text
/// names the component of a global that has several.
///
/// ```
/// use adumbra::gradient::Axis;
/// let axis: Axis = "uv.y:0.25".parse()?;
/// assert_eq!((axis.global(), axis.scalar(), axis.spacing()), ("uv", 1, 0.25));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    global: String,
    scalar: usize,
    spacing: f64,
    is_random: bool,
    /// Whether it is meant to be the only float of its global, whose components have names.
    is_alone: bool,
}

impl Axis {
    /// A float of a global, by its number among those of the global, and the distance of samples:
    /// positive and finite.
    pub fn new(global: impl Into<String>, scalar: usize, spacing: f64) -> Axis {
        Axis {
            global: global.into(),
            scalar,
            spacing,
            is_random: false,
            is_alone: false,
        }
    }

    /// A float of a global that is a random variable of the points, uniform on [-½, ½). Along it a
    /// point has no neighbours, but that whole interval.
    ///
    /// By the rules [`Edge`](super::JumpRules::Edge) a point's gradient is that of the average over
    /// the interval: edges in it count where, of all axes, their margins move fastest along this
    /// one. A point looks along one of the random variables, whose edges count as often as there
    /// are such variables: [`JumpBatch::random_from`](super::JumpBatch::random_from). The other
    /// variables stay along it, and each stays along the other axes.
    ///
    /// By the rules [`Pair`](super::JumpRules::Pair) neighbours in an image have their own.
    pub fn random(global: impl Into<String>, scalar: usize) -> Axis {
        Axis {
            is_random: true,
            ..Axis::new(global, scalar, 1.0)
        }
    }

    /// The name of the global.
    pub fn global(&self) -> &str {
        &self.global
    }

    /// The number of the float among those of the global.
    pub fn scalar(&self) -> usize {
        self.scalar
    }

    /// The distance of neighbouring samples; the width of the interval of a random variable.
    pub fn spacing(&self) -> f64 {
        self.spacing
    }

    /// Whether it is a random variable of the points.
    pub fn is_random(&self) -> bool {
        self.is_random
    }

    /// Its name among globals: that of the global alone, if this is one float.
    pub fn name_in(&self, globals: &GlobalsLayout) -> String {
        let member = globals.member(&self.global);
        match member.is_some_and(|member| matches!(member.ty(), Type::Scalar(_))) {
            true => self.global.clone(),
            false => self.to_string(),
        }
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match ["x", "y", "z", "w"].get(self.scalar) {
            Some(component) => write!(f, "{}.{component}", self.global),
            None => write!(f, "{}[{}]", self.global, self.scalar),
        }
    }
}

impl FromStr for Axis {
    type Err = String;

    fn from_str(text: &str) -> Result<Axis, String> {
        let (name, spacing) = match text.split_once(':') {
            None => (text, 1.0),
            Some((name, spacing)) => {
                let number: Option<f64> = spacing.trim().parse().ok();
                let number = number.filter(|number| *number > 0.0 && number.is_finite());
                let number = number
                    .ok_or_else(|| format!("`{spacing}` is no distance: a number above 0"))?;
                (name, number)
            }
        };
        let (global, scalar, is_alone) = match name.trim().split_once('.') {
            None => (name.trim(), 0, true),
            Some((global, component)) => {
                let components = ["xyzw", "rgba"].into_iter();
                let scalar = components.filter_map(|all| all.find(component)).next();
                let scalar = scalar.filter(|_| component.len() == 1);
                let scalar = scalar.ok_or_else(|| format!("`.{component}` is no component"))?;
                (global, scalar, false)
            }
        };
        match global.is_empty() {
            true => Err("there is no name".to_owned()),
            false => Ok(Axis {
                is_alone,
                ..Axis::new(global, scalar, spacing)
            }),
        }
    }
}

/// How a word of the globals changes along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gradient) enum Slope {
    /// It is the axis.
    One,
    /// By the shadow in this word.
    Shadow(usize),
}

/// An axis in a layout: the words that change along it.
#[derive(Clone, Debug)]
pub(in crate::gradient) struct AxisMoves {
    pub(in crate::gradient) spacing: f64,
    /// Whether samples have its float at their offsets, instead of theirs moved by it.
    pub(in crate::gradient) is_random: bool,
    /// The words of values, each with its slope; of a random variable its own alone.
    pub(in crate::gradient) moves: Vec<(usize, Slope)>,
}

/// Why axes are none of a layout's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gradient) enum AxisError {
    /// There are none, or more with neighbours than [`MAX_AXES`].
    Count(usize),
    /// There is no such global.
    Unknown(String),
    /// The global has no such float.
    NoFloat(String),
    /// The global has several floats, and none is named.
    Several(String),
    /// The spacing is not positive and finite.
    Spacing(String),
    /// Two axes are one.
    Twice(String),
}

/// The words that change along each axis: the axis itself, and along the first two all other floats
/// by their shadows, but for random variables. Axes of neighbours come first.
pub(in crate::gradient) fn moves(
    axes: &[Axis],
    layout: &GlobalsLayout,
) -> Result<Vec<AxisMoves>, AxisError> {
    let neighbours = axes.iter().filter(|axis| !axis.is_random).count();
    if axes.is_empty() || neighbours > MAX_AXES {
        return Err(AxisError::Count(neighbours));
    }
    let mut random = Vec::new();
    for axis in axes.iter().filter(|axis| axis.is_random) {
        let member = layout.member(&axis.global);
        random.extend(member.map(|of| of.part(Part::Value as usize).start + axis.scalar));
    }
    let mut found = Vec::with_capacity(axes.len());
    for (at, axis) in axes.iter().enumerate() {
        let member = layout.member(&axis.global);
        let member = member.ok_or_else(|| AxisError::Unknown(axis.global.clone()))?;
        if !is_float(member.ty(), axis.scalar) {
            return Err(AxisError::NoFloat(axis.to_string()));
        }
        if axis.is_alone && member.ty().scalar_count() > 1 {
            return Err(AxisError::Several(axis.global.clone()));
        }
        if !(axis.spacing > 0.0 && axis.spacing.is_finite()) {
            return Err(AxisError::Spacing(axis.to_string()));
        }
        let is_same = |other: &Axis| other.global == axis.global && other.scalar == axis.scalar;
        if axes[..at].iter().any(is_same) {
            return Err(AxisError::Twice(axis.to_string()));
        }
        let own = member.part(Part::Value as usize).start + axis.scalar;
        let mut moves = vec![(own, Slope::One)];
        let shadows = [Part::Ddx, Part::Ddy].get(at).filter(|_| !axis.is_random);
        for (member, shadows) in layout.members().iter().zip(shadows.into_iter().cycle()) {
            let values = member.part(Part::Value as usize);
            let shadows = member.part(*shadows as usize);
            for (scalar, (value, shadow)) in values.zip(shadows).enumerate() {
                let is_moved = value != own && !random.contains(&value);
                if is_moved && is_float(member.ty(), scalar) {
                    moves.push((value, Slope::Shadow(shadow)));
                }
            }
        }
        found.push(AxisMoves {
            spacing: axis.spacing,
            is_random: axis.is_random,
            moves,
        });
    }
    Ok(found)
}

fn is_float(ty: &Type, scalar: usize) -> bool {
    let (mut at, mut found) = (0, false);
    ty.for_each_scalar(&mut |ty| {
        found |= at == scalar && ty == Scalar::F32;
        at += 1;
    });
    found
}
