//! Pictures of one channel with 16 bits: for numbers, not for eyes.

/// The bytes of a PNG file with 16 bits a pixel, rows from the top. `None` unless there are `width × height` levels and some.
pub fn encode_grey16(width: usize, height: usize, levels: &[u16]) -> Option<Vec<u8>> {
    if levels.is_empty() || levels.len() != width.checked_mul(height)? {
        return None;
    }
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, u32::try_from(width).ok()?, u32::try_from(height).ok()?);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Sixteen);
    let big_endian: Vec<u8> = levels.iter().flat_map(|level| level.to_be_bytes()).collect();
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(&big_endian).ok()?;
    writer.finish().ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_come_back() {
        let levels = [0, 1, 256, 65535, 40000, 7];
        let bytes = encode_grey16(3, 2, &levels).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut buffer).unwrap();
        let read: Vec<u16> = buffer.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
        assert_eq!(read, levels);
        assert!(encode_grey16(3, 3, &levels).is_none() && encode_grey16(0, 0, &[]).is_none());
    }
}
