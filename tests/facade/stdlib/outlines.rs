//! Properties of `outlines.adu`.

use super::suite::Domain::Whole;
use super::suite::{Function, function};

pub(crate) fn functions() -> Vec<Function> {
    vec![
        function("sd_circle")
            .takes("radius", 0.3, 1.5)
            .equal("sd_circle(float2(3.0, 4.0), 2.0)", "3.0"),
        function("sd_segment")
            .equal("sd_segment(float2(0.5, 3.0), float2(-1.0, 0.0), float2(1.0, 0.0))", "3.0")
            .equal("sd_segment(float2(4.0, 4.0), float2(-1.0, 0.0), float2(1.0, 0.0))", "5.0")
            .equal("sd_segment(float3(-4.0, 4.0, 0.0), float3(-1.0, 0.0, 0.0), float3(1.0, 0.0, 0.0))", "5.0")
            .equal("sd_segment(float3(-0.5, 3.0, 4.0), float3(-1.0, 0.0, 0.0), float3(1.0, 0.0, 0.0))", "5.0")
            .near(1e-05, "sd_segment(mix(p2, q2, t), p2, q2)", "0.0")
            .near(1e-05, "sd_segment(mix(p3, q3, t), p3, q3)", "0.0")
            .equal("sd_segment(p2, q2, q2)", "distance(p2, q2)"),
        function("sd_ngon")
            .takes_from("n", Whole(2, 9))
            .takes("radius", 0.3, 1.5)
            .equal("sd_ngon(float2(0.0, 3.0), 2 + j, 1.0)", "2.0")
            .equal("sd_ngon(float2(2.0, 2.0), 4, 1.0)", "2.121320344")
            .equal("sd_ngon(float2(0.0), 3, 1.0)", "-0.5")
            .equal("sd_ngon(float2(0.0, -2.0), 3, 1.0)", "1.5")
            .equal("sd_ngon(p2, -j, 1.0)", "sd_ngon(p2, 3, 1.0)")
            .near(1e-05, "sd_ngon(rotate(p2, 1.256637061), 5, 1.0)", "sd_ngon(p2, 5, 1.0)")
            .holds("abs(sd_ngon(p2, 5, 1.0) - sd_ngon(q2, 5, 1.0)) <= distance(p2, q2) + 0.00001"),
        function("sd_star")
            .takes_from("n", Whole(2, 9))
            .takes("outer", 0.8, 1.5)
            .takes("inner", 0.1, 0.6)
            .equal("sd_star(float2(0.0, 3.0), 2 + j, 1.0, 0.5)", "2.0")
            .near(1e-05, "sd_star(p2, 5, 1.0, 0.8090169944)", "sd_ngon(p2, 5, 1.0)")
            .near(1e-05, "sd_star(p2, 4, 1.0, 0.7071067812)", "sd_ngon(p2, 4, 1.0)")
            .equal("sd_star(p2, -j, 1.0, 0.1)", "sd_star(p2, 2, 1.0, 0.1)")
            .holds("abs(sd_star(p2, 5, 1.0, 0.3) - sd_star(q2, 5, 1.0, 0.3)) <= distance(p2, q2) + 0.00001"),
    ]
}
