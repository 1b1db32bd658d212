//! Instructions: one for each keyword, and ops by their names.

use super::function::{FunctionDraft, MISSING, ValueDefinition};
use super::{Parsed, Parser, PendingFunction, PendingUse, Token};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::module::*;
use crate::text::SAMPLES;
use crate::types::{Direction, Scalar};

impl<'a> Parser<'a> {
    /// One instruction, or the beginning of one that has regions.
    pub(super) fn instruction(&mut self, draft: &mut FunctionDraft) -> Parsed<()> {
        let results = self.results()?;
        let at = self.here();
        let word = self.word("an instruction")?;
        let mut args = Args::new();
        let kind = match word {
            "if" => {
                args = self.values()?;
                return self.open_region(draft, results, args, |then| InstKind::If(then, MISSING));
            }
            "loop" => return self.open_region(draft, results, args, InstKind::Loop),
            "block" => return self.open_region(draft, results, args, InstKind::Block),
            "const" => {
                let ty = results.first().map_or(Scalar::Resource, |d| d.ty);
                InstKind::Const(self.literal(ty)?)
            }
            "global" => {
                let global = self.symbol()?.find(&self.globals, "global")?;
                self.expect(Token::Sign('['))?;
                let scalar = self.number()?;
                self.expect(Token::Sign(']'))?;
                InstKind::Global(GlobalId(global), scalar)
            }
            "resource" => {
                let resource = self.symbol()?.find(&self.resources, "resource")?;
                InstKind::Resource(ResourceId(resource))
            }
            "ddx" | "ddy" => {
                args = self.values()?;
                InstKind::Shadow(match word {
                    "ddx" => Direction::X,
                    _ => Direction::Y,
                })
            }
            "difference_x" | "difference_y" => {
                args = self.values()?;
                InstKind::Difference(match word {
                    "difference_x" => Direction::X,
                    _ => Direction::Y,
                })
            }
            "detach" => {
                args = self.values()?;
                InstKind::Detach
            }
            "array_zero" => InstKind::ArrayZero(self.array_id()?),
            "array_copy" => {
                let to = self.array_id()?;
                self.expect(Token::Sign(','))?;
                let from = self.array_id()?;
                if self.accept(Token::Sign(',')) {
                    args = self.values()?;
                }
                InstKind::ArrayCopy { to, from }
            }
            "array_resize" => {
                let array = self.array_id()?;
                args = self.index()?;
                self.expect(Token::Sign(','))?;
                InstKind::ArrayResize(array, self.number()?)
            }
            "load" => {
                let array = self.array_id()?;
                args = self.index()?;
                InstKind::Load(array)
            }
            "store" => {
                let array = self.array_id()?;
                args = self.index()?;
                self.expect(Token::Sign(','))?;
                args.extend(self.values()?);
                InstKind::Store(array)
            }
            "message" => {
                let message = self.symbol()?.find(&self.messages, "message")?;
                args = self.arguments()?;
                InstKind::Message(MessageId(message))
            }
            "make_closure" => {
                let shape = self.symbol()?.find(&self.closures, "closure")?;
                args = self.arguments()?;
                InstKind::MakeClosure(ClosureId(shape))
            }
            "closure_add" => {
                args = self.values()?;
                InstKind::ClosureAdd
            }
            "closure_scale" => {
                args = self.values()?;
                InstKind::ClosureScale
            }
            "keep" => {
                let (tape, record) = self.record_on_tape()?;
                args = self.arguments()?;
                InstKind::Keep(tape, record)
            }
            "take" => {
                let (tape, record) = self.record_on_tape()?;
                InstKind::Take(tape, record)
            }
            "call" => return self.call(draft, results),
            "enter" => InstKind::EnterInlined(self.number()?),
            "turn" => InstKind::NextIteration,
            "yield" => {
                args = self.values()?;
                InstKind::Yield
            }
            "break" => {
                let to = self.region_id()?;
                args = self.values()?;
                InstKind::Break(to)
            }
            "continue" => {
                let to = self.region_id()?;
                args = self.values()?;
                InstKind::Continue(to)
            }
            "return" => {
                args = self.values()?;
                InstKind::Return
            }
            "unreachable" => InstKind::Unreachable,
            other => {
                let mut samples = SAMPLES.iter().filter(|(name, _)| *name == other);
                if let Some(&(_, (channels, detail))) = samples.next() {
                    let texture = self.symbol()?.find(&self.textures, "texture")?;
                    args = self.arguments()?;
                    InstKind::Sample(TextureId(texture), channels, detail)
                } else if let Some(&op) = self.ops.get(other) {
                    args = self.values()?;
                    InstKind::Op(op)
                } else {
                    let message = format!("there is no instruction `{other}`");
                    return Err(Box::new(Diagnostic::new(Code::IrUnknownName, at, message)));
                }
            }
        };
        let span = self.span().unwrap_or_default();
        draft.push(kind, args, results, span);
        Ok(())
    }

    /// `%1: f32, %2: f32 =`, perhaps nothing.
    fn results(&mut self) -> Parsed<Vec<ValueDefinition>> {
        let mut results: Vec<ValueDefinition> = Vec::new();
        if matches!(self.token, Token::Id('%', _)) {
            loop {
                if let (Some(first), Token::Id('%', id)) = (results.first(), &self.token)
                    && u64::from(first.id.0) + results.len() as u64 != u64::from(*id)
                {
                    return self.expected("results with consecutive numbers");
                }
                results.push(self.definition()?);
                if !self.accept(Token::Sign(',')) {
                    break;
                }
            }
            self.expect(Token::Sign('='))?;
        }
        Ok(results)
    }

    /// After `call`.
    fn call(&mut self, draft: &mut FunctionDraft, results: Vec<ValueDefinition>) -> Parsed<()> {
        let callee = self.symbol()?;
        let args = self.arguments()?;
        let mut arrays = Vec::new();
        if self.accept(Token::Sign('[')) {
            self.list(']', |p| {
                arrays.push(p.array_id()?);
                Ok(())
            })?;
        }
        let span = self.span().unwrap_or_default();
        let kind = InstKind::Call(FuncId(0), arrays.into_boxed_slice());
        let (region, inst) = draft.push(kind, args, results, span);
        self.pending.push(PendingFunction {
            function: self.module.functions.len(),
            place: PendingUse::Call { region, inst },
            callee,
        });
        Ok(())
    }

    /// `(%1, %2)`.
    fn arguments(&mut self) -> Parsed<Args> {
        self.expect(Token::Sign('('))?;
        let values = self.values()?;
        self.expect(Token::Sign(')'))?;
        Ok(values)
    }

    /// `0 #1`.
    fn record_on_tape(&mut self) -> Parsed<(TapeId, RecordId)> {
        let tape = TapeId(self.number()?);
        let record = RecordId(self.id('#', "a record")?);
        Ok((tape, record))
    }

    fn array_id(&mut self) -> Parsed<ArrayId> {
        Ok(ArrayId(self.id('&', "an array")?))
    }

    /// `[%1]`.
    fn index(&mut self) -> Parsed<Args> {
        self.expect(Token::Sign('['))?;
        let index = self.values()?;
        self.expect(Token::Sign(']'))?;
        Ok(index)
    }
}
