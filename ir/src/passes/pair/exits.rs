//! The ways out of a region, by the conditions on which they are taken.

use super::selection::select;
use super::writer::Writer;
use crate::module::{RegionId, ValueId};
use rustc_hash::FxHashMap;
use std::ops::Deref;
use std::rc::Rc;

/// A way out of a region, or a choice between ways.
#[derive(Debug)]
pub(super) enum Exit {
    /// To the end of the branch or block.
    Yield(Vec<ValueId>),
    Break(RegionId, Vec<ValueId>),
    Continue(RegionId, Vec<ValueId>),
    Return(Vec<ValueId>),
    /// No way.
    Unreachable,
    /// The first where the condition holds.
    Choice(ValueId, Exits, Exits),
}

/// Ways out, which several choices may share.
#[derive(Clone, Debug)]
pub(super) struct Exits(Rc<Exit>);

impl Deref for Exits {
    type Target = Exit;

    fn deref(&self) -> &Exit {
        &self.0
    }
}

type Known<T> = FxHashMap<*const Exit, T>;

impl Exits {
    pub(super) fn new(exit: Exit) -> Exits {
        Exits(Rc::new(exit))
    }

    pub(super) fn choice(condition: ValueId, yes: Exits, no: Exits) -> Exits {
        match (&*yes, &*no) {
            (Exit::Unreachable, _) => no,
            (_, Exit::Unreachable) => yes,
            _ => Exits::new(Exit::Choice(condition, yes, no)),
        }
    }

    /// Breaks to a region lead to its end.
    pub(super) fn leave(&self, region: RegionId) -> Exits {
        self.map(&mut Known::default(), &|exit| match exit {
            Exit::Break(to, values) if *to == region => {
                Some(Exits::new(Exit::Yield(values.clone())))
            }
            _ => None,
        })
    }

    /// Ways to the end go on as `rest` does.
    pub(super) fn then(&self, rest: &Exits) -> Exits {
        self.map(&mut Known::default(), &|exit| match exit {
            Exit::Yield(_) => Some(rest.clone()),
            _ => None,
        })
    }

    fn map(&self, known: &mut Known<Exits>, by: &impl Fn(&Exit) -> Option<Exits>) -> Exits {
        let at: *const Exit = &**self;
        if let Some(known) = known.get(&at) {
            return known.clone();
        }
        let mapped = match &**self {
            Exit::Choice(condition, yes, no) => {
                let (yes, no) = (yes.map(known, by), no.map(known, by));
                Exits::choice(*condition, yes, no)
            }
            exit => by(exit).unwrap_or_else(|| self.clone()),
        };
        known.insert(at, mapped.clone());
        mapped
    }

    /// Whether all ways, or none of them, are such; `None` if some are.
    pub(super) fn all(&self, is_such: impl Fn(&Exit) -> bool) -> Option<bool> {
        let (mut found, mut seen) = ([false; 2], Known::default());
        let mut open = vec![self];
        while let Some(exits) = open.pop() {
            if seen.insert(&**exits as *const Exit, ()).is_some() {
                continue;
            }
            match &**exits {
                Exit::Choice(_, yes, no) => open.extend([yes, no]),
                exit => found[usize::from(is_such(exit))] = true,
            }
        }
        match found {
            [true, true] => None,
            [_, all] => Some(all),
        }
    }

    pub(super) fn only_yields(&self) -> bool {
        self.all(|exit| matches!(exit, Exit::Yield(_))) == Some(true)
    }
}

/// The values that ways give for which `given` has some, selected by the conditions; `None` if
/// there is no such way.
pub(super) fn merge(
    writer: &mut Writer,
    exit: &Exit,
    given: &impl Fn(&Exit) -> Option<Vec<ValueId>>,
) -> Option<Vec<ValueId>> {
    merge_known(writer, exit, given, &mut Known::default())
}

/// Those that ways to the end give.
pub(super) fn merge_yields(writer: &mut Writer, exit: &Exit) -> Option<Vec<ValueId>> {
    merge(writer, exit, &|exit| match exit {
        Exit::Yield(values) => Some(values.clone()),
        _ => None,
    })
}

fn merge_known(
    writer: &mut Writer,
    exit: &Exit,
    given: &impl Fn(&Exit) -> Option<Vec<ValueId>>,
    known: &mut Known<Option<Vec<ValueId>>>,
) -> Option<Vec<ValueId>> {
    let at: *const Exit = exit;
    if let Some(known) = known.get(&at) {
        return known.clone();
    }
    let merged = match exit {
        Exit::Choice(condition, yes, no) => {
            let yes = merge_known(writer, yes, given, known);
            let no = merge_known(writer, no, given, known);
            match (yes, no) {
                (Some(yes), Some(no)) => {
                    let pairs = yes.into_iter().zip(no);
                    let selected = pairs.map(|(yes, no)| select(writer, *condition, yes, no));
                    Some(selected.collect())
                }
                (one, other) => one.or(other),
            }
        }
        exit => given(exit),
    };
    known.insert(at, merged.clone());
    merged
}
