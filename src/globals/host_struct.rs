//! Host structs as globals: filled in place, and read in place.
//!
//! A struct lists its members and their accessors. The list is checked when memory is read
//! ([`adumbra_vm::words`]), so the trait is safe to implement, by the derive macro or by hand.
//!
//! A layout has memory for the derivatives of all members, and matrices row by row. Structs that
//! lie in memory in this way are read in place. Of others, points are copied one by one, and
//! batches read the columns that there are.

use super::{Globals, GlobalsLayout};
use crate::dual::Dual;
use crate::value::{Flag, HostValue};
use adumbra_vm::words::{MemberWords, Words};

/// A struct of the host that is the globals of a shader: members in order, nothing between them.
///
/// `#[derive(ShaderGlobals)]` implements it for a `#[repr(C)]` struct whose fields are `Dual<T>`, a
/// value with its derivatives, or `T`, a value whose derivatives are zero. T is one of `f32`,
/// `[f32; 2]` to `[f32; 4]`, `[[f32; 2]; 2]` to `[[f32; 4]; 4]`, `i32`, `u32` and [`Flag`], or of
/// the types that the features `glam` and `mint` add. A field is the global of its name, or of the
/// one that `#[globals(name = "…")]` gives.
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
///     bounce: i32,
/// }
///
/// let source = "shader s(out float slope) { slope = ddx(global_value<bounce> * dot(global_value<I>, global_value<I>)); }";
/// let program = Compiler::new(GlobalsLayout::of::<Hit>()).compile(&Sources::new("s.adu", source))?;
/// let mut evaluator = Evaluator::new(&Instance::new(&program));
///
/// let mut hit = Hit::default();
/// hit.bounce = 2;
/// hit.incoming.value = [0.0, 3.0, 0.0];
/// hit.incoming.ddx = [0.0, 0.5, 0.0];
/// evaluator.evaluate(&hit, &mut NoTextures);
/// assert_eq!(evaluator.get::<f32>("slope")?, 6.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Structs that cannot be globals do not compile: a field of a type that globals cannot have,
///
/// ```compile_fail
/// #[derive(adumbra::ShaderGlobals)]
/// #[repr(C)]
/// struct Hit { inside: bool }
/// ```
///
/// a `Dual` of one,
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

/// Receives the members of a [`ShaderGlobals`].
pub trait MemberVisitor<S> {
    /// The next member: its name in `global_value<name>`, and its accessor.
    fn member<M: Member>(&mut self, name: &str, place: impl Fn(&S) -> &M);
}

/// The types of members of globals: values that globals can have, and [`Dual`]s of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a member of globals",
    label = "neither a value of globals nor a `Dual<T>` of one",
    note = "members are T or Dual<T>, with T one of f32, [f32; N], [[f32; N]; N], i32, u32 and Flag, N from 2 to 4"
)]
pub trait Member: 'static {
    /// The type of its value and its shadows.
    type Value: GlobalValue;
    /// Whether it has memory for its shadows; if not, they are zero.
    const HAS_SHADOWS: bool;
    /// The value, and the shadows along x and y, if it has memory for them.
    fn parts(&self) -> (&Self::Value, Option<[&Self::Value; 2]>);
}

impl<T: GlobalValue> Member for Dual<T> {
    type Value = T;
    const HAS_SHADOWS: bool = true;
    #[inline]
    fn parts(&self) -> (&T, Option<[&T; 2]>) {
        (&self.value, Some([&self.ddx, &self.ddy]))
    }
}

impl<T: GlobalValue> Member for T {
    type Value = T;
    const HAS_SHADOWS: bool = false;
    #[inline]
    fn parts(&self) -> (&T, Option<[&T; 2]>) {
        (self, None)
    }
}

/// A Rust type that consists of the words of a global's value.
#[diagnostic::on_unimplemented(
    message = "a global cannot be of type `{Self}`",
    label = "globals cannot be of this type",
    note = "they can be f32, [f32; N], [[f32; N]; N], i32, u32, N from 2 to 4, and Flag, which is a bool of four bytes"
)]
pub trait GlobalValue: HostValue + 'static {
    /// The scalars that it consists of.
    #[doc(hidden)]
    type Words: Words;
    /// Whether it is a matrix that lies in memory column by column; globals have them row by row.
    #[doc(hidden)]
    const COLUMN_MAJOR: bool = false;
    /// Its scalars.
    #[doc(hidden)]
    fn words(&self) -> &Self::Words;
}

macro_rules! words_of_themselves {
    ($($ty:ty)*) => { $(
        impl GlobalValue for $ty {
            type Words = $ty;
            #[inline]
            fn words(&self) -> &$ty {
                self
            }
        }
    )* };
}

words_of_themselves! {
    f32 [f32; 2] [f32; 3] [f32; 4] [[f32; 2]; 2] [[f32; 3]; 3] [[f32; 4]; 4] i32 u32
}

impl GlobalValue for Flag {
    type Words = u32;
    fn words(&self) -> &u32 {
        self.word()
    }
}

/// The globals of one point: [`Globals`], or a struct of the host.
pub trait PointGlobals {
    /// The words of that layout, in place or put into `buffer`; `None` if the members are others.
    fn words_as<'a>(
        &'a self,
        layout: &GlobalsLayout,
        buffer: &'a mut Vec<u32>,
    ) -> Option<&'a [u32]>;
}

/// The words of the globals of a point of a program with this layout, in place or put into
/// `buffer`.
///
/// # Panics
/// If they have another layout.
#[inline]
pub(crate) fn point_words<'g, G: PointGlobals>(
    globals: &'g G,
    layout: &GlobalsLayout,
    buffer: &'g mut Vec<u32>,
) -> &'g [u32] {
    let words = globals.words_as(layout, buffer);
    words.unwrap_or_else(|| other_layout(layout))
}

/// Panics for globals that have another layout than a program's.
#[cold]
fn other_layout(layout: &GlobalsLayout) -> ! {
    let members = layout.members().iter();
    let members: Vec<String> = members
        .map(|m| format!("{} {}", m.ty(), m.name()))
        .collect();
    panic!(
        "the globals have another layout than the program's: {}",
        members.join(", ")
    );
}

impl PointGlobals for Globals {
    #[inline]
    fn words_as<'a>(&'a self, layout: &GlobalsLayout, _: &'a mut Vec<u32>) -> Option<&'a [u32]> {
        (self.layout() == layout).then(|| self.words())
    }
}

impl<S: ShaderGlobals> PointGlobals for S {
    #[inline]
    fn words_as<'a>(
        &'a self,
        layout: &GlobalsLayout,
        buffer: &'a mut Vec<u32>,
    ) -> Option<&'a [u32]> {
        if !layout.is_of::<S>() {
            return None;
        }
        let (words, is_layouts) = read_struct(self);
        let words = words?;
        if is_layouts {
            return Some(words);
        }
        buffer.clear();
        S::members(&mut Copying {
            globals: self,
            words: buffer,
        });
        Some(buffer)
    }
}

/// The struct's memory, if its list is true, and whether its layout is that of its members.
#[inline]
pub(super) fn read_struct<S: ShaderGlobals>(globals: &S) -> (Option<&[u32]>, bool) {
    let mut reading = Reading {
        globals,
        members: MemberWords::of(globals),
        is_layouts: true,
    };
    S::members(&mut reading);
    (reading.members.words(), reading.is_layouts)
}

impl<S: ShaderGlobals> From<&S> for Globals {
    /// A copy whose members are found by name.
    ///
    /// # Panics
    /// If a trait that was implemented by hand does not list all of the struct's memory in order.
    fn from(globals: &S) -> Globals {
        let mut copy = Globals::new(&GlobalsLayout::of::<S>());
        let mut buffer = Vec::new();
        let words = globals.words_as(&copy.layout, &mut buffer);
        copy.words
            .copy_from_slice(words.expect("the members are the whole struct"));
        copy
    }
}

/// Lists the locations of the parts of a struct's members.
struct Reading<'a, S> {
    globals: &'a S,
    members: MemberWords<'a, S>,
    is_layouts: bool,
}

impl<S> MemberVisitor<S> for Reading<'_, S> {
    #[inline]
    fn member<M: Member>(&mut self, _: &str, place: impl Fn(&S) -> &M) {
        let (value, shadows) = place(self.globals).parts();
        self.members.add(value.words());
        for shadow in shadows.into_iter().flatten() {
            self.members.add(shadow.words());
        }
        self.is_layouts &= M::HAS_SHADOWS && !M::Value::COLUMN_MAJOR;
    }
}

/// Reads a struct's members in the order of a layout.
struct Copying<'a, S> {
    globals: &'a S,
    words: &'a mut Vec<u32>,
}

impl<S> MemberVisitor<S> for Copying<'_, S> {
    fn member<M: Member>(&mut self, _: &str, place: impl Fn(&S) -> &M) {
        let (value, shadows) = place(self.globals).parts();
        let (start, count) = (self.words.len(), M::Value::ty().scalar_count());
        self.words.resize(start + 3 * count, 0);
        let mut parts = self.words[start..].chunks_exact_mut(count);
        let values = std::iter::once(value).chain(shadows.into_iter().flatten());
        for (words, value) in parts.by_ref().zip(values) {
            value.write(words);
        }
    }
}

/// Makes the layout of a struct.
#[derive(Default)]
pub(super) struct LayoutBuilder(pub(super) GlobalsLayout);

impl<S> MemberVisitor<S> for LayoutBuilder {
    fn member<M: Member>(&mut self, name: &str, _: impl Fn(&S) -> &M) {
        let layout = std::mem::take(&mut self.0);
        let with = layout.with(name, M::Value::ty()).expect("different names");
        self.0 = match M::HAS_SHADOWS {
            true => with,
            false => with.shadowless(name).expect("the member was just added"),
        };
    }
}

/// Compares a struct's members with those of a layout.
pub(super) struct LayoutComparison<'a> {
    layout: &'a GlobalsLayout,
    /// The number of members so far.
    members: usize,
    is_same: bool,
}

impl<'a> LayoutComparison<'a> {
    /// Whether the layout has exactly the struct's members. Allocates nothing.
    pub(super) fn is_same<S: ShaderGlobals>(layout: &'a GlobalsLayout) -> bool {
        let mut comparing = LayoutComparison {
            layout,
            members: 0,
            is_same: true,
        };
        S::members(&mut comparing);
        comparing.is_same && comparing.members == layout.members().len()
    }
}

impl<S> MemberVisitor<S> for LayoutComparison<'_> {
    fn member<M: Member>(&mut self, name: &str, _: impl Fn(&S) -> &M) {
        let member = self.layout.members().get(self.members);
        self.is_same &= member.is_some_and(|m| m.name() == name && *m.ty() == M::Value::ty());
        self.members += 1;
    }
}
