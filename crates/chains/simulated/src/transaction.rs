//! A signed transaction: decoded, its hash computed, its sender recovered.

use alloy_consensus::{EthereumTxEnvelope, Transaction as _, TxEip4844, transaction::SignerRecoverable};
use alloy_eips::eip2718::{Decodable2718, Encodable2718};
use alloy_primitives::{Address, B256, Bytes, TxKind, U256};

use crate::pool::PoolRefusal;

pub type Envelope = EthereumTxEnvelope<TxEip4844>;

/// A transaction whose signature holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedTransaction {
    pub(crate) envelope: Envelope,
    /// What it is known by: the hash of its bytes.
    pub hash: B256,
    pub sender: Address,
}

impl SimulatedTransaction {
    /// Reads the bytes that `eth_sendRawTransaction` takes. Blob transactions come in another form, and are not taken.
    pub(crate) fn decode(raw: &[u8]) -> Result<Self, PoolRefusal> {
        if let Some(0x00 | 0x03..=0x7f) = raw.first() {
            return Err(PoolRefusal::TypeNotSupported);
        }
        let envelope = Envelope::decode_2718_exact(raw).map_err(|error| PoolRefusal::Undecodable(error.to_string()))?;
        let sender = envelope.recover_signer().map_err(|_| PoolRefusal::InvalidSender)?;
        Ok(Self { hash: *envelope.tx_hash(), envelope, sender })
    }

    /// The bytes that `eth_sendRawTransaction` takes: whoever keeps those of all blocks can make the same chain again.
    pub fn raw(&self) -> Bytes {
        self.envelope.encoded_2718().into()
    }

    /// Its number among its sender's.
    pub fn nonce(&self) -> u64 {
        self.envelope.nonce()
    }

    /// Whom it is for; none makes a contract.
    pub fn to(&self) -> Option<Address> {
        match self.envelope.kind() {
            TxKind::Call(to) => Some(to),
            TxKind::Create => None,
        }
    }

    /// How many wei go along.
    pub fn value(&self) -> U256 {
        self.envelope.value()
    }

    pub(crate) fn gas_limit(&self) -> u64 {
        self.envelope.gas_limit()
    }

    /// What the sender must have for this to be run at all: gas at its highest price, and the value.
    pub(crate) fn cost(&self) -> U256 {
        let gas = U256::from(self.envelope.gas_limit()).saturating_mul(U256::from(self.envelope.max_fee_per_gas()));
        gas.saturating_add(self.envelope.value())
    }

    /// What the producer gets for a unit of gas at this base fee; none if the sender will not pay even the base fee.
    pub(crate) fn tip_at(&self, base_fee: u64) -> Option<u128> {
        self.envelope.effective_tip_per_gas(base_fee)
    }
}
