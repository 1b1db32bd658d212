//! Lobes against integrals over directions: reciprocity of value and density, energy, samples.

use super::*;
use std::f32::consts::PI;

const NORMAL: Vec3 = Vec3::Z;

fn lobes() -> Vec<LobeShape> {
    let (normal, tangent) = (NORMAL, Vec3::X);
    let reflection = |alpha| LobeShape::Reflection {
        normal,
        tangent,
        alpha,
        f0: Colour([0.9, 0.5, 0.04]),
    };
    vec![
        LobeShape::Diffuse {
            normal,
            roughness: 0.0,
        },
        LobeShape::Diffuse {
            normal,
            roughness: 0.8,
        },
        reflection([0.3, 0.3]),
        reflection([0.5, 0.15]),
        LobeShape::Dielectric {
            normal,
            alpha: 0.3,
            ior: 1.5,
        },
        LobeShape::Sheen {
            normal,
            roughness: 0.4,
        },
    ]
}

fn bsdf(shape: LobeShape, out: Vec3, enters: bool) -> Bsdf {
    let mut bsdf = Bsdf::default();
    let lobe = Lobe {
        shape,
        weight: Colour::white(),
        layer: 0,
    };
    // The eye is outside or inside of what the triangle bounds.
    let is_above = out.z >= 0.0;
    let gnormal = if is_above == enters { NORMAL } else { -NORMAL };
    bsdf.set(&[lobe], out, gnormal);
    bsdf
}

/// The integral over all directions, by uniform samples of the sphere.
fn integral(mut of: impl FnMut(Vec3) -> f32) -> f32 {
    let mut random = PathRandom::new(3, [0, 0], 0);
    let count = 1_000_000;
    let sum: f64 = (0..count)
        .map(|_| {
            let unit = random.next_2d();
            let z = 1.0 - 2.0 * unit.x;
            let (sine, cosine) = libm::sincosf(2.0 * PI * unit.y);
            let radius = (1.0 - z * z).max(0.0).sqrt();
            f64::from(of(Vec3::new(radius * cosine, radius * sine, z)))
        })
        .sum();
    (sum / f64::from(count)) as f32 * 4.0 * PI
}

#[test]
fn densities_integrate_to_the_share_that_is_sampled() {
    for (out, enters) in [
        (Vec3::new(0.3, 0.2, 0.9), true),
        (Vec3::new(0.6, 0.0, 0.8), false),
    ] {
        let out = out.normalize();
        for shape in lobes() {
            let bsdf = bsdf(shape, out, enters);
            let whole = integral(|into| bsdf.evaluate(into).density);
            let mut random = PathRandom::new(5, [1, 1], 0);
            let sampled = (0..20_000)
                .filter(|_| bsdf.sample(&mut random).is_some())
                .count();
            let share = sampled as f32 / 20_000.0;
            assert!(
                (whole - share).abs() < 0.03,
                "{shape:?} {enters}: {whole}, {share}"
            );
        }
    }
}

#[test]
fn samples_estimate_the_integral_of_values() {
    let out = Vec3::new(0.5, 0.1, 0.8).normalize();
    for enters in [true, false] {
        for shape in lobes() {
            let bsdf = bsdf(shape, out, enters);
            let whole = integral(|into| bsdf.evaluate(into).value.value().x);
            let mut random = PathRandom::new(7, [2, 1], 0);
            let count = 50_000;
            let throughputs = (0..count).filter_map(|_| bsdf.sample(&mut random));
            let sum: f64 = throughputs
                .map(|sample| f64::from(sample.throughput.x))
                .sum();
            let mean = (sum / f64::from(count)) as f32;
            assert!(
                (whole - mean).abs() < 0.03 * whole.max(0.3),
                "{shape:?} {enters}: {whole}, {mean}"
            );
        }
    }
}

#[test]
fn lobes_reflect_no_more_than_they_get() {
    for cosine in [0.05_f32, 0.3, 0.7, 1.0] {
        let out = Vec3::new((1.0 - cosine * cosine).sqrt(), 0.0, cosine);
        for shape in lobes() {
            let bsdf = bsdf(shape, out, true);
            let reflected = integral(|into| {
                if into.z > 0.0 {
                    bsdf.evaluate(into).value.value().max_element()
                } else {
                    0.0
                }
            });
            assert!(reflected < 1.03, "{shape:?} at {cosine}: {reflected}");
        }
    }
}

#[test]
fn reflection_is_reciprocal() {
    let (a, b) = (
        Vec3::new(0.3, 0.4, 0.7).normalize(),
        Vec3::new(-0.6, 0.1, 0.5).normalize(),
    );
    for shape in lobes() {
        let there = bsdf(shape, a, true).evaluate(b).value.value() * a.z;
        let back = bsdf(shape, b, true).evaluate(a).value.value() * b.z;
        assert!(
            (there - back).abs().max_element() < 1e-5,
            "{shape:?}: {there} {back}"
        );
    }
}

#[test]
fn higher_layers_cover_lower_ones() {
    let out = Vec3::new(0.0, 0.0, 1.0);
    let base = Lobe {
        shape: LobeShape::Diffuse {
            normal: NORMAL,
            roughness: 0.0,
        },
        weight: Colour::white(),
        layer: 0,
    };
    let coat = Lobe {
        shape: LobeShape::Reflection {
            normal: NORMAL,
            tangent: Vec3::X,
            alpha: [0.1; 2],
            f0: Colour::splat(0.25),
        },
        weight: Colour::white(),
        layer: 1,
    };
    let mut bsdf = Bsdf::default();
    bsdf.set(&[base, coat], out, NORMAL);
    let grazing = Vec3::new(0.9, 0.0, 0.435_889_9);
    let diffuse = bsdf.evaluate(grazing).value.value().x;
    bsdf.set(&[base], out, NORMAL);
    let bare = bsdf.evaluate(grazing).value.value().x;
    bsdf.set(&[coat], out, NORMAL);
    let part = (diffuse - bsdf.evaluate(grazing).value.value().x) / bare;
    assert!((part - 0.75).abs() < 0.003, "{part}");
    let glow = Lobe {
        shape: LobeShape::Emission,
        weight: Colour::white(),
        layer: 0,
    };
    bsdf.set(&[glow, coat], out, NORMAL);
    assert_eq!(bsdf.emission, Colour::white(), "no layer covers emission");
}

#[test]
fn blends_keep_layers_of_both_parts_apart() {
    let out = Vec3::Z;
    let mirror = |weight: f32, f0: f32| Lobe {
        shape: LobeShape::Reflection {
            normal: NORMAL,
            tangent: Vec3::X,
            alpha: [0.0; 2],
            f0: Colour::splat(f0),
        },
        weight: Colour::splat(weight),
        layer: 1,
    };
    let gap = |weight: f32| Lobe {
        shape: LobeShape::Transparency,
        weight: Colour::splat(weight),
        layer: 0,
    };
    let base = |weight: f32| Lobe {
        shape: LobeShape::Diffuse {
            normal: NORMAL,
            roughness: 0.0,
        },
        weight: Colour::splat(weight),
        layer: 0,
    };
    let mut bsdf = Bsdf::default();
    let mut passed = |lobes: &[Lobe]| {
        bsdf.set(lobes, out, NORMAL);
        let diffuse = bsdf.evaluate(NORMAL).value.value().x * PI;
        [bsdf.transmittance.value().x, diffuse]
    };
    let cases = [
        // A blend of half a coated surface: its coat is beside the gap.
        (passed(&[gap(0.5), base(0.5), mirror(0.5, 0.4)]), [0.5, 0.3]),
        // A whole coat over half a surface lies over the gap as well.
        (passed(&[gap(0.5), base(0.5), mirror(1.0, 0.4)]), [0.3, 0.3]),
        // A pane.
        (passed(&[gap(1.0), mirror(1.0, 0.04)]), [0.96, 0.0]),
        (passed(&[gap(0.75), mirror(0.25, 1.0)]), [0.75, 0.0]),
        (passed(&[base(1.0), mirror(0.5, 0.4)]), [0.0, 0.8]),
    ];
    for (at, (found, expected)) in cases.into_iter().enumerate() {
        let off = [0, 1].map(|i| (found[i] - expected[i]).abs());
        assert!(
            off[0].max(off[1]) < 1e-5,
            "case {at}: {found:?}, not {expected:?}"
        );
    }
}

#[test]
fn smooth_glass_follows_fresnel_and_snell() {
    let out = Vec3::new(0.6, 0.0, 0.8);
    let glass = LobeShape::Dielectric {
        normal: NORMAL,
        alpha: 0.0,
        ior: 1.5,
    };
    let bsdf = bsdf(glass, out, true);
    assert!(!bsdf.is_rough());
    let mut random = PathRandom::new(1, [0, 0], 0);
    let mut reflected = 0;
    for _ in 0..20_000 {
        let sample = bsdf.sample(&mut random).unwrap();
        assert_eq!(sample.density, None);
        match sample.event {
            Event::Reflect { .. } => {
                reflected += 1;
                assert!((sample.into - Vec3::new(-0.6, 0.0, 0.8)).length() < 1e-6);
            }
            Event::Refract { .. } => {
                assert!((sample.into.x + 0.4).abs() < 1e-6, "{}", sample.into);
                assert!((sample.throughput.x - 1.0 / 2.25).abs() < 1e-5);
            }
            Event::Pass => panic!("glass bends light"),
        }
    }
    // Fresnel's formulas at this angle give 0.0439.
    assert!(
        (f64::from(reflected) / 20_000.0 - 0.0439).abs() < 0.006,
        "{reflected}"
    );
    // From within, beyond the critical angle, all is reflected.
    let inside = super::tests::bsdf(glass, Vec3::new(0.8, 0.0, 0.6), false);
    assert!(matches!(
        inside.sample(&mut random).unwrap().event,
        Event::Reflect { .. }
    ));
}

#[test]
fn normals_turned_from_the_eye_are_bent_to_it() {
    let out = Vec3::new(0.95, 0.0, 0.3).normalize();
    let light = Vec3::new(-0.3, 0.2, 0.9).normalize();
    // As a normal map or interpolation gives it near a silhouette: away from the eye, towards the
    // light, on the triangle's outside.
    let away = Vec3::new(-0.5, 0.0, 0.8).normalize();
    assert!(away.dot(out) < 0.0 && away.dot(light) > 0.0);
    let value = |normal: Vec3, out: Vec3, gnormal: Vec3, light: Vec3| {
        let mut bsdf = Bsdf::default();
        let lobe = Lobe {
            shape: LobeShape::Diffuse {
                normal,
                roughness: 0.0,
            },
            weight: Colour::white(),
            layer: 0,
        };
        bsdf.set(&[lobe], out, gnormal);
        bsdf.evaluate(light).value.value().x * PI
    };
    let bent = value(away, out, NORMAL, light);
    assert!(bent > 0.6, "it is lit nearly as it was: {bent}");
    // From the other side, by a normal of either sign, it is the same.
    assert_eq!(value(away, out, -NORMAL, light), bent);
    assert_eq!(value(-away, out, NORMAL, light), bent);
    // A normal that the eye sees stays what it is.
    assert!((value(NORMAL, out, NORMAL, light) - light.z).abs() < 1e-5);
    // Without a triangle's normal it is turned to the eye.
    assert!((value(away, out, Vec3::ZERO, -light) - away.dot(light)).abs() < 1e-5);
}
