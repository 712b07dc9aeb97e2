//! Warns about long source files.

use std::fs;
use std::path::Path;

use crate::own_files::own_files;

/// Length (lines) above which a file probably holds more than one noun.
const LONG_LINES: usize = 600;

/// One line for each `.rs` file of the repository at `root` over [`LONG_LINES`], sorted by path.
pub fn warnings(root: &Path) -> Vec<String> {
    own_files(root, &["rs"]).iter().filter_map(|file| warning(root, file)).collect()
}

fn warning(root: &Path, file: &str) -> Option<String> {
    let lines = fs::read_to_string(root.join(file)).ok()?.lines().count();
    (lines > LONG_LINES).then(|| format!("{file} has {lines} lines (over {LONG_LINES}); is it more than one noun?"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let found = warnings(&root);
        fs::remove_dir_all(&root).unwrap();

        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/skin/src/long.rs has 601 lines"), "{found:?}");
    }
}
