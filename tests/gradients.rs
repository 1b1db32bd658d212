//! Derivatives are those of the values: random programs against finite differences, and `f32` against `f64`.

use adumbra_fuzz::campaign::checked;
use adumbra_fuzz::feature::Kind;
use adumbra_fuzz::mix::Mix;
use adumbra_fuzz::oracle::chain::check_gradients;
use adumbra_fuzz::oracle::gradients::Compared;
use adumbra_fuzz::{Profile, Program};

const PROGRAMS: u64 = 700;

#[test]
fn shadows_are_the_slopes_of_values() {
    let (mut mix, mut compared) = (Mix::of(Kind::Gradient), Compared::default());
    for seed in 0..PROGRAMS {
        let program = Program::of_seed(seed, Profile::GRADIENT);
        let found = checked(&program, |program| {
            check_gradients(program, &mut mix, &mut compared)
        });
        if let Err(report) = found {
            panic!("seed {seed}: {report}");
        }
    }
    println!("{mix}\n{compared}");
    assert_eq!(mix.hollow(), None);
    assert_eq!(compared.hollow(), None);
}
