//! Collects the messages of MCAP files and bags.

use super::{Log, LogBuilder, content};
use crate::RecordError;
use crate::mcap::Schema;
use crate::message::Value;
use crate::protobuf::Descriptors;
use crate::ros2::Definitions;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Decodes the messages of one channel.
pub enum Decoder {
    Json,
    Cdr(Definitions),
    Protobuf(Descriptors),
    /// The encoding, or the definition of the type, is unknown.
    Unknown,
}

impl Decoder {
    /// The decoder for an encoding of messages of a type, which is empty if the channel has none.
    pub fn of(encoding: &str, schema: &Schema) -> Self {
        match encoding {
            "json" => Self::Json,
            "cdr" => {
                let mut definitions = Definitions::default();
                if schema.encoding == "ros2msg" && !schema.data.is_empty() {
                    definitions.add(&schema.name, &String::from_utf8_lossy(&schema.data));
                }
                definitions.extend_standard();
                if definitions.know(&schema.name) { Self::Cdr(definitions) } else { Self::Unknown }
            }
            "protobuf" => {
                let descriptors = Descriptors::parse(&schema.data);
                if descriptors.know(&schema.name) { Self::Protobuf(descriptors) } else { Self::Unknown }
            }
            _ => Self::Unknown,
        }
    }

    fn decode(&self, kind: &str, data: &[u8]) -> Option<Value> {
        match self {
            // The parser limits the nesting.
            Self::Json => serde_json::from_slice::<serde_json::Value>(data).ok().map(Value::from),
            Self::Cdr(definitions) => definitions.decode(kind, data),
            Self::Protobuf(descriptors) => descriptors.decode(kind, data),
            Self::Unknown => None,
        }
    }
}

/// The messages read so far.
#[derive(Default)]
pub struct Messages {
    rows: LogBuilder,
    count: usize,
    /// Number of messages of unknown types, and of those that do not fit their type, by topic and type.
    unknown: BTreeMap<String, usize>,
    unfit: BTreeMap<String, usize>,
}

impl Messages {
    /// Adds a message of a topic and type at a time (ns).
    pub fn take(&mut self, topic: &str, kind: &str, decoder: &Decoder, time_ns: f64, data: &[u8]) {
        self.count += 1;
        let left_out = if let Decoder::Unknown = decoder { &mut self.unknown } else { &mut self.unfit };
        let taken = decoder
            .decode(kind, data)
            .and_then(|value| content::take(&mut self.rows, topic.trim_matches('/'), kind, time_ns * 1e-9, &value));
        if taken.is_none() {
            let kind = if kind.is_empty() { "no type" } else { kind };
            *left_out.entry(format!("{topic} ({kind})")).or_default() += 1;
        }
    }

    /// All content in order of time; `damaged` are the places that were skipped, in sentences.
    pub fn finish(self, paths: &[PathBuf], cut: bool, damaged: Vec<String>) -> Result<Log, RecordError> {
        let mut log = Log { cut, ..self.rows.finish() };
        if log.signals.is_empty() && log.images.is_empty() && self.count > 0 && damaged.is_empty() {
            let path = paths.first().map(|path| path.display().to_string()).unwrap_or_default();
            let topics: Vec<String> = self.unknown.into_keys().chain(self.unfit.into_keys()).collect();
            let found = if topics.is_empty() { "no numbers".to_owned() } else { topics.join(", ") };
            return Err(RecordError::Nothing { path, task: "read here", found });
        }
        log.damaged = damaged.len() + self.unfit.values().sum::<usize>();
        log.notes.splice(0..0, damaged);
        for (topic, count) in self.unfit {
            log.notes.push(format!("{count} messages of {topic} were skipped: they cannot be decoded"));
        }
        for (topic, count) in self.unknown {
            let why = "the type is not a standard one, and the file does not define it in a supported way";
            log.notes.push(format!("{count} messages of {topic} were left out: {why}"));
        }
        Ok(log)
    }
}
