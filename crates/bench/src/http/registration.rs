//! A game server in the registry, by the registry's own decisions, and a session of it.

use bankroll_ledger::{Amount, AssetId, IdempotencyKey, Name, Namespace, Principal, Scope, Time};
use bankroll_orders::Address;
use bankroll_registry::{
    AssetDraft, Caller, ChainDraft, ChangeOrigin, CustodyKeyDraft, KeyBounds, RegistrationContext, RegistrationTerms,
    Registry, RegistryChange, SESSION_LIFETIME, ServerKeyDraft, SessionKeys, SessionToken, change_request,
    decide_registration, random_bytes,
};
use bankroll_store::{Ledger, Reader};

use anyhow::Context;

use super::books::{AUDIENCE, CHAIN, SERVER};

const OWNER_ADDRESS: Address = Address([1; 20]);
const SERVER_ADDRESS: Address = Address([2; 20]);
const CUSTODY_ADDRESS: Address = Address([3; 20]);
const DEVELOPER_ADDRESS: Address = Address([4; 20]);

/// Registers the server; the asset that it plays with.
pub(super) fn register(ledger: &Ledger, now: Time) -> anyhow::Result<AssetId> {
    let (server, chain): (Name, Name) = (SERVER.parse()?, "eip155:31337".parse()?);
    let mut registry = Registry::default();
    let changes = registry.add_first_owner("owner".parse()?, OWNER_ADDRESS, now)?;
    commit(ledger, &mut registry, &changes, now)?;
    let changes = registry.add_chain(&ChainDraft { name: chain.clone(), label: "Bench".into() }, now)?;
    commit(ledger, &mut registry, &changes, now)?;
    let coin = AssetDraft { chain: chain.clone(), token: None, decimals: 18, symbol: "SIM".into() };
    let asset = ledger.list_asset(coin.listed())?;
    let changes = registry.add_asset(&coin, asset, now)?;
    commit(ledger, &mut registry, &changes, now)?;
    let custody = CustodyKeyDraft { id: server.clone(), xpub: None, address: Some(CUSTODY_ADDRESS) };
    let changes = registry.add_custody_key(&custody, now)?;
    commit(ledger, &mut registry, &changes, now)?;
    let key = ServerKeyDraft {
        address: SERVER_ADDRESS,
        server,
        chain,
        asset,
        custody_key: custody.id,
        bounds: KeyBounds {
            buy_in_min: Amount::new(1),
            buy_in_max: Amount::new(1_000),
            developer_bps_max: 500,
            world_bps_max: 500,
        },
        spend_limit: None,
        valid_until: None,
    };
    let changes = registry.add_server_key(&key, now)?;
    commit(ledger, &mut registry, &changes, now)?;
    let decision = decide_registration(&registry, &terms(now), &context(now))?;
    for opened in ledger.open_accounts(&Principal::System, decision.accounts)? {
        opened?;
    }
    commit(ledger, &mut registry, &decision.changes, now)?;
    Ok(asset)
}

fn terms(now: Time) -> RegistrationTerms {
    RegistrationTerms {
        server: SERVER.into(),
        audience: AUDIENCE.into(),
        payout_address: CUSTODY_ADDRESS,
        developer: DEVELOPER_ADDRESS,
        buy_in: Amount::new(100),
        developer_fee_bps: 250,
        world_fee_bps: 100,
        mass_per_coin: Amount::new(1),
        exit_hold_ms: 3_000,
        nonce: [1; 32],
        expires: now.0 / 1_000_000 + 300,
    }
}

/// The signature is not measured, so none is made: the registry is asked as after a good one.
fn context(now: Time) -> RegistrationContext<'static> {
    RegistrationContext { signer: SERVER_ADDRESS, chain_id: CHAIN, audience: AUDIENCE, start_block: 0, now }
}

fn commit(ledger: &Ledger, registry: &mut Registry, changes: &[RegistryChange], now: Time) -> anyhow::Result<()> {
    let text = format!("bench-{}", random_text()?);
    let origin = ChangeOrigin {
        principal: Principal::System,
        key: IdempotencyKey { namespace: Namespace::Registry, scope: Scope::House, text },
        by: "bench".parse()?,
        request_hash: [0; 32],
        now,
    };
    ledger.apply(change_request(&origin, changes)?)?.effects()?;
    registry.apply(changes);
    Ok(())
}

fn random_text() -> anyhow::Result<String> {
    Ok(super::super::seats::hex([u64::from_be_bytes(random_bytes()?), 0]))
}

/// A session of the server, and what its token is checked with.
pub(crate) struct BenchSession {
    pub token: SessionToken,
    pub keys: SessionKeys,
    pub registry: Registry,
}

impl BenchSession {
    /// After the service has made its secret.
    pub fn open(ledger: &Ledger, now: Time) -> anyhow::Result<Self> {
        let reader = Reader::open(ledger.location())?;
        let (registry, keys) = (Registry::load(&reader, now)?, SessionKeys::load(&reader, AUDIENCE)?);
        let caller = Caller::GameServer(SERVER.parse()?);
        let issued = keys.issue(caller, SERVER_ADDRESS, random_bytes()?, now, SESSION_LIFETIME);
        let (token, _) = issued.context("the service has no secret for sessions")?;
        Ok(Self { token, keys, registry })
    }
}
