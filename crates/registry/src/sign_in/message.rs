//! The signed message: what it must say, and whose signature is under it.

use bankroll_ledger::{Name, Time};
use bankroll_orders::{
    Address, ChainId,
    typed_data::{WalletSignature, recover},
};
use serde::{Deserialize, Serialize};
use sha3::{Digest, Keccak256};
use siwe::TimeStamp;

use super::{ContractCheck, SignInRefusal, contract::SIGNATURE_BYTES_MAX, nonce};
use crate::{NoncePurpose, NonceText, Registry, SessionKeys, SignInProof, WalletEvidence};

pub const MESSAGE_BYTES_MAX: usize = 2048;
/// How old a message may be, in seconds, as its `Issued At` says.
const AGE_MAX: i128 = 600;
const SKEW: i128 = 60;

/// The web sites whose sign-ins are accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignInConfig {
    pub origins: Vec<SignInOrigin>,
}

/// One web site: the domain that the wallet shows to the player, and the URI that is signed with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignInOrigin {
    /// `play.example.com`.
    pub domain: String,
    /// `https://play.example.com`; a path below it is accepted too.
    pub uri: String,
}

/// A message that says what it must; its signature is not checked yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInMessage {
    address: Address,
    chain: Name,
    nonce: NonceText,
    nonce_expires_at: Time,
    request_id: Option<String>,
    digest: [u8; 32],
    text: String,
}

/// What a signature turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignatureCheck {
    Proven(ProvenWallet),
    /// It is not the address's key that signed. If the address is a contract, the contract decides.
    NeedsContractCheck(ContractCheck),
}

/// A wallet that has signed a fresh message of ours. Only a checked signature makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenWallet {
    pub(super) wallet: Address,
    pub(super) evidence: WalletEvidence,
    pub(super) nonce: NonceText,
    pub(super) nonce_expires_at: Time,
    /// What the wallet signed for: nothing for a sign-in, `link:{player}` for a link.
    pub(super) request_id: Option<String>,
    pub(super) proof: SignInProof,
}

impl ProvenWallet {
    #[must_use]
    pub const fn wallet(&self) -> Address {
        self.wallet
    }
}

impl SignInMessage {
    /// Reads a message and checks everything but its signature.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn parse(
        text: &str,
        config: &SignInConfig,
        registry: &Registry,
        keys: &SessionKeys,
        now: Time,
    ) -> Result<Self, SignInRefusal> {
        let malformed = |why: &str| SignInRefusal::Malformed { why: why.to_owned() };
        if text.len() > MESSAGE_BYTES_MAX {
            return Err(malformed("longer than 2048 bytes"));
        }
        let message: siwe::Message = text.parse().map_err(|error: siwe::ParseError| malformed(&error.to_string()))?;
        // The parser skips a line without reading it. What was signed must be what was read, to the byte.
        if message.to_string() != text || text.contains('\r') {
            return Err(malformed("it has lines that do not belong to it"));
        }
        let domain = message.domain.as_str();
        let origins = || config.origins.iter().filter(|origin| origin.domain == domain);
        if origins().next().is_none() {
            return Err(SignInRefusal::WrongDomain);
        }
        if !origins().any(|origin| is_below(message.uri.as_str(), &origin.uri)) {
            return Err(SignInRefusal::WrongUri);
        }
        let chain = registry.chain_of_id(ChainId(message.chain_id));
        let chain = chain.ok_or(SignInRefusal::WrongChain { chain_id: message.chain_id })?.name.clone();
        check_times(&message, now)?;
        let nonce_expires_at = nonce::check(keys, &message.nonce, now)?;
        let nonce = NonceText::issued(&message.nonce);
        if registry.is_nonce_used(NoncePurpose::SignIn, &nonce) {
            return Err(SignInRefusal::NonceUsed);
        }
        let (address, digest, text) = (Address(message.address), personal_digest(text), text.to_owned());
        Ok(Self { address, chain, nonce, nonce_expires_at, request_id: message.request_id, digest, text })
    }

    /// The wallet that the message speaks for.
    #[must_use]
    pub const fn address(&self) -> Address {
        self.address
    }

    /// Checks the signature, as far as that needs no node.
    ///
    /// # Errors
    /// If it is no signature at all.
    pub fn prove(self, signature: &[u8]) -> Result<SignatureCheck, SignInRefusal> {
        if signature.is_empty() || signature.len() > SIGNATURE_BYTES_MAX {
            return Err(SignInRefusal::BadSignature);
        }
        let signed = signature.try_into().ok().and_then(|bytes| recover(&self.digest, &WalletSignature(bytes)).ok());
        let is_own = signed == Some(self.address);
        let (chain, digest) = (self.chain.clone(), self.digest);
        let evidence = if is_own { WalletEvidence::Key } else { WalletEvidence::Contract(chain.clone()) };
        let proven = ProvenWallet {
            wallet: self.address,
            evidence,
            nonce: self.nonce,
            nonce_expires_at: self.nonce_expires_at,
            request_id: self.request_id,
            proof: SignInProof { message: self.text, signature: signature.to_vec() },
        };
        if is_own {
            Ok(SignatureCheck::Proven(proven))
        } else {
            Ok(SignatureCheck::NeedsContractCheck(ContractCheck::new(chain, digest, proven)))
        }
    }
}

/// Whether a URI is the accepted one or a path below it; `https://a.example.evil` is not below `https://a.example`.
fn is_below(uri: &str, accepted: &str) -> bool {
    let rest = uri.strip_prefix(accepted.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']))
}

fn check_times(message: &siwe::Message, now: Time) -> Result<(), SignInRefusal> {
    let server_time = now.0 / 1_000_000;
    let now = i128::from(server_time);
    let seconds = |stamp: &TimeStamp| i128::from(stamp.as_ref().unix_timestamp());
    let age = now.saturating_sub(seconds(&message.issued_at));
    let is_over = message.expiration_time.as_ref().is_some_and(|expiry| seconds(expiry) <= now);
    if age > AGE_MAX.saturating_add(SKEW) || is_over {
        return Err(SignInRefusal::Expired { server_time });
    }
    let latest = now.saturating_add(SKEW);
    if age < -SKEW || message.not_before.as_ref().is_some_and(|start| seconds(start) > latest) {
        return Err(SignInRefusal::NotYetValid { server_time });
    }
    Ok(())
}

/// The digest of `personal_sign` (EIP-191).
#[must_use]
pub fn personal_digest(text: &str) -> [u8; 32] {
    let prefix = format!("\u{19}Ethereum Signed Message:\n{}", text.len());
    Keccak256::new().chain_update(prefix).chain_update(text).finalize().into()
}
