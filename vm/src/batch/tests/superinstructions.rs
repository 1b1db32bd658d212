//! Tests of superinstructions: the loader makes each one, for every shape that it has, and chunks
//! have the results of single points.

use super::*;
use crate::batch::instruction::{BatchInstruction, BatchOp};
use crate::batch::load::{BatchCode, load};
use adumbra_ir::module::Module;
use adumbra_ir::span::FileId;
use adumbra_ir::text::parse;
use adumbra_ir::verify::verify;
use adumbra_ops::Op;
use adumbra_ops::definition::OperandKind;
use adumbra_simd::{OperandShape, Superinstruction, SuperinstructionSet, find_superinstruction};
use fastrand::Rng;

/// A module as IR source.
#[derive(Default)]
struct Text {
    globals: String,
    body: String,
    values: usize,
    /// Whether intermediate results are read before the next op reads them.
    is_read: bool,
    /// The outputs: values and their types.
    outputs: Vec<(String, &'static str)>,
}

impl Text {
    /// Appends an instruction, and gives its value.
    fn push(&mut self, ty: &str, what: &str) -> String {
        let value = format!("%{}", self.values);
        self.values += 1;
        self.body += &format!("{value}: {ty} = {what}\n");
        value
    }

    /// An operand of a shape and a kind, unlike all others. Planes are the program's own, so that
    /// registers may alias them.
    fn operand(&mut self, shape: OperandShape, kind: OperandKind) -> String {
        let number = self.values;
        let mut global = |ty: &str| self.globals += &format!("global g{number}: {ty}\n");
        match (shape, kind) {
            (OperandShape::Uniform, OperandKind::Float) => {
                self.push("f32", &format!("const {number}.25"))
            }
            (OperandShape::Uniform, _) => self.push("u32", &format!("const {}", number + 3)),
            (OperandShape::Dual, _) => {
                global("float");
                let value = self.push("f32", &format!("global g{number}[0]"));
                self.push("f32", &format!("neg {value}"))
            }
            (OperandShape::Varying, OperandKind::Float) => {
                global("int");
                let word = self.push("i32", &format!("global g{number}[0]"));
                let value = self.push("f32", &format!("asfloat {word}"));
                self.push("f32", &format!("neg {value}"))
            }
            (OperandShape::Varying, _) => {
                global("uint");
                let word = self.push("u32", &format!("global g{number}[0]"));
                self.push("u32", &format!("not {word}"))
            }
        }
    }

    /// Emits an op on floats.
    fn emit_op(&mut self, op: Op, args: &[String]) -> String {
        let value = self.push("f32", &format!("{} {}", op.info().name, args.join(", ")));
        if self.is_read {
            let read = self.push("f32", &format!("neg {value}"));
            self.outputs.push((read, "f32"));
        }
        value
    }

    /// Emits the ops of a superinstruction, one after the other.
    fn emit_both(&mut self, fusion: Superinstruction, args: &[String]) -> String {
        let (first, then, at) = fusion.ops();
        let given = self.emit_op(first, &args[at..at + 2]);
        let mut all = args.to_vec();
        all.splice(at..at + 2, [given]);
        self.emit_op(then, &all)
    }

    /// The module, with both shadows of each output that has any.
    fn module(&self) -> Module {
        let outputs = &self.outputs;
        let mut text = format!("adumbra ir 1\n{}", self.globals);
        for (at, (_, ty)) in outputs.iter().enumerate() {
            let ty = if *ty == "f32" { "float" } else { "uint" };
            text += &format!("output o{at}: {ty}\n");
        }
        let list = |part: fn(&(String, &str)) -> String| -> String {
            outputs.iter().map(part).collect::<Vec<_>>().join(", ")
        };
        let (types, values) = (list(|o| o.1.to_owned()), list(|o| o.0.clone()));
        let body = &self.body;
        text += &format!("entry main\nfn main() -> ({types}) ^0 {{\n{body}return {values}\n}}\n");
        let module = parse(&text, FileId::MAIN).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        assert_eq!(
            verify(&module).map_err(|e| format!("{e:?}")),
            Ok(()),
            "{text}"
        );
        let options = PassOptions {
            output_shadows: true,
            ..PassOptions::default()
        };
        passes::run(module, &options).0
    }
}

/// A program as batch instructions, all of whose globals are varying.
fn loaded(program: &Bytecode, level: SimdLevel, without: SuperinstructionSet) -> BatchCode {
    let key = SegmentKey {
        uniform: [false; 64].into(),
        plane_bytes: 0,
    };
    load(program, level, &key, false, without)
}

/// The superinstructions of a program, as routines.
fn routines(program: &Bytecode, level: SimdLevel) -> Vec<usize> {
    let loaded = loaded(program, level, SuperinstructionSet::NONE);
    let insts = loaded.instructions.iter();
    let fused = insts.filter_map(|inst| match inst.op {
        BatchOp::Superinstruction { routine, .. } => Some(routine as usize),
        _ => None,
    });
    fused.collect()
}

#[test]
#[cfg_attr(miri, ignore = "thousands of rounds take hours")]
fn every_superinstruction_is_made_and_agrees() {
    for level in SimdLevel::available() {
        let (mut made, mut wrong) = (0, Vec::new());
        for (at, &fusion) in Superinstruction::ALL.iter().enumerate() {
            for code in 0..3_usize.pow(Superinstruction::ARITY as u32) {
                let all = [
                    OperandShape::Varying,
                    OperandShape::Uniform,
                    OperandShape::Dual,
                ];
                let shapes = std::array::from_fn(|i| all[code / 3_usize.pow(i as u32) % 3]);
                let Some(routine) = find_superinstruction(level, fusion, shapes) else {
                    continue;
                };
                for is_read in [false, true] {
                    let mut text = Text {
                        is_read,
                        ..Text::default()
                    };
                    let args = shapes.map(|shape| text.operand(shape, OperandKind::Float));
                    let out = text.emit_both(fusion, &args);
                    text.outputs.push((out, "f32"));
                    let mut case = Case::of(&text.module(), at as u64, 50);
                    let is_made = routines(&case.program, level).contains(&(routine as usize));
                    if is_made == is_read {
                        wrong.push(format!("{level} {fusion:?} {shapes:?}\n{}", case.program));
                    }
                    check(&case, at as u64, 40);
                    if is_made {
                        // Without it the results are the same.
                        let without = SuperinstructionSet::NONE.with(fusion);
                        assert!(
                            loaded(&case.program, level, SuperinstructionSet::NONE)
                                .superinstructions
                                .has(fusion)
                        );
                        let loaded = loaded(&case.program, level, without);
                        assert!(!loaded.superinstructions.has(fusion), "{fusion:?}");
                        case.without_fusions = without;
                        check(&case, at as u64, 40);
                    }
                }
                made += 1;
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(made >= 2 * Superinstruction::ALL.len() || level == SimdLevel::Baseline);
    }
}

/// An op moves up to another, and a later op reads its operand.
#[test]
fn moved_up_op_preserves_later_operands() {
    for shape in [OperandShape::Varying, OperandShape::Dual] {
        let mut text = Text::default();
        let [p, q] = [(); 2].map(|()| text.operand(shape, OperandKind::Float));
        let [c, d, e] = [(); 3].map(|()| text.operand(OperandShape::Uniform, OperandKind::Float));
        let one = text.push("f32", &format!("mul {p}, {c}"));
        let two = text.push("f32", &format!("mul {q}, {d}"));
        // The last use of its operand: the sum may alias it, and the product before cannot move
        // down past it.
        let three = text.push("f32", &format!("mul {q}, {e}"));
        let reader = text.push("f32", &format!("div {one}, {three}"));
        let sum = text.push("f32", &format!("add {one}, {two}"));
        text.outputs = vec![(reader, "f32"), (sum, "f32")];
        let case = Case::of(&text.module(), 1, 50);
        let made = routines(&case.program, SimdLevel::best()).len();
        assert!(
            made > 0 || SimdLevel::best() == SimdLevel::Baseline,
            "{}",
            case.program
        );
        check(&case, 1, 50);
    }
}

/// Values of a type that a random program may read.
#[derive(Clone, Default)]
struct Values {
    all: Vec<String>,
    /// Values that have no use yet.
    fresh: Vec<String>,
}

impl Values {
    fn add(&mut self, value: String) {
        self.all.push(value.clone());
        self.fresh.push(value);
    }

    /// One of them: mostly one of the newest without a use.
    fn any(&mut self, random: &mut Rng) -> String {
        let back = random.usize(1..=3);
        if random.u8(..3) > 0 && back <= self.fresh.len() {
            return self.fresh.remove(self.fresh.len() - back);
        }
        self.all[random.usize(..self.all.len())].clone()
    }

    /// The newest, except the last `back`.
    fn newest(&self, back: usize) -> String {
        self.all[self.all.len() - 1 - back].clone()
    }
}

impl Text {
    /// Appends `count` random ops, of those that may be fused.
    fn random_ops(&mut self, count: usize, [floats, words]: &mut [Values; 2], random: &mut Rng) {
        const FLOATS: [&str; 9] = [
            "add", "sub", "mul", "mul", "div", "max", "min", "abs", "sqrt",
        ];
        const WORDS: [&str; 7] = ["shr", "xor", "xor", "iadd", "imul", "and", "i2f"];
        for _ in 0..count {
            let pick = random.usize(..);
            if pick.is_multiple_of(3) {
                let op = WORDS[pick / 3 % WORDS.len()];
                let a = words.any(random);
                if op == "i2f" {
                    floats.add(self.push("f32", &format!("i2f {a}")));
                } else {
                    let b = words.any(random);
                    words.add(self.push("u32", &format!("{op} {a}, {b}")));
                }
            } else {
                let op = FLOATS[pick / 3 % FLOATS.len()];
                let a = floats.any(random);
                let what = match op {
                    "abs" | "sqrt" => format!("{op} {a}"),
                    // Its shadows may be those of another value.
                    _ if pick.is_multiple_of(4) => {
                        let number = self.operand(OperandShape::Uniform, OperandKind::Float);
                        format!("{op} {a}, {number}")
                    }
                    _ => format!("{op} {a}, {}", floats.any(random)),
                };
                floats.add(self.push("f32", &what));
            }
        }
    }
}

/// A loop that points leave in different iterations, and ops before, in and after it.
fn random(seed: u64) -> Module {
    let mut numbers = Rng::with_seed(seed);
    let mut text = Text::default();
    let mut values = [Values::default(), Values::default()];
    for shape in [
        OperandShape::Uniform,
        OperandShape::Varying,
        OperandShape::Dual,
        OperandShape::Dual,
    ] {
        values[0].add(text.operand(shape, OperandKind::Float));
        if shape != OperandShape::Dual {
            values[1].add(text.operand(shape, OperandKind::U32));
        }
    }
    text.random_ops(8, &mut values, &mut numbers);
    let [zero, one, iterations] =
        [0, 1, 1 + seed % 7].map(|number| text.push("i32", &format!("const {number}")));
    let newest = |[floats, words]: &[Values; 2]| {
        [floats.newest(0), floats.newest(1), words.newest(0)].join(", ")
    };
    let names = |first: usize, count: usize| -> Vec<String> {
        (first..first + count).map(|i| format!("%{i}")).collect()
    };
    let (results, params) = (names(text.values, 3), names(text.values + 3, 4));
    text.values += 7;
    let mut inner = values.clone();
    let types = ["f32", "f32", "u32", "i32"];
    let typed = |names: &[String]| -> Vec<String> {
        let typed = names.iter().zip(types);
        typed.map(|(name, ty)| format!("{name}: {ty}")).collect()
    };
    let carried = [
        values[0].newest(0),
        values[0].newest(1),
        values[1].newest(0),
        zero,
    ];
    let carried = typed(&params).into_iter().zip(carried);
    let carried: Vec<String> = carried
        .map(|(param, from)| format!("{param} = {from}"))
        .collect();
    let (typed, carried) = (typed(&results).join(", "), carried.join(", "));
    text.body += &format!("{typed} = loop ^1 ({carried}) {{\n");
    for (param, list) in params.iter().zip([0, 0, 1]) {
        inner[list].add(param.clone());
    }
    // In long blocks the words of inactive points are saved, in short ones they are left alone.
    let block = [12, 12, 70][seed as usize % 3];
    for part in 0..2 {
        text.random_ops(block, &mut inner, &mut numbers);
        let condition = match part {
            0 => format!("flt {}, {}", inner[0].newest(0), inner[0].newest(2)),
            _ => format!("ilt {}, {iterations}", params[3]),
        };
        let condition = text.push("bool", &condition);
        let [yes, no] = [2 + 2 * part, 3 + 2 * part];
        let leaves = newest(&inner);
        text.body +=
            &format!("if {condition} ^{yes} {{ yield }} else ^{no} {{ break ^1 {leaves} }}\n");
    }
    text.random_ops(6, &mut inner, &mut numbers);
    let further = text.push("i32", &format!("iadd {}, {one}", params[3]));
    text.body += &format!("continue ^1 {}, {further}\n}}\n", newest(&inner));
    for (result, list) in results.into_iter().zip([0, 0, 1]) {
        values[list].add(result);
    }
    text.random_ops(20, &mut values, &mut numbers);
    for back in [0, 1, 3] {
        text.outputs.push((values[0].newest(back), "f32"));
    }
    text.outputs.push((values[1].newest(0), "u32"));
    text.module()
}

#[test]
fn disabled_fusions_join_nothing() {
    for seed in 0..if cfg!(miri) { 2 } else { 100 } {
        let mut case = Case::of(&random(seed), seed, 70);
        let loaded = loaded(&case.program, SimdLevel::best(), SuperinstructionSet::ALL);
        let is_fused =
            |inst: &BatchInstruction| matches!(inst.op, BatchOp::Superinstruction { .. });
        assert!(!loaded.instructions.iter().any(is_fused));
        assert_eq!(loaded.superinstructions, SuperinstructionSet::NONE);
        case.without_fusions = SuperinstructionSet::ALL;
        check(&case, seed, 70);
    }
}

#[test]
fn fused_ops_preserve_other_operands() {
    let seeds = std::env::var("SEEDS").ok().and_then(|s| s.parse().ok());
    let seeds = seeds.unwrap_or(if cfg!(miri) { 4 } else { 1_500 });
    let mut made = 0;
    for seed in 0..seeds {
        let case = Case::of(&random(seed), seed, 70);
        made += routines(&case.program, SimdLevel::best()).len();
        check(&case, seed, 70);
    }
    let expected = if SimdLevel::best() == SimdLevel::Baseline {
        0
    } else {
        2 * seeds as usize
    };
    assert!(made >= expected, "{made} in {seeds}");
}
