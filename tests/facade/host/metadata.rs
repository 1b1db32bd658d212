//! Metadata of inputs and outputs reaches the host from a source, bytecode or an object alike.

use adumbra::{
    Compiler, GlobalsLayout, Instance, Program, Sources,
    group::Group,
    program::{Input, Metadata, MetadataValue},
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
