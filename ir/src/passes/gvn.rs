//! Global value numbering (GVN): a value that is computed twice is computed once.
//!
//! The walk over the dominator tree with a scoped hash table is that of Briggs, Cooper and Simpson
//! (1997), *Value numbering*. Assumes a function that the verifier accepts. Guarantees: no pure
//! instruction comes after an equal one that dominates it, nor a sample: a texture answers a
//! request as it did before. An op whose slopes are computed before has its value from there.
//! Nothing is moved; other instructions that can fault or have effects stay.
//!
//! Some operations are rewritten by their operands' definitions. Hashes are evaluated at
//! neighbouring lattice points: if x·c exists, the product (x + k)·c is its sum with a constant. If
//! x + y exists, (x + k) + y is its sum with k. In (x + k) + l two constants become one. Integers
//! wrap, so that is exact. And x − floor(x) is the op `fract` of x, to the bit and with the same
//! partial.
//!
//! Constants that are definitions of different variables stay apart, so that each can be named in
//! listings.

use super::replacement::{Replacements, pass_on_name};
use crate::module::{
    Args, Function, Inst, InstKind, MipSelection, RegionId, Results, Slopes, TextureId, Value,
    ValueId,
};
use adumbra_ops::{MAX_OPERANDS, Op};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// Removes repeated pure instructions and samples of a function.
pub(super) fn gvn(function: &mut Function) {
    let size = function.values.len().next_power_of_two();
    let body = function.body;
    Gvn {
        aliases: Replacements::new(function.values.len()),
        heads: vec![NONE; size],
        next: vec![NONE; function.values.len()],
        keys: vec![Key::default(); function.values.len()],
        scope: Vec::with_capacity(function.values.len()),
        lists: FxHashMap::default(),
        list_scope: Vec::new(),
        shift: 64 - size.trailing_zeros(),
        function,
    }
    .region(body);
}

const NONE: u32 = u32::MAX;

/// How many reinterpretations of the sign, one after the other, are looked through.
const MAX_CHANGES: usize = 4;

/// The bit of constants in tags, beside their type. A value without an entry has no tag.
const CONST: u32 = 1 << 15;
/// The bit of operations, beside their number.
const OP: u32 = 1 << 8;

/// The key of a pure instruction: equal keys have equal results. Unused words are 0.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Key {
    tag: u32,
    words: [u32; MAX_OPERANDS],
}

impl Key {
    fn of(inst: &Inst, function: &Function) -> Option<Key> {
        let mut words = [0; MAX_OPERANDS];
        let tag = match inst.kind {
            InstKind::Const(bits) => {
                words[0] = bits;
                CONST | function.value(inst.results.first).ty as u32
            }
            InstKind::Op(op) if op.info().fault.is_none() => {
                return Some(Key::of_op(op, &inst.args));
            }
            InstKind::Global(global, scalar) => {
                words[..2].copy_from_slice(&[global.0, scalar]);
                2 << 8
            }
            InstKind::Resource(resource) => {
                words[0] = resource.0;
                3 << 8
            }
            InstKind::Shadow(direction) => {
                words[0] = inst.args[0].0;
                4 << 8 | direction as u32
            }
            InstKind::Difference(direction) => {
                words[0] = inst.args[0].0;
                5 << 8 | direction as u32
            }
            InstKind::Attach => {
                words[..3].copy_from_slice(&[inst.args[0].0, inst.args[1].0, inst.args[2].0]);
                6 << 8
            }
            _ => return None,
        };
        Some(Key { tag, words })
    }

    fn of_op(op: Op, args: &[ValueId]) -> Key {
        let mut words = [0; MAX_OPERANDS];
        for (word, arg) in words.iter_mut().zip(args) {
            *word = arg.0;
        }
        let tag = OP | op as u32;
        Key { tag, words }
    }

    fn hash(self) -> u64 {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let [a, b, c, d, e] = self.words.map(u64::from);
        let low = u64::from(self.tag) << 32 | a;
        let high = (b << 32 | c) ^ (d << 32 | e).rotate_left(13);
        ((low.wrapping_mul(ODD)).rotate_left(26) ^ high).wrapping_mul(ODD)
    }
}

/// A hash table with chaining, whose entries are values. The newest come first, so that a scope's
/// end removes them.
struct Gvn<'f> {
    function: &'f mut Function,
    aliases: Replacements,
    heads: Vec<u32>,
    next: Vec<u32>,
    keys: Vec<Key>,
    /// The slots of the entries, oldest first.
    scope: Vec<u32>,
    /// The first results of instructions that have several.
    lists: FxHashMap<ListKey, ValueId>,
    /// Those instructions, oldest first.
    list_scope: Vec<ListKey>,
    shift: u32,
}

/// The key of an instruction that has several results: samples with equal keys are equal requests.
#[derive(Clone, PartialEq, Eq, Hash)]
enum ListKey {
    Sample(TextureId, MipSelection, Slopes, Args),
    WithSlopes(Op, Args),
}

impl ListKey {
    fn of(inst: &Inst) -> Option<ListKey> {
        let args = || inst.args.clone();
        Some(match inst.kind {
            InstKind::Sample(texture, mip, slopes) => ListKey::Sample(texture, mip, slopes, args()),
            InstKind::WithSlopes(op) => ListKey::WithSlopes(op, args()),
            _ => return None,
        })
    }
}

impl Gvn<'_> {
    fn region(&mut self, id: RegionId) {
        let (outer, outer_lists) = (self.scope.len(), self.list_scope.len());
        let insts = std::mem::take(&mut self.function.regions[id.index()].insts);
        let mut out = Vec::with_capacity(insts.len());
        for mut inst in insts {
            self.aliases.rewrite(&mut inst);
            for region in inst.kind.regions() {
                self.region(region);
            }
            out.extend(self.recognise(&mut inst));
            let is_new = match (Key::of(&inst, self.function), ListKey::of(&inst)) {
                (Some(key), _) => self.is_new(key, inst.results.first),
                (None, Some(key)) => self.is_new_list(key, inst.results),
                (None, None) => true,
            };
            if is_new {
                out.push(inst);
            }
        }
        self.function.regions[id.index()].insts = out;
        for slot in self.scope.drain(outer..) {
            let head = &mut self.heads[slot as usize];
            *head = self.next[*head as usize];
        }
        for key in self.list_scope.drain(outer_lists..) {
            self.lists.remove(&key);
        }
    }

    /// Rewrites an operation by its operands' definitions into one that has the same result.
    /// Returns a constant that it needs, if that does not exist yet.
    fn recognise(&mut self, inst: &mut Inst) -> Option<Inst> {
        let InstKind::Op(op @ (Op::IMul | Op::IAdd | Op::Sub)) = inst.kind else {
            return None;
        };
        let [a, b] = [inst.args[0], inst.args[1]];
        let (sum, more) = match op {
            Op::IMul => self.further(a, b).or_else(|| self.further(b, a))?,
            Op::IAdd => self.shared(a, b)?,
            _ => {
                if self.keys[b.index()] == Key::of_op(Op::Floor, &[a]) {
                    inst.kind = InstKind::Op(Op::Fract);
                    inst.args = Args::from_slice(&[a]);
                }
                return None;
            }
        };
        let (more, constant) = self.make_constant(more, inst);
        inst.kind = InstKind::Op(Op::IAdd);
        inst.args = Args::from_slice(&[sum, more]);
        constant
    }

    /// A constant of the type of an instruction's result; also its definition, if it does not exist
    /// yet.
    fn make_constant(&mut self, bits: u32, of: &Inst) -> (ValueId, Option<Inst>) {
        let result = *self.function.value(of.results.first);
        let mut key = Key {
            tag: CONST | result.ty as u32,
            ..Key::default()
        };
        key.words[0] = bits;
        if let Ok(known) = self.find(key) {
            return (known, None);
        }
        let value = ValueId(self.function.values.len() as u32);
        self.function.values.push(Value {
            name: None,
            ..result
        });
        self.aliases.extend(self.function.values.len());
        self.next.push(NONE);
        self.keys.push(Key::default());
        self.is_new(key, value);
        let inst = Inst {
            kind: InstKind::Const(bits),
            args: Args::new(),
            results: Results {
                first: value,
                count: 1,
            },
            span: of.span,
        };
        (value, Some(inst))
    }

    /// For a product (x + k)·c that is to be computed: the product x·c if it exists, and the bits
    /// of k·c.
    fn further(&self, sum: ValueId, factor: ValueId) -> Option<(ValueId, u32)> {
        let by = self.constant(factor)?;
        let (x, more) = self.sum(self.plain(sum))?;
        let x = self.plain(x);
        let as_other = |op| self.find(Key::of_op(op, &[x])).ok();
        let same = [Some(x), as_other(Op::IToU), as_other(Op::UToI)];
        let product = same.into_iter().flatten().find_map(|x| {
            let orders = [[x, factor], [factor, x]];
            let mut products = orders.iter().map(|args| Key::of_op(Op::IMul, args));
            products.find_map(|key| self.find(key).ok())
        });
        Some((product?, by.wrapping_mul(more)))
    }

    /// For a sum (x + k) + (y + l) that is to be computed: the sum x + y if it exists, and the bits
    /// of k + l, which are not 0. k or l may be missing. For a sum (x + k) + l, x takes the place
    /// of x + y.
    fn shared(&self, a: ValueId, b: ValueId) -> Option<(ValueId, u32)> {
        let [first, second] = [self.sum(a), self.sum(b)];
        let sum = match (first, self.constant(b), second, self.constant(a)) {
            (Some((x, k)), Some(l), ..) | (.., Some((x, k)), Some(l)) => (x, k.wrapping_add(l)),
            (None, _, None, _) => return None,
            _ => self.of_both(first.unwrap_or((a, 0)), second.unwrap_or((b, 0)))?,
        };
        (sum.1 != 0).then_some(sum)
    }

    /// The sum of two values, if there is one, and the sum of their constants.
    fn of_both(&self, (x, k): (ValueId, u32), (y, l): (ValueId, u32)) -> Option<(ValueId, u32)> {
        let mut sums = [[x, y], [y, x]]
            .map(|args| Key::of_op(Op::IAdd, &args))
            .into_iter();
        let sum = sums.find_map(|key| self.find(key).ok())?;
        Some((sum, k.wrapping_add(l)))
    }

    /// The value to which a sum adds a constant, and the bits of that constant.
    fn sum(&self, value: ValueId) -> Option<(ValueId, u32)> {
        let key = self.keys[value.index()];
        if key.tag != OP | Op::IAdd as u32 {
            return None;
        }
        let [a, b, ..] = key.words.map(ValueId);
        match (self.constant(a), self.constant(b)) {
            (None, Some(more)) => Some((a, more)),
            (Some(more), None) => Some((b, more)),
            _ => None,
        }
    }

    /// The bits of a value that is a constant.
    fn constant(&self, value: ValueId) -> Option<u32> {
        let key = self.keys[value.index()];
        (key.tag & CONST != 0).then_some(key.words[0])
    }

    /// The integer with the same bits, before its sign was reinterpreted.
    fn plain(&self, mut value: ValueId) -> ValueId {
        const CHANGES: [u32; 2] = [OP | Op::IToU as u32, OP | Op::UToI as u32];
        for _ in 0..MAX_CHANGES {
            let key = self.keys[value.index()];
            if !CHANGES.contains(&key.tag) {
                break;
            }
            value = ValueId(key.words[0]);
        }
        value
    }

    /// The value with that key, or the slot for it in the table.
    fn find(&self, key: Key) -> Result<ValueId, usize> {
        let slot = key.hash().checked_shr(self.shift).unwrap_or(0) as usize;
        let mut at = self.heads[slot];
        while at != NONE {
            if self.keys[at as usize] == key {
                return Ok(ValueId(at));
            }
            at = self.next[at as usize];
        }
        Err(slot)
    }

    /// Enters `value`, if no value has the same key. Returns whether it is to stay.
    fn is_new(&mut self, key: Key, value: ValueId) -> bool {
        let slot = match self.find(key) {
            Ok(first) => return !self.merge(first, value),
            Err(slot) => slot,
        };
        self.keys[value.index()] = key;
        self.next[value.index()] = self.heads[slot];
        self.heads[slot] = value.0;
        self.scope.push(slot as u32);
        true
    }

    /// Enters an instruction of several results, or uses those of the equal one. Returns whether it
    /// is to stay.
    fn is_new_list(&mut self, key: ListKey, results: Results) -> bool {
        let value = match &key {
            ListKey::WithSlopes(op, args) => Some(Key::of_op(*op, args)),
            ListKey::Sample(..) => None,
        };
        let is_new = match self.lists.entry(key) {
            Entry::Occupied(known) => {
                for (value, of) in results.iter().zip(known.get().0..) {
                    pass_on_name(&mut self.function.values, value, ValueId(of));
                    self.aliases.replace(value, ValueId(of));
                }
                false
            }
            Entry::Vacant(free) => {
                self.list_scope.push(free.key().clone());
                free.insert(results.first);
                true
            }
        };
        if let Some(value) = value.filter(|_| is_new) {
            self.is_new(value, results.first);
        }
        is_new
    }

    /// Uses `first` for `value`, unless both are constants with names of their own. Returns whether
    /// it did.
    fn merge(&mut self, first: ValueId, value: ValueId) -> bool {
        let name = self.function.value(value).name;
        let is_constant = self.keys[first.index()].tag & CONST != 0;
        let named = &mut self.function.values[first.index()].name;
        if is_constant && name.is_some() && named.is_some() && *named != name {
            return false;
        }
        *named = named.or(name);
        self.aliases.replace(value, first);
        true
    }
}
