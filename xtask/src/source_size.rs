//! Warns about long source files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace::Workspace;

/// Length (lines) above which a file probably holds more than one noun.
const LONG_LINES: usize = 600;

/// One line for each `.rs` file of the workspace over [`LONG_LINES`], sorted by path.
///
/// Unreadable folders are skipped.
pub fn warnings(workspace: &Workspace) -> Vec<String> {
    let mut files: Vec<PathBuf> = Vec::new();
    for package in &workspace.packages {
        collect_sources(&workspace.root.join(&package.folder), &mut files);
    }
    files.sort();
    files.dedup();
    files.iter().filter_map(|file| warning(file, &workspace.root)).collect()
}

fn warning(file: &Path, root: &Path) -> Option<String> {
    let lines = fs::read_to_string(file).ok()?.lines().count();
    let name = file.strip_prefix(root).unwrap_or(file).display();
    (lines > LONG_LINES).then(|| format!("{name} has {lines} lines (over {LONG_LINES}); is it more than one noun?"))
}

fn collect_sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let skipped = name == "target" || name.to_string_lossy().starts_with('.');
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !skipped => collect_sources(&path, files),
            Ok(kind) if kind.is_file() && path.extension().is_some_and(|end| end == "rs") => files.push(path),
            // Links are not followed: they could lead round in a circle.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Package;

    #[test]
    fn only_long_sources_outside_target_are_pointed_at() {
        let root = std::env::temp_dir().join(format!("dermis-xtask-source-size-{}", std::process::id()));
        for (path, lines) in
            [("src/short.rs", 600), ("src/long.rs", 601), ("src/data.txt", 900), ("target/made.rs", 900)]
        {
            let path = root.join("crates/skin").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "\n".repeat(lines)).unwrap();
        }
        let package = Package {
            name: "dermis-skin".into(),
            folder: "crates/skin".into(),
            dependencies: vec![],
            examples: vec![],
        };
        let found = warnings(&Workspace { root: root.clone(), target: PathBuf::new(), packages: vec![package] });
        fs::remove_dir_all(&root).unwrap();

        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("long.rs has 601 lines"), "{found:?}");
    }
}
