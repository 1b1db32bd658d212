//! How much light lobes reflect: directional albedos, from tables that are computed once.
//!
//! The albedo of a lobe decides what lower layers get, so that layers neither lose light nor add
//! any. Microfacets and rough diffuse surfaces leave out light that is reflected among their own
//! facets; [`Multiple`] adds it.

use super::fresnel::{self, grazing};
use super::{Scatter, diffuse, frame, ggx, sheen};
use crate::shading::closures::LEAST_SHEEN_ROUGHNESS;
use crate::shading::number::{Colour, LobeNumber};
use glam::{Vec2, Vec3};
use std::f32::consts::{FRAC_1_PI, TAU};
use std::sync::LazyLock;

/// Entries of a table along each axis.
const SIDE: usize = 32;
/// Samples of an entry along radius and angle of the disk that directions are sampled from.
const STRATA: [usize; 2] = [32, 24];
/// The least cosine of an entry: at 0 nothing is seen.
const LEAST_COSINE: f32 = 1e-4;

/// Functions of the cosine to the eye and of a roughness, both of 0 to 1. Entries lie at squares of
/// cosines, closest at grazing angles, where albedos change fastest.
struct Table<const N: usize> {
    entries: Vec<[f32; N]>,
    /// For each roughness the mean of the first function, weighted by the cosine.
    means: Vec<f32>,
}

impl<const N: usize> Table<N> {
    fn new(of: impl Fn(Vec3, f32) -> [f32; N]) -> Table<N> {
        /// Samples of a mean.
        const COUNT: usize = 256;
        let share = |at: usize| at as f32 / (SIDE - 1) as f32;
        let entries = (0..SIDE * SIDE).map(|at| {
            let root = share(at % SIDE);
            let cosine = (root * root).max(LEAST_COSINE);
            let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
            of(Vec3::new(sine, 0.0, cosine), share(at / SIDE))
        });
        let mut table = Table {
            entries: entries.collect(),
            means: Vec::new(),
        };
        let mean = |line: usize| {
            let centres = (0..COUNT).map(|at| (at as f32 + 0.5) / COUNT as f32);
            let sum: f32 = centres
                .map(|cosine| cosine * table.at(cosine, share(line))[0])
                .sum();
            2.0 * sum / COUNT as f32
        };
        table.means = (0..SIDE).map(mean).collect();
        table
    }

    /// The functions between the four nearest entries.
    fn at<R: LobeNumber>(&self, cosine: f32, roughness: R) -> [R; N] {
        let (column, across) = place(cosine.max(0.0).sqrt());
        let (line, down) = place(roughness);
        let first = line * SIDE + column;
        let corners = [first, first + 1, first + SIDE, first + SIDE + 1];
        let [a, b, c, d] = corners.map(|at| &self.entries[at]);
        std::array::from_fn(|i| mix(mix(a[i], b[i], across), mix(c[i], d[i], across), down))
    }

    /// The mean of the first function between the two nearest entries.
    fn mean<R: LobeNumber>(&self, roughness: R) -> R {
        let (line, down) = place(roughness);
        mix(self.means[line], self.means[line + 1], down)
    }
}

/// The entry below a share, and how far the share is towards the next.
fn place<R: LobeNumber>(share: R) -> (usize, R) {
    let at = share.unit_range() * (SIDE - 1) as f32;
    let low = (at.value() as usize).min(SIDE - 2);
    (low, at - low as f32)
}

fn mix<R: LobeNumber>(a: f32, b: f32, share: R) -> R {
    share * (b - a) + a
}

/// The mean over the unit disk. Strata are narrow at the edge, where GGX's tails are: with v from 0
/// to 1, the square of the radius is 1 − v³.
fn mean<const N: usize>(of: impl Fn(Vec2) -> [f32; N]) -> [f32; N] {
    let mut sums = [0.0; N];
    for at in 0..STRATA[0] * STRATA[1] {
        let v = ((at % STRATA[0]) as f32 + 0.5) / STRATA[0] as f32;
        let angle = TAU * ((at / STRATA[0]) as f32 + 0.5) / STRATA[1] as f32;
        let (sine, cosine) = libm::sincosf(angle);
        let values = of(Vec2::new(cosine, sine) * (1.0 - v * v * v).sqrt());
        let weight = 3.0 * v * v / (STRATA[0] * STRATA[1]) as f32;
        sums.iter_mut()
            .zip(values)
            .for_each(|(sum, value)| *sum += weight * value);
    }
    sums
}

/// The albedo of a lobe whose directions are sampled by the cosine law.
fn of_cosine_law(scatter: impl Fn(Vec3) -> Scatter) -> [f32; 1] {
    mean(|at| {
        let Scatter { value, density } = scatter(frame::above(at));
        [if density > 0.0 {
            value.value().x / density
        } else {
            0.0
        }]
    })
}

/// GGX by the root of α: its albedo without absorption, and the part of it that Schlick's term
/// adds at grazing angles.
static MICROFACETS: LazyLock<Table<2>> = LazyLock::new(|| {
    Table::new(|out, roughness| {
        let alpha = [(roughness * roughness).max(1e-4); 2];
        mean(|at| {
            let normal = ggx::visible_normal_at(alpha, out, at);
            let into = frame::reflected(out, normal);
            let Scatter { value, density } = ggx::reflect(alpha, out, into, |_| Colour::white());
            let weight = if density > 0.0 {
                value.value().x / density
            } else {
                0.0
            };
            [weight, weight * grazing(out.dot(normal))]
        })
    })
});

/// Oren and Nayar's reflection by σ.
static DIFFUSE: LazyLock<Table<1>> = LazyLock::new(|| {
    Table::new(|out, roughness| of_cosine_law(|into| diffuse::evaluate(roughness, out, into)))
});

/// Sheen by its roughness.
static SHEEN: LazyLock<Table<1>> = LazyLock::new(|| {
    Table::new(|out, roughness| {
        let roughness = roughness.max(LEAST_SHEEN_ROUGHNESS);
        of_cosine_law(|into| sheen::evaluate(roughness, out, into))
    })
});

/// The albedo of sheen, as the eye sees it.
pub(super) fn sheen<R: LobeNumber>(cosine: f32, roughness: R) -> R {
    SHEEN.at(cosine, roughness)[0].lesser(R::from(1.0))
}

/// Light that is reflected more than once within a surface: a reciprocal lobe that has what single
/// reflection lacks (Kulla and Conty, "Revisiting Physically Based Shading at Imageworks", SIGGRAPH
/// 2017 course).
#[derive(Clone, Copy, Debug)]
pub(super) struct Multiple<R> {
    kind: Surface,
    roughness: R,
    /// The value without cosines is this times what both directions lack.
    scale: Colour<R>,
    /// What the eye's direction lacks.
    lacking: R,
}

/// A surface whose single reflection lacks something.
#[derive(Clone, Copy, Debug)]
enum Surface {
    Microfacets,
    Diffuse,
}

impl Surface {
    fn albedo<R: LobeNumber>(self, cosine: f32, roughness: R) -> R {
        match self {
            Surface::Microfacets => MICROFACETS.at(cosine, roughness)[0],
            Surface::Diffuse => DIFFUSE.at(cosine, roughness)[0],
        }
    }
}

impl<R: LobeNumber> Multiple<R> {
    fn new(kind: Surface, roughness: R, cosine: f32, colour: Colour<R>, mean: R) -> Multiple<R> {
        /// With less than that lacking there is nothing to add.
        const LEAST: f32 = 1e-4;
        let scale = match 1.0 - mean.value() > LEAST {
            true => colour.map(|channel| channel * FRAC_1_PI / (R::from(1.0) - mean)),
            false => Colour::black(),
        };
        let reflected = kind.albedo(cosine, roughness);
        Multiple {
            kind,
            roughness,
            scale,
            lacking: lacking(reflected),
        }
    }

    /// The value with the cosine of `into`.
    pub(super) fn value(&self, into: Vec3) -> Colour<R> {
        if into.z <= 0.0 || self.is_nothing() {
            return Colour::black();
        }
        let lacking = lacking(self.kind.albedo(into.z, self.roughness));
        self.scale.scaled(self.lacking * lacking * into.z)
    }

    fn is_nothing(&self) -> bool {
        self.scale.value() == Vec3::ZERO
    }
}

/// What is left of an albedo to all light.
fn lacking<R: LobeNumber>(albedo: R) -> R {
    (R::from(1.0) - albedo).greater(R::from(0.0))
}

/// A diffuse surface: what it adds; it reflects all light then.
pub(super) fn diffuse<R: LobeNumber>(roughness: R, cosine: f32) -> Multiple<R> {
    let mean = DIFFUSE.mean(roughness);
    Multiple::new(Surface::Diffuse, roughness, cosine, Colour::white(), mean)
}

/// Microfacets of GGX's α, with Schlick's term from `f0`: what they add, their albedo, and the part
/// of it that is added.
pub(super) fn microfacets<R: LobeNumber>(
    alpha: [R; 2],
    f0: Colour<R>,
    cosine: f32,
) -> (Multiple<R>, Colour<R>, f32) {
    // The table is of one α: the root of the mean square loses about what both lose.
    let square = (alpha[0] * alpha[0] + alpha[1] * alpha[1]) * 0.5;
    let roughness = square.sqrt().sqrt();
    let [whole, at_grazing] = MICROFACETS.at(cosine, roughness);
    let mean = MICROFACETS.mean(roughness);
    let reflected = fresnel::schlick_mean(f0);
    let once_more = Colour::white() - reflected.scaled(R::from(1.0) - mean);
    let colour = (reflected * reflected).scaled(mean) / once_more;
    let multiple = Multiple::new(Surface::Microfacets, roughness, cosine, colour, mean);
    let once = f0.scaled(whole - at_grazing) + Colour::splat(at_grazing);
    let more = match multiple.is_nothing() {
        true => Colour::black(),
        false => colour.scaled(multiple.lacking),
    };
    let all = once + more;
    let share = more.value().element_sum() / all.value().element_sum().max(f32::MIN_POSITIVE);
    (multiple, all, share)
}
