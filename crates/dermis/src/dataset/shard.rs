//! A shard: consecutive episodes that are written together.

use super::columns::{Columns, Images, image_file, image_names};
use super::episode::Episode;
use super::error::DatasetError;
use super::finish::table_io_error;
use super::robomimic;
use super::set::Dataset;
use super::spec::FormatSpec;
use super::warnings::{self, DatasetWarning};
use dermis_record::atomic_folder::{AtomicFolder, Placed};
use dermis_record::lerobot::{Statistics, data_file};
use dermis_record::npy;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// The record of a finished shard: its files, and sums for the statistics of the set.
///
/// ```no_run
/// use dermis::dataset::ShardRecord;
/// use dermis::record::atomic_folder::AtomicFolder;
/// let folder = AtomicFolder::open("out/taps".as_ref())?;
/// if let Some(record) = ShardRecord::find(&folder, 0)? {
///     println!("shard 0 has {} files", record.files.len());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShardRecord {
    /// Its files.
    pub files: Vec<Placed>,
    /// Sums by column, for formats with statistics.
    pub sums: Vec<(String, Statistics)>,
    /// Warnings of its episodes.
    pub warnings: Vec<DatasetWarning>,
}

/// The file that marks a shard as finished; it is written last.
pub fn record_file(shard: usize) -> String {
    format!(".shards/{shard:06}.json")
}

impl ShardRecord {
    fn to_value(&self) -> Value {
        let file = |placed: &Placed| json!({ "name": placed.name, "bytes": placed.bytes, "sha256": placed.sha256 });
        let sum = |(name, sums): &(String, Statistics)| json!({ "column": name, "sums": sums });
        json!({
            "files": self.files.iter().map(file).collect::<Vec<_>>(),
            "statistics": self.sums.iter().map(sum).collect::<Vec<_>>(),
            "warnings": self.warnings,
        })
    }

    fn from_value(value: &Value) -> Option<Self> {
        let file = |value: &Value| {
            Some(Placed {
                name: value.get("name")?.as_str()?.to_owned(),
                bytes: value.get("bytes")?.as_u64()?,
                sha256: value.get("sha256")?.as_str()?.to_owned(),
            })
        };
        let sum = |value: &Value| {
            Some((value.get("column")?.as_str()?.to_owned(), Statistics::deserialize(value.get("sums")?).ok()?))
        };
        Some(Self {
            files: value.get("files")?.as_array()?.iter().map(file).collect::<Option<_>>()?,
            sums: value.get("statistics")?.as_array()?.iter().map(sum).collect::<Option<_>>()?,
            warnings: warnings::from_value(value.get("warnings"))?,
        })
    }

    /// The record of a shard, if the shard is finished and its files have their recorded lengths.
    pub fn find(atomic_folder: &AtomicFolder, shard: usize) -> Result<Option<Self>, DatasetError> {
        let Some(bytes) = atomic_folder.read(&record_file(shard))? else { return Ok(None) };
        let record = serde_json::from_slice::<Value>(&bytes).ok().and_then(|value| Self::from_value(&value));
        Ok(record.filter(|record| record.files.iter().all(|file| atomic_folder.holds(&file.name, file.bytes))))
    }
}

impl Dataset {
    /// Makes a shard and writes it to the folder. Calls `go_on` before every episode; returns `None` if it returns
    /// `false`.
    pub fn make_shard(
        &self,
        atomic_folder: &AtomicFolder,
        shard: usize,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Option<ShardRecord>, DatasetError> {
        let mut episodes = Vec::new();
        for index in self.episodes_of(shard) {
            if !go_on() {
                return Ok(None);
            }
            episodes.push(self.episode(index)?);
        }
        let warnings = warnings::of_episodes(&episodes);
        let record = ShardRecord { warnings, ..self.write(atomic_folder, shard, &mut episodes)? };
        let text = serde_json::to_vec(&record.to_value()).unwrap_or_default();
        atomic_folder.place(&record_file(shard), &text)?;
        Ok(Some(record))
    }

    /// Writes episodes as a shard, without its record. May move images out of the episodes.
    pub(super) fn write(
        &self,
        atomic_folder: &AtomicFolder,
        shard: usize,
        episodes: &mut [Episode],
    ) -> Result<ShardRecord, DatasetError> {
        match self.spec.format {
            FormatSpec::Lerobot => self.write_table(atomic_folder, &data_file(shard), "", Images::Inside, episodes),
            FormatSpec::Webdataset => self.write_tar(atomic_folder, shard, episodes),
            FormatSpec::Robomimic => {
                let name = format!("shard-{shard:06}.hdf5");
                let placed = atomic_folder.place_with(&name, |file| robomimic::write(self, episodes, file))?;
                Ok(ShardRecord { files: vec![placed], ..ShardRecord::default() })
            }
            FormatSpec::Parquet => {
                let folder = format!("images/{shard:06}/");
                let mut files = self.write_images(atomic_folder, &folder, episodes)?;
                let table = format!("data/{shard:06}.parquet");
                let record = self.write_table(atomic_folder, &table, &folder, Images::Beside, episodes)?;
                files.extend(record.files);
                Ok(ShardRecord { files, ..record })
            }
        }
    }

    fn write_table(
        &self,
        atomic_folder: &AtomicFolder,
        name: &str,
        folder: &str,
        images: Images,
        episodes: &mut [Episode],
    ) -> Result<ShardRecord, DatasetError> {
        let (table, sums) = Columns::new(self, episodes).table(images, folder)?;
        let placed = atomic_folder.place_with(name, |file| table.write(file).map(drop).map_err(table_io_error))?;
        Ok(ShardRecord { files: vec![placed], sums, ..ShardRecord::default() })
    }

    fn write_images(
        &self,
        atomic_folder: &AtomicFolder,
        folder: &str,
        episodes: &[Episode],
    ) -> Result<Vec<Placed>, DatasetError> {
        let mut files = Vec::new();
        for episode in episodes {
            for (number, frame) in episode.frames.iter().enumerate() {
                for (part, sensor) in self.parts().iter().zip(&frame.sensors) {
                    let Some(seen) = &sensor.camera else { continue };
                    for (name, png) in image_names(part).iter().zip([&seen.image_png, &seen.contact_png]) {
                        let file = format!("{folder}{}", image_file(episode.index, number, name));
                        files.push(atomic_folder.place(&file, png)?);
                    }
                }
            }
        }
        Ok(files)
    }

    fn write_tar(
        &self,
        atomic_folder: &AtomicFolder,
        shard: usize,
        episodes: &[Episode],
    ) -> Result<ShardRecord, DatasetError> {
        let name = format!("shard-{shard:06}.tar");
        let placed = atomic_folder.place_with(&name, |file| {
            let mut tar = tar::Builder::new(file);
            for episode in episodes {
                self.append(&mut tar, episode)?;
            }
            tar.into_inner().map(drop)
        })?;
        Ok(ShardRecord { files: vec![placed], ..ShardRecord::default() })
    }

    /// Appends an episode's frames as WebDataset samples: files that share a key.
    fn append<W: Write>(&self, tar: &mut tar::Builder<W>, episode: &Episode) -> io::Result<()> {
        for (number, frame) in episode.frames.iter().enumerate() {
            let key = format!("{:08}-{number:04}", episode.index);
            let mut about = Map::from_iter([
                ("episode".to_owned(), json!(episode.index)),
                ("frame".to_owned(), json!(number)),
                ("time_s".to_owned(), json!(frame.time_s)),
                ("label".to_owned(), json!(episode.label)),
                ("name".to_owned(), json!(self.labels[episode.label])),
                ("object".to_owned(), json!(episode.object)),
                ("sensor".to_owned(), json!(episode.sensor)),
                ("material".to_owned(), json!(episode.material)),
                ("seed".to_owned(), json!(episode.seed)),
                ("action".to_owned(), json!(frame.action)),
            ]);
            if !episode.drawn.is_empty() {
                let drawn = self.randomised().into_iter().zip(&episode.drawn).map(|(randomise, &value)| {
                    (randomise.key.clone(), if randomise.is_integer() { json!(value as i64) } else { json!(value) })
                });
                about.insert("drawn".to_owned(), Value::Object(drawn.collect()));
            }
            if let Some(mu) = episode.mu {
                about.insert("mu".to_owned(), json!(mu));
            }
            if let Some(grasp) = episode.grasp {
                about.insert("stable".to_owned(), json!(grasp.stable));
                about.insert("slip_m".to_owned(), json!(grasp.slip_m));
            }
            for (part, sensor) in self.parts().iter().zip(&frame.sensors) {
                let start = if part.is_empty() { String::new() } else { format!("{part}.") };
                about.insert(format!("{start}pose"), json!(sensor.pose));
                about.insert(format!("{start}depth_m"), json!(sensor.depth_m));
                about.insert(format!("{start}wrench"), json!(sensor.wrench));
                let touched: Vec<usize> = (0..sensor.contact.len()).filter(|taxel| sensor.contact[*taxel]).collect();
                about.insert(format!("{start}touched_taxels"), json!(touched));
                let arrays = [
                    ("tactile", npy::of_f32(&[sensor.reported_newton.len()], sensor.reported_newton.iter().copied())),
                    ("force", npy::of_f32(&[sensor.contact.len(), 3], sensor.forces_newton.iter().copied())),
                ];
                let chips = sensor.magnetic_ut.len() / 3;
                let magnetic = || ("magnetic", npy::of_f32(&[chips, 3], sensor.magnetic_ut.iter().copied()));
                for (what, bytes) in arrays.into_iter().chain((chips > 0).then(magnetic)) {
                    add_file(tar, &format!("{key}.{start}{what}.npy"), &bytes.unwrap_or_default())?;
                }
                if let Some(seen) = &sensor.camera {
                    add_file(tar, &format!("{key}.{start}contact.png"), &seen.contact_png)?;
                    add_file(tar, &format!("{key}.{start}png"), &seen.image_png)?;
                }
            }
            add_file(tar, &format!("{key}.json"), Value::Object(about).to_string().as_bytes())?;
        }
        Ok(())
    }
}

/// Adds a file to an archive. Owner, time and mode are fixed, so that an archive depends only on its files.
fn add_file<W: Write>(tar: &mut tar::Builder<W>, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(tar::EntryType::Regular);
    header.set_mode(0o644);
    header.set_size(bytes.len() as u64);
    for set in [tar::Header::set_uid, tar::Header::set_gid, tar::Header::set_mtime] {
        set(&mut header, 0);
    }
    tar.append_data(&mut header, name, bytes)
}
