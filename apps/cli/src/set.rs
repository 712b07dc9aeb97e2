//! The flag `--set` of commands that read a sensor or a scene.

use anyhow::Context;
use dermis::sensor::{SensorSpec, merge, parse_toml};
use serde_json::{Map, Value};

#[derive(clap::Args)]
pub struct SetArguments {
    /// Overrides an entry of the description, such as 'skin.stiffness = "2 N/mm"' or response.bits=8. A number is the place of an item in a
    /// list, from 0: the mass of the first body of a scene is body.0.mass=50g. Repeatable.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl SetArguments {
    /// The entries, in the order of the flags.
    pub fn changes(&self) -> anyhow::Result<Vec<Map<String, Value>>> {
        self.set.iter().map(|text| entry(text)).collect()
    }

    /// The description of a sensor with the entries.
    pub fn of_sensor(&self, spec: &SensorSpec) -> anyhow::Result<SensorSpec> {
        let mut all = Map::new();
        for change in self.changes()? {
            merge(&mut all, &change).context("--set")?;
        }
        Ok(spec.with_overrides(&all)?)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Entries from texts.
    #[cfg(test)]
    pub fn of(set: &[&str]) -> Self {
        Self { set: set.iter().map(|text| (*text).to_owned()).collect() }
    }
}

/// Parses an entry as TOML; a value that is not valid TOML is read as text, so quotes are optional.
fn entry(text: &str) -> anyhow::Result<Map<String, Value>> {
    let (key, value) = text.split_once('=').with_context(|| format!("--set {text:?}: write KEY=VALUE"))?;
    let quoted = format!("{key} = {}", Value::from(value.trim()));
    Ok(parse_toml("--set", text).or_else(|_| parse_toml("--set", &quoted))?)
}
