//! Textures of files: their colours and levels, and the checkerboard in place of those that are not
//! given.

use super::*;
use adumbra_image::{ImageSize, PngImage, write_png};

/// A PNG texture of that size in a folder of tests; its red is 255 in every other column.
fn stripes(name: &str, width: u64, height: u64) -> String {
    let size = ImageSize::new(width, height).expect("a size");
    let pixels = (0..size.pixels()).map(|i| {
        [
            255 * u8::from((i % width as usize).is_multiple_of(2)),
            255,
            0,
        ]
    });
    let bytes: Vec<[u8; 3]> = pixels.collect();
    let png = PngImage {
        size,
        bytes: bytes.as_flattened(),
        has_alpha: false,
        is_srgb: true,
    };
    let mut file = Vec::new();
    write_png(&png, &mut file).expect("memory");
    scratch(name, file)
}

const LOOK: &str =
    "texture2d wood; shader s(out color c) { c = texture2d_sample<wood>(global_value<t>); }";

#[test]
fn levels_match_an_independent_table() {
    let table = include_str!("../../../../tests/data/mip_table.csv");
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    for line in lines {
        // The only fields with commas are two in quotes, before the levels.
        let (start, rest) = line.split_once(",\"").expect("texels");
        let rest = rest.rsplit_once("\",").expect("levels").1;
        let start: Vec<&str> = start.split(',').collect();
        let rest: Vec<&str> = rest.split(',').collect();
        let column = header
            .iter()
            .position(|name| *name == "gl_iso")
            .expect("a column");
        let expected: f32 = rest[column - 8].parse().expect("a number");
        let [w, h, dudx, dvdx, dudy, dvdy] = [0, 1, 2, 3, 4, 5].map(|i| start[i]);
        let file = stripes(
            &format!("stripes_{w}_{h}.png"),
            w.parse().expect("a width"),
            h.parse().expect("a height"),
        );
        let args = format!(
            "--size 2x2 --view lod --texture wood={file} -g t=0,0:{dudx},{dvdx}:{dudy},{dvdy}"
        );
        let (levels, _) = floats("levels", LOOK, &args);
        for pixel in levels.pixels() {
            assert!((pixel[0] - expected).abs() < 1e-6, "{line}: {}", pixel[0]);
        }
    }
}

#[test]
fn distant_texture_is_its_mean() {
    let file = stripes("stripes.png", 8, 8);
    let look = |step: &str| {
        let args = format!("--size 8x1 --texture wood={file} -g t=0,0:{step},0:0,{step}");
        let (image, _) = floats("near_and_far", LOOK, &args);
        image.pixels().iter().map(|p| p[0]).collect::<Vec<f32>>()
    };
    assert_eq!(look("0.125"), [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
    assert_eq!(look("0.25"), [0.5; 8]);
    assert_eq!(look("100"), [0.5; 8]);
}

#[test]
fn explicit_levels_and_gradients_are_obeyed() {
    let file = stripes("stripes_explicit.png", 8, 8);
    let text = "texture2d wood; shader s(out color c) { float2 t = float2(0.0625, 0.5);
        c = color(texture2d_sample_level<wood>(t, 0.0).x, texture2d_sample_level<wood>(t, 0.5).x,
            texture2d_sample_grad<wood>(t, float2(0.25, 0), float2(0, 0)).x); }";
    let (image, _) = floats(
        "explicit",
        text,
        &format!("--size 1x1 --texture wood={file}"),
    );
    assert_eq!(image.pixels()[0][..3], [1.0, 0.75, 0.5]);
    let (levels, _) = floats(
        "explicit_levels",
        text,
        &format!("--size 1x1 --view lod --texture wood={file}"),
    );
    assert_eq!(levels.pixels()[0][0], 1.0);
}

#[test]
fn texture_without_file_is_checkerboard() {
    let text =
        "texture2d wood; shader s(out color c) { c = texture2d_sample<wood>(global_value<uv>); }";
    let (image, _) = floats("checker", text, "--size 16x16");
    for (i, pixel) in image.pixels().iter().enumerate() {
        let is_even = (i % 16 / 2 + i / 16 / 2) % 2 == 0;
        assert_eq!(pixel[0], f32::from(u8::from(is_even)));
    }
    // Its level is that of 256 texels a side: here 16 of them a pixel.
    let (levels, _) = floats("checker_levels", text, "--size 16x16 --view lod");
    assert!(levels.pixels().iter().all(|p| p[0] == 4.0));
}

#[test]
fn levels_have_colours_and_a_legend() {
    let text = "texture2d wood; shader s(out color c) { float2 uv = global_value<uv>; c = color(0);
        if (uv.x > 0.5) c = texture2d_sample<wood>(uv * 0.0625) + texture2d_sample<wood>(uv * 0.25); }";
    let (colours, printed) = bytes("legend", text, "--size 16x4 --view lod");
    let lines: Vec<&str> = printed.lines().collect();
    // 64 texels a column, 16 rows: 256/4/4 = 16 texels along y, the greater of the two requests.
    assert_eq!(lines[4], "level 4    #c9d13b  32 pixels");
    assert_eq!(lines.last(), Some(&"no texture #282828  32 pixels"));
    assert_eq!(
        (colours[0], colours[15]),
        ([0x28, 0x28, 0x28, 255], [0xc9, 0xd1, 0x3b, 255])
    );
}

/// Draws the shader of a folder's source with these further arguments; gives red along the first
/// row.
fn red(folder: &Path, source: &str, args: &[&str]) -> Vec<f32> {
    let (source, out) = (folder.join(source), folder.join("out.exr"));
    let mut all = vec!["image", source.to_str().expect("text"), "-o"];
    all.extend([out.to_str().expect("text"), "--size", "8x1"]);
    all.extend(args);
    let ran = adumbra(all);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let image = read_image(&out).expect("an image");
    image.pixels().iter().map(|pixel| pixel[0]).collect()
}

/// A folder with an image `wood.png`, whose four texels have the red 128, 255, 0, 0, and one
/// `dark/wood.png` of black.
fn wood(name: &str) -> PathBuf {
    let folder = place(name);
    std::fs::create_dir_all(folder.join("dark")).expect("a folder");
    let image = |file: &str, red: [u8; 4]| {
        let size = ImageSize::new(4, 1).expect("a size");
        let texels = red.map(|red| [red, 0, 0]);
        let png = PngImage {
            size,
            bytes: texels.as_flattened(),
            has_alpha: false,
            is_srgb: true,
        };
        let mut bytes = Vec::new();
        write_png(&png, &mut bytes).expect("memory");
        std::fs::write(folder.join(file), bytes).expect("a file");
    };
    image("wood.png", [128, 255, 0, 0]);
    image("dark/wood.png", [0; 4]);
    folder
}

/// A shader that reads the texture `wood`, declared so, with u from -0.5 to 1.5 over the image.
fn look(metadata: &str) -> String {
    format!(
        "texture2d wood <<< {metadata} >>>;
         shader s(out color c) {{ float u = 2.0 * global_value<uv>.x - 0.5; c = texture2d_sample_level<wood>(u, 0.5, 0.0); }}"
    )
}

#[test]
fn declared_textures_are_read() {
    let folder = wood("declared");
    let drawn = |metadata: &str, args: &[&str]| {
        std::fs::write(folder.join("s.adu"), look(metadata)).expect("a file");
        red(&folder, "s.adu", args)
    };
    let half = srgb::to_linear(128.0 / 255.0) as f32;
    let file = "file = \"wood.png\"";
    let repeated = [0.0, 0.0, half, 1.0, 0.0, 0.0, half, 1.0];
    assert_eq!(drawn(file, &[]), repeated);
    let clamped = [half, half, half, 1.0, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(drawn(&format!("{file}, wrap_u = \"clamp\""), &[]), clamped);
    // The other axis is another one.
    assert_eq!(drawn(&format!("{file}, wrap_v = \"clamp\""), &[]), repeated);
    let mirrored = [1.0, half, half, 1.0, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(
        drawn(&format!("{file}, wrap_u = \"mirror\""), &[]),
        mirrored
    );
    let black = [0.0, 0.0, half, 1.0, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(drawn(&format!("{file}, wrap_u = \"black\""), &[]), black);
    let linear = drawn(&format!("{file}, color_space = \"linear\""), &[]);
    assert!((linear[2] - 128.0 / 255.0).abs() < 1e-6, "{}", linear[2]);
    // The command line replaces the file alone.
    let dark = format!("wood={}", folder.join("dark/wood.png").display());
    assert_eq!(drawn(file, &["--texture", &dark]), [0.0; 8]);
    let stripes = format!("wood={}", folder.join("wood.png").display());
    let metadata = "file = \"missing.png\", wrap_u = \"clamp\"";
    assert_eq!(drawn(metadata, &["--texture", &stripes]), clamped);
}

#[test]
fn declared_files_begin_at_their_source() {
    let folder = wood("declared_beside");
    std::fs::write(folder.join("dark/wood.adu"), look("file = \"wood.png\"")).expect("a file");
    std::fs::write(folder.join("s.adu"), "#include \"dark/wood.adu\"\n").expect("a file");
    assert_eq!(red(&folder, "s.adu", &[]), [0.0; 8]);
    std::fs::write(folder.join("dark/s.adu"), look("file = \"../wood.png\"")).expect("a file");
    assert_eq!(red(&folder, "dark/s.adu", &[])[3], 1.0);
    // A file of bytecode is the source.
    let path = |name: &str| folder.join(name).to_str().expect("text").to_owned();
    let (source, bytecode) = (path("dark/s.adu"), path("dark/s.adub"));
    let emitted = adumbra([
        "emit",
        &source,
        "--stage",
        "bytecode",
        "--globals",
        "picture",
        "-o",
        &bytecode,
    ]);
    assert_eq!(emitted.code, 0, "{}", emitted.stderr);
    assert_eq!(red(&folder, "dark/s.adub", &[])[3], 1.0);
}

#[test]
fn missing_declared_file_is_reported_at_its_declaration() {
    let folder = wood("declared_missing");
    let path = |name: &str| folder.join(name).to_str().expect("text").to_owned();
    std::fs::write(folder.join("dark/wood.adu"), look("file = \"oak.png\"")).expect("a file");
    std::fs::write(folder.join("s.adu"), "#include \"dark/wood.adu\"\n").expect("a file");
    std::fs::write(folder.join("folder.adu"), look("file = \"dark\"")).expect("a file");
    std::fs::write(folder.join("root.adu"), look("file = \"/etc/hosts\"")).expect("a file");
    std::fs::write(folder.join("text.adu"), look("file = \"text.adu\"")).expect("a file");
    for (source, file, place) in [
        ("s.adu", "oak.png", "dark/wood.adu:1:11"),
        ("folder.adu", "dark", "folder.adu:1:11"),
        ("root.adu", "/etc/hosts", "root.adu:1:11"),
        ("text.adu", "text.adu", "text.adu:1:11"),
    ] {
        let ran = adumbra([
            "image",
            &path(source),
            "-o",
            &path("out.png"),
            "--size",
            "2x2",
        ]);
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        let message = format!("the file `{file}` of the texture `wood` cannot be read");
        assert!(
            ran.stderr.contains("E0115") && ran.stderr.contains(&message),
            "{}",
            ran.stderr
        );
        assert!(
            ran.stderr.contains(place) && ran.stderr.contains("--texture wood=FILE"),
            "{}",
            ran.stderr
        );
        assert!(!folder.join("out.png").exists());
        // Without a picture it is the checkerboard.
        let ran = adumbra(["run", &path(source), "--globals", "picture"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
}

#[test]
fn declared_texture_is_not_written_over() {
    let folder = wood("declared_kept");
    let path = |name: &str| folder.join(name).to_str().expect("text").to_owned();
    std::fs::write(folder.join("s.adu"), look("file = \"wood.png\"")).expect("a file");
    let before = std::fs::read(folder.join("wood.png")).expect("a file");
    let ran = adumbra(["image", &path("s.adu"), "-o", &path("wood.png")]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert_eq!(
        std::fs::read(folder.join("wood.png")).expect("a file"),
        before
    );
}
