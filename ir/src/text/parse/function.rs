//! Functions: header, tables, and the region tree, read with a stack of open regions. Instructions
//! are read in `inst.rs`.

use super::{Parsed, Parser, PendingFunction, PendingUse, Token};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::instruction::FieldMut;
use crate::module::*;
use crate::span::Span;
use crate::types::{Direction, Lanes, Scalar};

/// A value at its definition, and the place in the IR text. Its own span may be the instruction's,
/// which comes later.
pub(super) struct ValueDefinition {
    pub(super) id: ValueId,
    pub(super) ty: Scalar,
    lanes: Lanes,
    name: Option<NameId>,
    span: Option<Span>,
    at: Span,
}

/// A function so far: values and regions come in the order of the IR text, not of their numbers.
#[derive(Default)]
pub(super) struct FunctionDraft {
    values: Vec<(u32, Value, Span)>,
    regions: Vec<(u32, Region, Span)>,
    stack: Vec<Open>,
}

/// A region being read.
struct Open {
    id: RegionId,
    at: Span,
    region: Region,
    /// The instruction that it belongs to; none for the body.
    owner: Option<Owner>,
}

/// An instruction whose regions are being read.
struct Owner {
    results: Vec<ValueDefinition>,
    args: Args,
    kind: InstKind,
    /// The number of its regions that were opened.
    arms: usize,
}

impl Owner {
    /// Says which region the next one is.
    fn add(&mut self, id: RegionId) {
        let mut at = 0;
        self.kind.for_each_field_mut(|field| {
            if let FieldMut::Region(region) = field {
                if at == self.arms {
                    *region = id;
                }
                at += 1;
            }
        });
        self.arms += 1;
    }
}

impl FunctionDraft {
    fn define(&mut self, definition: ValueDefinition, implied: Span) -> ValueId {
        let ValueDefinition {
            id,
            ty,
            lanes,
            name,
            span,
            at,
        } = definition;
        let span = span.unwrap_or(implied);
        let value = Value {
            ty,
            lanes,
            span,
            name,
        };
        self.values.push((id.0, value, at));
        id
    }

    /// Appends to the innermost open region; returns the place.
    pub(super) fn push(
        &mut self,
        kind: InstKind,
        args: Args,
        results: Vec<ValueDefinition>,
        span: Span,
    ) -> (RegionId, usize) {
        let results = Results {
            first: results.first().map_or(ValueId(0), |d| d.id),
            count: {
                let count = results.len() as u32;
                for definition in results {
                    self.define(definition, span);
                }
                count
            },
        };
        let open = self.stack.last_mut().expect("a region is open");
        open.region.insts.push(Inst {
            kind,
            args,
            results,
            span,
        });
        (open.id, open.region.insts.len() - 1)
    }
}

/// Puts items in the order of their numbers, which must be 0 to their count, each once.
fn dense<T>(items: Vec<(u32, T, Span)>, sigil: char) -> Parsed<Vec<T>> {
    let count = items.len();
    let mut slots: Vec<Option<T>> = Vec::with_capacity(count);
    slots.resize_with(count, || None);
    for (id, item, at) in items {
        let Some(slot) = slots.get_mut(id as usize) else {
            let message = format!("`{sigil}{id}` leaves numbers out: there are only {count}");
            let sparse = Diagnostic::new(Code::IrSyntax, at, message);
            return Err(Box::new(
                sparse.help("number from 0 without gaps, or declare unused ones"),
            ));
        };
        if slot.is_some() {
            let message = format!("`{sigil}{id}` is defined twice");
            return Err(Box::new(Diagnostic::new(Code::IrDuplicate, at, message)));
        }
        *slot = Some(item);
    }
    Ok(slots.into_iter().flatten().collect())
}

impl<'a> Parser<'a> {
    /// After the name.
    pub(super) fn function(&mut self, name: String) -> Parsed<Function> {
        let variant = match self.accept_word("variant") {
            true => self.number()?,
            false => 0,
        };
        let library = self.accept_word("library");
        let decides = match self.accept_word("surface") {
            true => Decides::Surface,
            false if self.accept_word("undecided") => Decides::Nothing,
            false => Decides::Own,
        };
        let mut draft = FunctionDraft::default();
        let mut params = Vec::new();
        self.expect(Token::Sign('('))?;
        self.list(')', |p| {
            let definition = p.definition()?;
            params.push(draft.define(definition, Span::default()));
            Ok(())
        })?;
        self.expect(Token::Arrow)?;
        let results = self.carried_list()?;
        let span = self.span().unwrap_or_default();
        let at = self.here();
        let body = RegionId(self.id('^', "the body's number")?);
        self.expect(Token::Sign('{'))?;
        draft.stack.push(Open {
            id: body,
            at,
            region: Region {
                params,
                insts: Vec::new(),
            },
            owner: None,
        });
        let mut function = Function {
            name,
            variant,
            values: Vec::new(),
            regions: Vec::new(),
            arrays: Vec::new(),
            body,
            results,
            members: Vec::new(),
            library,
            recipe: None,
            custom: CustomDerivatives::default(),
            decides,
            span,
        };
        self.tables(&mut function, &mut draft)?;
        while !draft.stack.is_empty() {
            if self.token == Token::Sign('}') {
                self.close(&mut draft)?;
            } else {
                self.instruction(&mut draft)?;
            }
        }
        function.values = dense(draft.values, '%')?;
        function.regions = dense(draft.regions, '^')?;
        Ok(function)
    }

    /// Members, arrays, unused values and regions.
    fn tables(&mut self, function: &mut Function, draft: &mut FunctionDraft) -> Parsed<()> {
        loop {
            if self.accept_word("member") {
                let member = self.member()?;
                function.members.push(member);
            } else if self.accept_word("array") {
                let expected = function.arrays.len() as u32;
                if self.token != Token::Id('&', expected) {
                    return self.expected(&format!("`&{expected}`"));
                }
                self.advance();
                let array = self.array()?;
                function.arrays.push(array);
            } else if self.accept_word("derive") {
                function.recipe = Some(self.recipe()?);
            } else if self.accept_word("custom") {
                self.custom(function)?;
            } else if self.accept_word("unused") {
                let at = self.here();
                if let Token::Id('^', id) = self.token {
                    self.advance();
                    draft.regions.push((id, Region::default(), at));
                } else {
                    let definition = self.definition()?;
                    draft.define(definition, Span::default());
                }
            } else {
                return Ok(());
            }
        }
    }

    fn member(&mut self) -> Parsed<SourceParam> {
        let name = self.name()?.into_owned();
        let ty = self.typed()?;
        let mode = self.mode()?;
        let mut member = SourceParam {
            name,
            ty,
            mode,
            params: (0, 0),
            results: (0, 0),
            arrays: (0, 0),
        };
        for (what, range) in [
            ("params", &mut member.params),
            ("results", &mut member.results),
            ("arrays", &mut member.arrays),
        ] {
            if self.accept_word(what) {
                self.expect(Token::Sign('['))?;
                range.0 = self.number()?;
                self.expect(Token::Sign(','))?;
                range.1 = self.number()?;
                self.expect(Token::Sign(']'))?;
            }
        }
        Ok(member)
    }

    /// After `derive`: `forward f params[1, 0] results[1] arrays[]`; `forward ddx f …`; `backward
    /// with_results f …`.
    fn recipe(&mut self) -> Parsed<Recipe> {
        let mode = if self.accept_word("forward") {
            DifferentiationMode::Forward
        } else if self.accept_word("backward") {
            DifferentiationMode::Backward
        } else {
            return self.expected("`forward` or `backward`");
        };
        let with_results = self.accept_word("with_results");
        let mut directions = Direction::BOTH.into_iter();
        let screen = directions.find(|direction| self.accept_word(direction.derivative_name()));
        self.pend(PendingUse::Primal)?;
        Ok(Recipe {
            mode,
            of: FuncId(0),
            activity: self.activity()?,
            with_results,
            screen,
        })
    }

    /// `params[1, 0] results[1] arrays[]`.
    fn activity(&mut self) -> Parsed<Activity> {
        let mut activity = Activity::default();
        for (what, active) in [
            ("params", &mut activity.params),
            ("results", &mut activity.results),
            ("arrays", &mut activity.arrays),
        ] {
            if !self.accept_word(what) {
                return self.expected(&format!("`{what}`"));
            }
            *active = self.flags()?;
        }
        Ok(activity)
    }

    /// `[1, 0]`.
    fn flags(&mut self) -> Parsed<Vec<bool>> {
        let mut flags = Vec::new();
        self.expect(Token::Sign('['))?;
        self.list(']', |p| {
            flags.push(p.number()? != 0);
            Ok(())
        })?;
        Ok(flags)
    }

    /// After `custom`: `forward f`, `backward f`, `substitute f`, `zero`, an activity,
    /// `lost[1, 0]`.
    fn custom(&mut self, function: &mut Function) -> Parsed<()> {
        let custom = &mut function.custom;
        if self.accept_word("zero") {
            custom.is_zero = true;
            return Ok(());
        }
        if self.token == Token::Word("params") {
            custom.activity = self.activity()?;
            return Ok(());
        }
        if self.accept_word("lost") {
            custom.lost = self.flags()?;
            return Ok(());
        }
        let (slot, pending) = if self.accept_word("forward") {
            (&mut custom.forward, PendingUse::Forward)
        } else if self.accept_word("backward") {
            (&mut custom.backward, PendingUse::Backward)
        } else if self.accept_word("substitute") {
            (&mut custom.substitute, PendingUse::Substitute)
        } else {
            return self.expected("`forward`, `backward`, `substitute`, `lost` or `zero`");
        };
        *slot = Some(FuncId(0));
        self.pend(pending)
    }

    /// A name of a function that may come later in the IR text.
    fn pend(&mut self, place: PendingUse) -> Parsed<()> {
        let callee = self.symbol()?;
        self.pending.push(PendingFunction {
            function: self.module.functions.len(),
            place,
            callee,
        });
        Ok(())
    }

    fn mode(&mut self) -> Parsed<PassingMode> {
        let mode = match self.token {
            Token::Word("in") => PassingMode::In,
            Token::Word("out") => PassingMode::Out,
            Token::Word("inout") => PassingMode::InOut,
            Token::Word("return") => PassingMode::Return,
            _ => return self.expected("a mode"),
        };
        self.advance();
        Ok(mode)
    }

    /// After the number.
    fn array(&mut self) -> Parsed<Array> {
        let mode = match self.token {
            Token::Word(_) => Some(self.mode()?),
            _ => None,
        };
        self.expect(Token::Sign(':'))?;
        let (element, lanes) = self.carried()?;
        self.expect(Token::Sign('['))?;
        let len = self.number()?;
        self.expect(Token::Sign(']'))?;
        let name = self.variable()?;
        let span = self.span().unwrap_or_default();
        Ok(Array {
            element,
            len,
            lanes,
            mode,
            span,
            name,
        })
    }

    /// `(f32:x, i32)`.
    pub(super) fn carried_list(&mut self) -> Parsed<Vec<FuncResult>> {
        let mut list = Vec::new();
        self.expect(Token::Sign('('))?;
        self.list(')', |p| {
            let (ty, lanes) = p.carried()?;
            list.push(FuncResult { ty, lanes });
            Ok(())
        })?;
        Ok(list)
    }

    /// `f32:xy`.
    fn carried(&mut self) -> Parsed<(Scalar, Lanes)> {
        let Some(ty) = self.scalar() else {
            return self.expected("a scalar type");
        };
        let mut lanes = Lanes::NONE;
        if self.accept(Token::Sign(':')) {
            let found = Lanes::ALL.into_iter().skip(1);
            let found = found
                .into_iter()
                .find(|l| self.token == Token::Word(l.name()));
            let Some(found) = found else {
                return self.expected("`x`, `y` or `xy`");
            };
            self.advance();
            lanes = found;
        }
        Ok((ty, lanes))
    }

    fn scalar(&mut self) -> Option<Scalar> {
        let Token::Word(word) = self.token else {
            return None;
        };
        let ty = Scalar::from_name(word)?;
        self.advance();
        Some(ty)
    }

    /// `$name`, if it is there.
    fn variable(&mut self) -> Parsed<Option<NameId>> {
        if !self.accept(Token::Sign('$')) {
            return Ok(None);
        }
        let symbol = self.symbol()?;
        Ok(Some(NameId(symbol.find(&self.names, "name")?)))
    }

    /// `@1..2`, if it is there.
    pub(super) fn span(&mut self) -> Option<Span> {
        let Token::Span(span) = self.token else {
            return None;
        };
        self.advance();
        Some(span)
    }

    /// `%3: f32:x $name @1..2`.
    pub(super) fn definition(&mut self) -> Parsed<ValueDefinition> {
        let at = self.here();
        let id = ValueId(self.id('%', "a value")?);
        self.expect(Token::Sign(':'))?;
        let (ty, lanes) = self.carried()?;
        let name = self.variable()?;
        let span = self.span();
        Ok(ValueDefinition {
            id,
            ty,
            lanes,
            name,
            span,
            at,
        })
    }

    /// `%1, %2`, perhaps nothing.
    pub(super) fn values(&mut self) -> Parsed<Args> {
        let mut values = Args::new();
        if matches!(self.token, Token::Id('%', _)) {
            loop {
                values.push(ValueId(self.id('%', "a value")?));
                if !self.accept(Token::Sign(',')) {
                    break;
                }
            }
        }
        Ok(values)
    }

    pub(super) fn region_id(&mut self) -> Parsed<RegionId> {
        Ok(RegionId(self.id('^', "a region")?))
    }

    /// `^3 (%1: f32 = %0) {`: the first region of an instruction.
    pub(super) fn open_region(
        &mut self,
        draft: &mut FunctionDraft,
        results: Vec<ValueDefinition>,
        mut args: Args,
        kind: InstKind,
    ) -> Parsed<()> {
        let at = self.here();
        let id = self.region_id()?;
        let mut region = Region::default();
        if matches!(kind, InstKind::Loop(_)) && self.accept(Token::Sign('(')) {
            self.list(')', |p| {
                let definition = p.definition()?;
                p.expect(Token::Sign('='))?;
                args.push(ValueId(p.id('%', "a value")?));
                region
                    .params
                    .push(draft.define(definition, Span::default()));
                Ok(())
            })?;
        }
        self.expect(Token::Sign('{'))?;
        let mut owner = Owner {
            results,
            args,
            kind,
            arms: 0,
        };
        owner.add(id);
        draft.stack.push(Open {
            id,
            at,
            region,
            owner: Some(owner),
        });
        Ok(())
    }

    /// At `}`.
    fn close(&mut self, draft: &mut FunctionDraft) -> Parsed<()> {
        self.advance();
        let Open {
            id,
            at,
            region,
            owner,
        } = draft.stack.pop().expect("a region is open");
        draft.regions.push((id.0, region, at));
        let Some(mut owner) = owner else {
            return Ok(());
        };
        if owner.arms < owner.kind.regions().count() {
            self.expect_word("else")?;
            let at = self.here();
            let id = self.region_id()?;
            self.expect(Token::Sign('{'))?;
            owner.add(id);
            draft.stack.push(Open {
                id,
                at,
                region: Region::default(),
                owner: Some(owner),
            });
            return Ok(());
        }
        let span = self.span().unwrap_or_default();
        draft.push(owner.kind, owner.args, owner.results, span);
        Ok(())
    }
}
