//! STL: facets of three corners each, as text or binary.

use super::soup::{Origins, Soup, check_count};
use super::text::{Words, excerpt};
use super::{FileError, Format, Place};
use crate::Vec3;

const HEADER: usize = 84;
const FACET: usize = 50;

impl Format {
    /// Stereolithography, text or binary.
    pub const STL: Self =
        Self { name: "STL", extension: "stl", unit: None, parse: |file, bytes, _| parse(file, bytes) };
}

/// Corners of all facets, none shared. The facets' normals are not read: the order of the corners says the same.
fn parse(file: &str, bytes: &[u8]) -> Result<Soup, FileError> {
    let word = bytes.trim_ascii_start();
    let says_solid = word.len() >= 5 && word[..5].eq_ignore_ascii_case(b"solid");
    // Binary files may begin with "solid" too. Their length gives them away; if they were cut off, the zeros
    // in their header or count do.
    let binary_length = claimed_facets(bytes).is_some_and(|n| length_of(n) == bytes.len() as u64);
    let has_zeros = bytes[..bytes.len().min(HEADER)].contains(&0);
    if says_solid && !binary_length && !has_zeros { parse_text(file, bytes) } else { parse_binary(file, bytes) }
}

fn claimed_facets(bytes: &[u8]) -> Option<u32> {
    let count = bytes.get(HEADER - 4..HEADER)?;
    Some(u32::from_le_bytes(count.try_into().ok()?))
}

fn length_of(facets: u32) -> u64 {
    HEADER as u64 + FACET as u64 * u64::from(facets)
}

fn parse_binary(file: &str, bytes: &[u8]) -> Result<Soup, FileError> {
    // A header of plain text up to and with the count is some other text file.
    let is_text = bytes.iter().take(HEADER).all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace());
    let Some(claimed) = claimed_facets(bytes).filter(|_| !is_text) else {
        return Err(FileError::NotStl { file: file.into(), bytes: bytes.len(), found: excerpt(bytes) });
    };
    check_count(file, Place::Byte(HEADER - 4), "triangles", claimed as usize)?;
    if length_of(claimed) != bytes.len() as u64 {
        return Err(FileError::StlLength {
            file: file.into(),
            triangles: claimed,
            expected: length_of(claimed),
            found: bytes.len() as u64,
        });
    }
    let mut soup = Soup::new(Origins::BinaryStl);
    soup.vertices.reserve_exact(3 * claimed as usize);
    soup.triangles.reserve_exact(claimed as usize);
    for facet in bytes[HEADER..].chunks_exact(FACET) {
        let first = soup.vertices.len() as u32;
        // 12 bytes of normal, three corners, 2 bytes of attributes.
        for corner in facet[12..48].chunks_exact(12) {
            let at = |i: usize| f64::from(f32::from_le_bytes([corner[i], corner[i + 1], corner[i + 2], corner[i + 3]]));
            soup.vertices.push(Vec3::new(at(0), at(4), at(8)));
        }
        soup.triangles.push([first, first + 1, first + 2]);
    }
    Ok(soup)
}

fn parse_text(file: &str, bytes: &[u8]) -> Result<Soup, FileError> {
    let mut words = Words::new(file, bytes);
    let mut soup = Soup::of_lines();
    words.keyword("solid")?;
    words.skip_line();
    loop {
        let expected = "\"facet\" or \"endsolid\"";
        let word = words.required(expected)?;
        if word.eq_ignore_ascii_case(b"facet") {
            parse_facet(file, &mut words, &mut soup)?;
        } else if word.eq_ignore_ascii_case(b"endsolid") {
            words.skip_line();
            // Some files hold several solids, one after the other.
            match words.next() {
                None => return Ok(soup),
                Some(word) if word.eq_ignore_ascii_case(b"solid") => words.skip_line(),
                Some(word) => return Err(words.unexpected("\"solid\" or the end of the file", word)),
            }
        } else {
            return Err(words.unexpected(expected, word));
        }
    }
}

fn parse_facet(file: &str, words: &mut Words, soup: &mut Soup) -> Result<(), FileError> {
    let facet_line = words.line();
    words.keyword("normal")?;
    for _ in 0..3 {
        // Exporters write all sorts of things for the normal of a sliver.
        words.required("a facet's normal")?;
    }
    words.keyword("outer")?;
    words.keyword("loop")?;
    let first = soup.vertices.len() as u32;
    for _ in 0..3 {
        words.keyword("vertex")?;
        let x = words.number("a coordinate")?;
        let y = words.number("a coordinate")?;
        let z = words.number("a coordinate")?;
        soup.push_vertex(file, Vec3::new(x, y, z), Place::Line(words.line()))?;
    }
    words.keyword("endloop")?;
    words.keyword("endfacet")?;
    soup.push_polygon(file, &[first, first + 1, first + 2], Place::Line(facet_line))
}
