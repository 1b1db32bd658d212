//! Instances: a program with values for its inputs, and numbers for its buffers.

use super::{BufferNumbers, MAX_BUFFER_NUMBERS, MAX_SUM_NUMBERS, Program};
use crate::access::{AccessError, Fingerprint, InputSlot, find, find_buffer};
use crate::engine::Tier;
use crate::group::convert_value;
use crate::stats::Stats;
use crate::value::{HostValue, MAX_HOST_SCALARS, ValueView};
use adumbra_ir::Type;
use adumbra_ir::buffer::BufferSet;
use adumbra_ir::memory::{ARC_OVERHEAD, HeapSize};
use adumbra_vm::FloatEnvironment;
use std::sync::Arc;

/// A program with values for its inputs. Cheap to clone; evaluators are made from it.
///
/// ```
/// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources};
/// let sources = Sources::new("gain.adu", "shader s(float gain = 2.0, out float o) { o = 3 * gain; }");
/// let program = Compiler::new(GlobalsLayout::new()).compile(&sources)?;
/// let mut instance = Instance::new(&program);
/// instance.set("gain", 0.5_f32)?;
/// let mut evaluator = Evaluator::new(&instance);
/// evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
/// assert_eq!(evaluator.get::<f32>("o")?, 1.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Instance {
    pub(super) program: Arc<Program>,
    pub(super) signature: Fingerprint,
    pub(super) inputs: Vec<u32>,
    pub(super) buffers: Arc<BufferSet>,
}

impl Instance {
    /// An instance whose inputs have the shader's defaults, or are zero, and whose buffers have no
    /// elements.
    pub fn new(program: &Arc<Program>) -> Instance {
        let inputs = program.inputs().iter();
        Instance {
            program: program.clone(),
            signature: Fingerprint::of(program.inputs()),
            inputs: inputs.flat_map(|input| input.default.clone()).collect(),
            buffers: Arc::new(BufferSet::new(&program.interface().buffers)),
        }
    }

    /// An instance of another program of the same shader: inputs and buffers are those of this one.
    #[cfg(feature = "batch")]
    pub(crate) fn for_program(&self, program: &Arc<Program>) -> Instance {
        let mut instance = Instance::new(program);
        instance.inputs.clone_from(&self.inputs);
        for buffer in self.program.buffers() {
            if let Ok(numbers) = self.buffer(&buffer.name) {
                // A buffer that the other one does not read is not there.
                let _ = instance.set_buffer(&buffer.name, numbers.clone());
            }
        }
        instance
    }

    /// Its program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Sets an input, or a member of one that is a struct (`ray.origin`). Inputs have no
    /// derivatives. A value converts as [`Group::set`](crate::group::Group::set) says: an
    /// int to float, a number to a vector of it.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Instance, Sources};
    /// let sources = Sources::new("s.adu", "shader s(float scale, float3 tint, int seed, out color c) { c = scale * seed * tint; }");
    /// let mut material = Instance::new(&Compiler::new(GlobalsLayout::new()).compile(&sources)?);
    /// material.set("scale", 2)?;
    /// material.set("tint", 0.5_f32)?;
    /// material.set("seed", 7.0_f32)?;
    /// let error = material.set("seed", 7.5_f32).unwrap_err();
    /// assert_eq!(error.to_string(), "`seed` is of type `int`, not `float`");
    /// let error = material.set("sclae", 2).unwrap_err();
    /// assert_eq!(error.to_string(), "there is no `sclae`; did you mean `scale`?");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such input or the value cannot be one of its type.
    pub fn set<T: HostValue>(&mut self, path: &str, value: T) -> Result<(), AccessError> {
        let (ty, mut words) = (T::ty(), [0; MAX_HOST_SCALARS]);
        let words = &mut words[..ty.scalar_count()];
        value.write(words);
        self.set_view(path, ValueView::new(&ty, words))
    }

    /// Sets an input.
    ///
    /// # Panics
    /// If the slot was found in a program with other inputs.
    pub fn write<T: HostValue>(&mut self, slot: InputSlot<T>, value: T) {
        self.write_at(slot.offset(self.signature), value);
    }

    fn write_at<T: HostValue>(&mut self, start: usize, value: T) {
        value.write(&mut self.inputs[start..][..T::ty().scalar_count()]);
    }

    /// Sets an input, or a member of one that is a struct, to a value of any type, which converts
    /// as that of [`set`](Instance::set) does.
    ///
    /// # Errors
    /// If there is no such input or the value cannot be one of its type.
    pub fn set_view(&mut self, path: &str, value: ValueView<'_>) -> Result<(), AccessError> {
        let (start, ty) = find(self.program.inputs(), path)?;
        let inputs = self.inputs[start..].iter_mut();
        if ty == value.ty() {
            inputs.zip(value.words()).for_each(|(to, from)| *to = from);
            return Ok(());
        }
        let _mode = FloatEnvironment::enter();
        let words: Vec<u32> = value.words().collect();
        let words = convert_value(value.ty(), &words, ty);
        let words = words.ok_or_else(|| AccessError::other_type(path, ty, value.ty()))?;
        inputs.zip(words).for_each(|(to, from)| *to = from);
        Ok(())
    }

    /// The value of an input, or of a member of one that is a struct.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Instance, Sources};
    /// let source = "shader s(float2 scale = float2(0.5, 0.5), out float o) { o = scale.x; }";
    /// let sources = Sources::new("s.adu", source);
    /// let mut instance = Instance::new(&Compiler::new(GlobalsLayout::new()).compile(&sources)?);
    /// assert_eq!(instance.view("scale")?.to_string(), "(0.5, 0.5)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such input.
    pub fn view(&self, path: &str) -> Result<ValueView<'_>, AccessError> {
        let (start, ty) = find(self.program.inputs(), path)?;
        Ok(ValueView::new(
            ty,
            &self.inputs[start..][..ty.scalar_count()],
        ))
    }

    /// Sets the numbers of a buffer, element by element: floats for `buffer<float>` and buffers of
    /// vectors, ints for `buffer<int>`. They are shared, not copied, if they are given as an
    /// `Arc<[f32]>` or `Arc<[i32]>`. Evaluators that were made before keep those from before.
    ///
    /// ```
    /// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources};
    /// let source = "buffer<float> w; shader s(out float o) { for (int i = 0; i < w.length(); i++) o += w[i]; }";
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
    /// let mut instance = Instance::new(&program);
    /// instance.set_buffer("w", vec![0.5_f32, 1.0, 2.0])?;
    /// let mut evaluator = Evaluator::new(&instance);
    /// evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
    /// assert_eq!(evaluator.get::<f32>("o")?, 3.5);
    /// let error = instance.set_buffer("w", vec![1_i32]).unwrap_err();
    /// assert_eq!(error.to_string(), "`w` is of type `buffer<float>`, not `buffer<int>`");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such buffer, its numbers are of the other type or no whole elements, or there
    /// are more than [`MAX_BUFFER_NUMBERS`](crate::program::MAX_BUFFER_NUMBERS), or than
    /// [`MAX_SUM_NUMBERS`](crate::program::MAX_SUM_NUMBERS) where gradients by it are summed.
    pub fn set_buffer(
        &mut self,
        name: &str,
        numbers: impl Into<BufferNumbers>,
    ) -> Result<(), AccessError> {
        let numbers = numbers.into();
        let buffers = &self.program.interface().buffers;
        let id = find_buffer(buffers, name)?;
        let buffer = &buffers[id.index()];
        if numbers.scalar() != buffer.scalar() {
            let given = Type::Scalar(numbers.scalar());
            return Err(AccessError::Type {
                name: name.to_owned(),
                has: format!("buffer<{}>", buffer.element),
                given: format!("buffer<{given}>"),
            });
        }
        let most = match self.buffers.is_summed(id) {
            true => MAX_SUM_NUMBERS,
            false => MAX_BUFFER_NUMBERS,
        };
        if !numbers.len().is_multiple_of(buffer.width()) || numbers.len() > most {
            return Err(AccessError::Length {
                name: name.to_owned(),
                numbers: numbers.len(),
                width: buffer.width(),
                most,
            });
        }
        Arc::make_mut(&mut self.buffers).set(id, numbers);
        Ok(())
    }

    /// The numbers of a buffer.
    ///
    /// # Errors
    /// If there is no such buffer.
    pub fn buffer(&self, name: &str) -> Result<&BufferNumbers, AccessError> {
        let buffers = &self.program.interface().buffers;
        let id = find_buffer(buffers, name)?;
        Ok(self.buffers.numbers(id))
    }

    /// The numbers of all buffers.
    pub(crate) fn buffers(&self) -> &Arc<BufferSet> {
        &self.buffers
    }

    /// Bytes that it takes, its own included, beside its program and the numbers of buffers, which
    /// it shares with the host.
    pub fn memory(&self) -> usize {
        let buffers = ARC_OVERHEAD + size_of::<BufferSet>() + (*self.buffers).heap_bytes();
        size_of::<Instance>() + self.inputs_heap() + buffers
    }

    /// The statistics of its program, in an evaluator of `memory` bytes at that tier, with machine
    /// code if there is any.
    pub(crate) fn evaluator_stats(
        &self,
        memory: usize,
        tier: Option<Tier>,
        may_be_native: bool,
    ) -> Stats {
        let mut stats = self.program.stats();
        stats.memory.instance = Some(self.memory());
        stats.memory.evaluator = Some(memory);
        stats.tier = tier;
        stats.native = match may_be_native {
            true => self.program.native_stats(),
            false => None,
        };
        stats
    }

    /// Bytes of the heap that the values of its inputs take.
    pub(crate) fn inputs_heap(&self) -> usize {
        self.inputs.heap_bytes()
    }

    /// The words of all inputs, in order.
    pub(crate) fn inputs(&self) -> &[u32] {
        &self.inputs
    }
}
