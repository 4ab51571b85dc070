//! What wallets sign for the Funds API: EIP-712 messages, their digests, and the wallet behind a signature.
//!
//! The domain is `Bankroll`, version 1 and the chain's id; `audience` in each message is the public name of the
//! deployment. So a signature counts for one message, on one chain, at one deployment. Times are in seconds.
//!
//! It guarantees that a digest has one accepted signature per key and nonce of the curve: `s` is in the low half.
//! It does not know which wallet may sign what, which messages were used before, or the time.

use std::{borrow::Cow, fmt, str::FromStr};

use alloy_sol_types::{Eip712Domain, SolStruct, sol};
use k256::ecdsa::{RecoveryId, Signature, SigningKey, VerifyingKey};

use crate::{Address, ChainId};

pub use alloy_primitives::{B256, U256};

sol! {
    /// A game server registers, or changes what it registered. `nonce` is used once.
    #[derive(Debug, PartialEq, Eq)]
    struct Registration {
        string server;
        string audience;
        address payoutAddress;
        address developer;
        uint256 buyIn;
        uint32 developerFeeBps;
        uint32 worldFeeBps;
        uint256 massPerCoin;
        uint64 exitHoldMs;
        bytes32 nonce;
        uint64 expires;
    }

    /// A game server (`role` is `server`) or an owner (`owner`) opens a session; `subject` is its name.
    #[derive(Debug, PartialEq, Eq)]
    struct OpenSession {
        string role;
        string subject;
        string audience;
        bytes32 nonce;
        uint64 expires;
    }

    /// A player or a developer consents to a payout out of one account. `account` is its full name, so that one consent
    /// cannot pay out of two accounts: request ids of a player and of a developer do not know each other.
    #[derive(Debug, PartialEq, Eq)]
    struct Payout {
        string server;
        string requestId;
        string audience;
        address wallet;
        string account;
        address to;
        string asset;
        uint256 amount;
        uint256 feeCap;
        uint64 expires;
    }

    /// An approver allows one payout.
    #[derive(Debug, PartialEq, Eq)]
    struct Approval {
        string intent;
        string audience;
        address to;
        string asset;
        uint256 amount;
        uint64 expires;
    }

    /// One HTTP request, signed instead of carrying a session token. `bodyHash` is Keccak-256 of the raw body.
    #[derive(Debug, PartialEq, Eq)]
    struct ApiRequest {
        string method;
        string path;
        string audience;
        string idempotencyKey;
        bytes32 bodyHash;
        uint64 expires;
    }

    /// The deployment itself states what its journal is up to a batch: `head` is that of the hash chain after it, `root`
    /// that of the Merkle tree over the heads of all batches up to it. No caller signs it.
    #[derive(Debug, PartialEq, Eq)]
    struct PublishedHead {
        string audience;
        uint64 batch;
        bytes32 head;
        bytes32 root;
        uint64 time;
    }
}

/// The messages that callers of the Funds API sign, each as EIP-712 writes its type: `OpenSession(string role,...)`.
#[must_use]
pub fn message_types() -> [Cow<'static, str>; 4] {
    [
        Registration::eip712_encode_type(),
        OpenSession::eip712_encode_type(),
        Payout::eip712_encode_type(),
        ApiRequest::eip712_encode_type(),
    ]
}

/// The hash that a wallet signs.
#[must_use]
pub fn digest(message: &impl SolStruct, chain: ChainId) -> [u8; 32] {
    let (name, version) = (Some("Bankroll".into()), Some("1".into()));
    let domain = Eip712Domain::new(name, version, Some(U256::from(chain.0)), None, None);
    message.eip712_signing_hash(&domain).0
}

/// A signature of a wallet's key: `r`, `s` and `v` (27 or 28; 0 and 1 mean the same).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct WalletSignature(pub [u8; 65]);

/// Why a signature counts for no wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    #[error("a signature is 0x and 130 hexadecimal digits: r, s and v")]
    Malformed,
    #[error("the last byte of the signature, v, is none of 27, 28, 0 and 1")]
    RecoveryByte,
    /// The other form of a valid signature; accepting both would make a second signature out of each.
    #[error("s of the signature is in the high half of the group's order; wallets sign with the low one")]
    HighS,
    #[error("no key made this signature")]
    NoKey,
}

/// The wallet whose key signed the digest. Of another digest it is another, unknown wallet: compare it.
///
/// # Errors
/// As [`SignatureError`] says.
pub fn recover(digest: &[u8; 32], signature: &WalletSignature) -> Result<Address, SignatureError> {
    let [scalars @ .., v] = &signature.0;
    let is_odd = match v {
        0 | 27 => false,
        1 | 28 => true,
        _ => return Err(SignatureError::RecoveryByte),
    };
    let signature = Signature::from_slice(scalars).map_err(|_| SignatureError::NoKey)?;
    if signature.normalize_s().is_some() {
        return Err(SignatureError::HighS);
    }
    let key = VerifyingKey::recover_from_prehash(digest, &signature, RecoveryId::new(is_odd, false));
    key.map(|key| Address::of(&key)).map_err(|_| SignatureError::NoKey)
}

impl WalletSignature {
    /// Signs a digest; the same key and digest give the same signature. `None` for about one digest in 2^127.
    #[must_use]
    pub fn by(key: &SigningKey, digest: &[u8; 32]) -> Option<Self> {
        let (signature, recovery) = key.sign_prehash_recoverable(digest).ok()?;
        let (r, s) = signature.split_bytes();
        let v = if recovery.is_y_odd() { 28 } else { 27 };
        let bytes = [r.as_slice(), s.as_slice(), &[v]].concat().try_into().ok()?;
        (!recovery.is_x_reduced()).then_some(Self(bytes))
    }
}

impl FromStr for WalletSignature {
    type Err = SignatureError;

    fn from_str(text: &str) -> Result<Self, SignatureError> {
        let digits = text.strip_prefix("0x").ok_or(SignatureError::Malformed)?;
        let mut bytes = [0; 65];
        hex::decode_to_slice(digits, &mut bytes).map_err(|_| SignatureError::Malformed)?;
        Ok(Self(bytes))
    }
}

impl fmt::Display for WalletSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(self.0))
    }
}

impl fmt::Debug for WalletSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
