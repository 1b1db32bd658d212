//! Maps and libraries of OBJ files: names with blanks, heights, and what is missing.

use super::load;
use super::scene_files::{Files, PNG};
use adumbra_image::{ImageSize, PngImage, write_png};
use adumbra_render::scene_image::{ImageSettings, draw_scene};

const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n";

/// A square with a material of the library `name`.
fn square(files: &Files, name: &str, mtl: Option<&str>) {
    let face = "usemtl m\nf 1/1 2/2 3/3 4/4\n";
    files.write("m.obj", format!("mtllib {name}\n{SQUARE}{face}"));
    if let Some(mtl) = mtl {
        files.write(name, format!("newmtl m\n{mtl}"));
    }
}

/// Light of the square's middle, lit from the side of growing x, and the warnings.
fn lit(files: &Files) -> ([f32; 3], Vec<String>) {
    files.write(
        "s.json",
        r#"{ "image": { "width": 1, "height": 1 },
        "camera": { "orthographic": { "from": [0.5, 0.5, 2], "to": [0.5, 0.5, 0], "height": 0.01 } },
        "instances": [{ "scene": "m.obj" }],
        "lights": [{ "directional": { "direction": [-1, 0, -1], "irradiance": [3, 3, 3] } }] }"#,
    );
    let scene = load(files, "s.json").expect("a scene");
    let image = draw_scene(&scene, &ImageSettings::default()).expect("it is drawn");
    let [r, g, b, _] = image.pixels[0];
    ([r, g, b], scene.warnings)
}

#[test]
fn heights_bend_normals_by_their_slopes() {
    let files = Files::new();
    // It rises along x by 255 steps of 256.
    let size = ImageSize::new(256, 1).expect("a size");
    let bytes: Vec<u8> = (0..=255).flat_map(|height| [height; 3]).collect();
    let image = PngImage {
        size,
        bytes: &bytes,
        has_alpha: false,
        is_srgb: false,
    };
    let mut png = Vec::new();
    write_png(&image, &mut png).expect("it is written");
    files.write("ramp.png", png);
    let light = |map: &str| {
        square(
            &files,
            "m.mtl",
            Some(&format!("Kd 0.8 0.8 0.8\nPr 1\n{map}\n")),
        );
        let (color, warnings) = lit(&files);
        assert_eq!(warnings, [""; 0]);
        color[0]
    };
    let flat = light("");
    // The slope is 1: the normal is at 45 degrees, away from the light.
    let [half, whole, towards] = [
        "bump -bm 0.5 ramp.png",
        "map_Bump ramp.png",
        "bump -bm -1 ramp.png",
    ]
    .map(light);
    assert!(
        whole < 0.2 * flat && half < 0.8 * flat,
        "{flat} {half} {whole}"
    );
    assert!(towards > 1.2 * flat, "{flat} {towards}");
}

#[test]
fn names_of_maps_and_libraries_have_blanks() {
    let files = Files::new();
    files.write("my old oak.png", PNG);
    square(
        &files,
        "my own.mtl",
        Some("map_Kd -s 2 2 -clamp off my old oak.png\n"),
    );
    let scene = load(&files, "m.obj").expect("a scene");
    assert_eq!(scene.warnings, [""; 0]);
    assert!(scene.textures[0].name().ends_with("my old oak.png"));
}

#[test]
fn missing_library_and_map_are_magenta() {
    let files = Files::new();
    let is_magenta = |[r, g, b]: [f32; 3]| r > 0.2 && g < 0.2 * r && r == b;
    square(&files, "no.mtl", None);
    let (color, warnings) = lit(&files);
    assert!(is_magenta(color), "{color:?}");
    let expected = "no.mtl: what has its materials is magenta";
    assert!(
        warnings.len() == 1 && warnings[0].ends_with(expected),
        "{warnings:?}"
    );
    square(
        &files,
        "m.mtl",
        Some("Kd 1 1 1\nmap_Kd no such.png\nmap_Ks s.png\nmap_d d.png\n"),
    );
    let (color, warnings) = lit(&files);
    assert!(is_magenta(color), "{color:?}");
    let ends = [
        "no such.png",
        "m: map_Ks is left out",
        "m: map_d is left out",
    ];
    assert_eq!(warnings.len(), ends.len(), "{warnings:?}");
    for (warning, end) in warnings.iter().zip(ends) {
        assert!(warning.ends_with(end), "{warning}");
    }
}
