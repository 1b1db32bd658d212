//! Interrupted fits: checkpoints that go on to the same bits, and those that are refused.

use super::{Disc, loss, options, run};
use adumbra_fit::*;

type DiscFit = Fit<Disc, PyramidLoss, Spsa>;

/// SPSA, so that the estimator draws too.
const RULE: Spsa = Spsa {
    step: 0.01,
    samples: 1,
};

fn setup(shader: &str) -> [SetupPart; 2] {
    [
        SetupPart::hashed("shader", shader.as_bytes()),
        SetupPart::new("rules", "spsa"),
    ]
}

fn start(options: FitOptions) -> DiscFit {
    let disc = Disc::new(17, 16);
    let loss = loss(&disc, Distance::L2);
    Fit::new(disc, loss, RULE, options).unwrap()
}

fn resume(
    checkpoint: &[u8],
    options: FitOptions,
    shader: &str,
) -> Result<DiscFit, CheckpointError> {
    let disc = Disc::new(17, 16);
    let loss = loss(&disc, Distance::L2);
    Fit::resume(disc, loss, RULE, options, &setup(shader), checkpoint)
}

/// Interrupted after each of some steps, among them the ends of stages, of restarts and of the fit.
#[test]
fn resumed_fit_is_the_uninterrupted_one() {
    let mut whole = start(options(3, true));
    run(&mut whole);
    let last = whole.checkpoint(&setup("a"));
    let stream = CounterStream::new(1, &[]);
    let (mut fit, mut interruptions) = (start(options(3, true)), 0);
    for step in 0_u64.. {
        if fit.is_done() {
            break;
        }
        if stream.word(step).is_multiple_of(9) || step < 30 {
            let checkpoint = fit.checkpoint(&setup("a"));
            fit = resume(&checkpoint, options(3, true), "a").unwrap();
            assert_eq!(fit.checkpoint(&setup("a")), checkpoint);
            interruptions += 1;
        }
        fit.step().unwrap();
    }
    assert!(interruptions > 30, "{interruptions}");
    assert_eq!(fit.checkpoint(&setup("a")), last);
    let whole: Vec<_> = whole.records().collect();
    assert_eq!(fit.records().collect::<Vec<_>>(), whole);
    assert!(resume(&last, options(3, true), "a").unwrap().is_done());
}

#[test]
fn other_setups_are_refused_by_name() {
    let mut fit = start(options(2, true));
    fit.step().unwrap();
    let checkpoint = fit.checkpoint(&setup("a"));
    let part = |result: Result<DiscFit, CheckpointError>| match result.unwrap_err() {
        CheckpointError::Differs(difference) => difference.part,
        other => panic!("{other}"),
    };
    assert_eq!(part(resume(&checkpoint, options(2, true), "b")), "shader");
    assert_eq!(part(resume(&checkpoint, options(3, true), "a")), "restarts");
    assert_eq!(part(resume(&checkpoint, options(2, false), "a")), "noise");
    let seed = FitOptions {
        random_seed: 8,
        ..options(2, true)
    };
    let error = resume(&checkpoint, seed, "a").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the checkpoint is of another setup: random seed was 7, and is 8"
    );
    let shader = resume(&checkpoint, options(2, true), "b").unwrap_err();
    assert_eq!(
        shader.to_string(),
        "the checkpoint is of another setup: shader is not what it was"
    );
    let accepting = FitOptions {
        accept: Some(0.5),
        ..options(2, true)
    };
    assert_eq!(part(resume(&checkpoint, accepting, "a")), "accepted loss");
    let other = |disc: Disc, setup: &[SetupPart]| {
        let loss = loss(&disc, Distance::L2);
        part(Fit::resume(
            disc,
            loss,
            RULE,
            options(2, true),
            setup,
            &checkpoint,
        ))
    };
    assert_eq!(other(Disc::new(18, 16), &setup("a")), "sizes of images");
    let mut disc = Disc::new(17, 16);
    disc.parameters[1].learning_rate = 0.02;
    assert_eq!(other(disc, &setup("a")), "parameters");
    assert_eq!(other(Disc::new(17, 16), &setup("a")[..1]), "rules");
}

/// Each byte that is lost or changed gives an error or a checkpoint, and no panic.
#[test]
fn altered_checkpoints_are_refused() {
    let mut fit = start(options(2, true));
    for _ in 0..60 {
        fit.step().unwrap();
    }
    let checkpoint = fit.checkpoint(&setup("a"));
    for length in 0..checkpoint.len() {
        let cut = resume(&checkpoint[..length], options(2, true), "a");
        assert!(
            matches!(cut, Err(CheckpointError::Malformed(_))),
            "{length}"
        );
    }
    for at in 0..checkpoint.len() {
        for byte in *b"0-]" {
            let mut altered = checkpoint.clone();
            altered[at] = byte;
            if let Ok(mut fit) = resume(&altered, options(2, true), "a") {
                fit.step().unwrap();
            }
        }
    }
    let text = String::from_utf8(checkpoint).unwrap();
    let altered = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        let bytes = text.replacen(from, to, 1).into_bytes();
        resume(&bytes, options(2, true), "a").unwrap_err()
    };
    assert_eq!(
        altered("\"version\":2", "\"version\":1"),
        CheckpointError::Version(1)
    );
    for (from, to) in [
        ("adumbra fit checkpoint", "another"),
        ("\"restart\":0", "\"restart\":1"),
        ("\"scales\":\"", "\"scales\":\"1 "),
        ("\"mean\":\"", "\"mean\":\"0 "),
        ("\"iterations\":60", "\"iterations\":61000"),
        ("\"idle\":", "\"idle\":9"),
        ("\"still\":0", "\"still\":61"),
        (
            "\"cpu_s\":\"0.0\",\"values\":\"",
            "\"cpu_s\":\"0.0\",\"values\":\"1 ",
        ),
    ] {
        assert!(
            matches!(altered(from, to), CheckpointError::Malformed(_)),
            "{from}"
        );
    }
}

/// An accepted restart ends the fit, also one that goes on; the others begin as they would have.
#[test]
fn accepted_restart_ends_the_fit() {
    let mut whole = start(options(3, true));
    run(&mut whole);
    let losses: Vec<f64> = whole.records().map(|record| record.loss).collect();
    let accepting = |accept: f64| FitOptions {
        accept: Some(accept),
        ..options(3, true)
    };
    // Just what the first restart reached after some stage.
    let reached = whole.records().next().unwrap().trace[1].loss;
    let mut fit = start(accepting(reached));
    run(&mut fit);
    let records: Vec<RestartRecord> = fit.records().cloned().collect();
    assert!(fit.is_accepted() && records.len() == 1);
    assert!(records[0].loss <= reached && records[0].trace.len() == 2);
    let saved = fit.checkpoint(&setup("a"));
    assert!(resume(&saved, accepting(reached), "a").unwrap().is_done());
    let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
    let mut fit = start(accepting(least / 2.0));
    run(&mut fit);
    assert!(!fit.is_accepted());
    assert_eq!(
        fit.records().map(|record| record.loss).collect::<Vec<_>>(),
        losses
    );
    let never = accepting(f64::NAN);
    let disc = Disc::new(17, 16);
    let loss = loss(&disc, Distance::L2);
    assert_eq!(
        Fit::new(disc, loss, RULE, never).unwrap_err(),
        FitSetupError::Accept
    );
}

/// Images of a fit's course come from the parameters of the best restart.
#[test]
fn best_restart_alone_keeps_its_course() {
    let mut fit = start(options(3, true));
    run(&mut fit);
    let best = fit.best().unwrap().restart;
    for record in fit.records() {
        let kept = record.trace.iter().filter(|point| !point.values.is_empty());
        let expected = if record.restart == best {
            record.trace.len()
        } else {
            0
        };
        assert_eq!(kept.count(), expected, "{}", record.restart);
    }
    let best = fit.best().unwrap();
    let least = best
        .trace
        .iter()
        .min_by(|a, b| a.loss.total_cmp(&b.loss))
        .unwrap();
    assert_eq!((least.loss, &least.values), (best.loss, &best.values));
}
