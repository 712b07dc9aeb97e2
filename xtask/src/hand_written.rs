//! The parts that dermis implements itself although libraries exist, from the table of ARCHITECTURE.md.

use std::fs;
use std::path::Path;

/// The file with the table.
const FILE: &str = "ARCHITECTURE.md";
/// The first cell of the table.
const TABLE: &str = "| hand-written part |";

/// A row of the table.
#[derive(Debug, PartialEq)]
pub struct Part {
    /// The format, protocol or algorithm.
    pub name: String,
    /// Its files or folders, from the root of the repository.
    pub paths: Vec<String>,
    /// Why no library does it as well.
    pub reason: String,
}

/// The rows of the table, or one line for everything that is wrong with it.
pub fn parts(root: &Path) -> Result<Vec<Part>, Vec<String>> {
    let text = fs::read_to_string(root.join(FILE)).map_err(|error| vec![format!("{FILE}: {error}")])?;
    let parts = rows(&text);
    let mut wrong: Vec<String> = Vec::new();
    if parts.is_empty() {
        wrong.push(format!("{FILE}: there is no table that begins with \"{TABLE}\""));
    }
    for part in &parts {
        if part.reason.is_empty() || part.paths.is_empty() {
            wrong.push(format!("{FILE}: `{}` needs a file and a reason", part.name));
        }
        for path in part.paths.iter().filter(|path| !root.join(path).exists()) {
            wrong.push(format!("{FILE}: `{}`: {path} does not exist; remove or correct the row", part.name));
        }
    }
    if wrong.is_empty() { Ok(parts) } else { Err(wrong) }
}

fn rows(text: &str) -> Vec<Part> {
    let table = text.lines().skip_while(|line| !line.starts_with(TABLE)).skip(2);
    let rows = table.take_while(|line| line.starts_with('|')).map(|line| {
        let mut cells = line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
        let mut cell = || cells.next().unwrap_or_default();
        let (name, paths, reason) = (cell(), cell(), cell());
        // Every second piece is between back quotes.
        Part { name, paths: paths.split('`').skip(1).step_by(2).map(str::to_owned).collect(), reason }
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_a_name_files_and_a_reason() {
        let text = format!(
            "text\n{TABLE} where | why |\n|---|---|---|\n| A, B | `a.rs`, `b` | is better |\n\n| no | row | here |\n"
        );
        let paths = vec!["a.rs".into(), "b".into()];
        assert_eq!(rows(&text), [Part { name: "A, B".into(), paths, reason: "is better".into() }]);
        assert!(rows("no table").is_empty());
    }

    #[test]
    fn the_table_of_the_repository_names_files_that_exist() {
        let parts = parts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap();
        assert!(parts.iter().any(|part| part.name == "HDF5"), "{parts:?}");
    }
}
