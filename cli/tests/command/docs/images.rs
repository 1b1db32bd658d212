//! The images of a page are those that its commands draw, to the byte.

use super::{blesses, name, page};
use std::path::Path;

/// Problems of the images of a page whose commands were run in a folder. An image that an
/// illustration draws, or an example into a folder, only has to exist.
pub(crate) fn problems(path: &Path, text: &str, folder: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    for link in page::images(text) {
        let kept = path.parent().expect("a folder").join(&link);
        let file = kept.file_name().expect("an image has a name");
        let drawn = std::fs::read(folder.join(file)).ok();
        if let (true, Some(drawn)) = (blesses(), &drawn) {
            std::fs::write(&kept, drawn).expect("the image can be written");
        }
        let is_illustrated = || {
            let out = format!("-o {}", file.to_string_lossy());
            let blocks = page::blocks(text);
            let mut illustrations = blocks.iter().filter(|block| block.language() == "sh");
            illustrations
                .any(|block| block.body.contains(&out) || block.body.contains(" --example "))
        };
        let complaint = match (std::fs::read(&kept).ok(), drawn) {
            (None, _) => "is not there",
            (Some(kept), Some(drawn)) if kept != drawn => "is not what its command draws",
            (Some(_), None) if !is_illustrated() => "is drawn by no command of the page",
            _ => continue,
        };
        wrong.push(format!("docs/{}: {link} {complaint}", name(path)));
    }
    wrong
}
