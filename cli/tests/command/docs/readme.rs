//! The README under test: its size, its commands, its shader, its images and its links.

use super::{blesses, page, pages, replay};
use std::path::PathBuf;

const MAX_LINES: usize = 120;

fn path() -> PathBuf {
    crate::command::project("README.md")
}

fn readme() -> String {
    std::fs::read_to_string(path()).expect("the README is text")
}

/// The lines that a reader is asked to type into a shell.
fn shell_lines(page: &str) -> Vec<&str> {
    let blocks = page::blocks(page);
    let shell = blocks.iter().filter(|block| block.language() == "sh");
    shell.flat_map(|block| block.body.lines()).collect()
}

#[test]
fn readme_is_short() {
    assert!(readme().lines().count() <= MAX_LINES);
}

#[test]
fn readme_shows_what_happens() {
    let text = readme();
    let replayed = replay::replay("../README.md", &text);
    if blesses() && replayed.page != text {
        std::fs::write(path(), &replayed.page).expect("the README can be written");
        return;
    }
    assert!(replayed.problems.is_empty(), "{:?}", replayed.problems);
    let difference = page::difference("../README.md", &text, &replayed.page);
    assert_eq!(difference, None);
}

#[test]
fn readme_shader_is_the_example() {
    let example = crate::command::project("examples/floor.adu");
    let example = std::fs::read_to_string(example).expect("the example is text");
    let pages = [path(), super::folder().join("how-to/mip-levels.md")];
    for page in pages {
        let text = std::fs::read_to_string(&page).expect("a page is text");
        let blocks = page::blocks(&text);
        let mut shaders = blocks.iter().filter(|block| block.language() == "adu");
        let is_shown = shaders.any(|block| example.ends_with(block.body));
        assert!(is_shown, "{} shows another floor", page.display());
    }
}

#[test]
fn readme_first_command_draws_and_second_tests() {
    let text = readme();
    let lines = shell_lines(&text);
    let drawing = lines.first().expect("a command");
    assert_eq!(lines.get(1), Some(&"cargo test --workspace"));

    let console = format!("```console\n$ {drawing}\n```\n");
    let replayed = replay::replay("first command", &console);
    assert!(replayed.problems.is_empty(), "{:?}", replayed.problems);
    assert_eq!(replayed.page, console, "the command prints something");
    let (_, rest) = drawing.split_once(" -o ").expect("an image file");
    let file = rest.split(' ').next().expect("a name");
    let image = adumbra_image::read_image(&replayed.folder.join(file)).expect("an image");
    let first = image.pixels()[0];
    assert!(image.pixels().iter().any(|pixel| *pixel != first));
}

#[test]
fn readme_images_are_drawn_by_pages() {
    let drawn: Vec<PathBuf> = pages()
        .iter()
        .flat_map(|path| {
            let text = std::fs::read_to_string(path).expect("a page is text");
            let images = page::images(&text).into_iter();
            let folder = path.parent().expect("a folder");
            let files = images.map(|image| folder.join(image).canonicalize());
            files.filter_map(Result::ok).collect::<Vec<_>>()
        })
        .collect();
    let text = readme();
    let images = page::images(&text);
    assert!(images.len() >= 4, "{images:?}");
    for image in images {
        let file = crate::command::project(&image).canonicalize();
        let is_drawn = file.is_ok_and(|file| drawn.contains(&file));
        assert!(is_drawn, "{image} is drawn by no page of the book");
    }
}

#[test]
fn readme_links_lead_somewhere() {
    let text = readme();
    let mut missing = page::links(&text);
    missing.retain(|link| !crate::command::project(&link.file).exists());
    assert!(missing.is_empty(), "{missing:?}");
}
