//! A full disk: noticed while players wait, and reported in one way wherever it is met.

use std::{
    fs,
    io::{self, ErrorKind},
    path::Path,
};

use bankroll_store::{StoreError, SubmitError, SubmitFailure};

use super::folder;

/// In the demo's folder, for a moment.
pub const CHECK_FILE: &str = ".space-check";
/// Less free space than this is none: the books write megabytes in a second.
const NEEDED: usize = 1 << 20;

#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the disk is full: nothing was lost; free some space and start the demo again")]
pub struct DiskFull;

/// Fails if this folder's disk is full: writes a file and deletes it.
pub fn check(folder: &Path) -> Result<(), DiskFull> {
    let file = folder.join(CHECK_FILE);
    let written = fs::write(&file, vec![0; NEEDED]);
    // It may not exist; and the next check overwrites it.
    let _ = fs::remove_file(&file);
    match written {
        Err(error) if is_full(&error) => Err(DiskFull),
        _ => Ok(()),
    }
}

/// Says first that the disk is full, if that is why the demo failed. A folder that is not a demo's is left alone.
pub fn explain(dir: &Path, error: anyhow::Error) -> anyhow::Error {
    if error.chain().any(|cause| cause.is::<DiskFull>()) {
        // What the game could not do because of it says nothing more.
        return DiskFull.into();
    }
    let is_cause = |cause: &(dyn std::error::Error + 'static)| {
        let full = SubmitFailure::StorageFull;
        cause.downcast_ref::<io::Error>().is_some_and(is_full)
            || cause.downcast_ref::<SubmitFailure>() == Some(&full)
            || matches!(cause.downcast_ref::<SubmitError>(), Some(SubmitError::Failed(failure)) if *failure == full)
            || matches!(cause.downcast_ref::<StoreError>(), Some(StoreError::Full))
    };
    let is_full = error.chain().any(is_cause) || (folder::is_demo(dir) && check(dir).is_err());
    if is_full { error.context(DiskFull) } else { error }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_named_before_its_consequences() {
        let failed =
            anyhow::Error::from(io::Error::from(ErrorKind::StorageFull)).context("cannot write to chain.jsonl");
        let explained = explain(Path::new("missing"), failed);
        assert!(explained.to_string().starts_with("the disk is full: nothing was lost"), "{explained}");
        assert_eq!(explained.chain().nth(1).unwrap().to_string(), "cannot write to chain.jsonl");
        let other = explain(Path::new("missing"), anyhow::anyhow!("the chain is gone"));
        assert_eq!(other.to_string(), "the chain is gone");
        let refused = anyhow::Error::from(DiskFull).context("the game server cannot register");
        assert_eq!(explain(Path::new("missing"), refused).chain().count(), 1);
    }
}
