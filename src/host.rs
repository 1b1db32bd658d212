//! The interface of a point to its host: textures, messages, limits, faults.

/// The renderer, as a point sees it while it is evaluated.
///
/// ```
/// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Host, Instance, SampleRequest, Sampled, Sources, host::MessageId};
///
/// /// A texture that shows its mip level, and a log.
/// #[derive(Default)]
/// struct Levels {
///     messages: usize,
/// }
///
/// impl Host for Levels {
///     fn sample(&mut self, request: &SampleRequest) -> Sampled {
///         let (x, y) = (request.dudx.hypot(request.dvdx), request.dudy.hypot(request.dvdy));
///         Sampled::Ready([(1024.0 * x.max(y)).max(1.0).log2(); 4])
///     }
///     fn message(&mut self, _: MessageId, _: &[u32]) {
///         self.messages += 1;
///     }
/// }
///
/// let source = "texture2d wood;
///             shader s(out float level) { printf(\"here\\n\"); level = texture2d_sample<wood>(global_value<uvw>.xy).x; }";
/// let program = Compiler::new(GlobalsLayout::hit()).compile(&Sources::new("s.adu", source))?;
/// let mut globals = Globals::new(program.globals());
/// globals.set("uvw", [0.5, 0.5, 0.0], [1.0 / 256.0, 0.0, 0.0], [0.0, 1.0 / 512.0, 0.0])?;
/// let (mut evaluator, mut host) = (Evaluator::new(&Instance::new(&program)), Levels::default());
/// evaluator.evaluate(&globals, &mut host);
/// assert_eq!((evaluator.get::<f32>("level")?, host.messages), (2.0, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use adumbra_ir::host::Host;

/// The limits of a point of a shader that is not trusted.
///
/// ```
/// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, Limits, NoTextures, Outcome, Sources, evaluator::Engine, host::FaultKind};
/// let source = "shader s(out float o) { o = 0; while (o >= 0) o += 1; }";
/// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
/// let limits = Limits { steps: 1000, ..Limits::default() };
/// let mut evaluator = Evaluator::with(&Instance::new(&program), Engine::Point, limits)?;
/// let outcome = evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
/// let fault = evaluator.faults().stopped().map(|fault| fault.kind);
/// assert_eq!((outcome, fault), (Outcome::Stopped, Some(FaultKind::StepBudget)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use adumbra_ir::host::Limits;

pub use adumbra_ir::host::{
    DEFAULT_STEPS, Fault, FaultKind, Faults, SampleRequest, Sampled, Texel, TexelSlopes,
};
pub use adumbra_ir::message::Message;
pub use adumbra_ir::module::{MessageId, TextureId};
