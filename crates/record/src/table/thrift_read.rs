//! Reads the compact protocol of Thrift.

use std::collections::BTreeMap;

/// The fields of a struct by number.
#[derive(Debug, Default)]
pub struct Part(BTreeMap<i16, Value>);

#[derive(Debug)]
enum Value {
    Int(i64),
    Binary(Vec<u8>),
    List(Vec<Value>),
    Part(Part),
}

/// Limit on the nesting depth of headers.
const MAX_DEPTH: usize = 16;

impl Part {
    pub fn int(&self, field: i16) -> Option<i64> {
        if let Value::Int(value) = self.0.get(&field)? { Some(*value) } else { None }
    }

    pub fn text(&self, field: i16) -> Option<String> {
        let Value::Binary(bytes) = self.0.get(&field)? else { return None };
        String::from_utf8(bytes.clone()).ok()
    }

    pub fn part(&self, field: i16) -> Option<&Part> {
        if let Value::Part(part) = self.0.get(&field)? { Some(part) } else { None }
    }

    /// A list of structs.
    pub fn list(&self, field: i16) -> Option<Vec<&Part>> {
        let Value::List(values) = self.0.get(&field)? else { return None };
        values.iter().map(|value| if let Value::Part(part) = value { Some(part) } else { None }).collect()
    }
}

/// Reads a struct; returns it and its length (bytes).
pub fn parse(bytes: &[u8]) -> Option<(Part, usize)> {
    let mut rest = bytes;
    let part = part(&mut rest, 0)?;
    Some((part, bytes.len() - rest.len()))
}

fn byte(rest: &mut &[u8]) -> Option<u8> {
    let (first, behind) = rest.split_first()?;
    *rest = behind;
    Some(*first)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let next = byte(rest)?;
        value |= u64::from(next & 0x7f) << shift;
        if next & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn zigzag(rest: &mut &[u8]) -> Option<i64> {
    let value = varint(rest)?;
    Some((value >> 1) as i64 ^ -((value & 1) as i64))
}

fn part(rest: &mut &[u8], depth: usize) -> Option<Part> {
    let mut fields = BTreeMap::new();
    let mut field = 0i16;
    loop {
        let header = byte(rest)?;
        if header == 0 {
            return Some(Part(fields));
        }
        let step = i16::from(header >> 4);
        field = if step == 0 { i16::try_from(zigzag(rest)?).ok()? } else { field.checked_add(step)? };
        fields.insert(field, value(rest, header & 15, depth)?);
    }
}

fn value(rest: &mut &[u8], kind: u8, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    Some(match kind {
        1 => Value::Int(1),
        2 => Value::Int(0),
        3 => Value::Int(i64::from(byte(rest)?)),
        4..=6 => Value::Int(zigzag(rest)?),
        7 => {
            let (_, behind) = rest.split_at_checked(8)?;
            *rest = behind;
            Value::Int(0)
        }
        8 => {
            let count = usize::try_from(varint(rest)?).ok()?;
            let (bytes, behind) = rest.split_at_checked(count)?;
            *rest = behind;
            Value::Binary(bytes.to_vec())
        }
        9 | 10 => {
            let header = byte(rest)?;
            let count = if header >> 4 == 15 { varint(rest)? } else { u64::from(header >> 4) };
            let mut values = Vec::new();
            for _ in 0..count {
                values.push(value(rest, header & 15, depth + 1)?);
            }
            Value::List(values)
        }
        12 => Value::Part(part(rest, depth + 1)?),
        _ => return None,
    })
}
