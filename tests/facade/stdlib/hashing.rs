//! Properties of `hashing.adu`.

use super::suite::{Function, function};

pub(crate) fn functions() -> Vec<Function> {
    vec![
        function("hash")
            .flat()
            .equal("hash(0u)", "33350994u")
            .equal("hash(7u)", "1071229915u")
            .equal("hash(4294967295u)", "2767685996u")
            .equal("hash(1u, 2u)", "3159311817u")
            .equal("hash(1u, 2u, 3u)", "2888466216u")
            .equal("hash(1u, 2u, 3u, 4u)", "1619284097u")
            .equal("hash(0.5)", "685141222u")
            .equal("hash(float2(0.5, -1.25))", "2302387761u")
            .equal("hash(float3(0.5, -1.25, 3.0))", "2225523508u")
            .equal("hash(float4(0.5, -1.25, 3.0, 100.0))", "1349273379u")
            .equal("hash(float4(0.0) * -1.0)", "hash(float4(0.0))"),
        function("unit_float")
            .flat()
            .equal("unit_float(0x80000000u)", "0.5")
            .equal("unit_float(255u)", "0.0")
            .holds("unit_float(k) >= 0.0 && unit_float(k) < 1.0 && unit_float(0xffffffffu) < 1.0"),
        function("unit_float2")
            .flat()
            .equal("unit_float2(1071229915u)", "float2(0.2494150996208191, 0.3705485463142395)")
            .holds("min_component(unit_float2(k)) >= 0.0 && max_component(unit_float2(k)) < 1.0"),
        function("unit_float3")
            .flat()
            .equal("unit_float3(1071229915u)", "float3(0.2494150996208191, 0.3705485463142395, 0.597892701625824)")
            .holds("min_component(unit_float3(k)) >= 0.0 && max_component(unit_float3(k)) < 1.0"),
        function("unit_float4")
            .flat()
            .equal("unit_float4(1071229915u)", "float4(0.2494150996208191, 0.3705485463142395, 0.597892701625824, 0.10371029376983643)")
            .holds("min_component(unit_float4(k)) >= 0.0 && max_component(unit_float4(k)) < 1.0"),
        function("hash11")
            .flat()
            .equal("hash11(0.5)", "0.15952181816101074")
            .holds("hash11(a) >= 0.0 && hash11(a) < 1.0"),
        function("hash12")
            .flat()
            .equal("hash12(float2(0.5, -1.25))", "0.5360664129257202")
            .holds("hash12(p2) >= 0.0 && hash12(p2) < 1.0"),
        function("hash13")
            .flat()
            .equal("hash13(float3(0.5, -1.25, 3.0))", "0.5181700587272644")
            .holds("hash13(p3) >= 0.0 && hash13(p3) < 1.0"),
        function("hash14")
            .flat()
            .equal("hash14(float4(0.5, -1.25, 3.0, 100.0))", "0.31415218114852905")
            .holds("hash14(p4) >= 0.0 && hash14(p4) < 1.0"),
        function("hash21")
            .flat()
            .equal("hash21(0.5)", "float2(0.15952181816101074, 0.5015863180160522)")
            .holds("min_component(hash21(a)) >= 0.0 && max_component(hash21(a)) < 1.0"),
        function("hash22")
            .flat()
            .equal("hash22(float2(0.5, -1.25))", "float2(0.5360664129257202, 0.23134052753448486)")
            .holds("min_component(hash22(p2)) >= 0.0 && max_component(hash22(p2)) < 1.0"),
        function("hash23")
            .flat()
            .equal("hash23(float3(0.5, -1.25, 3.0))", "float2(0.5181700587272644, 0.3384268283843994)")
            .holds("min_component(hash23(p3)) >= 0.0 && max_component(hash23(p3)) < 1.0"),
        function("hash24")
            .flat()
            .equal("hash24(float4(0.5, -1.25, 3.0, 100.0))", "float2(0.31415218114852905, 0.40952736139297485)")
            .holds("min_component(hash24(p4)) >= 0.0 && max_component(hash24(p4)) < 1.0"),
        function("hash31")
            .flat()
            .equal("hash31(0.5)", "float3(0.15952181816101074, 0.5015863180160522, 0.15647763013839722)")
            .holds("min_component(hash31(a)) >= 0.0 && max_component(hash31(a)) < 1.0"),
        function("hash32")
            .flat()
            .equal("hash32(float2(0.5, -1.25))", "float3(0.5360664129257202, 0.23134052753448486, 0.9873451590538025)")
            .holds("min_component(hash32(p2)) >= 0.0 && max_component(hash32(p2)) < 1.0"),
        function("hash33")
            .flat()
            .equal("hash33(float3(0.5, -1.25, 3.0))", "float3(0.5181700587272644, 0.3384268283843994, 0.27112066745758057)")
            .holds("min_component(hash33(p3)) >= 0.0 && max_component(hash33(p3)) < 1.0"),
        function("hash34")
            .flat()
            .equal("hash34(float4(0.5, -1.25, 3.0, 100.0))", "float3(0.31415218114852905, 0.40952736139297485, 0.6503563523292542)")
            .holds("min_component(hash34(p4)) >= 0.0 && max_component(hash34(p4)) < 1.0"),
        function("hash41")
            .flat()
            .equal("hash41(0.5)", "float4(0.15952181816101074, 0.5015863180160522, 0.15647763013839722, 0.49389731884002686)")
            .holds("min_component(hash41(a)) >= 0.0 && max_component(hash41(a)) < 1.0"),
        function("hash42")
            .flat()
            .equal("hash42(float2(0.5, -1.25))", "float4(0.5360664129257202, 0.23134052753448486, 0.9873451590538025, 0.5941081643104553)")
            .holds("min_component(hash42(p2)) >= 0.0 && max_component(hash42(p2)) < 1.0"),
        function("hash43")
            .flat()
            .equal("hash43(float3(0.5, -1.25, 3.0))", "float4(0.5181700587272644, 0.3384268283843994, 0.27112066745758057, 0.4652734398841858)")
            .holds("min_component(hash43(p3)) >= 0.0 && max_component(hash43(p3)) < 1.0"),
        function("hash44")
            .flat()
            .equal("hash44(float4(0.5, -1.25, 3.0, 100.0))", "float4(0.31415218114852905, 0.40952736139297485, 0.6503563523292542, 0.6901518702507019)")
            .holds("min_component(hash44(p4)) >= 0.0 && max_component(hash44(p4)) < 1.0"),
    ]
}
