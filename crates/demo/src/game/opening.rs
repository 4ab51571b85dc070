//! Opens the games of a server, with their players.

use std::sync::Arc;

use bankroll_chains_simulated::SimulatedKey as WalletKey;
use bankroll_ledger::{AccountKind, Name};
use bankroll_orders::Address;
use bankroll_store::Ledger;

use super::{
    super::{
        arena::{Arena, ArenaPeople, open_accounts},
        player::ArenaPlayer,
        player_wallets::PlayerWallets,
    },
    ArenaGame,
};

/// Games of the server, each with its own thread.
const GAMES: u32 = 4;

/// The games with their players; each player has a wallet and accounts.
pub fn open_games(
    arena: &Arena,
    ledger: &Ledger,
    wallets: &PlayerWallets,
    people: &ArenaPeople,
) -> anyhow::Result<Vec<ArenaGame>> {
    let ArenaPeople { players, seed, fates } = *people;
    let seed = seed ^ arena.run.rotate_left(32);
    let mut chance = fastrand::Rng::with_seed(seed);
    let keys: Vec<WalletKey> = (1..=u64::from(players)).map(|number| WalletKey::derived(seed, number)).collect();
    let addresses: Vec<Address> = keys.iter().map(|key| Address(key.address().into_array())).collect();
    let names: Vec<Name> = addresses.iter().map(|address| address.lower_hex().parse()).collect::<Result<_, _>>()?;
    let accounts = names.iter().flat_map(|wallet| {
        [AccountKind::Funds, AccountKind::Unallocated, AccountKind::Debt]
            .map(|kind| arena.account(kind, Some(wallet.clone())))
    });
    let accounts = open_accounts(ledger, accounts.collect())?;
    let people = keys.into_iter().zip(names).zip(addresses).zip(accounts.chunks_exact(3));
    let mut players: Vec<ArenaPlayer> = people
        .map(|(((key, name), address), accounts)| ArenaPlayer::new(wallets.add(key), name, address, accounts[0]))
        .collect();
    let count = GAMES.min(u32::try_from(players.len())?) as usize;
    let arena = Arc::new(arena.clone());
    let mut games = Vec::new();
    for number in 0..count {
        let share = players.len().div_ceil(count - number);
        let own = players.split_off(players.len() - share);
        games.push(ArenaGame::new(number, Arc::clone(&arena), own, chance.fork(), fates));
    }
    Ok(games)
}
