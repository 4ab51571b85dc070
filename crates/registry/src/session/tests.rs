//! Tokens that prove something, and all that do not.

#![allow(clippy::arithmetic_side_effects, reason = "small numbers of a test")]

use bankroll_ledger::{Amount, AssetId, Name, Time};
use bankroll_orders::Address;

use super::*;
use crate::{KeyBounds, Registry, RegistryChange, ServerKey};

const KEY: Address = Address([1; 20]);
const NOW: Time = Time(1_000_000_000);
const HOUR: u64 = 3_600_000_000;

fn name(text: &str) -> Name {
    text.parse().expect("a legal name")
}

fn server_key(revoked_at: Option<Time>, valid_until: Option<Time>) -> ServerKey {
    let (buy_in_min, buy_in_max) = (Amount::new(1), Amount::new(2));
    ServerKey {
        address: KEY,
        server: name("arena"),
        chain: name("eip155:1"),
        asset: AssetId(1),
        custody_key: name("arena"),
        bounds: KeyBounds { buy_in_min, buy_in_max, developer_bps_max: 0, world_bps_max: 0 },
        spend_limit: None,
        valid_until,
        revoked_at,
        created_at: NOW,
        revision: 1,
    }
}

fn registry(key: ServerKey) -> Registry {
    let mut registry = Registry::default();
    registry.apply(&[RegistryChange::ServerKey(key)]);
    registry
}

fn keys(audience: &str, secret: u8) -> SessionKeys {
    SessionKeys::new(audience, vec![SessionSecret::new(1, [secret; 32], NOW)])
}

fn arena() -> Caller {
    Caller::GameServer(name("arena"))
}

fn issue(keys: &SessionKeys) -> (SessionToken, SessionClaims) {
    keys.issue(arena(), KEY, [7; 16], NOW, HOUR).expect("there is a secret")
}

#[test]
fn a_token_proves_its_claims_until_it_expires() {
    let (keys, registry) = (keys("bankroll.example", 1), registry(server_key(None, None)));
    let (token, claims) = issue(&keys);
    assert!(token.reveal().starts_with("brs_"));
    assert_eq!(claims.expires_at, Time(NOW.0 + HOUR));
    assert_eq!(keys.verify(token.reveal(), &registry, NOW), Ok(claims.clone()));
    let last = Time(claims.expires_at.0 - 1);
    assert_eq!(keys.verify(token.reveal(), &registry, last), Ok(claims.clone()));
    assert_eq!(keys.verify(token.reveal(), &registry, claims.expires_at), Err(SessionRefusal::Expired));
}

#[test]
fn no_session_outlives_the_longest_lifetime() {
    let (_, claims) = keys("bankroll.example", 1).issue(arena(), KEY, [7; 16], NOW, u64::MAX).expect("a secret");
    assert_eq!(claims.expires_at, Time(NOW.0 + SESSION_LIFETIME));
}

#[test]
fn every_kind_of_caller_comes_back_as_it_was() {
    let long = name(&"x".repeat(128));
    for caller in [
        arena(),
        Caller::Player(name("0xa11ce")),
        Caller::Developer(long.clone(), long),
        Caller::Operator(name("olga")),
    ] {
        let id = SessionId([7; 16]);
        let claims = SessionClaims { id, caller, opened_by: KEY, issued_at: NOW, expires_at: Time(NOW.0 + 1) };
        let body = token::encode_claims(1, &claims);
        assert!(body.len() + token::MAC_BYTES <= token::TOKEN_BYTES_MAX);
        assert_eq!(token::decode_claims(&body), Some(claims));
    }
}

#[test]
fn a_token_of_another_secret_or_another_deployment_is_forged() {
    let (ours, registry) = (keys("bankroll.example", 1), registry(server_key(None, None)));
    let forged = |keys: &SessionKeys| ours.verify(issue(keys).0.reveal(), &registry, NOW);
    assert_eq!(forged(&keys("bankroll.example", 2)), Err(SessionRefusal::Forged));
    // A copy of our books under another name has our secret.
    assert_eq!(forged(&keys("staging.example", 1)), Err(SessionRefusal::Forged));
    let other_number = SessionKeys::new("bankroll.example", vec![SessionSecret::new(2, [1; 32], NOW)]);
    assert_eq!(forged(&other_number), Err(SessionRefusal::Forged));
}

#[test]
fn no_changed_bit_and_no_shorter_token_is_accepted() {
    let (keys, registry) = (keys("bankroll.example", 1), registry(server_key(None, None)));
    let (token, _) = issue(&keys);
    let text = token.reveal();
    for length in 0..text.len() {
        assert!(keys.verify(&text[..length], &registry, NOW).is_err(), "{length}");
    }
    let bytes = hex::decode(&text[4..]).expect("digits");
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let refused = keys.verify(&format!("brs_{}", hex::encode(changed)), &registry, NOW);
        assert_eq!(refused, Err(SessionRefusal::Forged), "{bit}");
    }
    for text in [format!("{text}00"), text.to_uppercase(), format!("brs_{}", "0".repeat(10_000)), "brs_é".into()] {
        assert!(keys.verify(&text, &registry, NOW).is_err(), "{text}");
    }
}

#[test]
fn a_key_that_is_revoked_or_over_or_another_servers_ends_its_sessions() {
    let keys = keys("bankroll.example", 1);
    let (token, _) = issue(&keys);
    let verify = |key: ServerKey| keys.verify(token.reveal(), &registry(key), NOW).map(drop);
    assert_eq!(verify(server_key(None, None)), Ok(()));
    assert_eq!(verify(server_key(Some(NOW), None)), Err(SessionRefusal::RevokedKey));
    assert_eq!(verify(server_key(None, Some(NOW))), Err(SessionRefusal::RevokedKey));
    assert_eq!(verify(server_key(None, Some(Time(NOW.0 + 1)))), Ok(()));
    assert_eq!(verify(ServerKey { server: name("other"), ..server_key(None, None) }), Err(SessionRefusal::RevokedKey));
    assert_eq!(keys.verify(token.reveal(), &Registry::default(), NOW), Err(SessionRefusal::RevokedKey));
}

#[test]
fn a_closed_session_is_refused_and_others_of_the_key_go_on() {
    let (keys, mut registry) = (keys("bankroll.example", 1), registry(server_key(None, None)));
    let (token, claims) = issue(&keys);
    let (other, _) = keys.issue(arena(), KEY, [8; 16], NOW, HOUR).expect("a secret");
    let changes = registry.close_session(&claims, NOW);
    registry.apply(&changes);
    assert_eq!(keys.verify(token.reveal(), &registry, NOW), Err(SessionRefusal::RevokedSession));
    assert!(keys.verify(other.reveal(), &registry, NOW).is_ok());
}

#[test]
fn neither_a_token_nor_a_secret_is_ever_printed() {
    let keys = keys("bankroll.example", 0xab);
    let (token, _) = issue(&keys);
    let secret = SessionSecret::new(1, [0xab; 32], NOW);
    assert_eq!(format!("{token:?} {secret:?}"), "SessionToken(...) SessionSecret(1, ...)");
    assert_eq!(format!("{keys:?}"), "SessionKeys(\"bankroll.example\", 1 secrets)");
}
