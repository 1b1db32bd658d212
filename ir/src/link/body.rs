//! The body of a unit's entry, inlined.

use super::LinkUnit;
use super::tables::MergedTables;
use crate::builder::FunctionBuilder;
use crate::copy::Copied;
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
    let names = names(tables, unit);
    let name = |own: Option<NameId>| own.and_then(|own| names[own.index()]);

    for (&input, &param) in inputs.iter().zip(entry.params()) {
        if let Some(name) = name(entry.value(param).name) {
            builder.name(input, name);
        }
    }
    let mut copied = Copied::new(entry);
    for (&input, &param) in inputs.iter().zip(entry.params()) {
        copied.set_value(param, input);
    }
    for (id, array) in entry.arrays.iter().enumerate() {
        let name = name(array.name);
        copied.add_array(builder, id, &Array { name, ..*array }, array.mode);
    }
    let outer = builder.current();
    let function = builder.function_mut();
    let mut order = Vec::with_capacity(entry.regions.len());
    entry.for_each_region(|id| order.push(id));
    let ids = tables.ids(taken);
    let region = |_: &Function, id| {
        let mut region = entry.region(id).clone();
        if id == entry.body {
            region.params.clear();
        }
        for inst in &mut region.insts {
            ids.rewrite(&mut inst.kind);
            // A return leaves the block that the body becomes.
            if inst.kind == InstKind::Return {
                inst.kind = match id == entry.body {
                    true => InstKind::Yield,
                    false => InstKind::Break(entry.body),
                };
            }
        }
        region
    };
    copied.regions(function, &order, region, |_, old| {
        let value = *entry.value(old);
        let name = name(value.name);
        Value { name, ..value }
    });

    // An output has the name of its last definition.
    let last = entry.terminator(entry.body);
    let first = ValueId(function.values.len() as u32);
    for (k, result) in entry.results.iter().enumerate() {
        let returned = (last.kind == InstKind::Return).then(|| copied.value(last.args[k]));
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
        kind: InstKind::Block(copied.region(entry.body)),
        args: Args::new(),
        results,
        span: entry.span,
    });
    results
}

/// By name of a unit: that of its values and arrays which have it, with the unit's own before it.
fn names(tables: &mut MergedTables<'_>, unit: &LinkUnit<'_>) -> Vec<Option<NameId>> {
    let entry = unit.module.entry();
    let mut names = vec![None; unit.module.names.len()];
    let values = entry.values.iter().map(|value| value.name);
    let arrays = entry.arrays.iter().map(|array| array.name);
    for own in values.chain(arrays).flatten() {
        names[own.index()].get_or_insert_with(|| {
            let name = &unit.module.names[own.index()];
            tables.name(match unit.name {
                Some(unit) => format!("{unit}.{name}"),
                None => name.clone(),
            })
        });
    }
    names
}
