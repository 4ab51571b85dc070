//! An intent as a request to the books: the row, the hold and the announcement, made in one commit. Pure.
//!
//! An exit moves the player's value out of the world and holds it, in one request. An intent is unique by (server, asker,
//! request id), for ever: the same request again returns the same intent, other content under the same id is refused, and
//! no asker can occupy the id of another ([`Asker`]). The hold belongs to the system: no other principal can release it
//! while a transaction may still pay.

use bankroll_ledger::{
    AccountId, AccountKind, AccountName, Action, Amount, ColumnValue, Event, Fact, Guard, GuardFailure, HoldId, Leg,
    Name, Principal, References, Request, Row, RowKey, Settler,
};
use bankroll_orders::{Address, IntentId};
use bankroll_store::columns::{BadRow, amount_of, int, text, text_of};
use serde_json::json;

use crate::{
    InvalidWithdrawal,
    asker::Asker,
    consent::{PayoutConsent, consent_columns},
    exit::{ExitRow, PayoutTerms, WorldExit, check_owner, is_game_of},
    status::{ApprovalPolicy, IntentStatus},
};

/// The table of intents. A request with a row of it is a request for an intent.
pub(crate) const INTENTS_TABLE: &str = "withdrawal_requests";
/// The event that announces a new intent.
const INTENT_CREATED: &str = "withdrawal.created";

/// A payout that a game server, a player, a developer or the system requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithdrawalRequest {
    /// The principal that requests it.
    pub principal: Principal,
    /// The server of the account.
    pub server: Name,
    /// The asker's own name for the request; for an exit, the id of the exit.
    pub request_id: Name,
    /// The player, or the developer.
    pub wallet: Name,
    /// The account that has the money.
    pub account: AccountName,
    /// The chain, as assets name it.
    pub chain: Name,
    pub to: Address,
    pub amount: Amount,
    pub gas: GasPayer,
    /// For an exit: what moves out of the world into the account first.
    pub exit: Option<WorldExit>,
    /// The asker's own signature over the payout. What a game server or the system requests has none.
    pub consent: Option<PayoutConsent>,
}

impl WithdrawalRequest {
    /// Whose name for the request `request_id` is.
    #[must_use]
    pub fn asker(&self) -> Asker {
        Asker::of(&self.principal, self.exit.is_some())
    }

    /// The id of the intent that it makes.
    #[must_use]
    pub fn id(&self) -> IntentId {
        self.asker().intent_id(&self.server, &self.request_id)
    }

    fn check(&self) -> Result<(), InvalidWithdrawal> {
        check_owner(&self.server, &self.account, &self.wallet)?;
        let of_player = matches!(self.principal, Principal::User(_));
        let of_developer = matches!(self.principal, Principal::Developer(_));
        let is_payable = match self.account.kind {
            AccountKind::Funds | AccountKind::Unallocated => true,
            AccountKind::Developer => of_developer || self.principal == Principal::System,
            _ => false,
        };
        match () {
            () if self.exit.is_some() && !is_game_of(&self.principal, &self.server) => {
                Err(InvalidWithdrawal::ForeignExit)
            }
            () if !is_payable => Err(InvalidWithdrawal::NotPayable),
            () if self.consent.is_some() && !of_player && !of_developer => Err(InvalidWithdrawal::ForeignConsent),
            () => Ok(()),
        }
    }
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

/// The request that makes the intent and its hold.
pub(crate) fn intent_request(
    withdrawal: &WithdrawalRequest,
    policy: ApprovalPolicy,
    account: AccountId,
    world: AccountId,
) -> Result<Request, InvalidWithdrawal> {
    withdrawal.check()?;
    let (gas_payer, fee_cap) = withdrawal.gas.columns();
    let held = withdrawal.amount.checked_add(fee_cap).ok_or(InvalidWithdrawal::TooLarge)?;
    let exit = withdrawal.exit.as_ref().map(|exit| Leg::Move { from: world, to: account, amount: exit.amount });
    let hold = Leg::Hold { account, amount: held, expires: None, settler: Settler::System };
    let (asker, id) = (withdrawal.asker(), withdrawal.id());
    let status = policy.first_status(withdrawal.amount);
    let set = [
        ("server", text(withdrawal.server.as_str())),
        ("asker", text(&asker.to_string())),
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
        set: set
            .into_iter()
            .chain(consent_columns(withdrawal.consent.as_ref()))
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    };
    let exit_row = withdrawal.exit.as_ref().map(|exit| ExitRow {
        server: &withdrawal.server,
        exit_id: &withdrawal.request_id,
        wallet: &withdrawal.wallet,
        account: &withdrawal.account,
        exit,
        payout: Some(PayoutTerms { to: withdrawal.to, gas: withdrawal.gas }),
        kept_because: None,
        intent: Some(&id),
    });
    let facts = [fact].into_iter().chain(exit_row.map(|row| row.facts()).into_iter().flatten()).collect();
    let body = json!({
        "intent": id, "server": withdrawal.server, "wallet": withdrawal.wallet, "to": withdrawal.to,
        "amount": withdrawal.amount, "status": status.as_str(),
    });
    Ok(Request {
        key: asker.key(&withdrawal.server, &withdrawal.request_id),
        principal: withdrawal.principal.clone(),
        confirmation: None,
        action: Action::Legs(exit.into_iter().chain([hold]).collect()),
        references: References { intent: Some(id.to_string()), ..References::default() },
        facts,
        events: vec![event(INTENT_CREATED, &id, &body)],
    })
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
