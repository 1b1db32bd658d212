//! The shape of an instruction: types of operands and results, and the source of lanes.

use crate::module::*;
use crate::types::{Scalar, Type};
use Scalar::{F32, I32};
use adumbra_ops::Op;
use smallvec::SmallVec;

/// The types of operands or of results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Types {
    /// These.
    Are(&'static [Scalar]),
    /// Those of these that are as many, else the last.
    OneOf(&'static [&'static [Scalar]]),
    /// That many floats.
    Floats(usize),
    /// One of any type.
    Any,
    /// A scalar of a global.
    OfGlobal(GlobalId, u32),
    /// A number of an element of a buffer.
    OfBuffer(BufferId),
    /// The element of an array.
    Element(ArrayId),
    /// An index, and an element of an array.
    IndexAndElement(ArrayId),
    /// The scalars of a closure shape.
    OfClosure(ClosureId),
    /// The scalars of a message.
    OfMessage(MessageId),
    /// The fields of a record.
    OfRecord(RecordId),
    /// What an op takes or gives.
    OfOp(Op),
    /// What a function takes or gives.
    OfFunction(FuncId),
    /// What the other ends of its edges have.
    OfEdges,
}

/// The source of the lanes that results may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LaneSource {
    /// None: the results have no shadows by their nature.
    Never,
    /// The host, for floats.
    Host,
    /// The operands.
    Operands,
    /// Values of operands, for floats.
    Given,
    /// The elements of an array.
    Array(ArrayId),
    /// The fields of a record.
    Record(RecordId),
    /// A function's results.
    Function(FuncId),
    /// The values that edges pass.
    Edges,
}

/// The scalars of the entries of a module's tables.
#[derive(Clone, Debug, Default)]
pub struct TableScalars {
    /// By global.
    pub globals: Vec<Vec<Scalar>>,
    /// By buffer.
    pub buffers: Vec<Scalar>,
    /// By closure shape.
    pub closures: Vec<Vec<Scalar>>,
    /// By message.
    pub messages: Vec<Vec<Scalar>>,
}

impl TableScalars {
    /// The scalars of a module whose types are within the limits.
    pub fn new(module: &Module) -> TableScalars {
        let scalars = |types: &[Type]| {
            let mut all = Vec::new();
            for ty in types {
                ty.for_each_scalar(&mut |scalar| all.push(scalar));
            }
            all
        };
        let globals = module.globals.iter();
        let closures = module.closures.iter();
        let messages = module.messages.iter();
        TableScalars {
            globals: globals
                .map(|g| scalars(std::slice::from_ref(&g.ty)))
                .collect(),
            buffers: module.buffers.iter().map(Buffer::scalar).collect(),
            closures: closures.map(|shape| scalars(&shape.params)).collect(),
            messages: messages.map(|message| scalars(&message.params)).collect(),
        }
    }
}

/// Types of operands or results.
pub type ScalarList = SmallVec<[Scalar; 6]>;

impl Types {
    /// The types in a module and a function with these tables, where there are `count` operands or
    /// results. `None` if an id is none of these, or if ops, functions or edges decide.
    pub fn resolve(
        self,
        count: usize,
        scalars: &TableScalars,
        records: &[Record],
        arrays: &[Array],
    ) -> Option<ScalarList> {
        let element = |id: ArrayId| arrays.get(id.index()).map(|array| array.element);
        Some(match self {
            Types::Are(types) => ScalarList::from_slice(types),
            Types::OneOf(all) => {
                let fitting = all.iter().find(|types| types.len() == count);
                ScalarList::from_slice(fitting.or(all.last())?)
            }
            Types::Floats(count) => ScalarList::from_elem(F32, count),
            Types::OfGlobal(id, scalar) => {
                let scalars = scalars.globals.get(id.index())?;
                ScalarList::from_slice(&[*scalars.get(scalar as usize)?])
            }
            Types::OfBuffer(id) => ScalarList::from_slice(&[*scalars.buffers.get(id.index())?]),
            Types::Element(id) => ScalarList::from_slice(&[element(id)?]),
            Types::IndexAndElement(id) => ScalarList::from_slice(&[I32, element(id)?]),
            Types::OfClosure(id) => ScalarList::from_slice(scalars.closures.get(id.index())?),
            Types::OfMessage(id) => ScalarList::from_slice(scalars.messages.get(id.index())?),
            Types::OfRecord(id) => {
                let fields = &records.get(id.index())?.fields;
                fields.iter().map(|field| field.ty).collect()
            }
            Types::Any | Types::OfOp(_) | Types::OfFunction(_) | Types::OfEdges => return None,
        })
    }
}
