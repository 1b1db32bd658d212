//! The command `adumbra-render`, run on the scene of the examples.

use adumbra_image::{NO_LEVEL, read_image};
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const SCENE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/render/floor.json");

fn run(arguments: &[&str]) -> Output {
    let command = Command::new(env!("CARGO_BIN_EXE_adumbra-render"))
        .args(arguments)
        .output();
    command.expect("the command runs")
}

/// Draws the scene small, into a file of that name; gives the file's bytes.
fn draw(folder: &TempDir, name: &str, more: &[&str]) -> Vec<u8> {
    let out = folder.path().join(name);
    let out_name = out.to_str().expect("UTF-8");
    let mut arguments = vec![SCENE, "-o", out_name, "--no-texture-cache"];
    for [name, value] in [["--size", "64x36"], ["--spp", "2"]] {
        if !more.contains(&name) {
            arguments.extend([name, value]);
        }
    }
    arguments.extend(more);
    let output = run(&arguments);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    std::fs::read(out).expect("it was written")
}

#[test]
fn threads_engines_and_memory_give_the_same_file() {
    let folder = TempDir::new().expect("a folder");
    let expected = draw(&folder, "a.exr", &["--threads", "1", "--engine", "point"]);
    for more in [
        &["--threads", "2", "--engine", "batch"][..],
        &["--threads", "8", "--texture-memory", "1"],
        &["--block", "--engine", "auto"],
        &["--disk-latency", "2"],
    ] {
        assert!(draw(&folder, "b.exr", more) == expected, "{more:?}");
    }
    assert!(draw(&folder, "b.exr", &["--seed", "1"]) != expected);
    assert!(draw(&folder, "b.exr", &["--pixel-filter", "gaussian"]) != expected);
    assert!(draw(&folder, "b.exr", &["--derivatives", "mesh"]) != expected);
    assert!(draw(&folder, "b.exr", &["--bias", "3"]) != expected);
}

#[test]
fn derivative_modes_differ_and_agree_by_engine() {
    let folder = TempDir::new().expect("a folder");
    let modes = [
        "dual",
        "quad-fine",
        "quad-coarse",
        "mesh",
        "partial",
        "none",
    ];
    let images = modes.map(|mode| {
        let with = |more: &[&str]| {
            let options = ["--size", "48x27", "--derivatives", mode];
            draw(&folder, "a.exr", &[&options, more].concat())
        };
        let first = with(&["--engine", "point", "--threads", "1"]);
        for more in [
            &["--engine", "batch", "--threads", "2"][..],
            &["--engine", "auto", "--threads", "8"],
            // Points of quads wait for several textures.
            &["--disk-latency", "2", "--engine", "batch"],
            &["--disk-latency", "2", "--engine", "point"],
            &["--block", "--texture-memory", "1"],
        ] {
            assert!(with(more) == first, "{mode} {more:?}");
        }
        first
    });
    for (at, image) in images.iter().enumerate() {
        for other in &images[..at] {
            assert!(image != other, "{}", modes[at]);
        }
    }
}

#[test]
fn modes_without_lookups_draw_the_same() {
    let folder = TempDir::new().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("it is written");
    };
    write(
        "stripes.adu",
        "shader stripes(out closure surface) {
            float3 n = global_value<normal>;
            color paint = color(fract(3.0 * global_value<position>.x), n.x, 0.5);
            surface = paint * make_closure<oren_nayar>(n, 0.2)
                + make_closure<generalized_schlick_bsdf>(n, global_value<tangent>, 0.01, 0.01, float3(0.2), 1);
        }",
    );
    write(
        "scene.json",
        r#"{
            "meshes": { "ball": { "sphere": { "segments": [24, 12] } } },
            "materials": { "m": { "shader": { "file": "stripes.adu" } } },
            "instances": [
                { "mesh": "ball", "material": "m" },
                { "mesh": "ball", "material": "m", "transform": [{ "translate": [1.8, 0, 0.5] }] }
            ]
        }"#,
    );
    let [scene, out] = ["scene.json", "a.exr"].map(|name| folder.path().join(name));
    let paths = [&scene, &out].map(|path| path.to_str().expect("UTF-8"));
    let draw = |mode: &str, engine: &str| {
        let fixed = [paths[0], "-o", paths[1], "--size", "33x21", "--spp", "2"];
        let output = run(&[&fixed[..], &["--derivatives", mode, "--engine", engine]].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        std::fs::read(&out).expect("it was written")
    };
    let expected = draw("dual", "batch");
    for mode in ["quad-fine", "quad-coarse", "mesh", "partial", "none"] {
        for engine in ["point", "batch"] {
            assert!(draw(mode, engine) == expected, "{mode} {engine}");
        }
    }
}

#[test]
fn time_and_exposure_reach_the_image() {
    let folder = TempDir::new().expect("a folder");
    let shader = folder.path().join("clock.adu");
    let source = "shader clock(out color c) { c = color(global_value<time>); }";
    std::fs::write(&shader, source).expect("it is written");
    let shader = shader.to_str().expect("UTF-8");
    let middle = |name: &str, more: &[&str]| {
        let out = folder.path().join(name);
        let fixed = [
            shader,
            "-o",
            out.to_str().expect("UTF-8"),
            "--shape",
            "plane",
        ];
        let output = run(&[&fixed[..], &["--size", "3x3", "--time", "0.25"], more].concat());
        assert!(output.status.success(), "{output:?}");
        let image = read_image(&out).expect("an image");
        (
            image.pixels()[4][0],
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    assert_eq!(middle("a.exr", &["--exposure", "1"]).0, 0.25);
    let (shown, said) = middle("a.png", &["--exposure", "1"]);
    assert!(
        (shown - 0.5).abs() < 4e-3 && said.is_empty(),
        "{shown} {said}"
    );
    let (shown, said) = middle("a.png", &["--exposure", "4", "--tone", "reinhard"]);
    assert!((shown - 0.8).abs() < 6e-3, "{shown}");
    assert!(
        said.ends_with("is brighter than white; --exposure -1 shows it\n"),
        "{said}"
    );
}

#[test]
fn alpha_leaves_the_surroundings_out() {
    let folder = TempDir::new().unwrap();
    let scene = folder.path().join("ball.json");
    // Half of the image is a square of radiance 0.5, in surroundings of 1.
    let text = r#"{
        "image": { "width": 16, "height": 16 },
        "camera": { "orthographic": { "from": [0.5, 0.5, 2], "to": [0.5, 0.5, 0], "height": 2 } },
        "meshes": { "square": { "quad": {} } },
        "materials": { "grey": { "shader": { "file": "grey.adu" } } },
        "instances": [{ "mesh": "square", "material": "grey" }],
        "environment": { "constant": [1, 1, 1] }
    }"#;
    std::fs::write(&scene, text).unwrap();
    let shader = "shader grey(out color c) { c = color(0.5); }";
    std::fs::write(folder.path().join("grey.adu"), shader).unwrap();
    let scene = scene.to_str().unwrap();
    for (name, has_alpha) in [("a.exr", true), ("a.png", true), ("b.exr", false)] {
        let out = folder.path().join(name);
        let mut arguments = vec![scene, "-o", out.to_str().unwrap()];
        arguments.extend(has_alpha.then_some("--alpha"));
        let done = run(&arguments);
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
        let image = adumbra_image::read_image(&out).unwrap();
        let (corner, middle) = (image.pixels()[0], image.pixels()[8 * 16 + 8]);
        match has_alpha {
            true => assert_eq!(corner, [0.0; 4], "{name}"),
            false => assert_eq!(corner, [1.0; 4], "{name}"),
        }
        assert!(
            (middle[0] - 0.5).abs() < 0.01 && middle[3] == 1.0,
            "{name} {middle:?}"
        );
    }
    let out = folder.path().join("c.png");
    let refused = run(&[
        scene,
        "-o",
        out.to_str().unwrap(),
        "--alpha",
        "--view",
        "level",
    ]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--alpha"));
}

#[test]
fn levels_of_none_are_the_finest() {
    let folder = TempDir::new().expect("a folder");
    let levels = |mode: &str| {
        draw(
            &folder,
            "l.exr",
            &["--view", "level", "--spp", "1", "--derivatives", mode],
        );
        let image = read_image(&folder.path().join("l.exr")).expect("an image");
        let greatest = image.pixels().iter().map(|pixel| pixel[0]);
        greatest.fold(0.0, f32::max)
    };
    assert_eq!(levels("none"), 0.0);
    for mode in ["dual", "quad-fine", "quad-coarse", "mesh", "partial"] {
        assert!(levels(mode) >= 2.0, "{mode}: {}", levels(mode));
    }
}

#[test]
fn views_show_levels_and_derivatives() {
    let folder = TempDir::new().expect("a folder");
    let read = |view: &str| {
        draw(&folder, "v.exr", &["--view", view]);
        read_image(&folder.path().join("v.exr")).expect("an image")
    };
    let levels = read("level");
    // The sky asks for no texture; the floor's levels grow towards the horizon.
    let level = |y: usize| levels.pixels()[y * 64 + 32][0];
    assert_eq!(level(2), NO_LEVEL);
    assert!(level(15) > level(35) + 1.0, "{} {}", level(15), level(35));
    let footprint = read("footprint");
    assert!(footprint.pixels()[35 * 64 + 32][0] > NO_LEVEL);
    let derivative = read("derivative=uvw");
    let u = derivative.pixels()[35 * 64 + 32][0];
    assert!(u > 0.0, "u grows to the right: {u}");
    draw(&folder, "d.png", &["--view", "derivative-y=normal"]);
}

#[test]
fn statistics_share_the_time_among_parts() {
    let folder = TempDir::new().expect("a folder");
    let out = folder.path().join("a.png");
    let arguments = [SCENE, "-o", out.to_str().expect("UTF-8"), "--size", "64x36"];
    let output = run(&[&arguments[..], &["--stats"]].concat());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = said.lines().find_map(|line| line.strip_prefix("time "));
    let line = line.expect("a line of times");
    let words: Vec<&str> = line.split_whitespace().collect();
    let (shares, parts): (Vec<&str>, Vec<&str>) = words.chunks(3).map(|w| (w[0], w[2])).unzip();
    assert_eq!(parts, ["intersection,", "shading,", "textures,", "other"]);
    let sum: i32 = shares
        .iter()
        .map(|share| share.parse::<i32>().expect("a number"))
        .sum();
    assert!((98..=102).contains(&sum), "{line}");
}

#[test]
fn difference_to_itself_is_zero() {
    let folder = TempDir::new().expect("a folder");
    draw(&folder, "a.exr", &[]);
    let (reference, out) = (folder.path().join("a.exr"), folder.path().join("b.png"));
    let paths = [&reference, &out].map(|path| path.to_str().expect("UTF-8"));
    let more = [
        "--size",
        "64x36",
        "--spp",
        "2",
        "--view",
        "difference",
        "--reference",
    ];
    let output = run(&[&[SCENE, "-o", paths[1]][..], &more, &[paths[0]]].concat());
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "RMSE        0.000000\n"
    );
}

#[test]
fn converted_textures_draw_the_same() {
    let folder = TempDir::new().expect("a folder");
    let tiles = Path::new(SCENE).with_file_name("tiles.png");
    let out = folder.path().join("tiles.exr");
    let paths = [&tiles, &out].map(|path| path.to_str().expect("UTF-8"));
    let output = run(&["texture", paths[0], "-o", paths[1], "--format", "float"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.ends_with("256×256, 9 levels, 27 tiles\n"), "{said}");
    for name in ["floor.adu", "lacquer.adu", "glass.adu"] {
        let file = Path::new(SCENE).with_file_name(name);
        std::fs::copy(file, folder.path().join(name)).expect("it is copied");
    }
    let scene = std::fs::read_to_string(SCENE).expect("the scene");
    let copy = folder.path().join("scene.json");
    std::fs::write(&copy, scene.replace("tiles.png", "tiles.exr")).expect("it is written");
    let drawn = folder.path().join("b.exr");
    let paths = [&copy, &drawn].map(|path| path.to_str().expect("UTF-8"));
    let output = run(&[paths[0], "-o", paths[1], "--size", "64x36", "--spp", "2"]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(std::fs::read(drawn).expect("it was written") == draw(&folder, "a.exr", &[]));
}

#[test]
fn textures_are_converted_to_exr_alone() {
    let folder = TempDir::new().expect("a folder");
    let tiles = Path::new(SCENE).with_file_name("tiles.png");
    for name in ["tiles.png", "tiles"] {
        let out = folder.path().join(name);
        let paths = [&tiles, &out].map(|path| path.to_str().expect("UTF-8"));
        let output = run(&["texture", paths[0], "-o", paths[1]]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("does not end in .exr"), "{said}");
        assert!(!output.status.success() && !out.exists());
    }
}

#[test]
fn wrong_options_of_scenes_have_a_place() {
    let folder = TempDir::new().expect("a folder");
    let [scene, out] = ["s.json", "x.png"].map(|name| folder.path().join(name));
    let [scene, out] = [&scene, &out].map(|path| path.to_str().expect("UTF-8"));
    for (key, part) in [
        ("view", "the views are beauty"),
        ("mip-rule", "the rules are sort_floor"),
        ("filter", "the filters are nearest"),
    ] {
        let written = format!("{{ \"options\": {{ \"{key}\": \"best\" }} }}");
        std::fs::write(scene, written).expect("it is written");
        let output = run(&[scene, "-o", out, "--size", "2x2"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.contains(&format!("s.json: options.{key}: {part}")),
            "{said}"
        );
    }
}

#[test]
fn wrong_arguments_and_files_say_what_is_wrong() {
    for (arguments, code, part) in [
        (
            &["nosuch.json", "-o", "x.png"][..],
            1,
            "nosuch.json: it cannot be read",
        ),
        (
            &[SCENE, "-o", "x.bmp"],
            1,
            "x.bmp ends neither in .png nor in .exr",
        ),
        (
            &[SCENE, "-o", "no/such/folder/x.png", "--size", "2x2"],
            1,
            "cannot write no/such/folder/x.png",
        ),
        (
            &["model.stl", "-o", "x.png"],
            1,
            "its name ends with none of .json",
        ),
        (
            &[SCENE, "-o", "x.png", "--texture-memory", "-1"],
            2,
            "invalid value '-1' for '--texture-memory <MB>'",
        ),
        (
            &[SCENE, "-o", "x.png", "--material", "Body="],
            2,
            "there is no file after `Body=`",
        ),
        (
            &[SCENE, "-o", "x.png", "--size", "0x3"],
            2,
            "a size is WIDTHxHEIGHT",
        ),
        (
            &[SCENE, "-o", "x.png", "--mip-rule", "best"],
            2,
            "the rules are sort_floor",
        ),
        (
            &[SCENE, "-o", "x.png", "--filter", "best"],
            2,
            "the filters are nearest",
        ),
        (
            &[SCENE, "-o", "x.png", "--view", "derivative"],
            2,
            "say of which global",
        ),
        (
            &[
                SCENE,
                "-o",
                "x.png",
                "--size",
                "2x2",
                "--view",
                "derivative=flow",
            ],
            1,
            "the globals are uvw",
        ),
        (
            &[
                SCENE,
                "-o",
                "x.png",
                "--size",
                "2x2",
                "--view",
                "difference",
            ],
            1,
            "needs --reference FILE",
        ),
        (
            &[SCENE, "-o", "x.png", "--bias", "nan"],
            2,
            "a bias is a finite number of levels",
        ),
        (
            &[SCENE, "-o", "x.png", "--threads", "0"],
            2,
            "0 is not in 1..=256",
        ),
        (
            &[SCENE, "-o", "x.png", "--size", "100000x100000"],
            1,
            "a side is from 1 to 16384 pixels",
        ),
        (
            &[SCENE, "-o", "x.png", "--size", "16384x16384"],
            1,
            "more than 33554432 pixels",
        ),
        (
            &[SCENE, "-o", "x.png", "--clamp", "-1"],
            2,
            "a limit of light is a number greater than 0",
        ),
        (
            &[SCENE, "-o", "x.png", "--derivatives", "gpu"],
            2,
            "[possible values: dual, quad-fine, quad-coarse, mesh, partial, none]",
        ),
        (&[SCENE], 2, "--out <FILE>"),
    ] {
        let output = run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(part), "{arguments:?}: {said}");
    }
}

/// A material whose points are stopped, or fault, is reported by name with its place; the image is
/// written all the same.
#[test]
fn faults_of_materials_are_reported() {
    let folder = TempDir::new().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("it is written");
    };
    let scene = r#"{ "camera": { "perspective": { "from": [0, 2, 4], "to": [0, 0, 0], "fov": 60 } },
        "meshes": { "floor": { "plane": {} } },
        "materials": { "broken": { "shader": { "file": "m.adu" } } },
        "instances": [{ "mesh": "floor", "material": "broken" }] }"#;
    write("s.json", scene);
    let draw = |engine: &str| {
        let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
        let [scene, out] = ["s.json", "o.png"].map(path);
        let ran = run(&[&scene, "-o", &out, "--size", "32x32", "--engine", engine]);
        let stderr = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(Path::new(&out).is_file(), "{stderr}");
        (ran.status.code(), stderr)
    };
    write(
        "m.adu",
        "shader m(out color c) { c = color(0.0); while (true) { c += 0.1; } }",
    );
    for engine in ["point", "batch", "native", "auto"] {
        let (status, stderr) = draw(engine);
        assert_eq!(status, Some(1), "{engine}: {stderr}");
        for part in [
            "material `broken`, at ",
            "E0811",
            "while (true)",
            "points were stopped",
        ] {
            assert!(stderr.contains(part), "{engine}: {part}: {stderr}");
        }
    }
    write(
        "m.adu",
        "shader m(int i = 7, out color c) { float a[4]; c = color(a[i]); }",
    );
    let (status, stderr) = draw("auto");
    assert_eq!(status, Some(0), "{stderr}");
    assert!(
        stderr.contains("W0801") && stderr.contains("a[i]"),
        "{stderr}"
    );
}
