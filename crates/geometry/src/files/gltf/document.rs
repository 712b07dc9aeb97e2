//! The parts of the JSON that define triangles, in the schema of the `gltf` crate.

use super::super::text::excerpt;
use super::super::{FileError, Place, Problem};
use glam::{DMat4, DQuat, DVec3};
use gltf::json;
use gltf::json::mesh::{Mode, Primitive};
use gltf::json::validation::Checked;
use serde::Deserialize;

type Extensions = serde_json::Map<String, serde_json::Value>;

/// The JSON of a file: the schema, and the transforms of the nodes, which the schema holds as `f32`.
pub(super) struct Json {
    pub root: json::Root,
    transforms: Vec<Transform>,
}

#[derive(Deserialize)]
struct Transforms {
    #[serde(default)]
    nodes: Vec<Transform>,
}

#[derive(Deserialize)]
struct Transform {
    /// Column-major.
    matrix: Option<[f64; 16]>,
    translation: Option<[f64; 3]>,
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
}

impl Json {
    pub fn parse(json: &[u8]) -> Result<Self, FileError> {
        // Of the crate itself, in which the readers of all its types are compiled once.
        let root = json::Root::from_slice(json).map_err(|error| invalid(&error))?;
        let Transforms { nodes: transforms } = serde_json::from_slice(json).map_err(|error| invalid(&error))?;
        let version = &root.asset.version;
        if version != "2" && !version.starts_with("2.") {
            let found = excerpt(version.as_bytes());
            return Err(Problem::GltfVersion { found }.at(Place::Named("asset")));
        }
        match root.extensions_required.iter().find(|name| !is_harmless(name)) {
            Some(name) => Err(unsupported(Place::Named("extensionsRequired"), name)),
            None => Ok(Self { root, transforms }),
        }
    }

    pub fn parent_from_node(&self, index: usize) -> Result<DMat4, FileError> {
        let place = Place::Element("node", index);
        let (node, transform) = (&self.root.nodes[index], &self.transforms[index]);
        refuse_shaping(node.extensions.as_ref().map(|e| &e.others), place)?;
        if let (Some(skin), Some(_)) = (node.skin, node.mesh) {
            let (feature, remedy) = (format!("skin {skin}"), "export the posed mesh without its skeleton");
            return Err(Problem::GltfUnsupported { feature, remedy }.at(place));
        }
        let bad = |expected, found| Problem::GltfValue { expected, found }.at(place);
        if let Some(columns) = transform.matrix {
            let matrix = DMat4::from_cols_array(&columns);
            let last_row = matrix.row(3);
            if last_row != glam::DVec4::W {
                return Err(bad("a matrix with the last row 0, 0, 0, 1", last_row.to_string()));
            }
            return Ok(matrix);
        }
        let rotation = DQuat::from_array(transform.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]));
        if (rotation.length() - 1.0).abs() > 1e-2 {
            return Err(bad("a rotation of unit length", rotation.to_string()));
        }
        Ok(DMat4::from_scale_rotation_translation(
            transform.scale.map_or(DVec3::ONE, DVec3::from_array),
            rotation.normalize(),
            transform.translation.map_or(DVec3::ZERO, DVec3::from_array),
        ))
    }
}

fn invalid(error: &serde_json::Error) -> FileError {
    let text = error.to_string();
    // The position has fields of its own.
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    Problem::GltfJson { reason: reason.replace('\n', " ") }.at(Place::Json(error.line(), error.column()))
}

/// Extensions that a file may require without changing the shape. Quantized positions are refused where they occur in
/// the scene.
fn is_harmless(extension: &str) -> bool {
    let about_looks = ["KHR_materials_", "KHR_texture_", "KHR_lights_", "EXT_texture_", "EXT_lights_", "MSFT_texture_"];
    extension == "KHR_mesh_quantization" || about_looks.iter().any(|prefix| extension.starts_with(prefix))
}

/// Extensions that change the shape of the element that has them.
const SHAPING: [&str; 4] =
    ["KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression", "EXT_mesh_gpu_instancing"];

pub(super) fn refuse_shaping(extensions: Option<&Extensions>, place: Place) -> Result<(), FileError> {
    match SHAPING.iter().find(|name| extensions.is_some_and(|all| all.contains_key(**name))) {
        Some(name) => Err(unsupported(place, name)),
        None => Ok(()),
    }
}

fn unsupported(place: Place, extension: &str) -> FileError {
    let (feature, remedy) = match extension {
        "KHR_draco_mesh_compression" => ("Draco compression", "export without mesh compression"),
        "EXT_meshopt_compression" | "KHR_meshopt_compression" => {
            ("meshopt compression", "export without mesh compression")
        }
        "EXT_mesh_gpu_instancing" => ("instancing", "export each instance as a node"),
        _ => ("an extension", "export the file without it"),
    };
    let feature = format!("{feature} ({})", excerpt(extension.as_bytes()));
    Problem::GltfUnsupported { feature, remedy }.at(place)
}

/// The mode of a primitive with triangles; `None` for points and lines.
pub(super) fn triangle_mode(primitive: &Primitive, place: Place) -> Result<Option<Mode>, FileError> {
    match primitive.mode {
        Checked::Valid(mode @ (Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan)) => {
            refuse_shaping(primitive.extensions.as_ref().map(|e| &e.others), place).map(|()| Some(mode))
        }
        Checked::Valid(_) => Ok(None),
        Checked::Invalid => {
            let (expected, found) = ("a mode from 0 to 6", "another".into());
            Err(Problem::GltfValue { expected, found }.at(place))
        }
    }
}

/// The triangles of a list, strip or fan, as section 3.7.2.1 of the glTF 2.0 specification defines them; `None` if the
/// number of vertices does not fit.
pub(super) fn triangles(mode: Mode, indices: &[u32]) -> Option<Vec<[u32; 3]>> {
    match mode {
        Mode::Triangles if indices.len().is_multiple_of(3) => Some(indices.as_chunks::<3>().0.to_vec()),
        // Every second triangle of a strip has the opposite winding.
        Mode::TriangleStrip if indices.len() >= 3 => Some(
            indices
                .windows(3)
                .enumerate()
                .map(|(i, w)| if i % 2 == 0 { [w[0], w[1], w[2]] } else { [w[0], w[2], w[1]] })
                .collect(),
        ),
        Mode::TriangleFan if indices.len() >= 3 => {
            Some(indices[1..].windows(2).map(|w| [w[0], w[1], indices[0]]).collect())
        }
        _ => None,
    }
}
