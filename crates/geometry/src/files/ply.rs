//! PLY: elements declared by the header, as text or binary of either byte order.

mod body;
mod header;

use super::raw_mesh::{Origins, RawMesh, check_count, index_out_of_range};
use super::{FileError, Format, Place, Problem};
use crate::Vec3;
use body::Body;
use header::{Element, Encoding, Header, Property};

impl Format {
    /// Polygon file format, text or binary of either byte order.
    pub const PLY: Self = Self { name: "PLY", extension: "ply", unit: None, parse: |bytes, _| parse(bytes) };
}

/// Parses the elements `vertex` and `face`; other elements and properties are skipped.
fn parse(bytes: &[u8]) -> Result<RawMesh, FileError> {
    let header = Header::parse(bytes)?;
    let vertex = header.element("vertex").ok_or_else(|| missing("element \"vertex\""))?;
    let face = header.element("face").ok_or_else(|| missing("element \"face\""))?;
    let axes = axes(vertex)?;
    check_count(Place::Line(face.line), "triangles", face.count)?;
    let corners = face
        .properties
        .iter()
        .position(|p| p.is_list() && (p.name() == "vertex_indices" || p.name() == "vertex_index"))
        .ok_or_else(|| missing("list \"vertex_indices\" of its faces"))?;

    let mut mesh = match header.encoding {
        Encoding::Ascii => RawMesh::of_lines(),
        Encoding::Little | Encoding::Big => RawMesh::new(Origins::Unknown),
    };
    let mut body = Body::new(bytes, &header);
    for element in &header.elements {
        match element.name.as_str() {
            "vertex" => read_vertices(&mut body, element, axes, &mut mesh)?,
            "face" => read_faces(&mut body, element, corners, vertex.count, &mut mesh)?,
            _ => pass_over(&mut body, element)?,
        }
    }
    body.expect_end()?;
    Ok(mesh)
}

/// Reads only the positions of the vertices.
pub(super) fn vertices(bytes: &[u8]) -> Result<Vec<Vec3>, FileError> {
    let header = Header::parse(bytes)?;
    let vertex = header.element("vertex").ok_or_else(|| missing("element \"vertex\""))?;
    let axes = axes(vertex)?;
    let mut mesh = RawMesh::new(Origins::Unknown);
    let mut body = Body::new(bytes, &header);
    for element in &header.elements {
        match element.name.as_str() {
            "vertex" => read_vertices(&mut body, element, axes, &mut mesh)?,
            _ => pass_over(&mut body, element)?,
        }
    }
    body.expect_end()?;
    Ok(mesh.vertices)
}

/// Indices of x, y and z among the properties of a vertex.
fn axes(vertex: &Element) -> Result<[usize; 3], FileError> {
    check_count(Place::Line(vertex.line), "vertices", vertex.count)?;
    Ok([
        scalar_property(vertex, "x").ok_or_else(|| missing("property \"x\" of its vertices"))?,
        scalar_property(vertex, "y").ok_or_else(|| missing("property \"y\" of its vertices"))?,
        scalar_property(vertex, "z").ok_or_else(|| missing("property \"z\" of its vertices"))?,
    ])
}

fn missing(missing: &'static str) -> FileError {
    Problem::PlyMissing { missing }.into()
}

fn scalar_property(element: &Element, name: &str) -> Option<usize> {
    element.properties.iter().position(|p| !p.is_list() && p.name() == name)
}

fn read_vertices(body: &mut Body, element: &Element, axes: [usize; 3], mesh: &mut RawMesh) -> Result<(), FileError> {
    for index in 0..element.count {
        body.begin(element, index)?;
        let mut vertex = Vec3::ZERO;
        for (p, property) in element.properties.iter().enumerate() {
            match property {
                Property::Scalar { kind, .. } => {
                    let value = body.scalar(*kind)?;
                    if let Some(axis) = axes.iter().position(|&a| a == p) {
                        vertex[axis] = value;
                    }
                }
                Property::List { .. } => body.list(property, |_| {})?,
            }
        }
        mesh.push_vertex(vertex, body.place())?;
        body.end()?;
    }
    Ok(())
}

fn read_faces(
    body: &mut Body,
    element: &Element,
    corners: usize,
    vertices: usize,
    mesh: &mut RawMesh,
) -> Result<(), FileError> {
    let mut polygon: Vec<u32> = Vec::new();
    for index in 0..element.count {
        body.begin(element, index)?;
        let place = body.place();
        let triangle = mesh.triangles.len();
        for (p, property) in element.properties.iter().enumerate() {
            match property {
                Property::Scalar { kind, .. } => {
                    body.scalar(*kind)?;
                }
                Property::List { .. } if p == corners => {
                    polygon.clear();
                    let mut bad = None;
                    body.list(property, |value| {
                        if value.fract() == 0.0 && value >= 0.0 && value < vertices as f64 {
                            polygon.push(value as u32);
                        } else {
                            bad.get_or_insert(value);
                        }
                    })?;
                    if let Some(found) = bad {
                        return Err(bad_index(place, triangle, found, vertices));
                    }
                }
                Property::List { .. } => body.list(property, |_| {})?,
            }
        }
        mesh.push_polygon(&polygon, place)?;
        body.end()?;
    }
    Ok(())
}

fn bad_index(place: Place, triangle: usize, found: f64, vertices: usize) -> FileError {
    if found.fract() != 0.0 {
        return Problem::PlyNotWhole { what: "vertex index", found }.at(place);
    }
    index_out_of_range(triangle, found as i64, vertices).at(place)
}

fn pass_over(body: &mut Body, element: &Element) -> Result<(), FileError> {
    // Elements without properties take no bytes, for any count in the header.
    if element.properties.is_empty() {
        return Ok(());
    }
    for index in 0..element.count {
        body.begin(element, index)?;
        for property in &element.properties {
            match property {
                Property::Scalar { kind, .. } => {
                    body.scalar(*kind)?;
                }
                Property::List { .. } => body.list(property, |_| {})?,
            }
        }
        body.end()?;
    }
    Ok(())
}
