//! The neighbours of a lone point in its quad: their globals follow from its own and their
//! derivatives.

use crate::globals::GlobalsLayout;
use adumbra_ir::quad::Corner;
use adumbra_ir::{Direction, Scalar};
use adumbra_vm::FloatEnvironment;

/// The helpers of such a quad.
pub(super) const LONE_POINT_HELPERS: [bool; 4] = [false, true, true, true];

/// Memory for the globals of three neighbours.
#[derive(Default)]
pub(crate) struct QuadNeighbours([Box<[u32]>; 3]);

impl QuadNeighbours {
    pub(crate) fn new(layout: &GlobalsLayout) -> QuadNeighbours {
        let words = layout.size() / 4;
        QuadNeighbours([(); 3].map(|()| vec![0; words].into_boxed_slice()))
    }

    /// The globals of the whole quad.
    pub(crate) fn quad_globals<'a>(
        &'a mut self,
        layout: &GlobalsLayout,
        globals: &'a [u32],
    ) -> [&'a [u32]; 4] {
        let mode = FloatEnvironment::enter_for_point();
        for (corner, words) in Corner::ALL[1..].iter().zip(&mut self.0) {
            neighbour(layout, globals, *corner, words);
        }
        drop(mode);
        let [right, below, across] = &self.0;
        [globals, right, below, across]
    }

    /// Bytes of the heap that they take.
    pub(super) fn heap(&self) -> usize {
        self.0.iter().map(|words| size_of_val(&words[..])).sum()
    }
}

/// The globals of a neighbour of the upper left point: each float plus its derivative towards the
/// right, plus that downwards.
fn neighbour(layout: &GlobalsLayout, globals: &[u32], corner: Corner, words: &mut [u32]) {
    let towards = |direction| corner.neighbours(direction).1 == corner;
    words.fill(0);
    for member in layout.members() {
        let [values, ddx, ddy] = [0, 1, 2].map(|part| member.part(part));
        let mut scalars = values.zip(ddx.zip(ddy));
        member.ty().for_each_scalar(&mut |scalar| {
            let (at, shadows) = scalars.next().expect("one for each scalar");
            words[at] = globals[at];
            if scalar != Scalar::F32 {
                return;
            }
            let mut value = f32::from_bits(globals[at]);
            for (direction, shadow) in Direction::BOTH.into_iter().zip([shadows.0, shadows.1]) {
                if towards(direction) {
                    value += f32::from_bits(globals[shadow]);
                }
            }
            words[at] = value.to_bits();
        });
    }
}
