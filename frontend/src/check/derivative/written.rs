//! Written differentials: `typealias Differential = D;` in a struct, and its own `dadd`, `dzero`
//! and `dmul`.
//!
//! Derived code adds differentials leaf by leaf, and begins with zeros. So a written differential
//! has a float for each float of the struct that has a derivative, in order, and written operations
//! must be those by leaves. Their bodies are evaluated with symbols for the leaves of the
//! parameters.

use super::super::TypeChecker;
use super::super::typed_tree::{FunctionId, Local, LocalId, TypedExpr, TypedExprKind, TypedStmt};
use super::super::types::{Leaf, TypeId};
use crate::ast::{self, DIFFERENTIAL, ParamDirection};
use adumbra_ir::{Code, Diagnostic, Op, Scalar, Span};
use std::collections::HashMap;

/// A leaf of a value, in terms of the leaves of the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Symbolic {
    /// 0
    Zero,
    /// That leaf of the parameter of that index.
    Leaf(usize, u32),
    /// The sum of that leaf of both parameters.
    Sum(u32),
    /// That leaf of the second parameter times the first.
    Product(u32),
    /// Something else.
    Other,
}

/// An operation of differentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Zero,
    Sum,
    Multiple,
}

impl<'a> TypeChecker<'a, '_> {
    /// Gives a struct the differential that it says.
    pub(super) fn conform_alias(&mut self, ty: TypeId, alias: &ast::TypeAlias<'a>) {
        if self.symbol_name(alias.name.symbol) != DIFFERENTIAL {
            let name = self.symbol_name(alias.name.symbol);
            let message =
                format!("structs give a name to no type but their `{DIFFERENTIAL}`: `{name}`");
            self.report(
                Diagnostic::new(Code::BadDifferential, alias.name.span, message)
                    .here("another name")
                    .help("write `typedef` before the struct"),
            );
            return;
        }
        let Some(number) = self.struct_of(ty) else {
            return;
        };
        let is_marked = self.types.is_differentiable_struct(number);
        let written = self.resolve_type(
            &alias.ty,
            alias.dimensions,
            super::super::type_resolution::InferredLength::Unknown,
        );
        if written == TypeId::ERROR {
            return;
        }
        let Ok(made) = self.types.differential_struct(number, ty, self.interner) else {
            return;
        };
        let shape = |leaf: &Leaf| (leaf.scalar, leaf.len);
        let leaves = |ty: TypeId| -> Vec<(Scalar, u32)> {
            self.types.leaves(ty).iter().map(shape).collect()
        };
        let has_shape = leaves(written) == leaves(made);
        if written != ty {
            self.types.set_differential(number, Some(written));
        }
        let is_own = written == ty && made == ty
            || self.differential(written, alias.ty.span) == Some(written);
        if is_marked && has_shape && is_own {
            return;
        }
        self.types.set_differential(number, None);
        let (name, is) = (self.quoted_type(ty), self.quoted_type(written));
        let (message, help) = if !is_marked {
            (
                format!("{name} has a differential, and is not `IDifferentiable`"),
                self.differentiable_fix(ty),
            )
        } else if !has_shape {
            let wanted = self
                .types
                .leaves(made)
                .iter()
                .map(|leaf| leaf.len.max(1))
                .sum::<u32>();
            (
                format!("{is} does not have a float for each of {name} that has a derivative"),
                format!(
                    "{name} has {wanted} of them; remove the alias, and `{DIFFERENTIAL}` is made of them"
                ),
            )
        } else {
            (
                format!("the differential of {is} is not {is} itself"),
                "write `: IDifferentiable` after it, with members that are all differentiable"
                    .to_owned(),
            )
        };
        self.report(
            Diagnostic::new(Code::BadDifferential, alias.ty.span, message)
                .here("no differential of it")
                .help(help),
        );
    }

    /// Reports written operations of differentials that are not those by leaves.
    pub(super) fn check_written_operations(&mut self) {
        let names = [
            ("dzero", Operation::Zero),
            ("dadd", Operation::Sum),
            ("dmul", Operation::Multiple),
        ];
        for index in 0..self.functions.len() {
            let id = FunctionId(index as u32);
            let declared = *self.declared(id);
            let Some(owner) = declared.owner else {
                continue;
            };
            let name = self.symbol_name(declared.name.symbol).to_owned();
            let Some(&(_, operation)) = names.iter().find(|(known, _)| *known == name) else {
                continue;
            };
            let Some(differential) = self.types.known_differential(owner) else {
                continue;
            };
            let wanted: &[TypeId] = match operation {
                Operation::Zero => &[],
                Operation::Sum => &[differential; 2],
                Operation::Multiple => &[TypeId::FLOAT, differential],
            };
            let params = &declared.params[1..];
            let fits = params
                .iter()
                .all(|param| param.direction == ParamDirection::In)
                && params
                    .iter()
                    .map(|param| param.ty)
                    .eq(wanted.iter().copied())
                && declared.result == differential;
            // A method of another signature is one of the struct's own.
            if !fits || declared.syntax.is_none_or(|syntax| syntax.body.is_none()) {
                continue;
            }
            let mut body = SymbolicBody {
                checker: self,
                types_of: declared.locals,
                locals: HashMap::new(),
            };
            for (at, param) in params.iter().enumerate() {
                let leaves = 0..body.checker.types.leaf_count(param.ty);
                let values = leaves.map(|leaf| Symbolic::Leaf(at, leaf)).collect();
                body.locals.insert(param.local, values);
            }
            let given = body.run(declared.body);
            let count = self.types.leaf_count(differential);
            let expected = (0..count).map(|leaf| match operation {
                Operation::Zero => Symbolic::Zero,
                Operation::Sum => Symbolic::Sum(leaf),
                Operation::Multiple => Symbolic::Product(leaf),
            });
            if given.is_none_or(|given| !given.into_iter().eq(expected)) {
                self.other_operation(&name, operation, declared.name.span);
            }
        }
    }

    fn other_operation(&mut self, name: &str, operation: Operation, span: Span) {
        let what = match operation {
            Operation::Zero => "zeros",
            Operation::Sum => "the sums of all members",
            Operation::Multiple => "the multiples of all members",
        };
        self.report(
            Diagnostic::new(
                Code::BadDifferential,
                span,
                format!("derivatives take `{name}` to give {what}, which is not what this does"),
            )
            .here(format!("not just {what}"))
            .help(format!(
                "remove `{name}`, which every differentiable type has; put packing into a function with `[BackwardDerivative(g)]`"
            )),
        );
    }
}

/// A body that is evaluated with symbols: declarations, assignments, and a `return`.
struct SymbolicBody<'c, 'a, 't> {
    checker: &'c TypeChecker<'a, 't>,
    types_of: &'a [Local],
    locals: HashMap<LocalId, Vec<Symbolic>>,
}

impl<'a> SymbolicBody<'_, 'a, '_> {
    /// What it returns; none if it has other statements.
    fn run(&mut self, body: &[TypedStmt<'a>]) -> Option<Vec<Symbolic>> {
        for statement in body {
            match *statement {
                TypedStmt::Declare(local, init) => {
                    let count = self.leaf_count(self.types_of[local.0 as usize].ty);
                    let zeros = || vec![Symbolic::Zero; count];
                    let values = init.map_or_else(zeros, |init| self.value(init));
                    self.locals.insert(local, values);
                }
                TypedStmt::Expr(expr) => {
                    let TypedExprKind::Assign(place, value) = expr.kind else {
                        return None;
                    };
                    let values = self.value(value);
                    self.assign(place, &values)?;
                }
                TypedStmt::Return(Some(value), _) => return Some(self.value(value)),
                _ => return None,
            }
        }
        None
    }

    fn leaf_count(&self, ty: TypeId) -> usize {
        self.checker.types.leaf_count(ty) as usize
    }

    /// The leaves of a place, as positions in its variable.
    fn place(&self, place: &TypedExpr<'a>) -> Option<(LocalId, Vec<usize>)> {
        match place.kind {
            TypedExprKind::Local(local) => Some((local, (0..self.leaf_count(place.ty)).collect())),
            TypedExprKind::Member(inner, leaf) => {
                let (local, leaves) = self.place(inner)?;
                let end = leaf as usize + self.leaf_count(place.ty);
                Some((local, leaves[leaf as usize..end].to_vec()))
            }
            TypedExprKind::Swizzle(inner, swizzle) => {
                let (local, leaves) = self.place(inner)?;
                let picked = swizzle.as_slice().iter();
                Some((local, picked.map(|&at| leaves[usize::from(at)]).collect()))
            }
            _ => None,
        }
    }

    fn assign(&mut self, place: &TypedExpr<'a>, values: &[Symbolic]) -> Option<()> {
        let (local, leaves) = self.place(place)?;
        let variable = self.locals.get_mut(&local)?;
        for (&leaf, &value) in leaves.iter().zip(values) {
            *variable.get_mut(leaf)? = value;
        }
        Some(())
    }

    /// The leaves of a value.
    fn value(&self, expr: &TypedExpr<'a>) -> Vec<Symbolic> {
        let count = self.leaf_count(expr.ty);
        let other = || vec![Symbolic::Other; count];
        match expr.kind {
            TypedExprKind::Zero => vec![Symbolic::Zero; count],
            TypedExprKind::Constant(bits) if bits << 1 == 0 => vec![Symbolic::Zero; count],
            TypedExprKind::Constants(bits) if bits.iter().all(|bits| bits << 1 == 0) => {
                vec![Symbolic::Zero; count]
            }
            TypedExprKind::Convert(inner) | TypedExprKind::Splat(inner) => {
                match self.checker.fold_scalar(inner) {
                    Some(bits) if bits << 1 == 0 => vec![Symbolic::Zero; count],
                    _ => other(),
                }
            }
            TypedExprKind::Gather(parts) => {
                parts.iter().flat_map(|part| self.value(part)).collect()
            }
            TypedExprKind::Op(op, [a, b]) => {
                let (a, b) = (self.value(a), self.value(b));
                let pick = |values: &[Symbolic], at: usize| {
                    let at = if values.len() == 1 { 0 } else { at };
                    values.get(at).copied().unwrap_or(Symbolic::Other)
                };
                (0..count)
                    .map(|at| combine(op, pick(&a, at), pick(&b, at)))
                    .collect()
            }
            _ => match self.place(expr) {
                Some((local, leaves)) => {
                    let variable = self.locals.get(&local);
                    let leaf = |at: usize| variable.and_then(|values| values.get(at).copied());
                    let values = leaves
                        .into_iter()
                        .map(|at| leaf(at).unwrap_or(Symbolic::Other));
                    values.collect()
                }
                None => other(),
            },
        }
    }
}

fn combine(op: Op, a: Symbolic, b: Symbolic) -> Symbolic {
    use Symbolic::Leaf;
    match (op, a, b) {
        (Op::Add, Leaf(0, a), Leaf(1, b)) | (Op::Add, Leaf(1, a), Leaf(0, b)) if a == b => {
            Symbolic::Sum(a)
        }
        (Op::Mul, Leaf(0, 0), Leaf(1, leaf)) | (Op::Mul, Leaf(1, leaf), Leaf(0, 0)) => {
            Symbolic::Product(leaf)
        }
        _ => Symbolic::Other,
    }
}
