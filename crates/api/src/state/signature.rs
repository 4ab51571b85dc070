//! Requests that are signed one by one, instead of carrying a token.
//!
//! The signature covers method, path, audience, idempotency key and the hash of the raw body. A copy of it can only
//! repeat the same request, and a change has an idempotency key, so the copy gets the answer of the original.

use bankroll_ledger::Time;
use bankroll_operators::SignedRequest;
use bankroll_orders::{
    Address,
    typed_data::{self, ApiRequest, B256, WalletSignature},
};
use bankroll_registry::{Caller, KeyStanding, Registry, SKEW_SECONDS};
use sha3::{Digest, Keccak256};

use super::FundsSettings;
use crate::{
    ApiError, ErrorCode,
    input::{ApiCall, CallProof, show_time},
};

/// The most bytes of a body that the audit log keeps: with its own effects it must fit into one record.
const SIGNED_BODY_MAX: usize = 6 << 10;
/// How far ahead a signed request may expire, in seconds.
const AHEAD_MAX: u64 = 300;

/// The headers of a signed request.
pub(super) struct SignedCall<'a> {
    pub signature: &'a str,
    pub address: &'a str,
    /// Seconds since 1970.
    pub expires: u64,
}

pub(super) fn verify(
    call: &ApiCall,
    signed: &SignedCall<'_>,
    settings: &FundsSettings,
    registry: &Registry,
    now: Time,
) -> Result<(Caller, Address), ApiError> {
    let malformed = |error: &dyn std::fmt::Display| ApiError::with(ErrorCode::SignatureMalformed, error.to_string());
    let signature: WalletSignature = signed.signature.parse().map_err(|error| malformed(&error))?;
    let address: Address = signed.address.parse().map_err(|_| malformed(&"X-Bankroll-Address is no address"))?;
    let seconds = now.0 / 1_000_000;
    let at = || format!("the time of the service is {}", show_time(now));
    if signed.expires > seconds.saturating_add(AHEAD_MAX).saturating_add(SKEW_SECONDS) {
        return Err(ApiError::with(ErrorCode::SignatureTooFarAhead, at()));
    }
    if signed.expires.saturating_add(SKEW_SECONDS) <= seconds {
        return Err(ApiError::with(ErrorCode::SignatureExpired, at()));
    }
    let chain = registry.server_key(address).and_then(|key| registry.chain(&key.chain));
    let message = ApiRequest {
        method: call.method.to_string(),
        path: call.path.clone(),
        audience: settings.audience.clone(),
        idempotencyKey: call.key_if_any()?.unwrap_or_default().to_owned(),
        bodyHash: B256::from_slice(&Keccak256::digest(call.raw_body())),
        expires: signed.expires,
    };
    let digest = typed_data::digest(&message, chain.map_or(settings.chain_id, |chain| chain.id));
    let signer = typed_data::recover(&digest, &signature).map_err(|error| malformed(&error))?;
    if signer != address {
        return Err(ErrorCode::SignatureInvalid.into());
    }
    let caller = caller_of(registry, address, now).ok_or(ErrorCode::Unauthenticated)?;
    Ok((caller, address))
}

/// The request as its author signed it, for the audit log. A token is not enough: a node that relays it sees it.
pub(super) fn signed_request(call: &ApiCall, settings: &FundsSettings) -> Result<SignedRequest, ApiError> {
    let CallProof::Signature { signature, address, expires } = &call.proof else {
        return Err(ErrorCode::SignatureNeeded.into());
    };
    let body = std::str::from_utf8(call.raw_body()).map_err(|_| ErrorCode::BodyInvalid)?;
    if body.len() > SIGNED_BODY_MAX {
        return Err(ErrorCode::BodyTooLarge.into());
    }
    Ok(SignedRequest {
        method: call.method.to_string(),
        path: call.path.clone(),
        audience: settings.audience.clone(),
        chain_id: settings.chain_id.0,
        // A change has one; a read needs none.
        idempotency_key: call.key_if_any()?.unwrap_or_default().to_owned(),
        body: body.to_owned(),
        expires: *expires,
        address: address.parse().map_err(|_| ErrorCode::SignatureMalformed)?,
        signature: signature.clone(),
    })
}

/// For whom an address may speak.
fn caller_of(registry: &Registry, address: Address, now: Time) -> Option<Caller> {
    if let Some(person) = registry.operators().person_with(address) {
        return Some(Caller::Operator(person.name.clone()));
    }
    if let Some(key) = registry.server_key(address) {
        let is_valid = key.standing(now) == KeyStanding::Valid && registry.server(&key.server).is_some();
        return is_valid.then(|| Caller::GameServer(key.server.clone()));
    }
    registry.player_wallet(address).map(|wallet| Caller::Player(wallet.player.clone()))
}
