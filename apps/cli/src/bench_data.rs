//! Reads bench data from CSV files: `presses.csv` and `creep.csv` in the format of `dermis characterise`.

use crate::table::{Column, RISE, Table};
use dermis::sensor::characterise::{CreepRow, PressRow};
use std::path::Path;

/// Reads presses: one row per reading, with the counts of all taxels (`raw_0_counts`, `raw_1_counts`, …) and,
/// if it was measured, the temperature above the reference (`rise_K`).
pub fn read_presses(path: &Path) -> anyhow::Result<Vec<PressRow>> {
    let table = Table::read(path)?;
    let column = |name| table.column(name);
    let (taxel, press, held) = (column("taxel")?, column("press")?, column("held_s")?);
    let (depth, force) = (column("depth_mm")?, column("force_N")?);
    let rises = table.optional_values("temperature above the reference", RISE)?;
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
