//! Closure trees of points and of batches, node by node.

use crate::common::{compile, evaluate, hit, hit_compiler, report, rust_hit, sized, text, written};
use adumbra::{Compiler, Evaluator, GlobalsLayout, Instance, NoTextures, Sources};
use adumbra_capi::*;
use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

#[test]
fn closure_nodes_are_read() {
    let shader = "shader s(out closure c, out closure none) {
        closure half = 0.5 * make_closure<glossy>(global_value<normal>, 3);
        c = half + color(0.1, 0.2, 0.3) * (half + make_closure<coat>(half));
    }";
    let closures = made!(adumbra_closures_new());
    let add = |name: &std::ffi::CStr, names: &[&std::ffi::CStr], types: &[u32]| {
        let names: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
        call!(adumbra_closures_add(
            closures,
            name.as_ptr(),
            names.as_ptr(),
            types.as_ptr(),
            types.len()
        ))
    };
    let (float3, int) = (AdumbraType::Float3 as u32, AdumbraType::Int as u32);
    assert_eq!(
        add(c"glossy", &[c"normal", c"n"], &[float3, int]),
        AdumbraStatus::Ok
    );
    assert_eq!(
        add(c"coat", &[c"below"], &[AdumbraType::Closure as u32]),
        AdumbraStatus::Ok
    );
    assert_eq!(add(c"coat", &[], &[]), AdumbraStatus::Duplicate);
    assert_eq!(
        add(c"x", &[c"a", c"a"], &[int, int]),
        AdumbraStatus::Duplicate
    );
    assert_eq!(
        add(c"y", &[c"a"], &[AdumbraType::Array as u32]),
        AdumbraStatus::WrongType
    );

    let layout = made!(adumbra_layout_new_hit());
    let options = AdumbraCompilerOptions {
        closures,
        ..sized()
    };
    let compiler = made!(adumbra_compiler_new(layout, &raw const options));
    let unknown = c"shader s(out closure c) { c = make_closure<glosy>(); }";
    let mut refused = null_mut();
    let status = call!(adumbra_compile_source(
        compiler,
        c"s".as_ptr(),
        unknown.as_ptr(),
        ADUMBRA_TO_NUL,
        &raw mut refused,
        null_mut()
    ));
    assert_eq!(status, AdumbraStatus::Refused);

    let program = compile(compiler, shader);
    let instance = made!(adumbra_instance_new(program));
    let evaluator = made!(adumbra_evaluator_new(instance, null()));
    evaluate(evaluator, &hit(3), null());
    let node = |number: u32| {
        let mut closure: AdumbraClosure = sized();
        ok!(adumbra_evaluator_closure(
            evaluator,
            number,
            &raw mut closure
        ));
        closure
    };
    let mut roots = [7; 2];
    ok!(adumbra_evaluator_read(
        evaluator,
        AdumbraPart::Value as u32,
        0,
        2,
        roots.as_mut_ptr().cast()
    ));
    assert_eq!(
        (roots[1], node(roots[1]).kind),
        (0, AdumbraClosureKind::Empty as u32)
    );
    let root = node(roots[0]);
    assert_eq!(root.kind, AdumbraClosureKind::Add as u32);
    let (half, tint) = (node(root.left), node(root.right));
    assert_eq!(
        (half.kind, half.weight),
        (AdumbraClosureKind::Scale as u32, [0.5; 3])
    );
    assert_eq!(
        (tint.kind, tint.weight),
        (AdumbraClosureKind::Tint as u32, [0.1, 0.2, 0.3])
    );
    let sum = node(tint.left);
    assert_eq!(sum.left, root.left);
    let (glossy, coat) = (node(half.left), node(sum.right));
    assert_eq!(
        [glossy.kind, coat.kind],
        [AdumbraClosureKind::Leaf as u32; 2]
    );
    assert_eq!([glossy.arguments, coat.arguments], [4, 1]);

    let mut named: AdumbraVariable = sized();
    let list = AdumbraList::Closures as u32;
    ok!(adumbra_program_variable(
        program,
        list,
        glossy.shape as usize,
        &raw mut named
    ));
    assert_eq!(text(named.name), "glossy");
    let mut arguments = [0_u32; 4];
    let mut needed = 0;
    let to = arguments.as_mut_ptr().cast();
    let small = call!(adumbra_evaluator_closure_arguments(
        evaluator,
        half.left,
        to,
        3,
        &raw mut needed
    ));
    assert_eq!((small, needed), (AdumbraStatus::BufferTooSmall, 4));
    ok!(adumbra_evaluator_closure_arguments(
        evaluator,
        half.left,
        to,
        4,
        &raw mut needed
    ));
    let normal = [18, 19, 20].map(|word| hit(3)[word].to_bits());
    assert_eq!((&arguments[..3], arguments[3]), (&normal[..], 3));
    ok!(adumbra_evaluator_closure_arguments(
        evaluator,
        sum.right,
        to,
        4,
        &raw mut needed
    ));
    assert_eq!((arguments[0], needed), (root.left, 1));
    let no_leaf = call!(adumbra_evaluator_closure_arguments(
        evaluator,
        roots[0],
        to,
        4,
        null_mut()
    ));
    assert_eq!(no_leaf, AdumbraStatus::WrongType);
    assert_eq!(
        [roots[0] + 1, u32::MAX].map(|number| node(number).kind),
        [0, 0]
    );

    let mut needed = 0;
    let mut leaves = [const { MaybeUninit::<AdumbraLeaf>::uninit() }; 2];
    let to = leaves.as_mut_ptr().cast();
    let small = call!(adumbra_evaluator_leaves(
        evaluator,
        roots[0],
        to,
        1,
        &raw mut needed
    ));
    assert_eq!((small, needed), (AdumbraStatus::BufferTooSmall, 2));
    ok!(adumbra_evaluator_leaves(
        evaluator,
        roots[0],
        to,
        2,
        &raw mut needed
    ));
    // SAFETY: both were filled.
    let leaves = leaves.map(|leaf| unsafe { leaf.assume_init() });
    let sums = [0.1, 0.2, 0.3_f32].map(|tint| 0.5 * tint + 0.5);
    for (leaf, number, node, weight) in [
        (leaves[0], half.left, glossy, sums),
        (leaves[1], sum.right, coat, [0.1, 0.2, 0.3]),
    ] {
        assert_eq!((leaf.number, leaf.weight), (number, weight));
        assert_eq!((leaf.shape, leaf.count), (node.shape, node.arguments));
        // SAFETY: the library wrote as many words there, which live until the next evaluation.
        let words = unsafe { std::slice::from_raw_parts(leaf.arguments, leaf.count as usize) };
        let count = words.len();
        ok!(adumbra_evaluator_closure_arguments(
            evaluator,
            number,
            arguments.as_mut_ptr().cast(),
            4,
            null_mut()
        ));
        assert_eq!(words, &arguments[..count]);
    }
    for nothing in [0, roots[0] + 1, u32::MAX] {
        ok!(adumbra_evaluator_leaves(
            evaluator,
            nothing,
            null_mut(),
            0,
            &raw mut needed
        ));
        assert_eq!(needed, 0);
    }

    let rust = Compiler::new(GlobalsLayout::hit())
        .compile(&Sources::new("s.adu", shader))
        .unwrap();
    let mut expected = Evaluator::new(&Instance::new(&rust));
    expected.evaluate(&rust_hit(&rust, 3), &mut NoTextures);
    let tree = expected.closure(rust.closure_slot("c").unwrap());
    for (format, says) in [(0, tree.text().unwrap()), (1, tree.json().unwrap())] {
        let said = written(|to, capacity, needed| {
            call!(adumbra_evaluator_closure_render(
                evaluator, roots[0], format, to, capacity, needed
            ))
        });
        assert_eq!(said, says);
    }
    call!(adumbra_evaluator_free(evaluator));
    call!(adumbra_instance_free(instance));
    call!(adumbra_program_free(program));
    call!(adumbra_compiler_free(compiler));
    call!(adumbra_layout_free(layout));
    call!(adumbra_closures_free(closures));
}

#[test]
fn batch_closures_and_faults_are_per_point() {
    let compiler = hit_compiler();
    let shader = "shader s(out closure k) {
        float3 p = global_value<position>;
        float w[2];
        if (p.x > 0) p.y += w[(int)(100 * p.x) + 2];
        k = p.x > 0 ? p.x * make_closure<glow>(p) : make_closure<dark>();
    }";
    let program = compile(compiler, shader);
    let instance = made!(adumbra_instance_new(program));
    let evaluator = made!(adumbra_batch_evaluator_new(instance, null()));
    let globals = made!(adumbra_batch_globals_new(program));
    let array: Vec<f32> = (0..50).flat_map(hit).collect();
    ok!(adumbra_batch_globals_points(
        globals,
        array.as_ptr().cast(),
        50
    ));
    ok!(adumbra_batch_evaluator_evaluate(
        evaluator,
        globals,
        0,
        50,
        null(),
        null()
    ));
    let is_lit: Vec<bool> = (0..50).map(|point| hit(point)[9] > 0.0).collect();

    let mut roots = [0_u32; 50];
    ok!(adumbra_batch_evaluator_copy(
        evaluator,
        0,
        0,
        roots.as_mut_ptr().cast(),
        50,
        1
    ));
    let mut faulty = [0_usize; 50];
    let mut count = 0;
    ok!(adumbra_batch_evaluator_faulty(
        evaluator,
        faulty.as_mut_ptr(),
        50,
        &raw mut count
    ));
    let lit: Vec<usize> = (0..50).filter(|&point| is_lit[point]).collect();
    assert!(lit.len() > 10 && lit.len() < 40);
    assert_eq!(faulty[..count], lit);
    for point in 0..50 {
        let diagnostics = made!(adumbra_batch_evaluator_faults(evaluator, point));
        let mut faults = 0;
        ok!(adumbra_diagnostics_count(diagnostics, &raw mut faults));
        assert_eq!(faults > 0, is_lit[point]);
        if is_lit[point] {
            assert!(report(diagnostics).starts_with("[W0801] Warning"));
        }
        call!(adumbra_diagnostics_free(diagnostics));

        let mut node: AdumbraClosure = sized();
        ok!(adumbra_batch_evaluator_closure(
            evaluator,
            point,
            roots[point],
            &raw mut node
        ));
        let kind = if is_lit[point] {
            AdumbraClosureKind::Scale
        } else {
            AdumbraClosureKind::Leaf
        };
        assert_eq!(node.kind, kind as u32);
        let leaf = if is_lit[point] {
            node.left
        } else {
            roots[point]
        };
        let mut arguments = [0.0_f32; 3];
        let mut needed = 0;
        let to = arguments.as_mut_ptr().cast();
        ok!(adumbra_batch_evaluator_closure_arguments(
            evaluator,
            point,
            leaf,
            to,
            3,
            &raw mut needed
        ));
        assert_eq!(needed, if is_lit[point] { 3 } else { 0 });
        let mut weighted = [const { MaybeUninit::<AdumbraLeaf>::uninit() }; 2];
        let mut leaves = 0;
        ok!(adumbra_batch_evaluator_leaves(
            evaluator,
            point,
            roots[point],
            weighted.as_mut_ptr().cast(),
            2,
            &raw mut leaves
        ));
        // SAFETY: the first was filled, or is not looked at.
        let first = unsafe { weighted[0].assume_init() };
        assert_eq!((leaves, first.number), (1, leaf));
        assert_eq!(first.count as usize, needed);
        let weight = if is_lit[point] { hit(point)[9] } else { 1.0 };
        assert_eq!(first.weight, [weight; 3]);
        assert!(!is_lit[point] || arguments[0] == hit(point)[9]);
        let says = written(|to, capacity, needed| {
            call!(adumbra_batch_evaluator_closure_render(
                evaluator,
                point,
                roots[point],
                1,
                to,
                capacity,
                needed
            ))
        });
        assert!(
            says.contains(if is_lit[point] { "glow" } else { "dark" }),
            "{says}"
        );
    }
    let mut diagnostics = null_mut();
    let beyond = call!(adumbra_batch_evaluator_faults(
        evaluator,
        50,
        &raw mut diagnostics
    ));
    assert_eq!(beyond, AdumbraStatus::Index);
    let beyond = call!(adumbra_batch_evaluator_leaves(
        evaluator,
        50,
        0,
        null_mut(),
        0,
        null_mut()
    ));
    assert_eq!(beyond, AdumbraStatus::Index);
    call!(adumbra_batch_globals_free(globals));
    call!(adumbra_batch_evaluator_free(evaluator));
    call!(adumbra_instance_free(instance));
    call!(adumbra_program_free(program));
    call!(adumbra_compiler_free(compiler));
}
