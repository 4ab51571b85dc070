//! The set-up: coins, servers, players, and their accounts.

use bankroll_ledger::{AccountKind, AccountName, Asset, AssetId, Name, Principal, Scope, Unit};
use fastrand::Rng;

use super::{Stream, StreamStep, policy};
use crate::model::{RoleSet, rights};

/// Parses a name.
///
/// # Panics
/// If it is not legal.
#[must_use]
pub fn name(text: &str) -> Name {
    text.parse().expect("a legal name")
}

/// A random subset of the names in their order, at least `least` of them.
pub(super) fn pick_names(rng: &mut Rng, all: &[&str], least: usize) -> Vec<Name> {
    all[..rng.usize(least..=all.len())].iter().map(|text| name(text)).collect()
}

impl Stream {
    /// Lists two coins and opens all accounts, a few of them with narrower rights or without an account for debt.
    pub(super) fn set_up(&mut self) -> Vec<StreamStep> {
        let ether = Asset { chain: name("eip155:1"), unit: Unit::Native, decimals: 18, symbol: "ETH".into() };
        let token = Asset { unit: Unit::Token(name("0xdac17f")), symbol: "USDT".into(), ..ether.clone() };
        let mut steps: Vec<StreamStep> = [ether, token]
            .into_iter()
            .map(|asset| StreamStep::List { asset, expected: self.model.list_asset() })
            .collect();
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
            account(AccountKind::Suspense, None),
            account(AccountKind::House, None),
            account(AccountKind::InTransit, None),
            account(AccountKind::NetworkFees, None),
            account(AccountKind::Custody, Some(name("cold"))),
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
            account(AccountKind::World, None),
            account(AccountKind::Ecosystem, None),
            account(AccountKind::Developer, None),
            account(AccountKind::Clearing, None),
            account(AccountKind::Custody, Some(&name("hot"))),
        ];
        if self.chance(50) {
            names.push(account(AccountKind::Debt, None));
        }
        for player in self.players.clone() {
            let kinds = [AccountKind::Funds, AccountKind::Unallocated, AccountKind::PlayOnly, AccountKind::Table];
            names.extend(kinds.into_iter().map(|kind| account(kind, Some(&player))));
            if self.chance(70) {
                names.push(account(AccountKind::Debt, Some(&player)));
            }
        }
        names
    }

    fn open(&mut self, by: Principal, names: Vec<AccountName>) -> StreamStep {
        let (mut with_policies, mut expected) = (Vec::new(), Vec::new());
        for name in names {
            let mut sets = rights::widest(name.kind.as_str());
            if self.chance(6) {
                self.bend(&mut sets);
            }
            expected.push(self.model.open(&by, &name, [&sets[0], &sets[1], &sets[2]]));
            with_policies.push((name, policy(&sets)));
        }
        StreamStep::Open { by, names: with_policies, expected }
    }

    /// Removes a role from the rights, or, more rarely, adds one.
    fn bend(&mut self, sets: &mut [RoleSet; 3]) {
        let role = rights::ROLES[self.rng.usize(0..rights::ROLES.len())];
        let set = &mut sets[self.rng.usize(0..3)];
        if self.chance(75) {
            set.remove(role);
        } else {
            set.insert(role);
        }
    }

    /// Accounts of any kind by any principal: new, existing and illegal ones.
    pub(super) fn open_something(&mut self) -> StreamStep {
        let by = self.principal();
        let names = (0..self.rng.usize(1..=3))
            .map(|_| {
                let server = if self.chance(95) { self.one_of(&self.servers.clone()) } else { name("nowhere") };
                let owners = [self.one_of(&self.players.clone()), name("0xnew"), name("seat-1")];
                AccountName {
                    scope: if self.chance(20) { Scope::House } else { Scope::Server(server) },
                    kind: AccountKind::ALL[self.rng.usize(0..AccountKind::ALL.len())],
                    asset: AssetId(if self.chance(95) { self.rng.u32(1..=2) } else { self.rng.u32(0..5) }),
                    owner: if self.chance(60) { Some(self.one_of(&owners)) } else { None },
                }
            })
            .collect();
        self.open(by, names)
    }
}
