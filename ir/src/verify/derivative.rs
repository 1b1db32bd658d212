//! Checks of recipes and custom derivatives, once all functions hold.

use super::{Report, Rule};
use crate::derivative::{Activity, DifferentiationMode};
use crate::module::*;
use crate::types::Scalar;
use std::iter::repeat_n;

/// The types of the first parameters of a function that marks a surface.
const MARK: [Scalar; 7] = {
    use Scalar::{Bool, F32};
    [F32, F32, Bool, Bool, F32, F32, F32]
};

/// Checks the derivatives of each function of a module whose functions hold.
pub(super) fn check(module: &Module, report: &mut Report) {
    report.place = None;
    for (id, function) in (0..).map(FuncId).zip(&module.functions) {
        report.function = Some(id);
        if let Some(recipe) = &function.recipe {
            let fits = module.functions.get(recipe.of.index()).is_some_and(|of| {
                let is_whole = recipe.with_results || recipe.mode == DifferentiationMode::Forward;
                has_memory(module, &recipe.activity)
                    && is_canonical(function, of, recipe.mode, &recipe.activity, is_whole)
            });
            report.require(fits, Rule::Derivative, || {
                "a derived function has not the signature of its recipe".into()
            });
        }
        let mut params = function
            .params()
            .iter()
            .map(|&param| function.value(param).ty);
        let is_mark = function.decides == Decides::Surface;
        let fits = !is_mark || MARK.iter().all(|&ty| params.next() == Some(ty));
        report.require(fits, Rule::Derivative, || {
            "a function that marks a surface does not take a place".into()
        });
        let custom = &function.custom;
        let plain = Activity {
            params: vec![false; function.params().len()],
            results: vec![false; function.results.len()],
            arrays: vec![false; function.array_params().count()],
            memory: ActiveMemory::default(),
        };
        let rules = [
            (
                custom.forward,
                DifferentiationMode::Forward,
                &custom.activity,
            ),
            (
                custom.backward,
                DifferentiationMode::Backward,
                &custom.activity,
            ),
            (custom.substitute, DifferentiationMode::Forward, &plain),
        ];
        for (rule, mode, activity) in rules {
            let rule = rule.map(|rule| module.functions.get(rule.index()));
            let is_whole = mode == DifferentiationMode::Forward;
            let fits = rule.is_none_or(|rule| {
                rule.is_some_and(|rule| is_canonical(rule, function, mode, activity, is_whole))
            });
            report.require(fits, Rule::Derivative, || {
                "a custom derivative or a substitute has another signature".into()
            });
        }
        let has_rule = custom.forward.or(custom.backward).is_some();
        let slots = plain.params.len() + plain.arrays.len();
        let fits = (has_rule || custom.activity == Activity::default())
            && custom.activity.memory.is_empty()
            && [0, slots].contains(&custom.lost.len());
        report.require(fits, Rule::Derivative, || {
            "the activity of custom derivatives is not that of their function".into()
        });
    }
}

/// Whether the memory that is active is there.
fn has_memory(module: &Module, activity: &Activity) -> bool {
    let (buffers, textures) = (&activity.memory.buffers, &activity.memory.textures);
    buffers.len() <= module.buffers.len()
        && textures.len() <= module.textures.len()
        && (buffers.iter().flatten()).all(|id| id.index() < module.buffers.len())
        && (textures.iter().flatten()).all(|id| id.index() < module.textures.len())
}

/// Whether a function has the canonical signature of a derivative of another one, which may be
/// `whole`: with the results of that.
fn is_canonical(
    own: &Function,
    of: &Function,
    mode: DifferentiationMode,
    activity: &Activity,
    is_whole: bool,
) -> bool {
    let is_forward = mode == DifferentiationMode::Forward;
    let params = || of.params().iter().map(|&param| of.value(param).ty);
    let results = || of.results.iter().map(|result| result.ty);
    let arrays = || of.array_params().zip(&activity.arrays);
    let elements = of.array_params().map(|array| array.element);
    let slots: Vec<Scalar> = params().chain(results()).chain(elements).collect();
    let active = [&*activity.params, &activity.results, &activity.arrays];
    let lengths = [
        of.params().len(),
        of.results.len(),
        of.array_params().count(),
    ];
    if active.map(<[bool]>::len) != lengths
        || (slots.iter().zip(active.concat())).any(|(&ty, is)| is && ty != Scalar::F32)
    {
        return false;
    }
    let floats = |active: &[bool]| {
        let count = active.iter().filter(|active| **active).count();
        repeat_n(Scalar::F32, count)
    };
    let (given, found) = match is_forward {
        true => (&activity.params, &activity.results),
        false => (&activity.results, &activity.params),
    };
    let shape = |array: &Array, mode| (array.element, array.len, mode);
    let primal = arrays().filter_map(|(array, _)| match array.mode? {
        mode if is_forward => Some(shape(array, mode)),
        PassingMode::Out => None,
        _ => Some(shape(array, PassingMode::In)),
    });
    let derived = arrays().filter(|(_, is_active)| **is_active);
    let derived = derived.filter_map(|(array, _)| {
        Some(shape(
            array,
            match array.mode? {
                PassingMode::In if !is_forward => PassingMode::Out,
                PassingMode::Out if !is_forward => PassingMode::In,
                mode => mode,
            },
        ))
    });
    let own_arrays = own.array_params();
    let own_arrays = own_arrays.filter_map(|array| Some(shape(array, array.mode?)));
    let own_params = own.params().iter().map(|&param| own.value(param).ty);
    let own_results = own.results.iter().map(|result| result.ty);
    own_params.eq(params().chain(floats(given)))
        && own_results.eq(results().filter(|_| is_whole).chain(floats(found)))
        && own_arrays.eq(primal.chain(derived))
}
