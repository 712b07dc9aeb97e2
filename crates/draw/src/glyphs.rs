//! The shapes of the characters.
//!
//! Each glyph consists of strokes of a round pen. The baseline is `y = 0` with `y` upwards: lower-case letters reach 7,
//! capitals and digits 10, descenders −3. The leftmost stroke is at `x = 0` and the rightmost at `width`. The commands
//! of a path are: `M` starts a stroke, `L` continues it with a line, `C` with a cubic; `A cx cy rx ry from to`
//! continues with an arc (degrees, counter-clockwise when increasing), `E cx cy rx ry` is a closed ellipse, `D x y` a
//! dot. Further pairs after `M` are lines.

/// The design of one character.
pub(crate) struct Glyph {
    /// Kinds of its left and right side, which determine the spacing.
    pub sides: (Side, Side),
    /// Distance from the leftmost to the rightmost stroke.
    pub width: f64,
    /// The strokes.
    pub path: &'static str,
}

/// The side of a character: two stems need more space between them than two rounds.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    /// An upright stroke.
    Stem,
    /// A round stroke.
    Round,
    /// Slanted, or mostly empty.
    Slant,
    /// A digit: padded to the width [`FIGURE_ADVANCE`].
    Figure,
}

/// Advance width of every digit, so that numbers align in columns.
pub(crate) const FIGURE_ADVANCE: f64 = 8.0;

use Side::{Figure, Round, Slant, Stem};

/// The design of a character; `None` if the font lacks it.
pub(crate) fn glyph(character: char) -> Option<Glyph> {
    let (left, right, width, path) = letter(character).or_else(|| figure(character)).or_else(|| sign(character))?;
    Some(Glyph { sides: (left, right), width, path })
}

type Design = (Side, Side, f64, &'static str);

fn letter(character: char) -> Option<Design> {
    Some(match character {
        'A' => (Slant, Slant, 7.6, "M0 0 3.8 10 7.6 0 M1.25 3.3 6.35 3.3"),
        'B' => {
            (Stem, Round, 6.2, "M0 0 0 10 L3.2 10 A3.2 7.7 2.6 2.3 90 -90 L0 5.4 M3.2 5.4 A3.3 2.7 2.9 2.7 90 -90 L0 0")
        }
        'C' => (Round, Slant, 7.1, "A4 5 4 5 42 318"),
        'D' => (Stem, Round, 7.0, "M0 0 0 10 L2.4 10 A2.4 5 4.6 5 90 -90 L0 0"),
        'E' => (Stem, Slant, 5.5, "M5.5 0 0 0 0 10 5.5 10 M0 5.2 4.9 5.2"),
        'F' => (Stem, Slant, 5.2, "M0 0 0 10 5.2 10 M0 5.1 4.6 5.1"),
        'G' => (
            Round,
            Stem,
            7.3,
            "M4.3 4.7 7.3 4.7 7.3 1.6 C6.6 0.6 5.4 0 4 0 C1.4 0 0 2 0 5 C0 8 1.4 10 4 10 C5.5 10 6.6 9.4 7.1 8.2",
        ),
        'H' => (Stem, Stem, 6.9, "M0 0 0 10 M6.9 0 6.9 10 M0 5.2 6.9 5.2"),
        'I' => (Stem, Stem, 0.0, "M0 0 0 10"),
        'J' => (Slant, Stem, 4.4, "M4.4 10 4.4 2.8 A2.2 2.6 2.2 2.6 360 195"),
        'K' => (Stem, Slant, 6.5, "M0 0 0 10 M6.2 10 0 3.6 M2.4 6.1 6.5 0"),
        'L' => (Stem, Slant, 5.0, "M0 10 0 0 5 0"),
        'M' => (Stem, Stem, 8.2, "M0 0 0 10 4.1 1.6 8.2 10 8.2 0"),
        'N' => (Stem, Stem, 6.9, "M0 0 0 10 6.9 0 6.9 10"),
        'O' => (Round, Round, 8.0, "E4 5 4 5"),
        'P' => (Stem, Round, 6.0, "M0 0 0 10 L3.2 10 A3.2 7.2 2.8 2.8 90 -90 L0 4.4"),
        'Q' => (Round, Round, 8.0, "E4 5 4 5 M4.9 2.6 7.8 -0.7"),
        'R' => (Stem, Slant, 6.4, "M0 0 0 10 L3.3 10 A3.3 7.3 2.8 2.7 90 -90 L0 4.6 M3.5 4.6 6.4 0"),
        'S' => (
            Round,
            Round,
            6.4,
            "M6 8.1 C5.7 9.3 4.6 10 3.2 10 C1.4 10 0.3 9 0.3 7.6 C0.3 5.9 1.8 5.5 3.2 5.2 C4.8 4.8 6.4 4.4 6.4 2.6 C6.4 1 5.1 0 3.3 0 C1.5 0 0.3 0.8 0 2.2",
        ),
        'T' => (Slant, Slant, 7.0, "M0 10 7 10 M3.5 10 3.5 0"),
        'U' => (Stem, Stem, 6.8, "M0 10 0 3.6 A3.4 3.6 3.4 3.6 180 360 L6.8 10"),
        'V' => (Slant, Slant, 7.4, "M0 10 3.7 0 7.4 10"),
        'W' => (Slant, Slant, 10.8, "M0 10 2.7 0 5.4 10 8.1 0 10.8 10"),
        'X' => (Slant, Slant, 6.8, "M0.2 10 6.8 0 M6.6 10 0 0"),
        'Y' => (Slant, Slant, 7.0, "M0 10 3.5 4.7 7 10 M3.5 4.7 3.5 0"),
        'Z' => (Slant, Slant, 6.4, "M0.2 10 6.3 10 0 0 6.4 0"),
        'a' => (
            Round,
            Stem,
            4.9,
            "M0.4 5.5 C0.7 6.5 1.5 7 2.6 7 C4.1 7 4.9 6.2 4.9 4.8 L4.9 0 M4.9 4.1 2.8 3.9 C1 3.75 0 3.1 0 1.9 C0 0.75 0.8 0 2.1 0 C3.7 0 4.9 1 4.9 2.7",
        ),
        'b' => (Stem, Round, 5.4, "M0 0 0 10 E2.7 3.5 2.7 3.5"),
        'c' => (Round, Slant, 4.8, "A2.7 3.5 2.7 3.5 42 318"),
        'd' => (Round, Stem, 5.4, "M5.4 0 5.4 10 E2.7 3.5 2.7 3.5"),
        'e' => (Round, Round, 5.4, "M0 3.7 5.4 3.7 A2.7 3.5 2.7 3.5 3 312"),
        'f' => (Slant, Slant, 3.2, "M3.2 9.9 C3 10 2.8 10 2.6 10 C1.6 10 1.1 9.3 1.1 8.2 L1.1 0 M0 7 3 7"),
        'g' => (Round, Stem, 5.4, "E2.7 3.5 2.7 3.5 M5.4 7 5.4 -0.3 A2.7 -0.3 2.7 2.7 360 200"),
        'h' => (Stem, Stem, 5.2, "M0 0 0 10 M0 4.2 A2.6 4.2 2.6 2.8 180 0 L5.2 0"),
        'i' => (Stem, Stem, 0.0, "M0 0 0 7 D0 9.7"),
        'j' => (Slant, Stem, 1.4, "M1.4 7 1.4 -1.4 C1.4 -2.5 0.9 -3 0 -3 D1.4 9.7"),
        'k' => (Stem, Slant, 5.0, "M0 0 0 10 M4.7 7 0 2.5 M1.9 4.3 5 0"),
        'l' => (Stem, Slant, 1.2, "M0 10 0 1.5 C0 0.5 0.4 0 1.2 0"),
        'm' => {
            (Stem, Stem, 8.8, "M0 0 0 7 M0 4.4 A2.2 4.4 2.2 2.6 180 0 L4.4 0 M4.4 4.4 A6.6 4.4 2.2 2.6 180 0 L8.8 0")
        }
        'n' => (Stem, Stem, 5.2, "M0 0 0 7 M0 4.2 A2.6 4.2 2.6 2.8 180 0 L5.2 0"),
        'o' => (Round, Round, 5.6, "E2.8 3.5 2.8 3.5"),
        'p' => (Stem, Round, 5.4, "M0 -3 0 7 E2.7 3.5 2.7 3.5"),
        'q' => (Round, Stem, 5.4, "M5.4 -3 5.4 7 E2.7 3.5 2.7 3.5"),
        'r' => (Stem, Slant, 2.8, "M0 0 0 7 M0 4 C0.1 5.9 1 7 2.8 6.9"),
        's' => (
            Round,
            Round,
            4.6,
            "M4.3 5.6 C4 6.5 3.3 7 2.3 7 C1.1 7 0.2 6.3 0.2 5.3 C0.2 4.2 1.2 3.9 2.3 3.65 C3.6 3.35 4.6 3 4.6 1.85 C4.6 0.7 3.7 0 2.4 0 C1.2 0 0.3 0.5 0 1.5",
        ),
        't' => (Slant, Slant, 3.0, "M1.1 9.2 1.1 1.8 C1.1 0.6 1.6 0 2.5 0 L3 0.05 M0 7 2.9 7"),
        'u' => (Stem, Stem, 5.2, "M0 7 0 2.8 A2.6 2.8 2.6 2.8 180 360 M5.2 7 5.2 0"),
        'v' => (Slant, Slant, 5.4, "M0 7 2.7 0 5.4 7"),
        'w' => (Slant, Slant, 8.0, "M0 7 2 0 4 7 6 0 8 7"),
        'x' => (Slant, Slant, 5.0, "M0.1 7 5 0 M4.9 7 0 0"),
        'y' => (Slant, Slant, 5.4, "M0 7 2.7 0 M5.4 7 2.2 -1.5 C1.8 -2.6 1.3 -3 0.3 -3"),
        'z' => (Slant, Slant, 4.6, "M0.1 7 4.5 7 0 0 4.6 0"),
        'α' => (
            Round,
            Slant,
            5.8,
            "M5.4 7 C5 3 4.4 0 2.5 0 C0.9 0 0 1.4 0 3.5 C0 5.6 0.9 7 2.5 7 C4.4 7 4.8 2.5 5 1.4 C5.1 0.5 5.3 0 5.8 0",
        ),
        'β' => (
            Stem,
            Round,
            5.4,
            "M0 -3 0 7.2 C0 9 1 10 2.4 10 C3.9 10 4.8 9.1 4.8 7.8 C4.8 6.4 3.9 5.5 2 5.5 M2 5.5 C4.2 5.5 5.4 4.5 5.4 2.8 C5.4 1 4.3 0 2.7 0 C1.5 0 0.6 0.4 0 1.2",
        ),
        'γ' => (Slant, Slant, 5.2, "M0 7 C1 7 1.3 6.4 2.6 1 L2.6 -3 M5.2 7 2.6 1"),
        'δ' => (
            Round,
            Round,
            5.4,
            "M4.6 9.4 C4 9.8 3.4 10 2.7 10 C1.7 10 1.1 9.5 1.1 8.7 C1.1 7.3 5.4 6.6 5.4 3.2 C5.4 1.2 4.3 0 2.7 0 C1.1 0 0 1.2 0 3.2 C0 5 1 6.3 2.9 6.6",
        ),
        'ε' => (
            Round,
            Slant,
            4.4,
            "M4.3 5.8 C3.9 6.6 3.2 7 2.3 7 C1.1 7 0.3 6.3 0.3 5.3 C0.3 4.3 1 3.7 2.2 3.7 L2.8 3.7 M2.2 3.7 C0.8 3.7 0 3 0 1.9 C0 0.7 0.9 0 2.2 0 C3.3 0 4 0.4 4.4 1.3",
        ),
        'θ' => (Round, Round, 5.2, "E2.6 5 2.6 5 M0 5 5.2 5"),
        'λ' => (Slant, Slant, 5.4, "M0.2 10 C1.3 10 1.6 9.5 2 8.3 L5.4 0 M2.9 6 0 0"),
        'µ' | 'μ' => (Stem, Stem, 5.2, "M0 7 0 -3 M0 2.8 A2.6 2.8 2.6 2.8 180 360 M5.2 7 5.2 0"),
        'ν' => (Slant, Slant, 5.2, "M0 7 2.5 0 C4.4 1.6 5.2 4 5.2 7"),
        'π' => (Slant, Slant, 6.4, "M0 7 6.4 7 M1.5 7 1.5 0 M4.9 7 4.9 1.4 C4.9 0.5 5.3 0 6.2 0"),
        'ρ' => (Stem, Round, 5.4, "M0 -3 0 3.5 E2.7 3.5 2.7 3.5"),
        'σ' => (Round, Slant, 6.2, "E2.7 3.4 2.7 3.4 M2.7 7 6.2 7"),
        'τ' => (Slant, Slant, 5.0, "M0 7 5 7 M2.4 7 2.4 1.6 C2.4 0.5 2.9 0 3.8 0"),
        'φ' => (Round, Round, 6.6, "E3.3 3.5 3.3 3.5 M3.3 10 3.3 -3"),
        'ω' => (
            Round,
            Round,
            7.4,
            "M1.3 7 C0.3 6 0 4.9 0 3.2 C0 1 0.8 0 1.9 0 C3.2 0 3.7 1 3.7 2.4 L3.7 4.6 M3.7 2.4 C3.7 1 4.2 0 5.5 0 C6.6 0 7.4 1 7.4 3.2 C7.4 4.9 7.1 6 6.1 7",
        ),
        'Δ' => (Slant, Slant, 7.6, "M0 0 3.8 10 7.6 0 0 0"),
        'Ω' => (
            Slant,
            Slant,
            8.0,
            "M0 0 2.6 0 C1 1.6 0.2 3.4 0.2 5.6 C0.2 8.3 1.8 10 4 10 C6.2 10 7.8 8.3 7.8 5.6 C7.8 3.4 7 1.6 5.4 0 L8 0",
        ),
        'Σ' => (Slant, Slant, 6.2, "M6.1 10 0.1 10 4 5 0 0 6.2 0"),
        'ẋ' => (Slant, Slant, 5.0, "M0.1 7 5 0 M4.9 7 0 0 D2.5 9.7"),
        'ż' => (Slant, Slant, 4.6, "M0.1 7 4.5 7 0 0 4.6 0 D2.3 9.7"),
        _ => return None,
    })
}

fn figure(character: char) -> Option<Design> {
    let path = match character {
        '0' => "E2.8 5 2.8 5",
        '1' => "M0.7 8.1 3.1 10 3.1 0",
        '2' => "M0.2 7.2 C0.2 9 1.2 10 2.8 10 C4.4 10 5.4 9 5.4 7.5 C5.4 6 4.4 4.9 3 3.4 L0 0 5.6 0",
        '3' => {
            "M0.3 8.2 C0.7 9.4 1.6 10 2.8 10 C4.3 10 5.3 9.1 5.3 7.7 C5.3 6.2 4.2 5.3 2.2 5.3 M2.2 5.3 C4.4 5.3 5.6 4.3 5.6 2.7 C5.6 1 4.4 0 2.8 0 C1.3 0 0.4 0.7 0 2"
        }
        '4' => "M4.2 0 4.2 10 0 3 5.7 3",
        '5' => {
            "M5 10 1 10 0.5 5.3 C1.2 6 2 6.3 2.9 6.3 C4.6 6.3 5.6 5 5.6 3.2 C5.6 1.3 4.5 0 2.8 0 C1.4 0 0.4 0.7 0 1.9"
        }
        '6' => "E2.8 3.1 2.8 3.1 M0 3.1 C0 7.6 1.3 10 3.2 10 C4.2 10 4.9 9.5 5.2 8.5",
        '7' => "M0 10 5.6 10 2 0",
        '8' => "E2.8 7.65 2.4 2.35 E2.8 2.65 2.8 2.65",
        '9' => "E2.8 6.9 2.8 3.1 M5.6 6.9 C5.6 2.4 4.3 0 2.4 0 C1.4 0 0.7 0.5 0.4 1.5",
        '+' => "M0 5 5.6 5 M2.8 7.8 2.8 2.2",
        '−' => "M0 5 5.6 5",
        '±' => "M0 6 5.6 6 M2.8 8.8 2.8 3.2 M0 0.8 5.6 0.8",
        '×' => "M0.7 7 4.9 3 M4.9 7 0.7 3",
        '÷' => "M0 5 5.6 5 D2.8 8 D2.8 2",
        '=' => "M0 6.4 5.6 6.4 M0 3.6 5.6 3.6",
        '<' => "M5.4 8 0.2 5 5.4 2",
        '>' => "M0.2 8 5.4 5 0.2 2",
        '≤' => "M5.4 9 0.2 6 5.4 3 M0.2 0.6 5.4 0.6",
        '≥' => "M0.2 9 5.4 6 0.2 3 M0.2 0.6 5.4 0.6",
        '≈' => {
            "M0 6 C1 7.6 2 7.4 2.8 6.7 C3.6 6 4.6 5.8 5.6 7.4 M0 2.8 C1 4.4 2 4.2 2.8 3.5 C3.6 2.8 4.6 2.6 5.6 4.2"
        }
        '~' => "M0 4.3 C1 5.9 2 5.7 2.8 5 C3.6 4.3 4.6 4.1 5.6 5.7",
        '$' => {
            "M5.2 8.1 C5 9.3 4 10 2.8 10 C1.2 10 0.2 9 0.2 7.6 C0.2 5.9 1.5 5.5 2.8 5.2 C4.2 4.8 5.6 4.4 5.6 2.6 C5.6 1 4.5 0 2.9 0 C1.3 0 0.3 0.8 0 2.2 M2.8 11.4 2.8 -1.4"
        }
        '#' => "M1.9 9.5 0.9 0.5 M4.7 9.5 3.7 0.5 M0 6.6 5.6 6.6 M0 3.4 5.6 3.4",
        _ => return None,
    };
    Some((Figure, Figure, 5.6, path))
}

fn sign(character: char) -> Option<Design> {
    Some(match character {
        ' ' => (Slant, Slant, 2.2, ""),
        '\u{a0}' | '\u{2009}' => (Slant, Slant, 0.8, ""),
        '.' => (Stem, Stem, 0.0, "D0 0.1"),
        ',' => (Stem, Stem, 0.4, "M0.4 0.3 0 -1.7"),
        ':' => (Stem, Stem, 0.0, "D0 0.1 D0 6.2"),
        ';' => (Stem, Stem, 0.4, "M0.4 0.3 0 -1.7 D0.3 6.2"),
        '!' => (Stem, Stem, 0.0, "M0 10 0 3.2 D0 0.1"),
        '?' => (Slant, Slant, 5.0, "M0 7.6 C0.1 9.1 1.1 10 2.5 10 C4 10 5 9.1 5 7.7 C5 5.6 2.5 5.6 2.5 3.1 D2.5 0.1"),
        '\'' | '’' | '‘' => (Stem, Stem, 0.0, "M0 10 0 7.4"),
        '"' | '“' | '”' => (Stem, Stem, 2.2, "M0 10 0 7.4 M2.2 10 2.2 7.4"),
        '-' | '‐' => (Slant, Slant, 2.8, "M0 3.8 2.8 3.8"),
        '‒' => (Slant, Slant, 4.6, "M0.9 3.8 4 3.8"),
        '–' => (Slant, Slant, 5.6, "M0 3.8 5.6 3.8"),
        '—' => (Slant, Slant, 9.6, "M0 3.8 9.6 3.8"),
        '_' => (Slant, Slant, 6.0, "M0 -1.6 6 -1.6"),
        '/' => (Slant, Slant, 4.2, "M0 -1.4 4.2 11"),
        '\\' => (Slant, Slant, 4.2, "M0 11 4.2 -1.4"),
        '|' => (Stem, Stem, 0.0, "M0 11.4 0 -2.4"),
        '¦' => (Stem, Stem, 0.0, "M0 11.4 0 6 M0 3 0 -2.4"),
        '(' => (Round, Slant, 2.1, "M2.1 11.2 C0.6 9.4 0 7.2 0 4.5 C0 1.8 0.6 -0.4 2.1 -2.2"),
        ')' => (Slant, Round, 2.1, "M0 11.2 C1.5 9.4 2.1 7.2 2.1 4.5 C2.1 1.8 1.5 -0.4 0 -2.2"),
        '[' => (Stem, Slant, 2.0, "M2 11.2 0 11.2 0 -2.2 2 -2.2"),
        ']' => (Slant, Stem, 2.0, "M0 11.2 2 11.2 2 -2.2 0 -2.2"),
        '{' => (
            Slant,
            Slant,
            2.8,
            "M2.8 11.2 C1.6 11.2 1.2 10.7 1.2 9.6 L1.2 6.5 C1.2 5.2 0.8 4.6 0 4.5 C0.8 4.4 1.2 3.8 1.2 2.5 L1.2 -0.6 C1.2 -1.7 1.6 -2.2 2.8 -2.2",
        ),
        '}' => (
            Slant,
            Slant,
            2.8,
            "M0 11.2 C1.2 11.2 1.6 10.7 1.6 9.6 L1.6 6.5 C1.6 5.2 2 4.6 2.8 4.5 C2 4.4 1.6 3.8 1.6 2.5 L1.6 -0.6 C1.6 -1.7 1.2 -2.2 0 -2.2",
        ),
        '*' => (Slant, Slant, 3.8, "M1.9 10 1.9 5.6 M0 8.9 3.8 6.7 M3.8 8.9 0 6.7"),
        'ø' => (Round, Round, 5.6, "E2.8 3.5 2.8 3.5 M0.2 -0.4 5.4 7.4"),
        '%' => (Round, Round, 9.2, "E2 7.9 2 2.1 E7.2 2.1 2 2.1 M7.6 10 1.6 0"),
        '&' => (
            Round,
            Slant,
            7.4,
            "M7.2 0 1.8 6.3 C0.8 7.5 0.8 8.2 0.9 8.6 C1.2 9.5 1.9 10 2.9 10 C4.1 10 4.9 9.3 4.9 8.2 C4.9 7 4 6.4 2.6 5.5 C1 4.5 0 3.9 0 2.5 C0 0.9 1.2 0 2.9 0 C5.2 0 6.6 1.8 7 4.8",
        ),
        '@' => (
            Round,
            Round,
            9.6,
            "E4.7 3.9 2.1 2.5 M6.9 6.3 6.7 2.8 C6.7 1.8 7.2 1.4 7.8 1.4 C8.9 1.4 9.6 2.7 9.6 4.6 C9.6 7.7 7.7 9.6 4.9 9.6 C2 9.6 0 7.3 0 4 C0 0.6 2 -1.8 5 -1.8 C6.2 -1.8 7.1 -1.5 7.9 -1",
        ),
        '^' => (Slant, Slant, 4.6, "M0 6.6 2.3 10 4.6 6.6"),
        '`' => (Slant, Slant, 1.6, "M0 10 1.6 8.2"),
        '°' => (Round, Round, 2.8, "E1.4 8.6 1.4 1.4"),
        '·' => (Stem, Stem, 0.0, "D0 4.4"),
        '•' => (Round, Round, 1.2, "E0.6 4.4 0.6 0.6 D0.6 4.4"),
        '…' => (Stem, Stem, 6.0, "D0 0.1 D3 0.1 D6 0.1"),
        '→' => (Slant, Slant, 8.0, "M0 4.6 8 4.6 M5.2 7.4 8 4.6 5.2 1.8"),
        '←' => (Slant, Slant, 8.0, "M8 4.6 0 4.6 M2.8 7.4 0 4.6 2.8 1.8"),
        '↑' => (Slant, Slant, 5.6, "M2.8 0 2.8 9 M0 6.2 2.8 9 5.6 6.2"),
        '↓' => (Slant, Slant, 5.6, "M2.8 9 2.8 0 M0 2.8 2.8 0 5.6 2.8"),
        '√' => (Slant, Slant, 6.4, "M0 4.6 1.2 5.2 3 0 6.4 11"),
        '∞' => (Round, Round, 9.0, "E2.4 4.6 2.4 2.1 E6.6 4.6 2.4 2.1"),
        '∝' => (
            Round,
            Slant,
            6.0,
            "M6 6.8 C4.4 6.8 3.6 2.4 1.7 2.4 C0.7 2.4 0 3.4 0 4.6 C0 5.8 0.7 6.8 1.7 6.8 C3.6 6.8 4.4 2.4 6 2.4",
        ),
        _ => return None,
    })
}

/// Superscripts and subscripts: the character they are made from and whether they are raised.
pub(crate) fn script(character: char) -> Option<(char, bool)> {
    Some(match character {
        '⁰' => ('0', true),
        '¹' => ('1', true),
        '²' => ('2', true),
        '³' => ('3', true),
        '⁴'..='⁹' => (char::from(b'4' + (character as u32 - '⁴' as u32) as u8), true),
        '⁻' => ('‒', true),
        '⁺' => ('+', true),
        'ⁿ' => ('n', true),
        '₀'..='₉' => (char::from(b'0' + (character as u32 - '₀' as u32) as u8), false),
        'ₙ' => ('n', false),
        'ₜ' => ('t', false),
        _ => return None,
    })
}
