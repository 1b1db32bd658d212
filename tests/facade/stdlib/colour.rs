//! Properties of `colour.adu`.

use super::suite::{Function, function};

pub(crate) fn functions() -> Vec<Function> {
    vec![
        function("luminance")
            .equal("luminance(float3(a))", "a")
            .equal("luminance(float3(0.0, a, 0.0))", "0.7152 * a")
            .equal("luminance(float3(a, 0.0, 0.0))", "0.2126 * a")
            .equal("luminance(c3 + d3)", "luminance(c3) + luminance(d3)"),
        function("srgb_to_linear")
            .takes("c", -0.2, 1.0)
            .equal("srgb_to_linear(t)", "srgb_to_linear(float3(t)).y")
            .equal("srgb_to_linear(1.0)", "1.0")
            .equal("srgb_to_linear(0.5)", "0.2140411")
            .equal("srgb_to_linear(0.02)", "0.00154799")
            .equal("srgb_to_linear(0.0405)", "0.0031348")
            .equal(
                "srgb_to_linear(c3)",
                "float3(srgb_to_linear(c3.x), srgb_to_linear(c3.y), srgb_to_linear(c3.z))",
            )
            .equal(
                "srgb_to_linear(float4(c3, a))",
                "float4(srgb_to_linear(c3), a)",
            ),
        function("linear_to_srgb")
            .takes("c", -0.2, 1.0)
            .near(1e-05, "linear_to_srgb(srgb_to_linear(t))", "t")
            .equal("linear_to_srgb(1.0)", "1.0")
            .equal("linear_to_srgb(0.2140411)", "0.5")
            .equal("linear_to_srgb(0.002)", "0.02584")
            .equal(
                "linear_to_srgb(c3)",
                "float3(linear_to_srgb(c3.x), linear_to_srgb(c3.y), linear_to_srgb(c3.z))",
            )
            .equal(
                "linear_to_srgb(float4(c3, a))",
                "float4(linear_to_srgb(c3), a)",
            ),
        function("hue")
            .takes("c", 0.0, 1.0)
            .equal("hue(float3(t))", "0.0")
            .equal("hue(float3(1.0, 0.0, 0.5))", "0.9166666667")
            .equal("hue(float3(0.5, 1.0, 0.0))", "0.25")
            .equal("hue(float3(0.2, 0.4, 0.8))", "0.6111111111")
            .holds("hue(c3) >= 0.0 && hue(c3) <= 1.0"),
        function("rgb_to_hsv")
            .takes("c", 0.0, 1.0)
            .equal(
                "rgb_to_hsv(float3(0.2, 0.4, 0.8))",
                "float3(0.6111111111, 0.75, 0.8)",
            )
            .equal("rgb_to_hsv(float3(0.0))", "float3(0.0)")
            .equal("rgb_to_hsv(c3).z", "max_component(c3)"),
        function("hsv_to_rgb")
            .near(1e-05, "hsv_to_rgb(rgb_to_hsv(c3))", "c3")
            .near(
                1e-05,
                "hsv_to_rgb(c3 + float3(3.0, 0.0, 0.0))",
                "hsv_to_rgb(c3)",
            ),
        function("rgb_to_hsl")
            .takes("c", 0.0, 1.0)
            .equal(
                "rgb_to_hsl(float3(0.1, 0.2, 0.3))",
                "float3(0.5833333333, 0.5, 0.2)",
            )
            .equal(
                "rgb_to_hsl(float3(0.2, 0.4, 0.8))",
                "float3(0.6111111111, 0.6, 0.5)",
            )
            .equal("rgb_to_hsl(float3(1.0))", "float3(0.0, 0.0, 1.0)"),
        function("hsl_to_rgb")
            .near(2e-05, "hsl_to_rgb(rgb_to_hsl(c3))", "c3")
            .near(
                1e-05,
                "hsl_to_rgb(c3 - float3(3.0, 0.0, 0.0))",
                "hsl_to_rgb(c3)",
            ),
        function("blackbody")
            .takes("kelvin", 1000.0, 15000.0)
            .near(
                0.003,
                "blackbody(2856.0)",
                "float3(1.84500, 0.82609, 0.23328)",
            )
            .near(
                0.003,
                "blackbody(6500.0)",
                "float3(1.04246, 0.98386, 1.03479)",
            )
            .near(
                0.003,
                "blackbody(10000.0)",
                "float3(0.87194, 0.99471, 1.42974)",
            )
            .near(0.0003, "luminance(blackbody(1950.0 + 13050.0 * t))", "1.0")
            .equal("blackbody(1000.0 - 500.0 * t)", "blackbody(1000.0)")
            .equal("blackbody(15000.0 + 5000.0 * t)", "blackbody(15000.0)")
            .near(
                0.002,
                "blackbody(1500.0)",
                "float3(3.2658310, 0.4334350, 0.0)",
            ),
        function("adjust_contrast")
            .componentwise()
            .equal("adjust_contrast(0.5, a)", "0.5")
            .equal("adjust_contrast(b, 1.0, a)", "b")
            .equal("adjust_contrast(0.75, 2.0, 0.25)", "1.25")
            .equal("adjust_contrast(c3, 0.0)", "float3(0.5)"),
        function("adjust_gamma")
            .takes("c", 0.0, 1.0)
            .takes("gamma", 0.5, 3.0)
            .componentwise()
            .equal("adjust_gamma(t, 2.0)", "sqrt(t)")
            .equal("adjust_gamma(-t, 2.0)", "0.0"),
        function("adjust_exposure")
            .componentwise()
            .equal("adjust_exposure(a, 3.0)", "8.0 * a")
            .equal("adjust_exposure(a, -1.0)", "0.5 * a"),
        function("adjust_saturation")
            .equal("luminance(adjust_saturation(c3, a))", "luminance(c3)")
            .equal("adjust_saturation(c3, 1.0)", "c3")
            .equal("adjust_saturation(c3, 0.0)", "float3(luminance(c3))"),
        function("adjust_hue")
            .takes("c", 0.0, 1.0)
            .near(1e-05, "adjust_hue(c3, 1.0)", "c3")
            .near(
                1e-05,
                "adjust_hue(float3(1.0, 0.0, 0.0), 0.3333333333)",
                "float3(0.0, 1.0, 0.0)",
            )
            .near(
                2e-05,
                "rgb_to_hsv(adjust_hue(c3, t)).yz",
                "rgb_to_hsv(c3).yz",
            ),
    ]
}
