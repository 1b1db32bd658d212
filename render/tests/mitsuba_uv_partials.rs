//! uv partials by the one-pixel rule against those of Mitsuba 3, on three scenes.
//!
//! `oracles/mitsuba_uv_partials.py` made the data, with Mitsuba's own cameras, rays and hits.

use adumbra_render::camera::{Camera, Projection};
use adumbra_render::differential::{SurfaceDifferential, Triangle};
use glam::{DVec2, DVec3};
use serde::Deserialize;

#[derive(Deserialize)]
struct Oracle {
    scenes: Vec<OracleScene>,
}

#[derive(Deserialize)]
struct OracleScene {
    name: String,
    camera: OracleCamera,
    triangles: Vec<OracleTriangle>,
    points: Vec<OraclePoint>,
}

#[derive(Deserialize)]
struct OracleCamera {
    resolution: [u32; 2],
    origin: [f64; 3],
    right: [f64; 3],
    up: [f64; 3],
    forward: [f64; 3],
    tan_half: Option<[f64; 2]>,
    half_size: Option<[f64; 2]>,
}

#[derive(Deserialize)]
struct OracleTriangle {
    v: [[f64; 3]; 3],
    uv: [[f64; 2]; 3],
}

#[derive(Deserialize)]
struct OraclePoint {
    pixel: [f64; 2],
    triangle: usize,
    uv: [f64; 2],
    duv_dx: [f64; 2],
    duv_dy: [f64; 2],
}

/// Mitsuba computes in f32.
const TOLERANCE: f64 = 1e-3;

#[test]
fn uv_partials_equal_mitsubas() {
    let oracle = include_str!("data/mitsuba_uv_partials.json");
    let oracle: Oracle = serde_json::from_str(oracle).expect("the oracle's format");
    let mut compared = 0;
    for scene in &oracle.scenes {
        let of = &scene.camera;
        let projection = match (of.tan_half, of.half_size) {
            (Some(tan_half), None) => Projection::Perspective {
                tan_half: tan_half.into(),
                shift: DVec2::ZERO,
            },
            (None, Some(half_size)) => Projection::Orthographic {
                half_size: half_size.into(),
            },
            _ => panic!("a camera of {}", scene.name),
        };
        let camera = Camera {
            origin: of.origin.into(),
            right: of.right.into(),
            up: of.up.into(),
            forward: of.forward.into(),
            projection,
            size: of.resolution,
        };
        for point in &scene.points {
            let of = &scene.triangles[point.triangle];
            let triangle = Triangle {
                positions: of.v.map(DVec3::from),
                normals: None,
                tangents: None,
                tangent_w: 1.0,
                is_mirrored: false,
                uvs: Some(of.uv.map(DVec2::from)),
            };
            let ray = camera.ray_with_sides(point.pixel.into(), DVec2::ZERO, 1.0);
            let t = triangle.distance(ray.origin, ray.direction).expect("a hit");
            let uv = SurfaceDifferential::new(&triangle, &ray, t).uv;
            assert!(uv.value.distance(point.uv.into()) < 1e-4, "{}", scene.name);
            for (found, expected) in [(uv.ddx, point.duv_dx), (uv.ddy, point.duv_dy)] {
                let expected = DVec2::from(expected);
                let error = found.distance(expected) / expected.length();
                assert!(
                    error < TOLERANCE,
                    "{}: {found} is not {expected}",
                    scene.name
                );
                compared += 1;
            }
        }
    }
    assert_eq!((oracle.scenes.len(), compared), (3, 288));
}
