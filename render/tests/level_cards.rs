//! The frame of level cards in small: by dual numbers no pixel outside silhouettes reads a level
//! that is more than one off; by the mesh's partials and without any, many do.

#[path = "../examples/common/mod.rs"]
mod common;
#[path = "../examples/level_cards/frame.rs"]
mod frame;

use adumbra_render::derivative_mode::DerivativeMode;
use frame::{COLUMNS, Truth, requests, stage, write_scene};

#[test]
fn dual_reads_right_levels_outside_silhouettes() {
    let folder = tempfile::tempdir().expect("a folder");
    let scene = write_scene(folder.path()).expect("the scene is written");
    let stage = |mode| stage(mode, &scene, [160, 90], 2).expect("the scene is right");
    let truth = Truth::new(&stage(DerivativeMode::Dual)).expect("it is drawn");
    let (counted, unknown) = (truth.counted(), truth.unknown);
    println!(
        "{counted} pixels, {} at silhouettes, {unknown} unknown",
        truth.silhouettes
    );
    assert!(counted > 8000 && unknown < 20);
    for mode in COLUMNS {
        let requests = requests(mode, &stage(mode)).expect("it is drawn");
        let off = truth.pixels_off(&requests).len();
        println!("{}: {off} more than one level off", mode.name());
        match mode {
            DerivativeMode::Dual => assert_eq!(off, 0),
            DerivativeMode::None => assert!(off > counted / 2),
            // The others fail at some surfaces, on how many pixels the page says.
            _ => assert!(off > counted / 1000, "{off}"),
        }
    }
}
