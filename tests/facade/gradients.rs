//! Derivatives are those of the values: random programs against finite differences, and `f32`
//! against `f64`.

use crate::counts::DERIVATIVES;
use adumbra_fuzz::campaign::checked;
use adumbra_fuzz::feature::ProgramKind;
use adumbra_fuzz::mix::ProgramMix;
use adumbra_fuzz::oracle::chain::check_gradients;
use adumbra_fuzz::oracle::gradients::GradientComparison;
use adumbra_fuzz::parallel::check_seeds;
use adumbra_fuzz::{GeneratedProgram, Profile};
use std::ops::AddAssign;

#[derive(Clone)]
struct Counted {
    mix: ProgramMix,
    compared: GradientComparison,
}

impl AddAssign for Counted {
    fn add_assign(&mut self, other: Counted) {
        self.mix += other.mix;
        self.compared += other.compared;
    }
}

#[test]
fn shadows_are_the_slopes_of_values() {
    let nothing = Counted {
        mix: ProgramMix::of(ProgramKind::Gradient),
        compared: GradientComparison::default(),
    };
    let (counted, failure) = check_seeds(0..DERIVATIVES, &nothing, |seed, counted| {
        let Counted { mix, compared } = counted;
        let program = GeneratedProgram::of_seed(seed, Profile::GRADIENT);
        checked(&program, |program| check_gradients(program, mix, compared))
    });
    if let Some(failure) = failure {
        panic!("{failure}");
    }
    let Counted { mix, compared } = counted;
    println!("{mix}\n{compared}");
    assert_eq!(mix.missing_coverage(), None);
    assert_eq!(compared.hollow(), None);
}
