//! Builds functions instruction by instruction.
//!
//! A [`FunctionBuilder`] appends to its current region. Regions are opened before the instruction
//! that owns them exists, and filled one after the other: open, append, close, then append the
//! `If`, `Loop` or `Block`.

use crate::module::*;
use crate::span::Span;
use crate::types::{Direction, Lanes, Scalar};
use adumbra_ops::Op;

/// Builds one function.
#[derive(Debug)]
pub struct FunctionBuilder {
    function: Function,
    open: Vec<RegionId>,
}

/// An open loop over the indices of an array.
#[derive(Debug)]
pub struct ElementLoop {
    /// The index, in the body.
    pub index: ValueId,
    first: ValueId,
    region: RegionId,
}

impl FunctionBuilder {
    /// Starts a function; its body is the current region.
    pub fn new(name: impl Into<String>, span: Span) -> FunctionBuilder {
        let body = RegionId(0);
        FunctionBuilder {
            function: Function {
                name: name.into(),
                variant: 0,
                values: Vec::new(),
                regions: vec![Region::default()],
                arrays: Vec::new(),
                body,
                results: Vec::new(),
                members: Vec::new(),
                library: false,
                recipe: None,
                custom: CustomDerivatives::default(),
                decides: Decides::Own,
                span,
            },
            open: vec![body],
        }
    }

    /// The function so far.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// The function so far, for fields that the builder does not set.
    pub fn function_mut(&mut self) -> &mut Function {
        &mut self.function
    }

    /// Ends the function. Every region must be closed but the body.
    pub fn finish(self) -> Function {
        debug_assert_eq!(self.open, [self.function.body]);
        self.function
    }

    /// A new value that is not defined yet.
    fn value(&mut self, ty: Scalar, span: Span) -> ValueId {
        let id = ValueId(self.function.values.len() as u32);
        self.function.values.push(Value {
            ty,
            lanes: Lanes::NONE,
            span,
            name: None,
        });
        id
    }

    /// The type of a value.
    pub fn ty(&self, value: ValueId) -> Scalar {
        self.function.value(value).ty
    }

    /// Names the variable that a value is a definition of, unless it is named already.
    pub fn name(&mut self, value: ValueId, name: NameId) {
        self.function.values[value.index()].name.get_or_insert(name);
    }

    /// Adds an array; array parameters must come before all others.
    pub fn array(&mut self, array: Array) -> ArrayId {
        let id = ArrayId(self.function.arrays.len() as u32);
        self.function.arrays.push(array);
        id
    }

    /// Opens a new region and makes it current.
    pub fn open_region(&mut self) -> RegionId {
        let id = RegionId(self.function.regions.len() as u32);
        self.function.regions.push(Region::default());
        self.open.push(id);
        id
    }

    /// Closes the current region, which must have its terminator, and makes the one around it
    /// current.
    pub fn close_region(&mut self) {
        let id = self.open.pop().expect("a region is open");
        debug_assert!(self.function.terminator(id).kind.is_terminator());
    }

    /// Makes the region around the current one current, which has no terminator yet and is
    /// [resumed](FunctionBuilder::resume_region) later.
    pub(crate) fn pause_region(&mut self) {
        self.open.pop().expect("a region is open");
    }

    /// Makes a region current again that was paused within the current one.
    pub(crate) fn resume_region(&mut self, region: RegionId) {
        self.open.push(region);
    }

    /// The current region.
    pub fn current(&self) -> RegionId {
        *self.open.last().expect("a region is open")
    }

    /// Whether the current region has its terminator: further instructions are unreachable.
    pub fn is_terminated(&self) -> bool {
        let region = self.function.region(self.current());
        region.insts.last().is_some_and(|i| i.kind.is_terminator())
    }

    /// Adds a parameter to the current region.
    pub fn param(&mut self, ty: Scalar, span: Span) -> ValueId {
        let id = self.value(ty, span);
        let region = self.current();
        self.function.regions[region.index()].params.push(id);
        id
    }

    /// Appends an instruction whose results have these types. Nothing may follow a terminator.
    pub fn inst(
        &mut self,
        kind: InstKind,
        args: impl IntoIterator<Item = ValueId>,
        results: impl IntoIterator<Item = Scalar>,
        span: Span,
    ) -> Results {
        debug_assert!(!self.is_terminated());
        let first = ValueId(self.function.values.len() as u32);
        for ty in results {
            self.value(ty, span);
        }
        let results = Results {
            first,
            count: self.function.values.len() as u32 - first.0,
        };
        let region = self.current();
        self.function.regions[region.index()].insts.push(Inst {
            kind,
            args: args.into_iter().collect(),
            results,
            span,
        });
        results
    }

    fn single(&mut self, kind: InstKind, args: &[ValueId], ty: Scalar, span: Span) -> ValueId {
        self.inst(kind, args.iter().copied(), [ty], span).first
    }

    /// Appends an op; its result type follows from the op and the operands.
    pub fn op(&mut self, op: Op, args: &[ValueId], span: Span) -> ValueId {
        let last = args.last().map_or(Scalar::F32, |&v| self.ty(v));
        let ty = op.info().result.resolve(last);
        self.single(InstKind::Op(op), args, ty, span)
    }

    /// Appends a constant by its bits.
    pub fn constant(&mut self, ty: Scalar, bits: u32, span: Span) -> ValueId {
        self.single(InstKind::Const(bits), &[], ty, span)
    }

    /// Puts a constant before all instructions of the function.
    pub(crate) fn constant_at_begin(&mut self, ty: Scalar, bits: u32, span: Span) -> ValueId {
        let first = self.value(ty, span);
        let inst = Inst {
            kind: InstKind::Const(bits),
            args: Args::new(),
            results: Results { first, count: 1 },
            span,
        };
        let body = self.function.body.index();
        self.function.regions[body].insts.insert(0, inst);
        first
    }

    /// Appends a float constant.
    pub fn float(&mut self, value: f32, span: Span) -> ValueId {
        self.constant(Scalar::F32, value.to_bits(), span)
    }

    /// Appends an int constant.
    pub fn int(&mut self, value: i32, span: Span) -> ValueId {
        self.constant(Scalar::I32, value as u32, span)
    }

    /// Appends a read of a shadow.
    pub fn shadow(&mut self, direction: Direction, value: ValueId, span: Span) -> ValueId {
        self.single(InstKind::Shadow(direction), &[value], Scalar::F32, span)
    }

    /// Adds parameters like the first ones of a function, with their names.
    pub fn params_like(&mut self, function: &Function, count: usize) -> Vec<ValueId> {
        let like = |&param: &ValueId| {
            let value = function.value(param);
            let param = self.param(value.ty, value.span);
            if let Some(name) = value.name {
                self.name(param, name);
            }
            param
        };
        function.params()[..count].iter().map(like).collect()
    }

    /// The four numbers of a sample that was asked for slopes, with derivatives by those of its
    /// coordinates.
    pub fn with_given_slopes(
        &mut self,
        sample: Results,
        coordinates: [ValueId; 2],
        span: Span,
    ) -> [ValueId; 4] {
        debug_assert_eq!(sample.count as usize, Slopes::Given.result_count());
        let result = |number: usize| ValueId(sample.first.0 + number as u32);
        std::array::from_fn(|channel| {
            let along = coordinates.into_iter().zip([channel + 4, channel + 8]);
            along.fold(result(channel), |number, (coordinate, slope)| {
                self.op(Op::Sloped, &[number, result(slope), coordinate], span)
            })
        })
    }

    /// Appends the end of the loop or block of a region, with these results, unless a condition
    /// holds.
    pub fn leave_unless(
        &mut self,
        condition: ValueId,
        region: RegionId,
        results: &[ValueId],
        span: Span,
    ) {
        let then = self.open_region();
        self.terminate(InstKind::Yield, [], span);
        self.close_region();
        let other = self.open_region();
        self.terminate(InstKind::Break(region), results.iter().copied(), span);
        self.close_region();
        self.inst(InstKind::If(then, other), [condition], [], span);
    }

    /// Opens a loop over the indices below `len`, whose body follows.
    pub fn open_elements(&mut self, len: u32, span: Span) -> ElementLoop {
        let first = self.int(0, span);
        let region = self.open_region();
        let index = self.param(Scalar::I32, span);
        let len = self.int(len as i32, span);
        let more = self.op(Op::ILt, &[index, len], span);
        self.leave_unless(more, region, &[], span);
        ElementLoop {
            index,
            first,
            region,
        }
    }

    /// Closes a loop over indices.
    pub fn close_elements(&mut self, elements: ElementLoop, span: Span) {
        let ElementLoop {
            index,
            first,
            region,
        } = elements;
        let one = self.int(1, span);
        let next = self.op(Op::IAdd, &[index, one], span);
        self.terminate(InstKind::Continue(region), [next], span);
        self.close_region();
        self.inst(InstKind::Loop(region), [first], [], span);
    }

    /// Appends a terminator.
    pub fn terminate(
        &mut self,
        kind: InstKind,
        args: impl IntoIterator<Item = ValueId>,
        span: Span,
    ) {
        debug_assert!(kind.is_terminator());
        self.inst(kind, args, [], span);
    }
}
