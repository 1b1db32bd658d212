//! Tests of the loss pyramid: the adjoint against differences, levels by size, weights.

use super::*;
use crate::CounterStream;
use proptest::prelude::*;

fn shape(width: usize, height: usize, channels: usize) -> RasterShape {
    RasterShape {
        width,
        height,
        channels,
    }
}

fn random(shape: RasterShape, seed: u64) -> Raster {
    let stream = CounterStream::new(seed, &[]);
    let values = (0..shape.floats() as u64).map(|number| stream.centred(number));
    Raster::from_values(shape, values.collect())
}

fn weights(shape: RasterShape, seed: u64) -> Vec<f32> {
    let stream = CounterStream::new(seed, &[]);
    let weight = |number| (stream.centred(number) * 2.0).max(0.0);
    (0..shape.pixels() as u64).map(weight).collect()
}

fn loss(shape: RasterShape, seed: u64, distance: Distance) -> PyramidLoss {
    let target = FitTarget {
        image: random(shape, seed),
        weights: Some(weights(shape, seed ^ 2)),
    };
    PyramidLoss::new(vec![target], distance).unwrap()
}

fn stage_count(width: usize, height: usize) -> usize {
    let shape = shape(width, height, 1);
    let target = FitTarget {
        image: Raster::new(shape),
        weights: None,
    };
    let loss = PyramidLoss::new(vec![target], Distance::L2);
    loss.unwrap().stages()
}

/// How much a step along a random direction changes the loss, by the adjoint and by a difference.
/// L2 is a parabola, of which central differences are exact; L1 is linear where no difference of a
/// level changes its sign, which images far from their targets ensure.
fn changes(loss: &PyramidLoss, stage: usize, seed: u64) -> [f64; 2] {
    let shape = loss.shapes().next().expect("a target");
    let [image, direction] = [3, 4].map(|salt| random(shape, seed ^ salt));
    let moved = |step: f32| {
        let pairs = image.values().iter().zip(direction.values());
        [Raster::from_values(
            shape,
            pairs.map(|(x, d)| 1.5 + x + step * d).collect(),
        )]
    };
    let middle = moved(0.0);
    let mut adjoint = [Raster::new(shape)];
    let with = loss.evaluate(stage, &middle, Some(&mut adjoint));
    let alone = loss.evaluate(stage, &middle, None);
    assert_eq!(with.to_bits(), alone.to_bits());
    // The ends of the step as they were rounded.
    let ends = [moved(0.25), moved(-0.25)];
    let [a, b] = ends.each_ref().map(|end| loss.evaluate(stage, end, None));
    let pairs = ends[0][0].values().iter().zip(ends[1][0].values());
    let steps = pairs.map(|(a, b)| f64::from(*a) - f64::from(*b));
    let slopes = adjoint[0].values().iter();
    let slope = slopes
        .zip(steps)
        .map(|(s, step)| f64::from(*s) * step)
        .sum();
    [slope, a - b]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn adjoint_of_odd_sizes_equals_differences(
        width in 16_usize..90, height in 16_usize..90, channels in 1_usize..4, seed in any::<u64>(),
        distance in prop::sample::select(vec![Distance::L2, Distance::L1]),
    ) {
        let loss = loss(shape(width, height, channels), seed, distance);
        for stage in 0..loss.stages() {
            let [slope, difference] = changes(&loss, stage, seed);
            prop_assert!((slope - difference).abs() < 1e-6, "{stage}: {slope} {difference}");
        }
    }
}

/// Sides large enough for all nine levels.
#[test]
fn adjoint_of_blurred_levels_equals_differences() {
    for distance in [Distance::L2, Distance::L1] {
        let loss = loss(shape(251, 243, 1), 11, distance);
        assert_eq!(loss.stages(), 9);
        for stage in 0..9 {
            let [slope, difference] = changes(&loss, stage, 11);
            let tolerance = 1e-9 + 1e-5 * difference.abs();
            assert!(
                (slope - difference).abs() < tolerance,
                "{stage}: {slope} {difference}"
            );
        }
    }
}

#[test]
fn small_levels_are_left_out() {
    assert_eq!(stage_count(256, 256), 9);
    assert_eq!(stage_count(241, 999), 9);
    assert_eq!(stage_count(240, 240), 8);
    assert_eq!(stage_count(240, 120), 7);
    assert_eq!(stage_count(160, 160), 8);
    assert_eq!(stage_count(31, 40), 6);
    assert_eq!(stage_count(30, 40), 5);
    assert_eq!(stage_count(3, 2), 5);
}

/// A shape at one side of an image moves towards a target at the other, whatever the image's size:
/// the first stage has a slope between them, the sharp levels have none.
#[test]
fn coarsest_level_feels_shapes_from_afar() {
    for side in [16, 40, 160, 256] {
        let shape = shape(side, side, 1);
        let square = |first: usize| {
            let mut image = Raster::new(shape);
            for at in 0..shape.pixels() {
                let [x, y] = [at % side, at / side].map(|at| at * 16 / side);
                if (first..first + 4).contains(&x) && (6..10).contains(&y) {
                    image.values_mut()[at] = 1.0;
                }
            }
            image
        };
        let target = FitTarget {
            image: square(1),
            weights: None,
        };
        let loss = PyramidLoss::new(vec![target], Distance::L2).unwrap();
        let of = |first: usize, stage: usize| loss.evaluate(stage, &[square(first)], None);
        assert!(
            of(9, 0) < 0.95 * of(10, 0),
            "{side}: {} {}",
            of(9, 0),
            of(10, 0)
        );
        assert!(
            of(9, loss.stages() - 1) < of(10, loss.stages() - 1),
            "{side}"
        );
        let flat = |first: usize| loss.judge(&[square(first)]);
        assert_eq!(flat(9), flat(10));
    }
}

/// A constant difference is the same at each level, at borders and beside masked pixels too.
#[test]
fn constant_difference_counts_alike_at_levels() {
    let shape = shape(301, 257, 2);
    let target = FitTarget {
        image: Raster::new(shape),
        weights: Some(weights(shape, 5)),
    };
    let grey = [Raster::from_values(shape, vec![-0.5; shape.floats()])];
    for (distance, expected) in [(Distance::L2, 0.25), (Distance::L1, 0.5)] {
        let loss = PyramidLoss::new(vec![target.clone()], distance).unwrap();
        for stage in 0..9 {
            let value = loss.evaluate(stage, &grey, None) / (stage as f64 + 1.0);
            assert!((value - expected).abs() < 1e-12, "{stage}: {value}");
        }
        assert!((loss.judge(&grey) - expected).abs() < 1e-12);
    }
}

#[test]
fn masked_pixels_count_nothing() {
    let shape = shape(20, 17, 1);
    let mut weights = vec![1.0; shape.pixels()];
    weights[7] = 0.0;
    let mut target = Raster::new(shape);
    target.values_mut()[7] = f32::NAN;
    let target = FitTarget {
        image: target,
        weights: Some(weights),
    };
    let loss = PyramidLoss::new(vec![target], Distance::L2).unwrap();
    let mut image = [Raster::new(shape)];
    image[0].values_mut()[7] = f32::INFINITY;
    let mut adjoint = [Raster::from_values(shape, vec![9.0; shape.floats()])];
    assert_eq!(loss.evaluate(0, &image, Some(&mut adjoint)), 0.0);
    assert!(adjoint[0].values().iter().all(|slope| *slope == 0.0));
}

#[test]
fn wrong_targets_are_refused() {
    let shape = shape(2, 2, 1);
    let new = |weights: Vec<f32>| {
        let target = FitTarget {
            image: Raster::new(shape),
            weights: Some(weights),
        };
        PyramidLoss::new(vec![target], Distance::L1).unwrap_err()
    };
    assert_eq!(new(vec![1.0; 3]), LossError::WeightCount(0));
    assert_eq!(new(vec![0.0; 4]), LossError::NoWeight(0));
    assert_eq!(new(vec![1.0, -1.0, 1.0, 1.0]), LossError::Weight(0));
    let none = PyramidLoss::new(Vec::new(), Distance::L1);
    assert_eq!(none.unwrap_err(), LossError::NoTarget);
    let target = FitTarget {
        image: Raster::from_values(shape, vec![f32::NAN; 4]),
        weights: None,
    };
    let nan = PyramidLoss::new(vec![target], Distance::L1);
    assert_eq!(nan.unwrap_err(), LossError::Colour(0));
}

/// Two targets: their losses are added, the smaller one takes part in each stage.
#[test]
fn targets_of_two_sizes_are_summed() {
    let shapes = [shape(40, 40, 1), shape(17, 17, 1)];
    let targets = shapes.map(|shape| FitTarget {
        image: Raster::new(shape),
        weights: None,
    });
    let loss = PyramidLoss::new(targets.to_vec(), Distance::L2).unwrap();
    assert_eq!(loss.stages(), 6);
    let images = shapes.map(|shape| Raster::from_values(shape, vec![1.0; shape.floats()]));
    assert_eq!(loss.evaluate(0, &images, None), 2.0);
    assert_eq!(loss.evaluate(1, &images, None), 3.0);
    assert_eq!(loss.judge(&images), 2.0);
}
