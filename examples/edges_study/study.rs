//! The programs of the study, and their gradients by the library.

use crate::Fallible;
use crate::reference::Reference;
use crate::rule::ReferenceRule;
use adumbra::batch::{BatchGlobals, OutputPlane, Part};
use adumbra::gradient::{Axis, GradientRequest, JumpBatch, JumpPoint, JumpRules};
use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Program, Sources, Type};
use std::path::Path;
use std::sync::Arc;

/// A program of `examples/edges`, with the input that its gradient is by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Study {
    pub(crate) name: &'static str,
    pub(crate) size: [usize; 2],
    pub(crate) parameter: &'static str,
    /// By how much the input changes in differences: edges move by about a thousandth of a pixel.
    pub(crate) step: f64,
}

/// A compiled program.
pub(crate) struct StudiedProgram {
    pub(crate) study: Study,
    program: Arc<Program>,
}

/// Gradients of places by the library.
pub(crate) struct Gradients {
    pub(crate) by_place: Vec<f32>,
    /// Those that see edges.
    pub(crate) points: Vec<JumpPoint>,
    /// Places beside which edges do not count.
    pub(crate) nullified: usize,
}

impl StudiedProgram {
    pub(crate) fn new(study: Study) -> Fallible<StudiedProgram> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/edges");
        let path = path.join(study.name).with_extension("adu");
        let text = std::fs::read_to_string(&path)?;
        let layout = GlobalsLayout::new().with("pixel", Type::Vector(2))?;
        let program = Compiler::new(layout).compile(&Sources::new(study.name, text))?;
        Ok(StudiedProgram { study, program })
    }

    pub(crate) fn reference(&self) -> Reference {
        let module = self.program.module();
        Reference::new(module, self.study.parameter, self.study.step)
    }

    pub(crate) fn reference_rule(&self) -> ReferenceRule {
        ReferenceRule::new(&self.program, self.study.parameter, self.study.step)
    }

    /// The middles of all pixels, line by line.
    pub(crate) fn pixels(&self) -> Vec<[f64; 2]> {
        let [width, height] = self.study.size;
        let middle = |at: usize| [at % width, at / width].map(|at| at as f64 + 0.5);
        (0..width * height).map(middle).collect()
    }

    /// The gradients at these places of the sum of all outputs, by neighbours at that distance;
    /// `None` if the rules refuse the program.
    pub(crate) fn gradients(
        &self,
        rules: JumpRules,
        places: &[[f64; 2]],
        spacing: f64,
    ) -> Fallible<Option<Gradients>> {
        let request = GradientRequest::new().by_input(self.study.parameter);
        let axes = [0, 1].map(|scalar| Axis::new("pixel", scalar, spacing));
        let Ok(jumps) = self.program.jump_gradient(&request, &axes, rules) else {
            return Ok(None);
        };
        let gradient = jumps.smooth().program();
        let [x, y] = [0, 1].map(|axis| {
            let along = places.iter().map(|place| place[axis] as f32);
            along.collect::<Vec<f32>>()
        });
        let mut globals = BatchGlobals::new(gradient.globals());
        globals.plane("pixel", Part::Value, 0, &x, 1)?;
        globals.plane("pixel", Part::Value, 1, &y, 1)?;
        for output in jumps.smooth().outputs() {
            let seed = format!("d({})", output.name);
            match output.ty {
                Type::Vector(3) => globals.uniform(&seed, [1.0_f32; 3], [0.0; 3], [0.0; 3])?,
                _ => globals.uniform(&seed, 1.0_f32, 0.0, 0.0)?,
            }
        }
        let mut by_place = vec![0.0_f32; places.len()];
        let name = format!("d({})", self.study.parameter);
        let planes = &mut [OutputPlane::new(&name, Part::Value, 0, &mut by_place, 1)];
        let batch = JumpBatch::new(&jumps, &Instance::new(gradient)).threads(0);
        let (.., report) = batch.planes(&globals, 0..places.len(), planes, || NoTextures)?;
        Ok(Some(Gradients {
            by_place,
            points: batch.points(&globals, 0..places.len(), || NoTextures)?,
            nullified: report.nullified,
        }))
    }
}
