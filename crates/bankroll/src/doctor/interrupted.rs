//! Books that cannot be read because a process was killed while it made or changed them. Nothing is lost then, and a
//! copy is not needed: the next writer finishes or undoes what was interrupted.

use std::{fs, path::Path};

use bankroll_store::{BOOKS_FILE, StoreError};
use bankroll_terminal::invocation;

use super::Check;
use crate::location::LocationArgs;

/// What was interrupted, if something was, and how to continue.
pub fn check(error: &StoreError, folder: &Path, location: &LocationArgs) -> Option<Check> {
    let has =
        |ending: &str| fs::metadata(folder.join(format!("{BOOKS_FILE}{ending}"))).is_ok_and(|file| file.len() > 0);
    let (me, base) = (invocation(), location.base());
    match error {
        StoreError::NoLedger { .. } if has(".new") || has(".new-journal") => {
            let found =
                format!("the books were not created completely: {BOOKS_FILE}.new is left of them, without money");
            let fix = format!("{me} init --dir {}", base.display());
            Some(Check::red("books", found, fix))
        }
        // A reader cannot undo it. The journal belongs to the file: without it the file would be damaged.
        StoreError::Database(_) if has("-journal") => {
            let found = format!("a change of {BOOKS_FILE} was interrupted; its beginning is in {BOOKS_FILE}-journal");
            let fix = format!(
                "start the writer once, which undoes it: {me} serve --dir {} (do not remove {BOOKS_FILE}-journal)",
                base.display()
            );
            Some(Check::red("books", found, fix))
        }
        _ => None,
    }
}
