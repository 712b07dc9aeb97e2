//! What the page consists of. All but the compiled skins is in the program itself.

use std::path::{Path, PathBuf};

/// A file of the page: its name, its type, its text.
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
    "pace.js": SCRIPT,
    "panel.js": SCRIPT,
    "plot.js": SCRIPT,
    "scene.js": SCRIPT,
    "slider.js": SCRIPT,
    "solids.js": SCRIPT,
    "stage.js": SCRIPT,
    "state.js": SCRIPT,
    "tactile.js": SCRIPT,
    "theme.js": SCRIPT,
    "worker.js": SCRIPT,
};

/// Name of the compiled skins, packed: the page unpacks them, whatever hands them out.
pub const SKINS: &str = "dermis.wasm.gz";
/// Their type.
pub const SKINS_TYPE: &str = "application/gzip";

/// The compiled skins, where they were found.
#[derive(Clone, Debug, Default)]
pub struct Skins(pub Option<PathBuf>);

/// How to make them, for whoever lacks them.
pub const MAKE: &str = "the skins for the page are not built: run `cargo xtask playground`, which leaves them in dist/playground, or name their folder with --dir";

/// Looks for the skins: in the folder that is given, or beside the program, or in `dist/playground` of a folder that the program or the user is in.
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

    /// A file that the page loads and that is forgotten here would be missing only in the browser.
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
