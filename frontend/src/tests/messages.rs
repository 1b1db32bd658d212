//! Tests of `printf`, and of texture samples with an explicit footprint.

use super::*;
use adumbra_ir::host::{Host, SampleRequest, Sampled};
use adumbra_ir::module::MessageId;

/// The requests and messages of a point, in order.
#[derive(Default)]
struct Log {
    module: Module,
    lines: Vec<String>,
}

impl Host for Log {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        let r = request;
        let mut line = format!(
            "{} {} {}: {} {} {} {}",
            self.module.textures[r.texture.index()].name,
            r.u,
            r.v,
            r.dudx,
            r.dudy,
            r.dvdx,
            r.dvdy
        );
        if let Some(level) = r.level {
            line += &format!(" level {level}");
        }
        self.lines.push(line);
        Sampled::Ready([0.25, 0.5, 0.75, 1.0])
    }

    fn message(&mut self, message: MessageId, args: &[u32]) {
        self.lines
            .push(self.module.messages[message.index()].render(args));
    }
}

fn log(before: &str, body: &str) -> Vec<String> {
    let text = shader("float", 1, before, body);
    let mut log = Log {
        module: module(&text),
        ..Log::default()
    };
    let module = log.module.clone();
    let options = EvalOptions {
        shadows: ShadowMode::Full,
        ..EvalOptions::default()
    };
    evaluate(&module, &point(&module), &options, &mut log);
    // The program after the passes prints the same.
    let (passed, _) = adumbra_ir::passes::run(module.clone(), &Default::default());
    let lines = std::mem::take(&mut log.lines);
    log.module = passed.clone();
    evaluate(&passed, &point(&passed), &EvalOptions::default(), &mut log);
    assert_eq!(log.lines, lines, "{text}");
    lines
}

#[test]
fn messages_come_in_order_with_their_arguments() {
    let before = "texture2d wood; void report(int n) { if (n > 1) printf(\"report %d\\n\", n); } float grow(inout float x) { return x += 1; }";
    let body = "float x = 1.5; printf(\"start\"); printf(\"%g %g, %d%%\", grow(x), x, 7 > 3); report(1); report(2);
        for (int i = 0; i < 3; ++i) { if (i == 1) continue; printf(\"i=%d\", i); o0 += texture2d_sample_alpha<wood>(i, 0); }
        printf(\"%f %.1f %u %x\", 2, global_value<p>, 3u, -1);";
    assert_eq!(
        log(before, body),
        [
            "start",
            "2.5 2.5, 1%",
            "report 2\n",
            "i=0",
            "wood 0 0: 0 0 0 0",
            "i=2",
            "wood 2 0: 0 0 0 0",
            "2.000000 (1.0, 2.0, 3.0) 3 ffffffff"
        ]
    );
}

#[test]
fn messages_demand_no_shadows() {
    let text = shader(
        "float",
        1,
        "",
        "float x = global_value<x>; float unread = x * x; printf(\"%f\", unread); o0 = ddx(x * 2);",
    );
    let (module, _) = adumbra_ir::passes::run(module(&text), &Default::default());
    let report = adumbra_ir::passes::demand_report(&module);
    let lanes = |name: &str| {
        let values = report.iter().flat_map(|f| &f.values);
        values
            .filter(|v| v.name == name)
            .map(|v| v.lanes.name())
            .collect::<String>()
    };
    assert_eq!((lanes("unread").as_str(), lanes("x").as_str()), ("", "x"));
}

#[test]
fn a_function_of_the_user_hides_printf() {
    let before = "float printf(float x) { return x * 2; }";
    assert_eq!(
        floats(&shader("float", 1, before, "o0 = printf(4);")),
        [8.0]
    );
}

#[test]
fn samples_say_their_footprint_in_several_ways() {
    let body = "float x = global_value<x>; float y = global_value<y>; float2 uv = float2(2 * x, 3 * y);
        texture2d_sample<wood>(uv); texture2d_sample<wood>(uv.y, uv.x);
        texture2d_sample_grad<wood>(uv, ddx(uv), ddy(uv)); texture2d_sample_grad<wood>(x, y, 1, 2, 3, 4);
        texture2d_sample_alpha_grad<wood>(uv, float2(1, 2), float2(3, 4));
        texture2d_sample_level<wood>(uv, x); texture2d_sample_level<wood>(x, y, 3);
        o0 = texture2d_sample_alpha_level<wood>(uv, 2.5);";
    assert_eq!(
        log("texture2d wood;", body),
        [
            "wood 3 1.5: 2 0 0 3",
            "wood 1.5 3: 0 3 2 0",
            "wood 3 1.5: 2 0 0 3",
            "wood 1.5 0.5: 1 3 2 4",
            "wood 3 1.5: 1 3 2 4",
            "wood 3 1.5: 0 0 0 0 level 1.5",
            "wood 1.5 0.5: 0 0 0 0 level 3",
            "wood 3 1.5: 0 0 0 0 level 2.5"
        ]
    );
}

#[test]
fn explicit_footprint_demands_no_shadows() {
    let lanes = |call: &str| {
        let text = format!(
            "texture2d wood; shader s(out float o) {{ float u = global_value<x> * 2; o = {call}; }}"
        );
        let (module, _) = adumbra_ir::passes::run(module(&text), &Default::default());
        let values = module.entry().values.iter();
        values.filter(|v| !v.lanes.is_none()).count()
    };
    assert!(lanes("texture2d_sample_alpha<wood>(u, u)") > 0);
    assert_eq!(lanes("texture2d_sample_alpha_level<wood>(u, u, u)"), 0);
    assert_eq!(
        lanes("texture2d_sample_alpha_grad<wood>(u, u, u, u, u, u)"),
        0
    );
}

#[test]
fn invalid_programs_are_refused() {
    let body = |text: &str| {
        codes(&shader(
            "float",
            1,
            "texture2d t; struct s { float a; };",
            text,
        ))
    };
    for wrong in [
        "printf();",
        "printf(o0);",
        "printf(1, 2);",
        "printf(\"%d\");",
        "printf(\"\", 1);",
        "printf(\"%d %d\", 1);",
        "printf(\"%d\", 1, 2);",
        "printf(\"%d\", 1.5);",
        "printf(\"%f\", true);",
        "printf(\"%d\", float2(1));",
        "printf(\"%s\", 1);",
        "printf(\"%\", 1);",
        "printf(\"100%\");",
        "closure c; printf(\"%f\", c);",
        "s v; printf(\"%f\", v);",
        "float w[2]; printf(\"%f\", w);",
        "printf(\"%f\", printf(\"\"));",
    ] {
        assert_eq!(body(wrong), [Code::BadMessage], "{wrong}");
    }
    assert_eq!(body("o0 = \"text\";"), [Code::TextAsValue]);
    assert_eq!(
        body("printf(\"a\", \"b\");"),
        [Code::TextAsValue, Code::BadMessage]
    );
    assert_eq!(body("o0 = printf(\"a\");"), [Code::TypeMismatch]);
    assert_eq!(body("printf(\"%d\", nothing);"), [Code::UnknownName]);
    for wrong in [
        "texture2d_sample<t>();",
        "texture2d_sample<t>(1);",
        "texture2d_sample<t>(1, 2, 3);",
        "texture2d_sample<t>(float3(1));",
        "texture2d_sample_level<t>(1, 2);",
        "texture2d_sample_level<t>(float2(1));",
        "texture2d_sample_grad<t>(float2(1), float2(1));",
        "texture2d_sample_grad<t>(1, 2, 3, 4, 5);",
    ] {
        assert_eq!(body(wrong), [Code::ArgumentCount], "{wrong}");
    }
    assert_eq!(
        body("texture2d_sample_grad<t>(float2(1), float2(1), 1);"),
        [Code::TypeMismatch]
    );
    assert_eq!(
        body("texture2d_sample_level<t>(float2(1), float2(1));"),
        [Code::TypeMismatch]
    );
}

#[test]
fn words_of_other_languages_are_understood() {
    let help = |text: &str| {
        let found = compile(&shader("float3", 1, "texture2d t;", text)).expect_err("it is wrong");
        found[0].help.clone().unwrap_or_default()
    };
    for (text, meant) in [
        ("o0 = tex2D(t, float2(1));", "texture2d_sample<t>"),
        ("o0 = texture(t, float2(1));", "texture2d_sample<t>"),
        (
            "o0 = textureLod(t, float2(1), 2);",
            "texture2d_sample_level<t>",
        ),
        (
            "o0 = tex2Dgrad(t, float2(1), float2(1), float2(1));",
            "texture2d_sample_grad<t>",
        ),
        ("print(1);", "printf("),
    ] {
        assert!(help(text).contains(meant), "{text}: {}", help(text));
    }
}
