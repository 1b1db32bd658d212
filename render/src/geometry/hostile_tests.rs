//! Rays and geometry that are degenerate, broken or too large.

use super::*;
use glam::{DVec3, Vec3A};

#[test]
fn hostile_rays_hit_nothing() {
    let instance = MeshInstance {
        mesh: 0,
        to_world: DAffine3::IDENTITY,
        material: 0,
    };
    let world = World::new(vec![quad()], vec![instance]).unwrap();
    let at = DVec3::new(0.5, 0.25, 1.0);
    for (origin, direction) in [
        (at, DVec3::ZERO),
        (at, DVec3::NAN),
        (at, DVec3::INFINITY),
        (DVec3::NAN, DVec3::NEG_Z),
        (DVec3::splat(f64::INFINITY), DVec3::NEG_Z),
        (DVec3::splat(f64::MAX), DVec3::NEG_ONE),
    ] {
        let hit = world.intersect(origin, direction, 0.0, f64::INFINITY);
        assert_eq!(hit, None, "{origin} {direction}");
    }
    // Within the plane of the quad: parallel, so no hit.
    let along = world.intersect(DVec3::new(-1.0, 0.5, 0.0), DVec3::X, 0.0, 10.0);
    assert_eq!(along, None);
}

#[test]
fn degenerate_meshes_have_finite_tangents() {
    let mut flat = grid([3, 3]).unwrap();
    flat.uvs.fill(Vec2::splat(0.5));
    let mut point = grid([2, 2]).unwrap();
    point.positions.fill(Vec3::ONE);
    let mut no_normal = grid([2, 2]).unwrap();
    no_normal.normals.fill(Vec3::ZERO);
    let mut huge = grid([2, 2]).unwrap();
    huge.positions.iter_mut().for_each(|p| *p *= 1e15);
    huge.uvs.iter_mut().for_each(|p| *p *= 1e15);
    let mut tiny = grid([2, 2]).unwrap();
    tiny.positions.iter_mut().for_each(|p| *p *= 1e-38);
    for mut mesh in [flat, point, no_normal, huge, tiny] {
        mesh.make_tangents();
        assert_eq!(mesh.tangents.len(), mesh.positions.len());
        for tangent in &mesh.tangents {
            assert!(
                (tangent.truncate().length() - 1.0).abs() < 1e-3,
                "{tangent}"
            );
            assert!(tangent.w.abs() == 1.0);
        }
    }
}

fn problem(mesh: Mesh, to_world: DAffine3) -> GeometryError {
    let instance = MeshInstance {
        mesh: 0,
        to_world,
        material: 0,
    };
    World::new(vec![mesh], vec![instance]).unwrap_err()
}

#[test]
fn broken_geometry_is_refused_with_its_place() {
    let broken = |change: &dyn Fn(&mut Mesh)| {
        let mut mesh = quad();
        change(&mut mesh);
        problem(mesh, DAffine3::IDENTITY).to_string()
    };
    let nan = broken(&|mesh| mesh.positions[2].y = f32::NAN);
    assert_eq!(nan, "mesh 0: entry 2 of its positions is not finite: NaN");
    let far = broken(&|mesh| mesh.positions[1].x = 1e20);
    assert!(
        far.contains("entry 1 of its positions is too large"),
        "{far}"
    );
    let infinite = broken(&|mesh| mesh.uvs[3].x = f32::INFINITY);
    assert_eq!(infinite, "mesh 0: entry 3 of its uvs is not finite: inf");
    let index = broken(&|mesh| mesh.triangles[1] = [0, 4, 1]);
    assert_eq!(
        index,
        "mesh 0: triangle 1 has the index 4, but there are 4 positions"
    );
    let count = broken(&|mesh| mesh.normals.truncate(3));
    assert_eq!(count, "mesh 0: it has 3 normals for 4 positions");
    for map in [
        DAffine3::ZERO,
        DAffine3::from_scale(DVec3::new(1.0, 0.0, 1.0)),
        DAffine3::from_scale(DVec3::splat(1e-60)),
    ] {
        assert_eq!(problem(quad(), map).problem, GeometryProblem::Singular);
    }
    let map = DAffine3::from_translation(DVec3::new(0.0, f64::NAN, 0.0));
    assert_eq!(problem(quad(), map).problem, GeometryProblem::Map);
    let map = DAffine3::from_scale(DVec3::splat(1e15)) * DAffine3::from_translation(DVec3::X);
    assert_eq!(problem(quad(), map).problem, GeometryProblem::TooFar);
    let instance = MeshInstance {
        mesh: 1,
        to_world: DAffine3::IDENTITY,
        material: 0,
    };
    let error = World::new(vec![quad()], vec![instance]).unwrap_err();
    assert_eq!(error.to_string(), "instance 0: there is no mesh 1");
}

#[test]
fn sizes_beyond_limits_are_refused() {
    let limits = GeometryLimits {
        triangles: 3,
        instances: 2,
    };
    let instance = MeshInstance {
        mesh: 0,
        to_world: DAffine3::IDENTITY,
        material: 0,
    };
    let error = World::with_limits(vec![quad(), quad()], vec![], limits).unwrap_err();
    assert_eq!(error.to_string(), "there are 4 triangles; the limit is 3");
    let error = World::with_limits(vec![quad()], vec![instance; 3], limits).unwrap_err();
    assert_eq!(error.to_string(), "there are 3 instances; the limit is 2");
    assert!(World::with_limits(vec![quad()], vec![instance; 2], limits).is_ok());
    let error = grid([MAX_SEGMENTS, MAX_SEGMENTS]).unwrap_err();
    assert!(error.to_string().contains("16384 × 16384"), "{error}");
    assert!(grid([0, 4]).is_err() && sphere([2, 2]).is_err() && cylinder([3, 0]).is_err());
}

#[test]
fn empty_and_flat_worlds_are_never_hit() {
    let instance = |mesh| MeshInstance {
        mesh,
        to_world: DAffine3::IDENTITY,
        material: 0,
    };
    let line = Mesh {
        positions: vec![Vec3::NEG_X, Vec3::X, Vec3::ZERO],
        triangles: vec![[0, 1, 2], [0, 0, 0], [1, 1, 2]],
        ..Mesh::default()
    };
    let worlds = [
        World::new(vec![], vec![]),
        World::new(vec![Mesh::default()], vec![instance(0)]),
        World::new(vec![line], vec![instance(0)]),
    ];
    for world in worlds {
        let world = world.unwrap();
        for direction in [DVec3::NEG_Z, DVec3::new(0.0, 1e-9, -1.0).normalize()] {
            let hit = world.intersect(DVec3::Z, direction, 0.0, f64::INFINITY);
            assert_eq!(hit, None);
        }
    }
    assert_eq!(World::new(vec![], vec![]).unwrap().bounds(), None);
}

#[test]
fn regular_triangles_build_shallow_hierarchies() {
    // Equal ones, a row of equal steps, and concentric ones: clustering that merges one pair a pass
    // would take quadratic time, and make a tree as deep as there are triangles.
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let shapes: [&dyn Fn(u32) -> [Vec3; 3]; 3] = [
        &|_| corners,
        &|index| corners.map(|corner| corner + index as f32 * Vec3::X),
        &|index| {
            let around = [[-1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [1.0, -1.0, 0.0]];
            around.map(|corner| (1.0 + index as f32) * Vec3::from(corner))
        },
    ];
    for shape in shapes {
        let mut boxes = Vec::new();
        for index in 0..100_000 {
            boxes.push(super::hierarchy::bounds(
                shape(index).map(Vec3A::from).into_iter(),
            ));
        }
        let hierarchy = super::hierarchy::Hierarchy::new(&boxes);
        let depth = hierarchy.depth();
        assert!(depth < 400, "{depth}");
    }
    let mut mesh = quad();
    mesh.triangles = vec![[0, 1, 2]; 10_000];
    let instance = MeshInstance {
        mesh: 0,
        to_world: DAffine3::IDENTITY,
        material: 0,
    };
    let world = World::new(vec![mesh], vec![instance]).unwrap();
    let hit = world.intersect(DVec3::new(0.75, 0.25, 1.0), DVec3::NEG_Z, 0.0, 10.0);
    assert_eq!(hit.unwrap().triangle, 0);
}
