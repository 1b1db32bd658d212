//! `grad --rules edge` and `pair`: facts, images of any size, and what is refused.

use super::grad::grad;
use super::{close, json_of};
use discontinuity_facts::{AXES, facts, numbers};
use serde_json::{Value, json};
use tempfile::tempdir;

#[path = "../../../../tests/facade/discontinuity_facts.rs"]
mod discontinuity_facts;

const DISC: &str = "
    shader disc(float radius = 5.3, float unused = 1.0, out float o)
    {
        float2 p = global_value<pixel> - float2(8, 8);
        o = length(p) < radius ? 1.0 : 0.0;
    }";

#[test]
fn facts_hold() {
    assert!(facts_that_hold("edge") >= 53);
    assert!(facts_that_hold("pair") >= 54);
}

/// Checks the facts of some rules; how many there are.
fn facts_that_hold(rules: &str) -> usize {
    let facts = facts(rules);
    for fact in &facts {
        let axes: Vec<String> = (AXES.iter().zip(&fact.spacings))
            .map(|(name, spacing)| format!("{name}:{spacing}"))
            .collect();
        let mut args = vec!["--rules".to_owned(), rules.to_owned(), "--json".to_owned()];
        args.extend(["--axes".to_owned(), axes.join(",")]);
        for (name, place) in AXES.iter().zip(&fact.place) {
            args.extend(["-g".to_owned(), format!("{name}={place}")]);
        }
        args.extend(["--of".to_owned(), fact.outputs.join(",")]);
        for (output, weight) in fact.outputs.iter().zip(&fact.weights) {
            args.extend(["--seed".to_owned(), format!("{output}={weight}")]);
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let ran = grad(&fact.shader, &args);
        assert_eq!(ran.code, 0, "{} {ran:?}", fact.id);
        let found = json_of(&ran);
        let gradient: Vec<f64> = (fact.parameters.iter())
            .flat_map(|name| numbers(&found["gradient"][name]))
            .collect();
        assert!(fact.has(&gradient), "{}: {gradient:?}", fact.id);
    }
    facts.len()
}

#[test]
fn edges_of_an_image_count() {
    let ran = grad(DISC, &["--size", "16x16", "--rules", "edge", "--json"]);
    let found = json_of(&ran);
    let perimeter = std::f64::consts::TAU * 5.3;
    let radius = found["gradient"]["radius"].as_f64().unwrap();
    assert!((radius - perimeter).abs() < 0.1 * perimeter, "{found}");
    assert_eq!(found["zero"], json!(["unused"]));
    assert_eq!(found["diagnostics"]["nullified"], json!(0));
    let seen = found["diagnostics"]["edge_points"].as_u64().unwrap();
    assert!(seen > 40, "{found}");
    // A pixel alone sees what it sees among the others.
    let one = ["--size", "16x16", "--at", "13,8", "--rules", "edge"];
    let one = grad(DISC, &one);
    assert!(one.stdout.contains("edges beside the point: 1"), "{one:?}");
    let smooth = json_of(&grad(DISC, &["--size", "16x16", "--json"]));
    assert_eq!(smooth["gradient"]["radius"], json!(0.0));
    assert_eq!(smooth["zero"], json!(["radius", "unused"]));
}

#[test]
fn engines_agree() {
    let of = |engine: &str| {
        let args = [
            "--size", "16x16", "--rules", "edge", "--json", "--engine", engine,
        ];
        grad(DISC, &args).stdout
    };
    let batch = of("batch");
    assert!(batch.contains("edge_points"), "{batch}");
    assert_eq!(of("point"), batch);
    assert_eq!(of("reference"), batch);
}

#[test]
fn narrow_lines_are_reported() {
    // Six edges between a point and the next one.
    let source = "shader s(float t = 0.1, out float o) { float x = global_value<x> + t; o = fract(3 * x) < 0.5 ? 1.0 : 0.0; }";
    let args = ["--rules", "edge", "--axes", "x", "-g", "x=0"];
    let ran = grad(source, &args);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stderr.contains("edges beside the point do not count"),
        "{ran:?}"
    );
    let found = json_of(&grad(source, &[&args[..], &["--json"]].concat()));
    assert_eq!(found["diagnostics"]["nullified"], json!(1));
    let near = json_of(&grad(
        source,
        &["--rules", "edge", "--axes", "x:0.1", "-g", "x=0", "--json"],
    ));
    assert!(close(&near["gradient"]["t"], -5.0), "{near}");
}

#[test]
fn what_is_no_axis_is_refused() {
    let refused = |args: &[&str]| {
        let ran = grad(DISC, &[&["-g", "pixel=3,8"], args].concat());
        assert_ne!(ran.code, 0, "{ran:?}");
        ran.stderr
    };
    let edge = |axes: &str| refused(&["--rules", "edge", "--axes", axes]);
    assert!(refused(&["--rules", "edge"]).contains("give `--axes NAME[:SPACING],…`"));
    assert!(refused(&["--axes", "pixel.x"]).contains("give `--rules edge` or"));
    assert!(edge("pixell.x").contains("did you mean `pixel`?"));
    assert!(edge("pixel.z").contains("`pixel.z` is no float of a global"));
    assert!(edge("pixel").contains("`pixel` has several floats"));
    assert!(edge("pixel.x:0").contains("is no distance"));
    assert!(edge("pixel.q").contains("is no component"));
    assert!(edge("pixel.x,pixel.x").contains("given twice"));
    assert!(edge(":2").contains("there is no name"));
    assert!(refused(&["--rules", "pair"]).contains("give `--axes NAME[:SPACING],…`"));
    let quads = refused(&[
        "--rules",
        "edge",
        "--axes",
        "pixel.x",
        "--derivatives",
        "quad-fine",
    ]);
    assert!(quads.contains("differences between points"), "{quads}");
}

#[test]
fn loops_that_neighbours_leave_apart_are_refused_by_pairs_alone() {
    let source = "shader s(float t = 0.5, out float o) { float x = global_value<x>; while (x < 3) { x += t; o += 1; } }";
    let args = ["--axes", "x", "-g", "x=0.2", "--rules"];
    let pair = grad(source, &[&args[..], &["pair"]].concat());
    assert_eq!(pair.code, 1, "{pair:?}");
    assert!(
        pair.stderr.contains("E0571") && pair.stderr.contains("edge"),
        "{pair:?}"
    );
    let edge = grad(source, &[&args[..], &["edge"]].concat());
    assert_eq!(edge.code, 0, "{edge:?}");
}

#[test]
fn decisions_beside_a_point_are_explained() {
    for rules in ["edge", "pair"] {
        let args = ["--size", "16x16", "--at", "13,8", "--rules", rules];
        let text = grad(DISC, &args).stdout;
        assert!(text.contains("length(p) < radius"), "{text}");
        assert!(text.contains("pixel.x-"), "{text}");
        assert!(text.contains("the same at a neighbour: 3"), "{text}");
        let found = json_of(&grad(DISC, &[&args[..], &["--json"]].concat()));
        let decisions = found["decisions"].as_array().unwrap();
        assert_eq!(decisions.len(), 4, "{found}");
        let roots = decisions.iter().filter(|one| one["root"] == json!(true));
        let roots: Vec<&Value> = roots.collect();
        assert_eq!(roots.len(), 1, "{found}");
        let root = roots[0];
        assert_eq!(root["line"], json!(5));
        assert_eq!(root["text"], json!("length(p) < radius"));
        assert_eq!(
            (&root["axis"], &root["side"]),
            (&json!("pixel.x"), &json!("-"))
        );
        for (flag, is_set) in [("flips", true), ("visible", true), ("nullified", false)] {
            assert_eq!(root[flag], json!(is_set), "{flag}");
        }
        let [here, there] = [0, 1].map(|at| root["margin"][at].as_f64().unwrap());
        assert!(here * there < 0.0, "{root}");
    }
    // Of many points none is listed.
    let all = json_of(&grad(
        DISC,
        &["--size", "16x16", "--rules", "edge", "--json"],
    ));
    assert!(all.get("decisions").is_none(), "{all}");
}

#[test]
fn decisions_that_do_not_count_say_why() {
    let source = "shader s(float t = 0.1, out float o) { float x = global_value<x> + t; o = step(0.3, x) + step(0.6, x); }";
    let ran = grad(source, &["--rules", "pair", "--axes", "x", "-g", "x=0"]);
    assert!(ran.stdout.contains("no: there are too many"), "{ran:?}");
    let hidden = "shader s(float t = 0.1, out float o) { float x = global_value<x> + t; o = 0.0 * step(0.3, x); }";
    let ran = grad(hidden, &["--rules", "edge", "--axes", "x", "-g", "x=0"]);
    assert!(ran.stdout.contains("no: no output jumps there"), "{ran:?}");
}

#[test]
fn several_edges_of_a_decision_are_counted() {
    let source = "shader s(float t = 0.25, out float o)
        { float x = global_value<x>; o = floor(x + t); }";
    let args = ["--rules", "edge", "--axes", "x:2.5", "-g", "x=0"];
    let text = grad(source, &args).stdout;
    assert!(
        text.contains(" edges, the first 0.2 × jump × slope"),
        "{text}"
    );
    let found = json_of(&grad(source, &[&args[..], &["--json"]].concat()));
    let decisions = found["decisions"].as_array().unwrap();
    let roots: Vec<u64> = (decisions.iter())
        .map(|one| one["roots"].as_u64().unwrap())
        .collect();
    // From -2.25 to 0.25, and from there to 2.75.
    assert_eq!(roots, [3, 2]);
}

#[test]
fn checks_beside_edges_say_that_they_see_none() {
    for (rules, has_note) in [("edge", true), ("pair", true), ("smooth", false)] {
        let args = ["--size", "8x8", "--check", "--rules", rules];
        let ran = grad(DISC, &args);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(
            ran.stderr.contains("edges are not in them"),
            has_note,
            "{ran:?}"
        );
    }
}

#[test]
fn statistics_are_those_of_the_gradient() {
    let of = |args: &[&str]| grad(DISC, &[args, &["--size", "8x8", "--stats"]].concat()).stderr;
    let smooth = of(&["--rules", "smooth"]);
    assert!(smooth.contains("bytecode ops"), "{smooth}");
    assert!(of(&["--rules", "edge"]).contains("bytecode ops"));
}

#[test]
fn casts_that_decide_end_no_gradient() {
    let source =
        "shader s(float t = 2.5, out float o) { o = float(int(global_value<x> * t)) + hash11(t); }";
    let edge = ["--rules", "edge", "--axes", "x", "-g", "x=1", "--json"];
    let found = json_of(&grad(source, &edge));
    let ends = found["ends"].as_array().unwrap();
    assert_eq!(ends.len(), 1, "{found}");
    assert!(ends[0]["name"].as_str().unwrap().starts_with("hash11"));
    let smooth = json_of(&grad(source, &["-g", "x=1", "--json"]));
    assert_eq!(smooth["ends"].as_array().unwrap().len(), 2, "{smooth}");
}

#[test]
fn views_show_what_edges_come_to() {
    let folder = tempdir().unwrap();
    let view = |view: &str, rules: &str| {
        let out = folder.path().join(format!("{view}_{rules}.exr"));
        let file = out.to_str().unwrap();
        let args = [
            "--size", "16x16", "--wrt", "radius", "--rules", rules, "--view", view, "-o", file,
        ];
        let ran = grad(DISC, &args);
        (ran.code, ran.stderr, out.exists())
    };
    for name in ["axis", "flips", "roots", "nullified"] {
        for rules in ["edge", "pair"] {
            assert_eq!(
                view(name, rules),
                (0, String::new(), true),
                "{name} {rules}"
            );
        }
    }
    for rules in ["smooth", "edge", "pair"] {
        assert_eq!(
            view("difference", rules),
            (0, String::new(), true),
            "{rules}"
        );
    }
    let (code, said, _) = view("flips", "smooth");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("give `--rules edge` or"), "{said}");
}

#[test]
fn quiet_rules_are_of_pairs() {
    let quiet = |rules: &str| {
        grad(
            DISC,
            &["--size", "16x16", "--rules", rules, "--quiet", "static"],
        )
    };
    assert_eq!(quiet("pair").code, 0);
    assert!(
        quiet("edge")
            .stderr
            .contains("`--quiet` is for `--rules pair`")
    );
}

#[test]
fn equalities_of_what_varies_are_reported() {
    let ends = |source: &str| {
        let args = ["--rules", "edge", "--axes", "x", "-g", "x=1", "--json"];
        let found = json_of(&grad(source, &args));
        let ends = found["ends"].as_array().unwrap().iter();
        ends.map(|end| (end["code"].clone(), end["name"].clone()))
            .collect::<Vec<_>>()
    };
    let varying = "shader s(float t = 1.0, out float o) { float x = global_value<x> * 2.0; if (x == t) { o = 1.0; } o += step(x, t); }";
    assert_eq!(ends(varying), [(json!("W0519"), json!("x == t"))]);
    // An integer part jumps itself, and what is the same for all points is no edge.
    let integers = "shader s(float t = 1.0, out float o) { o = floor(global_value<x>) == 2.0 && t == 1.0 ? 1.0 : 0.0; }";
    assert_eq!(ends(integers), []);
}

#[test]
fn axes_along_which_nothing_moves_are_reported() {
    let source = "shader s(float t = 0.5, out float o) { o = step(global_value<x>, t); }";
    let ends = |axes: &str| {
        let globals = ["-g", "x=1", "-g", "y=1", "-g", "z=1"];
        let args = ["--rules", "edge", "--json", "--axes", axes];
        let found = json_of(&grad(source, &[&globals[..], &args].concat()));
        found["ends"].as_array().unwrap().len()
    };
    assert_eq!(ends("x"), 0);
    // The first two may move x by its shadow.
    assert_eq!(ends("y,z"), 0);
    assert_eq!(ends("x,y,z"), 1);
}
