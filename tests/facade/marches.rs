//! Ray marches: facts of how surfaces move, and what a march must not depend on.

use adumbra::batch::{BatchGlobals, BatchSetup, OutputPlane, Part};
use adumbra::derivatives::central_differences;
use adumbra::evaluator::Engine;
use adumbra::gradient::{Axis, GradientRequest, JumpBatch, JumpRules};
use adumbra::{
    Compiler, Evaluator, Globals, GlobalsLayout, Instance, Limits, NoTextures, Options, Outcome,
    Program, Sources, Type,
};
use serde_json::Value;
use std::sync::Arc;

/// The shaders of the facts. Each output is 1 on the left of its edge and 0 on the right; `f` is
/// the field where a ray is nearest.
const FACTS: &str = "
    float ball(float3 p, float radius, float x) { return length(p - float3(x, 0, 0)) - radius; }
    shader parallel(float R = 1.3, float cx = 0.2, out float edge, out float f)
    {
        hit found = raymarch<ball>(float3(global_value<x>, 0, -5), float3(0, 0, 1), 20000, R, cx);
        edge = found.converged ? 1.0 : 0.0;
        f = found.distance;
    }
    float beside(float3 p, float radius, float x) { return min(ball(p, radius, x), ball(p, 1.0, -9.0)); }
    shader two(float R = 1.3, float cx = 0.2, out float edge)
    {
        edge = raymarch<beside>(float3(global_value<x>, 0, -5), float3(0, 0, 1), 20000, R, cx).converged ? 1.0 : 0.0;
    }
    shader pinhole(float R = 1, float D = 4, out float edge, out float f)
    {
        hit found = raymarch<ball>(float3(0.3, 0, -D), normalize(float3(global_value<x>, 0, 2)), 20000, R, 0.0);
        edge = found.converged ? 1.0 : 0.0;
        f = found.distance;
    }
    float corner(float3 p, float a, float b) { return max(p.x - a, -p.z - b); }
    shader box(float a = 0.7, float b = 0.5, out float edge)
    {
        float3 across = float3(cos(0.4), 0, -sin(0.4)), along = float3(sin(0.4), 0, cos(0.4));
        edge = raymarch<corner>(global_value<x> * across - 5.0 * along, along, 200, a, b).converged ? 1.0 : 0.0;
    }
    float balls(float3 p, float c) { return min(ball(p, 1.0, c), ball(p, 1.0, -c)); }
    shader crease(float c = 0.5, out float edge)
    {
        float3 normal = raymarch<balls>(float3(0.8, 0, -4), normalize(float3(global_value<x>, 0, 2)), 200, c).normal;
        edge = normal.x > 0.0 ? 1.0 : 0.0;
    }
    shader depth(float R = 1.3, out float t)
    {
        t = raymarch<ball>(float3(global_value<x>, 0, -5), float3(0, 0, 1), 200, R, 0.0).t;
    }";

fn compiled(source: &str, shader: Option<&str>, globals: &[(&str, Type)]) -> Arc<Program> {
    let mut layout = GlobalsLayout::new();
    for (name, ty) in globals {
        layout = layout.with(*name, ty.clone()).unwrap();
    }
    let options = Options {
        shader: shader.map(str::to_owned),
        output_derivatives: true,
        ..Options::default()
    };
    let compiler = Compiler::new(layout).with_options(options);
    let program = compiler.compile(&Sources::new("march.adu", source));
    program.unwrap_or_else(|found| panic!("{found}"))
}

fn of_facts(shader: &str) -> Arc<Program> {
    compiled(FACTS, Some(shader), &[("x", Type::FLOAT)])
}

/// The known value of a fact.
fn known(id: &str) -> f64 {
    let facts = include_str!("../data/discontinuity_facts.json");
    let facts: Vec<Value> = serde_json::from_str(facts).unwrap();
    let fact = facts.iter().find(|fact| fact["id"] == id);
    fact.unwrap()["value"].as_f64().unwrap()
}

/// How fast an edge between a place and its neighbour moves by an input, by the rules `edge`.
fn speed(shader: &str, input: &str, x: f32, engine: Engine) -> f64 {
    const SPACING: f64 = 0.05;
    let axes = [Axis::new("x", 0, SPACING)];
    let request = GradientRequest::new().of("edge").by_input(input);
    let edges = of_facts(shader).jump_gradient(&request, &axes, JumpRules::Edge);
    let edges = edges.unwrap_or_else(|found| panic!("{found}"));
    let gradient = edges.smooth().program();
    let mut globals = BatchGlobals::new(gradient.globals());
    globals.uniform("x", x, 0.0, 0.0).unwrap();
    globals.uniform("d(edge)", 1.0_f32, 0.0, 0.0).unwrap();
    let mut found = [0.0_f32];
    let name = format!("d({input})");
    let planes = &mut [OutputPlane::new(&name, Part::Value, 0, &mut found, 1)];
    let batch = JumpBatch::new(&edges, &Instance::new(gradient)).engine(engine);
    let (_, report, jumps) = batch.planes(&globals, 0..1, planes, || NoTextures).unwrap();
    assert_eq!((report.stopped, jumps.nullified, jumps.points), (0, 0, 1));
    // An edge counts half its jump over the spacing.
    2.0 * SPACING * f64::from(found[0])
}

/// The gradient of an output at a place, by an input and by x.
fn slopes(shader: &str, output: &str, input: &str, x: f32) -> [f64; 2] {
    let request = GradientRequest::new().of(output).by_input(input);
    let gradient = of_facts(shader).gradient(&request.by_global("x")).unwrap();
    let instance = Instance::new(gradient.program());
    let mut globals = Globals::new(gradient.program().globals());
    globals.set("x", x, 0.0, 0.0).unwrap();
    globals
        .set(&format!("d({output})"), 1.0_f32, 0.0, 0.0)
        .unwrap();
    let mut evaluator = Evaluator::new(&instance);
    assert_eq!(
        evaluator.evaluate(&globals, &mut NoTextures),
        Outcome::Finished
    );
    let slope = |name: &str| f64::from(evaluator.get::<f32>(name).unwrap());
    [slope(&format!("d({input})")), slope("d(x)")]
}

#[test]
fn facts_of_edges_hold_on_every_engine() {
    // Rays converge where the field is 0.0004 t, so the silhouette of a ball seen from near is
    // that of one which is larger by so much: by D it moves 2.4e-4 faster, by R 1.3e-4. Steps are
    // as long there: the place where the field is least is known to half of that, and the normal.
    let (exact, of_larger) = (1e-4, 3e-4);
    for (id, shader, input, x, tolerance) in [
        ("march-parallel-dR", "parallel", "R", 1.48, exact),
        ("march-parallel-dcx", "parallel", "cx", 1.48, exact),
        // Its outline moves with the field, whichever surfaces are elsewhere.
        ("march-parallel-dR", "two", "R", 1.48, exact),
        ("march-parallel-dcx", "two", "cx", 1.48, exact),
        ("march-pinhole-dR", "pinhole", "R", 0.35, of_larger),
        ("march-pinhole-dD", "pinhole", "D", 0.35, of_larger),
        ("march-box-da", "box", "a", 0.82, exact),
        ("march-crease-dc", "crease", "c", -0.52, exact),
        ("march-crease-dc", "crease", "c", -0.49, exact),
    ] {
        for engine in Engine::available() {
            let (found, known) = (speed(shader, input, x, engine), known(id));
            assert!(
                (found - known).abs() <= tolerance,
                "{id} {engine:?}: {found}, not {known}"
            );
        }
    }
}

#[test]
fn facts_of_fields_hold() {
    // Where a ray passes by, as near as nothing, the slopes of the field say how the silhouette
    // moves. The ray comes there in many small steps.
    // Where the field is least, it is flat: in f32 its place is known to 5e-4, and so is the
    // normal, whose component along D is small beside that.
    for (id, shader, input, x, tolerance) in [
        ("march-parallel-dR", "parallel", "R", 1.5001, 1e-4),
        ("march-parallel-dcx", "parallel", "cx", 1.5001, 1e-4),
        ("march-pinhole-dR", "pinhole", "R", 0.357995, 1e-4),
        ("march-pinhole-dD", "pinhole", "D", 0.357995, 3e-4),
    ] {
        let [by_input, by_x] = slopes(shader, "f", input, x);
        let (found, known) = (-by_input / by_x, known(id));
        let error = (found - known).abs();
        assert!(error <= tolerance, "{id}: {found}, not {known}");
    }
    // Where a ray enters a surface, the field stays what it is.
    assert_eq!(slopes("parallel", "f", "R", 0.5), [0.0; 2]);
    let (found, known) = (slopes("depth", "t", "R", 0.5)[0], known("march-depth-dR"));
    assert!((found - known).abs() <= 1e-4, "{found}, not {known}");
}

/// A scene with all that a march can meet: a blend, a hole, a plane, and misses.
const SCENE: &str = "
    float scene(float3 p, float radius, float blend, out int label)
    {
        float ball = length(p - float3(0.2, 0.1, 0.4)) - radius;
        float box = sd_box(p + float3(0.6, 0, 0), float3(0.3, 0.5, 0.4));
        float ground = p.y + 0.9;
        float both = op_smooth_union(ball, box, blend);
        label = ground < both ? 2 : 1;
        return min(ground, max(both, 0.25 - length(p - float3(0.3, 0.2, -0.2))));
    }
    shader view(float radius = 0.7, float blend = 0.2, out float t, out float3 position, out float3 normal, out float distance, out int label, out int converged)
    {
        float2 at = global_value<uv> * 2.0 - 1.0;
        hit found = raymarch<scene>(float3(0, 0.3, -3), normalize(float3(at.x, -at.y, 2.0)), 80, radius, blend);
        t = found.t;
        position = found.position;
        normal = found.normal;
        distance = found.distance;
        label = found.label;
        converged = found.converged ? 1 : 0;
    }";
const SIDE: usize = 24;

/// Floats of the outputs of [`SCENE`]: they come first, the field last.
const FLOATS: usize = 8;

fn of_scene() -> Arc<Program> {
    compiled(SCENE, None, &[("uv", Type::Vector(2))])
}

fn place(point: usize) -> [f32; 2] {
    [point % SIDE, point / SIDE].map(|at| (at as f32 + 0.5) / SIDE as f32)
}

/// Values and shadows of the scene at a point, by an engine for single points.
fn of_point(instance: &Instance, engine: Engine, point: usize) -> Vec<[f32; 3]> {
    let mut evaluator = Evaluator::with(instance, engine, Limits::default()).unwrap();
    let mut globals = Globals::new(instance.program().globals());
    let step = 1.0 / SIDE as f32;
    globals
        .set("uv", place(point), [step, 0.0], [0.0, step])
        .unwrap();
    assert_eq!(
        evaluator.evaluate(&globals, &mut NoTextures),
        Outcome::Finished
    );
    let [values, ddx, ddy] = [Part::Value, Part::Ddx, Part::Ddy].map(|part| {
        let words = evaluator.words(part).unwrap().take(FLOATS);
        words.map(f32::from_bits).collect::<Vec<f32>>()
    });
    (0..FLOATS)
        .map(|float| [values[float], ddx[float], ddy[float]])
        .collect()
}

#[test]
fn engines_agree_to_the_bit() {
    let instance = Instance::new(&of_scene());
    let bits = |numbers: &[[f32; 3]]| -> Vec<[u32; 3]> {
        let of = |number: f32| if number.is_nan() { f32::NAN } else { number }.to_bits();
        numbers.iter().map(|parts| parts.map(of)).collect()
    };
    for point in (0..SIDE * SIDE).step_by(7) {
        let reference = bits(&of_point(&instance, Engine::Reference, point));
        for engine in Engine::available() {
            let found = bits(&of_point(&instance, engine, point));
            assert_eq!(found, reference, "{engine:?} at point {point}");
        }
    }
}

#[test]
fn shadows_are_differences_between_pixels() {
    let program = of_scene();
    let instance = Instance::new(&program);
    let (mut compared, mut near) = (0, 0);
    for point in (0..SIDE * SIDE).step_by(3) {
        let found = of_point(&instance, Engine::Point, point);
        let mut globals = Globals::new(program.globals());
        let step = 1.0 / SIDE as f32;
        globals
            .set("uv", place(point), [step, 0.0], [0.0, step])
            .unwrap();
        let differences = central_differences(&instance, &globals, &mut NoTextures).unwrap();
        // The difference of a ray that passes by moves along it.
        if found[FLOATS - 1][0].abs() > 1e-4 {
            continue;
        }
        // The field is what rounding leaves of 0.
        let all = found.iter().zip(&differences).take(FLOATS - 1);
        for (float, (own, difference)) in all.enumerate() {
            for direction in 0..2 {
                let shadow = f64::from(own[1 + direction]);
                let slope = difference.derivatives[direction];
                if !difference.smooth[direction] {
                    continue;
                }
                let error = (shadow - slope).abs() / slope.abs().max(0.05);
                assert!(
                    error < 0.1,
                    "float {float} at {point}: {shadow}, not {slope}"
                );
                compared += 1;
                near += usize::from(error < 2e-3);
            }
        }
    }
    // In f32 a march ends where rounding leaves it; near grazing that is farther along the ray.
    assert!(near * 100 > compared * 95, "{near} of {compared}");
    assert!(compared > 500, "{compared}");
}

#[test]
fn gradients_keep_nothing_of_the_march() {
    let source = |steps: usize| {
        format!(
            "float ball(float3 p, float radius) {{ return length(p) - radius; }}
            shader s(float radius = 1.0, out float t, out float3 normal) {{
                hit found = raymarch<ball>(float3(global_value<x>, 0, -5), float3(0, 0, 1), {steps}, radius);
                t = found.t;
                normal = found.normal;
            }}"
        )
    };
    let limits = Limits {
        kept_words: 0,
        ..Limits::default()
    };
    let gradient = |steps: usize| {
        let program = compiled(&source(steps), None, &[("x", Type::FLOAT)]);
        let gradient = program
            .gradient(&GradientRequest::new().by_inputs())
            .unwrap();
        let instance = Instance::new(gradient.program());
        let mut evaluator = Evaluator::with(&instance, Engine::Point, limits).unwrap();
        let mut globals = Globals::new(gradient.program().globals());
        globals.set("x", 0.6_f32, 0.0, 0.0).unwrap();
        globals.set("d(t)", 1.0_f32, 0.0, 0.0).unwrap();
        assert_eq!(
            evaluator.evaluate(&globals, &mut NoTextures),
            Outcome::Finished
        );
        (
            gradient.program().stats().bytecode_ops,
            evaluator.get::<f32>("d(radius)").unwrap(),
        )
    };
    let (few, many) = (gradient(64), gradient(4_096));
    assert_eq!(few, many);
    assert!((many.1 + 1.25).abs() < 1e-5, "{}", many.1);
}

#[test]
fn odd_rays_end() {
    let source = "
        float ball(float3 p) { return length(p) - 1.0; }
        float back_and_forth(float3 p) { return p.z < 0.5 ? 1.0 : -1.0; }
        shader s(float3 origin = float3(0, 0, -4), float3 direction = float3(0, 0, 1), int steps = 64, out float t, out float distance, out int converged)
        {
            hit found = raymarch<ball>(origin, direction, steps);
            t = found.t;
            distance = found.distance;
            converged = found.converged ? 1 : 0;
        }
        shader endless(int steps, out float t) { t = raymarch<back_and_forth>(float3(0), float3(0, 0, 1), steps).t; }";
    let program = compiled(source, Some("s"), &[]);
    let globals = Globals::new(program.globals());
    let of = |origin: [f32; 3], direction: [f32; 3], steps: i32| {
        let mut instance = Instance::new(&program);
        instance.set("origin", origin).unwrap();
        instance.set("direction", direction).unwrap();
        instance.set("steps", steps).unwrap();
        let mut evaluator = Evaluator::new(&instance);
        assert_eq!(
            evaluator.evaluate(&globals, &mut NoTextures),
            Outcome::Finished
        );
        let float = |name: &str| evaluator.get::<f32>(name).unwrap();
        (
            float("t"),
            float("distance"),
            evaluator.get::<i32>("converged").unwrap(),
        )
    };
    let (before, ahead) = ([0.0, 0.0, -4.0], [0.0, 0.0, 1.0]);
    assert_eq!(of(before, ahead, 64), (3.0, 0.0, 1));
    // No steps, no direction, inside, and past the ball.
    assert_eq!(of(before, ahead, 0), (0.0, 3.0, 0));
    assert_eq!(of(before, ahead, -7), (0.0, 3.0, 0));
    assert_eq!(of(before, [0.0; 3], 64), (0.0, 3.0, 0));
    assert_eq!(of([0.0; 3], ahead, 64), (0.0, -1.0, 1));
    assert_eq!(of([0.0, 0.0, 4.0], ahead, 1_000_000), (0.0, 3.0, 0));
    // Nothing that is not finite is reached, and nothing goes on after it.
    let (t, distance, converged) = of([f32::NAN, 0.0, 0.0], ahead, 1_000_000_000);
    assert!(t == 0.0 && distance.is_nan() && converged == 0);
    assert_eq!(
        of([f32::INFINITY, 0.0, 0.0], ahead, 1_000_000_000),
        (0.0, f32::INFINITY, 0)
    );

    let endless = compiled(source, Some("endless"), &[]);
    let mut instance = Instance::new(&endless);
    instance.set("steps", i32::MAX).unwrap();
    let mut evaluator = Evaluator::new(&instance);
    let stopped = evaluator.evaluate(&Globals::new(endless.globals()), &mut NoTextures);
    assert_eq!(stopped, Outcome::Stopped);
}

/// A box that is turned and seen from above, each of its faces in its own grey: by a march, or by
/// where the ray enters its slabs.
const BOXES: &str = "
    float3 to_box(float3 p, float turn)
    {
        return float3(cos(turn) * p.x - sin(turn) * p.z, p.y, sin(turn) * p.x + cos(turn) * p.z);
    }
    float3 start(float2 at) { return at.x * float3(0.957826, 0, -0.287348) + at.y * float3(0.122779, 0.904213, 0.409264) - 4.0 * float3(0.26, -0.4285, 0.8652); }
    float grey(bool is_x, bool is_y) { return is_x ? 0.9 : is_y ? 0.6 : 0.3; }
    float box(float3 p, float3 size, out int face)
    {
        float3 q = abs(p) - size;
        face = q.x > max(q.y, q.z) ? 0 : q.y > q.z ? 1 : 2;
        return max(q.x, max(q.y, q.z));
    }
    shader marched(float3 size = float3(0.9, 0.5, 0.7), float turn = 0.6, out float c)
    {
        float2 at = (global_value<pixel> - 20.0) / 13.0;
        hit found = raymarch<box>(to_box(start(at), turn), to_box(float3(0.26, -0.4285, 0.8652), turn), 200, size);
        c = found.converged ? grey(found.label == 0, found.label == 1) : 0.0;
    }
    shader cast(float3 size = float3(0.9, 0.5, 0.7), float turn = 0.6, out float c)
    {
        float2 at = (global_value<pixel> - 20.0) / 13.0;
        float3 o = to_box(start(at), turn), d = to_box(float3(0.26, -0.4285, 0.8652), turn);
        float3 side = sign(d);
        float3 enters = (-side * size - o) / d, leaves = (side * size - o) / d;
        float first = max(enters.x, max(enters.y, enters.z));
        bool is_x = enters.x > max(enters.y, enters.z);
        c = first < min(leaves.x, min(leaves.y, leaves.z)) ? grey(is_x, enters.y > enters.z) : 0.0;
    }";

/// The gradient of the sum of an image of `side` by `side` pixels, by these.
fn of_image<const N: usize>(
    program: &Arc<Program>,
    side: usize,
    names: [&str; N],
    threads: usize,
    width: Option<usize>,
) -> [Vec<f64>; N] {
    let axes = [0, 1].map(|at| Axis::new("pixel", at, 1.0));
    let edges = program.jump_gradient(&GradientRequest::new().by_inputs(), &axes, JumpRules::Edge);
    let edges = edges.unwrap_or_else(|found| panic!("{found}"));
    let gradient = edges.smooth().program();
    let mut globals = BatchGlobals::new(gradient.globals());
    let plane = |of: &dyn Fn(usize) -> usize| -> Vec<f32> {
        (0..side * side).map(|at| of(at) as f32 + 0.5).collect()
    };
    let (x, y) = (plane(&|at| at % side), plane(&|at| at / side));
    globals.plane("pixel", Part::Value, 0, &x, 1).unwrap();
    globals.plane("pixel", Part::Value, 1, &y, 1).unwrap();
    globals
        .uniform_part("pixel", Part::Ddx, [1.0_f32, 0.0])
        .unwrap();
    globals
        .uniform_part("pixel", Part::Ddy, [0.0_f32, 1.0])
        .unwrap();
    globals.uniform("d(c)", 1.0_f32, 0.0, 0.0).unwrap();
    let batch = JumpBatch::new(&edges, &Instance::new(gradient))
        .threads(threads)
        .setup(BatchSetup {
            width,
            ..BatchSetup::default()
        })
        .image(side, 0..side * side);
    let sums = batch.sums(&globals, 0..side * side, &names, || NoTextures);
    let (sums, _, jumps) = sums.unwrap();
    assert_eq!(jumps.nullified, 0);
    assert!(jumps.points > 100, "{}", jumps.points);
    names.map(|name| sums.total(name).unwrap().to_vec())
}

/// The gradient of the image of boxes: by the three sizes, and the turn.
fn of_boxes(shader: &str, threads: usize, width: Option<usize>) -> [f64; 4] {
    let program = compiled(BOXES, Some(shader), &[("pixel", Type::Vector(2))]);
    let [size, turn] = of_image(&program, 40, ["d(size)", "d(turn)"], threads, width);
    [size[0], size[1], size[2], turn[0]]
}

#[test]
fn marched_and_cast_boxes_agree() {
    let (marched, cast) = (of_boxes("marched", 2, None), of_boxes("cast", 2, None));
    let norm = cast.iter().map(|slope| slope * slope).sum::<f64>().sqrt();
    for (marched, cast) in marched.iter().zip(cast) {
        assert!(
            (marched - cast).abs() < 0.02 * norm.min(50.0 * cast.abs()),
            "{marched}, not {cast}"
        );
    }
    assert_eq!(of_boxes("marched", 1, Some(64)), marched);
}

/// A ball over a ground. Rays that pass it closely run out of steps, before they reach the ground.
const OVER_GROUND: &str = "
    float scene(float3 p, float radius) { return min(length(p) - radius, p.y + 1.0); }
    shader over_ground(float radius = 0.8, out float c)
    {
        float2 at = global_value<pixel> / 80.0 - 0.5;
        float3 along = normalize(float3(at.x, -at.y - 0.25, 1.0));
        hit found = raymarch<scene>(float3(0.0, 0.5, -3.0), along, 96, radius);
        c = found.converged ? 0.5 + 0.5 * found.normal.y : 0.0;
    }";

#[test]
fn rays_without_steps_left_move_with_what_they_passed() {
    // The differences are of an image with 16 points in each pixel.
    const SIDE: usize = 80;
    const POINTS: usize = 4 * SIDE;
    let program = compiled(OVER_GROUND, None, &[("pixel", Type::Vector(2))]);
    let [found] = of_image(&program, SIDE, ["d(radius)"], 2, None);
    let sum = |radius: f32| -> f64 {
        let mut instance = Instance::new(&program);
        instance.set("radius", radius).unwrap();
        let mut evaluator = Evaluator::new(&instance);
        let mut globals = Globals::new(program.globals());
        let mut at = |point: usize| {
            let pixel = [point % POINTS, point / POINTS].map(|at| (at as f32 + 0.5) / 4.0);
            globals.set("pixel", pixel, [1.0, 0.0], [0.0, 1.0]).unwrap();
            evaluator.evaluate(&globals, &mut NoTextures);
            f64::from(evaluator.get::<f32>("c").unwrap())
        };
        (0..POINTS * POINTS).map(&mut at).sum::<f64>() / 16.0
    };
    let step = 0.03;
    let difference = (sum(0.8 + step) - sum(0.8 - step)) / (2.0 * f64::from(step));
    assert!(
        (found[0] - difference).abs() < 0.2 * difference.abs(),
        "{}, not {difference}",
        found[0]
    );
}
