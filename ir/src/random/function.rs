//! Random functions: their signatures, and the maker that fills one.

use super::source::Random;
use crate::builder::FunctionBuilder;
use crate::instruction::TableScalars;
use crate::module::*;
use crate::span::{FileId, Span};
use crate::types::{Lanes, Scalar};
use Scalar::{F32, I32};

/// The signature of a function.
#[derive(Clone)]
pub(super) struct Signature {
    pub(super) params: Vec<Scalar>,
    pub(super) results: Vec<Scalar>,
    pub(super) arrays: Vec<(Scalar, u32, PassingMode)>,
    /// Whether it is one region without arrays, and calls its like alone.
    pub(super) is_straight: bool,
}

/// A region that jumps can leave.
pub(super) struct Target {
    pub(super) region: RegionId,
    pub(super) results: Vec<Scalar>,
}

/// Makes one function.
pub(super) struct Maker<'a> {
    pub(super) random: &'a mut Random,
    pub(super) tables: &'a Module,
    pub(super) scalars: &'a TableScalars,
    pub(super) signatures: &'a [Signature],
    pub(super) index: usize,
    pub(super) b: FunctionBuilder,
    /// The values that can be read here.
    pub(super) visible: Vec<ValueId>,
    /// Loops and blocks around this place.
    pub(super) targets: Vec<Target>,
    /// Each instruction gets a place of its own.
    pub(super) place: u32,
}

/// Makes the function of that index.
pub(super) fn function(
    random: &mut Random,
    tables: &Module,
    scalars: &TableScalars,
    signatures: &[Signature],
    index: usize,
) -> Function {
    let signature = &signatures[index];
    let span = Span::new(
        FileId::MAIN,
        index as u32 * 100_000,
        index as u32 * 100_000 + 9,
    );
    let mut m = Maker {
        b: FunctionBuilder::new(["main", "f", "f", "g"][index.min(3)], span),
        random,
        tables,
        scalars,
        signatures,
        index,
        visible: Vec::new(),
        targets: Vec::new(),
        place: 0,
    };
    let params = signature.params.iter().map(|&ty| m.b.param(ty, span));
    m.visible = params.collect();
    let params = signature
        .arrays
        .iter()
        .map(|&(element, len, mode)| (element, len, Some(mode)));
    let locals = [
        (F32, 4, None),
        (I32, 3, None),
        (F32, 4, None),
        (F32, 7, None),
    ];
    let locals = locals.into_iter().filter(|_| !signature.is_straight);
    for (element, len, mode) in params.chain(locals) {
        m.b.array(Array {
            element,
            len,
            lanes: Lanes::NONE,
            mode,
            span,
            name: None,
        });
    }
    for (global, scalar) in [(0, 0), (1, 0), (1, 1)] {
        m.keep(InstKind::Global(GlobalId(global), scalar), &[], &[F32]);
    }
    for _ in 0..4 {
        m.statements(if signature.is_straight { 0 } else { 3 });
    }
    let args = m.values(&signature.results);
    let place = m.span();
    m.b.terminate(InstKind::Return, args, place);
    let function = m.b.function_mut();
    function.results = signature
        .results
        .iter()
        .map(|&ty| FuncResult {
            ty,
            lanes: Lanes::NONE,
        })
        .collect();
    // Places in straight functions of the library would become those of their calls.
    function.library = index > 0 && !signature.is_straight && m.random.one_in(2);
    m.b.finish()
}
