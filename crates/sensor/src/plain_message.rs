//! Messages of serde as sentences for people who have not seen the code.

use crate::did_you_mean;

/// The message without names of types, with a suggestion for a misspelt key.
pub(crate) fn plain(message: &str) -> String {
    let message = message.lines().collect::<Vec<_>>().join(" ");
    if message.starts_with("wanted exactly 1 element") {
        return "this table must have exactly one entry".to_owned();
    }
    let message = numbers(counted(&untyped(&message)));
    let meant = for_unknown_key(&message);
    message + &meant
}

/// Words of serde before the name of a type, and those for its value in a file.
const TYPES: [(&str, &str); 4] = [
    ("expected internally tagged enum ", "expected a table with a kind"),
    ("expected tuple struct ", "expected an array"),
    ("expected struct ", "expected a table"),
    ("expected enum ", "expected a name"),
];

/// Names of the other types at the end of a message, and those for their values in a file.
const VALUES: [(&str, &str); 12] = [
    ("usize", "a whole number of 0 or more"),
    ("u64", "a whole number of 0 or more"),
    ("u32", "a whole number of 0 or more"),
    ("u16", "a whole number of 0 or more"),
    ("u8", "a whole number from 0 to 255"),
    ("i64", "a whole number"),
    ("i32", "a whole number"),
    ("f64", "a number"),
    ("f32", "a number"),
    ("a boolean", "true or false"),
    ("a sequence", "an array"),
    ("a map", "a table"),
];

/// Replaces what a value should be: "expected usize" becomes "expected a whole number of 0 or more".
fn numbers(message: String) -> String {
    let found = VALUES.iter().find_map(|(kind, words)| {
        let before = message.strip_suffix(kind)?.strip_suffix("expected ")?;
        Some(format!("{before}expected {words}"))
    });
    found.unwrap_or(message)
}

/// Replaces the name of a type: "expected struct Camera with 3 elements" becomes "expected a table".
fn untyped(message: &str) -> String {
    let Some((before, after, words)) =
        TYPES.iter().find_map(|(mark, words)| message.split_once(mark).map(|(before, after)| (before, after, words)))
    else {
        return message.to_owned();
    };
    let rest = after.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    let rest = if rest.starts_with(" with ") { "" } else { rest };
    format!("{before}{words}{rest}")
}

/// "invalid length 2, expected a table" becomes "expected a table, got an array of 2".
fn counted(message: &str) -> String {
    match message.strip_prefix("invalid length ").and_then(|rest| rest.split_once(", ")) {
        Some((length, expected)) => format!("{expected}, got an array of {length}"),
        None => message.to_owned(),
    }
}

/// The suggestion for a message about an unknown key or variant: "unknown field `radus`, expected `radius` or `edge`".
fn for_unknown_key(message: &str) -> String {
    if !message.contains("unknown field") && !message.contains("unknown variant") {
        return String::new();
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    quoted.next().map_or(String::new(), |given| did_you_mean(given, quoted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_type_of_the_program_is_named() {
        for (message, expected) in [
            ("invalid length 2, expected struct RotateSpec with 3 elements", "expected a table, got an array of 2"),
            ("invalid type: integer `3`, expected struct Camera", "invalid type: integer `3`, expected a table"),
            (
                "invalid type: string \"x\", expected internally tagged enum SkinSpec",
                "invalid type: string \"x\", expected a table with a kind",
            ),
            ("invalid length 2, expected an array of length 3", "expected an array of length 3, got an array of 2"),
            (
                "invalid value: integer `-3`, expected usize",
                "invalid value: integer `-3`, expected a whole number of 0 or more",
            ),
            ("invalid type: string \"2\", expected f64", "invalid type: string \"2\", expected a number"),
            ("invalid type: integer `3`, expected a sequence", "invalid type: integer `3`, expected an array"),
            ("missing field `x`", "missing field `x`"),
        ] {
            assert_eq!(plain(message), expected);
        }
    }

    #[test]
    fn a_misspelt_key_is_answered_with_the_nearest() {
        let message = "unknown field `stifness`, expected one of `stiffness`, `damping`";
        assert_eq!(plain(message), format!("{message}; did you mean \"stiffness\"?"));
    }
}
