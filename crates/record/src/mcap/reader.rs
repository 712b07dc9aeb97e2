//! Reads MCAP files, including truncated ones.

use super::bytes::ByteReader;
use super::{Channel, MAGIC, McapWriter, Schema, op};
use crate::RecordError;
use dermis_geometry::limits::MAX_RECORDING_BYTES;
use dermis_geometry::limits::{MAX_MCAP_BYTES, MAX_MCAP_CHUNK_BYTES, MAX_MCAP_RATIO};
use dermis_geometry::regular_file;
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
    /// The damaged places that were skipped, in sentences.
    pub damaged: Vec<String>,
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
        let bytes = regular_file::read(path, MAX_RECORDING_BYTES).map_err(|error| RecordError::read(path, &error))?;
        let (name, count) = (path.display().to_string(), bytes.len());
        let truncated = || RecordError::Truncated { path: name.clone(), bytes: count };
        match Self::parse(&bytes) {
            Some(log) if log.cut && log.messages.is_empty() => Err(truncated()),
            Some(log) => Ok(log),
            None if begins(&bytes) => Err(truncated()),
            None => Err(RecordError::Damaged {
                path: name.clone(),
                what: "MCAP file",
                reason: format!("its {count} bytes do not start as one"),
            }),
        }
    }

    /// Parses the bytes of a file; `None` if they are not MCAP. Skips damaged chunks.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut rest = ByteReader(bytes.strip_prefix(MAGIC)?);
        let (kind, header) = rest.record()?;
        if kind != op::HEADER {
            return None;
        }
        let mut log = Self { profile: ByteReader(header).text()?, cut: true, ..Self::default() };
        let mut ids = Ids::default();
        let mut budget = MAX_MCAP_BYTES.saturating_add(MAX_MCAP_RATIO.saturating_mul(bytes.len()));
        let summary = log.summary(&mut ids, bytes);
        loop {
            let at = bytes.len() - rest.0.len();
            let Some((kind, content)) = rest.record().filter(|(kind, _)| *kind != 0) else {
                // The length of a record is damaged: continues at the next chunk that the index lists.
                let Some(chunks) = &summary else { break };
                log.damaged.push(format!("the record at byte {at} is damaged and was skipped"));
                let Some(next) = chunks.iter().find(|start| **start > at) else {
                    log.cut = false;
                    break;
                };
                rest = ByteReader(&bytes[*next..]);
                continue;
            };
            match kind {
                op::DATA_END => {
                    log.cut = !bytes.ends_with(MAGIC);
                    break;
                }
                op::CHUNK => {
                    if let Err(reason) = log.take_chunk(&mut ids, content, &mut budget) {
                        log.damaged.push(format!("the chunk at byte {at} was skipped: {reason}"));
                    }
                }
                _ => {
                    if log.take(&mut ids, kind, content).is_none() {
                        log.damaged.push(format!("the record at byte {at} is damaged and was skipped"));
                    }
                }
            }
        }
        // A write that was cut short leaves a damaged chunk at the end: the file is truncated, not damaged.
        if log.cut {
            log.damaged.pop();
        }
        Some(log)
    }

    /// Reads schemas and channels from the end of the file, if it is complete; returns the offsets of the chunks.
    fn summary(&mut self, ids: &mut Ids, bytes: &[u8]) -> Option<Vec<usize>> {
        const FOOTER: usize = 1 + 8 + 20;
        let end = bytes.strip_suffix(MAGIC)?.len().checked_sub(FOOTER)?;
        let (kind, footer) = ByteReader(&bytes[end..]).record()?;
        let start = usize::try_from(ByteReader(footer).u64()?).ok().filter(|start| *start > 0 && kind == op::FOOTER)?;
        let mut rest = ByteReader(bytes.get(start..end)?);
        let mut chunks = Vec::new();
        while let Some((kind, content)) = rest.record() {
            match kind {
                op::SCHEMA | op::CHANNEL => self.take(ids, kind, content)?,
                op::CHUNK_INDEX => {
                    let mut take = ByteReader(content);
                    let (_first, _last, at) = (take.u64()?, take.u64()?, take.u64()?);
                    chunks.extend(usize::try_from(at).ok().filter(|at| *at < start));
                }
                _ => (),
            }
        }
        chunks.sort_unstable();
        Some(chunks)
    }

    /// Adds the records of a chunk; adds none if it is damaged.
    fn take_chunk(&mut self, ids: &mut Ids, content: &[u8], budget: &mut usize) -> Result<(), String> {
        let mut take = ByteReader(content);
        let mut parts = || {
            let (_first, _last, size, sum) = (take.u64()?, take.u64()?, take.u64()?, take.u32()?);
            let (compression, count) = (take.text()?, take.u64()?);
            Some((usize::try_from(size).ok()?, sum, compression, take.raw(usize::try_from(count).ok()?)?))
        };
        let (size, sum, compression, packed) = parts().ok_or("its header is damaged")?;
        let limit = size.min(MAX_MCAP_CHUNK_BYTES).min(*budget);
        let records = unpacked(&compression, packed, limit)?;
        *budget -= records.len().min(*budget);
        if sum != 0 && sum != crc32fast::hash(&records) {
            return Err("its checksum is wrong".into());
        }
        let mut inside = ByteReader(&records);
        let mut damaged = false;
        while let Some((kind, content)) = inside.record() {
            damaged |= kind != op::CHUNK && self.take(ids, kind, content).is_none();
        }
        if damaged || !inside.0.is_empty() {
            Err("a record in it is damaged; the others were read".into())
        } else {
            Ok(())
        }
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

/// Whether bytes are the beginning of a file, which ends before its header does.
fn begins(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(MAGIC) else { return MAGIC.starts_with(bytes) };
    rest.first().is_none_or(|kind| *kind == op::HEADER) && ByteReader(rest).record().is_none()
}

/// The records of a chunk, of at most `limit` bytes.
fn unpacked(compression: &str, bytes: &[u8], limit: usize) -> Result<Vec<u8>, String> {
    let mut records = Vec::new();
    let mut unpack = |reader: &mut dyn Read| reader.take(limit as u64 + 1).read_to_end(&mut records);
    match compression {
        "" => unpack(&mut &bytes[..]),
        "lz4" => unpack(&mut lz4_flex::frame::FrameDecoder::new(bytes)),
        "zstd" => match ruzstd::decoding::StreamingDecoder::new(bytes) {
            Ok(mut decoder) => unpack(&mut decoder),
            Err(error) => return Err(format!("it cannot be unpacked: {error}")),
        },
        other => return Err(format!("its compression {other:?} is unknown")),
    }
    .map_err(|error| format!("it cannot be unpacked: {error}"))?;
    if records.len() > limit {
        return Err(format!("it unpacks to more than {limit} bytes"));
    }
    Ok(records)
}
