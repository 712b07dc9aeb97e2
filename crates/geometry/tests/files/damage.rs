//! Damaged files: each is read, or refused with its name; none causes a panic.

use super::{Import, LengthUnit, files, good_files};
use dermis_geometry::Random;

const ROUNDS: usize = 4000;

fn below(random: &mut Random, limit: usize) -> usize {
    (random.uniform() * limit as f64) as usize
}

fn try_all_ways(format: files::Format, bytes: &[u8]) {
    for (weld, drop_degenerate) in [(true, false), (true, true), (false, false)] {
        let import = Import { unit: Some(LengthUnit::Millimetre), weld, drop_degenerate };
        if let Err(error) = files::parse("part", format, bytes, &import) {
            assert!(error.to_string().starts_with("part"), "{error}");
        }
    }
}

#[test]
fn cut_files_do_not_panic() {
    for (_, format, bytes) in good_files() {
        for end in 0..bytes.len() {
            try_all_ways(format, &bytes[..end]);
        }
    }
}

#[test]
fn files_with_changed_bytes_do_not_panic() {
    for (index, (_, format, bytes)) in good_files().into_iter().enumerate() {
        let mut random = Random::new(index as u64);
        for _ in 0..ROUNDS {
            let mut damaged = bytes.clone();
            for _ in 0..1 + below(&mut random, 8) {
                let at = below(&mut random, damaged.len());
                damaged[at] = match below(&mut random, 4) {
                    0 => damaged[at] ^ 1 << below(&mut random, 8),
                    1 => *b"0123456789-e.\n\\/\"{}[] ,".get(below(&mut random, 32)).unwrap_or(&b'9'),
                    2 => [0, 0x7f, 0x80, 0xff][below(&mut random, 4)],
                    _ => random.next_u32() as u8,
                };
            }
            if below(&mut random, 3) == 0 {
                damaged.truncate(below(&mut random, damaged.len()));
            }
            try_all_ways(format, &damaged);
        }
    }
}

/// Ranges of bytes are overwritten, removed or duplicated, so that counts and contents disagree.
#[test]
fn files_with_moved_stretches_do_not_panic() {
    for (index, (_, format, bytes)) in good_files().into_iter().enumerate() {
        let mut random = Random::new(100 + index as u64);
        for _ in 0..ROUNDS {
            let (from, to) = (below(&mut random, bytes.len()), below(&mut random, bytes.len()));
            let length = below(&mut random, 64).min(bytes.len() - from);
            let mut damaged = bytes.clone();
            match below(&mut random, 3) {
                0 => drop(damaged.drain(from..from + length)),
                1 => drop(damaged.splice(to..to, bytes[from..from + length].iter().copied())),
                _ => {
                    let end = (to + length).min(damaged.len());
                    drop(damaged.splice(to..end, bytes[from..from + length].iter().copied()));
                }
            }
            try_all_ways(format, &damaged);
        }
    }
}

/// Every truncated file is refused, except where the loss cannot be detected: a name after the last relevant word,
/// white space, the second digit of a last number, and whole elements of a text file.
#[test]
fn files_of_known_length_are_refused_when_cut() {
    for (what, format, bytes) in good_files() {
        let import = Import { unit: Some(LengthUnit::Millimetre), ..Import::default() };
        let unnoticed = match what {
            "text STL" => b" a cube\n".len(),
            "OBJ" => continue,
            "text PLY" => b"\n".len(),
            _ => 0,
        };
        for end in 0..bytes.len() - unnoticed {
            assert!(files::parse(what, format, &bytes[..end], &import).is_err(), "{what} cut at {end}");
        }
    }
}
