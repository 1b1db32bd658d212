//! Files as long as a file may be, each full of one thing that takes memory or time to load.

use super::mutation::{HEADER, seal};
use crate::oracle::chain::compiler;
use crate::oracle::modes::MODES;
use adumbra::{Sources, program::MAX_FILE_BYTES};

/// Lines that fill a file.
#[derive(Clone, Copy, Debug)]
pub struct LimitFile {
    /// What the lines are.
    pub name: &'static str,
    /// What comes before them in the module, and after.
    around: [&'static str; 2],
    /// The line of a number, counted from 1.
    line: fn(u32) -> String,
}

const TABLES: [&str; 2] = ["", "entry m fn m() -> () ^0 {return}"];
const VALUES: [&str; 2] = [
    "global x:float output o:float entry m fn m() -> (f32) ^0 {%0:f32=global x[0]\n",
    "return %0}",
];

/// Files of each kind.
pub const LIMIT_FILES: [LimitFile; 17] = [
    LimitFile {
        name: "globals",
        around: TABLES,
        line: |at| format!("global g{at}:float"),
    },
    LimitFile {
        name: "inputs",
        around: ["entry m\n", "fn m() -> () ^0 {return}"],
        line: |_| format!("input a:float{}", "[1]".repeat(31)),
    },
    LimitFile {
        name: "large inputs",
        around: ["entry m\n", "fn m() -> () ^0 {return}"],
        line: |_| "input a:float[65536]=0".to_owned(),
    },
    LimitFile {
        name: "large outputs",
        around: ["entry m\n", "fn m() -> () ^0 {return}"],
        line: |_| "output a:float[65536]".to_owned(),
    },
    LimitFile {
        name: "large closures",
        around: ["closure a(float\n", ")entry m fn m() -> () ^0 {return}"],
        line: |_| ",float[65536]".to_owned(),
    },
    LimitFile {
        name: "structs",
        around: TABLES,
        line: |_| {
            format!(
                "closure a({}float{})",
                "struct a{a:".repeat(31),
                "}".repeat(31)
            )
        },
    },
    LimitFile {
        name: "names",
        around: ["names a\n", TABLES[1]],
        line: |_| ",a".to_owned(),
    },
    LimitFile {
        name: "messages",
        around: TABLES,
        line: |_| "message a()".to_owned(),
    },
    LimitFile {
        name: "unused values",
        around: ["entry m fn m() -> () ^0 {\n", "return}"],
        line: |at| format!("unused %{}:f32", at - 1),
    },
    LimitFile {
        name: "instructions",
        around: VALUES,
        line: |at| format!("%{at}:f32=sin %{}", at - 1),
    },
    LimitFile {
        name: "instructions that are equal",
        around: VALUES,
        line: |at| format!("%{at}:f32=ddx %0"),
    },
    LimitFile {
        name: "stores",
        around: [
            "global x:float global i:int entry m fn m() -> () ^0 {array &0:f32[9]\n%0:f32=global x[0]%1:i32=global i[0]\n",
            "return}",
        ],
        line: |_| "store &0[%1], %0".to_owned(),
    },
    LimitFile {
        name: "loops",
        around: ["entry m fn m() -> () ^0 {\n", "return}"],
        line: |at| format!("loop ^{at}{{continue ^{at}}}"),
    },
    LimitFile {
        name: "branches",
        around: [
            "global x:bool entry m fn m() -> () ^0 {%0:bool=global x[0]\n",
            "return}",
        ],
        line: |at| format!("if %0 ^{}{{yield}}else ^{}{{yield}}", 2 * at - 1, 2 * at),
    },
    LimitFile {
        name: "functions",
        around: ["entry f1\n", "fn z()->()^0{return}"],
        line: |at| format!("fn f{at}()->()^0{{call #{at}() return}}"),
    },
    LimitFile {
        name: "calls",
        around: [
            "global x:float output o:float entry m fn f(%0:f32)->(f32)^0{%1:f32=mul %0,%0 return %1}fn m()->(f32)^0{%0:f32=global x[0]\n",
            "return %0}",
        ],
        line: |at| format!("%{at}:f32=call f(%{})", at - 1),
    },
    LimitFile {
        name: "exits of a loop",
        around: [
            "global x:bool entry m fn m() -> () ^0 {%0:bool=global x[0] loop ^1{\n",
            "break ^1}return}",
        ],
        line: |at| format!("if %0 ^{}{{break ^1}}else ^{}{{yield}}", 2 * at, 2 * at + 1),
    },
];

impl LimitFile {
    /// A file of `len` bytes, less a few.
    pub fn of_len(&self, len: usize) -> Vec<u8> {
        let empty = Sources::new("empty.adu", "shader main() {}");
        let program = compiler(&MODES[0]).compile(&empty);
        let file = program
            .expect("a shader without statements is one")
            .to_bytecode();
        let payload = &file[HEADER..];
        let line = payload.iter().position(|&byte| byte == b'\n');
        let mut text = payload[..=line.expect("the line of options")].to_vec();
        let [before, after] = self.around;
        text.extend_from_slice(format!("adumbra ir 1\n{before}").as_bytes());
        for at in 1.. {
            let line = (self.line)(at);
            if HEADER + text.len() + line.len() + after.len() + 2 > len {
                break;
            }
            text.extend_from_slice(line.as_bytes());
            text.push(b'\n');
        }
        text.extend_from_slice(after.as_bytes());
        seal(&file[..8], &text)
    }

    /// The longest file.
    pub fn longest(&self) -> Vec<u8> {
        self.of_len(MAX_FILE_BYTES)
    }
}
