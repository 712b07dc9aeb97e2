//! Reads files of others: regular files only, and no more bytes than a stated limit.
//!
//! A device, a pipe or a socket may never end, and a file may be larger than the memory. Every reader of dermis opens files here
//! (`cargo xtask layering` refuses other ways). Links are followed, and their target is checked.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Opens a regular file of at most `max_bytes`.
pub fn open(path: &Path, max_bytes: u64) -> io::Result<File> {
    // Opening a pipe may wait for its writer, so its kind is checked before.
    check(&std::fs::metadata(path)?, max_bytes)?;
    let file = File::open(path)?;
    check(&file.metadata()?, max_bytes)?;
    Ok(file)
}

/// Reads a regular file of at most `max_bytes`.
pub fn read(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // The file may grow meanwhile, and the system may not know the size of a file of its own.
    open(path, max_bytes)?.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes { Err(too_large(bytes.len() as u64, max_bytes)) } else { Ok(bytes) }
}

/// Reads a regular file of at most `max_bytes` as UTF-8.
pub fn read_text(path: &Path, max_bytes: u64) -> io::Result<String> {
    let invalid = |_| io::Error::new(ErrorKind::InvalidData, "it is not text in UTF-8");
    String::from_utf8(read(path, max_bytes)?).map_err(invalid)
}

fn check(metadata: &std::fs::Metadata, max_bytes: u64) -> io::Result<()> {
    match metadata.len() {
        _ if metadata.is_dir() => Err(io::Error::new(ErrorKind::IsADirectory, "it is a folder; name a file in it")),
        _ if !metadata.is_file() => Err(io::Error::new(
            ErrorKind::Unsupported,
            "it is no regular file but a device or a pipe; name a file on a disk",
        )),
        bytes if bytes > max_bytes => Err(too_large(bytes, max_bytes)),
        _ => Ok(()),
    }
}

fn too_large(bytes: u64, max_bytes: u64) -> io::Error {
    let text = format!("it has {bytes} bytes, and at most {max_bytes} of such a file are read");
    io::Error::new(ErrorKind::FileTooLarge, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_up_to_the_limit_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "1234").unwrap();
        assert_eq!(read_text(&path, 4).unwrap(), "1234");
        let message = |path: &Path, max| read(path, max).unwrap_err().to_string();
        assert!(message(&path, 3).contains("4 bytes, and at most 3"), "{}", message(&path, 3));
        assert!(message(folder.path(), 9).contains("folder"));
        assert_eq!(read(&folder.path().join("b"), 9).unwrap_err().kind(), ErrorKind::NotFound);
        std::fs::write(&path, [0xff]).unwrap();
        assert!(read_text(&path, 9).unwrap_err().to_string().contains("UTF-8"));
    }

    /// A link to a device was read until the memory was full.
    #[cfg(unix)]
    #[test]
    fn devices_pipes_and_links_to_them_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (link, pipe) = (folder.path().join("x.mcap"), folder.path().join("pipe"));
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [Path::new("/dev/zero"), &link, &pipe] {
            assert!(read(path, 9).unwrap_err().to_string().contains("no regular file"), "{}", path.display());
        }
        // A regular file of the system whose size is said to be 0.
        assert!(read(Path::new("/proc/self/status"), 9).unwrap_err().to_string().contains("at most 9"));
    }
}
