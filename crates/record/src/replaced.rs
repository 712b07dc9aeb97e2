//! A file that a new one is to replace.

use std::io;
use std::path::{Path, PathBuf};

/// An old file beside the new one that is being written. It returns to its name when this value is dropped, unless the new
/// file is complete.
#[derive(Debug)]
pub(crate) struct Replaced {
    path: PathBuf,
    aside: PathBuf,
}

impl Replaced {
    /// Renames `FILE` to `FILE.replaced`.
    pub fn set_aside(path: &Path) -> io::Result<Self> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".replaced");
        let aside = path.with_file_name(name);
        std::fs::rename(path, &aside)?;
        Ok(Self { path: path.to_owned(), aside })
    }

    /// Removes the old file: the new one is complete.
    pub fn discard(self) {
        let _ = std::fs::remove_file(&self.aside);
    }
}

impl Drop for Replaced {
    fn drop(&mut self) {
        // After `discard` there is nothing to rename.
        let _ = std::fs::rename(&self.aside, &self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_file_returns_unless_the_new_one_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.mcap");
        let text = || std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, "old").unwrap();
        let replaced = Replaced::set_aside(&path).unwrap();
        std::fs::write(&path, "half").unwrap();
        drop(replaced);
        assert_eq!(text(), "old");
        let replaced = Replaced::set_aside(&path).unwrap();
        std::fs::write(&path, "new").unwrap();
        replaced.discard();
        assert_eq!((text(), std::fs::read_dir(folder.path()).unwrap().count()), ("new".into(), 1));
    }
}
