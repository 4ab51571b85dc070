//! Long values for tables: hashes and addresses keep their first and last four digits.

/// Hexadecimal texts with more digits than this are shortened.
const DIGITS_MAX: usize = 20;

/// How values are written in text: short, so that a line fits a screen, or whole (`--wide`). Data for programs (JSON,
/// CSV) is always whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    Short,
    Wide,
}

impl Width {
    /// From the flag `--wide`.
    pub const fn of_flag(wide: bool) -> Self {
        if wide { Self::Wide } else { Self::Short }
    }

    pub const fn is_wide(self) -> bool {
        matches!(self, Self::Wide)
    }

    /// The text, with its hashes and addresses as this width has them.
    pub fn fit(self, text: &str) -> String {
        if self.is_wide() { text.to_owned() } else { short(text) }
    }

    /// As [`Width::fit`], and never longer than `most` characters: `…` stands for what is left out.
    pub fn fit_to(self, text: &str, most: usize) -> String {
        if self.is_wide() { text.to_owned() } else { cut_middle(&short(text), most) }
    }
}

/// Shortens every hash and address in a text: `arena/funds/1/0x12ab…89ef`.
pub fn short(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find("0x") {
        let (before, from) = rest.split_at(place);
        let digits = &from[2..];
        let length = digits.bytes().take_while(u8::is_ascii_hexdigit).count();
        output.push_str(before);
        if length > DIGITS_MAX {
            output.push_str(&format!("0x{}…{}", &digits[..4], &digits[length - 4..length]));
        } else {
            output.push_str(&from[..2 + length]);
        }
        rest = &digits[length..];
    }
    output.push_str(rest);
    output
}

fn cut_middle(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(1);
    let (head, tail) = (kept - kept / 3, kept / 3);
    let first: String = text.chars().take(head).collect();
    let last: String = text.chars().skip(length - tail).collect();
    format!("{first}…{last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_and_addresses_keep_both_ends() {
        let check = |text: &str, expected: &str| assert_eq!(short(text), expected);
        check("0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", "0x5aae…eaed");
        check("arena/funds/1/0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", "arena/funds/1/0x5aae…eaed");
        let hash = "ab".repeat(32);
        check(&format!("credit/eip155:1:0x{hash}:native:0/1"), "credit/eip155:1:0xabab…abab:native:0/1");
        check("0xfeed 0x 0xa1", "0xfeed 0x 0xa1");
        check("no digits", "no digits");
        check(&format!("0x{hash}, 0x{hash}"), "0xabab…abab, 0xabab…abab");
    }

    #[test]
    fn a_long_text_loses_its_middle() {
        assert_eq!(Width::Short.fit_to("abcdefghijklmnop", 10), "abcdef…nop");
        assert_eq!(Width::Short.fit_to("abc", 10), "abc");
        assert_eq!(Width::Wide.fit_to("abcdefghijklmnop", 10), "abcdefghijklmnop");
    }
}
