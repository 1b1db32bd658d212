//! The closure tree of one point, as a host walks it.
//!
//! A loop can make a tree as deep as its limit. A sum of a closure with itself makes a tree whose
//! leaves outnumber the memory of any machine. So nothing here recurses, and printing stops at
//! [`MAX_SHOWN_NODES`].

pub use adumbra_ir::module::ClosureShape;
pub use leaf_outputs::{LeafOutputs, LeafProgram};
pub use leaves::{ArgumentSlot, ClosureKind, ClosureReader, WeightedLeaf};
pub use registry::{ClosureRegistry, RegistryError};

use crate::value::{HostValue, HumanFloat, JsonFloat, ValueView};
use adumbra_ir::host::{ClosureNode, ClosureRef};
use adumbra_ir::module::ClosureId;
use adumbra_ir::{Scalar, Type};
use adumbra_vm::{LeafWords, PointClosures};
use std::borrow::Cow;
use std::fmt::{self, Write};

pub(crate) mod leaf_outputs;
pub(crate) mod leaves;
pub(crate) mod registry;

/// The maximum number of nodes of a tree that is printed; a larger one is not printed at all.
pub const MAX_SHOWN_NODES: usize = 1 << 16;

/// A closure that an evaluation gave back, valid until the next evaluation.
///
/// ```
/// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources, closure::Closure};
/// let source = "shader s(out closure c) { c = 0.5 * make_closure<Lambert>(float3(0, 1, 0)); }";
/// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
/// let mut evaluator = Evaluator::new(&Instance::new(&program));
/// evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
///
/// let root = evaluator.output("c").and_then(|c| c.closure()).unwrap();
/// let Some(Closure::Scale(weight, scaled)) = root.closure() else { panic!() };
/// let Some(Closure::Leaf(leaf)) = scaled.closure() else { panic!() };
/// assert_eq!((weight, leaf.name()), (0.5, "Lambert"));
/// assert_eq!(leaf.get::<[f32; 3]>(0), Some([0.0, 1.0, 0.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ClosureView<'a> {
    pub(crate) closures: PointClosures<'a>,
    pub(crate) shapes: &'a [ClosureShape],
    pub(crate) resources: &'a [String],
    pub(crate) root: ClosureRef,
}

/// The kind of a closure, with its parts.
#[derive(Clone, Copy, Debug)]
pub enum Closure<'a> {
    /// A leaf, which `make_closure` made.
    Leaf(ClosureLeaf<'a>),
    /// The sum of two.
    Add(ClosureView<'a>, ClosureView<'a>),
    /// A closure times a number.
    Scale(f32, ClosureView<'a>),
    /// A closure times a colour.
    Tint([f32; 3], ClosureView<'a>),
}

/// A leaf of a closure tree: a name and arguments.
#[derive(Clone, Copy, Debug)]
pub struct ClosureLeaf<'a> {
    /// The leaf itself as a tree, for the closures and resources among its arguments.
    tree: ClosureView<'a>,
    shape: ClosureId,
    words: LeafWords<'a>,
}

impl<'a> ClosureLeaf<'a> {
    /// The name in `make_closure<name>`.
    pub fn name(&self) -> &'a str {
        &self.tree.shapes[self.shape.index()].name
    }

    /// Which of [`Program::closures`](crate::Program::closures) it is.
    pub fn shape(&self) -> usize {
        self.shape.index()
    }

    /// The [number](ClosureView::number) of the tree that it is.
    pub fn number(&self) -> u32 {
        self.tree.number()
    }

    /// The scalars of all arguments, in order: a float by its bits, a closure by its
    /// [number](ClosureView::number), a resource by its position among
    /// [`Program::resources`](crate::Program::resources).
    pub fn words(&self) -> impl ExactSizeIterator<Item = u32> + Clone + use<'a> {
        self.words.iter()
    }

    /// The arguments, typed as written.
    pub fn args(&self) -> impl Iterator<Item = ValueView<'a>> + use<'a> {
        let (words, mut first) = (self.words, 0);
        let params = self.tree.shapes[self.shape.index()].params.iter();
        params.map(move |ty| {
            let (words, stride) = words.strided_from(first);
            first += ty.scalar_count();
            ValueView::strided(ty, words, stride)
        })
    }

    /// An argument by its position, as a Rust value; `None` if there are fewer, or it is of another
    /// type. Of leaves that a [`ClosureReader`] gives, arguments are read by name.
    pub fn get<T: HostValue>(&self, position: usize) -> Option<T> {
        self.args().nth(position)?.get()
    }

    /// The tree of one of [`ClosureLeaf::args`] that is a closure; `None` for other arguments.
    ///
    /// ```
    /// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources, closure::Closure};
    /// let source = "shader s(out closure c) { c = make_closure<coat>(0.5, make_closure<Lambert>()); }";
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
    /// let mut evaluator = Evaluator::new(&Instance::new(&program));
    /// evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
    ///
    /// let root = evaluator.output("c").and_then(|c| c.closure()).unwrap();
    /// let Some(Closure::Leaf(coat)) = root.closure() else { panic!() };
    /// let below = coat.args().find_map(|arg| coat.closure(&arg)).unwrap();
    /// let Some(Closure::Leaf(lambert)) = below.closure() else { panic!() };
    /// assert_eq!(lambert.name(), "Lambert");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn closure(&self, arg: &ValueView<'_>) -> Option<ClosureView<'a>> {
        let root = ClosureRef::from_word(word(arg, Scalar::Closure)?);
        Some(ClosureView { root, ..self.tree })
    }

    /// The name of an argument that is a resource.
    fn resource(&self, arg: &ValueView<'_>) -> Option<&'a str> {
        let index = word(arg, Scalar::Resource)?;
        self.tree.resources.get(index as usize).map(String::as_str)
    }

    /// Leaves the arguments to be printed, closures as trees and others by `show`, and what ends
    /// them.
    fn print_args(
        &self,
        separator: &'static str,
        end: &'static str,
        show: impl Fn(&ValueView<'_>) -> String,
        left: &mut Vec<Left<'a>>,
    ) {
        let start = left.len();
        for (i, arg) in self.args().enumerate() {
            if i > 0 {
                left.push(Left::Text(separator.into()));
            }
            left.push(match self.closure(&arg) {
                Some(closure) => Left::Closure(closure),
                None => Left::Text(show(&arg).into()),
            });
        }
        left.push(Left::Text(end.into()));
        left[start..].reverse();
    }
}

/// In the syntax of the language; if it is too large for that, the reason why it is not printed.
impl fmt::Display for ClosureView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text() {
            Ok(text) => f.write_str(&text),
            Err(error) => error.fmt(f),
        }
    }
}

/// The one word of a value of that type; `None` for other types.
fn word(value: &ValueView<'_>, scalar: Scalar) -> Option<u32> {
    let is_one = matches!(value.ty(), Type::Scalar(is) if *is == scalar);
    value.words().next().filter(|_| is_one)
}

/// A closure tree with more nodes than are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosureSizeError;

impl fmt::Display for ClosureSizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a closure of more than {MAX_SHOWN_NODES} nodes")
    }
}

impl std::error::Error for ClosureSizeError {}

/// One thing left to print.
enum Left<'a> {
    Closure(ClosureView<'a>),
    Text(Cow<'static, str>),
}

impl<'a> ClosureView<'a> {
    /// The number of the tree among those of its evaluation, by which hosts that cannot keep
    /// references find it again. Equal numbers are the same tree, 0 is the empty closure. It is
    /// also the word of an output or argument of type closure.
    ///
    /// ```
    /// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources, closure::Closure, value::Part};
    /// let source = "shader s(out closure c) { closure half = 0.5 * make_closure<glow>(); c = half + half; }";
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
    /// let mut evaluator = Evaluator::new(&Instance::new(&program));
    /// evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
    ///
    /// let root = evaluator.numbered_closure(evaluator.words(Part::Value)?.next().unwrap());
    /// let Some(Closure::Add(a, b)) = root.closure() else { panic!() };
    /// assert_eq!(a.number(), b.number());
    /// assert_eq!(evaluator.numbered_closure(a.number()).text()?, "0.5 * glow()");
    /// assert!(evaluator.numbered_closure(99).closure().is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn number(&self) -> u32 {
        self.root.word()
    }

    /// Its kind and parts; `None` for the empty closure.
    pub fn closure(&self) -> Option<Closure<'a>> {
        let at = |root| ClosureView { root, ..*self };
        Some(match self.closures.node(self.root)? {
            ClosureNode::Leaf { shape, args } => Closure::Leaf(ClosureLeaf {
                tree: *self,
                shape,
                words: args,
            }),
            ClosureNode::Add(a, b) => Closure::Add(at(a), at(b)),
            ClosureNode::Scale(closure, weight) => Closure::Scale(weight, at(closure)),
            ClosureNode::Tint(closure, color) => Closure::Tint(color, at(closure)),
        })
    }

    /// Itself, if `make_closure` made it.
    pub(crate) fn leaf(&self) -> Option<ClosureLeaf<'a>> {
        match self.closure()? {
            Closure::Leaf(leaf) => Some(leaf),
            _ => None,
        }
    }

    /// For people: `0.2 * glow(1.0) + (0.9, 0.5, 0.1) * Lambert((0.0, 1.0, 0.0))`.
    ///
    /// # Errors
    /// If the tree has too many nodes.
    pub fn text(&self) -> Result<String, ClosureSizeError> {
        self.print(|closure, out, left| match closure {
            None => out.push('0'),
            Some(Closure::Leaf(leaf)) => {
                let _ = write!(out, "{}(", leaf.name());
                let show = |arg: &ValueView<'_>| match leaf.resource(arg) {
                    Some(name) => name.to_owned(),
                    None => arg.to_string(),
                };
                leaf.print_args(", ", ")", show, left);
            }
            Some(Closure::Add(a, b)) => {
                left.extend([Left::Closure(b), Left::Text(" + ".into()), Left::Closure(a)]);
            }
            Some(Closure::Scale(weight, closure)) => {
                let _ = write!(out, "{} * ", HumanFloat(weight));
                scaled(closure, left);
            }
            Some(Closure::Tint([r, g, b], closure)) => {
                let [r, g, b] = [r, g, b].map(HumanFloat);
                let _ = write!(out, "({r}, {g}, {b}) * ");
                scaled(closure, left);
            }
        })
    }

    /// For programs: `{"closure":…,"args":[…]}`, `{"add":[…,…]}`, `{"mul":[…,…]}` or `null`.
    ///
    /// # Errors
    /// If the tree has too many nodes.
    pub fn json(&self) -> Result<String, ClosureSizeError> {
        self.print(|closure, out, left| match closure {
            None => out.push_str("null"),
            Some(Closure::Leaf(leaf)) => {
                let _ = write!(out, r#"{{"closure":{},"args":["#, json(leaf.name()));
                let show = |arg: &ValueView<'_>| match leaf.resource(arg) {
                    Some(name) => json(name),
                    None => json(arg),
                };
                leaf.print_args(",", "]}", show, left);
            }
            Some(Closure::Add(a, b)) => {
                out.push_str(r#"{"add":["#);
                left.extend([
                    Left::Text("]}".into()),
                    Left::Closure(b),
                    Left::Text(",".into()),
                    Left::Closure(a),
                ]);
            }
            Some(Closure::Scale(weight, closure)) => {
                let _ = write!(out, r#"{{"mul":[{},"#, json(&JsonFloat(weight)));
                left.extend([Left::Text("]}".into()), Left::Closure(closure)]);
            }
            Some(Closure::Tint(color, closure)) => {
                let _ = write!(out, r#"{{"mul":[{},"#, json(&color.map(JsonFloat)));
                left.extend([Left::Text("]}".into()), Left::Closure(closure)]);
            }
        })
    }

    fn print(
        &self,
        mut node: impl FnMut(Option<Closure<'a>>, &mut String, &mut Vec<Left<'a>>),
    ) -> Result<String, ClosureSizeError> {
        let mut out = String::new();
        let mut left = vec![Left::Closure(*self)];
        let mut nodes = 0;
        while let Some(next) = left.pop() {
            match next {
                Left::Text(text) => out.push_str(&text),
                Left::Closure(_) if nodes == MAX_SHOWN_NODES => return Err(ClosureSizeError),
                Left::Closure(view) => {
                    nodes += 1;
                    node(view.closure(), &mut out, &mut left);
                }
            }
        }
        Ok(out)
    }
}

fn json(value: &(impl serde::Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("strings, numbers and their lists serialise")
}

/// The scaled operand; a sum in parentheses.
fn scaled<'a>(closure: ClosureView<'a>, left: &mut Vec<Left<'a>>) {
    if let Some(Closure::Add(..)) = closure.closure() {
        left.extend([
            Left::Text(")".into()),
            Left::Closure(closure),
            Left::Text("(".into()),
        ]);
    } else {
        left.push(Left::Closure(closure));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_ir::host::ClosureArena;

    fn shapes() -> Vec<ClosureShape> {
        let shape = |name: &str, params| ClosureShape {
            name: name.to_owned(),
            params,
        };
        vec![
            shape("glow", vec![Type::FLOAT]),
            shape(
                "table",
                vec![Type::Scalar(Scalar::I32), Type::Scalar(Scalar::Resource)],
            ),
            shape(
                "coat",
                vec![
                    Type::Scalar(Scalar::Closure),
                    Type::Scalar(Scalar::Closure),
                    Type::FLOAT,
                ],
            ),
        ]
    }

    fn show(
        build: impl FnOnce(&mut ClosureArena) -> ClosureRef,
    ) -> [Result<String, ClosureSizeError>; 2] {
        let mut arena = ClosureArena::default();
        let root = build(&mut arena);
        let (shapes, resources) = (shapes(), ["tab".to_owned()]);
        let view = ClosureView {
            closures: (&arena).into(),
            shapes: &shapes,
            resources: &resources,
            root,
        };
        [view.text(), view.json()]
    }

    #[test]
    fn trees_print_as_text_and_json() {
        let [text, json] = show(|arena| {
            let glow = arena.leaf(ClosureId(0), [1.5_f32.to_bits()]);
            let table = arena.leaf(ClosureId(1), [-1_i32 as u32, 0]);
            let sum = arena.add(glow, table);
            let tinted = arena.tint(sum, [1.0, f32::INFINITY, 0.25]);
            arena.scale(tinted, 0.1)
        });
        assert_eq!(
            text.unwrap(),
            "0.1 * (1.0, inf, 0.25) * (glow(1.5) + table(-1, tab))"
        );
        assert_eq!(
            json.unwrap(),
            r#"{"mul":[0.1,{"mul":[[1.0,"inf",0.25],{"add":[{"closure":"glow","args":[1.5]},{"closure":"table","args":[-1,"tab"]}]}]}]}"#
        );
        let [text, json] = show(|_| ClosureRef::EMPTY);
        assert_eq!(
            (text.unwrap().as_str(), json.unwrap().as_str()),
            ("0", "null")
        );
    }

    #[test]
    fn nested_closures_print_as_trees() {
        let [text, json] = show(|arena| {
            let glow = arena.leaf(ClosureId(0), [2.0_f32.to_bits()]);
            let sum = arena.add(glow, glow);
            let inner = arena.leaf(ClosureId(2), [0, sum.word(), 0.5_f32.to_bits()]);
            arena.leaf(
                ClosureId(2),
                [inner.word(), inner.word(), 0.25_f32.to_bits()],
            )
        });
        let inner = "coat(0, glow(2.0) + glow(2.0), 0.5)";
        assert_eq!(text.unwrap(), format!("coat({inner}, {inner}, 0.25)"));
        let glow = r#"{"closure":"glow","args":[2.0]}"#;
        let inner = format!(r#"{{"closure":"coat","args":[null,{{"add":[{glow},{glow}]}},0.5]}}"#);
        let outer = format!(r#"{{"closure":"coat","args":[{inner},{inner},0.25]}}"#);
        assert_eq!(json.unwrap(), outer);
        let [text, json] = show(|arena| {
            let leaf = arena.leaf(ClosureId(2), [0, 0, 0]);
            (0..30_000).fold(leaf, |below, _| {
                arena.leaf(ClosureId(2), [below.word(), 0, 0])
            })
        });
        assert!(text.is_ok() && json.is_ok());
    }

    #[test]
    fn deep_tree_prints_and_exploding_tree_fails() {
        let [text, json] = show(|arena| {
            let leaf = arena.leaf(ClosureId(0), [0]);
            (0..30_000).fold(leaf, |sum, _| arena.add(sum, leaf))
        });
        assert!(text.is_ok() && json.is_ok());
        let [text, json] = show(|arena| {
            let leaf = arena.leaf(ClosureId(0), [0]);
            (0..100).fold(leaf, |sum, _| arena.add(sum, sum))
        });
        assert_eq!((text, json), (Err(ClosureSizeError), Err(ClosureSizeError)));
    }
}
