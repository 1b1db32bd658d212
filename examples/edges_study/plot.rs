//! A plot with logarithmic axes, as SVG.

const SIZE: [f64; 2] = [720.0, 460.0];

/// Left, right, top and bottom of the axes.
const FRAME: [f64; 4] = [64.0, 590.0, 14.0, 416.0];

const COLOURS: [&str; 8] = [
    "#1b6ca8", "#d1495b", "#3a7d44", "#8a5a9e", "#d98324", "#1f9e9e", "#222222", "#8c8c8c",
];

/// How a curve is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stroke {
    Whole,
    Dashed,
    Dotted,
}

impl Stroke {
    /// The attributes of a line.
    fn drawn(self, colour: &str) -> String {
        let dashes = match self {
            Stroke::Whole => "none",
            Stroke::Dashed => "7 4",
            Stroke::Dotted => "1.5 4",
        };
        format!(
            "stroke=\"{colour}\" stroke-width=\"1.8\" stroke-linecap=\"round\" stroke-dasharray=\"{dashes}\""
        )
    }
}

/// Points that are joined.
pub(crate) struct Curve {
    pub(crate) name: &'static str,
    /// Its number among the colours; curves of one name have one.
    pub(crate) colour: usize,
    pub(crate) stroke: Stroke,
    pub(crate) points: Vec<(f64, f64)>,
}

/// An axis: its name, its ends, and places with their labels.
pub(crate) struct LogAxis {
    pub(crate) name: &'static str,
    pub(crate) ends: [f64; 2],
    pub(crate) ticks: &'static [(f64, &'static str)],
}

impl LogAxis {
    /// How far along the axis a value is; what is beyond its ends is there.
    fn share(&self, value: f64) -> f64 {
        let [least, most] = self.ends;
        ((value / least).ln() / (most / least).ln()).clamp(0.0, 1.0)
    }
}

/// Curves over two axes.
pub(crate) struct Plot {
    pub(crate) x: LogAxis,
    pub(crate) y: LogAxis,
    pub(crate) curves: Vec<Curve>,
}

impl Plot {
    fn x_at(&self, value: f64) -> f64 {
        let [left, right, ..] = FRAME;
        left + (right - left) * self.x.share(value)
    }

    fn y_at(&self, value: f64) -> f64 {
        let [.., top, bottom] = FRAME;
        bottom - (bottom - top) * self.y.share(value)
    }

    /// The file's text.
    pub(crate) fn svg(&self) -> String {
        let [width, height] = SIZE;
        let head = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>"
        );
        let mut lines = vec![head];
        lines.extend(self.axes());
        lines.extend(self.curves.iter().map(|curve| self.curve(curve)));
        lines.extend(self.legend());
        lines.push("</svg>\n".to_owned());
        lines.join("\n")
    }

    fn axes(&self) -> Vec<String> {
        let [left, right, top, bottom] = FRAME;
        let [middle_x, middle_y] = [0.5 * (left + right), 0.5 * (top + bottom)];
        let of_y = self.y.ticks.iter().map(|&(value, label)| {
            let (y, x, below) = (self.y_at(value), left - 6.0, self.y_at(value) + 4.0);
            format!(
                "<path d=\"M{left} {y:.1}H{right}\" stroke=\"#ddd\"/>\
                 <text x=\"{x}\" y=\"{below:.1}\" text-anchor=\"end\">{label}</text>"
            )
        });
        let of_x = self.x.ticks.iter().map(|&(value, label)| {
            let (x, y) = (self.x_at(value), bottom + 16.0);
            format!(
                "<path d=\"M{x:.1} {top}V{bottom}\" stroke=\"#ddd\"/>\
                 <text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{label}</text>"
            )
        });
        let places = [
            format!("x=\"{middle_x}\" y=\"{}\"", bottom + 36.0),
            format!("transform=\"translate(16 {middle_y}) rotate(-90)\""),
        ];
        let names = places.into_iter().zip([self.x.name, self.y.name]);
        let names = names
            .map(|(place, name)| format!("<text {place} text-anchor=\"middle\">{name}</text>"));
        of_y.chain(of_x).chain(names).collect()
    }

    fn curve(&self, curve: &Curve) -> String {
        let points = curve.points.iter();
        let points = points.map(|&(x, y)| format!("{:.1},{:.1}", self.x_at(x), self.y_at(y)));
        format!(
            "<polyline points=\"{}\" fill=\"none\" {}/>",
            points.collect::<Vec<String>>().join(" "),
            curve.stroke.drawn(COLOURS[curve.colour])
        )
    }

    /// Programs by colours, rules by strokes.
    fn legend(&self) -> Vec<String> {
        let mut named: Vec<(&str, String)> = Vec::new();
        for curve in &self.curves {
            if !named.iter().any(|(name, _)| *name == curve.name) {
                named.push((curve.name, Stroke::Whole.drawn(COLOURS[curve.colour])));
            }
        }
        let strokes = [
            (Stroke::Whole, "pair"),
            (Stroke::Dashed, "edge"),
            (Stroke::Dotted, "edge in f64"),
        ];
        named.extend(strokes.map(|(stroke, name)| (name, stroke.drawn("#555"))));
        let [_, right, top, _] = FRAME;
        let entries = named.iter().enumerate().map(|(at, (name, stroke))| {
            let (x, y) = (right + 14.0, top + 12.0 + 20.0 * at as f64);
            let (line, text) = (y - 4.0, x + 34.0);
            format!(
                "<path d=\"M{x} {line}h26\" {stroke}/><text x=\"{text}\" y=\"{y}\">{name}</text>"
            )
        });
        entries.collect()
    }
}
