//! The differences between the readable part of a receipt and its record. Pure.

use serde_json::Value;

/// Differences that are reported, at most.
const MOST: usize = 5;

/// What the file says in other words than the record; empty if they agree.
pub fn differences(written: &Value, proven: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("readable", Some(written), Some(proven), &mut found);
    let more = found.len().saturating_sub(MOST);
    found.truncate(MOST);
    if more > 0 {
        found.push(format!("and {more} more"));
    }
    found
}

fn compare(path: &str, written: Option<&Value>, proven: Option<&Value>, found: &mut Vec<String>) {
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
        (Some(written), Some(proven)) => found.push(format!("{path} is {written}, and the record says {proven}")),
        (Some(written), None) => found.push(format!("{path} is {written}, and the record says nothing of it")),
        (None, Some(proven)) => found.push(format!("{path} is missing, and the record says {proven}")),
        (None, None) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_difference_is_named_with_both_values() {
        let proven = json!({ "seq": 5, "postings": [{ "amount": "15" }], "result": "applied" });
        let check = |written: Value, expected: &[&str]| assert_eq!(differences(&written, &proven), expected);
        check(proven.clone(), &[]);
        check(
            json!({ "seq": 5, "postings": [{ "amount": "999" }], "result": "applied" }),
            &["readable.postings[0].amount is \"999\", and the record says \"15\""],
        );
        check(
            json!({ "seq": 5, "postings": [], "result": "applied", "to": "me" }),
            &[
                "readable.postings[0] is missing, and the record says {\"amount\":\"15\"}",
                "readable.to is \"me\", and the record says nothing of it",
            ],
        );
        check(json!("lies"), &[&format!("readable is \"lies\", and the record says {proven}")]);
    }
}
