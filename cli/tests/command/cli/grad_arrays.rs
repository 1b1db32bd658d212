//! `grad`: seeds of each pixel from arrays of NumPy, and gradients that are written as such.

use super::grad::{DISC, TABLE, grad, npy};
use super::json_of;
use npyz::NpyFile;
use serde_json::json;
use std::path::Path;
use tempfile::tempdir;

fn write(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

/// The members of a zip file, which stores them as they are: names and bytes.
fn members(file: &Path) -> Vec<(String, Vec<u8>)> {
    let bytes = std::fs::read(file).unwrap();
    let number = |at: usize, count: usize| {
        let bytes = bytes[at..at + count].iter().rev();
        bytes.fold(0, |sum, byte| sum << 8 | usize::from(*byte))
    };
    let (mut members, mut at) = (Vec::new(), 0);
    while number(at, 4) == 0x0403_4b50 {
        let (size, name, more) = (number(at + 18, 4), number(at + 26, 2), number(at + 28, 2));
        let (from, to) = (at + 30, at + 30 + name + more);
        let name = String::from_utf8(bytes[from..from + name].to_vec()).unwrap();
        members.push((name, bytes[to..to + size].to_vec()));
        at = to + size;
    }
    members
}

fn array<T: npyz::Deserialize>(members: &[(String, Vec<u8>)], name: &str) -> (Vec<u64>, Vec<T>) {
    let found = members.iter().find(|(known, _)| known == name);
    let file = NpyFile::new(&found.expect("it is there").1[..]).unwrap();
    (file.header().shape().to_vec(), file.into_vec().unwrap())
}

#[test]
fn seeds_of_pixels_weigh_each_of_them() {
    let folder = tempdir().unwrap();
    let numbers: Vec<f32> = (0..9 * 7 * 3)
        .map(|at| (at % 11) as f32 * 0.25 - 1.0)
        .collect();
    let words: Vec<[u8; 4]> = numbers.iter().map(|seed| seed.to_le_bytes()).collect();
    let seeds = |name: &str, shape: &str| {
        format!(
            "c={}",
            write(folder.path(), name, &npy("<f4", shape, &words))
        )
    };
    let seeds = [seeds("a.npy", "(7, 9, 3)"), seeds("b.NPY", "(63, 3)")];
    let image = [
        "--of",
        "c,luma",
        "--size",
        "9x7",
        "--wrt",
        "radius,uv",
        "--json",
    ];
    let with = |args: &[&str]| {
        let ran = grad(DISC, &[&image[..], args].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        json_of(&ran)
    };
    let whole = with(&["--seed", &seeds[0], "--check"]);
    let (mut output, mut radius) = (0.0, 0.0);
    for (at, seed) in numbers.chunks(3).enumerate() {
        let place = format!("{},{}", at % 9, at / 9);
        let uniform = format!("c={},{},{}", seed[0], seed[1], seed[2]);
        let pixel = with(&["--at", &place, "--seed", &uniform]);
        // A file with seeds of all pixels has that of the one, too.
        assert_eq!(
            with(&["--at", &place, "--seed", &seeds[1]]),
            pixel,
            "{place}"
        );
        output += pixel["outputs"]["c"].as_f64().unwrap();
        radius += pixel["gradient"]["radius"].as_f64().unwrap();
    }
    let close = |found: &serde_json::Value, sum: f64| (found.as_f64().unwrap() - sum).abs() < 1e-4;
    assert!(close(&whole["outputs"]["c"], output), "{whole} {output}");
    assert!(
        close(&whole["gradient"]["radius"], radius),
        "{whole} {radius}"
    );
    assert!(
        close(&whole["differences"]["radius"], radius),
        "{whole} {radius}"
    );
    assert_eq!(whole["outputs"]["luma"].to_string(), "0.0");
    let expected = with(&["--seed", &seeds[0]]);
    for engine in ["reference", "point", "batch", "native"] {
        let args = [&image[..], &["--seed", &seeds[1], "--engine", engine]].concat();
        let ran = grad(DISC, &args);
        // A machine may lack an engine.
        if ran.code == 0 {
            assert_eq!(json_of(&ran), expected, "{engine}");
        }
    }
}

#[test]
fn seeds_that_do_not_fit_are_refused() {
    let folder = tempdir().unwrap();
    let refused = |name: &str, bytes: &[u8], says: &str| {
        let seed = format!("luma={}", write(folder.path(), name, bytes));
        let ran = grad(DISC, &["--of", "luma", "--size", "3x2", "--seed", &seed]);
        assert!(
            ran.code == 2 && ran.stderr.contains(says),
            "{says}: {ran:?}"
        );
    };
    let ones = [1.0_f32.to_le_bytes(); 6];
    let needs = "seeds for 6 points have (6,) or (2, 3)";
    refused("a.npy", &npy("<f4", "(3, 2)", &ones), needs);
    refused(
        "a.npy",
        &npy("<f4", "(6, 2)", &[ones, ones].concat()),
        needs,
    );
    refused("a.npy", &npy("<f4", "(5,)", &ones[..5]), needs);
    refused("a.npy", &npy("<f4", "()", &ones[..1]), needs);
    let ints = npy("<i4", "(6,)", &ones);
    refused("a.npy", &ints, "numbers of type <i4, not floats");
    refused("a.npy", b"1 2 3 4 5 6", "it is no array of NumPy");
    refused("a.npy", &npy("<f4", "(6,)", &ones[..4]), "a.npy: ");
    let mut odd = ones;
    odd[4] = f32::NAN.to_le_bytes();
    let says = "the seed of pixel 1,1 is NaN";
    refused("a.npy", &npy("<f4", "(2, 3)", &odd), says);
    let ran = grad(
        DISC,
        &["--of", "luma", "--size", "3x2", "--seed", "luma=none.npy"],
    );
    assert!(
        ran.code == 2 && ran.stderr.contains("none.npy: "),
        "{ran:?}"
    );
    let ran = grad(
        DISC,
        &["--of", "luma", "--size", "3x2", "--seed", "c=none.npy"],
    );
    assert!(
        ran.stderr
            .contains("no such output is differentiated, only `"),
        "{ran:?}"
    );
}

#[test]
fn arrays_of_gradients_are_written() {
    let folder = tempdir().unwrap();
    let out = folder.path().join("g.npz");
    let out_name = out.to_str().unwrap();
    let image = ["--of", "luma", "--size", "9x7", "--wrt", "radius,centre,uv"];
    let ran = grad(DISC, &[&image[..], &["--json", "-o", out_name]].concat());
    let found = json_of(&ran);
    assert_eq!(found["per_point"], json!(true));
    let all = members(&out);
    let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["radius.npy", "centre.npy", "uv.npy"]);
    let (shape, radius) = array::<f32>(&all, "radius.npy");
    assert_eq!(shape, [7, 9]);
    let sum: f64 = radius.iter().copied().map(f64::from).sum();
    assert!((sum - found["gradient"]["radius"].as_f64().unwrap()).abs() < 1e-9);
    let (shape, uv) = array::<f32>(&all, "uv.npy");
    assert_eq!(shape, [7, 9, 2]);
    let at = ["--at", "4,5", "--json"];
    let pixel = json_of(&grad(DISC, &[&image[..], &at].concat()));
    let same = uv[2 * (5 * 9 + 4)..][..2]
        .iter()
        .zip(pixel["gradient"]["uv"].as_array().unwrap());
    for (number, expected) in same {
        assert_eq!(*number, expected.as_f64().unwrap() as f32);
    }

    // Sums of buffers, by the elements that they have.
    let words = |numbers: &[f32]| numbers.iter().map(|x| x.to_le_bytes()).collect::<Vec<_>>();
    let w = format!(
        "w={}",
        write(folder.path(), "w.f32", &words(&[0.5, -1.0]).concat())
    );
    let v = npy("<f4", "(2, 2)", &words(&[1.0, 2.0, 3.0, 4.0]));
    let v = format!("v={}", write(folder.path(), "v.npy", &v));
    let n = format!(
        "n={}",
        write(folder.path(), "n.npy", &npy("<i4", "(2,)", &[[0; 4]; 2]))
    );
    let args = [
        "--wrt",
        "all,buffers",
        "--json",
        "--buffer",
        &w,
        "--buffer",
        &v,
        "--buffer",
        &n,
    ];
    let numbers = json_of(&grad(TABLE, &args))["gradient"].clone();
    let found = json_of(&grad(TABLE, &[&args[..], &["-o", out_name]].concat()));
    assert_eq!(found["gradient"]["w"], json!({ "file": out_name }));
    assert_eq!(found["gradient"]["gain"], numbers["gain"]);
    let all = members(&out);
    let (shape, gain) = array::<f32>(&all, "gain.npy");
    assert!(shape.is_empty() && gain.len() == 1);
    let (shape, v) = array::<f64>(&all, "v.npy");
    assert_eq!(shape, [2, 2]);
    let expected = numbers["v"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|of| of.as_array().unwrap());
    for (found, expected) in v.iter().zip(expected) {
        assert_eq!(*found as f32, expected.as_f64().unwrap() as f32);
    }
}

#[test]
fn gradients_of_pixels_have_a_limit() {
    let source = "shader s(float w[9], out float o) { o = w[0] * global_value<uv>.x; }";
    let ran = grad(source, &["--size", "8192x4096", "-o", "x.npz"]);
    let says = "would take 1207959552 bytes, and 1073741824 is the limit";
    assert!(ran.code == 2 && ran.stderr.contains(says), "{ran:?}");
}
