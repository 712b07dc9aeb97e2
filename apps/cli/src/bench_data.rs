//! What a bench measured, real or virtual, from CSV files: `presses.csv` and `creep.csv` as `dermis characterise` writes
//! them.

use crate::table::{Table, TableError};
use dermis::sensor::characterise::{CreepRow, PressRow};
use std::path::Path;

/// The columns of presses before the counts of every taxel.
const PRESS: [&str; 5] = ["taxel", "press", "held_s", "depth_mm", "force_N"];
/// The columns of creep.
const CREEP: [&str; 4] = ["taxel", "time_s", "force_N", "raw_counts"];

/// Reads presses: one row per reading, with the counts of all taxels (`raw_0_counts`, `raw_1_counts`, …).
pub fn read_presses(path: &Path) -> Result<Vec<PressRow>, TableError> {
    let table = Table::read(path)?;
    let fixed = PRESS.map(|name| table.column(name));
    let [taxel, press, held, depth, force] =
        [fixed[0].clone()?, fixed[1].clone()?, fixed[2].clone()?, fixed[3].clone()?, fixed[4].clone()?];
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
                raw: raw
                    .iter()
                    .map(|column| Ok(table.whole(row, column)? as u32))
                    .collect::<Result<_, TableError>>()?,
            })
        })
        .collect()
}

/// Reads creep: the counts of a taxel under a load that stays.
pub fn read_creep(path: &Path) -> Result<Vec<CreepRow>, TableError> {
    let table = Table::read(path)?;
    let fixed = CREEP.map(|name| table.column(name));
    let [taxel, time, force, raw] = [fixed[0].clone()?, fixed[1].clone()?, fixed[2].clone()?, fixed[3].clone()?];
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
