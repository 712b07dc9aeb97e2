//! OBJ: lines of vertices and polygons.

use super::raw_mesh::{RawMesh, index_out_of_range};
use super::text::{number, unexpected, words};
use super::{FileError, Format, Place, Problem};
use crate::Vec3;

/// Statements about grouping, appearance and lower dimensions, which are skipped. Free-form curves and surfaces are not
/// among them: they define shape, so that the file is refused.
const WITHOUT_SHAPE: [&[u8]; 19] = [
    b"o",
    b"g",
    b"s",
    b"mg",
    b"l",
    b"p",
    b"vn",
    b"vt",
    b"vp",
    b"usemtl",
    b"mtllib",
    b"usemap",
    b"maplib",
    b"lod",
    b"bevel",
    b"c_interp",
    b"d_interp",
    b"shadow_obj",
    b"trace_obj",
];

impl Format {
    /// Wavefront OBJ.
    pub const OBJ: Self = Self { name: "OBJ", extension: "obj", unit: None, parse: |bytes, _| parse(bytes) };
}

/// Parses the polygons of all groups and triangulates them.
fn parse(bytes: &[u8]) -> Result<RawMesh, FileError> {
    let mut mesh = RawMesh::of_lines();
    let mut latest = Latest::default();
    for_each_statement(bytes, |line, text| {
        let mut rest = words(text);
        match rest.next() {
            Some(b"v") => {
                let vertex = parse_vertex(line, text)?;
                mesh.push_vertex(vertex, Place::Line(line))
            }
            Some(b"f") => {
                let triangle = mesh.triangles.len();
                let corners = rest
                    .map(|word| {
                        let index = parse_corner(line, word)?;
                        latest.resolve(line, triangle, index, mesh.vertices.len())
                    })
                    .collect::<Result<Vec<u32>, FileError>>()?;
                mesh.push_polygon(&corners, Place::Line(line))
            }
            Some(word) if !word.starts_with(b"#") && !WITHOUT_SHAPE.contains(&word) => {
                Err(unexpected(line, "\"v\", \"f\" or another statement about polygons", text))
            }
            _ => Ok(()),
        }
    })?;
    latest.check(mesh.vertices.len())?;
    Ok(mesh)
}

/// Calls a function for every statement with the number of its first line and its text, continued lines joined.
fn for_each_statement(
    bytes: &[u8],
    mut statement: impl FnMut(usize, &[u8]) -> Result<(), FileError>,
) -> Result<(), FileError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut lines = bytes.split(|&b| b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)).enumerate();
    while let Some((index, line)) = lines.next() {
        // A comment may end in a backslash, for example in a path; it does not continue on the next line.
        let continued = |text: &[u8]| text.ends_with(b"\\") && !line.trim_ascii_start().starts_with(b"#");
        if !continued(line) {
            statement(index + 1, line)?;
            continue;
        }
        let mut joined = line.to_vec();
        while continued(&joined) {
            joined.pop();
            let Some((_, next)) = lines.next() else {
                let expected = "the rest of a continued line".into();
                return Err(Problem::CutOff { expected }.at(Place::Line(index + 1)));
            };
            joined.push(b' ');
            joined.extend_from_slice(next);
        }
        statement(index + 1, &joined)?;
    }
    Ok(())
}

/// Parses `v x y z`, optionally followed by a weight or a colour, which must be numbers and are ignored.
fn parse_vertex(line: usize, text: &[u8]) -> Result<Vec3, FileError> {
    let mut numbers = [0.0; 7];
    let mut count = 0;
    for word in words(text).skip(1) {
        let slot = numbers.get_mut(count);
        let (Some(slot), Some(value)) = (slot, number(word)) else {
            return Err(unexpected(line, "the coordinates of a vertex", text));
        };
        *slot = value;
        count += 1;
    }
    match count {
        3 | 4 | 6 | 7 => Ok(Vec3::new(numbers[0], numbers[1], numbers[2])),
        _ => Err(unexpected(line, "three coordinates of a vertex, perhaps with a weight or a colour", text)),
    }
}

/// The index of the position in `v`, `v/vt`, `v//vn` or `v/vt/vn`, as written.
fn parse_corner(line: usize, word: &[u8]) -> Result<i64, FileError> {
    let integer = |part: &[u8]| std::str::from_utf8(part).ok().and_then(|text| text.parse::<i64>().ok());
    let bad = || unexpected(line, "a face corner such as 7, 7/1, 7//3 or 7/1/3", word);
    let mut parts = word.split(|&b| b == b'/');
    let position = parts.next().and_then(integer);
    let well_formed = match (parts.next(), parts.next(), parts.next()) {
        (None, ..) => true,
        (Some(texture), None, _) => integer(texture).is_some(),
        (Some(texture), Some(normal), None) => {
            (texture.is_empty() || integer(texture).is_some()) && integer(normal).is_some()
        }
        _ => false,
    };
    let index = position.filter(|_| well_formed).ok_or_else(bad)?;
    if index == 0 {
        let found = String::from_utf8_lossy(word).into_owned();
        return Err(Problem::ObjIndexZero { found }.at(Place::Line(line)));
    }
    Ok(index)
}

/// The highest index in the faces. Faces may precede their vertices, so that it is checked last.
#[derive(Default)]
struct Latest {
    index: i64,
    triangle: usize,
    line: usize,
}

impl Latest {
    /// Converts an index to one counted from 0. Negative indices count back from the last vertex read.
    fn resolve(&mut self, line: usize, triangle: usize, index: i64, so_far: usize) -> Result<u32, FileError> {
        if index < 0 {
            return usize::try_from(index.unsigned_abs())
                .ok()
                .and_then(|back| so_far.checked_sub(back))
                .map(|i| i as u32)
                .ok_or_else(|| out_of_range(line, triangle, index, so_far));
        }
        if index > self.index {
            *self = Self { index, triangle, line };
        }
        // `check` refuses an index that does not fit, because it exceeds the number of vertices.
        Ok(u32::try_from(index - 1).unwrap_or(u32::MAX))
    }

    fn check(&self, vertices: usize) -> Result<(), FileError> {
        if self.index > vertices as i64 {
            return Err(out_of_range(self.line, self.triangle, self.index, vertices));
        }
        Ok(())
    }
}

/// The error for an index out of range; the index is as written, counted from 1 or backwards.
fn out_of_range(line: usize, triangle: usize, index: i64, vertices: usize) -> FileError {
    index_out_of_range(triangle, index, vertices).at(Place::Line(line))
}
