//! Arrays as numpy reads them (format version 1.0).

use std::fmt::Write;

/// The bytes of a `.npy` file of 32-bit numbers, rows first. `None` unless the shape holds as many as there are.
pub fn of_f32(shape: &[usize], values: impl ExactSizeIterator<Item = f32>) -> Option<Vec<u8>> {
    let mut bytes = header("<f4", shape, values.len())?;
    values.for_each(|value| bytes.extend(value.to_le_bytes()));
    Some(bytes)
}

/// The same of 64-bit numbers.
pub fn of_f64(shape: &[usize], values: impl ExactSizeIterator<Item = f64>) -> Option<Vec<u8>> {
    let mut bytes = header("<f8", shape, values.len())?;
    values.for_each(|value| bytes.extend(value.to_le_bytes()));
    Some(bytes)
}

fn header(kind: &str, shape: &[usize], count: usize) -> Option<Vec<u8>> {
    if shape.iter().product::<usize>() != count {
        return None;
    }
    let mut sides = String::new();
    shape.iter().for_each(|side| {
        let _ = write!(sides, "{side}, ");
    });
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}), }}", sides.trim_end());
    // Magic, version and length take ten bytes; data begin at a multiple of 64, after a line break.
    text.extend(std::iter::repeat_n(' ', 63 - (10 + text.len()) % 64));
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(text.len()).ok()?.to_le_bytes());
    bytes.extend(text.into_bytes());
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_as_numpy_wants_it() {
        let bytes = of_f32(&[2, 3], (0..6u8).map(f32::from)).unwrap();
        let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        assert_eq!((10 + length) % 64, 0);
        let text = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
        assert!(
            text.starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3,), }") && text.ends_with('\n')
        );
        assert_eq!(bytes.len(), 10 + length + 24);
        assert_eq!(&bytes[bytes.len() - 4..], 5f32.to_le_bytes());
        assert!(of_f64(&[7], [1.0].into_iter()).is_none());
    }
}
