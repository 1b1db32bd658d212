//! A case's inputs, from the camera or from given rays on, evaluated in one precision.

use super::super::case::{Evaluation, Quantities, numbers};
use super::formulas::{Camera, Neighbours, Projection, Ray, RayDifferential};
use super::formulas::{SurfaceDifferential, Triangle};
use super::{Real, Vec2, Vec3};
use adumbra::Dual;
use serde_json::Value;

fn real(of: &Value) -> Real {
    of.as_f64().expect("a number") as Real
}

fn vec3(of: &Value) -> Vec3 {
    let at = numbers(of);
    Vec3::new(at[0] as Real, at[1] as Real, at[2] as Real)
}

fn vec2(of: &Value) -> Vec2 {
    let at = numbers(of);
    Vec2::new(at[0] as Real, at[1] as Real)
}

fn three<T>(of: &Value, each: impl Fn(&Value) -> T) -> [T; 3] {
    [0, 1, 2].map(|corner| each(&of[corner]))
}

fn ray(of: &Value) -> Ray {
    Ray {
        origin: vec3(&of[0]),
        direction: vec3(&of[1]),
    }
}

/// The columns of an instance's linear part, and its offset.
struct Instance([Vec3; 3], Vec3);

impl Instance {
    fn new(of: &Value) -> Instance {
        let entry = |i: usize, j: usize| real(&of[i][j]);
        let column = |at: usize| Vec3::new(entry(0, at), entry(1, at), entry(2, at));
        Instance([column(0), column(1), column(2)], column(3))
    }

    fn vector(&self, v: Vec3) -> Vec3 {
        self.0[0] * v.x + self.0[1] * v.y + self.0[2] * v.z
    }

    fn determinant(&self) -> Real {
        let [x, y, z] = self.0;
        x.cross(y).dot(z)
    }

    /// By the inverse transpose.
    fn normal(&self, n: Vec3) -> Vec3 {
        let [x, y, z] = self.0;
        (y.cross(z) * n.x + z.cross(x) * n.y + x.cross(y) * n.z) / self.determinant()
    }
}

/// A triangle of the world, or of an object if there is an instance.
fn triangle(of: &Value, instance: Option<&Value>, sign: Real) -> Triangle {
    let instance = instance.map(Instance::new);
    let sign = instance
        .as_ref()
        .map_or(sign, |instance| instance.determinant().signum());
    let world = |change: fn(&Instance, Vec3) -> Vec3, v: Vec3| match &instance {
        Some(instance) => change(instance, v),
        None => v,
    };
    let point = |instance: &Instance, v: Vec3| instance.vector(v) + instance.1;
    let vectors = |key: &str, change: fn(&Instance, Vec3) -> Vec3| {
        let corners = of.get(key)?;
        Some(three(corners, |v| world(change, vec3(v))))
    };
    Triangle {
        positions: vectors("v", point).expect("corners"),
        normals: vectors("n", Instance::normal),
        tangents: vectors("t", Instance::vector),
        tangent_w: match of.get("t") {
            Some(_) => of.get("tangent_w").map_or(1.0, real) * sign,
            None => 1.0,
        },
        is_mirrored: sign < 0.0,
        uvs: of.get("uv").map(|uv| three(uv, vec2)),
    }
}

fn camera(of: &Value) -> Camera {
    let (tan_half, shift) = (|| vec2(&of["tan_half"]), || vec2(&of["shift"]));
    Camera {
        origin: vec3(&of["origin"]),
        right: vec3(&of["right"]),
        up: vec3(&of["up"]),
        forward: vec3(&of["forward"]),
        projection: match of["type"].as_str() {
            Some("perspective") => Projection::Perspective {
                tan_half: tan_half(),
                shift: shift(),
            },
            Some("orthographic") => Projection::Orthographic {
                half_size: vec2(&of["half_size"]),
            },
            Some("thin_lens") => Projection::ThinLens {
                tan_half: tan_half(),
                shift: shift(),
                lens_radius: real(&of["lens_radius"]),
                focus_distance: real(&of["focus_distance"]),
            },
            other => panic!("a camera of type {other:?}"),
        },
        size: [0, 1].map(|axis| of["resolution"][axis].as_u64().expect("a size") as u32),
    }
}

#[allow(
    clippy::unnecessary_cast,
    reason = "they are f64 in one of the precisions"
)]
fn of_vec3(v: Vec3) -> Vec<f64> {
    v.to_array().map(|x| x as f64).to_vec()
}

#[allow(
    clippy::unnecessary_cast,
    reason = "they are f64 in one of the precisions"
)]
fn of_vec2(v: Vec2) -> Vec<f64> {
    v.to_array().map(|x| x as f64).to_vec()
}

fn add<T>(to: &mut Quantities, name: &str, of: Dual<T>, list: fn(T) -> Vec<f64>) {
    to.insert(name.to_string(), list(of.value));
    to.insert(format!("{name}_dx"), list(of.ddx));
    to.insert(format!("{name}_dy"), list(of.ddy));
}

fn quantities(surface: &SurfaceDifferential) -> Quantities {
    let mut all = Quantities::new();
    add(&mut all, "P", surface.position, of_vec3);
    add(&mut all, "bary", surface.barycentric, of_vec2);
    add(&mut all, "uv", surface.uv, of_vec2);
    add(&mut all, "N", surface.normal, of_vec3);
    add(&mut all, "T", surface.tangent, of_vec3);
    add(&mut all, "B", surface.bitangent, of_vec3);
    add(&mut all, "I", surface.incoming, of_vec3);
    add(&mut all, "gnormal", surface.gnormal.into(), of_vec3);
    all
}

fn differential(ray: &RayDifferential) -> Quantities {
    let ([o_x, o_y], [d_x, d_y]) = (ray.origin_d, ray.direction_d);
    let all = [
        ("O", ray.origin),
        ("D", ray.direction),
        ("dO_dx", o_x),
        ("dO_dy", o_y),
        ("dD_dx", d_x),
        ("dD_dy", d_y),
    ];
    all.map(|(name, v)| (name.to_string(), of_vec3(v))).into()
}

fn hit(triangle: &Triangle, ray: &RayDifferential) -> SurfaceDifferential {
    // Degenerate triangles have no plane; all that is asked is that results are finite.
    let t = triangle.distance(ray.origin, ray.direction).unwrap_or(1.0);
    SurfaceDifferential::new(triangle, ray, t)
}

/// The ray after an event of a path; none if it cannot be transmitted.
fn follow(event: &Value, surface: &SurfaceDifferential) -> Option<RayDifferential> {
    let normal = surface.normal.value;
    match event["event"].as_str() {
        Some("reflect") => Some(surface.reflected(normal)),
        Some("refract") => surface.refracted(normal, real(&event["eta"])),
        other => panic!("an event {other:?}"),
    }
}

/// A ray with the derivatives that two side rays have by differences.
fn by_differences(of: &RayDifferential, sides: [Ray; 2]) -> RayDifferential {
    RayDifferential {
        origin_d: sides.map(|side| side.origin - of.origin),
        direction_d: sides.map(|side| side.direction - of.direction),
        neighbours: Neighbours::Derivatives,
        ..*of
    }
}

/// Evaluates a case.
pub(crate) fn evaluate(case: &Value) -> Evaluation {
    let sign = case["signs"].get("instance_det_sign").map_or(1.0, real);
    let last = triangle(&case["triangle"], None, sign);
    if case.get("camera").is_none() {
        return evaluate_rays(case, &last);
    }
    let camera = camera(&case["camera"]);
    let (pixel, step) = (vec2(&case["pixel"]), real(&case["pixel_step"]));
    let lens = case["camera"].get("lens_sample").map_or(Vec2::ZERO, vec2);
    let mut exact = camera.ray(pixel, lens).scaled(step);
    let mut one_pixel = camera.ray_with_sides(pixel, lens, step);
    let mut evaluation = Evaluation::default();
    let empty = Vec::new();
    for event in case["path"].as_array().unwrap_or(&empty) {
        let is_end = event["event"] == "end";
        let at = match is_end {
            true => last,
            false => triangle(&event["triangle"], event.get("instance"), 1.0),
        };
        let (surface, surface_by_sides) = (hit(&at, &exact), hit(&at, &one_pixel));
        let event_values = (quantities(&surface), differential(&exact));
        evaluation.events.push(event_values);
        if is_end {
            break;
        }
        let Some(next) = follow(event, &surface) else {
            let normal = surface.normal.value;
            evaluation.reflected = Some(differential(&surface.reflected(normal)));
            break;
        };
        exact = next;
        one_pixel = follow(event, &surface_by_sides).expect("it is transmitted as well");
    }
    evaluation.exact = quantities(&hit(&last, &exact));
    evaluation.exact_ray = differential(&exact);
    if let Some(tangents) = case["alternative_mikktspace"].get("t") {
        let instance = case.get("instance").map(Instance::new);
        let world = |t: &Value| {
            let t = vec3(t);
            instance.as_ref().map_or(t, |instance| instance.vector(t))
        };
        let other = Triangle {
            tangents: Some(three(tangents, world)),
            tangent_w: real(&tangents[0][3]) * sign,
            ..last
        };
        evaluation.alternative = Some(quantities(&hit(&other, &exact)));
    }
    evaluation.one_pixel = quantities(&hit(&last, &one_pixel));
    if let Neighbours::Rays(sides) = one_pixel.neighbours {
        // An axis without a side ray is not compared.
        let own = Ray {
            origin: one_pixel.origin,
            direction: one_pixel.direction,
        };
        let sides = sides.map(|side| side.unwrap_or(own));
        evaluation.finite = quantities(&hit(&last, &by_differences(&one_pixel, sides)));
    }
    evaluation
}

/// Evaluates a case that gives three rays in place of a camera. The true derivative of the ray's
/// direction is an input as well, if the case has it.
fn evaluate_rays(case: &Value, last: &Triangle) -> Evaluation {
    let [own, x, y] = ["ray", "ray_x", "ray_y"].map(|key| ray(&case[key]));
    let still = RayDifferential {
        origin: own.origin,
        direction: own.direction,
        origin_d: [Vec3::ZERO; 2],
        direction_d: [Vec3::ZERO; 2],
        neighbours: Neighbours::Derivatives,
    };
    let finite = by_differences(&still, [x, y]);
    let mut exact = finite;
    if let Some(truth) = case.get("true_screen_derivative") {
        exact.direction_d = ["I_dx", "I_dy"].map(|key| vec3(&truth[key]));
    }
    let one_pixel = RayDifferential {
        neighbours: Neighbours::Rays([Some(x), Some(y)]),
        ..finite
    };
    Evaluation {
        exact: quantities(&hit(last, &exact)),
        exact_ray: differential(&exact),
        one_pixel: quantities(&hit(last, &one_pixel)),
        finite: quantities(&hit(last, &finite)),
        ..Evaluation::default()
    }
}
