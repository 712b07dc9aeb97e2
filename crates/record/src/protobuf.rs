//! Protobuf: messages encoded and decoded by the descriptors that a file stores with them.

use crate::message::Value;
use std::collections::HashMap;

/// Limit on the nesting of messages.
const MAX_DEPTH: usize = 32;

/// One entry of an encoded message.
enum Wire<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
}

/// The entries of an encoded message: field number and content; `None` where it is damaged.
struct Entries<'a>(&'a [u8]);

impl<'a> Entries<'a> {
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (front, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*front)
    }

    fn content(&mut self, wire_type: u64) -> Option<Wire<'a>> {
        Some(match wire_type {
            0 => Wire::Varint(self.varint()?),
            1 => Wire::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let count = usize::try_from(self.varint()?).ok()?;
                let (front, rest) = self.0.split_at_checked(count)?;
                self.0 = rest;
                Wire::Bytes(front)
            }
            5 => Wire::Fixed32(u32::from_le_bytes(self.array()?)),
            _ => return None,
        })
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Option<(u64, Wire<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let entry = self.varint().and_then(|key| Some((key >> 3, self.content(key & 7)?)));
        if entry.is_none() {
            self.0 = &[];
        }
        Some(entry)
    }
}

/// The byte strings of a field.
fn parts(message: &[u8], number: u64) -> impl Iterator<Item = &[u8]> {
    Entries(message).flatten().filter_map(move |entry| match entry {
        (found, Wire::Bytes(bytes)) if found == number => Some(bytes),
        _ => None,
    })
}

fn text(message: &[u8], number: u64) -> String {
    parts(message, number).last().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
}

fn varint(message: &[u8], number: u64) -> u64 {
    let found = Entries(message).flatten().filter_map(|entry| match entry {
        (found, Wire::Varint(value)) if found == number => Some(value),
        _ => None,
    });
    found.last().unwrap_or(0)
}

/// Message types by name, such as `foxglove.Vector3`.
#[derive(Default)]
pub struct Descriptors(HashMap<String, Vec<Field>>);

/// A field. `kind` is the type as FieldDescriptorProto numbers it.
struct Field {
    number: u64,
    name: String,
    kind: u64,
    is_list: bool,
    message: String,
}

const TEXT: u64 = 9;
const GROUP: u64 = 10;
const MESSAGE: u64 = 11;
const BYTES: u64 = 12;

impl Descriptors {
    /// Parses a FileDescriptorSet.
    pub fn parse(set: &[u8]) -> Self {
        let mut all = Self::default();
        for file in parts(set, 1) {
            let package = text(file, 2);
            parts(file, 4).for_each(|message| all.add(&package, message, MAX_DEPTH));
        }
        all
    }

    /// Adds a DescriptorProto and the types inside it.
    fn add(&mut self, scope: &str, message: &[u8], depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let name = text(message, 1);
        let name = if scope.is_empty() { name } else { format!("{scope}.{name}") };
        let field = |field: &[u8]| Field {
            number: varint(field, 3),
            name: text(field, 1),
            kind: varint(field, 5),
            is_list: varint(field, 4) == 3,
            message: text(field, 6).trim_start_matches('.').to_owned(),
        };
        self.0.insert(name.clone(), parts(message, 2).map(field).collect());
        parts(message, 3).for_each(|inner| self.add(&name, inner, depth));
    }

    /// Whether a type is known.
    pub fn know(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Decodes a message; absent numbers, texts and arrays are zero or empty. `None` if the bytes do not fit.
    pub fn decode(&self, name: &str, message: &[u8]) -> Option<Value> {
        // Absent fields take no bytes; the budget limits how many of them a message may have.
        self.message(name, message, MAX_DEPTH, &mut (10_000 + 64 * message.len()))
    }

    fn message(&self, name: &str, message: &[u8], depth: usize, budget: &mut usize) -> Option<Value> {
        let (fields, depth) = (self.0.get(name)?, depth.checked_sub(1)?);
        *budget = budget.checked_sub(fields.len())?;
        let mut values: Vec<Option<Value>> = fields.iter().map(Field::absent).collect();
        for entry in Entries(message) {
            let (number, wire) = entry?;
            let Some(place) = fields.iter().position(|field| field.number == number) else { continue };
            let field = &fields[place];
            let found = match (wire, field.kind) {
                (Wire::Bytes(bytes), TEXT) => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
                (Wire::Bytes(bytes), BYTES) => Value::Bytes(bytes.to_vec()),
                (Wire::Bytes(bytes), MESSAGE) => self.message(&field.message, bytes, depth, budget)?,
                (_, TEXT | GROUP | MESSAGE | BYTES) => return None,
                (Wire::Bytes(bytes), kind) if field.is_list => {
                    let mut packed = Entries(bytes);
                    while !packed.0.is_empty() {
                        let number = number_of(kind, &packed.content(wire_type(kind))?)?;
                        push(&mut values[place], Value::Number(number));
                    }
                    continue;
                }
                (wire, kind) => Value::Number(number_of(kind, &wire)?),
            };
            if field.is_list {
                push(&mut values[place], found);
            } else {
                values[place] = Some(found);
            }
        }
        let there = fields.iter().zip(values).filter_map(|(field, value)| Some((field.name.clone(), value?)));
        Some(Value::Fields(there.collect()))
    }

    /// Encodes a message; leaves out fields that its type does not have.
    pub fn encode(&self, name: &str, value: &Value) -> Vec<u8> {
        let mut bytes = Vec::new();
        for field in self.0.get(name).into_iter().flatten() {
            match value.get(&field.name) {
                Some(Value::List(list)) if field.kind < TEXT || field.kind > BYTES => {
                    let mut packed = Vec::new();
                    list.iter()
                        .for_each(|value| put_number(&mut packed, field.kind, value.number().unwrap_or(f64::NAN)));
                    put_bytes(&mut bytes, field.number, &packed);
                }
                Some(Value::List(list)) => list.iter().for_each(|value| self.put(&mut bytes, field, value)),
                Some(value) => self.put(&mut bytes, field, value),
                None => (),
            }
        }
        bytes
    }

    fn put(&self, bytes: &mut Vec<u8>, field: &Field, value: &Value) {
        match value {
            Value::Number(number) => {
                put_varint(bytes, field.number << 3 | wire_type(field.kind));
                put_number(bytes, field.kind, *number);
            }
            Value::Text(text) => put_bytes(bytes, field.number, text.as_bytes()),
            Value::Bytes(content) => put_bytes(bytes, field.number, content),
            Value::Fields(_) => put_bytes(bytes, field.number, &self.encode(&field.message, value)),
            Value::List(_) => (),
        }
    }
}

impl Field {
    fn absent(&self) -> Option<Value> {
        match self.kind {
            _ if self.is_list => Some(Value::List(Vec::new())),
            TEXT => Some(Value::Text(String::new())),
            BYTES => Some(Value::Bytes(Vec::new())),
            GROUP | MESSAGE => None,
            _ => Some(Value::Number(0.0)),
        }
    }
}

fn push(list: &mut Option<Value>, value: Value) {
    if let Some(Value::List(list)) = list {
        list.push(value);
    }
}

/// double, fixed64 and sfixed64 take 8 bytes; float, fixed32 and sfixed32 4; the other numbers are varints.
fn wire_type(kind: u64) -> u64 {
    match kind {
        1 | 6 | 16 => 1,
        2 | 7 | 15 => 5,
        _ => 0,
    }
}

fn number_of(kind: u64, wire: &Wire<'_>) -> Option<f64> {
    Some(match (kind, wire) {
        (1, Wire::Fixed64(bits)) => f64::from_bits(*bits),
        (2, Wire::Fixed32(bits)) => f32::from_bits(*bits).into(),
        (6, Wire::Fixed64(bits)) => *bits as f64,
        (16, Wire::Fixed64(bits)) => *bits as i64 as f64,
        (7, Wire::Fixed32(bits)) => f64::from(*bits),
        (15, Wire::Fixed32(bits)) => f64::from(*bits as i32),
        // uint64, bool, uint32
        (4 | 8 | 13, Wire::Varint(value)) => *value as f64,
        // int64, int32, enum
        (3 | 5 | 14, Wire::Varint(value)) => *value as i64 as f64,
        // sint32, sint64
        (17 | 18, Wire::Varint(value)) => ((value >> 1) as i64 ^ -((value & 1) as i64)) as f64,
        _ => return None,
    })
}

fn put_number(bytes: &mut Vec<u8>, kind: u64, number: f64) {
    match kind {
        1 => bytes.extend(number.to_le_bytes()),
        2 => bytes.extend((number as f32).to_le_bytes()),
        6 => bytes.extend((number as u64).to_le_bytes()),
        7 => bytes.extend((number as u32).to_le_bytes()),
        15 => bytes.extend((number as i32).to_le_bytes()),
        16 => bytes.extend((number as i64).to_le_bytes()),
        17 | 18 => put_varint(bytes, ((number as i64) << 1 ^ (number as i64) >> 63) as u64),
        _ => put_varint(bytes, number as i64 as u64),
    }
}

fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn put_bytes(bytes: &mut Vec<u8>, number: u64, content: &[u8]) {
    put_varint(bytes, number << 3 | 2);
    put_varint(bytes, content.len() as u64);
    bytes.extend(content);
}

/// The files of a FileDescriptorSet that a type needs, as a set of their own; they follow the files that they need.
pub fn subset(set: &[u8], name: &str) -> Vec<u8> {
    let files: Vec<&[u8]> = parts(set, 1).collect();
    let (package, message) = name.rsplit_once('.').unwrap_or(("", name));
    let defines = |file: &&&[u8]| text(file, 2) == package && parts(file, 4).any(|inner| text(inner, 1) == message);
    let mut needed: Vec<String> = files.iter().find(defines).map(|file| text(file, 1)).into_iter().collect();
    let mut next = 0;
    while let Some(name) = needed.get(next) {
        let file = files.iter().find(|file| text(file, 1) == *name);
        let more: Vec<String> = file
            .into_iter()
            .flat_map(|file| parts(file, 3))
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .filter(|name| !needed.contains(name))
            .collect();
        needed.extend(more);
        next += 1;
    }
    let mut bytes = Vec::new();
    let kept = files.iter().filter(|file| needed.contains(&text(file, 1)));
    kept.for_each(|file| put_bytes(&mut bytes, 1, file));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A type with a field of every kind of number: `f1` is a double … `f18` a sint64, `l13` a list.
    fn every_kind() -> Descriptors {
        let field = |name: String, number, kind, is_list| Field { number, name, kind, is_list, message: String::new() };
        let numbers = (1..19).filter(|kind| !(TEXT..=BYTES).contains(kind));
        let mut fields: Vec<Field> = numbers.map(|kind| field(format!("f{kind}"), kind, kind, false)).collect();
        fields.push(field("l13".into(), 100, 13, true));
        fields.push(field("text".into(), 101, TEXT, true));
        Descriptors(HashMap::from([("a.B".to_owned(), fields)]))
    }

    #[test]
    fn every_kind_of_number_survives() {
        let all = every_kind();
        let mut fields: Vec<(String, Value)> = (1..19)
            .filter(|kind| !(TEXT..=BYTES).contains(kind))
            .map(|kind| {
                let number = if [4, 6, 7, 8, 13].contains(&kind) { 300.0 } else { -3.0 };
                (format!("f{kind}"), Value::Number(number))
            })
            .collect();
        fields.push(("l13".into(), Value::row([0.0, 127.0, 128.0, 4e9])));
        fields.push(("text".into(), Value::List(vec![Value::Text("é".into()), Value::Text(String::new())])));
        let message = Value::Fields(fields);
        let bytes = all.encode("a.B", &message);
        assert_eq!(all.decode("a.B", &bytes), Some(message));
        for length in 0..bytes.len() {
            all.decode("a.B", &bytes[..length]);
        }
        assert_eq!(all.decode("a.B", &[0x0f]), None);
        let empty = all.decode("a.B", &[]).unwrap();
        assert_eq!((empty.get("f1"), empty.get("l13")), (Some(&Value::Number(0.0)), Some(&Value::List(vec![]))));
    }

    /// A type with many fields, repeated without bytes, is refused.
    #[test]
    fn absent_fields_do_not_fill_the_memory() {
        let wide = (0..20_000).map(|i| Field {
            number: 10 + i,
            name: String::new(),
            kind: if i == 0 { MESSAGE } else { 1 },
            is_list: i == 0,
            message: "w".into(),
        });
        let all = Descriptors(HashMap::from([("w".to_owned(), wide.collect())]));
        let mut bytes = Vec::new();
        (0..1000).for_each(|_| put_bytes(&mut bytes, 10, &[]));
        assert_eq!(all.decode("w", &bytes), None);
    }
}
