//! How a program was compiled, so that it can be compiled with more: with a derivative.

use super::{Compiler, MainSource, OutputShadows};
use crate::diagnostics::Diagnostics;
use crate::gradient::{Transformation, Transformed};
use crate::group::Group;
use crate::program::Program;
use crate::sources::Sources;
use adumbra_ir::memory::HeapSize;
use adumbra_ir::{Code, Diagnostic, Span};
use std::sync::Arc;

/// The compiler of a program, and what it compiled beside the program's sources.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// The program's sources, by that grammar.
    Sources(Compiler, MainSource),
    /// A group.
    Group(Compiler, Group),
}

impl Origin {
    /// The program of the same shader, transformed by these, with what they report.
    ///
    /// # Errors
    /// If it cannot be.
    pub(crate) fn transformed(
        &self,
        sources: Option<&Sources>,
        transformations: &[Transformation],
    ) -> Result<(Arc<Program>, Transformed), Diagnostics> {
        let with = |compiler: &Compiler| {
            let transformations = transformations.iter().cloned();
            transformations.fold(compiler.clone(), Compiler::with_transformation)
        };
        let origin = match self {
            Origin::Sources(compiler, main) => Origin::Sources(with(compiler), *main),
            Origin::Group(compiler, group) => Origin::Group(with(compiler), group.clone()),
        };
        let (Origin::Sources(compiler, _) | Origin::Group(compiler, _)) = &origin;
        let (mut front, sources, shadows) = match &origin {
            Origin::Sources(_, main) => {
                let sources = sources.cloned().unwrap_or_else(|| Sources::new("", ""));
                let front = compiler.front_of(&sources, *main)?;
                (front, sources, OutputShadows::of(*main))
            }
            Origin::Group(_, group) => {
                let (front, sources) = compiler.linked(group)?;
                (front, sources, OutputShadows::FromOptions)
            }
        };
        let transformed = std::mem::take(&mut front.transformed);
        let program = compiler.finish(front, &sources, shadows, origin.clone())?;
        Ok((program, transformed))
    }
}

impl Program {
    /// The program of the same source without blocks after `[EliminateIfUnused]`, and with all
    /// others: see [`Compiler::without_blocks`].
    ///
    /// # Errors
    /// If the source has no block of one of the numbers, or the program was loaded, has inputs
    /// folded in, or is that of a group (E0574).
    pub fn without_blocks(&self, numbers: &[u32]) -> Result<Arc<Program>, Diagnostics> {
        if let (Some(Origin::Sources(compiler, MainSource::File)), Some(sources)) =
            (self.origin(), self.sources())
        {
            return compiler.clone().without_blocks(numbers).compile(sources);
        }
        let refused = Diagnostic::new(
            Code::NoSuchBlock,
            Span::default(),
            "only the program of one source, as it was compiled, has blocks to be left out",
        );
        let none = Sources::new("<program>", "");
        Err(Diagnostics::new(
            vec![refused],
            self.sources().unwrap_or(&none),
        ))
    }
}

impl HeapSize for Origin {
    fn heap_bytes(&self) -> usize {
        match self {
            Origin::Sources(compiler, _) => compiler.heap_bytes(),
            Origin::Group(compiler, group) => compiler.heap_bytes() + group.heap_bytes(),
        }
    }
}

impl HeapSize for Compiler {
    fn heap_bytes(&self) -> usize {
        // The registry of closures is the host's; a clone has no arenas.
        let Compiler {
            layout,
            closures: _,
            options,
            arenas: _,
            observes: _,
            all_marked: _,
            texture_slopes: _,
            eliminated,
            transformations,
        } = self;
        layout.heap_bytes()
            + options.shader.heap_bytes()
            + eliminated.heap_bytes()
            + transformations.heap_bytes()
    }
}
