//! The rule by which parts of a description replace those of another; used by scenes, data sets, Python, MuJoCo and the
//! command line.
//!
//! - A table is merged entry by entry; any other value replaces the old one.
//! - A key with dots leads into nested tables: `skin.stiffness` is `stiffness` of `skin`.
//! - A whole number as a key leads to an item of a list, from 0: `response.faults.stuck.1.force`.
//! - A table of another `kind` replaces the whole table, because the old keys would be invalid.
//! - Of alternative keys, such as `stiffness` and `stiffness_per_area`, a new one removes the old ones.
//! - A `skin` with only another `kind` is converted by [`SensorSpec::with_skin`].

use crate::plain_message::plain;
use crate::{SensorError, SensorSpec, SkinKind};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Groups of alternative keys of a skin.
const ONE_OF: [&[&str]; 3] = [
    &["stiffness", "stiffness_per_area", "force_table", "pressure_table"],
    &["damping", "damping_per_area"],
    &["poisson", "incompressible"],
];

/// An entry that cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: {reason}")]
pub struct BadEntry {
    /// Its key, with dots.
    pub key: String,
    /// The rule that it breaks.
    pub reason: String,
}

impl BadEntry {
    /// The error of the description of `sensor`, in which the entry is inside `key`.
    pub fn of_sensor(self, sensor: &str, key: &str) -> SensorError {
        SensorError::Override { sensor: sensor.to_owned(), key: join(key, &self.key), reason: self.reason }
    }
}

/// Merges `changes` into `base` by the rule of this module. On failure, `base` may contain a part of the changes.
pub fn merge(base: &mut Map<String, Value>, changes: &Map<String, Value>) -> Result<(), BadEntry> {
    merge_at("", base, &nested(changes)?)
}

/// The key of an entry of the table at `path`.
fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn merge_at(path: &str, base: &mut Map<String, Value>, changes: &Map<String, Value>) -> Result<(), BadEntry> {
    if changes.get("kind").is_some_and(|kind| base.get("kind") != Some(kind)) {
        base.clone_from(changes);
        return Ok(());
    }
    for group in ONE_OF {
        if group.iter().any(|key| changes.contains_key(*key)) {
            base.retain(|key, _| !group.contains(&key.as_str()));
        }
    }
    for (key, change) in changes {
        match base.get_mut(key) {
            Some(old) => merge_value(&join(path, key), old, change)?,
            None => _ = base.insert(key.clone(), change.clone()),
        }
    }
    Ok(())
}

fn merge_value(path: &str, old: &mut Value, change: &Value) -> Result<(), BadEntry> {
    match (old, change) {
        (Value::Object(old), Value::Object(change)) => merge_at(path, old, change),
        (Value::Array(items), Value::Object(change)) if by_index(change) => {
            let count = items.len();
            for (index, change) in change {
                let path = join(path, index);
                let none = || BadEntry { key: path.clone(), reason: no_item(count) };
                let item = index.parse::<usize>().ok().and_then(|index| items.get_mut(index)).ok_or_else(none)?;
                merge_value(&path, item, change)?;
            }
            Ok(())
        }
        (old, change) => {
            old.clone_from(change);
            Ok(())
        }
    }
}

/// True for a table whose keys are places in a list.
fn by_index(table: &Map<String, Value>) -> bool {
    let whole = |key: &String| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit());
    !table.is_empty() && table.keys().all(whole)
}

fn no_item(count: usize) -> String {
    match count {
        0 => "there is no such item: the list is empty; write the whole list".to_owned(),
        1 => "there is no such item: the list has one, 0".to_owned(),
        _ => format!("there is no such item: the list has {count}, 0 to {}", count - 1),
    }
}

/// The same table without dots in keys. Refuses an entry that is given twice.
fn nested(table: &Map<String, Value>) -> Result<Map<String, Value>, BadEntry> {
    let mut all = Map::new();
    table.iter().try_for_each(|(key, value)| insert("", &mut all, key, value))?;
    Ok(all)
}

/// Inserts an entry whose key may have dots into the table at `path`.
fn insert(path: &str, table: &mut Map<String, Value>, key: &str, value: &Value) -> Result<(), BadEntry> {
    let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    let path = join(path, first);
    let twice = BadEntry { key: path.clone(), reason: "is given twice".to_owned() };
    if rest.is_none() && !value.is_object() {
        return match table.insert(first.to_owned(), value.clone()) {
            Some(_) => Err(twice),
            None => Ok(()),
        };
    }
    let entry = table.entry(first).or_insert_with(|| Value::Object(Map::new()));
    let Value::Object(inside) = entry else { return Err(twice) };
    match (rest, value) {
        (Some(rest), value) => insert(&path, inside, rest, value),
        (None, Value::Object(entries)) => entries.iter().try_for_each(|(key, value)| insert(&path, inside, key, value)),
        (None, _) => Err(twice),
    }
}

/// Reads a description, or a part of one, from a table. Errors name `sensor`, `key` and the path of the invalid entry.
pub fn from_table<T: DeserializeOwned>(sensor: &str, key: &str, table: &Map<String, Value>) -> Result<T, SensorError> {
    merged(sensor, key, &Map::new(), table)
}

impl SensorSpec {
    /// The description with the entries of `changes` applied, such as
    /// `{"skin": {"stiffness": "1000 N/m"}, "surface.grid.rows": 40}`.
    pub fn with_overrides(&self, changes: &Map<String, Value>) -> Result<Self, SensorError> {
        let changes = &nested(changes).map_err(|bad| bad.of_sensor(&self.name, ""))?;
        let only_kind = |skin: &Map<String, Value>| match skin.get("kind") {
            Some(Value::String(kind)) if skin.len() == 1 => kind.parse::<SkinKind>().ok(),
            _ => None,
        };
        if let Some(kind) = changes.get("skin").and_then(Value::as_object).and_then(only_kind) {
            let rest =
                changes.iter().filter(|(key, _)| *key != "skin").map(|(key, value)| (key.clone(), value.clone()));
            return self.with_skin(kind)?.with_overrides(&rest.collect());
        }
        if changes.is_empty() {
            return Ok(self.clone());
        }
        merged(&self.name, "", &table(self), changes)
    }
}

fn table(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(table)) => table,
        _ => Map::new(),
    }
}

/// Reads `base` with `changes`. On failure, finds the invalid entry by making one change at a time: first every single
/// entry, then every table.
fn merged<T: DeserializeOwned>(
    sensor: &str,
    key: &str,
    base: &Map<String, Value>,
    changes: &Map<String, Value>,
) -> Result<T, SensorError> {
    let changes = &nested(changes).map_err(|bad| bad.of_sensor(sensor, key))?;
    merge_at("", &mut base.clone(), changes).map_err(|bad| bad.of_sensor(sensor, key))?;
    let with = |changes: &Map<String, Value>| {
        let mut table = base.clone();
        merge_at("", &mut table, changes).map_err(|bad| bad.reason)?;
        serde_json::from_value::<T>(Value::Object(table)).map_err(|error| plain(&error.to_string()))
    };
    with(changes).map_err(|all| {
        // A single entry of a table of another kind lacks the table's other entries, which is not an error of the
        // entry.
        let wrong = |change: &_| with(change).err().filter(|reason| !reason.starts_with("missing field"));
        let entry = leaves("", changes).into_iter().find_map(|(path, change)| Some((path, wrong(&change)?)));
        let table = || {
            changes.iter().find_map(|(key, value)| {
                let change = Map::from_iter([(key.clone(), value.clone())]);
                Some((key.clone(), with(&change).err()?)).filter(|_| !base.is_empty())
            })
        };
        let (path, reason) = entry.or_else(table).unwrap_or_else(|| (String::new(), all));
        let key = if path.is_empty() { key.to_owned() } else { join(key, &path) };
        SensorError::Override { sensor: sensor.to_owned(), key, reason }
    })
}

/// Every single entry of nested tables, with its path; each entry is accompanied by the `kind` of its table.
fn leaves(path: &str, table: &Map<String, Value>) -> Vec<(String, Map<String, Value>)> {
    let kind = table.get("kind").map(|kind| ("kind".to_owned(), kind.clone()));
    let mut entries: Vec<(&String, &Value)> = table.iter().collect();
    // An invalid kind makes all entries beside it look invalid.
    entries.sort_by_key(|(key, _)| *key != "kind");
    let leaf = |(key, value): (&String, &Value)| {
        let path = join(path, key);
        let wrap = |value| Map::from_iter(kind.clone().into_iter().chain([(key.clone(), value)]));
        match value {
            Value::Object(inner) => {
                leaves(&path, inner).into_iter().map(|(path, leaf)| (path, wrap(Value::Object(leaf)))).collect()
            }
            _ => vec![(path, wrap(value.clone()))],
        }
    };
    entries.into_iter().flat_map(leaf).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets;

    fn changed(preset: &str, changes: Value) -> Result<SensorSpec, SensorError> {
        presets::find(preset)?.with_overrides(changes.as_object().unwrap())
    }

    #[test]
    fn entries_replace_entries_and_the_rest_stays() {
        let spec = presets::find("uji-foam-14x6").unwrap();
        let other =
            changed("uji-foam-14x6", serde_json::json!({ "skin": { "friction": { "mu_static": 0.5 } } })).unwrap();
        let text = spec.to_toml().replace("mu_static = 0.435", "mu_static = 0.5");
        assert_ne!(text, spec.to_toml());
        assert_eq!(other.to_toml(), text);
    }

    #[test]
    fn an_alternative_key_removes_the_others() {
        let spec =
            changed("uji-foam-14x6", serde_json::json!({ "skin": { "stiffness_per_area": "4 MPa/m" } })).unwrap();
        assert!(spec.build(None).is_ok());
        assert!(spec.to_toml().contains("stiffness_per_area") && !spec.to_toml().contains("stiffness = "));
        let layer = serde_json::json!({ "skin": { "incompressible": true } });
        assert!(changed("gelsight", layer).unwrap().build(None).is_ok());
    }

    #[test]
    fn a_kind_alone_converts_the_skin() {
        for kind in [SkinKind::Hydroelastic, SkinKind::Layer, SkinKind::Gel, SkinKind::Imprint] {
            let spec =
                changed("wts0614", serde_json::json!({ "skin": { "kind": kind }, "contact_points": 1 })).unwrap();
            assert_eq!(spec.skin, presets::find("wts0614").unwrap().with_skin(kind).unwrap().skin);
            assert_eq!((spec.skin.kind(), spec.contact_points), (kind, Some(1)));
        }
    }

    #[test]
    fn the_entry_at_fault_is_named() {
        let message = |changes| changed("wts0614", changes).unwrap_err().to_string();
        let wrong_unit =
            message(serde_json::json!({ "skin": { "friction": { "sigma0": "2 N" } }, "contact_points": 2 }));
        assert!(wrong_unit.contains("`skin.friction.sigma0`") && wrong_unit.contains("2 N"), "{wrong_unit}");
        let unknown = message(serde_json::json!({ "skin": { "stifness": "2 N/m" } }));
        assert!(unknown.contains("`skin.stifness`"), "{unknown}");
        let lacks = message(serde_json::json!({ "skin": { "kind": "layer", "young": "1 MPa" } }));
        assert!(lacks.contains("`skin`") && lacks.contains("thickness"), "{lacks}");
        let kind = message(serde_json::json!({ "skin": { "kind": "sponge" } }));
        assert!(kind.contains("`skin.kind`") && kind.contains("sponge"), "{kind}");
        let whole = from_table::<SensorSpec>("pad", "", &Map::new()).unwrap_err().to_string();
        assert!(whole.contains("name"), "{whole}");
    }

    /// Every entry of every preset can be written as one dotted key, items of lists by their index.
    #[test]
    fn dotted_keys_reach_every_entry_of_every_preset() {
        fn entries(path: &str, value: &Value, all: &mut Vec<(String, Value)>) {
            match value {
                Value::Object(table) => table.iter().for_each(|(key, value)| entries(&join(path, key), value, all)),
                Value::Array(items) if !items.is_empty() => {
                    for i in [0, items.len() - 1] {
                        entries(&join(path, &i.to_string()), &items[i], all);
                    }
                }
                value => all.push((path.to_owned(), value.clone())),
            }
        }
        let mut in_lists = 0;
        for name in presets::names() {
            let spec = presets::find(name).unwrap();
            let mut all = Vec::new();
            entries("", &Value::Object(table(&spec)), &mut all);
            for (key, value) in all {
                in_lists += usize::from(key.split('.').any(|part| part.parse::<usize>().is_ok()));
                let same = spec.with_overrides(&Map::from_iter([(key.clone(), value)]));
                assert_eq!(same.map_err(|error| error.to_string()).as_ref(), Ok(&spec), "{name}: {key}");
            }
        }
        assert!(in_lists > 10, "{in_lists}");
    }

    #[test]
    fn dotted_keys_equal_nested_tables() {
        let dotted = serde_json::json!({ "skin.friction.mu_static": 0.5, "skin": { "stiffness": "1 N/mm" } });
        let nested = serde_json::json!({ "skin": { "friction": { "mu_static": 0.5 }, "stiffness": "1 N/mm" } });
        let both = [dotted, nested].map(|changes| changed("uji-foam-14x6", changes).unwrap());
        assert_eq!(both[0], both[1]);
        let kind = changed("wts0614", serde_json::json!({ "skin.kind": "layer" })).unwrap();
        assert_eq!(kind.skin, presets::find("wts0614").unwrap().with_skin(SkinKind::Layer).unwrap().skin);
    }

    #[test]
    fn an_entry_that_is_given_twice_is_refused() {
        for changes in [
            serde_json::json!({ "skin.stiffness": "1 N/mm", "skin": { "stiffness": "2 N/mm" } }),
            serde_json::json!({ "skin.friction": 0.5, "skin.friction.mu_static": 0.5 }),
        ] {
            let message = changed("uji-foam-14x6", changes).unwrap_err().to_string();
            assert!(message.contains("is given twice"), "{message}");
        }
    }

    #[test]
    fn items_of_lists_are_changed_by_index() {
        let mut base = serde_json::json!({ "bodies": [{ "name": "a" }, { "name": "b", "at": [1, 2] }] });
        let base = base.as_object_mut().unwrap();
        let set = |base: &mut _, key: &str, value: Value| merge(base, &Map::from_iter([(key.to_owned(), value)]));
        set(base, "bodies.1.at.0", 7.into()).unwrap();
        set(base, "bodies.0.name", "c".into()).unwrap();
        assert_eq!(
            Value::Object(base.clone()),
            serde_json::json!({ "bodies": [{ "name": "c" }, { "name": "b", "at": [7, 2] }] })
        );
        let message = set(base, "bodies.2.name", "d".into()).unwrap_err().to_string();
        assert_eq!(message, "`bodies.2`: there is no such item: the list has 2, 0 to 1");
        set(base, "bodies", serde_json::json!([])).unwrap();
        assert!(set(base, "bodies.0.name", "d".into()).unwrap_err().to_string().contains("the list is empty"));
    }

    #[test]
    fn items_of_lists_of_a_sensor_are_named_in_errors() {
        let stuck = |changes| changed("uji-foam-14x6", changes).map_err(|error| error.to_string());
        let list = serde_json::json!([{ "taxel": 3, "force": "1 N" }]);
        let spec = stuck(serde_json::json!({ "response.faults": { "stuck": list } })).unwrap();
        let one = |key: &str, value: Value| spec.with_overrides(&Map::from_iter([(key.to_owned(), value)]));
        assert!(one("response.faults.stuck.0.taxel", 4.into()).unwrap().to_toml().contains("taxel = 4"));
        let wrong = one("response.faults.stuck.0.force", "1 m".into()).unwrap_err().to_string();
        assert!(wrong.contains("`response.faults.stuck.0.force`"), "{wrong}");
        let none = one("response.faults.stuck.1.taxel", 4.into()).unwrap_err().to_string();
        assert!(none.contains("`response.faults.stuck.1`") && none.contains("the list has one, 0"), "{none}");
        let absent = stuck(serde_json::json!({ "response.faults.stuck.0.taxel": 4 })).unwrap_err();
        assert!(absent.contains("`response.faults.stuck"), "{absent}");
    }
}
