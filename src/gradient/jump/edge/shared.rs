//! One search for the two points between which an edge is.
//!
//! In an image a point's neighbour has the point itself as its neighbour. Where a move from the one
//! before leads to the other, as far as is known, what is between them is searched from the one
//! before alone, and both see what is found. So each point's roots are the same in any block that
//! it is evaluated in.

use super::bracket::TOLERANCE;
use super::search::Root;
use crate::gradient::jump::axes::AxisMoves;
use crate::gradient::jump::image_points::ImagePoints;
use crate::gradient::jump::kernels::Kernel;
use crate::gradient::jump::points::Here;

/// A kernel with the points that see what is found in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedKernel {
    /// As it is searched.
    pub(super) kernel: Kernel,
    /// Whether its point sees it, and whether the neighbour does.
    sees: [bool; 2],
    /// The neighbour, if it is one of the block.
    neighbour: usize,
}

impl SharedKernel {
    /// The points that see what is found.
    pub(super) fn viewers(&self) -> impl Iterator<Item = usize> + use<> {
        let points = [self.kernel.point, self.neighbour].into_iter();
        points
            .zip(self.sees)
            .filter_map(|(point, sees)| sees.then_some(point))
    }

    /// A root of it, as a point sees it.
    pub(super) fn seen_from(&self, viewer: usize, root: &Root) -> SeenRoot {
        let Root { sample, rise, .. } = root;
        match viewer == self.kernel.point {
            true => SeenRoot {
                offset: sample.offset,
                rise: *rise,
            },
            false => SeenRoot {
                offset: sample.offset - self.kernel.to,
                rise: -rise,
            },
        }
    }
}

/// Where a root is, from a point that sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenRoot {
    /// How far, over the axis's spacing.
    pub(super) offset: f64,
    /// 1 if the jump is that away from the point, else -1.
    pub(super) rise: f64,
}

/// The kernels to be searched, in order of points, axes and sides: of kernels that see the same,
/// one.
pub(super) fn shared(
    kernels: &[Kernel],
    image: Option<&ImagePoints>,
    here: &Here<'_>,
    axes: &[AxisMoves],
) -> Vec<SharedKernel> {
    let all = kernels.iter().map(|&kernel| {
        let Kernel {
            point,
            axis,
            from,
            to,
        } = kernel;
        let image = image.filter(|_| to < from && !axes[axis].is_random);
        let before = image.and_then(|image| image.before(point, axis, here.first));
        let before = before.filter(|&from| here.leads_to((from, point), axes, axis, TOLERANCE));
        match before {
            None => SharedKernel {
                kernel,
                sees: [true, false],
                neighbour: point,
            },
            Some(before) => SharedKernel {
                kernel: Kernel {
                    point: before,
                    axis,
                    from,
                    to: -to,
                },
                sees: [false, true],
                neighbour: point,
            },
        }
    });
    let mut all: Vec<SharedKernel> = all.collect();
    let key = |of: &SharedKernel| {
        let Kernel {
            point,
            axis,
            from,
            to,
        } = of.kernel;
        (point, axis, to > from)
    };
    all.sort_by_key(|of| (key(of), of.sees[1]));
    all.dedup_by(|second, first| {
        let is_same = key(first) == key(second) && second.sees[1] && !first.sees[1];
        if is_same {
            first.sees[1] = true;
            first.neighbour = second.neighbour;
        }
        is_same
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{BatchGlobals, Part};
    use crate::gradient::jump::axes::{Axis, moves};
    use crate::{GlobalsLayout, Type};

    /// The kernels that are searched of points in two lines of three, whose neighbours along both
    /// axes all decide otherwise: where from, along which axis, to which side, and the points that
    /// see it.
    fn searched(xs: [f32; 6], ys: [f32; 6]) -> Vec<(usize, usize, f64, Vec<usize>)> {
        let layout = GlobalsLayout::new().with("pixel", Type::Vector(2)).unwrap();
        let axes = [0, 1].map(|scalar| Axis::new("pixel", scalar, 1.0));
        let axes = moves(&axes, &layout).unwrap();
        let mut globals = BatchGlobals::new(&layout);
        for (scalar, plane) in [&xs, &ys].into_iter().enumerate() {
            globals
                .plane("pixel", Part::Value, scalar, plane, 1)
                .unwrap();
        }
        let here = Here::new(&globals, layout.size() / 4, 0..6, 0);
        let kernels: Vec<Kernel> = (0..6)
            .flat_map(|point| {
                let sides = [(0, -1.0), (0, 1.0), (1, -1.0), (1, 1.0)];
                sides.map(|(axis, to)| Kernel {
                    point,
                    axis,
                    from: 0.0,
                    to,
                })
            })
            .collect();
        let found = shared(&kernels, Some(&ImagePoints::new(3, 0..6)), &here, &axes);
        let listed = found.iter().map(|of| {
            let Kernel {
                point, axis, to, ..
            } = of.kernel;
            (point, axis, to, of.viewers().collect())
        });
        listed.collect()
    }

    const YS: [f32; 6] = [0.5, 0.5, 0.5, 1.5, 1.5, 1.5];

    #[test]
    fn neighbours_share_what_is_between_them() {
        let found = searched([0.5, 1.5, 2.5, 0.5, 1.5, 2.5], YS);
        let of = |axis: usize| found.iter().filter(move |kernel| kernel.1 == axis);
        // In each line one from the first to the second, one on; and those at both ends.
        let along: Vec<_> = of(0)
            .map(|(from, _, side, seen)| (*from, *side, &seen[..]))
            .collect();
        assert_eq!(
            along,
            [
                (0, -1.0, &[0][..]),
                (0, 1.0, &[0, 1]),
                (1, 1.0, &[1, 2]),
                (2, 1.0, &[2]),
                (3, -1.0, &[3]),
                (3, 1.0, &[3, 4]),
                (4, 1.0, &[4, 5]),
                (5, 1.0, &[5]),
            ]
        );
        let shared = of(1).filter(|kernel| kernel.3.len() == 2);
        let shared: Vec<_> = shared.map(|(from, .., seen)| (*from, &seen[..])).collect();
        assert_eq!(shared, [(0, &[0, 3][..]), (1, &[1, 4]), (2, &[2, 5])]);
        assert_eq!(of(1).count(), 9);
    }

    #[test]
    fn points_that_no_move_leads_to_search_alone() {
        // Rounding is a move's; a thousandth is not.
        let near = searched([0.5, 1.500_000_1, 2.5, 0.5, 1.5, 2.5], YS);
        let far = searched([0.5, 1.501, 2.5, 0.5, 1.5, 2.5], YS);
        let shared = |found: &[(usize, usize, f64, Vec<usize>)]| {
            found.iter().filter(|kernel| kernel.3.len() == 2).count()
        };
        assert_eq!([shared(&near), shared(&far)], [6, 4]);
    }
    #[test]
    fn lines_are_apart_though_moves_lead_from_one_to_the_next() {
        let found = searched([0.5, 1.5, 2.5, 3.5, 4.5, 5.5], [0.5; 6]);
        let shared = found.iter().filter(|kernel| kernel.3.len() == 2);
        let shared: Vec<_> = shared.map(|(from, axis, ..)| (*from, *axis)).collect();
        assert_eq!(shared, [(0, 0), (1, 0), (3, 0), (4, 0)]);
    }
}
