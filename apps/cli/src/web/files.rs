//! The files of the page. All but the compiled WebAssembly module are embedded in the program.

use std::path::{Path, PathBuf};

/// A file of the page: name, content type and text.
pub type Asset = (&'static str, &'static str, &'static str);

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! page {
    ($($name:literal: $kind:expr),* $(,)?) => {
        &[$(($name, $kind, include_str!(concat!("../../../playground/web/", $name)))),*]
    };
}

/// The page.
pub const ASSETS: &[Asset] = page! {
    "index.html": HTML,
    "live.html": HTML,
    "style.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "algebra.js": SCRIPT,
    "client.js": SCRIPT,
    "colours.js": SCRIPT,
    "command.js": SCRIPT,
    "drag.js": SCRIPT,
    "engine.js": SCRIPT,
    "format.js": SCRIPT,
    "live.js": SCRIPT,
    "main.js": SCRIPT,
    "panel.js": SCRIPT,
    "plot.js": SCRIPT,
    "resolution.js": SCRIPT,
    "scene.js": SCRIPT,
    "slider.js": SCRIPT,
    "solids.js": SCRIPT,
    "state.js": SCRIPT,
    "tactile.js": SCRIPT,
    "theme.js": SCRIPT,
    "view.js": SCRIPT,
    "worker.js": SCRIPT,
};

/// Name of the compiled WebAssembly module, compressed; the page decompresses it.
pub const SKINS: &str = "dermis.wasm.gz";
/// Its content type.
pub const SKINS_TYPE: &str = "application/gzip";

/// The path of the compiled module, if found.
#[derive(Clone, Debug, Default)]
pub struct Skins(pub Option<PathBuf>);

/// The message when the module is missing.
pub const MAKE: &str = "the WebAssembly module of the page is not built: run `cargo xtask playground`, which writes it to dist/playground, or give its folder with --dir";

/// Finds the module: in the given folder, beside the program, or in `dist/playground` of a parent folder of the program or of the working
/// directory.
pub fn find_skins(folder: Option<&Path>) -> anyhow::Result<Skins> {
    if let Some(folder) = folder {
        let path = folder.join(SKINS);
        anyhow::ensure!(path.is_file(), "{} has no {SKINS}: make it with `cargo xtask playground`", folder.display());
        return Ok(Skins(Some(path)));
    }
    let program = std::env::current_exe().ok();
    let beside = program.as_deref().and_then(Path::parent).map(|folder| folder.join(SKINS));
    let starts = [program, std::env::current_dir().ok().map(|folder| folder.join("."))];
    let built = starts.iter().flatten().flat_map(|start| start.ancestors().skip(1));
    let built = built.map(|folder| folder.join("dist/playground").join(SKINS));
    let found = beside.into_iter().chain(built).find(|path| path.is_file());
    Ok(Skins(Some(found.ok_or_else(|| anyhow::anyhow!(MAKE))?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file missing from the list would fail only in the browser.
    #[test]
    fn every_file_of_the_page_is_in_the_program() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../playground/web");
        let mut on_disk: Vec<String> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        let mut here: Vec<String> = ASSETS.iter().map(|(name, ..)| (*name).to_owned()).collect();
        on_disk.sort();
        here.sort();
        assert_eq!(here, on_disk);
    }
}
