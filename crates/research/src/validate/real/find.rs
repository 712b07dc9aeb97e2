//! Finds data sets in folders.

use super::load_records::is_record;
use super::{Data, RealError, RealSpec};
use dermis::sensor::parse_toml;
use std::path::{Path, PathBuf};

/// The description of a data set, in its folder.
pub const DESCRIPTION: &str = "dataset.toml";

/// Descriptions of public data sets.
const SHIPPED: [(&str, &str); 8] = [
    ("gelsight-ball.toml", include_str!("../../../real/gelsight-ball.toml")),
    ("digit-ball.toml", include_str!("../../../real/digit-ball.toml")),
    ("weiss-dsa.toml", include_str!("../../../real/weiss-dsa.toml")),
    ("fots-markers.toml", include_str!("../../../real/fots-markers.toml")),
    ("feats-gelsight-mini.toml", include_str!("../../../real/feats-gelsight-mini.toml")),
    ("taxim-fem.toml", include_str!("../../../real/taxim-fem.toml")),
    ("ubi-fingertip.toml", include_str!("../../../real/ubi-fingertip.toml")),
    ("eflesh.toml", include_str!("../../../real/eflesh.toml")),
];

/// A data set and the folder of its data, if it is at hand.
#[derive(Clone, Debug)]
pub struct Found {
    /// The description.
    pub set: RealSpec,
    /// The folder.
    pub folder: Option<PathBuf>,
    /// How a folder without a description of its own, and with another name, was recognised.
    pub note: Option<String>,
}

impl Found {
    /// A data set in a folder, with a note if the folder was recognised by its files alone.
    pub fn in_folder(set: RealSpec, folder: &Path) -> Self {
        let is_named = folder.file_name().is_some_and(|name| name == set.name.as_str());
        let is_taken = !is_named && !folder.join(DESCRIPTION).is_file();
        let note = is_taken.then(|| {
            format!(
                "{} has no {DESCRIPTION} and files as those of the public data set {:?}, so it is taken for measurements of its sensor: write a {DESCRIPTION} if it is another",
                folder.display(),
                set.name
            )
        });
        Self { set, folder: Some(folder.to_owned()), note }
    }
}

/// Descriptions of public data sets, which folders without a description may match.
pub fn shipped() -> Result<Vec<RealSpec>, RealError> {
    SHIPPED.iter().map(|(name, text)| Ok(parse_toml(name, text)?)).collect()
}

/// Data sets of all folders. A folder is a data set, or contains data sets; in the second case the public data sets that
/// are missing are listed too. Without folders, all public data sets are listed as missing.
pub fn all(folders: &[PathBuf]) -> Result<Vec<Found>, RealError> {
    let shipped = shipped()?;
    let (mut found, mut is_root) = (Vec::new(), folders.is_empty());
    for folder in folders {
        if let Some(set) = set_of(folder, &shipped)? {
            found.push(Found::in_folder(set, folder));
            continue;
        }
        let unreadable = |error: std::io::Error| RealError::Unreadable {
            path: folder.display().to_string(),
            reason: error.to_string(),
        };
        let mut inner: Vec<PathBuf> = std::fs::read_dir(folder)
            .map_err(unreadable)?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.is_dir())
            .collect();
        inner.sort();
        let before = found.len();
        for folder in inner {
            if let Some(set) = set_of(&folder, &shipped)? {
                found.push(Found::in_folder(set, &folder));
            }
        }
        if found.len() == before {
            return Err(RealError::Bad {
                what: folder.display().to_string(),
                rule: format!(
                    "is no data set and contains none: a data set is a folder with `{DESCRIPTION}` (`dermis validate real --new DIR` says what is missing)"
                ),
            });
        }
        is_root = true;
    }
    if is_root {
        let is_missing = |set: &&RealSpec| found.iter().all(|found| found.set.name != set.name);
        let missing: Vec<RealSpec> = shipped.iter().filter(is_missing).cloned().collect();
        found.extend(missing.into_iter().map(|set| Found { set, folder: None, note: None }));
    }
    Ok(found)
}

/// The description of a folder: its own, that of a public data set of its name, or that of one with the same files.
pub fn set_of(folder: &Path, shipped: &[RealSpec]) -> Result<Option<RealSpec>, RealError> {
    let own = folder.join(DESCRIPTION);
    if own.is_file() {
        let text = super::table::text_of(&own)?;
        return Ok(Some(parse_toml(&own.display().to_string(), &text)?));
    }
    let has_files = |set: &&RealSpec| set.row.iter().any(|row| has_files(folder, &row.data));
    let named = shipped.iter().find(|set| folder.file_name().is_some_and(|name| name == set.name.as_str()));
    Ok(named.filter(has_files).or_else(|| shipped.iter().find(has_files)).cloned())
}

/// True if the folder has the files of a row.
pub fn has_files(folder: &Path, data: &Data) -> bool {
    match data {
        Data::Weights { files, .. } => std::fs::read_dir(folder)
            .is_ok_and(|entries| entries.flatten().any(|entry| is_record(files, &entry.file_name().to_string_lossy()))),
        data => data.files().iter().all(|file| folder.join(file).is_file()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_description_reads_and_a_row_without_data_says_how_to_get_it() {
        let found = all(&[]).unwrap();
        assert_eq!(found.len(), SHIPPED.len());
        for found in found {
            assert!(
                found.folder.is_none() && found.set.get.len() > 20 && found.set.source.len() > 20,
                "{:?}",
                found.set.name
            );
        }
    }

    #[test]
    fn a_folder_without_data_is_refused_by_name() {
        let message = all(&[PathBuf::from("/nowhere")]).unwrap_err().to_string();
        assert!(message.contains("/nowhere"), "{message}");
    }
}
