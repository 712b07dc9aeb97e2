//! The files of the page, embedded in the program by `build.rs`.

use dermis::geometry::limits::MAX_IMAGE_BYTES;
use dermis::geometry::regular_file;
use std::path::Path;

/// A file of the page: name, content type and content.
pub type Asset = (&'static str, &'static str, &'static [u8]);

/// Name of the compiled WebAssembly module, compressed; the page decompresses it.
pub const SKINS: &str = "dermis.wasm.gz";

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The message when the module is missing.
pub const MAKE: &str = "this program was built without the WebAssembly module of the page: run `cargo xtask playground` and build the program \
                        again, or give the folder of the module with --dir dist/playground";

/// The content of the module: from a folder, or embedded.
pub fn skins(folder: Option<&Path>) -> anyhow::Result<Vec<u8>> {
    let Some(folder) = folder else {
        let found = ASSETS.iter().find(|(name, ..)| *name == SKINS);
        return found.map(|(.., content)| content.to_vec()).ok_or_else(|| anyhow::anyhow!(MAKE));
    };
    let path = folder.join(SKINS);
    regular_file::read(&path, MAX_IMAGE_BYTES)
        .map_err(|error| anyhow::anyhow!("{}: {error}; `cargo xtask playground` builds it", path.display()))
}
