//! How a final deposit is credited in the books, and how a credit is reversed. Pure.
//!
//! Every credit and every reversal is one request under a key of its own, (deposit, epoch), with a fact that moves
//! `ledger_state`: however often it is submitted, and by whichever node, it happens once. The guard of a credit is
//! the orphan check: the row must still say that this inclusion is final, in this block. Unwinding a block changes
//! that same row, so a credit and an unwind cannot both win. An inclusion that was orphaned never comes back (the
//! next one has the next epoch), so a refusal that is remembered under the key is final, and right.

use std::collections::BTreeMap;

use bankroll_ledger::{
    AccountId, AccountKind, AccountName, Action, Amount, AssetId, BlockRef, ColumnValue, Event, Fact, Guard,
    GuardFailure, IdempotencyKey, Leg, Name, Namespace, Principal, References, Request, RowKey, Scope, Seq,
};
use bankroll_store::columns::{int, text};
use serde_json::json;

use crate::{Attribution, BuyIn, DepositId, Doubt, EventTail, LedgerState, Purpose, ReviewState};

/// The event of a deposit that is credited to its player, or to the house if the treasury sent it.
pub const CREDITED: &str = "deposit.credited";
/// The event of a deposit that is booked in suspense; `reason` says why.
pub const SUSPENDED: &str = "deposit.suspended";
/// The event of a credit, or of a booking in suspense, that is reversed because the chain dropped the deposit.
pub const REVERSED: &str = "deposit.reversed";

/// Why a deposit is not a buy-in, as `invalid_reason` records it.
pub mod reason {
    /// Less than one buy-in with its fees.
    pub const WRONG_AMOUNT: &str = "wrong_amount";
    /// An asset that the server does not play for.
    pub const WRONG_ASSET: &str = "wrong_asset";
    /// The player has excluded themselves: no buy-ins.
    pub const PLAYER_EXCLUDED: &str = "player_excluded";
    /// The server takes no deposits now, or is disabled.
    pub const SERVER_PAUSED: &str = "server_paused";
    /// The registry has no such server.
    pub const UNKNOWN_SERVER: &str = "unknown_server";
    /// The sender has not proved to be a player.
    pub const UNKNOWN_PLAYER: &str = "unknown_player";
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerRules {
    /// The asset that the server plays for. Others are credited as unallocated.
    pub asset: AssetId,
    /// What a place in its world costs.
    pub buy_in: BuyIn,
    /// Whether deposits become buy-ins: neither deposits nor the whole server are paused. If not, they are credited as
    /// unallocated.
    pub accepts: bool,
    /// The version of the configuration; stored with each deposit that was split by it.
    pub version: u64,
    /// The condition that this is still the server's configuration, as the registry states it: a pause is effective for
    /// every credit that is committed after its answer. `None` where there is no registry.
    pub is_current: Option<Fact>,
}

/// What the registry says about a player.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlayerStanding {
    /// They have excluded themselves: their deposits do not become buy-ins.
    pub is_excluded: bool,
    /// The condition that this is still so. `None` for a player whom the registry does not know.
    pub is_current: Option<Fact>,
}

pub type Servers = BTreeMap<Name, ServerRules>;

/// A deposit that is to be credited, as the scanner's log says; whose it is, the registry says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreditDue {
    pub id: DepositId,
    /// Which inclusion.
    pub epoch: u64,
    pub attribution: Attribution,
    /// The sender's address.
    pub from: String,
    pub amount: Amount,
    pub tx_hash: String,
    /// The block of this inclusion.
    pub block: BlockRef,
    /// Unless people have let this inclusion through.
    pub doubt: Option<Doubt>,
    /// The event that this follows from. The journal keeps it, so that the log cannot be written anew unnoticed.
    pub evidence: EventTail,
    pub ledger_state: LedgerState,
    pub review_state: ReviewState,
    pub player: PlayerStanding,
}

/// The accounts that a deposit is credited to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// In the order of the legs. The sum is the deposit.
    pub shares: Vec<(AccountName, Amount)>,
    pub state: LedgerState,
    /// Why it is not a buy-in.
    pub reason: Option<&'static str>,
    /// The version of the server's configuration that it was split by.
    pub version: Option<u64>,
    /// What must still be so when it is committed. If not, the next step decides anew.
    pub conditions: Vec<Fact>,
}

#[must_use]
pub fn allocate(due: &CreditDue, servers: &Servers) -> Allocation {
    let Attribution { purpose, server, wallet, custody } = &due.attribution;
    let asset = custody.asset;
    let house = |kind: AccountKind| AccountName { scope: Scope::House, kind, asset, owner: None };
    let all = |name: AccountName, state, reason, version| Allocation {
        shares: vec![(name, due.amount)],
        state,
        reason,
        version,
        conditions: Vec::new(),
    };
    let suspense = |reason| all(house(AccountKind::Suspense), LedgerState::Suspense, Some(reason), None);
    if let Some(doubt) = due.doubt {
        return suspense(doubt.as_str());
    }
    let wallet = match (purpose, wallet) {
        (Purpose::Treasury, _) => return all(house(AccountKind::House), LedgerState::Credited, None, None),
        (Purpose::Player, Some(wallet)) => wallet,
        (Purpose::Player | Purpose::Unknown | Purpose::Internal, _) => return suspense(reason::UNKNOWN_PLAYER),
    };
    let Some(rules) = servers.get(server) else { return suspense(reason::UNKNOWN_SERVER) };
    let of = |kind: AccountKind, owner: Option<&Name>| AccountName {
        scope: Scope::Server(server.clone()),
        kind,
        asset,
        owner: owner.cloned(),
    };
    let unallocated = of(AccountKind::Unallocated, Some(wallet));
    let version = Some(rules.version);
    let conditions: Vec<Fact> = rules.is_current.iter().chain(&due.player.is_current).cloned().collect();
    let no_buy_in = match () {
        () if !rules.accepts => Some(reason::SERVER_PAUSED),
        () if due.player.is_excluded => Some(reason::PLAYER_EXCLUDED),
        () if rules.asset != asset => Some(reason::WRONG_ASSET),
        () => None,
    };
    if no_buy_in.is_some() {
        return Allocation { conditions, ..all(unallocated, LedgerState::Credited, no_buy_in, version) };
    }
    let split = rules.buy_in.split(due.amount);
    let shares = [
        (of(AccountKind::Funds, Some(wallet)), split.funds),
        (of(AccountKind::Developer, None), split.developer),
        (of(AccountKind::Ecosystem, None), split.ecosystem),
        (unallocated, split.unallocated),
    ];
    let reason = split.funds.is_zero().then_some(reason::WRONG_AMOUNT);
    let shares = shares.into_iter().filter(|(_, amount)| !amount.is_zero()).collect();
    Allocation { shares, state: LedgerState::Credited, reason, version, conditions }
}

/// Every account that crediting this allocation needs, and reversing it: an account that gets a share may owe it
/// again.
#[must_use]
pub fn accounts(due: &CreditDue, allocation: &Allocation) -> Vec<AccountName> {
    let shares = allocation.shares.iter().flat_map(|(name, _)| [Some(name.clone()), name.debt()]);
    [Some(due.attribution.custody.clone())].into_iter().chain(shares).flatten().collect()
}

/// The key under which an inclusion is credited.
#[must_use]
pub fn credit_key(deposit: &DepositId, epoch: u64) -> IdempotencyKey {
    key(format!("credit/{deposit}/{epoch}"))
}

/// Deposits are the house's, whichever server's players pay.
fn key(text: String) -> IdempotencyKey {
    IdempotencyKey { namespace: Namespace::Deposits, scope: Scope::House, text }
}

/// The request that credits an inclusion, given the numbers of the accounts; `None` if one of them is missing.
#[must_use]
pub fn credit(due: &CreditDue, allocation: &Allocation, numbers: &BTreeMap<AccountName, AccountId>) -> Option<Request> {
    let Attribution { purpose, server, wallet, custody } = &due.attribution;
    let from = *numbers.get(custody)?;
    let leg = |(name, amount): &(AccountName, Amount)| {
        numbers.get(name).map(|to| Leg::Move { from, to: *to, amount: *amount })
    };
    let legs: Vec<Leg> = allocation.shares.iter().map(leg).collect::<Option<_>>()?;
    let columns = |columns: &[(&str, ColumnValue)]| {
        columns.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<Vec<_>>()
    };
    // An operator's hold ends: `Paused` is not remembered under the key, so the credit can be submitted again.
    let unheld = Fact {
        row: row(&due.id),
        guard: Guard::Is(columns(&[("review_state", text(due.review_state.as_str()))])),
        otherwise: GuardFailure::Paused,
        set: Vec::new(),
    };
    let still_final = columns(&[
        ("chain_state", text("final")),
        ("epoch", int(due.epoch)),
        ("block_hash", text(&due.block.hash)),
        ("ledger_state", text(due.ledger_state.as_str())),
        // Once more: the statement that writes repeats this guard, and a hold may come in between.
        ("review_state", text(due.review_state.as_str())),
    ]);
    let is_players = *purpose == Purpose::Player && allocation.state == LedgerState::Credited;
    let credited_wallet = wallet.as_ref().filter(|_| is_players);
    let set = columns(&[
        ("ledger_state", text(allocation.state.as_str())),
        ("ledger_epoch", int(due.epoch)),
        ("is_valid_for_server_config", int(u64::from(allocation.reason.is_none()))),
        ("invalid_reason", allocation.reason.map_or(ColumnValue::Null, text)),
        ("config_version", allocation.version.map_or(ColumnValue::Null, int)),
        ("credited_server", if is_players { text(server.as_str()) } else { ColumnValue::Null }),
        ("credited_wallet", credited_wallet.map_or(ColumnValue::Null, |wallet| text(wallet.as_str()))),
    ]);
    let credited = Fact { row: row(&due.id), guard: Guard::Is(still_final), otherwise: GuardFailure::Conflict, set };
    let key = credit_key(&due.id, due.epoch);
    let references = References {
        deposit: Some(due.id.to_string()),
        tx_hash: Some(due.tx_hash.clone()),
        block: Some(due.block.clone()),
        ..References::default()
    };
    let body = json!({
        "deposit": due.id.as_str(), "epoch": due.epoch, "amount": due.amount, "tx_hash": due.tx_hash,
        "from": due.from, "purpose": purpose.as_str(), "server": server, "wallet": wallet,
        "asset": custody.asset, "state": allocation.state.as_str(), "reason": allocation.reason,
        "evidence": evidence(&due.id, due.evidence),
    });
    // Money in suspense is booked and belongs to no player: a consumer must not take it for a credit.
    let kind = if allocation.state == LedgerState::Suspense { SUSPENDED } else { CREDITED };
    let events = vec![event(kind, &due.id, &body)];
    let action = Action::Legs(legs);
    Some(Request {
        key,
        principal: Principal::Indexer,
        confirmation: None,
        action,
        references,
        facts: [unheld, credited].into_iter().chain(allocation.conditions.iter().cloned()).collect(),
        events,
    })
}

/// A credit whose inclusion is no longer canonical.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReversalDue {
    pub id: DepositId,
    /// The inclusion that was booked.
    pub epoch: u64,
    pub asset: AssetId,
    /// The event that this follows from.
    pub evidence: EventTail,
    pub ledger_state: LedgerState,
    pub server: Option<Name>,
    pub wallet: Option<Name>,
    pub from: String,
    pub amount: Amount,
    pub tx_hash: String,
}

/// The key under which an assignment of an inclusion is taken back.
pub(crate) fn unassignment_key(deposit: &DepositId, epoch: u64) -> IdempotencyKey {
    key(format!("unassign/{deposit}/{epoch}"))
}

/// The request that takes back what people assigned: from the player into suspense, and what was spent becomes their
/// debt. Then suspense has the whole deposit, and [`reversal`] takes it from there.
#[must_use]
pub fn unassignment(lost: &ReversalDue, assigned_by: &str, assignment: Seq) -> Request {
    let columns = |columns: &[(&str, ColumnValue)]| {
        columns.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<Vec<_>>()
    };
    let still_assigned = columns(&[
        ("ledger_state", text(LedgerState::Credited.as_str())),
        ("ledger_epoch", int(lost.epoch)),
        ("assigned_by", text(assigned_by)),
    ]);
    let fact = Fact {
        row: row(&lost.id),
        guard: Guard::Is(still_assigned),
        otherwise: GuardFailure::Conflict,
        // Whose it was stays in the row: the event of the reversal names them.
        set: columns(&[("ledger_state", text(LedgerState::Suspense.as_str()))]),
    };
    Request {
        key: unassignment_key(&lost.id, lost.epoch),
        // The deposits flow reverses its own records only; people made this one.
        principal: Principal::System,
        confirmation: None,
        action: Action::Reverse(assignment),
        references: References {
            deposit: Some(lost.id.to_string()),
            tx_hash: Some(lost.tx_hash.clone()),
            ..References::default()
        },
        facts: vec![fact],
        events: Vec::new(),
    }
}

/// The request that reverses the credit at this record of the journal: each share from the account that got it;
/// what was spent becomes debt of its owner.
#[must_use]
pub fn reversal(lost: &ReversalDue, credit: Seq) -> Request {
    let still_booked = vec![
        ("ledger_state".to_owned(), text(lost.ledger_state.as_str())),
        ("ledger_epoch".to_owned(), int(lost.epoch)),
    ];
    let fact = Fact {
        row: row(&lost.id),
        guard: Guard::Is(still_booked),
        otherwise: GuardFailure::Conflict,
        set: vec![("ledger_state".to_owned(), text(LedgerState::Reversed.as_str()))],
    };
    let body = json!({
        "deposit": lost.id.as_str(), "epoch": lost.epoch, "amount": lost.amount, "tx_hash": lost.tx_hash,
        "from": lost.from, "server": lost.server, "wallet": lost.wallet, "asset": lost.asset,
        "evidence": evidence(&lost.id, lost.evidence),
    });
    Request {
        key: key(format!("reverse/{}/{}", lost.id, lost.epoch)),
        principal: Principal::Indexer,
        confirmation: None,
        action: Action::Reverse(credit),
        references: References {
            deposit: Some(lost.id.to_string()),
            tx_hash: Some(lost.tx_hash.clone()),
            ..References::default()
        },
        facts: vec![fact],
        events: vec![event(REVERSED, &lost.id, &body)],
    }
}

/// The condition that a deposit was credited to this player of this server as a buy-in. A spawn that consumes the
/// deposit has this fact among its own: the books check it in the commit of the spawn.
#[must_use]
pub fn credited_buy_in(deposit: &str, server: &Name, wallet: &Name) -> Fact {
    let is = [
        ("ledger_state", text(LedgerState::Credited.as_str())),
        ("is_valid_for_server_config", int(1)),
        ("credited_server", text(server.as_str())),
        ("credited_wallet", text(wallet.as_str())),
    ];
    Fact {
        row: RowKey { table: "deposits".into(), columns: vec![("id".into(), text(deposit))] },
        guard: Guard::Is(is.into_iter().map(|(column, value)| (column.to_owned(), value)).collect()),
        otherwise: GuardFailure::Conflict,
        set: Vec::new(),
    }
}

pub(crate) fn row(id: &DepositId) -> RowKey {
    RowKey { table: "deposits".into(), columns: vec![("id".into(), text(id.as_str()))] }
}

/// An event of the scanner's log, as events of the books name it.
fn evidence(id: &DepositId, tail: EventTail) -> serde_json::Value {
    json!({ "chain": id.chain(), "number": tail.number, "hash": tail.hash.to_string() })
}

fn event(kind: &str, id: &DepositId, body: &serde_json::Value) -> Event {
    Event { kind: kind.parse().expect("a legal name"), resource: id.to_string(), body: body.to_string() }
}
