//! Instructions, by the forms in the table of [`instruction`](crate::instruction).

use super::function::{FunctionDraft, ValueDefinition};
use super::{Parsed, Parser, PendingFunction, PendingUse, Token};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::instruction::FieldMut;
use crate::module::*;
use crate::types::Scalar;

impl<'a> Parser<'a> {
    /// One instruction, or the beginning of one that has regions.
    pub(super) fn instruction(&mut self, draft: &mut FunctionDraft) -> Parsed<()> {
        let results = self.results()?;
        let at = self.here();
        let word = self.word("an instruction")?;
        let op = || self.ops.get(word).copied().map(InstKind::Op);
        let Some(mut kind) = InstKind::of_word(word).or_else(op) else {
            let message = format!("there is no instruction `{word}`");
            return Err(Box::new(Diagnostic::new(Code::IrUnknownName, at, message)));
        };
        let form = kind.description().form;
        let mut fields = Vec::new();
        kind.for_each_field_mut(|field| match field {
            FieldMut::Region(_) => {}
            field => fields.push(field),
        });
        let mut fields = fields.into_iter();
        let mut args = Args::new();
        let mut callee = None;
        let mut form = form.chars();
        while let Some(part) = form.next() {
            match part {
                ' ' | '}' => {}
                '_' => {
                    let field = fields
                        .next()
                        .expect("a form names as many fields as there are");
                    match field {
                        FieldMut::Function(_) => callee = Some(self.symbol()?),
                        field => self.field(field, &results)?,
                    }
                }
                '1' | '*' => args.extend(self.values()?),
                '{' => match form.next() {
                    Some(' ') | None => {}
                    Some(sign) if self.accept(Token::Sign(sign)) => {}
                    Some(_) => form.by_ref().take_while(|&part| part != '}').for_each(drop),
                },
                sign => self.expect(Token::Sign(sign))?,
            }
        }
        drop(fields);
        if kind.regions().next().is_some() {
            return self.open_region(draft, results, args, kind);
        }
        let span = self.span().unwrap_or_default();
        let (region, inst) = draft.push(kind, args, results, span);
        if let Some(callee) = callee {
            self.pending.push(PendingFunction {
                function: self.module.functions.len(),
                place: PendingUse::Inst { region, inst },
                callee,
            });
        }
        Ok(())
    }

    /// A field of an instruction that has these results. A function is left to the caller.
    fn field(&mut self, field: FieldMut<'_>, results: &[ValueDefinition]) -> Parsed<()> {
        match field {
            FieldMut::Op(op) => {
                let at = self.here();
                let name = self.word("an op")?;
                *op = *self.ops.get(name).ok_or_else(|| {
                    let message = format!("there is no op `{name}`");
                    Box::new(Diagnostic::new(Code::IrUnknownName, at, message))
                })?;
            }
            FieldMut::Bits(bits) => {
                let ty = results.first().map_or(Scalar::Resource, |d| d.ty);
                *bits = self.literal(ty)?;
            }
            FieldMut::Number(number) | FieldMut::Tape(TapeId(number)) => *number = self.number()?,
            FieldMut::Target(to) => *to = self.region_id()?,
            FieldMut::Read(array) | FieldMut::Written(array) => *array = self.array_id()?,
            FieldMut::Passed(arrays) => {
                let mut passed = Vec::new();
                if self.accept(Token::Sign('[')) {
                    self.list(']', |p| {
                        passed.push(p.array_id()?);
                        Ok(())
                    })?;
                }
                *arrays = passed.into_boxed_slice();
            }
            FieldMut::Global(id) => id.0 = self.symbol()?.find(&self.globals, "global")?,
            FieldMut::Texture(id) => id.0 = self.symbol()?.find(&self.textures, "texture")?,
            FieldMut::Buffer(id) | FieldMut::Sum(id) => {
                id.0 = self.symbol()?.find(&self.buffers, "buffer")?;
            }
            FieldMut::Resource(id) => id.0 = self.symbol()?.find(&self.resources, "resource")?,
            FieldMut::Closure(id) => id.0 = self.symbol()?.find(&self.closures, "closure")?,
            FieldMut::Message(id) => id.0 = self.symbol()?.find(&self.messages, "message")?,
            FieldMut::Record(id) => id.0 = self.id('#', "a record")?,
            FieldMut::Function(_) | FieldMut::Region(_) => {}
        }
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

    fn array_id(&mut self) -> Parsed<ArrayId> {
        Ok(ArrayId(self.id('&', "an array")?))
    }
}
