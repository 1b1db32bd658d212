//! Where the first NaN of a picture comes from.

use super::draw::Job;
use super::host::TileHost;
use super::view::{BAD_DERIVATIVE, NAN};
use adumbra::{Sources, Span, nan_origins};

/// For the first pixel that is NaN, or whose derivative is: which part of the output it is, and the place in the text where it became NaN.
pub fn first(job: &Job<'_>, sources: &Sources, pixels: &[[f32; 4]]) -> Option<String> {
    let first = |verdict| pixels.iter().position(|pixel| pixel[0] == verdict);
    let pixel = first(NAN).or_else(|| first(BAD_DERIVATIVE))?;
    let planes = job.grid.planes([pixel].into_iter());
    let mut globals = job.grid.globals();
    job.grid.point(&planes, 0, &mut globals);
    let at = [pixel];
    let mut host = TileHost::new(job.textures, job.interrupt, &at);
    host.begin(0, job.setup.patience);
    let origins = nan_origins(job.instance, &globals, job.setup.limits, &mut host)?;
    let shown = &origins[job.shown.first..][..job.shown.channels];
    let mut parts = [(0, ""), (1, "ddx of "), (2, "ddy of ")].into_iter();
    let (what, span) = parts.find_map(|(part, what)| {
        let span = shown.iter().find_map(|origin| origin[part]);
        Some((what, span?))
    })?;
    let width = job.grid.size().width() as usize;
    let (x, y) = (pixel % width, pixel / width);
    let name = &job.shown.name;
    Some(format!(
        "at ({x}, {y}) {what}`{name}` became NaN in {}\n",
        place(sources, span)?
    ))
}

/// The place of a span, and its text if that is one line.
fn place(sources: &Sources, span: Span) -> Option<String> {
    let file = sources.get(span.file)?;
    let at = file.place(span.start);
    let text = file.text().get(span.start as usize..span.end as usize)?;
    let text = text.lines().next().unwrap_or_default();
    Some(format!("{}:{}:{}: {text}", file.name(), at.line, at.column))
}
