//! Calls of the standard library: every function whose arguments can be made.

use super::expression::Expr;
use super::range::ValueRange;
use super::scope::Ty;
use super::{Generator, Profile};
use crate::feature::Feature;
use crate::signature::{LibrarySignature, signatures, type_of};
use adumbra_ir::{Scalar, Type};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// About how many steps a call costs: sums of noise turn a loop.
const COST: u64 = 24;

/// Functions that are younger than `tests/data/bits.txt`; as with ops, only units of groups call
/// them.
pub(crate) const UNRECORDED_FUNCTIONS: [&str; 6] = [
    "safe_acos",
    "safe_asin",
    "safe_fmod",
    "safe_inversesqrt",
    "safe_pow",
    "safe_sqrt",
];

/// A function of the library that can be called.
#[derive(Clone, Debug)]
struct LibcallFn {
    name: String,
    /// `None` for `void`.
    result: Option<Ty>,
    /// Types, and whether they are written.
    params: Vec<(Ty, bool)>,
    /// Whether it asks for derivatives, so that its own are none.
    asks: bool,
}

/// By entry, the overloads that can be called.
static LIBRARY: LazyLock<Vec<Vec<LibcallFn>>> = LazyLock::new(|| {
    let asking = asking();
    let entries = adumbra_stdlib::function_names().map(|name| {
        let able = signatures(name).into_iter();
        able.filter_map(|signature| callee(&signature, asking.contains(name)))
            .collect()
    });
    entries.collect()
});

fn callee(signature: &LibrarySignature, asks: bool) -> Option<LibcallFn> {
    let params = signature.params.iter();
    let params = params.map(|param| Some((ty(&param.ty)?, param.is_out)));
    Some(LibcallFn {
        name: signature.name.clone(),
        result: match signature.returns.as_str() {
            "void" => None,
            word => Some(ty(word)?),
        },
        params: params.collect::<Option<_>>()?,
        asks,
    })
}

fn ty(word: &str) -> Option<Ty> {
    Some(match type_of(word)? {
        Type::Scalar(Scalar::F32) => Ty::Float,
        Type::Scalar(Scalar::I32) => Ty::Int,
        Type::Scalar(Scalar::U32) => Ty::Uint,
        Type::Scalar(Scalar::Bool) => Ty::Bool,
        Type::Vector(n) => Ty::Vector(n.into()),
        Type::Matrix(n) => Ty::Matrix(n.into()),
        _ => return None,
    })
}

/// The entries that ask for derivatives, themselves or through others.
fn asking() -> BTreeSet<&'static str> {
    let mut asking = BTreeSet::from(["ddx", "ddy"]);
    loop {
        let before = asking.len();
        for name in adumbra_stdlib::function_names() {
            let text = adumbra_stdlib::function_source(name).unwrap_or_default();
            let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            if words.any(|word| asking.contains(word)) {
                asking.insert(name);
            }
        }
        if asking.len() == before {
            return asking;
        }
    }
}

impl Generator<'_> {
    /// A call of some function of the library that gives this type, or a leaf where none can be
    /// called.
    pub(super) fn library(&mut self, ty: &Ty, depth: u32) -> Expr {
        match self.library_call(Some(ty), depth) {
            Some((_, text)) => Expr::new(text, ValueRange::new(-1e3, 1e3)),
            None => self.leaf(ty),
        }
    }

    /// A call of a function of the library that gives its results through arguments, as a
    /// statement.
    pub(super) fn library_statement(&mut self) {
        match self.library_call(None, 2) {
            Some((declarations, call)) => {
                declarations.iter().for_each(|line| self.line(line));
                self.line(&format!("{call};"));
            }
            None => self.assign(),
        }
    }

    /// Declarations of what is written to, and the call.
    fn library_call(&mut self, result: Option<&Ty>, depth: u32) -> Option<(Vec<String>, String)> {
        if self.place.cost + COST * self.place.times > super::reach::MAX_STEPS {
            return None;
        }
        let able = |callee: &&LibcallFn| {
            let is_recorded = !UNRECORDED_FUNCTIONS.contains(&&*callee.name);
            callee.result.as_ref() == result
                && (is_recorded || self.profile == Profile::UNIT)
                && (self.profile.shadows || !callee.asks)
                && (result.is_none() || callee.params.iter().all(|(_, is_out)| !is_out))
        };
        let entries: Vec<Vec<&LibcallFn>> = LIBRARY
            .iter()
            .map(|overloads| overloads.iter().filter(able).collect::<Vec<_>>())
            .filter(|overloads| !overloads.is_empty())
            .collect();
        if entries.is_empty() {
            return None;
        }
        let overloads = self.choices.pick(&entries);
        let callee = *self.choices.pick(overloads);
        self.note(Feature::Library);
        self.place.cost += COST * self.place.times;
        let (mut declarations, mut arguments) = (Vec::new(), Vec::new());
        for (ty, is_out) in &callee.params {
            if *is_out {
                let name = self.name("v");
                declarations.push(format!("{} {name};", ty.text(&self.structs)));
                self.scope.declare(&name, ty, true);
                arguments.push(name);
                continue;
            }
            // Most are made for colours, weights and the like.
            let range = match ty {
                Ty::Float | Ty::Vector(_) if self.choices.percent(60) => {
                    ValueRange::new(0.05, 0.95)
                }
                Ty::Float | Ty::Vector(_) => ValueRange::new(-4.0, 4.0),
                Ty::Int => ValueRange::new(0.0, 7.0),
                _ => super::fit::kept_range(ty),
            };
            arguments.push(self.within(ty, depth, range));
        }
        Some((
            declarations,
            format!("{}({})", callee.name, arguments.join(", ")),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_every_entry_can_be_called() {
        let out_of_reach: Vec<&str> = (adumbra_stdlib::function_names().zip(LIBRARY.iter()))
            .filter(|(_, overloads)| overloads.is_empty())
            .map(|(name, _)| name)
            .collect();
        assert!(out_of_reach.len() <= 2, "{out_of_reach:?}");
    }

    #[test]
    fn functions_that_ask_for_derivatives_are_known() {
        let asking = asking();
        assert!(asking.contains("fwidth") && asking.contains("filterwidth"));
        assert!(!asking.contains("dot") && !asking.contains("fbm"));
    }
}
