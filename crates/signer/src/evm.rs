//! Builds and signs the EVM transaction of an order.
//!
//! The bytes are made here from the order's fields alone; bytes from a caller are never signed. alloy encodes; k256
//! signs deterministically (RFC 6979) with the low `s`. The signature is verified before it is returned.

use alloy_consensus::{SignableTransaction, TxEip1559, TxLegacy};
use alloy_eips::Encodable2718;
use alloy_primitives::{Bytes, Signature, TxKind, U256};
use bankroll_orders::{Address, Meaning, Order, Price};

use crate::{
    judge::TransactionFields,
    key::{LocalKey, SigningFault},
};

/// `transfer(address,uint256)`, as every ERC-20 token has it.
const TRANSFER: [u8; 4] = [0xa9, 0x05, 0x9c, 0xbb];

/// Signs the transaction of an order.
///
/// # Errors
/// The key is not the wallet's, or its signature does not verify: both are bugs, and nothing was handed out.
pub fn sign(order: &Order, key: &LocalKey) -> Result<TransactionFields, SigningFault> {
    if key.address() != order.slot.wallet {
        return Err(SigningFault);
    }
    let ContractCall { to, value, input } = call(order);
    let (to, value, input) = (TxKind::Call(to.0.into()), U256::from(value), Bytes::from(input));
    let (chain, nonce, gas_limit) = (order.slot.chain.0, order.slot.nonce, order.gas.limit);
    match order.gas.price {
        Price::Dynamic { max, priority } => seal(
            TxEip1559 {
                chain_id: chain,
                nonce,
                gas_limit,
                max_fee_per_gas: max,
                max_priority_fee_per_gas: priority,
                to,
                value,
                access_list: alloy_eips::eip2930::AccessList::default(),
                input,
            },
            key,
        ),
        Price::Legacy { price } => {
            seal(TxLegacy { chain_id: Some(chain), nonce, gas_price: price, gas_limit, to, value, input }, key)
        }
    }
}

struct ContractCall {
    to: Address,
    value: u128,
    input: Vec<u8>,
}

fn call(order: &Order) -> ContractCall {
    match &order.meaning {
        Meaning::NativePayout { to, amount } => ContractCall { to: *to, value: amount.units(), input: Vec::new() },
        Meaning::TokenPayout { token, to, amount } => {
            // Each argument is a word of 32 bytes, padded on the left.
            let input = [&TRANSFER[..], &[0; 12], &to.0, &[0; 16], &amount.units().to_be_bytes()].concat();
            ContractCall { to: *token, value: 0, input }
        }
        Meaning::Cancel => ContractCall { to: order.slot.wallet, value: 0, input: Vec::new() },
    }
}

fn seal<T>(transaction: T, key: &LocalKey) -> Result<TransactionFields, SigningFault>
where
    T: SignableTransaction<Signature>,
    alloy_consensus::Signed<T>: Encodable2718,
{
    let signed = key.sign(&transaction.signature_hash().0)?;
    let signature = Signature::new(U256::from_be_bytes(signed.r), U256::from_be_bytes(signed.s), signed.odd);
    let signed = transaction.into_signed(signature);
    let raw = signed.encoded_2718();
    // For both kinds of transaction, the hash is the hash of the sent bytes.
    Ok(TransactionFields { hash: hash_of(&raw), raw })
}

/// The transaction hash of these bytes.
#[must_use]
pub fn hash_of(raw: &[u8]) -> [u8; 32] {
    alloy_primitives::keccak256(raw).0
}
