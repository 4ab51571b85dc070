//! Players who come for the first time: the game server opens their accounts, and they sign in with their wallets.
//!
//! Each sign-in is a commit of its own. So players sign in when they first pay, a few at a time, and not all before the
//! game.

use std::{
    thread::{self, JoinHandle},
    time::Duration,
};

use bankroll_roles::flows::StopFlag;

use super::{funds::GameClient, player_wallets::ArrivalQueue};

/// How many players sign in at the same time.
const THREADS: usize = 16;
const STEP: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub struct Arrivals {
    stop: StopFlag,
    threads: Vec<JoinHandle<()>>,
}

impl Arrivals {
    /// Each thread has a client of its own.
    pub fn open(queue: &ArrivalQueue, client: impl Fn() -> GameClient) -> Self {
        let stop = StopFlag::default();
        let start = |_| {
            let (queue, client, over) = (queue.clone(), client(), stop.clone());
            thread::spawn(move || sign_in_all(&queue, &client, &over))
        };
        let threads = (0..THREADS).map(start).collect();
        Self { stop, threads }
    }

    pub fn stop(self) {
        self.stop.request();
        for thread in self.threads {
            // A panic was reported where it happened.
            let _ = thread.join();
        }
    }
}

fn sign_in_all(queue: &ArrivalQueue, client: &GameClient, stop: &StopFlag) {
    while !stop.is_requested() {
        let Some(player) = queue.next_within(STEP) else { continue };
        match client.bring_in(&player.key) {
            Ok(()) => queue.signed_in(&player),
            Err(error) => return queue.fail(error),
        }
    }
}
