//! Lists the preset files, so that each file under `presets` is a preset.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=presets");
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join("presets");
    let mut files =
        fs::read_dir(&folder)?.map(|entry| entry.map(|e| e.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let entry = |path: &PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        format!("({name:?}, include_str!({:?})),\n", path.display().to_string())
    };
    let list = format!("&[\n{}]\n", files.iter().map(entry).collect::<String>());
    fs::write(Path::new(&env::var("OUT_DIR").map_err(io::Error::other)?).join("presets.rs"), list)
}
