//! Transactions in a node's answer.
//!
//! alloy can read them too, and takes five times as long: it keeps every field until it knows the type. What is read
//! here is hashed afterwards, so a field that is misread makes another hash, and never another payment.

use alloy_consensus::{Signed, TxEip1559, TxEip2930, TxEip4844, TxEip7702, TxLegacy};
use alloy_eips::{eip2930::AccessList, eip7702::SignedAuthorization};
use alloy_primitives::{B256, Bytes, Signature, TxKind, U64, U128, U256};
use serde::Deserialize;

use crate::{
    block::RawEnvelope,
    error::{MalformedAnswer, RpcError},
    wire::WireAddress,
};

/// All fields of all types.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RawTransaction {
    #[serde(rename = "type")]
    kind: Option<U64>,
    hash: B256,
    chain_id: Option<U64>,
    nonce: U64,
    gas: U64,
    gas_price: Option<U128>,
    max_fee_per_gas: Option<U128>,
    max_priority_fee_per_gas: Option<U128>,
    max_fee_per_blob_gas: Option<U128>,
    to: Option<WireAddress>,
    value: U256,
    input: Bytes,
    access_list: Option<AccessList>,
    blob_versioned_hashes: Option<Vec<B256>>,
    authorization_list: Option<Vec<SignedAuthorization>>,
    r: U256,
    s: U256,
    v: Option<U256>,
    y_parity: Option<U64>,
}

impl RawTransaction {
    /// The transaction with the hash that the node claims.
    pub fn envelope(self, method: &'static str) -> Result<RawEnvelope, RpcError> {
        let hash = self.hash;
        let kind = self.kind.map_or(0, |kind| kind.to::<u64>());
        let made = match kind {
            0 => self.legacy().map(|(tx, signature)| Signed::new_unchecked(tx, signature, hash).into()),
            1 => self.listed().map(|(tx, signature)| Signed::new_unchecked(tx, signature, hash).into()),
            2 => self.market().map(|(tx, signature)| Signed::new_unchecked(tx, signature, hash).into()),
            3 => self.with_blobs().map(|(tx, signature)| Signed::new_unchecked(tx, signature, hash).into()),
            4 => self.delegating().map(|(tx, signature)| Signed::new_unchecked(tx, signature, hash).into()),
            _ => {
                return Err(
                    MalformedAnswer::new(method, format_args!("a transaction of the unknown type {kind}")).into()
                );
            }
        };
        made.ok_or_else(|| {
            MalformedAnswer::new(method, format_args!("transaction {hash} lacks a field of its type")).into()
        })
    }

    fn legacy(self) -> Option<(TxLegacy, Signature)> {
        // The chain's id is in v, since EIP-155.
        let v = self.v?;
        let (chain_id, parity) = match u64::try_from(v).ok()? {
            v @ (27 | 28) => (None, v == 28),
            v => {
                let above = v.checked_sub(35)?;
                (Some(above / 2), above % 2 == 1)
            }
        };
        let signature = Signature::new(self.r, self.s, parity);
        let (nonce, gas_limit, to) = (self.nonce.to(), self.gas.to(), kind(self.to));
        let gas_price = self.gas_price?.to();
        Some((TxLegacy { chain_id, nonce, gas_price, gas_limit, to, value: self.value, input: self.input }, signature))
    }

    fn listed(self) -> Option<(TxEip2930, Signature)> {
        let signature = self.signature()?;
        let tx = TxEip2930 {
            chain_id: self.chain_id?.to(),
            nonce: self.nonce.to(),
            gas_price: self.gas_price?.to(),
            gas_limit: self.gas.to(),
            to: kind(self.to),
            value: self.value,
            access_list: self.access_list.unwrap_or_default(),
            input: self.input,
        };
        Some((tx, signature))
    }

    fn market(self) -> Option<(TxEip1559, Signature)> {
        let signature = self.signature()?;
        let tx = TxEip1559 {
            chain_id: self.chain_id?.to(),
            nonce: self.nonce.to(),
            gas_limit: self.gas.to(),
            max_fee_per_gas: self.max_fee_per_gas?.to(),
            max_priority_fee_per_gas: self.max_priority_fee_per_gas?.to(),
            to: kind(self.to),
            value: self.value,
            access_list: self.access_list.unwrap_or_default(),
            input: self.input,
        };
        Some((tx, signature))
    }

    fn with_blobs(self) -> Option<(TxEip4844, Signature)> {
        let signature = self.signature()?;
        let tx = TxEip4844 {
            chain_id: self.chain_id?.to(),
            nonce: self.nonce.to(),
            gas_limit: self.gas.to(),
            max_fee_per_gas: self.max_fee_per_gas?.to(),
            max_priority_fee_per_gas: self.max_priority_fee_per_gas?.to(),
            to: self.to?,
            value: self.value,
            access_list: self.access_list.unwrap_or_default(),
            blob_versioned_hashes: self.blob_versioned_hashes?,
            max_fee_per_blob_gas: self.max_fee_per_blob_gas?.to(),
            input: self.input,
        };
        Some((tx, signature))
    }

    fn delegating(self) -> Option<(TxEip7702, Signature)> {
        let signature = self.signature()?;
        let tx = TxEip7702 {
            chain_id: self.chain_id?.to(),
            nonce: self.nonce.to(),
            gas_limit: self.gas.to(),
            max_fee_per_gas: self.max_fee_per_gas?.to(),
            max_priority_fee_per_gas: self.max_priority_fee_per_gas?.to(),
            to: self.to?,
            value: self.value,
            access_list: self.access_list.unwrap_or_default(),
            authorization_list: self.authorization_list?,
            input: self.input,
        };
        Some((tx, signature))
    }

    /// Of a transaction with a type. Older nodes name only v, which is then the parity.
    fn signature(&self) -> Option<Signature> {
        let parity = match self.y_parity {
            Some(parity) => parity.to::<u64>(),
            None => u64::try_from(self.v?).ok()?,
        };
        (parity < 2).then(|| Signature::new(self.r, self.s, parity == 1))
    }
}

fn kind(to: Option<WireAddress>) -> TxKind {
    to.map_or(TxKind::Create, TxKind::Call)
}
