//! Records one Parquet table: a row per sample and sensor.

use crate::atomic_file::AtomicFile;
use crate::folder::locked_folder;
use crate::signals::{MAGNETIC, OF_BODY, OF_SENSOR, first_of, microtesla, values};
use crate::table::{Table, TableError, TableWriter, Values};
use crate::{Layout, RecordError, Sample, Sink, write_file};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Writes a Parquet file. The index is at its end, so that the file cannot be read during the run. Until the run ends,
/// every part is also written to a file in the folder `FILE.parts`, which is then removed.
pub struct ParquetSink {
    _lock: Option<File>,
    path: PathBuf,
    parts: PathBuf,
    layout: Layout,
    writer: TableWriter<AtomicFile>,
    waiting: Vec<Sample>,
    count: usize,
}

/// The folder of the parts of an unfinished recording.
pub fn parts_folder(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".parts");
    path.with_file_name(name)
}

impl ParquetSink {
    /// Starts a recording.
    pub fn create(path: &Path, layout: &Layout) -> Result<Self, RecordError> {
        let parts = parts_folder(path);
        let is_left_over = parts.exists();
        let lock = locked_folder(&parts)?;
        if is_left_over {
            return Err(RecordError::LeftOver { parts: parts.display().to_string() });
        }
        let file = AtomicFile::create_in(&parts, path).map_err(|error| RecordError::write(path, &error))?;
        let (path, layout, writer) = (path.to_owned(), layout.clone(), TableWriter::new(file));
        Ok(Self { _lock: lock, path, parts, layout, writer, waiting: Vec::new(), count: 0 })
    }
}

impl Sink for ParquetSink {
    fn write(&mut self, sample: &Sample) -> Result<(), RecordError> {
        self.waiting.push(sample.clone());
        Ok(())
    }

    fn flush(&mut self) -> Result<(), RecordError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let failed = |error: TableError| RecordError::table(&self.path, error);
        let table = table(&self.layout, &std::mem::take(&mut self.waiting)).map_err(failed)?;
        write_file(&self.parts.join(format!("part-{:06}.parquet", self.count)), &table.to_bytes().map_err(failed)?)?;
        self.count += 1;
        self.writer.append(&table).map_err(failed)
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<PathBuf>, RecordError> {
        self.flush()?;
        let Self { path, parts, writer, .. } = *self;
        let file = writer.finish().map_err(|error| RecordError::table(&path, error))?;
        let end = || -> std::io::Result<()> {
            file.persist_new()?;
            std::fs::remove_dir_all(&parts)
        };
        end().map_err(|error| RecordError::write(&path, &error))?;
        Ok(vec![path])
    }
}

/// Columns: `time_s`, `sensor`, `warnings`, the signals of the sensor, its images (empty if none is due), and the poses of the
/// bodies.
fn table(layout: &Layout, samples: &[Sample]) -> Result<Table, TableError> {
    let sensors = layout.sensors.len();
    let frames = layout.sensor_frames();
    let rows: Vec<(f64, usize, &Sample, Vec<Vec<f64>>)> = samples
        .iter()
        .flat_map(|sample| {
            let all = values(sample);
            (0..sensors).map(move |i| (sample.time_s, i, sample, all.clone()))
        })
        .collect();
    let mut table = Table::new()
        .column("time_s", Values::F64(rows.iter().map(|row| row.0).collect()))?
        .column("sensor", Values::Text(rows.iter().map(|row| frames[row.1].clone()).collect()))?
        .column("warnings", Values::Text(rows.iter().map(|row| row.2.sensors[row.1].warnings.join("; ")).collect()))?;
    for (place, name) in OF_SENSOR.into_iter().enumerate() {
        let of_row =
            |(_, sensor, _, all): &(f64, usize, &Sample, Vec<Vec<f64>>)| all[first_of(layout, *sensor) + place].clone();
        let each: Vec<Vec<f64>> = rows.iter().map(of_row).collect();
        table = match name {
            "sum_n" => table.column(name, Values::F64(each.concat()))?,
            "saturated" => table.column(name, Values::I64(whole(&each.concat())))?,
            "raw" => table.lists(name, each.iter().map(Vec::len).collect(), Values::I64(whole(&each.concat())))?,
            _ => table.lists(name, each.iter().map(Vec::len).collect(), Values::F64(each.concat()))?,
        };
    }
    if layout.sensors.iter().any(|sensor| sensor.chips > 0) {
        let each: Vec<Vec<f64>> = rows.iter().map(|row| microtesla(&row.2.sensors[row.1].reading)).collect();
        table = table.lists(MAGNETIC, each.iter().map(Vec::len).collect(), Values::F64(each.concat()))?;
    }
    for name in ["camera", "tactile"] {
        let (mut bytes, mut paths) = (Vec::new(), Vec::new());
        for (time_s, sensor, sample, _) in &rows {
            let image = sample.sensors[*sensor].images().find(|(known, _)| *known == name);
            bytes.push(image.map(|(_, image)| image.encode_png_fast()).unwrap_or_default());
            let path = |_| format!("{}-{name}-{time_s:.6}.png", frames[*sensor]);
            paths.push(image.map(path).unwrap_or_default());
        }
        table = table.images(name, bytes, paths)?;
    }
    for (body, frame) in layout.body_frames().iter().enumerate() {
        for (place, (name, width)) in OF_BODY.into_iter().zip([3, 4]).enumerate() {
            let at = first_of(layout, sensors) + body * OF_BODY.len() + place;
            let each: Vec<f64> = rows.iter().flat_map(|row| row.3[at].iter().copied()).collect();
            table = table.list(format!("{frame}/{name}"), &[width], Values::F64(each))?;
        }
    }
    Ok(table)
}

fn whole(values: &[f64]) -> Vec<i64> {
    values.iter().map(|value| *value as i64).collect()
}
