//! The chain, the wallet and the server of the configuration, written into an empty registry.
//!
//! From then on the registry is what counts: it is changed by its owner, and the configuration's `[server]`,
//! `chain.wallet` and `chain.treasury` are not read any more.

use anyhow::Context;
use bankroll_ledger::{Amount, AssetId, IdempotencyKey, Name, Namespace, Principal, Scope, Time, Unit};
use bankroll_orders::{Address, ChainId};
use bankroll_registry::{
    ChangeOrigin, CustodyKey, Pauses, RegisteredAsset, RegisteredChain, RegisteredServer, RegisteredWallet, Registry,
    RegistryChange, ServerAccount, ServerAccountStatus, ServerTerms, TreasuryAddress, WalletRole, change_request,
};
use bankroll_store::{Clock, Ledger, Reader};

use crate::{
    flows::{FlowSetup, HOT_WALLET},
    log::NodeLog,
};

/// Who made these entries, in the list of changes.
const BY: &str = "system:configuration";
/// Until a server registers with its own.
const MASS_PER_COIN: u128 = 1_000;

/// Writes the entries of the configuration, if no chain is registered yet.
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
) -> anyhow::Result<()> {
    if Registry::load_for_flows(reader)?.chains().next().is_some() {
        return Ok(());
    }
    let now = Clock::machine().now();
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
    let request = change_request(&origin, &entries(setup, asset, now)?)?;
    let answers = ledger.submit(vec![request])?.wait()?;
    let answer = answers.first().context("the ledger gave no answer")?;
    answer.effects().context("the ledger rejected the first entries of the registry")?;
    let (chain, server, wallet) = (&setup.coin.chain, &setup.server, setup.wallet);
    let sentence = format!(
        "wrote {chain}, wallet {wallet} and server {server} into the empty registry; from now on the registry counts, \
         and [server], chain.wallet and chain.treasury do not"
    );
    log.write("registry_seeded", &sentence, &[("chain", chain.as_str().into()), ("server", server.as_str().into())]);
    Ok(())
}

fn entries(setup: &FlowSetup, asset: AssetId, now: Time) -> anyhow::Result<Vec<RegistryChange>> {
    let (chain, hot, by): (Name, Name, Name) = (setup.coin.chain.clone(), HOT_WALLET.parse()?, BY.parse()?);
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
        RegistryChange::CustodyKey(CustodyKey {
            id: hot.clone(),
            xpub: None,
            account: 0,
            address: setup.wallet,
            created_at: now,
            revision: 1,
        }),
        RegistryChange::Wallet(RegisteredWallet {
            name: hot.clone(),
            chain: chain.clone(),
            address: setup.wallet,
            role: WalletRole::Hot,
            custody_key: Some(hot.clone()),
            derivation_index: Some(0),
            created_at: now,
            revision: 1,
        }),
        RegistryChange::Server(RegisteredServer {
            name: setup.server.clone(),
            chain: chain.clone(),
            asset,
            custody_key: hot.clone(),
            deposit_address: setup.wallet,
            terms: ServerTerms {
                buy_in: setup.buy_in.amount,
                developer_bps: setup.buy_in.developer_bps,
                world_bps: setup.buy_in.world_bps,
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
            changed_by: by,
            changed_at: now,
            created_at: now,
            rotated_at: None,
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
