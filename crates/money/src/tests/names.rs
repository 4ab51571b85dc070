//! Names: legal and illegal texts.

use crate::Name;

#[test]
fn names_are_short_lower_case_and_free_of_separators() {
    for legal in ["a", "0xab12", "arena-1", "a_b.c:d-e", "eip155:1", &"x".repeat(128)] {
        assert_eq!(legal.parse::<Name>().map(String::from), Ok(legal.to_owned()));
    }
    let illegal = ["", "Alice", "0xAB", "a/b", "a b", " a", "a\n", "a\0", "a*", "a%", "a?", "@house", "{a}", "\u{e9}"];
    for illegal in illegal.into_iter().map(str::to_owned).chain(["x".repeat(129)]) {
        assert!(illegal.parse::<Name>().is_err(), "{illegal:?}");
    }
}

#[test]
fn a_refused_name_is_quoted_and_truncated() {
    let refused = "É".repeat(1000).parse::<Name>().unwrap_err();
    assert_eq!(refused.given.chars().count(), 64);
}

#[test]
fn json_names_are_checked_too() {
    assert_eq!(serde_json::from_str::<Name>("\"arena\"").unwrap().as_str(), "arena");
    assert!(serde_json::from_str::<Name>("\"Arena\"").is_err());
    assert!(serde_json::from_str::<Name>("7").is_err());
}
