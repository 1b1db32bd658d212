//! From linear radiance to what a PNG file shows: exposure, then a tone curve.

use clap::ValueEnum;
use glam::{DMat3, DVec3};

/// A tone curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToneCurve {
    /// Radiance as it is; 1 and more is white
    None,
    /// Luminance L becomes L / (1 + L), after Reinhard and others (2002)
    Reinhard,
    /// ACES' reference and output transforms for sRGB, by Hill's fit
    Aces,
    /// AgX after Sobotka, by Wrensch's fit: bright colors turn white as in film
    Agx,
}

/// How radiance is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tone {
    /// Stops: each doubles the light.
    pub(crate) exposure: f32,
    pub(crate) curve: ToneCurve,
}

/// The luminance of Rec. 709's primaries.
const LUMINANCE: DVec3 = DVec3::new(0.2126, 0.7152, 0.0722);

/// The luminance that [`Tone::hint`] exposes for: middle grey.
const MIDDLE_GREY: f64 = 0.18;

impl Tone {
    /// Radiance as it is.
    pub(crate) const NEUTRAL: Tone = Tone {
        exposure: 0.0,
        curve: ToneCurve::None,
    };

    /// The color that is shown, linear, each channel from 0 to 1; NaN is black.
    pub(crate) fn apply(self, pixel: &[f32; 4]) -> DVec3 {
        let color = self.exposed(pixel);
        let color = match self.curve {
            ToneCurve::None => color,
            ToneCurve::Reinhard => color / (1.0 + LUMINANCE.dot(color)),
            ToneCurve::Aces => aces(color),
            ToneCurve::Agx => agx(color),
        };
        color.clamp(DVec3::ZERO, DVec3::ONE)
    }

    /// Radiance after exposure, finite and at least 0.
    fn exposed(self, pixel: &[f32; 4]) -> DVec3 {
        let scale = libm::exp2(self.exposure.into());
        let [r, g, b, _] = pixel.map(|c| f64::from(c.max(0.0)) * scale);
        DVec3::new(r, g, b).min(DVec3::splat(GREATEST))
    }

    /// Says how to see an image of which more than half is beyond white.
    pub(crate) fn hint(self, pixels: &[[f32; 4]]) -> Option<String> {
        let mut seen: Vec<f64> = (pixels.iter())
            .filter(|pixel| pixel[3] > 0.0)
            .map(|pixel| LUMINANCE.dot(self.exposed(pixel)))
            .collect();
        let white = seen.iter().filter(|luminance| **luminance > 1.0).count();
        if 2 * white <= seen.len() {
            return None;
        }
        let middle = seen.len() / 2;
        let (_, median, _) = seen.select_nth_unstable_by(middle, f64::total_cmp);
        let stops = libm::log2(MIDDLE_GREY / *median) + f64::from(self.exposure);
        let stops = stops.round() as i32;
        Some(format!(
            "{} % of what is seen is brighter than white; --exposure {stops} shows it",
            100 * white / seen.len()
        ))
    }
}

/// Radiance beyond this counts as it: curves divide by its square.
const GREATEST: f64 = 1e30;

/// Stephen Hill's fit of ACES' RRT and ODT for sRGB (2016, MIT license; the numbers alone).
fn aces(color: DVec3) -> DVec3 {
    let to_rrt = DMat3::from_cols_array(&[
        0.59719, 0.07600, 0.02840, 0.35458, 0.90834, 0.13383, 0.04823, 0.01566, 0.83777,
    ]);
    let from_odt = DMat3::from_cols_array(&[
        1.60475, -0.10208, -0.00327, -0.53108, 1.10813, -0.07276, -0.07367, -0.00605, 1.07602,
    ]);
    let v = to_rrt * color;
    let a = v * (v + 0.0245786) - 0.000090537;
    let b = v * (0.983729 * v + 0.4329510) + 0.238081;
    from_odt * (a / b)
}

/// AgX (Troy Sobotka, 2022) with Benjamin Wrensch's polynomial for its curve (2023).
fn agx(color: DVec3) -> DVec3 {
    const MIN_STOPS: f64 = -12.47393;
    const MAX_STOPS: f64 = 4.026069;
    let inset = DMat3::from_cols_array(&[
        0.842479062253094,
        0.0423282422610123,
        0.0423756549057051,
        0.0784335999999992,
        0.878468636469772,
        0.0784336,
        0.0792237451477643,
        0.0791661274605434,
        0.879142973793104,
    ]);
    let curve = |c: f64| {
        let stops = libm::log2(c.max(1e-30)).clamp(MIN_STOPS, MAX_STOPS);
        let x = (stops - MIN_STOPS) / (MAX_STOPS - MIN_STOPS);
        let powers = [15.5, -40.14, 31.96, -6.868, 0.4298, 0.1191, -0.00232];
        powers.into_iter().fold(0.0, |sum, factor| sum * x + factor)
    };
    let shown = inset.inverse() * (inset * color).map(curve);
    // The curve gives display values of gamma 2.2.
    shown.map(|c| libm::pow(c.max(0.0), 2.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(curve: ToneCurve, exposure: f32) -> Tone {
        Tone { exposure, curve }
    }

    fn grey(tone: Tone, c: f32) -> f64 {
        let shown = tone.apply(&[c, c, c, 1.0]);
        assert!((shown - shown.x).abs().max_element() < 2e-3, "{shown}");
        shown.x
    }

    #[test]
    fn exposure_counts_in_stops() {
        assert_eq!(grey(tone(ToneCurve::None, 2.0), 0.125), 0.5);
        assert_eq!(grey(tone(ToneCurve::None, -1.0), 1.0), 0.5);
        assert_eq!(grey(tone(ToneCurve::None, 0.0), 7.0), 1.0);
        assert_eq!(grey(tone(ToneCurve::Reinhard, 1.0), 0.5), 0.5);
    }

    #[test]
    fn curves_grow_from_black_to_white() {
        for curve in ToneCurve::value_variants() {
            let shown: Vec<f64> = (-14..=20)
                .map(|stops| grey(tone(*curve, stops as f32), 1.0))
                .collect();
            assert!(
                shown.windows(2).all(|w| w[0] <= w[1] + 1e-9),
                "{curve:?} {shown:?}"
            );
            assert!(shown[0] < 2e-3 && shown[34] > 0.97, "{curve:?} {shown:?}");
        }
    }

    #[test]
    fn middle_grey_is_that_of_each_curve() {
        // By hand from the published formulas.
        for (curve, expected) in [
            (ToneCurve::None, 0.18),
            (ToneCurve::Reinhard, 0.18 / 1.18),
            (ToneCurve::Aces, 0.106),
            (ToneCurve::Agx, 0.2145),
        ] {
            let found = grey(tone(curve, 0.0), 0.18);
            assert!((found - expected).abs() < 2e-3, "{curve:?} {found}");
        }
    }

    #[test]
    fn values_that_are_not_finite_are_black_or_white() {
        for curve in ToneCurve::value_variants() {
            let shown = tone(*curve, 0.0).apply(&[f32::NAN, f32::INFINITY, -1.0, 1.0]);
            assert!(shown.is_finite(), "{curve:?} {shown}");
        }
    }

    #[test]
    fn hint_exposes_image_beyond_white() {
        let bright = vec![[683.0, 683.0, 683.0, 1.0]; 3];
        let hint = tone(ToneCurve::None, 0.0).hint(&bright).expect("a hint");
        assert!(hint.ends_with("--exposure -12 shows it"), "{hint}");
        let grey = [[0.5, 0.5, 0.5, 1.0], [9.0, 9.0, 9.0, 1.0]];
        assert_eq!(tone(ToneCurve::None, 0.0).hint(&grey), None);
        assert_eq!(tone(ToneCurve::None, -12.0).hint(&bright), None);
        assert_eq!(
            tone(ToneCurve::None, 0.0).hint(&[[9.0, 9.0, 9.0, 0.0]]),
            None
        );
    }
}
