//! Images that are antialiased by their edges: at each point the average over its surroundings
//! along the axes on which edges count, as `edge/coverage.rs` derives it.

use super::batch::{JumpBatch, JumpReport};
use super::{RulePrograms, edge};
use crate::batch::whole::PlaneFloats;
use crate::batch::{BatchGlobals, OutputPlane};
use crate::evaluator::EngineError;
use crate::value::Part;
use adumbra_ir::host::Host;
use adumbra_vm::FloatEnvironment;
use std::ops::Range;

impl JumpBatch {
    /// Antialiases planes of the outputs that are differentiated, which have their values at these
    /// points: what lies beyond an edge counts by its share of the surroundings, from a neighbour
    /// to the other one, along the axis on which the edge counts. Other planes stay as they are.
    ///
    /// The gradient by the rules [`Edge`](super::JumpRules::Edge) is the derivative of this image
    /// by parameters that move edges and leave the colours beyond them; see the page "Gradients
    /// through edges". A shader without inputs has such a gradient by a global that it reads.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Sources, Type};
    /// use adumbra::batch::{BatchGlobals, OutputPlane, Part};
    /// use adumbra::gradient::{Axis, GradientRequest, JumpBatch, JumpRules};
    /// // White left of 0.4.
    /// let source = "shader s(out float c) { c = step(global_value<x>, 0.4); }";
    /// let compiler = Compiler::new(GlobalsLayout::new().with("x", Type::FLOAT)?);
    /// let program = compiler.compile(&Sources::new("s.adu", source))?;
    /// let (request, axes) = (GradientRequest::new().by_global("x"), [Axis::new("x", 0, 1.0)]);
    /// let jumps = program.jump_gradient(&request, &axes, JumpRules::Edge)?;
    ///
    /// let x = [-1.0_f32, 0.0, 1.0, 2.0];
    /// let mut globals = BatchGlobals::new(jumps.smooth().program().globals());
    /// globals.plane("x", Part::Value, 0, &x, 1)?;
    /// let mut c = [1.0_f32, 1.0, 0.0, 0.0];
    /// let planes = &mut [OutputPlane::new("c", Part::Value, 0, &mut c, 1)];
    /// let batch = JumpBatch::new(&jumps, &Instance::new(jumps.smooth().program()));
    /// batch.antialias(&globals, 0..4, planes, || NoTextures)?;
    /// // From -1 to 1, 0.6 of 2 is black; from 0 to 2, 0.4 of 2 is white.
    /// let exact = [1.0, 0.7, 0.2, 0.0];
    /// assert!(c.iter().zip(exact).all(|(c, exact)| (c - exact).abs() < 1e-6));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the engine is not there.
    ///
    /// # Panics
    /// If the rules are [`Pair`](super::JumpRules::Pair), which know no places of edges; if a host
    /// panics, or a plane is too short.
    pub fn antialias<H: Host>(
        &self,
        globals: &BatchGlobals<'_>,
        points: Range<usize>,
        planes: &mut [OutputPlane<'_>],
        host: impl Fn() -> H + Sync,
    ) -> Result<JumpReport, EngineError> {
        let programs = match &self.jumps.programs {
            RulePrograms::Edge(programs) => programs,
            RulePrograms::Smooth => return Ok(JumpReport::default()),
            RulePrograms::Pair(_) => panic!("edges have places by the rules `Edge` alone"),
        };
        let _mode = FloatEnvironment::enter();
        let found = self.on_threads(&points, &host, || {
            edge::Worker::new(self, programs, globals, &[], edge::Adds::Coverage)
        })?;
        let floats = PlaneFloats::of(planes, self.jumps.smooth().program());
        // Each float of a plane with its number among those of all outputs.
        let own = floats.places(planes).enumerate();
        let own: Vec<(usize, usize)> = own
            .filter_map(|(at, place)| Some((at, self.float_of(place)?)))
            .collect();
        found.revise(&own, &floats, planes);
        Ok(found.report)
    }

    /// The number of a scalar of an output among the floats that are differentiated.
    fn float_of(&self, (name, part, scalar): (&str, Part, usize)) -> Option<usize> {
        let mut before = 0;
        for output in self.jumps.smooth().outputs() {
            let floats = output.ty.float_scalars();
            if output.name == name && part == Part::Value {
                let float = floats.iter().position(|&float| float == scalar)?;
                return Some(before + float);
            }
            before += floats.len();
        }
        None
    }
}
