//! Batch instructions that work with the host: textures and messages.

use super::chunk::{Chunk, HostRequests, RunContext};
use super::instruction::footprint_operands;
use super::planes::OperandRef;
use crate::canonicalise;
use adumbra_ir::host::{
    FaultKind, SampleRequest, Sampled, Texel, TexelSlopes, canonical_float, read_shadow,
};
use adumbra_ir::module::{MessageId, MipSelection, Slopes, TextureId};
use adumbra_ir::types::Type;

/// An operand of an instruction as a float, for one point.
///
/// # Safety
/// The instruction has that operand, the chunk that point.
unsafe fn float(refs: *const OperandRef, operand: usize, point: usize) -> f32 {
    // SAFETY: guaranteed by the caller.
    f32::from_bits(unsafe { word(refs, operand, point) })
}

/// An operand of an instruction as a word, for one point.
///
/// # Safety
/// As for `float`.
unsafe fn word(refs: *const OperandRef, operand: usize, point: usize) -> u32 {
    // SAFETY: guaranteed by the caller.
    unsafe { *(*refs.add(operand)).point(point) }
}

/// The request of one point, by the operands of a sample or of its adjoint.
///
/// # Safety
/// The instruction has those that [`footprint_operands`] says, the chunk that point.
unsafe fn request(
    texture: TextureId,
    mip: MipSelection,
    slopes: Slopes,
    refs: *const OperandRef,
    point: usize,
) -> SampleRequest {
    // SAFETY: guaranteed by the caller.
    let number = |operand| unsafe { float(refs, operand, point) };
    let partial = |operand| match mip {
        MipSelection::Shadows => canonical_float(read_shadow(number(operand))),
        _ => canonical_float(number(operand)),
    };
    SampleRequest {
        texture,
        u: canonical_float(number(0)),
        v: canonical_float(number(1)),
        dudx: partial(2),
        dudy: partial(3),
        dvdx: partial(4),
        dvdy: partial(5),
        level: (mip == MipSelection::LEVEL).then(|| canonical_float(number(6))),
        slopes: slopes == Slopes::Given,
    }
}

impl Chunk {
    /// # Safety
    /// The operands are those of such an instruction.
    pub(super) unsafe fn sample(
        &mut self,
        texture: TextureId,
        mip: MipSelection,
        slopes: Slopes,
        elsewhere: (u32, u32),
        refs: *const OperandRef,
        context: &mut RunContext<'_>,
    ) {
        let HostRequests {
            points,
            requests,
            answers,
            ..
        } = &mut self.requests;
        points.clear();
        requests.clear();
        for point in self.active.iter() {
            points.push(context.first + point);
            // SAFETY: guaranteed by the caller.
            requests.push(unsafe { request(texture, mip, slopes, refs, point) });
        }
        answers.clear();
        answers.resize(requests.len(), Sampled::Pending);
        self.request_samples(context);
        let first = footprint_operands(mip);
        let mut waits = false;
        for (point, answer) in self.active.iter().zip(&self.requests.answers) {
            match answer {
                Sampled::Ready(numbers) | Sampled::Sloped(numbers, _) => {
                    for (operand, number) in (first..).zip(numbers) {
                        // SAFETY: guaranteed by the caller.
                        unsafe { *(*refs.add(operand)).point(point) = number.to_bits() };
                    }
                }
                Sampled::Pending => waits = true,
            }
        }
        if slopes == Slopes::Given {
            // SAFETY: the planes of the numbers come first, then those of their slopes.
            unsafe { self.write_slopes(first + 4, context.first, refs) };
        }
        if waits {
            self.suspend_unanswered(elsewhere, context);
        }
    }

    /// Passes the adjoints of a sample to the host, but those of helpers.
    ///
    /// # Safety
    /// The operands are those of such an instruction.
    pub(super) unsafe fn texture_adjoint(
        &mut self,
        texture: TextureId,
        mip: MipSelection,
        slopes: Slopes,
        refs: *const OperandRef,
        context: &mut RunContext<'_>,
    ) {
        let mut filled = std::mem::take(&mut self.requests);
        filled.points.clear();
        filled.requests.clear();
        filled.adjoints.clear();
        for point in self.active.iter().filter(|&point| !self.is_helper(point)) {
            filled.points.push(context.first + point);
            // SAFETY: guaranteed by the caller.
            let request = unsafe { request(texture, mip, slopes, refs, point) };
            filled.requests.push(request);
            // SAFETY: guaranteed by the caller.
            let number = |operand| canonical_float(unsafe { float(refs, operand, point) });
            let first = footprint_operands(mip);
            let numbers = (first..first + slopes.result_count()).map(number);
            filled.adjoints.push(Texel::of_numbers(numbers));
        }
        let HostRequests {
            points,
            requests,
            adjoints,
            ..
        } = &filled;
        if !points.is_empty() {
            context
                .host
                .texture_adjoint_batch(points, requests, adjoints);
        }
        self.requests = filled;
    }

    /// Writes the slopes of the answers, to the planes from an operand on.
    ///
    /// # Safety
    /// The instruction has a plane for each slope from that operand on.
    unsafe fn write_slopes(&mut self, first: usize, first_point: usize, refs: *const OperandRef) {
        let mut span = None;
        for i in 0..self.requests.answers.len() {
            let Some(texel) = self.requests.answers[i].texel() else {
                continue;
            };
            let point = self.requests.points[i] - first_point;
            if texel.lacks_slopes(true) {
                let span = *span.get_or_insert_with(|| self.span_of(self.site()));
                self.results.faults.add(point, FaultKind::NoSlopes, span);
            }
            let TexelSlopes { u, v } = texel.slopes.unwrap_or_default();
            for (operand, slope) in (first..).zip(u.iter().chain(&v)) {
                // SAFETY: guaranteed by the caller.
                unsafe { *(*refs.add(operand)).point(point) = slope.to_bits() };
            }
        }
    }

    /// Points that were not answered suspend.
    #[cold]
    fn suspend_unanswered(&mut self, elsewhere: (u32, u32), context: &mut RunContext<'_>) {
        let mut gone = std::mem::take(&mut self.test_masks);
        gone.fill(0);
        for i in 0..self.requests.answers.len() {
            if self.requests.answers[i] == Sampled::Pending {
                let point = self.requests.points[i] - context.first;
                let (vector, bit) = self.active.bit_of(point);
                gone[vector] |= bit;
                if self.quads.is_none() {
                    self.suspend(point, self.requests.requests[i], elsewhere, context);
                }
            }
        }
        match self.quads {
            Some(_) => self.suspend_quads(&mut gone, elsewhere, context),
            None => self.active.remove(&gone),
        }
        self.test_masks = gone;
    }

    /// The canonical arguments among an instruction's operands, of these types.
    ///
    /// # Safety
    /// The instruction has an operand for each scalar.
    unsafe fn arguments(&mut self, params: &[Type], refs: *const OperandRef, point: usize) {
        let resources = self.program.interface.resources.len();
        let closures = &self.results.closures;
        let arguments = &mut self.requests.arguments;
        arguments.clear();
        let mut operand = 0;
        for ty in params {
            ty.for_each_scalar(&mut |scalar| {
                // SAFETY: guaranteed by the caller.
                let word = unsafe { word(refs, operand, point) };
                operand += 1;
                let nodes = || closures.nodes_of(point);
                arguments.push(canonicalise::value(scalar, word, nodes, resources));
            });
        }
    }

    /// # Safety
    /// The operands are those of such an instruction.
    pub(super) unsafe fn message(
        &mut self,
        message: u32,
        refs: *const OperandRef,
        context: &mut RunContext<'_>,
    ) {
        let program = self.program.clone();
        let params = &program.interface.messages[message as usize].params;
        for vector in 0..self.active.vectors() {
            for point in self.active.points_of(vector, self.active.masks()[vector]) {
                if self.is_helper(point) {
                    continue;
                }
                // SAFETY: guaranteed by the caller.
                unsafe { self.arguments(params, refs, point) };
                context.host.at_point(context.first + point);
                let arguments = &self.requests.arguments;
                context.host.message(MessageId(message), arguments);
            }
        }
    }
}
