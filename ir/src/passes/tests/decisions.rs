//! Traces of decisions: they change no output, number decisions in order of execution, and force
//! one alone.

use super::*;
use crate::eval::{EvalOptions, EvalOutcome, EvalPoint, evaluate};
use crate::host::ConstantTexture;
use crate::random::generate;
use crate::verify;
use adumbra_ops::Op;

const MODULES: u64 = 400;

/// Evaluates a module whose globals are these, or follow from their number.
fn run(module: &Module, set: &[(&str, f32)]) -> EvalOutcome<f32> {
    let mut point = EvalPoint::<f32>::new(module);
    let mut scalar = 0;
    for (at, global) in module.globals.iter().enumerate() {
        let set = set.iter().find(|(name, _)| *name == global.name);
        global.ty.for_each_scalar(&mut |ty| {
            let number = set.map_or(0.3 + at as f32, |(_, number)| *number);
            let value = &mut point.globals[scalar];
            match ty {
                Scalar::F32 => value.float = number,
                _ => value.word = number as i32 as u32,
            }
            scalar += 1;
        });
    }
    let mut host = ConstantTexture([0.25, 0.5, 0.75, 1.0]);
    evaluate(module, &point, &EvalOptions::default(), &mut host)
}

fn traced(module: &Module, tracing: Tracing) -> (Module, Vec<DecisionSite>) {
    let mut module = module.clone();
    let sites = trace_decisions(&mut module, tracing);
    verify(&module).unwrap();
    (module, sites)
}

/// Values of globals that force no decision, and watch one.
fn watching(number: i32) -> Vec<(String, f32)> {
    let mut set = vec![(decision_names::WATCHED.to_owned(), number as f32)];
    set.extend((0..MAX_FORCED_DECISIONS).map(|slot| (decision_names::forced_number(slot), -1.0)));
    set
}

/// The same, with a decision forced.
fn forcing(number: i32, value: f32, watched: i32) -> Vec<(String, f32)> {
    let mut set = watching(watched);
    set[1].1 = number as f32;
    set.push((decision_names::forced_value(0), value));
    set
}

fn borrowed(set: &[(String, f32)]) -> Vec<(&str, f32)> {
    set.iter()
        .map(|(name, number)| (name.as_str(), *number))
        .collect()
}

/// An output of that name.
fn output(module: &Module, outcome: &EvalOutcome<f32>, name: &str) -> (f32, i32) {
    let mut before = 0;
    for output in &module.outputs {
        if output.name == name {
            let value = outcome.outputs[before];
            return (value.float, value.word as i32);
        }
        before += output.ty.scalar_count();
    }
    panic!("there is no output {name}");
}

fn bits(outcome: &EvalOutcome<f32>, count: usize) -> Vec<(u32, u32)> {
    let outputs = outcome.outputs[..count].iter();
    outputs
        .map(|value| (value.float.to_bits(), value.word))
        .collect()
}

#[test]
fn random_shaders_have_the_outputs_of_before() {
    let (mut decided, mut forced) = (0, 0);
    for seed in 0..MODULES {
        let module = generate(seed);
        let own = run(&module, &[]);
        let count = own.outputs.len();
        let compared = traced(&module, Tracing::Compared).0;
        let trace = run(&compared, &[]);
        assert_eq!(trace.faults.stopped(), own.faults.stopped(), "seed {seed}");
        if own.faults.stopped().is_some() {
            continue;
        }
        assert_eq!(bits(&trace, count), bits(&own, count), "seed {seed}");
        let decisions = output(&compared, &trace, decision_names::COUNT).1;
        decided += decisions;

        // What is forced to be as it is changes nothing, and the decision is one of those counted.
        let (module, sites) = traced(&module, Tracing::Watched);
        for number in 0..decisions.min(12) {
            let watched = run(&module, &borrowed(&watching(number)));
            assert_eq!(bits(&watched, count), bits(&own, count), "seed {seed}");
            assert_eq!(
                output(&module, &watched, decision_names::COUNT).1,
                decisions
            );
            let site = output(&module, &watched, decision_names::SITE).1;
            let site = &sites[site as usize];
            let (value, _) = output(&module, &watched, decision_names::VALUE);
            // Fractions and remainders round otherwise; casts hold what no float does.
            let is_same = !matches!(
                site.op,
                Op::Fract | Op::Mod | Op::Fmod | Op::FToI | Op::FToU
            );
            if value.is_finite() && is_same {
                let same = run(&module, &borrowed(&forcing(number, value, number)));
                assert_eq!(
                    bits(&same, count),
                    bits(&own, count),
                    "seed {seed} {number} {site:?}"
                );
                forced += 1;
            }
        }
        let beyond = run(&module, &borrowed(&watching(decisions)));
        assert_eq!(output(&module, &beyond, decision_names::SITE).1, -1);
    }
    assert!(decided > 1000 && forced > 500, "{decided} {forced}");
}

#[test]
fn decisions_have_numbers_in_order_of_execution() {
    // Counts from g up to 2.5, by a function that compares: as many calls as iterations.
    let module = module(
        "fn more(%0: f32) -> (bool) ^0 {
            %1: f32 = const 2.5
            %2: bool = flt %0, %1
            return %2
         }
         fn main() -> (f32) ^0 {
            %0: f32 = global g[0]
            %1: f32 = loop ^1(%2: f32 = %0) {
                %3: bool = call more(%2)
                if %3 ^2 {
                    yield
                } else ^3 {
                    break ^1 %2
                }
                %4: f32 = const 1.0
                %5: f32 = add %2, %4
                continue ^1 %5
            }
            return %1
         }",
    );
    let (module, sites) = traced(&module, Tracing::Watched);
    assert_eq!(sites.len(), 1);
    let at = |set: &[(String, f32)], name: &str| {
        let mut set = borrowed(set);
        set.push(("g", 0.25));
        output(&module, &run(&module, &set), name)
    };
    // .25, 1.25 and 2.25 are less than 2.5, 3.25 is not.
    assert_eq!(at(&watching(-1), decision_names::COUNT).1, 4);
    for (number, margin) in [(0, -2.25), (1, -1.25), (2, -0.25), (3, 0.75)] {
        assert_eq!(at(&watching(number), decision_names::MARGIN).0, margin);
        let value = at(&watching(number), decision_names::VALUE).0;
        assert_eq!(value, f32::from(u8::from(margin < 0.0)));
    }
    assert_eq!(at(&watching(4), decision_names::SITE).1, -1);
    // Forced to stop at the third, or to go on at the last.
    assert_eq!(at(&forcing(2, 0.0, -1), "out0").0, 2.25);
    assert_eq!(at(&forcing(3, 1.0, -1), "out0").0, 4.25);
    assert_eq!(at(&forcing(3, 1.0, 4), decision_names::MARGIN).0, 1.75);
}

#[test]
fn hashes_are_of_the_decisions_before_the_one_that_is_watched() {
    let module = module(
        "fn main() -> (i32) ^0 {
            %0: f32 = global g[0]
            %1: f32 = global h[0]
            %2: f32 = floor %0
            %3: bool = flt %2, %1
            %4: i32 = b2i %3
            return %4
         }",
    );
    let (module, _) = traced(&module, Tracing::Watched);
    let hash = |watched: i32, g: f32, h: f32| {
        let set = watching(watched);
        let mut set = borrowed(&set);
        set.extend([("g", g), ("h", h)]);
        let outcome = run(&module, &set);
        decision_names::HASH.map(|name| output(&module, &outcome, name).1)
    };
    assert_eq!(hash(1, 0.5, 3.0), hash(1, 0.75, -3.0));
    assert_ne!(hash(2, 0.5, 3.0), hash(2, 0.75, -3.0));
    assert_ne!(hash(1, 0.5, 3.0), hash(1, 1.5, 3.0));
    assert_ne!(hash(1, 0.5, 3.0), hash(1, -0.5, 3.0));
    // Both zeros are one integer.
    assert_eq!(hash(1, 0.5, 3.0), hash(1, -0.0, 3.0));
}

#[test]
fn both_sides_of_a_jump_can_be_forced() {
    let of = |op: &str, operands: &str| {
        let text = format!(
            "fn main() -> (f32) ^0 {{
                %0: f32 = global g[0]
                %1: f32 = global h[0]
                %2: f32 = {op} {operands}
                return %2
             }}"
        );
        traced(&module(&text), Tracing::Watched).0
    };
    let at = |module: &Module, value: f32| {
        let set = forcing(0, value, -1);
        let mut set = borrowed(&set);
        set.extend([("g", 2.0), ("h", -3.0)]);
        output(module, &run(module, &set), "out0").0
    };
    let floor = of("floor", "%0");
    assert_eq!([1.0, 2.0].map(|noise| at(&floor, noise)), [1.0, 2.0]);
    let fract = of("fract", "%0");
    assert_eq!([1.0, 2.0].map(|noise| at(&fract, noise)), [1.0, 0.0]);
    let floored = of("mod", "%1, %0");
    assert_eq!([-2.0, -1.0].map(|noise| at(&floored, noise)), [1.0, -1.0]);
    let sign = of("copysign", "%0, %1");
    assert_eq!([0.0, 1.0].map(|side| at(&sign, side)), [2.0, -2.0]);
    let angle = of("atan2", "%0, %1");
    let own = at(&angle, 0.0);
    assert!(own > 2.5, "{own}");
    assert_eq!(at(&angle, 1.0), own - std::f32::consts::TAU);
    let noise = of("cellnoise1", "%0, %1");
    let mut set = borrowed(&[]);
    set.extend([("g", 1.5), ("h", -3.0)]);
    let none = watching(-1);
    set.extend(borrowed(&none));
    let before = output(&noise, &run(&noise, &set), "out0").0;
    assert_eq!(at(&noise, 1.0), before);
    assert_ne!(at(&noise, 2.0), before);
}

/// A march: a step that counts nothing, and a mark of the surface. The field is the greater of 0.5
/// and the lesser of x and y, of which the last is a choice alone. `REACHES` says whether there is
/// one.
const MARCH: &str = "
    fn step undecided(%0: f32) -> (f32) ^0 {
        %1: f32 = const 0.75
        %2: bool = flt %0, %1
        %3: f32 = select %2, %0, %1
        return %3
    }
    fn field(%0: f32, %1: f32, %2: f32) -> (f32) ^0 {
        %3: f32 = min %0, %1
        %4: f32 = const 0.5
        %5: f32 = max %3, %4
        return %5
    }
    fn mark surface(%0: f32, %1: f32, %2: bool, %3: bool, %4: f32, %5: f32, %6: f32) -> (f32) ^0 {
        %7: f32 = call field(%4, %5, %6)
        return %7
    }
    fn main() -> (f32) ^0 {
        %0: f32 = global g[0]
        %1: f32 = global h[0]
        %2: f32 = call step(%0)
        %3: bool = const REACHES
        %4: bool = const false
        %5: f32 = const 0.0
        %6: f32 = const 3.0
        %7: f32 = call mark(%6, %1, %3, %4, %0, %1, %5)
        return %2
    }";

#[test]
fn surfaces_are_distinguished_by_choices_alone() {
    let (reached, sites) = traced(&module(&MARCH.replace("REACHES", "true")), Tracing::Watched);
    let missed = traced(
        &module(&MARCH.replace("REACHES", "false")),
        Tracing::Watched,
    )
    .0;
    assert_eq!(sites.len(), 1);
    assert_eq!(sites[0].kind, DecisionKind::Surface);
    let at = |module: &Module, [g, h]: [f32; 2], name: &str| {
        let set = watching(0);
        let mut set = borrowed(&set);
        set.extend([("g", g), ("h", h)]);
        output(module, &run(module, &set), name)
    };
    let surface = |place: [f32; 2]| at(&reached, place, decision_names::VALUE).0;
    assert_eq!(at(&reached, [0.25, 0.5], decision_names::COUNT).1, 1);
    assert_eq!(at(&reached, [0.25, 0.5], decision_names::MARGIN).0, 3.0);
    // Whether x is less matters, and not on which side of a constant the lesser one is.
    assert_eq!(surface([0.25, 0.5]), surface([0.75, 1.5]));
    assert_ne!(surface([0.25, 0.5]), surface([0.75, 0.5]));
    // At a tie the first is the lesser, as derivatives have it.
    assert_eq!(surface([0.5, 0.5]), surface([0.25, 0.5]));
    assert_ne!(surface([0.25, 0.5]), 0.0);
    assert_eq!(at(&missed, [0.25, 0.5], decision_names::VALUE).0, 0.0);
}

#[test]
fn marks_of_surfaces_are_removed() {
    let mut module = module(&MARCH.replace("REACHES", "true"));
    let before = bits(&run(&module, &[("g", 0.5)]), 1);
    surfaces::remove(&mut module);
    verify(&module).unwrap();
    assert!(surfaces::is_done(&module) && !text(&module).contains("call mark"));
    assert_eq!(bits(&run(&module, &[("g", 0.5)]), 1), before);
}
