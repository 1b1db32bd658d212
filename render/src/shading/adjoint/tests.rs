//! Adjoints of leaves against differences of what a point gives.

use super::*;
use crate::shading::closures::ClosureTable;
use crate::shading::point::WavePoint;
use adumbra::{Compiler, GlobalsLayout, Sources};

const OUT: Vec3 = Vec3::new(0.48, -0.1, 0.87);

/// A coat over sheen over rough glass and a rough base, part of it a gap, and light of its own.
const SURFACE: &str = "shader s(out closure c) {
    float3 n = float3(0, 0, 1); float3 t = float3(1, 0, 0); float3 one = float3(1, 1, 1);
    c = make_closure<generalized_schlick_bsdf>(n, t, 0.2, 0.2, one, 2)
        + make_closure<generalized_schlick_bsdf>(n, t, 0, 0, one, 3)
        + make_closure<sheen_bsdf>(n, 0.5, 1) + make_closure<dielectric_bsdf>(n, 0.3, 1.5)
        + make_closure<oren_nayar>(n, 0.5) + make_closure<transparent>()
        + make_closure<emission>(one); }";

fn reader() -> LeafReader {
    let table = ClosureTable::new();
    let compiler = Compiler::new(GlobalsLayout::hit()).with_closures(table.registry().clone());
    let program = compiler.compile(&Sources::new("s.adu", SURFACE)).unwrap();
    LeafReader::of_leaves(&program.closure_leaves("c").unwrap()).unwrap()
}

/// The numbers of the leaves, in their order.
fn values() -> Vec<f32> {
    let (n, t) = ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0]);
    let leaves: [(&[f32; 3], Vec<f32>); 7] = [
        (
            &[0.75, 0.6, 0.5],
            [&n[..], &t, &[0.3, 0.15, 0.2, 0.1, 0.05, 2.0]].concat(),
        ),
        (
            &[0.4, 0.5, 0.65],
            [&n[..], &t, &[0.0, 0.0, 0.1, 0.2, 0.3, 3.0]].concat(),
        ),
        (&[0.5, 0.4, 0.3], [&n[..], &[0.45, 1.0]].concat()),
        (&[0.1, 0.2, 0.25], [&n[..], &[0.35, 1.5]].concat()),
        (&[0.3, 0.2, 0.25], [&n[..], &[0.6]].concat()),
        (&[0.3, 0.35, 0.4], Vec::new()),
        (&[0.5, 0.25, 1.0], vec![2.0, 3.0, 0.5]),
    ];
    leaves
        .iter()
        .flat_map(|(weight, rest)| weight.iter().chain(rest))
        .copied()
        .collect()
}

fn shaded(values: usize) -> ShadedPoint {
    let mut point = WavePoint {
        material: 0,
        hit: bytes_of_zero(),
        texture: Default::default(),
    };
    point.hit.gnormal.value = Vec3::Z;
    ShadedPoint {
        point,
        out: OUT.normalize(),
        values: 0..values,
    }
}

/// Seeds of a point at the origin.
fn bytes_of_zero() -> crate::differential::SurfaceSeeds {
    let (zero, none) = (
        adumbra::Dual::from(Vec3::ZERO),
        adumbra::Dual::from(glam::Vec2::ZERO),
    );
    crate::differential::SurfaceSeeds {
        uvw: zero,
        position: zero,
        normal: zero,
        gnormal: zero,
        incoming: zero,
        tangent: zero,
        bitangent: zero,
        uv: none,
        time: 0.0,
    }
}

/// What a loss counts of a point.
fn counted(reader: &LeafReader, values: &[f32], by: &PointAdjoint<'_>) -> f64 {
    let mut lobes = Vec::new();
    reader.lobes(values, &mut lobes);
    let mut bsdf = Bsdf::default();
    bsdf.set(&lobes, OUT.normalize(), Vec3::Z);
    let weigh = |colour: Colour, by: Vec3| f64::from(colour.value().dot(by));
    let mut sum = weigh(bsdf.emission, by.emission);
    sum += weigh(bsdf.transmittance, by.transmittance);
    for (into, by) in by.directions {
        sum += weigh(bsdf.evaluate(*into).value, *by);
    }
    by.mirror
        .map_or(sum, |(number, by)| sum + weigh(bsdf.mirror(number), by))
}

#[test]
fn adjoints_are_slopes_of_what_a_point_gives() {
    let (reader, values) = (reader(), values());
    // Near the mirror's direction, aside, and through the surface.
    let directions = [
        (
            Vec3::new(-0.5, 0.15, 0.8).normalize(),
            Vec3::new(1.0, 0.5, -0.5),
        ),
        (
            Vec3::new(0.2, 0.7, 0.4).normalize(),
            Vec3::new(-0.5, 1.5, 1.0),
        ),
        (
            Vec3::new(-0.3, 0.1, -0.9).normalize(),
            Vec3::new(0.5, 0.25, 2.0),
        ),
    ];
    let by = PointAdjoint {
        emission: Vec3::new(0.5, 1.0, 2.0),
        transmittance: Vec3::new(1.0, -1.0, 0.5),
        directions: &directions,
        // The mirror is on top.
        mirror: Some((0, Vec3::new(1.0, 2.0, -1.0))),
    };
    let mut adjoints = vec![0.0; values.len()];
    let tape = Tape::default();
    differentiate(
        &tape,
        &reader,
        &shaded(values.len()),
        &values,
        by,
        &mut adjoints,
    );
    let numbers: Vec<usize> = (reader.outputs().into_iter())
        .flat_map(|(_, numbers)| numbers)
        .collect();
    assert_eq!(numbers.len(), 7 * 3 + 5 + 5 + 1 + 1 + 1 + 3);
    for at in numbers {
        // The roughness of a mirror is none, on this side of the bound.
        if values[at] == 0.0 {
            assert_eq!(adjoints[at], 0.0);
            continue;
        }
        let step = 2e-3;
        let moved = |by_step: f32| {
            let mut moved = values.clone();
            moved[at] += by_step;
            counted(&reader, &moved, &by)
        };
        let slope = (moved(step) - moved(-step)) / f64::from(2.0 * step);
        let off = (f64::from(adjoints[at]) - slope).abs();
        assert!(
            off < 2e-3 * slope.abs() + 2e-3,
            "number {at}: {} {slope}",
            adjoints[at]
        );
    }
}
