//! The interface of a program: inputs, outputs, textures, closures, messages.

use super::Program;
use crate::access::{AccessError, ClosureSlot, InputSlot, OutputSlot, Slot, find, find_typed};
use crate::value::{HostValue, OutputValue, Part};
use adumbra_ir::module::{Buffer, ClosureShape, Input, Message, Output, Texture};
use adumbra_ir::{Scalar, Type};

impl Program {
    /// The name of the shader.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources};
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", "shader one(out int o) { o = 1; }"))?;
    /// assert_eq!(program.name(), "one");
    /// # Ok::<(), adumbra::Diagnostics>(())
    /// ```
    pub fn name(&self) -> &str {
        self.bytecode().shader_name()
    }

    /// The inputs that the host may set, in order.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources};
    /// let source = r#"shader s(float gain = 0.5 <<< label = "Gain", min = 0, max = 1.5, slider >>>, out float o) { o = gain; }"#;
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
    /// let gain = &program.inputs()[0];
    /// assert_eq!((gain.name.as_str(), gain.default[0]), ("gain", 0.5_f32.to_bits()));
    /// assert_eq!(gain.metadata_value("label").and_then(|label| label.as_str()), Some("Gain"));
    /// assert_eq!(gain.metadata_value("max").and_then(|max| max.as_number()), Some(1.5));
    /// assert_eq!(gain.metadata_value("slider").and_then(|slider| slider.as_bool()), Some(true));
    /// assert_eq!(gain.metadata_value("unit"), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn inputs(&self) -> &[Input] {
        &self.interface().inputs
    }

    /// The outputs, in order.
    pub fn outputs(&self) -> &[Output] {
        &self.interface().outputs
    }

    /// Whether its outputs have derivatives to be read: whether it was compiled with
    /// [`output_derivatives`](crate::Options::output_derivatives). Those of expressions and
    /// observed programs always are.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Options, Program, Sources};
    /// let sources = Sources::new("one.adu", "shader one(out float o) { o = 1.0; }");
    /// for output_derivatives in [false, true] {
    ///     let options = Options { output_derivatives, ..Options::default() };
    ///     let program = Compiler::new(GlobalsLayout::new()).with_options(options).compile(&sources)?;
    ///     let loaded = Program::from_bytecode(&program.to_bytecode()).unwrap();
    ///     assert_eq!(loaded.output_derivatives(), output_derivatives);
    /// }
    /// # Ok::<(), adumbra::Diagnostics>(())
    /// ```
    pub fn output_derivatives(&self) -> bool {
        self.bytecode().output_derivatives()
    }

    /// Requires the derivatives of an output.
    ///
    /// # Errors
    /// If it does not compute them.
    pub(crate) fn check_derivatives(&self, output: &str) -> Result<(), AccessError> {
        match self.output_derivatives() {
            true => Ok(()),
            false => Err(AccessError::NoDerivatives {
                name: output.to_owned(),
            }),
        }
    }

    /// Requires that part of all outputs; the error names the first of them.
    ///
    /// # Errors
    /// If it does not compute their derivatives.
    pub(crate) fn check_words(&self, part: Part) -> Result<(), AccessError> {
        match self.outputs().first() {
            Some(output) if part != Part::Value => self.check_derivatives(&output.name),
            _ => Ok(()),
        }
    }

    /// The scalars before an output, or a member of one, that is read as that type.
    ///
    /// # Errors
    /// If there is none, it has another type, or derivatives that are not computed.
    pub(crate) fn find_read<T: OutputValue>(&self, path: &str) -> Result<usize, AccessError> {
        let before = find_typed(self.outputs(), path, &T::Value::ty())?;
        if T::HAS_DERIVATIVES {
            self.check_derivatives(path)?;
        }
        Ok(before)
    }

    /// The input that a path names: the number of scalars before it, and its type. For hosts that
    /// learn types only as they run.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources, Type};
    /// let source = "struct lamp { float3 at; float power; }; shader s(int n, lamp l, out float o) { o = n * l.power; }";
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
    /// assert_eq!(program.find_input("l.power"), Some((4, &Type::FLOAT)));
    /// assert_eq!(program.find_input("l.colour"), None);
    /// # Ok::<(), adumbra::Diagnostics>(())
    /// ```
    pub fn find_input(&self, path: &str) -> Option<(usize, &Type)> {
        find(self.inputs(), path).ok()
    }

    /// The output that a path names: the number of scalars before it, and its type.
    /// [`Evaluator::words`](crate::Evaluator::words) counts scalars in this way.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources, Type};
    /// let source = "struct hit { float t; int id; }; shader s(out float2 p, out hit h) { h.id = 7; }";
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
    /// assert_eq!(program.find_output("p"), Some((0, &Type::Vector(2))));
    /// assert_eq!(program.find_output("h.t"), Some((2, &Type::FLOAT)));
    /// # Ok::<(), adumbra::Diagnostics>(())
    /// ```
    pub fn find_output(&self, path: &str) -> Option<(usize, &Type)> {
        find(self.outputs(), path).ok()
    }

    /// The location of an input, for hosts that set it often: by its name, or by a path to a member
    /// of a struct, as in `ray.origin`.
    ///
    /// # Errors
    /// If there is no such input or it has another type.
    pub fn input_slot<T: HostValue>(&self, path: &str) -> Result<InputSlot<T>, AccessError> {
        Slot::find(self.inputs(), path)
    }

    /// The location of an output, for hosts that read it at every point: by its name, or by a path
    /// to a member of a struct, as in `ray.origin`. `T` is the value's type, or a
    /// [`Dual`](crate::Dual) of it, which has the derivatives too.
    ///
    /// ```
    /// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources};
    /// let source = "struct hit { float t; int id; }; shader s(float x, out hit h) { h.t = 2 * x; h.id = 7; }";
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
    /// let (x, t) = (program.input_slot::<f32>("x")?, program.output_slot::<f32>("h.t")?);
    /// let globals = Globals::new(program.globals());
    /// let mut instance = Instance::new(&program);
    /// for value in [1.0, 2.0] {
    ///     instance.write(x, value);
    ///     let mut evaluator = Evaluator::new(&instance);
    ///     evaluator.evaluate(&globals, &mut NoTextures);
    ///     assert_eq!(evaluator.read(t), 2.0 * value);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such output, it has another type, or derivatives that are not computed.
    pub fn output_slot<T: OutputValue>(&self, path: &str) -> Result<OutputSlot<T>, AccessError> {
        Ok(Slot::at(self.find_read::<T>(path)?, self.outputs()))
    }

    /// The location of an output of type closure.
    ///
    /// ```
    /// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources};
    /// let source = "shader s(out closure c) { c = make_closure<glow>(2.0); }";
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
    /// let slot = program.closure_slot("c")?;
    /// let mut evaluator = Evaluator::new(&Instance::new(&program));
    /// evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
    /// assert_eq!(evaluator.closure(slot).text()?, "glow(2.0)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such output or it has another type.
    pub fn closure_slot(&self, name: &str) -> Result<ClosureSlot, AccessError> {
        Slot::of_type(self.outputs(), name, &Type::Scalar(Scalar::Closure))
    }

    /// The textures that requests refer to, with the metadata of their declarations.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources, program::Texture};
    /// let source = r#"texture2d wood <<< file = "oak.png", wrap_u = "clamp" >>>; shader s(out color c) { c = texture2d_sample<wood>(0.5, 0.5); }"#;
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
    /// let wood = &program.textures()[0];
    /// assert_eq!((wood.name.as_str(), wood.metadata_str(Texture::FILE)), ("wood", Some("oak.png")));
    /// # Ok::<(), adumbra::Diagnostics>(())
    /// ```
    pub fn textures(&self) -> &[Texture] {
        &self.interface().textures
    }

    /// The buffers that its points read, whose numbers an instance has
    /// ([`Instance::set_buffer`](crate::Instance::set_buffer)).
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources, Type};
    /// let source = "buffer<float3> colours; shader s(out color c) { c = colours[1]; }";
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
    /// let colours = program.buffers().next().unwrap();
    /// assert_eq!((colours.name.as_str(), &colours.element), ("colours", &Type::Vector(3)));
    /// # Ok::<(), adumbra::Diagnostics>(())
    /// ```
    pub fn buffers(&self) -> impl Iterator<Item = &Buffer> {
        let buffers = self.interface().buffers.iter();
        buffers.filter(|buffer| !buffer.is_sum())
    }

    /// The closures that its points may make: names and types of the arguments, by the numbers that
    /// leaves have ([`ClosureLeaf::shape`](crate::closure::ClosureLeaf::shape)). So a host searches
    /// for its own once for each program.
    ///
    /// ```
    /// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources, closure::Closure};
    /// let source = "shader s(out closure c) { c = make_closure<glow>(2.0); }";
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
    /// let glow = program.closures().iter().position(|shape| shape.name == "glow");
    ///
    /// let mut evaluator = Evaluator::new(&Instance::new(&program));
    /// evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
    /// let Some(Closure::Leaf(leaf)) = evaluator.closure(program.closure_slot("c")?).closure() else { panic!() };
    /// assert_eq!(Some(leaf.shape()), glow);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn closures(&self) -> &[ClosureShape] {
        &self.interface().closures
    }

    /// Names of the host's resources that its closures are given, by their words among a leaf's
    /// arguments.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources};
    /// let source = "shader_resource table; shader s(out closure c) { c = make_closure<measured>(table); }";
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
    /// assert_eq!(program.resources(), ["table"]);
    /// # Ok::<(), adumbra::Diagnostics>(())
    /// ```
    pub fn resources(&self) -> &[String] {
        &self.interface().resources
    }

    /// The messages that its points may give, by the numbers that
    /// [`Host::message`](crate::Host::message) receives.
    ///
    /// ```
    /// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Host, Instance, Program, SampleRequest, Sampled, Sources, host::MessageId};
    /// let source = "shader s(int n = 2, out int o) { printf(\"n is %d\\n\", n); o = n; }";
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
    ///
    /// struct Log<'p>(&'p Program, String);
    /// impl Host for Log<'_> {
    ///     fn sample(&mut self, _: &SampleRequest) -> Sampled {
    ///         Sampled::Ready([1.0; 4])
    ///     }
    ///     fn message(&mut self, message: MessageId, args: &[u32]) {
    ///         self.1 += &self.0.messages()[message.index()].render(args);
    ///     }
    /// }
    /// let mut log = Log(&program, String::new());
    /// Evaluator::new(&Instance::new(&program)).evaluate(&Globals::new(program.globals()), &mut log);
    /// assert_eq!(log.1, "n is 2\n");
    /// # Ok::<(), adumbra::Diagnostics>(())
    /// ```
    pub fn messages(&self) -> &[Message] {
        &self.interface().messages
    }
}
