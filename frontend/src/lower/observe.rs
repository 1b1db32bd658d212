//! Messages that lowering adds for a debugger: what each variable becomes, and which way is taken.
//!
//! They are messages as those of `printf`, so passes and engines need not know them, and a program
//! that is not observed has none. They only read: the results and the steps are the same with them.
//! Derivatives are operands of the message, read as `ddx` and `ddy` read them. Functions of the
//! standard library are not observed.

use super::access::PlaceAccess;
use super::function::FunctionLowering;
use super::ssa::LeafValue;
use crate::ast::ParamDirection as Way;
use crate::check::typed_tree::{LocalId, TypedExpr, TypedExprKind, TypedFunction};
use crate::check::types::{TypeId, TypeKind};
use adumbra_ir::module::{InstKind, Message, MessageId, ValueId};
use adumbra_ir::types::StructType;
use adumbra_ir::{Direction, Scalar, Span, Type};
use smallvec::SmallVec;
use std::sync::Arc;

/// Elements of each array that an observation shows: the first ones.
pub const MAX_OBSERVED_ELEMENTS: u32 = 8;

/// Scalars of the largest value that an observation shows.
pub const MAX_OBSERVED_SCALARS: usize = 256;

/// The meaning of a message of an observed program.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The event.
    pub event: ObservedEvent,
    /// The function it is in.
    pub function: String,
    /// Its place in the source.
    pub span: Span,
    /// Whether derivatives are shown beside values.
    pub with_shadows: bool,
}

/// The events of a point.
#[derive(Clone, Debug, PartialEq)]
pub enum ObservedEvent {
    /// A function of the source is called. Its parameters follow, as assignments.
    Call(String),
    /// A function ends; with its value, if it has one.
    Return(Option<ObservedShape>),
    /// A variable, or a part of one, becomes a value.
    Assign {
        /// Its source, split at each index that is known while shading.
        place: Vec<String>,
        /// The shape of the shown value; `None` if it holds closures or resources, or is too large.
        value: Option<ObservedShape>,
    },
    /// A condition, or the value of a `switch`.
    Condition(ConditionKind, Scalar),
    /// A loop begins.
    LoopBegins,
    /// A pass through the innermost loop begins.
    Iteration,
    /// The innermost loop was left.
    LoopEnds,
    /// The texture request that comes next is made here.
    Sampling,
}

/// The kind of statement that evaluates a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionKind {
    /// `if`
    If,
    /// `? :`
    Ternary,
    /// `for`, `while`, `do`
    Loop,
    /// `switch`, by a number
    Switch,
}

/// The shown part of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedShape {
    /// Its type, its arrays shortened to [`MAX_OBSERVED_ELEMENTS`].
    pub ty: Type,
    /// Whether some array was shortened.
    pub is_shortened: bool,
}

/// The decoded arguments of such a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedArguments {
    /// The indices of the place.
    pub indices: Vec<i32>,
    /// The words of the value.
    pub value: Vec<u32>,
    /// Those of its ddx and its ddy, 0 for other types than float; empty if derivatives are not
    /// shown.
    pub shadows: [Vec<u32>; 2],
}

impl Observation {
    /// Decodes the message's arguments.
    pub fn read(&self, args: &[u32]) -> ObservedArguments {
        let mut words = args.iter().copied();
        let mut next = || words.next().unwrap_or_default();
        let mut observed = ObservedArguments::default();
        let ty = match &self.event {
            ObservedEvent::Assign { place, value } => {
                let count = place.len().saturating_sub(1);
                observed.indices = (0..count).map(|_| next() as i32).collect();
                value.as_ref().map(|shape| &shape.ty)
            }
            ObservedEvent::Return(value) => value.as_ref().map(|shape| &shape.ty),
            ObservedEvent::Condition(..) => {
                observed.value.push(next());
                None
            }
            _ => None,
        };
        let Some(ty) = ty else { return observed };
        ty.for_each_scalar(&mut |_| observed.value.push(next()));
        if self.with_shadows {
            for shadows in &mut observed.shadows {
                ty.for_each_scalar(&mut |scalar| {
                    shadows.push(match scalar {
                        Scalar::F32 => next(),
                        _ => 0,
                    });
                });
            }
        }
        observed
    }
}

/// The observations of a lowering.
#[derive(Debug)]
pub(super) struct Observer {
    with_shadows: bool,
    /// By message of the module.
    observations: Vec<Option<Observation>>,
}

impl Observer {
    pub(super) fn new(with_shadows: bool) -> Observer {
        Observer {
            with_shadows,
            observations: Vec::new(),
        }
    }

    pub(super) fn finish(self) -> Vec<Option<Observation>> {
        self.observations
    }
}

/// A place that is written to: its source and indices, if it is observed.
pub(super) type ObservedPlace = Option<(Vec<String>, SmallVec<[ValueId; 2]>)>;

/// Scalars of a value: leaf, and element in its array.
type Scalars = Vec<(u32, Option<u32>)>;

impl<'a> FunctionLowering<'_, '_, 'a> {
    /// Adds a message for an event.
    pub(super) fn observe(
        &mut self,
        event: ObservedEvent,
        args: impl IntoIterator<Item = ValueId>,
        span: Span,
    ) {
        if !self.is_observed || self.builder.is_terminated() {
            return;
        }
        let args: Vec<ValueId> = args.into_iter().collect();
        let messages = &mut self.shared.module.messages;
        let id = MessageId(messages.len() as u32);
        let types = args.iter().map(|&arg| self.builder.ty(arg));
        let conversion = |ty| if ty == Scalar::F32 { "%g " } else { "%d " };
        messages.push(Message {
            format: types.clone().map(conversion).collect(),
            params: types.map(Type::Scalar).collect(),
        });
        let watch = self.shared.observer.as_mut().expect("lowering is observed");
        watch.observations.resize(id.index(), None);
        watch.observations.push(Some(Observation {
            event,
            function: self.shared.interner.name(self.function.name).to_owned(),
            span,
            with_shadows: watch.with_shadows,
        }));
        self.builder.inst(InstKind::Message(id), args, [], span);
    }

    /// Adds a message for a condition.
    pub(super) fn observe_condition(&mut self, choice: ConditionKind, value: ValueId, span: Span) {
        let ty = self.builder.ty(value);
        self.observe(ObservedEvent::Condition(choice, ty), [value], span);
    }

    /// Adds messages for the arguments of the function.
    pub(super) fn observe_entry(&mut self) {
        if !self.is_observed {
            return;
        }
        for param in self.function.params {
            if param.direction != Way::Out {
                self.observe_variable(param.local, param.span);
            }
        }
    }

    /// Adds a message for a call, if the callee is observed.
    pub(super) fn observe_call(&mut self, callee: &TypedFunction<'a>, span: Span) {
        if self.is_observed && !callee.is_library {
            let name = self.shared.interner.name(callee.name).to_owned();
            self.observe(ObservedEvent::Call(name), [], span);
        }
    }

    /// Adds a message for the end of the function, with its value.
    pub(super) fn observe_return(&mut self, value: &[LeafValue], span: Span) {
        if !self.is_observed {
            return;
        }
        let mut args = Vec::new();
        let shape = match self.function.result {
            TypeId::VOID => None,
            ty => self.push_value(ty, value, &mut args, span),
        };
        self.observe(ObservedEvent::Return(shape), args, span);
    }

    /// Adds a message for the value of a variable.
    pub(super) fn observe_variable(&mut self, local: LocalId, span: Span) {
        if !self.is_observed {
            return;
        }
        let variable = self.function.locals[local.0 as usize];
        let name = self.shared.interner.name(variable.name).to_owned();
        let first = self.first_slot(local);
        if let TypeKind::RunTimeArray(_) = self.types().kind(variable.ty) {
            let length = self.environment.get(first).value();
            let value = Some(ObservedShape {
                ty: Type::Scalar(Scalar::I32),
                is_shortened: false,
            });
            let place = vec![format!("{name}.length")];
            return self.observe(ObservedEvent::Assign { place, value }, [length], span);
        }
        let slots = first..first + self.types().leaf_count(variable.ty);
        let values: Vec<LeafValue> = slots.map(|slot| self.environment.get(slot)).collect();
        let place = Some((vec![name], SmallVec::new()));
        self.observe_place(place, variable.ty, &values, span);
    }

    /// Resolves a place that is written to, as [`access`](Body::access) does.
    pub(super) fn lower_place(&mut self, expr: &TypedExpr<'a>) -> (PlaceAccess, ObservedPlace) {
        let before = self.indices.len();
        let access = self.access(expr);
        if !self.is_observed {
            return (access, None);
        }
        let indices = self.indices.drain(before..).collect();
        let mut place = vec![String::new()];
        self.write_place(expr, &mut place);
        (access, Some((place, indices)))
    }

    /// Evaluates an index, and keeps it if the place is observed.
    pub(super) fn index(&mut self, index: &TypedExpr<'a>) -> ValueId {
        let before = self.indices.len();
        let value = self.value(index);
        // The index expression may have had indices itself.
        self.indices.truncate(before);
        if self.is_observed && !matches!(index.kind, TypedExprKind::Constant(_)) {
            self.indices.push(value);
        }
        value
    }

    /// Writes the source of a place, split into parts at run-time indices.
    fn write_place(&self, expr: &TypedExpr<'a>, parts: &mut Vec<String>) {
        let interner = self.shared.interner;
        let text = match expr.kind {
            TypedExprKind::Local(local) => {
                let variable = &self.function.locals[local.0 as usize];
                interner.name(variable.name).to_owned()
            }
            TypedExprKind::Member(inner, leaf) => {
                self.write_place(inner, parts);
                let TypeKind::Struct(number) = self.types().kind(inner.ty) else {
                    return;
                };
                let mut members = self.types().members(number).iter();
                let member = members.find(|member| member.leaf == leaf && member.ty == expr.ty);
                let name = member.map(|member| interner.name(member.name));
                format!(".{}", name.unwrap_or_default())
            }
            TypedExprKind::Swizzle(inner, swizzle) => {
                self.write_place(inner, parts);
                let components = swizzle.as_slice().iter();
                let letters = components.map(|&at| char::from(b"xyzw"[usize::from(at)]));
                format!(".{}", letters.collect::<String>())
            }
            TypedExprKind::Index(inner, index) => {
                self.write_place(inner, parts);
                match index.kind {
                    TypedExprKind::Constant(bits) => format!("[{}]", bits as i32),
                    _ => {
                        parts.push(String::new());
                        return;
                    }
                }
            }
            _ => return,
        };
        let last = parts.last_mut().expect("there is always a part");
        last.push_str(&text);
    }

    /// Adds a message for the new value of a place.
    pub(super) fn observe_place(
        &mut self,
        place: ObservedPlace,
        ty: TypeId,
        values: &[LeafValue],
        span: Span,
    ) {
        let Some((place, indices)) = place else {
            return;
        };
        let mut args = indices.into_vec();
        let value = self.push_value(ty, values, &mut args, span);
        self.observe(ObservedEvent::Assign { place, value }, args, span);
    }

    /// Adds the scalars of a value and their derivatives to the arguments of a message.
    fn push_value(
        &mut self,
        ty: TypeId,
        values: &[LeafValue],
        args: &mut Vec<ValueId>,
        span: Span,
    ) -> Option<ObservedShape> {
        if self.builder.is_terminated() {
            return None;
        }
        let (mut scalars, mut is_shortened) = (Vec::new(), false);
        let ty = self.shape(ty, (0, None), &mut scalars, &mut is_shortened)?;
        let mut observed = Vec::with_capacity(scalars.len());
        let mut types = Vec::with_capacity(scalars.len());
        ty.for_each_scalar(&mut |scalar| types.push(scalar));
        for (&(leaf, element), &scalar) in scalars.iter().zip(&types) {
            let value = values[leaf as usize];
            observed.push(match element {
                None => value.value(),
                Some(element) => {
                    let index = self.builder.int(element as i32, span);
                    self.load(value.array(), scalar, index, span)
                }
            });
        }
        args.extend(&observed);
        if self
            .shared
            .observer
            .as_ref()
            .is_some_and(|w| w.with_shadows)
        {
            for direction in Direction::BOTH {
                for &value in &observed {
                    if self.builder.ty(value) == Scalar::F32 {
                        args.push(self.builder.shadow(direction, value, span));
                    }
                }
            }
        }
        Some(ObservedShape { ty, is_shortened })
    }

    /// The shown shape of a value of that type, and its scalars in that order. The part's first
    /// leaf and its element are given.
    fn shape(
        &self,
        ty: TypeId,
        (first, at): (u32, Option<u32>),
        scalars: &mut Scalars,
        is_shortened: &mut bool,
    ) -> Option<Type> {
        let types = self.types();
        match types.kind(ty) {
            TypeKind::Array(element, len) => {
                let shown = len.min(MAX_OBSERVED_ELEMENTS);
                *is_shortened |= shown < len;
                let mut inner = None;
                for index in 0..shown {
                    let at = at.unwrap_or(0) * len + index;
                    inner = Some(self.shape(element, (first, Some(at)), scalars, is_shortened)?);
                }
                Some(Type::Array(Arc::new(inner?), shown))
            }
            TypeKind::Struct(number) => {
                let mut members = Vec::new();
                for member in types.members(number) {
                    let place = (first + member.leaf, at);
                    let ty = self.shape(member.ty, place, scalars, is_shortened)?;
                    let name = self.shared.interner.name(member.name);
                    members.push((name.to_owned(), ty));
                }
                let name = types.name(ty, self.shared.interner);
                Some(Type::Struct(Arc::new(StructType { name, members })))
            }
            TypeKind::Scalar(Scalar::Closure | Scalar::Resource) => None,
            TypeKind::Scalar(_) | TypeKind::Vector(_) | TypeKind::Matrix(_) => {
                let count = types.leaf_count(ty);
                if scalars.len() + count as usize > MAX_OBSERVED_SCALARS {
                    return None;
                }
                scalars.extend((first..first + count).map(|leaf| (leaf, at)));
                Some(types.host_type(ty, self.shared.interner))
            }
            TypeKind::Error | TypeKind::Void | TypeKind::Texture | TypeKind::RunTimeArray(_) => {
                None
            }
        }
    }
}
