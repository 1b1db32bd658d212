//! Why a rule did not match.

use crate::kind::{Kind, KindSet};
use chumsky::DefaultExpected;
use chumsky::error::{Error, LabelError};
use chumsky::span::SimpleSpan;
use chumsky::util::MaybeRef;

/// The token at which no rule could go on, and the kinds that would have been welcome there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) at: u32,
    pub(crate) expected: KindSet,
}

impl Failure {
    pub(crate) fn expected(at: usize, expected: KindSet) -> Failure {
        Failure {
            at: at as u32,
            expected,
        }
    }
}

impl<'t> Error<'t, &'t [Kind]> for Failure {
    fn merge(self, other: Failure) -> Failure {
        Failure {
            expected: self.expected.union(other.expected),
            ..self
        }
    }
}

/// What chumsky's own parsers report; of those only `end` is used.
impl<'t> LabelError<'t, &'t [Kind], DefaultExpected<'t, Kind>> for Failure {
    fn expected_found<E: IntoIterator<Item = DefaultExpected<'t, Kind>>>(
        _: E,
        _: Option<MaybeRef<'t, Kind>>,
        span: SimpleSpan,
    ) -> Failure {
        Failure::expected(span.start, KindSet::EMPTY)
    }

    fn merge_expected_found<E: IntoIterator<Item = DefaultExpected<'t, Kind>>>(
        self,
        _: E,
        _: Option<MaybeRef<'t, Kind>>,
        _: SimpleSpan,
    ) -> Failure {
        self
    }
}
