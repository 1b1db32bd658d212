//! The listing of machine code; all but the instructions is in comments after a semicolon.

use super::{Assembly, CodePart, Kernel, KernelPurpose, Listing, SourceLine};
use std::fmt;

impl fmt::Display for Assembly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "; {}: ", self.target.name())?;
        code(f, &self.batches, ["kernel", "kernels"])?;
        write!(f, "\n; single points: ")?;
        code(f, &self.points, ["entry", "entries"])
    }
}

/// Code and its kernels, under a title for one or many.
fn code(f: &mut fmt::Formatter<'_>, code: &Listing, [one, many]: [&str; 2]) -> fmt::Result {
    let count = code.kernels.len();
    let kernels = if count == 1 { one } else { many };
    writeln!(
        f,
        "{count} {kernels}, {} bytes of code and constants",
        code.bytes
    )?;
    for (number, kernel) in code.kernels.iter().enumerate() {
        writeln!(f, "\n; {one} {number}: {kernel}")?;
        parts(f, &kernel.parts)?;
    }
    if !code.shared.is_empty() {
        writeln!(f, "\n; shared")?;
        parts(f, &code.shared)?;
    }
    if !code.data.is_empty() {
        writeln!(f, "\n; data")?;
    }
    let start = code.data.first().map_or(0, |data| data.address);
    for data in &code.data {
        write!(
            f,
            "    {:#06x}  {:08x} × {:<2} ; +{:#x}, ",
            data.address,
            data.word,
            data.count,
            data.address - start
        )?;
        let number = f32::from_bits(data.word);
        // Small words are more likely integers than denormal floats.
        match data.word < 1 << 23 || number.is_nan() {
            true => writeln!(f, "{}", data.word as i32)?,
            false => writeln!(f, "{number:?}")?,
        }
    }
    Ok(())
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.purpose {
            KernelPurpose::Arithmetic {
                instructions,
                positions: [first, last],
            } => {
                let plural = if instructions == 1 { "" } else { "s" };
                write!(
                    f,
                    "{instructions} instruction{plural}, bytecode {first} to {last}; "
                )?;
            }
            KernelPurpose::Entry { position } => write!(f, "bytecode {position}; ")?,
        }
        match self.code {
            Some(code) => write!(
                f,
                "{} bytes at {:#06x}, a frame of {} bytes",
                code.bytes, code.address, code.frame
            ),
            None => f.write_str("interpreted, since its code would be too large"),
        }
    }
}

/// Parts, each after its purpose. A line of source is shown where it differs from the one before.
fn parts(f: &mut fmt::Formatter<'_>, parts: &[CodePart]) -> fmt::Result {
    let mut shown: Option<&SourceLine> = None;
    for part in parts {
        match &part.op {
            Some(op) => {
                let is_shown = shown.map(|line| (&line.file, line.line))
                    == op.line.as_ref().map(|line| (&line.file, line.line));
                match &op.line {
                    Some(line) if !is_shown => {
                        writeln!(f, "; {}:{}: {}", line.file, line.line, line.text)?;
                    }
                    None if !is_shown => writeln!(f, "; the standard library")?,
                    _ => {}
                }
                shown = op.line.as_ref();
                writeln!(f, ";   {} {}: {}", part.purpose, op.position, op.text)?;
            }
            None => writeln!(f, "; {}", part.purpose)?,
        }
        for instruction in &part.instructions {
            writeln!(f, "    {:#06x}  {}", instruction.address, instruction.text)?;
        }
    }
    Ok(())
}
