//! Removes each lane of every golden program in turn, by force: something changes at one of 1,000
//! points, so no lane is dead.

use super::support::{COST_TABLE, header, path, programs};
use adumbra::{Compiler, GlobalsLayout, Options, Sources, Type};
use adumbra_fuzz::oracle::dead_lanes::{all_lanes, dead_lanes};
use adumbra_ir::{FileId, Module, text};

const POINTS: u64 = 1_000;

/// Longer programs have thousands of lanes, each of which needs the program evaluated anew: more
/// than ten minutes for the long shaders of the cost table.
const MAX_LINES: usize = 200;

/// The post's hit members, the examples' x1 and x2, and a float for each further name in the
/// header's `-g` options.
fn layout(text: &str) -> GlobalsLayout {
    let options = header(text, "run").flat_map(str::split_whitespace);
    let names = options.filter_map(|option| option.split_once('=').map(|(name, _)| name));
    let names = ["x1", "x2"].into_iter().chain(names);
    names.fold(GlobalsLayout::hit(), |layout, name| {
        match layout.member(name) {
            Some(_) => layout,
            None => layout.with(name, Type::FLOAT).expect("a new name"),
        }
    })
}

fn compiled(compiler: &Compiler, sources: &Sources) -> Module {
    let program = compiler.compile(sources).expect("it compiles");
    let ir = program.ir();
    text::parse(&ir, FileId::MAIN).expect("printed IR reads back")
}

#[test]
fn golden_programs_have_no_dead_lane() {
    let examples = path("../examples");
    let mut files = programs("post");
    files.extend(programs(COST_TABLE));
    files.extend(["eval_practical.adu", "procedural_uv.adu"].map(|name| examples.join(name)));
    let mut removed = 0;
    for file in files {
        let source = std::fs::read_to_string(&file).expect("the program can be read");
        if header(&source, "refused").next().is_some() || source.lines().count() > MAX_LINES {
            continue;
        }
        for output_derivatives in [false, true] {
            let options = Options {
                output_derivatives,
                ..Options::default()
            };
            let compiler = Compiler::new(layout(&source)).with_options(options);
            let sources = Sources::new(file.display().to_string(), source.as_str());
            let module = compiled(&compiler, &sources);
            removed += all_lanes(&module).len();
            let found = dead_lanes(&module, POINTS);
            assert!(found.is_empty(), "{}: {found:?}", file.display());
        }
    }
    assert!(removed > 100, "only {removed} lanes were tried");
}

/// The numbers of dead lanes and of all lanes of one source.
fn of_text(text: &str, options: Options) -> (usize, usize) {
    let compiler = Compiler::new(layout(text)).with_options(options);
    let module = compiled(&compiler, &Sources::new("idle.adu", text));
    (dead_lanes(&module, POINTS).len(), all_lanes(&module).len())
}

#[test]
fn loops_arrays_calls_have_no_dead_lane() {
    let text = "texture2d wood;
                float twice(float a) { return a + a; }
                shader main(int n = 3, out float o) {
                    float w[4];
                    float x = global_value<x2>;
                    for (int i = 0; i < n; ++i) { x = sin(x) + global_value<x1>; }
                    w[n] = x;
                    o = texture2d_sample_alpha<wood>(twice(w[n]), global_value<x2>) + ddx(twice(x));
                }";
    let (idle, all) = of_text(text, Options::default());
    assert!(idle == 0 && all > 8, "{idle} of {all}");
}

#[test]
fn dead_lanes_of_merged_demand_are_found() {
    let text = "shader main(out float o) {
                    float x = global_value<x1>, y = global_value<x2>;
                    o = x < y ? ddx(x) : ddy(y);
                }";
    let merged = Options {
        merge_demand: true,
        ..Options::default()
    };
    assert_eq!(of_text(text, Options::default()), (0, 2));
    assert_eq!(of_text(text, merged), (2, 4));
}
