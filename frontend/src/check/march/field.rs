//! Fields: which functions a ray can march through.

use super::{March, MarchId};
use crate::ast::{self, ParamDirection};
use crate::check::TypeChecker;
use crate::check::convert::conversion_rank;
use crate::check::each_expr::for_each_expr;
use crate::check::overload_resolution::is_shader;
use crate::check::typed_tree::{FunctionId, TypedExpr, TypedExprKind, TypedParam};
use crate::check::types::TypeId;
use adumbra_ir::{Code, Diagnostic, Span};
use smallvec::SmallVec;

/// The parameters of a field after its point.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldShape {
    /// How many are passed on; they come first.
    pub(super) passed_on: usize,
    pub(super) label: Option<usize>,
    pub(super) normal: Option<usize>,
}

impl<'a> TypeChecker<'a, '_> {
    /// The function that a name means as a field, for such arguments after the steps; reported if
    /// there is none, or no single one.
    pub(super) fn field_named(
        &mut self,
        name: ast::Ident,
        passed_on: &[TypedExpr<'a>],
    ) -> Option<(FunctionId, FieldShape)> {
        let own = self.names.newest_function(name.symbol, self.is_library);
        let Some(newest) = own.or_else(|| self.library_functions(name.symbol)) else {
            self.unknown_function(name, None);
            return None;
        };
        let all = std::iter::successors(Some(newest), |&id| self.declared(id).next);
        let all: SmallVec<[FunctionId; 4]> = all.collect();
        if let &[only] = &all[..] {
            return match self.field_shape(only) {
                Ok(shape) => Some((only, shape)),
                Err((message, label)) => {
                    let declared = self.declared(only).name.span;
                    self.report(
                        bad_field(name.span, &message)
                            .label(declared, label)
                            .help(FIELD_FIX),
                    );
                    None
                }
            };
        }
        let mut fits = all.into_iter().filter_map(|id| {
            let shape = self.field_shape(id).ok()?;
            let params = &self.declared(id).params[1..=shape.passed_on];
            let mut pairs = params.iter().zip(passed_on);
            let are_enough = params[passed_on.len().min(params.len())..]
                .iter()
                .all(|param| param.default.is_some());
            let is_fit = passed_on.len() <= params.len()
                && are_enough
                && pairs.all(|(param, value)| conversion_rank(value.ty, param.ty).is_some());
            is_fit.then_some((id, shape))
        });
        match (fits.next(), fits.next()) {
            (Some(only), None) => Some(only),
            (found, _) => {
                let text = self.symbol_name(name.symbol);
                let message = match found {
                    None => format!("no function `{text}` is a field that takes these arguments"),
                    Some(_) => {
                        format!("several functions `{text}` are fields that take these arguments")
                    }
                };
                self.report(bad_field(name.span, &message).help(FIELD_FIX));
                None
            }
        }
    }

    /// The parameters of a function as a field; if it is none, why, and what is wrong with its
    /// declaration.
    fn field_shape(&self, id: FunctionId) -> Result<FieldShape, (String, &'static str)> {
        let declared = self.declared(id);
        let text = self.symbol_name(declared.name.symbol);
        let bad = |why: &str, label| Err((format!("`{text}` {why}"), label));
        if is_shader(declared) {
            return bad("is a shader, through which no ray can march", "a shader");
        }
        if declared.result != TypeId::FLOAT || declared.is_no_diff {
            return bad(
                "gives no distance",
                "its result is no `float` with a derivative",
            );
        }
        let [point, rest @ ..] = declared.params else {
            return bad("takes no point", "has no parameter");
        };
        let is_point = point.ty == TypeId::FLOAT3 && point.direction == ParamDirection::In;
        if !is_point || point.is_no_diff {
            return bad(
                "takes no point",
                "its first parameter is no `float3` with a derivative",
            );
        }
        let is_in = |param: &&TypedParam<'a>| param.direction == ParamDirection::In;
        let passed_on = rest.iter().take_while(is_in).count();
        let mut next = 1 + passed_on;
        let mut out = |ty: TypeId| {
            let param = declared.params.get(next)?;
            let is_it = param.direction == ParamDirection::Out && param.ty == ty;
            is_it.then(|| {
                next += 1;
                next - 1
            })
        };
        let (label, normal) = (out(TypeId::INT), out(TypeId::FLOAT3));
        match next == declared.params.len() {
            true => Ok(FieldShape {
                passed_on,
                label,
                normal,
            }),
            false => bad(
                "gives more than a distance, a label and a normal",
                "after what it takes there is more than `out int`, `out float3`",
            ),
        }
    }

    /// Reports fields that print, and those that march through themselves.
    pub(in crate::check) fn check_fields(&mut self) {
        for number in 0..self.marches.made.len() {
            let March { field, span, .. } = self.marches.made[number];
            let own = MarchId(number as u32);
            let mut reached = vec![field];
            let (mut printed, mut marched) = (None, None);
            let mut next = 0;
            while let Some(&id) = reached.get(next) {
                next += 1;
                let declared = self.declared(id);
                if declared.march == Some(own) {
                    marched = Some(declared.name.span);
                    continue;
                }
                reached.extend(
                    declared
                        .derived
                        .map(|derived| derived.of)
                        .filter(|of| !reached.contains(of)),
                );
                for_each_expr(declared.body, &mut |expr| match expr.kind {
                    TypedExprKind::Message(..) => printed = printed.or(Some(expr.span)),
                    TypedExprKind::Call(callee, _) if !reached.contains(&callee) => {
                        reached.push(callee);
                    }
                    _ => {}
                });
            }
            let text = self
                .symbol_name(self.declared(field).name.symbol)
                .to_owned();
            if let Some(printed) = printed {
                let message = format!("`{text}` prints, and a march calls it in each step");
                self.report(
                    Diagnostic::new(Code::FieldEffect, span, message)
                        .here("marched through")
                        .label(printed, "printed here")
                        .help("print what the march gives, after it"),
                );
            }
            if marched.is_some() {
                let message = format!("`{text}` marches a ray through itself");
                self.report(
                    Diagnostic::new(Code::FieldCycle, span, message)
                        .here("marched through")
                        .label(
                            self.declared(field).name.span,
                            "calls this march, in the end",
                        )
                        .help("march through another field, which it is not called by"),
                );
            }
        }
    }
}

/// How a field is declared.
const FIELD_FIX: &str =
    "declare it as `float f(float3 p, …)`; `out int label` and `out float3 normal` may come last";

fn bad_field(span: Span, message: &str) -> Diagnostic {
    Diagnostic::new(Code::BadField, span, message).here("no field")
}
