//! The README of a data set, with the front matter that the Hugging Face libraries read.

use super::columns::features;
use super::set::Dataset;
use super::spec::FormatSpec;
use super::warnings::DatasetWarning;
use std::fmt::Write;

/// The README of a data set. Its front matter names the data files, so that `datasets.load_dataset(folder)` finds them
/// beside the tables of metadata.
pub fn readme(set: &Dataset, warnings: &[DatasetWarning]) -> String {
    let (files, loader) = match set.spec.format {
        FormatSpec::Lerobot => (Some("data/*/*.parquet"), "lerobot.datasets.LeRobotDataset(name, root=folder)"),
        FormatSpec::Parquet => (Some("data/*.parquet"), "dermis.dataset.Touches(folder)"),
        FormatSpec::Webdataset => (Some("*.tar"), "webdataset.WebDataset(shards)"),
        FormatSpec::Robomimic => (None, "robomimic.utils.dataset.SequenceDataset"),
    };
    let mut text = "---\ntask_categories:\n- robotics\ntags:\n- tactile\n- dermis\n".to_owned();
    if set.spec.format == FormatSpec::Lerobot {
        text += "- LeRobot\n";
    }
    if let Some(files) = files {
        let _ = writeln!(text, "configs:\n- config_name: default\n  data_files: \"{files}\"");
    }
    let _ = writeln!(text, "---\n\n# {}\n\n{}\n", set.spec.name, set.spec.description);
    let _ = writeln!(
        text,
        "Simulated with dermis {}: {} episodes of {} frames, scenario `{}`. Load with `{loader}`. `dataset.toml` is the \
         description that generates this set, `sensors/` holds the sensors, `SHA256SUMS` the hashes.\n",
        env!("CARGO_PKG_VERSION"),
        set.count(),
        set.frames(),
        set.spec.scenario.name()
    );
    for warning in warnings {
        let _ = writeln!(text, "Warning: {warning}.\n");
    }
    text += "| column | type | shape |\n|---|---|---|\n";
    for feature in features(set) {
        let shape: Vec<String> = feature.shape.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "| `{}` | {} | {} |", feature.name, feature.kind, shape.join(" × "));
    }
    text
}
