//! A program's code in the order in which it is loaded: calls of short straight functions have the function's body in their place.
//!
//! Who runs such a body runs it to its end, whatever the points find, so that nothing parts there, nobody waits there, and nobody leaves. The
//! registers of a function are its own, so the body reads and writes what it would have in its own place. What the call counts as it still does.

use super::calls::Calls;
use crate::bytecode::{Bytecode, Instruction, Opcode};
use std::ops::Range;

/// The most instructions that are put in place of a call.
const MAX_IN_PLACE: u32 = 512;

/// The most instructions that bodies put in place make a program longer by.
const MAX_LONGER: u32 = 1 << 14;

/// An instruction where it is loaded.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    /// Its position in the bytecode.
    pub(super) position: u32,
    /// For a call whose body follows: how many such calls are open there.
    pub(super) in_place: Option<u32>,
}

/// The code. Indices count placed instructions.
pub(super) struct Code<'p> {
    pub(super) program: &'p Bytecode,
    placed: Vec<Placed>,
    /// Where the functions stand that are called, or entered by the host.
    functions: Vec<Range<u32>>,
    /// The index of each position that stands in one of them.
    index: Vec<u32>,
}

/// A function of the bytecode.
struct Body {
    /// The positions of its instructions.
    positions: Range<u32>,
    /// How many instructions stand in place of a call of it, if that can be.
    in_place: Option<u32>,
}

impl<'p> Code<'p> {
    pub(super) fn new(program: &'p Bytecode, calls: &Calls) -> Code<'p> {
        let bodies = bodies(program, calls);
        let mut in_place = vec![false; program.code.len()];
        let mut longer = 0;
        let entry = program.entry as usize;
        let mut wanted = vec![false; bodies.len()];
        wanted[entry] = true;
        let mut open = vec![entry];
        while let Some(function) = open.pop() {
            for position in bodies[function].positions.clone() {
                let Some(callee) = callee(&program.code[position as usize]) else {
                    continue;
                };
                match bodies[callee].in_place {
                    Some(len) if longer + len <= MAX_LONGER => {
                        longer += len;
                        in_place[position as usize] = true;
                    }
                    _ if !wanted[callee] => {
                        wanted[callee] = true;
                        open.push(callee);
                    }
                    _ => {}
                }
            }
        }
        let mut code = Code {
            program,
            placed: Vec::with_capacity(program.code.len() + longer as usize),
            functions: Vec::new(),
            index: vec![u32::MAX; program.code.len()],
        };
        for (_, body) in wanted.iter().zip(&bodies).filter(|&(&wanted, _)| wanted) {
            let first = code.len();
            for position in body.positions.clone() {
                code.index[position as usize] = code.len();
                match in_place[position as usize] {
                    true => code.put_in_place(position, 0, &bodies),
                    false => code.put(position, None),
                }
            }
            code.functions.push(first..code.len());
        }
        code
    }

    fn put(&mut self, position: u32, in_place: Option<u32>) {
        self.placed.push(Placed { position, in_place });
    }

    /// A call, which so many such calls are open around, and the body of what it calls.
    fn put_in_place(&mut self, call: u32, depth: u32, bodies: &[Body]) {
        self.put(call, Some(depth));
        let callee = callee(&self.program.code[call as usize]).expect("it is a call");
        let positions = bodies[callee].positions.clone();
        for position in positions.start..positions.end - 1 {
            match self.program.code[position as usize].opcode {
                Opcode::Call => self.put_in_place(position, depth + 1, bodies),
                _ => self.put(position, None),
            }
        }
    }

    /// How many instructions are placed.
    pub(super) fn len(&self) -> u32 {
        self.placed.len() as u32
    }

    /// What stands at an index.
    pub(super) fn placed(&self, index: u32) -> Placed {
        self.placed[index as usize]
    }

    /// The instruction at an index.
    pub(super) fn instruction(&self, index: u32) -> &'p Instruction {
        &self.program.code[self.placed(index).position as usize]
    }

    /// The index of a position that is a target, or the beginning of a function that is called elsewhere.
    pub(super) fn index_of(&self, position: u32) -> u32 {
        self.index[position as usize]
    }

    /// The indices of each function.
    pub(super) fn functions(&self) -> &[Range<u32>] {
        &self.functions
    }

    /// Which of the functions begins with that index.
    pub(super) fn function_at(&self, start: u32) -> usize {
        let found = self.functions.binary_search_by_key(&start, |f| f.start);
        found.expect("a function begins there")
    }

    /// The index at which the function begins that an instruction calls, unless its body follows in place.
    pub(super) fn called(&self, index: u32) -> Option<u32> {
        let Placed { position, in_place } = self.placed(index);
        let callee = callee(&self.program.code[position as usize])?;
        let start = self.program.functions[callee].start;
        in_place.is_none().then(|| self.index_of(start))
    }
}

/// The function that an instruction calls.
fn callee(code: &Instruction) -> Option<usize> {
    (code.opcode == Opcode::Call).then_some(code.words[0] as usize)
}

fn bodies(program: &Bytecode, calls: &Calls) -> Vec<Body> {
    let ends = program.functions.iter().skip(1).map(|f| f.start);
    let ends = ends.chain([program.code.len() as u32]);
    let starts = program.functions.iter().map(|f| f.start);
    let mut bodies: Vec<Body> = (starts.zip(ends))
        .map(|(start, end)| Body {
            positions: start..end,
            in_place: None,
        })
        .collect();
    // Who is called before who calls.
    for &function in &calls.callees_first {
        if program.functions[function].elements == 0 {
            bodies[function].in_place = length_in_place(program, calls, &bodies, function);
        }
    }
    bodies
}

/// How many instructions stand in place of a call of a function, if it is straight, short, and nobody leaves or waits in it.
fn length_in_place(
    program: &Bytecode,
    calls: &Calls,
    bodies: &[Body],
    function: usize,
) -> Option<u32> {
    let positions = bodies[function].positions.clone();
    let last = positions.end - 1;
    let returns = program.code[last as usize].opcode == Opcode::Return;
    let mut len = 1_u32;
    for position in positions.start..last {
        let code = &program.code[position as usize];
        len += 1;
        match code.opcode {
            _ if calls.leaves[position as usize] => return None,
            Opcode::Row(..) | Opcode::Move(..) | Opcode::Global(_) | Opcode::Shadow(_) => {}
            Opcode::Call => len += bodies[code.words[0] as usize].in_place?,
            _ => return None,
        }
        if len > MAX_IN_PLACE {
            return None;
        }
    }
    returns.then_some(len)
}
