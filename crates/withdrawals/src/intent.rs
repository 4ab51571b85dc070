//! Intents (role `books`): somebody wants something paid, and the money is held in the same commit.
//!
//! An exit moves the player's value out of the world and holds it, in one request. An intent is unique by (server, request
//! id), for ever: the same again is answered by the same intent, other content under the same id is refused. The hold is
//! the system's: nobody else can free it while a transaction may still pay.

use bankroll_ledger::{
    AccountId, AccountName, Action, Amount, Event, Fact, Guard, HoldId, Key, Kind, Leg, Name, Namespace, Otherwise,
    Principal, References, Rejection, Request, RowKey, Scope, Settler, Value,
};
use bankroll_orders::{Address, IntentId};
use bankroll_store::{
    Ledger, Rows,
    columns::{int, text},
};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::{IntentError, asked};

/// What somebody wants paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Who asks.
    pub principal: Principal,
    /// The server whose player is paid.
    pub server: Name,
    /// The asker's own name for it, unique for the server.
    pub request_id: Name,
    /// The player.
    pub wallet: Name,
    /// The account that the money is in.
    pub account: AccountName,
    /// The chain, as assets name it.
    pub chain: Name,
    /// Where to.
    pub to: Address,
    /// How much.
    pub amount: Amount,
    /// Who pays for gas.
    pub gas: GasPayer,
    /// For an exit: how much comes out of the world into the account first.
    pub exit: Option<Amount>,
}

/// Who pays for gas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GasPayer {
    /// The house, from its own capital.
    House,
    /// The player, at most this much, held beside the amount.
    Player(Amount),
}

/// What is paid without anybody's approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Up to this much at once; more waits for approval.
    pub at_once: Amount,
}

/// An intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// Its id.
    pub id: IntentId,
    /// The hold of its money.
    pub hold: HoldId,
    /// Whether it is paid without anybody's approval.
    pub is_approved: bool,
}

/// The id of a server's request: the same request is the same intent, and nobody can choose it.
#[must_use]
pub fn intent_id(server: &Name, request_id: &Name) -> IntentId {
    // A zero byte is in no name, so that (ab, c) and (a, bc) differ.
    let digest = Sha256::new().chain_update(server.as_str()).chain_update([0]).chain_update(request_id.as_str());
    let digest = hex::encode(digest.finalize());
    let short: String = digest.chars().take(32).collect();
    IntentId(format!("wd-{short}").parse().expect("a legal name"))
}

/// Makes the intent and its hold, and waits until both are durable. Asking the same again gives the same intent.
///
/// # Errors
/// See [`IntentError`].
pub fn create(wanted: &Wanted, policy: Policy, ledger: &Ledger, rows: &Rows) -> Result<Intent, IntentError> {
    let asset = wanted.account.asset;
    let house = |kind: Kind| AccountName { scope: Scope::House, kind, asset, owner: None };
    let world = AccountName { kind: Kind::World, owner: None, ..wanted.account.clone() };
    // What settling needs is opened here, where somebody waits for the answer anyway.
    let names = vec![wanted.account.clone(), world, house(Kind::NetworkFees)];
    let numbers: Vec<AccountId> =
        ledger.open_accounts(&Principal::System, names)?.into_iter().collect::<Result<_, _>>()?;
    let [account, world, _] = numbers[..] else { unreachable!("as many numbers as names") };
    let request = request(wanted, policy, account, world).ok_or(IntentError::TooLarge)?;
    let answer = ledger.apply(request.clone())?;
    let effects = answer.effects()?;
    let noting = asked::noting(&request, effects);
    let hold = effects.holds.first().map(|change| change.hold.id).ok_or(Rejection::HoldNotFound)?;
    let id = intent_id(&wanted.server, &wanted.request_id);
    rows.write(noting.into_iter().collect())?;
    Ok(Intent { id, hold, is_approved: wanted.amount <= policy.at_once })
}

/// The request that makes the intent and its hold; `None` if the amount and the fee leave 128 bits.
#[must_use]
pub fn request(wanted: &Wanted, policy: Policy, account: AccountId, world: AccountId) -> Option<Request> {
    let (gas_payer, fee_cap) = match wanted.gas {
        GasPayer::House => ("house", Amount::ZERO),
        GasPayer::Player(cap) => ("player", cap),
    };
    let held = wanted.amount.checked_add(fee_cap)?;
    let exit = wanted.exit.map(|amount| Leg::Move { from: world, to: account, amount });
    let hold = Leg::Hold { account, amount: held, expires: None, settler: Settler::System };
    let id = intent_id(&wanted.server, &wanted.request_id);
    let status = if wanted.amount <= policy.at_once { "approved" } else { "awaiting_approval" };
    let set = [
        ("server", text(wanted.server.as_str())),
        ("request_id", text(wanted.request_id.as_str())),
        ("wallet", text(wanted.wallet.as_str())),
        ("account", text(&wanted.account.to_string())),
        ("chain", text(wanted.chain.as_str())),
        ("asset", int(u64::from(wanted.account.asset.0))),
        ("to_address", text(&wanted.to.to_string())),
        ("amount", Value::Amount(wanted.amount)),
        ("gas_payer", text(gas_payer)),
        ("fee_cap", Value::Amount(fee_cap)),
        ("status", text(status)),
    ];
    let fact = Fact {
        row: row(&id),
        guard: Guard::Absent,
        otherwise: Otherwise::Conflict,
        set: set.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    };
    let told = json!({
        "intent": id, "server": wanted.server, "wallet": wanted.wallet, "to": wanted.to, "amount": wanted.amount,
        "status": status,
    });
    Some(Request {
        key: key(wanted),
        principal: wanted.principal.clone(),
        confirmation: None,
        action: Action::Legs(exit.into_iter().chain([hold]).collect()),
        references: References { intent: Some(id.to_string()), ..References::default() },
        facts: vec![fact],
        events: vec![event(asked::CREATED, &id, &told)],
    })
}

/// In the asker's own namespace: nobody can occupy the key of another's request.
fn key(wanted: &Wanted) -> Key {
    let (namespace, prefix) = match &wanted.principal {
        Principal::User(wallet) => (Namespace::Player, format!("{wallet}/")),
        Principal::System => (Namespace::Payouts, String::new()),
        _ => (Namespace::Client, String::new()),
    };
    let text = format!("{prefix}withdrawal/{}", wanted.request_id);
    Key { namespace, scope: Scope::Server(wanted.server.clone()), text }
}

pub(crate) fn row(id: &IntentId) -> RowKey {
    RowKey { table: asked::TABLE.into(), columns: vec![("id".into(), text(id.0.as_str()))] }
}

pub(crate) fn event(kind: &str, id: &IntentId, body: &serde_json::Value) -> Event {
    Event { kind: kind.parse().expect("a legal name"), resource: id.to_string(), body: body.to_string() }
}
