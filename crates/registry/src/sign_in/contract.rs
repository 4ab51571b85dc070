//! Contract wallets (ERC-1271): the contract says whether a signature is its own.
//!
//! The question is put to a node of the message's chain by the caller; question and answer are made and read here.

use bankroll_ledger::Name;
use bankroll_orders::Address;

use super::{ProvenWallet, SignInRefusal};

pub const SIGNATURE_BYTES_MAX: usize = 4096;

/// `isValidSignature(bytes32,bytes)`, and what the contract answers for yes.
const MAGIC: [u8; 4] = [0x16, 0x26, 0xba, 0x7e];

/// A signature that a contract must judge. Without a node for the chain, the sign-in is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractCheck {
    /// Where the contract is.
    pub chain: Name,
    pub digest: [u8; 32],
    proven: ProvenWallet,
}

impl ContractCheck {
    pub(super) const fn new(chain: Name, digest: [u8; 32], proven: ProvenWallet) -> Self {
        Self { chain, digest, proven }
    }

    /// The contract to call.
    #[must_use]
    pub const fn address(&self) -> Address {
        self.proven.wallet
    }

    #[must_use]
    pub fn signature(&self) -> &[u8] {
        &self.proven.proof.signature
    }

    /// The data of the `eth_call`.
    #[must_use]
    pub fn call_data(&self) -> Vec<u8> {
        let word = |number: usize| {
            let mut word = [0; 32];
            let number = u64::try_from(number).unwrap_or(u64::MAX);
            word[24..].copy_from_slice(&number.to_be_bytes());
            word
        };
        let signature = self.signature();
        let mut data = MAGIC.to_vec();
        data.extend(self.digest);
        data.extend(word(64));
        data.extend(word(signature.len()));
        data.extend(signature);
        data.resize(data.len().saturating_add(signature.len().wrapping_neg() % 32), 0);
        data
    }

    /// What the contract's answer proves. An address without code answers nothing.
    ///
    /// # Errors
    /// If the answer is not a plain yes.
    pub fn answered(self, answer: &[u8]) -> Result<ProvenWallet, SignInRefusal> {
        let is_yes =
            matches!(answer.split_first_chunk::<32>(), Some((word, [])) if word.split_at(4) == (&MAGIC, &[0; 28]));
        if is_yes { Ok(self.proven) } else { Err(SignInRefusal::BadSignature) }
    }
}
