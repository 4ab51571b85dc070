//! One round of the loop that watches conditions: read, decide, commit.

use bankroll_ledger::Time;
use bankroll_store::{Ledger, Reader, SubmitError};

use crate::{AlertChange, AlertError, AlertObservation, AlertWatch, KnownAlerts};

/// What a round did, and the alerts after it.
#[derive(Debug, Default)]
pub struct AlertRound {
    pub written: Vec<AlertChange>,
    pub alerts: KnownAlerts,
}

/// Writes what follows from the observations. A change that another writer was faster with is decided anew in the next
/// round.
///
/// # Errors
/// If the books cannot be read, or the writer has no answer. Changes before that one are written.
pub fn round(
    ledger: &Ledger,
    reader: &Reader,
    watch: &mut AlertWatch,
    observations: &[AlertObservation],
    now: Time,
) -> Result<AlertRound, AlertError> {
    let mut alerts = KnownAlerts::read(reader, observations)?;
    let mut written = Vec::new();
    for change in watch.decide(observations, &alerts, now) {
        let pending = ledger.submit_in_turn(vec![change.request()]).map_err(SubmitError::from)?;
        let answers = pending.wait().map_err(SubmitError::from)?;
        // Rejected: a person, or another holder, has changed the row since it was read.
        if answers.iter().all(|answer| answer.effects().is_ok() && !answer.replayed) {
            alerts.replace(change.alert().clone());
            written.push(change);
        }
    }
    Ok(AlertRound { written, alerts })
}
