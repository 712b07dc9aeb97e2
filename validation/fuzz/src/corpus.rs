//! Folders of inputs.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// The files of a folder with their names, sorted by name.
pub fn read(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<(String, Vec<u8>)> = entries
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path()).ok()?)))
        .collect();
    files.sort();
    files
}

/// Keeps an input and a sentence about it.
pub fn keep(folder: &Path, target: &str, bytes: &[u8], about: &str) {
    let mut hash = DefaultHasher::new();
    bytes.hash(&mut hash);
    let name = format!("{target}-{:08x}", hash.finish() as u32);
    let _ = std::fs::create_dir_all(folder);
    let _ = std::fs::write(folder.join(&name), bytes);
    let _ = std::fs::write(folder.join(format!("{name}.txt")), format!("{about}\n"));
    eprintln!("found {name}: {about}");
}
