//! Parser of IR text: tokens, tables and types; functions are parsed in `function.rs`.
//!
//! It checks the grammar only; the verifier checks the module. Nothing recurses but types, whose
//! depth is limited. The first mistake ends the parsing: IR text is written by programs.

mod function;
mod inst;

use super::lex::{Lexer, Token};
use crate::codes::Code;
use crate::derivative::{DerivativeHint, HintKind};
use crate::diagnostic::Diagnostic;
use crate::host::CANONICAL_NAN;
use crate::instruction::FieldMut;
use crate::limits::{MAX_TABLE_SCALARS, MAX_TYPE_DEPTH, MAX_TYPE_SCALARS};
use crate::metadata::{Metadata, MetadataValue};
use crate::module::*;
use crate::span::{FileId, Span};
use crate::text::QUADS;
use crate::types::{Scalar, StructType, Type};
use adumbra_ops::Op;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of the longest IR text: 32 MiB.
pub const MAX_TEXT: usize = 1 << 25;

/// Parses a module; `file` is the file of the mistakes' spans.
///
/// # Errors
/// The first mistake in the IR text, with a code 07xx. A parsed module may still break invariants:
/// [`verify`](crate::verify()) it before anything else.
pub fn parse(text: &str, file: FileId) -> Result<Module, Box<Diagnostic>> {
    if text.len() > MAX_TEXT {
        let message = format!("this text has {} bytes, more than {MAX_TEXT}", text.len());
        return Err(Box::new(
            Diagnostic::new(Code::IrTooLarge, Span::new(file, 0, 0), message)
                .help("split the module"),
        ));
    }
    let mut lexer = Lexer::new(text);
    let (token, range) = lexer.next();
    let mut parser = Parser {
        lexer,
        token,
        range,
        file,
        module: Module::default(),
        globals: HashMap::new(),
        textures: HashMap::new(),
        buffers: HashMap::new(),
        resources: HashMap::new(),
        closures: HashMap::new(),
        messages: HashMap::new(),
        names: HashMap::new(),
        functions: HashMap::new(),
        ops: Op::ALL.iter().map(|&op| (op.info().name, op)).collect(),
        pending: Vec::new(),
        defaults: 0,
    };
    parser.module()?;
    Ok(parser.module)
}

type Parsed<T> = Result<T, Box<Diagnostic>>;

/// The first entry of a table with each name.
type Table<'a> = HashMap<Cow<'a, str>, u32>;

/// A name or number of a table's entry, and its place in the IR text.
struct Symbol<'a> {
    name: Result<Cow<'a, str>, u32>,
    at: Span,
}

impl Symbol<'_> {
    fn find(&self, table: &Table, what: &str) -> Parsed<u32> {
        let name = match &self.name {
            Ok(name) => name,
            Err(id) => return Ok(*id),
        };
        table.get(name).copied().ok_or_else(|| {
            let message = format!("there is no {what} `{name}`");
            let unknown = Diagnostic::new(Code::IrUnknownName, self.at, message);
            Box::new(unknown.help("declare it, or refer to it by `#` and its number"))
        })
    }
}

/// A use of a function that may come later in the IR text.
struct PendingFunction<'a> {
    /// The function that uses it.
    function: usize,
    place: PendingUse,
    callee: Symbol<'a>,
}

/// The place that a function is used in.
enum PendingUse {
    Inst { region: RegionId, inst: usize },
    Primal,
    Forward,
    Backward,
    Substitute,
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    range: Range<usize>,
    file: FileId,
    module: Module,
    globals: Table<'a>,
    textures: Table<'a>,
    buffers: Table<'a>,
    resources: Table<'a>,
    closures: Table<'a>,
    messages: Table<'a>,
    names: Table<'a>,
    functions: Table<'a>,
    ops: HashMap<&'static str, Op>,
    pending: Vec<PendingFunction<'a>>,
    /// Scalars of inputs with defaults.
    defaults: u64,
}

impl<'a> Parser<'a> {
    /// The place of the current token in the IR text.
    fn here(&self) -> Span {
        Span::new(self.file, self.range.start as u32, self.range.end as u32)
    }

    fn advance(&mut self) -> Token<'a> {
        let (token, range) = self.lexer.next();
        self.range = range;
        std::mem::replace(&mut self.token, token)
    }

    fn fail<T>(&self, code: Code, message: impl Into<String>) -> Parsed<T> {
        Err(Box::new(Diagnostic::new(code, self.here(), message)))
    }

    fn expected<T>(&self, what: &str) -> Parsed<T> {
        let message = format!("expected {what}, found {}", self.token);
        self.fail(Code::IrSyntax, message)
    }

    /// Steps over the token if it is that one.
    fn accept(&mut self, token: Token<'static>) -> bool {
        let found = self.token == token;
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, token: Token<'static>) -> Parsed<()> {
        if self.token == token {
            self.advance();
            return Ok(());
        }
        self.expected(&token.to_string())
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = matches!(self.token, Token::Word(w) if w == word);
        if found {
            self.advance();
        }
        found
    }

    fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.accept_word(word) {
            return Ok(());
        }
        self.expected(&format!("`{word}`"))
    }

    fn word(&mut self, what: &str) -> Parsed<&'a str> {
        match self.token {
            Token::Word(word) => {
                self.advance();
                Ok(word)
            }
            _ => self.expected(what),
        }
    }

    fn id(&mut self, sigil: char, what: &str) -> Parsed<u32> {
        match self.token {
            Token::Id(found, id) if found == sigil => {
                self.advance();
                Ok(id)
            }
            _ => self.expected(what),
        }
    }

    fn number(&mut self) -> Parsed<u32> {
        if let Token::Number(digits) = self.token
            && let Ok(number) = digits.parse()
        {
            self.advance();
            return Ok(number);
        }
        self.expected("a number below 2³²")
    }

    fn name(&mut self) -> Parsed<Cow<'a, str>> {
        match &self.token {
            Token::Word(_) | Token::Quoted(_) => match self.advance() {
                Token::Quoted(name) => Ok(name),
                Token::Word(name) => Ok(Cow::Borrowed(name)),
                _ => unreachable!("the token was a name"),
            },
            _ => self.expected("a name"),
        }
    }

    fn symbol(&mut self) -> Parsed<Symbol<'a>> {
        let at = self.here();
        let name = match self.token {
            Token::Id('#', id) => {
                self.advance();
                Err(id)
            }
            _ => Ok(self.name()?),
        };
        Ok(Symbol { name, at })
    }

    /// `item`, zero or more times with commas between, up to the closing sign.
    fn list(&mut self, close: char, mut item: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        if self.accept(Token::Sign(close)) {
            return Ok(());
        }
        loop {
            item(self)?;
            if !self.accept(Token::Sign(',')) {
                return self.expect(Token::Sign(close));
            }
        }
    }

    /// `(float3, int)`
    fn params(&mut self) -> Parsed<Vec<Type>> {
        self.expect(Token::Sign('('))?;
        let mut params = Vec::new();
        self.list(')', |p| {
            params.push(p.ty()?);
            Ok(())
        })?;
        Ok(params)
    }

    fn module(&mut self) -> Parsed<()> {
        for word in ["adumbra", "ir"] {
            self.expect_word(word)?;
        }
        if !matches!(self.token, Token::Number("1")) {
            return self.expected("version `1`");
        }
        self.advance();
        let mut entry = None;
        loop {
            match self.token {
                Token::End => break,
                Token::Word("quad") => {
                    self.advance();
                    let at = self.here();
                    let word = self.word("a rule for quads")?;
                    let mut rules = QUADS.iter().filter(|(name, _)| *name == word);
                    let Some(&(_, quad)) = rules.next() else {
                        let message = format!("there is no rule `{word}` for quads");
                        let unknown = Diagnostic::new(Code::IrUnknownName, at, message);
                        return Err(Box::new(unknown));
                    };
                    self.module.quad = Some(quad);
                }
                Token::Word("global") => {
                    let name = self.declare(|p| (&mut p.globals, p.module.globals.len()))?;
                    let ty = self.typed()?;
                    self.module.globals.push(Global { name, ty });
                }
                Token::Word("texture") => {
                    let name = self.declare(|p| (&mut p.textures, p.module.textures.len()))?;
                    let metadata = self.metadata()?;
                    let span = self.span().unwrap_or_default();
                    self.module.textures.push(Texture {
                        name,
                        metadata,
                        span,
                    });
                }
                Token::Word(word @ ("buffer" | "sum")) => {
                    let is_sum = word == "sum";
                    let name = self.declare(|p| (&mut p.buffers, p.module.buffers.len()))?;
                    let sum_of = match is_sum {
                        true => {
                            self.expect_word("of")?;
                            Some(BufferId(self.symbol()?.find(&self.buffers, "buffer")?))
                        }
                        false => None,
                    };
                    let element = self.typed()?;
                    let metadata = self.metadata()?;
                    let span = self.span().unwrap_or_default();
                    self.module.buffers.push(Buffer {
                        name,
                        element,
                        sum_of,
                        metadata,
                        span,
                    });
                }
                Token::Word("resource") => {
                    let name = self.declare(|p| (&mut p.resources, p.module.resources.len()))?;
                    self.module.resources.push(name);
                }
                Token::Word("closure") => {
                    let name = self.declare(|p| (&mut p.closures, p.module.closures.len()))?;
                    let params = self.params()?;
                    self.module.closures.push(ClosureShape { name, params });
                }
                Token::Word("message") => {
                    let format = self.declare(|p| (&mut p.messages, p.module.messages.len()))?;
                    let params = self.params()?;
                    self.module.messages.push(Message { format, params });
                }
                Token::Word("record") => {
                    self.advance();
                    let fields = self.carried_list()?;
                    self.module.records.push(Record { fields });
                }
                Token::Word("input") => {
                    self.advance();
                    let name = self.name()?.into_owned();
                    let ty = self.typed()?;
                    let default = self.default_words(&ty)?;
                    let metadata = self.metadata()?;
                    self.module.inputs.push(Input {
                        name,
                        ty,
                        default,
                        metadata,
                    });
                }
                Token::Word("output") => {
                    self.advance();
                    let name = self.name()?.into_owned();
                    let ty = self.typed()?;
                    let metadata = self.metadata()?;
                    self.module.outputs.push(Output { name, ty, metadata });
                }
                Token::Word("names") => loop {
                    let name = self.declare(|p| (&mut p.names, p.module.names.len()))?;
                    self.module.names.push(name);
                    if self.token != Token::Sign(',') {
                        break;
                    }
                },
                Token::Word("hint") => {
                    self.advance();
                    let hint = self.hint()?;
                    self.module.hints.0.push(hint);
                }
                Token::Word("entry") if entry.is_none() => {
                    self.advance();
                    entry = Some(self.symbol()?);
                }
                Token::Word("fn") => {
                    let name = self.declare(|p| (&mut p.functions, p.module.functions.len()))?;
                    let function = self.function(name)?;
                    self.module.functions.push(function);
                }
                _ => return self.expected("a declaration or a function"),
            }
        }
        let Some(entry) = entry else {
            return self.expected("one `entry`");
        };
        self.module.entry = FuncId(entry.find(&self.functions, "function")?);
        for pending in std::mem::take(&mut self.pending) {
            let id = FuncId(pending.callee.find(&self.functions, "function")?);
            let function = &mut self.module.functions[pending.function];
            match pending.place {
                PendingUse::Inst { region, inst } => {
                    let inst = &mut function.regions[region.index()].insts[inst];
                    inst.kind.for_each_field_mut(|field| {
                        if let FieldMut::Function(callee) = field {
                            *callee = id;
                        }
                    });
                }
                PendingUse::Primal => {
                    if let Some(recipe) = &mut function.recipe {
                        recipe.of = id;
                    }
                }
                PendingUse::Forward => function.custom.forward = Some(id),
                PendingUse::Backward => function.custom.backward = Some(id),
                PendingUse::Substitute => function.custom.substitute = Some(id),
            }
        }
        Ok(())
    }

    /// `checkpoint @1..9 @1..2`.
    fn hint(&mut self) -> Parsed<DerivativeHint> {
        let at = self.here();
        let kind = match self.word("a hint")? {
            "checkpoint" => HintKind::Checkpoint,
            "recompute" => HintKind::Recompute,
            "max_iterations" => HintKind::MaxIterations(self.number()?),
            "unroll" => HintKind::Unroll,
            "unroll_blocks" => HintKind::UnrollBlocks(self.number()?),
            word => {
                let message = format!("there is no hint `{word}`");
                return Err(Box::new(Diagnostic::new(Code::IrUnknownName, at, message)));
            }
        };
        let about = self.span().unwrap_or_default();
        let span = self.span().unwrap_or_default();
        Ok(DerivativeHint { about, span, kind })
    }

    /// Steps over a keyword or comma, and enters the name that follows in a table with the number
    /// that comes next.
    fn declare(
        &mut self,
        table: impl FnOnce(&mut Self) -> (&mut Table<'a>, usize),
    ) -> Parsed<String> {
        self.advance();
        let name = self.name()?;
        let (table, next) = table(self);
        let owned = name.clone().into_owned();
        table.entry(name).or_insert(next as u32);
        Ok(owned)
    }

    /// `: type`.
    fn typed(&mut self) -> Parsed<Type> {
        self.expect(Token::Sign(':'))?;
        self.ty()
    }

    fn ty(&mut self) -> Parsed<Type> {
        Ok(self.nested_type(MAX_TYPE_DEPTH)?.0)
    }

    /// A type that nests at most that deep; with its depth and, roughly, its size.
    fn nested_type(&mut self, limit: usize) -> Parsed<(Type, usize, u64)> {
        if limit == 0 {
            return self.fail(Code::IrTooLarge, "a type nests too deep");
        }
        let simple = match self.token {
            Token::Word(word) => simple_type(word),
            _ => None,
        };
        let (mut ty, mut depth, mut size) = if let Some(ty) = simple {
            self.advance();
            let size = ty.scalar_count() as u64;
            (ty, 1, size)
        } else if self.accept_word("struct") {
            self.struct_type(limit)?
        } else {
            return self.expected("a type");
        };
        while self.accept(Token::Sign('[')) {
            let len = self.number()?;
            self.expect(Token::Sign(']'))?;
            ty = Type::Array(Arc::new(ty), len);
            depth += 1;
            size = size.saturating_mul(u64::from(len)).max(1);
            if depth > limit || size > MAX_TYPE_SCALARS {
                return self.fail(Code::IrTooLarge, "a type is too large or nests too deep");
            }
        }
        Ok((ty, depth, size))
    }

    /// After `struct`.
    fn struct_type(&mut self, limit: usize) -> Parsed<(Type, usize, u64)> {
        let name = self.name()?.into_owned();
        let mut members = Vec::new();
        let mut depth = 1;
        let mut size = 1;
        self.expect(Token::Sign('{'))?;
        self.list('}', |p| {
            let name = p.name()?.into_owned();
            p.expect(Token::Sign(':'))?;
            let (ty, inner, scalars) = p.nested_type(limit - 1)?;
            depth = depth.max(inner + 1);
            size += scalars;
            members.push((name, ty));
            if size > MAX_TYPE_SCALARS {
                return p.fail(Code::IrTooLarge, "a type has too many scalars");
            }
            Ok(())
        })?;
        Ok((
            Type::Struct(Arc::new(StructType { name, members })),
            depth,
            size,
        ))
    }

    /// `= 1.0, 2.0`: a word for each scalar, or nothing.
    fn default_words(&mut self, ty: &Type) -> Parsed<Vec<u32>> {
        let mut words = Vec::new();
        if self.accept(Token::Sign('=')) {
            self.defaults += ty.scalar_count() as u64;
            if self.defaults > MAX_TABLE_SCALARS {
                return self.fail(Code::IrTooLarge, "the inputs have too many scalars");
            }
            let mut types = Vec::new();
            ty.for_each_scalar(&mut |s| types.push(s));
            let mut types = types.into_iter();
            loop {
                let ty = types.next().unwrap_or(Scalar::Resource);
                words.push(self.literal(ty)?);
                if !self.accept(Token::Sign(',')) {
                    break;
                }
            }
        }
        Ok(words)
    }

    /// `meta(label: text = "count", min: int = 0)`, or nothing.
    fn metadata(&mut self) -> Parsed<Vec<Metadata>> {
        let mut metadata = Vec::new();
        if self.accept_word("meta") {
            self.expect(Token::Sign('('))?;
            self.list(')', |p| {
                let name = p.name()?.into_owned();
                p.expect(Token::Sign(':'))?;
                let value = p.metadata_value()?;
                metadata.push(Metadata { name, value });
                Ok(())
            })?;
        }
        Ok(metadata)
    }

    /// `text = "count"` or `int = 0`.
    fn metadata_value(&mut self) -> Parsed<MetadataValue> {
        if self.accept_word("text") {
            self.expect(Token::Sign('='))?;
            return Ok(MetadataValue::String(self.name()?.into_owned()));
        }
        let Type::Scalar(ty) = self.ty()? else {
            return self.expected("a value of a scalar type");
        };
        self.expect(Token::Sign('='))?;
        let bits = self.literal(ty)?;
        match MetadataValue::from_scalar(ty, bits) {
            Some(value) => Ok(value),
            None => self.fail(Code::IrSyntax, "no metadata has this value"),
        }
    }

    /// The bits of a constant.
    fn literal(&mut self, ty: Scalar) -> Parsed<u32> {
        let (Token::Number(text) | Token::Word(text)) = self.token else {
            return self.expected("a constant");
        };
        let hexadecimal = text.strip_prefix("0x");
        let bits = match ty {
            _ if hexadecimal.is_some() => {
                hexadecimal.and_then(|digits| u32::from_str_radix(digits, 16).ok())
            }
            Scalar::F32 if text == "nan" => Some(CANONICAL_NAN),
            Scalar::F32 => text.parse().ok().map(f32::to_bits),
            Scalar::I32 => text.parse().ok().map(i32::cast_unsigned),
            Scalar::U32 => text.parse().ok(),
            Scalar::Bool => text.parse().ok().map(|b: bool| u32::from(b)),
            Scalar::Closure => (text == "empty").then_some(0),
            Scalar::Resource => None,
        };
        let Some(bits) = bits else {
            return self.expected(&format!("a constant of type {ty}"));
        };
        self.advance();
        Ok(bits)
    }
}

/// The types whose name is one word.
fn simple_type(word: &str) -> Option<Type> {
    Some(match word {
        "float" => Type::FLOAT,
        "int" => Type::Scalar(Scalar::I32),
        "uint" => Type::Scalar(Scalar::U32),
        "bool" => Type::Scalar(Scalar::Bool),
        "closure" => Type::Scalar(Scalar::Closure),
        "shader_resource" => Type::Scalar(Scalar::Resource),
        "float2" => Type::Vector(2),
        "float3" => Type::Vector(3),
        "float4" => Type::Vector(4),
        "float2x2" => Type::Matrix(2),
        "float3x3" => Type::Matrix(3),
        "float4x4" => Type::Matrix(4),
        _ => return None,
    })
}
