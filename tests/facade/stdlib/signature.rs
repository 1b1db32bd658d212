//! Calls of library functions with drawn arguments, by their signatures.

use super::draw::Variables;
use super::suite::Function;
use adumbra_fuzz::signature::{LibrarySignature, SignatureParam, type_of};

/// Shaders that call a function.
pub(crate) trait Called {
    /// The parameters that are read and of types that globals can have, with where they are drawn
    /// from.
    fn read(&self, function: &Function) -> Variables;

    /// The same; nothing if another is read, too.
    fn variables(&self, function: &Function) -> Option<Variables>;

    /// A shader that calls it with globals, and zeros of other types, and gives what it gives.
    fn shader(&self) -> String;

    /// A shader with two outputs that are equal if it works component by component; nothing if it
    /// gives no vector.
    fn componentwise_shader(&self) -> Option<String>;
}

impl Called for LibrarySignature {
    fn read(&self, function: &Function) -> Variables {
        let read = self.params.iter().filter(|param| !param.is_out);
        read.filter_map(|param| {
            let ty = type_of(&param.ty)?;
            let domain = function.domain(&param.name, &ty);
            Some((param.name.clone(), ty, domain))
        })
        .collect()
    }

    fn variables(&self, function: &Function) -> Option<Variables> {
        let is_known = |param: &SignatureParam| param.is_out || type_of(&param.ty).is_some();
        let all = self.params.iter().all(is_known);
        all.then(|| self.read(function))
    }

    fn shader(&self) -> String {
        let (mut outs, mut locals, mut args) = (Vec::new(), String::new(), Vec::new());
        for SignatureParam { is_out, ty, name } in &self.params {
            if *is_out {
                outs.push(format!("out {ty} {name}"));
            } else if type_of(ty).is_some() {
                locals += &format!("{ty} {name} = global_value<{name}>; ");
            } else {
                locals += &format!("{ty} {name}; ");
            }
            args.push(name.as_str());
        }
        let mut call = format!("{}({});", self.name, args.join(", "));
        if self.returns != "void" {
            outs.push(format!("out {} given", self.returns));
            call = format!("given = {call}");
        }
        format!("shader call({}) {{ {locals}{call} }}", outs.join(", "))
    }

    fn componentwise_shader(&self) -> Option<String> {
        let width: usize = self.returns.strip_prefix("float")?.parse().ok()?;
        let args = |component: &str| {
            let each = self
                .params
                .iter()
                .map(|param| match param.ty == self.returns {
                    true => format!("global_value<{}>{component}", param.name),
                    false => format!("global_value<{}>", param.name),
                });
            each.collect::<Vec<_>>().join(", ")
        };
        let (ty, name) = (&self.returns, &self.name);
        let calls = [".x", ".y", ".z", ".w"][..width]
            .iter()
            .map(|component| format!("{name}({})", args(component)));
        let parts = calls.collect::<Vec<_>>().join(", ");
        let whole = args("");
        Some(format!(
            "shader parts(out {ty} one, out {ty} other) {{ one = {name}({whole}); other = {ty}({parts}); }}"
        ))
    }
}
