//! Lights without a shape: points, spots, and those at infinity.

use glam::{DAffine3, DVec3, Vec3};
use std::f32::consts::FRAC_PI_2;

/// A light without a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Light {
    /// A point light.
    Point {
        /// Where it is in the world.
        position: DVec3,
        /// W/sr, the same in all directions.
        intensity: Vec3,
    },
    /// A point light that shines into a cone.
    Spot {
        /// Where it is in the world.
        position: DVec3,
        /// The unit direction of the cone's axis.
        direction: DVec3,
        /// W/sr along the axis.
        intensity: Vec3,
        /// The cone.
        cone: SpotCone,
    },
    /// A light at infinity.
    Directional {
        /// The unit direction in which its light goes.
        direction: DVec3,
        /// W/m² on a surface across the direction.
        irradiance: Vec3,
    },
}

/// How the light of a spot falls off, from all within the inner angle to nothing at the outer one:
/// KHR_lights_punctual's formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpotCone {
    scale: f64,
    offset: f64,
}

impl SpotCone {
    /// A cone of two angles from its axis, in radians; none if they are not 0 ≤ inner < outer ≤
    /// π/2.
    pub fn new(inner: f64, outer: f64) -> Option<SpotCone> {
        // π/2 of f32 is a bit greater.
        let is_cone = inner >= 0.0 && inner < outer && outer <= f64::from(FRAC_PI_2);
        is_cone.then(|| {
            let (inner, outer) = (libm::cos(inner), libm::cos(outer));
            let scale = 1.0 / (inner - outer).max(0.001);
            SpotCone {
                scale,
                offset: -outer * scale,
            }
        })
    }

    /// The part of the light in a direction with this cosine to the axis.
    pub fn part(&self, cosine: f64) -> f64 {
        let part = (cosine * self.scale + self.offset).clamp(0.0, 1.0);
        part * part
    }
}

/// Light as it arrives at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArrivingLight {
    /// The unit direction towards the light.
    pub direction: DVec3,
    /// How far rays must be free, a bit less than to the light.
    pub distance: f64,
    /// W/m² on a surface across the direction.
    pub irradiance: Vec3,
}

impl Light {
    /// The light at a point, if nothing is between.
    pub fn at(&self, position: DVec3) -> ArrivingLight {
        match *self {
            Light::Directional {
                direction,
                irradiance,
            } => ArrivingLight {
                direction: (-direction).normalize_or_zero(),
                distance: f64::INFINITY,
                irradiance,
            },
            Light::Point {
                position: lamp,
                intensity,
            } => from_lamp(lamp, position, |_| intensity),
            Light::Spot {
                position: lamp,
                direction: axis,
                intensity,
                cone,
            } => from_lamp(lamp, position, |direction| {
                intensity * cone.part(axis.dot(-direction)) as f32
            }),
        }
    }

    /// The same light in a model that is placed in the world. Intensities stay what they are.
    pub(super) fn placed(&self, to_world: &DAffine3) -> Light {
        let turned = |direction: DVec3| {
            let turned = to_world.transform_vector3(direction);
            turned.normalize_or(direction)
        };
        let mut light = *self;
        match &mut light {
            Light::Point { position, .. } => *position = to_world.transform_point3(*position),
            Light::Directional { direction, .. } => *direction = turned(*direction),
            Light::Spot {
                position,
                direction,
                ..
            } => {
                *position = to_world.transform_point3(*position);
                *direction = turned(*direction);
            }
        }
        light
    }
}

fn from_lamp(lamp: DVec3, position: DVec3, intensity: impl Fn(DVec3) -> Vec3) -> ArrivingLight {
    let way = lamp - position;
    let square = way.length_squared();
    let direction = way.normalize_or_zero();
    ArrivingLight {
        direction,
        distance: square.sqrt() * (1.0 - 1e-9),
        irradiance: intensity(direction) * (1.0 / square) as f32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cones_fall_off_between_their_angles() {
        let cone = SpotCone::new(0.3, 0.6).expect("a cone");
        let part = |angle: f64| cone.part(libm::cos(angle));
        assert_eq!((part(0.0), part(0.29), part(0.61)), (1.0, 1.0, 0.0));
        // The formula of the extension, at an angle between.
        let [inner, outer, at] = [0.3, 0.6, 0.4].map(libm::cos);
        let root = (at - outer) / (inner - outer);
        assert!((part(0.4) - root * root).abs() < 1e-12);
        assert!(part(0.3) > part(0.45) && part(0.45) > part(0.6));
        for (inner, outer) in [
            (0.3, 0.3),
            (-0.1, 0.3),
            (0.1, 1.6),
            (f64::NAN, 1.0),
            (0.0, f64::NAN),
        ] {
            assert_eq!(SpotCone::new(inner, outer), None, "{inner} {outer}");
        }
    }

    #[test]
    fn placed_spots_shine_along_their_mapped_axis() {
        let spot = Light::Spot {
            position: DVec3::ZERO,
            direction: DVec3::NEG_Z,
            intensity: Vec3::splat(8.0),
            cone: SpotCone::new(0.0, 0.5).expect("a cone"),
        };
        let map = DAffine3::from_translation(DVec3::new(0.0, 3.0, 0.0))
            * DAffine3::from_rotation_x(-std::f64::consts::FRAC_PI_2)
            * DAffine3::from_scale(DVec3::splat(2.0));
        let placed = spot.placed(&map);
        let below = placed.at(DVec3::new(0.0, 1.0, 0.0));
        assert!(below.direction.abs_diff_eq(DVec3::Y, 1e-12));
        assert!((below.irradiance.x - 2.0).abs() < 1e-5, "{below:?}");
        assert_eq!(placed.at(DVec3::new(0.0, 5.0, 0.0)).irradiance, Vec3::ZERO);
        assert_eq!(placed.at(DVec3::new(2.0, 1.0, 0.0)).irradiance, Vec3::ZERO);
    }
}
