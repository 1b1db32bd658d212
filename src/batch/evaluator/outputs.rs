//! What the points of a batch evaluator came to: outcomes, faults, outputs and closures.

use super::BatchEvaluator;
use crate::access::{AccessError, ClosureSlot, OutputSlot, find};
use crate::closure::ClosureView;
use crate::evaluator::OutputView;
use crate::evaluator::output::output_views;
use crate::value::{HostValue, MAX_HOST_SCALARS, OutputValue, Part};
use adumbra_ir::host::{ClosureRef, Faults};
use adumbra_vm::Outcome;
use adumbra_vm::words::{AnyWords, as_uninit_words_mut, as_words_mut};
use std::mem::MaybeUninit;

impl BatchEvaluator {
    /// How far each point of the last evaluation came.
    pub fn outcomes(&self) -> &[Outcome] {
        self.machine.outcomes()
    }

    /// The faults of a point of the last evaluation, numbered from its first one.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn faults(&self, point: usize) -> &Faults {
        self.machine.faults(point)
    }

    /// Whether a point of the last evaluation has faults.
    pub(crate) fn has_faults(&self) -> bool {
        self.machine.has_faults()
    }

    /// An output, or a member of one that is a struct (`ray.origin`), at a point of the last
    /// evaluation: its value, or as a [`Dual`](crate::Dual) its value and its derivatives.
    ///
    /// # Errors
    /// If there is no such output, it has another type, or derivatives are asked for and the
    /// program was compiled without [`output_derivatives`](crate::Options::output_derivatives).
    ///
    /// # Panics
    /// If there is no such point.
    pub fn get<T: OutputValue>(&self, path: &str, point: usize) -> Result<T, AccessError> {
        Ok(self.read_at(self.instance().program().find_read::<T>(path)?, point))
    }

    /// An output as [`get`](BatchEvaluator::get) gives it, without looking for its name.
    ///
    /// # Panics
    /// If the slot was found in a program with other outputs, or has derivatives that this one does
    /// not compute, or there is no such point.
    pub fn read<T: OutputValue>(&self, slot: OutputSlot<T>, point: usize) -> T {
        self.read_at(self.output_at(slot), point)
    }

    /// The scalars before the output of a slot.
    fn output_at<T: OutputValue>(&self, slot: OutputSlot<T>) -> usize {
        let computes_derivatives = self.instance().program().output_derivatives();
        slot.output(self.signature, computes_derivatives)
    }

    /// The output that begins at a scalar.
    fn read_at<T: OutputValue>(&self, before: usize, point: usize) -> T {
        let count = T::Value::ty().scalar_count();
        let mut words = [0; MAX_HOST_SCALARS];
        T::of_parts(|part| {
            for (scalar, word) in words[..count].iter_mut().enumerate() {
                *word = self.machine.output(before + scalar, part as usize, point);
            }
            T::Value::read(&words[..count])
        })
    }

    /// Copies value, ddx or ddy of one scalar of an output, for all points of the last evaluation,
    /// to a plane of the host: every `stride`th of its words. Floats go to `f32`, ints to `i32`,
    /// uints and bools to `u32`.
    ///
    /// # Errors
    /// If there is no such output, it has no such scalar, or derivatives are asked for and the
    /// program was compiled without [`output_derivatives`](crate::Options::output_derivatives).
    ///
    /// # Panics
    /// If the plane is too short.
    pub fn copy<W: AnyWords>(
        &self,
        output: &str,
        part: Part,
        scalar: usize,
        to: &mut [W],
        stride: usize,
    ) -> Result<(), AccessError> {
        let scalar = self.scalar_of(output, part, scalar)?;
        self.machine
            .copy_output(scalar, part as usize, as_words_mut(to), stride);
        Ok(())
    }

    /// Copies a part of a scalar, counted over all outputs, to every `stride`th word of a plane.
    pub(crate) fn copy_scalar(&self, scalar: usize, part: Part, to: &mut [u32], stride: usize) {
        self.machine.copy_output(scalar, part as usize, to, stride);
    }

    /// Copies value, ddx or ddy of one scalar of an output, as [`copy`](BatchEvaluator::copy) does,
    /// to a plane that may be uninitialised: new memory, or that of a host in another language. The
    /// words between stay.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Sources, batch::{BatchEvaluator, BatchGlobals, Part}};
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", "shader s(out float o) { o = 2.5; }"))?;
    /// let mut evaluator = BatchEvaluator::new(&Instance::new(&program))?;
    /// evaluator.evaluate(&BatchGlobals::new(program.globals()), 0, 100, &mut NoTextures);
    ///
    /// let mut plane = Vec::<f32>::with_capacity(100);
    /// evaluator.copy_uninit("o", Part::Value, 0, plane.spare_capacity_mut(), 1)?;
    /// // SAFETY: of 100 points the values were written, side by side.
    /// unsafe { plane.set_len(100) };
    /// assert_eq!(plane, [2.5; 100]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`copy`](BatchEvaluator::copy).
    ///
    /// # Panics
    /// If the plane is too short.
    pub fn copy_uninit<W: AnyWords>(
        &self,
        output: &str,
        part: Part,
        scalar: usize,
        to: &mut [MaybeUninit<W>],
        stride: usize,
    ) -> Result<(), AccessError> {
        let scalar = self.scalar_of(output, part, scalar)?;
        let to = as_uninit_words_mut(to);
        self.machine
            .copy_output_uninit(scalar, part as usize, to, stride);
        Ok(())
    }

    /// A scalar of an output among those of all outputs, to read that part of it.
    fn scalar_of(&self, output: &str, part: Part, scalar: usize) -> Result<usize, AccessError> {
        let program = self.instance().program();
        let (before, ty) = find(program.outputs(), output)?;
        if scalar >= ty.scalar_count() {
            return Err(AccessError::no_scalar(output, scalar, ty));
        }
        if part != Part::Value {
            program.check_derivatives(output)?;
        }
        Ok(before + scalar)
    }

    /// Copies value, ddx or ddy of one scalar of an output, as [`copy`](BatchEvaluator::copy) does,
    /// without looking for its name. A slot of a [`Dual`](crate::Dual) has the derivatives.
    ///
    /// ```
    /// use adumbra::{Compiler, Dual, GlobalsLayout, Instance, NoTextures, Options, Sources, Type, batch::{BatchEvaluator, BatchGlobals, Part}};
    /// let layout = GlobalsLayout::new().with("x", Type::FLOAT)?;
    /// let options = Options { output_derivatives: true, ..Options::default() };
    /// let sources = Sources::new("square.adu", "shader square(out float o) { float x = global_value<x>; o = x * x; }");
    /// let program = Compiler::new(layout).with_options(options).compile(&sources)?;
    /// let o = program.output_slot::<Dual<f32>>("o")?;
    ///
    /// let x = [1.0_f32, 2.0, 3.0];
    /// let mut globals = BatchGlobals::new(program.globals());
    /// globals.plane("x", Part::Value, 0, &x, 1)?;
    /// globals.uniform_part("x", Part::Ddx, 1.0_f32)?;
    /// let mut evaluator = BatchEvaluator::new(&Instance::new(&program))?;
    /// evaluator.evaluate(&globals, 0, 3, &mut NoTextures);
    /// let mut slopes = [0.0_f32; 3];
    /// evaluator.copy_slot(o, Part::Ddx, 0, &mut slopes, 1);
    /// assert_eq!(slopes, [2.0, 4.0, 6.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the slot was found in a program with other outputs, or has derivatives that this one does
    /// not compute, its type has no such part or scalar, or the plane is too short.
    pub fn copy_slot<T: OutputValue, W: AnyWords>(
        &self,
        slot: OutputSlot<T>,
        part: Part,
        scalar: usize,
        to: &mut [W],
        stride: usize,
    ) {
        let count = T::Value::ty().scalar_count();
        assert!(scalar < count, "the type has the scalar");
        let has_part = T::HAS_DERIVATIVES || part == Part::Value;
        assert!(has_part, "the slot of a `Dual` has derivatives");
        let scalar = self.output_at(slot) + scalar;
        self.machine
            .copy_output(scalar, part as usize, as_words_mut(to), stride);
    }

    /// Value, ddx or ddy of the outputs of a point of the last evaluation as bits: those of each
    /// scalar of each output, in order.
    ///
    /// # Errors
    /// If there are outputs and the program does not compute their derivatives.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn words(
        &self,
        part: Part,
        point: usize,
    ) -> Result<impl Iterator<Item = u32> + '_, AccessError> {
        self.instance().program().check_words(part)?;
        let scalars = 0..self.output_scalars();
        Ok(scalars.map(move |scalar| self.machine.output(scalar, part as usize, point)))
    }

    fn output_scalars(&self) -> usize {
        let outputs = self.instance().program().outputs().iter();
        outputs.map(|output| output.ty.scalar_count()).sum()
    }

    /// Every output of a point of the last evaluation, in order. Its bits are put into `buffer`,
    /// which can be reused.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn outputs<'a>(
        &'a self,
        point: usize,
        buffer: &'a mut Vec<u32>,
    ) -> impl Iterator<Item = OutputView<'a>> {
        buffer.clear();
        let words = 0..3 * self.output_scalars();
        buffer.extend(words.map(|at| self.machine.output(at / 3, at % 3, point)));
        let closures = self.machine.closures(point);
        output_views(self.instance().program(), buffer, closures)
    }

    /// An output of type closure at a point of the last evaluation.
    ///
    /// # Panics
    /// If the slot was found in a program with other outputs, or there is no such point.
    pub fn closure(&self, slot: ClosureSlot, point: usize) -> ClosureView<'_> {
        self.closure_at(slot.offset(self.signature), point)
    }

    /// The closure of an output of that scalar at a point.
    pub(in crate::batch) fn closure_at(&self, scalar: usize, point: usize) -> ClosureView<'_> {
        self.numbered_closure(self.machine.output(scalar, 0, point), point)
    }

    /// A closure of a point of the last evaluation by its [number](ClosureView::number); one that
    /// there is not is empty.
    pub fn numbered_closure(&self, number: u32, point: usize) -> ClosureView<'_> {
        let interface = self.instance().program().interface();
        ClosureView {
            closures: self.machine.closures(point),
            shapes: &interface.closures,
            resources: &interface.resources,
            root: ClosureRef::from_word(number),
        }
    }
}
