//! The globals that a host fills for every point: their layout and their memory.
//!
//! The layout is that of the SORT post: members in the order declared, each as value, ddx, ddy,
//! each of those as packed four-byte scalars. Members that cannot have a derivative (int, uint,
//! bool) have the memory all the same; its content means nothing.

use crate::access::{AccessError, Fingerprint, GlobalSlot, Named, Slot, find, find_typed};
use crate::dual::Dual;
use crate::value::{HostValue, ValueView};
use adumbra_ir::limits::MAX_GLOBALS;
use adumbra_ir::memory::HeapSize;
use adumbra_ir::module::Global;
use adumbra_ir::{Type, heap_of};
use host_struct::{LayoutBuilder, LayoutComparison};
use std::any::TypeId;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

#[cfg(feature = "batch")]
mod columns;
mod declared;
mod host_struct;

pub use crate::value::Flag;
#[cfg(feature = "batch")]
pub(crate) use columns::columns;
pub use declared::{HostMember, MAX_HOST_MEMBERS};
pub(crate) use host_struct::point_words;
pub use host_struct::{GlobalValue, Member, MemberVisitor, PointGlobals, ShaderGlobals};

/// The members of a host's globals, in order.
///
/// ```
/// use adumbra::{GlobalsLayout, Type};
/// let layout = GlobalsLayout::new()
///     .with("lane_a", Type::FLOAT)?
///     .with("lane_b", Type::FLOAT)?;
/// let lane_b = layout.member("lane_b").unwrap();
/// assert_eq!((lane_b.value_offset(), lane_b.ddx_offset(), lane_b.ddy_offset()), (12, 16, 20));
/// assert_eq!(layout.size(), 24);
/// # Ok::<(), adumbra::globals::LayoutError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct GlobalsLayout {
    members: Arc<Vec<GlobalMember>>,
    words: usize,
    /// Members whose shadows the host never sets. They have their memory all the same, so layouts
    /// that differ in this alone are the same.
    shadowless: Arc<Vec<String>>,
    /// The host struct that it was made from, known to have these members.
    of: Option<TypeId>,
}

heap_of! {
    GlobalMember { name, ty, start }
}

impl HeapSize for GlobalsLayout {
    fn heap_bytes(&self) -> usize {
        self.members.heap_bytes() + self.shadowless.heap_bytes()
    }
}

impl PartialEq for GlobalsLayout {
    #[inline]
    fn eq(&self, other: &GlobalsLayout) -> bool {
        self.members == other.members
    }
}

impl Eq for GlobalsLayout {}

/// One member of a host's globals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalMember {
    name: String,
    ty: Type,
    /// First word of the value.
    start: usize,
}

/// The reasons why a member cannot be added to a layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// The name is there already.
    Duplicate(String),
    /// A global cannot be of that type: only bool, int, uint, float, and vectors and matrices of 2
    /// to 4 can.
    Type(String),
    /// It has [`MAX_GLOBALS`] already.
    TooMany,
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::Duplicate(name) => write!(f, "the global `{name}` is declared twice"),
            LayoutError::Type(ty) => write!(
                f,
                "a global cannot be of type `{ty}`: only bool, int, uint, float, and vectors and matrices of 2 to 4 can"
            ),
            LayoutError::TooMany => write!(f, "a layout has at most {MAX_GLOBALS} globals"),
        }
    }
}

impl std::error::Error for LayoutError {}

impl GlobalMember {
    /// Its name in `global_value<name>`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its type.
    pub fn ty(&self) -> &Type {
        &self.ty
    }

    /// Bytes from the start of the globals to its value.
    pub fn value_offset(&self) -> usize {
        self.start * 4
    }

    /// Bytes from the start of the globals to its derivative along x, per pixel.
    pub fn ddx_offset(&self) -> usize {
        self.part(1).start * 4
    }

    /// Bytes from the start of the globals to its derivative along y, per pixel.
    pub fn ddy_offset(&self) -> usize {
        self.part(2).start * 4
    }

    /// The words of its value (0), ddx (1) or ddy (2).
    pub(crate) fn part(&self, part: usize) -> std::ops::Range<usize> {
        let count = self.ty.scalar_count();
        let start = self.start + part * count;
        start..start + count
    }
}

impl Named for GlobalMember {
    fn named(&self) -> (&str, &Type) {
        (&self.name, &self.ty)
    }
}

impl GlobalsLayout {
    /// A layout without globals.
    pub fn new() -> GlobalsLayout {
        GlobalsLayout::default()
    }

    /// The layout of a host struct's members.
    ///
    /// # Panics
    /// If the trait was implemented by hand and gives two members one name.
    pub fn of<S: ShaderGlobals>() -> GlobalsLayout {
        let mut listing = LayoutBuilder::default();
        S::members::<LayoutBuilder>(&mut listing);
        GlobalsLayout {
            of: Some(TypeId::of::<S>()),
            ..listing.0
        }
    }

    /// Whether it was made from a host struct, whose members are all that there will be.
    pub(crate) fn is_host_struct(&self) -> bool {
        self.of.is_some()
    }

    /// Whether its members are those of the struct.
    pub(crate) fn is_of<S: ShaderGlobals>(&self) -> bool {
        self.of == Some(TypeId::of::<S>()) || LayoutComparison::is_same::<S>(self)
    }

    /// The layout of a hit of the SORT renderer: uvw, position, normal, gnormal, I and tangent,
    /// each a float3.
    pub fn hit() -> GlobalsLayout {
        adumbra_frontend::check::HIT_GLOBALS
            .into_iter()
            .try_fold(GlobalsLayout::new(), |layout, name| {
                layout.with(name, Type::Vector(3))
            })
            .expect("six different names of one allowed type")
    }

    /// Adds a member after the others.
    ///
    /// # Errors
    /// If the name is taken, there are as many globals as there may be, or values of that type
    /// cannot be globals: arrays, structs, closures, resources, vectors and matrices of another
    /// size than 2 to 4.
    pub fn with(mut self, name: impl Into<String>, ty: Type) -> Result<GlobalsLayout, LayoutError> {
        self.add(name, ty)?;
        Ok(self)
    }

    /// Adds a member after the others, as [`with`](GlobalsLayout::with) does.
    ///
    /// ```
    /// use adumbra::{GlobalsLayout, Type};
    /// let mut layout = GlobalsLayout::hit();
    /// layout.add("time", Type::FLOAT)?;
    /// assert!(layout.add("time", Type::FLOAT).is_err());
    /// assert_eq!(layout.members().len(), 7);
    /// # Ok::<(), adumbra::globals::LayoutError>(())
    /// ```
    ///
    /// # Errors
    /// As for `with`; the layout stays as it was.
    pub fn add(&mut self, name: impl Into<String>, ty: Type) -> Result<(), LayoutError> {
        let name = name.into();
        if self.member(&name).is_some() {
            return Err(LayoutError::Duplicate(name));
        }
        self.push(name, ty)
    }

    /// The layout of a program's globals.
    pub(crate) fn of_program(globals: &[Global]) -> Result<GlobalsLayout, LayoutError> {
        let mut layout = GlobalsLayout::new();
        let mut names = HashSet::with_capacity(globals.len());
        Arc::make_mut(&mut layout.members).reserve_exact(globals.len());
        for Global { name, ty } in globals {
            if !names.insert(name) {
                return Err(LayoutError::Duplicate(name.clone()));
            }
            layout.push(name.clone(), ty.clone())?;
        }
        Ok(layout)
    }

    /// Adds a member of a name that no other one has.
    fn push(&mut self, name: String, ty: Type) -> Result<(), LayoutError> {
        let allowed = match &ty {
            Type::Scalar(scalar) => !scalar.is_handle(),
            Type::Vector(n) | Type::Matrix(n) => (2..=4).contains(n),
            Type::Array(..) | Type::Struct(_) => false,
        };
        if !allowed {
            return Err(LayoutError::Type(ty.to_string()));
        }
        if self.members.len() >= MAX_GLOBALS {
            return Err(LayoutError::TooMany);
        }
        self.of = None;
        let start = self.words;
        self.words += 3 * ty.scalar_count();
        Arc::make_mut(&mut self.members).push(GlobalMember { name, ty, start });
        Ok(())
    }

    /// Declares that the host never sets the derivatives of that member: they stay 0. A shader gets
    /// a warning if it needs a derivative of a value that depends on such members alone, for `ddx`
    /// or for the coordinates of a texture.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources, Type};
    /// let layout = GlobalsLayout::hit().with("time", Type::FLOAT)?.shadowless("time")?;
    /// let source = "shader s(out float o) { o = ddx(sin(global_value<time>)); }";
    /// let program = Compiler::new(layout).compile(&Sources::new("s.adu", source))?;
    /// assert_eq!(program.warnings()[0].code.to_string(), "W0514");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such member.
    pub fn shadowless(mut self, name: &str) -> Result<GlobalsLayout, AccessError> {
        find(&self.members, name)?;
        Arc::make_mut(&mut self.shadowless).push(name.to_owned());
        Ok(self)
    }

    /// Members whose derivatives the host never sets.
    pub(crate) fn shadowless_members(&self) -> &[String] {
        &self.shadowless
    }

    /// The members, in order.
    pub fn members(&self) -> &[GlobalMember] {
        &self.members
    }

    /// The member with that name.
    pub fn member(&self, name: &str) -> Option<&GlobalMember> {
        self.members.iter().find(|member| member.name == name)
    }

    /// The location of the member of that name, for hosts that set it for every point.
    ///
    /// ```
    /// use adumbra::{Dual, Globals, GlobalsLayout};
    /// let layout = GlobalsLayout::hit();
    /// let uvw = layout.slot::<[f32; 3]>("uvw")?;
    /// let mut globals = Globals::new(&layout);
    /// for x in 0..4 {
    ///     globals.write(uvw, Dual { value: [x as f32, 0.0, 0.0], ddx: [1.0, 0.0, 0.0], ddy: [0.0; 3] });
    ///     assert_eq!(globals.read(uvw).value[0], x as f32);
    /// }
    /// # Ok::<(), adumbra::access::AccessError>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such member or it has another type.
    pub fn slot<T: HostValue>(&self, name: &str) -> Result<GlobalSlot<T>, AccessError> {
        Slot::find(&self.members, name)
    }

    /// Bytes of one set of globals.
    pub fn size(&self) -> usize {
        self.words * 4
    }
}

/// The globals of one point: memory of a layout, zero until set.
///
/// ```
/// use adumbra::{Globals, GlobalsLayout};
/// let mut globals = Globals::new(&GlobalsLayout::hit());
/// globals.set("position", [1.0, 2.0, 3.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0])?;
/// assert_eq!(globals.get::<[f32; 3]>("position")?.ddy, [0.0, 0.1, 0.0]);
/// # Ok::<(), adumbra::access::AccessError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Globals {
    layout: GlobalsLayout,
    signature: Fingerprint,
    words: Vec<u32>,
}

impl Globals {
    /// All members zero, without derivatives.
    pub fn new(layout: &GlobalsLayout) -> Globals {
        Globals {
            layout: layout.clone(),
            signature: Fingerprint::of(&layout.members),
            words: vec![0; layout.words],
        }
    }

    /// The members of its layout.
    pub fn layout(&self) -> &GlobalsLayout {
        &self.layout
    }

    /// Sets a member and its derivatives per pixel along x and y. Pass zeros for a member without
    /// derivatives.
    ///
    /// # Errors
    /// If there is no such member or it has another type.
    pub fn set<T: HostValue>(
        &mut self,
        name: &str,
        value: T,
        ddx: T,
        ddy: T,
    ) -> Result<(), AccessError> {
        let scalars = find_typed(&self.layout.members, name, &T::ty())?;
        self.write_at(scalars, Dual { value, ddx, ddy });
        Ok(())
    }

    /// A member with its derivatives.
    ///
    /// # Errors
    /// If there is no such member or it has another type.
    pub fn get<T: HostValue>(&self, name: &str) -> Result<Dual<T>, AccessError> {
        Ok(self.read_at(find_typed(&self.layout.members, name, &T::ty())?))
    }

    /// Sets a member and its derivatives per pixel along x and y.
    ///
    /// # Panics
    /// If the slot was found in another layout.
    pub fn write<T: HostValue>(&mut self, slot: GlobalSlot<T>, value: Dual<T>) {
        self.write_at(slot.offset(self.signature), value);
    }

    /// A member with its derivatives.
    ///
    /// # Panics
    /// If the slot was found in another layout.
    pub fn read<T: HostValue>(&self, slot: GlobalSlot<T>) -> Dual<T> {
        self.read_at(slot.offset(self.signature))
    }

    /// Sets the member that begins at a scalar.
    fn write_at<T: HostValue>(&mut self, scalars: usize, value: Dual<T>) {
        let count = T::ty().scalar_count();
        let parts = self.words[3 * scalars..][..3 * count].chunks_exact_mut(count);
        for (words, part) in parts.zip([value.value, value.ddx, value.ddy]) {
            part.write(words);
        }
    }

    /// The member that begins at a scalar.
    fn read_at<T: HostValue>(&self, scalars: usize) -> Dual<T> {
        let count = T::ty().scalar_count();
        let words = &self.words[3 * scalars..][..3 * count];
        Dual::of_parts(|part| T::read(&words[part as usize * count..][..count]))
    }

    /// A member of any type; `None` if there is none of that name.
    pub fn view(&self, name: &str) -> Option<Dual<ValueView<'_>>> {
        let member = self.layout.member(name)?;
        let part = |part| ValueView::new(&member.ty, &self.words[member.part(part as usize)]);
        Some(Dual::of_parts(part))
    }

    /// Sets a member of any type from views of its value, ddx and ddy, which are of one type.
    ///
    /// # Errors
    /// If there is no such member or it has another type.
    pub fn set_view(&mut self, name: &str, value: Dual<ValueView<'_>>) -> Result<(), AccessError> {
        let ty = value.value.ty();
        let (scalars, count) = (
            find_typed(&self.layout.members, name, ty)?,
            ty.scalar_count(),
        );
        let parts = self.words[3 * scalars..][..3 * count].chunks_exact_mut(count);
        for (words, view) in parts.zip([value.value, value.ddx, value.ddy]) {
            words
                .iter_mut()
                .zip(view.words())
                .for_each(|(to, from)| *to = from);
        }
        Ok(())
    }

    /// The same values in the layout of another program, which may have further members: they are
    /// zero.
    ///
    /// # Errors
    /// If the program lacks a member, or has it with another type.
    pub fn adopt(&self, layout: &GlobalsLayout) -> Result<Globals, AccessError> {
        let mut adopted = Globals::new(layout);
        for member in self.layout().members() {
            let view = self.view(member.name()).expect("its own member");
            adopted.set_view(member.name(), view)?;
        }
        Ok(adopted)
    }

    /// The memory, as the layout says; floats by their bits, bools as 0 or 1.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The memory, to be filled by a host that knows the offsets. Bools are 0 or 1.
    pub fn words_mut(&mut self) -> &mut [u32] {
        &mut self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_ir::Scalar;

    #[test]
    fn layout_matches_post() {
        let layout = GlobalsLayout::hit();
        let offsets: Vec<usize> = layout.members().iter().map(|m| m.value_offset()).collect();
        assert_eq!(offsets, [0, 36, 72, 108, 144, 180]);
        assert_eq!(layout.member("position").unwrap().ddx_offset(), 48);
        assert_eq!(layout.member("position").unwrap().ddy_offset(), 60);
        assert_eq!(layout.size(), 216);
    }

    #[test]
    fn globals_that_cannot_be_are_refused() {
        let layout = GlobalsLayout::hit();
        assert_eq!(
            layout.clone().with("uvw", Type::FLOAT),
            Err(LayoutError::Duplicate("uvw".to_owned()))
        );
        let many: Vec<_> = (0..=MAX_GLOBALS)
            .map(|at| Global {
                name: at.to_string(),
                ty: Type::FLOAT,
            })
            .collect();
        assert!(GlobalsLayout::of_program(&many[1..]).is_ok());
        let refused = GlobalsLayout::of_program(&many);
        assert_eq!(refused, Err(LayoutError::TooMany));
        let array = Type::Array(Arc::new(Type::FLOAT), 2);
        assert_eq!(
            layout.clone().with("w", array),
            Err(LayoutError::Type("float[2]".to_owned()))
        );
        let closure = Type::Scalar(Scalar::Closure);
        assert!(layout.clone().with("c", closure).is_err());
        for size in [0, 1, 5, u8::MAX] {
            for ty in [Type::Vector(size), Type::Matrix(size)] {
                let shown = ty.to_string();
                let refused = Err(LayoutError::Type(shown));
                assert_eq!(layout.clone().with("v", ty), refused);
            }
        }
    }

    #[test]
    fn members_are_set_and_read_by_type() {
        let layout = GlobalsLayout::new()
            .with("flag", Type::Scalar(Scalar::Bool))
            .and_then(|layout| layout.with("v", Type::Vector(2)))
            .and_then(|layout| layout.with("m", Type::Matrix(2)))
            .unwrap();
        let mut globals = Globals::new(&layout);
        globals.set("flag", true, false, false).unwrap();
        globals
            .set("v", [1.0, 2.0], [3.0, 4.0], [5.0, 6.0])
            .unwrap();
        assert_eq!(globals.words()[..3], [1, 0, 0]);
        assert_eq!(
            globals.words()[3..9],
            [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(f32::to_bits)
        );
        assert_eq!(globals.get::<[f32; 2]>("v").unwrap().ddx, [3.0, 4.0]);
        let matrix = [[1.0, 2.0], [3.0, 4.0]];
        globals
            .set("m", matrix, [[0.5; 2]; 2], [[0.0; 2]; 2])
            .unwrap();
        assert_eq!(
            globals.words()[9..13],
            [1.0, 2.0, 3.0, 4.0].map(f32::to_bits)
        );
        assert_eq!(
            globals.get::<[[f32; 2]; 2]>("m").unwrap().ddx,
            [[0.5; 2]; 2]
        );
        assert_eq!(
            globals.set("flag", 1.0, 0.0, 0.0).unwrap_err().to_string(),
            "`flag` is of type `bool`, not `float`"
        );
        assert_eq!(
            globals.get::<f32>("gone").unwrap_err().to_string(),
            "there is no `gone`"
        );
    }
}
