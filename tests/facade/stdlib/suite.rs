//! A notation for the properties of library functions.
//!
//! Properties are expressions in the language over the variables of [`VARIABLES`], which are drawn
//! anew for every point. The range of a function's arguments ([`Function::takes`]) says where its
//! derivatives are compared and its edges tried. It is between -2 and 2 by default.

use adumbra::{Scalar, Type};

/// Where a value is drawn from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Domain {
    /// Each component between these.
    Between(f32, f32),
    /// A vector of length 1.
    Unit,
    /// A whole number between these, both included.
    Whole(i32, i32),
    /// Any bits.
    Bits,
    /// True or false.
    Coin,
}

use Domain::{Between, Bits, Coin, Unit, Whole};

/// The variables of properties.
///
/// Per pixel along x a component changes by 0.3 times its number, counted from 1; along y by -0.4
/// over its number.
pub(crate) const VARIABLES: &[(&str, Type, Domain)] = &[
    ("a", Type::FLOAT, Between(-2.0, 2.0)),
    ("b", Type::FLOAT, Between(-2.0, 2.0)),
    ("c", Type::FLOAT, Between(-2.0, 2.0)),
    ("d", Type::FLOAT, Between(-2.0, 2.0)),
    // Between 0 and 1.
    ("t", Type::FLOAT, Between(0.0, 1.0)),
    ("u", Type::FLOAT, Between(0.0, 1.0)),
    ("v", Type::FLOAT, Between(0.0, 1.0)),
    ("p2", Type::Vector(2), Between(-2.0, 2.0)),
    ("q2", Type::Vector(2), Between(-2.0, 2.0)),
    ("p3", Type::Vector(3), Between(-2.0, 2.0)),
    ("q3", Type::Vector(3), Between(-2.0, 2.0)),
    ("p4", Type::Vector(4), Between(-2.0, 2.0)),
    ("q4", Type::Vector(4), Between(-2.0, 2.0)),
    // Colours.
    ("c3", Type::Vector(3), Between(0.0, 1.0)),
    ("d3", Type::Vector(3), Between(0.0, 1.0)),
    // Directions.
    ("m2", Type::Vector(2), Unit),
    ("n2", Type::Vector(2), Unit),
    ("m3", Type::Vector(3), Unit),
    ("n3", Type::Vector(3), Unit),
    ("n4", Type::Vector(4), Unit),
    ("i", Type::Scalar(Scalar::I32), Whole(-9, 9)),
    ("j", Type::Scalar(Scalar::I32), Whole(0, 9)),
    ("k", Type::Scalar(Scalar::U32), Bits),
    ("l", Type::Scalar(Scalar::U32), Bits),
    ("coin", Type::Scalar(Scalar::Bool), Coin),
];

/// Something that holds at every point.
#[derive(Clone, Debug)]
pub(crate) enum Property {
    /// Two expressions of one type give the same, floats within a tolerance that is relative above
    /// 1 and absolute below.
    Equal(&'static str, &'static str, f32),
    /// A condition.
    Holds(&'static str),
    /// Each overload on vectors gives, component by component, what the one on floats gives.
    Componentwise,
}

/// The claims about the functions of one name.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) takes: Vec<(&'static str, Domain)>,
    pub(crate) properties: Vec<Property>,
    /// Functions that its properties call.
    pub(crate) helpers: &'static str,
    /// Whether all its derivatives are 0.
    pub(crate) is_flat: bool,
}

/// The tolerance of properties that name none.
const CLOSE: f32 = 2e-6;

/// Begins what is claimed of a function.
pub(crate) fn function(name: &'static str) -> Function {
    Function {
        name,
        takes: Vec::new(),
        properties: Vec::new(),
        helpers: "",
        is_flat: false,
    }
}

impl Function {
    /// Its parameter of that name lies between these.
    pub(crate) fn takes(self, param: &'static str, low: f32, high: f32) -> Function {
        self.takes_from(param, Between(low, high))
    }

    /// Its parameter of that name is of this domain.
    pub(crate) fn takes_from(mut self, param: &'static str, domain: Domain) -> Function {
        self.takes.push((param, domain));
        self
    }

    /// Two expressions give the same.
    pub(crate) fn equal(self, one: &'static str, other: &'static str) -> Function {
        self.near(CLOSE, one, other)
    }

    /// Two expressions give the same within a tolerance.
    pub(crate) fn near(
        mut self,
        tolerance: f32,
        one: &'static str,
        other: &'static str,
    ) -> Function {
        self.properties.push(Property::Equal(one, other, tolerance));
        self
    }

    /// A condition holds.
    pub(crate) fn holds(mut self, condition: &'static str) -> Function {
        self.properties.push(Property::Holds(condition));
        self
    }

    /// See [`Property::Componentwise`].
    pub(crate) fn componentwise(mut self) -> Function {
        self.properties.push(Property::Componentwise);
        self
    }

    /// Its properties call these functions.
    pub(crate) fn helped_by(mut self, functions: &'static str) -> Function {
        self.helpers = functions;
        self
    }

    /// All its derivatives are 0: it is constant between jumps, or gives derivatives itself.
    pub(crate) fn flat(mut self) -> Function {
        self.is_flat = true;
        self
    }

    /// Where the parameter of that name is drawn from.
    pub(crate) fn domain(&self, param: &str, ty: &Type) -> Domain {
        let said = self.takes.iter().find(|(name, _)| *name == param);
        match (said, ty) {
            (Some((_, domain)), _) => *domain,
            (None, Type::Scalar(Scalar::I32)) => Whole(-9, 9),
            (None, Type::Scalar(Scalar::U32)) => Bits,
            (None, Type::Scalar(Scalar::Bool)) => Coin,
            (None, _) => Between(-2.0, 2.0),
        }
    }
}
