//! Types of IR values, and of the host's interface.

pub use adumbra_ops::types::{Direction, Lanes, Scalar};
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;

/// A type as the host and the shader writer see it: of a global, an input, an output or a closure
/// parameter. Lowering turned it into its scalars in order (`for_each_scalar`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// One scalar.
    Scalar(Scalar),
    /// 2, 3 or 4 floats.
    Vector(u8),
    /// n×n floats, row by row; n is 2, 3 or 4.
    Matrix(u8),
    /// That many elements of one type.
    Array(Arc<Type>, u32),
    /// Named members in order.
    Struct(Arc<StructType>),
}

/// A struct as the host sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StructType {
    /// The struct's name.
    pub name: String,
    /// Name and type of each member.
    pub members: Vec<(String, Type)>,
}

impl StructType {
    /// The member of that name: the number of scalars before it, and its type.
    pub fn member(&self, name: &str) -> Option<(usize, &Type)> {
        let mut before = 0;
        for (known, ty) in &self.members {
            if known == name {
                return Some((before, ty));
            }
            before += ty.scalar_count();
        }
        None
    }
}

impl Type {
    /// A float.
    pub const FLOAT: Type = Type::Scalar(Scalar::F32);

    /// The number of its scalars. Arrays count their elements.
    pub fn scalar_count(&self) -> usize {
        match self {
            Type::Scalar(_) => 1,
            Type::Vector(n) => *n as usize,
            Type::Matrix(n) => *n as usize * *n as usize,
            Type::Array(element, n) => element.scalar_count() * *n as usize,
            Type::Struct(s) => s.members.iter().map(|(_, t)| t.scalar_count()).sum(),
        }
    }

    /// The type of each scalar, in order.
    pub fn for_each_scalar(&self, f: &mut impl FnMut(Scalar)) {
        let mut scalars = SmallVec::new();
        self.append_scalars(&mut scalars);
        scalars.into_iter().for_each(f);
    }

    /// The numbers of its floats among its scalars, in order.
    pub fn float_scalars(&self) -> Vec<usize> {
        let (mut floats, mut at) = (Vec::new(), 0);
        self.for_each_scalar(&mut |scalar| {
            if scalar == Scalar::F32 {
                floats.push(at);
            }
            at += 1;
        });
        floats
    }

    /// Appends the type of each scalar. The element of an array is walked once, however many there
    /// are, so the work is that of the type as written and of the scalars.
    fn append_scalars(&self, to: &mut SmallVec<[Scalar; 16]>) {
        match self {
            Type::Scalar(scalar) => to.push(*scalar),
            Type::Vector(n) => to.resize(to.len() + usize::from(*n), Scalar::F32),
            Type::Matrix(n) => {
                let n = usize::from(*n);
                to.resize(to.len() + n * n, Scalar::F32);
            }
            Type::Array(_, 0) => {}
            Type::Array(element, n) => {
                let start = to.len();
                element.append_scalars(to);
                let of_element = to.len() - start;
                to.reserve(of_element * (*n as usize - 1));
                for at in start..start + of_element * (*n as usize - 1) {
                    to.push(to[at]);
                }
            }
            Type::Struct(s) => s.members.iter().for_each(|(_, t)| t.append_scalars(to)),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Scalar(Scalar::F32) => f.write_str("float"),
            Type::Scalar(Scalar::I32) => f.write_str("int"),
            Type::Scalar(Scalar::U32) => f.write_str("uint"),
            Type::Scalar(Scalar::Bool) => f.write_str("bool"),
            Type::Scalar(Scalar::Closure) => f.write_str("closure"),
            Type::Scalar(Scalar::Resource) => f.write_str("shader_resource"),
            Type::Vector(n) => write!(f, "float{n}"),
            Type::Matrix(n) => write!(f, "float{n}x{n}"),
            Type::Array(element, n) => {
                // In a declaration, the outermost length comes first.
                let (mut innermost, mut lengths) = (element, format!("[{n}]"));
                while let Type::Array(element, n) = &**innermost {
                    lengths.push_str(&format!("[{n}]"));
                    innermost = element;
                }
                write!(f, "{innermost}{lengths}")
            }
            Type::Struct(s) => f.write_str(&s.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(ty: &Type) -> usize {
        let mut count = 0;
        ty.for_each_scalar(&mut |_| count += 1);
        assert_eq!(count, ty.scalar_count());
        count
    }

    fn array(element: Type, len: u32) -> Type {
        Type::Array(Arc::new(element), len)
    }

    fn structure(members: Vec<Type>) -> Type {
        let members = members.into_iter().map(|ty| (String::new(), ty));
        Type::Struct(Arc::new(StructType {
            name: String::new(),
            members: members.collect(),
        }))
    }

    #[test]
    fn scalars_are_in_order() {
        let (bool, int) = (Type::Scalar(Scalar::Bool), Type::Scalar(Scalar::I32));
        let pair = structure(vec![bool, Type::Vector(2), array(int, 2)]);
        let mut found = Vec::new();
        array(pair, 2).for_each_scalar(&mut |scalar| found.push(scalar));
        let once = [
            Scalar::Bool,
            Scalar::F32,
            Scalar::F32,
            Scalar::I32,
            Scalar::I32,
        ];
        assert_eq!(found, [once, once].concat());
    }

    /// The work is that of the type as written and of its scalars, once: not of arrays within
    /// arrays, nor of members that have none.
    #[test]
    fn elements_are_walked_once() {
        let nested = (0..30).fold(Type::FLOAT, |element, _| array(element, 1));
        let deep = array(nested, 1 << 16);
        assert_eq!(count(&structure(vec![deep; 64])), 64 << 16);
        let mut members = vec![Type::FLOAT];
        members.resize(20_000, array(Type::FLOAT, 0));
        let sparse = array(array(structure(members), 1 << 15), 64);
        assert_eq!(count(&sparse), 64 << 15);
        assert_eq!(count(&array(structure(Vec::new()), u32::MAX)), 0);
    }
}
