//! Legs that a principal might send: mostly along its own routes, with amounts that are mostly available.

use bankroll_ledger::{AccountId, Amount, HoldId, Leg, Principal, Settler, Time};

use super::Stream;
use crate::model::{ModelAccount, rights};

impl Stream {
    pub(super) fn legs(&mut self, principal: &Principal) -> Vec<Leg> {
        let count = match self.rng.u32(0..100) {
            0..60 => 1,
            60..88 => self.rng.usize(2..=4),
            88..98 => self.rng.usize(5..=16),
            98 => 17,
            _ => 0,
        };
        (0..count).map(|_| self.leg(principal)).collect()
    }

    /// A leg that this principal may send; rarely any leg.
    fn leg(&mut self, principal: &Principal) -> Leg {
        let mut leg = self.any_leg(principal);
        for _ in 0..8 {
            if self.chance(5) || self.model.check_legs(principal, std::slice::from_ref(&leg)).is_ok() {
                break;
            }
            leg = self.any_leg(principal);
        }
        leg
    }

    fn any_leg(&mut self, principal: &Principal) -> Leg {
        let role = rights::role(principal);
        let only_holds = ["user", "developer"].contains(&role);
        match self.rng.u32(0..100) {
            0..66 if !only_holds => self.moving(role),
            66..80 => self.posting(role),
            80..87 => Leg::Release { hold: HoldId(self.some_hold()) },
            _ if rights::holdable(role).is_empty() => self.moving(role),
            _ => self.holding(role),
        }
    }

    /// A leg that names no hold.
    pub(super) fn plain_leg(&mut self, principal: &Principal) -> Leg {
        let role = rights::role(principal);
        let mut leg = self.moving(role);
        for _ in 0..8 {
            if self.chance(2) || self.model.check_legs(principal, std::slice::from_ref(&leg)).is_ok() {
                break;
            }
            let holds = self.chance(15) && !rights::holdable(role).is_empty();
            leg = if holds { self.holding(role) } else { self.moving(role) };
        }
        leg
    }

    fn moving(&mut self, role: &str) -> Leg {
        let from = self.some_account(|account| !rights::routes(role, &account.kind).is_empty());
        let to = self.receiver(role, from);
        let amount = self.amount_between(from, to);
        Leg::Move { from: AccountId(from), to: AccountId(to), amount }
    }

    fn holding(&mut self, role: &str) -> Leg {
        let account = self.some_account(|account| rights::holdable(role).contains(&account.kind.as_str()));
        let now = self.model.now;
        let expires = match self.rng.u32(0..40) {
            0..20 => None,
            20 => Some(now),
            21 => Some(0),
            22 => Some(u64::MAX),
            23 => Some(i64::MAX as u64 + 1),
            _ => Some(now + self.rng.u64(1..120)),
        };
        let settler = if self.chance(60) { Settler::Holder } else { Settler::System };
        let amount = self.amount_of(self.available(account));
        Leg::Hold { account: AccountId(account), amount, expires: expires.map(Time), settler }
    }

    fn posting(&mut self, role: &str) -> Leg {
        let hold = self.some_hold();
        let (from, remaining) = self.model.hold(hold).map_or((0, 0), |hold| (hold.account, hold.remaining));
        let to = self.receiver(role, from);
        let amount = self.amount_of(remaining);
        Leg::Post { hold: HoldId(hold), to: AccountId(to), amount }
    }

    /// An open hold; sometimes one that has ended, or one that never existed.
    fn some_hold(&mut self) -> u64 {
        let open: Vec<u64> = self.model.money.holds.keys().copied().collect();
        let ended: Vec<u64> = self.model.ended.keys().copied().collect();
        match self.rng.u32(0..20) {
            0 => [0, 1, u64::MAX, (self.model.seq + 1) * 16][self.rng.usize(0..4)],
            1 if !ended.is_empty() => self.one_of(&ended),
            _ if open.is_empty() => 17,
            _ => self.one_of(&open),
        }
    }

    /// An account that passes the filter, preferably not empty; sometimes any, or one that does not exist.
    fn some_account(&mut self, passes: impl Fn(&ModelAccount) -> bool) -> u64 {
        match self.rng.u32(0..60) {
            0 => return [0, self.model.accounts.len() as u64 + 1, u64::MAX][self.rng.usize(0..3)],
            1 => return self.rng.u64(1..=self.model.accounts.len() as u64),
            _ => {}
        }
        let passing: Vec<u64> =
            self.model.accounts.iter().filter(|(_, account)| passes(account)).map(|(id, _)| *id).collect();
        if passing.is_empty() {
            return 0;
        }
        let mut found = 0;
        for _ in 0..4 {
            found = self.one_of(&passing);
            if self.available(found) > 0 {
                break;
            }
        }
        found
    }

    /// An account to which this role may move money from that one; sometimes of another coin or server.
    fn receiver(&mut self, role: &str, from: u64) -> u64 {
        let Some(giver) = self.model.accounts.get(&from).cloned() else { return self.some_account(|_| true) };
        let (any_asset, any_scope, itself) = (self.chance(8), self.chance(3), self.chance(3));
        let routes = rights::routes(role, &giver.kind);
        self.some_account(|account| {
            routes.contains(&account.kind.as_str())
                && (itself || *account != giver)
                && (any_asset || account.asset == giver.asset)
                && (any_scope || [giver.scope.as_str(), "@house"].contains(&account.scope.as_str()))
        })
    }

    /// The available amount of an account; for a wallet, a usual deposit.
    fn available(&self, id: u64) -> u128 {
        let Some(account) = self.model.accounts.get(&id) else { return 100 };
        let standing = self.model.money.balances[&id];
        if rights::is_debit(&account.kind) { 1_000 } else { standing.balance - standing.held }
    }

    fn amount_between(&mut self, from: u64, to: u64) -> Amount {
        let room = match self.model.accounts.get(&to) {
            // A wallet pays out at most its balance.
            Some(account) if rights::is_debit(&account.kind) => self.model.money.balances[&to].balance,
            _ => u128::MAX,
        };
        self.amount_of(self.available(from).min(room))
    }

    fn amount_of(&mut self, available: u128) -> Amount {
        Amount::new(match self.rng.u32(0..100) {
            0 => self.hostile_amount(),
            1..4 => available.saturating_add(1),
            4..14 => available.max(1),
            14..18 => 1,
            _ if available == 0 => self.rng.u128(1..=50),
            _ => self.rng.u128(1..=available.div_ceil(3)),
        })
    }

    fn hostile_amount(&mut self) -> u128 {
        let balances: Vec<u128> = self.model.money.balances.values().map(|standing| standing.balance).collect();
        let balance = if balances.is_empty() { 0 } else { self.one_of(&balances) };
        let amounts =
            [0, u128::MAX, u128::MAX - 1, u128::MAX - balance, (u128::MAX - balance).saturating_add(1), 1 << 127];
        self.one_of(&amounts)
    }
}
