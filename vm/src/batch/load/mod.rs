//! Bytecode → steps: routines chosen, operands placed.
//!
//! Within a block a word need not be in its own plane. What is the same for all points is computed once, in a cell; a move, a shadow that is
//! another value's, and what the host holds are read where they are. Where the block ends, and somebody reads the word later, it is put into
//! its plane. So blocks know nothing of each other, and all that is said of a word holds for whichever points run the block.

mod counted;
mod fuse;
mod places;
mod region;
mod rows;
mod sequence;
mod stretch;

use super::calls::Calls;
use super::step::{Act, Footprint, Lent, Place, RegionInfo, RowCall, Step};
use crate::blocks::{WaitBlocks, arguments, each_written, ends_block};
use crate::bytecode::{Bytecode, Instruction, Opcode, Pattern};
use crate::native::{Unit, What};
use adumbra_ir::module::Channels;
use adumbra_ir::types::{Direction, Lanes};
use adumbra_ops::Op;
use adumbra_packs::{Copying, Routines, Shape, Test, find_copy, find_test, find_truth};
use adumbra_packs::{Fusions, Level};
use fuse::Candidate;
use rustc_hash::{FxHashMap, FxHashSet};

/// Planes for what is on its way from one place to another: a value with its shadows.
pub(super) const SCRATCH: u32 = 3;

/// A program as steps.
#[derive(Default)]
pub(super) struct Loaded {
    pub(super) steps: Vec<Step>,
    /// The operands of all steps.
    pub(super) places: Vec<Place>,
    /// The rows of all sequences.
    pub(super) calls: Vec<RowCall>,
    /// Words that are elsewhere at samples and differences.
    pub(super) lent: Vec<Lent>,
    /// What a native backend has to compile, if there is one.
    pub(super) units: Vec<Unit>,
    /// The loops among it.
    pub(super) regions: Vec<RegionInfo>,
    /// Cells that steps compute.
    pub(super) cells: u32,
    /// The constants that are used.
    pub(super) constants: Vec<u32>,
    /// The words among the globals that are used.
    pub(super) hosts: Vec<u32>,
    /// Inputs that have planes, since something writes there.
    pub(super) written_inputs: Vec<u32>,
    /// The first step of the shader.
    pub(super) entry: u32,
    /// The most calls that are open at once.
    pub(super) depth: usize,
    /// The fusions that rows are joined by.
    pub(super) joined_by: Fusions,
}

impl Loaded {
    /// How many steps points may wait before: where ways join, and behind calls.
    pub(super) fn places_to_wait(&self) -> usize {
        let acts = self.steps.iter().map(|step| step.act);
        acts.filter(|act| matches!(act, Act::Join | Act::Call { .. }))
            .count()
    }
}

/// Resolves a program for a level. `uniform` tells of each word among the globals whether it is the same for all points of a chunk. For a native backend
/// there are stretches in place of rows that are computed together; those are together by any fusion but the ones that are named.
pub(super) fn load(
    program: &Bytecode,
    level: Level,
    uniform: &[bool],
    native: bool,
    without: Fusions,
) -> Loaded {
    let calls = Calls::of(program);
    let mut blocks = WaitBlocks::new(program, &calls.leaves);
    let mut written = vec![false; program.slots as usize];
    for code in &program.code {
        each_written(program, code, |slot| written[slot as usize] = true);
    }
    let inputs = 3 * program.output_lanes.len() as u32;
    let inputs = inputs..inputs + program.interface.input_words() as u32;
    let home = |slot: u32| {
        let is_input = inputs.contains(&slot);
        let stays = !written[slot as usize] && !blocks.in_array[slot as usize];
        match is_input && stays {
            true => Place::Input(slot - inputs.start),
            false => Place::Own(slot),
        }
    };
    let homes: Vec<Place> = (0..program.slots).map(home).collect();
    let moved = inputs.clone().zip(0..);
    let moved = moved.filter(|&(slot, _)| homes[slot as usize] == Place::Own(slot));
    let written_inputs: Vec<u32> = moved.map(|(_, input)| input).collect();
    let mut loader = Loader {
        program,
        level,
        uniform,
        native,
        without,
        map: homes.clone(),
        homes,
        moved: Vec::new(),
        is_moved: vec![false; program.slots as usize],
        held: vec![0; program.slots as usize],
        deaths: vec![0; program.slots as usize],
        in_array: blocks.in_array.clone(),
        kept: None,
        cells: Vec::new(),
        free_cells: Vec::new(),
        constants: FxHashMap::default(),
        hosts: FxHashMap::default(),
        candidates: Vec::new(),
        counts: Vec::new(),
        position: 0,
        out: Loaded {
            written_inputs,
            depth: calls.depth,
            ..Loaded::default()
        },
    };
    let mut first_steps = vec![0; program.code.len() + 1];
    let loops = program
        .code
        .iter()
        .filter(|code| code.opcode == Opcode::Loop);
    let loops: FxHashSet<u32> = loops.map(|code| code.words[0]).collect();
    for block in 0..blocks.count() {
        let range = blocks.range(block);
        let first = loader.out.steps.len();
        first_steps[range.start as usize] = first as u32;
        loader.position = range.start;
        // The code of a loop may leave points before any of its blocks.
        if native || blocks.targets[range.start as usize] {
            loader.emit(Act::Join, []);
        }
        if native && loops.contains(&range.start) {
            loader.emit(Act::Region(None), []);
        }
        let deaths = blocks.deaths(block);
        loader.kept = blocks.kept(block).map(Box::from);
        for (position, deaths) in range.clone().zip(deaths.iter()) {
            loader.position = position;
            match calls.leaves[position as usize] {
                true => {
                    loader.settle_all();
                    loader.emit(Act::Leave, []);
                }
                false => loader.instruction(&program.code[position as usize], deaths),
            }
        }
        loader.end_block();
        loader.gather_counts(first);
        if native {
            loader.find_stretches(first, blocks.live_out(block));
        } else {
            loader.find_sequences(first);
        }
        // Nobody asks for the operands of these any more.
        loader.counts.resize(loader.out.steps.len(), 0);
    }
    loader.find_targets(&first_steps);
    if native {
        let starts =
            (0..blocks.count()).map(|block| first_steps[blocks.range(block).start as usize]);
        loader.find_regions(&starts.collect::<Vec<u32>>(), &blocks);
    }
    loader.finish(&first_steps)
}

struct Loader<'p> {
    program: &'p Bytecode,
    level: Level,
    uniform: &'p [bool],
    native: bool,
    /// Fusions that are not used.
    without: Fusions,
    /// Where each slot's word is now.
    map: Vec<Place>,
    /// Where it is between blocks.
    homes: Vec<Place>,
    /// Slots whose words may not be at home, each once.
    moved: Vec<u32>,
    is_moved: Vec<bool>,
    /// How many other slots have their words in each slot's plane. It is at home then.
    held: Vec<u32>,
    /// Where each slot's word is last read, for those that are not at home.
    deaths: Vec<u32>,
    in_array: Vec<bool>,
    /// Words of the block, a bit each, that those keep who do not run; all if nothing.
    kept: Option<Box<[u64]>>,
    /// How many slots have their words in each cell.
    cells: Vec<u32>,
    free_cells: Vec<u32>,
    constants: FxHashMap<u32, u32>,
    hosts: FxHashMap<u32, u32>,
    /// Rows of the block that may be computed together with later ones.
    candidates: Vec<Candidate>,
    /// How many operands each step has.
    counts: Vec<u32>,
    position: u32,
    out: Loaded,
}

/// A value's word and those of its shadows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Triple {
    value: Place,
    shadows: [Option<Place>; 2],
}

impl Triple {
    /// The number 0, without shadows.
    const ZERO: Triple = Triple {
        value: Place::Zero,
        shadows: [None; 2],
    };

    /// The places that there are, value first.
    fn places(self) -> impl Iterator<Item = Place> {
        let shadows = self.shadows.into_iter().flatten();
        std::iter::once(self.value).chain(shadows)
    }

    fn has(self, place: Place) -> bool {
        self.places().any(|own| own == place)
    }

    /// Whether both have a place in common.
    fn meets(self, other: Triple) -> bool {
        self.places().any(|place| other.has(place))
    }

    /// What it is as an operand, if routines are made for that.
    fn shape(self) -> Option<Shape> {
        match self.shadows {
            [None, None] => Some(self.value.shape()),
            [Some(_), Some(_)] if !self.places().any(Place::is_cell) => Some(Shape::Dual),
            _ => None,
        }
    }
}

/// The slots of a value and its shadows.
fn slots(slot: u32, lanes: Lanes) -> impl Iterator<Item = u32> + Clone {
    let shadows = Direction::BOTH.into_iter().zip(slot + 1..);
    let shadows = shadows.filter(move |&(direction, _)| lanes.has(direction));
    std::iter::once(slot).chain(shadows.map(|(_, slot)| slot))
}

/// How many words a row writes: its value, and the shadows of it that the pattern has.
fn written(pattern: Pattern) -> usize {
    1 + pattern.result().count() as usize
}

impl Loader<'_> {
    fn emit(&mut self, act: Act, places: impl IntoIterator<Item = Place>) {
        let refs = self.out.places.len();
        self.out.places.extend(places);
        self.step(act, refs);
    }

    /// The step for the places from `refs` on.
    fn step(&mut self, act: Act, refs: usize) {
        if !matches!(
            act,
            Act::Row { .. } | Act::Cell(..) | Act::Fault(..) | Act::Count(_)
        ) {
            self.candidates.clear();
        }
        self.counts.push((self.out.places.len() - refs) as u32);
        self.out.steps.push(Step {
            act,
            refs: refs as u32,
            position: self.position,
        });
    }

    /// A step that goes over planes, of which it writes as many first ones as the pattern says.
    fn row_step(
        &mut self,
        what: What,
        routines: Routines,
        pattern: Pattern,
        places: impl IntoIterator<Item = Place>,
    ) {
        let refs = self.out.places.len();
        self.out.places.extend(places);
        let written = &self.out.places[refs..][..written(pattern)];
        let act = Act::Row {
            what,
            routines,
            pattern,
            kept: written.iter().any(|&place| self.is_kept(place)),
        };
        self.step(act, refs);
    }

    /// The operands of a step, what it writes first.
    fn places(&self, step: usize) -> &[Place] {
        let refs = self.out.steps[step].refs as usize;
        &self.out.places[refs..][..self.counts[step] as usize]
    }

    /// Whether points that do not run keep what they have there.
    fn is_kept(&self, place: Place) -> bool {
        match (place, &self.kept) {
            (Place::Own(slot), Some(kept)) => kept[slot as usize / 64] >> (slot % 64) & 1 == 1,
            (Place::Own(_), None) => true,
            _ => false,
        }
    }

    fn copy(&mut self, to: Place, from: Place) {
        let routines = find_copy(Copying::Plain, self.level, from.shape());
        self.row_step(What::Copy, routines, Pattern::default(), [to, from]);
    }

    fn instruction(&mut self, code: &Instruction, deaths: &[u32]) {
        let [a, b, c, ..] = code.words;
        let program = self.program;
        let array = |number: u32| program.arrays[number as usize];
        match code.opcode {
            Opcode::Row(op, pattern) => self.row(op, pattern, &code.words, deaths),
            Opcode::Branch(op, when) => {
                let operands: Vec<Place> = (1..=op.arity())
                    .map(|i| self.place(code.words[i]))
                    .collect();
                let test = find_test(op, self.level);
                let test = test.expect("validation checked that the row is a truth value");
                self.branch(Some(op), test, when, a, operands);
            }
            Opcode::BranchIf(when) => {
                let condition = self.place(b);
                self.branch(None, find_truth(self.level), when, a, vec![condition]);
            }
            Opcode::Jump => self.control(Act::Jump(a)),
            Opcode::Loop => self.control(Act::Loop(a)),
            Opcode::Call => {
                let function = &program.functions[a as usize];
                self.control(Act::Call {
                    target: function.start,
                    elements: function.elements,
                    steps: 1 + u64::from(b),
                });
            }
            Opcode::Enter => self.emit(Act::Count(Some(a)), []),
            Opcode::Turn => self.emit(Act::Count(None), []),
            Opcode::Return => self.control(Act::Return),
            Opcode::Unreachable => self.emit(Act::Unreachable, []),
            Opcode::Move(to, from) => {
                let source = self.triple(b, from);
                let shadows = Direction::BOTH.map(|direction| {
                    let has = source.shadows[direction as usize];
                    to.has(direction).then(|| has.unwrap_or(Place::Zero))
                });
                let value = source.value;
                self.take(a, to, Triple { value, shadows }, deaths);
            }
            Opcode::Global(lanes) => {
                let is_cell = lanes.is_none() && self.uniform[b as usize];
                let value = self.host(b, is_cell);
                let shadows = Direction::BOTH.map(|direction| {
                    // Where there are no shadows, nobody has looked at the distance to them.
                    let has = lanes.has(direction);
                    has.then(|| self.host(b + c * (1 + direction as u32), false))
                });
                self.take(a, lanes, Triple { value, shadows }, deaths);
            }
            Opcode::Shadow(direction) => {
                let from = self.map[b as usize + 1 + direction as usize];
                self.written([a]);
                let routines = find_copy(Copying::ShadowRead, self.level, from.shape());
                let places = [Place::Own(a), from];
                self.row_step(What::ReadShadow, routines, Pattern::default(), places);
            }
            Opcode::Difference(direction) => {
                let from = self.place(b);
                self.written([a]);
                let lent = self.lend();
                self.emit(Act::Difference { direction, lent }, [Place::Own(a), from]);
            }
            Opcode::Load(to, _) => {
                let index = self.place(c);
                let written = slots(a, to);
                self.written(written.clone());
                let planes = written.map(Place::Own).chain([index]);
                self.emit(
                    Act::Load {
                        array: array(b),
                        to,
                    },
                    planes,
                );
            }
            Opcode::Store(_, from) => {
                let index = self.place(b);
                let value = self.triple(c, from);
                let array = array(a);
                let places = [index].into_iter().chain(value.places());
                self.emit(Act::Store { array, from }, places);
            }
            Opcode::ArrayZero => self.emit(Act::ArrayZero(array(a)), []),
            Opcode::ArrayCopy => {
                let (to, from) = (array(a), array(b));
                self.emit(Act::ArrayCopy { to, from }, []);
            }
            Opcode::ArrayCopyPart => {
                let (to, from, start) = (array(a), array(b), self.place(c));
                self.emit(Act::ArrayCopyPart { to, from }, [start]);
            }
            Opcode::ArrayResize => {
                let (array, parts, part) = (array(b), self.place(c), code.words[3]);
                self.written([a]);
                self.emit(Act::ArrayResize { array, part }, [Place::Own(a), parts]);
            }
            Opcode::Save | Opcode::Restore | Opcode::ArrayFromSaved | Opcode::ArrayToSaved => {
                unreachable!("points leave the chunk before anything is saved")
            }
            Opcode::Sample(channels, u, v) => {
                let (u, v) = (self.triple(b, u), self.triple(c, v));
                let zero = |place: Option<Place>| place.unwrap_or(Place::Zero);
                let mut operands = vec![u.value, v.value];
                operands.extend(u.shadows.map(zero));
                operands.extend(v.shadows.map(zero));
                self.sample(code, channels, Footprint::Shadows, operands);
            }
            Opcode::SampleGradients(channels) => {
                let [u, v, dudx, dvdx, dudy, dvdy] = self.list(b);
                let operands = vec![u, v, dudx, dudy, dvdx, dvdy];
                self.sample(code, channels, Footprint::Gradients, operands);
            }
            Opcode::SampleLevel(channels) => {
                let [u, v, level] = self.list(b);
                let zero = Place::Zero;
                let operands = vec![u, v, zero, zero, zero, zero, level];
                self.sample(code, channels, Footprint::Level, operands);
            }
            Opcode::Message => {
                let operands = self.arguments(code, 1);
                self.emit(Act::Message(a), operands);
            }
            Opcode::MakeClosure => {
                let operands = self.arguments(code, 2);
                self.closure(Act::MakeClosure(b), a, operands);
            }
            Opcode::ClosureAdd | Opcode::ClosureScale => {
                let operands = vec![self.place(b), self.place(c)];
                let act = match code.opcode {
                    Opcode::ClosureAdd => Act::ClosureAdd,
                    _ => Act::ClosureScale,
                };
                self.closure(act, a, operands);
            }
            Opcode::ClosureTint => {
                let [red, green, blue] = self.list(c);
                let operands = vec![self.place(b), red, green, blue];
                self.closure(Act::ClosureTint, a, operands);
            }
        }
    }

    /// The places in a list.
    fn list<const N: usize>(&mut self, start: u32) -> [Place; N] {
        let program = self.program;
        std::array::from_fn(|i| self.place(program.lists[start as usize + i]))
    }

    fn arguments(&mut self, code: &Instruction, word: usize) -> Vec<Place> {
        let program = self.program;
        let count = arguments(program, code, word);
        let slots = &program.lists[code.words[word] as usize..][..count];
        slots.iter().map(|&slot| self.place(slot)).collect()
    }

    fn closure(&mut self, act: Act, to: u32, operands: Vec<Place>) {
        self.written([to]);
        self.emit(act, [Place::Own(to)].into_iter().chain(operands));
    }

    /// What ends a block without operands.
    fn control(&mut self, act: Act) {
        self.settle_all();
        self.emit(act, []);
    }

    fn branch(
        &mut self,
        op: Option<Op>,
        test: Test,
        when: bool,
        target: u32,
        operands: Vec<Place>,
    ) {
        self.settle_all();
        let uniform = operands.iter().all(|place| place.is_cell());
        self.emit(
            Act::Branch {
                op,
                test,
                when,
                target,
                uniform,
            },
            operands,
        );
    }

    fn sample(
        &mut self,
        code: &Instruction,
        channels: Channels,
        detail: Footprint,
        operands: Vec<Place>,
    ) {
        let program = self.program;
        let results = &program.lists[code.words[3] as usize..][..channels.count() as usize];
        self.written(results.iter().copied());
        let lent = self.lend();
        let act = Act::Sample {
            texture: code.words[0],
            channels,
            detail,
            lent,
        };
        let results = results.iter().map(|&slot| Place::Own(slot));
        self.emit(act, operands.into_iter().chain(results));
    }

    /// The words that are not in their planes and are read later, should a point leave here.
    fn lend(&mut self) -> (u32, u32) {
        let first = self.out.lent.len() as u32;
        for &slot in &self.moved {
            let place = self.map[slot as usize];
            let is_away = place != self.homes[slot as usize];
            if is_away && self.deaths[slot as usize] > self.position {
                self.out.lent.push(Lent {
                    slot,
                    operand: self.out.places.len() as u32,
                });
                self.out.places.push(place);
            }
        }
        (first, self.out.lent.len() as u32)
    }

    /// Targets become steps.
    fn find_targets(&mut self, first_steps: &[u32]) {
        for step in &mut self.out.steps {
            match &mut step.act {
                Act::Branch { target, .. }
                | Act::Jump(target)
                | Act::Loop(target)
                | Act::Call { target, .. } => *target = first_steps[*target as usize],
                _ => {}
            }
        }
    }

    fn finish(self, first_steps: &[u32]) -> Loaded {
        let entry = &self.program.functions[self.program.entry as usize];
        Loaded {
            cells: self.cells.len() as u32,
            entry: first_steps[entry.start as usize],
            ..self.out
        }
    }
}
