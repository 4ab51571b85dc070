//! Why nothing new is paid on a chain. Level-triggered: each round of the payouts role reads it anew, and what it names
//! is over when its row says so.
//!
//! | reason | written by | ends |
//! | --- | --- | --- |
//! | the indexer cannot go on (`chain_cursor.stopped`) | the indexer | when it goes on |
//! | a wallet holds too little (alert `wallet_deficit`, `open`) | the books | with it, or when a person acknowledges it |
//!
//! A wallet that holds more never halts anything: anybody can send a base unit in a way that only a balance shows.

use bankroll_alerts::{
    AlertKind, AlertState,
    views::{self, AlertFilter},
};
use bankroll_deposits::attention;
use bankroll_ledger::Name;
use bankroll_store::Reader;

/// Alerts that are read.
const ALERTS_MAX: usize = 1_000;

/// Why payouts of the chain wait; `None` if they do not. A development chain is never halted by a difference.
///
/// # Errors
/// If the rows cannot be read: then it is not known that payouts may go on, and they must not.
pub fn halt_of(reader: &Reader, chain: &Name, is_development: bool) -> anyhow::Result<Option<String>> {
    if let Some(why) = attention::cursor_state(reader, chain.as_str())?.and_then(|state| state.stopped) {
        return Ok(Some(format!("the indexer of {chain} has stopped: {why}")));
    }
    if is_development {
        return Ok(None);
    }
    let filter =
        AlertFilter { state: Some(AlertState::Open), kind: Some(AlertKind::WalletDeficit), ..AlertFilter::default() };
    let prefix = format!("{chain}/");
    let open = views::list(reader, &filter, ALERTS_MAX)?;
    let deficit = open.into_iter().find(|alert| alert.subject.starts_with(&prefix));
    Ok(deficit.map(|alert| format!("{}; see `bankroll alerts show {}`", alert.summary, alert.id)))
}
