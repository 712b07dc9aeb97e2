//! Doubts about the unit of the depths of a table.

use crate::console::short;
use crate::table::{Names, Table};

/// Largest depths (m) of presses on a skin that is not known, from the hardest to the thickest.
const PLAUSIBLE_M: [f64; 2] = [10e-6, 0.2];
/// Largest depths of presses on a known skin, by the depth to which it can be pressed.
const OF_SKIN: [f64; 2] = [1e-3, 10.0];
/// Largest depths (m) of ordinary presses, among which the meant unit is looked for.
const ORDINARY_M: [f64; 2] = [0.05e-3, 50e-3];

/// A sentence about depths (m) of a column that are far below or beyond those of presses on a skin which can be pressed to
/// `max_m`: the column and its largest depth, and the unit that would be ordinary.
pub fn doubt(
    table: &Table,
    what: (&str, Names),
    depths_m: &[f64],
    max_m: Option<f64>,
) -> anyhow::Result<Option<String>> {
    let column = table.name(what.0, what.1)?;
    let largest_m = depths_m.iter().copied().fold(0.0, f64::max);
    let [least_m, most_m] = max_m.map_or(PLAUSIBLE_M, |max_m| OF_SKIN.map(|part| part * max_m));
    if largest_m <= 0.0 || (least_m..=most_m).contains(&largest_m) {
        return Ok(None);
    }
    let size = |name: &str| what.1.iter().find(|(other, _)| *other == name).map_or(1.0, |(_, size)| *size);
    let quantity = column.rsplit_once('_').map_or("depth", |(quantity, _)| quantity);
    let value = largest_m / size(&column);
    let units = [("metres", "m", 1.0), ("millimetres", "mm", 1e-3), ("micrometres", "um", 1e-6)];
    let is_meant = |unit: &&(&str, &str, f64)| (ORDINARY_M[0]..=ORDINARY_M[1]).contains(&(value * unit.2));
    let meant = units.iter().find(is_meant).map_or_else(
        || "check their unit".to_owned(),
        |(name, unit, factor)| {
            let known = format!("{quantity}_{unit}");
            if what.1.iter().any(|(other, _)| *other == known) {
                format!("are they in {name}? Then name the column `{known}`")
            } else {
                format!("are they in {name}? Then multiply them by {}", short(factor / size(&column)))
            }
        },
    );
    let against = match max_m {
        Some(max_m) => format!("the sensor can be pressed to {} mm", short(max_m * 1e3)),
        None if largest_m < least_m => "less than a press can be measured to".to_owned(),
        None => "more than skins are thick".to_owned(),
    };
    Ok(Some(format!("column `{column}`: the largest depth is {} mm, {against}: {meant}", short(largest_m * 1e3))))
}
