//! Metadata of inputs, outputs and textures reaches the host from a source, bytecode or an object
//! alike.

use adumbra::{
    Compiler, GlobalsLayout, Instance, Program, Sources,
    diagnostics::Code,
    group::Group,
    program::{Input, JsonInterface, Metadata, MetadataValue, Texture},
    sources::{Folder, Loader},
};

const TEXT: &str = r#"
    shader s(float gain = 0.5 <<< label = "Gain \"g\"", min = -1, max = 1.5, step = 0x10, seed = 3u, slider, off = false, >>>,
             color tint <<< label = "" >>>, int plain = 2 <<< >>>,
             out float o <<< unit = "dB", low = -0.0, least = -2147483648 >>>, out float bare) {
        o = gain * tint.x + plain;
        bare = 0;
    }"#;

fn entry(name: &str, value: MetadataValue) -> Metadata {
    Metadata {
        name: name.to_owned(),
        value,
    }
}

fn text(text: &str) -> MetadataValue {
    MetadataValue::String(text.to_owned())
}

fn gain() -> Vec<Metadata> {
    vec![
        entry("label", text("Gain \"g\"")),
        entry("min", MetadataValue::Int(-1)),
        entry("max", MetadataValue::Float(1.5)),
        entry("step", MetadataValue::Int(16)),
        entry("seed", MetadataValue::Uint(3)),
        entry("slider", MetadataValue::Bool(true)),
        entry("off", MetadataValue::Bool(false)),
    ]
}

fn compiler() -> Compiler {
    Compiler::new(GlobalsLayout::new())
}

#[test]
fn inputs_and_outputs_say_what_was_written_in_order() {
    let program = compiler().compile(&Sources::new("s.adu", TEXT)).unwrap();
    let loaded = Program::from_bytecode(&program.to_bytecode()).unwrap();
    let folded = Instance::new(&program).fold_inputs(&["plain"]).unwrap();
    for program in [&program, &loaded, folded.program()] {
        assert_eq!(program.inputs()[0].metadata, gain());
        assert_eq!(program.inputs()[1].metadata, [entry("label", text(""))]);
        assert!(
            program
                .inputs()
                .iter()
                .skip(2)
                .all(|i| i.metadata.is_empty())
        );
        let o = [
            entry("unit", text("dB")),
            entry("low", MetadataValue::Float(-0.0)),
            entry("least", MetadataValue::Int(i32::MIN)),
        ];
        assert_eq!(program.outputs()[0].metadata, o);
        assert_eq!(program.outputs()[1].metadata, []);
    }
    assert_eq!(program.inputs().len(), 3);
    assert_eq!(folded.program().inputs().len(), 2);
}

#[test]
fn a_definition_takes_what_its_prototype_says() {
    let text = r#"shader s(float gain <<< max = 2 >>>, out float o); shader s(float gain, out float o) { o = gain; }"#;
    let program = compiler().compile(&Sources::new("s.adu", text)).unwrap();
    let max = |input: &Input| {
        input
            .metadata_value("max")
            .and_then(MetadataValue::as_number)
    };
    assert_eq!(max(&program.inputs()[0]), Some(2.0));
}

#[test]
fn what_a_group_exposes_keeps_it() {
    let sources = Sources::new("s.adu", TEXT);
    let mut group = Group::new();
    group
        .unit("a", &sources, None)
        .unit("b", &sources, None)
        .connect(("a", "o"), ("b", "gain"))
        .expose_input("red", ("a", "tint.x"))
        .expose_input("strength", ("a", "gain"))
        .expose_output("result", ("b", "o"));
    let program = compiler().compile_group(&group).unwrap();
    assert_eq!(program.inputs()[0].metadata, [entry("label", text(""))]);
    assert_eq!(program.inputs()[1].metadata, gain());
    assert_eq!(
        program.outputs()[0].metadata_value("unit"),
        Some(&text("dB"))
    );
}

const TEXTURES: &str = r#"
    texture2d wood <<< file = "wood.png", wrap_u = "clamp", anisotropy = 4 >>>, plain;
    shader s(float2 uv, out color c) {
        c = texture2d_sample<plain>(uv) + texture2d_sample<wood>(uv);
    }"#;

#[test]
fn textures_say_what_was_written() {
    let sources = Sources::new("s.adu", TEXTURES);
    let program = compiler().compile(&sources).unwrap();
    let loaded = Program::from_bytecode(&program.to_bytecode()).unwrap();
    let folded = Instance::new(&program).fold().unwrap();
    for program in [&program, &loaded, folded.program()] {
        let [plain, wood] = program.textures() else {
            panic!("{:?}", program.textures())
        };
        assert_eq!((plain.name.as_str(), wood.name.as_str()), ("plain", "wood"));
        assert_eq!(plain.metadata, []);
        let expected = [
            entry("file", text("wood.png")),
            entry("wrap_u", text("clamp")),
            entry("anisotropy", MetadataValue::Int(4)),
        ];
        assert_eq!(wood.metadata, expected);
        let place = wood.span.start as usize..wood.span.end as usize;
        assert_eq!(&TEXTURES[place], "wood");
    }
    let json = serde_json::to_value(JsonInterface::new(&program)).unwrap();
    let expected = serde_json::json!([
        { "name": "plain", "source": "s.adu" },
        { "name": "wood", "source": "s.adu",
          "metadata": { "file": "wood.png", "wrap_u": "clamp", "anisotropy": 4 } },
    ]);
    assert_eq!(json["textures"], expected);
    let json = serde_json::to_value(JsonInterface::new(&loaded)).unwrap();
    assert_eq!(json["textures"][0], serde_json::json!({ "name": "plain" }));
}

#[test]
fn texture_files_are_found_from_their_source() {
    struct Shelf;
    impl Loader for Shelf {
        fn resolve(&self, path: &str, from: &str) -> Result<String, String> {
            Folder::new("").resolve(path, from)
        }
        fn load(&self, _: &str) -> Result<String, String> {
            Ok(r#"texture2d wood <<< file = "wood.png" >>>;"#.to_owned())
        }
    }
    let source = r#"
        #include "lib/wood.adu"
        texture2d own <<< file = "own.png" >>>, out_of_it <<< file = "../../a.png" >>>;
        shader s(out color c) {
            c = texture2d_sample<wood>(0.0, 0.0) + texture2d_sample<own>(0.0, 0.0)
                + texture2d_sample<out_of_it>(0.0, 0.0);
        }"#;
    let sources = Sources::new("floor/s.adu", source)
        .including(&Shelf)
        .unwrap();
    let program = compiler().compile(&sources).unwrap();
    let found = |sources: &Sources, index: usize| {
        let texture = &program.textures()[index];
        sources.read_texture(texture, &Shelf, |name| Ok(name.to_owned()))
    };
    let file = |name: &str| Some(name.to_owned());
    assert_eq!(found(&sources, 0).unwrap(), file("floor/lib/wood.png"));
    assert_eq!(found(&sources, 1).unwrap(), file("floor/own.png"));
    let refused = &found(&sources, 2).unwrap_err().diagnostics[0];
    assert_eq!(refused.code, Code::TextureNotFound);
    assert_eq!(refused.span, program.textures()[2].span);
    // What bytecode was compiled from is not there.
    let bytecode = Sources::new("build/s.adub", "");
    assert_eq!(found(&bytecode, 1).unwrap(), file("build/own.png"));
    let refused = &found(&bytecode, 0).unwrap_err().diagnostics[0];
    assert_eq!(refused.code, Code::TextureNotFound);
}

#[test]
fn textures_of_one_name_in_a_group_have_one_set_of_metadata() {
    let unit = |name: &str, metadata: &str| {
        let text = format!(
            "texture2d wood {metadata}; shader s(out color c) {{ c = texture2d_sample<wood>(0.0, 0.0); }}"
        );
        Sources::new(name, text)
    };
    let compiled = |b: &Sources, is_bound: bool| {
        let a = unit("a/s.adu", "<<< file = \"wood.png\" >>>");
        let mut group = Group::new();
        group
            .unit("b", b, None)
            .unit("a", &a, None)
            .expose_output("x", ("a", "c"))
            .expose_output("y", ("b", "c"));
        if is_bound {
            group.bind_texture("b", "wood", "bark");
        }
        compiler().compile_group(&group)
    };
    let file = |program: &Program, at: usize| {
        let file = program.textures()[at].metadata_str(Texture::FILE);
        file.map(str::to_owned)
    };
    for alike in [
        unit("b.adu", ""),
        unit("a/t.adu", "<<< file = \"wood.png\" >>>"),
    ] {
        let program = compiled(&alike, false).unwrap();
        assert_eq!(program.textures().len(), 1);
        assert_eq!(file(&program, 0).as_deref(), Some("wood.png"));
    }
    for different in [
        unit("a/t.adu", "<<< file = \"bark.png\" >>>"),
        unit("b/s.adu", "<<< file = \"wood.png\" >>>"),
        unit("a/t.adu", "<<< wrap_u = \"clamp\" >>>"),
    ] {
        let found = compiled(&different, false).unwrap_err();
        assert_eq!(found.diagnostics[0].code, Code::FedTwice);
        assert_eq!(compiled(&different, true).unwrap().textures().len(), 2);
    }
}
