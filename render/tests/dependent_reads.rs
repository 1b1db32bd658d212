//! Dependent reads: a image that is read where a flow texture says. The level of each read is
//! that of the true footprint, which differences of the whole mapping give in f64.
//!
//! The truth reads the flow by its own code, with the level held. Where the flow is bilinear its
//! slope jumps at the borders of texels, and the two one-sided truths differ; there alone a level
//! may be another.

use adumbra::evaluator::Engine;
use adumbra::{
    Compiler, Evaluator, Globals, GlobalsLayout, Host, Instance, Limits, SampleRequest, Sampled,
    Sources, TexelSlopes, Type,
};
use adumbra_render::texture::{
    DFootprint, Filter, Footprint, LevelRule, Texels, Wrap, filter_slopes, level_size,
};
use glam::DVec2;
use std::convert::Infallible;
use std::f64::consts::TAU;

/// Pixels along each side.
const SIDE: usize = 56;
/// Texels along each side of the flow, and of the image.
const FLOW: u32 = 32;
const IMAGE: f64 = 1024.0;

/// A flow with as many levels as it has, each a mean of the one before.
struct Flow(Vec<Vec<[f64; 2]>>);

impl Flow {
    fn new() -> Flow {
        let wave = |x: u32, y: u32, turn: f64| {
            let [x, y] = [x, y].map(|i| TAU * (f64::from(i) + 0.5) / f64::from(FLOW));
            0.5 + 0.25 * (x + 2.0 * y + turn).sin() + 0.25 * (3.0 * x - y * 2.0).cos()
        };
        let finest = (0..FLOW * FLOW).map(|i| {
            let (x, y) = (i % FLOW, i / FLOW);
            [wave(x, y, 0.0), wave(y, x, 1.0)]
        });
        let mut levels = vec![finest.collect::<Vec<_>>()];
        for level in 1..=FLOW.ilog2() {
            let side = (FLOW >> level) as usize;
            let finer = &levels[level as usize - 1];
            let mean = |i: usize, of: usize| {
                let at = 2 * (i / side) * 2 * side + 2 * (i % side);
                let four = [at, at + 1, at + 2 * side, at + 2 * side + 1];
                four.map(|at| finer[at][of]).iter().sum::<f64>() / 4.0
            };
            let level = (0..side * side).map(|i| [mean(i, 0), mean(i, 1)]);
            levels.push(level.collect());
        }
        Flow(levels)
    }

    /// Its two numbers at a place in a held level, between texels and levels.
    fn at(&self, uv: DVec2, level: f64) -> DVec2 {
        let in_level = |level: usize| {
            let side = f64::from(FLOW >> level);
            let at = uv * side - 0.5;
            let first = at.floor();
            let part = at - first;
            let texel = |column: f64, row: f64| {
                let [x, y] = [first.x + column, first.y + row].map(|i| i.rem_euclid(side) as usize);
                DVec2::from(self.0[level][y * side as usize + x])
            };
            let row = |row: f64| texel(0.0, row).lerp(texel(1.0, row), part.x);
            row(0.0).lerp(row(1.0), part.y)
        };
        let finer = level as usize;
        match level.fract() {
            0.0 => in_level(finer),
            part => in_level(finer).lerp(in_level(finer + 1), part),
        }
    }
}

impl Texels for &Flow {
    type Error = Infallible;
    fn levels(&self) -> u32 {
        self.0.len() as u32
    }
    fn size(&self, level: u32) -> [u32; 2] {
        level_size([FLOW; 2], level)
    }
    fn texel(&mut self, level: u32, x: u32, y: u32) -> Result<[f64; 4], Infallible> {
        let [a, b] = self.0[level as usize][(y * (FLOW >> level) + x) as usize];
        Ok([a, b, 0.0, 1.0])
    }
}

/// A mapping of pixels to the plane, in the language and in f64.
struct Mapping {
    text: &'static str,
    of: fn(DVec2) -> DVec2,
}

const MAPPINGS: [Mapping; 5] = [
    Mapping {
        text: "p * 0.03",
        of: |p| p * 0.03,
    },
    Mapping {
        text: "float2(p.x * 0.02 + 0.3 * sin(p.y * 0.15), p.y * 0.02)",
        of: |p| DVec2::new(p.x * 0.02 + 0.3 * (p.y * 0.15).sin(), p.y * 0.02),
    },
    Mapping {
        text: "float2(0.3 * log(length(p) + 1.0), atan2(p.y + 2.0, p.x + 3.0))",
        of: |p| DVec2::new(0.3 * (p.length() + 1.0).ln(), (p.y + 2.0).atan2(p.x + 3.0)),
    },
    Mapping {
        text: "float2(8.0 * p.x, 40.0) / (p.y + 6.0)",
        of: |p| DVec2::new(8.0 * p.x, 40.0) / (p.y + 6.0),
    },
    Mapping {
        text: "p * dot(p, p) * 2e-5",
        of: |p| p * p.dot(p) * 2e-5,
    },
];

/// Answers the flow with slopes, and keeps what is asked of the image.
struct FlowHost<'f> {
    flow: &'f Flow,
    level: f64,
    asked: Option<SampleRequest>,
}

impl Host for FlowHost<'_> {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        if request.texture.0 == 1 {
            self.asked = Some(*request);
            return Sampled::Ready([0.5; 4]);
        }
        let footprint = Footprint {
            uv: [request.u, request.v],
            dx: [request.dudx, request.dvdx],
            dy: [request.dudy, request.dvdy],
        };
        let (rule, filter) = (LevelRule::GlIso, Filter::Trilinear);
        self.level = f64::from(filter.level(rule, [FLOW; 2], &footprint, 0.0, 0.0));
        let wide = DFootprint::from(footprint);
        let Ok(found) = filter_slopes(&mut self.flow, rule, filter, Wrap::Repeat, &wide, 0.0, 0.0);
        let narrow = |numbers: [f64; 4]| numbers.map(|number| number as f32);
        let slopes = TexelSlopes {
            u: narrow(found.along_u),
            v: narrow(found.along_v),
        };
        Sampled::Sloped(narrow(found.numbers), slopes)
    }
}

/// The level of a footprint by the longer of its two steps.
fn level(dx: DVec2, dy: DVec2) -> f64 {
    (dx.length().max(dy.length()) * IMAGE).log2()
}

/// Whether the levels of all one-sided truths at a pixel are within half a level of each other.
struct Truth {
    level: f64,
    is_smooth: bool,
}

fn truth(flow: &Flow, mapping: fn(DVec2) -> DVec2, p: DVec2, held: f64) -> Truth {
    const STEP: f64 = 1e-5;
    let read = |p: DVec2| {
        let uv = mapping(p);
        uv + 0.75 * flow.at(uv, held)
    };
    let slope = |along: DVec2, side: f64| {
        let step = side * STEP;
        (read(p + along * step) - read(p)) / step
    };
    let levels = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)]
        .map(|(x, y)| level(slope(DVec2::X, x), slope(DVec2::Y, y)));
    let [low, high] = [f64::min, f64::max].map(|pick| levels.into_iter().fold(levels[0], pick));
    Truth {
        level: 0.5 * (low + high),
        is_smooth: high - low < 0.5,
    }
}

/// Pixels whose level is more than one off, and how many of these the truth has one level for.
fn count_wrong(mapping: &Mapping, engine: Engine, slopes: bool) -> (usize, usize) {
    let text = format!(
        "texture2d flow; texture2d image;
        shader s(out float o) {{
            float2 p = global_value<at>;
            float2 uv = {};
            float2 moved = uv + 0.75 * texture2d_sample<flow>(uv).xy;
            o = texture2d_sample_alpha<image>(moved);
        }}",
        mapping.text
    );
    let layout = GlobalsLayout::new().with("at", Type::Vector(2)).unwrap();
    let compiler = Compiler::new(layout).texture_slopes(slopes);
    let program = compiler.compile(&Sources::new("s.adu", text)).unwrap();
    let instance = Instance::new(&program);
    let mut evaluator = Evaluator::with(&instance, engine, Limits::default()).unwrap();
    let mut globals = Globals::new(program.globals());
    let flow = Flow::new();
    let (mut wrong, mut inexcusable) = (0, 0);
    for pixel in 0..SIDE * SIDE {
        let p = [pixel % SIDE, pixel / SIDE].map(|i| i as f32 + 0.5);
        globals.set("at", p, [1.0, 0.0], [0.0, 1.0]).unwrap();
        let mut host = FlowHost {
            flow: &flow,
            level: 0.0,
            asked: None,
        };
        evaluator.evaluate(&globals, &mut host);
        let asked = host.asked.expect("the image is asked");
        let dx = DVec2::new(asked.dudx.into(), asked.dvdx.into());
        let dy = DVec2::new(asked.dudy.into(), asked.dvdy.into());
        let p = DVec2::from(p.map(f64::from));
        let truth = truth(&flow, mapping.of, p, host.level);
        if (level(dx, dy) - truth.level).abs() > 1.0 {
            wrong += 1;
            inexcusable += usize::from(truth.is_smooth);
        }
    }
    (wrong, inexcusable)
}

#[test]
fn levels_of_dependent_reads_are_those_of_the_true_footprint() {
    for engine in [Engine::Point, Engine::Batch, Engine::Native] {
        if !Engine::available().any(|available| available == engine) {
            continue;
        }
        for mapping in &MAPPINGS {
            let (wrong, inexcusable) = count_wrong(mapping, engine, true);
            let what = format!("{} by {engine:?}: {wrong} pixels", mapping.text);
            assert!(wrong * 1000 <= SIDE * SIDE, "{what}");
            assert_eq!(inexcusable, 0, "{what}");
        }
    }
}

#[test]
fn without_slopes_many_levels_are_wrong() {
    let wrong = MAPPINGS.map(|mapping| count_wrong(&mapping, Engine::Point, false).0);
    let all = MAPPINGS.len() * SIDE * SIDE;
    assert!(wrong.iter().sum::<usize>() * 20 > all, "{wrong:?} of {all}");
}
