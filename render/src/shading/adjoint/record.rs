//! What a wave writes down as it is traced, so that its light can be followed backwards.

use crate::shading::bsdf::SampleSource;
use crate::shading::point::WavePoint;
use glam::Vec3;
use std::ops::Range;

/// The surfaces and the light of a wave's paths, in the order in which they were reached.
#[derive(Debug, Default)]
pub(in crate::shading) struct WaveRecord {
    pub(super) vertices: Vec<Vertex>,
    pub(super) connections: Vec<Connection>,
    pub(super) crossings: Vec<Crossing>,
    /// The numbers of leaves of all points.
    pub(super) values: Vec<f32>,
    /// By path: the radiance that reaches it where it leaves the scene.
    pub(super) ends: Vec<Vec3>,
    /// The first vertex of the bounce.
    bounce: usize,
    /// The first crossing of the bounce.
    crossed: usize,
}

/// A point of a surface whose material has a gradient.
#[derive(Clone, Debug)]
pub(in crate::shading) struct ShadedPoint {
    /// Where it is shaded.
    pub(super) point: WavePoint,
    /// The unit direction to where it is seen from.
    pub(super) out: Vec3,
    /// The numbers of its leaves.
    pub(super) values: Range<usize>,
}

/// A surface that a path reaches.
#[derive(Clone, Debug)]
pub(super) struct Vertex {
    pub(super) path: usize,
    /// None if the material's inputs are not differentiated by.
    pub(super) shaded: Option<ShadedPoint>,
    /// The path's throughput up to the surface.
    pub(super) throughput: Vec3,
    /// What the surface emits towards the path, and the weight of that.
    pub(super) emission: (Vec3, f32),
    /// Light that reaches it along straight lines.
    pub(super) connections: Range<usize>,
    /// Where the path goes on.
    pub(super) scattered: Option<Scattered>,
}

/// How a path goes on.
#[derive(Clone, Copy, Debug)]
pub(in crate::shading) struct Scattered {
    /// The direction.
    pub(in crate::shading) into: Vec3,
    /// What was sampled.
    pub(in crate::shading) source: SampleSource,
    /// What the throughput is multiplied by.
    pub(in crate::shading) throughput: Vec3,
    /// What the scattered value is multiplied by: the throughput is both.
    pub(in crate::shading) factor: f32,
}

/// Light that reaches a surface along a straight line.
#[derive(Clone, Copy, Debug)]
pub(in crate::shading) struct Connected {
    /// The direction to the light.
    pub(in crate::shading) into: Vec3,
    /// What the scattering function is multiplied by, before what the light crosses.
    pub(in crate::shading) coefficient: Vec3,
    /// The product of both: the light that is scattered, before what it crosses.
    pub(in crate::shading) scattered: Vec3,
    /// What is left of it.
    pub(in crate::shading) value: Vec3,
}

/// Light with what it crosses.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) connected: Connected,
    /// What the light crosses, and the surface that emits it.
    pub(super) crossings: Range<usize>,
}

/// A surface between light and the point that is lit, or the one that emits.
#[derive(Clone, Debug)]
pub(super) struct Crossing {
    /// The shadow ray, by its number in the bounce.
    ray: usize,
    pub(super) kind: CrossingKind,
    /// What the light is multiplied by: transmittance or radiance.
    pub(super) factor: Vec3,
    pub(super) shaded: Option<ShadedPoint>,
}

/// What a surface does to light along a straight line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::shading) enum CrossingKind {
    /// It lets a part pass.
    Passes,
    /// It emits it.
    Emits,
}

impl WaveRecord {
    /// Forgets all, for a wave of that many paths.
    pub(in crate::shading) fn begin(&mut self, paths: usize) {
        let WaveRecord {
            vertices,
            connections,
            crossings,
            values,
            ends,
            bounce,
            crossed,
        } = self;
        vertices.clear();
        connections.clear();
        crossings.clear();
        values.clear();
        ends.clear();
        ends.resize(paths, Vec3::ZERO);
        (*bounce, *crossed) = (0, 0);
    }

    /// A path leaves the scene, where that radiance reaches it.
    pub(in crate::shading) fn end(&mut self, path: usize, radiance: Vec3) {
        self.ends[path] = radiance;
    }

    /// The surfaces of another bounce follow.
    pub(in crate::shading) fn begin_bounce(&mut self) {
        self.bounce = self.vertices.len();
        self.crossed = self.crossings.len();
    }

    /// Keeps a point that is shaded, by the numbers of its leaves; none if it has none.
    fn shaded(&mut self, point: &WavePoint, out: Vec3, values: &[f32]) -> Option<ShadedPoint> {
        let first = self.values.len();
        self.values.extend_from_slice(values);
        (!values.is_empty()).then_some(ShadedPoint {
            point: *point,
            out,
            values: first..self.values.len(),
        })
    }

    /// A path reaches a surface, of which it sees the emission with that weight.
    pub(in crate::shading) fn reach(
        &mut self,
        (path, throughput): (usize, Vec3),
        (point, out, values): (&WavePoint, Vec3, &[f32]),
        emission: (Vec3, f32),
    ) {
        let shaded = self.shaded(point, out, values);
        self.vertices.push(Vertex {
            path,
            shaded,
            throughput,
            emission,
            connections: 0..0,
            scattered: None,
        });
    }

    /// The path of the last surface goes on.
    pub(in crate::shading) fn scatter(&mut self, scattered: Scattered) {
        if let Some(vertex) = self.vertices.last_mut() {
            vertex.scattered = Some(scattered);
        }
    }

    /// A shadow ray of the bounce crosses or reaches a surface.
    pub(in crate::shading) fn cross(
        &mut self,
        ray: usize,
        (kind, factor): (CrossingKind, Vec3),
        (point, out, values): (&WavePoint, Vec3, &[f32]),
    ) {
        let shaded = self.shaded(point, out, values);
        self.crossings.push(Crossing {
            ray,
            kind,
            factor,
            shaded,
        });
    }

    /// All shadow rays of the bounce have been followed: what each crosses comes together.
    pub(in crate::shading) fn end_crossings(&mut self) {
        self.crossings[self.crossed..].sort_by_key(|crossing| crossing.ray);
    }

    /// Light reaches a surface of the bounce along shadow rays, each with its number in the bounce.
    pub(in crate::shading) fn connect(
        &mut self,
        surface: usize,
        rays: impl Iterator<Item = (usize, Connected)>,
    ) {
        let first = self.connections.len();
        for (ray, connected) in rays {
            let own = &self.crossings[self.crossed..];
            let start = self.crossed + own.partition_point(|crossing| crossing.ray < ray);
            let end = self.crossed + own.partition_point(|crossing| crossing.ray <= ray);
            self.connections.push(Connection {
                connected,
                crossings: start..end,
            });
        }
        let all = first..self.connections.len();
        self.vertices[self.bounce + surface].connections = all;
    }
}
