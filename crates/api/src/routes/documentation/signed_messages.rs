//! The typed messages that callers sign (EIP-712): in words in the document's description, and as `x-eip712` in the form
//! that wallets and their libraries take.

use bankroll_orders::typed_data::message_types;
use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi;

const TEXT: &str = "

## Signed messages
Game servers, the owner, players and developers sign typed messages (EIP-712). The domain is `Bankroll`, version `1` and \
the chain's id. `audience` is the public name of the service, `expires` is in seconds since 1970, and a `nonce` is used \
once. The field `x-eip712` of this document has the types as libraries take them.

";

const REQUESTS: &str = "
Instead of a session token a request may have a signature of its own: `X-Bankroll-Signature` over an `ApiRequest`, with \
`X-Bankroll-Address` and `X-Bankroll-Expires`. `path` has the query, `bodyHash` is Keccak-256 of the bytes of the body, \
and `idempotencyKey` is the header or empty.
";

pub(super) fn describe(document: &mut OpenApi) {
    let types = message_types();
    let list: String = types.iter().map(|message| format!("- `{message}`\n")).collect();
    let description = document.info.description.take().unwrap_or_default();
    document.info.description = Some(description + TEXT + &list + REQUESTS);
    let types: Map<String, Value> = types.iter().filter_map(|message| fields(message)).collect();
    let signed = json!({ "domain": { "name": "Bankroll", "version": "1" }, "types": types });
    document.extensions.get_or_insert_default().insert("x-eip712".to_owned(), signed);
}

/// `Name(type field,...)` as a name and its fields.
fn fields(message: &str) -> Option<(String, Value)> {
    let (name, fields) = message.strip_suffix(')')?.split_once('(')?;
    let field = |field: &str| field.split_once(' ').map(|(kind, name)| json!({ "name": name, "type": kind }));
    Some((name.to_owned(), fields.split(',').map(field).collect::<Option<Vec<_>>>()?.into()))
}
