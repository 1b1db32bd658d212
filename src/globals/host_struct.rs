//! Host structs as globals: filled in place, and read where they stand.
//!
//! A struct says what its members are and where they are found. Whether that is true is looked at when memory is read
//! ([`adumbra_vm::words`]), so the trait is safe to implement, by the derive macro or by hand.

use super::{Globals, GlobalsLayout};
use crate::dual::Dual;
use crate::value::HostValue;
use adumbra_vm::words::{Pieces, Words};

/// A struct of the host that is the globals of a shader: members in order, each a [`Dual`], nothing between them.
///
/// `#[derive(ShaderGlobals)]` implements it for a `#[repr(C)]` struct whose fields are `Dual<T>`, with T one of `f32`, `[f32; 2]`, `[f32; 3]`,
/// `[f32; 4]`, `i32`, `u32` and [`Flag`]. A field is the global of its name, or of the one that `#[globals(name = "…")]` gives.
///
/// ```
/// use adumbra::{Compiler, Dual, Evaluator, GlobalsLayout, Instance, NoTextures, ShaderGlobals, Sources};
///
/// #[derive(Clone, Copy, Default, ShaderGlobals)]
/// #[repr(C)]
/// struct Hit {
///     uv: Dual<[f32; 2]>,
///     #[globals(name = "I")]
///     incoming: Dual<[f32; 3]>,
///     bounce: Dual<i32>,
/// }
///
/// let text = "shader s(out float slope) { slope = ddx(dot(global_value<I>, global_value<I>)); }";
/// let program = Compiler::new(GlobalsLayout::of::<Hit>()).compile(&Sources::new("s.adu", text))?;
/// let mut evaluator = Evaluator::new(&Instance::new(&program));
///
/// let mut hit = Hit::default();
/// hit.incoming.value = [0.0, 3.0, 0.0];
/// hit.incoming.ddx = [0.0, 0.5, 0.0];
/// evaluator.evaluate(&hit, &mut NoTextures);
/// assert_eq!(evaluator.get::<f32>("slope")?.value, 3.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// What cannot be globals does not compile: a field that is no `Dual`,
///
/// ```compile_fail
/// #[derive(adumbra::ShaderGlobals)]
/// #[repr(C)]
/// struct Hit { uv: [f32; 2] }
/// ```
///
/// a `Dual` of a type that globals cannot have,
///
/// ```compile_fail
/// #[derive(adumbra::ShaderGlobals)]
/// #[repr(C)]
/// struct Hit { inside: adumbra::Dual<bool> }
/// ```
///
/// and a struct whose fields the compiler may put in any order.
///
/// ```compile_fail
/// #[derive(adumbra::ShaderGlobals)]
/// struct Hit { uv: adumbra::Dual<[f32; 2]> }
/// ```
pub trait ShaderGlobals: Sized + 'static {
    /// Lists the members, in the order of memory.
    fn members<V: MemberVisitor<Self>>(visitor: &mut V);
}

/// Is told the members of a [`ShaderGlobals`].
pub trait MemberVisitor<S> {
    /// The next member: its name in `global_value<name>`, and where it is found.
    fn member<M: Member>(&mut self, name: &str, place: impl Fn(&S) -> &M);
}

/// What members of globals are: [`Dual`]s of values that globals can have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a member of globals",
    label = "not a `Dual<T>`",
    note = "members are `Dual<T>`, with T one of f32, [f32; 2], [f32; 3], [f32; 4], i32, u32 and Flag"
)]
pub trait Member: 'static {
    /// What its value and its shadows are.
    type Value: GlobalValue;
    /// As the dual it is.
    fn dual(&self) -> &Dual<Self::Value>;
}

impl<T: GlobalValue> Member for Dual<T> {
    type Value = T;
    fn dual(&self) -> &Dual<T> {
        self
    }
}

/// A Rust type that lies in memory as a global's value does.
#[diagnostic::on_unimplemented(
    message = "a global cannot be of type `{Self}`",
    label = "globals cannot be of this type",
    note = "they can be f32, [f32; 2], [f32; 3], [f32; 4], i32, u32 and Flag, which is a bool of four bytes"
)]
pub trait GlobalValue: HostValue + 'static {
    /// What it consists of.
    #[doc(hidden)]
    type Words: Words;
    /// As what it consists of.
    #[doc(hidden)]
    fn words(&self) -> &Self::Words;
}

macro_rules! words_of_themselves {
    ($($ty:ty)*) => { $(
        impl GlobalValue for $ty {
            type Words = $ty;
            fn words(&self) -> &$ty {
                self
            }
        }
    )* };
}

words_of_themselves! { f32 [f32; 2] [f32; 3] [f32; 4] i32 u32 }

/// A bool of four bytes, as globals hold it.
///
/// ```
/// use adumbra::{Dual, Flag};
/// let inside = Dual::from(Flag::from(true));
/// assert!(bool::from(inside.value));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Flag(u32);

impl From<bool> for Flag {
    fn from(value: bool) -> Flag {
        Flag(u32::from(value))
    }
}

impl From<Flag> for bool {
    fn from(flag: Flag) -> bool {
        flag.0 != 0
    }
}

impl GlobalValue for Flag {
    type Words = u32;
    fn words(&self) -> &u32 {
        &self.0
    }
}

/// The globals of one point, whoever holds them: [`Globals`], or a struct of the host.
pub trait PointGlobals {
    /// The memory, if it is laid out so.
    fn words_as(&self, layout: &GlobalsLayout) -> Option<&[u32]>;
}

/// The memory of the globals of a point of a program with this layout.
///
/// # Panics
/// If they are laid out otherwise.
#[inline]
pub(crate) fn words_of<'g, G: PointGlobals>(globals: &'g G, layout: &GlobalsLayout) -> &'g [u32] {
    let words = globals.words_as(layout);
    words.expect("the globals are laid out as the program's")
}

impl PointGlobals for Globals {
    #[inline]
    fn words_as(&self, layout: &GlobalsLayout) -> Option<&[u32]> {
        (self.layout() == layout).then(|| self.words())
    }
}

impl<S: ShaderGlobals> PointGlobals for S {
    #[inline]
    fn words_as(&self, layout: &GlobalsLayout) -> Option<&[u32]> {
        if !layout.is_of::<S>() {
            return None;
        }
        words(self)
    }
}

/// The struct's memory, if it is what it says.
#[inline]
fn words<S: ShaderGlobals>(globals: &S) -> Option<&[u32]> {
    let mut reading = Reading {
        globals,
        pieces: Pieces::of(globals),
    };
    S::members(&mut reading);
    reading.pieces.words()
}

impl<S: ShaderGlobals> From<&S> for Globals {
    /// A copy whose members are found by name.
    ///
    /// # Panics
    /// If a trait that was implemented by hand does not list all of the struct's memory in order.
    fn from(globals: &S) -> Globals {
        let mut copy = Globals::new(&GlobalsLayout::of::<S>());
        copy.words_mut()
            .copy_from_slice(words(globals).expect("the members are the whole struct"));
        copy
    }
}

/// Lists where the parts of a struct's members stand.
struct Reading<'a, S> {
    globals: &'a S,
    pieces: Pieces<'a, S>,
}

impl<S> MemberVisitor<S> for Reading<'_, S> {
    #[inline]
    fn member<M: Member>(&mut self, _: &str, place: impl Fn(&S) -> &M) {
        let Dual { value, ddx, ddy } = place(self.globals).dual();
        self.pieces.add(value.words());
        self.pieces.add(ddx.words());
        self.pieces.add(ddy.words());
    }
}

/// Makes the layout of a struct.
#[derive(Default)]
pub(super) struct Listing(pub(super) GlobalsLayout);

impl<S> MemberVisitor<S> for Listing {
    fn member<M: Member>(&mut self, name: &str, _: impl Fn(&S) -> &M) {
        let layout = std::mem::take(&mut self.0);
        let with = layout.with(name, M::Value::ty());
        self.0 = with.expect("different names");
    }
}

/// Holds a struct's members against those of a layout.
pub(super) struct Comparing<'a> {
    layout: &'a GlobalsLayout,
    /// How many were there.
    members: usize,
    is_same: bool,
}

impl<'a> Comparing<'a> {
    /// Whether the layout has exactly the struct's members. Allocates nothing.
    pub(super) fn is_same<S: ShaderGlobals>(layout: &'a GlobalsLayout) -> bool {
        let mut comparing = Comparing {
            layout,
            members: 0,
            is_same: true,
        };
        S::members(&mut comparing);
        comparing.is_same && comparing.members == layout.members().len()
    }
}

impl<S> MemberVisitor<S> for Comparing<'_> {
    fn member<M: Member>(&mut self, name: &str, _: impl Fn(&S) -> &M) {
        let member = self.layout.members().get(self.members);
        self.is_same &= member.is_some_and(|m| m.name() == name && *m.ty() == M::Value::ty());
        self.members += 1;
    }
}
