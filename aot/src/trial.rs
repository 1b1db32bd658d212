//! Stretches on trial: random operands, and what their rows give at one point after the other. Whatever runs their code is held against that. A loop is
//! in [`region`].

pub(crate) mod region;

use crate::compute::words;
use crate::emit::{compile, compile_flows};
use crate::listing::Compiled;
use crate::machine::Machine;
use crate::memory::{place, place_points};
use crate::optimisation::Optimisations;
use adumbra_ir::host::{leaving, read_shadow};
use adumbra_ops::point::operand_float;
use adumbra_ops::row::Kind;
use adumbra_ops::{MAX_OPERANDS, Op};
use adumbra_vm::FloatMode;
use adumbra_vm::native::{
    CALLEES, Computed, Entry, Flow, Home, Piece, Points, Ref, Run, Stretch, Then, Unit, Value, Way,
    What,
};
use fastrand::Rng;

/// Points of each plane: four packs.
pub(crate) const POINTS: usize = 64;
/// Bytes of a pack.
pub(crate) const PACK_BYTES: usize = 64;
/// The packs that run: all but the second one, which must stay as it is.
pub(crate) const RUNS: [Run; 2] = [
    Run { start: 0, packs: 1 },
    Run {
        start: 2 * PACK_BYTES as u32,
        packs: 2,
    },
];

/// What each word of a stretch holds.
pub(crate) type Planes = Vec<[u32; POINTS]>;

/// A stretch of one row, and what its words hold before.
pub(crate) struct Trial {
    pub(crate) stretch: Stretch,
    pub(crate) planes: Planes,
}

/// Steps that a point has left, of which rows take none; turns of loops that packs may take.
pub(crate) const STEPS: u64 = 5;
/// Numbers by lot.
pub(crate) struct Lot(Rng);

impl Lot {
    pub(crate) fn new(seed: u64) -> Lot {
        Lot(Rng::with_seed(seed))
    }

    /// The next one, below an end.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0.usize(..end)
    }
}

/// The exit of a flow.
pub(crate) const EXIT: u32 = 0x1_2345;

/// Whether a point is among the packs that run.
fn runs(point: usize) -> bool {
    let byte = 4 * point;
    RUNS.iter().any(|run| {
        let start = run.start as usize;
        (start..start + run.packs as usize * PACK_BYTES).contains(&byte)
    })
}

/// What planes hold when this processor has run a kernel, alone in its code. Of a region, the planes from a number on are for what [`Points`] points at: who runs,
/// steps, then the set of each way.
fn run(code: &Compiled, planes: &Planes, runs: &[Run], points: Option<usize>) -> Planes {
    let mut planes = planes.clone();
    let kernels = place(code).expect("there is memory for code");
    let pointers = planes.iter_mut().map(|plane| plane.as_mut_ptr());
    let pointers: Vec<*mut u32> = pointers.collect();
    let refs: Vec<Ref> = pointers.iter().map(|&plane| Ref::to_plane(plane)).collect();
    let mut points = points.map(|first| Points {
        active: pointers[first].cast(),
        steps: pointers[first + 1],
        ways: pointers[first + 2].cast(),
        stride: size_of::<[u32; POINTS]>() / size_of::<u16>(),
        turns: STEPS,
    });
    let told: *mut Points = match &mut points {
        Some(points) => points,
        None => std::ptr::null_mut(),
    };
    let mode = FloatMode::enter();
    let kernel = kernels.entries[0].expect("there is code");
    // SAFETY: there is a reference for each word, all planes have the packs of the runs, and a region has a plane for each set and number, one behind the other.
    unsafe {
        kernel(
            refs.as_ptr(),
            runs.as_ptr(),
            runs.len(),
            PACK_BYTES,
            told,
            &CALLEES,
        )
    };
    drop(mode);
    planes
}

/// Numbers at which something happens, and any others.
fn word(random: &mut Rng, kind: Kind) -> u32 {
    const SPECIAL: [f32; 12] = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        0.5,
        2.0,
        1e-40,
        300_000.0,
        f32::MAX,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
    ];
    let bits = random.u32(..);
    match (kind, bits % 4) {
        (Kind::Bool, _) => bits / 4 % 2,
        (Kind::Float, 0) => SPECIAL[bits as usize / 4 % SPECIAL.len()].to_bits(),
        (Kind::Float, 2 | 3) => (bits as i32 as f32 / 1e9).to_bits(),
        (_, 2) => bits % 50,
        (_, 3) => (bits % 50).wrapping_neg(),
        _ => bits,
    }
}

impl Trial {
    /// Its code, given so many registers.
    pub(crate) fn code<M: Machine>(&self, registers: u8) -> Compiled {
        let unit = Unit::Stretch(self.stretch.clone());
        let compiled = compile::<M>(Optimisations::ALL, &[unit], registers, false);
        compiled.expect("it is short")
    }

    fn new(op: Op, shadows: &[[bool; 2]], homes: &[u8], random: &mut Rng) -> Trial {
        let mut trial = Trial {
            stretch: Stretch::default(),
            planes: Vec::new(),
        };
        let float = Kind::Float;
        let result = trial.value(shadows[0], Kind::Float, 0, random);
        let mut operands = [Value::default(); MAX_OPERANDS];
        for (i, &kind) in op.info().operands.iter().enumerate() {
            let home = if shadows[i + 1] == [false; 2] {
                homes[i]
            } else {
                0
            };
            let kind = if kind == float || op.info().differentiable() {
                kind
            } else {
                Kind::Word
            };
            operands[i] = trial.value(shadows[i + 1], kind, home, random);
        }
        trial.stretch.stored = words(&result).collect();
        trial.row(What::Row(op), result, &operands[..op.arity()]);
        trial
    }

    /// What is no row of the table: a result and an operand with these shadows.
    fn other(
        what: What,
        result: [bool; 2],
        operand: [bool; 2],
        home: u8,
        random: &mut Rng,
    ) -> Trial {
        let mut trial = Trial {
            stretch: Stretch::default(),
            planes: Vec::new(),
        };
        let result = trial.value(result, Kind::Float, 0, random);
        let operand = trial.value(operand, Kind::Float, home, random);
        trial.stretch.stored = words(&result).collect();
        trial.row(what, result, &[operand]);
        trial
    }

    fn value(&mut self, shadows: [bool; 2], kind: Kind, home: u8, random: &mut Rng) -> Value {
        Value {
            value: self.word(kind, home, random),
            shadows: shadows.map(|has| has.then(|| self.word(Kind::Float, 0, random))),
        }
    }

    fn word(&mut self, kind: Kind, home: u8, random: &mut Rng) -> u32 {
        let first = word(random, kind);
        self.planes.push(match home {
            0 => std::array::from_fn(|_| word(random, kind)),
            _ => [first; POINTS],
        });
        self.stretch.words.push(match home {
            0 => Home::Plane,
            1 => Home::Cell,
            _ => Home::Constant(first),
        });
        self.planes.len() as u32 - 1
    }

    /// A sum of so many constants and cells, three to one; in front of each term the sum may become its sine.
    pub(crate) fn sum(terms: u32, of_sines: bool) -> Trial {
        let mut trial = Trial {
            stretch: Stretch::default(),
            planes: vec![std::array::from_fn(|point| (point as f32).to_bits())],
        };
        trial.stretch.words.push(Home::Plane);
        let sum = Value::default();
        for i in 1..=terms {
            // No sum of these is NaN or infinite, whatever comes before.
            let bits = (i as f32 * 0.37).to_bits();
            trial.planes.push([bits; POINTS]);
            trial.stretch.words.push(match i % 4 {
                0 => Home::Cell,
                _ => Home::Constant(bits),
            });
            let other = Value {
                value: i,
                shadows: [None; 2],
            };
            if of_sines {
                trial.row(What::Row(Op::Sin), sum, &[sum]);
            }
            trial.row(What::Row(Op::Add), sum, &[sum, other]);
        }
        trial.stretch.stored = vec![sum.value];
        trial
    }

    /// A stretch with more words, constants and cells, and longer code, than the instructions of any machine reach at once.
    pub(crate) fn far() -> Trial {
        Trial::sum(8_000, true)
    }

    fn row(&mut self, what: What, result: Value, operands: &[Value]) {
        let mut all = [Value::default(); MAX_OPERANDS];
        all[..operands.len()].copy_from_slice(operands);
        self.stretch.rows.push(Computed {
            what,
            result,
            operands: all,
            position: self.stretch.rows.len() as u32,
        });
    }

    /// The same rows for one point: a word stands in the slot of its number, or, if there was a cell, among the globals.
    pub(crate) fn flow(&self) -> Flow {
        let stretch = &self.stretch;
        let words = (0..).zip(&stretch.words).map(|(word, home)| match home {
            Home::Plane => Home::Slot(word),
            Home::Cell => Home::Global(word),
            home => *home,
        });
        let mut live = vec![0_u64; stretch.words.len().div_ceil(64)];
        for &word in &stretch.stored {
            live[word as usize / 64] |= 1 << (word % 64);
        }
        Flow {
            words: words.collect(),
            pieces: vec![Piece {
                rows: stretch.rows.clone(),
                then: Then::Go(Way::Exit(EXIT)),
                position: 0,
            }],
            live: Some(live),
            entries: vec![Entry {
                piece: 0,
                at: 0,
                depth: 0,
            }],
        }
    }

    /// The code of these rows for one point, given so many registers.
    pub(crate) fn point_code<M: Machine>(&self, registers: u8) -> Compiled {
        compile_flows::<M>(Optimisations::ALL, &[self.flow()], registers, false)
            .expect("it is short")
    }

    /// What the words hold before, point by point of those that run.
    pub(crate) fn files(&self) -> Vec<Vec<u32>> {
        let points = (0..POINTS).filter(|&point| runs(point));
        let file = |point: usize| self.planes.iter().map(|plane| plane[point]).collect();
        points.map(file).collect()
    }

    /// What they hold then, of all points.
    pub(crate) fn planes_of(&self, files: &[Vec<u32>]) -> Planes {
        let mut planes = self.planes.clone();
        let points = (0..POINTS).filter(|&point| runs(point));
        for (point, file) in points.zip(files) {
            for (plane, &word) in planes.iter_mut().zip(file) {
                plane[point] = word;
            }
        }
        planes
    }

    /// What the words hold when code of this processor for one point has run at one after the other.
    pub(crate) fn run_alone(&self, code: &Compiled) -> Planes {
        let mut files = self.files();
        let kernels = place_points(&[self.flow()], code).expect("there is memory for code");
        let (_, kernel) = kernels.entries[0];
        let mode = FloatMode::enter();
        for file in &mut files {
            let globals = file.clone();
            // SAFETY: the file and the globals have all words of the flow.
            let left = unsafe { kernel(file.as_mut_ptr(), globals.as_ptr(), STEPS, &CALLEES) };
            assert_eq!((left.exit, left.steps), (u64::from(EXIT), STEPS));
        }
        drop(mode);
        self.planes_of(&files)
    }

    /// What the words hold when code of this processor, one kernel, has run.
    pub(crate) fn run(&self, code: &Compiled) -> Planes {
        run(code, &self.planes, &RUNS, None)
    }

    /// Compares what the words hold behind the stretch with its rows, one point after the other.
    ///
    /// # Errors
    /// What is not the same.
    pub(crate) fn judge(&self, found: &Planes) -> Result<(), String> {
        let count = self.stretch.words.len();
        let mut written: Vec<Option<&Computed>> = vec![None; count];
        for row in &self.stretch.rows {
            for word in words(&row.result) {
                written[word as usize] = Some(row);
            }
        }
        let mut is_stored = vec![false; count];
        for &word in &self.stretch.stored {
            is_stored[word as usize] = true;
        }
        let mut floats = vec![false; count];
        for point in 0..POINTS {
            let mut expected: Vec<u32> = self.planes.iter().map(|plane| plane[point]).collect();
            if runs(point) {
                compute(&self.stretch.rows, &mut expected, &mut floats);
            }
            for (word, &expected) in expected.iter().enumerate() {
                let row = written[word].filter(|_| runs(point));
                // What rows write and nobody reads may be anything.
                if row.is_some() && !is_stored[word] {
                    continue;
                }
                let found = found[word][point];
                let nan = |bits: u32| f32::from_bits(bits).is_nan();
                let is_nan = floats[word] && nan(expected) && nan(found);
                if found != expected && !is_nan {
                    return Err(self.difference(point, word, row, [found, expected]));
                }
            }
        }
        Ok(())
    }

    fn difference(
        &self,
        point: usize,
        word: usize,
        row: Option<&Computed>,
        values: [u32; 2],
    ) -> String {
        let [found, expected] = values.map(|bits| format!("{bits:#x} ({})", f32::from_bits(bits)));
        let begin = format!("word {word} at point {point} is {found} and not {expected}");
        let Some(row) = row else {
            return format!("{begin}, although nothing writes it");
        };
        let operands = &row.operands[..row.what.arity()];
        let inputs = operands.iter().flat_map(words);
        let inputs: Vec<f32> = inputs
            .map(|word| f32::from_bits(self.planes[word as usize][point]))
            .collect();
        format!("{begin}, of {row:?}; before the stretch its operands hold {inputs:?}")
    }
}

/// Runs the rows at one point. Notes which words become floats, whose NaNs may be any.
fn compute(rows: &[Computed], words: &mut [u32], floats: &mut [bool]) {
    for row in rows {
        let operands = &row.operands[..row.what.arity()];
        let first = operands[0].value as usize;
        let (value, is_float) = match row.what {
            What::Copy => (words[first], floats[first]),
            What::ReadShadow => {
                let shadow = read_shadow(f32::from_bits(words[first]));
                (shadow.to_bits(), true)
            }
            What::Leaving => {
                let value = leaving(f32::from_bits(words[first]));
                (value.to_bits(), false)
            }
            What::Row(op) => {
                let bits: Vec<u32> = operands.iter().map(|v| words[v.value as usize]).collect();
                (op.value(&bits), matches!(op.info().result, Kind::Float))
            }
        };
        let shadows = [0, 1].map(|direction| {
            let shadow = operands[0].shadows[direction].map(|word| words[word as usize]);
            let op = match (row.what, shadow) {
                (What::Row(op), _) if row.result.shadows[direction].is_some() => op,
                (What::Copy, Some(shadow)) => return shadow,
                (What::Leaving, Some(shadow)) => {
                    return leaving(read_shadow(f32::from_bits(shadow))).to_bits();
                }
                _ => return 0,
            };
            let kinds = op.info().operands;
            let numbers = operands.iter().zip(kinds);
            let numbers = numbers.map(|(v, &kind)| operand_float(kind, words[v.value as usize]));
            let numbers: Vec<f32> = numbers.collect();
            let shadow = |word: u32| f32::from_bits(words[word as usize]);
            let shadows = operands.iter().map(|v| v.shadows[direction].map(shadow));
            let shadows: Vec<Option<f32>> = shadows.collect();
            op.tangent(&numbers, f32::from_bits(value), &shadows)
                .to_bits()
        });
        (
            words[row.result.value as usize],
            floats[row.result.value as usize],
        ) = (value, is_float);
        for (word, shadow) in row.result.shadows.into_iter().zip(shadows) {
            if let Some(word) = word {
                let is_any_nan = row.what != What::Leaving;
                (words[word as usize], floats[word as usize]) = (shadow, is_any_nan);
            }
        }
    }
}

/// Every row of the op table, and what else a row can be: with shadows and without, with operands in planes, cells and constants.
pub(crate) fn rows() -> Vec<Trial> {
    let mut random = Rng::with_seed(1);
    let mut trials = Vec::new();
    for &op in Op::ALL {
        let arity = op.arity();
        let none = [[false; 2]; MAX_OPERANDS + 1];
        let mut patterns = vec![none];
        if op.info().differentiable() {
            patterns.push([[true; 2]; MAX_OPERANDS + 1]);
            for i in 1..=arity {
                let mut one = none;
                (one[0], one[i]) = ([true; 2], [true; 2]);
                patterns.push(one);
            }
            patterns.push([[true, false]; MAX_OPERANDS + 1]);
            patterns.push([[false, true]; MAX_OPERANDS + 1]);
        }
        for (i, shadows) in patterns.iter().enumerate() {
            for homes in 0..3_usize.pow(arity.min(3) as u32) {
                // Operands in planes, cells and constants, in turn beyond the first pattern.
                if i > 0 && homes % patterns.len() != i {
                    continue;
                }
                let homes: [u8; MAX_OPERANDS] =
                    std::array::from_fn(|i| (homes / 3_usize.pow(i.min(2) as u32) % 3) as u8);
                trials.push(Trial::new(op, shadows, &homes, &mut random));
            }
        }
    }
    let shadows = [[false, false], [true, false], [false, true], [true, true]];
    for home in 0..3 {
        let none = [false; 2];
        trials.push(Trial::other(
            What::ReadShadow,
            none,
            none,
            home,
            &mut random,
        ));
        for what in [What::Copy, What::Leaving] {
            for operand in shadows {
                trials.push(Trial::other(what, [true; 2], operand, home, &mut random));
            }
        }
    }
    trials
}
