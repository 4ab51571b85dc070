//! Ctrl-C: the first ends the game in good order, the second the program. Neither is needed for safe books.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use anyhow::Context;
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

/// As shells have it: 128 and the signal's number.
const EXIT_INTERRUPTED: i32 = 130;

#[derive(Clone, Debug)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    pub fn listen() -> anyhow::Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds the flag unset and sets it, the second finds it set.
            flag::register_conditional_shutdown(signal, EXIT_INTERRUPTED, Arc::clone(&asked))
                .and_then(|_| flag::register(signal, Arc::clone(&asked)))
                .context("cannot listen for Ctrl-C")?;
        }
        Ok(Self(asked))
    }

    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// From here on the first Ctrl-C ends the program.
    pub fn no_longer(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
