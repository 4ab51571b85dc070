//! Opens the games of a server, with their players.

use std::sync::Arc;

use bankroll_chains_simulated::SimulatedKey as WalletKey;
use bankroll_orders::Address;

use super::{
    super::{
        arena::{Arena, ArenaPeople},
        player::ArenaPlayer,
        player_wallets::PlayerWallets,
    },
    ArenaGame,
};

/// Games of the server, each with its own thread.
const GAMES: u32 = 4;

/// The games with their players; each player has a wallet. They get accounts and sign in when they first pay.
pub fn open_games(arena: &Arena, wallets: &PlayerWallets, people: &ArenaPeople) -> anyhow::Result<Vec<ArenaGame>> {
    let ArenaPeople { players, seed, fates } = *people;
    let seed = seed ^ arena.run.rotate_left(32);
    let mut chance = fastrand::Rng::with_seed(seed);
    let mut players = (1..=u64::from(players))
        .map(|number| {
            let key = WalletKey::derived(seed, number);
            let name = Address(key.address().into_array()).lower_hex().parse()?;
            Ok(ArenaPlayer::new(wallets.add(key), name))
        })
        .collect::<anyhow::Result<Vec<ArenaPlayer>>>()?;
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
