//! VTK legacy files: an unstructured grid of tetrahedra, as text or (big-endian) binary.

use super::FileError;
use super::tet_soup::TetSoup;
use super::text::{excerpt, number};
use crate::Vec3;

/// Linear tetrahedron.
const TETRA: i64 = 10;
/// Vertices, lines, triangles, quadrilaterals and the like: they bound nothing and are passed over.
const FLAT: std::ops::RangeInclusive<i64> = 1..=9;

pub(super) fn parse(file: &str, bytes: &[u8]) -> Result<TetSoup, FileError> {
    let mut reader = Reader { file, bytes, at: 0, line: 1, binary: false };
    if !reader.take_line().starts_with(b"# vtk DataFile Version") {
        return Err(reader.unexpected("\"# vtk DataFile Version\"", &bytes[..bytes.len().min(40)]));
    }
    reader.take_line();
    reader.binary = match reader.word("ASCII or BINARY")? {
        word if word.eq_ignore_ascii_case(b"ASCII") => false,
        word if word.eq_ignore_ascii_case(b"BINARY") => true,
        word => return Err(reader.unexpected("ASCII or BINARY", word)),
    };
    reader.keyword("DATASET")?;
    reader.keyword("UNSTRUCTURED_GRID")?;
    let (mut points, mut cells, mut types) = (None, None, None);
    while points.is_none() || cells.is_none() || types.is_none() {
        match reader.word("POINTS, CELLS or CELL_TYPES")? {
            b"POINTS" => points = Some(reader.points()?),
            b"CELLS" => cells = Some(reader.cells()?),
            b"CELL_TYPES" => {
                let count = reader.count("number of cell types")?;
                reader.end_of_header();
                types = Some(reader.whole_numbers(count, "int", "cell type")?);
            }
            b"METADATA" => reader.skip_metadata(),
            word => return Err(reader.unexpected("POINTS, CELLS or CELL_TYPES", word)),
        }
    }
    let (cells, types) = (cells.unwrap_or_default(), types.unwrap_or_default());
    if cells.len() != types.len() {
        return Err(FileError::CellCounts { file: file.into(), cells: cells.len(), types: types.len() });
    }
    let mut tets = Vec::new();
    for (cell, (corners, kind)) in cells.iter().zip(types).enumerate() {
        match (kind, corners.as_slice()) {
            (TETRA, &[a, b, c, d]) => {
                // An index that is no u32 is out of range whatever the number of vertices.
                tets.push([a, b, c, d].map(|i| u32::try_from(i).unwrap_or(u32::MAX)));
            }
            (kind, _) if FLAT.contains(&kind) => {}
            (kind, _) => return Err(FileError::NotTets { file: file.into(), cell, kind, corners: corners.len() }),
        }
    }
    Ok(TetSoup { vertices: points.unwrap_or_default(), tets })
}

struct Reader<'a> {
    file: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: usize,
    binary: bool,
}

impl<'a> Reader<'a> {
    fn unexpected(&self, expected: &str, found: &[u8]) -> FileError {
        FileError::Unexpected {
            file: self.file.into(),
            line: self.line,
            expected: expected.into(),
            found: excerpt(found),
        }
    }

    fn cut_off(&self, expected: &str) -> FileError {
        FileError::CutOff { file: self.file.into(), line: self.line, expected: expected.into() }
    }

    fn take_line(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        self.at += (end + 1).min(rest.len());
        self.line += 1;
        &rest[..end]
    }

    fn word(&mut self, expected: &str) -> Result<&'a [u8], FileError> {
        while let Some(b) = self.bytes.get(self.at).filter(|b| b.is_ascii_whitespace()) {
            self.line += usize::from(*b == b'\n');
            self.at += 1;
        }
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.at += end;
        if end == 0 { Err(self.cut_off(expected)) } else { Ok(&rest[..end]) }
    }

    fn keyword(&mut self, expected: &str) -> Result<(), FileError> {
        let word = self.word(expected)?;
        if word.eq_ignore_ascii_case(expected.as_bytes()) { Ok(()) } else { Err(self.unexpected(expected, word)) }
    }

    fn count(&mut self, expected: &str) -> Result<usize, FileError> {
        let word = self.word(expected)?;
        let count = std::str::from_utf8(word).ok().and_then(|text| text.parse().ok());
        count.ok_or_else(|| self.unexpected(expected, word))
    }

    /// Binary data begin right after the line that announces them.
    fn end_of_header(&mut self) {
        if self.binary {
            self.take_line();
        }
    }

    /// Until an empty line.
    fn skip_metadata(&mut self) {
        self.take_line();
        while self.at < self.bytes.len() && !self.take_line().trim_ascii().is_empty() {}
    }

    fn take<const N: usize>(&mut self, expected: &str) -> Result<[u8; N], FileError> {
        let end = self.at + N;
        let taken = self.bytes.get(self.at..end).and_then(|bytes| bytes.try_into().ok());
        self.at = end.min(self.bytes.len());
        taken.ok_or_else(|| self.cut_off(expected))
    }

    fn points(&mut self) -> Result<Vec<Vec3>, FileError> {
        let count = self.count("number of points")?;
        let kind = self.word("type of the points")?;
        let single = match kind {
            b"float" => true,
            b"double" => false,
            _ => return Err(self.unexpected("float or double", kind)),
        };
        self.end_of_header();
        let mut points = Vec::new();
        for _ in 0..count {
            let mut point = [0.0; 3];
            for c in &mut point {
                *c = match (self.binary, single) {
                    (true, true) => f64::from(f32::from_be_bytes(self.take("a coordinate")?)),
                    (true, false) => f64::from_be_bytes(self.take("a coordinate")?),
                    (false, _) => {
                        let word = self.word("a coordinate")?;
                        number(word).ok_or_else(|| self.unexpected("a coordinate", word))?
                    }
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
                (true, "vtktypeint64") => i64::from_be_bytes(self.take(expected)?),
                (true, _) => i64::from(i32::from_be_bytes(self.take(expected)?)),
                (false, _) => {
                    let word = self.word(expected)?;
                    let text = std::str::from_utf8(word).ok().and_then(|text| text.parse().ok());
                    text.ok_or_else(|| self.unexpected(expected, word))?
                }
            });
        }
        Ok(numbers)
    }

    /// Up to version 4 each cell begins with how many corners it has; from version 5 on there are offsets.
    fn cells(&mut self) -> Result<Vec<Vec<i64>>, FileError> {
        let first = self.count("number of cells")?;
        let second = self.count("size of the cell list")?;
        let rest = self.at;
        let line = self.line;
        if matches!(self.word("cells"), Ok(b"OFFSETS")) {
            return self.cells_by_offset(first, second);
        }
        (self.at, self.line) = (rest, line);
        self.end_of_header();
        let list = self.whole_numbers(second, "int", "corner of a cell")?;
        let mut cells = Vec::new();
        let mut list = list.as_slice();
        for _ in 0..first {
            let length = list.first().and_then(|&n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
            let Some(corners) = list.get(1..).and_then(|list| list.get(..length)) else {
                return Err(self.cut_off("a cell"));
            };
            cells.push(corners.to_vec());
            list = &list[1 + length..];
        }
        Ok(cells)
    }

    fn cells_by_offset(&mut self, offsets: usize, corners: usize) -> Result<Vec<Vec<i64>>, FileError> {
        let kind = String::from_utf8_lossy(self.word("type of the offsets")?).to_ascii_lowercase();
        self.end_of_header();
        let offsets = self.whole_numbers(offsets, &kind, "offset of a cell")?;
        self.keyword("CONNECTIVITY")?;
        let kind = String::from_utf8_lossy(self.word("type of the connectivity")?).to_ascii_lowercase();
        self.end_of_header();
        let corners = self.whole_numbers(corners, &kind, "corner of a cell")?;
        let range = |pair: &[i64]| Some(usize::try_from(pair[0]).ok()?..usize::try_from(pair[1]).ok()?);
        let cell = |pair: &[i64]| range(pair).and_then(|range| corners.get(range)).map(<[i64]>::to_vec);
        offsets.windows(2).map(|pair| cell(pair).ok_or_else(|| self.cut_off("a cell"))).collect()
    }
}
