//! The requests to the books: money and rows of one change, in one commit. Pure.
//!
//! A request of a reservation has the time in it, so it is not the same when it is built again: [`Spawns`](crate::Spawns)
//! looks for an earlier answer first. The other requests have nothing in them that changes.

use bankroll_ledger::{
    AccountId, Action, Amount, ColumnValue, Event, Fact, Guard, GuardFailure, HoldId, IdempotencyKey, Leg, Name,
    Namespace, Principal, References, Request, RowKey, Scope, Settler, Time,
};
use bankroll_store::columns::{int, text, time};
use serde_json::json;

use crate::{
    Mass, SpawnAccounts, SpawnError, SpawnId, SpawnOrder, SpawnStatus, SpawnTerms, SpawnView, order::server_key,
    rows::Consumption,
};

/// The table of spawns.
pub const SPAWNS_TABLE: &str = "spawns";

/// How a reservation gets its deposit.
pub(crate) enum DepositClaim {
    /// No spawn has had it.
    New,
    /// This spawn gave it back.
    Released(Consumption),
    /// This spawn's reservation has expired.
    Expired(Consumption),
}

/// Reserves a place: the price is held, and no other role can end the hold.
pub(crate) fn reserve(
    order: &SpawnOrder,
    terms: &SpawnTerms,
    funds: AccountId,
    claim: Option<&DepositClaim>,
    now: Time,
    expires: Time,
) -> Result<Request, SpawnError> {
    let (id, mass) = (order.id(), terms.mass()?);
    let deposit = order.deposit.as_ref();
    let set = columns([
        ("server", text(order.server.as_str())),
        ("request_key", text(&order.request_key)),
        ("wallet", text(order.wallet.as_str())),
        ("asset", int(u64::from(order.asset.0))),
        ("amount", ColumnValue::Amount(terms.price)),
        ("mass", ColumnValue::Amount(Amount::new(mass.units))),
        ("mass_decimals", int(u64::from(mass.decimals))),
        ("deposit", deposit.map_or(ColumnValue::Null, |deposit| text(&deposit.id))),
        ("config_version", int(terms.version)),
        ("status", text(SpawnStatus::Reserved.as_str())),
        ("reserved_at", time(now)),
        ("expires_at", time(expires)),
    ]);
    let mut facts = vec![Fact { row: spawn_row(&id), guard: Guard::Absent, otherwise: GuardFailure::Conflict, set }];
    if let (Some(deposit), Some(claim)) = (deposit, claim) {
        facts.push(deposit.is_credited.clone());
        facts.extend(claim_facts(order, &deposit.id, &id, claim));
    }
    Ok(Request {
        key: server_key(&order.server, &order.request_key),
        principal: Principal::GameServer(order.server.clone()),
        confirmation: None,
        action: Action::Legs(vec![Leg::Hold {
            account: funds,
            amount: terms.price,
            expires: Some(expires),
            settler: Settler::Holder,
        }]),
        references: References { deposit: deposit.map(|deposit| deposit.id.clone()), ..References::default() },
        facts,
        events: vec![event(SpawnStatus::Reserved, &id, &order.server, &order.wallet, terms.price, mass)],
    })
}

fn claim_facts(order: &SpawnOrder, deposit: &str, id: &SpawnId, claim: &DepositClaim) -> Vec<Fact> {
    let (guard, expired) = match claim {
        DepositClaim::New => (Guard::Absent, None),
        DepositClaim::Released(before) | DepositClaim::Expired(before) => {
            let is = columns([("spawn", text(before.spawn.as_str())), ("status", text(&before.status))]);
            (Guard::Is(is), matches!(claim, DepositClaim::Expired(_)).then_some(&before.spawn))
        }
    };
    let set =
        columns([("wallet", text(order.wallet.as_str())), ("spawn", text(id.as_str())), ("status", text("reserved"))]);
    let row = consumption_row(&order.server, deposit);
    let claimed = Fact { row, guard, otherwise: GuardFailure::Conflict, set };
    // The clock of the ledger may be behind ours: the spawn that had the deposit must not be committed any more.
    let expired = expired.map(|spawn| change(spawn, SpawnStatus::Reserved, SpawnStatus::Expired));
    [claimed].into_iter().chain(expired).collect()
}

/// Makes one buy-in of the player's money that is not allocated yet, as a deposit of that size would have been split. It
/// is a request of the system, since no game server may touch that money; it comes right before the reservation that
/// needs it. If the reservation fails all the same, the buy-in waits in the player's funds.
///
/// `None` if the funds are enough without it, or the money is not enough for it.
pub(crate) fn allocate(order: &SpawnOrder, terms: &SpawnTerms, accounts: &SpawnAccounts) -> Option<Request> {
    let from = accounts.unallocated.as_ref()?;
    let required = terms.required()?;
    let is_needed = accounts.funds.available() < terms.price && from.unallocated.available() >= required;
    if !terms.allocates || !is_needed {
        return None;
    }
    let parts =
        [(accounts.funds.id, terms.price), (from.developer, terms.developer_fee), (from.ecosystem, terms.world_fee)];
    let legs = parts.into_iter().filter(|(_, amount)| !amount.is_zero());
    let legs = legs.map(|(to, amount)| Leg::Move { from: from.unallocated.id, to, amount });
    Some(Request {
        key: IdempotencyKey {
            namespace: Namespace::System,
            scope: Scope::Server(order.server.clone()),
            // Once for each spawn, however often its reservation is requested.
            text: format!("allocate/{}", order.id()),
        },
        principal: Principal::System,
        confirmation: None,
        action: Action::Legs(legs.collect()),
        references: References::default(),
        facts: Vec::new(),
        events: Vec::new(),
    })
}

/// Moves the price into the world.
#[must_use]
pub(crate) fn commit(spawn: &SpawnView, hold: HoldId, world: AccountId, request_key: &str) -> Request {
    let leg = Leg::Post { hold, to: world, amount: spawn.amount };
    ending(spawn, SpawnStatus::Committed, leg, request_key)
}

/// Makes the price available again.
#[must_use]
pub(crate) fn release(spawn: &SpawnView, hold: HoldId, request_key: &str) -> Request {
    ending(spawn, SpawnStatus::Released, Leg::Release { hold }, request_key)
}

/// Moves the price of a live spawn back to the player.
#[must_use]
pub(crate) fn refund(spawn: &SpawnView, funds: AccountId, world: AccountId, request_key: &str) -> Request {
    let leg = Leg::Move { from: world, to: funds, amount: spawn.amount };
    ending(spawn, SpawnStatus::Refunded, leg, request_key)
}

fn ending(spawn: &SpawnView, status: SpawnStatus, leg: Leg, request_key: &str) -> Request {
    let before = if status == SpawnStatus::Refunded { SpawnStatus::Committed } else { SpawnStatus::Reserved };
    let consumption = match (&spawn.deposit, status) {
        (Some(deposit), SpawnStatus::Committed) => Some((deposit, "consumed")),
        (Some(deposit), SpawnStatus::Released) => Some((deposit, "released")),
        // A refunded player has money, and not the deposit again.
        _ => None,
    };
    let consumption = consumption.map(|(deposit, after)| Fact {
        row: consumption_row(&spawn.server, deposit),
        guard: Guard::Is(columns([("spawn", text(spawn.id.as_str())), ("status", text("reserved"))])),
        otherwise: GuardFailure::Conflict,
        set: columns([("status", text(after))]),
    });
    Request {
        key: server_key(&spawn.server, request_key),
        principal: Principal::GameServer(spawn.server.clone()),
        confirmation: None,
        action: Action::Legs(vec![leg]),
        references: References { deposit: spawn.deposit.clone(), ..References::default() },
        facts: [change(&spawn.id, before, status)].into_iter().chain(consumption).collect(),
        events: vec![event(status, &spawn.id, &spawn.server, &spawn.wallet, spawn.amount, spawn.mass)],
    }
}

/// Ends a live spawn of this player. It goes into the request that moves the player's value out of the world.
#[must_use]
pub fn exit_fact(spawn: &SpawnId, server: &Name, wallet: &Name) -> Fact {
    let mut fact = change(spawn, SpawnStatus::Committed, SpawnStatus::Exited);
    if let Guard::Is(is) = &mut fact.guard {
        is.extend(columns([("server", text(server.as_str())), ("wallet", text(wallet.as_str()))]));
    }
    fact
}

fn change(id: &SpawnId, before: SpawnStatus, after: SpawnStatus) -> Fact {
    Fact {
        row: spawn_row(id),
        guard: Guard::Is(columns([("status", text(before.as_str()))])),
        otherwise: GuardFailure::Conflict,
        set: columns([("status", text(after.as_str()))]),
    }
}

pub(crate) fn spawn_row(id: &SpawnId) -> RowKey {
    RowKey { table: SPAWNS_TABLE.into(), columns: columns([("id", text(id.as_str()))]) }
}

fn consumption_row(server: &Name, deposit: &str) -> RowKey {
    let key = columns([("server", text(server.as_str())), ("deposit", text(deposit))]);
    RowKey { table: "deposit_consumptions".into(), columns: key }
}

fn columns<const N: usize>(columns: [(&str, ColumnValue); N]) -> Vec<(String, ColumnValue)> {
    columns.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn event(status: SpawnStatus, id: &SpawnId, server: &Name, wallet: &Name, amount: Amount, mass: Mass) -> Event {
    let body = json!({
        "spawn": id.as_str(), "server": server, "wallet": wallet, "amount": amount, "mass": mass.to_string(),
        "status": status.as_str(),
    });
    let kind = format!("spawn.{}", status.as_str()).parse().expect("a legal name");
    Event { kind, resource: id.to_string(), body: body.to_string() }
}
