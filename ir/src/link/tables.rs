//! The tables of the linked module: entries that modules list by name occur once, and functions are
//! copied.

use crate::calls::callees;
use crate::instruction::FieldMut;
use crate::module::*;
use crate::types::Type;
use std::collections::HashMap;
use std::hash::Hash;

/// The linked module in the making, with the sources of its entries.
#[derive(Default)]
pub(super) struct MergedTables<'a> {
    module: Module,
    globals: HashMap<(&'a str, &'a Type), u32>,
    textures: HashMap<&'a str, u32>,
    buffers: HashMap<(&'a str, &'a Type), u32>,
    resources: HashMap<&'a str, u32>,
    closures: HashMap<&'a ClosureShape, u32>,
    messages: HashMap<&'a Message, u32>,
    /// By module and texture names: the index in `ids`.
    taken: HashMap<(*const Module, &'a [String]), usize>,
    ids: Vec<IdMap>,
}

/// The new ids of a module's entries, table by table.
#[derive(Default)]
pub(super) struct IdMap {
    functions: Vec<FuncId>,
    globals: Vec<GlobalId>,
    textures: Vec<TextureId>,
    buffers: Vec<BufferId>,
    resources: Vec<ResourceId>,
    closures: Vec<ClosureId>,
    messages: Vec<MessageId>,
    first_record: u32,
}

impl<'a> MergedTables<'a> {
    /// Tables of a linked module that has these globals.
    pub(super) fn new(globals: &'a [Global]) -> MergedTables<'a> {
        let mut tables = MergedTables::default();
        let keys = globals.iter().zip(0..);
        tables.globals = keys
            .map(|(global, id)| ((global.name.as_str(), &global.ty), id))
            .collect();
        tables.module.globals = globals.to_vec();
        tables
    }

    /// Adds a function.
    pub(super) fn reserve(&mut self, function: Function) -> FuncId {
        self.module.functions.push(function);
        FuncId(self.module.functions.len() as u32 - 1)
    }

    /// The finished module of these tables.
    pub(super) fn finish(self) -> Module {
        self.module
    }

    /// A new name.
    pub(super) fn name(&mut self, name: String) -> NameId {
        self.module.names.push(name);
        NameId(self.module.names.len() as u32 - 1)
    }

    /// Merges a module's tables; the number is for [`ids`](MergedTables::ids). Its functions are
    /// copied with it, but for the entry, unless it is called.
    pub(super) fn take(&mut self, module: &'a Module, textures: &'a [String]) -> usize {
        let key = (std::ptr::from_ref(module), textures);
        if let Some(&known) = self.taken.get(&key) {
            return known;
        }
        let whole = &mut self.module;
        let mut ids = IdMap::default();
        for global in &module.globals {
            let key = (global.name.as_str(), &global.ty);
            let id = intern(&mut self.globals, &mut whole.globals, key, || {
                global.clone()
            });
            ids.globals.push(GlobalId(id));
        }
        for (texture, name) in module.textures.iter().zip(textures) {
            let id = intern(&mut self.textures, &mut whole.textures, name, || Texture {
                name: name.clone(),
                ..texture.clone()
            });
            let known = &mut whole.textures[id as usize];
            if known.metadata.is_empty() && !texture.metadata.is_empty() {
                (known.metadata, known.span) = (texture.metadata.clone(), texture.span);
            }
            ids.textures.push(TextureId(id));
        }
        for buffer in &module.buffers {
            let key = (buffer.name.as_str(), &buffer.element);
            let id = intern(&mut self.buffers, &mut whole.buffers, key, || Buffer {
                sum_of: buffer.sum_of.map(|of| ids.buffers[of.index()]),
                ..buffer.clone()
            });
            ids.buffers.push(BufferId(id));
        }
        for name in &module.resources {
            let id = intern(&mut self.resources, &mut whole.resources, name, || {
                name.clone()
            });
            ids.resources.push(ResourceId(id));
        }
        for shape in &module.closures {
            let id = intern(&mut self.closures, &mut whole.closures, shape, || {
                shape.clone()
            });
            ids.closures.push(ClosureId(id));
        }
        for message in &module.messages {
            let id = intern(&mut self.messages, &mut whole.messages, message, || {
                message.clone()
            });
            ids.messages.push(MessageId(id));
        }

        // Units share no records, so that each finds its own.
        ids.first_record = whole.records.len() as u32;
        whole.records.extend_from_slice(&module.records);
        whole.hints.0.extend_from_slice(&module.hints.0);

        let is_called = (module.functions.iter().flat_map(callees)).any(|id| id == module.entry);
        let stays = |id: usize| id != module.entry.index() || is_called;
        let mut next = whole.functions.len() as u32;
        for id in 0..module.functions.len() {
            ids.functions.push(FuncId(next));
            next += u32::from(stays(id));
        }
        let first_name = whole.names.len() as u32;
        if module.functions.len() > 1 {
            whole.names.extend_from_slice(&module.names);
        }
        for (_, function) in (module.functions.iter().enumerate()).filter(|&(id, _)| stays(id)) {
            let mut function = function.clone();
            let values = function.values.iter_mut().map(|value| &mut value.name);
            let arrays = function.arrays.iter_mut().map(|array| &mut array.name);
            for name in values.chain(arrays).flatten() {
                name.0 += first_name;
            }
            for inst in function.regions.iter_mut().flat_map(|r| &mut r.insts) {
                ids.rewrite(&mut inst.kind);
            }
            let custom = &mut function.custom;
            let rules = [
                &mut custom.forward,
                &mut custom.backward,
                &mut custom.substitute,
            ];
            let primal = function.recipe.as_mut().map(|recipe| &mut recipe.of);
            for id in rules.into_iter().flatten().chain(primal) {
                *id = ids.functions[id.index()];
            }
            whole.functions.push(function);
        }
        self.ids.push(ids);
        self.taken.insert(key, self.ids.len() - 1);
        self.ids.len() - 1
    }

    /// The new ids that [`take`](MergedTables::take) found.
    pub(super) fn ids(&self, taken: usize) -> &IdMap {
        &self.ids[taken]
    }
}

impl IdMap {
    /// Replaces the ids of the module's tables in an instruction.
    pub(super) fn rewrite(&self, kind: &mut InstKind) {
        kind.for_each_field_mut(|field| match field {
            FieldMut::Global(id) => *id = self.globals[id.index()],
            FieldMut::Resource(id) => *id = self.resources[id.index()],
            FieldMut::Texture(id) => *id = self.textures[id.index()],
            FieldMut::Buffer(id) | FieldMut::Sum(id) => *id = self.buffers[id.index()],
            FieldMut::Closure(id) => *id = self.closures[id.index()],
            FieldMut::Message(id) => *id = self.messages[id.index()],
            FieldMut::Function(id) => *id = self.functions[id.index()],
            FieldMut::Record(id) => id.0 += self.first_record,
            FieldMut::Op(_)
            | FieldMut::Bits(_)
            | FieldMut::Number(_)
            | FieldMut::Region(_)
            | FieldMut::Target(_)
            | FieldMut::Read(_)
            | FieldMut::Written(_)
            | FieldMut::Passed(_)
            | FieldMut::Tape(_) => {}
        });
    }
}

/// The number of something in a list, to which it is added if it is new.
fn intern<K: Hash + Eq, T>(
    known: &mut HashMap<K, u32>,
    list: &mut Vec<T>,
    key: K,
    make: impl FnOnce() -> T,
) -> u32 {
    *known.entry(key).or_insert_with(|| {
        list.push(make());
        list.len() as u32 - 1
    })
}
