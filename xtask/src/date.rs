//! Dates, as in the names of logs.

use std::time::{SystemTime, UNIX_EPOCH};

/// Today's date (UTC).
pub fn today() -> String {
    let days = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400);
    date(days as i64)
}

/// The date of a day, counted from 1970-01-01 (Hinnant, "chrono-compatible low-level date algorithms").
fn date(days: i64) -> String {
    let z = days + 719_468;
    let (era, day_of_era) = (z.div_euclid(146_097), z.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!([0, 59, 19_782, 20_773].map(date), ["1970-01-01", "1970-03-01", "2024-02-29", "2026-11-16"]);
    }
}
