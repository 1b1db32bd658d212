//! Folding of inputs into a program: the passes run anew, on the module as it was before shadows.

use super::{Compilation, Instance, Program};
use crate::compiler::{BackendOutput, Origin, run_backend};
use adumbra_ir::Diagnostic;
use adumbra_ir::link;
use adumbra_ir::module::Input;
use adumbra_vm::FloatEnvironment;
use std::fmt;
use std::sync::Arc;

/// The reasons why inputs cannot be folded into a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoldError {
    /// There is no input of this name.
    Unknown(String),
    /// The folded program needs too much memory.
    TooLarge(Box<Diagnostic>),
}

impl fmt::Display for FoldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FoldError::Unknown(name) => write!(f, "there is no input `{name}` to fold"),
            FoldError::TooLarge(diagnostic) => f.write_str(&diagnostic.message),
        }
    }
}

impl std::error::Error for FoldError {}

impl Instance {
    /// The same instance with all inputs folded in, of a program of its own, in which they are
    /// constants. Values that depend on nothing else are computed at once, and code that none of
    /// the inputs' values reaches is removed. Results are the same to the bit.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Instance, Sources};
    /// let source = "shader s(float scale = 2.0, float power = 1.0, out float o) { o = global_value<uvw>.x * pow(scale, power); }";
    /// let program = Compiler::new(GlobalsLayout::hit()).compile(&Sources::new("s.adu", source))?;
    /// let mut material = Instance::new(&program);
    /// material.set("power", 3.0_f32)?;
    ///
    /// let folded = material.fold()?;
    /// assert!(folded.program().inputs().is_empty());
    /// assert!(folded.program().stats().bytecode_ops < program.stats().bytecode_ops);
    ///
    /// // What is still to be set stays an input.
    /// let mut folded = material.fold_inputs(&["power"])?;
    /// folded.set("scale", 4.0_f32)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the folded program needs too much memory.
    pub fn fold(&self) -> Result<Instance, FoldError> {
        self.fold_where(|_| true)
    }

    /// The same instance with some inputs folded in, by name. The others stay inputs, with the
    /// values that they have here.
    ///
    /// # Errors
    /// If there is no such input, or the folded program needs too much memory.
    pub fn fold_inputs(&self, names: &[&str]) -> Result<Instance, FoldError> {
        let inputs = self.program.inputs();
        let mut names_in = names.iter();
        if let Some(name) = names_in.find(|name| inputs.iter().all(|input| input.name != **name)) {
            return Err(FoldError::Unknown((*name).to_owned()));
        }
        self.fold_where(|input| names.contains(&input.name.as_str()))
    }

    fn fold_where(&self, folds: impl Fn(&Input) -> bool) -> Result<Instance, FoldError> {
        let _mode = FloatEnvironment::enter();
        let inputs = self.program.inputs();
        if !inputs.iter().any(&folds) {
            return Ok(self.clone());
        }
        let prepared = self.program.prepared.as_ref();
        let prepared = prepared.expect("it has inputs");
        let (mut constants, mut left, mut start) = (Vec::new(), Vec::new(), 0);
        for input in inputs {
            let words = &self.inputs[start..start + input.ty.scalar_count()];
            start += words.len();
            let folds = folds(input);
            constants.push(folds.then(|| Box::from(words)));
            left.extend(words.iter().filter(|_| !folds));
        }
        let bound: Vec<Option<&[u32]>> = constants.iter().map(Option::as_deref).collect();
        let back = run_backend(link::bind(&prepared.module, &bound), prepared.options)
            .map_err(|diagnostic| FoldError::TooLarge(Box::new(diagnostic)))?;
        let phases = self.program.phases + back.phases;
        let program = Program::new(
            BackendOutput { phases, ..back },
            Compilation {
                layout: self.program.layout.clone(),
                sources: self.program.sources.clone(),
                origin: Origin::folded(prepared.clone(), constants, self.program.layout.clone()),
                warnings: self.program.warnings.clone(),
                of_outputs: self.program.of_outputs,
                second_order: self.program.second_order.clone(),
                kept: self.program.kept.clone(),
            },
        );
        Ok(Instance {
            inputs: left,
            buffers: self.buffers.clone(),
            ..Instance::new(&Arc::new(program))
        })
    }
}
