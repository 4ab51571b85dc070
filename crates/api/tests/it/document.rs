//! The OpenAPI document: complete, and with no reference into nothing.

use serde_json::Value;

fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|value| references(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[test]
fn every_reference_leads_to_a_schema_and_every_operation_has_words() {
    let document = serde_json::to_value(bankroll_api::openapi()).unwrap();
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.contains(&"#/components/schemas/ErrorBody".to_owned()), "{found:?}");
    for reference in found {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            assert!(operation["summary"].is_string(), "{method} {path} has no summary");
            let without = [
                "/v1/register",
                "/v1/sessions",
                "/v1/sign-in/nonce",
                "/v1/sign-in",
                "/v1/sessions/current",
                "/v1/servers/{server}/batch",
            ];
            let needs_key = method != "get" && !without.contains(&path.as_str());
            let has_key = operation["parameters"].to_string().contains("Idempotency-Key");
            assert_eq!(needs_key, has_key, "{method} {path}");
        }
    }
}
