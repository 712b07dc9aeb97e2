//! Tar archives for WebDataset. The same files give the same bytes.
//!
//! Uses the `ustar` format of POSIX 1003.1-1988. Owner, time and mode are fixed, so that an archive depends only on its
//! files.

use std::io::{self, Write};

const BLOCK: usize = 512;
/// The archive is padded to a multiple of this number of blocks, as `tar` does.
const RECORD: usize = 20;

/// Writes an archive, file by file.
pub struct TarWriter<W: Write> {
    to: W,
    blocks: usize,
}

impl<W: Write> TarWriter<W> {
    /// Starts an archive.
    pub fn new(to: W) -> Self {
        Self { to, blocks: 0 }
    }

    /// Adds a file. Names have at most 100 bytes, contents less than 8 GiB.
    pub fn append(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        if name.is_empty() || name.len() > 100 {
            let reason = format!("{name:?} is no name for a file in an archive: it must have 1 to 100 bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        self.to.write_all(&header(name, bytes.len()))?;
        self.to.write_all(bytes)?;
        let blocks = bytes.len().div_ceil(BLOCK);
        self.to.write_all(&vec![0; blocks * BLOCK - bytes.len()])?;
        self.blocks += 1 + blocks;
        Ok(())
    }

    /// Writes the end of the archive and returns the writer.
    pub fn finish(mut self) -> io::Result<W> {
        let blocks = (self.blocks + 2).next_multiple_of(RECORD) - self.blocks;
        self.to.write_all(&vec![0; blocks * BLOCK])?;
        self.to.flush()?;
        Ok(self.to)
    }
}

fn header(name: &str, len: usize) -> [u8; BLOCK] {
    let mut header = [0; BLOCK];
    let mut put = |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, name);
    put(100, "0000644\0");
    put(108, "0000000\0");
    put(116, "0000000\0");
    put(124, &format!("{len:011o}\0"));
    put(136, "00000000000\0");
    // The checksum is computed with blanks in its own field.
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\x0000");
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn tar_itself_unpacks_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tar");
        let mut tar = TarWriter::new(std::fs::File::create(&path).unwrap());
        tar.append("0001.json", b"{}").unwrap();
        tar.append("0001.png", &[7; 1024]).unwrap();
        tar.append("empty", b"").unwrap();
        tar.finish().unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 20 * 512);
        let unpacked = Command::new("tar").arg("-xf").arg(&path).arg("-C").arg(folder.path()).status();
        // Without `tar`, only the length above and the Python tests check the archive.
        if unpacked.is_ok_and(|status| status.success()) {
            assert_eq!(std::fs::read(folder.path().join("0001.json")).unwrap(), b"{}");
            assert_eq!(std::fs::read(folder.path().join("0001.png")).unwrap(), [7; 1024]);
            assert_eq!(std::fs::read(folder.path().join("empty")).unwrap(), b"");
        }
    }

    #[test]
    fn a_name_that_does_not_fit_is_refused() {
        let mut tar = TarWriter::new(Vec::new());
        assert!(tar.append(&"x".repeat(101), b"").unwrap_err().to_string().contains("1 to 100 bytes"));
        assert!(tar.append("", b"").is_err());
    }
}
