//! Draws curves in braille: each character is a cell of two by four dots.
//!
//! A value that is not finite leaves a gap. A curve that does not change is a line in the middle.

use adumbra::value::HumanFloat;
use std::fmt::Write;

/// The dots of a cell, `DOTS[row][column]`, as bits above the empty braille character.
const DOTS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// The empty braille character.
const EMPTY: u32 = 0x2800;

/// The colours of curves, as terminals number them; they begin again where there are more curves.
const HUES: [u8; 4] = [36, 35, 33, 32];

/// A curve, from left to right: one value for each column of dots.
pub struct Curve {
    /// Its name in the legend; may be empty if there is only one.
    pub name: String,
    pub values: Vec<f32>,
}

/// The size of a canvas, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CanvasSize {
    pub columns: usize,
    pub rows: usize,
}

impl CanvasSize {
    /// The number of values of a curve.
    pub fn sample_count(self) -> usize {
        2 * self.columns
    }
}

/// The least and the greatest finite value, if there is any.
fn range<'c>(values: impl IntoIterator<Item = &'c f32>) -> Option<(f32, f32)> {
    let finite = values.into_iter().copied().filter(|x| x.is_finite());
    finite.fold(None, |range, x| {
        let (least, greatest) = range.unwrap_or((x, x));
        Some((least.min(x), greatest.max(x)))
    })
}

/// The width of the labels beside curves, in characters.
pub fn label_width(curves: &[Curve]) -> usize {
    let range = range(curves.iter().flat_map(|curve| &curve.values));
    range.map_or(0, |(least, greatest)| {
        number(least).len().max(number(greatest).len())
    })
}

/// Draws curves on one canvas. The range is at the left, in at least `margin` characters; several
/// curves have a legend in colour below.
///
/// The first line bears the title.
pub fn draw_curves(title: &str, curves: &[Curve], size: CanvasSize, margin: usize) -> String {
    let mut out = format!("{title}\n");
    let all = || curves.iter().flat_map(|curve| &curve.values);
    let Some((least, greatest)) = range(all()) else {
        out.push_str("  nowhere finite\n");
        return out;
    };
    let mut canvas = Canvas::new(size, least, greatest);
    for (at, curve) in curves.iter().enumerate() {
        canvas.draw(at, &curve.values);
    }
    for row in 0..size.rows {
        let _ = write!(out, "  {:>margin$} ┤", canvas.label(row));
        canvas.print(row, curves.len() > 1, &mut out);
        out.push('\n');
    }
    if curves.len() > 1 {
        out.push_str(&" ".repeat(margin + 4));
        for (at, curve) in curves.iter().enumerate() {
            let of = match range(&curve.values) {
                Some((least, greatest)) => format!("{} … {}", number(least), number(greatest)),
                None => "nowhere finite".to_owned(),
            };
            let _ = write!(out, " {} {of} ", coloured(at, &curve.name));
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    let gaps = all().filter(|x| !x.is_finite()).count();
    if gaps > 0 {
        let _ = writeln!(out, "  {gaps} of {} values are not finite", all().count());
    }
    out
}

/// Formats a number beside an axis.
fn number(x: f32) -> String {
    HumanFloat(x).to_string()
}

fn coloured(number: usize, text: &str) -> String {
    format!("\x1b[{}m{text}\x1b[0m", HUES[number % HUES.len()])
}

/// Dots, and which curve drew last in each cell.
struct Canvas {
    size: CanvasSize,
    least: f32,
    greatest: f32,
    cells: Vec<(u32, usize)>,
}

impl Canvas {
    fn new(size: CanvasSize, least: f32, greatest: f32) -> Canvas {
        Canvas {
            size,
            least,
            greatest,
            cells: vec![(0, 0); size.columns * size.rows],
        }
    }

    /// The row of cells in which a curve without a range is drawn.
    fn middle(&self) -> usize {
        (self.size.rows - 1) / 2
    }

    /// The label of a row: the greatest value above, the least below; of a curve without a range,
    /// the one value in the middle.
    fn label(&self, row: usize) -> String {
        let is_flat = self.least == self.greatest;
        let value = match row {
            _ if is_flat && row == self.middle() => self.least,
            0 if !is_flat => self.greatest,
            row if !is_flat && row + 1 == self.size.rows => self.least,
            _ => return String::new(),
        };
        number(value)
    }

    /// The row of dots of a value, from the top.
    fn dot_row(&self, value: f32) -> i32 {
        let last = 4 * self.size.rows as i32 - 1;
        if self.least == self.greatest {
            return 4 * self.middle() as i32 + 2;
        }
        // In f64, where no difference of two floats overflows.
        let below = |x: f32| f64::from(self.greatest) - f64::from(x);
        let share = below(value) / below(self.least);
        ((share * f64::from(last)).round() as i32).clamp(0, last)
    }

    /// Draws a curve; neighbours are joined by upright strokes that meet half way.
    fn draw(&mut self, curve: usize, values: &[f32]) {
        let mut before: Option<i32> = None;
        for (column, value) in values.iter().enumerate().take(self.size.sample_count()) {
            if !value.is_finite() {
                before = None;
                continue;
            }
            let row = self.dot_row(*value);
            let first = match before {
                Some(before) if before != row => {
                    let half = before + (row - before) / 2;
                    self.stroke(curve, column - 1, before, half);
                    half + (row - before).signum()
                }
                _ => row,
            };
            self.stroke(curve, column, first, row);
            before = Some(row);
        }
    }

    fn stroke(&mut self, curve: usize, column: usize, from: i32, to: i32) {
        for row in from.min(to)..=from.max(to) {
            let row = row as usize;
            let cell = &mut self.cells[row / 4 * self.size.columns + column / 2];
            cell.0 |= DOTS[row % 4][column % 2];
            cell.1 = curve;
        }
    }

    fn print(&self, row: usize, in_colour: bool, out: &mut String) {
        let cells = &self.cells[row * self.size.columns..][..self.size.columns];
        // Blanks at the end of a line are dropped.
        let used = cells
            .iter()
            .rposition(|(dots, _)| *dots != 0)
            .map_or(0, |at| at + 1);
        for (dots, curve) in &cells[..used] {
            let character = char::from_u32(EMPTY + dots).expect("a braille character");
            match in_colour {
                true => out.push_str(&coloured(*curve, character.encode_utf8(&mut [0; 4]))),
                false => out.push(character),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: CanvasSize = CanvasSize {
        columns: 4,
        rows: 2,
    };

    fn one(values: &[f32]) -> String {
        let curve = Curve {
            name: String::new(),
            values: values.to_vec(),
        };
        let curves = [curve];
        draw_curves("value", &curves, SMALL, label_width(&curves))
    }

    #[test]
    fn rising_line_joins_the_corners() {
        let rising: Vec<f32> = (0..8).map(|i| i as f32).collect();
        assert_eq!(one(&rising), "value\n  7.0 ┤⠀⠀⡠⠊\n  0.0 ┤⡠⠊\n");
    }

    #[test]
    fn jump_is_joined_but_gap_is_not() {
        let step = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
        assert_eq!(one(&step), "value\n  1.0 ┤⠀⠀⡏⠉\n  0.0 ┤⣀⣸\n");
        let gap = [0.0, 0.0, 0.0, f32::NAN, 1.0, 1.0, 1.0, f32::INFINITY];
        assert_eq!(
            one(&gap),
            "value\n  1.0 ┤⠀⠀⠉⠁\n  0.0 ┤⣀⡀\n  2 of 8 values are not finite\n"
        );
    }

    #[test]
    fn constant_curve_is_a_middle_line() {
        assert_eq!(one(&[0.5; 8]), "value\n  0.5 ┤⠤⠤⠤⠤\n      ┤\n");
        assert_eq!(one(&[-0.0; 8]), "value\n  -0.0 ┤⠤⠤⠤⠤\n       ┤\n");
    }

    #[test]
    fn canvas_without_finite_values_says_so() {
        assert_eq!(one(&[f32::NAN; 8]), "value\n  nowhere finite\n");
        assert_eq!(one(&[]), "value\n  nowhere finite\n");
    }

    #[test]
    fn widest_range_does_not_overflow() {
        let ends = [f32::MIN, f32::MAX, f32::MIN, f32::MAX, 0.0, 0.0, 0.0, 0.0];
        assert!(one(&ends).contains("3.4028235e38 ┤"));
    }

    #[test]
    fn several_curves_have_colours_and_legend() {
        let curve = |name: &str, value: f32| Curve {
            name: name.to_owned(),
            values: vec![value; 8],
        };
        let curves = [curve("x", 0.0), curve("y", 1.0), curve("z", f32::NAN)];
        let drawn = draw_curves("value", &curves, SMALL, 4);
        assert!(drawn.contains("\x1b[35m⠉\x1b[0m"), "{drawn}");
        assert!(drawn.contains("\x1b[36mx\x1b[0m 0.0 … 0.0"), "{drawn}");
        assert!(drawn.contains("\x1b[33mz\x1b[0m nowhere finite"), "{drawn}");
    }
}
