//! Errors of responses.

/// An invalid response, or invalid input to one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum ResponseError {
    /// A number that violates its constraint.
    #[error("`{key}` must be {rule}, got {got}")]
    Bad { key: &'static str, rule: &'static str, got: f64 },
    /// A list whose length does not match the sensor.
    #[error("`{key}` lists {got} taxels and the sensor has {expected}; give one value for all or one for each")]
    Length { key: &'static str, got: usize, expected: usize },
    /// A taxel index out of range.
    #[error("`{key}` names taxel {taxel}, and the sensor's taxels are 0 to {last}")]
    NoSuchTaxel { key: &'static str, taxel: usize, last: usize },
    /// A taxel with two faults.
    #[error("taxel {taxel} has two entries in `faults.dead` and `faults.stuck`, and can only have one")]
    TwoFaults { taxel: usize },
    /// A stage that requires a grid.
    #[error("`{key}` needs taxels in rows and columns, and this sensor has none; {remedy}")]
    NeedsGrid { key: &'static str, remedy: &'static str },
    /// A state or values of another sensor.
    #[error("the {what} holds {got} numbers and this response needs {expected}; start from its own `rest()`")]
    Mismatch { what: &'static str, got: usize, expected: usize },
    /// A state with numbers that no response returns.
    #[error("the state of the response has a number that is not finite; start from its own `rest()`")]
    DamagedState,
}

/// Returns an error for a number that is not finite or violates a constraint.
pub(crate) fn require(holds: bool, key: &'static str, rule: &'static str, got: f64) -> Result<(), ResponseError> {
    if holds && got.is_finite() { Ok(()) } else { Err(ResponseError::Bad { key, rule, got }) }
}
