//! Whether the journal has every head that was noted outside it, and how much could still vanish unseen.

use bankroll_roles::config::LoadedConfig;
use bankroll_store::{NotedHead, NotedIn, Reader, StoreError};
use bankroll_terminal::{counted, invocation};

use super::Check;

const NAME: &str = "newest head";

pub fn check(loaded: &LoadedConfig, reader: &Reader) -> Check {
    let compared = || -> Result<_, StoreError> {
        // Before the journal: a writer that runs notes newer heads meanwhile.
        let noted = reader.noted_heads(Some(&loaded.head_file()))?;
        reader.check_noted(&noted)?;
        Ok((noted, reader.head()?.seq.0))
    };
    match compared() {
        Ok((noted, records)) => Check::green(NAME, sentence(&noted, records)),
        Err(error @ StoreError::TailLost { .. }) => lost(&error),
        Err(error) => Check::red(NAME, format!("{:#}", anyhow::Error::from(error)), "resolve the error"),
    }
}

/// A head that the journal does not have.
pub fn lost(error: &StoreError) -> Check {
    let program = invocation();
    let fix = format!(
        "put the newest copy back, with its log; if there is none, `{program} accept-loss --by NAME --why TEXT`"
    );
    Check::unsound(NAME, error.to_string(), fix)
}

fn sentence(noted: &[(NotedIn, NotedHead)], records: u64) -> String {
    let newest = noted.iter().map(|(_, head)| head.seq.0).max().unwrap_or(0);
    let unseen = counted(records.saturating_sub(newest), "record", "records");
    let power = "after a power cut, those of the last half minute";
    match noted.iter().max_by_key(|(_, head)| head.batch) {
        None => format!("noted nowhere: {unseen} could vanish unseen; `bankroll serve` notes it"),
        Some((place, head)) => format!(
            "batch {} is noted in {place}; {unseen} at the journal's end could vanish unseen now, {power}",
            head.batch
        ),
    }
}
