//! Finds the entry that a reader refuses: readers of JSON values do not say where they stopped.

use serde_json::Value;

/// Keys of a table that are tried; the line of a larger table is its own.
const MAX_TRIED_KEYS: usize = 256;

/// The path (as a JSON pointer) of the entry that a reader refuses with `message`, found by trial.
///
/// Entries are read in order, `kind` first. Without a value, the entry itself and entries before it give another
/// message; those after it, the same. A key that is missing belongs to the table where it gives a message other than
/// "unknown"; a key that is unknown, to the table without which there is another message.
pub(super) fn path_of(root: &Value, message: &str, reads: &dyn Fn(Value) -> Option<String>) -> String {
    let with = |path: &str, change: &dyn Fn(&mut Value)| {
        let mut changed = root.clone();
        changed.pointer_mut(path).into_iter().for_each(change);
        reads(changed)
    };
    let missing = message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
    let lacks = |path: &str, key: &str| {
        let changed = with(path, &|table| {
            table.as_object_mut().into_iter().for_each(|table| drop(table.insert(key.to_owned(), Value::Null)));
        });
        changed.is_none_or(|new| new != message && !new.starts_with("unknown field"))
    };
    let unknown = message.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next());
    let is_surplus = |path: &str, key: &str| {
        let changed = with(path, &|table| {
            table.as_object_mut().into_iter().for_each(|table| drop(table.remove(key)));
        });
        // A table may need a key of the name that another does not know.
        changed.is_none_or(|new| new != message && new != format!("missing field `{key}`"))
    };
    let mut path = String::new();
    loop {
        if let Some(key) = unknown.filter(|key| is_surplus(&path, key)) {
            return format!("{path}/{}", escaped(key));
        }
        if missing.is_some_and(|key| lacks(&path, key)) {
            return path;
        }
        let refused =
            |child: &str| with(&format!("{path}/{child}"), &|value| *value = Value::Null).as_deref() != Some(message);
        let child = match root.pointer(&path) {
            Some(Value::Object(table)) if table.len() <= MAX_TRIED_KEYS => {
                let (tag, others): (Vec<&String>, Vec<_>) = table.keys().partition(|key| *key == "kind");
                let children = tag.into_iter().chain(others).map(|key| escaped(key));
                children.rev().find(|child| refused(child))
            }
            Some(Value::Array(entries)) => last_where(entries.len(), |entry| refused(&entry.to_string())),
            _ => None,
        };
        let Some(child) = child else { return path };
        path = format!("{path}/{child}");
    }
}

/// The last index below `count` where the condition holds, which holds up to there: by halving, because each trial reads the
/// whole file.
fn last_where(count: usize, holds: impl Fn(usize) -> bool) -> Option<String> {
    let (mut from, mut to) = (0, count);
    while from < to {
        let middle = from.midpoint(to);
        if holds(middle) { from = middle + 1 } else { to = middle }
    }
    from.checked_sub(1).map(|last| last.to_string())
}

/// A key as a part of a JSON pointer.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
