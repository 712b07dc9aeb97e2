//! Tables of numbers in CSV or tab-separated files, also compressed with gzip.

use super::RealError;
use dermis::geometry::limits::MAX_MEASUREMENT_BYTES;
use dermis::geometry::regular_file;
use std::io::Read;
use std::path::Path;

/// A table of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Names of the columns; empty for a file without a header line.
    pub heads: Vec<String>,
    /// Numbers, row by row.
    pub rows: Vec<Vec<f64>>,
    path: String,
}

impl Table {
    /// Reads a file. The first line is a header if one of its fields is not a number. All rows must have as many numbers
    /// as the first.
    pub fn read(path: &Path) -> Result<Self, RealError> {
        Self::parse(&path.display().to_string(), &text_of(path)?)
    }

    fn parse(path: &str, text: &str) -> Result<Self, RealError> {
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).peekable();
        let separator = if lines.peek().is_some_and(|(_, line)| line.contains('\t')) { '\t' } else { ',' };
        let fields = |line: &str| line.split(separator).map(|field| field.trim().to_owned()).collect::<Vec<_>>();
        let first = lines.peek().map(|(_, line)| fields(line)).unwrap_or_default();
        let is_header = first.iter().any(|field| field.parse::<f64>().is_err());
        if is_header {
            lines.next();
        }
        let mut rows = Vec::new();
        for (index, line) in lines {
            let row: Option<Vec<f64>> = fields(line).iter().map(|field| field.parse().ok()).collect();
            let row = row.filter(|row| row.len() == first.len() && row.iter().all(|value: &f64| value.is_finite()));
            rows.push(row.ok_or_else(|| RealError::BadRow {
                path: path.to_owned(),
                line: index + 1,
                columns: first.len(),
                text: line.chars().take(60).collect(),
            })?);
        }
        if rows.is_empty() {
            return Err(RealError::Empty { path: path.to_owned() });
        }
        Ok(Self { heads: if is_header { first } else { Vec::new() }, rows, path: path.to_owned() })
    }

    /// Values of a named column.
    pub fn column(&self, name: &str) -> Result<Vec<f64>, RealError> {
        let missing =
            || RealError::NoColumn { path: self.path.clone(), column: name.to_owned(), found: self.heads.join(", ") };
        let at = self.heads.iter().position(|head| head == name).ok_or_else(missing)?;
        Ok(self.rows.iter().map(|row| row[at]).collect())
    }
}

/// The text of a file; one that ends in `.gz` is unpacked.
pub fn text_of(path: &Path) -> Result<String, RealError> {
    let unreadable =
        |error: std::io::Error| RealError::Unreadable { path: path.display().to_string(), reason: error.to_string() };
    let bytes = regular_file::read(path, MAX_MEASUREMENT_BYTES).map_err(unreadable)?;
    if path.extension().is_none_or(|end| end != "gz") {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes.as_slice())
        .take(MAX_MEASUREMENT_BYTES)
        .read_to_string(&mut text)
        .map_err(unreadable)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_separators_and_damage_are_recognised() {
        let table = Table::parse("a.csv", "t,x\n1,2\n\n3,4\n").unwrap();
        assert_eq!(table.column("x").unwrap(), [2.0, 4.0]);
        assert!(table.column("y").unwrap_err().to_string().contains("`y`"));
        let table = Table::parse("a.txt", "1.0\t2e-3\n3\t4\n").unwrap();
        assert_eq!((table.heads.len(), table.rows.len()), (0, 2));
        let message = Table::parse("a.csv", "t,x\n1,2\n3\n").unwrap_err().to_string();
        assert!(message.contains("a.csv, line 3"), "{message}");
        assert!(Table::parse("a.csv", "t,x\n").is_err());
    }
}
