//! Light backwards: how a loss of an image depends on the numbers of lobes.
//!
//! Path replay backpropagation (Vicini, Speierer and Jakob, "Path Replay Backpropagation:
//! Differentiating Light Paths using Constant Memory and Linear Time", SIGGRAPH 2021), with samples
//! that stay where they are (*detached*): directions, densities, weights of samples, choices of
//! lobes and the ends of paths count as constants. A wave is traced again with its random numbers,
//! and writes down what it reaches. Then each path is followed from its end to the camera. Light
//! that arrives at a surface is known there, so nothing is divided by what was scattered, which may
//! be 0.
//!
//! Lobes are computed by numbers of a [tape], which gives the adjoint of a material's outputs; the
//! gradient of its program goes on from there.

mod gradient;
mod record;
mod tape;
mod tile;

pub(crate) use gradient::{GradientMaterial, GradientShader, InputSums};
pub(super) use record::{Connected, CrossingKind, Scattered, WaveRecord};
pub(crate) use tile::tile_gradient;

use super::bsdf::{Bsdf, SampleSource};
use super::leaf_values::LeafReader;
use super::material::{MaterialShader, ShaderOutput};
use super::number::Colour;
use super::point::WavePoint;
use glam::Vec3;
use record::{ShadedPoint, Vertex};
use tape::{Tape, TapeNumber};

/// A point that a loss depends on, with the adjoints of its leaves' numbers.
#[derive(Clone, Debug)]
pub(super) struct AdjointPoint {
    pub(super) point: WavePoint,
    /// The first of its adjoints among those of all points.
    pub(super) first: usize,
}

/// The points of a wave that a loss depends on.
#[derive(Debug, Default)]
pub(super) struct AdjointPoints {
    pub(super) points: Vec<AdjointPoint>,
    pub(super) adjoints: Vec<f32>,
    tape: Tape,
    incoming: Vec<Vec3>,
    directions: Vec<(Vec3, Vec3)>,
}

/// The adjoints of what a point gives.
#[derive(Clone, Copy, Debug, Default)]
struct PointAdjoint<'a> {
    emission: Vec3,
    transmittance: Vec3,
    /// Those of the scattering function, each for a direction of light.
    directions: &'a [(Vec3, Vec3)],
    /// Those of a mirror, by its number.
    mirror: Option<(usize, Vec3)>,
}

impl AdjointPoints {
    /// Follows the paths of a wave backwards. `adjoint` has the derivative of the loss by the
    /// radiance of each path.
    pub(super) fn follow(
        &mut self,
        record: &WaveRecord,
        shaders: &[MaterialShader],
        adjoint: &[Vec3],
    ) {
        self.points.clear();
        self.adjoints.clear();
        let mut incoming = std::mem::take(&mut self.incoming);
        incoming.clone_from(&record.ends);
        for vertex in record.vertices.iter().rev() {
            let arriving = incoming[vertex.path];
            // The derivative by the radiance that leaves the surface towards the path.
            let by_radiance = adjoint[vertex.path] * vertex.throughput;
            self.light_vertex(record, shaders, vertex, by_radiance, arriving);
            let (emission, weight) = vertex.emission;
            let lit = &record.connections[vertex.connections.clone()];
            let mut leaving: Vec3 = emission * weight;
            leaving += lit.iter().map(|light| light.connected.value).sum::<Vec3>();
            if let Some(scattered) = &vertex.scattered {
                leaving += scattered.throughput * arriving;
            }
            incoming[vertex.path] = leaving;
        }
        self.incoming = incoming;
    }

    /// Adds the points of a vertex: the surface, and those that its direct light crosses.
    fn light_vertex(
        &mut self,
        record: &WaveRecord,
        shaders: &[MaterialShader],
        vertex: &Vertex,
        by_radiance: Vec3,
        arriving: Vec3,
    ) {
        let mut directions = std::mem::take(&mut self.directions);
        directions.clear();
        for connection in &record.connections[vertex.connections.clone()] {
            let light = &connection.connected;
            let crossings = &record.crossings[connection.crossings.clone()];
            let passes = |without: Option<usize>| {
                let others = crossings.iter().enumerate();
                let others = others.filter(|(at, _)| Some(*at) != without);
                others.fold(Vec3::ONE, |passes, (_, by)| passes * by.factor)
            };
            directions.push((light.into, by_radiance * light.coefficient * passes(None)));
            for (at, crossing) in crossings.iter().enumerate() {
                let Some(shaded) = &crossing.shaded else {
                    continue;
                };
                let by_factor = by_radiance * light.scattered * passes(Some(at));
                let adjoint = match crossing.kind {
                    CrossingKind::Emits => PointAdjoint {
                        emission: by_factor,
                        ..PointAdjoint::default()
                    },
                    CrossingKind::Passes => PointAdjoint {
                        transmittance: by_factor,
                        ..PointAdjoint::default()
                    },
                };
                self.add(record, shaders, shaded, adjoint);
            }
        }
        if let Some(shaded) = &vertex.shaded {
            let mut mirror = None;
            if let Some(scattered) = &vertex.scattered {
                let by_value = by_radiance * arriving * scattered.factor;
                match scattered.source {
                    SampleSource::Rough => directions.push((scattered.into, by_value)),
                    SampleSource::Mirror(number, _) => mirror = Some((number, by_value)),
                }
            }
            let adjoint = PointAdjoint {
                emission: by_radiance * vertex.emission.1,
                directions: &directions,
                mirror,
                ..PointAdjoint::default()
            };
            self.add(record, shaders, shaded, adjoint);
        }
        self.directions = directions;
    }

    /// Adds a point with what the loss depends on of it, if that is anything.
    fn add(
        &mut self,
        record: &WaveRecord,
        shaders: &[MaterialShader],
        shaded: &ShadedPoint,
        adjoint: PointAdjoint<'_>,
    ) {
        let ShaderOutput::Leaves(reader) = &shaders[shaded.point.material].output else {
            return;
        };
        let values = &record.values[shaded.values.clone()];
        let first = self.adjoints.len();
        self.adjoints.resize(first + values.len(), 0.0);
        self.tape.clear();
        let own = &mut self.adjoints[first..];
        differentiate(&self.tape, reader, shaded, values, adjoint, own);
        match own.iter().any(|number| *number != 0.0) {
            true => self.points.push(AdjointPoint {
                point: shaded.point,
                first,
            }),
            false => self.adjoints.truncate(first),
        }
    }
}

/// Sets `adjoints` to the derivatives by the numbers of a point's leaves.
fn differentiate(
    tape: &Tape,
    reader: &LeafReader,
    shaded: &ShadedPoint,
    values: &[f32],
    adjoint: PointAdjoint<'_>,
    adjoints: &mut [f32],
) {
    let numbers: Vec<TapeNumber<'_>> = values.iter().map(|&value| tape.parameter(value)).collect();
    let mut lobes = Vec::new();
    reader.lobes(&numbers, &mut lobes);
    let mut bsdf = Bsdf::default();
    bsdf.set(&lobes, shaded.out, shaded.point.hit.gnormal.value);
    let mut weighed = Vec::new();
    let mut weigh = |colour: Colour<TapeNumber<'_>>, by: Vec3| {
        let channels = colour.0.into_iter().zip(by.to_array());
        weighed.extend(channels.map(|(number, by)| (by, number.id())));
    };
    weigh(bsdf.emission, adjoint.emission);
    weigh(bsdf.transmittance, adjoint.transmittance);
    for &(into, by) in adjoint
        .directions
        .iter()
        .filter(|(_, by)| *by != Vec3::ZERO)
    {
        weigh(bsdf.evaluate(into).value, by);
    }
    if let Some((number, by)) = adjoint.mirror {
        weigh(bsdf.mirror(number), by);
    }
    tape.differentiate(weighed, adjoints);
}

#[cfg(test)]
mod tests;
