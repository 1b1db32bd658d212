//! The parts of lines of IR text.

use crate::module::*;
use crate::quad::Quad;
use crate::text::QUADS;
use crate::types::{Lanes, Scalar, Type};
use std::collections::HashMap;
use std::fmt::{self, Display, Write};

/// The names of one table, and the first entry with each.
pub(super) struct Symbols<'a> {
    names: Vec<&'a str>,
    first: HashMap<&'a str, usize>,
}

impl<'a> Symbols<'a> {
    pub(super) fn new(names: impl IntoIterator<Item = &'a String>) -> Symbols<'a> {
        let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
        let mut first = HashMap::with_capacity(names.len());
        for (i, &name) in names.iter().enumerate() {
            first.entry(name).or_insert(i);
        }
        Symbols { names, first }
    }

    /// The name, or the number if an earlier entry has the same name.
    pub(super) fn get(&self, id: u32) -> Symbol<'a> {
        let name = self.names.get(id as usize);
        match name {
            Some(name) if self.first[name] == id as usize => Symbol::Name(name),
            _ => Symbol::Number(id),
        }
    }
}

pub(super) enum Symbol<'a> {
    Name(&'a str),
    Number(u32),
}

impl Display for Symbol<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Symbol::Name(name) => Name(name).fmt(f),
            Symbol::Number(id) => write!(f, "#{id}"),
        }
    }
}

/// A word, or a quoted string.
pub(super) struct Name<'a>(pub(super) &'a str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if crate::text::lex::is_word(self.0) {
            return f.write_str(self.0);
        }
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                _ if c.is_control() => write!(f, "\\u{{{:x}}}", u32::from(c))?,
                _ => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

/// A type in full: structs with their members.
pub(super) struct FullType<'a>(pub(super) &'a Type);

impl Display for FullType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Type::Array(element, n) => write!(f, "{}[{n}]", FullType(element)),
            Type::Struct(s) => {
                write!(f, "struct {} {{", Name(&s.name))?;
                for (i, (name, ty)) in s.members.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}{}: {}", Name(name), FullType(ty))?;
                }
                f.write_char('}')
            }
            simple => simple.fmt(f),
        }
    }
}

/// A constant's bits as its type has them; bits that the type does not have are printed as such.
pub(super) struct Literal(pub(super) Scalar, pub(super) u32);

impl Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Literal(ty, bits) = *self;
        match ty {
            Scalar::F32 if bits == crate::host::CANONICAL_NAN => f.write_str("nan"),
            Scalar::F32 if !f32::from_bits(bits).is_nan() => {
                write!(f, "{:?}", f32::from_bits(bits))
            }
            Scalar::I32 => write!(f, "{}", bits as i32),
            Scalar::U32 => write!(f, "{bits}"),
            Scalar::Bool if bits <= 1 => write!(f, "{}", bits == 1),
            Scalar::Closure if bits == 0 => f.write_str("empty"),
            _ => write!(f, "{bits:#x}"),
        }
    }
}

/// A type with its lanes.
pub(super) struct Carried(pub(super) Scalar, pub(super) Lanes);

impl Display for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)?;
        if !self.1.is_none() {
            write!(f, ":{}", self.1.name())?;
        }
        Ok(())
    }
}

/// Comma-separated.
pub(super) struct List<'a, T>(pub(super) &'a [T]);

impl Display for List<'_, ValueId> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, value) in self.0.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(f, "{comma}%{}", value.0)?;
        }
        Ok(())
    }
}

impl Display for List<'_, bool> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, &set) in self.0.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(f, "{comma}{}", u8::from(set))?;
        }
        Ok(())
    }
}

impl Display for List<'_, ArrayId> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, array) in self.0.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(f, "{comma}&{}", array.0)?;
        }
        Ok(())
    }
}

pub(super) const fn mode_name(mode: PassingMode) -> &'static str {
    match mode {
        PassingMode::In => "in",
        PassingMode::Out => "out",
        PassingMode::InOut => "inout",
        PassingMode::Return => "return",
    }
}

/// The word for a rule of quads.
pub(super) fn quad_name(quad: Quad) -> &'static str {
    let mut names = QUADS.iter().filter(|(_, of)| *of == quad);
    names.next().expect("all of them are listed").0
}
