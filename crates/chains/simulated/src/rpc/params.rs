//! Parameters: hexadecimal numbers, bytes, addresses and blocks, parsed strictly.

use alloy_primitives::{Address, B256, Bytes, U256};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::error::RpcErrorBody;

pub struct Params<'a>(&'a [Value]);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockParam {
    Number(u64),
    Hash(B256),
    Latest,
    Pending,
    Safe,
    Finalized,
}

impl<'a> Params<'a> {
    pub fn new(params: &'a Value) -> Result<Self, RpcErrorBody> {
        match params {
            Value::Null => Ok(Self(&[])),
            Value::Array(list) => Ok(Self(list)),
            _ => Err(RpcErrorBody::params("non-array args")),
        }
    }

    pub fn get(&self, place: usize) -> Option<&'a Value> {
        self.0.get(place).filter(|value| !value.is_null())
    }

    fn needed(&self, place: usize) -> Result<&'a Value, RpcErrorBody> {
        self.get(place).ok_or_else(|| RpcErrorBody::missing(place))
    }

    fn parsed<T: DeserializeOwned>(&self, place: usize, what: &str) -> Result<T, RpcErrorBody> {
        T::deserialize(self.needed(place)?).map_err(|_| RpcErrorBody::invalid(place, what))
    }

    pub fn address(&self, place: usize) -> Result<Address, RpcErrorBody> {
        self.parsed(place, "want an address of 20 bytes in hex")
    }

    pub fn hash(&self, place: usize) -> Result<B256, RpcErrorBody> {
        self.parsed(place, "want a hash of 32 bytes in hex")
    }

    pub fn bytes(&self, place: usize) -> Result<Bytes, RpcErrorBody> {
        self.parsed(place, "want bytes in hex")
    }

    pub fn flag(&self, place: usize) -> Result<bool, RpcErrorBody> {
        self.parsed(place, "want true or false")
    }

    /// A hexadecimal number, or a plain one, which some tools send.
    pub fn number(&self, place: usize) -> Result<u64, RpcErrorBody> {
        let value = self.needed(place)?;
        number(value).ok_or_else(|| RpcErrorBody::invalid(place, "want a number"))
    }

    pub fn block(&self, place: usize) -> Result<BlockParam, RpcErrorBody> {
        block(self.needed(place)?).ok_or_else(|| RpcErrorBody::invalid(place, "want a block's number, hash or name"))
    }

    /// The block, or the newest one if none is named.
    pub fn block_or_latest(&self, place: usize) -> Result<BlockParam, RpcErrorBody> {
        if self.get(place).is_none() { Ok(BlockParam::Latest) } else { self.block(place) }
    }
}

pub fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| quantity(value.as_str()?)?.try_into().ok())
}

/// A quantity as the protocol writes it: `0x`, then digits without a leading zero.
pub fn quantity(text: &str) -> Option<U256> {
    let digits = text.strip_prefix("0x").filter(|digits| !digits.is_empty() && digits.len() <= 64)?;
    let leading_zero = digits.len() > 1 && digits.starts_with('0');
    let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    (plain && !leading_zero).then(|| U256::from_str_radix(digits, 16).ok()).flatten()
}

pub fn block(value: &Value) -> Option<BlockParam> {
    if let Some(hash) = value.get("blockHash") {
        return B256::deserialize(hash).ok().map(BlockParam::Hash);
    }
    let text = value.get("blockNumber").unwrap_or(value).as_str()?;
    match text {
        "latest" => Some(BlockParam::Latest),
        "pending" => Some(BlockParam::Pending),
        "safe" => Some(BlockParam::Safe),
        "finalized" => Some(BlockParam::Finalized),
        "earliest" => Some(BlockParam::Number(0)),
        hash if hash.len() == 66 => hash.parse().ok().map(BlockParam::Hash),
        number => quantity(number)?.try_into().ok().map(BlockParam::Number),
    }
}
