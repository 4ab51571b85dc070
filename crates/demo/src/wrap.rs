//! Breaks lines between words.

/// The narrowest terminal that every line fits.
pub const WIDTH: usize = 80;

/// The text in lines of at most [`WIDTH`] columns; all but the first are indented. A longer word gets its own line.
pub fn wrapped(text: &str, indent: &str) -> String {
    let (mut lines, mut line) = (Vec::new(), String::new());
    // The spaces at the beginning of the text stay.
    let (margin, words) = text.split_at(text.len() - text.trim_start().len());
    let mut start = margin.to_owned();
    for word in words.split(' ') {
        if line.is_empty() {
            line = format!("{start}{word}");
        } else if line.chars().count() + 1 + word.chars().count() <= WIDTH {
            line = format!("{line} {word}");
        } else {
            lines.push(std::mem::take(&mut line));
            start = format!("{margin}{indent}");
            line = format!("{start}{word}");
        }
    }
    lines.push(line);
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_break_between_words() {
        let check = |text: &str, expected: &str| assert_eq!(wrapped(text, "  "), expected);
        check("", "");
        check("  short", "  short");
        let address = "0x0b5E0F2617dbe9562C42d4A93cEe639444543f41";
        check(
            &format!("follows eip155:31337: deposits to {address} are final after 3 blocks"),
            &format!("follows eip155:31337: deposits to {address} are\n  final after 3 blocks"),
        );
        let long = "x".repeat(90);
        check(&format!("  came with {long} again"), &format!("  came with\n    {long}\n    again"));
    }
}
