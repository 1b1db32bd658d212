//! Texture filters against oracles: pbrt-v4's elliptical Gaussian, OpenImageIO's lookups (formulas
//! and measurements), trilinear ones, and means and variances of random taps.
//!
//! Not to match: `oiio_default_options_measured`, which interpolates magnified texels by cubic
//! splines (`SmartBicubic`); no filter here does.

use adumbra_image::{Image, ImageSize, MipPyramid};
use adumbra_render::texture::{
    DFootprint, EwaWeights, Filter, Footprint, LevelRule, Texels, Wrap, filter_texels, lookup,
};
use glam::{DVec2, Vec2Swizzles};
use serde_json::Value;
use std::convert::Infallible;

/// Side of both textures.
const SIDE: usize = 64;
const SAMPLES: u32 = 4096;

/// A texture in f64 that counts what is read, by level.
struct Exact {
    levels: Vec<Vec<f64>>,
    reads: Vec<usize>,
}

impl Exact {
    fn new(finest: Vec<f64>) -> Exact {
        let mut levels = vec![finest];
        for level in 0..SIDE.ilog2() {
            let (side, finer) = (SIDE >> (level + 1), &levels[level as usize]);
            let mean = |i: usize| {
                let at = 2 * (i / side) * 2 * side + 2 * (i % side);
                0.25 * (finer[at] + finer[at + 1] + finer[at + 2 * side] + finer[at + 2 * side + 1])
            };
            levels.push((0..side * side).map(mean).collect());
        }
        let reads = vec![0; levels.len()];
        Exact { levels, reads }
    }
}

impl Texels for Exact {
    type Error = Infallible;

    fn levels(&self) -> u32 {
        self.levels.len() as u32
    }

    fn size(&self, level: u32) -> [u32; 2] {
        [(SIDE >> level) as u32; 2]
    }

    fn texel(&mut self, level: u32, x: u32, y: u32) -> Result<[f64; 4], Infallible> {
        self.reads[level as usize] += 1;
        let value = self.levels[level as usize][y as usize * (SIDE >> level) + x as usize];
        // The second channel sums the weights.
        Ok([value, 1.0, -value, 0.0])
    }
}

fn oracles() -> Value {
    let text = include_str!("data/filter_oracles.json");
    serde_json::from_str(text).expect("it is JSON")
}

/// The finest level of a texture of the oracles.
fn finest(oracles: &Value, name: &str) -> Vec<f64> {
    let numbers = |value: &Value| -> Vec<f64> {
        let array = value.as_array().expect("an array").iter();
        array.map(|x| x.as_f64().expect("a number")).collect()
    };
    let texels: Vec<f64> = match name {
        "noise" => {
            let scale = f64::from(1 << 24);
            numbers(&oracles["noise"])
                .iter()
                .map(|x| x / scale)
                .collect()
        }
        "waves" => (0..SIDE * SIDE).map(|i| wave(i % SIDE, i / SIDE)).collect(),
        _ => panic!("no texture {name}"),
    };
    let first = numbers(&oracles["check"][format!("{name}_first_values")]);
    for (texel, expected) in texels.iter().zip(first) {
        assert!(
            (texel - expected).abs() < 1e-15,
            "{name} {texel} {expected}"
        );
    }
    texels
}

fn wave(x: usize, y: usize) -> f64 {
    let (x, y) = (x as f64 + 0.5, y as f64 + 0.5);
    let cycles = |turns: f64| std::f64::consts::TAU * turns / SIDE as f64;
    0.5 + 0.2 * libm::cos(cycles(2.0 * x))
        + 0.15 * libm::cos(cycles(x + 3.0 * y))
        + 0.1 * libm::sin(cycles(5.0 * x - 2.0 * y))
}

fn pyramid(texels: &[f64]) -> MipPyramid {
    let size = ImageSize::new(SIDE as u64, SIDE as u64).expect("not empty");
    let pixels = texels.iter().map(|&x| [x as f32, 1.0, -x as f32, 0.0]);
    MipPyramid::new(Image::from_pixels(size, 4, pixels.collect()))
}

/// A footprint of the oracles on its texture.
struct Case {
    name: String,
    row: Value,
    footprint: DFootprint,
    texture: Exact,
    pyramid: MipPyramid,
}

fn cases() -> Vec<Case> {
    let oracles = oracles();
    let rows = oracles["rows"].as_array().expect("rows");
    let case = |(number, row): (usize, &Value)| {
        let at = |key: &str| row[key].as_f64().expect("a number");
        let texture = row["texture"].as_str().expect("a name");
        let finest = finest(&oracles, texture);
        Case {
            name: format!("row {number} ({texture}, {})", row["category"]),
            row: row.clone(),
            footprint: DFootprint {
                uv: DVec2::new(at("s"), at("t")),
                dx: DVec2::new(at("dsdx"), at("dtdx")),
                dy: DVec2::new(at("dsdy"), at("dtdy")),
            },
            pyramid: pyramid(&finest),
            texture: Exact::new(finest),
        }
    };
    let cases: Vec<Case> = rows.iter().enumerate().map(case).collect();
    assert_eq!(cases.len(), 40);
    cases
}

impl Case {
    fn oracle(&self, key: &str) -> f64 {
        let value = self.row[key].as_f64();
        value.unwrap_or_else(|| panic!("{}: no {key}", self.name))
    }

    fn expect(&self, key: &str, is: f64, tolerance: f64) {
        let expected = self.oracle(key);
        let off = (is - expected).abs();
        assert!(
            off <= tolerance,
            "{}: {key} is {is}, not {expected}: {off:e} off",
            self.name
        );
    }

    fn exact(&mut self, rule: LevelRule, filter: Filter, random: f64) -> [f64; 4] {
        let footprint = self.footprint;
        let repeat = Wrap::Repeat;
        let is = filter_texels(
            &mut self.texture,
            rule,
            filter,
            repeat,
            &footprint,
            0.0,
            random,
        );
        let Ok(is) = is;
        is
    }

    /// Compares in f64 and in f32.
    fn compare(&mut self, key: &str, rule: LevelRule, filter: Filter) {
        let measured = key.ends_with("_measured");
        let [value, weight, ..] = self.exact(rule, filter, 0.0);
        self.expect(key, value, if measured { 5e-6 } else { 1e-12 });
        assert!(
            (weight - 1.0).abs() < 1e-12,
            "{}: {key}: weights {weight}",
            self.name
        );
        let narrow = |v: DVec2| [v.x as f32, v.y as f32];
        let footprint = Footprint {
            uv: narrow(self.footprint.uv),
            dx: narrow(self.footprint.dx),
            dy: narrow(self.footprint.dy),
        };
        let repeat = Wrap::Repeat;
        let is = lookup(
            &mut self.pyramid,
            rule,
            filter,
            repeat,
            &footprint,
            0.0,
            0.0,
        );
        let [value, _, negative, zero] = is.expect("all is in memory");
        self.expect(key, value.into(), 2e-5);
        assert_eq!((negative, zero), (-value, 0.0), "{}: {key}", self.name);
    }

    fn level(&self, rule: LevelRule) -> f64 {
        rule.select([SIDE as u32; 2], 7, &self.footprint, 0.0, 0.5)
            .level
    }
}

fn ewa(max_anisotropy: u32, weights: EwaWeights) -> Filter {
    Filter::Ewa {
        max_anisotropy,
        weights,
    }
}

#[test]
fn filters_match_their_oracles() {
    let (mut compared, mut unmatched) = (0, 0);
    let mut columns = 0;
    for mut case in cases() {
        let keys: Vec<String> = case
            .row
            .as_object()
            .expect("an object")
            .keys()
            .cloned()
            .collect();
        for key in &keys {
            match key.as_str() {
                "category" | "texture" | "s" | "t" | "dsdx" | "dtdx" | "dsdy" | "dtdy" => continue,
                "oiio_default_options_measured" => unmatched += 1,
                key => {
                    compare(&mut case, key);
                    compared += 1;
                }
            }
        }
        columns = keys.len() - 8;
    }
    assert_eq!((compared, unmatched), (40 * (columns - 1), 40));
    assert_eq!(columns, 25);
}

/// Compares one key with the filter that it is the oracle of.
fn compare(case: &mut Case, key: &str) {
    let any = LevelRule::GlIso;
    let anisotropic = |max_anisotropy| Filter::Anisotropic { max_anisotropy };
    match key {
        "ewa_pbrt4_aniso8" => case.compare(key, any, ewa(8, EwaWeights::Exact)),
        "ewa_pbrt4_aniso16" => case.compare(key, any, ewa(16, EwaWeights::Exact)),
        "ewa_pbrt4_lut_aniso8" => case.compare(key, any, ewa(8, EwaWeights::Table)),
        "ewa_pbrt4_lut_aniso16" => case.compare(key, any, ewa(16, EwaWeights::Table)),
        "ewa_level0_unclamped" => case.compare(key, any, Filter::EwaFinest),
        "ewa_lod_aniso8" => case.expect(key, case.level(LevelRule::Pbrt4Ewa8), 1e-12),
        "ewa_lod_aniso16" => case.expect(key, case.level(LevelRule::Pbrt4Ewa16), 1e-12),
        "ewa_texels_aniso8" => ewa_texels(case, key, 8),
        "ewa_texels_aniso16" => ewa_texels(case, key, 16),
        "trilinear_gl" => case.compare(key, LevelRule::GlIso, Filter::Trilinear),
        "trilinear_gl_lambda" => case.expect(key, case.level(LevelRule::GlIso), 1e-12),
        "trilinear_pbrt4" => {
            case.compare(key, LevelRule::Pbrt4TrilinearEffective, Filter::Trilinear);
        }
        "bilinear_level0" => {
            let kept = case.footprint;
            (case.footprint.dx, case.footprint.dy) = (DVec2::ZERO, DVec2::ZERO);
            case.compare(key, LevelRule::GlIso, Filter::Trilinear);
            case.footprint = kept;
        }
        "oiio_trilinear_formula" | "oiio_trilinear_measured" => {
            case.compare(key, LevelRule::OiioTriFormula, Filter::Trilinear);
        }
        "oiio_aniso16_formula" | "oiio_aniso16_measured" => {
            case.compare(key, any, anisotropic(16));
        }
        "oiio_aniso32_formula" | "oiio_aniso32_measured" => {
            case.compare(key, any, anisotropic(32));
        }
        "oiio_aniso16_probes" => {
            let rule = LevelRule::OiioAniso16Formula;
            let selection = rule.select([SIDE as u32; 2], 7, &case.footprint, 0.0, 0.5);
            case.expect(key, selection.samples.into(), 0.0);
        }
        "single_tap_mean" | "single_tap_var" => {
            let rule = LevelRule::GlIso;
            taps(
                case,
                "single_tap_mean",
                "single_tap_var",
                rule,
                Filter::OneTap,
            );
        }
        "ewa_var_one_tap_aniso8" => {
            let filter = Filter::OneTapEwa { max_anisotropy: 8 };
            taps(case, "ewa_pbrt4_aniso8", key, any, filter);
        }
        "ewa_var_one_tap_aniso16" => {
            let filter = Filter::OneTapEwa { max_anisotropy: 16 };
            taps(case, "ewa_pbrt4_aniso16", key, any, filter);
        }
        _ => panic!("no filter for the oracle {key}"),
    }
}

/// Compares the number of texels of the ellipses in both levels; without an area there are none.
fn ewa_texels(case: &mut Case, key: &str, limit: u32) {
    case.texture.reads.fill(0);
    case.exact(LevelRule::GlIso, ewa(limit, EwaWeights::Exact), 0.0);
    let reads: usize = case.texture.reads.iter().sum();
    match case.oracle(key) == 0.0 {
        true => assert!(reads <= 4, "{}", case.name),
        false => case.expect(key, reads as f64, 0.0),
    }
}

/// Compares mean and variance of random taps, drawn by chance and evenly.
fn taps(case: &mut Case, mean_key: &str, variance_key: &str, rule: LevelRule, filter: Filter) {
    let moments = |case: &mut Case, random: &mut dyn FnMut(u32) -> f64| {
        let values: Vec<f64> = (0..SAMPLES)
            .map(|i| {
                let before: usize = case.texture.reads.iter().sum();
                let value = case.exact(rule, filter, random(i))[0];
                let reads = case.texture.reads.iter().sum::<usize>() - before;
                assert_eq!(reads, 1, "{}: one texel", case.name);
                value
            })
            .collect();
        let n = f64::from(SAMPLES);
        let mean = values.iter().sum::<f64>() / n;
        let moment = |power: i32| values.iter().map(|x| (x - mean).powi(power)).sum::<f64>() / n;
        (mean, moment(2), moment(4))
    };
    let (n, variance) = (f64::from(SAMPLES), case.oracle(variance_key));
    let mut chance = fastrand::Rng::with_seed(24);
    let (mean, second, fourth) = moments(case, &mut |_| chance.f64());
    let deviations = |of: f64| 4.5 * (of.max(0.0) / n).sqrt() + 1e-12;
    case.expect(mean_key, mean, deviations(variance));
    case.expect(variance_key, second, deviations(fourth - second * second));
    // Evenly drawn, the texels' shares are their weights to 1/n each. Values are in 0 to 1.
    let (mean, second, _) = moments(case, &mut |i| (f64::from(i) + 0.5) / n);
    let tolerance = 0.25 * deviations(variance) + 2e-3;
    case.expect(mean_key, mean, tolerance);
    case.expect(variance_key, second, tolerance);
}

#[test]
fn nearest_reads_the_texel_of_the_position() {
    let oracles = oracles();
    let texels = finest(&oracles, "noise");
    let mut pyramid = pyramid(&texels);
    let mut read = |uv: [f32; 2], step: f32, wrap: Wrap| {
        let footprint = Footprint {
            uv,
            dx: [step, 0.0],
            dy: [0.0, step],
        };
        let (rule, filter) = (LevelRule::GlIso, Filter::Nearest);
        lookup(&mut pyramid, rule, filter, wrap, &footprint, 0.0, 0.0).expect("in memory")[0]
    };
    let texel = |x: usize, y: usize| texels[y * SIDE + x] as f32;
    assert_eq!(
        read([10.9 / 64.0, 20.1 / 64.0], 0.0, Wrap::Repeat),
        texel(10, 20)
    );
    assert_eq!(read([-1.5 / 64.0, 0.0], 0.0, Wrap::Repeat), texel(62, 0));
    assert_eq!(read([-1.5 / 64.0, 0.0], 0.0, Wrap::Mirror), texel(1, 0));
    assert_eq!(read([-1.5 / 64.0, 2.0], 0.0, Wrap::Clamp), texel(0, 63));
    assert_eq!(read([-1.5 / 64.0, 0.0], 0.0, Wrap::Black), 0.0);
    // Levels up to one half are the finer one; 1.41 texels are level 0.497, 1.42 are level 0.506.
    let coarser = Exact::new(texels.clone()).levels[1][5 + 32 * 3] as f32;
    assert_eq!(
        read([10.9 / 64.0, 6.1 / 64.0], 1.41 / 64.0, Wrap::Repeat),
        texel(10, 6)
    );
    assert_eq!(
        read([10.9 / 64.0, 6.1 / 64.0], 1.42 / 64.0, Wrap::Repeat),
        coarser
    );
    // Of two levels equally near it is the finer one: 1.5 texels are level ½ in OpenImageIO's rule.
    let half = Footprint {
        uv: [10.9 / 64.0, 6.1 / 64.0],
        dx: [1.5 / 64.0, 0.0],
        dy: [0.0, 0.0],
    };
    let (rule, repeat) = (LevelRule::OiioTriFormula, Wrap::Repeat);
    let is = lookup(&mut pyramid, rule, Filter::Nearest, repeat, &half, 0.0, 0.0);
    assert_eq!(is.expect("in memory")[0], texel(10, 6));
}

#[test]
fn transposed_texture_gives_the_same() {
    // Rows and columns are alike: the longer axis may be any.
    let texels = finest(&oracles(), "noise");
    let transposed = (0..SIDE * SIDE).map(|i| texels[i % SIDE * SIDE + i / SIDE]);
    let (mut across, mut down) = (Exact::new(texels.clone()), Exact::new(transposed.collect()));
    for (name, filter) in Filter::NAMED {
        if name.starts_with("one_tap") {
            continue;
        }
        for (dx, dy) in [
            ([0.3, 0.0], [0.0, 0.02]),
            ([0.3, 0.01], [-0.01, 0.02]),
            ([0.2, 0.2], [0.0, 0.01]),
        ] {
            let (dx, dy) = (DVec2::from(dx), DVec2::from(dy));
            let wide = DFootprint {
                uv: DVec2::new(0.37, 0.81),
                dx,
                dy,
            };
            let swapped = DFootprint {
                uv: wide.uv.yx(),
                dx: dx.yx(),
                dy: dy.yx(),
            };
            let (rule, wrap) = (LevelRule::GlAniso16, Wrap::Repeat);
            let Ok(one) = filter_texels(&mut across, rule, filter, wrap, &wide, 0.0, 0.0);
            let Ok(other) = filter_texels(&mut down, rule, filter, wrap, &swapped, 0.0, 0.0);
            assert!(
                (one[0] - other[0]).abs() < 1e-12,
                "{filter:?} {dx} {dy}: {one:?} {other:?}"
            );
        }
    }
}

#[test]
fn opengl_probes_are_spread_along_the_longer_step() {
    // A texture of one row's ramp: probes at both sides of the middle cancel; their number and
    // level are the rule's.
    let oracles = oracles();
    let mut texture = Exact::new(finest(&oracles, "noise"));
    let texels = texture.levels[0].clone();
    let footprint = DFootprint {
        uv: DVec2::new(32.5, 20.5) / 64.0,
        dx: DVec2::new(0.0, 1.0) / 64.0,
        dy: DVec2::new(4.0, 0.0) / 64.0,
    };
    let (rule, filter) = (LevelRule::GlAniso16, Filter::GlAnisotropic);
    let Ok(is) = filter_texels(
        &mut texture,
        rule,
        filter,
        Wrap::Repeat,
        &footprint,
        0.0,
        0.0,
    );
    // Four probes at −1.2, −0.4, 0.4, 1.2 texels, bilinear in the finest level.
    let at = |x: usize| texels[20 * SIDE + x];
    let weights = [0.05, 0.3, 0.3, 0.3, 0.05];
    let expected: f64 = (30..35)
        .map(at)
        .zip(weights)
        .map(|(texel, weight)| texel * weight)
        .sum();
    assert!((is[0] - expected).abs() < 1e-12, "{} {expected}", is[0]);
}

#[test]
fn filter_levels_are_those_that_are_read() {
    let oracles = oracles();
    let mut texture = Exact::new(finest(&oracles, "noise"));
    for (name, filter) in Filter::NAMED {
        assert_eq!(Filter::from_name(name), Some(filter));
        for exponent in 0..24 {
            let step = 0.5_f32.powi(exponent / 2) * if exponent % 2 == 0 { 1.0 } else { 0.7 };
            let footprint = Footprint {
                uv: [0.4, 0.7],
                dx: [step, 0.0],
                dy: [0.0, 0.6 * step],
            };
            let (rule, size) = (LevelRule::OiioTriFormula, [SIDE as u32; 2]);
            let level = filter.level(rule, size, &footprint, 0.25, 0.0);
            texture.reads.fill(0);
            let (wide, wrap) = (footprint.into(), Wrap::Repeat);
            let Ok(_) = filter_texels(&mut texture, rule, filter, wrap, &wide, 0.25, 0.0);
            let read: Vec<usize> = (0..7).filter(|&level| texture.reads[level] > 0).collect();
            let finer = level.floor() as usize;
            let both = if level > finer as f32 {
                vec![finer, finer + 1]
            } else {
                vec![finer]
            };
            match filter {
                // The random number is 0: the coarser level.
                Filter::OneTap | Filter::OneTapEwa { .. } => {
                    assert_eq!(read, both[both.len() - 1..], "{name} {exponent} {level}");
                }
                _ => assert_eq!(read, both, "{name} {exponent} {level}"),
            }
        }
    }
    assert_eq!(Filter::from_name("EWA"), None);
}
