//! Reads bench data from CSV files: `presses.csv` and `creep.csv` in the format of `dermis characterise`.

use crate::depth_unit;
use crate::table::{Column, Names, RISE, Table};
use dermis::sensor::Sensor;
use dermis::sensor::characterise::{CreepRow, PressRow};
use std::path::Path;

/// The one column of depth that a bench writes.
const DEPTH_MM: Names = &[("depth_mm", 1e-3)];

/// Presses, and a doubt about the unit of their depths on a sensor.
pub struct Presses {
    /// The rows.
    pub rows: Vec<PressRow>,
    /// What is doubtful about them.
    pub warnings: Vec<String>,
}

/// Reads presses on a sensor: one row per reading, with the counts of all taxels (`raw_0_counts`, `raw_1_counts`, …) and, if they were
/// recorded, the time without load before it (`rest_s`) and the temperature above the reference (`rise_K`).
pub fn read_presses(path: &Path, sensor: &Sensor) -> anyhow::Result<Presses> {
    let table = Table::read(path)?;
    let rows = rows(&table)?;
    let depths_m: Vec<f64> = rows.iter().map(|row| row.depth_m).collect();
    let doubt = depth_unit::doubt(&table, ("depth", DEPTH_MM), &depths_m, Some(sensor.skin().max_depth_m()))?;
    Ok(Presses { rows, warnings: doubt.into_iter().collect() })
}

fn rows(table: &Table) -> anyhow::Result<Vec<PressRow>> {
    let column = |name| table.column(name);
    let (taxel, press, held) = (column("taxel")?, column("press")?, column("held_s")?);
    let (depth, force) = (column("depth_mm")?, column("force_N")?);
    let rises = table.optional_values("temperature above the reference", RISE)?;
    let rests = table.optional_times("rest_s")?;
    let mut raw = Vec::new();
    while let Ok(column) = table.column(&format!("raw_{}_counts", raw.len())) {
        raw.push(column);
    }
    if raw.is_empty() {
        table.column("raw_0_counts")?;
    }
    (0..table.len())
        .map(|row| {
            Ok(PressRow {
                taxel: table.whole(row, &taxel)?,
                press: table.whole(row, &press)?,
                rest_s: rests.as_ref().map(|rests| rests[row]),
                held_s: table.number(row, &held)?,
                depth_m: table.number(row, &depth)? * 1e-3,
                force_newton: table.number(row, &force)?,
                rise_kelvin: rises.as_ref().map(|rises| rises[row]),
                raw: raw
                    .iter()
                    .map(|column: &Column| Ok(table.whole(row, column)? as u32))
                    .collect::<anyhow::Result<_>>()?,
            })
        })
        .collect()
}

/// Reads creep: the counts of a taxel under a constant load.
pub fn read_creep(path: &Path) -> anyhow::Result<Vec<CreepRow>> {
    let table = Table::read(path)?;
    let column = |name| table.column(name);
    let (taxel, time) = (column("taxel")?, column("time_s")?);
    let (force, raw) = (column("force_N")?, column("raw_counts")?);
    (0..table.len())
        .map(|row| {
            Ok(CreepRow {
                taxel: table.whole(row, &taxel)?,
                time_s: table.number(row, &time)?,
                force_newton: table.number(row, &force)?,
                raw: table.whole(row, &raw)? as u32,
            })
        })
        .collect()
}
