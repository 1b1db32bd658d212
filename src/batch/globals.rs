//! The globals of many points: planes of the host, read in place.

use crate::access::{AccessError, find, find_typed};
use crate::dual::Dual;
use crate::globals::{Globals, GlobalsLayout, ShaderGlobals, columns};
use crate::value::{HostValue, MAX_HOST_SCALARS, Part};
use adumbra_vm::GlobalSource;
use adumbra_vm::words::{Words, as_words};

/// The globals of a batch. Every scalar of a member, and of its ddx and ddy, is uniform or comes
/// from a plane of the host, which it borrows. All are zero until set.
///
/// ```
/// use adumbra::{GlobalsLayout, Type, batch::{BatchGlobals, Part}};
/// let layout = GlobalsLayout::new().with("uv", Type::Vector(2))?.with("time", Type::FLOAT)?;
/// // Planes of a host: u contiguous, v in the second half of pairs.
/// let (u, pairs) = ([0.0_f32, 0.25, 0.5, 0.75], [[9.0_f32, 0.0]; 4]);
/// let mut globals = BatchGlobals::new(&layout);
/// globals.plane("uv", Part::Value, 0, &u, 1)?;
/// globals.plane("uv", Part::Value, 1, &pairs.as_flattened()[1..], 2)?;
/// // The same for all points: the time, and how u and v change from pixel to pixel.
/// globals.uniform("time", 2.5_f32, 0.0, 0.0)?;
/// globals.uniform_part("uv", Part::Ddx, [0.25_f32, 0.0])?;
/// globals.uniform_part("uv", Part::Ddy, [0.0_f32, 0.25])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct BatchGlobals<'a> {
    layout: GlobalsLayout,
    /// One for each word of the layout.
    sources: Vec<GlobalSource<'a>>,
}

impl<'a> BatchGlobals<'a> {
    /// Globals that are zero at all points, without derivatives.
    pub fn new(layout: &GlobalsLayout) -> BatchGlobals<'a> {
        BatchGlobals {
            layout: layout.clone(),
            sources: vec![GlobalSource::Uniform(0); layout.size() / 4],
        }
    }

    /// The globals of one point for all points.
    ///
    /// ```
    /// use adumbra::{Globals, GlobalsLayout, batch::{BatchGlobals, Part}};
    /// let mut here = Globals::new(&GlobalsLayout::hit());
    /// here.set("normal", [0.0, 0.0, 1.0], [0.0; 3], [0.0; 3])?;
    /// let mut globals = BatchGlobals::uniform_from(&here);
    /// globals.plane("uvw", Part::Value, 0, &[0.25_f32, 0.5, 0.75], 1)?;
    /// # Ok::<(), adumbra::access::AccessError>(())
    /// ```
    pub fn uniform_from(globals: &Globals) -> BatchGlobals<'a> {
        BatchGlobals {
            layout: globals.layout().clone(),
            sources: globals
                .words()
                .iter()
                .map(|&word| GlobalSource::Uniform(word))
                .collect(),
        }
    }

    /// Takes the globals of all points from one contiguous array, each point in the order of the
    /// layout: [`Globals::words`](crate::Globals::words) gives it.
    pub fn interleaved(layout: &GlobalsLayout, words: &'a [u32]) -> BatchGlobals<'a> {
        let stride = layout.size() / 4;
        let plane = |first| GlobalSource::Varying {
            words: words.get(first..).unwrap_or_default(),
            stride,
        };
        BatchGlobals {
            layout: layout.clone(),
            sources: (0..stride).map(plane).collect(),
        }
    }

    /// Takes all members from structs of the host, one for each point, in place: the first is the
    /// first point's. The derivatives of members without memory for them are zero. Nothing is
    /// copied or allocated; with [`without_planes`](BatchGlobals::without_planes), the same memory
    /// serves other structs.
    ///
    /// ```
    /// use adumbra::{Compiler, Dual, GlobalsLayout, Instance, NoTextures, Options, ShaderGlobals, Sources, batch::{BatchEvaluator, BatchGlobals}};
    ///
    /// #[derive(ShaderGlobals)]
    /// #[repr(C)]
    /// struct Hit {
    ///     uv: Dual<[f32; 2]>,
    ///     time: f32,
    /// }
    ///
    /// let source = "shader s(out float o) { float2 p = global_value<uv>; o = p.x * p.y + global_value<time>; }";
    /// let options = Options { output_derivatives: true, ..Options::default() };
    /// let compiler = Compiler::new(GlobalsLayout::of::<Hit>()).with_options(options);
    /// let program = compiler.compile(&Sources::new("s.adu", source))?;
    ///
    /// let hits: Vec<Hit> = (0..100).map(|i| Hit {
    ///     uv: Dual { value: [i as f32, 2.0], ddx: [1.0, 0.0], ddy: [0.0, 1.0] },
    ///     time: 0.5,
    /// }).collect();
    /// let mut evaluator = BatchEvaluator::new(&Instance::new(&program))?;
    /// evaluator.evaluate(&BatchGlobals::from(&hits[..]), 0, 100, &mut NoTextures);
    /// let o = evaluator.get::<Dual<f32>>("o", 30)?;
    /// assert_eq!((o.value, o.ddx, o.ddy), (60.5, 2.0, 30.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the layout has other members than the struct, or a trait that was implemented by hand
    /// does not list all of the struct's memory in order.
    pub fn structs<S: ShaderGlobals>(&mut self, points: &'a [S]) {
        assert!(
            self.layout.is_of::<S>(),
            "the structs are laid out as the globals"
        );
        columns(points, &mut self.sources);
    }

    /// The members of its layout.
    pub fn layout(&self) -> &GlobalsLayout {
        &self.layout
    }

    /// Those of a layout that this one begins with.
    pub(crate) fn first_words(&self, layout: &GlobalsLayout) -> BatchGlobals<'a> {
        BatchGlobals {
            layout: layout.clone(),
            sources: self.sources[..layout.size() / 4].to_vec(),
        }
    }

    pub(crate) fn sources(&self) -> &[GlobalSource<'a>] {
        &self.sources
    }

    /// Sets a member and its derivatives for all points.
    ///
    /// # Errors
    /// If there is no such member or it has another type.
    pub fn uniform<T: HostValue>(
        &mut self,
        name: &str,
        value: T,
        ddx: T,
        ddy: T,
    ) -> Result<(), AccessError> {
        let dual = Dual { value, ddx, ddy };
        for (part, value) in Part::ALL.into_iter().zip([dual.value, dual.ddx, dual.ddy]) {
            self.uniform_part(name, part, value)?;
        }
        Ok(())
    }

    /// Sets value, ddx or ddy of a member for all points.
    ///
    /// # Errors
    /// If there is no such member or it has another type.
    pub fn uniform_part<T: HostValue>(
        &mut self,
        name: &str,
        part: Part,
        value: T,
    ) -> Result<(), AccessError> {
        let (before, count) = (
            find_typed(self.layout.members(), name, &T::ty())?,
            T::ty().scalar_count(),
        );
        let mut words = [0; MAX_HOST_SCALARS];
        value.write(&mut words[..count]);
        let first = 3 * before + part as usize * count;
        for (source, &word) in self.sources[first..][..count].iter_mut().zip(&words) {
            *source = GlobalSource::Uniform(word);
        }
        Ok(())
    }

    /// Sets one word of the layout for all points.
    ///
    /// # Panics
    /// If the layout has no such word.
    pub fn uniform_word(&mut self, word: usize, value: u32) {
        self.sources[word] = GlobalSource::Uniform(value);
    }

    /// Sets one word of the layout, counted as its members' offsets are but in words, from a plane
    /// of the host. It does what [`plane`](BatchGlobals::plane) does without a search by name. With
    /// [`without_planes`](BatchGlobals::without_planes) the same memory serves later planes.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Sources, Type, batch::{BatchEvaluator, BatchGlobals}};
    /// let layout = GlobalsLayout::new().with("x", Type::FLOAT)?;
    /// let program = Compiler::new(layout).compile(&Sources::new("s.adu", "shader s(out float o) { o = 2 * global_value<x>; }"))?;
    /// let mut evaluator = BatchEvaluator::new(&Instance::new(&program))?;
    /// let word = program.globals().member("x").unwrap().value_offset() / 4;
    ///
    /// let mut kept = BatchGlobals::new(program.globals());
    /// for tile in 0..4 {
    ///     let x = [tile as f32, tile as f32 + 0.5];
    ///     let mut globals = kept;
    ///     globals.plane_word(word, &x, 1);
    ///     evaluator.evaluate(&globals, 0, 2, &mut NoTextures);
    ///     assert_eq!(evaluator.get::<f32>("o", 1)?, 2.0 * x[1]);
    ///     kept = globals.without_planes();
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the layout has no such word.
    pub fn plane_word<W: Words>(&mut self, word: usize, words: &'a [W], stride: usize) {
        self.sources[word] = GlobalSource::Varying {
            words: as_words(words),
            stride,
        };
    }

    /// Makes all members zero at all points again, and releases all planes, in the same memory.
    pub fn without_planes(self) -> BatchGlobals<'static> {
        let sources = self.sources.into_iter();
        BatchGlobals {
            layout: self.layout,
            sources: sources.map(|_| GlobalSource::Uniform(0)).collect(),
        }
    }

    /// Sets value, ddx or ddy of one scalar of a member from a plane of the host: that of the first
    /// point, then every `stride`th one. Floats go as `f32`, ints as `i32`, uints as `u32`, and
    /// bools as `u32` (0 or 1). Only the words are taken: an `i32` given for a float counts as the
    /// float of its bits.
    ///
    /// # Errors
    /// If there is no such member, or it has no such scalar.
    pub fn plane<W: Words>(
        &mut self,
        name: &str,
        part: Part,
        scalar: usize,
        words: &'a [W],
        stride: usize,
    ) -> Result<(), AccessError> {
        let (before, ty) = find(self.layout.members(), name)?;
        let count = ty.scalar_count();
        if scalar >= count {
            return Err(AccessError::no_scalar(name, scalar, ty));
        }
        let word = 3 * before + part as usize * count + scalar;
        self.plane_word(word, words, stride);
        Ok(())
    }
}

impl<'a, S: ShaderGlobals> From<&'a [S]> for BatchGlobals<'a> {
    /// The columns of structs of the host, as [`structs`](BatchGlobals::structs) takes them.
    fn from(points: &'a [S]) -> BatchGlobals<'a> {
        let mut globals = BatchGlobals::new(&GlobalsLayout::of::<S>());
        globals.structs(points);
        globals
    }
}
