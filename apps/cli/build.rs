//! Passes the commit to the program, for `dermis --version`, and embeds the page of `dermis view`: the files of `web` (a link to `apps/playground/web`), and the compiled WebAssembly module if `cargo xtask playground`
//! has built it from the present sources.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// Folders with the sources of the module, from the root of the repository.
const SOURCES: [&str; 5] =
    ["crates/geometry/src", "crates/skin/src", "crates/sensor/src", "crates/sensor/presets", "apps/playground/src"];

fn main() -> std::io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    name_commit();
    let root = fs::canonicalize("../..")?;
    let mut list = String::from("pub const ASSETS: &[Asset] = &[\n");
    let web = fs::canonicalize("web")?;
    println!("cargo:rerun-if-changed={}", web.display());
    let mut files: Vec<PathBuf> = fs::read_dir(&web)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    files.sort();
    for file in &files {
        let name = file.file_name().unwrap_or_default();
        let _ = writeln!(list, "    ({name:?}, {:?}, include_bytes!({file:?})),", content_type(file));
    }
    let module = root.join("dist/playground/dermis.wasm.gz");
    // A folder that is there: a missing file would run this script, and compile the program, every time.
    let watched =
        ["dist/playground", "dist"].map(|folder| root.join(folder)).into_iter().find(|folder| folder.exists());
    println!("cargo:rerun-if-changed={}", watched.unwrap_or(root.join("dist")).display());
    for folder in SOURCES {
        println!("cargo:rerun-if-changed={}", root.join(folder).display());
    }
    if is_current(&module, &root) {
        let _ = writeln!(list, "    (SKINS, \"application/gzip\", include_bytes!({module:?})),");
        println!("cargo:rustc-env=DERMIS_PAGE=whole");
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("assets.rs"), list + "];\n")
}

/// Whether the module is newer than all of its sources: an older one would give other numbers than the program.
fn is_current(module: &Path, root: &Path) -> bool {
    let Ok(built) = fs::metadata(module).and_then(|file| file.modified()) else { return false };
    let current = SOURCES.iter().all(|folder| newest(&root.join(folder)).is_some_and(|changed| changed <= built));
    if !current {
        println!(
            "cargo:warning=dist/playground is older than the sources: `cargo xtask playground` builds the page anew"
        );
    }
    current
}

/// When a folder's `.rs` and `.toml` files were last changed.
fn newest(folder: &Path) -> Option<SystemTime> {
    let changed = |path: PathBuf| match path.is_dir() {
        true => newest(&path),
        false if path.extension().is_some_and(|end| end == "rs" || end == "toml") => {
            fs::metadata(path).ok()?.modified().ok()
        }
        false => None,
    };
    fs::read_dir(folder).ok()?.flatten().filter_map(|entry| changed(entry.path())).max()
}

fn content_type(file: &Path) -> &'static str {
    match file.extension().and_then(|end| end.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

/// The commit in parentheses, or nothing outside a repository.
fn name_commit() {
    // The log of HEAD grows with every commit and every change of branch.
    if let Some(folder) = git(&["rev-parse", "--git-dir"]) {
        println!("cargo:rerun-if-changed={folder}/logs/HEAD");
    }
    let commit = git(&["rev-parse", "--short=10", "HEAD"]).map_or_else(String::new, |commit| format!(" ({commit})"));
    println!("cargo:rustc-env=DERMIS_COMMIT={commit}");
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
}
