//! Properties of `derivatives.adu`.

use super::suite::{Function, function};

pub(crate) fn functions() -> Vec<Function> {
    vec![
        function("fwidth")
            .flat()
            .componentwise()
            .equal("fwidth(a)", "0.7")
            .equal("fwidth(a * b)", "abs(a + b) * 0.7")
            .equal("fwidth(p2)", "float2(0.7, 0.8)"),
        function("filterwidth")
            .flat()
            .componentwise()
            .equal("filterwidth(a)", "0.5")
            .equal("filterwidth(a * b)", "abs(a + b) * 0.5")
            .equal("filterwidth(p2)", "float2(0.5, 0.632455532)"),
    ]
}
