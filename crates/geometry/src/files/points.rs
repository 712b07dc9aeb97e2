//! Point clouds: `.xyz` text, and the vertices of `.ply` files.

use super::text::{number, unexpected};
use super::{FileError, LengthUnit, Problem, ply, read_regular};
use crate::Vec3;
use std::path::Path;

/// Reads the points of a cloud (m); the extension selects the format. In `.xyz` and `.txt` files every line is a point:
/// three numbers separated by white space or commas. The rest of the line, such as a normal, is ignored, and `#` begins
/// a comment. From `.ply` files the vertices are read.
pub fn read_points(path: &Path, unit: LengthUnit) -> Result<Vec<Vec3>, FileError> {
    let file = path.display().to_string();
    let extension = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).unwrap_or_default();
    if !["xyz", "txt", "ply"].contains(&extension.as_str()) {
        return Err(Problem::UnknownPointExtension { extension }.in_file(&file));
    }
    let bytes = read_regular(path, u64::MAX).map_err(|problem| problem.in_file(&file))?;
    if bytes.is_empty() {
        return Err(Problem::Empty.in_file(&file));
    }
    let points = if extension == "ply" { ply::vertices(&bytes) } else { lines(&bytes) };
    let points = points.map_err(|error| error.in_file(&file))?;
    Ok(points.into_iter().map(|point| unit.in_metres(point)).collect())
}

fn lines(bytes: &[u8]) -> Result<Vec<Vec3>, FileError> {
    let mut points = Vec::new();
    for (index, line) in bytes.split(|&b| b == b'\n').enumerate() {
        let line = line.split(|&b| b == b'#').next().unwrap_or_default().trim_ascii();
        if line.is_empty() {
            continue;
        }
        let mut words = line.split(|b| b.is_ascii_whitespace() || *b == b',').filter(|word| !word.is_empty());
        let mut point = Vec3::ZERO;
        for axis in 0..3 {
            point[axis] = words
                .next()
                .and_then(number)
                .filter(|x| x.is_finite())
                .ok_or_else(|| unexpected(index + 1, "three numbers, the place of a point", line))?;
        }
        points.push(point);
    }
    Ok(points)
}
