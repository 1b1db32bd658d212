//! The frame of level cards in small: by dual numbers no pixel outside silhouettes reads a level
//! that is more than one off; by the mesh's partials and without any, many do.

#[path = "../examples/common/mod.rs"]
mod common;
#[path = "../examples/level_cards/frame.rs"]
mod frame;

use frame::{Truth, columns, write_scene};

#[test]
fn dual_reads_right_levels_outside_silhouettes() {
    let folder = tempfile::tempdir().expect("a folder");
    let scene = write_scene(folder.path()).expect("the scene is written");
    let columns = columns();
    let off = |name: &str, truth: &Truth| {
        let column = columns.iter().find(|column| column.name == name);
        let column = column.expect("it is a column");
        let stage = column
            .stage(&scene, [160, 90], 2)
            .expect("the scene is right");
        let requests = column.requests(&stage).expect("it is drawn");
        truth.pixels_off(&requests).len()
    };
    let dual = columns.iter().find(|column| column.name == "dual");
    let stage = dual.expect("it is a column").stage(&scene, [160, 90], 2);
    let truth = Truth::new(&stage.expect("the scene is right")).expect("it is drawn");
    println!(
        "{} pixels, {} at silhouettes, {} unknown",
        truth.counted(),
        truth.silhouettes,
        truth.unknown
    );
    // A tenth of the pixels are sky.
    assert!(truth.counted() > 8000 && truth.unknown < 20);
    let parts = ["dual", "mesh", "none"].map(|name| off(name, &truth));
    println!("more than one level off: dual, mesh, none: {parts:?}");
    let [dual, mesh, none] = parts;
    assert_eq!(dual, 0);
    assert!(20 * mesh > truth.counted() && none > truth.counted() / 2);
}
