//! The shape of a body, checked on its raw bytes before any other code reads it.
//!
//! Two readers must not read two requests from one body: a field that occurs twice is refused, also when one of its
//! spellings has escapes. The depth and the number of fields are bounded, so the check takes linear time.

use std::borrow::Cow;

use crate::ErrorCode;

/// How deeply objects and arrays may be nested.
pub const DEPTH_MAX: usize = 32;
/// The most fields of one object.
pub const FIELDS_MAX: usize = 64;

/// Checks depth, number of fields and duplicate fields. Whether it is JSON at all is decided by the reader after it.
///
/// # Errors
/// The first rule that is broken.
pub fn check_shape(bytes: &[u8]) -> Result<(), ErrorCode> {
    // One entry for each open object or array: the fields so far, or `None` for an array.
    let mut open: Vec<Option<Vec<Cow<'_, [u8]>>>> = Vec::new();
    let mut at = 0;
    // Whether the next string is the name of a field.
    let mut expects_name = false;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => {
                if open.len() == DEPTH_MAX {
                    return Err(ErrorCode::BodyTooDeep);
                }
                expects_name = *byte == b'{';
                open.push(expects_name.then(Vec::new));
            }
            b'}' | b']' => {
                open.pop();
                expects_name = false;
            }
            b',' => expects_name = matches!(open.last(), Some(Some(_))),
            b'"' => {
                let text = string_at(bytes, at).ok_or(ErrorCode::BodyNotJson)?;
                if let (true, Some(Some(fields))) = (expects_name, open.last_mut()) {
                    add_field(fields, text)?;
                }
                expects_name = false;
                at += text.len() + 1;
            }
            _ => {}
        }
        at += 1;
    }
    Ok(())
}

/// The bytes between the quotes of the string that begins at `at`.
fn string_at(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at + 1..)?;
    let mut end = 0;
    loop {
        match rest.get(end)? {
            b'"' => return rest.get(..end),
            b'\\' => end += 2,
            _ => end += 1,
        }
    }
}

fn add_field<'a>(fields: &mut Vec<Cow<'a, [u8]>>, raw: &'a [u8]) -> Result<(), ErrorCode> {
    let name = if raw.contains(&b'\\') {
        let quoted = [b"\"", raw, b"\""].concat();
        let text: String = serde_json::from_slice(&quoted).map_err(|_| ErrorCode::BodyNotJson)?;
        Cow::Owned(text.into_bytes())
    } else {
        Cow::Borrowed(raw)
    };
    if fields.contains(&name) {
        return Err(ErrorCode::BodyDuplicateField);
    }
    if fields.len() == FIELDS_MAX {
        return Err(ErrorCode::BodyTooDeep);
    }
    fields.push(name);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, expected: Result<(), ErrorCode>) {
        assert_eq!(check_shape(body.as_bytes()), expected, "{}", body.chars().take(80).collect::<String>());
    }

    #[test]
    fn a_field_occurs_once_in_each_object() {
        check(r#"{"a": 1, "b": {"a": 2}, "c": [{"a": 3}, {"a": "a"}]}"#, Ok(()));
        check(r#"{"a": 1, "a": 1}"#, Err(ErrorCode::BodyDuplicateField));
        check(r#"{"x": [{"a": {}, "b": [], "a": 1}]}"#, Err(ErrorCode::BodyDuplicateField));
        // Another spelling of the same name.
        check(r#"{"amount": 1, "\u0061mount": 2}"#, Err(ErrorCode::BodyDuplicateField));
        // Neither braces nor quotes inside of strings count.
        check(r#"{"a": "}{\"a\":", "b": "\\"}"#, Ok(()));
        check(r#"{"a": ["a", "a"], "b": "a"}"#, Ok(()));
    }

    #[test]
    fn depth_and_fields_are_bounded() {
        check(&("[".repeat(32) + &"]".repeat(32)), Ok(()));
        check(&("[".repeat(33) + &"]".repeat(33)), Err(ErrorCode::BodyTooDeep));
        check(&"[".repeat(1 << 20), Err(ErrorCode::BodyTooDeep));
        let fields = |count: usize| {
            let fields: Vec<_> = (0..count).map(|number| format!("\"{number}\":1")).collect();
            format!("{{{}}}", fields.join(","))
        };
        check(&fields(64), Ok(()));
        check(&fields(65), Err(ErrorCode::BodyTooDeep));
    }

    #[test]
    fn a_string_without_an_end_is_no_json() {
        check(r#"{"a"#, Err(ErrorCode::BodyNotJson));
        check(r#"{"a\"#, Err(ErrorCode::BodyNotJson));
    }
}
