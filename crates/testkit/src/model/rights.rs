//! Access rules, written a second time from the tables of the design.

use bankroll_ledger::{IdempotencyKey, Leg, Namespace, Principal};

use super::{Model, ModelAccount, ModelHold, RejectionCode, RoleSet};

/// Every kind of account.
pub const KINDS: [&str; 14] = [
    "funds",
    "unallocated",
    "play_only",
    "world",
    "ecosystem",
    "developer",
    "table",
    "clearing",
    "suspense",
    "house",
    "custody",
    "in_transit",
    "network_fees",
    "debt",
];

/// Every role.
pub const ROLES: [&str; 7] = ["indexer", "admin", "developer", "game_server", "user", "tables", "system"];

/// What we owe and an override may correct.
const OWED: [&str; 9] =
    ["funds", "unallocated", "play_only", "world", "ecosystem", "developer", "clearing", "suspense", "house"];

#[must_use]
pub fn role(principal: &Principal) -> &'static str {
    match principal {
        Principal::Indexer => "indexer",
        Principal::Admin(_) => "admin",
        Principal::Developer(_) => "developer",
        Principal::GameServer(_) => "game_server",
        Principal::User(_) => "user",
        Principal::Tables => "tables",
        Principal::System => "system",
    }
}

#[must_use]
pub fn is_debit(kind: &str) -> bool {
    ["custody", "in_transit", "network_fees", "debt"].contains(&kind)
}

/// What cannot be returned from such an account becomes its owner's debt.
#[must_use]
pub fn may_owe(kind: &str) -> bool {
    ["funds", "unallocated", "world", "ecosystem", "developer"].contains(&kind)
}

/// A credit to such an account repays its owner's debt first; the game's budget does so only from deposits.
#[must_use]
pub fn repays(kind: &str, from: &str) -> bool {
    ["funds", "unallocated", "developer"].contains(&kind) || (kind == "ecosystem" && from == "custody")
}

/// A player's own money.
fn is_players(kind: &str) -> bool {
    ["funds", "unallocated", "play_only"].contains(&kind)
}

/// Where a role may move money to, by where it comes from.
#[must_use]
pub fn routes(role: &str, from: &str) -> &'static [&'static str] {
    match (role, from) {
        ("indexer", "custody") => &["funds", "unallocated", "developer", "ecosystem", "suspense", "house"],
        ("indexer", "suspense" | "unallocated") => &["funds", "unallocated", "developer", "ecosystem"],
        ("indexer", "house") => &["play_only"],
        ("indexer", "play_only") => &["house"],
        ("game_server", "funds" | "play_only" | "ecosystem") => &["world"],
        ("game_server", "world") => &["funds", "play_only", "ecosystem"],
        ("tables", "funds") => &["table"],
        ("tables", "table") => &["funds", "table", "developer"],
        ("system", "funds" | "developer" | "suspense") => &["custody", "house", "clearing"],
        ("system", "unallocated") => &["custody", "house", "clearing", "funds", "developer", "ecosystem"],
        ("system", "house") => &["custody", "play_only", "ecosystem"],
        ("system", "clearing") => &["funds", "unallocated", "play_only", "world", "ecosystem", "developer"],
        ("system", "world" | "ecosystem") => &["clearing"],
        ("system", "play_only") => &["house", "clearing"],
        ("system", "custody") => &["in_transit"],
        ("system", "in_transit" | "network_fees") => &["custody"],
        ("admin", "house") => &[
            "funds",
            "unallocated",
            "play_only",
            "world",
            "ecosystem",
            "developer",
            "clearing",
            "suspense",
            "house",
            "debt",
        ],
        ("admin", kind) if OWED.contains(&kind) => &OWED,
        _ => &[],
    }
}

/// The kinds in which a role may hold money.
#[must_use]
pub fn holdable(role: &str) -> &'static [&'static str] {
    match role {
        "game_server" => &["funds", "play_only"],
        "user" => &["funds", "unallocated"],
        "developer" => &["developer"],
        "system" => &["funds", "unallocated", "developer", "suspense", "house"],
        "admin" => &OWED,
        _ => &[],
    }
}

fn openable(role: &str) -> &'static [&'static str] {
    match role {
        "system" => &KINDS,
        "indexer" => &["funds", "unallocated", "play_only", "debt"],
        "game_server" => &["funds", "unallocated"],
        "tables" => &["table"],
        _ => &[],
    }
}

/// The widest rights an account of a kind can give: to deposit, to withdraw, to transfer.
#[must_use]
pub fn widest(kind: &str) -> [RoleSet; 3] {
    let those = |may: &dyn Fn(&str) -> bool| ROLES.into_iter().filter(|role| may(role)).collect();
    [
        those(&|role| KINDS.iter().any(|from| routes(role, from).contains(&kind))),
        those(&|role| holdable(role).contains(&kind)),
        those(&|role| !routes(role, kind).is_empty()),
    ]
}

pub(super) fn check_open(by: &Principal, account: &ModelAccount) -> Result<(), RejectionCode> {
    let (house, owned) = (account.scope == "@house", account.owner.is_some());
    let well_owned = match account.kind.as_str() {
        "funds" | "unallocated" | "play_only" | "table" => !house && owned,
        "world" | "ecosystem" | "developer" | "clearing" => !house && !owned,
        "suspense" | "house" | "in_transit" | "network_fees" => house && !owned,
        "custody" => owned,
        _ => !house,
    };
    if !well_owned {
        return Err("owner");
    }
    if !openable(role(by)).contains(&account.kind.as_str()) || !reaches(by, account) {
        return Err("not_allowed");
    }
    let [deposit, withdraw, transfer] = widest(&account.kind);
    let narrow = account.may_deposit.is_subset(&deposit)
        && account.may_withdraw.is_subset(&withdraw)
        && account.may_transfer.is_subset(&transfer);
    if narrow { Ok(()) } else { Err("policy_too_wide") }
}

fn reaches(principal: &Principal, account: &ModelAccount) -> bool {
    match principal {
        Principal::GameServer(server) | Principal::Developer(server) => account.scope == server.as_str(),
        Principal::User(wallet) => account.owner.as_deref() == Some(wallet.as_str()),
        _ => true,
    }
}

pub(super) fn may_use_key(principal: &Principal, key: &IdempotencyKey) -> bool {
    let scope = key.scope.to_string();
    match principal {
        Principal::GameServer(server) => {
            let foreign = ["developer/", "admin/"].iter().any(|start| key.text.starts_with(start));
            key.namespace == Namespace::Client && scope == server.as_str() && !foreign
        }
        Principal::Developer(server) => {
            let own = key.text.starts_with("developer/");
            key.namespace == Namespace::Client && scope == server.as_str() && own
        }
        Principal::User(wallet) => {
            let own = key.text.starts_with(&format!("{wallet}/"));
            key.namespace == Namespace::Player && own && scope != "@house"
        }
        Principal::Admin(person) => {
            let own = key.text.starts_with(&format!("admin/{person}/"));
            [Namespace::Client, Namespace::Registry].contains(&key.namespace) && own
        }
        Principal::Indexer => key.namespace == Namespace::Deposits,
        Principal::Tables => key.namespace == Namespace::Tables,
        Principal::System => ![Namespace::Client, Namespace::Player].contains(&key.namespace),
    }
}

impl Model {
    /// The rules over all legs of a request, each rule over all of them before the next.
    pub(crate) fn check_legs(&self, principal: &Principal, legs: &[Leg]) -> Result<(), RejectionCode> {
        for leg in legs {
            let named = match leg {
                Leg::Move { from, to, .. } => vec![from.0, to.0],
                Leg::Hold { account, .. } => vec![account.0],
                Leg::Post { to, .. } => vec![to.0],
                Leg::Release { .. } => Vec::new(),
            };
            if named.iter().any(|id| !self.accounts.contains_key(id)) {
                return Err("account_not_found");
            }
        }
        if legs.iter().filter_map(hold_named).any(|id| self.hold(id).is_none()) {
            return Err("hold_not_found");
        }
        if !legs.iter().all(|leg| self.allows(principal, leg)) {
            return Err("not_allowed");
        }
        let itself = |leg: &Leg| match leg {
            Leg::Post { hold, to, .. } => self.hold(hold.0).is_some_and(|hold| hold.account == to.0),
            _ => false,
        };
        if legs.iter().any(itself) {
            return Err("accounts_must_differ");
        }
        if legs.iter().any(|leg| self.ends(leg).is_some_and(|(from, to)| from.asset != to.asset)) {
            return Err("asset_mismatch");
        }
        if legs.iter().any(|leg| self.is_too_late(leg)) {
            return Err("hold_expired");
        }
        Ok(())
    }

    /// Where the money of a leg comes from and goes to.
    fn ends(&self, leg: &Leg) -> Option<(&ModelAccount, &ModelAccount)> {
        match leg {
            Leg::Move { from, to, .. } => Some((&self.accounts[&from.0], &self.accounts[&to.0])),
            Leg::Post { hold, to, .. } => Some((&self.accounts[&self.hold(hold.0)?.account], &self.accounts[&to.0])),
            Leg::Hold { .. } | Leg::Release { .. } => None,
        }
    }

    fn allows(&self, principal: &Principal, leg: &Leg) -> bool {
        let role = role(principal);
        let arrives = self.ends(leg).is_none_or(|(from, to)| {
            routes(role, &from.kind).contains(&to.kind.as_str())
                && to.may_deposit.contains(role)
                && reaches(principal, to)
                && (from.scope == to.scope || from.scope == "@house" || to.scope == "@house")
                && (role == "admin" || from.owner == to.owner || !is_players(&from.kind) || !is_players(&to.kind))
        });
        let holds = |account: &ModelAccount| {
            holdable(role).contains(&account.kind.as_str())
                && account.may_withdraw.contains(role)
                && reaches(principal, account)
        };
        let settles = |hold: Option<&ModelHold>| {
            hold.is_some_and(|hold| holds(&self.accounts[&hold.account]) && [hold.settler, "system"].contains(&role))
        };
        arrives
            && match leg {
                Leg::Move { from, .. } => {
                    let from = &self.accounts[&from.0];
                    from.may_transfer.contains(role) && reaches(principal, from)
                }
                Leg::Hold { account, .. } => holds(&self.accounts[&account.0]),
                Leg::Post { hold, .. } | Leg::Release { hold } => settles(self.hold(hold.0)),
            }
    }

    fn is_too_late(&self, leg: &Leg) -> bool {
        let over = |expires: Option<u64>| expires.is_some_and(|expires| expires <= self.now);
        match leg {
            Leg::Hold { expires, .. } => over(expires.map(|expires| expires.0)),
            Leg::Post { hold, .. } | Leg::Release { hold } => self
                .hold(hold.0)
                .is_some_and(|hold| hold.state == "expired" || (hold.state == "open" && over(hold.expires))),
            Leg::Move { .. } => false,
        }
    }
}

fn hold_named(leg: &Leg) -> Option<u64> {
    match leg {
        Leg::Post { hold, .. } | Leg::Release { hold } => Some(hold.0),
        Leg::Move { .. } | Leg::Hold { .. } => None,
    }
}
