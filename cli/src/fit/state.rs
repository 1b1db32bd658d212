//! The state of a fit in a file: what it belongs to, and why another fit does not go on from it.

use super::search::RunningFit;
use crate::args::fit::FitArgs;
use crate::error::{CliError, CliResult};
use crate::input;
use crate::report::{self, OutputFormat};
use adumbra::Sources;
use adumbra_fit::{CheckpointError, FitTarget, SetupDifference, SetupPart, write_atomically};
use std::path::{Path, PathBuf};

/// The file of the state, in the folder of `--checkpoint`.
const STATE_FILE: &str = "fit.json";

/// The name of the parts that are the sources of the shader.
const SHADER: &str = "shader";

/// By name in `adumbra_fit`, the options that parts come from.
const OPTIONS: [(&str, &str); 6] = [
    ("restarts", "--restarts"),
    ("random seed", "--random-seed"),
    ("noise", "--noise"),
    ("accepted loss", "--accept"),
    ("iterations of a stage", "--iterations"),
    ("sizes of images", "--size"),
];

/// The state of a fit in a file.
pub struct SearchState {
    /// None if it is not kept.
    file: Option<PathBuf>,
    /// What the result depends on, but for what `adumbra_fit` adds.
    pub parts: Vec<SetupPart>,
    /// The shader's file, for messages.
    shader: PathBuf,
}

impl SearchState {
    /// The state of these arguments, which is that of targets, textures and sources, too.
    ///
    /// # Errors
    /// If a texture or a mask cannot be read, or the folder is none.
    pub fn new(
        args: &FitArgs,
        targets: &[FitTarget],
        textures: &[PathBuf],
        sources: &Sources,
    ) -> CliResult<SearchState> {
        let folder = args.checkpoint.as_deref();
        if let Some(file) = folder.filter(|folder| folder.exists() && !folder.is_dir()) {
            let file = file.display();
            return Err(CliError::usage(format!(
                "`--checkpoint {file}`: that is a file, and the state of a fit is kept in a folder: name another one"
            )));
        }
        Ok(SearchState {
            file: folder.map(|folder| folder.join(STATE_FILE)),
            parts: parts(args, targets, textures, sources)?,
            shader: args.file.clone(),
        })
    }

    /// The bytes that `--resume` goes on from; none of a fit that begins.
    ///
    /// # Errors
    /// If there is none to go on from, or one that would be lost.
    pub fn saved(&self, is_resumed: bool) -> CliResult<Option<Vec<u8>>> {
        let Some(file) = &self.file else {
            return Ok(None);
        };
        let shown = file.display();
        match (is_resumed, file.exists()) {
            (true, true) => input::read_file(file).map(Some),
            (true, false) => Err(CliError::usage(format!(
                "there is no state to go on from: {shown} does not exist; without `--resume` the fit begins"
            ))),
            (false, false) => Ok(None),
            (false, true) => Err(CliError::usage(format!(
                "{shown} is the state of a fit: go on from it by `--resume`, or name another folder"
            ))),
        }
    }

    /// Writes the state, if it is kept.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, fit: &RunningFit<'_, '_>) -> CliResult {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let folder = file.parent().unwrap_or(Path::new(""));
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| write_atomically(file, &fit.checkpoint(&self.parts)));
        written
            .map_err(|error| CliError::usage(format!("cannot write {}: {error}", file.display())))
    }

    /// Saves the state after Ctrl-C, and says how to go on.
    pub fn interrupted(&self, fit: &RunningFit<'_, '_>, format: OutputFormat) -> CliError {
        if let Err(failed) = self.save(fit) {
            return failed;
        }
        let text = match self.file {
            Some(_) => "interrupted: the same command with `--resume` goes on from here",
            None => "interrupted: with `--checkpoint DIR` a fit can go on",
        };
        report::note(text, format);
        CliError::Interrupted
    }

    /// Why a state is not gone on from: what differs, and what to do.
    pub fn refusal(&self, error: &CheckpointError) -> CliError {
        let file = self.file.as_deref().unwrap_or(Path::new("")).display();
        let anew = "or name another folder by `--checkpoint` to begin anew";
        let CheckpointError::Differs(difference) = error else {
            return CliError::usage(format!(
                "{file}: {error}; name another folder by `--checkpoint` to begin anew"
            ));
        };
        let SetupDifference { part, saved, here } = &**difference;
        let option = OPTIONS.iter().find(|(name, _)| name == part);
        let name = match option {
            Some((_, option)) => format!("`{option}`"),
            None if part.starts_with(SHADER) => {
                part.replacen(SHADER, &format!("the shader {}", self.shader.display()), 1)
            }
            None => part.clone(),
        };
        let why = match (saved, here) {
            (Some(then), Some(now)) if !then.is_hash => {
                let [then, now] = [then, now].map(|part| readable(&part.value));
                format!("{name} was {then} there, and is {now} here: give it as it was")
            }
            (Some(_), Some(_)) => {
                format!("{name} is not what it was: go on with that of before")
            }
            (Some(_), None) => format!("there was {name}, which is not given here: give it"),
            (None, _) => format!("{name} was not given there: leave it out"),
        };
        CliError::usage(format!("{file} is the state of another fit: {why}, {anew}"))
    }
}

/// A value as it is given on the command line.
fn readable(value: &str) -> &str {
    match value {
        "true" => "on",
        "false" => "off",
        value => value,
    }
}

/// What the result of a fit depends on, by the option or file that it comes from.
fn parts(
    args: &FitArgs,
    targets: &[FitTarget],
    textures: &[PathBuf],
    sources: &Sources,
) -> CliResult<Vec<SetupPart>> {
    let mut parts = vec![SetupPart::new(
        "the version of adumbra",
        env!("CARGO_PKG_VERSION"),
    )];
    let given = |option: &str, value: Option<String>| {
        value.map(|value| SetupPart::new(format!("`{option}`"), value))
    };
    let size = args
        .size
        .map(|size| format!("{}x{}", size.width(), size.height()));
    parts.extend(given("--size", size));
    parts.extend(given("--shader", args.shader.clone()));
    parts.extend(given("--output", args.output.clone()));
    for argument in &args.arguments {
        let name = format!("--arg {}", argument.name);
        parts.extend(given(&name, Some(argument.literal.clone())));
    }
    for rate in &args.learning_rates {
        let name = match &rate.input {
            Some(input) => format!("--learning-rate {input}"),
            None => "--learning-rate".to_owned(),
        };
        parts.extend(given(&name, Some(rate.rate.to_string())));
    }
    for input in &args.fixed {
        parts.extend(given(&format!("--fixed {input}"), Some("given".to_owned())));
    }
    for global in &args.compile.global_settings {
        let name = format!("`-g {}`", global.name);
        parts.push(SetupPart::hashed(name, format!("{global:?}").as_bytes()));
    }
    let name = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
    parts.extend(given("--rules", Some(name(&args.rules))));
    parts.extend(given("--loss", Some(name(&args.loss))));
    for (number, (_, file)) in sources.iter().enumerate() {
        let name = match number {
            0 => SHADER.to_owned(),
            _ => format!("{SHADER} (its include number {number})"),
        };
        parts.push(SetupPart::hashed(name, file.text().as_bytes()));
    }
    for (number, file) in textures.iter().enumerate() {
        let name = format!("the texture number {}", number + 1);
        parts.push(SetupPart::hashed(name, &input::read_file(file)?));
    }
    if let Some(mask) = &args.mask {
        parts.push(SetupPart::hashed("`--mask`", &input::read_file(mask)?));
    }
    for (number, (target, given)) in targets.iter().zip(&args.targets).enumerate() {
        let weights = target.weights.iter().flatten();
        let numbers = target.image.values().iter().chain(weights);
        let bytes: Vec<u8> = numbers
            .flat_map(|number| number.to_bits().to_le_bytes())
            .collect();
        let name = format!("the image of `--target` number {}", number + 1);
        parts.push(SetupPart::hashed(name, &bytes));
        if let Some(global) = &given.global {
            let name = format!("the global of `--target` number {}", number + 1);
            parts.push(SetupPart::hashed(name, format!("{global:?}").as_bytes()));
        }
    }
    Ok(parts)
}
