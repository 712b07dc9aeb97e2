//! STL: facets of three corners each, as text or binary.

use super::raw_mesh::{Origins, RawMesh, check_count};
use super::text::{TextReader, excerpt};
use super::{FileError, Format, Place, Problem};
use crate::Vec3;

const HEADER: usize = 84;
const FACET: usize = 50;

impl Format {
    /// Stereolithography, text or binary.
    pub const STL: Self = Self { name: "STL", extension: "stl", unit: None, parse: |bytes, _| parse(bytes) };
}

/// Parses the corners of all facets; none are shared. The normals of the facets are ignored: the order of the corners
/// defines the orientation.
fn parse(bytes: &[u8]) -> Result<RawMesh, FileError> {
    let word = bytes.trim_ascii_start();
    let says_solid = word.len() >= 5 && word[..5].eq_ignore_ascii_case(b"solid");
    // Binary files may begin with "solid" too. They are recognised by their length or, if truncated, by zeros in their
    // header or count.
    let binary_length = claimed_facets(bytes).is_some_and(|n| length_of(n) == bytes.len() as u64);
    let has_zeros = bytes[..bytes.len().min(HEADER)].contains(&0);
    if says_solid && !binary_length && !has_zeros { parse_text(bytes) } else { parse_binary(bytes) }
}

fn claimed_facets(bytes: &[u8]) -> Option<u32> {
    let count = bytes.get(HEADER - 4..HEADER)?;
    Some(u32::from_le_bytes(count.try_into().ok()?))
}

fn length_of(facets: u32) -> u64 {
    HEADER as u64 + FACET as u64 * u64::from(facets)
}

fn parse_binary(bytes: &[u8]) -> Result<RawMesh, FileError> {
    // If the header including the count is plain text, the file is some other text file.
    let is_text = bytes.iter().take(HEADER).all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace());
    let Some(claimed) = claimed_facets(bytes).filter(|_| !is_text) else {
        return Err(Problem::NotStl { bytes: bytes.len(), found: excerpt(bytes) }.into());
    };
    check_count(Place::Byte(HEADER - 4), "triangles", claimed as usize)?;
    if length_of(claimed) != bytes.len() as u64 {
        let (expected, found) = (length_of(claimed), bytes.len() as u64);
        return Err(Problem::StlLength { triangles: claimed, expected, found }.at(Place::Byte(HEADER - 4)));
    }
    let mut mesh = RawMesh::new(Origins::BinaryStl);
    mesh.vertices.reserve_exact(3 * claimed as usize);
    mesh.triangles.reserve_exact(claimed as usize);
    for facet in bytes[HEADER..].chunks_exact(FACET) {
        let first = mesh.vertices.len() as u32;
        // A facet has 12 bytes of normal, three corners and 2 bytes of attributes.
        for corner in facet[12..48].chunks_exact(12) {
            let at = |i: usize| f64::from(f32::from_le_bytes([corner[i], corner[i + 1], corner[i + 2], corner[i + 3]]));
            mesh.vertices.push(Vec3::new(at(0), at(4), at(8)));
        }
        mesh.triangles.push([first, first + 1, first + 2]);
    }
    Ok(mesh)
}

fn parse_text(bytes: &[u8]) -> Result<RawMesh, FileError> {
    let mut words = TextReader::new(bytes);
    let mut mesh = RawMesh::of_lines();
    words.keyword("solid")?;
    words.skip_line();
    loop {
        let expected = "\"facet\" or \"endsolid\"";
        let word = words.required(expected)?;
        if word.eq_ignore_ascii_case(b"facet") {
            parse_facet(&mut words, &mut mesh)?;
        } else if word.eq_ignore_ascii_case(b"endsolid") {
            words.skip_line();
            // A file may hold several solids in sequence.
            match words.next() {
                None => return Ok(mesh),
                Some(word) if word.eq_ignore_ascii_case(b"solid") => words.skip_line(),
                Some(word) => return Err(words.unexpected("\"solid\" or the end of the file", word)),
            }
        } else {
            return Err(words.unexpected(expected, word));
        }
    }
}

fn parse_facet(words: &mut TextReader, mesh: &mut RawMesh) -> Result<(), FileError> {
    let facet_line = words.line();
    words.keyword("normal")?;
    for _ in 0..3 {
        // Exporters write arbitrary text for the normal of a sliver.
        words.required("a facet's normal")?;
    }
    words.keyword("outer")?;
    words.keyword("loop")?;
    let first = mesh.vertices.len() as u32;
    for _ in 0..3 {
        words.keyword("vertex")?;
        let x = words.number("a coordinate")?;
        let y = words.number("a coordinate")?;
        let z = words.number("a coordinate")?;
        mesh.push_vertex(Vec3::new(x, y, z), Place::Line(words.line()))?;
    }
    words.keyword("endloop")?;
    words.keyword("endfacet")?;
    mesh.push_polygon(&[first, first + 1, first + 2], Place::Line(facet_line))
}
