//! `fit --prune`: of ten rings those that the target shows are left, and the text without the
//! others draws what was fitted.

use super::json_of;
use crate::command::{CommandOutput, adumbra, project};
use serde_json::Value;
use std::fs;
use tempfile::{TempDir, tempdir};

/// Three rings, by another formula than the program's.
const TARGET: &str = "
float band(float2 p, float2 centre, float inner, float outer)
{
    float d = length(p - centre);
    return smoothstep(outer + 0.5, outer - 0.5, d) * smoothstep(inner - 0.5, inner + 0.5, d);
}
shader target(out color c)
{
    float2 p = global_value<pixel>;
    c = lerp(color(1.0, 1.0, 1.0), color(0.9, 0.2, 0.1), band(p, float2(30, 28), 11.2, 16));
    c = lerp(c, color(0.1, 0.6, 0.9), band(p, float2(62, 30), 10.5, 15));
    c = lerp(c, color(0.2, 0.8, 0.3), band(p, float2(92, 29), 9.1, 14));
}";

/// Those of the target.
const VISIBLE: [u64; 3] = [0, 4, 7];

/// Starts: besides the visible ones, rings outside of the image, white ones, and one that the
/// first one hides.
const STARTS: [(&str, &str); 6] = [
    ("x", "30, -80, 200, 60, 61, 60, 15, 93, 112, 31"),
    ("y", "28, 20, 30, -70, 31, 160, 52, 28, 6, 28"),
    ("r", "16, 9, 9, 9, 14, 9, 5, 15, 5, 14.4"),
    ("rho", "0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.65, 0.7, 0.89"),
    ("tilt", "0.6, 0.5, 0.4, 0.7, -0.6, 0.5, -0.4, 0.8, -0.7, 0.6"),
    (
        "paint",
        "color(0.8, 0.2, 0.2), color(0, 0, 0), color(0, 0, 0), color(0, 0, 0), color(0.2, 0.6, 0.8),
         color(0, 0, 0), color(1, 1, 1), color(0.3, 0.7, 0.3), color(1, 1, 1), color(0.9, 0.7, 0.1)",
    ),
];

/// The program of ten rings, from these starts.
fn rings() -> String {
    let source = project("examples/fit/rings_in_blocks.adu");
    let mut text = fs::read_to_string(source).expect("the example is there");
    for (name, values) in STARTS {
        let from = text.find(&format!(" {name}[10] = {{")).expect("an input");
        let open = from + text[from..].find('{').expect("a list");
        let close = open + text[open..].find('}').expect("its end");
        text.replace_range(open + 1..close, values);
    }
    text
}

struct Folder(TempDir);

impl Folder {
    fn new(shader: &str) -> Folder {
        let folder = Folder(tempdir().unwrap());
        for (name, text) in [("target.adu", TARGET), ("rings.adu", shader)] {
            fs::write(folder.path(name), text).unwrap();
        }
        folder.draw("target");
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// Draws `NAME.adu` as `NAME.png`, and returns the bytes.
    fn draw(&self, name: &str) -> Vec<u8> {
        let [source, image] = ["adu", "png"].map(|kind| self.path(&format!("{name}.{kind}")));
        let drawn = adumbra(["image", &source, "-o", &image, "--size", "120x60"]);
        assert_eq!(drawn.code, 0, "{drawn:?}");
        fs::read(image).unwrap()
    }

    fn fit(&self, args: &[&str]) -> CommandOutput {
        let [source, target, out] =
            ["rings.adu", "target.png", "found.adu"].map(|name| self.path(name));
        let common = ["fit", &source, "--target", &target, "-o", &out];
        adumbra([&common[..], args].concat())
    }
}

#[test]
fn rings_that_are_not_seen_are_left_out() {
    let folder = Folder::new(&rings());
    let ran = folder.fit(&["--prune", "--iterations", "2", "--stop-after", "8"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stdout.contains("\n7 blocks left out, of lines "),
        "{ran:?}"
    );

    let run = fs::read(folder.path("found.run.json")).unwrap();
    let run: Value = serde_json::from_slice(&run).unwrap();
    let pruned = run["pruned"].as_array().unwrap();
    let mut out: Vec<u64> = (pruned.iter())
        .map(|block| block["block"].as_u64().unwrap())
        .collect();
    out.sort_unstable();
    let hidden = (0..10).filter(|block| !VISIBLE.contains(block));
    assert_eq!(out, hidden.collect::<Vec<u64>>());
    let best = run["report"]["loss"].as_f64().unwrap();
    for block in pruned {
        assert!(block["loss"].as_f64().unwrap() <= 1.01 * best, "{block}");
        let line = block["line"].as_u64().unwrap() as usize;
        let ring = format!("x[{}]", block["block"]);
        assert!(rings().lines().nth(line - 1).unwrap().contains(&ring));
    }

    let found = fs::read_to_string(folder.path("found.adu")).unwrap();
    assert_eq!(found.matches("[EliminateIfUnused]").count(), VISIBLE.len());
    for block in 0..10 {
        let is_left = found.contains(&format!("ring(p, float2(x[{block}]"));
        assert_eq!(is_left, VISIBLE.contains(&block), "{found}");
    }
    assert!(found.starts_with("// Ten tilted rings"));
    let of_fit = fs::read(folder.path("found.png")).unwrap();
    assert!(folder.draw("found") == of_fit);
}

#[test]
fn needed_blocks_stay() {
    let all = rings();
    let three = all.lines().filter(|line| {
        let of_hidden = |block: u64| line.contains(&format!("ring(p, float2(x[{block}]"));
        !(0..10).any(|block| !VISIBLE.contains(&block) && of_hidden(block))
    });
    let three: Vec<&str> = three.collect();
    let folder = Folder::new(&three.join("\n"));
    let ran = folder.fit(&["--prune", "--stop-after", "1", "--json"]);
    assert!(json_of(&ran)["loss"].is_number(), "{ran:?}");
    let found = fs::read_to_string(folder.path("found.adu")).unwrap();
    assert_eq!(found.matches("[EliminateIfUnused]").count(), VISIBLE.len());
    let run = fs::read_to_string(folder.path("found.run.json")).unwrap();
    assert!(run.contains("\"pruned\": []"), "{run}");
}

#[test]
fn pruning_needs_blocks() {
    let folder = Folder::new(&rings().replace("[EliminateIfUnused]", ""));
    let ran = folder.fit(&["--prune"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("the file has none"), "{ran:?}");
}
