//! Exits: a player's value leaves the world and becomes their money, once per exit id. Pure.
//!
//! | payout | what moves | row |
//! | --- | --- | --- |
//! | auto | world -> funds, held for an intent | `exits` and `withdrawal_requests` |
//! | keep | world -> funds | `exits` |
//!
//! An exit id belongs to the server, and both kinds use one key and one row: an exit happens in one of the two ways.
//!
//! An exit always credits the player. If the account cannot pay for an exit that is to be paid out, because a debt is
//! repaid first or the gas cap is too much, the ledger rejects it under the key of the exit. Then it is kept, under a
//! second key and in the same row: [`KeptExit::unpaid`]. So is the exit of a frozen player, whose money comes back to
//! them and is not paid out.

use bankroll_ledger::{
    AccountId, AccountName, Action, Amount, ColumnValue, Fact, Guard, GuardFailure, Leg, Name, Principal, References,
    Request, RowKey, Scope,
};
use bankroll_orders::{Address, IntentId};
use bankroll_store::columns::text;

use crate::{GasPayer, InvalidWithdrawal, asker::Asker};

/// The table of exits.
pub(crate) const EXITS_TABLE: &str = "exits";

/// What leaves the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldExit {
    pub amount: Amount,
    /// The spawn that ends with it, if the game names one.
    pub spawn: Option<EndedSpawn>,
}

/// A spawn that an exit ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedSpawn {
    pub id: String,
    /// The change of the spawn's row, as the flow of spawns makes it.
    pub fact: Fact,
}

/// An exit whose value stays the player's money in the books.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptExit {
    pub principal: Principal,
    pub server: Name,
    /// The game's own name for the exit, unique for the server.
    pub exit_id: Name,
    /// The player.
    pub wallet: Name,
    /// The player's funds.
    pub account: AccountName,
    pub exit: WorldExit,
    /// The payout that was asked for and is not made; `None` if none was asked for.
    pub unpaid: Option<UnpaidPayout>,
}

/// A payout that was asked for with an exit, and why the exit is kept all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnpaidPayout {
    pub terms: PayoutTerms,
    pub because: KeptBecause,
}

/// Why an exit that was to be paid out is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptBecause {
    /// The account could not pay for it: a debt was repaid first, or the funds did not reach for the gas cap.
    InsufficientFunds,
    /// An operator has frozen the player.
    PlayerFrozen,
}

impl KeptBecause {
    const ALL: [Self; 2] = [Self::InsufficientFunds, Self::PlayerFrozen];

    /// The stored word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InsufficientFunds => "insufficient_funds",
            Self::PlayerFrozen => "player_frozen",
        }
    }

    pub(crate) fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|because| because.as_str() == word)
    }
}

/// Where an exit is to be paid to, and who pays for the gas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayoutTerms {
    pub to: Address,
    pub gas: GasPayer,
}

impl From<Amount> for WorldExit {
    fn from(amount: Amount) -> Self {
        Self { amount, spawn: None }
    }
}

/// The request of an exit without a payout.
pub(crate) fn kept_exit_request(
    kept: &KeptExit,
    account: AccountId,
    world: AccountId,
) -> Result<Request, InvalidWithdrawal> {
    check_owner(&kept.server, &kept.account, &kept.wallet)?;
    if !is_game_of(&kept.principal, &kept.server) {
        return Err(InvalidWithdrawal::ForeignExit);
    }
    let row = ExitRow {
        server: &kept.server,
        exit_id: &kept.exit_id,
        wallet: &kept.wallet,
        account: &kept.account,
        exit: &kept.exit,
        payout: kept.unpaid.map(|unpaid| unpaid.terms),
        kept_because: kept.unpaid.map(|unpaid| unpaid.because),
        intent: None,
    };
    let mut key = Asker::Exit.key(&kept.server, &kept.exit_id);
    // The key of the exit remembers that it could not be paid out. A slash is in no exit id.
    if kept.unpaid.is_some() {
        key.text.push_str("/keep");
    }
    Ok(Request {
        key,
        principal: kept.principal.clone(),
        confirmation: None,
        action: Action::Legs(vec![Leg::Move { from: world, to: account, amount: kept.exit.amount }]),
        references: References::default(),
        facts: row.facts(),
        events: Vec::new(),
    })
}

/// Whether the account is the player's own at this server.
pub(crate) fn check_owner(server: &Name, account: &AccountName, wallet: &Name) -> Result<(), InvalidWithdrawal> {
    // Pauses and limits hang on the server: an account of one must not be paid out under the name of another.
    if account.scope != Scope::Server(server.clone()) {
        return Err(InvalidWithdrawal::OtherServer);
    }
    if account.owner.as_ref().is_some_and(|owner| owner != wallet) {
        return Err(InvalidWithdrawal::OtherWallet);
    }
    Ok(())
}

/// Whether this principal is the game of the server.
pub(crate) fn is_game_of(principal: &Principal, server: &Name) -> bool {
    matches!(principal, Principal::GameServer(game) if game == server)
}

/// An exit as its row states it.
pub(crate) struct ExitRow<'a> {
    pub server: &'a Name,
    pub exit_id: &'a Name,
    pub wallet: &'a Name,
    pub account: &'a AccountName,
    pub exit: &'a WorldExit,
    /// The payout that was asked for.
    pub payout: Option<PayoutTerms>,
    /// Why it is kept, although a payout was asked for.
    pub kept_because: Option<KeptBecause>,
    /// The intent that pays it, if it is paid.
    pub intent: Option<&'a IntentId>,
}

impl ExitRow<'_> {
    /// The row of the exit, and the change of the spawn that it ends.
    pub fn facts(&self) -> Vec<Fact> {
        let spawn = self.exit.spawn.as_ref();
        let payout = |value: fn(PayoutTerms) -> ColumnValue| self.payout.map_or(ColumnValue::Null, value);
        let set = [
            ("wallet", text(self.wallet.as_str())),
            ("account", text(&self.account.to_string())),
            ("amount", ColumnValue::Amount(self.exit.amount)),
            ("payout", text(if self.payout.is_some() { "auto" } else { "keep" })),
            ("to_address", payout(|terms| text(&terms.to.to_string()))),
            ("fee_cap", payout(|terms| ColumnValue::Amount(terms.gas.fee_cap().unwrap_or(Amount::ZERO)))),
            ("kept_because", self.kept_because.map_or(ColumnValue::Null, |because| text(because.as_str()))),
            ("intent", self.intent.map_or(ColumnValue::Null, |intent| text(intent.0.as_str()))),
            ("spawn", spawn.map_or(ColumnValue::Null, |spawn| text(&spawn.id))),
        ];
        let key = [("server", text(self.server.as_str())), ("exit_id", text(self.exit_id.as_str()))];
        let owned = |(name, value): (&str, ColumnValue)| (name.to_owned(), value);
        let exit = Fact {
            row: RowKey { table: EXITS_TABLE.into(), columns: key.into_iter().map(owned).collect() },
            guard: Guard::Absent,
            otherwise: GuardFailure::Conflict,
            set: set.into_iter().map(owned).collect(),
        };
        [exit].into_iter().chain(spawn.map(|spawn| spawn.fact.clone())).collect()
    }
}
