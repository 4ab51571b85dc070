//! The chains, their wallets and the server of the configuration, each written once: into a registry that does not have
//! the chain yet, and the server only into one without servers.
//!
//! From then on the registry is what counts: it is changed by its owner, and the configuration's `[server]`, `wallet`,
//! `wallet_name` and `treasury` are not read any more. Nothing that is registered is ever replaced from here.

use anyhow::Context;
use bankroll_deposits::BuyIn;
use bankroll_ledger::{Amount, AssetId, IdempotencyKey, Name, Namespace, Principal, Scope, Time, Unit};
use bankroll_orders::{Address, ChainId};
use bankroll_registry::{
    ChangeOrigin, CustodyKey, Pauses, RegisteredAsset, RegisteredChain, RegisteredServer, RegisteredWallet, Registry,
    RegistryChange, ServerAccount, ServerAccountStatus, ServerTerms, TreasuryAddress, WalletRole, change_request,
};
use bankroll_store::{Clock, Ledger, Reader};

use crate::{flows::FlowSetup, log::NodeLog};

/// Who made these entries, in the list of changes.
const BY: &str = "system:configuration";
/// Until a server registers with its own.
const MASS_PER_COIN: u128 = 1_000;

/// What became of a chain's first entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeedOutcome {
    Written,
    /// The registry has the chain, and counts.
    Known,
    /// They contradict what the registry has, so that nothing was written. Why.
    Refused(String),
}

/// Writes the entries of the configuration for a chain that is not registered yet. The first one brings the server.
///
/// # Errors
/// If the registry cannot be read, or the ledger has no answer. It is unknown then whether they were written; the next
/// call finds out.
pub fn seed_registry(
    ledger: &Ledger,
    reader: &Reader,
    setup: &FlowSetup,
    asset: AssetId,
    log: &NodeLog,
) -> anyhow::Result<SeedOutcome> {
    if Registry::load_for_flows(reader)?.chain(setup.chain()).is_some() {
        return Ok(SeedOutcome::Known);
    }
    let now = Clock::machine().now();
    // With the keys, whose names must be free, too.
    let registry = Registry::load(reader, now)?;
    if let Some(why) = refusal(&registry, setup) {
        return Ok(SeedOutcome::Refused(why));
    }
    let brings_server = setup.buy_in.is_some() && registry.servers().next().is_none();
    let origin = ChangeOrigin {
        principal: Principal::System,
        key: IdempotencyKey {
            namespace: Namespace::Registry,
            scope: Scope::House,
            text: format!("configuration/{}", setup.coin.chain),
        },
        by: BY.parse()?,
        // No caller has sent anything.
        request_hash: [0; 32],
        now,
    };
    let server = setup.buy_in.as_ref().filter(|_| brings_server);
    // A key has one name, on however many chains its address is a wallet.
    let known_key = registry.custody_keys().find(|key| key.address == setup.wallet).map(|key| key.id.clone());
    let request = change_request(&origin, &entries(setup, server, known_key, asset, now)?)?;
    let answers = ledger.submit(vec![request])?.wait()?;
    let answer = answers.first().context("the ledger gave no answer")?;
    answer.effects().with_context(|| format!("the ledger rejected the first entries of {}", setup.chain()))?;
    log.write(
        "registry_seeded",
        &sentence(setup, brings_server),
        &[("chain", setup.chain().as_str().into()), ("server", setup.server.as_str().into())],
    );
    Ok(SeedOutcome::Written)
}

/// Names that another entry has: it may be another wallet's money.
fn refusal(registry: &Registry, setup: &FlowSetup) -> Option<String> {
    let (name, key) = (&setup.wallet_name, setup.key("wallet_name"));
    let id = ChainId(setup.identity.chain_id);
    if let Some(other) = registry.chain_of_id(id) {
        return Some(format!("the registry has chain {id} as {}", other.name));
    }
    if registry.player_wallet(setup.wallet).is_some() {
        // Their payments would count as moves between our own wallets.
        return Some(format!("{} {} is the wallet of a player", setup.key("wallet"), setup.wallet));
    }
    if let Some(other) = registry.wallet(name) {
        return Some(format!("the registry has a wallet \"{name}\" on {}; set {key} to another name", other.chain));
    }
    // With a known address no key is added.
    let is_known = registry.custody_keys().any(|key| key.address == setup.wallet);
    let other = registry.custody_key(name).filter(|_| !is_known)?;
    Some(format!("the registry has a custody key \"{name}\" of {}; set {key} to another name", other.address))
}

fn sentence(setup: &FlowSetup, brings_server: bool) -> String {
    let (chain, server, wallet, name) = (setup.chain(), &setup.server, setup.wallet, &setup.wallet_name);
    if brings_server {
        return format!(
            "wrote {chain}, wallet {wallet} and server {server} into the empty registry; from now on the registry counts, \
             and [server], {} and {} do not",
            setup.key("wallet"),
            setup.key("treasury")
        );
    }
    format!(
        "wrote {chain} and its wallet {name} ({wallet}) into the registry; from now on the registry counts, and {} and {} \
         do not",
        setup.key("wallet"),
        setup.key("treasury")
    )
}

fn entries(
    setup: &FlowSetup,
    server: Option<&BuyIn>,
    known_key: Option<Name>,
    asset: AssetId,
    now: Time,
) -> anyhow::Result<Vec<RegistryChange>> {
    let (chain, hot) = (setup.coin.chain.clone(), setup.wallet_name.clone());
    let custody_key = known_key.clone().unwrap_or_else(|| hot.clone());
    let mut entries = vec![
        RegistryChange::Chain(RegisteredChain {
            name: chain.clone(),
            id: ChainId(setup.identity.chain_id),
            label: chain.to_string(),
            created_at: now,
            revision: 1,
        }),
        RegistryChange::Asset(RegisteredAsset {
            asset,
            chain: chain.clone(),
            unit: Unit::Native,
            decimals: setup.coin.decimals,
            symbol: setup.coin.symbol.clone(),
            created_at: now,
            revision: 1,
        }),
        RegistryChange::Wallet(RegisteredWallet {
            name: hot.clone(),
            chain: chain.clone(),
            address: setup.wallet,
            role: WalletRole::Hot,
            custody_key: Some(custody_key.clone()),
            derivation_index: Some(0),
            created_at: now,
            revision: 1,
        }),
        RegistryChange::ServerAccount(ServerAccount {
            chain: chain.clone(),
            address: setup.wallet,
            asset,
            server: setup.server.clone(),
            wallet: hot,
            player: None,
            start_block: setup.start,
            status: ServerAccountStatus::Active,
            created_at: now,
            updated_at: now,
            revision: 1,
        }),
    ];
    let new_key = known_key.is_none().then(|| CustodyKey {
        id: custody_key.clone(),
        xpub: None,
        account: 0,
        address: setup.wallet,
        created_at: now,
        revision: 1,
    });
    entries.extend(new_key.map(RegistryChange::CustodyKey));
    entries.extend(server.map(|buy_in| server_entry(setup, buy_in, custody_key, asset, now)).transpose()?);
    entries.extend(setup.treasury.iter().map(|address| {
        RegistryChange::Treasury(TreasuryAddress {
            chain: chain.clone(),
            address: *address,
            label: "configuration".into(),
            removed_at: None,
            created_at: now,
            revision: 1,
        })
    }));
    Ok(entries)
}

fn server_entry(
    setup: &FlowSetup,
    buy_in: &BuyIn,
    custody_key: Name,
    asset: AssetId,
    now: Time,
) -> anyhow::Result<RegistryChange> {
    Ok(RegistryChange::Server(RegisteredServer {
        name: setup.server.clone(),
        chain: setup.coin.chain.clone(),
        asset,
        custody_key,
        deposit_address: setup.wallet,
        terms: ServerTerms {
            buy_in: buy_in.amount,
            developer_bps: buy_in.developer_bps,
            world_bps: buy_in.world_bps,
            mass_per_coin: Amount::new(MASS_PER_COIN),
            exit_hold_ms: 0,
            payout_address: setup.wallet,
            // No key exists for it: the server has no developer until it registers.
            developer: Address::ZERO,
        },
        pauses: Pauses::default(),
        player_addresses: false,
        labels: String::new(),
        version: 1,
        changed_by: BY.parse()?,
        changed_at: now,
        created_at: now,
        rotated_at: None,
    }))
}
