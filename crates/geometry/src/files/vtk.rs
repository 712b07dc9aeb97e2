//! VTK legacy files: an unstructured grid of tetrahedra, as text or (big-endian) binary.

use super::raw_mesh::RawTets;
use super::text::TextReader;
use super::{FileError, Problem};
use crate::Vec3;

/// Cell type of a linear tetrahedron.
const TETRA: i64 = 10;
/// Cell types of vertices, lines, triangles, quadrilaterals and other flat cells, which are skipped.
const FLAT: std::ops::RangeInclusive<i64> = 1..=9;

pub(super) fn parse(bytes: &[u8]) -> Result<RawTets, FileError> {
    let mut reader = Reader { words: TextReader::new(bytes), binary: false };
    if !reader.words.take_line().starts_with(b"# vtk DataFile Version") {
        return Err(reader.words.unexpected("\"# vtk DataFile Version\"", &bytes[..bytes.len().min(40)]));
    }
    reader.words.take_line();
    reader.binary = match reader.words.required("ASCII or BINARY")? {
        word if word.eq_ignore_ascii_case(b"ASCII") => false,
        word if word.eq_ignore_ascii_case(b"BINARY") => true,
        word => return Err(reader.words.unexpected("ASCII or BINARY", word)),
    };
    reader.words.keyword("DATASET")?;
    reader.words.keyword("UNSTRUCTURED_GRID")?;
    let (mut points, mut cells, mut types) = (None, None, None);
    while points.is_none() || cells.is_none() || types.is_none() {
        match reader.words.required("POINTS, CELLS or CELL_TYPES")? {
            b"POINTS" => points = Some(reader.points()?),
            b"CELLS" => cells = Some(reader.cells()?),
            b"CELL_TYPES" => {
                let count = reader.words.integer("number of cell types")?;
                reader.end_of_header();
                types = Some(reader.whole_numbers(count, "int", "cell type")?);
            }
            b"METADATA" => reader.skip_metadata(),
            word => return Err(reader.words.unexpected("POINTS, CELLS or CELL_TYPES", word)),
        }
    }
    let (cells, types) = (cells.unwrap_or_default(), types.unwrap_or_default());
    if cells.len() != types.len() {
        return Err(Problem::CellCounts { cells: cells.len(), types: types.len() }.into());
    }
    let mut tets = Vec::new();
    for (cell, (corners, kind)) in cells.iter().zip(types).enumerate() {
        match (kind, corners.as_slice()) {
            (TETRA, &[a, b, c, d]) => {
                // An index that does not fit into a u32 is out of range for any number of vertices.
                tets.push([a, b, c, d].map(|i| u32::try_from(i).unwrap_or(u32::MAX)));
            }
            (kind, _) if FLAT.contains(&kind) => {}
            (kind, _) => return Err(Problem::NotTets { cell, kind, corners: corners.len() }.into()),
        }
    }
    Ok(RawTets { vertices: points.unwrap_or_default(), tets })
}

struct Reader<'a> {
    words: TextReader<'a>,
    binary: bool,
}

impl Reader<'_> {
    /// Skips the end of the line before binary data.
    fn end_of_header(&mut self) {
        if self.binary {
            self.words.take_line();
        }
    }

    /// Skips lines up to and including an empty one.
    fn skip_metadata(&mut self) {
        self.words.take_line();
        while !self.words.is_at_end() && !self.words.take_line().trim_ascii().is_empty() {}
    }

    fn points(&mut self) -> Result<Vec<Vec3>, FileError> {
        let count = self.words.integer("number of points")?;
        let kind = self.words.required("type of the points")?;
        let single = match kind {
            b"float" => true,
            b"double" => false,
            _ => return Err(self.words.unexpected("float or double", kind)),
        };
        self.end_of_header();
        let mut points = Vec::new();
        for _ in 0..count {
            let mut point = [0.0; 3];
            for c in &mut point {
                *c = match (self.binary, single) {
                    (true, true) => f64::from(f32::from_be_bytes(self.words.take_bytes("a coordinate")?)),
                    (true, false) => f64::from_be_bytes(self.words.take_bytes("a coordinate")?),
                    (false, _) => self.words.number("a coordinate")?,
                };
            }
            points.push(Vec3::from(point));
        }
        Ok(points)
    }

    fn whole_numbers(&mut self, count: usize, kind: &str, expected: &str) -> Result<Vec<i64>, FileError> {
        let mut numbers = Vec::new();
        for _ in 0..count {
            numbers.push(match (self.binary, kind) {
                (true, "vtktypeint64") => i64::from_be_bytes(self.words.take_bytes(expected)?),
                (true, _) => i64::from(i32::from_be_bytes(self.words.take_bytes(expected)?)),
                (false, _) => self.words.integer(expected)?,
            });
        }
        Ok(numbers)
    }

    /// Up to version 4 each cell begins with its number of corners; from version 5 on there are offsets.
    fn cells(&mut self) -> Result<Vec<Vec<i64>>, FileError> {
        let first = self.words.integer("number of cells")?;
        let second = self.words.integer("size of the cell list")?;
        let rest = self.words;
        if matches!(self.words.required("cells"), Ok(b"OFFSETS")) {
            return self.cells_by_offset(first, second);
        }
        self.words = rest;
        self.end_of_header();
        let list = self.whole_numbers(second, "int", "corner of a cell")?;
        let mut cells = Vec::new();
        let mut list = list.as_slice();
        for _ in 0..first {
            let length = list.first().and_then(|&n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
            let Some(corners) = list.get(1..).and_then(|list| list.get(..length)) else {
                return Err(self.words.cut_off("a cell"));
            };
            cells.push(corners.to_vec());
            list = &list[1 + length..];
        }
        Ok(cells)
    }

    fn cells_by_offset(&mut self, offsets: usize, corners: usize) -> Result<Vec<Vec<i64>>, FileError> {
        let kind = String::from_utf8_lossy(self.words.required("type of the offsets")?).to_ascii_lowercase();
        self.end_of_header();
        let offsets = self.whole_numbers(offsets, &kind, "offset of a cell")?;
        self.words.keyword("CONNECTIVITY")?;
        let kind = String::from_utf8_lossy(self.words.required("type of the connectivity")?).to_ascii_lowercase();
        self.end_of_header();
        let corners = self.whole_numbers(corners, &kind, "corner of a cell")?;
        let range = |pair: &[i64]| Some(usize::try_from(pair[0]).ok()?..usize::try_from(pair[1]).ok()?);
        let cell = |pair: &[i64]| range(pair).and_then(|range| corners.get(range)).map(<[i64]>::to_vec);
        offsets.windows(2).map(|pair| cell(pair).ok_or_else(|| self.words.cut_off("a cell"))).collect()
    }
}
