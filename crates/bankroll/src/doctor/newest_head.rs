//! Whether the journal has every head that was noted outside it, and how much could still vanish unseen.

use std::path::Path;

use bankroll_roles::config::LoadedConfig;
use bankroll_store::{NotedHead, NotedIn, Reader, StoreError};
use bankroll_terminal::{counted, invocation};

use super::Check;

const NAME: &str = "newest head";

pub fn check(loaded: &LoadedConfig, reader: &Reader, dir: &Path) -> Check {
    let compared = || -> Result<_, StoreError> {
        // Before the journal: a writer that runs notes newer heads meanwhile.
        let noted = reader.noted_heads(Some(&loaded.head_file()))?;
        reader.check_noted(&noted)?;
        Ok((noted, reader.head()?.seq.0))
    };
    match compared() {
        Ok((_, 0)) => Check::green(NAME, "the journal is empty"),
        Ok((noted, records)) => noted_check(&noted, records),
        Err(error @ StoreError::TailLost { .. }) => lost(&error, dir),
        Err(error) => Check::red(NAME, format!("{:#}", anyhow::Error::from(error)), "resolve the error"),
    }
}

/// A head that the journal does not have.
pub fn lost(error: &StoreError, dir: &Path) -> Check {
    let (program, dir) = (invocation(), dir.display());
    let fix =
        format!("put the newest copy back; if there is none, `{program} accept-loss --dir {dir} --by NAME --why TEXT`");
    Check::unsound(NAME, error.to_string(), fix)
}

fn noted_check(noted: &[(NotedIn, NotedHead)], records: u64) -> Check {
    let Some((place, head)) = noted.iter().max_by_key(|(_, head)| head.batch) else {
        let all = counted(records, "record", "records");
        return Check::warned(NAME, format!("noted nowhere: {all} could vanish unseen"), "run `bankroll serve` once");
    };
    let unseen = counted(records.saturating_sub(head.seq.0), "record", "records");
    let found = format!(
        "batch {} is noted in {place}: {unseen} behind it could vanish unseen (after a power cut, those of the last half \
         minute)",
        head.batch
    );
    Check::green(NAME, found)
}
