//! Files that are complete as soon as they exist: written under a hidden name, synced to the disk, then renamed. Every writer of
//! dermis uses them. A file that exists under its name survives a loss of power, as far as the disk does what it reports.

mod claim;

pub use claim::{Claim, ClaimError};

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::{Builder, NamedTempFile};

/// The extension of incomplete files; their names also begin with a dot.
pub const PART: &str = ".part";

/// A file that appears under its path when [`AtomicFile::persist`] renames it. Until then it has a hidden name in the
/// same folder. Dropping it removes the hidden file; a killed process leaves it.
#[derive(Debug)]
pub struct AtomicFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl AtomicFile {
    /// Creates the hidden file in the folder of `path`, which must exist.
    pub fn create(path: &Path) -> io::Result<Self> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        Self::create_in(parent.unwrap_or(Path::new(".")), path)
    }

    /// Creates the hidden file in another folder of the same file system.
    pub fn create_in(folder: &Path, path: &Path) -> io::Result<Self> {
        let name = path.file_name().ok_or_else(|| io::Error::other("the path does not end in a file name"))?;
        let prefix = format!(".{}.", name.to_string_lossy());
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(PART);
        // Temporary files are private by default; these get the usual permissions of the user's files.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder)?;
        // Marks the file as in use for `sweep`; a file system without locks has the age of the file alone.
        let _ = file.as_file().try_lock();
        Ok(Self { file, path: path.to_owned() })
    }

    /// The final path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until the content is on the disk; a full disk may be an error only here.
    pub fn sync(&self) -> io::Result<()> {
        self.file.as_file().sync_all()
    }

    /// Syncs the file, renames it to its path, unless a file of that name exists, and syncs its folder.
    pub fn persist_new(self) -> io::Result<File> {
        self.sync()?;
        let file = self.file.persist_noclobber(&self.path).map_err(|error| error.error)?;
        sync_folder(&self.path);
        Ok(file)
    }

    /// Syncs the file, renames it to its path, in the place of an existing file, and syncs its folder.
    pub fn persist(self) -> io::Result<File> {
        self.sync()?;
        let file = self.file.persist(&self.path).map_err(|error| error.error)?;
        sync_folder(&self.path);
        Ok(file)
    }
}

/// Syncs the folder of a path, and with it the name of a file. Not all systems can: the file is complete without it.
fn sync_folder(path: &Path) {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Ok(folder) = File::open(parent.unwrap_or(Path::new("."))) {
        let _ = folder.sync_all();
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_file_mut().flush()
    }
}

/// What a path leads to: another file of the same name differs. `None` if there is nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity([u64; 2]);

impl Identity {
    /// The identity of the file or folder at a path.
    pub fn at(path: &Path) -> Option<Self> {
        path.metadata().ok().map(|about| Self::of(&about))
    }

    /// Device and number of the file.
    #[cfg(unix)]
    fn of(about: &std::fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self([about.dev(), about.ino()])
    }

    /// An open file cannot be replaced on such systems.
    #[cfg(not(unix))]
    fn of(_: &std::fs::Metadata) -> Self {
        Self([0; 2])
    }
}

/// The part of a path that is a file and must be a folder, for the message of a folder that could not be made or read.
pub fn file_in_the_way(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|ancestor| ancestor.is_file())
}

/// Writes a complete file, which is on the disk afterwards; returns it, still open.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<File> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes)?;
    file.persist()
}

/// Age from which an incomplete file that no process has locked counts as left by a killed process: a new file is
/// locked much sooner.
const STALE: Duration = Duration::from_secs(2);
/// The same on a file system without locks.
const STALE_WITHOUT_LOCKS: Duration = Duration::from_secs(600);

/// Removes the incomplete files that killed processes have left in a folder: those that no process holds.
pub fn sweep(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)?.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') && name.ends_with(PART) && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let Ok(file) = File::open(entry.path()) else { continue };
            let Ok(Ok(age)) = file.metadata().and_then(|about| about.modified()).map(|time| time.elapsed()) else {
                continue;
            };
            let min_age = match file.try_lock() {
                Ok(()) => STALE,
                Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Error(_)) => STALE_WITHOUT_LOCKS,
            };
            if age > min_age {
                match std::fs::remove_file(entry.path()) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => (),
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_complete_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        for text in ["one", "two"] {
            write(&path, text.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        let mut dropped = AtomicFile::create(&path).unwrap();
        dropped.write_all(b"half").unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
        drop(dropped);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_unwritable_path_is_refused_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        assert!(write(&folder.path().join("missing").join("a.txt"), b"a").is_err());
        // A folder already has the name: the rename fails after the bytes were written.
        let taken = folder.path().join("taken");
        std::fs::create_dir(&taken).unwrap();
        assert!(write(&taken, b"a").is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write(Path::new("/"), b"a").is_err());
    }

    /// The test starts itself as a second process, in which no file may be larger than 100 KiB.
    #[cfg(unix)]
    #[test]
    fn a_full_disk_leaves_the_old_file_and_nothing_else() {
        const PLACE: &str = "DERMIS_FILES_FULL_PLACE";
        if let Some(place) = std::env::var_os(PLACE) {
            let error = write(Path::new(&place), &[1; 1 << 20]).unwrap_err();
            println!("refused: {:?}", error.kind());
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write(&path, b"old").unwrap();
        // The ignored signal makes the limit an error of the write.
        let name = "tests::a_full_disk_leaves_the_old_file_and_nothing_else";
        let limited = format!("trap '' XFSZ; ulimit -f 100; exec \"$0\" --exact {name} --nocapture");
        let mut limited_process = std::process::Command::new("bash");
        let output = limited_process.args(["-c", &limited]).arg(std::env::current_exe().unwrap()).env(PLACE, &path);
        let output = output.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("refused: FileTooLarge"), "{said}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_as_readable_as_one_that_std_writes() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (own, plain) = (folder.path().join("own"), folder.path().join("plain"));
        write(&own, b"").unwrap();
        std::fs::write(&plain, b"").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&own), mode(&plain));
    }

    #[test]
    fn what_a_killed_program_left_is_swept_away_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - 2 * STALE;
        let aged = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "half").unwrap();
            File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
        };
        ["b.part", ".c.x1.part", ".d"].into_iter().for_each(aged);
        std::fs::write(folder.path().join(".young.x2.part"), "half").unwrap();
        let held = AtomicFile::create(&folder.path().join("held")).unwrap();
        held.file.as_file().set_modified(old).unwrap();
        sweep(folder.path()).unwrap();
        let mut left: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert!(left.len() == 4 && left[0] == ".d" && left[1].starts_with(".held.") && left[3] == "b.part", "{left:?}");
    }
}
