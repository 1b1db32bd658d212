//! The images of a page are those that its commands draw, each pixel; how a file is compressed does
//! not count.

use super::{blesses, name, page};
use adumbra_image::read_image;
use std::path::Path;

/// Problems of the images of a page whose commands were run in a folder. An image that an
/// illustration draws, or an example into a folder, only has to exist.
pub(crate) fn problems(path: &Path, text: &str, folder: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    for link in page::images(text) {
        let kept = path.parent().expect("a folder").join(&link);
        let file = kept.file_name().expect("an image has a name");
        let drawn = Some(folder.join(file)).filter(|drawn| drawn.exists());
        let is_other = drawn.as_ref().is_some_and(|drawn| !is_same(&kept, drawn));
        if let (true, true, Some(drawn)) = (blesses(), is_other, &drawn) {
            std::fs::copy(drawn, &kept).expect("the image can be written");
        }
        let is_illustrated = || {
            let out = format!("-o {}", file.to_string_lossy());
            let blocks = page::blocks(text);
            let mut illustrations = blocks.iter().filter(|block| block.language() == "sh");
            illustrations
                .any(|block| block.body.contains(&out) || block.body.contains(" --example "))
        };
        let complaint = match drawn {
            _ if !kept.exists() => "is not there",
            Some(_) if is_other && !blesses() => "is not what its command draws",
            None if !is_illustrated() => "is drawn by no command of the page",
            _ => continue,
        };
        wrong.push(format!("docs/{}: {link} {complaint}", name(path)));
    }
    wrong
}

/// Whether two files have the same pixels, or if one is no image, the same bytes.
fn is_same(kept: &Path, drawn: &Path) -> bool {
    match [kept, drawn].map(read_image) {
        [Ok(kept), Ok(drawn)] => kept == drawn,
        _ => std::fs::read(kept).ok() == std::fs::read(drawn).ok(),
    }
}
