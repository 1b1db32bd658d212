//! The verifier: checks the invariants that all other stages assume.
//!
//! Any bytes may have become a module (IR text is an input), so nothing here recurses, panics or
//! takes more than linear time. The invariants, by the names of [`Rule`]:
//!
//!  1. `Tree`: a region is the body of its function or belongs to exactly one instruction, once;
//!     one that belongs to none is empty.
//!  2. `Depth`: regions nest at most [`MAX_REGION_DEPTH`] deep.
//!  3. `Terminator`: a region's last instruction, and no other, is a terminator.
//!  4. `ValueDefinition`: results and parameters are values of the function, each defined at most
//!     once.
//!  5. `Dominance`: an operand is defined earlier in its region or in a region around it.
//!  6. `Parameters`: of all regions, only bodies and regions of loops have parameters.
//!  7. `Operands`: operands and results of an instruction are as many, and of the types, as
//!     [`InstKind`] says.
//!  8. `Constant`: bools are 0 or 1, the only closure constant is 0, resources have none. Defaults
//!     of inputs too.
//!  9. `Id`: ids of functions, arrays, globals (and their scalars), textures, buffers (and the
//!     numbers of their elements), resources, closures,
//!     messages, records and names are in range.
//! 10. `Jump`: a yield ends a region of an if or a block; a break names an enclosing loop or block,
//!     a continue an enclosing loop.
//! 11. `Edge`: the values that a yield, break, continue, return or the entry of a loop passes fit
//!     their targets, in number and types.
//! 12. `Call`: arguments and results of a call fit the function's; arrays fit its array parameters
//!     in number, element and length. A module has at most [`MAX_FUNCTIONS`].
//! 13. `Array`: arrays have at least one element, those of a function at most
//!     [`MAX_ARRAY_ELEMENTS`] together; parameters come first, and none has mode `Return`.
//! 14. `ArrayParam`: positions of members are positions of parameters, results and array
//!     parameters.
//! 15. `Entry`: the shader's parameters are the scalars of the inputs, its results those of the
//!     outputs; it has no array parameters; an input has one default word for each scalar.
//! 16. `Type`: vectors and matrices have 2 to 4 components or rows; a type has at most
//!     [`MAX_TYPE_SCALARS`] scalars and nests at most [`MAX_TYPE_DEPTH`] deep, and those of the
//!     tables have at most [`MAX_TABLE_SCALARS`] together; globals have neither
//!     arrays nor closures, and there are at most [`MAX_GLOBALS`]. The formats of messages fit
//!     their types.
//! 17. `Shadowless`: only floats have lanes; the shader's parameters have none, nor have constants,
//!     read shadows, texture samples and results of discrete ops.
//! 18. `Supply`: a lane has a source. The lanes of a result are lanes of some float operand, of the
//!     array loaded from, of the function called, of the record taken, of a value that some edge
//!     passes; those of a function's result are lanes of a value that some return passes. (An
//!     operand without a demanded lane counts as zero, so nothing is required of the operands of
//!     reads, stores, keeps and calls.) If points are evaluated in quads, the lanes of the shader's
//!     own results come from elsewhere.
//! 19. `Quad`: a difference is only in a module whose points are evaluated in quads.
//! 20. `Tape`: a record has 1 to [`MAX_RECORD_FIELDS`] fields, which are floats, integers or bools;
//!     all floats of all records have the same lanes. A tape is one of [`MAX_TAPES`].
//! 21. `Derivative`: derived functions, custom derivatives and substitutes are functions of the
//!     module with the [canonical signature](crate::derivative), and only floats are active. What
//!     marks a surface takes a place.

mod derivative;
mod function;
mod inst;
#[cfg(test)]
mod tests;

use crate::instruction::TableScalars;
use crate::limits::*;
use crate::module::*;
use crate::types::{Lanes, Scalar, Type};
use std::fmt;

/// Violations that are reported before the verifier gives up.
pub const MAX_VIOLATIONS: usize = 64;

/// The invariants, numbered in the head of this file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Rule {
    Tree = 1,
    Depth,
    Terminator,
    Definition,
    Dominance,
    Parameters,
    Operands,
    Constant,
    Id,
    Jump,
    Edge,
    Call,
    Array,
    Member,
    Entry,
    Type,
    Shadowless,
    Supply,
    Quad,
    Tape,
    Derivative,
}

/// A violation of an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The invariant.
    pub rule: Rule,
    /// The function, if it is in one.
    pub function: Option<FuncId>,
    /// The region and instruction, if it is at one.
    pub place: Option<(RegionId, usize)>,
    /// The explanation.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(function) = self.function {
            write!(f, "function #{}", function.0)?;
            if let Some((region, inst)) = self.place {
                write!(f, ", region ^{}, instruction {inst}", region.0)?;
            }
            f.write_str(": ")?;
        }
        write!(
            f,
            "{} ({:?}, rule {})",
            self.message, self.rule, self.rule as u8
        )
    }
}

impl std::error::Error for Violation {}

/// Checks all invariants.
///
/// # Errors
/// The violations, in the order found; at most [`MAX_VIOLATIONS`].
pub fn verify(module: &Module) -> Result<(), Vec<Violation>> {
    let mut report = Report::default();
    let functions = module.functions.len();
    report.require(functions <= MAX_FUNCTIONS, Rule::Call, || {
        format!("there are {functions} functions, more than {MAX_FUNCTIONS}")
    });
    let interface = interface(module, &mut report);
    if report.violations.is_empty() {
        for (i, function) in module.functions.iter().enumerate() {
            report.function = Some(FuncId(i as u32));
            report.place = None;
            function::check(module, &interface, function, &mut report);
            if report.is_full() {
                break;
            }
        }
    }
    if report.violations.is_empty() {
        derivative::check(module, &mut report);
    }
    if report.violations.is_empty() {
        Ok(())
    } else {
        Err(report.violations)
    }
}

/// Collects violations, and knows the current place.
#[derive(Default)]
struct Report {
    violations: Vec<Violation>,
    function: Option<FuncId>,
    place: Option<(RegionId, usize)>,
    /// Scalars of the types so far.
    scalars: u64,
}

impl Report {
    fn is_full(&self) -> bool {
        self.violations.len() >= MAX_VIOLATIONS
    }

    fn add(&mut self, rule: Rule, message: impl fmt::Display) {
        if !self.is_full() {
            self.violations.push(Violation {
                rule,
                function: self.function,
                place: self.place,
                message: message.to_string(),
            });
        }
    }

    /// Reports `message` unless the condition holds, and returns whether it does.
    fn require(&mut self, holds: bool, rule: Rule, message: impl FnOnce() -> String) -> bool {
        if !holds {
            self.add(rule, message());
        }
        holds
    }
}

/// Checks the tables and the shader's signature.
fn interface(module: &Module, report: &mut Report) -> TableScalars {
    let mut interface = TableScalars::default();
    let globals = module.globals.len();
    report.require(globals <= MAX_GLOBALS, Rule::Type, || {
        format!("there are {globals} globals, more than {MAX_GLOBALS}")
    });
    for global in &module.globals {
        let types = scalars(&global.ty, report);
        let flat = types.is_empty()
            || !types.contains(&Scalar::Closure) && !has_array(&global.ty, MAX_TYPE_DEPTH);
        report.require(flat, Rule::Type, || {
            format!("global `{}` has an array or a closure", global.name)
        });
        interface.globals.push(types);
    }
    for (at, buffer) in module.buffers.iter().enumerate() {
        let types = scalars(&buffer.element, report);
        let is_vector = matches!(buffer.element, Type::Scalar(_) | Type::Vector(_));
        let is_number = matches!(types[..], [Scalar::F32 | Scalar::I32, ..]);
        let fits = buffer.sum_of.is_none_or(|of| {
            let of = module.buffers[..at].get(of.index());
            let is_like = |of: &Buffer| !of.is_sum() && of.element == buffer.element;
            types.first() == Some(&Scalar::F32) && of.is_some_and(is_like)
        });
        report.require(is_vector && is_number && fits, Rule::Type, || {
            format!("no buffer has elements like those of `{}`", buffer.name)
        });
        interface.buffers.push(buffer.scalar());
    }
    for shape in &module.closures {
        let params = shape.params.iter();
        let types = params.flat_map(|ty| scalars(ty, report)).collect();
        interface.closures.push(types);
    }
    for message in &module.messages {
        let params = message.params.iter();
        let types = params.flat_map(|ty| scalars(ty, report)).collect();
        report.require(message.is_valid(), Rule::Type, || {
            format!("message {:?} does not fit its types", message.format)
        });
        interface.messages.push(types);
    }

    records(module, report);

    let mut inputs = Vec::new();
    for input in &module.inputs {
        let types = scalars(&input.ty, report);
        report.require(types.len() == input.default.len(), Rule::Entry, || {
            format!(
                "input `{}` has {} scalars and {} default words",
                input.name,
                types.len(),
                input.default.len()
            )
        });
        for (&ty, &word) in types.iter().zip(&input.default) {
            report.require(is_constant(ty, word), Rule::Constant, || {
                format!("{word:#x} is no default {ty} for input `{}`", input.name)
            });
        }
        inputs.extend(types);
    }
    let outputs = module.outputs.iter();
    let outputs: Vec<Scalar> = outputs.flat_map(|o| scalars(&o.ty, report)).collect();

    let Some(entry) = module.functions.get(module.entry.index()) else {
        report.add(Rule::Id, "the entry is not a function of the module");
        return interface;
    };
    let params = entry.regions.get(entry.body.index());
    let params = params.map_or(&[][..], |body| &body.params);
    let params = params.iter().map(|p| entry.values.get(p.index()));
    report.require(
        params
            .map(|v| v.map(|v| v.ty))
            .eq(inputs.into_iter().map(Some)),
        Rule::Entry,
        || "the shader's parameters are not the scalars of the inputs".into(),
    );
    report.require(
        entry.results.iter().map(|r| r.ty).eq(outputs),
        Rule::Entry,
        || "the shader's results are not the scalars of the outputs".into(),
    );
    report.require(entry.array_params().count() == 0, Rule::Entry, || {
        "the shader has array parameters".into()
    });
    interface
}

/// Checks the table of records.
fn records(module: &Module, report: &mut Report) {
    let mut floats = None;
    for (i, record) in module.records.iter().enumerate() {
        let count = record.fields.len();
        report.require((1..=MAX_RECORD_FIELDS).contains(&count), Rule::Tape, || {
            format!("record ${i} has {count} fields, not 1 to {MAX_RECORD_FIELDS}")
        });
        for field in &record.fields {
            let is_number = !matches!(field.ty, Scalar::Closure | Scalar::Resource);
            report.require(is_number, Rule::Tape, || {
                format!("a {} is no field of a record", field.ty)
            });
            let lanes = match field.ty {
                Scalar::F32 => *floats.get_or_insert(field.lanes),
                _ => Lanes::NONE,
            };
            let rule = match field.ty {
                Scalar::F32 => Rule::Tape,
                _ => Rule::Shadowless,
            };
            report.require(field.lanes == lanes, rule, || {
                format!(
                    "a field of record ${i} has lanes {:?}, not {lanes:?}",
                    field.lanes
                )
            });
        }
    }
}

/// Whether a value of that type may have that bit pattern as a constant.
fn is_constant(ty: Scalar, bits: u32) -> bool {
    match ty {
        Scalar::F32 | Scalar::I32 | Scalar::U32 => true,
        Scalar::Bool => bits <= 1,
        Scalar::Closure => bits == 0,
        Scalar::Resource => false,
    }
}

/// Whether the type contains an array, up to the depth limit of types.
fn has_array(ty: &Type, depth: usize) -> bool {
    match ty {
        Type::Scalar(_) | Type::Vector(_) | Type::Matrix(_) => false,
        Type::Array(..) => true,
        Type::Struct(s) => depth > 0 && s.members.iter().any(|(_, m)| has_array(m, depth - 1)),
    }
}

/// The scalars of a type, or none after a report.
fn scalars(ty: &Type, report: &mut Report) -> Vec<Scalar> {
    let mut types = Vec::new();
    match size(ty, MAX_TYPE_DEPTH) {
        Ok(count) => {
            report.scalars += count;
            let fits = report.scalars <= MAX_TABLE_SCALARS;
            if report.require(fits, Rule::Type, || {
                format!("the types have more than {MAX_TABLE_SCALARS} scalars together")
            }) {
                ty.for_each_scalar(&mut |s| types.push(s));
            }
        }
        Err(message) => report.add(Rule::Type, message),
    }
    types
}

/// The size of a type, if within the limits: its scalars, and one for each struct so that empty
/// ones cannot multiply unseen.
fn size(ty: &Type, depth: usize) -> Result<u64, &'static str> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err("a type nests too deep");
    };
    let count = match ty {
        Type::Scalar(_) => 1,
        Type::Vector(n @ 2..=4) => u64::from(*n),
        Type::Matrix(n @ 2..=4) => u64::from(*n) * u64::from(*n),
        Type::Vector(_) | Type::Matrix(_) => {
            return Err("a vector or matrix has 2 to 4 components or rows");
        }
        // Neither factor passes 2³², so the product cannot overflow.
        Type::Array(element, n) => size(element, depth)? * u64::from(*n),
        Type::Struct(s) => {
            let mut sum = 1;
            for (_, member) in &s.members {
                sum += size(member, depth)?;
                if sum > MAX_TYPE_SCALARS {
                    break;
                }
            }
            sum
        }
    };
    if count > MAX_TYPE_SCALARS {
        return Err("a type has too many scalars");
    }
    Ok(count)
}
