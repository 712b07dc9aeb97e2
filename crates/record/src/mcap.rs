//! MCAP files: messages of several channels in one file, in order of time.
//!
//! Each [`McapWriter::flush`] leaves a complete file with index and footer, and the next flush overwrites that footer;
//! the available crates do not support this. The layout follows the public specification, version 0.

mod bytes;
mod footer_file;
mod reader;
mod writer;

pub use reader::{McapLog, McapMessage};
pub use writer::McapWriter;

/// The magic bytes at both ends of a file.
const MAGIC: &[u8; 8] = b"\x89MCAP0\r\n";

/// Record types.
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

/// The schema of a channel's messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// Name of the schema, such as `foxglove.CompressedImage`.
    pub name: String,
    /// Encoding of `data`, such as `jsonschema`.
    pub encoding: String,
    /// The schema itself.
    pub data: Vec<u8>,
}

/// A stream of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Topic, such as `/pad/wrench`.
    pub topic: String,
    /// Encoding of the messages, such as `json` or `cdr`.
    pub encoding: String,
    /// Index of the schema; none for self-describing messages.
    pub schema: Option<usize>,
    /// Further key–value pairs.
    pub metadata: Vec<(String, String)>,
}

#[cfg(test)]
mod tests;
