//! Samples of textures that are differentiated by: their adjoints go to the host.

use super::Transpose;
use crate::module::*;
use crate::types::Direction;

impl Transpose<'_> {
    /// Passes the adjoint of a sample to the host, unless nothing was added to it. A sample is
    /// linear in the texels: its numbers and their slopes alike.
    pub(super) fn sample(
        &mut self,
        inst: &Inst,
        texture: TextureId,
        mip: MipSelection,
        slopes: Slopes,
    ) {
        let (span, adjoints) = (inst.span, self.results(inst));
        let numbers = Slopes::Omitted.result_count();
        let (of_numbers, of_slopes) = adjoints.split_at(numbers.min(adjoints.len()));
        let has = |adjoints: &[Option<ValueId>]| adjoints.iter().any(Option::is_some);
        let slopes = match has(of_slopes) {
            true => slopes,
            false if has(of_numbers) => Slopes::Omitted,
            false => return,
        };
        let mut args: Args = inst.args.iter().map(|&a| self.value(a, span)).collect();
        let mip = match mip {
            MipSelection::Explicit(mip) => mip,
            MipSelection::Shadows => {
                let [u, v] = [args[0], args[1]];
                for direction in Direction::BOTH {
                    args.extend([u, v].map(|at| self.builder.shadow(direction, at, span)));
                }
                ExplicitMip::Gradients
            }
        };
        for adjoint in &adjoints[..slopes.result_count()] {
            args.push(match adjoint {
                Some(adjoint) => *adjoint,
                None => self.builder.float(0.0, span),
            });
        }
        let kind = InstKind::TextureAdjoint(texture, mip, slopes);
        self.builder.inst(kind, args, [], span);
    }
}
