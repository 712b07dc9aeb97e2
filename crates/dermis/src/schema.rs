//! JSON Schemas (draft 2020-12) of the files that users write.
//!
//! The types that read a file declare its keys, defaults and descriptions; [`schema`] converts them for editors,
//! validators and the reference pages. A quantity is a string whose `x-unit` lists its units.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// The schema of a type. TOML has no null, so that an optional key is a key that may be absent.
pub fn schema<T: JsonSchema>(title: &str) -> Value {
    let mut root = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut root);
    if let Value::Object(entries) = &mut root {
        entries.insert("title".to_owned(), title.into());
        prune(entries);
    }
    root
}

/// Removes null and formats that no validator knows, and describes the key of a variant as the variant.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(entries) => {
            entries.values_mut().for_each(tidy);
            // Keys of a file may have the names of keywords, with a schema instead of a text.
            entries.retain(|key, value| !(key == "format" && value.is_string() || value.is_null()));
            remove_null(entries);
            if let Some(Value::String(text)) = entries.get_mut("description") {
                *text = plain(text);
            }
            describe_variants(entries);
        }
        Value::Array(entries) => entries.iter_mut().for_each(tidy),
        _ => {}
    }
}

fn remove_null(entries: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = entries.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            entries.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(forms)) = entries.get_mut("anyOf") {
        forms.retain(|form| form.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(only)] = forms.as_slice() {
            let only = only.clone();
            entries.remove("anyOf");
            only.into_iter().for_each(|(key, value)| {
                entries.entry(key).or_insert(value);
            });
        }
    }
}

/// Gives the key that selects a variant (`kind`, or the only key of its table) the description of the variant.
fn describe_variants(entries: &mut Map<String, Value>) {
    for key in ["oneOf", "anyOf"] {
        for variant in entries.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(text) = variant.get("description").cloned() else { continue };
            let Some(keys) = variant.get_mut("properties").and_then(Value::as_object_mut) else { continue };
            let alone = keys.len() == 1;
            for key in keys.values_mut().filter_map(Value::as_object_mut) {
                if alone || key.contains_key("const") {
                    key.entry("description").or_insert_with(|| text.clone());
                }
            }
        }
    }
}

/// The text of a doc comment without links between Rust items, one line per paragraph.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, (item, after))) =
        rest.split_once("[`").and_then(|(before, link)| Some((before, link.split_once("`]")?)))
    {
        plain.push_str(before);
        // A link in parentheses is for readers of the Rust documentation.
        match (plain.strip_suffix(" (").map(str::len), after.strip_prefix(')')) {
            (Some(end), Some(after)) => {
                plain.truncate(end);
                rest = after;
            }
            _ => {
                plain.push_str(&format!("`{item}`"));
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    let unwrapped = |paragraph: &str| paragraph.replace('\n', " ");
    let outside_code = |part: &str| match part.trim_matches('\n') {
        "" => part.to_owned(),
        text => part.replace(text, &text.split("\n\n").map(unwrapped).collect::<Vec<_>>().join("\n\n")),
    };
    let parts = plain.split("```").enumerate();
    parts.map(|(i, part)| if i % 2 == 0 { outside_code(part) } else { part.to_owned() }).collect::<Vec<_>>().join("```")
}

/// Removes definitions that nothing refers to.
fn prune(root: &mut Map<String, Value>) {
    loop {
        let text = Value::Object(root.clone()).to_string();
        let Some(Value::Object(definitions)) = root.get_mut("$defs") else { return };
        let before = definitions.len();
        definitions.retain(|name, _| text.contains(&format!("\"#/$defs/{name}\"")));
        if definitions.len() == before {
            return;
        }
    }
}
