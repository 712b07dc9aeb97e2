//! Reads MCAP files.

use super::Log;
use super::messages::{Decoder, Messages};
use crate::RecordError;
use crate::mcap::{McapLog, Schema};
use std::path::PathBuf;

/// Reads consecutive files, such as those of a split bag.
pub fn read(paths: &[PathBuf]) -> Result<Log, RecordError> {
    let (mut messages, mut cut, mut damaged) = (Messages::default(), false, Vec::new());
    let no_schema = Schema { name: String::new(), encoding: String::new(), data: Vec::new() };
    for path in paths {
        let file = match McapLog::read(path) {
            // The last part of a bag, which has just begun.
            Err(RecordError::Truncated { .. }) if paths.len() > 1 => {
                cut = true;
                continue;
            }
            file => file?,
        };
        let schemas: Vec<&Schema> = file
            .channels
            .iter()
            .map(|channel| channel.schema.map_or(&no_schema, |schema| &file.schemas[schema]))
            .collect();
        let decoders: Vec<Decoder> = file
            .channels
            .iter()
            .zip(&schemas)
            .map(|(channel, schema)| Decoder::of(&channel.encoding, schema))
            .collect();
        for message in &file.messages {
            let (at, time_ns) = (message.channel, message.time_ns as f64);
            messages.take(&file.channels[at].topic, &schemas[at].name, &decoders[at], time_ns, &message.data);
        }
        cut |= file.cut;
        damaged.extend(file.damaged);
    }
    messages.finish(paths, cut, damaged)
}
