//! Tests of differences in place of shadows, and of the limits of the analysis. `tests/quads.rs`
//! tests the errors, in the language.

use super::super::{AtDivergence, MAX_FIXPOINT_ROUNDS, quads};
use crate::module::*;
use crate::quad::{Corner, Quad};
use crate::text::{SpanComments, parse, print};
use crate::{FileId, verify};

fn module(text: &str) -> Module {
    let module = parse(&format!("adumbra ir 1\n{text}"), FileId::MAIN).expect("the text is IR");
    verify(&module).expect("the module is valid");
    module
}

#[test]
fn shadows_become_differences_and_samples_take_them_as_gradients() {
    let text = "global x: float global y: float texture wood output o: float entry main
        fn main() -> (f32) ^0 {
            %0: f32 = global x[0]
            %1: f32 = global y[0]
            %2: f32 = ddy %0
            %3: f32, %4: f32, %5: f32, %6: f32 = sample wood(%0, %1)
            %7: f32 = add %2, %6
            return %7
        }";
    let made = quads(
        module(text),
        Quad::Coarse(Corner::LowerLeft),
        AtDivergence::Refuse,
    )
    .expect("nothing parts");
    verify(&made).expect("the module is valid");
    let printed = print(&made, SpanComments::Hidden);
    for line in [
        "quad coarse_lower_left",
        "%2: f32 = difference_y %0",
        "%8: f32 = difference_x %0",
        "%9: f32 = difference_x %1",
        "%10: f32 = difference_y %0",
        "%11: f32 = difference_y %1",
        "%3: f32, %4: f32, %5: f32, %6: f32 = sample_gradients wood(%0, %1, %8, %9, %10, %11)",
    ] {
        assert!(printed.contains(line), "{line}\n{printed}");
    }
}

#[test]
fn difference_of_finite_constant_folds() {
    for (bits, left) in [("2.0", 0), ("inf", 1), ("nan", 1)] {
        let text = format!(
            "output o: float entry main
            fn main() -> (f32) ^0 {{ %0: f32 = const {bits} %1: f32 = ddx %0 return %1 }}"
        );
        let made = quads(module(&text), Quad::Fine, AtDivergence::Refuse).expect("nothing parts");
        let (made, _) = super::super::run(made, &super::super::PassOptions::default());
        let insts = made.functions.iter().flat_map(|f| &f.regions);
        let differences = insts
            .flat_map(|region| &region.insts)
            .filter(|inst| matches!(inst.kind, InstKind::Difference(_)));
        assert_eq!(differences.count(), left, "{bits}");
    }
}

#[test]
fn flattened_branches_become_selections() {
    let text = "global x: float output o: float entry main
        fn main() -> (f32) ^0 {
            %0: f32 = global x[0]
            %1: f32 = const 1.0
            %2: bool = flt %0, %1
            %3: f32 = if %2 ^1 {
                %4: f32 = ddx %0
                %5: bool = flt %1, %4
                %6: f32 = if %5 ^3 { %7: f32 = ddy %4 yield %7 } else ^4 { yield %1 }
                yield %6
            } else ^2 {
                yield %0
            }
            return %3
        }";
    assert!(quads(module(text), Quad::Fine, AtDivergence::Refuse).is_err());
    let made = quads(module(text), Quad::Fine, AtDivergence::Flatten).expect("it is flattened");
    verify(&made).expect("the module is valid");
    let printed = print(&made, SpanComments::Hidden);
    for line in [
        "%4: f32 = difference_x %0",
        "%7: f32 = difference_y %4",
        "%6: f32 = select %5, %7, %1",
        "%3: f32 = select %2, %6, %0",
    ] {
        assert!(printed.contains(line), "{line}\n{printed}");
    }
    assert!(!printed.contains("= if"), "{printed}");
}

#[test]
fn difference_outside_quads_is_refused() {
    let text = "output o: float entry main
        fn main() -> (f32) ^0 { %0: f32 = const 2.0 %1: f32 = difference_x %0 return %1 }";
    let text = format!("adumbra ir 1\n{text}");
    let module = parse(&text, FileId::MAIN).expect("the text is IR");
    let violations = verify(&module).unwrap_err();
    assert_eq!(violations[0].rule, crate::verify::Rule::Quad);
    let module = Module {
        quad: Some(Quad::Fine),
        ..module
    };
    assert_eq!(verify(&module), Ok(()));
}

/// A loop that passes `x` down a chain of variables, one an iteration and the last one first, so
/// that a walk follows one link. A derivative comes after a condition that is the same at all
/// points.
fn chain(variables: usize) -> Module {
    let (mut params, mut turned) = (Vec::new(), Vec::new());
    for i in 0..variables {
        params.push(format!("%{}: f32 = %1", 6 + i));
        turned.push(match i + 1 == variables {
            true => "%0".to_owned(),
            false => format!("%{}", 7 + i),
        });
    }
    let text = format!(
        "global x: float input k: float = 1.0 input b: bool = true output o: float entry main
        fn main(%1: f32, %2: bool) -> (f32) ^0 {{
            %0: f32 = global x[0]
            %3: f32 = loop ^1 ({}) {{
                if %2 ^2 {{ break ^1 %6 }} else ^3 {{ yield }}
                continue ^1 {}
            }}
            %4: f32 = if %2 ^4 {{ %5: f32 = ddx %0 yield %5 }} else ^5 {{ yield %3 }}
            return %4
        }}",
        params.join(", "),
        turned.join(", ")
    );
    module(&text)
}

#[test]
fn values_beyond_walk_limit_count_as_varying() {
    // The last walk finds nothing new.
    for (variables, refused) in [
        (1, false),
        (MAX_FIXPOINT_ROUNDS - 2, false),
        (MAX_FIXPOINT_ROUNDS, true),
        (2_000, true),
    ] {
        let made = quads(chain(variables), Quad::Fine, AtDivergence::Refuse);
        assert_eq!(made.is_err(), refused, "{variables}");
    }
}
