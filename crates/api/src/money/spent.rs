//! What an operation needs before the ledger sees it: no pause, no freeze, no exclusion, and room within the key's spend
//! limit.

use std::{collections::HashSet, sync::PoisonError};

use bankroll_ledger::{Amount, Answer, AssetId, HoldId, Name, Time};
use bankroll_registry::{SpendSide, WindowKey};
use bankroll_store::{PendingAnswer, SubmitRefusal};

use super::Operation;
use crate::{
    ApiError, ErrorCode,
    state::{Gate, HeldBooks},
};

/// What was counted for a call, to be given back if the call certainly moved nothing.
#[derive(Debug, Default)]
pub(crate) struct Spent {
    pub(super) counted: Vec<(WindowKey, Amount)>,
    pub(super) at: Time,
}

/// Checks what the ledger does not know, and counts the operation against the limit of the key. `frozen` are the holds of
/// [`frozen_holds`](super::frozen_holds).
pub(crate) fn admit(
    gate: &Gate,
    server: &Name,
    operation: &Operation,
    frozen: &HashSet<HoldId>,
) -> Result<Spent, ApiError> {
    if matches!(operation, Operation::Post { hold, .. } if frozen.contains(hold)) {
        return Err(ErrorCode::PlayerFrozen.into());
    }
    if let Some(account) = operation.takes_from() {
        check_play(gate, server, account)?;
    }
    count(gate, operation.counts())
}

/// A pause of spawns, a freeze, and an exclusion close every way from a player's account into the world, not only spawns.
fn check_play(gate: &Gate, server: &Name, account: &str) -> Result<(), ApiError> {
    if !gate.registry.pauses(server).ok_or(ErrorCode::NotFound)?.allows_spawns() {
        return Err(ErrorCode::ServerPaused.into());
    }
    let owner: Option<Name> = account.split('/').nth(3).and_then(|owner| owner.parse().ok());
    let Some(owner) = owner else { return Ok(()) };
    if gate.registry.frozen(&owner).is_some() {
        return Err(ErrorCode::PlayerFrozen.into());
    }
    if gate.registry.excluded_until(&owner, gate.now).is_some() {
        return Err(ApiError::with(ErrorCode::NotEligible, "the player has excluded themselves"));
    }
    Ok(())
}

/// Counts amounts against the limit of the key that opened the session; nothing if one of them is too much.
pub(crate) fn count(
    gate: &Gate,
    amounts: impl IntoIterator<Item = (SpendSide, AssetId, Amount)>,
) -> Result<Spent, ApiError> {
    let mut spent = Spent { counted: Vec::new(), at: gate.now };
    let key = gate.opened_by().and_then(|address| gate.registry.server_key(address));
    let Some((key, limit)) = key.and_then(|key| Some((key.address, key.spend_limit?))) else { return Ok(spent) };
    for (side, asset, amount) in amounts {
        let window = (key, asset, side);
        let mut limits = gate.books.spend.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(reached) = limits.spend(window, limit, amount, gate.now) {
            drop(limits);
            spent.give_back(&gate.books);
            let wait = reached.retry_at.map_or(60, |at| at.0.saturating_sub(gate.now.0).div_ceil(1_000_000));
            let error = ApiError::with(ErrorCode::SpendLimit, reached.to_string());
            return Err(error.after(u32::try_from(wait).unwrap_or(60)));
        }
        spent.counted.push((window, amount));
    }
    Ok(spent)
}

impl Spent {
    /// Waits for the ledger. A call that it certainly did not carry out has spent nothing.
    pub async fn answers(
        &self,
        books: &HeldBooks,
        pending: Result<PendingAnswer<Vec<Answer>>, SubmitRefusal>,
    ) -> Result<Vec<Answer>, ApiError> {
        let answered = match pending {
            Ok(pending) => pending.await.map_err(ApiError::from),
            Err(refusal) => Err(refusal.into()),
        };
        answered.inspect_err(|error| self.failed(books, error))
    }

    /// After an error instead of an answer. An unknown outcome may have moved the money.
    pub fn failed(&self, books: &HeldBooks, error: &ApiError) {
        if error.code != ErrorCode::OutcomeUnknown {
            self.give_back(books);
        }
    }

    /// A replay and a rejection have moved nothing now.
    pub fn settle(&self, books: &HeldBooks, answer: &Answer) {
        if answer.replayed || answer.effects().is_err() {
            self.give_back(books);
        }
    }

    fn give_back(&self, books: &HeldBooks) {
        let mut limits = books.spend.lock().unwrap_or_else(PoisonError::into_inner);
        self.counted.iter().for_each(|(window, amount)| limits.give_back(*window, *amount, self.at));
    }
}
