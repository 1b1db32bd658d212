//! Changes of bytecode files: of their numbers and lists as a tree, and of their bytes.

use super::tree::{BytecodeTree, HEADER, ListNode, Node, seal};
use crate::choices::Choices;
use std::ops::Range;

/// Most changes of a tree.
const CHANGES: usize = 4;

/// Most instructions of a changed file, and elements of another list: a change that would make more
/// is left out.
const MAX_ITEMS: usize = 1 << 17;

/// Most instructions that are repeated together.
const BLOCK: usize = 16;

/// Numbers at which limits, kinds of registers and widths of numbers begin or end, or one from it.
const SPECIAL: [u32; 16] = [
    0,
    1,
    2,
    4,
    1 << 7,
    1 << 10,
    1 << 12,
    1 << 14,
    1 << 15,
    1 << 16,
    1 << 18,
    1 << 20,
    1 << 22,
    1 << 24,
    1 << 31,
    u32::MAX,
];

/// A file that one of some valid files was changed to. All have the right checksum.
pub fn mutant(files: &[(Vec<u8>, BytecodeTree)], choices: &mut Choices<'_>) -> Vec<u8> {
    let (file, tree) = &files[choices.word() as usize % files.len()];
    let (changes_tree, changes_bytes) =
        [(true, false), (true, true), (false, true)][choices.weighted(&[6, 1, 2])];
    let mut file = match changes_tree {
        true => {
            let mut tree = tree.clone();
            for _ in 0..choices.between(1, CHANGES as i64) {
                change(&mut tree, choices);
            }
            tree.bytes()
        }
        false => file.clone(),
    };
    if changes_bytes {
        file = mutate(&file, choices);
    }
    if choices.one_in(32) {
        let end = HEADER + choices.word() as usize % (file.len() - HEADER + 1);
        file = seal(&file[..8], &file[HEADER..end]);
    }
    file
}

/// A file with a few bytes changed, removed, doubled or exchanged, and the checksum made right
/// again: what validation alone must catch.
pub fn mutate(file: &[u8], choices: &mut Choices<'_>) -> Vec<u8> {
    let mut payload = file.get(HEADER..).unwrap_or_default().to_vec();
    for _ in 0..choices.between(1, 3) {
        if payload.is_empty() {
            break;
        }
        let at = choices.word() as usize % payload.len();
        match choices.below(7) {
            0 => payload[at] = choices.byte(),
            1 => payload[at] ^= 1 << choices.below(8),
            2 => payload[at] = payload[at].wrapping_add(1),
            3 => {
                payload.remove(at);
            }
            4 => payload.insert(at, choices.byte()),
            // A number that is far too large for whatever it means.
            5 => drop(payload.splice(at..=at, [0xff, 0xff, 0xff, 0xff, 0x07])),
            _ => {
                let other = choices.word() as usize % payload.len();
                payload.swap(at, other);
            }
        }
    }
    seal(file.get(..8).unwrap_or_default(), &payload)
}

/// Changes a tree in one place.
fn change(tree: &mut BytecodeTree, choices: &mut Choices<'_>) {
    let sections = tree.sections.len();
    match choices.weighted(&[60, 30, 1, 1]) {
        0 => {
            let section = match choices.percent(40) {
                true => tree.code,
                false => choices.below(sections),
            };
            change_node(&mut tree.sections[section], choices);
        }
        1 => repeat_block(tree, choices),
        // A section doubled, or exchanged with another one.
        2 => {
            let at = choices.below(sections);
            tree.sections.insert(at, tree.sections[at].clone());
            tree.code += usize::from(at <= tree.code);
        }
        _ => {
            let [one, other] = [(); 2].map(|()| choices.below(sections));
            if ![one, other].contains(&tree.code) {
                tree.sections.swap(one, other);
            }
        }
    }
}

/// Goes down to a part of a node, and changes it.
fn change_node(node: &mut Node, choices: &mut Choices<'_>) {
    match node {
        Node::Byte(byte) => *byte = choices.byte() >> (2 * choices.below(4)),
        Node::Word(word) | Node::Position(word) => *word = number(*word, choices),
        Node::Raw(bytes) => {
            let at = choices.below(bytes.len());
            bytes[at] = choices.byte() >> choices.below(8);
        }
        Node::Text(text) => match choices.percent(50) {
            true => text.truncate(text.len() / 2),
            false => *text = text.repeat(2 + times(choices)),
        },
        Node::Group(items) => {
            let at = choices.below(items.len());
            change_node(&mut items[at], choices);
        }
        Node::List(list) => match list.items.len() {
            0 => list.length = Some(number(0, choices)),
            len if choices.percent(70) => {
                let at = choices.word() as usize % len;
                change_node(&mut list.items[at], choices);
            }
            _ => change_list(list, choices),
        },
    }
}

/// A number near another one, or a special one.
fn number(word: u32, choices: &mut Choices<'_>) -> u32 {
    match choices.below(4) {
        0 => word.wrapping_add_signed(choices.between(-3, 3) as i32),
        1 => word ^ 1 << choices.below(32),
        _ => {
            let special = SPECIAL[choices.below(SPECIAL.len())];
            special.wrapping_add_signed(choices.between(-1, 1) as i32)
        }
    }
}

/// How often something is repeated: mostly a few times, sometimes as often as it must be to take
/// long.
fn times(choices: &mut Choices<'_>) -> usize {
    let bits = match choices.weighted(&[200, 50, 6]) {
        0 => choices.below(4),
        1 => choices.below(10),
        _ => choices.below(17),
    };
    1 << bits
}

/// Changes the elements of a list that has some, or the length that is written.
fn change_list(list: &mut ListNode, choices: &mut Choices<'_>) {
    let len = list.items.len();
    let [one, other] = [(); 2].map(|()| choices.word() as usize % len);
    match choices.below(5) {
        0 => list.length = Some(number(len as u32, choices)),
        1 => list.items.swap(one, other),
        2 => drop(list.items.remove(one)),
        3 => list.items.truncate(one),
        _ => {
            let count = times(choices).min(MAX_ITEMS.saturating_sub(len));
            let again = vec![list.items[one].clone(); count];
            drop(list.items.splice(one..one, again));
        }
    }
}

/// Repeats consecutive instructions. Control goes through all copies: positions within the block
/// stay within each copy, and those after it move.
fn repeat_block(tree: &mut BytecodeTree, choices: &mut Choices<'_>) {
    let Some(block) = block(tree.instructions(), choices) else {
        return;
    };
    let (len, count) = (block.len(), times(choices));
    if tree.instructions().len() + len * count > MAX_ITEMS {
        return;
    }
    let original = tree.instructions()[block.clone()].to_vec();
    let added = (len * count) as u32;
    for section in &mut tree.sections {
        section.each(&mut |node| {
            if let Node::Position(position) = node
                && *position as usize >= block.end
            {
                *position = position.saturating_add(added);
            }
        });
    }
    let mut copies = Vec::with_capacity(added as usize);
    for copy in 0..=count as u32 {
        let offset = copy * len as u32;
        for instruction in &original {
            let mut instruction = instruction.clone();
            instruction.each(&mut |node| {
                if let Node::Position(position) = node {
                    let moved = match *position as usize {
                        at if at > block.end => added,
                        at if at >= block.start => offset,
                        _ => 0,
                    };
                    *position = position.saturating_add(moved);
                }
            });
            copies.push(instruction);
        }
    }
    drop(tree.instructions().splice(block, copies));
}

/// Consecutive instructions: one, some, or a loop.
fn block(code: &[Node], choices: &mut Choices<'_>) -> Option<Range<usize>> {
    let start = choices.word() as usize % code.len().max(1);
    // The position that an instruction at `at` jumps back to.
    let head = |at: usize| match &code[at] {
        Node::Group(parts) => parts.iter().find_map(|part| match part {
            Node::Position(head) if (*head as usize) < at => Some(*head as usize),
            _ => None,
        }),
        _ => None,
    };
    match choices.below(4) {
        0 => {
            let end = (start..code.len()).find(|&at| head(at).is_some())?;
            Some(head(end)?..end + 1)
        }
        1 => Some(start..(start + 1 + choices.below(BLOCK)).min(code.len())),
        _ => Some(start..(start + 1).min(code.len())),
    }
}
