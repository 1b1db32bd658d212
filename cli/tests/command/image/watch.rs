//! `--watch` draws again on save, and keeps the last good image when the shader has an error.

use super::*;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Long enough for any machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A command that watches; it is killed when the test ends.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn new(source: &str, out: &Path) -> Watching {
        let mut child = Command::new(env!("CARGO_BIN_EXE_adumbra"))
            .args(["image", source, "--size", "2x2", "--watch", "-o"])
            .arg(out)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Watching { child, lines }
    }

    /// Waits for a line that contains this.
    fn says(&self, text: &str) {
        loop {
            let line = self.lines.recv_timeout(TIMEOUT);
            let line = line.unwrap_or_else(|_| panic!("nothing said `{text}`"));
            if line.contains(text) {
                return;
            }
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn watched_image_follows_sources_and_includes() {
    let folder = place("watch");
    let path = |name: &str| folder.join(name);
    let save = |name: &str, text: &str| std::fs::write(path(name), text).expect("a file");
    let out = path("watch.png");
    let grey = || bytes_of(&out)[0][0];
    save("grey.adu", "const float GREY = 0.0;");
    save(
        "watch.adu",
        "#include \"grey.adu\"\nshader s(out float o) { o = GREY; }",
    );
    let watching = Watching::new(path("watch.adu").to_str().expect("text"), &out);
    watching.says("wrote");
    assert_eq!(grey(), 0);
    save(
        "watch.adu",
        "#include \"grey.adu\"\nshader s(out float o) { o = GREY + 0.5; }",
    );
    watching.says("wrote");
    assert_eq!(grey(), 188);
    // An error is reported, and the image stays.
    save("grey.adu", "const float GREY = 1.0");
    watching.says("E0");
    assert_eq!(grey(), 188);
    save("grey.adu", "const float GREY = 0.5;");
    watching.says("wrote");
    assert_eq!(grey(), 255);
    drop(watching);
    assert_eq!(listing(&folder), ["grey.adu", "watch.adu", "watch.png"]);
}
