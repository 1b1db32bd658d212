//! Symbol table: the meaning of each name at the place that is being checked.
//!
//! There is one entry per symbol, so a lookup is an index. Variables have scopes: a declaration
//! logs the name's earlier meaning, and leaving a scope undoes the log. Functions, types and
//! globals have namespaces of their own beside the variables.

use super::typed_tree::{FunctionId, LocalId};
use super::types::TypeId;
use crate::interner::Symbol;

/// The meaning of a name where a value is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueBinding {
    /// Nothing.
    Unknown,
    /// A variable of the function.
    Local(LocalId),
    /// A constant of the file, by its number.
    Constant(u32),
    /// A texture, by its number.
    Texture(u32),
    /// A buffer, by its number.
    Buffer(u32),
    /// A resource of the host, by its number.
    Resource(u32),
}

/// The meaning of a name as a type, besides keywords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TypeBinding {
    /// Nothing is declared; it may be predeclared.
    Unknown,
    /// A struct of the user, by its number among the declared ones.
    Struct(u32),
    /// A name that `typedef` declares, by its number among those.
    Alias(u32),
    /// A name whose declaration could not be parsed.
    Broken,
}

#[derive(Clone, Copy, Debug)]
struct SymbolEntry {
    value: ValueBinding,
    /// How many scopes there were when `value` was declared.
    depth: u32,
    named: TypeBinding,
    functions: Option<FunctionId>,
    library: Option<FunctionId>,
    global: Option<u32>,
    texture: Option<u32>,
}

const EMPTY: SymbolEntry = SymbolEntry {
    value: ValueBinding::Unknown,
    depth: 0,
    named: TypeBinding::Unknown,
    functions: None,
    library: None,
    global: None,
    texture: None,
};

/// The meanings of all names.
#[derive(Debug)]
pub(super) struct SymbolTable {
    entries: Vec<SymbolEntry>,
    undo: Vec<(Symbol, ValueBinding, u32)>,
    depth: u32,
}

/// A scope that was entered.
#[derive(Debug)]
#[must_use]
pub(super) struct ScopeMark(usize);

impl SymbolTable {
    pub(super) fn new() -> SymbolTable {
        SymbolTable {
            entries: Vec::new(),
            undo: Vec::new(),
            depth: 0,
        }
    }

    /// Adds entries for symbols below `len`.
    pub(super) fn grow(&mut self, len: usize) {
        if self.entries.len() < len {
            self.entries.resize(len, EMPTY);
        }
    }

    fn entry(&self, symbol: Symbol) -> &SymbolEntry {
        self.entries.get(symbol.0 as usize).unwrap_or(&EMPTY)
    }

    fn entry_mut(&mut self, symbol: Symbol) -> &mut SymbolEntry {
        self.grow(symbol.0 as usize + 1);
        &mut self.entries[symbol.0 as usize]
    }

    pub(super) fn value(&self, symbol: Symbol) -> ValueBinding {
        self.entry(symbol).value
    }

    /// Whether the name means a value.
    pub(super) fn is_value(&self, symbol: Symbol) -> bool {
        self.value(symbol) != ValueBinding::Unknown
    }

    /// The variable that the name means if it was declared in the innermost scope.
    pub(super) fn innermost_value(&self, symbol: Symbol) -> Option<ValueBinding> {
        let entry = self.entry(symbol);
        (entry.value != ValueBinding::Unknown && entry.depth == self.depth).then_some(entry.value)
    }

    pub(super) fn declare(&mut self, symbol: Symbol, value: ValueBinding) {
        let depth = self.depth;
        let entry = self.entry_mut(symbol);
        let before = (symbol, entry.value, entry.depth);
        entry.value = value;
        entry.depth = depth;
        self.undo.push(before);
    }

    pub(super) fn enter(&mut self) -> ScopeMark {
        self.depth += 1;
        ScopeMark(self.undo.len())
    }

    pub(super) fn leave(&mut self, scope: ScopeMark) {
        self.depth -= 1;
        for (symbol, value, depth) in self.undo.drain(scope.0..).rev() {
            let entry = &mut self.entries[symbol.0 as usize];
            entry.value = value;
            entry.depth = depth;
        }
    }

    pub(super) fn type_binding(&self, symbol: Symbol) -> TypeBinding {
        self.entry(symbol).named
    }

    pub(super) fn set_type_binding(&mut self, symbol: Symbol, named: TypeBinding) {
        self.entry_mut(symbol).named = named;
    }

    pub(super) fn global(&self, symbol: Symbol) -> Option<u32> {
        self.entry(symbol).global
    }

    pub(super) fn set_global(&mut self, symbol: Symbol, global: u32) {
        self.entry_mut(symbol).global = Some(global);
    }

    pub(super) fn texture(&self, symbol: Symbol) -> Option<u32> {
        self.entry(symbol).texture
    }

    pub(super) fn set_texture(&mut self, symbol: Symbol, texture: u32) {
        self.entry_mut(symbol).texture = Some(texture);
    }

    /// The newest function of that name, in the library or of the user.
    pub(super) fn newest_function(&self, symbol: Symbol, library: bool) -> Option<FunctionId> {
        match library {
            true => self.entry(symbol).library,
            false => self.entry(symbol).functions,
        }
    }

    pub(super) fn set_newest_function(
        &mut self,
        symbol: Symbol,
        library: bool,
        newest: FunctionId,
    ) {
        let entry = self.entry_mut(symbol);
        match library {
            true => entry.library = Some(newest),
            false => entry.functions = Some(newest),
        }
    }

    /// Whether the name means anything, or had a declaration that could not be parsed.
    pub(super) fn is_declared(&self, symbol: Symbol) -> bool {
        let entry = self.entry(symbol);
        entry.value != ValueBinding::Unknown
            || entry.named != TypeBinding::Unknown
            || entry.functions.is_some()
            || entry.global.is_some()
    }

    /// Every name that means a value, a function or a type now.
    pub(super) fn visible(&self) -> impl Iterator<Item = Symbol> {
        let known =
            |entry: &SymbolEntry| entry.value != ValueBinding::Unknown || entry.functions.is_some();
        let entries = self.entries.iter().enumerate();
        entries
            .filter(move |(_, entry)| known(entry))
            .map(|(index, _)| Symbol(index as u32))
    }

    /// Every name that is a declared type.
    pub(super) fn types(&self) -> impl Iterator<Item = Symbol> {
        let entries = self.entries.iter().enumerate();
        entries
            .filter(|(_, entry)| entry.named != TypeBinding::Unknown)
            .map(|(index, _)| Symbol(index as u32))
    }
}

/// The globals that the hit of a renderer commonly has, each a float3.
pub const HIT_GLOBALS: [&str; 6] = ["uvw", "position", "normal", "gnormal", "I", "tangent"];

/// The globals that an image of the command has.
pub(super) const IMAGE_GLOBALS: [&str; 4] = ["uv", "pixel", "resolution", "time"];

/// The predeclared name of the struct that a ray march gives.
pub(super) const HIT: &str = "hit";

/// The predeclared names of float vectors; a declaration of the user hides them.
const PREDECLARED: [(&str, TypeId); 7] = [
    ("color", TypeId::FLOAT3),
    ("normal", TypeId::FLOAT3),
    ("point", TypeId::FLOAT3),
    ("vec2", TypeId::FLOAT2),
    ("vec3", TypeId::FLOAT3),
    ("vec4", TypeId::FLOAT4),
    ("vector", TypeId::FLOAT3),
];

/// The type that a predeclared name means.
pub(super) fn predeclared_type(name: &str) -> Option<TypeId> {
    let found = PREDECLARED.iter().find(|(known, _)| *known == name)?;
    Some(found.1)
}

/// The names of types that need no declaration: `vec3`, `color`.
pub fn predeclared_type_names() -> impl Iterator<Item = &'static str> {
    PREDECLARED.iter().map(|(name, _)| *name)
}
