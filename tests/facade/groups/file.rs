//! Groups from JSON: what is read, and what is wrong, at its place.

use super::*;

const SCALE: &str = "struct hit { int n; float3 p; };
    shader scale(float x = 1.0, int n = 1, float3 v = float3(0.0), uint u = 0u, bool b = false, float[2] w, hit h,
                 out float y, out float3 z, out float t) {
        y = x * n; z = y * v; t = u + (b ? 1 : 0) + w[0] + 10 * w[1] + h.n * h.p.z; }";

/// Reads a group whose units are all in `SCALE`, but for those in `missing.adu`.
fn read(text: &str) -> Result<Group, Diagnostics> {
    Group::from_json("group.json", text, |path| match path {
        "missing.adu" => Err("no such file".to_owned()),
        _ => Ok((path.to_owned(), SCALE.to_owned())),
    })
}

/// Code, line and column of each diagnostic, and its message.
fn listed(text: &str) -> Vec<String> {
    let refusal = match read(text) {
        Ok(group) => refused(&group),
        Err(refusal) => refusal,
    };
    let lines = refusal.diagnostics.iter().map(|found| {
        let place = refusal
            .sources
            .get(found.span.file)
            .unwrap()
            .line_column(found.span.start);
        assert!(found.help.is_some(), "{refusal}");
        format!(
            "{} {}:{} {}",
            found.code, place.line, place.column, found.message
        )
    });
    lines.collect()
}

#[test]
fn values_are_read_by_the_inputs_types() {
    let group = read(
        r#"{ "$schema": "group.schema.json",
             "units": { "a": { "source": ["a.adu", "b.adu"], "shader": "scale", "set": {
                 "x": 2, "n": 3.0, "v": [1, 0.5, -2e-1], "u": 4000000000, "b": true, "w": [1, 2], "h": { "p": [1, 2, 3], "n": 4 } } },
               "b": { "source": "a.adu", "set": { "v": 0.1, "x": "-inf" } } },
             "connections": [{ "to": "b.n", "from": "a.n" }],
             "outputs": { "y": "a.y" } }"#,
    );
    // Two sources with the same struct are refused by the frontend; the file itself is right.
    let found = refused(&group.unwrap());
    assert!(codes(&found.diagnostics).contains(&"E0210".to_owned()));

    let text = r#"{ "units": { "a": { "source": "a.adu", "set": {
                 "x": 2, "n": 3.0, "v": [1, 0.5, -2e-1], "u": 4000000000, "b": true, "w": [1, 2], "h": { "p": [1, 2, 3], "n": 4 } } },
               "b": { "source": "a.adu", "set": { "v": 0.1, "x": "-inf", "n": -1 } } },
             "outputs": { "y": "a.y", "z": "a.z", "t": "a.t", "by": "b.y", "bz": "b.z.y" } }"#;
    let program = compiled(&read(text).unwrap());
    let (evaluator, _) = evaluated(&Instance::new(&program));
    let float = |name| evaluator.get::<f32>(name).unwrap();
    assert_eq!(float("y"), 6.0);
    assert_eq!(
        evaluator.get::<[f32; 3]>("z").unwrap(),
        [6.0, 3.0, -0.2 * 6.0]
    );
    assert_eq!(float("t"), 4e9_f32 + 1.0 + 1.0 + 20.0 + 12.0);
    assert_eq!((float("by"), float("bz")), (f32::INFINITY, f32::INFINITY));
}

#[test]
fn what_is_no_group_is_pointed_at() {
    let mut wrong = Vec::new();
    for (text, found) in [
        (
            "",
            "E0539 1:1 the group cannot be read: EOF while parsing a value",
        ),
        (
            "{\n  \"units\": {,}\n}",
            "E0539 2:13 the group cannot be read: key must be a string",
        ),
        (
            "[]",
            "E0539 1:1 the group cannot be read: invalid type: sequence, expected an object",
        ),
        (r#"{"units": []}"#, "E0539 1:11 `units` is not an object"),
        (r#"{"nodes": {}}"#, "E0539 1:3 a group has no `nodes`"),
        (
            r#"{"units": {}, "units": {}}"#,
            "E0539 1:16 `units` is here a second time",
        ),
        (
            r#"{"units": {"a": 1}}"#,
            "E0539 1:17 the unit `a` is not an object",
        ),
        (
            r#"{"units": {"a": {}}}"#,
            "E0539 1:13 the unit `a` has no `source`",
        ),
        (
            r#"{"units": {"a": {"source": 1}}}"#,
            "E0539 1:28 `source` is not a string",
        ),
        (
            r#"{"units": {"a": {"source": "missing.adu"}}}"#,
            "E0540 1:28 cannot read `missing.adu`: no such file",
        ),
        (
            r#"{"units": {"a": {"source": "a", "file": 1}}}"#,
            "E0539 1:34 a unit has no `file`",
        ),
        (
            r#"{"connections": {}}"#,
            "E0539 1:17 `connections` is not an array",
        ),
        (
            r#"{"connections": [1]}"#,
            "E0539 1:18 a connection is not an object",
        ),
        (
            r#"{"connections": [{"from": "a.b"}]}"#,
            "E0539 1:18 a connection has a `from` and a `to`",
        ),
        (
            r#"{"connections": [{"from": "a.b", "to": "a"}]}"#,
            "E0539 1:40 `a` names no port",
        ),
        (r#"{"outputs": {"y": 1}}"#, "E0539 1:19 `y` is not a string"),
        (r#"{"inputs": "y"}"#, "E0539 1:12 `inputs` is not an object"),
        (
            r#"{"units": {"a": {"source": "a", "textures": {"t": 1}}}}"#,
            "E0539 1:51 `t` is not a string",
        ),
    ] {
        wrong.extend((listed(text) != [found]).then(|| format!("{text}\n{:?}", listed(text))));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_a_group_means_is_pointed_at_too() {
    let group = |rest: &str| {
        format!(
            "{{\n\"units\": {{ \"a\": {{ \"source\": \"a.adu\"{rest},\n\"outputs\": {{ \"y\": \"a.y\" }} }}"
        )
    };
    let mut wrong = Vec::new();
    for (rest, found) in [
        (
            " } },\n\"connections\": [{ \"from\": \"c.y\", \"to\": \"a.x\" }]",
            "E0533 3:27 there is no unit `c`",
        ),
        (
            " } },\n\"inputs\": { \"x\": \"a.q\" }",
            "E0534 3:18 the unit `a` has no input `q`",
        ),
        (
            ",\n\"set\": { \"x\": \"no\" } } }",
            "E0535 3:15 `a.x` cannot be set to this: `float` is wanted",
        ),
        (
            ",\n\"set\": { \"n\": 1.5 } } }",
            "E0535 3:15 `a.n` cannot be set to this: `int` is wanted",
        ),
        (
            ",\n\"set\": { \"v\": [1, true, 2] } } }",
            "E0535 3:19 `a.v` cannot be set to this: `float` is wanted",
        ),
        (
            ",\n\"set\": { \"v\": [1, 2] } } }",
            "E0535 3:15 `a.v` cannot be set to this: `float3` is wanted",
        ),
        (
            ",\n\"set\": { \"h\": { \"m\": 2 } } } }",
            "E0535 3:18 `hit` has no member `m`",
        ),
        (
            ",\n\"set\": { \"h\": { \"n\": 2 } } } }",
            "E0535 3:15 `a.h` cannot be set to this: `hit` is wanted",
        ),
        (
            ",\n\"set\": { \"x\": 1, \"x\": 2 } } }",
            "E0536 3:19 `a.x` is set twice",
        ),
        (
            ",\n\"textures\": { \"t\": \"u\" } } }",
            "E0206 3:16 the unit `a` samples no texture `t`",
        ),
        (
            ",\n\"shader\": \"s\" } }",
            "E0207 1:1 unit `a`: there is no shader `s`",
        ),
    ] {
        let text = group(rest);
        wrong.extend((listed(&text) != [found]).then(|| format!("{text}\n{:?}", listed(&text))));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
