//! The differences between the readable part of a receipt and its record. Pure.

use serde_json::Value;

/// Characters of a value that are shown, around the first that differs.
const SHOWN: usize = 60;

/// One thing that the file says, and the record does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Where in the file: `readable.postings[0].amount`.
    pub path: String,
    pub file_says: String,
    pub record_says: String,
}

/// What the file says in other words than the record; empty if they agree.
pub fn differences(written: &Value, proven: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare("readable", Some(written), Some(proven), &mut found);
    found
}

fn compare(path: &str, written: Option<&Value>, proven: Option<&Value>, found: &mut Vec<Difference>) {
    match (written, proven) {
        (Some(Value::Object(written)), Some(Value::Object(proven))) => {
            let keys = written.keys().chain(proven.keys().filter(|key| !written.contains_key(*key)));
            for key in keys {
                compare(&format!("{path}.{key}"), written.get(key), proven.get(key), found);
            }
        }
        (Some(Value::Array(written)), Some(Value::Array(proven))) => {
            for place in 0..written.len().max(proven.len()) {
                compare(&format!("{path}[{place}]"), written.get(place), proven.get(place), found);
            }
        }
        (written, proven) if written == proven => {}
        (written, proven) => {
            let words = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), ToString::to_string);
            let (written, proven) = (words(written), words(proven));
            let same = written.chars().zip(proven.chars()).take_while(|(one, two)| one == two).count();
            let (file_says, record_says) = (around(&written, same), around(&proven, same));
            found.push(Difference { path: path.to_owned(), file_says, record_says });
        }
    }
}

/// The text, or if it is long, the part of it that begins shortly before this place.
fn around(text: &str, place: usize) -> String {
    let length = text.chars().count();
    if length <= SHOWN {
        return text.to_owned();
    }
    let from = place.saturating_sub(SHOWN / 3).min(length - SHOWN);
    let part: String = text.chars().skip(from).take(SHOWN).collect();
    format!("{}{part}{}", if from > 0 { "…" } else { "" }, if from + SHOWN < length { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(written: &Value, expected: &[(&str, &str, &str)]) {
        let proven = json!({ "seq": 5, "postings": [{ "amount": "15" }], "result": "applied" });
        let found = differences(written, &proven);
        let found: Vec<(&str, &str, &str)> =
            found.iter().map(|one| (&*one.path, &*one.file_says, &*one.record_says)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn every_difference_is_named_with_both_values() {
        check(&json!({ "seq": 5, "postings": [{ "amount": "15" }], "result": "applied" }), &[]);
        check(
            &json!({ "seq": 5, "postings": [{ "amount": "999" }], "result": "applied" }),
            &[("readable.postings[0].amount", "\"999\"", "\"15\"")],
        );
        check(
            &json!({ "seq": 5, "postings": [], "result": "applied", "to": "me" }),
            &[("readable.postings[0]", "nothing", "{\"amount\":\"15\"}"), ("readable.to", "\"me\"", "nothing")],
        );
        let record = "{\"postings\":[{\"amount\":\"15\"}],\"result\":\"applied\",\"seq\":5}";
        check(&json!("lies"), &[("readable", "\"lies\"", record)]);
    }

    #[test]
    fn of_a_long_text_the_part_that_differs_is_shown() {
        let text = |digit: &str| json!(format!("{}{digit}{}", "a".repeat(100), "b".repeat(100)));
        let found = differences(&text("1"), &text("2"));
        assert_eq!(found[0].file_says, format!("…{}1{}…", "a".repeat(20), "b".repeat(39)));
        assert_eq!(found[0].record_says, format!("…{}2{}…", "a".repeat(20), "b".repeat(39)));
    }
}
