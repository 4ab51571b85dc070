//! A signed transaction: decoded, its hash computed, its sender recovered.

use alloy_consensus::{EthereumTxEnvelope, Transaction as _, TxEip4844, transaction::SignerRecoverable};
use alloy_eips::eip2718::{Decodable2718, Encodable2718};
use alloy_primitives::{Address, B256, Bytes, TxKind, U256};

use crate::pool::PoolRefusal;

pub type Envelope = EthereumTxEnvelope<TxEip4844>;

/// A transaction with a valid signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedTransaction {
    pub(crate) envelope: Envelope,
    pub hash: B256,
    pub sender: Address,
}

impl SimulatedTransaction {
    /// Reads the bytes that `eth_sendRawTransaction` takes. Blob transactions have another form and are refused.
    pub(crate) fn decode(raw: &[u8]) -> Result<Self, PoolRefusal> {
        if let Some(0x00 | 0x03..=0x7f) = raw.first() {
            return Err(PoolRefusal::TypeNotSupported);
        }
        let envelope = Envelope::decode_2718_exact(raw).map_err(|error| PoolRefusal::Undecodable(error.to_string()))?;
        let sender = envelope.recover_signer().map_err(|_| PoolRefusal::InvalidSender)?;
        Ok(Self { hash: *envelope.tx_hash(), envelope, sender })
    }

    /// The bytes that `eth_sendRawTransaction` takes. With those of all blocks the same chain can be rebuilt.
    pub fn raw(&self) -> Bytes {
        self.envelope.encoded_2718().into()
    }

    pub fn nonce(&self) -> u64 {
        self.envelope.nonce()
    }

    /// `None` creates a contract.
    pub fn to(&self) -> Option<Address> {
        match self.envelope.kind() {
            TxKind::Call(to) => Some(to),
            TxKind::Create => None,
        }
    }

    /// In wei.
    pub fn value(&self) -> U256 {
        self.envelope.value()
    }

    pub(crate) fn gas_limit(&self) -> u64 {
        self.envelope.gas_limit()
    }

    /// The balance that the sender needs: gas at its highest price, and the value.
    pub(crate) fn cost(&self) -> U256 {
        let gas = U256::from(self.envelope.gas_limit()).saturating_mul(U256::from(self.envelope.max_fee_per_gas()));
        gas.saturating_add(self.envelope.value())
    }

    /// The producer's share of a unit of gas at this base fee; `None` if the sender does not pay the base fee.
    pub(crate) fn tip_at(&self, base_fee: u64) -> Option<u128> {
        self.envelope.effective_tip_per_gas(base_fee)
    }
}
