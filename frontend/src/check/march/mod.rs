//! Ray marching: `raymarch<f>(origin, direction, steps, …)`, and the struct `hit` of its results.
//!
//! A march through a field f is a function of the library's template, made when a call first names
//! f. The template's functions are declared anew for each field: each takes, after its own
//! parameters, what f takes after the point, and passes it on to the others. So all later stages
//! see functions as any other. What `field` means in them is a *part* of the march, as they are.

mod field;

use crate::ast::{self, ItemKind, ParamDirection, RAYMARCH};
use crate::check::builtin::Builtin;
use crate::check::call::CallArguments;
use crate::check::type_resolution::InferredLength;
use crate::check::typed_tree::{
    FunctionId, Local, LocalId, TypedExpr, TypedExprKind, TypedParam, TypedStmt,
};
use crate::check::types::TypeId;
use crate::check::{DeclaredFunction, FunctionOrigin, LocalProperties, TypeChecker};
use crate::interner::Symbol;
use adumbra_ir::module::Decides;
use adumbra_ir::{Op, Span};
use bumpalo::collections::Vec as BumpVec;
use field::FieldShape;
use smallvec::SmallVec;

/// Parameters of `raymarch` before those that are passed on: origin, direction, steps.
const OWN_PARAMS: usize = 3;

/// Ops that no other source can write.
const OWN_OPS: [Op; 2] = [Op::Held, Op::Sloped];

/// The functions of the template whose decisions count: what they compute is at the surface.
const AT_SURFACE: [&str; 3] = [RAYMARCH, "gradient_normal", "no_label"];

/// The function of the template that marks which surface is met.
const SURFACE: &str = "surface";

/// A march, by its number among those of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) struct MarchId(u32);

/// The marches of a program.
#[derive(Debug, Default)]
pub(in crate::check) struct Marches<'a> {
    /// The functions of the template, once it was read.
    template: Option<&'a [&'a ast::FunctionDef<'a>]>,
    /// The struct of results, with that.
    hit: Option<TypeId>,
    made: Vec<March>,
}

/// A march through a field.
#[derive(Debug)]
struct March {
    field: FunctionId,
    /// Where the field was first named.
    span: Span,
    /// What each name of the template means.
    parts: Vec<(Symbol, FunctionId)>,
}

impl<'a> TypeChecker<'a, '_> {
    /// The struct `hit`.
    pub(in crate::check) fn hit_type(&mut self) -> TypeId {
        match self.marches.hit {
            Some(known) => known,
            None => self.read_template().1,
        }
    }

    /// The functions of the template, and the struct.
    fn read_template(&mut self) -> (&'a [&'a ast::FunctionDef<'a>], TypeId) {
        if let (Some(template), Some(hit)) = (self.marches.template, self.marches.hit) {
            return (template, hit);
        }
        let text = adumbra_stdlib::RAYMARCH;
        let (file, diagnostics) = crate::parse(self.arena, self.interner, crate::STDLIB_FILE, text);
        debug_assert!(diagnostics.is_empty(), "the library is free of errors");
        self.names.grow(self.interner.len());
        let mut functions = BumpVec::new_in(self.arena);
        let mut hit = TypeId::ERROR;
        for item in file.items {
            match item.kind {
                ItemKind::Function(function) => functions.push(function),
                ItemKind::Struct(structure) => {
                    let outside = std::mem::replace(&mut self.is_library, true);
                    hit = self.define_apart(structure);
                    self.is_library = outside;
                }
                _ => {}
            }
        }
        let functions = functions.into_bump_slice();
        self.marches.template = Some(functions);
        self.marches.hit = Some(hit);
        (functions, hit)
    }

    /// `raymarch<field>(origin, direction, steps, …)`
    pub(in crate::check) fn raymarch(
        &mut self,
        field: ast::Ident,
        args: &'a [&'a ast::Expr<'a>],
        span: Span,
    ) -> TypedExpr<'a> {
        let values: SmallVec<[TypedExpr<'a>; 8]> = args.iter().map(|arg| self.expr(arg)).collect();
        if values.iter().any(TypedExpr::is_error) {
            return TypedExpr::error(span);
        }
        let passed_on = values.get(OWN_PARAMS..).unwrap_or_default();
        let Some((id, shape)) = self.field_named(field, passed_on) else {
            return TypedExpr::error(span);
        };
        let march = self.march(id, shape, field.span);
        let text = format!("{RAYMARCH}<{}>", self.symbol_name(field.symbol));
        let name = ast::Ident {
            symbol: self.interner.intern(&text),
            span: field.span,
        };
        self.names.grow(self.interner.len());
        let arguments = CallArguments {
            syntax: args,
            values: &values,
        };
        self.call_function(march, name, arguments, span)
    }

    /// The march through a field, a function; made at its first call.
    fn march(&mut self, field: FunctionId, shape: FieldShape, span: Span) -> FunctionId {
        let made = self.marches.made.iter();
        let known = made.map(|march| march.field).position(|of| of == field);
        let number = known.unwrap_or_else(|| self.make_march(field, shape, span));
        let root = self.interner.intern(RAYMARCH);
        let march = &self.marches.made[number];
        let part = march.parts.iter().find(|(name, _)| *name == root);
        part.expect("the template has it").1
    }

    fn make_march(&mut self, field: FunctionId, shape: FieldShape, span: Span) -> usize {
        let (template, _) = self.read_template();
        let number = self.marches.made.len();
        let mut parts = Vec::with_capacity(template.len() + 4);
        for &syntax in template {
            let id = self.declare_part(syntax, field, shape, MarchId(number as u32));
            parts.push((syntax.name.symbol, id));
        }
        for (name, decides) in [("field", Decides::Nothing), ("field_there", Decides::Own)] {
            let id = self.declare_value(field, shape, None, decides);
            parts.push((self.interner.intern(name), id));
        }
        for (name, output, otherwise) in [
            ("field_normal", shape.normal, "gradient_normal"),
            ("field_label", shape.label, "no_label"),
        ] {
            let otherwise = self.interner.intern(otherwise);
            let id = match output {
                Some(_) => self.declare_value(field, shape, output, Decides::Own),
                None => {
                    let part = parts.iter().find(|(name, _)| *name == otherwise);
                    part.expect("the template has it").1
                }
            };
            parts.push((self.interner.intern(name), id));
        }
        self.names.grow(self.interner.len());
        self.marches.made.push(March { field, span, parts });
        number
    }

    /// Declares a function of the template for a field.
    fn declare_part(
        &mut self,
        syntax: &'a ast::FunctionDef<'a>,
        field: FunctionId,
        shape: FieldShape,
        march: MarchId,
    ) -> FunctionId {
        let outside = std::mem::replace(&mut self.is_library, true);
        let result = syntax.result.as_ref();
        let result = result.map_or(TypeId::VOID, |ty| {
            self.resolve_type(ty, &[], InferredLength::Unknown)
        });
        let own = self.parameters(syntax, None);
        self.is_library = outside;
        let mut params = BumpVec::from_iter_in(own.iter().copied(), self.arena);
        for param in &self.declared(field).params[1..=shape.passed_on] {
            params.push(TypedParam {
                local: LocalId(params.len() as u32),
                is_no_diff: param.is_no_diff || own[0].is_no_diff,
                ..*param
            });
        }
        let text = self.symbol_name(syntax.name.symbol);
        let decides = match text {
            SURFACE => Decides::Surface,
            _ if AT_SURFACE.contains(&text) => Decides::Own,
            _ => Decides::Nothing,
        };
        let name = match text == RAYMARCH {
            true => format!(
                "{RAYMARCH}<{}>",
                self.symbol_name(self.declared(field).name.symbol)
            ),
            false => text.to_owned(),
        };
        let name = ast::Ident {
            symbol: self.interner.intern(&name),
            span: syntax.name.span,
        };
        self.names.grow(self.interner.len());
        let id = FunctionId(self.functions.len() as u32);
        self.functions.push(DeclaredFunction {
            syntax: Some(syntax),
            is_library: true,
            march: Some(march),
            decides,
            result,
            is_no_diff: syntax.is_no_diff,
            params: params.into_bump_slice(),
            ..DeclaredFunction::new(name, FunctionOrigin::Declared)
        });
        id
    }

    /// Declares the function of a field that gives its distance, or one of its outputs, alone.
    fn declare_value(
        &mut self,
        field: FunctionId,
        shape: FieldShape,
        output: Option<usize>,
        decides: Decides,
    ) -> FunctionId {
        let declared = *self.declared(field);
        let local = |at: usize, ty: TypeId, span: Span| TypedExpr {
            kind: TypedExprKind::Local(LocalId(at as u32)),
            ty,
            span,
        };
        let mut args = BumpVec::with_capacity_in(declared.params.len(), self.arena);
        let mut locals = BumpVec::with_capacity_in(declared.params.len(), self.arena);
        let mut body = BumpVec::new_in(self.arena);
        let span = declared.name.span;
        for (at, param) in declared.params.iter().enumerate() {
            args.push(local(at, param.ty, span));
            locals.push(Local {
                name: param.name,
                ty: param.ty,
                span: param.span,
            });
            if param.direction == ParamDirection::Out {
                body.push(TypedStmt::Declare(LocalId(at as u32), None));
            }
        }
        let call = TypedExpr {
            kind: TypedExprKind::Call(field, args.into_bump_slice()),
            ty: declared.result,
            span,
        };
        let (value, result) = match output {
            None => (call, declared.result),
            Some(at) => {
                body.push(TypedStmt::Expr(self.alloc(call)));
                let ty = declared.params[at].ty;
                (local(at, ty, span), ty)
            }
        };
        body.push(TypedStmt::Return(Some(self.alloc(value)), span));
        let id = FunctionId(self.functions.len() as u32);
        self.functions.push(DeclaredFunction {
            is_library: true,
            decides,
            result,
            params: &declared.params[..=shape.passed_on],
            locals: locals.into_bump_slice(),
            body: body.into_bump_slice(),
            ..DeclaredFunction::new(declared.name, FunctionOrigin::Made)
        });
        id
    }

    /// What a name means in the functions of a march, if it is a part of that.
    pub(in crate::check) fn march_part(&self, name: Symbol) -> Option<FunctionId> {
        let current = self.functions.get(self.current.0 as usize)?;
        let march = &self.marches.made[current.march?.0 as usize];
        let part = march.parts.iter().find(|(known, _)| *known == name)?;
        Some(part.1)
    }

    /// The place of the march that a function is a part of, where its field was first named.
    pub(in crate::check) fn march_with(&self, function: FunctionId) -> Option<Span> {
        let has_it = |march: &&March| march.parts.iter().any(|(_, part)| *part == function);
        self.marches
            .made
            .iter()
            .find(has_it)
            .map(|march| march.span)
    }

    /// In a function of a march, a call of another part, or of an op that only these call.
    pub(in crate::check) fn call_in_march(
        &mut self,
        name: ast::Ident,
        args: &'a [&'a ast::Expr<'a>],
        span: Span,
    ) -> Option<TypedExpr<'a>> {
        self.functions.get(self.current.0 as usize)?.march?;
        let part = self.march_part(name.symbol);
        let own_op = OWN_OPS
            .into_iter()
            .find(|op| op.info().name == self.symbol_name(name.symbol));
        if part.is_none() && own_op.is_none() {
            return None;
        }
        let mut values: SmallVec<[TypedExpr<'a>; 8]> =
            args.iter().map(|arg| self.expr(arg)).collect();
        if let Some(op) = own_op {
            return Some(self.call_builtin(Builtin::Float(op), name, &values, span));
        }
        let part = part?;
        values.extend(self.passed_on(span));
        let arguments = CallArguments {
            syntax: args,
            values: &values,
        };
        Some(self.call_chosen(part, name, arguments, span))
    }

    /// In a function of a march, the variables that are passed on; else none.
    pub(in crate::check) fn passed_on(&self, span: Span) -> SmallVec<[TypedExpr<'a>; 4]> {
        let Some(current) = self.functions.get(self.current.0 as usize) else {
            return SmallVec::new();
        };
        let (Some(_), Some(syntax)) = (current.march, current.syntax) else {
            return SmallVec::new();
        };
        let own = syntax.parameters.len();
        let params = current.params[own..].iter();
        let passed = params.map(|param| TypedExpr {
            kind: TypedExprKind::Local(param.local),
            ty: param.ty,
            span,
        });
        passed.collect()
    }

    /// Adds the variables that a function of a march passes on, which have no name in it.
    pub(in crate::check) fn add_passed_on(&mut self, params: &[TypedParam<'a>]) {
        for param in params {
            let local = Local {
                name: param.name,
                ty: param.ty,
                span: param.span,
            };
            let facts = LocalProperties {
                is_const: true,
                is_hoisted: false,
                is_written: false,
                bits: None,
            };
            self.add_local(local, facts);
        }
    }
}
