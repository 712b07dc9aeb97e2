//! Text of others on a terminal: names of files, sensors and signals may contain escape sequences, and may be of any length.

/// Characters of a word that are shown.
const MAX_WORD: usize = 200;
/// Characters of a line that are shown.
const MAX_LINE: usize = 4000;

/// The text as it may reach a terminal: characters that control it, or that change the direction of text, are escaped, and long
/// words and lines are cut. Line breaks remain.
///
/// ```
/// use dermis_geometry::terminal_text;
/// assert_eq!(terminal_text("a\u{1b}[2Jb\n"), "a\\u{1b}[2Jb\n");
/// assert_eq!(terminal_text(&"n".repeat(300)).chars().count(), 201);
/// ```
pub fn terminal_text(text: &str) -> String {
    let mut shown = String::with_capacity(text.len().min(MAX_LINE));
    let (mut word, mut line, mut was_cut) = (0, 0, false);
    for character in text.chars() {
        line = if character == '\n' { 0 } else { line + 1 };
        word = if character.is_whitespace() { 0 } else { word + 1 };
        let is_cut = word > MAX_WORD || line > MAX_LINE;
        match is_cut {
            false if is_control(character) => shown.extend(character.escape_default()),
            false => shown.push(character),
            true if !was_cut => shown.push('…'),
            true => (),
        }
        was_cut = is_cut;
    }
    shown
}

/// True for characters that move the cursor, change colours, or show the rest in another order (Unicode, UAX 9).
fn is_control(character: char) -> bool {
    let directs =
        matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    directs
        || (character.is_control() && !matches!(character, '\n' | '\t'))
        || matches!(character, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name with an escape sequence cleared the screen, and one of 100 kB filled it.
    #[test]
    fn names_neither_control_nor_fill_the_terminal() {
        let hostile = "\u{1b}]0;title\u{7}\r\u{9b}31m\u{202e}\u{2028}x";
        let shown = terminal_text(hostile);
        assert!(shown.is_ascii() && !shown.contains(char::is_control) && shown.ends_with('x'), "{shown}");
        assert!(terminal_text(&"n".repeat(100_000)).chars().count() == MAX_WORD + 1);
        assert!(terminal_text(&"n n ".repeat(100_000)).chars().count() == MAX_LINE + 1);
        let plain = "Übung 1: 3.5 N\n\tµm\n";
        assert_eq!(terminal_text(plain), plain);
        let lines = format!("{}\n", "n ".repeat(1000)).repeat(9);
        assert_eq!(terminal_text(&lines), lines);
    }
}
