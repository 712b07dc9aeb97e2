//! The status of each environment: faults of its inputs and exceeded limits, kept until it is reset.

use crate::GpuError;
use dermis_skin::Warning;

/// A pose or a velocity is not finite.
pub const NOT_FINITE: u32 = 1;
/// A quaternion does not have length 1, or a matrix is no rotation.
pub const NOT_A_ROTATION: u32 = 2;
/// The object is farther than 1,000 km from the sensor, or a body is faster than 10⁶ m/s or rad/s.
pub const OUT_OF_RANGE: u32 = 4;
/// A contact was deeper than the skin allows; its load is a lower bound.
pub const SATURATED: u32 = 8;
/// The skin could not be solved.
pub const FAILED: u32 = 16;
/// The index of an object's shape is not in the list.
pub const NO_SUCH_OBJECT: u32 = 32;
/// The history is not the one that the caller knows of ([`super::Environments::follow`]).
pub const OTHER_HISTORY: u32 = 64;
/// A contact surface has more polygons than the memory of its bristles holds: those of the others start without a history.
pub const BRISTLES_FULL: u32 = 128;

/// The bits of faults: in such a step the environment had no contact, or that of another history.
const FAULTS: [(u32, &str); 7] = [
    (NOT_FINITE, "a pose or a velocity is not finite"),
    (
        NOT_A_ROTATION,
        "a rotation is none: its quaternion must have length 1, its matrix columns of length 1 at right angles",
    ),
    (OUT_OF_RANGE, "the object is more than 1,000 km from the sensor, or a body is faster than 1e6 m/s or rad/s"),
    (NO_SUCH_OBJECT, "the index of its object is not in the list of objects"),
    (FAILED, "the skin could not be solved"),
    (
        OTHER_HISTORY,
        "its number of steps is not that of its history: a state was used twice, or a later one was dropped",
    ),
    (
        BRISTLES_FULL,
        "its contact surface has more polygons than `max_polygons`, for which the bristles of LuGre friction have memory",
    ),
];

/// The error for environments with faults, naming the first of them. `failure`: the message of a skin.
pub(super) fn faults(status: &[u32], failure: Option<&str>) -> Result<(), GpuError> {
    let bits = FAULTS.iter().fold(0, |all, (bit, _)| all | bit);
    let mut bad = status.iter().enumerate().filter(|(_, status)| *status & bits != 0);
    let Some((first, status)) = bad.next() else { return Ok(()) };
    let why =
        FAULTS.iter().filter(|(bit, _)| status & bit != 0).map(|(_, why)| *why).collect::<Vec<_>>().join(", and ");
    let others = match bad.count() {
        0 => String::new(),
        others => format!(" ({others} others have faults too)"),
    };
    let detail = failure.filter(|_| status & FAILED != 0).map_or(String::new(), |text| format!(": {text}"));
    let is_wrong = *status & bits & !(OTHER_HISTORY | BRISTLES_FULL) == 0;
    let effect = if is_wrong { "its readings are wrong" } else { "it had no contact in that step" };
    let reason = format!("environment {first}{others}: {why}{detail}; {effect}. reset() clears the status");
    Err(GpuError::BadInput { reason })
}

/// The warning about contacts beyond the range of the skin.
pub(super) fn saturation(status: &[u32]) -> Option<String> {
    let mut beyond = status.iter().enumerate().filter(|(_, status)| *status & SATURATED != 0).map(|(i, _)| i);
    let first = beyond.next()?;
    let all = 1 + beyond.count();
    Some(format!(
        "contacts in {all} environments exceed the maximum penetration, first in environment {first}: their loads are lower bounds"
    ))
}

/// The warning of a skin about the last step of every environment: that of the first that has one.
pub(super) fn skin_warning<'a>(all: impl IntoIterator<Item = &'a Vec<Warning>>) -> Option<String> {
    let mut warned = all.into_iter().enumerate().filter_map(|(i, warnings)| warnings.first().map(|first| (i, first)));
    let (first, warning) = warned.next()?;
    let others = match warned.count() {
        0 => String::new(),
        others => format!(" ({others} others have warnings too)"),
    };
    Some(format!("environment {first}{others}, in the last step: {warning}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A surface with too many polygons has a contact, but a wrong history; an invalid pose has none.
    #[test]
    fn faults_say_what_they_did() {
        let text = |status: &[u32]| faults(status, None).unwrap_err().to_string();
        let full = text(&[0, BRISTLES_FULL, 0]);
        assert!(full.contains("environment 1:") && full.contains("`max_polygons`"), "{full}");
        assert!(full.contains("its readings are wrong"), "{full}");
        assert!(text(&[BRISTLES_FULL | NOT_FINITE]).contains("it had no contact in that step"));
        assert!(faults(&[SATURATED], None).is_ok());
    }
}
