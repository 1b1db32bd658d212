//! Every row of the op table, as code, gives what it gives at one point: with shadows and without, with operands in planes, cells and constants, with
//! registers to spare and with hardly any.

use super::X64;
use crate::emit::compile_with;
use crate::memory::place;
use adumbra_ir::ops::point::operand_float;
use adumbra_ir::ops::row::Kind;
use adumbra_ir::ops::{MAX_OPERANDS, Op};
use adumbra_vm::FloatMode;
use adumbra_vm::native::{Computed, Home, Ref, Run, Stretch, Value, What};

/// Points: four vectors.
const POINTS: usize = 32;

/// Numbers at which something happens, and any others.
fn word(state: &mut u64, kind: Kind) -> u32 {
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
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    let bits = (*state >> 32) as u32;
    match (kind, bits % 4) {
        (Kind::Bool, _) => bits / 4 % 2,
        (Kind::Float, 0) => SPECIAL[bits as usize / 4 % SPECIAL.len()].to_bits(),
        (Kind::Float, 2 | 3) => (bits as i32 as f32 / 1e9).to_bits(),
        (_, 2) => bits % 50,
        (_, 3) => (bits % 50).wrapping_neg(),
        _ => bits,
    }
}

/// A stretch of one row, and what each of its words holds.
struct Trial {
    stretch: Stretch,
    planes: Vec<[u32; POINTS]>,
}

impl Trial {
    fn new(op: Op, shadows: &[[bool; 2]], homes: &[u8], state: &mut u64) -> Trial {
        let mut trial = Trial {
            stretch: Stretch::default(),
            planes: Vec::new(),
        };
        let float = Kind::Float;
        let result = trial.value(shadows[0], Kind::Float, 0, state);
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
            operands[i] = trial.value(shadows[i + 1], kind, home, state);
        }
        let words = std::iter::once(result.value).chain(result.shadows.into_iter().flatten());
        trial.stretch.stored = words.collect();
        trial.stretch.rows.push(Computed {
            what: What::Row(op),
            result,
            operands,
        });
        trial
    }

    fn value(&mut self, shadows: [bool; 2], kind: Kind, home: u8, state: &mut u64) -> Value {
        Value {
            value: self.word(kind, home, state),
            shadows: shadows.map(|has| has.then(|| self.word(Kind::Float, 0, state))),
        }
    }

    fn word(&mut self, kind: Kind, home: u8, state: &mut u64) -> u32 {
        let first = word(state, kind);
        self.planes.push(match home {
            0 => std::array::from_fn(|_| word(state, kind)),
            _ => [first; POINTS],
        });
        self.stretch.words.push(match home {
            0 => Home::Plane,
            1 => Home::Cell,
            _ => Home::Constant(first),
        });
        self.planes.len() as u32 - 1
    }

    /// What the words hold when the code has run.
    fn run(&self, registers: u8) -> Vec<[u32; POINTS]> {
        let mut planes = self.planes.clone();
        let code = compile_with::<X64>(std::slice::from_ref(&self.stretch), registers)
            .expect("it is short");
        let kernels = place(&code).expect("there is memory for code");
        let refs: Vec<Ref> = (planes.iter_mut())
            .map(|plane| Ref::to_plane(plane.as_mut_ptr()))
            .collect();
        let run = Run {
            packs: 2,
            ..Run::FIRST
        };
        let mode = FloatMode::enter();
        let kernel = kernels.entries[0].expect("there is code");
        // SAFETY: there is a reference for each word, and all planes have two packs of 64 bytes.
        unsafe { kernel(refs.as_ptr(), &raw const run, 1, 64) };
        drop(mode);
        planes
    }

    /// Compares all points of the result with the row at one point.
    fn check(&self, op: Op, registers: u8) {
        let planes = self.run(registers);
        let found = |word: u32, point: usize| planes[word as usize][point];
        let row = &self.stretch.rows[0];
        let operands = &row.operands[..op.arity()];
        let at = |word: u32, point: usize| self.planes[word as usize][point];
        let same = |what: &str, point: usize, found: u32, expected: u32, is_float: bool| {
            let nan = |bits: u32| f32::from_bits(bits).is_nan();
            let inputs: Vec<f32> = operands
                .iter()
                .map(|operand| f32::from_bits(at(operand.value, point)))
                .collect();
            assert!(
                found == expected || is_float && nan(found) && nan(expected),
                "{op:?} {what} of {inputs:?} ({operands:?}) with {registers} registers: {} and not {}",
                f32::from_bits(found),
                f32::from_bits(expected),
            );
        };
        for point in 0..POINTS {
            let words: Vec<u32> = operands.iter().map(|v| at(v.value, point)).collect();
            let value = op.value(&words);
            let is_float = matches!(op.info().result, Kind::Float);
            same(
                "value",
                point,
                found(row.result.value, point),
                value,
                is_float,
            );
            for (direction, shadow) in row.result.shadows.iter().enumerate() {
                let Some(shadow) = shadow else { continue };
                let floats: Vec<f32> = operands
                    .iter()
                    .zip(op.info().operands)
                    .map(|(v, &kind)| operand_float(kind, at(v.value, point)))
                    .collect();
                let shadows: Vec<Option<f32>> = operands
                    .iter()
                    .map(|v| v.shadows[direction].map(|s| f32::from_bits(at(s, point))))
                    .collect();
                let expected = op.tangent(&floats, f32::from_bits(value), &shadows);
                let name = ["ddx", "ddy"][direction];
                same(name, point, found(*shadow, point), expected.to_bits(), true);
            }
        }
    }
}

/// Few registers leave most values in the frame.
const REGISTERS: [u8; 2] = [super::REGISTERS, 2];

#[test]
fn rows_as_code_give_what_they_give_at_one_point() {
    let mut state = 1;
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
                let trial = Trial::new(op, shadows, &homes, &mut state);
                for registers in REGISTERS {
                    trial.check(op, registers);
                }
            }
        }
    }
}
