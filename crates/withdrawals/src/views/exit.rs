//! Exits as lists and reports show them.

use bankroll_ledger::{Amount, Name};
use bankroll_orders::IntentId;
use bankroll_store::{
    Reader,
    columns::{BadRow, amount_of, maybe, parsed, text, text_of},
};

use crate::{GasPayer, KeptBecause, PayoutTerms, ViewError};

/// A player's value that left the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExitView {
    pub server: Name,
    pub exit_id: Name,
    /// The player.
    pub wallet: Name,
    /// The account that got it.
    pub account: String,
    /// What left the world.
    pub amount: Amount,
    /// The payout that was asked for; `None` if it was to be kept.
    pub payout: Option<PayoutTerms>,
    /// Why it is kept, although a payout was asked for.
    pub kept_because: Option<KeptBecause>,
    /// The intent that pays it; `None` if the player keeps it in the books.
    pub intent: Option<IntentId>,
    /// The spawn that it ended.
    pub spawn: Option<String>,
}

/// The exit of a server with this id.
///
/// # Errors
/// If the books cannot be read, or the row is not as this program writes it.
pub fn exit_of(reader: &Reader, server: &Name, exit_id: &Name) -> Result<Option<ExitView>, ViewError> {
    let sql = "SELECT wallet, account, amount, payout, to_address, fee_cap, kept_because, intent, spawn FROM exits
      WHERE server = $1 AND exit_id = $2";
    let Some(row) = reader.rows(sql, vec![text(server.as_str()), text(exit_id.as_str())])?.pop() else {
        return Ok(None);
    };
    let to = maybe(&row, "to_address", parsed)?;
    let cap = maybe(&row, "fee_cap", amount_of)?;
    let payout = match (text_of(&row, "payout")?, to, cap) {
        ("keep", None, None) => None,
        ("auto", Some(to), Some(cap)) if cap.is_zero() => Some(PayoutTerms { to, gas: GasPayer::House }),
        ("auto", Some(to), Some(cap)) => Some(PayoutTerms { to, gas: GasPayer::Player(cap) }),
        _ => return Err(BadRow { column: "payout" }.into()),
    };
    let because = maybe(&row, "kept_because", text_of)?;
    let kept_because =
        because.map(|word| KeptBecause::of_word(word).ok_or(BadRow { column: "kept_because" })).transpose()?;
    Ok(Some(ExitView {
        server: server.clone(),
        exit_id: exit_id.clone(),
        wallet: parsed(&row, "wallet")?,
        account: text_of(&row, "account")?.to_owned(),
        amount: amount_of(&row, "amount")?,
        payout,
        kept_because,
        intent: maybe(&row, "intent", parsed)?.map(IntentId),
        spawn: maybe(&row, "spawn", text_of)?.map(str::to_owned),
    }))
}
