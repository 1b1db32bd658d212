//! Hits against brute force, edges, mirrored instances, tangents, shapes.

use super::ray::SpaceRay;
use super::*;
use crate::differential::{Neighbours, RayDifferential, SurfaceDifferential};
use glam::{DMat3, DVec3};

fn point(random: &mut fastrand::Rng, size: f64) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|_| size * (2.0 * random.f64() - 1.0)))
}

fn direction(random: &mut fastrand::Rng) -> DVec3 {
    loop {
        let at = point(random, 1.0);
        if at.length_squared() > 1e-3 && at.length_squared() < 1.0 {
            // Some rays lie along axes, where slabs are parallel to them.
            let flat = DVec3::new(at.x, 0.0, 0.0);
            return if random.u32(0..10) == 0 { flat } else { at }.normalize();
        }
    }
}

fn soup(random: &mut fastrand::Rng, triangles: usize) -> Mesh {
    let mut mesh = Mesh::default();
    for triangle in 0..triangles as u32 {
        let centre = point(random, 1.0);
        // Long thin triangles and flat ones among small ones.
        let size = if random.u32(0..8) == 0 { 1.0 } else { 0.1 };
        for _ in 0..3 {
            let mut corner = centre + point(random, size);
            if triangle % 7 == 0 {
                corner.y = 0.25;
            }
            mesh.positions.push(corner.as_vec3());
        }
        mesh.triangles.push([0, 1, 2].map(|i| 3 * triangle + i));
    }
    mesh
}

fn random_map(random: &mut fastrand::Rng) -> DAffine3 {
    let column = |random: &mut fastrand::Rng| point(random, 1.5);
    loop {
        let columns = [column(random), column(random), column(random)];
        let map = DAffine3 {
            matrix3: DMat3::from_cols(columns[0], columns[1], columns[2]),
            translation: point(random, 3.0),
        };
        if map.matrix3.determinant().abs() > 0.1 {
            return map;
        }
    }
}

/// A world, and the meshes and instances that it was made of.
struct Case {
    world: World,
    meshes: Vec<Mesh>,
    instances: Vec<MeshInstance>,
}

fn random_case(random: &mut fastrand::Rng, instances: usize) -> Case {
    let meshes: Vec<Mesh> = (0..3)
        .map(|_| {
            let count = random.usize(0..200);
            soup(random, count)
        })
        .chain([sphere([12, 8]).unwrap(), quad()])
        .collect();
    let instances: Vec<MeshInstance> = (0..instances)
        .map(|material| MeshInstance {
            mesh: random.usize(0..meshes.len()),
            to_world: random_map(random),
            material,
        })
        .collect();
    Case {
        world: World::new(meshes.clone(), instances.clone()).unwrap(),
        meshes,
        instances,
    }
}

/// The nearest hit of all triangles in the world's space, by a test of its own (Möller and
/// Trumbore, 1997); none if it is too close to call.
fn nearest_by_brute_force(
    case: &Case,
    origin: DVec3,
    direction: DVec3,
) -> Option<Option<(f64, usize, usize)>> {
    let mut nearest: Option<(f64, usize, usize)> = None;
    for (index, instance) in case.instances.iter().enumerate() {
        let mesh = &case.meshes[instance.mesh];
        for (triangle, corners) in mesh.triangles.iter().enumerate() {
            let [a, b, c] = corners.map(|at| {
                let position = mesh.positions[at as usize].as_dvec3();
                instance.to_world.transform_point3(position)
            });
            let (ab, ac) = (b - a, c - a);
            let across = direction.cross(ac);
            let determinant = ab.dot(across);
            if determinant.abs() < 1e-9 * ab.length() * ac.length() {
                continue;
            }
            let from = origin - a;
            let u = from.dot(across) / determinant;
            let v = direction.dot(from.cross(ab)) / determinant;
            let t = ac.dot(from.cross(ab)) / determinant;
            let least = u.min(v).min(1.0 - u - v);
            if t > 0.0 && least.abs() < 1e-9 {
                return None;
            }
            if least > 0.0 && t > 0.0 && nearest.is_none_or(|(best, ..)| t < best) {
                nearest = Some((t, index, triangle));
            }
        }
    }
    Some(nearest)
}

#[test]
fn hits_are_those_of_brute_force() {
    let mut random = fastrand::Rng::with_seed(1);
    let (mut hits, mut misses, mut open) = (0, 0, 0);
    for instances in [1, 2, 7, 40] {
        let case = random_case(&mut random, instances);
        for _ in 0..400 {
            let origin = point(&mut random, 4.0);
            let target = point(&mut random, 2.0);
            let direction = match random.bool() {
                true => direction(&mut random),
                false => (target - origin).normalize(),
            };
            let hit = (case.world).intersect(origin, direction, 0.0, f64::INFINITY);
            let Some(expected) = nearest_by_brute_force(&case, origin, direction) else {
                open += 1;
                continue;
            };
            match (hit, expected) {
                (Some(hit), Some((t, instance, triangle))) => {
                    assert!((hit.t - t).abs() < 1e-9 * (1.0 + t), "{hit:?} {t}");
                    assert_eq!((hit.instance, hit.triangle), (instance, triangle));
                    assert_eq!(case.world.material(&hit), instance);
                    hits += 1;
                }
                (None, None) => misses += 1,
                (hit, expected) => panic!("{hit:?}, not {expected:?}"),
            }
            let limit = expected.map_or(1e9, |(t, ..)| t);
            let occluded = |end: f64| (case.world).is_occluded(origin, direction, 0.0, end);
            assert!(!occluded(limit * 0.999_999));
            assert_eq!(occluded(limit * 1.000_001), expected.is_some());
            let all = [0.0, f64::INFINITY];
            let obstacle = case.world.obstacle(origin, direction, all, |_| false);
            assert_eq!(obstacle, hit.map_or(Obstacle::None, Obstacle::Transparent));
        }
    }
    assert!(
        hits > 300 && misses > 300 && open < 20,
        "{hits} {misses} {open}"
    );
}

#[test]
fn traversal_loses_no_hit_of_the_same_test() {
    // The test of the traversal itself, without a hierarchy: the same hit to the bit.
    let mut random = fastrand::Rng::with_seed(2);
    let mesh = soup(&mut random, 3000);
    let instance = MeshInstance {
        mesh: 0,
        to_world: DAffine3::IDENTITY,
        material: 0,
    };
    let world = World::new(vec![mesh.clone()], vec![instance]).unwrap();
    for _ in 0..500 {
        let (origin, direction) = (point(&mut random, 2.0), direction(&mut random));
        let ray = SpaceRay::new(origin, direction, 2.0).unwrap();
        let mut expected: Option<(f64, usize)> = None;
        for (triangle, corners) in mesh.triangles.iter().enumerate() {
            let corners = corners.map(|at| mesh.positions[at as usize]);
            if let Some(t) = ray.hit(corners).filter(|t| *t > 0.0)
                && expected.is_none_or(|(best, _)| t < best)
            {
                expected = Some((t, triangle));
            }
        }
        let hit = world.intersect(origin, direction, 0.0, f64::INFINITY);
        let hit = hit.map(|hit| (hit.t, hit.triangle));
        assert_eq!(hit.map(|h| h.1), expected.map(|e| e.1));
        if let (Some((a, _)), Some((b, _))) = (hit, expected) {
            assert!((a - b).abs() < 1e-12 * (1.0 + b), "{a} {b}");
        }
    }
}

#[test]
fn no_ray_passes_between_triangles() {
    // Rays from inside a closed sphere through its vertices and edges.
    let mesh = sphere([24, 16]).unwrap();
    let mut random = fastrand::Rng::with_seed(3);
    let instance = MeshInstance {
        mesh: 0,
        to_world: random_map(&mut random),
        material: 0,
    };
    let world = World::new(vec![mesh.clone()], vec![instance]).unwrap();
    for corners in &mesh.triangles {
        for (from, to) in [(0, 1), (1, 2), (2, 0)] {
            let [a, b] = [from, to].map(|i| mesh.positions[corners[i] as usize].as_dvec3());
            for share in [0.0, 0.25, 0.5, random.f64()] {
                let origin = instance.to_world.transform_point3(point(&mut random, 0.3));
                let at = instance.to_world.transform_point3(a.lerp(b, share));
                let direction = (at - origin).normalize();
                let hit = world.intersect(origin, direction, 0.0, f64::INFINITY);
                let hit = hit.expect("the sphere is closed");
                assert!((hit.t - origin.distance(at)).abs() < 1e-6);
            }
        }
    }
}

#[test]
fn rays_through_exact_edges_hit() {
    // Every coordinate is exact, so edge functions are 0.
    let instance = MeshInstance {
        mesh: 0,
        to_world: DAffine3::IDENTITY,
        material: 0,
    };
    let mut turned = grid([4, 4]).unwrap();
    turned
        .triangles
        .iter_mut()
        .for_each(|corners| corners.reverse());
    for mesh in [grid([4, 4]).unwrap(), turned] {
        let world = World::new(vec![mesh], vec![instance]).unwrap();
        for (x, z) in (-4..=4).flat_map(|x| (-4..=4).map(move |z| (x, z))) {
            let origin = DVec3::new(0.125 * f64::from(x), 2.0, 0.125 * f64::from(z));
            let hit = world.intersect(origin, DVec3::NEG_Y, 0.0, 10.0);
            assert_eq!(hit.map(|hit| hit.t), Some(2.0), "{origin}");
        }
    }
}

#[test]
fn distances_are_within_the_boxes_of_triangles() {
    // Rays in the plane of a triangle but for rounding, which decides where they hit.
    let mut random = fastrand::Rng::with_seed(4);
    let mut hits = 0;
    for _ in 0..20_000 {
        let corners = [(); 3].map(|()| point(&mut random, 1.0).as_vec3());
        let [a, b, c] = corners.map(|corner| corner.as_dvec3());
        let inside = |s: f64, t: f64| a + s * (b - a) + t * (c - a);
        let target = inside(0.5 * random.f64(), 0.5 * random.f64());
        let origin = inside(6.0 * random.f64() - 3.0, -2.0);
        let ray = SpaceRay::new(origin, (target - origin).normalize(), 1.0).unwrap();
        let (min, max) = (a.min(b).min(c), a.max(b).max(c));
        if let Some(t) = ray.hit(corners) {
            let (near, far) = ray.interval(min, max);
            assert!(near <= t && t <= far, "{near} {t} {far}");
            hits += 1;
        }
    }
    assert!(hits > 2_000, "{hits}");
}

#[test]
fn normals_stay_across_sheared_instances() {
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..50 {
        let to_world = random_map(&mut random);
        let instance = MeshInstance {
            mesh: 0,
            to_world,
            material: 0,
        };
        let world = World::new(vec![quad()], vec![instance]).unwrap();
        let hit = RayHit {
            instance: 0,
            triangle: 0,
            t: 1.0,
        };
        let triangle = world.triangle(&hit);
        let [a, b, c] = triangle.positions;
        let across = (b - a).cross(c - a).normalize();
        let outside = if triangle.is_mirrored {
            -across
        } else {
            across
        };
        let normal = triangle.normals.unwrap()[1].normalize();
        assert!(normal.abs_diff_eq(outside, 1e-9), "{normal} {outside}");
    }
}

#[test]
fn equal_hits_have_the_least_index() {
    let instance = |material| MeshInstance {
        mesh: 0,
        to_world: DAffine3::IDENTITY,
        material,
    };
    let mut mesh = quad();
    mesh.triangles.extend(mesh.triangles.clone());
    let world = World::new(vec![mesh], vec![instance(5), instance(6)]).unwrap();
    // On the diagonal, which four triangles of two instances have.
    let origin = DVec3::new(0.5, 0.5, 1.0);
    let hit = world.intersect(origin, DVec3::NEG_Z, 0.0, 10.0).unwrap();
    assert_eq!((hit.instance, hit.triangle, hit.t), (0, 0, 1.0));
}

#[test]
fn limits_of_the_distance_are_exclusive() {
    let instance = MeshInstance {
        mesh: 0,
        to_world: DAffine3::from_scale(DVec3::splat(4.0)),
        material: 0,
    };
    let world = World::new(vec![quad()], vec![instance]).unwrap();
    let origin = DVec3::new(1.0, 2.5, 3.0);
    let hits = |min, max| world.intersect(origin, DVec3::NEG_Z, min, max).is_some();
    assert!(hits(0.0, 3.000_001) && hits(2.999_999, 4.0));
    assert!(!hits(0.0, 3.0) && !hits(3.0, 4.0));
    assert!(!hits(f64::NAN, 4.0) && !hits(0.0, f64::NAN));
}

#[test]
fn mirrored_instances_turn_signs() {
    let mut mesh = quad();
    mesh.make_tangents();
    let maps = [
        DVec3::ONE,
        DVec3::new(-1.0, 1.0, 1.0),
        DVec3::new(2.0, 3.0, -1.0),
    ];
    for scale in maps {
        let to_world = DAffine3::from_scale(scale);
        let instance = MeshInstance {
            mesh: 0,
            to_world,
            material: 0,
        };
        let world = World::new(vec![mesh.clone()], vec![instance]).unwrap();
        let target = to_world.transform_point3(DVec3::new(0.25, 0.5, 0.0));
        let hit = world.intersect(target + DVec3::Z, DVec3::NEG_Z, 0.0, 10.0);
        let triangle = world.triangle(&hit.unwrap());
        let sign = scale.element_product().signum();
        assert_eq!(triangle.is_mirrored, sign < 0.0);
        let normal = triangle.normals.unwrap()[0].normalize();
        let tangent = triangle.tangents.unwrap()[0].normalize();
        assert_eq!(normal, DVec3::Z * scale.z.signum());
        assert_eq!(tangent, DVec3::X * scale.x.signum());
        // Up in the texture is the mapped y, whatever is mirrored.
        let bitangent = triangle.tangent_w * normal.cross(tangent);
        assert_eq!(bitangent, DVec3::Y, "{scale}");
    }
}

#[test]
fn bitangents_are_the_same_without_mesh_tangents() {
    let maps = [
        DVec3::ONE,
        DVec3::new(-1.0, 1.0, 1.0),
        DVec3::new(2.0, 3.0, -1.0),
    ];
    // The texture as it is, mirrored along u, along v, and turned.
    let textures: [fn(Vec2) -> Vec2; 4] = [
        |uv| uv,
        |uv| Vec2::new(1.0 - uv.x, uv.y),
        |uv| Vec2::new(uv.x, 1.0 - uv.y),
        |uv| Vec2::new(uv.y, 1.0 - uv.x),
    ];
    for (index, scale) in (0..4).flat_map(|index| maps.map(|scale| (index, scale))) {
        let mut bare = quad();
        bare.uvs
            .iter_mut()
            .for_each(|uv| *uv = textures[index](*uv));
        let mut with = bare.clone();
        with.make_tangents();
        assert!(bare.tangents.is_empty() && !with.tangents.is_empty());
        let bitangent = |mesh: Mesh| {
            let to_world = DAffine3::from_scale(scale);
            let instance = MeshInstance {
                mesh: 0,
                to_world,
                material: 0,
            };
            let world = World::new(vec![mesh], vec![instance]).unwrap();
            let origin = to_world.transform_point3(DVec3::new(0.25, 0.5, 0.0)) + DVec3::Z;
            let hit = world.intersect(origin, DVec3::NEG_Z, 0.0, 10.0).unwrap();
            let triangle = world.triangle(&hit);
            let ray = RayDifferential {
                origin,
                direction: DVec3::NEG_Z,
                origin_d: [DVec3::ZERO; 2],
                direction_d: [DVec3::ZERO; 2],
                neighbours: Neighbours::Derivatives,
            };
            let surface = SurfaceDifferential::new(&triangle, &ray, hit.t);
            let up = -triangle.uv_axes()[1].normalize();
            (surface.bitangent.value, up)
        };
        let (own, up) = bitangent(bare);
        assert!(own.abs_diff_eq(bitangent(with).0, 1e-6), "{index} {scale}");
        assert!(
            own.abs_diff_eq(up, 1e-6),
            "{index} {scale}: it is up in the texture"
        );
    }
}

#[test]
fn tangents_split_at_mirrored_texture() {
    // Two squares side by side, whose u goes away from the common edge: the sign differs.
    let mut mesh = Mesh {
        positions: vec![
            Vec3::new(-1.0, 0.0, 0.0),
            Vec3::new(0.0, 0.0, 0.0),
            Vec3::new(1.0, 0.0, 0.0),
            Vec3::new(-1.0, 1.0, 0.0),
            Vec3::new(0.0, 1.0, 0.0),
            Vec3::new(1.0, 1.0, 0.0),
        ],
        normals: vec![Vec3::Z; 6],
        tangents: vec![],
        uvs: [
            [1.0, 1.0],
            [0.0, 1.0],
            [1.0, 1.0],
            [1.0, 0.0],
            [0.0, 0.0],
            [1.0, 0.0],
        ]
        .map(Vec2::from)
        .to_vec(),
        triangles: vec![[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]],
    };
    mesh.make_tangents();
    assert_eq!(mesh.positions.len(), 8, "the two of the edge are doubled");
    for (face, corners) in mesh.triangles.iter().enumerate() {
        for at in corners.map(|at| at as usize) {
            let tangent = mesh.tangents[at];
            let expected = if face < 2 { -1.0 } else { 1.0 };
            assert_eq!(tangent.truncate(), Vec3::X * expected);
            // u × up of the texture × the front.
            let bitangent = tangent.w * Vec3::Z.cross(tangent.truncate());
            assert_eq!(bitangent, Vec3::Y);
        }
    }
    assert!(super::check::check_mesh(&mesh).is_ok());
    // Without normals, the triangles' own are used.
    mesh.normals.clear();
    let with = std::mem::take(&mut mesh.tangents);
    mesh.make_tangents();
    assert_eq!(mesh.tangents, with);
}

#[test]
fn shapes_have_their_fronts_outside() {
    let shapes = [
        sphere([16, 8]).unwrap(),
        cylinder([16, 2]).unwrap(),
        cuboid(),
        grid([3, 2]).unwrap(),
        terrain([8, 8], 0.05, 4).unwrap(),
        quad(),
    ];
    for (index, mesh) in shapes.into_iter().enumerate() {
        assert!(super::check::check_mesh(&mesh).is_ok());
        let mut areas = 0;
        for corners in &mesh.triangles {
            let [a, b, c] = corners.map(|at| mesh.positions[at as usize]);
            let front = (b - a).cross(c - a);
            for at in corners {
                let normal = mesh.normals[*at as usize];
                assert!((normal.length() - 1.0).abs() < 1e-5);
                assert!(front.dot(normal) >= 0.0, "shape {index}");
            }
            areas += usize::from(front.length() > 1e-6);
        }
        assert!(areas * 10 > mesh.triangles.len() * 8, "shape {index}");
    }
}

#[test]
fn terrain_normals_are_those_of_its_slope() {
    let mesh = terrain([400, 400], 0.1, 3).unwrap();
    for at in
        (0..mesh.positions.len()).filter(|at| at % 1201 == 600 && at % 401 > 0 && at % 401 < 400)
    {
        let along = |step: usize| mesh.positions[at + step] - mesh.positions[at - step];
        let normal = along(401).cross(along(1)).normalize();
        assert!(normal.dot(mesh.normals[at]) > 0.9999, "{at}: {normal}");
    }
}
