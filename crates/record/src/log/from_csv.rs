//! Reads CSV: a column `time_s`, and a number in every other column.

use super::{Log, LogBuilder};
use crate::{RecordError, plain_name};
use dermis_geometry::limits::MAX_TABLE_BYTES;
use dermis_geometry::regular_file;
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

/// Reads a file. The owner of the signals follows from the file name (`readings-pad.csv`: `pad`), unless the column
/// names contain it (`pad/sum_n`). A name that starts with `/` has no owner.
pub fn read(path: &Path) -> Result<Log, RecordError> {
    let failed =
        |reason: String| RecordError::Damaged { path: path.display().to_string(), what: "table of times", reason };
    let file = regular_file::open(path, MAX_TABLE_BYTES).map_err(|error| RecordError::read(path, &error))?;
    let mut reader =
        csv::ReaderBuilder::new().comment(Some(b'#')).trim(csv::Trim::All).from_reader(file.take(MAX_TABLE_BYTES));
    let header: Vec<String> =
        reader.headers().map_err(|error| failed(error.to_string()))?.iter().map(str::to_owned).collect();
    let time = header.iter().position(|name| name == "time_s").ok_or_else(|| {
        failed(format!(
            "its header has no `time_s`, it is `{}`",
            header.iter().take(8).cloned().collect::<Vec<_>>().join(",")
        ))
    })?;
    let body = header.iter().position(|name| name == "body");
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let owner = plain_name(stem.trim_start_matches("readings-"));
    let columns = Columns::of(&header, &[Some(time), body]);
    let mut log = LogBuilder::default();
    for (i, record) in reader.records().enumerate() {
        let record = record.map_err(|error| failed(error.to_string()))?;
        let line = record.position().map_or(i as u64 + 2, csv::Position::line);
        let number = |column: usize| {
            let text = record.get(column).unwrap_or_default();
            if text.is_empty() {
                return Ok(f64::NAN);
            }
            let refuse = |_| failed(format!("line {line}, column `{}`: {text:?} is no number", header[column]));
            text.parse::<f64>().map_err(refuse)
        };
        let time_s = number(time)?;
        if !time_s.is_finite() {
            return Err(failed(format!("line {line}: there is no time")));
        }
        let owner = body.and_then(|body| record.get(body)).map_or_else(|| owner.clone(), plain_name);
        for (name, members) in &columns.0 {
            // A signal without numbers at this time has empty cells.
            if members.iter().all(|member| record.get(*member).is_none_or(str::is_empty)) {
                continue;
            }
            let row: Vec<f64> = members.iter().map(|member| number(*member)).collect::<Result<_, _>>()?;
            let full = match name.strip_prefix('/') {
                Some(name) => name.to_owned(),
                None if name.contains('/') => name.clone(),
                None => format!("{owner}/{name}"),
            };
            log.push(&full, time_s, &row);
        }
    }
    Ok(log.finish())
}

/// Signals and their columns.
struct Columns(Vec<(String, Vec<usize>)>);

impl Columns {
    /// Groups the columns of one vector: `name.0`, `name.1` …, and the columns that `dermis run` writes.
    fn of(header: &[String], left_out: &[Option<usize>]) -> Self {
        let mut signals: Vec<(String, Vec<usize>)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (i, column) in header.iter().enumerate().filter(|(i, _)| !left_out.contains(&Some(*i))) {
            let taxel = column.strip_prefix('t').and_then(|rest| rest.strip_suffix("_n"));
            let name = match column.as_str() {
                "fx_n" | "fy_n" | "fz_n" => "force_n",
                "tx_nm" | "ty_nm" | "tz_nm" => "torque_nm",
                "vx_m_per_s" | "vy_m_per_s" | "vz_m_per_s" => "velocity_m_per_s",
                "wx_rad_per_s" | "wy_rad_per_s" | "wz_rad_per_s" => "spin_rad_per_s",
                "x_m" | "y_m" | "z_m" => "position_m",
                "qw" | "qx" | "qy" | "qz" => "orientation_wxyz",
                _ if taxel.is_some_and(|number| number.parse::<usize>().is_ok()) => "taxels_n",
                _ => match column.rsplit_once('.') {
                    Some((name, place)) if is_place(place) => name,
                    _ => column,
                },
            };
            let place = *places.entry(name.to_owned()).or_insert(signals.len());
            match signals.get_mut(place) {
                Some((_, members)) => members.push(i),
                None => signals.push((name.to_owned(), vec![i])),
            }
        }
        Self(signals)
    }
}

fn is_place(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The column name of a number of a signal, so that reading it gives the signal's name again.
pub fn column_name(signal: &str, width: usize, place: usize) -> String {
    let has_owner = signal.contains('/') && !signal.starts_with(|c: char| c == '/' || c.is_whitespace());
    let start = if has_owner { "" } else { "/" };
    let is_plain =
        !signal.ends_with(char::is_whitespace) && !signal.rsplit_once('.').is_some_and(|(_, end)| is_place(end));
    if width == 1 && is_plain { format!("{start}{signal}") } else { format!("{start}{signal}.{place}") }
}
