//! The JSON Schema of the tables that override parts of a sensor.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;
use std::borrow::Cow;
use std::marker::PhantomData;

/// Any part of a table of type `T`: the schema of `T` without required keys and defaults, at every level.
pub(crate) struct Part<T>(PhantomData<T>);

/// Ending of the names of these schemas.
const PART: &str = "Part";

impl<T: JsonSchema> JsonSchema for Part<T> {
    fn schema_name() -> Cow<'static, str> {
        (T::schema_name().into_owned() + PART).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator).to_value();
        relax(&mut schema, generator);
        Schema::try_from(schema).unwrap_or_default()
    }
}

/// Removes what a part may leave out, and refers to parts instead of whole tables.
fn relax(schema: &mut Value, generator: &mut SchemaGenerator) {
    match schema {
        Value::Object(entries) => {
            entries.remove("required");
            entries.remove("default");
            // An empty table is a part of several variants.
            if let Some(variants) = entries.remove("oneOf") {
                entries.insert("anyOf".to_owned(), variants);
            }
            if let Some(Value::String(reference)) = entries.get_mut("$ref")
                && let Some(name) = reference.rsplit('/').next().map(|name| name.to_owned() + PART)
                && let Some(mut whole) = generator.definitions().get(name.trim_end_matches(PART)).cloned()
                && whole.to_string().contains("\"properties\"")
            {
                reference.push_str(PART);
                relax(&mut whole, generator);
                generator.definitions_mut().insert(name, whole);
            }
            entries.values_mut().for_each(|entry| relax(entry, generator));
        }
        Value::Array(entries) => entries.iter_mut().for_each(|entry| relax(entry, generator)),
        _ => {}
    }
}
