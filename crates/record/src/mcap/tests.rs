use super::*;

fn written(folder: &std::path::Path, messages: usize) -> std::path::PathBuf {
    let schema = Schema { name: "a.B".into(), encoding: "jsonschema".into(), data: b"{}".to_vec() };
    let channel =
        |topic: &str, schema| Channel { topic: topic.into(), encoding: "json".into(), schema, metadata: vec![] };
    let channels = vec![channel("/a", Some(0)), channel("/b", None)];
    let path = folder.join("x.mcap");
    let metadata = [("scene".to_owned(), "s".to_owned())];
    let mut writer = McapWriter::create(&path, "p", vec![schema], channels, &metadata).unwrap();
    for i in 0..messages {
        writer.add(i % 2, i as u64 * 1000, format!("{{\"i\":{i}}}").as_bytes()).unwrap();
        if i % 10 == 9 {
            writer.flush().unwrap();
            let log = McapLog::read(&path).unwrap();
            assert!(!log.cut && log.messages.len() == i + 1, "after message {i}");
        }
    }
    writer.finish().unwrap()
}

#[test]
fn what_is_written_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let log = McapLog::read(&written(folder.path(), 55)).unwrap();
    assert_eq!((log.profile.as_str(), log.messages.len(), log.cut), ("p", 55, false));
    assert_eq!(log.channels[0].topic, "/a");
    assert_eq!((log.channels[0].schema, log.channels[1].schema), (Some(0), None));
    assert_eq!(log.schemas[0].data, b"{}");
    assert_eq!(log.metadata, [("scene".to_owned(), "s".to_owned())]);
    assert_eq!(log.messages[54], McapMessage { channel: 0, time_ns: 54_000, data: b"{\"i\":54}".to_vec() });
    let again = McapLog::read(&log.write(&folder.path().join("y.mcap")).unwrap()).unwrap();
    assert_eq!((again.messages, again.channels, again.metadata), (log.messages, log.channels, log.metadata));
}

/// A file truncated at any byte gives every message of the chunks before the cut, and no others.
#[test]
fn a_file_is_read_up_to_where_it_was_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), 55);
    let bytes = std::fs::read(&path).unwrap();
    let whole = McapLog::parse(&bytes).unwrap();
    let mut counts = Vec::new();
    for length in 0..bytes.len() {
        let Some(log) = McapLog::parse(&bytes[..length]) else {
            assert!(length < 100);
            continue;
        };
        assert_eq!(log.messages[..], whole.messages[..log.messages.len()]);
        counts.push(log.messages.len());
    }
    assert!(counts.is_sorted());
    counts.dedup();
    assert_eq!(counts, [0, 10, 20, 30, 40, 50, 55]);
}

/// A file that ends before its first message was "no MCAP file", or had "nothing in common" with another one.
#[test]
fn a_truncated_file_without_messages_is_called_truncated() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), 55);
    let bytes = std::fs::read(&path).unwrap();
    let (mut refused, mut read) = (0, 0);
    for length in 0..bytes.len() {
        std::fs::write(&path, &bytes[..length]).unwrap();
        match McapLog::read(&path) {
            Ok(log) => read += usize::from(log.cut && !log.messages.is_empty()),
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains("is truncated") && message.contains(&format!("{length} bytes")), "{message}");
                refused += 1;
            }
        }
    }
    assert!(refused > 50 && refused + read == bytes.len(), "{refused} {read}");
    for wrong in ["time_s,x\n0,1\n", "PK\u{3}\u{4}"] {
        std::fs::write(&path, wrong).unwrap();
        let message = McapLog::read(&path).unwrap_err().to_string();
        assert!(message.contains("do not start as one"), "{message}");
    }
}

#[test]
fn bytes_that_are_wrong_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(written(folder.path(), 25)).unwrap();
    let mut random = dermis_geometry::Random::new(1);
    for _ in 0..2000 {
        let mut wrong = bytes.clone();
        let at = (random.uniform() * wrong.len() as f64) as usize;
        wrong[at] ^= 1 << (random.uniform() * 8.0) as u8;
        if let Some(log) = McapLog::parse(&wrong) {
            // A flipped bit in an index can add one message.
            assert!(log.messages.len() <= 26);
        }
    }
    assert!(McapLog::parse(b"").is_none() && McapLog::parse(b"PAR1").is_none());
}

/// If the process is killed during a write, the file holds the first bytes of the write, followed by the previous
/// content. For any number of bytes written, all earlier messages are read, and no others.
#[test]
fn a_write_that_is_cut_short_loses_only_what_it_would_have_added() {
    let folder = tempfile::tempdir().unwrap();
    let channel = Channel { topic: "/a".into(), encoding: "json".into(), schema: None, metadata: vec![] };
    let path = folder.path().join("x.mcap");
    let mut writer = McapWriter::create(&path, "", vec![], vec![channel], &[]).unwrap();
    let mut before = std::fs::read(&path).unwrap();
    for chunk in 0..6u64 {
        let earlier = McapLog::parse(&before).unwrap().messages;
        assert_eq!(earlier.len() as u64, 3 * chunk);
        for i in 0..3 {
            let text = format!("{{\"value\":{}}}", (3 * chunk + i) * 7919 % 1000);
            writer.add(0, 3 * chunk + i, text.as_bytes()).unwrap();
        }
        writer.flush().unwrap();
        let after = std::fs::read(&path).unwrap();
        let all = McapLog::parse(&after).unwrap().messages;
        assert!(after.len() > before.len());
        for length in 0..after.len() {
            let mut torn = after[..length].to_vec();
            torn.extend(before.get(length..).unwrap_or_default());
            let found = McapLog::parse(&torn).unwrap().messages;
            assert!(found == earlier || found == all, "chunk {chunk}, {length} bytes: {} messages", found.len());
        }
        before = after;
    }
}

/// A flipped bit in a chunk, in its length, or in the first chunk, which declares the channels, loses the messages of
/// that chunk alone, and the damage is reported.
#[test]
fn a_damaged_chunk_is_skipped_and_the_rest_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(written(folder.path(), 55)).unwrap();
    let whole = McapLog::parse(&bytes).unwrap();
    let starts = chunk_starts(&bytes);
    assert_eq!(starts.len(), 6);
    for (chunk, start) in starts.iter().enumerate() {
        for offset in [5, 60] {
            let mut wrong = bytes.clone();
            wrong[start + offset] ^= 0x40;
            let log = McapLog::parse(&wrong).unwrap();
            let lost = 10 * chunk..(10 * chunk + 10).min(55);
            let kept: Vec<_> = (0..55).filter(|i| !lost.contains(i)).map(|i| whole.messages[i].clone()).collect();
            assert_eq!(log.messages, kept, "chunk {chunk}, byte {offset}");
            assert_eq!((log.damaged.len(), log.cut), (1, false), "{:?}", log.damaged);
        }
    }
}

fn chunk_starts(bytes: &[u8]) -> Vec<usize> {
    let mut rest = bytes::ByteReader(&bytes[MAGIC.len()..]);
    let mut starts = Vec::new();
    loop {
        let at = bytes.len() - rest.0.len();
        match rest.record() {
            Some((op::CHUNK, _)) => starts.push(at),
            Some((op::DATA_END, _)) | None => return starts,
            _ => (),
        }
    }
}
