//! Conversions: implicit conversions, casts and conditions.
//!
//! Implicit conversions are int and uint to float, and int to uint. A constant with an exact
//! integer value may also initialise an int ([`ConversionPurpose::starts`]). Everything else takes
//! a cast or a constructor; the diagnostic's help shows it.

use super::TypeChecker;
use super::typed_tree::{TypedExpr, TypedExprKind};
use super::types::TypeId;
use crate::interner::Symbol;
use adumbra_ir::module::MipSelection;
use adumbra_ir::{Code, Diagnostic, Op, Scalar};

/// The use of a converted value.
#[derive(Clone, Copy, Debug)]
pub(super) enum ConversionPurpose {
    /// Initialising a variable, member or parameter.
    Start(Symbol),
    /// An element or member in a list.
    Item,
    /// Assigning.
    Assign,
    /// Passing to a function's parameter: function, parameter.
    Argument(Symbol, Symbol),
    /// An operand of a built-in function.
    Operand(Symbol),
    /// The result of a function.
    Return,
    /// An index.
    Index,
    /// A coordinate of a texture sample.
    Coordinate,
    /// The label of a case.
    Label,
    /// One of the values of `? :`.
    Ternary,
    /// A shadow or value typed into a session.
    Seed,
}

impl ConversionPurpose {
    /// Whether a float constant with an exact integer value may initialise an int.
    fn starts(self) -> bool {
        matches!(self, ConversionPurpose::Start(_) | ConversionPurpose::Item)
    }
}

/// How well an argument of one type fits a parameter of another, 0 the best; `None`: not at all.
pub(super) fn conversion_rank(from: TypeId, to: TypeId) -> Option<u8> {
    match (from, to) {
        _ if from == to => Some(0),
        (TypeId::ERROR, _) | (_, TypeId::ERROR) => Some(0),
        (TypeId::INT, TypeId::UINT) => Some(1),
        (TypeId::INT | TypeId::UINT, TypeId::FLOAT) => Some(2),
        _ => None,
    }
}

/// The ops, in order, that convert a number of one type into one of another.
pub(crate) fn conversion_ops(from: TypeId, to: TypeId) -> &'static [Op] {
    match (from, to) {
        (TypeId::BOOL, TypeId::INT) => &[Op::BToI],
        (TypeId::BOOL, TypeId::UINT) => &[Op::BToU],
        (TypeId::BOOL, TypeId::FLOAT) => &[Op::BToI, Op::IToF],
        (TypeId::INT, TypeId::UINT) => &[Op::IToU],
        (TypeId::INT, TypeId::FLOAT) => &[Op::IToF],
        (TypeId::UINT, TypeId::INT) => &[Op::UToI],
        (TypeId::UINT, TypeId::FLOAT) => &[Op::UToF],
        (TypeId::FLOAT, TypeId::INT) => &[Op::FToI],
        (TypeId::FLOAT, TypeId::UINT) => &[Op::FToU],
        _ => &[],
    }
}

/// The ops of the implicit conversion between two scalar types; none if they are equal, `None` if
/// there is no such conversion.
pub fn implicit_conversion(from: Scalar, to: Scalar) -> Option<&'static [Op]> {
    let number = |scalar| match scalar {
        Scalar::F32 => Some(TypeId::FLOAT),
        Scalar::I32 => Some(TypeId::INT),
        Scalar::U32 => Some(TypeId::UINT),
        Scalar::Bool => Some(TypeId::BOOL),
        Scalar::Closure | Scalar::Resource => None,
    };
    if from == to {
        return Some(&[]);
    }
    let (from, to) = (number(from)?, number(to)?);
    conversion_rank(from, to).map(|_| conversion_ops(from, to))
}

impl<'a> TypeChecker<'a, '_> {
    /// Converts a number to another number type, at once if it is a constant. Not for conversions
    /// to bool.
    pub(super) fn to_number(&self, value: TypedExpr<'a>, to: TypeId) -> TypedExpr<'a> {
        if value.ty == to {
            return value;
        }
        match value.kind {
            TypedExprKind::Constant(bits) => {
                let steps = conversion_ops(value.ty, to).iter();
                let bits = steps.fold(bits, |bits, op| op.value(&[bits]));
                TypedExpr::constant(to, bits, value.span)
            }
            _ => TypedExpr {
                kind: TypedExprKind::Convert(self.alloc(value)),
                ty: to,
                span: value.span,
            },
        }
    }

    /// Converts the value implicitly to type `to`; otherwise an error is reported.
    pub(super) fn convert(
        &mut self,
        value: TypedExpr<'a>,
        to: TypeId,
        purpose: ConversionPurpose,
    ) -> TypedExpr<'a> {
        if value.ty == to {
            return value;
        }
        if value.is_error() || to == TypeId::ERROR {
            return TypedExpr::error(value.span);
        }
        if conversion_rank(value.ty, to).is_some() {
            return self.to_number(value, to);
        }
        if purpose.starts()
            && let Some(exact) = self.exact_integer(&value, to)
        {
            return exact;
        }
        self.mismatch(&value, to, purpose);
        TypedExpr::error(value.span)
    }

    /// A constant float with an exact integer value as an int or uint.
    fn exact_integer(&self, value: &TypedExpr<'a>, to: TypeId) -> Option<TypedExpr<'a>> {
        if value.ty != TypeId::FLOAT || !to.is_integer() {
            return None;
        }
        let number = f64::from(f32::from_bits(self.fold_scalar(value)?));
        let bits = match to {
            TypeId::INT => number as i32 as u32,
            _ => number as u32,
        };
        let back = match to {
            TypeId::INT => f64::from(bits as i32),
            _ => f64::from(bits),
        };
        (back == number).then_some(TypedExpr::constant(to, bits, value.span))
    }

    fn mismatch(&mut self, value: &TypedExpr<'a>, to: TypeId, purpose: ConversionPurpose) {
        let (is, needs) = (self.quoted_type(value.ty), self.quoted_type(to));
        let message = match purpose {
            ConversionPurpose::Start(name) => {
                format!(
                    "`{}` is {needs}, its value here is {is}",
                    self.symbol_name(name)
                )
            }
            ConversionPurpose::Item => {
                format!("this item of the list is {is}, and should be {needs}")
            }
            ConversionPurpose::Assign => {
                format!("a value of type {is} cannot be assigned to {needs}")
            }
            ConversionPurpose::Argument(function, parameter) => format!(
                "the argument for `{}` of `{}` is {is}, and should be {needs}",
                self.symbol_name(parameter),
                self.symbol_name(function)
            ),
            ConversionPurpose::Operand(function) => {
                format!(
                    "`{}` takes {needs} here, not {is}",
                    self.symbol_name(function)
                )
            }
            ConversionPurpose::Return => format!("the function returns {needs}, and this is {is}"),
            ConversionPurpose::Index => format!("an index is an int, and this is {is}"),
            ConversionPurpose::Coordinate => {
                format!("a texture coordinate is {needs}, and this is {is}")
            }
            ConversionPurpose::Label => {
                format!("the labels of this `switch` are {needs}, and this is {is}")
            }
            ConversionPurpose::Ternary => format!("the two values of `? :` are {needs} and {is}"),
            ConversionPurpose::Seed => format!("this should be {needs}, and is {is}"),
        };
        let help = self.conversion_help(value, to);
        self.report(
            Diagnostic::new(Code::TypeMismatch, value.span, message)
                .here(format!("this is {is}"))
                .help(help),
        );
    }

    /// The value as shown in a help: a number, a variable, or `(…)` for longer expressions.
    pub(super) fn quoted(&self, value: &TypedExpr) -> String {
        match value.kind {
            TypedExprKind::Constant(bits) => match value.ty {
                TypeId::FLOAT => format!("{:?}", f32::from_bits(bits)),
                TypeId::INT => (bits as i32).to_string(),
                TypeId::UINT => format!("{bits}u"),
                TypeId::BOOL => (bits != 0).to_string(),
                _ => "(…)".to_owned(),
            },
            TypedExprKind::Local(local) => {
                let name = self.body.locals[local.0 as usize].name;
                self.symbol_name(name).to_owned()
            }
            _ => "(…)".to_owned(),
        }
    }

    /// How to convert a value to another type, for a help.
    fn conversion_help(&self, value: &TypedExpr<'a>, to: TypeId) -> String {
        let from = value.ty;
        let name = self.types.name(to, self.interner);
        let shown = self.quoted(value);
        // Parentheses are not doubled.
        let inner = shown.trim_start_matches('(').trim_end_matches(')');
        let (width, target) = (from.float_count(), to.float_count());
        if from == TypeId::VOID {
            self.void_fix(value)
        } else if self.types.primal_of_pair(to) == Some(from) {
            format!("make a pair of it: `diffPair({inner})`")
        } else if let Some(of) = name.strip_suffix(".Differential") {
            format!("write a differential: `{name}(…)`, or `{of}.dzero()`")
        } else if self.types.primal_of_pair(from) == Some(to) {
            format!("take a part of it: `{shown}.p` is the value, `{shown}.d` its differential")
        } else if to == TypeId::CLOSURE && from.is_number() {
            "the empty closure is a variable without a value: `closure none;`".to_owned()
        } else if from == TypeId::CLOSURE && (to.is_number() || to.is_floats()) {
            "closures are only added and scaled: `(1.0 - t) * a + t * b`".to_owned()
        } else if to == TypeId::BOOL && from.is_number() {
            format!("compare it: `{shown} != 0`")
        } else if to.is_number() && from.is_number() {
            match value.kind {
                TypedExprKind::Constant(bits) if from == TypeId::FLOAT && to == TypeId::INT => {
                    let whole = Op::FToI.value(&[bits]) as i32;
                    format!("convert it: `({name}){shown}`; or write `{whole}` if that is meant")
                }
                _ => format!("convert it: `({name}){shown}`"),
            }
        } else if to.is_vector() && from.is_number() {
            format!("make a vector of it: `{name}({inner})`")
        } else if to.matrix_size() > 0 && from.is_number() {
            format!("`{name}({inner})` has it on the diagonal, and 0 elsewhere")
        } else if to.matrix_size() > 0 && from.matrix_size() > to.matrix_size() {
            format!("take its upper left: `{name}({inner})`")
        } else if width > target && target > 0 {
            let components = &"xyzw"[..target as usize];
            format!("pick components: `{shown}.{components}`")
        } else if let (TypeId::FLOAT4, TypedExprKind::Sample(texture, mip, _)) = (to, value.kind) {
            let sample = match mip {
                MipSelection::Shadows => "texture2d_sample_alpha",
                MipSelection::GRADIENTS => "texture2d_sample_alpha_grad",
                MipSelection::LEVEL => "texture2d_sample_alpha_level",
            };
            let texture = self.symbol_name(self.textures[texture as usize].name.symbol);
            format!(
                "a sample is a colour without alpha; add that: `float4(…, {sample}<{texture}>(…))`"
            )
        } else if width > 0 && target > width {
            let missing = ", 0.0".repeat((target - width) as usize);
            format!("add components: `{name}({inner}{missing})`")
        } else {
            format!("a value of type `{name}` is needed")
        }
    }

    /// The value as a bool: itself, or whether it is not zero.
    pub(super) fn condition(&mut self, value: TypedExpr<'a>) -> TypedExpr<'a> {
        let op = match value.ty {
            TypeId::BOOL | TypeId::ERROR => return value,
            TypeId::INT | TypeId::UINT => Op::INe,
            TypeId::FLOAT => Op::FNe,
            _ => {
                let is = self.quoted_type(value.ty);
                let help = match value.ty.is_vector() {
                    true => "compare a component, or its length",
                    false => "a condition is a bool, an int or a float",
                };
                self.report(
                    Diagnostic::new(
                        Code::BadCondition,
                        value.span,
                        format!("{is} is neither true nor false"),
                    )
                    .here(format!("this is {is}"))
                    .help(help),
                );
                return TypedExpr::error(value.span);
            }
        };
        let span = value.span;
        match value.kind {
            TypedExprKind::Constant(bits) => {
                TypedExpr::constant(TypeId::BOOL, op.value(&[bits, 0]), span)
            }
            _ => {
                let zero = TypedExpr::constant(value.ty, 0, span);
                TypedExpr {
                    kind: TypedExprKind::Op(op, self.arena.alloc([value, zero])),
                    ty: TypeId::BOOL,
                    span,
                }
            }
        }
    }

    /// A cast `(ty)value`: between numbers, from a scalar to every component, from a longer vector
    /// to its first components, from a larger matrix to its upper left.
    pub(super) fn cast(
        &mut self,
        value: TypedExpr<'a>,
        to: TypeId,
        span: adumbra_ir::Span,
    ) -> TypedExpr<'a> {
        if value.is_error() || to == TypeId::ERROR {
            return TypedExpr::error(span);
        }
        let kind = match (value.ty, to) {
            (from, _) if from == to => return TypedExpr { span, ..value },
            (from, TypeId::BOOL) if from.is_number() => {
                let condition = self.condition(value);
                return TypedExpr { span, ..condition };
            }
            (from, _) if from.is_number() && to.is_number() => {
                let number = self.to_number(value, to);
                return TypedExpr { span, ..number };
            }
            (from, _) if from.is_number() && to.is_vector() => {
                let number = self.to_number(value, TypeId::FLOAT);
                TypedExprKind::Splat(self.alloc(number))
            }
            (from, _)
                if from.is_vector() && to.is_vector() && from.float_count() > to.float_count() =>
            {
                TypedExprKind::Swizzle(
                    self.alloc(value),
                    super::typed_tree::Swizzle {
                        components: [0, 1, 2, 3],
                        count: to.float_count() as u8,
                    },
                )
            }
            (from, _) if to.matrix_size() > 0 && from.matrix_size() > to.matrix_size() => {
                TypedExprKind::UpperLeft(self.alloc(value))
            }
            (from, _) => {
                let (is, needs) = (self.quoted_type(from), self.quoted_type(to));
                let help = match to.is_number() && from.is_vector() {
                    true => format!("pick a component: `{}.x`", self.quoted(&value)),
                    false => self.conversion_help(&value, to),
                };
                self.report(
                    Diagnostic::new(
                        Code::BadCast,
                        span,
                        format!("{is} cannot be converted to {needs}"),
                    )
                    .here("not possible")
                    .help(help),
                );
                return TypedExpr::error(span);
            }
        };
        TypedExpr { kind, ty: to, span }
    }
}
