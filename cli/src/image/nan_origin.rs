//! Finds where the first NaN of an image comes from.

use super::draw::DrawJob;
use super::grid::PIXEL_CENTRE;
use super::host::TileHost;
use super::tile::Tile;
use super::view::{BAD_DERIVATIVE, NAN};
use adumbra::{
    Globals, Sources,
    derivatives::Corner,
    diagnostics::Span,
    inspect::{nan_origins, nan_origins_in_quad},
};

/// The origin of the NaN of the first pixel that is NaN, or whose derivative is: its scalar of the
/// output, and the location in the source where it became NaN.
pub fn first_nan_origin(
    job: &DrawJob<'_>,
    sources: &Sources,
    pixels: &[[f32; 4]],
) -> Option<String> {
    let first = |verdict| pixels.iter().position(|pixel| pixel[0] == verdict);
    let pixel = first(NAN).or_else(|| first(BAD_DERIVATIVE))?;
    let (tile, at) = Tile::around(job.region, pixel, job.is_in_quads());
    let planes = job.grid.planes(&tile.positions, PIXEL_CENTRE);
    let globals = (0..tile.positions.len()).map(|at| {
        let mut globals = job.grid.globals();
        job.grid.fill_point(&planes, at, &mut globals);
        globals
    });
    let globals: Vec<Globals> = globals.collect();
    let mut host = TileHost::new(job.textures, job.interrupt, &tile.pixels);
    host.set_first_point(0);
    let (instance, limits) = (job.instance, job.setup.limits(job.instance.program()));
    let origins = match &globals[..] {
        [a, b, c, d] => {
            nan_origins_in_quad(instance, [a, b, c, d], Corner::ALL[at], limits, &mut host)
        }
        others => nan_origins(instance, &others[at], limits, &mut host),
    }?;
    let shown = &origins[job.output.first_scalar..][..job.output.channels];
    let mut parts = [(0, ""), (1, "ddx of "), (2, "ddy of ")].into_iter();
    let (what, span) = parts.find_map(|(part, what)| {
        let span = shown.iter().find_map(|origin| origin[part]);
        Some((what, span?))
    })?;
    let [x, y] = job.region.place(pixel);
    let name = &job.output.name;
    Some(format!(
        "at ({x}, {y}) {what}`{name}` became NaN in {}\n",
        source_location(sources, span)?
    ))
}

/// The location of a span, and its source if that is one line.
pub(super) fn source_location(sources: &Sources, span: Span) -> Option<String> {
    let file = sources.get(span.file)?;
    let at = file.line_column(span.start);
    let text = file.text().get(span.start as usize..span.end as usize)?;
    let text = text.lines().next().unwrap_or_default();
    Some(format!("{}:{}:{}: {text}", file.name(), at.line, at.column))
}
