//! Rules: a disc is found by those that see its edge.

use super::*;

#[test]
fn disc_is_found_by_rules_for_edges() {
    let folder = folder();
    for rules in ["edge", "pair", "fd", "spsa"] {
        let found = found(&folder, "best.adu", &["--rules", rules]);
        let loss = found["loss"].as_f64().unwrap();
        assert!(loss < 0.05 * first_loss(&found), "{rules}: {found}");
        let parameters = &found["parameters"];
        let near = |value: &Value, truth: f64| (value.as_f64().unwrap() - truth).abs() < 0.3;
        assert!(near(&parameters["radius"], 11.0), "{rules}: {found}");
        assert!(near(&parameters["centre"][0], 26.3), "{rules}: {found}");
        assert!(near(&parameters["centre"][1], 22.4), "{rules}: {found}");
        assert!(parameters.get("ink").is_none(), "{found}");
    }
}

#[test]
fn smooth_rules_do_not_move_a_disc() {
    let folder = folder();
    let ran = fit(&folder, "best.adu", &["--rules", "smooth", "--json"]);
    assert!(
        ran.stderr
            .contains("no input that is fitted changes the image")
    );
    let found = json_of(&ran);
    assert_eq!(found["loss"].as_f64(), Some(first_loss(&found)));
    assert_eq!(found["parameters"]["radius"], 7.0);
}
