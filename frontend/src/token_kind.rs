//! Token kinds: the marks and keywords of the language, and sets of them.
//!
//! A kind is one byte, and a set of kinds two words, so that a test for an expected token is one
//! instruction.

use std::fmt;

macro_rules! kinds {
    (
        classes { $($class:ident $class_text:literal)* }
        marks { $($mark:ident $mark_text:literal)* }
        keywords { $($keyword:ident $keyword_text:literal)* }
    ) => {
        /// The kind of a token.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum TokenKind {
            $(#[doc = $class_text] $class,)*
            $(#[doc = concat!("`", $mark_text, "`")] $mark,)*
            $(#[doc = concat!("`", $keyword_text, "`")] $keyword,)*
        }

        impl TokenKind {
            /// Every kind, in order.
            pub const ALL: &[TokenKind] = &[$(TokenKind::$class,)* $(TokenKind::$mark,)* $(TokenKind::$keyword,)*];

            /// The keywords; the symbol of each is its index here.
            pub const KEYWORDS: &[TokenKind] = &[$(TokenKind::$keyword,)*];

            /// Its spelling; for names and literals, a description.
            pub const fn text(self) -> &'static str {
                match self {
                    $(TokenKind::$class => $class_text,)*
                    $(TokenKind::$mark => $mark_text,)*
                    $(TokenKind::$keyword => $keyword_text,)*
                }
            }
        }
    };
}

kinds! {
    classes {
        Name "a name"
        FloatLiteral "a number"
        IntLiteral "a whole number"
        UintLiteral "an unsigned number"
        StringLiteral "a string"
    }
    marks {
        LParen "(" RParen ")" LBracket "[" RBracket "]" LBrace "{" RBrace "}"
        Semicolon ";" Comma "," Dot "." Question "?" Colon ":"
        Plus "+" Minus "-" Star "*" Slash "/" Percent "%"
        Less "<" LessEqual "<=" Greater ">" GreaterEqual ">=" EqualEqual "==" NotEqual "!="
        ShiftLeft "<<" ShiftRight ">>" MetaOpen "<<<" MetaClose ">>>"
        Amp "&" Pipe "|" Caret "^" Tilde "~" AmpAmp "&&" PipePipe "||" Not "!"
        PlusPlus "++" MinusMinus "--"
        Assign "=" PlusAssign "+=" MinusAssign "-=" StarAssign "*=" SlashAssign "/=" PercentAssign "%="
        AmpAssign "&=" PipeAssign "|=" CaretAssign "^=" ShiftLeftAssign "<<=" ShiftRightAssign ">>="
    }
    keywords {
        Void "void" Bool "bool" Int "int" Uint "uint"
        Float "float" Float2 "float2" Float3 "float3" Float4 "float4"
        Float2x2 "float2x2" Float3x3 "float3x3" Float4x4 "float4x4"
        Closure "closure" Texture2d "texture2d" ShaderResource "shader_resource"
        Struct "struct" Shader "shader"
        Const "const" In "in" Out "out" InOut "inout" NoDiff "no_diff"
        If "if" Else "else" For "for" While "while" Do "do"
        Switch "switch" Case "case" Default "default"
        Break "break" Continue "continue" Return "return"
        True "true" False "false"
        GlobalValue "global_value" MakeClosure "make_closure"
        Sample "texture2d_sample" SampleGrad "texture2d_sample_grad" SampleLevel "texture2d_sample_level"
        SampleAlpha "texture2d_sample_alpha" SampleAlphaGrad "texture2d_sample_alpha_grad"
        SampleAlphaLevel "texture2d_sample_alpha_level"
    }
}

impl TokenKind {
    /// Whether it is a word that cannot be a name.
    pub const fn is_keyword(self) -> bool {
        self as u8 >= TokenKind::Void as u8
    }

    /// Whether `<name>` follows it.
    pub const fn takes_name(self) -> bool {
        self as u8 >= TokenKind::GlobalValue as u8
    }

    /// Whether an operand can end with it, so that what follows is an operator or the end of the
    /// expression.
    pub const fn ends_operand(self) -> bool {
        (self as u8) < TokenKind::LParen as u8
            || matches!(
                self,
                TokenKind::RParen | TokenKind::RBracket | TokenKind::True | TokenKind::False
            )
    }

    /// The change of the bracket depth: 1 for an opener, −1 for a closer.
    pub const fn bracket_depth_change(self) -> i32 {
        match self {
            TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace => 1,
            TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace => -1,
            _ => 0,
        }
    }

    /// The type it names.
    pub const fn type_keyword(self) -> Option<TypeKeyword> {
        Some(match self {
            TokenKind::Void => TypeKeyword::Void,
            TokenKind::Bool => TypeKeyword::Bool,
            TokenKind::Int => TypeKeyword::Int,
            TokenKind::Uint => TypeKeyword::Uint,
            TokenKind::Float => TypeKeyword::Float,
            TokenKind::Float2 => TypeKeyword::Float2,
            TokenKind::Float3 => TypeKeyword::Float3,
            TokenKind::Float4 => TypeKeyword::Float4,
            TokenKind::Float2x2 => TypeKeyword::Float2x2,
            TokenKind::Float3x3 => TypeKeyword::Float3x3,
            TokenKind::Float4x4 => TypeKeyword::Float4x4,
            TokenKind::Closure => TypeKeyword::Closure,
            TokenKind::Texture2d => TypeKeyword::Texture2d,
            TokenKind::ShaderResource => TypeKeyword::ShaderResource,
            _ => return None,
        })
    }
}

/// Shows the kind as in messages: a mark or keyword in backquotes.
impl fmt::Display for TokenKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if (*self as u8) < TokenKind::LParen as u8 {
            f.write_str(self.text())
        } else {
            write!(f, "`{}`", self.text())
        }
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenSet([u64; 2]);

impl TokenSet {
    /// No kind.
    pub const EMPTY: TokenSet = TokenSet([0; 2]);

    /// The keywords that are types.
    pub const TYPES: TokenSet = {
        let mut set = TokenSet::EMPTY;
        let mut index = 0;
        while index < TokenKind::ALL.len() {
            if TokenKind::ALL[index].type_keyword().is_some() {
                set = set.with(TokenKind::ALL[index]);
            }
            index += 1;
        }
        set
    };

    /// `)`, `]` and `}`.
    pub const CLOSERS: TokenSet =
        TokenSet::of(&[TokenKind::RParen, TokenKind::RBracket, TokenKind::RBrace]);

    /// These kinds.
    pub const fn of(kinds: &[TokenKind]) -> TokenSet {
        let mut set = TokenSet::EMPTY;
        let mut index = 0;
        while index < kinds.len() {
            set = set.with(kinds[index]);
            index += 1;
        }
        set
    }

    const fn with(mut self, kind: TokenKind) -> TokenSet {
        self.0[kind as usize / 64] |= 1 << (kind as u32 % 64);
        self
    }

    /// The kinds that are in either.
    pub const fn union(self, other: TokenSet) -> TokenSet {
        TokenSet([self.0[0] | other.0[0], self.0[1] | other.0[1]])
    }

    /// The kinds that are not in `other`.
    pub const fn without(self, other: TokenSet) -> TokenSet {
        TokenSet([self.0[0] & !other.0[0], self.0[1] & !other.0[1]])
    }

    /// Whether `kind` is in it.
    pub const fn contains(self, kind: TokenKind) -> bool {
        self.0[kind as usize / 64] >> (kind as u32 % 64) & 1 == 1
    }

    /// Whether all kinds of `other` are in it.
    pub const fn contains_all(self, other: TokenSet) -> bool {
        other.without(self).is_empty()
    }

    /// Whether no kind is in it.
    pub const fn is_empty(self) -> bool {
        self.0[0] | self.0[1] == 0
    }

    /// Its kinds in order.
    pub fn iter(self) -> impl Iterator<Item = TokenKind> {
        TokenKind::ALL
            .iter()
            .copied()
            .filter(move |&kind| self.contains(kind))
    }
}

/// The types that are keywords.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is its own name")]
pub enum TypeKeyword {
    Void,
    Bool,
    Int,
    Uint,
    Float,
    Float2,
    Float3,
    Float4,
    Float2x2,
    Float3x3,
    Float4x4,
    Closure,
    Texture2d,
    ShaderResource,
}

impl TypeKeyword {
    /// The keyword.
    pub const fn as_str(self) -> &'static str {
        match self {
            TypeKeyword::Void => "void",
            TypeKeyword::Bool => "bool",
            TypeKeyword::Int => "int",
            TypeKeyword::Uint => "uint",
            TypeKeyword::Float => "float",
            TypeKeyword::Float2 => "float2",
            TypeKeyword::Float3 => "float3",
            TypeKeyword::Float4 => "float4",
            TypeKeyword::Float2x2 => "float2x2",
            TypeKeyword::Float3x3 => "float3x3",
            TypeKeyword::Float4x4 => "float4x4",
            TypeKeyword::Closure => "closure",
            TypeKeyword::Texture2d => "texture2d",
            TypeKeyword::ShaderResource => "shader_resource",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{TokenKind, TokenSet};

    #[test]
    fn kinds_fit_a_set_of_128_bits() {
        assert!(TokenKind::ALL.len() <= 128);
        for (index, &kind) in TokenKind::ALL.iter().enumerate() {
            assert_eq!(kind as usize, index);
        }
    }

    #[test]
    fn sets_hold_inserted_kinds() {
        for &kind in TokenKind::ALL {
            let set = TokenSet::of(&[kind, TokenKind::Semicolon]);
            for &other in TokenKind::ALL {
                assert_eq!(
                    set.contains(other),
                    other == kind || other == TokenKind::Semicolon
                );
            }
            assert!(
                set.without(TokenSet::of(&[TokenKind::Semicolon, kind]))
                    .is_empty()
            );
            assert!(TokenSet::of(TokenKind::ALL).contains_all(set));
        }
        assert_eq!(TokenSet::TYPES.iter().count(), 14);
    }

    #[test]
    fn keywords_are_the_last_kinds() {
        for &kind in TokenKind::ALL {
            assert_eq!(
                kind.is_keyword(),
                TokenKind::KEYWORDS.contains(&kind),
                "{kind}"
            );
            assert_eq!(
                kind.takes_name(),
                kind.text().starts_with("texture2d_")
                    || kind.text().contains("_value")
                    || kind.text().contains("make_"),
                "{kind}"
            );
            if let Some(ty) = kind.type_keyword() {
                assert_eq!(kind.text(), ty.as_str());
            }
        }
    }
}
