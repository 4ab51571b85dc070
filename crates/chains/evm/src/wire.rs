//! JSON-RPC: encodes requests, and decodes answers without trusting their form.

use alloy_primitives::U256;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, value::RawValue};

use crate::error::{MalformedAnswer, RpcError, shortened};
use crate::quirks;

/// An address in a node's answer. Nodes write it in any case, and no checksum is required.
pub type WireAddress = alloy_primitives::Address;

/// An error object of JSON-RPC.
#[derive(Clone, Debug, Deserialize)]
pub struct RpcFailure {
    #[serde(default)]
    pub code: i64,
    #[serde(default)]
    pub message: String,
}

#[derive(Deserialize)]
struct RpcAnswer<'a> {
    #[serde(default)]
    id: Value,
    #[serde(default, borrow, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<RpcFailure>,
}

/// Distinguishes `"result": null`, which is an answer, from a missing result.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

pub fn request(id: u64, method: &'static str, params: &Value) -> Vec<u8> {
    serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string().into_bytes()
}

pub fn batch(calls: impl Iterator<Item = (u64, Value)>, method: &'static str) -> Vec<u8> {
    let calls: Vec<Value> = calls
        .map(|(id, params)| serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
        .collect();
    Value::from(calls).to_string().into_bytes()
}

/// The raw result of one request.
pub fn result(body: &[u8], id: u64, method: &'static str) -> Result<Box<RawValue>, RpcError> {
    let answer: RpcAnswer<'_> = serde_json::from_slice(body).map_err(|error| MalformedAnswer::new(method, error))?;
    settled(answer, Some(id), method).map(|(_, result)| result)
}

/// The results of a batch, ordered by id.
pub fn results(body: &[u8], first: u64, count: usize, method: &'static str) -> Result<Vec<Box<RawValue>>, RpcError> {
    if !body.trim_ascii_start().starts_with(b"[") {
        // One error for the whole batch.
        return result(body, first, method).and(Err(MalformedAnswer::new(method, "one answer to a batch").into()));
    }
    let answers: Vec<RpcAnswer<'_>> =
        serde_json::from_slice(body).map_err(|error| MalformedAnswer::new(method, error))?;
    let mut sorted: Vec<(u64, Box<RawValue>)> =
        answers.into_iter().map(|answer| settled(answer, None, method)).collect::<Result<_, _>>()?;
    sorted.sort_by_key(|(id, _)| *id);
    let ids = sorted.iter().map(|(id, _)| *id);
    if !ids.eq(first..first.saturating_add(count as u64)) {
        return Err(MalformedAnswer::new(method, "not one answer to each request").into());
    }
    Ok(sorted.into_iter().map(|(_, result)| result).collect())
}

fn settled(
    answer: RpcAnswer<'_>,
    expected: Option<u64>,
    method: &'static str,
) -> Result<(u64, Box<RawValue>), RpcError> {
    // An error may lack an id, because the node may not have parsed the request.
    if let Some(failure) = answer.error {
        return Err(quirks::failure(RpcFailure { message: shortened(&failure.message), ..failure }, method));
    }
    let id = answer.id.as_u64().ok_or_else(|| MalformedAnswer::new(method, "an answer without a valid id"))?;
    if expected.is_some_and(|expected| expected != id) {
        return Err(MalformedAnswer::new(method, "an answer to another request").into());
    }
    let result = answer.result.ok_or_else(|| MalformedAnswer::new(method, "neither a result nor an error"))?;
    Ok((id, result.to_owned()))
}

/// Decodes a result.
pub fn read<'a, T: Deserialize<'a>>(result: &'a RawValue, method: &'static str) -> Result<T, RpcError> {
    serde_json::from_str(result.get()).map_err(|error| MalformedAnswer::new(method, error).into())
}

/// A hexadecimal number. Every other form is refused, because a misread number is money.
pub fn quantity(result: &RawValue, method: &'static str) -> Result<U256, RpcError> {
    let text: String = read(result, method)?;
    let digits = text.strip_prefix("0x").filter(|digits| !digits.is_empty() && digits.len() <= 64);
    let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let number = digits.and_then(|digits| U256::from_str_radix(digits, 16).ok());
    number.ok_or_else(|| MalformedAnswer::new(method, format_args!("{:?} is not a quantity", shortened(&text))).into())
}
