//! glTF 2.0: the triangles of the default scene, transformed by its nodes.

mod accessor;
mod buffers;
mod document;
mod glb;

pub(super) use buffers::External;

use super::raw_mesh::{Origins, Part, RawMesh, check_count, index_out_of_range};
use super::text::excerpt;
use super::{FileError, Format, LengthUnit, Place, Problem};
use ::gltf::json::mesh::{Mode, Primitive, Semantic};
use ::gltf::json::validation::Checked;
use ::gltf::json::{Index, Node};
use document::Json;
use glam::DMat4;
use std::borrow::Cow;
use std::collections::HashMap;

impl Format {
    /// glTF 2.0 as JSON, with its buffers embedded or in separate files.
    pub const GLTF: Self = Self {
        name: "glTF",
        extension: "gltf",
        unit: Some(LengthUnit::Metre),
        parse: |bytes, external| parse(bytes, None, external),
    };

    /// glTF 2.0 in its binary container.
    pub const GLB: Self = Self { name: "GLB", extension: "glb", unit: Some(LengthUnit::Metre), parse: parse_binary };
}

/// Parses a `.glb` file: a container of the JSON and usually its one buffer.
fn parse_binary(bytes: &[u8], external: &External) -> Result<RawMesh, FileError> {
    let (json, binary) = glb::chunks(bytes)?;
    parse(json, binary, external)
}

fn parse(json: &[u8], binary: Option<&[u8]>, external: &External) -> Result<RawMesh, FileError> {
    let json = Json::parse(json)?;
    let buffers = buffers::load(&json.root.buffers, binary, external)?;
    Document { json, buffers }.raw()
}

/// A glTF file with its buffers loaded.
struct Document<'a> {
    json: Json,
    buffers: Vec<Cow<'a, [u8]>>,
}

impl Document<'_> {
    fn raw(&self) -> Result<RawMesh, FileError> {
        let mut raw = RawMesh::new(Origins::Unknown);
        let mut parts = Vec::new();
        let mut skipped = 0;
        for (node, world_from_node) in self.placed_nodes()? {
            let Some(mesh) = self.json.root.nodes[node].mesh else { continue };
            let primitives =
                &self.lookup(&self.json.root.meshes, "mesh", mesh, Place::Named("a node of the scene"))?.primitives;
            let mesh = mesh.value();
            // Primitives of a mesh often share their positions.
            let mut first_of_accessor = HashMap::new();
            for (index, primitive) in primitives.iter().enumerate() {
                let place = Place::Primitive { mesh, primitive: index };
                let Some(mode) = document::triangle_mode(primitive, place)? else {
                    skipped += 1;
                    continue;
                };
                let first_vertex = raw.vertices.len();
                parts.push(Part { first_vertex, first_triangle: raw.triangles.len(), mesh, primitive: index });
                self.add_primitive((primitive, mode), place, &world_from_node, &mut first_of_accessor, &mut raw)?;
            }
        }
        if raw.triangles.is_empty() {
            let scene = self.json.root.scene.map_or(0, |scene| scene.value());
            return Err(Problem::GltfNothing { skipped }.at(Place::Element("scene", scene)));
        }
        raw.origins = Origins::Primitives(parts);
        Ok(raw)
    }

    /// The nodes of the default scene, parents before children, with their transforms.
    fn placed_nodes(&self) -> Result<Vec<(usize, DMat4)>, FileError> {
        let nodes = &self.json.root.nodes;
        let mut placed = Vec::new();
        let mut seen = vec![false; nodes.len()];
        // Uses a stack instead of recursion: a chain of nodes may be as long as the file.
        let mut waiting: Vec<(Index<Node>, DMat4)> =
            self.root_nodes()?.into_iter().rev().map(|node| (node, DMat4::IDENTITY)).collect();
        while let Some((index, world_from_parent)) = waiting.pop() {
            let node = self.lookup(nodes, "node", index, Place::Named("the scene or a node of it"))?;
            let index = index.value();
            if std::mem::replace(&mut seen[index], true) {
                return Err(Problem::GltfCycle.at(Place::Element("node", index)));
            }
            let world_from_node = world_from_parent * self.json.parent_from_node(index)?;
            placed.push((index, world_from_node));
            let children = node.children.iter().flatten().rev();
            waiting.extend(children.map(|&child| (child, world_from_node)));
        }
        Ok(placed)
    }

    /// The root nodes of the default scene. In a file without scenes, all nodes without a parent.
    fn root_nodes(&self) -> Result<Vec<Index<Node>>, FileError> {
        let root = &self.json.root;
        if root.scene.is_none() && root.scenes.is_empty() {
            let mut is_child = vec![false; root.nodes.len()];
            for child in root.nodes.iter().flat_map(|node| node.children.iter().flatten()) {
                if let Some(flag) = is_child.get_mut(child.value()) {
                    *flag = true;
                }
            }
            let roots: Vec<_> =
                (0..is_child.len()).filter(|&node| !is_child[node]).map(|node| Index::new(node as u32)).collect();
            if roots.is_empty() && !is_child.is_empty() {
                return Err(Problem::GltfCycle.at(Place::Element("node", 0)));
            }
            return Ok(roots);
        }
        let scene = root.scene.unwrap_or(Index::new(0));
        Ok(self.lookup(&root.scenes, "scene", scene, Place::Named("the default scene"))?.nodes.clone())
    }

    fn add_primitive(
        &self,
        (primitive, mode): (&Primitive, Mode),
        place: Place,
        world_from_node: &DMat4,
        first_of_accessor: &mut HashMap<usize, (u32, usize)>,
        raw: &mut RawMesh,
    ) -> Result<(), FileError> {
        let Some(&accessor) = primitive.attributes.get(&Checked::Valid(Semantic::Positions)) else {
            return Err(self.bad(place, "the attribute POSITION", "none".into()));
        };
        let (first, count) = match first_of_accessor.get(&accessor.value()) {
            Some(&known) => known,
            None => {
                let positions = self.positions(accessor, place)?;
                let first = raw.vertices.len();
                check_count(place, "vertices", first + positions.len())?;
                raw.vertices.extend(positions.iter().map(|&p| world_from_node.transform_point3(p)));
                first_of_accessor.insert(accessor.value(), (first as u32, positions.len()));
                (first as u32, positions.len())
            }
        };
        let indices = match primitive.indices {
            Some(accessor) => self.indices(accessor, place)?,
            None => (0..count as u32).collect(),
        };
        let Some(triangles) = document::triangles(mode, &indices) else {
            let expected = "three vertices for each triangle, and at least three of a strip or fan";
            return Err(self.bad(place, expected, format!("{} of them", indices.len())));
        };
        check_count(place, "triangles", raw.triangles.len() + triangles.len())?;
        // A mirror transform reverses the orientation of every face.
        let mirrored = world_from_node.determinant() < 0.0;
        for [a, b, c] in triangles {
            if let Some(index) = [a, b, c].into_iter().find(|&i| i as usize >= count) {
                return Err(index_out_of_range(raw.triangles.len(), i64::from(index), count).at(place));
            }
            let corners = if mirrored { [a, c, b] } else { [a, b, c] };
            raw.triangles.push(corners.map(|i| first + i));
        }
        Ok(())
    }

    fn lookup<'t, T>(
        &self,
        list: &'t [T],
        kind: &'static str,
        index: Index<T>,
        place: Place,
    ) -> Result<&'t T, FileError> {
        list.get(index.value()).ok_or_else(|| self.missing(kind, index.value(), list.len(), place))
    }

    fn missing(&self, kind: &'static str, index: usize, count: usize, place: Place) -> FileError {
        Problem::GltfReference { kind, index, count }.at(place)
    }

    fn bad(&self, place: Place, expected: &'static str, found: String) -> FileError {
        Problem::GltfValue { expected, found: excerpt(found.as_bytes()) }.at(place)
    }
}
