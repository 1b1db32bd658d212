//! The buffers of a group: buffers of one name are one, and so have one type of elements.

use super::Planner;
use adumbra_ir::module::Buffer;
use adumbra_ir::{Code, Diagnostic};
use std::collections::HashMap;

impl Planner<'_> {
    /// Reports buffers of one name whose elements differ: the host has one for both.
    pub(super) fn check_buffers(&mut self) {
        let mut known: HashMap<&str, &Buffer> = HashMap::new();
        for module in self.modules.iter().flatten() {
            for buffer in &module.buffers {
                let first = *known.entry(&buffer.name).or_insert(buffer);
                if first.element == buffer.element {
                    continue;
                }
                let message = format!(
                    "the buffer `{}` of the group has elements of two types",
                    buffer.name
                );
                self.report(
                    Diagnostic::new(Code::FedTwice, buffer.span, message)
                        .here(format!("of type `{}`", buffer.element))
                        .label(first.span, format!("of type `{}`", first.element))
                        .help("give one of them another name: the host sets a buffer by its name"),
                );
            }
        }
    }
}
