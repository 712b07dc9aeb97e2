//! Writes a set of files completely or not at all.

use dermis_record::atomic_file::{self, AtomicFile};
use std::io::Write;
use std::path::{Path, PathBuf};

/// An error in writing output.
///
/// ```
/// use dermis::output::Output;
/// let mut output = Output::new();
/// output.add("a.txt", "text");
/// let program = std::env::current_exe()?; // a file, and no folder
/// let error = output.commit(&program.join("folder")).unwrap_err();
/// assert!(error.to_string().contains("cannot be written"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{path}: cannot be written: {reason}; nothing was left there")]
pub struct OutputError {
    /// The file or folder.
    pub path: String,
    /// The system's reason.
    pub reason: String,
}

/// A set of files for one folder, kept in memory until [`Output::commit`].
///
/// ```
/// use dermis::output::Output;
/// let folder = std::env::temp_dir().join(format!("dermis-example-{}", std::process::id()));
/// let mut output = Output::new();
/// output.add("force.csv", "time_s,fz_n\n0,0\n");
/// let written = output.commit(&folder)?; // all files, or none
/// assert!(written[0].is_file());
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Output {
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Output {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file by its name inside the folder.
    pub fn add(&mut self, name: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) {
        self.files.push((name.into(), bytes.into()));
    }

    /// Adds a figure as PNG, with a palette where that loses nothing.
    pub fn add_image(&mut self, name: impl Into<PathBuf>, image: &dermis_draw::Image) {
        self.add(name, image.encode_png_figure());
    }

    /// Names of the files, in the order they were added.
    pub fn names(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(name, _)| name.as_path())
    }

    /// The bytes of a file, if it was added.
    pub fn get(&self, name: impl AsRef<Path>) -> Option<&[u8]> {
        self.files.iter().find(|(known, _)| known == name.as_ref()).map(|(_, bytes)| bytes.as_slice())
    }

    /// Checks that a folder can be created and written, before a long computation. Removes all that it creates.
    pub fn probe(folder: &Path) -> Result<(), OutputError> {
        let made = missing_ancestors(folder);
        let probe = || AtomicFile::create(&folder.join("probe")).map(drop);
        let result = std::fs::create_dir_all(folder).and_then(|()| probe());
        for folder in &made {
            let _ = std::fs::remove_dir(folder);
        }
        result.map_err(|error| failure(folder, &error))
    }

    /// Writes all files under temporary names, then renames them. On an error, removes all files that it wrote.
    pub fn commit(self, folder: &Path) -> Result<Vec<PathBuf>, OutputError> {
        if folder.is_dir() {
            // What a killed program has left.
            let _ = atomic_file::sweep(folder);
        }
        let mut made = missing_ancestors(folder);
        let mut staged = Vec::new();
        let mut written = Vec::new();
        let result = self.stage(folder, &mut made, &mut staged).and_then(|()| {
            for file in staged.drain(..) {
                let path = file.path().to_owned();
                file.persist().map_err(|error| failure(&path, &error))?;
                written.push(path);
            }
            Ok(())
        });
        if let Err(error) = result {
            drop(staged);
            for path in written.iter().filter(|path| made.iter().any(|folder| path.starts_with(folder))) {
                let _ = std::fs::remove_file(path);
            }
            for folder in &made {
                let _ = std::fs::remove_dir(folder);
            }
            return Err(error);
        }
        Ok(written)
    }

    fn stage(&self, folder: &Path, made: &mut Vec<PathBuf>, staged: &mut Vec<AtomicFile>) -> Result<(), OutputError> {
        for (name, bytes) in &self.files {
            let path = folder.join(name);
            let parent = path.parent().unwrap_or(folder);
            for missing in missing_ancestors(parent) {
                if !made.contains(&missing) {
                    made.insert(0, missing);
                }
            }
            std::fs::create_dir_all(parent).map_err(|error| failure(parent, &error))?;
            let write = || -> std::io::Result<AtomicFile> {
                let mut file = AtomicFile::create(&path)?;
                file.write_all(bytes)?;
                file.sync()?;
                Ok(file)
            };
            staged.push(write().map_err(|error| failure(&path, &error))?);
        }
        Ok(())
    }
}

/// The missing parent folders, innermost first.
fn missing_ancestors(folder: &Path) -> Vec<PathBuf> {
    folder
        .ancestors()
        .take_while(|ancestor| !ancestor.as_os_str().is_empty() && !ancestor.exists())
        .map(Path::to_path_buf)
        .collect()
}

fn failure(path: &Path, error: &std::io::Error) -> OutputError {
    OutputError { path: path.display().to_string(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_appear_or_none() {
        let root = std::env::temp_dir().join(format!("dermis-output-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        let mut output = Output::new();
        output.add("a.txt", "a");
        output.add("deep/b.txt", "b");
        output.commit(&root.join("run")).unwrap();
        assert_eq!(std::fs::read_to_string(root.join("run/deep/b.txt")).unwrap(), "b");

        // `a.txt` is a file, so writing below it fails, and the first file must be removed too.
        let mut output = Output::new();
        output.add("first.txt", "1");
        output.add("a.txt/second.txt", "2");
        let message = output.commit(&root.join("run")).unwrap_err().to_string();
        assert!(message.contains("a.txt"), "{message}");
        let mut left: Vec<_> =
            std::fs::read_dir(root.join("run")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["a.txt", "deep"]);
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn a_probe_leaves_nothing() {
        let root = std::env::temp_dir().join(format!("dermis-probe-{}", std::process::id()));
        Output::probe(&root.join("x/y")).unwrap();
        assert!(!root.exists());
    }
}
