//! Reads Parquet files in the plain encoding, without compression or dictionaries.

use super::Values;
use super::thrift_read::{Part, parse};

/// One column of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadColumn {
    /// Name of the column; `group.field` for a field of a group.
    pub name: String,
    /// Number of values of each row, if rows are lists.
    pub lengths: Option<Vec<usize>>,
    /// All values that are present.
    pub values: Values,
}

/// A column's position in the schema.
struct Leaf {
    name: String,
    kind: i64,
    most_defined: u32,
    most_repeated: u32,
}

/// Reads all columns of a file; an error describes the damage.
pub fn read_columns(bytes: &[u8]) -> Result<Vec<ReadColumn>, String> {
    let whole = bytes.strip_prefix(b"PAR1").and_then(|rest| rest.strip_suffix(b"PAR1"));
    let cut = || "it does not start and end as one".to_owned();
    let length = whole.and_then(|whole| whole.last_chunk::<4>()).ok_or_else(cut)?;
    let end = bytes.len() - 8;
    let start = end.checked_sub(u32::from_le_bytes(*length) as usize).ok_or_else(cut)?;
    let damaged = || "its footer is damaged".to_owned();
    let (footer, _) = parse(&bytes[start..end]).ok_or_else(damaged)?;
    let leaves = leaves(&footer).ok_or_else(damaged)?;
    let mut columns: Vec<ReadColumn> = Vec::new();
    for leaf in &leaves {
        let values = match leaf.kind {
            0 => Values::Bool(Vec::new()),
            2 => Values::I64(Vec::new()),
            4 => Values::F32(Vec::new()),
            5 => Values::F64(Vec::new()),
            6 => Values::Bytes(Vec::new()),
            kind => return Err(format!("column {:?} has values of kind {kind}, which we do not read", leaf.name)),
        };
        let lengths = (leaf.most_repeated > 0).then(Vec::new);
        columns.push(ReadColumn { name: leaf.name.clone(), lengths, values });
    }
    for group in footer.list(4).ok_or_else(damaged)? {
        let chunks = group.list(1).ok_or_else(damaged)?;
        for ((chunk, leaf), column) in chunks.iter().zip(&leaves).zip(&mut columns) {
            let about = chunk.part(3).ok_or_else(damaged)?;
            if about.int(4) != Some(0) || about.int(11).is_some() {
                let name = &leaf.name;
                return Err(format!(
                    "column {name:?} is compressed; write the file without compression and dictionaries"
                ));
            }
            let read = read_chunk(bytes, about, leaf, column);
            read.ok_or_else(|| format!("column {:?} is damaged or stored in a way we do not read", leaf.name))?;
        }
    }
    Ok(columns)
}

fn leaves(footer: &Part) -> Option<Vec<Leaf>> {
    let schema = footer.list(2)?;
    let mut leaves = Vec::new();
    // Open groups: name, number of remaining children, levels.
    let mut open: Vec<(String, i64, u32, u32)> = vec![(String::new(), schema.first()?.int(5)?, 0, 0)];
    for element in &schema[1..] {
        while open.last()?.1 == 0 {
            open.pop();
        }
        let (above, left, defined, repeated) = open.last_mut()?;
        *left -= 1;
        let own = element.text(4)?;
        let repetition = element.int(3)?;
        let (defined, repeated) = (*defined + u32::from(repetition != 0), *repeated + u32::from(repetition == 2));
        let name = match (above.as_str(), own.as_str()) {
            (above, "list" | "element") if !above.is_empty() => above.to_owned(),
            ("", own) => own.to_owned(),
            (above, own) => format!("{above}.{own}"),
        };
        match element.int(5) {
            Some(children) if children > 0 => open.push((name, children, defined, repeated)),
            _ => leaves.push(Leaf { name, kind: element.int(1)?, most_defined: defined, most_repeated: repeated }),
        }
    }
    Some(leaves)
}

fn read_chunk(bytes: &[u8], about: &Part, leaf: &Leaf, column: &mut ReadColumn) -> Option<()> {
    let mut at = usize::try_from(about.int(9)?).ok()?;
    let mut left = about.int(5)?;
    while left > 0 {
        let (header, length) = parse(bytes.get(at..)?)?;
        let size = usize::try_from(header.int(3)?).ok()?;
        let start = at.checked_add(length)?;
        let page = bytes.get(start..start.checked_add(size)?)?;
        at = start + size;
        let of_page = header.part(5)?;
        if header.int(1) != Some(0) || of_page.int(2) != Some(0) {
            return None;
        }
        let entries = of_page.int(1)?;
        left -= entries;
        read_page(page, usize::try_from(entries).ok()?, leaf, column)?;
    }
    (left == 0).then_some(())
}

fn read_page(mut page: &[u8], entries: usize, leaf: &Leaf, column: &mut ReadColumn) -> Option<()> {
    let repeated = if leaf.most_repeated > 0 { levels(&mut page, entries, leaf.most_repeated)? } else { Vec::new() };
    let defined = if leaf.most_defined > 0 { levels(&mut page, entries, leaf.most_defined)? } else { Vec::new() };
    let is_there = |i: usize| defined.get(i).is_none_or(|level| *level == leaf.most_defined);
    if let Some(lengths) = &mut column.lengths {
        for (i, level) in repeated.iter().enumerate() {
            if *level == 0 {
                lengths.push(0);
            }
            *lengths.last_mut()? += usize::from(is_there(i));
        }
    }
    let count = (0..entries).filter(|i| is_there(*i)).count();
    match &mut column.values {
        Values::F64(values) => numbers(page, count, f64::from_le_bytes, values),
        Values::F32(values) => numbers(page, count, f32::from_le_bytes, values),
        Values::I64(values) => numbers(page, count, i64::from_le_bytes, values),
        Values::Bool(values) => {
            let bits = page.get(..count.div_ceil(8))?;
            values.extend((0..count).map(|i| bits[i / 8] >> (i % 8) & 1 == 1));
            Some(())
        }
        Values::Bytes(values) => {
            for _ in 0..count {
                let (length, rest) = page.split_first_chunk::<4>()?;
                let (value, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
                values.push(value.to_vec());
                page = rest;
            }
            Some(())
        }
        Values::Text(_) => None,
    }
}

fn numbers<const N: usize, T>(page: &[u8], count: usize, number: fn([u8; N]) -> T, values: &mut Vec<T>) -> Option<()> {
    let data = page.get(..count.checked_mul(N)?)?;
    values.extend(data.chunks_exact(N).map(|bytes| number(std::array::from_fn(|i| bytes[i]))));
    Some(())
}

/// Decodes the levels of a page: runs of equal levels, or packed bits.
fn levels(page: &mut &[u8], entries: usize, most: u32) -> Option<Vec<u32>> {
    let (length, rest) = page.split_first_chunk::<4>()?;
    let (mut runs, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    *page = rest;
    let width = (32 - most.leading_zeros()) as usize;
    let mut levels = Vec::with_capacity(entries.min(1 << 24));
    while levels.len() < entries {
        let mut header = 0u64;
        for shift in (0..).step_by(7).take(9) {
            let (byte, rest) = runs.split_first()?;
            runs = rest;
            header |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        let count = usize::try_from(header >> 1).ok()?;
        if header & 1 == 0 {
            let (level, rest) = runs.split_at_checked(width.div_ceil(8))?;
            runs = rest;
            let level = level.iter().rev().fold(0, |level, byte| level << 8 | u32::from(*byte));
            levels.extend(std::iter::repeat_n(level, count.min(entries - levels.len())));
        } else {
            let (bits, rest) = runs.split_at_checked(count.checked_mul(width)?)?;
            runs = rest;
            let bit = |i: usize| u32::from(bits[i / 8] >> (i % 8) & 1);
            let level = |i: usize| (0..width).fold(0, |level, j| level | bit(i * width + j) << j);
            levels.extend((0..(8 * count).min(entries - levels.len())).map(level));
        }
    }
    Some(levels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let file = include_bytes!("one_of_each.parquet");
        let columns = read_columns(file).unwrap();
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["number", "flag", "name", "taxels", "grid", "some", "seen.bytes", "seen.path"]);
        assert_eq!(columns[0].values, Values::F64(vec![0.1, -0.0, f64::INFINITY]));
        assert_eq!(columns[1].values, Values::Bool(vec![true, false, true]));
        assert_eq!(columns[2].values, Values::Bytes(["a", "", "π"].map(|text| text.as_bytes().to_vec()).to_vec()));
        assert_eq!(columns[3].lengths, Some(vec![2, 2, 2]));
        assert_eq!(columns[3].values, Values::F32(vec![0.5, 1.5, 2.5, 3.5, 4.5, 5.5]));
        assert_eq!((&columns[4].lengths, &columns[5].lengths), (&Some(vec![4, 4, 4]), &Some(vec![2, 0, 1])));
        assert_eq!(columns[6].values, Values::Bytes(vec![vec![1], vec![], vec![2, 3]]));
    }

    #[test]
    fn what_is_damaged_is_refused_without_a_panic() {
        let file = include_bytes!("one_of_each.parquet");
        for length in 0..file.len() {
            assert!(read_columns(&file[..length]).is_err());
        }
        for at in 0..file.len() {
            for bit in 0..8 {
                let mut wrong = file.to_vec();
                wrong[at] ^= 1 << bit;
                let _ = read_columns(&wrong);
            }
        }
    }
}
