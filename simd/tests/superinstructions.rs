//! Superinstructions against their single ops, one after the other: at every level, for every shape
//! that each is made for.

#![allow(unsafe_code)]

use adumbra_ops::Op;
use adumbra_ops::types::Lanes;
use adumbra_simd::{
    OperandRef, OperandShape, ShadowPattern, SimdLevel, Superinstruction, VectorRun, find_op,
    find_superinstruction, vector_width,
};
use fastrand::Rng;

/// A value at each point, and its shadows if it has any.
#[derive(Clone, Debug)]
struct Column {
    words: Vec<Vec<u32>>,
    is_uniform: bool,
}

/// Points: two SIMD vectors of the widest level.
const POINTS: usize = 64;

/// Numbers at which something happens, and any others.
fn word(random: &mut Rng) -> u32 {
    const SPECIAL: [f32; 8] = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        1e-40,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
    ];
    let bits = random.u32(..);
    match bits % 4 {
        0 => SPECIAL[bits as usize / 4 % SPECIAL.len()].to_bits(),
        1 => bits,
        _ => (bits as i32 as f32 / 1e8).to_bits(),
    }
}

fn column(shape: OperandShape, random: &mut Rng) -> Column {
    let planes = if shape == OperandShape::Dual { 3 } else { 1 };
    let is_uniform = shape == OperandShape::Uniform;
    let words = (0..planes).map(|_| match is_uniform {
        true => vec![word(random); POINTS],
        false => (0..POINTS).map(|_| word(random)).collect(),
    });
    Column {
        words: words.collect(),
        is_uniform,
    }
}

/// Puts columns into memory after a result of `planes` planes, lets a routine run on all of it, and
/// takes the result.
fn run(args: &[Column], planes: usize, routine: impl FnOnce(&[OperandRef])) -> Column {
    let all = args
        .iter()
        .flat_map(|arg| arg.words.iter().map(|words| (words, arg.is_uniform)));
    let all: Vec<(&Vec<u32>, bool)> = all.collect();
    let mut memory = vec![[0_u32; POINTS]; planes + all.len()];
    let start: *mut u32 = memory.as_mut_ptr().cast();
    let plane = |index: usize| start.wrapping_add(index * POINTS);
    let mut refs: Vec<OperandRef> = (0..planes)
        .map(|i| OperandRef::to_plane(plane(i)))
        .collect();
    for (i, (words, is_uniform)) in all.into_iter().enumerate() {
        let at = plane(planes + i);
        // SAFETY: a plane has that many words.
        unsafe { at.copy_from_nonoverlapping(words.as_ptr(), POINTS) };
        let mask = if is_uniform { 0 } else { usize::MAX };
        refs.push(OperandRef { at, mask });
    }
    routine(&refs);
    // SAFETY: a plane has `POINTS` words.
    let words =
        (0..planes).map(|i| unsafe { std::slice::from_raw_parts(plane(i), POINTS) }.to_vec());
    Column {
        words: words.collect(),
        is_uniform: false,
    }
}

/// Computes an op by its masked routine.
fn single_op(level: SimdLevel, op: Op, args: &[Column]) -> Column {
    let lanes = |arg: &Column| {
        if arg.words.len() == 3 {
            Lanes::XY
        } else {
            Lanes::NONE
        }
    };
    let result = args.iter().fold(Lanes::NONE, |all, arg| all | lanes(arg));
    let pattern = ShadowPattern::new(result, args.iter().map(lanes));
    let masked = find_op(op, level, None).masked;
    let bytes = vector_width(level) * size_of::<u32>();
    let vectors: Vec<u32> = (0..POINTS / vector_width(level))
        .map(|vector| (vector * bytes) as u32)
        .collect();
    run(args, if result.is_none() { 1 } else { 3 }, |refs| {
        // SAFETY: the memory has the planes of that pattern, each of them these vectors; the level
        // is available.
        unsafe {
            masked(
                refs.as_ptr(),
                pattern,
                &vectors,
                &vec![u32::MAX; vectors.len()],
            )
        }
    })
}

fn one_by_one(level: SimdLevel, fusion: Superinstruction, args: &[Column]) -> Column {
    let (first, then, at) = fusion.ops();
    let joined = single_op(level, first, &args[at..at + 2]);
    let mut rest = args.to_vec();
    rest.splice(at..at + 2, [joined]);
    single_op(level, then, &rest)
}

#[test]
fn superinstruction_matches_its_single_ops() {
    let mut random = Rng::with_seed(7);
    for level in SimdLevel::available() {
        let mut made = 0;
        for &fusion in Superinstruction::ALL {
            for code in 0..3_usize.pow(Superinstruction::ARITY as u32) {
                let digit = |i: usize| code / 3_usize.pow(i as u32) % 3;
                let all = [
                    OperandShape::Varying,
                    OperandShape::Uniform,
                    OperandShape::Dual,
                ];
                let shapes = std::array::from_fn(|i| all[digit(i)]);
                let Some(full) = find_superinstruction(level, fusion, shapes) else {
                    continue;
                };
                made += 1;
                let args: Vec<Column> = shapes.iter().map(|&s| column(s, &mut random)).collect();
                let expected = one_by_one(level, fusion, &args);
                let vectors = (POINTS / vector_width(level)) as u32;
                let found = run(&args, expected.words.len(), |refs| {
                    // SAFETY: the memory has the planes of these shapes, each of them these
                    // vectors; the level is available.
                    unsafe {
                        full(
                            refs.as_ptr(),
                            &[VectorRun {
                                vectors,
                                ..VectorRun::FIRST
                            }],
                        )
                    }
                });
                let same = |(a, b): (&u32, &u32)| {
                    a == b || f32::from_bits(*a).is_nan() && f32::from_bits(*b).is_nan()
                };
                for (found, expected) in found.words.iter().zip(&expected.words) {
                    assert!(
                        found.iter().zip(expected).all(same),
                        "{level} {fusion:?} {shapes:?}"
                    );
                }
            }
        }
        assert!(
            made >= 2 * Superinstruction::ALL.len() || level == SimdLevel::Baseline,
            "{level} has {made}"
        );
    }
}
