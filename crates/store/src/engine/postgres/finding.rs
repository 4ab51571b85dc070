//! Why a holder's scrub found the books unsound, in the fencing row: every node that wants the lease reads it there.
//!
//! Without it a finding would stop one node alone, and the next would decide by the same damaged books until its own
//! pass comes to the damage.

use super::{is_transient, session::Session};
use crate::{DatabaseUrl, StoreError};

const NOTE: &str =
    "UPDATE books.ledger_head SET finding = $2, last_finding = $2, last_finding_epoch = epoch WHERE epoch = $1";

/// Notes it in one statement, over a new connection if the old one is lost. A writer that was replaced notes nothing:
/// a rebuild may have repaired the books since.
pub(super) fn note(session: &Session, epoch: i64, finding: &str) -> Result<(), StoreError> {
    match session.execute(NOTE, &[&epoch, &finding]) {
        Ok(1) => Ok(()),
        Ok(_) => Err(StoreError::Fenced),
        Err(error) if session.is_lost() || is_transient(&error) => {
            session.connect_again()?.execute(NOTE, &[&epoch, &finding])?;
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) fn read(session: &Session) -> Result<Option<String>, StoreError> {
    Ok(session.one("SELECT finding FROM books.ledger_head", &[])?.get(0))
}

/// The last finding, lifted or not, and the epoch of the holder that made it.
pub(super) fn read_last(session: &Session) -> Result<Option<(u64, String)>, StoreError> {
    let row = session.one("SELECT last_finding_epoch, last_finding FROM books.ledger_head", &[])?;
    let (epoch, finding): (Option<i64>, Option<String>) = (row.get(0), row.get(1));
    Ok(epoch.and_then(|epoch| u64::try_from(epoch).ok()).zip(finding))
}

/// Removes this finding, and no other, after the books were rebuilt and audited.
pub(crate) fn lift_finding(url: &DatabaseUrl, finding: &str) -> Result<(), StoreError> {
    let session = Session::connect(url.read()?)?;
    session.execute("UPDATE books.ledger_head SET finding = NULL WHERE finding = $1", &[&finding])?;
    Ok(())
}
