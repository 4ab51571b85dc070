//! Ctrl-C and SIGTERM: the first requests an orderly stop, the second ends the program. The books are safe either way.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use anyhow::Context;
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

/// The shells' convention: 128 plus the signal's number.
const EXIT_INTERRUPTED: i32 = 130;

#[derive(Clone, Debug)]
pub struct StopSignal(Arc<AtomicBool>);

impl StopSignal {
    pub fn listen() -> anyhow::Result<Self> {
        let requested = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds the flag unset and sets it, the second finds it set.
            flag::register_conditional_shutdown(signal, EXIT_INTERRUPTED, Arc::clone(&requested))
                .and_then(|_| flag::register(signal, Arc::clone(&requested)))
                .context("cannot listen for Ctrl-C")?;
        }
        Ok(Self(requested))
    }

    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// From now on the first Ctrl-C ends the program.
    pub fn exit_on_next(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
