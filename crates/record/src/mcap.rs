//! MCAP files: messages of many channels in one file, in the order of their times.
//!
//! The container is ours because it must be whole at every sample: each [`McapWriter::flush`] leaves a file with its index and its end, and the next
//! one goes on over that end. The layout is that of the public specification, version 0.

mod bytes;
mod footer_file;
mod reader;
mod writer;

pub use reader::{McapLog, McapMessage};
pub use writer::McapWriter;

/// How a file starts and ends.
const MAGIC: &[u8; 8] = b"\x89MCAP0\r\n";

/// Kinds of records.
mod op {
    pub const HEADER: u8 = 0x01;
    pub const FOOTER: u8 = 0x02;
    pub const SCHEMA: u8 = 0x03;
    pub const CHANNEL: u8 = 0x04;
    pub const MESSAGE: u8 = 0x05;
    pub const CHUNK: u8 = 0x06;
    pub const MESSAGE_INDEX: u8 = 0x07;
    pub const CHUNK_INDEX: u8 = 0x08;
    pub const STATISTICS: u8 = 0x0b;
    pub const METADATA: u8 = 0x0c;
    pub const METADATA_INDEX: u8 = 0x0d;
    pub const DATA_END: u8 = 0x0f;
}

/// What the messages of a channel look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// Its name, such as `foxglove.CompressedImage`.
    pub name: String,
    /// How `data` is written, such as `jsonschema`.
    pub encoding: String,
    /// The schema itself.
    pub data: Vec<u8>,
}

/// A stream of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Its name, such as `/pad/wrench`.
    pub topic: String,
    /// How messages are written, such as `json` or `cdr`.
    pub encoding: String,
    /// Which schema they follow, by its place; none for messages that say what they are themselves.
    pub schema: Option<usize>,
    /// Anything else.
    pub metadata: Vec<(String, String)>,
}

#[cfg(test)]
mod tests;
