//! Reads ROS 2 bags in SQLite files.

use super::Log;
use super::messages::{Decoder, Messages};
use crate::RecordError;
use crate::mcap::Schema;
use dermis_geometry::limits::MAX_RECORDING_BYTES;
use dermis_geometry::regular_file;
use rusqlite::{Connection, OpenFlags};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A topic: name, type and decoder.
type Topics = HashMap<i64, (String, String, Decoder)>;

/// Reads consecutive files, such as those of a split bag.
pub fn read(paths: &[PathBuf]) -> Result<Log, RecordError> {
    let (mut messages, mut damaged) = (Messages::default(), Vec::new());
    for path in paths {
        let failed = |reason: String| RecordError::Damaged {
            path: path.display().to_string(),
            what: "bag of ROS 2 in SQLite",
            reason,
        };
        regular_file::open(path, MAX_RECORDING_BYTES).map_err(|error| RecordError::read(path, &error))?;
        let (connection, topics) = opened(path).map_err(|error| failed(error.to_string()))?;
        let topics = topics.ok_or_else(|| failed("it has no tables `topics` and `messages`".to_owned()))?;
        if let Err(error) = take(&connection, &topics, &mut messages) {
            damaged.push(format!("{}: the rest of the messages was skipped: {error}", path.display()));
        }
    }
    messages.finish(paths, false, damaged)
}

/// Opens a file and reads its topics; `None` if it has other tables.
fn opened(path: &Path) -> rusqlite::Result<(Connection, Option<Topics>)> {
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // A file of others may contain code (views); only its tables are read.
    connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;")?;
    let tables: i64 = connection.query_row(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('topics', 'messages')",
        [],
        |row| row.get(0),
    )?;
    if tables != 2 {
        return Ok((connection, None));
    }
    // Newer bags store the definitions of their messages.
    let mut definitions = HashMap::new();
    let sql = "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions";
    if let Ok(mut statement) = connection.prepare(sql) {
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            definitions.insert(row.get::<_, String>(0)?, (row.get::<_, String>(1)?, row.get::<_, String>(2)?));
        }
    }
    let mut topics = HashMap::new();
    let mut statement = connection.prepare("SELECT id, name, type, serialization_format FROM topics")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (name, kind, format): (String, String, String) = (row.get(1)?, row.get(2)?, row.get(3)?);
        let (encoding, text) = definitions.get(&kind).cloned().unwrap_or_default();
        let decoder = Decoder::of(&format, &Schema { name: kind.clone(), encoding, data: text.into_bytes() });
        topics.insert(row.get(0)?, (name, kind, decoder));
    }
    drop(rows);
    drop(statement);
    Ok((connection, Some(topics)))
}

fn take(connection: &Connection, topics: &Topics, messages: &mut Messages) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT topic_id, timestamp, data FROM messages")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Some((name, kind, decoder)) = topics.get(&row.get(0)?) {
            messages.take(name, kind, decoder, row.get::<_, i64>(1)? as f64, row.get_ref(2)?.as_blob()?);
        }
    }
    Ok(())
}
