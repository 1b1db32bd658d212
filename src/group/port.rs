//! Ports of units: the part of a value that a path names, and the conversions of a wire.

use adumbra_frontend::check::implicit_conversion;
use adumbra_ir::{Op, Scalar, Type};

/// A part of an input or output: which of its scalars, and what they are together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PortPart {
    pub(super) ty: Type,
    pub(super) first: u32,
}

/// The part of a value that the path after its name leads to: struct members, at last a component
/// of a vector.
///
/// # Errors
/// The bytes of the path that lead somewhere, and the type there.
pub(super) fn find_part(ty: &Type, path: Option<&str>) -> Result<PortPart, (usize, Type)> {
    let mut part = PortPart {
        ty: ty.clone(),
        first: 0,
    };
    let Some(path) = path else { return Ok(part) };
    let mut passed = 0;
    for step in path.split('.') {
        let inner = match &part.ty {
            Type::Struct(s) => {
                let member = s.member(step);
                member.map(|(before, ty)| (ty.clone(), part.first + before as u32))
            }
            Type::Vector(n) => component(step, *n).map(|at| (Type::FLOAT, part.first + at)),
            Type::Scalar(_) | Type::Matrix(_) | Type::Array(..) => None,
        };
        match inner {
            Some((ty, first)) => part = PortPart { ty, first },
            None => return Err((passed, part.ty)),
        }
        passed += step.len() + 1;
    }
    Ok(part)
}

fn component(name: &str, width: u8) -> Option<u32> {
    let at = ["xyzw", "rgba"]
        .iter()
        .find_map(|set| set.find(name).filter(|_| name.len() == 1))?;
    (at < width as usize).then_some(at as u32)
}

/// The names that may follow a dot, for people.
pub(super) fn part_names(ty: &Type) -> Vec<String> {
    match ty {
        Type::Struct(s) => s.members.iter().map(|(name, _)| name.clone()).collect(),
        Type::Vector(n) => "xyzw"[..*n as usize].chars().map(String::from).collect(),
        Type::Scalar(_) | Type::Matrix(_) | Type::Array(..) => Vec::new(),
    }
}

/// The source of a scalar of the receiver: the scalar of the giver, and the ops that convert it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wire {
    pub(super) from: u32,
    pub(super) steps: &'static [Op],
}

/// The conversion of one type to another, scalar by scalar; `None` if there is none.
pub(super) fn wires(from: &Type, to: &Type) -> Option<Vec<Wire>> {
    let straight = |from| Wire { from, steps: &[] };
    match (from, to) {
        _ if from == to => Some((0..to.scalar_count() as u32).map(straight).collect()),
        (Type::Scalar(from), Type::Scalar(to)) => {
            let steps = implicit_conversion(*from, *to)?;
            Some(vec![Wire { from: 0, steps }])
        }
        (Type::Scalar(from), Type::Vector(n)) => {
            let steps = implicit_conversion(*from, Scalar::F32)?;
            Some(vec![Wire { from: 0, steps }; *n as usize])
        }
        _ => None,
    }
}

/// The help for a connection that [`wires`] refuses.
pub(super) fn conversion_help(from: &Type, to: &Type, port: &str) -> String {
    let is_number = |ty: &Type| match ty {
        Type::Scalar(scalar) => !scalar.is_handle(),
        _ => false,
    };
    match (from, to) {
        (Type::Vector(_), Type::Scalar(Scalar::F32)) => {
            format!("take one component, as in `{port}.x`")
        }
        (Type::Vector(_), Type::Vector(_)) => {
            "put a unit between them that makes the one from the other".to_owned()
        }
        (Type::Scalar(Scalar::Closure), _) => {
            "a closure can only go where one is wanted".to_owned()
        }
        (_, Type::Scalar(Scalar::Closure)) => {
            "only a closure can go there: an output of type `closure`".to_owned()
        }
        _ if is_number(from) && is_number(to) => {
            format!(
                "put a unit between them that casts it: `shader cast({from} x, out {to} y) {{ y = ({to})x; }}`"
            )
        }
        _ => match part_names(from).first() {
            Some(first) => format!("take a part of it, as in `{port}.{first}`"),
            None => format!("only `{to}` can go there"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_ir::types::StructType;
    use std::sync::Arc;

    fn hit() -> Type {
        Type::Struct(Arc::new(StructType {
            name: "hit".to_owned(),
            members: vec![
                ("n".to_owned(), Type::Scalar(Scalar::I32)),
                ("p".to_owned(), Type::Vector(3)),
            ],
        }))
    }

    #[test]
    fn paths_name_members_and_components() {
        let found = |path| find_part(&hit(), path).map(|part| (part.ty.to_string(), part.first));
        assert_eq!(found(None), Ok(("hit".to_owned(), 0)));
        assert_eq!(found(Some("n")), Ok(("int".to_owned(), 0)));
        assert_eq!(found(Some("p")), Ok(("float3".to_owned(), 1)));
        assert_eq!(found(Some("p.z")), Ok(("float".to_owned(), 3)));
        assert_eq!(found(Some("p.g")), Ok(("float".to_owned(), 2)));
        assert_eq!(found(Some("p.w")), Err((2, Type::Vector(3))));
        assert_eq!(found(Some("p.xy")), Err((2, Type::Vector(3))));
        assert_eq!(found(Some("p.")), Err((2, Type::Vector(3))));
        assert_eq!(found(Some("n.x")), Err((2, Type::Scalar(Scalar::I32))));
        assert_eq!(found(Some("")), Err((0, hit())));
        assert_eq!(part_names(&Type::Vector(2)), ["x", "y"]);
    }

    #[test]
    fn numbers_convert_and_fill_vectors() {
        let int = Type::Scalar(Scalar::I32);
        let count = |from: &Type, to: &Type| wires(from, to).map(|wires| wires.len());
        assert_eq!(wires(&int, &Type::FLOAT).unwrap()[0].steps, [Op::IToF]);
        assert_eq!(count(&int, &Type::Vector(3)), Some(3));
        assert_eq!(count(&Type::FLOAT, &Type::Vector(4)), Some(4));
        assert_eq!(count(&hit(), &hit()), Some(4));
        assert_eq!(count(&Type::FLOAT, &int), None);
        assert_eq!(count(&Type::Scalar(Scalar::Bool), &Type::FLOAT), None);
        assert_eq!(count(&Type::Vector(3), &Type::FLOAT), None);
        assert_eq!(count(&Type::Vector(3), &Type::Vector(4)), None);
        let closure = Type::Scalar(Scalar::Closure);
        assert_eq!(count(&closure, &closure), Some(1));
        assert_eq!(count(&closure, &Type::FLOAT), None);
    }
}
