//! Writes MCAP files.

use super::bytes::ByteWriter;
use super::footer_file::FooterFile;
use super::{Channel, MAGIC, Schema, op};
use crate::RecordError;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

const COMPRESSION: &str = "lz4";
/// Size (bytes) at which a chunk is closed without a flush.
const CHUNK_BYTES: usize = 4 << 20;

/// A growing MCAP file that is complete after each [`McapWriter::flush`].
pub struct McapWriter {
    file: FooterFile,
    schemas: Vec<Schema>,
    channels: Vec<Channel>,
    /// Records of the current chunk.
    chunk: Vec<u8>,
    /// Time and offset of the messages in the chunk, by channel.
    index: BTreeMap<u16, Vec<(u64, u64)>>,
    chunk_times: Option<(u64, u64)>,
    /// The index records of all chunks written so far.
    chunk_indices: Vec<u8>,
    metadata_index: Vec<u8>,
    chunks: u32,
    counts: Vec<u64>,
    times: Option<(u64, u64)>,
}

impl McapWriter {
    /// Creates a complete file without messages. All channels must be given here. `metadata` is stored under the name
    /// `dermis`.
    pub fn create(
        path: &Path,
        profile: &str,
        schemas: Vec<Schema>,
        channels: Vec<Channel>,
        metadata: &[(String, String)],
    ) -> Result<Self, RecordError> {
        let library = concat!("dermis ", env!("CARGO_PKG_VERSION"));
        let mut head = MAGIC.to_vec();
        head.extend(ByteWriter::new().text(profile).text(library).record(op::HEADER));
        let metadata = ByteWriter::new().text("dermis").texts(metadata).record(op::METADATA);
        let (at, length) = (head.len() as u64, metadata.len() as u64);
        head.extend(metadata);
        let metadata_index = ByteWriter::new().u64(at).u64(length).text("dermis").record(op::METADATA_INDEX);
        let counts = vec![0; channels.len()];
        let mut writer = Self {
            file: FooterFile::new(path, head),
            schemas,
            channels,
            chunk: Vec::new(),
            index: BTreeMap::new(),
            chunk_times: None,
            chunk_indices: Vec::new(),
            metadata_index,
            chunks: 0,
            counts,
            times: None,
        };
        let end = writer.end(writer.file.len());
        writer.file.place(&end)?;
        Ok(writer)
    }

    /// Adds a message to a channel, given by its index; times (ns) must not decrease.
    pub fn add(&mut self, channel: usize, time_ns: u64, data: &[u8]) -> Result<(), RecordError> {
        if self.chunks == 0 && self.chunk.is_empty() {
            // The first chunk declares all channels, for readers that stream the file.
            self.chunk = self.descriptions();
        }
        let id = channel as u16;
        let sequence = self.counts[channel] as u32;
        self.index.entry(id).or_default().push((time_ns, self.chunk.len() as u64));
        let message = ByteWriter::new().u16(id).u32(sequence).u64(time_ns).u64(time_ns).raw(data).record(op::MESSAGE);
        self.chunk.extend(message);
        self.counts[channel] += 1;
        self.chunk_times = Some(widened(self.chunk_times, time_ns));
        self.times = Some(widened(self.times, time_ns));
        if self.chunk.len() > CHUNK_BYTES { self.flush() } else { Ok(()) }
    }

    /// Writes the buffered messages and leaves a complete file.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        if self.index.is_empty() {
            return Ok(());
        }
        let start = self.file.len();
        let (first, last) = self.chunk_times.take().unwrap_or_default();
        let packed = packed(&self.chunk);
        let sizes = (packed.len() as u64, self.chunk.len() as u64);
        let head =
            ByteWriter::new().u64(first).u64(last).u64(sizes.1).u32(crc32fast::hash(&self.chunk)).text(COMPRESSION);
        let mut bytes = head.u64(sizes.0).raw(&packed).record(op::CHUNK);
        let chunk_length = bytes.len() as u64;
        let mut places = ByteWriter::new();
        for (channel, messages) in std::mem::take(&mut self.index) {
            places = places.u16(channel).u64(start + bytes.len() as u64);
            let inside = messages.iter().fold(ByteWriter::new(), |put, (time, at)| put.u64(*time).u64(*at));
            bytes.extend(ByteWriter::new().u16(channel).block(&inside.bytes()).record(op::MESSAGE_INDEX));
        }
        let about = ByteWriter::new().u64(first).u64(last).u64(start).u64(chunk_length).block(&places.bytes());
        let about = about.u64(bytes.len() as u64 - chunk_length).text(COMPRESSION).u64(sizes.0).u64(sizes.1);
        self.chunk_indices.extend(about.record(op::CHUNK_INDEX));
        self.chunks += 1;
        self.chunk.clear();
        let end = self.end(start + bytes.len() as u64);
        self.file.append(&bytes, &end)
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The schemas.
    pub fn schemas(&self) -> &[Schema] {
        &self.schemas
    }

    /// The channels.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// Number of messages of each channel.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The first and the last time (ns).
    pub fn times_ns(&self) -> (u64, u64) {
        self.times.unwrap_or_default()
    }

    /// Ends the file and returns its path.
    pub fn finish(mut self) -> Result<PathBuf, RecordError> {
        self.flush()?;
        self.file.finish()
    }

    fn descriptions(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (i, Schema { name, encoding, data }) in self.schemas.iter().enumerate() {
            bytes.extend(ByteWriter::new().u16(i as u16 + 1).text(name).text(encoding).block(data).record(op::SCHEMA));
        }
        for (i, channel) in self.channels.iter().enumerate() {
            let schema = channel.schema.map_or(0, |schema| schema as u16 + 1);
            let put = ByteWriter::new().u16(i as u16).u16(schema).text(&channel.topic).text(&channel.encoding);
            bytes.extend(put.texts(&channel.metadata).record(op::CHANNEL));
        }
        bytes
    }

    /// Summary and footer for data that end at offset `at`.
    fn end(&self, at: u64) -> Vec<u8> {
        let mut bytes = ByteWriter::new().u32(0).record(op::DATA_END);
        let summary_at = bytes.len();
        bytes.extend(self.descriptions());
        let (first, last) = self.times.unwrap_or_default();
        let counts = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let counts = counts.fold(ByteWriter::new(), |put, (channel, count)| put.u16(channel as u16).u64(*count));
        let statistics = ByteWriter::new()
            .u64(self.counts.iter().sum())
            .u16(self.schemas.len() as u16)
            .u32(self.channels.len() as u32)
            .u32(0)
            .u32(1)
            .u32(self.chunks)
            .u64(first)
            .u64(last)
            .block(&counts.bytes());
        bytes.extend(statistics.record(op::STATISTICS));
        bytes.extend(&self.metadata_index);
        bytes.extend(&self.chunk_indices);
        let footer = ByteWriter::new().u64(at + summary_at as u64).u64(0).u32(0).record(op::FOOTER);
        // The checksum covers the summary and the footer up to the checksum itself.
        bytes.extend(&footer[..footer.len() - 4]);
        let sum = crc32fast::hash(&bytes[summary_at..]);
        bytes.extend(sum.to_le_bytes());
        bytes.extend(MAGIC);
        bytes
    }
}

fn widened(times: Option<(u64, u64)>, time_ns: u64) -> (u64, u64) {
    times.map_or((time_ns, time_ns), |(first, last)| (first.min(time_ns), last.max(time_ns)))
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
    let written = encoder.write_all(bytes);
    debug_assert!(written.is_ok(), "memory takes everything");
    encoder.finish().unwrap_or_default()
}
