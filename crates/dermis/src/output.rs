//! Writes a set of files completely or not at all.

use dermis_record::atomic_file::{self, AtomicFile, Claim, ClaimError};
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
/// assert!(error.to_string().contains("is a file"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum OutputError {
    /// The system refused to write.
    #[error("{path}: cannot be written: {reason}; nothing was left there")]
    Write { path: String, reason: String },
    /// A file is where a folder must be.
    #[error("{path}: is a file; name a folder")]
    IsFile { path: String },
    /// Another command writes to the same place.
    #[error("{path}: another command is writing there, and the results would mix; name another folder or file")]
    InUse { path: String },
}

/// A folder, or a name inside a folder, for which this process alone writes, from [`ClaimedFolder::open`] until it is dropped.
///
/// ```
/// use dermis::output::ClaimedFolder;
/// let folder = std::env::temp_dir().join(format!("dermis-claimed-{}", std::process::id()));
/// let claimed = ClaimedFolder::open(&folder)?;
/// let error = ClaimedFolder::open(&folder).unwrap_err(); // as of another process
/// assert!(error.to_string().contains("another command is writing"));
/// drop(claimed);
/// assert!(!folder.exists()); // nothing was written
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ClaimedFolder {
    claim: Option<Claim>,
    /// The folders that it has created, innermost first.
    made: Vec<PathBuf>,
}

impl ClaimedFolder {
    /// The name of the claim of a folder.
    const WHOLE: &str = "dermis-writes";

    /// Claims a folder, which is created if it does not exist, before a long computation: it can be written.
    pub fn open(folder: &Path) -> Result<Self, OutputError> {
        Self::of_name(folder, Self::WHOLE, folder)
    }

    /// Claims a file, or all files whose names begin with its name.
    pub fn of_file(path: &Path) -> Result<Self, OutputError> {
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Self::of_name(folder, &path.file_name().unwrap_or_default().to_string_lossy(), path)
    }

    /// Whether a file of a folder is the mark of its claim, which a killed process may have left.
    pub fn is_mark(name: &str) -> bool {
        Claim::is_file_of(Self::WHOLE, name)
    }

    fn of_name(folder: &Path, name: &str, claimed: &Path) -> Result<Self, OutputError> {
        // Dropped on an error, it removes what it has created.
        let mut new = Self { claim: None, made: missing_ancestors(folder) };
        std::fs::create_dir_all(folder).map_err(|error| failure(folder, &error))?;
        new.claim = Some(Claim::new(folder, name).map_err(|error| match error {
            ClaimError::InUse => OutputError::InUse { path: claimed.display().to_string() },
            ClaimError::Io(error) => failure(folder, &error),
        })?);
        Ok(new)
    }
}

impl Drop for ClaimedFolder {
    fn drop(&mut self) {
        self.claim = None;
        remove_empty(&self.made);
    }
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
            remove_empty(&made);
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

/// Removes folders that hold nothing.
fn remove_empty(folders: &[PathBuf]) {
    for folder in folders {
        let _ = std::fs::remove_dir(folder);
    }
}

fn failure(path: &Path, error: &std::io::Error) -> OutputError {
    match atomic_file::file_in_the_way(path) {
        Some(file) => OutputError::IsFile { path: file.display().to_string() },
        None => OutputError::Write { path: path.display().to_string(), reason: error.to_string() },
    }
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
    fn a_claim_without_files_leaves_nothing() {
        let root = std::env::temp_dir().join(format!("dermis-claim-{}", std::process::id()));
        let folder = root.join("x/y");
        let claimed = ClaimedFolder::open(&folder).unwrap();
        assert!(ClaimedFolder::is_mark(
            &std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().file_name().to_string_lossy()
        ));
        drop(claimed);
        assert!(!root.exists());
        drop(ClaimedFolder::of_file(&folder.join("a.toml")).unwrap());
        assert!(!root.exists());
    }

    #[test]
    fn a_claim_and_its_files_are_of_one_process() {
        let root = std::env::temp_dir().join(format!("dermis-claimed-once-{}", std::process::id()));
        let claimed = ClaimedFolder::open(&root.join("run")).unwrap();
        let message = ClaimedFolder::open(&root.join("run")).unwrap_err().to_string();
        assert!(message.contains("another command is writing there"), "{message}");
        let mut output = Output::new();
        output.add("a.txt", "a");
        output.commit(&root.join("run")).unwrap();
        drop(claimed);
        let left: Vec<_> =
            std::fs::read_dir(root.join("run")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["a.txt"]);
        let message = ClaimedFolder::open(&root.join("run/a.txt/b")).unwrap_err().to_string();
        assert!(message.ends_with("a.txt: is a file; name a folder"), "{message}");
        std::fs::remove_dir_all(&root).unwrap();
    }
}
