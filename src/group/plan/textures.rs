//! The textures of a group: textures of one name are one, under the unit's name for it or another.

use super::Planner;
use super::resolve::list_names;
use adumbra_frontend::closest_name;
use adumbra_ir::module::Texture;
use adumbra_ir::{Code, Diagnostic, Module, Span};
use std::collections::HashMap;

/// The names that a shader has for its textures.
fn texture_names(module: &Module) -> impl Iterator<Item = &str> + Clone {
    module.textures.iter().map(|texture| &*texture.name)
}

impl Planner<'_> {
    /// The texture names of each unit.
    pub(super) fn bind_textures(&mut self) -> Vec<Vec<String>> {
        let mut textures: Vec<Vec<String>> = (self.modules.iter())
            .map(|module| {
                module.map_or_else(Vec::new, |module| {
                    texture_names(module).map(str::to_owned).collect()
                })
            })
            .collect();
        let mut bound: HashMap<(&str, &str), Span> = HashMap::new();
        let group = self.group;
        for binding in &group.bindings {
            if self.is_full() {
                break;
            }
            let Some(unit) = self.unit(&binding.unit, binding.span) else {
                continue;
            };
            let Some(module) = self.modules[unit] else {
                continue;
            };
            let texture = binding.texture.as_str();
            let mut names = texture_names(module);
            let Some(at) = names.position(|name| name == texture) else {
                let names = texture_names(module);
                let help = match (closest_name(texture, names.clone()), list_names(names)) {
                    (Some(known), _) => format!("did you mean `{known}`?"),
                    (None, Some(list)) => format!("it samples {list}"),
                    (None, None) => "its shader samples none".to_owned(),
                };
                let message = format!("the unit `{}` samples no texture `{texture}`", binding.unit);
                self.report(
                    Diagnostic::new(Code::UnknownTexture, binding.span, message)
                        .here("not sampled")
                        .help(help),
                );
                continue;
            };
            textures[unit][at].clone_from(&binding.name);
            if let Some(earlier) = bound.insert((&binding.unit, texture), binding.span) {
                let message = format!(
                    "the texture `{texture}` of the unit `{}` is bound twice",
                    binding.unit
                );
                self.twice(message, binding.span, earlier);
            }
        }
        self.check_shared(&textures);
        textures
    }

    /// Reports textures of one name whose metadata differ: the host has one texture for both.
    fn check_shared(&mut self, names: &[Vec<String>]) {
        let mut known: HashMap<&str, &Texture> = HashMap::new();
        for (unit, module) in self.modules.iter().enumerate() {
            let textures = module.iter().flat_map(|module| &module.textures);
            let said = textures.zip(&names[unit]);
            for (texture, name) in said.filter(|(texture, _)| !texture.metadata.is_empty()) {
                let first = *known.entry(name).or_insert(texture);
                if self.is_same_texture(first, texture) {
                    continue;
                }
                let message = format!("the texture `{name}` of the group has two sets of metadata");
                let unit = &self.group.units[unit].name;
                self.report(
                    Diagnostic::new(Code::FedTwice, texture.span, message)
                        .here("this one")
                        .label(first.span, "and this one")
                        .help(format!(
                            "bind the texture of the unit `{unit}` to another name, or make both alike"
                        )),
                );
            }
        }
    }

    /// Whether metadata says the same: a file is found from the folder of its source.
    fn is_same_texture(&self, a: &Texture, b: &Texture) -> bool {
        let folder = |texture: &Texture| {
            let source = self.sources.get(texture.span.file)?;
            Some(
                source
                    .name()
                    .rsplit_once('/')
                    .map_or("", |(folder, _)| folder),
            )
        };
        let has_file = a.metadata_value(Texture::FILE).is_some();
        a.metadata == b.metadata && (!has_file || folder(a) == folder(b))
    }
}
