//! geth's `callTracer`: for each transaction a tree of calls, as objects inside objects.
//!
//! Contracts can nest 1,024 calls, which is deeper than serde_json follows, and which recursion should not follow at
//! all. So a cursor walks the text, keeps the open calls in a list, and decodes only the values that are used. The text
//! is a [`RawValue`]: serde_json accepted it as JSON before, so brackets and quotes match. Where they do not, the walk
//! ends with an error.

use alloy_primitives::{B256, U256};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{Movement, Step};
use crate::{
    block::Block,
    error::{Disagreement, MalformedAnswer, RpcError, Unavailable},
    wire::{self, WireAddress},
};

pub const METHOD: &str = "debug_traceBlockByHash";

/// Twice what the EVM allows.
const DEPTH_MAX: usize = 2_048;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TraceEntry<'a> {
    tx_hash: Option<B256>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

/// The calls of each transaction, in the order of execution.
pub fn steps(answer: &RawValue, block: &Block) -> Result<Vec<Vec<Step>>, RpcError> {
    let answer: Vec<TraceEntry<'_>> = wire::read(answer, METHOD)?;
    // Older nodes do not name the transaction of a trace; then only the count can be checked.
    let named = |traced: &TraceEntry<'_>, hash: B256| traced.tx_hash.is_none_or(|named| named == hash);
    let fits = answer.len() == block.transactions.len()
        && answer.iter().zip(&block.transactions).all(|(traced, transaction)| named(traced, transaction.hash));
    if !fits {
        return Err(Disagreement::TraceIncomplete(block.header.hash).into());
    }
    let traces = answer.into_iter().map(|traced| {
        let root = traced.result.ok_or(Unavailable::Incomplete("trace"))?;
        calls(root.get())
    });
    traces.collect()
}

/// All calls of a tree, each before the calls that it made.
fn calls(text: &str) -> Result<Vec<Step>, RpcError> {
    let mut cursor = Cursor { text, at: 0 };
    let (mut calls, mut open) = (Vec::new(), Vec::new());
    cursor.expect(b'{')?;
    calls.push(CallFields::default());
    open.push(0_usize);
    // One turn for each field, and for each end of a call.
    while let Some(current) = open.last().copied() {
        match cursor.byte()? {
            b',' => {}
            b'}' => {
                open.pop();
                if open.is_empty() {
                    break;
                }
                match cursor.byte()? {
                    b',' => {
                        cursor.expect(b'{')?;
                        open.push(calls.len());
                        calls.push(CallFields::at(open.len().saturating_sub(1)));
                    }
                    // The list of calls ends, and the fields of the caller go on.
                    b']' => {}
                    _ => return Err(broken()),
                }
            }
            b'"' => {
                let key = cursor.rest_of_string()?;
                cursor.expect(b':')?;
                if key != "calls" {
                    let value = cursor.value()?;
                    calls.get_mut(current).ok_or_else(broken)?.set(key, value)?;
                } else if cursor.begins_with_calls()? {
                    if open.len() >= DEPTH_MAX {
                        return Err(MalformedAnswer::new(METHOD, "calls nested deeper than the EVM allows").into());
                    }
                    open.push(calls.len());
                    calls.push(CallFields::at(open.len().saturating_sub(1)));
                }
            }
            _ => return Err(broken()),
        }
    }
    calls.into_iter().map(CallFields::step).collect()
}

fn broken() -> RpcError {
    MalformedAnswer::new(METHOD, "a call of a wrong form").into()
}

/// The fields of a call, still as JSON.
#[derive(Default)]
struct CallFields<'a> {
    depth: usize,
    kind: Option<&'a str>,
    from: Option<&'a str>,
    to: Option<&'a str>,
    value: Option<&'a str>,
    error: Option<&'a str>,
}

impl<'a> CallFields<'a> {
    fn at(depth: usize) -> Self {
        Self { depth, ..Self::default() }
    }

    fn set(&mut self, key: &str, value: &'a str) -> Result<(), RpcError> {
        let field = match key {
            "type" => &mut self.kind,
            "from" => &mut self.from,
            "to" => &mut self.to,
            "value" => &mut self.value,
            "error" => &mut self.error,
            _ => return Ok(()),
        };
        // The second of two would be another call for another reader.
        if field.replace(value).is_some() { Err(broken()) } else { Ok(()) }
    }

    fn step(self) -> Result<Step, RpcError> {
        let (depth, reverted) = (self.depth, read::<String>(self.error)?.is_some());
        let kind: String = read(self.kind)?.ok_or_else(broken)?;
        let moves = match kind.as_str() {
            "CALLCODE" | "DELEGATECALL" | "STATICCALL" => None,
            "CREATE" | "CREATE2" if reverted => None,
            "CALL" | "CREATE" | "CREATE2" | "SELFDESTRUCT" => {
                let (from, to) = (read::<WireAddress>(self.from)?, read::<WireAddress>(self.to)?);
                let value = read::<U256>(self.value)?.unwrap_or_default();
                Some(Movement { from: from.ok_or_else(broken)?, to: to.ok_or_else(broken)?, value })
            }
            _ => return Err(MalformedAnswer::new(METHOD, "a call of an unknown kind").into()),
        };
        Ok(Step { depth, moves, reverted })
    }
}

fn read<T: DeserializeOwned>(text: Option<&str>) -> Result<Option<T>, RpcError> {
    let value = text.map(serde_json::from_str::<Option<T>>).transpose();
    Ok(value.map_err(|error| MalformedAnswer::new(METHOD, error))?.flatten())
}

/// A place in JSON text.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The next byte that is not space.
    fn byte(&mut self) -> Result<u8, RpcError> {
        loop {
            let byte = *self.text.as_bytes().get(self.at).ok_or_else(broken)?;
            self.at = self.at.saturating_add(1);
            if !byte.is_ascii_whitespace() {
                return Ok(byte);
            }
        }
    }

    fn expect(&mut self, expected: u8) -> Result<(), RpcError> {
        if self.byte()? == expected { Ok(()) } else { Err(broken()) }
    }

    /// A string whose first quote is read already. Names with escapes could hide a field, and no node writes them.
    fn rest_of_string(&mut self) -> Result<&'a str, RpcError> {
        let start = self.at;
        self.skip_string()?;
        let inside = self.text.get(start..self.at.saturating_sub(1)).ok_or_else(broken)?;
        if inside.contains('\\') { Err(broken()) } else { Ok(inside) }
    }

    fn skip_string(&mut self) -> Result<(), RpcError> {
        loop {
            let rest = self.text.as_bytes().get(self.at..).ok_or_else(broken)?;
            let length = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')).ok_or_else(broken)?;
            let is_end = rest.get(length) == Some(&b'"');
            // A backslash and the byte after it.
            self.at = self.at.saturating_add(length).saturating_add(if is_end { 1 } else { 2 });
            if is_end {
                return Ok(());
            }
        }
    }

    /// One value of any kind, as text.
    fn value(&mut self) -> Result<&'a str, RpcError> {
        let first = self.byte()?;
        let start = self.at.saturating_sub(1);
        match first {
            b'"' => self.skip_string()?,
            b'{' | b'[' => {
                let mut depth = 1_usize;
                while depth > 0 {
                    match self.byte()? {
                        b'"' => self.skip_string()?,
                        b'{' | b'[' => depth = depth.saturating_add(1),
                        b'}' | b']' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                }
            }
            _ => {
                let rest = self.text.as_bytes().get(self.at..).ok_or_else(broken)?;
                let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
                self.at = self.at.saturating_add(rest.iter().position(ends).unwrap_or(rest.len()));
            }
        }
        self.text.get(start..self.at).ok_or_else(broken)
    }

    /// Enters a list of calls up to its first one; false for a list without any, and for `null`.
    fn begins_with_calls(&mut self) -> Result<bool, RpcError> {
        match self.byte()? {
            b'[' => match self.byte()? {
                b'{' => Ok(true),
                b']' => Ok(false),
                _ => Err(broken()),
            },
            b'n' => {
                self.at = self.at.saturating_add("ull".len());
                Ok(false)
            }
            _ => Err(broken()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One call inside the other, the innermost with a value.
    fn nested(levels: usize) -> String {
        let call =
            |value: u8| format!(r#""type":"CALL","from":"0x{:040x}","to":"0x{:040x}","value":"{value:#x}""#, 1, 2);
        let outer = format!("{{{},\"calls\":[", call(0));
        format!("{}{{{}}}{}", outer.repeat(levels), call(7), r#"],"gas":"0x1"}"#.repeat(levels))
    }

    fn shape(text: &str) -> Vec<(usize, bool)> {
        // As an answer arrives: serde_json accepts the text first.
        let raw: Box<RawValue> = serde_json::from_str(text).unwrap();
        calls(raw.get()).unwrap().iter().map(|step| (step.depth, step.reverted)).collect()
    }

    #[test]
    fn calls_nested_as_deep_as_the_evm_allows_are_read() {
        let shape = shape(&nested(1_024));
        assert_eq!((shape.len(), shape.last()), (1_025, Some(&(1_024, false))));
    }

    #[test]
    fn nesting_that_no_chain_allows_is_an_error_and_not_a_crash() {
        let raw: Box<RawValue> = serde_json::from_str(&nested(100_000)).unwrap();
        assert!(matches!(calls(raw.get()), Err(RpcError::Malformed(_))));
    }

    #[test]
    fn calls_come_in_the_order_of_execution() {
        let text = r#" { "calls" : [ {"type":"STATICCALL", "calls":[], "error":null},
            {"type":"DELEGATECALL","output":"}\"]","calls":[{"type":"CALLCODE","error":"gas"}],"logs":[{"a":[1]}]},
            {"calls":null,"type":"STATICCALL"} ] , "gas":17, "type" : "STATICCALL" } "#;
        assert_eq!(shape(text), [(0, false), (1, false), (1, false), (2, true), (1, false)]);
    }

    #[test]
    fn a_call_that_is_not_as_expected_is_an_error() {
        let check = |text: &str| {
            let raw: Box<RawValue> = serde_json::from_str(text).unwrap();
            assert!(matches!(calls(raw.get()), Err(RpcError::Malformed(_))), "{text}");
        };
        check("[]");
        check("{}");
        check("null");
        check(r#"{"type":"CALL"}"#);
        check(r#"{"type":"TELEPORT"}"#);
        check(r#"{"type":"STATICCALL","calls":{}}"#);
        check(r#"{"type":"STATICCALL","calls":[1]}"#);
        check(r#"{"type":"STATICCALL","calls":[{"type":"STATICCALL"},1]}"#);
        check(r#"{"type":"STATICCALL","type":"STATICCALL"}"#);
        check(r#"{"type":"STATICCALL","\u0063alls":[{"type":"TELEPORT"}]}"#);
        check(r#"{"type":"CALL","from":"0x1","to":"0x2","value":"0x0"}"#);
    }
}
