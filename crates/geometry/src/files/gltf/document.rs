//! The parts of the JSON that define triangles.

use super::super::text::excerpt;
use super::super::{FileError, Place, Problem};
use glam::{DMat4, DQuat, DVec3};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

/// Extensions by name; their content is ignored.
type Extensions = BTreeMap<String, IgnoredAny>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Root {
    asset: Asset,
    #[serde(default)]
    extensions_required: Vec<String>,
    pub scene: Option<usize>,
    #[serde(default)]
    pub scenes: Vec<Scene>,
    #[serde(default)]
    pub nodes: Vec<Node>,
    #[serde(default)]
    pub meshes: Vec<Mesh>,
    #[serde(default)]
    pub accessors: Vec<Accessor>,
    #[serde(default)]
    pub buffer_views: Vec<BufferView>,
    #[serde(default)]
    pub buffers: Vec<Buffer>,
}

#[derive(Deserialize)]
struct Asset {
    version: String,
}

#[derive(Deserialize)]
pub(super) struct Scene {
    #[serde(default)]
    pub nodes: Vec<usize>,
}

#[derive(Deserialize)]
pub(super) struct Node {
    #[serde(default)]
    pub children: Vec<usize>,
    pub mesh: Option<usize>,
    skin: Option<usize>,
    /// Column-major.
    matrix: Option<[f64; 16]>,
    translation: Option<[f64; 3]>,
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
    #[serde(default)]
    extensions: Extensions,
}

#[derive(Deserialize)]
pub(super) struct Mesh {
    pub primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
pub(super) struct Primitive {
    pub attributes: Attributes,
    pub indices: Option<usize>,
    #[serde(default = "triangle_list")]
    pub mode: u64,
    #[serde(default)]
    extensions: Extensions,
}

#[derive(Deserialize)]
pub(super) struct Attributes {
    #[serde(rename = "POSITION")]
    pub position: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub buffer_view: Option<usize>,
    #[serde(default)]
    pub byte_offset: usize,
    pub component_type: u64,
    pub count: usize,
    #[serde(rename = "type")]
    pub shape: String,
    pub sparse: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub buffer: usize,
    #[serde(default)]
    pub byte_offset: usize,
    pub byte_length: usize,
    pub byte_stride: Option<usize>,
    #[serde(default)]
    extensions: Extensions,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    pub uri: Option<String>,
    pub byte_length: usize,
}

fn triangle_list() -> u64 {
    4
}

impl Root {
    pub fn parse(json: &[u8]) -> Result<Self, FileError> {
        let root: Self = serde_json::from_slice(json).map_err(|error| {
            let text = error.to_string();
            // The position has fields of its own.
            let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
            Problem::GltfJson { reason: reason.replace('\n', " ") }.at(Place::Json(error.line(), error.column()))
        })?;
        let version = &root.asset.version;
        if version != "2" && !version.starts_with("2.") {
            let found = excerpt(version.as_bytes());
            return Err(Problem::GltfVersion { found }.at(Place::Named("asset")));
        }
        match root.extensions_required.iter().find(|name| !is_harmless(name)) {
            Some(name) => Err(unsupported(Place::Named("extensionsRequired"), name)),
            None => Ok(root),
        }
    }
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

fn refuse_shaping(extensions: &Extensions, place: Place) -> Result<(), FileError> {
    match SHAPING.iter().find(|name| extensions.contains_key(**name)) {
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

impl Node {
    pub fn parent_from_node(&self, index: usize) -> Result<DMat4, FileError> {
        let place = Place::Element("node", index);
        refuse_shaping(&self.extensions, place)?;
        if let (Some(skin), Some(_)) = (self.skin, self.mesh) {
            let (feature, remedy) = (format!("skin {skin}"), "export the posed mesh without its skeleton");
            return Err(Problem::GltfUnsupported { feature, remedy }.at(place));
        }
        let bad = |expected, found| Problem::GltfValue { expected, found }.at(place);
        if let Some(columns) = self.matrix {
            let matrix = DMat4::from_cols_array(&columns);
            let last_row = matrix.row(3);
            if last_row != glam::DVec4::W {
                return Err(bad("a matrix with the last row 0, 0, 0, 1", last_row.to_string()));
            }
            return Ok(matrix);
        }
        let rotation = DQuat::from_array(self.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]));
        if (rotation.length() - 1.0).abs() > 1e-2 {
            return Err(bad("a rotation of unit length", rotation.to_string()));
        }
        Ok(DMat4::from_scale_rotation_translation(
            self.scale.map_or(DVec3::ONE, DVec3::from_array),
            rotation.normalize(),
            self.translation.map_or(DVec3::ZERO, DVec3::from_array),
        ))
    }
}

impl Primitive {
    /// False for points and lines.
    pub fn has_triangles(&self, mesh: usize, primitive: usize) -> Result<bool, FileError> {
        let place = Place::Primitive { mesh, primitive };
        match self.mode {
            0..=3 => Ok(false),
            4..=6 => refuse_shaping(&self.extensions, place).map(|()| true),
            mode => {
                let (expected, found) = ("a mode from 0 to 6", mode.to_string());
                Err(Problem::GltfValue { expected, found }.at(place))
            }
        }
    }
}

impl BufferView {
    pub fn refuse_compression(&self, index: usize) -> Result<(), FileError> {
        refuse_shaping(&self.extensions, Place::Element("bufferView", index))
    }
}

/// The triangles of a list (mode 4), strip (5) or fan (6), as section 3.7.2.1 of the glTF 2.0 specification defines
/// them; `None` if the number of vertices does not fit.
pub(super) fn triangles(mode: u64, indices: &[u32]) -> Option<Vec<[u32; 3]>> {
    match mode {
        4 if indices.len().is_multiple_of(3) => Some(indices.as_chunks::<3>().0.to_vec()),
        // Every second triangle of a strip has the opposite winding.
        5 if indices.len() >= 3 => Some(
            indices
                .windows(3)
                .enumerate()
                .map(|(i, w)| if i % 2 == 0 { [w[0], w[1], w[2]] } else { [w[0], w[2], w[1]] })
                .collect(),
        ),
        6 if indices.len() >= 3 => Some(indices[1..].windows(2).map(|w| [w[0], w[1], indices[0]]).collect()),
        _ => None,
    }
}
