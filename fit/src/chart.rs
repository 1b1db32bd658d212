//! The chart of convergence as SVG: loss against iterations, a line for each restart.
//!
//! The loss has a logarithmic axis. A loss of 0 is drawn at the lower edge; one that is not finite
//! is left out.

use crate::restart::RestartRecord;
use std::fmt::Write;

/// Width and height, in pixels of the SVG.
const SIZE: [f64; 2] = [800.0, 480.0];
/// Space around the axes: left, top, right, bottom.
const MARGINS: [f64; 4] = [70.0, 40.0, 20.0, 50.0];
/// The most labels of an axis, about.
const LABELS: f64 = 8.0;

/// The area of the axes: iterations, and powers of 10 of the loss.
struct Axes {
    iterations: f64,
    /// Exponents of the lower and the upper edge.
    exponents: [f64; 2],
}

impl Axes {
    /// Axes around all points.
    fn around(records: &[&RestartRecord]) -> Axes {
        let points = || records.iter().flat_map(|record| &record.trace);
        let drawn = points().filter(|point| point.loss.is_finite() && point.loss > 0.0);
        let exponents: Vec<f64> = drawn.map(|point| libm::log10(point.loss)).collect();
        let low = exponents.iter().copied().fold(f64::INFINITY, f64::min);
        let high = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let exponents = match low <= high {
            true => [low.floor(), high.ceil().max(low.floor() + 1.0)],
            false => [-1.0, 0.0],
        };
        let iterations = points().map(|point| point.iteration).max();
        Axes {
            iterations: iterations.unwrap_or(0).max(1) as f64,
            exponents,
        }
    }

    fn x(&self, iteration: f64) -> f64 {
        let [left, _, right, _] = MARGINS;
        left + iteration / self.iterations * (SIZE[0] - left - right)
    }

    fn y(&self, exponent: f64) -> f64 {
        let [_, top, _, bottom] = MARGINS;
        let [low, high] = self.exponents;
        let share = ((high - exponent) / (high - low)).clamp(0.0, 1.0);
        top + share * (SIZE[1] - top - bottom)
    }

    /// The points of a restart's line.
    fn line(&self, record: &RestartRecord) -> String {
        let points = record.trace.iter().filter(|point| point.loss.is_finite());
        let points = points.map(|point| {
            let exponent = match point.loss > 0.0 {
                true => libm::log10(point.loss),
                false => self.exponents[0],
            };
            let (x, y) = (self.x(point.iteration as f64), self.y(exponent));
            format!("{x:.1},{y:.1}")
        });
        points.collect::<Vec<_>>().join(" ")
    }
}

/// A distance of labels, of 1, 2 or 5 times a power of 10.
fn label_distance(length: f64) -> f64 {
    let least = (length / LABELS).max(1.0);
    let decade = libm::pow(10.0, libm::log10(least).floor());
    let factors = [1.0, 2.0, 5.0, 10.0].iter();
    let mut distances = factors.map(|factor| factor * decade);
    distances
        .find(|distance| *distance >= least)
        .unwrap_or(least)
}

/// A title in XML.
fn escaped(title: &str) -> String {
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    title.replace('>', "&gt;")
}

/// The chart of restarts, the one with the least loss in colour, above the others.
///
/// ```
/// let svg = adumbra_fit::convergence_svg("disc.adu", &[]);
/// assert!(svg.starts_with("<svg ") && svg.contains("disc.adu"));
/// ```
pub fn convergence_svg(title: &str, records: &[&RestartRecord]) -> String {
    let axes = Axes::around(records);
    let [width, height] = SIZE;
    let [left, top, right, bottom] = MARGINS;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let mut add = |element: String| {
        // A string takes all that is written.
        let _ = writeln!(svg, "{element}");
    };
    let (end_x, end_y) = (width - right, height - bottom);
    let title = escaped(title);
    add(format!(
        "<text x=\"{left}\" y=\"24\" font-size=\"16\">{title}</text>"
    ));
    let [low, high] = axes.exponents;
    let step = label_distance(high - low);
    let mut exponent = low;
    while exponent <= high {
        let (y, x) = (axes.y(exponent), left - 8.0);
        add(format!(
            "<path d=\"M{left} {y:.1}H{end_x}\" stroke=\"#ddd\"/>\
             <text x=\"{x}\" y=\"{y:.1}\" dy=\"4\" text-anchor=\"end\">1e{exponent}</text>"
        ));
        exponent += step;
    }
    let step = label_distance(axes.iterations);
    let mut iteration = 0.0;
    while iteration <= axes.iterations {
        let (x, y) = (axes.x(iteration), end_y + 18.0);
        add(format!(
            "<path d=\"M{x:.1} {top}V{end_y}\" stroke=\"#ddd\"/>\
             <text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{iteration}</text>"
        ));
        iteration += step;
    }
    let (middle_x, middle_y) = (0.5 * (left + end_x), 0.5 * (top + end_y));
    let below = height - 12.0;
    add(format!(
        "<text x=\"{middle_x}\" y=\"{below}\" text-anchor=\"middle\">iterations</text>\n\
         <text transform=\"translate(18 {middle_y}) rotate(-90)\" text-anchor=\"middle\">loss</text>"
    ));
    let best = records.iter().min_by(|a, b| a.loss.total_cmp(&b.loss));
    let best = best.map(|record| record.restart);
    let others = records.iter().filter(|record| Some(record.restart) != best);
    for record in others {
        let line = axes.line(record);
        add(format!(
            "<polyline fill=\"none\" stroke=\"#888\" stroke-opacity=\"0.5\" points=\"{line}\"/>"
        ));
    }
    for record in records.iter().filter(|record| Some(record.restart) == best) {
        let (line, restart) = (axes.line(record), record.restart);
        add(format!(
            "<polyline fill=\"none\" stroke=\"#06c\" stroke-width=\"2.5\" points=\"{line}\">\
             <title>restart {restart}</title></polyline>"
        ));
    }
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::restart::TracePoint;

    fn record(restart: usize, losses: &[f64]) -> RestartRecord {
        let points = losses.iter().enumerate().map(|(at, &loss)| TracePoint {
            iteration: at * 100,
            loss,
            cpu_s: 0.0,
            values: Vec::new(),
        });
        RestartRecord {
            restart,
            loss: losses.iter().copied().fold(f64::INFINITY, f64::min),
            values: Vec::new(),
            iterations: 0,
            cpu_s: 0.0,
            non_finite: 0,
            still: 0,
            trace: points.collect(),
        }
    }

    #[test]
    fn lines_go_from_edge_to_edge() {
        let records = [
            record(3, &[1.0, 0.1, 0.01]),
            record(4, &[1.0, f64::NAN, 0.5]),
        ];
        let svg = convergence_svg("a < b", &records.iter().collect::<Vec<_>>());
        assert!(svg.contains("a &lt; b"));
        // The best is the last, from the upper left to the lower right.
        let best = svg.lines().filter(|line| line.contains("#06c"));
        let best: Vec<&str> = best.collect();
        assert_eq!(best.len(), 1);
        assert!(best[0].contains("points=\"70.0,40.0 425.0,235.0 780.0,430.0\""));
        assert!(best[0].contains("restart 3"));
        // What is not finite is left out.
        let other = svg.lines().find(|line| line.contains("#888")).unwrap();
        assert_eq!(other.matches(',').count(), 2, "{other}");
        for label in ["1e-2", "1e0", ">200<", "iterations", "loss"] {
            assert!(svg.contains(label), "{label}");
        }
    }

    #[test]
    fn losses_of_zero_are_at_the_edge() {
        let zero = record(0, &[1e-3, 0.0]);
        let svg = convergence_svg("", &[&zero]);
        assert!(svg.contains("780.0,430.0") && !svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn distances_of_labels_are_round() {
        let distances = [1.0, 8.0, 9.0, 300.0, 1980.0].map(label_distance);
        assert_eq!(distances, [1.0, 1.0, 2.0, 50.0, 500.0]);
    }
}
