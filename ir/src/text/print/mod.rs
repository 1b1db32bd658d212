//! Printer of IR text. It is total: a module that breaks invariants prints too, as far as possible,
//! so that violations can be inspected.

mod names;

use crate::derivative::{DerivativeHint, HintKind};
use crate::instruction::InstField;
use crate::metadata::Metadata;
use crate::module::*;
use crate::span::{FileId, Span};
use crate::types::{Scalar, Type};
use names::*;
use smallvec::SmallVec;
use std::fmt::{self, Write};

/// Indentation stops growing here, so that deep nesting doesn't make the text quadratic.
const MAX_INDENT: usize = 24;

/// Whether spans are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanComments {
    /// For exact copies.
    Shown,
    /// For people; reads back with empty spans.
    Hidden,
}

/// Prints a module.
pub fn print(module: &Module, spans: SpanComments) -> String {
    let mut printer = Printer {
        out: String::from("adumbra ir 1\n"),
        module,
        spans,
        globals: Symbols::new(module.globals.iter().map(|g| &g.name)),
        textures: Symbols::new(module.textures.iter().map(|t| &t.name)),
        buffers: Symbols::new(module.buffers.iter().map(|b| &b.name)),
        resources: Symbols::new(&module.resources),
        closures: Symbols::new(module.closures.iter().map(|c| &c.name)),
        messages: Symbols::new(module.messages.iter().map(|m| &m.format)),
        names: Symbols::new(&module.names),
        functions: Symbols::new(module.functions.iter().map(|f| &f.name)),
    };
    printer.module().expect("writing to a string succeeds");
    printer.out
}

struct Printer<'a> {
    out: String,
    module: &'a Module,
    spans: SpanComments,
    globals: Symbols<'a>,
    textures: Symbols<'a>,
    buffers: Symbols<'a>,
    resources: Symbols<'a>,
    closures: Symbols<'a>,
    messages: Symbols<'a>,
    names: Symbols<'a>,
    functions: Symbols<'a>,
}

/// A region being printed: its id, the current instruction, and the number of that instruction's
/// printed regions.
struct Open {
    region: RegionId,
    at: usize,
    arms: usize,
}

impl<'a> Printer<'a> {
    fn module(&mut self) -> fmt::Result {
        let module = self.module;
        if let Some(quad) = module.quad {
            writeln!(self.out, "quad {}", quad_name(quad))?;
        }
        for global in &module.globals {
            let Global { name, ty } = global;
            writeln!(self.out, "global {}: {}", Name(name), FullType(ty))?;
        }
        for texture in &module.textures {
            let Texture {
                name,
                metadata,
                span,
            } = texture;
            write!(self.out, "texture {}", Name(name))?;
            self.metadata(metadata)?;
            self.span(*span, Span::default())?;
            self.out.push('\n');
        }
        for buffer in &module.buffers {
            let Buffer {
                name,
                element,
                sum_of,
                metadata,
                span,
            } = buffer;
            match sum_of {
                None => write!(self.out, "buffer {}", Name(name))?,
                Some(of) => {
                    write!(self.out, "sum {} of {}", Name(name), self.buffers.get(of.0))?;
                }
            }
            write!(self.out, ": {}", FullType(element))?;
            self.metadata(metadata)?;
            self.span(*span, Span::default())?;
            self.out.push('\n');
        }
        for name in &module.resources {
            writeln!(self.out, "resource {}", Name(name))?;
        }
        for shape in &module.closures {
            write!(self.out, "closure {}", Name(&shape.name))?;
            self.params(&shape.params)?;
        }
        for message in &module.messages {
            write!(self.out, "message {}", Name(&message.format))?;
            self.params(&message.params)?;
        }
        for record in &module.records {
            self.out.push_str("record (");
            for (i, field) in record.fields.iter().enumerate() {
                let comma = if i > 0 { ", " } else { "" };
                write!(self.out, "{comma}{}", Carried(field.ty, field.lanes))?;
            }
            self.out.push_str(")\n");
        }
        for input in &module.inputs {
            let Input {
                name,
                ty,
                default,
                metadata,
            } = input;
            write!(self.out, "input {}: {}", Name(name), FullType(ty))?;
            let mut types = Vec::new();
            ty.for_each_scalar(&mut |s| types.push(s));
            for (i, &word) in default.iter().enumerate() {
                let ty = types.get(i).copied().unwrap_or(Scalar::Resource);
                let sign = if i > 0 { "," } else { " =" };
                write!(self.out, "{sign} {}", Literal(ty, word))?;
            }
            self.metadata(metadata)?;
            self.out.push('\n');
        }
        for output in &module.outputs {
            let Output { name, ty, metadata } = output;
            write!(self.out, "output {}: {}", Name(name), FullType(ty))?;
            self.metadata(metadata)?;
            self.out.push('\n');
        }
        for (i, name) in module.names.iter().enumerate() {
            let lead = if i > 0 { "," } else { "names" };
            write!(self.out, "{lead} {}", Name(name))?;
        }
        if !module.names.is_empty() {
            self.out.push('\n');
        }
        for hint in &module.hints.0 {
            self.hint(hint)?;
        }
        writeln!(self.out, "entry {}", self.functions.get(module.entry.0))?;
        module.functions.iter().try_for_each(|f| self.function(f))
    }

    /// `(float3, int)`, the end of a line.
    fn params(&mut self, params: &[Type]) -> fmt::Result {
        self.out.push('(');
        for (i, ty) in params.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(self.out, "{comma}{}", FullType(ty))?;
        }
        self.out.push_str(")\n");
        Ok(())
    }

    /// ` meta(label: text = "count", min: int = 0)`, or nothing.
    fn metadata(&mut self, metadata: &[Metadata]) -> fmt::Result {
        for (i, Metadata { name, value }) in metadata.iter().enumerate() {
            let lead = if i > 0 { ", " } else { " meta(" };
            write!(self.out, "{lead}{}: ", Name(name))?;
            match value.scalar() {
                Ok((ty, bits)) => write!(self.out, "{} = {}", Type::Scalar(ty), Literal(ty, bits))?,
                Err(text) => write!(self.out, "text = {}", Name(text))?,
            }
        }
        let end = if metadata.is_empty() { "" } else { ")" };
        self.out.write_str(end)
    }

    /// A hint, which means nothing without its span.
    fn hint(&mut self, hint: &DerivativeHint) -> fmt::Result {
        if self.spans == SpanComments::Hidden {
            return Ok(());
        }
        match hint.kind {
            HintKind::Checkpoint => write!(self.out, "hint checkpoint")?,
            HintKind::Recompute => write!(self.out, "hint recompute")?,
            HintKind::MaxIterations(count) => write!(self.out, "hint max_iterations {count}")?,
            HintKind::Unroll => write!(self.out, "hint unroll")?,
            HintKind::UnrollBlocks(count) => write!(self.out, "hint unroll_blocks {count}")?,
        }
        self.explicit_span(hint.about)?;
        self.explicit_span(hint.span)?;
        self.out.write_char('\n')
    }

    fn span(&mut self, span: Span, implied: Span) -> fmt::Result {
        match self.spans == SpanComments::Hidden || span == implied {
            true => Ok(()),
            false => self.explicit_span(span),
        }
    }

    fn explicit_span(&mut self, span: Span) -> fmt::Result {
        self.out.push_str(" @");
        if span.file != FileId::MAIN {
            write!(self.out, "{}:", span.file.0)?;
        }
        write!(self.out, "{}..{}", span.start, span.end)
    }

    fn name(&mut self, name: Option<NameId>) -> fmt::Result {
        match name {
            Some(id) => write!(self.out, " ${}", self.names.get(id.0)),
            None => Ok(()),
        }
    }

    /// A definition: `%3: f32:x $name @1..2`.
    fn value(&mut self, function: &Function, id: ValueId, implied: Span) -> fmt::Result {
        write!(self.out, "%{}: ", id.0)?;
        let Some(value) = function.values.get(id.index()) else {
            return self.out.write_char('?');
        };
        write!(self.out, "{}", Carried(value.ty, value.lanes))?;
        self.name(value.name)?;
        self.span(value.span, implied)
    }

    fn function(&mut self, f: &Function) -> fmt::Result {
        write!(self.out, "\nfn {}", Name(&f.name))?;
        if f.variant > 0 {
            write!(self.out, " variant {}", f.variant)?;
        }
        if f.library {
            self.out.push_str(" library");
        }
        self.out.push_str(match f.decides {
            Decides::Own => "",
            Decides::Nothing => " undecided",
            Decides::Surface => " surface",
        });
        self.out.push('(');
        let params = f.regions.get(f.body.index());
        let params = params.map_or(&[][..], |body| &body.params);
        for (i, &param) in params.iter().enumerate() {
            self.out.push_str(if i > 0 { ", " } else { "" });
            self.value(f, param, Span::default())?;
        }
        self.out.push_str(") -> (");
        for (i, result) in f.results.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(self.out, "{comma}{}", Carried(result.ty, result.lanes))?;
        }
        self.out.push(')');
        self.span(f.span, Span::default())?;
        writeln!(self.out, " ^{} {{", f.body.0)?;
        for member in &f.members {
            let SourceParam { name, ty, mode, .. } = member;
            let mode = mode_name(*mode);
            write!(self.out, "  member {}: {} {mode}", Name(name), FullType(ty))?;
            for (what, (start, count)) in [
                ("params", member.params),
                ("results", member.results),
                ("arrays", member.arrays),
            ] {
                if (start, count) != (0, 0) {
                    write!(self.out, " {what}[{start}, {count}]")?;
                }
            }
            self.out.push('\n');
        }
        for (i, array) in f.arrays.iter().enumerate() {
            write!(self.out, "  array &{i}")?;
            if let Some(mode) = array.mode {
                write!(self.out, " {}", mode_name(mode))?;
            }
            let element = Carried(array.element, array.lanes);
            write!(self.out, ": {element}[{}]", array.len)?;
            self.name(array.name)?;
            self.span(array.span, Span::default())?;
            self.out.push('\n');
        }
        self.derivatives(f)?;
        self.unused(f)?;
        self.region_tree(f)
    }

    /// The recipe and the custom derivatives.
    fn derivatives(&mut self, f: &Function) -> fmt::Result {
        if let Some(recipe) = &f.recipe {
            let mode = match recipe.mode {
                DifferentiationMode::Forward => "forward",
                DifferentiationMode::Backward => "backward",
            };
            let results = match recipe.with_results {
                true => " with_results",
                false => "",
            };
            write!(self.out, "  derive {mode}{results}")?;
            if let Some(direction) = recipe.screen {
                write!(self.out, " {}", direction.derivative_name())?;
            }
            write!(self.out, " {}", self.functions.get(recipe.of.0))?;
            self.activity(&recipe.activity)?;
        }
        for (what, function) in [
            ("forward", f.custom.forward),
            ("backward", f.custom.backward),
            ("substitute", f.custom.substitute),
        ] {
            if let Some(function) = function {
                let name = self.functions.get(function.0);
                writeln!(self.out, "  custom {what} {name}")?;
            }
        }
        if f.custom.is_zero {
            self.out.push_str("  custom zero\n");
        }
        if f.custom.activity != Activity::default() {
            self.out.push_str("  custom");
            self.activity(&f.custom.activity)?;
        }
        if !f.custom.lost.is_empty() {
            writeln!(self.out, "  custom lost[{}]", List(&f.custom.lost))?;
        }
        Ok(())
    }

    fn activity(&mut self, activity: &Activity) -> fmt::Result {
        for (what, active) in [
            ("params", &activity.params),
            ("results", &activity.results),
            ("arrays", &activity.arrays),
        ] {
            write!(self.out, " {what}[{}]", List(active))?;
        }
        self.out.push('\n');
        Ok(())
    }

    /// Values that nothing defines and regions that nothing contains keep their numbers.
    fn unused(&mut self, f: &Function) -> fmt::Result {
        let mut values = vec![true; f.values.len()];
        let mut regions = vec![true; f.regions.len()];
        if let Some(body) = regions.get_mut(f.body.index()) {
            *body = false;
        }
        for region in &f.regions {
            let results = region.insts.iter().flat_map(|inst| {
                let first = inst.results.first.index();
                let end = first.saturating_add(inst.results.count as usize);
                first..end.min(f.values.len())
            });
            for value in region.params.iter().map(|p| p.index()).chain(results) {
                if let Some(unused) = values.get_mut(value) {
                    *unused = false;
                }
            }
            for inner in region.insts.iter().flat_map(|inst| inst.kind.regions()) {
                if let Some(unused) = regions.get_mut(inner.index()) {
                    *unused = false;
                }
            }
        }
        for id in (0..f.values.len()).filter(|&id| values[id]) {
            self.out.push_str("  unused ");
            self.value(f, ValueId(id as u32), Span::default())?;
            self.out.push('\n');
        }
        for id in (0..f.regions.len()).filter(|&id| regions[id]) {
            writeln!(self.out, "  unused ^{id}")?;
        }
        Ok(())
    }

    /// The body's instructions and everything inside, to the closing brace. A region that is met
    /// again is not printed again.
    fn region_tree(&mut self, f: &Function) -> fmt::Result {
        let mut printed = vec![false; f.regions.len()];
        let mut stack = vec![Open {
            region: f.body,
            at: 0,
            arms: 0,
        }];
        loop {
            let depth = stack.len();
            let Some(open) = stack.last_mut() else {
                self.out.push_str("}\n");
                return Ok(());
            };
            let region = f.regions.get(open.region.index());
            let Some(inst) = region.and_then(|r| r.insts.get(open.at)) else {
                stack.pop();
                continue;
            };
            if open.arms == 0 {
                self.indent(depth);
                self.head(f, inst)?;
            }
            let Some(inner) = inst.kind.regions().nth(open.arms) else {
                if open.arms > 0 {
                    self.indent(depth);
                    self.out.push('}');
                }
                open.at += 1;
                open.arms = 0;
                self.span(inst.span, Span::default())?;
                self.out.push('\n');
                continue;
            };
            open.arms += 1;
            if open.arms > 1 {
                self.indent(depth);
                self.out.push_str("} else");
            }
            write!(self.out, " ^{}", inner.0)?;
            if matches!(inst.kind, InstKind::Loop(_)) {
                self.carried(f, inner, &inst.args)?;
            }
            self.out.push_str(" {\n");
            if let Some(printed) = printed.get_mut(inner.index())
                && !std::mem::replace(printed, true)
            {
                stack.push(Open {
                    region: inner,
                    at: 0,
                    arms: 0,
                });
            }
        }
    }

    fn indent(&mut self, depth: usize) {
        for _ in 0..depth.min(MAX_INDENT) {
            self.out.push_str("  ");
        }
    }

    /// A loop's loop-carried values: its parameters and their initial values.
    fn carried(&mut self, f: &Function, region: RegionId, initial: &[ValueId]) -> fmt::Result {
        let region = f.regions.get(region.index());
        let params = region.map_or(&[][..], |r| &r.params);
        if params.is_empty() && initial.is_empty() {
            return Ok(());
        }
        self.out.push_str(" (");
        for i in 0..params.len().max(initial.len()) {
            self.out.push_str(if i > 0 { ", " } else { "" });
            match params.get(i) {
                Some(&param) => self.value(f, param, Span::default())?,
                None => self.out.push('?'),
            }
            match initial.get(i) {
                Some(value) => write!(self.out, " = %{}", value.0)?,
                None => self.out.push_str(" = ?"),
            }
        }
        self.out.push(')');
        Ok(())
    }

    /// An instruction up to its regions or its span.
    fn head(&mut self, f: &Function, inst: &Inst) -> fmt::Result {
        let Results { first, count } = inst.results;
        // A count that cannot be true is not worth printing.
        for i in 0..count.min(f.values.len() as u32) {
            self.out.push_str(if i > 0 { ", " } else { "" });
            self.value(f, ValueId(first.0.saturating_add(i)), inst.span)?;
        }
        if count > 0 {
            self.out.push_str(" = ");
        }
        let description = inst.kind.description();
        self.out.push_str(description.word);
        let mut fields = SmallVec::<[InstField<'_>; 2]>::new();
        inst.kind.for_each_field(|field| match field {
            InstField::Region(_) => {}
            field => fields.push(field),
        });
        let mut fields = fields.into_iter();
        let mut args = &inst.args[..];
        let mut form = description.form.chars();
        while let Some(part) = form.next() {
            match part {
                '_' => {
                    let field = fields
                        .next()
                        .expect("a form names as many fields as there are");
                    self.field(f, inst, field)?;
                }
                '1' => {
                    let (first, rest) = args.split_at(args.len().min(1));
                    write!(self.out, "{}", List(first))?;
                    args = rest;
                }
                '*' => write!(self.out, "{}", List(args))?,
                '{' if args.is_empty() => {
                    form.by_ref().take_while(|&part| part != '}').for_each(drop);
                }
                '{' | '}' => {}
                sign => self.out.push(sign),
            }
        }
        Ok(())
    }

    /// A field of an instruction.
    fn field(&mut self, f: &Function, inst: &Inst, field: InstField<'_>) -> fmt::Result {
        let out = &mut self.out;
        match field {
            InstField::Op(op) => write!(out, "{}", op.info().name),
            InstField::Bits(&bits) => {
                let value = f.values.get(inst.results.first.index());
                let ty = value.map_or(Scalar::Resource, |v| v.ty);
                write!(out, "{}", Literal(ty, bits))
            }
            InstField::Number(number) | InstField::Tape(TapeId(number)) => write!(out, "{number}"),
            InstField::Region(region) | InstField::Target(region) => write!(out, "^{}", region.0),
            InstField::Read(array) | InstField::Written(array) => write!(out, "&{}", array.0),
            InstField::Passed(arrays) => match &arrays[..] {
                [] => Ok(()),
                arrays => write!(out, " [{}]", List(arrays)),
            },
            InstField::Function(id) => write!(out, "{}", self.functions.get(id.0)),
            InstField::Global(id) => write!(out, "{}", self.globals.get(id.0)),
            InstField::Texture(id) => write!(out, "{}", self.textures.get(id.0)),
            InstField::Buffer(id) | InstField::Sum(id) => {
                write!(out, "{}", self.buffers.get(id.0))
            }
            InstField::Resource(id) => write!(out, "{}", self.resources.get(id.0)),
            InstField::Closure(id) => write!(out, "{}", self.closures.get(id.0)),
            InstField::Message(id) => write!(out, "{}", self.messages.get(id.0)),
            InstField::Record(record) => write!(out, "#{}", record.0),
        }
    }
}
