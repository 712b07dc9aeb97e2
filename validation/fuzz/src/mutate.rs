//! Damages inputs: bytes, numbers, lines and words of a format.

/// A seeded random stream (splitmix64).
pub struct Stream(pub u64);

impl Stream {
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `count`, or 0.
    pub fn below(&mut self, count: usize) -> usize {
        if count == 0 { 0 } else { (self.bits() % count as u64) as usize }
    }

    /// One entry of a list that is not empty.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// The largest damaged input (bytes).
pub const MAX_BYTES: usize = 64 << 10;

/// Numbers as text that readers get wrong.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
    "0.1",
    "1e-9",
    "1e9",
    "1e-320",
    "5e-324",
    "1e308",
    "-1e308",
    "1e309",
    "1e155",
    "1e-155",
    "nan",
    "NaN",
    "inf",
    "-inf",
    "Infinity",
    "1e",
    "0x10",
    "1_000",
    "1e99999999999",
    "1.7976931348623157e308",
    "+1",
    ".5",
];

/// Whole numbers of 1, 2, 4 and 8 bytes that readers get wrong.
const WHOLE: &[u64] = &[
    0,
    1,
    2,
    3,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
    u64::MAX - 7,
    0x7ff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0x7f80_0000,
    0x7fc0_0000,
    0x0010_0000_0000_0000,
];

/// A damaged copy of `seed`; `other` is a second input to take parts of, `words` are words of the format.
pub fn damaged(seed: &[u8], other: &[u8], words: &[&str], random: &mut Stream) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    let depth = random_depth(random.bits());
    for _ in 0..1 + random.below(depth) {
        once(&mut bytes, other, words, random);
        bytes.truncate(MAX_BYTES);
    }
    bytes
}

/// Mostly a few changes, seldom many.
fn random_depth(bits: u64) -> usize {
    match bits % 8 {
        0..=4 => 2,
        5 | 6 => 6,
        _ => 24,
    }
}

fn once(bytes: &mut Vec<u8>, other: &[u8], words: &[&str], random: &mut Stream) {
    let at = random.below(bytes.len());
    match random.below(14) {
        0 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
        1 if !bytes.is_empty() => {
            bytes[at] = *random.pick(&[0, 1, 0x7f, 0x80, 0xff, b'"', b'\n', b'-', b'0', b'[', b'{'])
        }
        2 => {
            let count = 1 + random.below(8);
            let new: Vec<u8> = (0..count).map(|_| random.bits() as u8).collect();
            bytes.splice(at..at, new);
        }
        3 => drop(bytes.drain(at..(at + 1 + random.below(16)).min(bytes.len()).max(at))),
        4 => bytes.truncate(at),
        5 => repeat_part(bytes, at, random),
        6 => {
            let from = random.below(other.len());
            let part = &other[from..(from + 1 + random.below(other.len())).min(other.len()).max(from)];
            let until = (at + random.below(part.len() + 1)).min(bytes.len());
            bytes.splice(at..until, part.iter().copied());
        }
        7 => whole_number(bytes, at, random),
        8 | 9 => text_number(bytes, at, random),
        10 | 11 if !words.is_empty() => {
            let word = random.pick(words).as_bytes();
            // Over something of the same length, or in between.
            let until = if random.below(2) == 0 { at } else { (at + word.len()).min(bytes.len()) };
            bytes.splice(at..until, word.iter().copied());
        }
        12 => change_lines(bytes, random),
        _ => swap_words(bytes, words, random),
    }
}

/// Repeats a part of the input a few or many times: nesting, long lists, long words.
fn repeat_part(bytes: &mut Vec<u8>, at: usize, random: &mut Stream) {
    let part = bytes[at..(at + 1 + random.below(32)).min(bytes.len()).max(at)].to_vec();
    let times = *random.pick(&[1, 1, 1, 2, 4, 64, 2000]);
    let new: Vec<u8> = part.iter().copied().cycle().take(part.len() * times).collect();
    bytes.splice(at..at, new);
}

fn whole_number(bytes: &mut [u8], at: usize, random: &mut Stream) {
    let width = *random.pick(&[1usize, 2, 4, 8]);
    let lengths = [bytes.len() as u64, bytes.len() as u64 + 1, bytes.len() as u64 / 2];
    let number = match random.below(3) {
        0 => *random.pick(&lengths),
        1 => random.bits() >> random.below(64),
        _ => *random.pick(WHOLE),
    };
    let little = number.to_le_bytes();
    if let Some(place) = bytes.get_mut(at..at + width) {
        place.copy_from_slice(&little[..width]);
        if random.below(4) == 0 {
            place.reverse();
        }
    }
}

/// Replaces a number that is written as text.
fn text_number(bytes: &mut Vec<u8>, at: usize, random: &mut Stream) {
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e');
    let Some(start) = (at..bytes.len()).find(|i| bytes[*i].is_ascii_digit()) else { return };
    let start = (0..start).rev().take_while(|i| is_part(&bytes[*i])).last().unwrap_or(start);
    let end = (start..bytes.len()).find(|i| !is_part(&bytes[*i])).unwrap_or(bytes.len());
    let new = match random.below(4) {
        0 => (random.bits() >> random.below(64)).to_string(),
        1 => format!("{:e}", f64::from_bits(random.bits())),
        _ => (*random.pick(NUMBERS)).to_owned(),
    };
    bytes.splice(start..end, new.into_bytes());
}

/// Removes, doubles or swaps lines.
fn change_lines(bytes: &mut Vec<u8>, random: &mut Stream) {
    let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let (a, b) = (random.below(lines.len()), random.below(lines.len()));
    match random.below(3) {
        0 => drop(lines.remove(a)),
        1 => lines.insert(b, lines[a].clone()),
        _ => lines.swap(a, b),
    }
    *bytes = lines.join(&b'\n');
}

/// Replaces a word of the format by another one.
fn swap_words(bytes: &mut Vec<u8>, words: &[&str], random: &mut Stream) {
    if words.is_empty() {
        return;
    }
    let (old, new) = (random.pick(words).as_bytes(), random.pick(words).as_bytes());
    let found: Vec<usize> =
        bytes.windows(old.len().max(1)).enumerate().filter(|(_, part)| *part == old).map(|(i, _)| i).collect();
    if !found.is_empty() {
        let at = *random.pick(&found);
        bytes.splice(at..at + old.len(), new.iter().copied());
    }
}
