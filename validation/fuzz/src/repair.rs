//! Makes the checksums and lengths of a damaged file right again, so that a reader goes on to the damage itself.

/// Checksums of the chunks of a PNG file.
pub fn png(bytes: &mut [u8]) {
    let mut at = 8;
    while let Some(head) = bytes.get(at..at + 8) {
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let Some(end) = at.checked_add(8).and_then(|start| start.checked_add(length)) else { return };
        let Some(content) = bytes.get(at + 4..end) else { return };
        let sum = crc32fast::hash(content).to_be_bytes();
        let Some(place) = bytes.get_mut(end..end + 4) else { return };
        place.copy_from_slice(&sum);
        at = end + 4;
    }
}

/// Checksums of the chunks of an MCAP file: zero means none.
pub fn mcap(bytes: &mut [u8]) {
    const CHUNK: u8 = 6;
    let mut at = 8;
    while let Some(head) = bytes.get(at..at + 9) {
        let length = u64::from_le_bytes(std::array::from_fn(|i| head[1 + i]));
        let (kind, start) = (head[0], at + 9);
        if kind == CHUNK
            && let Some(sum) = bytes.get_mut(start + 24..start + 28)
        {
            sum.fill(0);
        }
        let Some(next) = usize::try_from(length).ok().and_then(|length| start.checked_add(length)) else { return };
        at = next;
    }
}

/// The length in the header of a GLB file.
pub fn glb(bytes: &mut [u8]) {
    let length = (bytes.len() as u32).to_le_bytes();
    if let Some(place) = bytes.get_mut(8..12) {
        place.copy_from_slice(&length);
    }
}
