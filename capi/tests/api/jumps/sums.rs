//! Sums of gradients through discontinuities, by strips and by buffers, and which are zero.

use super::*;

#[test]
fn sums_of_strips_are_those_of_image() {
    let (made, _pixels) = disc(EDGE);
    let image = AdumbraJumpOptions {
        image_width: WIDTH as u32,
        ..sized()
    };
    let of = [c"d(radius)", c"d(centre)", c"c"];
    let totals = |sums| {
        let total = |name: &&CStr| {
            let (mut totals, mut count) = ([0.0; 3], 0);
            ok!(adumbra_sums_total(
                sums,
                name.as_ptr(),
                totals.as_mut_ptr(),
                3,
                &raw mut count
            ));
            totals.map(f64::to_bits)[..count].to_vec()
        };
        of.iter().map(total).collect::<Vec<_>>()
    };
    let whole = made.sums(&image, 0..POINTS, &of);
    let expected = totals(whole);
    let mut by_radius = vec![0.0_f32; POINTS];
    let plane = plane_of(scalar_of(made.smooth, c"d(radius)"), &mut by_radius, 1);
    let (status, _) = made.planes(&image, 0..POINTS, &[plane]);
    assert_eq!(status, AdumbraStatus::Ok);
    let sum: f64 = by_radius.iter().map(|&float| f64::from(float)).sum();
    assert!((f64::from_bits(expected[0][0]) - sum).abs() < 1e-9 && sum > 1.0);
    // By strips, each with planes of its own lines and those around them.
    let mut joined: *mut AdumbraSums = null_mut();
    for lines in [0..2, 2..7, 7..HEIGHT] {
        let around = lines.start.saturating_sub(1)..HEIGHT.min(lines.end + 1);
        let pixels = pixels(around.start * WIDTH..around.end * WIDTH);
        for (scalar, plane) in pixels.iter().enumerate() {
            made.plane(c"position", scalar, plane);
        }
        let options = AdumbraJumpOptions {
            numbered_from: (around.start * WIDTH) as u64,
            planes_points: around.len() * WIDTH,
            threads: 2,
            ..image
        };
        let first = (lines.start - around.start) * WIDTH;
        let strip = made.sums(&options, first..first + lines.len() * WIDTH, &of);
        if joined.is_null() {
            joined = strip;
            continue;
        }
        ok!(adumbra_sums_join(joined, strip));
        let twice = call!(adumbra_sums_join(joined, strip));
        assert_eq!(twice, AdumbraStatus::Duplicate);
        call!(adumbra_sums_free(strip));
    }
    assert_eq!(totals(joined), expected);
    call!(adumbra_sums_free(joined));
    call!(adumbra_sums_free(whole));
    made.free();
}

#[test]
fn buffers_have_edges_in_sums() {
    let shader = "buffer<float> w; shader s(out float c) { c = w[0] * step(global_value<position>.x, w[1]); }";
    let by = AdumbraGradientRequest {
        all_buffers: 1,
        ..sized()
    };
    let made = Made::new(shader, &by, &axes()[..1], EDGE);
    let w = [3.0_f32, 0.4];
    let (name, float) = (c"w".as_ptr(), AdumbraType::Float as u32);
    ok!(adumbra_instance_set_buffer(
        made.instance,
        name,
        float,
        w.as_ptr().cast(),
        2
    ));
    made.plane(c"position", 0, &[-1.0, 0.0, 1.0, 2.0]);
    made.seed(c"d(c)", &[1.0]);
    let sums = made.sums(&sized(), 0..4, &[]);
    let mut totals = [0.0; 2];
    ok!(adumbra_sums_buffer(
        sums,
        name,
        totals.as_mut_ptr(),
        2,
        null_mut()
    ));
    // As the facade's test has it.
    assert_eq!(totals, [2.0, 3.0]);
    call!(adumbra_sums_free(sums));
    made.free();
}

#[test]
fn zero_gradients_are_those_of_edges() {
    let (made, _) = disc(EDGE);
    let jumps = rust_disc(JumpRules::Edge);
    let smooth = jumps.smooth();
    let outputs = smooth.outputs().len();
    for (at, by) in smooth.parameters().iter().enumerate() {
        let mut is_zero = 7;
        ok!(adumbra_jump_gradient_is_zero(
            made.jumps,
            outputs + at,
            &raw mut is_zero
        ));
        assert_eq!(is_zero == 1, jumps.is_zero(by), "{}", by.value.name);
        assert_eq!(is_zero == 1, by.value.name == "unused");
    }
    let (count, mut is_zero) = (outputs + smooth.parameters().len(), 7);
    ok!(adumbra_jump_gradient_is_zero(
        made.jumps,
        0,
        &raw mut is_zero
    ));
    assert_eq!(is_zero, 0);
    let beyond = call!(adumbra_jump_gradient_is_zero(
        made.jumps,
        count,
        &raw mut is_zero
    ));
    assert_eq!(beyond, AdumbraStatus::Index);
    made.free();
}

#[test]
fn uniform_global_has_neighbours_along_axis() {
    let made = Made::new(
        "shader s(float edge = 0.4, out float c) { c = step(global_value<position>.x, edge); }",
        &sized(),
        &axes()[..1],
        EDGE,
    );
    made.seed(c"d(c)", &[1.0]);
    let uniform = names(&[c"position"]);
    let batch = AdumbraBatchOptions {
        uniform: uniform.as_ptr(),
        uniform_count: 1,
        ..sized()
    };
    let options = AdumbraJumpOptions {
        batch: &raw const batch,
        ..sized()
    };
    let mut by_edge = [7.0_f32; 3];
    let plane = plane_of(scalar_of(made.smooth, c"d(edge)"), &mut by_edge, 1);
    let (status, report) = made.planes(&options, 0..3, &[plane]);
    assert_eq!((status, report.points), (AdumbraStatus::Ok, 3));
    assert_eq!(by_edge, [0.5; 3]);
    made.free();
}
