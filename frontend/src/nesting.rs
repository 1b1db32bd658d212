//! Bounds the nesting before the grammar recurses.
//!
//! A walk over the tokens keeps explicitly the stack of a recursive parser: open brackets,
//! operators that wait for their right operand, statements that wait for their body. Guarantee: for
//! accepted tokens the grammar, and every walk over the tree but for its left spines, recurses at
//! most [`MAX_NESTING`] deep. The walk is linear: each entry is pushed and popped once.

use crate::grammar::{ASSIGNMENT_OPERATORS, PRECEDENCE_LEVELS, UNARY_OPERATORS};
use crate::limits::MAX_NESTING;
use crate::token::TokenStream;
use crate::token_kind::{TokenKind, TokenSet};
use adumbra_ir::{Code, Diagnostic};

/// An entry that waits, ordered by how tightly it binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Waiting {
    /// An opener for its closer.
    Bracket,
    /// An `if` for its body, or for its `else`.
    If,
    /// Another statement for its body, an `else` among them.
    Statement,
    /// `?` for its `:`.
    Question,
    /// `=` or the `:` of a `?` for its right side.
    Right,
    /// A binary operator of this level.
    Binary(u8),
    /// An operator before its operand.
    Prefix,
}

/// The level of each binary operator; 0 for other kinds, so that a lookup costs nothing.
const LEVEL: [u8; TokenKind::ALL.len()] = {
    let mut levels = [0; TokenKind::ALL.len()];
    let mut level = 0;
    while level < PRECEDENCE_LEVELS.len() {
        let mut index = 0;
        while index < PRECEDENCE_LEVELS[level].len() {
            levels[PRECEDENCE_LEVELS[level][index] as usize] = level as u8 + 1;
            index += 1;
        }
        level += 1;
    }
    levels
};

/// The error for the first place that is nested too deeply, if there is one. The brackets must
/// balance.
pub(crate) fn check_nesting(tokens: &TokenStream) -> Option<Diagnostic> {
    let mut stack = Vec::with_capacity(MAX_NESTING + 1);
    let kinds = &tokens.kinds;
    let mut after_operand = false;
    let mut at = 0;
    while let Some(&kind) = kinds.get(at) {
        let is_cast = kind == TokenKind::LParen
            && !after_operand
            && matches!(kinds[at..], [_, ty, TokenKind::RParen, ..] if TokenSet::TYPES.contains(ty));
        let mut step = 1;
        if is_cast {
            stack.push(Waiting::Prefix);
            step = 3;
        } else if kind.ends_operand() {
            if kind.bracket_depth_change() < 0 {
                unwind(&mut stack, Waiting::Bracket);
                stack.pop();
            }
        } else if !after_operand && UNARY_OPERATORS.contains(kind) {
            stack.push(Waiting::Prefix);
        } else if LEVEL[kind as usize] > 0 {
            let binary = Waiting::Binary(LEVEL[kind as usize]);
            while stack.last().is_some_and(|&top| top >= binary) {
                stack.pop();
            }
            stack.push(binary);
        } else if ASSIGNMENT_OPERATORS.contains(kind) {
            unwind(&mut stack, Waiting::Right);
            stack.push(Waiting::Right);
        } else {
            let before_else = kinds.get(at + 1) == Some(&TokenKind::Else);
            let statement_end = match before_else {
                true => Waiting::If,
                false => Waiting::Bracket,
            };
            match kind {
                TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace => {
                    stack.push(Waiting::Bracket)
                }
                TokenKind::RBrace => {
                    unwind(&mut stack, Waiting::Bracket);
                    stack.pop();
                    unwind(&mut stack, statement_end);
                }
                TokenKind::Semicolon => unwind(&mut stack, statement_end),
                TokenKind::Comma => unwind(&mut stack, Waiting::Statement),
                TokenKind::Question => {
                    unwind(&mut stack, Waiting::Right);
                    stack.push(Waiting::Question);
                }
                TokenKind::Colon => {
                    unwind(&mut stack, Waiting::Question);
                    if let Some(top @ Waiting::Question) = stack.last_mut() {
                        *top = Waiting::Right;
                    }
                }
                TokenKind::If => {
                    // A chain of conditions is no deeper than one.
                    if at > 0 && kinds[at - 1] == TokenKind::Else {
                        stack.pop();
                    }
                    stack.push(Waiting::If);
                }
                TokenKind::Else => {
                    // The `if` is done when this is.
                    if stack.last() == Some(&Waiting::If) {
                        stack.pop();
                    }
                    stack.push(Waiting::Statement);
                }
                TokenKind::For | TokenKind::While | TokenKind::Do | TokenKind::Switch => {
                    stack.push(Waiting::Statement);
                }
                _ => {}
            }
        }
        if stack.len() > MAX_NESTING {
            let message = format!(
                "more than {MAX_NESTING} brackets, statements and operators are inside each other"
            );
            // A statement has brackets and operators of its condition, and of a block.
            let is_statement =
                |waiting: &&Waiting| matches!(waiting, Waiting::If | Waiting::Statement);
            let statements = stack.iter().filter(is_statement).count();
            let help = match kind {
                _ if statements > MAX_NESTING / 4 => {
                    "move the inner statements into a function of their own"
                }
                TokenKind::LBrace => "move the inner block into a function of its own",
                _ => "name a part of the expression: put it into a variable before",
            };
            return Some(
                Diagnostic::new(Code::NestingTooDeep, tokens.span(at), message)
                    .here("too deep from here on")
                    .help(help),
            );
        }
        // After an operand, `++` and `--` leave it an operand.
        let is_postfix =
            matches!(kind, TokenKind::PlusPlus | TokenKind::MinusMinus) && after_operand;
        after_operand = is_postfix || (kind.ends_operand() && !is_cast);
        at += step;
    }
    None
}

/// Pops all entries that bind tighter than `floor`.
fn unwind(stack: &mut Vec<Waiting>, floor: Waiting) {
    while stack.last().is_some_and(|&top| top > floor) {
        stack.pop();
    }
}
