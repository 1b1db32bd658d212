//! Gradients through discontinuities, and evaluations of them, that are refused.

use super::*;

#[test]
fn refused_jump_gradients_say_why() {
    let program = compile(crate::common::hit_compiler(), DISC);
    let refused = |request: &AdumbraGradientRequest, axes: &[AdumbraAxis], says: &str| {
        let (status, _, found) = jump_gradient(program, request, axes, EDGE);
        assert_eq!(status, AdumbraStatus::Refused);
        let said = report(found);
        assert!(said.contains(says), "{said}");
        call!(adumbra_diagnostics_free(found));
    };
    let [x, y] = axes();
    let at = |scalar| AdumbraAxis { scalar, ..x };
    let spaced = |spacing| AdumbraAxis { spacing, ..x };
    refused(&sized(), &[], "there is no axis");
    refused(&sized(), &[x, x], "is given twice");
    refused(&sized(), &[at(3)], "is no float of a global");
    refused(&sized(), &[at(usize::MAX)], "is no float of a global");
    for spacing in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        refused(&sized(), &[spaced(spacing)], "have no distance");
    }
    let mut many = [x, y, at(2), x, y];
    many[3].global = c"uvw".as_ptr();
    many[4].global = c"uvw".as_ptr();
    refused(&sized(), &many, "there are 5 axes, and at most 4");
    let unknown = AdumbraAxis {
        global: c"positoin".as_ptr(),
        ..x
    };
    refused(&sized(), &[unknown], "did you mean `position`?");
    let wrong = names(&[c"radios"]);
    let request = AdumbraGradientRequest {
        inputs: wrong.as_ptr(),
        input_count: 1,
        ..sized()
    };
    refused(&request, &[x], "did you mean `radius`?");
    let forward = AdumbraGradientRequest {
        mode: AdumbraGradientMode::Forward as u32,
        ..sized()
    };
    refused(&forward, &[x], "this one is forward");

    let last = |axes: &[AdumbraAxis], rules| {
        let (status, _, found) = jump_gradient(program, null(), axes, rules);
        assert!(found.is_null());
        (status, text(adumbra_last_error()))
    };
    let (status, said) = last(&[x], 2);
    assert_eq!(status, AdumbraStatus::InvalidValue);
    assert_eq!(said, "`rules` is 2, which is not from 0 to 1");
    let unnamed = AdumbraAxis {
        global: null(),
        ..x
    };
    let (status, said) = last(&[y, unnamed], EDGE);
    assert_eq!(status, AdumbraStatus::Null);
    assert_eq!(said, "`axes[1].global` is NULL");
    call!(adumbra_program_free(program));

    // Rules of pairs refuse control flow; gradients end at what has none.
    let shader = "shader s(float a = 0.5, out float o) {
        float x = global_value<position>.x; o = 0; while (o < 10 * x) { o += a; } }";
    let program = compile(crate::common::hit_compiler(), shader);
    let (status, _, found) = jump_gradient(program, null(), &[x], 0);
    assert_eq!(status, AdumbraStatus::Refused);
    assert!(report(found).contains("E0571"));
    call!(adumbra_diagnostics_free(found));
    call!(adumbra_program_free(program));
    let shader =
        "texture2d t; shader s(float a = 0.5, out color o) { o = texture2d_sample<t>(a, a); }";
    let program = compile(crate::common::hit_compiler(), shader);
    let (status, made, found) = jump_gradient(program, null(), &[x], EDGE);
    assert_eq!(status, AdumbraStatus::Ok);
    assert!(report(found).contains("W0518"));
    call!(adumbra_diagnostics_free(found));
    call!(adumbra_jump_gradient_free(made));
    // A program of a file has one, too, until it is a gradient itself.
    let compiled = rust_compiler()
        .compile(&adumbra::Sources::new("s.adu", shader))
        .unwrap();
    let derived = compiled.gradient(&Default::default()).unwrap();
    for (program, wanted) in [
        (&compiled, AdumbraStatus::Ok),
        (derived.program(), AdumbraStatus::Refused),
    ] {
        let bytes = program.to_bytecode();
        let loaded = made!(adumbra_program_load(bytes.as_ptr(), bytes.len() ; null_mut()));
        let (status, made, found) = jump_gradient(loaded, null(), &[x], EDGE);
        assert_eq!((status, found.is_null()), (wanted, false));
        call!(adumbra_diagnostics_free(found));
        call!(adumbra_jump_gradient_free(made));
        call!(adumbra_program_free(loaded));
    }
    call!(adumbra_program_free(program));
}

#[test]
fn invalid_evaluations_of_jumps_are_named() {
    let (made, _pixels) = disc(EDGE);
    let mut plane = vec![7.0_f32; POINTS];
    let radius = plane_of(scalar_of(made.smooth, c"d(radius)"), &mut plane, 1);
    let says =
        |options: AdumbraJumpOptions, points, planes: &[AdumbraOutputPlane], status, says: &str| {
            let (given, report) = made.planes(&options, points, planes);
            assert_eq!((given, report.points), (status, 0), "{says}");
            assert_eq!(text(adumbra_last_error()), says);
        };
    let size = AdumbraStatus::Size;
    let value = AdumbraStatus::InvalidValue;
    let all = 0..POINTS;
    let threads = AdumbraJumpOptions {
        threads: 1025,
        ..sized()
    };
    let most = "`options->threads` is 1025, and the most is 1024";
    says(threads, all.clone(), &[radius], size, most);
    let quiet = AdumbraJumpOptions {
        quiet: 2,
        ..sized()
    };
    let to = "`options->quiet` is 2, which is not from 0 to 1";
    says(quiet, all.clone(), &[radius], value, to);
    let image = |first, count| AdumbraJumpOptions {
        image_width: u32::MAX,
        planes_first: first,
        planes_points: count,
        ..sized()
    };
    let outside =
        "`options->planes_points` says that there are points 5 to 9, and 4 to 8 are evaluated";
    says(image(5, 4), 4..8, &[radius], size, outside);
    let beyond = "`options->planes_points` is greater than any number of points";
    says(image(1, usize::MAX), 4..8, &[radius], size, beyond);
    let beyond = "`points` is greater than any number of points";
    says(sized(), 1..usize::MAX, &[radius], size, beyond);
    let long = "`globals` has a plane that is too short for 109 points: scalar 0 of the value of `position`";
    says(image(0, POINTS + 1), all.clone(), &[radius], size, long);
    says(
        sized(),
        1..POINTS + 1,
        &[AdumbraOutputPlane {
            capacity: POINTS,
            ..radius
        }],
        size,
        long,
    );
    let short = [
        radius,
        AdumbraOutputPlane {
            stride: 2,
            ..radius
        },
    ];
    let few = "`planes[1].capacity` is 108, too few for 108 points";
    says(sized(), all.clone(), &short, size, few);
    let shared = AdumbraOutputPlane {
        stride: 0,
        ..radius
    };
    let few = "`planes[0].capacity` is 108, too few for 108 points";
    says(sized(), all.clone(), &[shared], size, few);
    let part = AdumbraOutputPlane { part: 3, ..radius };
    let parts = "`planes[0].part` is 3, which is not from 0 to 2";
    says(sized(), all.clone(), &[part], value, parts);
    let scalar = AdumbraOutputPlane {
        scalar: usize::MAX,
        ..radius
    };
    let scalars = format!(
        "`planes[0].scalar` is {}, and the number of scalars of outputs is 11",
        usize::MAX
    );
    says(
        sized(),
        all.clone(),
        &[scalar],
        AdumbraStatus::Index,
        &scalars,
    );
    let nowhere = AdumbraOutputPlane {
        plane: null_mut(),
        ..radius
    };
    says(
        sized(),
        all.clone(),
        &[nowhere],
        AdumbraStatus::Null,
        "`planes[0].plane` is NULL",
    );
    assert_eq!(plane, [7.0; POINTS]);

    // No points at all, wherever; and an image of one line that is as wide as there can be.
    let (status, report) = made.planes(&sized(), 1_000_000..1_000_000, &[radius]);
    assert_eq!((status, report.points), (AdumbraStatus::Ok, 0));
    assert_eq!(plane, [7.0; POINTS]);
    let (status, _) = made.planes(&image(0, POINTS), 4..POINTS, &[radius]);
    assert_eq!(status, AdumbraStatus::Ok);
    assert!(made.points(&sized(), 0..POINTS).len() > 10);

    let other = Made::new(DISC, &sized(), &axes()[..1], EDGE);
    let with = |instance, globals, options: &AdumbraJumpOptions| {
        let (mut sums, outputs) = (null_mut(), names(&[c"d(radios)"]));
        let status = call!(adumbra_jump_gradient_sums(
            other.jumps,
            instance,
            options,
            globals,
            0,
            1,
            outputs.as_ptr(),
            1,
            null(),
            &raw mut sums,
            null_mut()
        ));
        assert!(sums.is_null());
        (status, text(adumbra_last_error()))
    };
    let said = with(made.instance, other.globals, &sized());
    let of_other = "`instance` is of another program than the smooth one of `jumps`";
    assert_eq!(said, (AdumbraStatus::WrongType, of_other));
    let said = with(other.instance, other.globals, &image(0, 0));
    let one = "`options->image_width` is not 0, and `jumps` has one axis, where an image has two";
    assert_eq!(said, (value, one));
    let (status, said) = with(other.instance, other.globals, &sized());
    assert_eq!(status, AdumbraStatus::UnknownName);
    assert_eq!(
        said,
        "`outputs[0]` is `d(radios)`, and there is no output of that name"
    );
    let shader = "shader s(float a = 1.0, out float o) { o = a * length(global_value<position>); }";
    let different = Made::new(shader, &sized(), &axes(), EDGE);
    let (status, _) = {
        let mut plane = radius;
        plane.scalar = 0;
        let wrong = Made {
            globals: different.globals,
            ..other
        };
        let done = wrong.planes(&sized(), 0..1, &[plane]);
        wrong.free();
        done
    };
    assert_eq!(status, AdumbraStatus::WrongGlobals);
    call!(adumbra_jump_gradient_free(different.jumps));
    call!(adumbra_program_free(different.smooth));
    call!(adumbra_instance_free(different.instance));
    made.free();
}
