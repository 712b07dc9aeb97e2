//! The last input of a worker and its counts, on the disk before the input is read: what a dead process was reading is
//! known.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Counts of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Inputs, the last one included.
    pub inputs: u64,
    /// Inputs that were accepted.
    pub accepted: u64,
    /// Different refusals.
    pub refusals: u64,
    /// The longest CPU time of an input (µs).
    pub slowest_us: u64,
    /// The most memory of an input (bytes).
    pub peak_bytes: u64,
    /// CPU time of all damaged inputs (µs).
    pub cpu_us: u64,
}

const HEAD: usize = 7 * 8;

/// Writes the counts and the next input.
pub fn write(file: &mut File, counts: &Counts, input: &[u8]) -> io::Result<()> {
    let Counts { inputs, accepted, refusals, slowest_us, peak_bytes, cpu_us } = *counts;
    let mut bytes = Vec::with_capacity(HEAD + input.len());
    for number in [inputs, accepted, refusals, slowest_us, peak_bytes, cpu_us, input.len() as u64] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(input);
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&bytes)
}

/// The counts and the last input of a worker.
pub fn read(path: &Path) -> io::Result<(Counts, Vec<u8>)> {
    let mut bytes = Vec::new();
    File::open(path)?.read_to_end(&mut bytes)?;
    let number =
        |i: usize| bytes.get(8 * i..8 * i + 8).map_or(0, |part| u64::from_le_bytes(std::array::from_fn(|k| part[k])));
    let counts = Counts {
        inputs: number(0),
        accepted: number(1),
        refusals: number(2),
        slowest_us: number(3),
        peak_bytes: number(4),
        cpu_us: number(5),
    };
    let end = (HEAD + number(6) as usize).min(bytes.len());
    Ok((counts, bytes.get(HEAD..end).unwrap_or_default().to_vec()))
}
