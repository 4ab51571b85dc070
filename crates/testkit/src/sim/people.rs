//! The participants: players with the numbers of their keys, two game servers, our wallets.

use std::collections::{BTreeMap, BTreeSet};

use bankroll_chains_simulated::{
    SimulatedKey,
    contracts::{DOLLAR, TAXED},
};
use bankroll_deposits::{BuyIn, Payer, ServerRules, Servers, WatchList, WatchedAddress};
use bankroll_ledger::{Amount, AssetId, Name};
use bankroll_orders::Address;
use bankroll_signer::LocalKey;
use zeroize::Zeroizing;

/// The number of the simulated chain.
pub(super) const CHAIN_ID: u64 = 1337;
/// The same, as assets name it.
pub(super) const CHAIN: &str = "eip155:1337";

/// Keys of the chain's people, by their numbers. All of these have coins from the start.
pub(super) const ALICE: u64 = 1;
pub(super) const BOB: u64 = 2;
pub(super) const CAROL: u64 = 3;
pub(super) const TREASURY: u64 = 4;
pub(super) const STRANGER: u64 = 5;
pub(super) const OTHERS: u64 = 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SimPlayer {
    pub name: &'static str,
    pub server: &'static str,
    pub key: u64,
}

pub(super) const PLAYERS: [SimPlayer; 3] = [
    SimPlayer { name: "alice", server: "arena", key: ALICE },
    SimPlayer { name: "bob", server: "arena", key: BOB },
    SimPlayer { name: "carol", server: "lagoon", key: CAROL },
];

/// A game server and its buy-in: the amount, and the developer's and the game's shares on top in basis points.
pub(super) const SERVERS: [(&str, u128, u32, u32); 2] =
    [("arena", 10_000_000_000_000_000, 250, 1_000), ("lagoon", 3_000_000_000_000_007, 333, 77)];

/// The accounts of our wallets: the one that pays, and the one that receives only Carol's deposits.
pub(super) const HOT: &str = "@house/custody/1/hot";
pub(super) const CAROLS: &str = "@house/custody/1/carols";

const SECRET: [u8; 32] = [0x42; 32];

pub(super) fn name(text: &str) -> Name {
    text.parse().expect("a legal name")
}

/// The signer's key.
pub(super) fn hot_key() -> LocalKey {
    LocalKey::from_bytes(&Zeroizing::new(SECRET)).expect("a key")
}

/// All addresses, computed once: each is a multiplication on the curve.
#[derive(Clone, Debug)]
pub(super) struct People {
    /// The wallet that pays.
    pub hot: Address,
    /// The deposit address of Carol alone.
    pub carols: Address,
    keys: Vec<(SimulatedKey, Address)>,
}

impl People {
    pub fn new(seed: u64) -> Self {
        let keyed = |number| {
            let key = SimulatedKey::derived(seed, number);
            let address = Address(key.address().into_array());
            (key, address)
        };
        Self { hot: hot_key().address(), carols: keyed(100).1, keys: (0..=OTHERS).map(keyed).collect() }
    }

    pub fn address(&self, person: u64) -> Address {
        self.of(person).1
    }

    pub fn key(&self, person: u64) -> &SimulatedKey {
        &self.of(person).0
    }

    fn of(&self, person: u64) -> &(SimulatedKey, Address) {
        &self.keys[usize::try_from(person).expect("one of a few")]
    }
}

/// The address to which a player is paid.
pub(super) fn home(player: SimPlayer) -> Address {
    Address([0x70_u8.wrapping_add(u8::try_from(player.key).unwrap_or_default()); 20])
}

pub(super) fn servers() -> Servers {
    let rules = |(server, amount, developer_bps, world_bps): &(&str, u128, u32, u32)| {
        let buy_in = BuyIn { amount: Amount::new(*amount), developer_bps: *developer_bps, world_bps: *world_bps };
        (name(server), ServerRules { asset: AssetId(1), buy_in, accepts: true, version: 1, is_current: None })
    };
    SERVERS.iter().map(rules).collect()
}

pub(super) fn watch_list(people: &People) -> WatchList {
    let proven = BTreeMap::from([(people.address(ALICE), name("alice")), (people.address(BOB), name("bob"))]);
    let watched = |server: &str, custody: &str, payer| WatchedAddress {
        server: name(server),
        custody: custody.parse().expect("an account's name"),
        payer,
        by_asset: BTreeMap::new(),
        since: 0,
    };
    let hot_wallet = watched("arena", HOT, Payer::Sender);
    let of_carol = watched("lagoon", CAROLS, Payer::Player(name("carol")));
    WatchList {
        addresses: BTreeMap::from([(people.hot, hot_wallet), (people.carols, of_carol)]),
        tokens: BTreeMap::from(
            [(DOLLAR, AssetId(2)), (TAXED, AssetId(3))].map(|(token, asset)| (Address(token.into_array()), asset)),
        ),
        treasury: BTreeSet::from([people.address(TREASURY)]),
        proven,
        own: BTreeSet::new(),
        paying: BTreeSet::from([people.hot]),
    }
}
