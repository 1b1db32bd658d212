//! Differential tests of quads in chunks against four joined point machines.

use super::*;
use adumbra_ir::host::canonical_float;
use adumbra_ir::module::Module;
use adumbra_ir::passes::{AtDivergence, Derivatives, quads};
use adumbra_ir::quad::{Quad, advance, with_host};
use adumbra_ir::random::generate_convergent;
use adumbra_ir::span::FileId;
use adumbra_ir::text::parse;
use adumbra_ir::verify::verify;
use fastrand::Rng;

/// Points, and which of them are helpers.
struct Quads {
    program: Arc<Bytecode>,
    rule: Quad,
    inputs: Vec<u32>,
    globals: Vec<Vec<u32>>,
    helpers: Vec<bool>,
}

/// Four machines, joined.
struct Four<'q> {
    quads: &'q Quads,
    machines: [PointMachine; 4],
}

impl Four<'_> {
    fn new(quads: &Quads) -> Four<'_> {
        let machine = || PointMachine::new(quads.program.clone(), LIMITS);
        Four {
            quads,
            machines: [(); 4].map(|()| machine()),
        }
    }

    fn go_on(&mut self, first: usize, host: &mut Recorder) {
        let quads = self.quads;
        advance(quads.rule, &mut self.machines, |corner, machine, found| {
            let point = first + corner as usize;
            host.at = point;
            with_host(quads.helpers[point], host, |host| machine.join(found, host));
        });
    }

    /// Answers requests until there are none.
    fn answer_all(&mut self, first: usize, host: &mut Recorder) {
        while let Some(at) = self.machines.iter().position(|m| m.request().is_some()) {
            let point = first + at;
            let texel = texel(self.machines[at].request().expect("it asks"));
            host.at = point;
            let machine = &mut self.machines[at];
            let is_helper = self.quads.helpers[point];
            with_host(is_helper, host, |host| machine.answer(texel, host));
            self.go_on(first, host);
        }
    }

    fn shown(&self) -> [Shown; 4] {
        let lanes = &self.quads.program.output_lanes;
        let mut outputs = self.machines.each_ref().map(|m| m.outputs().to_vec());
        for (scalar, _) in lanes.iter().enumerate().filter(|(_, l)| !l.is_none()) {
            let values = self.machines.each_ref().map(|machine| {
                let value = f32::from_bits(machine.outputs()[3 * scalar]);
                (machine.outcome() == Outcome::Finished).then_some(value)
            });
            for direction in Direction::BOTH {
                let found = self.quads.rule.difference(direction, values);
                for at in (0..4).filter(|&at| values[at].is_some()) {
                    let word = canonical_float(found[at]).to_bits();
                    outputs[at][3 * scalar + 1 + direction as usize] = word;
                }
            }
        }
        let mut outputs = outputs.into_iter();
        self.machines.each_ref().map(|machine| {
            let closures = format!("{:?}", machine.closures());
            let outputs = outputs.next().expect("four");
            (
                machine.outcome(),
                outputs,
                machine.faults().clone(),
                closures,
            )
        })
    }
}

impl Quads {
    fn of_seed(seed: u64, points: usize) -> Quads {
        let rule = Quad::ALL[seed as usize % Quad::ALL.len()];
        let options = PassOptions {
            derivatives: Derivatives::Quad(rule),
            output_shadows: !seed.is_multiple_of(3),
            ..PassOptions::default()
        };
        let module = quads(generate_convergent(seed), rule, AtDivergence::Refuse)
            .expect("nothing is divergent");
        let (module, _) = passes::run(module, &options);
        Quads::new(&module, seed, points)
    }

    fn new(module: &Module, seed: u64, points: usize) -> Quads {
        let case = Case::of(module, seed, points);
        let mut random = Rng::with_seed(!seed);
        let with_helpers = random.bool();
        let helpers = (0..points).map(|_| with_helpers && random.u8(..3) == 0);
        Quads {
            rule: module.quad.expect("it is in quads"),
            helpers: helpers.collect(),
            program: case.program,
            inputs: case.inputs,
            globals: case.globals,
        }
    }

    fn alone(&self) -> (Vec<Shown>, Vec<Vec<String>>) {
        let mut host = Recorder::default();
        host.points.resize(self.helpers.len(), Vec::new());
        let mut four = Four::new(self);
        let mut shown = Vec::new();
        for first in (0..self.helpers.len()).step_by(4) {
            for at in 0..4 {
                let point = first + at;
                host.at = point;
                let globals: Vec<u32> = self.globals.iter().map(|plane| plane[point]).collect();
                let (machine, is_helper) = (&mut four.machines[at], self.helpers[point]);
                with_host(is_helper, &mut host, |host| {
                    machine.run(&globals, &self.inputs, host)
                });
            }
            four.go_on(first, &mut host);
            shown.extend(four.shown());
        }
        (shown, host.points)
    }

    fn together(
        &self,
        level: SimdLevel,
        width: usize,
        hesitates: bool,
    ) -> (Vec<Shown>, Vec<Vec<String>>) {
        let is_same = |plane: &Vec<u32>| plane.iter().all(|word| word == &plane[0]);
        let options = BatchOptions {
            width: Some(width),
            level: Some(level),
            uniform: self.globals.iter().map(is_same).collect(),
            ..BatchOptions::default()
        };
        let mut machine = BatchMachine::new(self.program.clone(), LIMITS, &options);
        let mut host = Recorder {
            hesitates,
            ..Recorder::default()
        };
        host.points.resize(self.helpers.len(), Vec::new());
        let planes = self.globals.iter();
        let sources: Vec<GlobalSource<'_>> = planes
            .map(|words| GlobalSource::Varying { words, stride: 1 })
            .collect();
        let mut four = Four::new(self);
        let mut shown = Vec::new();
        let width = machine.width();
        assert!(width.is_multiple_of(4));
        for first in (0..self.helpers.len()).step_by(width) {
            let points = width.min(self.helpers.len() - first);
            let helpers = &self.helpers[first..][..points];
            match helpers.contains(&true) {
                true => machine.run_quads(&sources, &self.inputs, first, helpers, &mut host),
                false => machine.run(&sources, &self.inputs, first, points, &mut host),
            }
            let mut elsewhere = Vec::new();
            while let Some(point) = machine
                .suspended()
                .iter()
                .find_map(|(point, parked)| parked.request().map(|_| *point))
            {
                let quad = point / 4 * 4;
                let words = 3 * self.program.output_lanes.len();
                for point in quad..quad + 4 {
                    assert_eq!(machine.outcomes()[point], Outcome::Pending);
                    assert!((0..words).all(|at| machine.output(at / 3, at % 3, point) == 0));
                }
                // Every other quad is parked and resumed elsewhere, or in its own chunk.
                if quad % 8 == 0 {
                    let parked = machine
                        .suspended()
                        .iter()
                        .find(|(other, _)| *other == point);
                    let request = *parked.and_then(|(_, p)| p.request()).expect("it asks");
                    host.at = usize::MAX;
                    machine.answer(point, texel(&request), &mut host);
                    continue;
                }
                let parked = [0, 1, 2, 3].map(|at| machine.take_suspended(quad + at));
                let mut parked = parked.map(|parked| parked.expect("all wait"));
                if quad % 16 == 4 {
                    for (at, parked) in (quad..).zip(parked) {
                        let is_helper = machine.is_helper(at);
                        machine.suspend(at, parked, is_helper);
                    }
                    let parked = machine
                        .suspended()
                        .iter()
                        .find(|(other, _)| *other == point);
                    let request = *parked.and_then(|(_, p)| p.request()).expect("it asks");
                    machine.answer(point, texel(&request), &mut host);
                    continue;
                }
                for (machine, parked) in four.machines.iter_mut().zip(&mut parked) {
                    machine.unpark(parked);
                }
                four.answer_all(first + quad, &mut host);
                elsewhere.push((quad, four.shown()));
            }
            assert!(machine.suspended().is_empty());
            let scalars = self.program.output_lanes.len();
            let mut planes = vec![vec![0; points]; 3 * scalars];
            for (at, plane) in planes.iter_mut().enumerate() {
                machine.copy_output(at / 3, at % 3, plane, 1);
            }
            for point in 0..points {
                let there = elsewhere.iter().find(|(quad, _)| *quad == point / 4 * 4);
                if let Some((quad, there)) = there {
                    shown.push(there[point - quad].clone());
                    continue;
                }
                let outputs: Vec<u32> = planes.iter().map(|plane| plane[point]).collect();
                for (at, &word) in outputs.iter().enumerate() {
                    assert_eq!(word, machine.output(at / 3, at % 3, point));
                }
                let closures = format!("{:?}", machine.closures(point));
                let outcome = machine.outcomes()[point];
                shown.push((outcome, outputs, machine.faults(point).clone(), closures));
            }
        }
        (shown, host.points)
    }

    /// Panics if a program has other results in chunks.
    fn check(&self, name: &str, width: usize) {
        let name = format!("{name}, width {width}");
        // Helpers add to sums, too: gradients by buffers are not taken of quads.
        let (alone, said) = self.alone();
        compare(
            &name,
            &self.program,
            &(alone, said, Vec::new()),
            |level, hesitates| {
                let (together, said) = self.together(level, width, hesitates);
                (together, said, Vec::new())
            },
        );
    }
}

#[test]
#[cfg_attr(miri, ignore = "hundreds of random programs take hours")]
fn quad_chunks_equal_joined_point_machines() {
    for seed in 0..400 {
        let mut random = Rng::with_seed(seed);
        let width = random.usize(1..=MAX_WIDTH);
        let width = if seed % 4 == 0 { width } else { 1 + width % 40 };
        let points = 4 * random.usize(1..=22);
        let quads = Quads::of_seed(seed, points);
        quads.check(&format!("seed {seed}"), width);
    }
}

/// No compilation makes it, but a file may hold it: points of a quad that come to different
/// differences, each in iterations of its own.
#[test]
fn unshared_differences_bail_out_correctly() {
    for (number, text) in [
        "quad fine global x: float output o: float entry main
        fn main() -> (f32) ^0 {
            %0: f32 = global x[0]
            %1: f32 = const 1.0
            %2: bool = flt %0, %1
            %3: f32 = if %2 ^1 { %4: f32 = difference_x %0 yield %4 } else ^2 { %5: f32 = difference_y %0 yield %5 }
            return %3
        }",
        "quad coarse_lower_right global x: float output o: float entry main
        fn main() -> (f32) ^0 {
            %0: f32 = global x[0]
            %1: f32 = loop ^1 (%2: f32 = %0) {
                %3: f32 = difference_x %2
                %4: f32 = add %2, %3
                %5: f32 = const 0.5
                %6: f32 = add %4, %5
                %7: f32 = const 3.0
                %8: bool = flt %6, %7
                if %8 ^2 { continue ^1 %6 } else ^3 { break ^1 %6 }
                unreachable
            }
            %9: f32 = difference_y %1
            return %9
        }",
    ]
    .into_iter()
    .enumerate()
    {
        let text = format!("adumbra ir 1\n{text}");
        let module = parse(&text, FileId::MAIN).expect("it is a module");
        verify(&module).expect("it is valid");
        for seed in 0..10 {
            let quads = Quads::new(&module, seed, 24);
            for width in [4, 12, 24] {
                quads.check(&format!("module {number}, seed {seed}"), width);
            }
        }
    }
}

/// A point waits for another one of its quad, which asks for a texture, and leaves with it: its
/// uniforms too.
#[test]
fn waiting_points_leave_with_their_uniforms() {
    const TEXT: &str = "adumbra ir 1 quad fine global x: float texture t output o: float entry main
        fn main() -> (f32) ^0 {
            %0: f32 = global x[0]
            %1: i32 = const 3
            %2: i32 = iadd %1, %1
            %3: f32 = const 0.5
            %4: bool = flt %0, %3
            %5: f32 = if %4 ^1 {
                %6: f32, %7: f32, %8: f32, %9: f32 = sample t(%0, %0)
                yield %6
            } else ^2 { yield %0 }
            %10: bool = ilt %1, %2
            %11: f32 = select %10, %5, %3
            return %11
        }";
    let module = parse(TEXT, FileId::MAIN).unwrap_or_else(|e| panic!("{e:?}"));
    let mut case = Case::of(&module, 0, 100);
    let x = |point: usize| (point % 7) as f32 / 7.0;
    case.globals[0] = (0..100).map(|point| x(point).to_bits()).collect();
    let (alone, ..) = case.alone();
    let words = GlobalSource::Varying {
        words: &case.globals[0],
        stride: 1,
    };
    for level in SimdLevel::available() {
        let options = BatchOptions {
            level: Some(level),
            ..BatchOptions::default()
        };
        let mut machine = BatchMachine::new(case.program.clone(), case.limits, &options);
        let mut host = Recorder {
            hesitates: true,
            ..Recorder::default()
        };
        machine.run(&[words, words, words], &[], 0, 100, &mut host);
        let mut answered = 0;
        while let Some((point, request)) = machine.suspended().iter().find_map(|(point, parked)| {
            let request = parked.request()?;
            Some((*point, *request))
        }) {
            machine.answer(point, texel(&request), &mut host);
            answered += 1;
        }
        assert!(answered > 10, "{answered}");
        for (point, (_, outputs, ..)) in alone.iter().enumerate() {
            assert_eq!(machine.output(0, 0, point), outputs[0], "{level}, {point}");
        }
    }
}
