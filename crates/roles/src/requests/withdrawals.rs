//! A payout from a player's funds, requested in the name of the game server.

use bankroll_ledger::{AccountId, AccountKind, AccountName, Amount, AssetId, Name, Principal, Rejection};
use bankroll_orders::{Address, IntentId};
use bankroll_store::{Reader, StoreError};
use bankroll_withdrawals::{
    Asker, GasPayer, IntentStatus, Intents, InvalidWithdrawal, ViewError, WithdrawalRequest, views,
};

use super::{BooksClient, ClientError, account_of};
use crate::flows::FlowSetup;

/// What the caller asks for.
#[derive(Clone, Debug)]
pub struct PayoutOrder {
    /// The caller's own name for the request: the same id is paid once, however often it is sent.
    pub request_id: Name,
    pub player: Address,
    pub to: Address,
    pub amount: Amount,
    pub gas: GasPayer,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedPayout {
    pub id: IntentId,
    pub status: IntentStatus,
    /// Whether an earlier request with this id had made it.
    pub is_repeated: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum WithdrawalRequestError {
    #[error("there is no account {0}; `bankroll players open` opens it")]
    NoAccount(AccountName),
    #[error(transparent)]
    Invalid(#[from] InvalidWithdrawal),
    /// Remembered with its id, so that the same id is rejected for ever.
    #[error("the ledger rejected the payout: {0}; give the next request another id")]
    Rejected(Rejection),
    #[error("the id {0} belongs to another payout; give a new one")]
    OtherPayout(Name),
    #[error(transparent)]
    Books(#[from] ClientError),
    #[error("cannot read the books")]
    Read(#[from] StoreError),
    #[error("cannot read the payouts")]
    View(#[from] ViewError),
}

/// Requests a payout: its amount, and the fee that the player pays at most, are held in the same commit.
///
/// # Errors
/// See [`WithdrawalRequestError`].
pub fn request_payout(
    books: &BooksClient,
    reader: &Reader,
    setup: &FlowSetup,
    asset: AssetId,
    order: &PayoutOrder,
) -> Result<RequestedPayout, WithdrawalRequestError> {
    if let Some(known) = known_payout(reader, setup, order)? {
        return Ok(known);
    }
    let account = account_of(setup, AccountKind::Funds, asset, order.player);
    let funds = reader.account_named(&account)?.ok_or_else(|| WithdrawalRequestError::NoAccount(account.clone()))?;
    let withdrawal = WithdrawalRequest {
        principal: Principal::GameServer(setup.server.clone()),
        server: setup.server.clone(),
        request_id: order.request_id.clone(),
        wallet: account.owner.clone().expect("a player's account has an owner"),
        account,
        chain: setup.coin.chain.clone(),
        to: order.to,
        amount: order.amount,
        gas: order.gas,
        exit: None,
        consent: None,
    };
    // Without an exit no money leaves the world.
    let request = Intents::new(setup.policy).request(&withdrawal, funds.id, AccountId(0));
    let answer = books.apply(request?)?;
    answer.effects().map_err(WithdrawalRequestError::Rejected)?;
    Ok(RequestedPayout {
        id: Intents::id(&setup.server, &Asker::GameServer, &order.request_id),
        status: setup.policy.first_status(order.amount),
        is_repeated: answer.replayed,
    })
}

/// The payout that an earlier request with this id made, with its status of today. The policy may have changed since, and
/// then the same request would be another one to the ledger.
fn known_payout(
    reader: &Reader,
    setup: &FlowSetup,
    order: &PayoutOrder,
) -> Result<Option<RequestedPayout>, WithdrawalRequestError> {
    let id = Intents::id(&setup.server, &Asker::GameServer, &order.request_id);
    let Some(known) = views::payout_of(reader, &id)? else { return Ok(None) };
    let fee_cap = match order.gas {
        GasPayer::House => None,
        GasPayer::Player(cap) => Some(cap),
    };
    let is_same = known.wallet == order.player.lower_hex()
        && (known.to, known.amount, known.fee_cap) == (order.to, order.amount, fee_cap);
    if !is_same {
        return Err(WithdrawalRequestError::OtherPayout(order.request_id.clone()));
    }
    Ok(Some(RequestedPayout { id, status: known.status, is_repeated: true }))
}
