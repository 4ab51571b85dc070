//! Who is there: coins, servers, players, and the accounts they start with.

use bankroll_ledger::{AccountName, Asset, AssetId, Kind, Name, Principal, Scope, Unit};
use fastrand::Rng;

use super::{Step, Stream, policy};
use crate::model::{Set, rights};

/// A name that is known to be one.
///
/// # Panics
/// If it is none.
#[must_use]
pub fn name(text: &str) -> Name {
    text.parse().expect("a legal name")
}

/// At least so many of the names, in their order.
pub(super) fn pick_names(rng: &mut Rng, all: &[&str], least: usize) -> Vec<Name> {
    all[..rng.usize(least..=all.len())].iter().map(|text| name(text)).collect()
}

impl Stream {
    /// Lists two coins and opens the accounts of everybody, a few of them with narrower rights or without a place for
    /// debt.
    pub(super) fn set_up(&mut self) -> Vec<Step> {
        let ether = Asset { chain: name("eip155:1"), unit: Unit::Native, decimals: 18, symbol: "ETH".into() };
        let token = Asset { unit: Unit::Token(name("0xdac17f")), symbol: "USDT".into(), ..ether.clone() };
        let mut steps: Vec<Step> =
            [ether, token].into_iter().map(|asset| Step::List { asset, expected: self.model.list_asset() }).collect();
        let mut names = Vec::new();
        for asset in [AssetId(1), AssetId(2)] {
            names.extend(self.house_accounts(asset));
            for server in self.servers.clone() {
                names.extend(self.server_accounts(asset, &server));
            }
        }
        for some in names.chunks(20) {
            steps.push(self.open(Principal::System, some.to_vec()));
        }
        steps
    }

    fn house_accounts(&self, asset: AssetId) -> Vec<AccountName> {
        let account = |kind, owner| AccountName { scope: Scope::House, kind, asset, owner };
        vec![
            account(Kind::Suspense, None),
            account(Kind::House, None),
            account(Kind::InTransit, None),
            account(Kind::NetworkFees, None),
            account(Kind::Custody, Some(name("cold"))),
        ]
    }

    fn server_accounts(&mut self, asset: AssetId, server: &Name) -> Vec<AccountName> {
        let account = |kind, owner: Option<&Name>| AccountName {
            scope: Scope::Server(server.clone()),
            kind,
            asset,
            owner: owner.cloned(),
        };
        let mut names = vec![
            account(Kind::World, None),
            account(Kind::Ecosystem, None),
            account(Kind::Developer, None),
            account(Kind::Clearing, None),
            account(Kind::Custody, Some(&name("hot"))),
        ];
        if self.chance(50) {
            names.push(account(Kind::Debt, None));
        }
        for player in self.players.clone() {
            let kinds = [Kind::Funds, Kind::Unallocated, Kind::PlayOnly, Kind::Table];
            names.extend(kinds.into_iter().map(|kind| account(kind, Some(&player))));
            if self.chance(70) {
                names.push(account(Kind::Debt, Some(&player)));
            }
        }
        names
    }

    fn open(&mut self, by: Principal, names: Vec<AccountName>) -> Step {
        let (mut with_policies, mut expected) = (Vec::new(), Vec::new());
        for name in names {
            let mut sets = rights::widest(name.kind.as_str());
            if self.chance(6) {
                self.bend(&mut sets);
            }
            expected.push(self.model.open(&by, &name, [&sets[0], &sets[1], &sets[2]]));
            with_policies.push((name, policy(&sets)));
        }
        Step::Open { by, names: with_policies, expected }
    }

    /// Takes a role out of the rights, or, more rarely, puts one in.
    fn bend(&mut self, sets: &mut [Set; 3]) {
        let role = rights::ROLES[self.rng.usize(0..rights::ROLES.len())];
        let set = &mut sets[self.rng.usize(0..3)];
        if self.chance(75) {
            set.remove(role);
        } else {
            set.insert(role);
        }
    }

    /// Accounts of any kind by anybody: new ones, known ones, and impossible ones.
    pub(super) fn open_something(&mut self) -> Step {
        let by = self.principal();
        let names = (0..self.rng.usize(1..=3))
            .map(|_| {
                let server = if self.chance(95) { self.one_of(&self.servers.clone()) } else { name("nowhere") };
                let owners = [self.one_of(&self.players.clone()), name("0xnew"), name("seat-1")];
                AccountName {
                    scope: if self.chance(20) { Scope::House } else { Scope::Server(server) },
                    kind: Kind::ALL[self.rng.usize(0..Kind::ALL.len())],
                    asset: AssetId(if self.chance(95) { self.rng.u32(1..=2) } else { self.rng.u32(0..5) }),
                    owner: if self.chance(60) { Some(self.one_of(&owners)) } else { None },
                }
            })
            .collect();
        self.open(by, names)
    }
}
