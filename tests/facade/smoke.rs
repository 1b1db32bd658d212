//! The fuzz targets on a bounded number of inputs. `fuzz/targets` runs them without bound.

use adumbra_fuzz::bytecode::mutation::mutant;
use adumbra_fuzz::choices::{Choices, bytes_of_seed};
use adumbra_fuzz::coverage::InputCoverage;
use adumbra_fuzz::generate::token_soup;
use adumbra_fuzz::oracle::chain::EngineChain;
use adumbra_fuzz::oracle::{bytecode, group, source};
use adumbra_fuzz::targets::{FuzzTarget, TARGETS};
use adumbra_fuzz::{GeneratedProgram, Profile};
use std::path::Path;

fn smoke(name: &str, inputs: u64) {
    let target = FuzzTarget::from_name(name).expect("a target of that name");
    let mut seen = InputCoverage::default();
    for seed in 0..inputs {
        let bytes = bytes_of_seed(seed, 16 + (seed as usize * 97) % 1_500);
        target.assert_holds(&bytes, &mut seen);
    }
    println!("{name}: {seen}");
}

#[test]
fn what_campaigns_kept_does_no_harm() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for target in &TARGETS {
        let mut seen = InputCoverage::default();
        for entry in std::fs::read_dir(corpus.join(target.name)).expect("a folder for each target")
        {
            let path = entry.expect("the folder can be read").path();
            let bytes = std::fs::read(&path).expect("the input can be read");
            target.assert_holds(&bytes, &mut seen);
        }
        assert!(seen.inputs > 10, "{}: {seen}", target.name);
    }
}

#[test]
fn every_target_is_smoked_here() {
    let names: Vec<&str> = TARGETS.iter().map(|t| t.name).collect();
    assert_eq!(
        names,
        ["source", "ir_text", "bytecode", "gradients", "group"]
    );
}

#[test]
fn source_smoke() {
    smoke("source", 1_500);
}

#[test]
fn ir_text_smoke() {
    smoke("ir_text", 500);
}

#[test]
fn bytecode_smoke() {
    smoke("bytecode", 1_000);
}

#[test]
fn gradients_smoke() {
    smoke("gradients", 100);
}

#[test]
fn group_smoke() {
    let (mut wires, mut points) = (0, 0);
    for seed in 0..200 {
        let compared = group::check(&bytes_of_seed(seed, 200 + (seed as usize * 97) % 1_500));
        let compared = compared.unwrap_or_else(|what| panic!("seed {seed}: {what}"));
        wires += compared.wires;
        points += compared.points;
    }
    println!("{wires} wires; units run by hand at {points} points");
    assert!(
        wires > 200 && points > 300,
        "{wires} wires, {points} points"
    );
}

#[test]
fn changed_programs_reach_both_sides_of_the_checker() {
    let (mut refused, mut run) = (0, 0);
    for seed in 0..300 {
        match source::check(&token_soup::mutated(&bytes_of_seed(seed, 600))) {
            Ok(source::SourceOutcome::Refused) => refused += 1,
            Ok(source::SourceOutcome::Run) => run += 1,
            Ok(source::SourceOutcome::Library) => {}
            Err(what) => panic!("{what}"),
        }
    }
    assert!(refused > 30 && run >= 5, "{refused} refused, {run} run");
}

#[test]
fn changed_files_reach_both_sides_of_reading() {
    let program = GeneratedProgram::of_seed(7, Profile::ANY);
    let chain = EngineChain::new(&program.source).expect("a generated program is accepted");
    let files = [chain.programs[0].to_bytecode()];
    let (mut refused, mut run) = (0, 0);
    for seed in 0..500 {
        let bytes = bytes_of_seed(seed, 64);
        let changed = mutant(&files, &mut Choices::new(&bytes));
        match bytecode::check(&changed, None).expect("what is accepted stays the same") {
            bytecode::BytecodeOutcome::Refused => refused += 1,
            bytecode::BytecodeOutcome::Run => run += 1,
        }
    }
    assert!(refused > 50 && run > 10, "{refused} refused, {run} run");
}
