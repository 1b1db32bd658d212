//! Machine code as a listing: what is not an instruction stands behind a semicolon.

use super::{Assembly, Kernel, Line, Part};
use std::fmt;

impl fmt::Display for Assembly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target = self.target.name();
        writeln!(
            f,
            "; {target}: {}, {} bytes of code and constants",
            count(self.kernels.len(), "kernel"),
            self.bytes
        )?;
        for (number, kernel) in self.kernels.iter().enumerate() {
            writeln!(f, "\n; kernel {number}: {kernel}")?;
            parts(f, &kernel.parts)?;
        }
        if !self.shared.is_empty() {
            writeln!(f, "\n; shared")?;
            parts(f, &self.shared)?;
        }
        if !self.data.is_empty() {
            writeln!(f, "\n; data")?;
        }
        let start = self.data.first().map_or(0, |data| data.address);
        for data in &self.data {
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
}

fn count(count: usize, of: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {of}{plural}")
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, last] = self.positions;
        let of = if self.is_loop { "a loop of " } else { "" };
        let rows = count(self.rows, "row");
        write!(f, "{of}{rows}, bytecode {first} to {last}; ")?;
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

/// Parts, each below what it is for. A line of source text is shown where it differs from the one before.
fn parts(f: &mut fmt::Formatter<'_>, parts: &[Part]) -> fmt::Result {
    let mut shown: Option<&Line> = None;
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
