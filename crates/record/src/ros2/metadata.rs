//! `metadata.yaml` of a bag.

use crate::mcap::McapWriter;
use std::fmt::Write;

/// The description of a bag of one file, in version 5, which ROS 2 reads from Humble on.
pub fn of(writer: &McapWriter) -> String {
    let (first, last) = writer.times_ns();
    let times = |indent: &str| {
        format!(
            "{indent}duration:\n{indent}  nanoseconds: {}\n{indent}starting_time:\n{indent}  nanoseconds_since_epoch: {first}\n",
            last - first
        )
    };
    let count: u64 = writer.counts().iter().sum();
    let mut text = format!(
        "rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: mcap\n{}  message_count: {count}\n  topics_with_message_count:\n",
        times("  ")
    );
    for (channel, count) in writer.channels().iter().zip(writer.counts()) {
        let kind = channel.schema.map_or("", |schema| &writer.schemas()[schema].name);
        // Writing to a text succeeds.
        let _ = write!(
            text,
            "    - topic_metadata:\n        name: {}\n        type: {kind}\n        serialization_format: {}\n        offered_qos_profiles: \"\"\n      message_count: {count}\n",
            channel.topic, channel.encoding
        );
    }
    // A text of JSON is one of YAML.
    let file = serde_json::Value::from(writer.path().file_name().unwrap_or_default().to_string_lossy());
    let _ = write!(
        text,
        "  compression_format: \"\"\n  compression_mode: \"\"\n  relative_file_paths:\n    - {file}\n  files:\n    - path: {file}\n{}      message_count: {count}\n",
        times("      ")
    );
    text
}
