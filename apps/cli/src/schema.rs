//! `dermis schema`: the JSON Schema of a kind of file, or its reference page.

mod page;

use clap::ValueEnum;
use dermis::dataset::DatasetSpec;
use dermis::scene::SceneSpec;
use dermis::schema::schema;
use dermis::sensor::SensorSpec;
use dermis_research::validate::real::RealSpec;
use dermis_research::{experiments, report::claims::Claims};
use serde_json::Value;

/// Print the JSON Schema of a kind of file, with which editors complete and check it.
///
/// In an editor with Taplo (Even Better TOML), start the file with `#:schema ./sensor.schema.json`.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  dermis schema sensor > sensor.schema.json")]
pub struct Arguments {
    /// The kind of file.
    #[arg(value_enum)]
    file: File,
    /// Print the reference page (Markdown) instead: key, type, unit, default and meaning.
    #[arg(long)]
    markdown: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum File {
    /// A sensor, for `--sensor FILE`.
    Sensor,
    /// A scene, for `dermis run`.
    Scene,
    /// A data set, for `dermis dataset`.
    Dataset,
    /// The expected results of an experiment (`expected.toml`).
    Experiment,
    /// The claims of the papers (`claims.toml`).
    Claims,
    /// Measurements of a real sensor, for `dermis validate real` (`dataset.toml`).
    Real,
}

impl File {
    fn schema(self) -> Value {
        match self {
            Self::Sensor => schema::<SensorSpec>("Sensor"),
            Self::Scene => schema::<SceneSpec>("Scene"),
            Self::Dataset => schema::<DatasetSpec>("Data set"),
            Self::Experiment => experiments::schema(),
            Self::Claims => schema::<Claims>("Claims"),
            Self::Real => schema::<RealSpec>("Real data set"),
        }
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let schema = arguments.file.schema();
    let text = match arguments.markdown {
        true => page::write(&schema),
        false => serde_json::to_string_pretty(&schema)?,
    };
    crate::console::say_document(text.trim_end());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn committed(name: &str) -> String {
        let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference")).join(name);
        std::fs::read_to_string(&path).unwrap_or_default()
    }

    #[test]
    fn reference_pages_and_schemas_in_the_repository_are_up_to_date() {
        for file in File::value_variants() {
            let (name, schema) = (file.to_possible_value().unwrap(), file.schema());
            let remedy = "is stale: run `cargo xtask docs`";
            let json = serde_json::to_string_pretty(&schema).unwrap() + "\n";
            let name = name.get_name();
            assert!(committed(&format!("{name}.schema.json")) == json, "{name}.schema.json {remedy}");
            assert!(committed(&format!("{name}.md")) == page::write(&schema), "{name}.md {remedy}");
        }
    }

    /// Calls `visit` with the path and the schema of every key.
    fn every_key(path: &str, schema: &Value, visit: &mut impl FnMut(&str, &Value)) {
        match schema {
            Value::Object(entries) => {
                for (key, entry) in entries {
                    let path = format!("{path}/{key}");
                    if key == "properties" {
                        entry.as_object().into_iter().flatten().for_each(|(key, entry)| {
                            visit(&format!("{path}/{key}"), entry);
                        });
                    }
                    every_key(&path, entry, visit);
                }
            }
            Value::Array(entries) => entries.iter().for_each(|entry| every_key(path, entry, visit)),
            _ => {}
        }
    }

    #[test]
    fn every_key_has_a_description_without_rust_links() {
        for file in File::value_variants() {
            let schema = file.schema();
            let mut keys = 0;
            every_key("", &schema, &mut |path, key| {
                let text = key.get("description").and_then(Value::as_str).unwrap_or_default();
                assert!(text.len() > 2 && !text.contains("[`") && !text.contains("::"), "{path}: {text:?}");
                keys += 1;
            });
            assert!(keys > 5, "{keys}");
        }
    }

    /// Every table refuses keys that it does not have.
    #[test]
    fn tables_are_closed() {
        fn check(path: &str, schema: &Value) {
            match schema {
                Value::Object(entries) => {
                    if entries.contains_key("properties") && entries.contains_key("type") {
                        assert_eq!(entries.get("additionalProperties"), Some(&Value::Bool(false)), "{path}");
                    }
                    entries.iter().for_each(|(key, entry)| check(&format!("{path}/{key}"), entry));
                }
                Value::Array(entries) => entries.iter().for_each(|entry| check(path, entry)),
                _ => {}
            }
        }
        File::value_variants().iter().for_each(|file| check("", &file.schema()));
    }
}
