//! All that a host can see of one point, in a form that engines can be compared in.

use super::reference::TextureRecorder;
use adumbra_ir::eval::EvalOutcome;
use adumbra_ir::host::{
    ClosureArena, ClosureNode, ClosureRef, Fault, Faults, SampleRequest, canonical_float,
};
use adumbra_ir::module::ClosureShape;
use adumbra_ir::{Module, Scalar};
use std::fmt::{Debug, Write};

/// Nodes of a closure tree that are compared.
const MAX_NODES: usize = 2_000;

/// One scalar of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObservedOutput {
    /// Its type.
    pub ty: Scalar,
    /// Its bits; 0 for closures, which are compared as trees.
    pub value: u32,
    /// The bits of its shadows; 0 for what is no float.
    pub shadows: [u32; 2],
}

/// See [`ObservedRun::requests`].
pub type RequestBits = ([u32; 7], Option<u32>);

/// A message: how many requests came before it, its number, the words of its arguments.
pub type ObservedMessage = (usize, u32, Vec<u32>);

/// The observation of a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedRun {
    /// The scalars of the outputs.
    pub outputs: Vec<ObservedOutput>,
    /// The bits of each request: texture, u, v, the four partials, and the level if it has one.
    pub requests: Vec<RequestBits>,
    /// The messages.
    pub messages: Vec<ObservedMessage>,
    /// The faults kept.
    pub faults: Vec<Fault>,
    /// Faults past the capacity.
    pub more_faults: u32,
    /// The tree of each closure among the outputs, printed in a way of the observer's own.
    pub closures: Vec<String>,
}

/// The extent that must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonExtent {
    /// Values, the places of requests, faults and closures.
    Values,
    /// The partials of requests too.
    Requests,
    /// The outputs' shadows too.
    All,
}

impl ObservedRun {
    /// From the parts that engines have in common.
    pub fn new(
        outputs: Vec<ObservedOutput>,
        host: &TextureRecorder,
        faults: &Faults,
        closures: Vec<String>,
    ) -> ObservedRun {
        ObservedRun {
            outputs,
            requests: host.requests.iter().map(request_bits).collect(),
            messages: host.messages.clone(),
            faults: faults.iter().collect(),
            more_faults: faults.omitted_count(),
            closures,
        }
    }

    /// From the reference evaluator.
    pub fn of_outcome(
        module: &Module,
        outcome: &EvalOutcome,
        host: &TextureRecorder,
    ) -> ObservedRun {
        let (mut outputs, mut closures) = (Vec::new(), Vec::new());
        for (slot, result) in outcome.outputs.iter().zip(&module.entry().results) {
            let ty = result.ty;
            outputs.push(ObservedOutput {
                ty,
                value: match ty {
                    Scalar::Closure => 0,
                    _ => slot.bits(ty),
                },
                shadows: slot.shadows.map(f32::to_bits),
            });
            if ty == Scalar::Closure {
                let root = ClosureRef::from_word(slot.word);
                closures.push(tree(&module.closures, &outcome.closures, root));
            }
        }
        ObservedRun::new(outputs, host, &outcome.faults, closures)
    }

    /// The values of the float outputs.
    pub fn floats(&self) -> impl Iterator<Item = f32> {
        let floats = self.outputs.iter().filter(|o| o.ty == Scalar::F32);
        floats.map(|o| f32::from_bits(o.value))
    }

    /// [`difference`](ObservedRun::difference) of a run before passes and one after them: a pass
    /// may take the answer of an equal sample, so a request that was made before does not count.
    pub fn difference_by_passes(
        &self,
        other: &ObservedRun,
        extent: ComparisonExtent,
    ) -> Option<String> {
        let [before, after] = [self, other].map(|run| run.with_distinct_requests(extent));
        before.difference(&after, extent)
    }

    /// The run as a host sees it that answers equal requests once.
    fn with_distinct_requests(&self, extent: ComparisonExtent) -> ObservedRun {
        let mut distinct = ObservedRun {
            requests: Vec::new(),
            ..self.clone()
        };
        // By the number of requests made, how many are distinct.
        let mut counts = vec![0];
        for (mut bits, level) in self.requests.iter().copied() {
            if extent == ComparisonExtent::Values {
                bits[3..].fill(0);
            }
            if !distinct.requests.contains(&(bits, level)) {
                distinct.requests.push((bits, level));
            }
            counts.push(distinct.requests.len());
        }
        for (before, ..) in &mut distinct.messages {
            *before = counts[*before];
        }
        distinct
    }

    /// Where `other` differs, if it does. Any NaN equals any NaN.
    pub fn difference(&self, other: &ObservedRun, extent: ComparisonExtent) -> Option<String> {
        let outputs = |o: &ObservedRun| -> Vec<ObservedOutput> {
            let mut outputs = o.outputs.clone();
            for output in outputs.iter_mut().filter(|o| o.ty == Scalar::F32) {
                output.value = canonical(output.value);
                output.shadows = match extent {
                    ComparisonExtent::All => output.shadows.map(canonical),
                    _ => [0; 2],
                };
            }
            outputs
        };
        let requests = |o: &ObservedRun| -> Vec<RequestBits> {
            let mut requests = o.requests.clone();
            if extent == ComparisonExtent::Values {
                requests.iter_mut().for_each(|(r, _)| r[3..].fill(0));
            }
            requests
        };
        let show_output = |o: &ObservedOutput| match o.ty {
            Scalar::F32 => {
                let [x, y] = o.shadows.map(float_text);
                format!("{} : {x} : {y}", float_text(o.value))
            }
            _ => format!("{} {}", o.ty, o.value as i32),
        };
        let show_request = |(r, level): &RequestBits| {
            let numbers = r[1..].iter().chain(level);
            let numbers: Vec<String> = numbers.map(|&bits| float_text(bits)).collect();
            format!("texture {} at {}", r[0], numbers.join(" "))
        };
        let show_debug = |x: &Fault| format!("{x:?}");
        let show_message = |x: &ObservedMessage| format!("{x:x?}");
        let more = |o: &ObservedRun| vec![o.more_faults];
        first_difference("output", &outputs(self), &outputs(other), show_output)
            .or_else(|| {
                first_difference("request", &requests(self), &requests(other), show_request)
            })
            .or_else(|| first_difference("message", &self.messages, &other.messages, show_message))
            .or_else(|| first_difference("fault", &self.faults, &other.faults, show_debug))
            .or_else(|| first_difference("count", &more(self), &more(other), u32::to_string))
            .or_else(|| first_difference("closure", &self.closures, &other.closures, String::clone))
    }
}

fn first_difference<T: PartialEq>(
    what: &str,
    a: &[T],
    b: &[T],
    show: impl Fn(&T) -> String,
) -> Option<String> {
    let at = (0..a.len().max(b.len())).find(|&i| a.get(i) != b.get(i))?;
    let show = |x: Option<&T>| x.map_or("nothing".to_owned(), &show);
    let mut text = String::new();
    let _ = writeln!(text, "{what} {at} of {} and {}:", a.len(), b.len());
    let _ = writeln!(text, "  {}", show(a.get(at)));
    let _ = write!(text, "  {}", show(b.get(at)));
    Some(text)
}

/// A float with its bits, since neighbours print alike.
fn float_text(bits: u32) -> String {
    format!("{:?} ({bits:08x})", f32::from_bits(bits))
}

fn canonical(bits: u32) -> u32 {
    canonical_float(f32::from_bits(bits)).to_bits()
}

fn request_bits(r: &SampleRequest) -> RequestBits {
    let [u, v, dudx, dudy, dvdx, dvdy] =
        [r.u, r.v, r.dudx, r.dudy, r.dvdx, r.dvdy].map(|x| canonical_float(x).to_bits());
    let bits = [r.texture.0, u, v, dudx, dudy, dvdx, dvdy];
    (bits, r.level.map(|level| canonical_float(level).to_bits()))
}

/// A closure's tree, parents before children; what is beyond [`MAX_PROGRAM_NODES`] is left out.
fn tree(shapes: &[ClosureShape], arena: &ClosureArena, root: ClosureRef) -> String {
    let (mut words, mut open) = (Vec::new(), vec![root]);
    for _ in 0..MAX_NODES {
        let Some(next) = open.pop() else {
            break;
        };
        match arena.node(next) {
            None => words.push(0),
            Some(ClosureNode::Leaf { shape, args }) => {
                words.extend([1, shape.0]);
                // Handles say where a closure happens to lie.
                let mut args = arena.args(args).iter().copied();
                for ty in &shapes[shape.index()].params {
                    ty.for_each_scalar(&mut |scalar| match (scalar, args.next()) {
                        (Scalar::Closure, Some(handle)) => {
                            open.push(ClosureRef::from_word(handle));
                        }
                        (_, word) => words.extend(word),
                    });
                }
            }
            Some(ClosureNode::Add(a, b)) => {
                words.push(2);
                open.extend([b, a]);
            }
            Some(ClosureNode::Scale(a, weight)) => {
                words.extend([3, weight.to_bits()]);
                open.push(a);
            }
            Some(ClosureNode::Tint(a, color)) => {
                words.push(4);
                words.extend(color.map(f32::to_bits));
                open.push(a);
            }
        }
    }
    match words[..] {
        [0] => "null".to_owned(),
        _ => format!("{words:x?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_ir::Type;
    use adumbra_ir::module::ClosureId;

    fn observed(value: f32, shadow: f32) -> ObservedRun {
        let output = ObservedOutput {
            ty: Scalar::F32,
            value: value.to_bits(),
            shadows: [shadow.to_bits(), 0],
        };
        ObservedRun::new(
            vec![output],
            &TextureRecorder::default(),
            &Faults::default(),
            Vec::new(),
        )
    }

    #[test]
    fn differences_are_to_the_bit_but_for_nan() {
        let one = observed(1.0, 2.0);
        assert_eq!(one.difference(&one, ComparisonExtent::All), None);
        let shadow = observed(1.0, 3.0);
        assert_eq!(one.difference(&shadow, ComparisonExtent::Values), None);
        assert!(one.difference(&shadow, ComparisonExtent::All).is_some());
        let (plus, minus) = (observed(0.0, 0.0), observed(-0.0, 0.0));
        assert!(plus.difference(&minus, ComparisonExtent::Values).is_some());
        let (quiet, odd) = (
            observed(f32::NAN, 0.0),
            observed(f32::from_bits(0xffc1_2345), 0.0),
        );
        assert_eq!(quiet.difference(&odd, ComparisonExtent::All), None);
    }

    #[test]
    fn repeated_requests_are_no_difference_by_passes() {
        let run = |places: &[u32], said: usize| {
            let bits = |&place: &u32| ([0, place, place, 0, 0, 0, 0], None);
            ObservedRun {
                requests: places.iter().map(bits).collect(),
                messages: vec![(said, 0, Vec::new())],
                ..observed(1.0, 2.0)
            }
        };
        let repeats = run(&[1, 2, 1, 3], 3);
        let once = run(&[1, 2, 3], 2);
        assert!(repeats.difference(&once, ComparisonExtent::All).is_some());
        let by_passes =
            |other: &ObservedRun| repeats.difference_by_passes(other, ComparisonExtent::All);
        assert_eq!(by_passes(&once), None);
        for other in [run(&[1, 3], 2), run(&[1, 2, 3], 3), run(&[2, 1, 3], 2)] {
            assert!(by_passes(&other).is_some());
        }
    }

    #[test]
    fn trees_are_compared_by_shape_not_by_place() {
        let shape = |ty| ClosureShape {
            name: String::new(),
            params: vec![Type::Scalar(ty)],
        };
        let shapes = [Scalar::I32, Scalar::Closure].map(shape);
        let mut arena = ClosureArena::default();
        let inner = arena.leaf(ClosureId(0), [9]);
        let coat = arena.leaf(ClosureId(1), [inner.word()]);
        let a = arena.leaf(ClosureId(0), [7]);
        let sum = arena.add(a, coat);
        let mut other = ClosureArena::default();
        let b = other.leaf(ClosureId(0), [7]);
        let inner = other.leaf(ClosureId(0), [9]);
        let c = other.leaf(ClosureId(1), [inner.word()]);
        let again = other.add(b, c);
        assert_eq!(tree(&shapes, &arena, sum), tree(&shapes, &other, again));
        assert_ne!(tree(&shapes, &arena, sum), tree(&shapes, &arena, coat));
        let changed = other.leaf(ClosureId(1), [b.word()]);
        assert_ne!(tree(&shapes, &arena, coat), tree(&shapes, &other, changed));
    }
}
