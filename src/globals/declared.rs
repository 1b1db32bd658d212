//! Structs that a host declares by names, types and offsets, as in C, compared with the globals.
//!
//! No memory is written or read by these offsets. They are the host compiler's, and each mismatch
//! is reported before the first point is shaded.

use super::{GlobalMember, GlobalsLayout};
use crate::diagnostics::Diagnostics;
use crate::sources::Sources;
use adumbra_frontend::closest_name;
use adumbra_ir::{Code, Diagnostic, FileId, Span, Type};
use std::collections::HashSet;

/// The maximum number of members of a host struct that are compared; a struct with more is refused
/// whole.
pub const MAX_HOST_MEMBERS: usize = 4096;

/// The maximum number of characters of a member's name in a report.
const MAX_SHOWN_NAME: usize = 200;

/// A member of a struct of the host that holds the globals of a point.
#[derive(Clone, Copy, Debug)]
pub struct HostMember<'a> {
    /// The global that it is to be.
    pub name: &'a str,
    /// The type of its value, which ddx and ddy follow.
    pub ty: &'a Type,
    /// Bytes from the start of the struct to its value.
    pub offset: usize,
}

impl GlobalsLayout {
    /// Compares a struct of the host, of `bytes` bytes, with these globals: names, types, offsets
    /// and size. The order in which members are listed does not matter.
    ///
    /// ```
    /// use adumbra::{GlobalsLayout, Type, globals::HostMember};
    /// let layout = GlobalsLayout::new().with("uv", Type::Vector(2))?.with("normal", Type::Vector(3))?;
    /// let member = |name, ty, offset| HostMember { name, ty, offset };
    /// let (uv, normal) = (member("uv", &Type::Vector(2), 0), member("normal", &Type::Vector(3), 24));
    /// assert!(layout.check(&[uv, normal], 60).is_ok());
    ///
    /// let misspelt = member("nomral", normal.ty, 24);
    /// let found = layout.check(&[uv, misspelt], 60).unwrap_err();
    /// assert_eq!(found.diagnostics[0].message, "there is no global `nomral`");
    /// assert_eq!(found.diagnostics[0].help.as_deref(), Some("did you mean `normal`?"));
    /// # Ok::<(), adumbra::globals::LayoutError>(())
    /// ```
    ///
    /// # Errors
    /// If anything differs, with diagnostics in a listing of the struct.
    pub fn check(&self, members: &[HostMember<'_>], bytes: usize) -> Result<(), Diagnostics> {
        let mut comparison = Comparison::default();
        match members.len() <= MAX_HOST_MEMBERS {
            true => comparison.compare(self, members, bytes),
            false => comparison.find(
                Span::default(),
                format!(
                    "the struct has {} members, more than {MAX_HOST_MEMBERS}",
                    members.len()
                ),
                "fewer globals".to_owned(),
            ),
        }
        match comparison.found.is_empty() {
            true => Ok(()),
            false => Err(Diagnostics {
                diagnostics: comparison.found,
                sources: Sources::new("<struct of the host>", comparison.listing),
            }),
        }
    }
}

/// The differences, and a listing of the struct to point at.
#[derive(Default)]
struct Comparison {
    listing: String,
    found: Vec<Diagnostic>,
}

/// A name as a listing and messages show it: in one line, and shortened.
fn shown(name: &str) -> String {
    let one_line = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    name.chars().take(MAX_SHOWN_NAME).map(one_line).collect()
}

impl Comparison {
    fn find(&mut self, span: Span, message: String, help: String) {
        let found = Diagnostic::new(Code::HostStruct, span, message);
        self.found.push(found.help(help));
    }

    /// Adds a part to the listing, to be pointed at.
    fn list(&mut self, text: &str) -> Span {
        let start = self.listing.len() as u32;
        self.listing += text;
        Span::new(FileId::MAIN, start, self.listing.len() as u32)
    }

    fn compare(&mut self, layout: &GlobalsLayout, members: &[HostMember<'_>], bytes: usize) {
        let given: HashSet<&str> = members.iter().map(|member| member.name).collect();
        let own = layout.members.iter();
        let mut lacking: Vec<&GlobalMember> =
            own.filter(|own| !given.contains(own.name())).collect();
        let mut seen = HashSet::new();
        let mut misspelt = HashSet::new();
        self.list("struct {\n");
        for member in members {
            self.list("    ");
            let ty = self.list(&member.ty.to_string());
            self.list(" ");
            let name = self.list(&shown(member.name));
            self.list("; // ");
            let offset = self.list(&format!("byte {}", member.offset));
            self.list("\n");
            if !seen.insert(member.name) {
                let message = format!("`{}` is there twice", shown(member.name));
                self.find(name, message, "leave one of them out".to_owned());
                continue;
            }
            if let Some(own) = layout.member(member.name) {
                self.known(own, member, [ty, offset]);
                continue;
            }
            // A global that the host has already is not the one that it means.
            let meant = closest_name(member.name, lacking.iter().map(|own| own.name()));
            misspelt.extend(meant);
            let help = match meant {
                Some(meant) => format!("did you mean `{}`?", shown(meant)),
                None => "leave it out, or declare it among the globals".to_owned(),
            };
            let message = format!("there is no global `{}`", shown(member.name));
            self.find(name, message, help);
        }
        let end = self.list("}");
        self.list("; // ");
        let size = self.list(&format!("{bytes} bytes"));
        self.list("\n");
        lacking.retain(|own| !misspelt.contains(own.name()));
        if !lacking.is_empty() {
            self.lacks(end, &lacking);
        }
        if bytes != layout.size() {
            let message = format!(
                "the struct has {bytes} bytes, the globals have {}",
                layout.size()
            );
            let help = "globals follow each other without gaps, each as value, ddx and ddy of four-byte numbers";
            self.find(size, message, help.to_owned());
        }
    }

    fn lacks(&mut self, end: Span, lacking: &[&GlobalMember]) {
        let list = |show: fn(&GlobalMember) -> String| {
            let shown: Vec<String> = lacking.iter().map(|own| show(own)).collect();
            shown.join(", ")
        };
        let names = list(|own| format!("`{}`", shown(own.name())));
        let places = list(|own| {
            let (ty, name, at) = (own.ty(), shown(own.name()), own.value_offset());
            format!("`{ty} {name}` at byte {at}")
        });
        let message = format!("the struct lacks {names}");
        self.find(end, message, format!("add {places}"));
    }

    fn known(&mut self, own: &GlobalMember, given: &HostMember<'_>, [ty, offset]: [Span; 2]) {
        let name = shown(own.name());
        if own.ty() != given.ty {
            let message = format!("`{name}` is of type `{}`, not `{}`", own.ty(), given.ty);
            let help = format!("make it value, ddx and ddy of a `{}`", own.ty());
            self.find(ty, message, help);
        }
        if own.value_offset() != given.offset {
            let message = format!(
                "`{name}` is at byte {}, not {}",
                own.value_offset(),
                given.offset
            );
            let help =
                "list members in the order of the globals, without gaps between them".to_owned();
            self.find(offset, message, help);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render;

    fn layout() -> GlobalsLayout {
        GlobalsLayout::new()
            .with("uv", Type::Vector(2))
            .and_then(|layout| layout.with("normal", Type::Vector(3)))
            .and_then(|layout| layout.with("time", Type::FLOAT))
            .unwrap()
    }

    fn messages(members: &[(&str, Type, usize)], bytes: usize) -> Vec<String> {
        let members: Vec<_> = members
            .iter()
            .map(|(name, ty, offset)| HostMember {
                name,
                ty,
                offset: *offset,
            })
            .collect();
        match layout().check(&members, bytes) {
            Ok(()) => Vec::new(),
            Err(found) => {
                assert!(!render::text(&found.diagnostics, &found.sources, false).is_empty());
                let each = found.diagnostics.iter();
                each.map(|d| format!("{}: {}", d.message, d.help.as_deref().unwrap()))
                    .collect()
            }
        }
    }

    const UV: (&str, Type, usize) = ("uv", Type::Vector(2), 0);
    const NORMAL: (&str, Type, usize) = ("normal", Type::Vector(3), 24);
    const TIME: (&str, Type, usize) = ("time", Type::FLOAT, 60);

    #[test]
    fn struct_that_fits_has_no_diagnostics() {
        assert_eq!(messages(&[UV, NORMAL, TIME], 72), [""; 0]);
        assert_eq!(messages(&[TIME, UV, NORMAL], 72), [""; 0]);
    }

    #[test]
    fn unknown_name_suggests_lacking_one() {
        let found = messages(&[UV, ("nomral", Type::Vector(3), 24), TIME], 72);
        assert_eq!(
            found,
            ["there is no global `nomral`: did you mean `normal`?"]
        );
        // `uv` is near to it, but a member already.
        let found = messages(&[UV, NORMAL, TIME, ("uw", Type::FLOAT, 72)], 84);
        let leave = "there is no global `uw`: leave it out, or declare it among the globals";
        assert_eq!(found[0], leave);
        assert_eq!(found.len(), 2, "and the size differs");
    }

    #[test]
    fn each_difference_is_reported_at_its_member() {
        let found = messages(&[UV, UV, ("normal", Type::Vector(4), 28)], 76);
        let starts = [
            "`uv` is there twice",
            "`normal` is of type `float3`, not `float4`: make it value, ddx and ddy of a `float3`",
            "`normal` is at byte 24, not 28",
            "the struct lacks `time`: add `float time` at byte 60",
            "the struct has 76 bytes, the globals have 72",
        ];
        assert_eq!(found.len(), starts.len(), "{found:#?}");
        for (found, start) in found.iter().zip(starts) {
            assert!(found.starts_with(start), "{found}");
        }
    }

    #[test]
    fn arbitrary_members_are_refused() {
        let long = "x\n".repeat(100_000);
        let found = messages(&[UV, NORMAL, TIME, (&long, Type::FLOAT, usize::MAX)], 72);
        assert!(found.len() == 1 && found[0].len() < 4 * MAX_SHOWN_NAME);
        let many = vec![UV; MAX_HOST_MEMBERS + 1];
        assert_eq!(messages(&many, 72).len(), 1);
        assert_eq!(messages(&many[1..], 72).len(), MAX_HOST_MEMBERS);
    }
}
