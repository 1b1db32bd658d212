//! Scene files with other inputs of their materials, all else as it was.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use std::fmt;

/// JSON whose objects keep the order of their keys.
#[derive(Clone, Debug, PartialEq)]
enum Ordered {
    Object(Vec<(String, Ordered)>),
    List(Vec<Ordered>),
    Single(Value),
}

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Ordered, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Ordered;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }
            fn visit_bool<E: Error>(self, value: bool) -> Result<Ordered, E> {
                Ok(Ordered::Single(value.into()))
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Ordered, E> {
                Ok(Ordered::Single(value.into()))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Ordered, E> {
                Ok(Ordered::Single(value.into()))
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Ordered, E> {
                Ok(Ordered::Single(value.into()))
            }
            fn visit_str<E: Error>(self, value: &str) -> Result<Ordered, E> {
                Ok(Ordered::Single(value.into()))
            }
            fn visit_unit<E: Error>(self) -> Result<Ordered, E> {
                Ok(Ordered::Single(Value::Null))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Ordered, A::Error> {
                let mut all = Vec::new();
                while let Some(one) = list.next_element()? {
                    all.push(one);
                }
                Ok(Ordered::List(all))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
                let mut all = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    all.push(entry);
                }
                Ok(Ordered::Object(all))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// Columns of a line, if what it has can be divided.
const COLUMNS: usize = 100;

impl Ordered {
    /// The entry of an object by name, none of other JSON.
    fn get_mut(&mut self, name: &str) -> Option<&mut Ordered> {
        let Ordered::Object(entries) = self else {
            return None;
        };
        let mut entries = entries.iter_mut();
        entries
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// Appends it: what fits into a line is in one, after `indent` blanks and what is there.
    fn print(&self, indent: usize, out: &mut String) {
        let line = self.to_string();
        let before = out.len() - out.rfind('\n').map_or(0, |at| at + 1);
        let (open, close) = match self {
            Ordered::Object(_) => ('{', '}'),
            Ordered::List(_) => ('[', ']'),
            Ordered::Single(_) => return out.push_str(&line),
        };
        if before + line.len() < COLUMNS {
            return out.push_str(&line);
        }
        let inner = indent + 4;
        let mut separator = open;
        self.for_each(|name, value| {
            out.extend([separator, '\n']);
            out.extend(std::iter::repeat_n(' ', inner));
            if let Some(name) = name {
                out.push_str(&format!("{}: ", Value::from(name)));
            }
            value.print(inner, out);
            separator = ',';
        });
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', indent));
        out.push(close);
    }

    /// Calls `each` with the parts, and their names in an object.
    fn for_each<'o>(&'o self, mut each: impl FnMut(Option<&'o str>, &'o Ordered)) {
        match self {
            Ordered::Object(entries) => {
                entries
                    .iter()
                    .for_each(|(name, value)| each(Some(name), value));
            }
            Ordered::List(all) => all.iter().for_each(|value| each(None, value)),
            Ordered::Single(_) => {}
        }
    }

    /// Sets the entry of an object.
    fn set(&mut self, name: &str, value: Ordered) {
        if let Some(known) = self.get_mut(name) {
            *known = value;
        } else if let Ordered::Object(entries) = self {
            entries.push((name.to_owned(), value));
        }
    }
}

/// In one line.
impl fmt::Display for Ordered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (open, close) = match self {
            Ordered::Object(entries) if entries.is_empty() => return f.write_str("{}"),
            Ordered::Object(_) => ("{ ", " }"),
            Ordered::List(_) => ("[", "]"),
            Ordered::Single(value) => return value.fmt(f),
        };
        f.write_str(open)?;
        let (mut separator, mut result) = ("", Ok(()));
        self.for_each(|name, value| {
            let name = name.map_or_else(String::new, |name| format!("{}: ", Value::from(name)));
            let before = std::mem::replace(&mut separator, ", ");
            result = result.and_then(|()| write!(f, "{before}{name}{value}"));
        });
        result?;
        f.write_str(close)
    }
}

/// The numbers of an input: one alone, or the list of a vector's.
fn numbers(value: &[f32]) -> Ordered {
    // The shortest decimal of an `f32`, which is read as the same.
    let number = |x: &f32| {
        let shortest: Option<Number> = x.to_string().parse::<f64>().ok().and_then(Number::from_f64);
        Ordered::Single(shortest.map_or(Value::Null, Value::Number))
    };
    match value {
        [one] => number(one),
        all => Ordered::List(all.iter().map(number).collect()),
    }
}

/// A scene file with these inputs of materials: the material's name, the input's, and its numbers.
/// None if the file has no such material of a shader or group.
///
/// # Errors
/// If it is no JSON.
pub fn with_inputs(
    scene: &str,
    inputs: &[(&str, &str, &[f32])],
) -> Result<Option<String>, serde_json::Error> {
    let mut scene: Ordered = serde_json::from_str(scene)?;
    for (material, input, value) in inputs {
        let Some(material) = (scene.get_mut("materials")).and_then(|all| all.get_mut(material))
        else {
            return Ok(None);
        };
        let kind = ["shader", "group"].into_iter();
        let Some(kind) = kind
            .into_iter()
            .find(|kind| material.get_mut(kind).is_some())
        else {
            return Ok(None);
        };
        if let Some(section) = material.get_mut(kind) {
            if section.get_mut("inputs").is_none() {
                section.set("inputs", Ordered::Object(Vec::new()));
            }
            if let Some(all) = section.get_mut("inputs") {
                all.set(input, numbers(value));
            }
        }
    }
    let mut written = String::new();
    scene.print(0, &mut written);
    Ok(Some(written + "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_set_and_all_else_stays() {
        let scene = r#"{ "materials": { "b": { "shader": { "file": "b.adu" } },
            "a": { "group": { "file": "a.json", "inputs": { "z": 1, "k": [0.5, 2] } } } },
            "camera": null, "image": { "width": 3 } }"#;
        let found = [("b", "gain", &[0.1_f32][..]), ("a", "k", &[0.25, 1e-8])];
        let written = with_inputs(scene, &found).unwrap().unwrap();
        let expected = r#"{
    "materials": {
        "b": { "shader": { "file": "b.adu", "inputs": { "gain": 0.1 } } },
        "a": { "group": { "file": "a.json", "inputs": { "z": 1, "k": [0.25, 1e-8] } } }
    },
    "camera": null,
    "image": { "width": 3 }
}
"#;
        assert_eq!(written, expected);
        let missing = [("c", "gain", &[0.1_f32][..])];
        assert_eq!(with_inputs(scene, &missing).unwrap(), None);
    }
}
