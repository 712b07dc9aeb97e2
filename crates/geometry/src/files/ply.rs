//! PLY: elements that the header declares, as text or binary of either byte order.

mod body;
mod header;

use super::soup::{Origins, Soup, check_count};
use super::{FileError, Format, Place};
use crate::{MeshError, Vec3};
use body::Body;
use header::{Element, Encoding, Header, Property};

impl Format {
    /// Polygon file format, text or binary of either byte order.
    pub const PLY: Self =
        Self { name: "PLY", extension: "ply", unit: None, parse: |file, bytes, _| parse(file, bytes) };
}

/// The elements `vertex` and `face`; all others, and all other properties of these, are passed over.
fn parse(file: &str, bytes: &[u8]) -> Result<Soup, FileError> {
    let header = Header::parse(file, bytes)?;
    let vertex = header.element("vertex").ok_or_else(|| missing(file, "element \"vertex\""))?;
    let face = header.element("face").ok_or_else(|| missing(file, "element \"face\""))?;
    let axes = axes(file, vertex)?;
    check_count(file, Place::Line(face.line), "triangles", face.count)?;
    let corners = face
        .properties
        .iter()
        .position(|p| p.is_list() && (p.name() == "vertex_indices" || p.name() == "vertex_index"))
        .ok_or_else(|| missing(file, "list \"vertex_indices\" of its faces"))?;

    let mut soup = match header.encoding {
        Encoding::Ascii => Soup::of_lines(),
        Encoding::Little | Encoding::Big => Soup::new(Origins::Unknown),
    };
    let mut body = Body::new(file, bytes, &header);
    for element in &header.elements {
        match element.name.as_str() {
            "vertex" => read_vertices(file, &mut body, element, axes, &mut soup)?,
            "face" => read_faces(file, &mut body, element, corners, vertex.count, &mut soup)?,
            _ => pass_over(&mut body, element)?,
        }
    }
    body.expect_end()?;
    Ok(soup)
}

/// The places of the vertices alone.
pub(super) fn vertices(file: &str, bytes: &[u8]) -> Result<Vec<Vec3>, FileError> {
    let header = Header::parse(file, bytes)?;
    let vertex = header.element("vertex").ok_or_else(|| missing(file, "element \"vertex\""))?;
    let axes = axes(file, vertex)?;
    let mut soup = Soup::new(Origins::Unknown);
    let mut body = Body::new(file, bytes, &header);
    for element in &header.elements {
        match element.name.as_str() {
            "vertex" => read_vertices(file, &mut body, element, axes, &mut soup)?,
            _ => pass_over(&mut body, element)?,
        }
    }
    body.expect_end()?;
    Ok(soup.vertices)
}

/// Where x, y and z are among the properties of a vertex.
fn axes(file: &str, vertex: &Element) -> Result<[usize; 3], FileError> {
    check_count(file, Place::Line(vertex.line), "vertices", vertex.count)?;
    Ok([
        scalar_property(vertex, "x").ok_or_else(|| missing(file, "property \"x\" of its vertices"))?,
        scalar_property(vertex, "y").ok_or_else(|| missing(file, "property \"y\" of its vertices"))?,
        scalar_property(vertex, "z").ok_or_else(|| missing(file, "property \"z\" of its vertices"))?,
    ])
}

fn missing(file: &str, missing: &'static str) -> FileError {
    FileError::PlyMissing { file: file.into(), missing }
}

fn scalar_property(element: &Element, name: &str) -> Option<usize> {
    element.properties.iter().position(|p| !p.is_list() && p.name() == name)
}

fn read_vertices(
    file: &str,
    body: &mut Body,
    element: &Element,
    axes: [usize; 3],
    soup: &mut Soup,
) -> Result<(), FileError> {
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
        soup.push_vertex(file, vertex, body.place())?;
        body.end()?;
    }
    Ok(())
}

fn read_faces(
    file: &str,
    body: &mut Body,
    element: &Element,
    corners: usize,
    vertices: usize,
    soup: &mut Soup,
) -> Result<(), FileError> {
    let mut polygon: Vec<u32> = Vec::new();
    for index in 0..element.count {
        body.begin(element, index)?;
        let place = body.place();
        let triangle = soup.triangles.len();
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
                        return Err(bad_index(file, place, triangle, found, vertices));
                    }
                }
                Property::List { .. } => body.list(property, |_| {})?,
            }
        }
        soup.push_polygon(file, &polygon, place)?;
        body.end()?;
    }
    Ok(())
}

fn bad_index(file: &str, place: Place, triangle: usize, found: f64, vertices: usize) -> FileError {
    if found.fract() != 0.0 {
        return FileError::PlyNotWhole { file: file.into(), place, what: "vertex index", found };
    }
    let error = MeshError::IndexOutOfRange { mesh: file.into(), triangle, index: found as i64, vertices };
    FileError::Mesh { error, place: Some(place) }
}

fn pass_over(body: &mut Body, element: &Element) -> Result<(), FileError> {
    // Elements without properties take no bytes, however many the header claims.
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
