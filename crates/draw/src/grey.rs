//! Images of one channel: for numbers, not for eyes.

/// The bytes of a PNG file with 8 bits a pixel, rows from the top. `None` unless there are `width × height` levels and some.
pub fn encode_grey8(width: usize, height: usize, levels: &[u8]) -> Option<Vec<u8>> {
    if levels.is_empty() || levels.len() != width.checked_mul(height)? {
        return None;
    }
    encode(width, height, png::BitDepth::Eight, levels)
}

/// The bytes of a PNG file with 16 bits a pixel, rows from the top. `None` unless there are `width × height` levels and some.
pub fn encode_grey16(width: usize, height: usize, levels: &[u16]) -> Option<Vec<u8>> {
    if levels.is_empty() || levels.len() != width.checked_mul(height)? {
        return None;
    }
    let big_endian: Vec<u8> = levels.iter().flat_map(|level| level.to_be_bytes()).collect();
    encode(width, height, png::BitDepth::Sixteen, &big_endian)
}

fn encode(width: usize, height: usize, depth: png::BitDepth, levels: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, u32::try_from(width).ok()?, u32::try_from(height).ok()?);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(depth);
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(levels).ok()?;
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
        let small = encode_grey8(2, 1, &[3, 250]).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(small)).read_info().unwrap();
        let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut buffer).unwrap();
        assert_eq!(buffer, [3, 250]);
        assert!(encode_grey8(2, 2, &[3, 250]).is_none());
        assert!(encode_grey16(3, 3, &levels).is_none() && encode_grey16(0, 0, &[]).is_none());
    }
}
