//! The results of the points of a chunk, except outputs.

use crate::bytecode::{Bytecode, Opcode};
use crate::closures::planes::ClosurePlanes;
use crate::point::{Outcome, Parked};
use adumbra_ir::host::{FaultKind, Faults};
use adumbra_ir::span::Span;

pub(super) struct ChunkResults {
    /// The number of points.
    pub(super) points: usize,
    /// The outcome of each point.
    pub(super) outcomes: Box<[Outcome]>,
    pub(super) faults: FaultsByPoint,
    pub(super) closures: ClosurePlanes,
    /// The suspended points, in the order in which they suspended.
    pub(super) suspended: Vec<(usize, Box<Parked>)>,
    /// Memory for more of them.
    #[expect(clippy::vec_box, reason = "the boxes go to points and come back")]
    pub(super) spare: Vec<Box<Parked>>,
}

impl ChunkResults {
    pub(super) fn new(program: &Bytecode, width: usize) -> ChunkResults {
        let makes = |opcode| {
            matches!(
                opcode,
                Opcode::MakeClosure
                    | Opcode::ClosureAdd
                    | Opcode::ClosureScale
                    | Opcode::ClosureTint
            )
        };
        let closures = program.code.iter().any(|code| makes(code.opcode));
        ChunkResults {
            points: 0,
            outcomes: vec![Outcome::Stopped; width].into_boxed_slice(),
            faults: FaultsByPoint::new(width),
            closures: ClosurePlanes::new(if closures { width } else { 0 }),
            suspended: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Clears the results, for `points` points.
    pub(super) fn begin(&mut self, points: usize) {
        self.points = points;
        self.faults.clear();
        self.closures.begin(points);
        self.drop_suspended();
    }

    /// Drops the suspended points; their memory is reused.
    pub(super) fn drop_suspended(&mut self) {
        while let Some((_, mut parked)) = self.suspended.pop() {
            parked.clear();
            self.spare.push(parked);
        }
    }

    /// Takes away a suspended point.
    pub(super) fn take_suspended(&mut self, point: usize) -> Option<Box<Parked>> {
        let at = self
            .suspended
            .iter()
            .position(|&(other, _)| other == point)?;
        Some(self.suspended.remove(at).1)
    }

    /// Bytes of the heap that it holds.
    pub(super) fn heap(&self) -> usize {
        let ChunkResults {
            points: _,
            outcomes,
            faults,
            closures,
            suspended,
            spare,
        } = self;
        let parked = suspended.iter().map(|(_, parked)| parked).chain(spare);
        size_of_val(&outcomes[..])
            + faults.heap()
            + closures.heap()
            + suspended.capacity() * size_of::<(usize, Box<Parked>)>()
            + spare.capacity() * size_of::<Box<Parked>>()
            + parked.map(|parked| parked.memory()).sum::<usize>()
    }
}

/// The faults of each point, with memory only for those that have any.
pub(super) struct FaultsByPoint {
    /// Per point, one more than the index of its faults; 0 for none.
    index: Box<[u32]>,
    faults: Vec<Faults>,
    none: Faults,
}

impl FaultsByPoint {
    fn new(width: usize) -> FaultsByPoint {
        FaultsByPoint {
            index: vec![0; width].into_boxed_slice(),
            faults: Vec::new(),
            none: Faults::default(),
        }
    }

    pub(super) fn is_any(&self) -> bool {
        !self.faults.is_empty()
    }

    fn clear(&mut self) {
        if self.is_any() {
            self.index.fill(0);
            self.faults.clear();
        }
    }

    fn heap(&self) -> usize {
        size_of_val(&self.index[..]) + self.faults.capacity() * size_of::<Faults>()
    }

    pub(super) fn of(&self, point: usize) -> &Faults {
        match self.index[point].checked_sub(1) {
            None => &self.none,
            Some(index) => &self.faults[index as usize],
        }
    }

    pub(super) fn add(&mut self, point: usize, kind: FaultKind, span: Span) {
        self.entry(point).add(kind, span);
    }

    /// Replaces the faults of a point.
    pub(super) fn set(&mut self, point: usize, faults: &Faults) {
        if self.index[point] != 0 || !faults.is_empty() {
            *self.entry(point) = faults.clone();
        }
    }

    #[cold]
    fn entry(&mut self, point: usize) -> &mut Faults {
        if self.index[point] == 0 {
            self.faults.push(Faults::default());
            self.index[point] = self.faults.len() as u32;
        }
        let index = self.index[point] as usize - 1;
        &mut self.faults[index]
    }
}
