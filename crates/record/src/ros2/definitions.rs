//! Definitions of ROS 2 messages, and decoding by definition.

use super::cdr::{CdrReader, Primitive};
use crate::message::Value;
use std::collections::HashMap;

/// Name and fields of standard messages: those of recordings, and those of bags that store no definitions.
const STANDARD: &str = include_str!("standard.msg");
const LINE: &str = "================================================================================";
/// Limit on the nesting of messages.
const MAX_DEPTH: usize = 16;

/// The definition that a bag stores for a standard message: its fields, followed by each message that it uses.
pub fn standard_text(name: &str) -> String {
    let blocks = STANDARD.split("MSG: ").filter_map(|block| block.split_once('\n'));
    let fields_of = |name: &str| blocks.clone().find(|(known, _)| *known == name).map_or("", |(_, fields)| fields);
    let mut used = vec![short(name)];
    let mut text = String::new();
    let mut next = 0;
    while let Some(name) = used.get(next).cloned() {
        if next > 0 {
            text += &format!("{LINE}\nMSG: {name}\n");
        }
        for line in fields_of(&name).lines() {
            let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
            let (kind, array) = kind.split_at(kind.find('[').unwrap_or(kind.len()));
            let kind = match Primitive::of(kind) {
                None if kind != "string" => full(kind, &name),
                _ => kind.to_owned(),
            };
            text += &format!("{kind}{array} {rest}\n");
            if kind.contains('/') && !used.contains(&kind) {
                used.push(kind);
            }
        }
        next += 1;
    }
    text
}

/// `pkg/Type` of `pkg/msg/Type`.
fn short(name: &str) -> String {
    name.replacen("/msg/", "/", 1)
}

/// `pkg/Type` of a type named in the definition of `inside`.
fn full(kind: &str, inside: &str) -> String {
    match kind {
        "Header" => "std_msgs/Header".to_owned(),
        _ if kind.contains('/') => short(kind),
        _ => format!("{}/{kind}", inside.split_once('/').map_or("", |(package, _)| package)),
    }
}

/// Message definitions by name.
#[derive(Default)]
pub struct Definitions(HashMap<String, Vec<Field>>);

struct Field {
    name: String,
    kind: Kind,
    count: Count,
}

enum Kind {
    Primitive(Primitive),
    Text,
    Message(String),
}

enum Count {
    One,
    Fixed(usize),
    Sequence,
}

impl Definitions {
    /// Adds the standard messages; known ones are kept.
    pub fn extend_standard(&mut self) {
        self.add("", STANDARD);
    }

    /// Adds a message, and the messages that follow its definition; known ones are kept. Leaves out what it cannot
    /// parse.
    pub fn add(&mut self, name: &str, text: &str) {
        let mut name = short(name);
        let mut fields = Some(Vec::new());
        for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
            if let Some(next) = line.strip_prefix("MSG: ") {
                self.keep(&name, fields.replace(Vec::new()));
                name = short(next.trim());
            } else if !line.is_empty()
                && !line.starts_with("====")
                && let Some(some) = &mut fields
            {
                match Field::parse(line, &name) {
                    Some(Some(field)) => some.push(field),
                    Some(None) => (),
                    None => fields = None,
                }
            }
        }
        self.keep(&name, fields);
    }

    fn keep(&mut self, name: &str, fields: Option<Vec<Field>>) {
        if let Some(fields) = fields
            && !name.is_empty()
        {
            self.0.entry(name.to_owned()).or_insert(fields);
        }
    }

    /// Whether a message and all messages that it uses are known.
    pub fn know(&self, name: &str) -> bool {
        let mut used = vec![short(name)];
        let mut next = 0;
        while let Some(name) = used.get(next) {
            let Some(fields) = self.0.get(name) else { return false };
            for field in fields {
                if let Kind::Message(inner) = &field.kind
                    && !used.contains(inner)
                {
                    used.push(inner.clone());
                }
            }
            next += 1;
        }
        true
    }

    /// Decodes a message; `None` if its type is unknown, or its bytes do not fit.
    pub fn decode(&self, name: &str, message: &[u8]) -> Option<Value> {
        self.message(&short(name), &mut CdrReader::new(message)?, MAX_DEPTH)
    }

    fn message(&self, name: &str, take: &mut CdrReader<'_>, depth: usize) -> Option<Value> {
        let fields = self.0.get(name)?;
        let depth = depth.checked_sub(1)?;
        if fields.is_empty() {
            // A message without fields takes one byte.
            take.raw(1, 1)?;
        }
        let mut values = Vec::with_capacity(fields.len());
        for field in fields {
            values.push((field.name.clone(), self.field(field, take, depth)?));
        }
        Some(Value::Fields(values))
    }

    fn field(&self, field: &Field, take: &mut CdrReader<'_>, depth: usize) -> Option<Value> {
        let count = match field.count {
            Count::One => None,
            Count::Fixed(count) => Some(count),
            Count::Sequence => Some(take.u32()? as usize),
        };
        let one = |take: &mut CdrReader<'_>| match &field.kind {
            Kind::Primitive(primitive) => take.number(*primitive).map(Value::Number),
            Kind::Text => take.text().map(Value::Text),
            Kind::Message(name) => self.message(name, take, depth),
        };
        match (count, &field.kind) {
            (None, _) => one(take),
            (Some(count), Kind::Primitive(Primitive::U8)) => Some(Value::Bytes(take.raw(count, 1)?.to_vec())),
            // Each element takes at least one byte.
            (Some(count), _) if count > take.left() => None,
            (Some(count), _) => (0..count).map(|_| one(take)).collect::<Option<_>>().map(Value::List),
        }
    }
}

impl Field {
    /// A line of the definition of `inside`: `Some(None)` for a constant, `None` if the type cannot be read.
    fn parse(line: &str, inside: &str) -> Option<Option<Self>> {
        let (kind, rest) = line.split_once(char::is_whitespace)?;
        let name = rest.split_whitespace().next()?;
        if rest.split(['"', '\'']).next().is_some_and(|before| before.contains('=')) {
            return Some(None);
        }
        let (kind, count) = match kind.split_once('[') {
            None => (kind, Count::One),
            Some((kind, "]")) => (kind, Count::Sequence),
            Some((kind, size)) if size.starts_with("<=") => (kind, Count::Sequence),
            Some((kind, size)) => (kind, Count::Fixed(size.strip_suffix(']')?.parse().ok()?)),
        };
        let kind = match kind.split("<=").next()? {
            "string" => Kind::Text,
            "wstring" => return None,
            kind => Primitive::of(kind).map_or_else(|| Kind::Message(full(kind, inside)), Kind::Primitive),
        };
        Some(Some(Self { name: name.to_owned(), kind, count }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::cdr::CdrWriter;
    use super::*;

    #[test]
    fn standard_messages_define_what_they_use() {
        let mut all = Definitions::default();
        all.extend_standard();
        for name in STANDARD.lines().filter_map(|line| line.strip_prefix("MSG: ")) {
            assert!(all.know(name), "{name}");
            let mut alone = Definitions::default();
            alone.add(name, &standard_text(name));
            assert!(alone.know(name), "{name}");
        }
        assert!(!all.know("their_msgs/msg/Touch") && !all.know(""));
    }

    #[test]
    fn a_message_of_others_is_decoded_by_its_definition() {
        let text = "# grasp\nuint8 OPEN=1\nstring<=9 NAME='a=b'\nHeader header\nfloat64[] none # empty\nbool[2] on\n\
                    Finger[<=3] fingers\nint16 last -3\n====\nMSG: their_msgs/Finger\nfloat32 load 1.5\nstring name \"x\"\n\
                    ====\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n";
        let mut all = Definitions::default();
        all.extend_standard();
        all.add("their_msgs/msg/Touch", text);
        assert!(all.know("their_msgs/msg/Touch"));
        let finger = |put: CdrWriter, load: f32, name: &str| put.u32(load.to_bits()).text(name);
        let put = CdrWriter::new().u32(1).u32(2).text("pad").u32(0).u8(1).u8(0).u32(2);
        let put = finger(finger(put, 0.5, "index"), 2.0, "");
        let bytes = put.u16(7).done();
        let value = all.decode("their_msgs/msg/Touch", &bytes).unwrap();
        assert_eq!(value.get("none").unwrap().numbers(), Some(vec![]));
        assert_eq!(value.get("on").unwrap().numbers(), Some(vec![1.0, 0.0]));
        let fingers = value.get("fingers").unwrap().list();
        assert_eq!((fingers.len(), fingers[1].get("load").unwrap().number()), (2, Some(2.0)));
        assert_eq!(value.get("last").unwrap().number(), Some(7.0));
        for length in 0..bytes.len() {
            assert_eq!(all.decode("their_msgs/msg/Touch", &bytes[..length]), None, "{length}");
        }
    }

    /// A definition that contains itself, and counts beyond the message, end.
    #[test]
    fn hostile_definitions_end() {
        let mut all = Definitions::default();
        all.add("a/A", "A inner\n");
        all.add("a/B", "");
        all.add("a/C", "B[] many\nB[4000000000] more\n");
        let bytes = CdrWriter::new().u32(u32::MAX).done();
        assert!(all.know("a/A") && all.decode("a/A", &bytes).is_none() && all.decode("a/C", &bytes).is_none());
    }
}
