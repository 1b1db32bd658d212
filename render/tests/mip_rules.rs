//! Level rules against a table of levels, which `ADUMBRA_MIP_TABLE` replaces: every row and every
//! column is compared, or is listed here as one that cannot match.
//!
//! Columns `meas_oiio_*` are measured with OpenImageIO 3.2.2.0. They are compared except where that
//! library itself gives no sensible level: rows with a NaN partial (`meas_oiio_*` is NaN or as
//! wide as the texture, the rules count NaN as 0), and `meas_oiio_aniso16` of partials of which a
//! square overflows f32 (it gives NaN or 0).

use adumbra_render::texture::{
    DFootprint, Footprint, LevelRule, cycles_lambda, level_size, whole_levels,
};
use glam::DVec2;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The formulas' levels are the same numbers but for rounding.
const FORMULA: f64 = 1e-9;

/// OpenImageIO computes in f32.
const MEASURED: f64 = 1e-5;

/// Columns that describe the footprint.
const INPUTS: [&str; 9] = [
    "category", "W", "H", "levels", "bias", "dudx", "dvdx", "dudy", "dvdy",
];

/// Further columns; the rest are rules by their names.
const OTHERS: [&str; 9] = [
    "tx_dx",
    "tx_dy",
    "gl_aniso16_N",
    "cycles_lo",
    "cycles_hi",
    "cycles_p_hi",
    "meas_oiio_onelevel",
    "meas_oiio_trilinear",
    "meas_oiio_aniso16",
];

/// A line of the table: its values by their columns.
struct Case {
    place: String,
    values: BTreeMap<String, String>,
}

impl Case {
    fn number(&self, column: &str) -> f64 {
        let value = &self.values[column];
        let number = value.parse();
        number.unwrap_or_else(|_| panic!("{}: {column} is {value}", self.place))
    }

    fn size(&self) -> [u32; 2] {
        [self.number("W") as u32, self.number("H") as u32]
    }

    fn levels(&self) -> u32 {
        self.number("levels") as u32
    }

    fn footprint(&self) -> DFootprint {
        DFootprint {
            uv: DVec2::splat(0.5),
            dx: DVec2::new(self.number("dudx"), self.number("dvdx")),
            dy: DVec2::new(self.number("dudy"), self.number("dvdy")),
        }
    }

    fn partials(&self) -> [f64; 4] {
        ["dudx", "dvdx", "dudy", "dvdy"].map(|column| self.number(column))
    }

    fn level(&self, rule: LevelRule, random: f64) -> f64 {
        let (size, bias) = (self.size(), self.number("bias"));
        let selection = rule.select(size, self.levels(), &self.footprint(), bias, random);
        assert!((0.0..1.0).contains(&selection.random), "{}", self.place);
        selection.level
    }

    fn expect(&self, column: &str, is: f64, tolerance: f64) {
        let (place, expected) = (&self.place, self.number(column));
        let off = (is - expected).abs();
        assert!(
            off <= tolerance * expected.abs().max(1.0),
            "{place}: {column} is {is}, not {expected}: {off:e} off"
        );
    }
}

/// The fields of a line of comma-separated values; those in quotes may have commas.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in line.trim_end().chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields.last_mut().expect("it has one").push(c),
        }
    }
    fields
}

/// The columns' names, and the cases.
fn table() -> (Vec<String>, Vec<Case>) {
    let file = std::env::var("ADUMBRA_MIP_TABLE").unwrap_or_else(|_| {
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mip_table.csv").to_owned()
    });
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut lines = text.lines().enumerate();
    let names = fields(lines.next().expect("it has a heading").1);
    let cases = lines.filter(|(_, line)| !line.trim().is_empty());
    let cases = cases.map(|(number, line)| {
        let values = fields(line);
        let place = format!("{file}:{}", number + 1);
        assert_eq!(values.len(), names.len(), "{place}");
        let values = names.iter().cloned().zip(values).collect();
        Case { place, values }
    });
    let cases: Vec<Case> = cases.collect();
    assert!(!cases.is_empty(), "{file} has cases");
    (names, cases)
}

#[test]
fn table_columns_are_all_compared() {
    let (names, cases) = table();
    let (mut compared, mut unmatched) = (0, 0);
    for name in LevelRule::ALL
        .iter()
        .map(|rule| rule.name())
        .chain(INPUTS)
        .chain(OTHERS)
    {
        let is_named_otherwise = ["oiio_onelevel", "cycles_stochastic"].contains(&name);
        assert!(
            is_named_otherwise || names.iter().any(|n| n == name),
            "no column {name}"
        );
    }
    for case in &cases {
        assert_eq!(case.levels(), whole_levels(case.size()), "{}", case.place);
        for column in names.iter().filter(|name| !INPUTS.contains(&name.as_str())) {
            match compare(case, column) {
                true => compared += 1,
                false => unmatched += 1,
            }
        }
    }
    let columns = names.len() - INPUTS.len();
    assert_eq!(compared + unmatched, cases.len() * columns);
    // What is not compared, counted from the footprints alone.
    let nan = |case: &&Case| case.partials().iter().any(|x| x.is_nan());
    let huge = |case: &&Case| case.partials().iter().any(|x| x.abs() > 1e19);
    let excused = 3 * cases.iter().filter(nan).count()
        + cases.iter().filter(|case| huge(case) && !nan(case)).count();
    assert_eq!(unmatched, excused);
    println!(
        "{} cases: {compared} values compared, {unmatched} not to match",
        cases.len()
    );
}

/// Compares the value of a column; false if it is not to match.
fn compare(case: &Case, column: &str) -> bool {
    let measured = |rule: LevelRule| case.expect(column, case.level(rule, 0.5), MEASURED);
    let has_nan = case.partials().iter().any(|x| x.is_nan());
    let overflows = case.partials().iter().any(|x| x.abs() > 1e19);
    match column {
        "tx_dx" => compare_texels(case, column, 0),
        "tx_dy" => compare_texels(case, column, 2),
        "gl_aniso16_N" => {
            let rule = LevelRule::GlAniso16;
            let samples = rule.select(case.size(), case.levels(), &case.footprint(), 0.0, 0.5);
            case.expect(column, samples.samples.into(), 0.0);
        }
        "cycles_lambda" => {
            let lambda = cycles_lambda(case.size(), &case.footprint());
            case.expect(column, lambda, FORMULA);
            let last = f64::from(case.levels() - 1);
            let clamped = (lambda + case.number("bias")).clamp(0.0, last);
            assert_eq!(
                case.level(LevelRule::CyclesLambda, 0.5),
                clamped,
                "{}",
                case.place
            );
        }
        "cycles_lo" => case.expect(column, case.level(LevelRule::CyclesStochastic, 0.0), 0.0),
        "cycles_hi" => {
            let random = 1.0 - 1e-12;
            case.expect(column, case.level(LevelRule::CyclesStochastic, random), 0.0);
        }
        "cycles_p_hi" => compare_probability(case, column),
        "meas_oiio_onelevel" | "meas_oiio_trilinear" | "meas_oiio_aniso16" if has_nan => {
            return false;
        }
        "meas_oiio_aniso16" if overflows => return false,
        "meas_oiio_onelevel" => measured(LevelRule::OiioOnelevel),
        "meas_oiio_trilinear" => measured(LevelRule::OiioTriFormula),
        "meas_oiio_aniso16" => measured(LevelRule::OiioAniso16Formula),
        _ => {
            let rule = LevelRule::from_name(column);
            let rule = rule.unwrap_or_else(|| panic!("no rule for the column {column}"));
            case.expect(column, case.level(rule, 0.5), FORMULA);
        }
    }
    true
}

/// Compares a step in texels with the partials from `first` on.
fn compare_texels(case: &Case, column: &str, first: usize) {
    let written = &case.values[column];
    for (axis, value) in written.split(',').enumerate() {
        let value: f64 = value
            .parse()
            .unwrap_or_else(|_| panic!("{}: {written}", case.place));
        let is = case.partials()[first + axis] * f64::from(case.size()[axis]);
        let is_same = value.is_nan() && is.is_nan() || value == is;
        let is_near = (value - is).abs() <= 1e-8 * value.abs().max(1e-30);
        assert!(
            is_same || is_near,
            "{}: {column} is {is}, not {value}",
            case.place
        );
    }
}

/// Compares the probability of the greater of two random levels.
fn compare_probability(case: &Case, column: &str) {
    let level = |random: f64| case.level(LevelRule::CyclesStochastic, random);
    let (greater, probability) = (case.number("cycles_hi"), case.number(column));
    let samples = 4096;
    let randoms = (0..samples).map(|i| (f64::from(i) + 0.5) / f64::from(samples));
    let share = randoms.filter(|&random| level(random) == greater).count();
    case.expect(
        column,
        share as f64 / f64::from(samples),
        1.0 / f64::from(samples),
    );
    if probability < 1.0 {
        let split = 1.0 - probability;
        assert_eq!(
            level((split + FORMULA).min(1.0 - 1e-12)),
            greater,
            "{}",
            case.place
        );
        assert_eq!(
            level(split - FORMULA),
            case.number("cycles_lo"),
            "{}",
            case.place
        );
    }
}

#[test]
fn single_precision_levels_are_near_the_table() {
    let smooth = [
        LevelRule::Max4Lambda,
        LevelRule::GlIso,
        LevelRule::SvdMinorAniso16,
        LevelRule::Pbrt4Trilinear,
        LevelRule::Pbrt4Ewa16,
        LevelRule::OiioTriFormula,
    ];
    for case in table().1 {
        let [dudx, dvdx, dudy, dvdy] = case.partials().map(|x| x as f32);
        let footprint = Footprint {
            uv: [0.5; 2],
            dx: [dudx, dvdx],
            dy: [dudy, dvdy],
        };
        let bias = case.number("bias") as f32;
        for rule in LevelRule::ALL {
            let level = rule.level(case.size(), &footprint, bias);
            assert!((0.0..=f64::from(case.levels() - 1)).contains(&f64::from(level)));
            if smooth.contains(&rule) {
                case.expect(rule.name(), level.into(), 1e-4);
            }
        }
    }
}

#[test]
fn rule_names_are_read_back() {
    for rule in LevelRule::ALL {
        assert_eq!(LevelRule::from_name(rule.name()), Some(rule));
    }
    assert_eq!(LevelRule::from_name("article"), Some(LevelRule::SortFloor));
    assert_eq!(LevelRule::from_name("GL_ISO"), None);
}

#[test]
fn random_level_remainder_is_uniform() {
    // Remainders of each of two levels fill [0, 1) evenly.
    let footprint = DFootprint {
        dx: DVec2::new(3.0 / 512.0, 0.0),
        dy: DVec2::new(0.0, 3.0 / 512.0),
        ..DFootprint::default()
    };
    let mut remainders: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for i in 0..4096 {
        let random = (f64::from(i) + 0.5) / 4096.0;
        let selection = LevelRule::CyclesStochastic.select([512; 2], 10, &footprint, 0.0, random);
        remainders
            .entry(selection.level as u32)
            .or_default()
            .push(selection.random);
    }
    assert_eq!(remainders.len(), 2);
    for (level, of_level) in remainders {
        let mean = of_level.iter().sum::<f64>() / of_level.len() as f64;
        let least = of_level.iter().copied().fold(1.0, f64::min);
        assert!(
            (mean - 0.5).abs() < 0.01 && least < 0.01,
            "level {level}: {mean} {least}"
        );
    }
}

#[test]
fn level_sizes_end_at_one_texel() {
    assert_eq!(level_size([37, 91], 2), [9, 22]);
    assert_eq!(level_size([37, 91], 6), [1, 1]);
    assert_eq!(level_size([37, 91], 99), [1, 1]);
    assert_eq!(whole_levels([0, 0]), 1);
    assert_eq!(whole_levels([u32::MAX, 1]), 32);
}

proptest! {
    #[test]
    fn any_footprint_has_a_finite_level(
        bits in prop::array::uniform6(any::<u32>()),
        bias in any::<u32>(),
        size in prop::array::uniform2(any::<u32>()),
        shift in 0_u32..32,
        levels in 0_u32..34,
        random in 0.0_f64..1.0,
    ) {
        let [u, v, dudx, dvdx, dudy, dvdy] = bits.map(f32::from_bits);
        let footprint = Footprint { uv: [u, v], dx: [dudx, dvdx], dy: [dudy, dvdy] };
        let (bias, size) = (f32::from_bits(bias), size.map(|side| side >> shift));
        for rule in LevelRule::ALL {
            let level = rule.level(size, &footprint, bias);
            prop_assert!(level >= 0.0 && level <= (whole_levels(size) - 1) as f32, "{}", rule.name());
            let selection = rule.select(size, levels, &footprint.into(), bias.into(), random);
            let last = f64::from(levels.max(1) - 1);
            prop_assert!((0.0..=last).contains(&selection.level), "{}", rule.name());
            prop_assert!((1..=31).contains(&selection.samples), "{}", rule.name());
            prop_assert!((0.0..1.0).contains(&selection.random), "{}", rule.name());
        }
    }
}
