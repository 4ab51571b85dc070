//! Registration: a game server states its terms, signed with its key; the books accept them within the key's bounds.
//!
//! Pure. The signature is checked before this: `signer` is the address that was recovered from it, and the chain id is
//! that of the domain that was signed.

mod freshness;
mod open_session;
mod refusal;

use bankroll_ledger::{AccountKind, AccountName, Amount, AssetId, Name, Scope, Time};
use bankroll_orders::{
    Address, ChainId,
    typed_data::{Registration, U256},
};

pub use freshness::{AHEAD_MAX_SECONDS, SKEW_SECONDS};
pub use open_session::{SessionOpening, SessionTerms, decide_session};
pub use refusal::RegistrationRefusal;

use crate::{
    KeyStanding, NoncePurpose, NonceText, Pauses, RegisteredServer, RegisteredWallet, Registry, RegistryChange,
    ServerAccount, ServerAccountStatus, ServerKey, ServerTerms, UsedNonce, WalletRole,
};

/// The longest exit hold: a week.
pub const EXIT_HOLD_MS_MAX: u64 = 7 * 24 * 3600 * 1000;

/// What a game server signed: the fields of the typed message `Registration`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistrationTerms {
    pub server: String,
    pub audience: String,
    pub payout_address: Address,
    pub developer: Address,
    pub buy_in: Amount,
    pub developer_fee_bps: u32,
    pub world_fee_bps: u32,
    pub mass_per_coin: Amount,
    pub exit_hold_ms: u64,
    pub nonce: [u8; 32],
    /// Seconds since 1970.
    pub expires: u64,
}

impl RegistrationTerms {
    /// The terms in a typed message.
    ///
    /// # Errors
    /// If an amount exceeds what the ledger can count.
    pub fn of(message: &Registration) -> Result<Self, RegistrationRefusal> {
        let amount = |field, value: U256| match u128::try_from(value) {
            Ok(units) => Ok(Amount::new(units)),
            Err(_) => Err(RegistrationRefusal::Malformed { field }),
        };
        Ok(Self {
            server: message.server.clone(),
            audience: message.audience.clone(),
            payout_address: Address(message.payoutAddress.into_array()),
            developer: Address(message.developer.into_array()),
            buy_in: amount("buyIn", message.buyIn)?,
            developer_fee_bps: message.developerFeeBps,
            world_fee_bps: message.worldFeeBps,
            mass_per_coin: amount("massPerCoin", message.massPerCoin)?,
            exit_hold_ms: message.exitHoldMs,
            nonce: message.nonce.0,
            expires: message.expires,
        })
    }
}

/// What a registration is checked against, together with the registry.
#[derive(Clone, Copy, Debug)]
pub struct RegistrationContext<'a> {
    /// The address that the signature was made with.
    pub signer: Address,
    /// The chain of the signed domain.
    pub chain_id: ChainId,
    /// The deployment's public name.
    pub audience: &'a str,
    /// The first block in which payments to a new address count: one that exists no longer than the address.
    pub start_block: u64,
    pub now: Time,
}

/// An accepted registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistrationDecision {
    /// The server as it is after the changes.
    pub server: RegisteredServer,
    pub changes: Vec<RegistryChange>,
    /// The accounts to open before the changes are written.
    pub accounts: Vec<AccountName>,
    /// Whether a new version is written; the same terms again are none.
    pub is_changed: bool,
}

/// Decides a registration: a new server, other terms for a known one, or nothing new.
///
/// # Errors
/// The first rule that it breaks; nothing is used up then, not even its nonce.
pub fn decide_registration(
    registry: &Registry,
    terms: &RegistrationTerms,
    context: &RegistrationContext<'_>,
) -> Result<RegistrationDecision, RegistrationRefusal> {
    let now = context.now;
    let name: Name = terms.server.parse().map_err(|_| RegistrationRefusal::Malformed { field: "server" })?;
    if terms.audience != context.audience {
        return Err(RegistrationRefusal::WrongAudience { expected: context.audience.to_owned() });
    }
    let expires_at = freshness::check(terms.expires, now)?;
    let key = registry.server_key(context.signer).ok_or(RegistrationRefusal::UnknownKey { signer: context.signer })?;
    match key.standing(now) {
        KeyStanding::Valid => {}
        KeyStanding::Expired => return Err(RegistrationRefusal::ExpiredKey),
        KeyStanding::Revoked => return Err(RegistrationRefusal::RevokedKey),
    }
    if key.server != name {
        return Err(RegistrationRefusal::WrongServer { expected: key.server.clone() });
    }
    let chain = registry.chain(&key.chain).filter(|chain| chain.id == context.chain_id);
    chain.ok_or_else(|| RegistrationRefusal::WrongChain { expected: key.chain.clone() })?;
    let nonce = NonceText::chosen_by(context.signer, &terms.nonce);
    if registry.is_nonce_used(NoncePurpose::Registration, &nonce) {
        return Err(RegistrationRefusal::NonceUsed);
    }
    let accepted = check_terms(registry, key, terms)?;
    let (server, mut changes) = upsert(registry, key, accepted, context)?;
    let is_changed = !changes.is_empty();
    changes.push(RegistryChange::Nonce(UsedNonce {
        purpose: NoncePurpose::Registration,
        nonce,
        expires_at,
        used_at: now,
    }));
    let accounts = server_accounts(&name, server.asset);
    Ok(RegistrationDecision { server, changes, accounts, is_changed })
}

/// The accounts that a server needs before money moves there: its own, and what each of them can owe.
#[must_use]
pub fn server_accounts(server: &Name, asset: AssetId) -> Vec<AccountName> {
    let of = |kind| AccountName { scope: Scope::Server(server.clone()), kind, asset, owner: None };
    let kinds = [AccountKind::World, AccountKind::Ecosystem, AccountKind::Developer].map(of);
    let mut names: Vec<AccountName> = kinds.iter().filter_map(AccountName::debt).chain(kinds.clone()).collect();
    names.sort();
    names.dedup();
    names
}

fn check_terms(
    registry: &Registry,
    key: &ServerKey,
    terms: &RegistrationTerms,
) -> Result<ServerTerms, RegistrationRefusal> {
    let bounds = &key.bounds;
    let out_of_bounds = |field, least: Amount, most: Amount| RegistrationRefusal::OutOfBounds { field, least, most };
    let fee = |field, value: u32, most: u32| {
        let most_amount = Amount::new(most.into());
        if value <= most { Ok(()) } else { Err(out_of_bounds(field, Amount::ZERO, most_amount)) }
    };
    if terms.buy_in < bounds.buy_in_min || terms.buy_in > bounds.buy_in_max {
        return Err(out_of_bounds("buyIn", bounds.buy_in_min, bounds.buy_in_max));
    }
    fee("developerFeeBps", terms.developer_fee_bps, bounds.developer_bps_max)?;
    fee("worldFeeBps", terms.world_fee_bps, bounds.world_bps_max)?;
    if terms.exit_hold_ms > EXIT_HOLD_MS_MAX {
        return Err(out_of_bounds("exitHoldMs", Amount::ZERO, Amount::new(EXIT_HOLD_MS_MAX.into())));
    }
    if terms.mass_per_coin.is_zero() {
        return Err(RegistrationRefusal::Malformed { field: "massPerCoin" });
    }
    if terms.developer == Address::ZERO {
        return Err(RegistrationRefusal::Malformed { field: "developer" });
    }
    // A server that only the configuration has named has no developer yet.
    let named = registry.server(&key.server).map(|known| known.terms.developer).filter(|named| *named != Address::ZERO);
    if let Some(expected) = named.filter(|named| *named != terms.developer) {
        return Err(RegistrationRefusal::DeveloperChanged { expected });
    }
    // Only a wallet of ours can pay, and only a hot one has a key at hand. Another server's would pay with the coins of
    // that server's players.
    let custody = registry.custody_key(&key.custody_key).ok_or(RegistrationRefusal::CustodyKeyUnknown)?;
    let is_own = |wallet: &&RegisteredWallet| {
        wallet.custody_key.as_ref() == Some(&key.custody_key) || wallet.address == custody.address
    };
    let payout = registry.wallet_at(&key.chain, terms.payout_address).filter(is_own);
    let payout = payout.filter(|wallet| wallet.role == WalletRole::Hot);
    payout.ok_or(RegistrationRefusal::PayoutAddressUnknown)?;
    Ok(ServerTerms {
        buy_in: terms.buy_in,
        developer_bps: terms.developer_fee_bps,
        world_bps: terms.world_fee_bps,
        mass_per_coin: terms.mass_per_coin,
        exit_hold_ms: terms.exit_hold_ms,
        payout_address: terms.payout_address,
        developer: terms.developer,
    })
}

/// The server after its registration, and the changes that make it so: none if it is what it was.
fn upsert(
    registry: &Registry,
    key: &ServerKey,
    terms: ServerTerms,
    context: &RegistrationContext<'_>,
) -> Result<(RegisteredServer, Vec<RegistryChange>), RegistrationRefusal> {
    let now = context.now;
    let custody = registry.custody_key(&key.custody_key).ok_or(RegistrationRefusal::CustodyKeyUnknown)?;
    let by = format!("key:{}", key.address.lower_hex()).parse();
    let by: Name = by.map_err(|_| RegistrationRefusal::Malformed { field: "server" })?;
    let known = registry.server(&key.server);
    let is_rotated = known.is_some_and(|known| known.custody_key != key.custody_key);
    let server = match known {
        Some(known) if !is_rotated && known.terms == terms => return Ok((known.clone(), Vec::new())),
        Some(known) => RegisteredServer {
            terms,
            custody_key: key.custody_key.clone(),
            deposit_address: custody.address,
            rotated_at: if is_rotated { Some(now) } else { known.rotated_at },
            ..known.next(by, now)
        },
        None => RegisteredServer {
            name: key.server.clone(),
            chain: key.chain.clone(),
            asset: key.asset,
            custody_key: key.custody_key.clone(),
            deposit_address: custody.address,
            terms,
            pauses: Pauses::default(),
            player_addresses: false,
            labels: String::new(),
            version: 1,
            changed_by: by,
            changed_at: now,
            created_at: now,
            rotated_at: None,
        },
    };
    let mut changes = vec![RegistryChange::Server(server.clone())];
    if known.is_none() || is_rotated {
        changes.extend(watch_deposit_address(registry, &server, context)?);
    }
    Ok((server, changes))
}

/// The new address is watched, and the server's previous one is no longer handed out.
fn watch_deposit_address(
    registry: &Registry,
    server: &RegisteredServer,
    context: &RegistrationContext<'_>,
) -> Result<Vec<RegistryChange>, RegistrationRefusal> {
    let now = context.now;
    let wallet = registry.wallet_at(&server.chain, server.deposit_address);
    let wallet = wallet.ok_or(RegistrationRefusal::CustodyKeyUnknown)?;
    // What is watched for the server on another chain, or for another asset, stays as it is.
    let is_here = |account: &&ServerAccount| account.chain == server.chain && account.asset == server.asset;
    let is_former = |account: &&ServerAccount| account.player.is_none() && account.address != server.deposit_address;
    let is_active = |account: &&ServerAccount| account.status == ServerAccountStatus::Active;
    let retire = |account: &ServerAccount| {
        let (status, revision) = (ServerAccountStatus::Retired, account.revision.saturating_add(1));
        RegistryChange::ServerAccount(ServerAccount { status, updated_at: now, revision, ..account.clone() })
    };
    let former = registry.accounts_of(&server.name).filter(is_here).filter(is_former).filter(is_active).map(retire);
    let mut known = registry.accounts_of(&server.name).filter(is_here);
    let known = known.find(|account| account.address == server.deposit_address);
    let account = ServerAccount {
        chain: server.chain.clone(),
        address: server.deposit_address,
        asset: server.asset,
        server: server.name.clone(),
        wallet: wallet.name.clone(),
        player: None,
        start_block: known.map_or(context.start_block, |known| known.start_block),
        status: ServerAccountStatus::Active,
        created_at: known.map_or(now, |known| known.created_at),
        updated_at: now,
        revision: known.map_or(1, |known| known.revision.saturating_add(1)),
    };
    Ok(former.chain([RegistryChange::ServerAccount(account)]).collect())
}
