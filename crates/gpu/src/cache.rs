//! Caches machine code of CUDA programs in a folder of the user, across processes.

use crate::GpuError;
use crate::program::Program;
use dermis_geometry::regular_file;
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The first bytes of every file; the version number changes with the file layout.
const MAGIC: &[u8; 16] = b"dermis cubin 1\n\0";
const HASH: usize = 32;
/// Length (bytes) of the largest file that is read.
const MAX_CACHED_BYTES: u64 = 64 << 20;
/// Length (bytes) of the header: magic, key, compiler version, checksum.
const HEADER: usize = MAGIC.len() + HASH + 8 + HASH;

/// A folder of compiled programs. Without a folder every program is compiled.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    folder: Option<PathBuf>,
}

/// Dependencies of a program's code besides its source and options.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    /// Architecture, such as `sm_90`.
    pub architecture: &'a str,
    /// Version of the driver.
    pub driver: i32,
    /// Version of nvrtc. Without nvrtc, code of any version is accepted.
    pub compiler: Option<[i32; 2]>,
}

/// Machine code, and whether it was compiled now.
#[derive(Debug)]
pub(crate) struct Code {
    pub bytes: Vec<u8>,
    pub is_fresh: bool,
}

/// The user's cache folder: `$DERMIS_CACHE_DIR`, else `$XDG_CACHE_HOME/dermis`, else `~/.cache/dermis`.
pub fn user_folder() -> Option<PathBuf> {
    folder(|name| env::var_os(name), env::home_dir())
}

impl Cache {
    /// The user's cache.
    pub fn of_user() -> Self {
        Self { folder: user_folder() }
    }

    /// True if the folder holds a compiled program.
    pub fn has_programs(&self) -> bool {
        let entries = self.folder.as_deref().and_then(|folder| fs::read_dir(folder).ok());
        entries.is_some_and(|mut all| {
            all.any(|entry| entry.is_ok_and(|entry| entry.path().extension() == Some("cubin".as_ref())))
        })
    }

    /// The code of a program: read from the folder, otherwise compiled and written there. Replaces a file that is
    /// corrupt, truncated or belongs to another program, compiler or driver. A folder that cannot be written is not an
    /// error.
    pub fn load(
        &self,
        program: &Program,
        target: Target<'_>,
        compile: impl FnOnce() -> Result<Vec<u8>, GpuError>,
    ) -> Result<Code, GpuError> {
        let key = key(program, target);
        let read = self.path(program, &key).and_then(|path| regular_file::read(&path, MAX_CACHED_BYTES).ok());
        match read.and_then(|file| unpacked(file, &key, target.compiler)) {
            Some(bytes) => Ok(Code { bytes, is_fresh: false }),
            None => self.compile(program, target, compile),
        }
    }

    /// Compiles a program and writes it to the folder, replacing an existing file.
    pub fn compile(
        &self,
        program: &Program,
        target: Target<'_>,
        compile: impl FnOnce() -> Result<Vec<u8>, GpuError>,
    ) -> Result<Code, GpuError> {
        let (key, bytes) = (key(program, target), compile()?);
        if let (Some(path), Some(compiler)) = (self.path(program, &key), target.compiler) {
            // If the file cannot be written, the program is compiled again next time.
            let _ = write(&path, &packed(&bytes, &key, compiler));
        }
        Ok(Code { bytes, is_fresh: true })
    }

    fn path(&self, program: &Program, key: &[u8; HASH]) -> Option<PathBuf> {
        let short: String = key[..12].iter().map(|byte| format!("{byte:02x}")).collect();
        let name = program.name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        self.folder.as_ref().map(|folder| folder.join(format!("{name}-{short}.cubin")))
    }
}

fn folder(variable: impl Fn(&str) -> Option<OsString>, home: Option<PathBuf>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("DERMIS_CACHE_DIR").or_else(|| {
        let user = set("XDG_CACHE_HOME").filter(|path| path.is_absolute());
        Some(user.or_else(|| Some(home?.join(".cache")))?.join("dermis"))
    })
}

/// Hash of the dependencies of the code. The compiler version is stored in the file instead: it is unknown without
/// nvrtc.
fn key(program: &Program, target: Target<'_>) -> [u8; HASH] {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    add(env!("CARGO_PKG_VERSION"));
    add(target.architecture);
    add(&target.driver.to_string());
    add(&program.name);
    add(&program.source.concat());
    program.options.iter().for_each(|option| add(option));
    hash.finalize().into()
}

/// The parts of the header: magic and key, compiler version, checksum.
fn header(code: &[u8], key: &[u8; HASH], compiler: [i32; 2]) -> [Vec<u8>; 3] {
    let version = [compiler[0].to_le_bytes(), compiler[1].to_le_bytes()].concat();
    [[&MAGIC[..], key].concat(), version, Sha256::digest(code).to_vec()]
}

fn packed(code: &[u8], key: &[u8; HASH], compiler: [i32; 2]) -> Vec<u8> {
    [&header(code, key, compiler).concat(), code].concat()
}

/// The code in a file, if the file is intact and matches the key and the compiler.
fn unpacked(mut file: Vec<u8>, key: &[u8; HASH], compiler: Option<[i32; 2]>) -> Option<Vec<u8>> {
    let (found, code) = file.split_at_checked(HEADER)?;
    let [owner, version, checksum] = header(code, key, compiler.unwrap_or_default());
    let of_version = compiler.is_none() || found[owner.len()..].starts_with(&version);
    let intact = found.starts_with(&owner) && found.ends_with(&checksum);
    (intact && of_version && !code.is_empty()).then(|| file.split_off(HEADER))
}

/// Writes a file atomically, and its folder if it does not exist.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    dermis_files::write(path, bytes).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Target<'_> = Target { architecture: "sm_90", driver: 12_090, compiler: Some([12, 9]) };

    fn program(options: &[&str]) -> Program {
        Program::new("a program", &["int x;", "int y;"], options)
    }

    fn cache(folder: &Path) -> Cache {
        Cache { folder: Some(folder.to_owned()) }
    }

    fn cached(folder: &Path, program: &Program, target: Target<'_>) -> Option<Vec<u8>> {
        let none = || Err(GpuError::NoCompiler);
        cache(folder).load(program, target, none).ok().map(|code| code.bytes)
    }

    fn only_file(folder: &Path) -> PathBuf {
        let files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
    }

    #[test]
    fn the_second_process_compiles_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("made/when/needed");
        assert!(!cache(&inner).has_programs());
        let first = cache(&inner).load(&program(&[]), TARGET, || Ok(vec![1, 2, 3])).unwrap();
        assert!(first.is_fresh && first.bytes == [1, 2, 3] && cache(&inner).has_programs());
        let second = cache(&inner).load(&program(&[]), TARGET, || panic!("compiled again")).unwrap();
        assert!(!second.is_fresh && second.bytes == [1, 2, 3]);
    }

    #[test]
    fn other_sources_options_and_targets_are_other_programs() {
        let folder = tempfile::tempdir().unwrap();
        cache(folder.path()).load(&program(&["-DA"]), TARGET, || Ok(vec![7])).unwrap();
        let other_source = Program::new("a program", &["int x;", "int z;"], &["-DA"]);
        let targets = [
            Target { architecture: "sm_80", ..TARGET },
            Target { driver: 13_000, ..TARGET },
            Target { compiler: Some([12, 8]), ..TARGET },
        ];
        assert_eq!(cached(folder.path(), &program(&["-DA"]), TARGET), Some(vec![7]));
        assert_eq!(cached(folder.path(), &program(&["-DB"]), TARGET), None);
        assert_eq!(cached(folder.path(), &other_source, TARGET), None);
        for target in targets {
            assert_eq!(cached(folder.path(), &program(&["-DA"]), target), None, "{target:?}");
        }
        // Without nvrtc, code of any version is accepted, and programs that are not in the cache are an error.
        let without = Target { compiler: None, ..TARGET };
        assert_eq!(cached(folder.path(), &program(&["-DA"]), without), Some(vec![7]));
        let missing = cache(folder.path()).load(&program(&["-DB"]), without, || Err(GpuError::NoCompiler));
        assert_eq!(missing.unwrap_err(), GpuError::NoCompiler);
    }

    /// Changes every byte of the file, truncates it to every length, and replaces it by the file of another program.
    #[test]
    fn corrupt_truncated_and_foreign_files_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, program) = (cache(folder.path()), program(&[]));
        cache.load(&program, TARGET, || Ok(vec![5; 40])).unwrap();
        let path = only_file(folder.path());
        let good = fs::read(&path).unwrap();
        let mut bad: Vec<Vec<u8>> = (0..good.len()).map(|len| good[..len].to_vec()).collect();
        bad.extend((0..good.len()).map(|at| {
            let mut file = good.clone();
            file[at] ^= 0x10;
            file
        }));
        bad.push([&good[..], &[0]].concat());
        bad.push(b"not ours at all".to_vec());
        bad.push(packed(&[5; 40], &key(&Program::new("another", &[], &[]), TARGET), [12, 9]));
        for file in bad {
            fs::write(&path, &file).unwrap();
            let code = cache.load(&program, TARGET, || Ok(vec![6; 40])).unwrap();
            assert!(code.is_fresh && code.bytes == [6; 40]);
            assert_eq!(cached(folder.path(), &program, TARGET), Some(vec![6; 40]));
            assert_eq!(only_file(folder.path()), path);
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a file");
        fs::write(&file, "no folder").unwrap();
        for cache in [Cache { folder: None }, Cache { folder: Some(file.join("below")) }] {
            for _ in 0..2 {
                assert!(cache.load(&program(&[]), TARGET, || Ok(vec![1])).unwrap().is_fresh);
            }
            assert!(!cache.has_programs());
        }
    }

    #[test]
    fn an_error_of_the_compiler_is_passed_on_and_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let failed = cache(folder.path()).load(&program(&[]), TARGET, || Err(GpuError::NoCompiler));
        assert_eq!(failed.unwrap_err(), GpuError::NoCompiler);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_folder_follows_the_environment() {
        let home = || Some(PathBuf::from("/home/someone"));
        let with = |set: &'static [(&str, &str)]| {
            folder(move |name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into()), home())
        };
        assert_eq!(with(&[]), Some("/home/someone/.cache/dermis".into()));
        assert_eq!(with(&[("XDG_CACHE_HOME", "/var/cache")]), Some("/var/cache/dermis".into()));
        assert_eq!(with(&[("XDG_CACHE_HOME", "relative")]), Some("/home/someone/.cache/dermis".into()));
        assert_eq!(with(&[("XDG_CACHE_HOME", "/var"), ("DERMIS_CACHE_DIR", "/tmp/own")]), Some("/tmp/own".into()));
        assert_eq!(with(&[("DERMIS_CACHE_DIR", "")]), Some("/home/someone/.cache/dermis".into()));
        assert_eq!(folder(|_| None, None), None);
    }
}
