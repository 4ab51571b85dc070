//! `--wait SECONDS`: repeats a read until what it shows has come to rest.

use std::{
    thread,
    time::{Duration, Instant},
};

use clap::Args;

use bankroll_terminal as terminal;

const LOOK_EVERY: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, Debug, Args)]
pub struct WaitArgs {
    /// Wait until something is shown and nothing of it is on its way, at most this long
    #[arg(long, value_name = "SECONDS", value_parser = terminal::whole::<u32>(1..=86_400, "the seconds to wait"))]
    wait: Option<u32>,
}

impl WaitArgs {
    /// Reads again until `is_at_rest`; without `--wait` once. Also returns whether it came to rest in time, or was not
    /// waited for.
    pub fn read<T>(
        self,
        read: impl Fn() -> anyhow::Result<T>,
        is_at_rest: impl Fn(&T) -> bool,
    ) -> anyhow::Result<(T, bool)> {
        let begun = Instant::now();
        loop {
            let found = read()?;
            let Some(seconds) = self.wait else { return Ok((found, true)) };
            let at_rest = is_at_rest(&found);
            if at_rest || begun.elapsed() >= Duration::from_secs(seconds.into()) {
                return Ok((found, at_rest));
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    /// What to say, and how to end, if it did not come to rest.
    pub fn verdict(self, is_at_rest: bool) -> anyhow::Result<()> {
        let seconds = self.wait.unwrap_or_default();
        anyhow::ensure!(is_at_rest, "not done after {seconds} s");
        Ok(())
    }
}
