//! EXT_mesh_gpu_instancing: a node's mesh at several places, each with a map of its own.

use super::super::error::SceneError;
use super::super::transform::quaternion;
use super::{File, accessor};
use glam::{DAffine3, DVec3};
use gltf::Node;
use serde_json::Value;

/// The maps of a node's instances, as many as the limit at most: one that changes nothing without
/// the extension.
pub(super) fn maps(
    file: &File<'_>,
    node: &Node<'_>,
    limit: usize,
) -> Result<Vec<DAffine3>, SceneError> {
    let extended = file.extensions.nodes.get(node.index());
    let object = extended.and_then(|node| node.extensions.get("EXT_mesh_gpu_instancing"));
    let Some(attributes) = object.and_then(|object| object.get("attributes")) else {
        return Ok(vec![DAffine3::IDENTITY]);
    };
    let translations = read::<3>(file, node, attributes, "TRANSLATION")?;
    let rotations = read::<4>(file, node, attributes, "ROTATION")?;
    let scales = read::<3>(file, node, attributes, "SCALE")?;
    let counts = [
        translations.as_ref().map(Vec::len),
        rotations.as_ref().map(Vec::len),
        scales.as_ref().map(Vec::len),
    ];
    let count = counts.into_iter().flatten().next().unwrap_or(0);
    let at = |why: &str| file.error(format!("nodes[{}]", node.index()), why);
    if counts.into_iter().flatten().any(|other| other != count) {
        return Err(at(
            "its attributes of instances have different numbers of entries",
        ));
    }
    if count > limit {
        return Err(at(&format!(
            "it has {count} instances; the limit is {limit}"
        )));
    }
    (0..count)
        .map(|index| {
            let vector = |of: &Option<Vec<[f32; 3]>>, default: DVec3| {
                of.as_ref()
                    .map_or(default, |all| DVec3::from_array(all[index].map(f64::from)))
            };
            let turn = match &rotations {
                Some(all) => quaternion(all[index].map(f64::from)),
                None => Some(glam::DMat3::IDENTITY),
            };
            let turn = turn.ok_or_else(|| at("a rotation of its instances has no direction"))?;
            let map = DAffine3::from_translation(vector(&translations, DVec3::ZERO))
                * DAffine3::from_mat3(turn)
                * DAffine3::from_scale(vector(&scales, DVec3::ONE));
            match map.is_finite() {
                true => Ok(map),
                false => Err(at("a map of its instances is not finite")),
            }
        })
        .filter(|map| map.as_ref().map_or(true, super::is_drawn))
        .collect()
}

/// The entries of an attribute, if there is one.
fn read<const N: usize>(
    file: &File<'_>,
    node: &Node<'_>,
    attributes: &Value,
    name: &str,
) -> Result<Option<Vec<[f32; N]>>, SceneError> {
    let Some(index) = attributes.get(name) else {
        return Ok(None);
    };
    let item = || format!("nodes[{}].{name}", node.index());
    let index = index.as_u64().and_then(|index| usize::try_from(index).ok());
    let accessor = index.and_then(|index| file.document.accessors().nth(index));
    let accessor = accessor.ok_or_else(|| file.error(item(), "there is no such accessor"))?;
    let read = accessor::vectors(file, &accessor);
    read.map(Some).map_err(|why| file.error(item(), why))
}
