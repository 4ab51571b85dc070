//! Keys of the play accounts, and the payments they sign.
//!
//! Guarantees: the same seed and number give the same key, the same payment the same bytes. These keys are public: they
//! follow from the seed, so never send real coins to them.

use alloy_consensus::{EthereumTxEnvelope, SignableTransaction, TxEip1559, TxEip4844, TxLegacy};
use alloy_eips::eip2718::Encodable2718;
use alloy_primitives::{Address, B256, Bytes, Signature, TxKind, U256};
use k256::ecdsa::SigningKey;

use crate::dice::derived;

#[derive(Clone)]
pub struct SimulatedKey(SigningKey);

/// A transaction of a play account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    pub chain_id: u64,
    pub nonce: u64,
    /// `None` would create a contract, which this chain refuses.
    pub to: Option<Address>,
    /// In wei.
    pub value: U256,
    /// The call, if `to` is a contract.
    pub input: Bytes,
    /// The most gas it may use.
    pub gas: u64,
    /// The highest price of a unit of gas.
    pub max_fee: u128,
    /// The part that the block producer may get.
    pub tip: u128,
}

impl Payment {
    /// A plain transfer with fees that are enough on a quiet chain.
    pub fn new(chain_id: u64, nonce: u64, to: Address, value: U256) -> Self {
        let (max_fee, tip) = (100_000_000_000, 1_000_000_000);
        Self { chain_id, nonce, to: Some(to), value, input: Bytes::new(), gas: 21_000, max_fee, tip }
    }

    /// A contract call with enough gas for any built-in contract.
    #[must_use]
    pub fn calling(self, input: Bytes) -> Self {
        Self { input, gas: 500_000, ..self }
    }

    /// The same with other fees.
    #[must_use]
    pub fn paying(self, max_fee: u128, tip: u128) -> Self {
        Self { max_fee, tip, ..self }
    }

    fn kind(&self) -> TxKind {
        self.to.map_or(TxKind::Create, TxKind::Call)
    }
}

impl SimulatedKey {
    /// The play account of this number on chains of this seed.
    pub fn derived(seed: u64, number: u64) -> Self {
        // All but about one in 2^128 hashes are keys; otherwise the next one is used.
        (0..u64::MAX)
            .find_map(|attempt| Self::from_bytes(derived(seed, b"key", number.wrapping_add(attempt << 32))))
            .expect("a hash is a key nearly always")
    }

    pub fn from_bytes(bytes: B256) -> Option<Self> {
        SigningKey::from_slice(bytes.as_slice()).ok().map(Self)
    }

    /// The bytes of the key, for import into wallets: it is play money.
    pub fn to_bytes(&self) -> B256 {
        B256::from_slice(&self.0.to_bytes())
    }

    pub fn address(&self) -> Address {
        Address::from_private_key(&self.0)
    }

    /// Signs with fees by EIP-1559. The bytes are what `eth_sendRawTransaction` takes.
    pub fn sign(&self, payment: &Payment) -> Bytes {
        self.seal(TxEip1559 {
            chain_id: payment.chain_id,
            nonce: payment.nonce,
            gas_limit: payment.gas,
            max_fee_per_gas: payment.max_fee,
            max_priority_fee_per_gas: payment.tip,
            to: payment.kind(),
            value: payment.value,
            access_list: Default::default(),
            input: payment.input.clone(),
        })
    }

    /// Signs a legacy transaction: `max_fee` is the price, `tip` is unused.
    pub fn sign_legacy(&self, payment: &Payment) -> Bytes {
        self.seal(TxLegacy {
            chain_id: Some(payment.chain_id),
            nonce: payment.nonce,
            gas_price: payment.max_fee,
            gas_limit: payment.gas,
            to: payment.kind(),
            value: payment.value,
            input: payment.input.clone(),
        })
    }

    fn seal<T>(&self, transaction: T) -> Bytes
    where
        T: SignableTransaction<Signature>,
        EthereumTxEnvelope<TxEip4844>: From<alloy_consensus::Signed<T>>,
    {
        let hash = transaction.signature_hash();
        let signed = self.0.sign_prehash_recoverable(hash.as_slice()).expect("a hash of 32 bytes can be signed");
        let envelope = EthereumTxEnvelope::<TxEip4844>::from(transaction.into_signed(Signature::from(signed)));
        envelope.encoded_2718().into()
    }
}

impl std::fmt::Debug for SimulatedKey {
    /// The account, because even a play key must not appear in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Key").field(&self.address()).finish()
    }
}
