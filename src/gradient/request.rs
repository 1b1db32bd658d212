//! What a gradient is asked of and by.

use super::parts::{Mode, ParameterKind};
use adumbra_ir::heap_of;
use adumbra_ir::memory::HeapSize;

/// The gradient that a host asks a program for: of which outputs, by which parameters, in which
/// mode. As it is made, it is of all outputs that have floats, by all inputs that do, backward.
/// Whatever the order in which they are named, outputs and parameters come as the shader has them.
///
/// ```
/// use adumbra::{Compiler, GlobalsLayout, Sources, gradient::GradientRequest};
/// let source = "shader tint(color tint, int n, out color c, out float luma) {
///     c = tint * global_value<uvw>; luma = dot(c, float3(0.2, 0.7, 0.1)); }";
/// let program = Compiler::new(GlobalsLayout::hit()).compile(&Sources::new("tint.adu", source))?;
/// let names = |request: GradientRequest| {
///     let gradient = program.gradient(&request)?;
///     let parameters = gradient.parameters().iter().map(|by| by.value.name.clone());
///     Ok::<Vec<String>, adumbra::Diagnostics>(parameters.collect())
/// };
/// assert_eq!(names(GradientRequest::new())?, ["tint"]);
/// assert_eq!(names(GradientRequest::new().of("luma").by_global("uvw"))?, ["uvw"]);
/// # Ok::<(), adumbra::Diagnostics>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GradientRequest {
    pub(super) mode: RequestMode,
    /// The outputs; all that have floats if there are none.
    pub(super) of: Vec<String>,
    /// The parameters; all inputs that have floats if there are none.
    pub(super) by: Vec<RequestedParameter>,
}

/// The mode of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RequestMode {
    #[default]
    Backward,
    Forward,
}

/// A parameter of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RequestedParameter {
    /// One of this name.
    Named(ParameterKind, String),
    /// All inputs that have floats.
    Inputs,
    /// All globals that have floats and are read.
    Globals,
    /// All buffers that have floats and are read.
    Buffers,
    /// All textures.
    Textures,
}

heap_of! {
    GradientRequest { mode, of, by }
}

impl HeapSize for RequestMode {}

impl HeapSize for RequestedParameter {
    fn heap_bytes(&self) -> usize {
        match self {
            RequestedParameter::Named(_, name) => name.heap_bytes(),
            RequestedParameter::Inputs
            | RequestedParameter::Globals
            | RequestedParameter::Buffers
            | RequestedParameter::Textures => 0,
        }
    }
}

impl GradientRequest {
    /// The gradient of all outputs by all inputs.
    pub fn new() -> GradientRequest {
        GradientRequest::default()
    }

    /// The same derivative in forward mode: the host gives tangents of the parameters, by the
    /// globals `d(a)`, and gets those of the outputs, by the outputs `d(o)`. That is cheaper where
    /// one direction is wanted, and parameters are many or few.
    ///
    /// ```
    /// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources};
    /// use adumbra::gradient::GradientRequest;
    /// let source = "shader s(float a = 2.0, float b = 3.0, out float o) { o = a * a * b; }";
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
    /// let tangent = program.gradient(&GradientRequest::new().forward())?;
    /// let mut globals = Globals::new(tangent.program().globals());
    /// globals.set("d(a)", 0.5, 0.0, 0.0)?;
    /// globals.set("d(b)", 1.0, 0.0, 0.0)?;
    /// let mut evaluator = Evaluator::new(&Instance::new(tangent.program()));
    /// evaluator.evaluate(&globals, &mut NoTextures);
    /// assert_eq!(evaluator.get::<f32>("d(o)")?, 12.0 * 0.5 + 4.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn forward(mut self) -> GradientRequest {
        self.mode = RequestMode::Forward;
        self
    }

    /// Adds an output that it is of; then it is of no others.
    pub fn of(mut self, output: impl Into<String>) -> GradientRequest {
        self.of.push(output.into());
        self
    }

    /// Adds an input that it is by; then it is by no others but those added.
    pub fn by_input(mut self, input: impl Into<String>) -> GradientRequest {
        let input = RequestedParameter::Named(ParameterKind::Input, input.into());
        self.by.push(input);
        self
    }

    /// Adds a global that it is by. Its gradient is a number for each point.
    pub fn by_global(mut self, global: impl Into<String>) -> GradientRequest {
        let global = RequestedParameter::Named(ParameterKind::Global, global.into());
        self.by.push(global);
        self
    }

    /// Adds a buffer that it is by. Points add the gradient by each of its numbers to sums, which
    /// evaluators have: [`take_gradients`](crate::Evaluator::take_gradients). In forward mode the
    /// host gives the tangents by a buffer `d(w)`.
    pub fn by_buffer(mut self, buffer: impl Into<String>) -> GradientRequest {
        let buffer = RequestedParameter::Named(ParameterKind::Buffer, buffer.into());
        self.by.push(buffer);
        self
    }

    /// Adds all buffers that have floats and are read.
    pub fn by_buffers(mut self) -> GradientRequest {
        self.by.push(RequestedParameter::Buffers);
        self
    }

    /// Adds a texture that it is by. Points pass the adjoint of each of its samples to the host,
    /// which adds to the gradient of each texel:
    /// [`Host::texture_adjoint`](crate::Host::texture_adjoint). In forward mode the host answers
    /// samples of a texture `d(t)` by the tangents of the texels.
    ///
    /// ```
    /// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Host, Instance, SampleRequest, Sampled, Sources, Texel};
    /// use adumbra::gradient::GradientRequest;
    ///
    /// /// A texture of one texel, and its gradient.
    /// struct Flat {
    ///     texel: [f32; 4],
    ///     gradient: [f32; 4],
    /// }
    ///
    /// impl Host for Flat {
    ///     fn sample(&mut self, _: &SampleRequest) -> Sampled {
    ///         Texel::flat(self.texel).into()
    ///     }
    ///     fn texture_adjoint(&mut self, _: &SampleRequest, adjoint: &Texel) {
    ///         (self.gradient.iter_mut().zip(adjoint.numbers)).for_each(|(sum, number)| *sum += number);
    ///     }
    /// }
    ///
    /// let source = "texture2d albedo;
    ///             shader s(out float o) { color c = texture2d_sample<albedo>(0.5, 0.5); o = c.x * c.x + 3 * c.y; }";
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
    /// let gradient = program.gradient(&GradientRequest::new().by_texture("albedo"))?;
    /// let mut globals = Globals::new(gradient.program().globals());
    /// globals.set("d(o)", 1.0, 0.0, 0.0)?;
    /// let mut host = Flat { texel: [5.0; 4], gradient: [0.0; 4] };
    /// Evaluator::new(&Instance::new(gradient.program())).evaluate(&globals, &mut host);
    /// assert_eq!(host.gradient, [10.0, 3.0, 0.0, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn by_texture(mut self, texture: impl Into<String>) -> GradientRequest {
        let texture = RequestedParameter::Named(ParameterKind::Texture, texture.into());
        self.by.push(texture);
        self
    }

    /// Adds all textures.
    pub fn by_textures(mut self) -> GradientRequest {
        self.by.push(RequestedParameter::Textures);
        self
    }

    /// Adds all inputs that have floats.
    pub fn by_inputs(mut self) -> GradientRequest {
        self.by.push(RequestedParameter::Inputs);
        self
    }

    /// Adds all globals that have floats and are read.
    pub fn by_globals(mut self) -> GradientRequest {
        self.by.push(RequestedParameter::Globals);
        self
    }

    /// The mode that is asked for.
    pub fn mode(&self) -> Mode {
        match self.mode {
            RequestMode::Backward => Mode::Backward,
            RequestMode::Forward => Mode::Forward,
        }
    }
}
