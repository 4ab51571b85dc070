//! An intent as a request to the books: the row, the hold and the announcement, made in one commit. Pure.
//!
//! An exit moves the player's value out of the world and holds it, in one request. An intent is unique by (server, request
//! id), for ever: the same request again returns the same intent, other content under the same id is refused. The hold
//! belongs to the system: no other principal can release it while a transaction may still pay.

use bankroll_ledger::{
    AccountId, AccountName, Action, Amount, ColumnValue, Event, Fact, Guard, GuardFailure, HoldId, IdempotencyKey, Leg,
    Name, Namespace, Principal, References, Request, Row, RowKey, Scope, Settler,
};
use bankroll_orders::{Address, IntentId};
use bankroll_store::columns::{BadRow, amount_of, int, text, text_of};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::status::{ApprovalPolicy, IntentStatus};

/// The table of intents. A request with a row of it is a request for an intent.
pub const INTENTS_TABLE: &str = "withdrawal_requests";
/// The event that announces a new intent.
pub const INTENT_CREATED: &str = "withdrawal.created";

/// A payout that a game server, a player or the system requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithdrawalRequest {
    /// The principal that requests it.
    pub principal: Principal,
    /// The server of the player.
    pub server: Name,
    /// The caller's own name for the request, unique for the server.
    pub request_id: Name,
    /// The player.
    pub wallet: Name,
    /// The account that has the money.
    pub account: AccountName,
    /// The chain, as assets name it.
    pub chain: Name,
    pub to: Address,
    pub amount: Amount,
    pub gas: GasPayer,
    /// For an exit: the amount that moves out of the world into the account first.
    pub exit: Option<Amount>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GasPayer {
    /// The house, from its own capital.
    House,
    /// The player, up to this amount, which is held in addition to the payout.
    Player(Amount),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    pub id: IntentId,
    /// The hold of its money.
    pub hold: HoldId,
    /// Whether it is paid without an approval.
    pub is_approved: bool,
}

impl GasPayer {
    /// The stored word, and the most that the player pays.
    const fn columns(self) -> (&'static str, Amount) {
        match self {
            Self::House => ("house", Amount::ZERO),
            Self::Player(cap) => ("player", cap),
        }
    }

    /// The payer that a stored word and a cap mean. An unknown word means none.
    pub(crate) fn from_columns(word: &str, cap: Amount) -> Option<Self> {
        match word {
            "house" => Some(Self::House),
            "player" => Some(Self::Player(cap)),
            _ => None,
        }
    }

    /// The most that the player pays for gas; `None` if the house pays.
    pub(crate) const fn fee_cap(self) -> Option<Amount> {
        match self {
            Self::House => None,
            Self::Player(cap) => Some(cap),
        }
    }
}

/// The id of a server's request. The same request has the same id, and no caller can choose it.
#[must_use]
pub(crate) fn intent_id(server: &Name, request_id: &Name) -> IntentId {
    // A zero byte is in no name, so that (ab, c) and (a, bc) differ.
    let digest = Sha256::new().chain_update(server.as_str()).chain_update([0]).chain_update(request_id.as_str());
    let digest = hex::encode(digest.finalize());
    let short: String = digest.chars().take(32).collect();
    IntentId(format!("wd-{short}").parse().expect("a legal name"))
}

/// The request that makes the intent and its hold; `None` if the amount and the fee exceed 128 bits.
pub(crate) fn intent_request(
    withdrawal: &WithdrawalRequest,
    policy: ApprovalPolicy,
    account: AccountId,
    world: AccountId,
) -> Option<Request> {
    let (gas_payer, fee_cap) = withdrawal.gas.columns();
    let held = withdrawal.amount.checked_add(fee_cap)?;
    let exit = withdrawal.exit.map(|amount| Leg::Move { from: world, to: account, amount });
    let hold = Leg::Hold { account, amount: held, expires: None, settler: Settler::System };
    let id = intent_id(&withdrawal.server, &withdrawal.request_id);
    let status = policy.first_status(withdrawal.amount);
    let set = [
        ("server", text(withdrawal.server.as_str())),
        ("request_id", text(withdrawal.request_id.as_str())),
        ("wallet", text(withdrawal.wallet.as_str())),
        ("account", text(&withdrawal.account.to_string())),
        ("chain", text(withdrawal.chain.as_str())),
        ("asset", int(u64::from(withdrawal.account.asset.0))),
        ("to_address", text(&withdrawal.to.to_string())),
        ("amount", ColumnValue::Amount(withdrawal.amount)),
        ("gas_payer", text(gas_payer)),
        ("fee_cap", ColumnValue::Amount(fee_cap)),
        ("status", text(status.as_str())),
    ];
    let fact = Fact {
        row: row_key(&id),
        guard: Guard::Absent,
        otherwise: GuardFailure::Conflict,
        set: set.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    };
    let body = json!({
        "intent": id, "server": withdrawal.server, "wallet": withdrawal.wallet, "to": withdrawal.to,
        "amount": withdrawal.amount, "status": status.as_str(),
    });
    Some(Request {
        key: key(withdrawal),
        principal: withdrawal.principal.clone(),
        confirmation: None,
        action: Action::Legs(exit.into_iter().chain([hold]).collect()),
        references: References { intent: Some(id.to_string()), ..References::default() },
        facts: vec![fact],
        events: vec![event(INTENT_CREATED, &id, &body)],
    })
}

/// The key is in the caller's own namespace, so that no caller can occupy the key of another's request.
fn key(withdrawal: &WithdrawalRequest) -> IdempotencyKey {
    let (namespace, prefix) = match &withdrawal.principal {
        Principal::User(wallet) => (Namespace::Player, format!("{wallet}/")),
        Principal::System => (Namespace::Payouts, String::new()),
        _ => (Namespace::Client, String::new()),
    };
    let text = format!("{prefix}withdrawal/{}", withdrawal.request_id);
    IdempotencyKey { namespace, scope: Scope::Server(withdrawal.server.clone()), text }
}

pub(crate) fn row_key(id: &IntentId) -> RowKey {
    RowKey { table: INTENTS_TABLE.into(), columns: vec![("id".into(), text(id.0.as_str()))] }
}

/// An event about an intent.
pub(crate) fn event(kind: &str, id: &IntentId, body: &serde_json::Value) -> Event {
    Event { kind: kind.parse().expect("a legal name"), resource: id.to_string(), body: body.to_string() }
}

/// The most that the player pays for gas, as the row of an intent or of a job states it; `None` if the house pays.
pub(crate) fn fee_cap(row: &Row) -> Result<Option<Amount>, BadRow> {
    let payer = GasPayer::from_columns(text_of(row, "gas_payer")?, amount_of(row, "fee_cap")?);
    Ok(payer.ok_or(BadRow { column: "gas_payer" })?.fee_cap())
}

impl Intent {
    pub(crate) fn new(id: IntentId, hold: HoldId, status: IntentStatus) -> Self {
        Self { id, hold, is_approved: status == IntentStatus::Approved }
    }
}
