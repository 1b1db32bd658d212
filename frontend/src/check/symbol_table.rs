//! What the words of a text mean at the place that is being checked.
//!
//! One row per symbol, so that looking up is indexing. Variables have scopes: declaring logs what the word meant before, leaving a
//! scope undoes the log. Functions, types and globals have spaces of their own beside the variables.

use super::typed_tree::{FunctionId, LocalId};
use super::types::TypeId;
use crate::interner::Symbol;

/// What a word means where a value is expected.
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
    /// A resource of the host, by its number.
    Resource(u32),
}

/// What a word means as a type, besides keywords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TypeBinding {
    /// Nothing is declared; it may be predeclared.
    Unknown,
    /// A struct of the user, by its number among the declared ones.
    Struct(u32),
    /// A name whose declaration could not be read.
    Broken,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    value: ValueBinding,
    /// How many scopes there were when `value` was declared.
    depth: u32,
    named: TypeBinding,
    functions: Option<FunctionId>,
    library: Option<FunctionId>,
    global: Option<u32>,
    texture: Option<u32>,
}

const EMPTY: Row = Row {
    value: ValueBinding::Unknown,
    depth: 0,
    named: TypeBinding::Unknown,
    functions: None,
    library: None,
    global: None,
    texture: None,
};

/// The meanings of all words.
#[derive(Debug)]
pub(super) struct SymbolTable {
    rows: Vec<Row>,
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
            rows: Vec::new(),
            undo: Vec::new(),
            depth: 0,
        }
    }

    /// Makes room for symbols below `len`.
    pub(super) fn grow(&mut self, len: usize) {
        if self.rows.len() < len {
            self.rows.resize(len, EMPTY);
        }
    }

    fn row(&self, symbol: Symbol) -> &Row {
        self.rows.get(symbol.0 as usize).unwrap_or(&EMPTY)
    }

    fn row_mut(&mut self, symbol: Symbol) -> &mut Row {
        self.grow(symbol.0 as usize + 1);
        &mut self.rows[symbol.0 as usize]
    }

    pub(super) fn value(&self, symbol: Symbol) -> ValueBinding {
        self.row(symbol).value
    }

    /// What the word means as a variable if it was declared in the innermost scope.
    pub(super) fn innermost_value(&self, symbol: Symbol) -> Option<ValueBinding> {
        let row = self.row(symbol);
        (row.value != ValueBinding::Unknown && row.depth == self.depth).then_some(row.value)
    }

    pub(super) fn declare(&mut self, symbol: Symbol, value: ValueBinding) {
        let depth = self.depth;
        let row = self.row_mut(symbol);
        let before = (symbol, row.value, row.depth);
        row.value = value;
        row.depth = depth;
        self.undo.push(before);
    }

    pub(super) fn enter(&mut self) -> ScopeMark {
        self.depth += 1;
        ScopeMark(self.undo.len())
    }

    pub(super) fn leave(&mut self, scope: ScopeMark) {
        self.depth -= 1;
        for (symbol, value, depth) in self.undo.drain(scope.0..).rev() {
            let row = &mut self.rows[symbol.0 as usize];
            row.value = value;
            row.depth = depth;
        }
    }

    pub(super) fn type_binding(&self, symbol: Symbol) -> TypeBinding {
        self.row(symbol).named
    }

    pub(super) fn set_type_binding(&mut self, symbol: Symbol, named: TypeBinding) {
        self.row_mut(symbol).named = named;
    }

    pub(super) fn global(&self, symbol: Symbol) -> Option<u32> {
        self.row(symbol).global
    }

    pub(super) fn set_global(&mut self, symbol: Symbol, global: u32) {
        self.row_mut(symbol).global = Some(global);
    }

    pub(super) fn texture(&self, symbol: Symbol) -> Option<u32> {
        self.row(symbol).texture
    }

    pub(super) fn set_texture(&mut self, symbol: Symbol, texture: u32) {
        self.row_mut(symbol).texture = Some(texture);
    }

    /// The newest function of that name, in the library or of the user.
    pub(super) fn newest_function(&self, symbol: Symbol, library: bool) -> Option<FunctionId> {
        match library {
            true => self.row(symbol).library,
            false => self.row(symbol).functions,
        }
    }

    pub(super) fn set_newest_function(
        &mut self,
        symbol: Symbol,
        library: bool,
        newest: FunctionId,
    ) {
        let row = self.row_mut(symbol);
        match library {
            true => row.library = Some(newest),
            false => row.functions = Some(newest),
        }
    }

    /// Whether the word means anything, or had a declaration that could not be read.
    pub(super) fn is_declared(&self, symbol: Symbol) -> bool {
        let row = self.row(symbol);
        row.value != ValueBinding::Unknown
            || row.named != TypeBinding::Unknown
            || row.functions.is_some()
            || row.global.is_some()
    }

    /// Every word that means a value, a function or a type now.
    pub(super) fn visible(&self) -> impl Iterator<Item = Symbol> {
        let known = |row: &Row| row.value != ValueBinding::Unknown || row.functions.is_some();
        let rows = self.rows.iter().enumerate();
        rows.filter(move |(_, row)| known(row))
            .map(|(index, _)| Symbol(index as u32))
    }

    /// Every word that is a declared type.
    pub(super) fn types(&self) -> impl Iterator<Item = Symbol> {
        let rows = self.rows.iter().enumerate();
        rows.filter(|(_, row)| row.named != TypeBinding::Unknown)
            .map(|(index, _)| Symbol(index as u32))
    }
}

/// The globals that the hit of a renderer commonly has, each a float3.
pub const HIT_GLOBALS: [&str; 6] = ["uvw", "position", "normal", "gnormal", "I", "tangent"];

/// The globals that a picture of the command has.
pub(super) const IMAGE_GLOBALS: [&str; 4] = ["uv", "pixel", "resolution", "time"];

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

/// What a predeclared name stands for.
pub(super) fn predeclared_type(name: &str) -> Option<TypeId> {
    let found = PREDECLARED.iter().find(|(known, _)| *known == name)?;
    Some(found.1)
}

/// The names of types that need no declaration: `vec3`, `color`.
pub fn predeclared_type_names() -> impl Iterator<Item = &'static str> {
    PREDECLARED.iter().map(|(name, _)| *name)
}
