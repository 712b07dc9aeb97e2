//! Reads MCAP files, including truncated ones.

use super::bytes::ByteReader;
use super::{Channel, MAGIC, McapWriter, Schema, op};
use crate::RecordError;
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The content of a file; a truncated file is read up to its end.
#[derive(Clone, Debug, Default)]
pub struct McapLog {
    /// Profile, such as `ros2`.
    pub profile: String,
    /// The schemas of the channels.
    pub schemas: Vec<Schema>,
    /// The channels.
    pub channels: Vec<Channel>,
    /// All messages, in the order of the file.
    pub messages: Vec<McapMessage>,
    /// Metadata of the writer.
    pub metadata: Vec<(String, String)>,
    /// Whether the file was truncated.
    pub cut: bool,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McapMessage {
    /// Index of the channel.
    pub channel: usize,
    /// Log time (ns).
    pub time_ns: u64,
    /// Encoded message.
    pub data: Vec<u8>,
}

/// Maps the ids of a file to indices.
#[derive(Default)]
struct Ids {
    schemas: HashMap<u16, usize>,
    channels: HashMap<u16, usize>,
}

impl McapLog {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        let bytes = std::fs::read(path).map_err(|error| RecordError::read(path, &error))?;
        Self::parse(&bytes).ok_or_else(|| RecordError::Damaged {
            path: path.display().to_string(),
            what: "MCAP file",
            reason: format!("its {} bytes do not start as one", bytes.len()),
        })
    }

    /// Parses the bytes of a file; `None` if they are not MCAP.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut rest = ByteReader(bytes.strip_prefix(MAGIC)?);
        let (kind, header) = rest.record()?;
        if kind != op::HEADER {
            return None;
        }
        let mut log = Self { profile: ByteReader(header).text()?, cut: true, ..Self::default() };
        let mut ids = Ids::default();
        while let Some((kind, content)) = rest.record() {
            if kind == op::DATA_END {
                log.cut = !bytes.ends_with(MAGIC);
                break;
            }
            if log.take(&mut ids, kind, content).is_none() {
                break;
            }
        }
        Some(log)
    }

    fn take(&mut self, ids: &mut Ids, kind: u8, content: &[u8]) -> Option<()> {
        let mut take = ByteReader(content);
        match kind {
            op::SCHEMA => {
                let id = take.u16()?;
                let schema = Schema { name: take.text()?, encoding: take.text()?, data: take.block()?.to_vec() };
                ids.schemas.entry(id).or_insert_with(|| {
                    self.schemas.push(schema);
                    self.schemas.len() - 1
                });
            }
            op::CHANNEL => {
                let (id, schema) = (take.u16()?, take.u16()?);
                let (topic, encoding, metadata) = (take.text()?, take.text()?, take.texts()?);
                let schema = ids.schemas.get(&schema).copied();
                ids.channels.entry(id).or_insert_with(|| {
                    self.channels.push(Channel { topic, encoding, schema, metadata });
                    self.channels.len() - 1
                });
            }
            op::MESSAGE => {
                let (id, _sequence, time_ns, _published) = (take.u16()?, take.u32()?, take.u64()?, take.u64()?);
                let channel = *ids.channels.get(&id)?;
                self.messages.push(McapMessage { channel, time_ns, data: take.0.to_vec() });
            }
            op::CHUNK => {
                let (_first, _last, size, sum, compression) =
                    (take.u64()?, take.u64()?, take.u64()?, take.u32()?, take.text()?);
                let count = take.u64()?;
                let records = unpacked(&compression, take.raw(usize::try_from(count).ok()?)?, size)?;
                if sum != 0 && sum != crc32fast::hash(&records) {
                    return None;
                }
                let mut inside = ByteReader(&records);
                while let Some((kind, content)) = inside.record() {
                    self.take(ids, kind, content)?;
                }
            }
            op::METADATA => {
                let _name = take.text()?;
                self.metadata.extend(take.texts()?);
            }
            _ => (),
        }
        Some(())
    }

    /// Writes the messages into a complete file.
    pub fn write(&self, path: &Path) -> Result<PathBuf, RecordError> {
        let mut writer =
            McapWriter::create(path, &self.profile, self.schemas.clone(), self.channels.clone(), &self.metadata)?;
        for message in &self.messages {
            writer.add(message.channel, message.time_ns, &message.data)?;
        }
        writer.finish()
    }
}

/// The records of a chunk; `None` if they are damaged or compressed by an unknown method.
fn unpacked(compression: &str, bytes: &[u8], size: u64) -> Option<Vec<u8>> {
    let mut records = Vec::with_capacity(usize::try_from(size).ok()?.min(1 << 26));
    match compression {
        "" => records.extend(bytes),
        "lz4" => drop(lz4_flex::frame::FrameDecoder::new(bytes).read_to_end(&mut records).ok()?),
        "zstd" => drop(ruzstd::decoding::StreamingDecoder::new(bytes).ok()?.read_to_end(&mut records).ok()?),
        _ => return None,
    }
    Some(records)
}
