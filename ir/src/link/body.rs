//! The body of a unit's entry, inlined.

use super::LinkUnit;
use super::tables::MergedTables;
use crate::builder::FunctionBuilder;
use crate::module::*;

/// Appends a unit's body to the function being made, as a block whose results are the unit's
/// outputs. `inputs` replace its parameters.
pub(super) fn append<'a>(
    tables: &mut MergedTables<'a>,
    builder: &mut FunctionBuilder,
    unit: &LinkUnit<'a>,
    inputs: &[ValueId],
) -> Results {
    let entry = unit.module.entry();
    assert_eq!(inputs.len(), entry.params().len(), "all inputs are fed");
    let taken = tables.take(unit.module, unit.textures);
    let mut names = Names {
        unit,
        known: vec![None; unit.module.names.len()],
    };

    for (&input, &param) in inputs.iter().zip(entry.params()) {
        if let Some(name) = names.of(tables, entry.value(param).name) {
            builder.name(input, name);
        }
    }
    let outer = builder.current();
    let function = builder.function_mut();
    let mut place = Place {
        values: (function.values.len() as u32..)
            .map(ValueId)
            .take(entry.values.len())
            .collect(),
        first_region: function.regions.len() as u32,
        first_array: function.arrays.len() as u32,
        body: entry.body,
    };
    for (&input, &param) in inputs.iter().zip(entry.params()) {
        place.values[param.index()] = input;
    }
    for value in &entry.values {
        let name = names.of(tables, value.name);
        function.values.push(Value { name, ..*value });
    }
    for array in &entry.arrays {
        let name = names.of(tables, array.name);
        function.arrays.push(Array { name, ..*array });
    }
    let ids = tables.ids(taken);
    for (id, region) in (0..).map(RegionId).zip(&entry.regions) {
        let is_body = id == entry.body;
        let params = region.params.iter().filter(|_| !is_body);
        let insts = region.insts.iter().map(|inst| {
            let mut inst = inst.clone();
            ids.rewrite(&mut inst.kind);
            place.rewrite(&mut inst, is_body);
            inst
        });
        let copy = Region {
            params: params.map(|p| place.values[p.index()]).collect(),
            insts: insts.collect(),
        };
        function.regions.push(copy);
    }

    // An output has the name of its last definition.
    let last = entry.terminator(entry.body);
    let first = ValueId(function.values.len() as u32);
    for (k, result) in entry.results.iter().enumerate() {
        let returned = (last.kind == InstKind::Return).then(|| place.values[last.args[k].index()]);
        function.values.push(Value {
            ty: result.ty,
            lanes: result.lanes,
            span: entry.span,
            name: returned.and_then(|value| function.value(value).name),
        });
    }
    let results = Results {
        first,
        count: entry.results.len() as u32,
    };
    function.regions[outer.index()].insts.push(Inst {
        kind: InstKind::Block(place.region(entry.body)),
        args: Args::new(),
        results,
        span: entry.span,
    });
    results
}

/// The names of a unit's values, with the unit's own before them.
struct Names<'u, 'a> {
    unit: &'u LinkUnit<'a>,
    known: Vec<Option<NameId>>,
}

impl Names<'_, '_> {
    fn of(&mut self, tables: &mut MergedTables<'_>, name: Option<NameId>) -> Option<NameId> {
        let name = name?;
        let text = &self.unit.module.names[name.index()];
        let known = &mut self.known[name.index()];
        Some(*known.get_or_insert_with(|| {
            tables.name(match self.unit.name {
                Some(unit) => format!("{unit}.{text}"),
                None => text.clone(),
            })
        }))
    }
}

/// The entry's own ids in the function being made.
struct Place {
    values: Vec<ValueId>,
    first_region: u32,
    first_array: u32,
    body: RegionId,
}

impl Place {
    fn region(&self, id: RegionId) -> RegionId {
        RegionId(self.first_region + id.0)
    }

    /// Replaces ids of the entry in an instruction. A return leaves the block that the body has
    /// become: its own last instruction by yielding, others by a break.
    fn rewrite(&self, inst: &mut Inst, in_body: bool) {
        for arg in &mut inst.args {
            *arg = self.values[arg.index()];
        }
        if inst.results.count > 0 {
            inst.results.first = self.values[inst.results.first.index()];
        }
        if inst.kind == InstKind::Return {
            inst.kind = match in_body {
                true => InstKind::Yield,
                false => InstKind::Break(self.body),
            };
        }
        inst.kind.for_each_region_mut(|id| *id = self.region(*id));
        inst.kind.for_each_array_mut(|id| id.0 += self.first_array);
    }
}
