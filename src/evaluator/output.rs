//! An output of the last evaluation, of any type.

use crate::access::AccessError;
use crate::closure::ClosureView;
use crate::dual::Dual;
use crate::program::Program;
use crate::value::{Part, ValueView};
use adumbra_ir::host::ClosureRef;
use adumbra_ir::module::Output;
use adumbra_ir::{Scalar, Type};
use adumbra_vm::PointClosures;

/// An output of the last evaluation.
#[derive(Clone, Copy, Debug)]
pub struct OutputView<'a> {
    pub(super) output: &'a Output,
    /// Value, ddx and ddy of each scalar.
    pub(super) words: &'a [u32],
    pub(super) closures: ClosureView<'a>,
    pub(super) second_order: bool,
    program: &'a Program,
}

/// Every output of a program, in order, of value, ddx and ddy of each scalar, and the closures that
/// they name.
pub(crate) fn output_views<'a>(
    program: &'a Program,
    words: &'a [u32],
    closures: PointClosures<'a>,
) -> impl Iterator<Item = OutputView<'a>> {
    let interface = program.interface();
    let mut end = 0;
    program.outputs().iter().map(move |output| {
        let start = end;
        end += output.ty.scalar_count();
        let root = match output.ty {
            Type::Scalar(Scalar::Closure) => ClosureRef::from_word(words[3 * start]),
            _ => ClosureRef::EMPTY,
        };
        let second_order = program.second_order().get(start..end);
        OutputView {
            output,
            words: &words[3 * start..3 * end],
            closures: ClosureView {
                closures,
                shapes: &interface.closures,
                resources: &interface.resources,
                root,
            },
            second_order: second_order.is_some_and(|scalars| scalars.contains(&true)),
            program,
        }
    })
}

impl<'a> OutputView<'a> {
    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.output.name
    }

    /// Its type.
    pub fn ty(&self) -> &'a Type {
        &self.output.ty
    }

    /// Its value.
    pub fn value(&self) -> ValueView<'a> {
        self.part(Part::Value)
    }

    /// Its value and its derivatives per pixel.
    ///
    /// # Errors
    /// If the program was compiled without
    /// [`output_derivatives`](crate::Options::output_derivatives).
    pub fn dual(&self) -> Result<Dual<ValueView<'a>>, AccessError> {
        self.program.check_derivatives(self.name())?;
        Ok(Dual::of_parts(|part| self.part(part)))
    }

    fn part(&self, part: Part) -> ValueView<'a> {
        let words = self.words.get(part as usize..).unwrap_or_default();
        ValueView::strided(&self.output.ty, words, 3)
    }

    /// Whether it depends on a derivative, so that its own derivatives, which are given as zero,
    /// are of second order. Not known of programs that were loaded.
    pub fn is_second_order(&self) -> bool {
        self.second_order
    }

    /// The closure that it is, if it is of type closure.
    pub fn closure(&self) -> Option<ClosureView<'a>> {
        matches!(self.output.ty, Type::Scalar(Scalar::Closure)).then_some(self.closures)
    }
}
