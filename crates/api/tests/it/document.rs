//! The OpenAPI document: complete, and with no reference into nothing.

use serde_json::{Value, json};

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

#[test]
fn the_messages_that_callers_sign_are_in_the_document() {
    let document = serde_json::to_value(bankroll_api::openapi()).unwrap();
    let signed = &document["x-eip712"];
    assert_eq!(signed["domain"], json!({ "name": "Bankroll", "version": "1" }));
    let names: Vec<&String> = signed["types"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["ApiRequest", "OpenSession", "Payout", "Registration"]);
    let fields = [
        json!({ "name": "role", "type": "string" }),
        json!({ "name": "subject", "type": "string" }),
        json!({ "name": "audience", "type": "string" }),
        json!({ "name": "nonce", "type": "bytes32" }),
        json!({ "name": "expires", "type": "uint64" }),
    ];
    assert_eq!(signed["types"]["OpenSession"], json!(fields));
    let text = document["info"]["description"].as_str().unwrap();
    let session = "OpenSession(string role,string subject,string audience,bytes32 nonce,uint64 expires)";
    assert!(text.contains(session), "{text}");
}
