//! The threads: each room asks, waits, and takes in the answers; whoever watches looks at the tally.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, ScopedJoinHandle},
    time::{Duration, Instant},
};

use anyhow::{anyhow, bail};
use bankroll_store::{Answer, Failure, Ledger, Refused};

use super::{asks::Asked, interrupt::Interrupt, room::Room, tally::Tally, view::View};

/// Asks in one call at the most.
const CALL_MAX: usize = 1_000;
/// How long a room waits before it tries a call again that was not taken.
const BUSY_PAUSE: Duration = Duration::from_millis(1);
const VIEW_PAUSE: Duration = Duration::from_millis(100);

/// What a game came to.
#[derive(Debug)]
pub struct Played {
    pub tally: Tally,
    pub took: Duration,
    pub interrupted: bool,
}

/// How many asks fit into one call: a call that is larger than the queue could never be taken.
pub fn call_max(queue_max: usize) -> usize {
    CALL_MAX.min(queue_max / 2).max(1)
}

struct Game<'a> {
    ledger: &'a Ledger,
    call_max: usize,
    tally: Mutex<Tally>,
    over: AtomicBool,
}

/// Plays until the time is over, somebody presses Ctrl-C, or something is wrong.
pub fn run(
    ledger: &Ledger,
    rooms: Vec<Room>,
    call_max: usize,
    time: Option<Duration>,
    interrupt: &Interrupt,
    view: &mut View,
) -> anyhow::Result<Played> {
    let game = Game { ledger, call_max, tally: Mutex::default(), over: AtomicBool::new(false) };
    let begun = Instant::now();
    let ended = thread::scope(|scope| {
        let threads: Vec<_> = rooms.into_iter().map(|room| scope.spawn(|| game.play(room))).collect();
        while !threads.iter().all(ScopedJoinHandle::is_finished) {
            thread::sleep(VIEW_PAUSE);
            view.show(&game.tally().clone(), begun.elapsed());
            // A room that ends by itself is in trouble, and that ends the game for all.
            let trouble = threads.iter().any(ScopedJoinHandle::is_finished);
            if trouble || interrupt.is_asked() || time.is_some_and(|time| begun.elapsed() >= time) {
                game.over.store(true, Ordering::Relaxed);
            }
        }
        threads
            .into_iter()
            .try_for_each(|room| room.join().map_err(|_| anyhow!("a room panicked; its message is above"))?)
    });
    ended.map_err(|error| explain(ledger, error))?;
    let interrupted = interrupt.is_asked();
    interrupt.no_longer();
    let tally = game.tally().clone();
    Ok(Played { tally, took: begun.elapsed(), interrupted })
}

/// A room knows only that it got no answer; the writer knows why.
fn explain(ledger: &Ledger, error: anyhow::Error) -> anyhow::Error {
    let hint = "the ledger's writer stopped in the middle of the game; start the demo again: it verifies the books";
    ledger.stopped_by().map_or(error, |cause| anyhow::Error::from(cause).context(hint))
}

impl Game<'_> {
    /// Turn after turn until the game is over; then the arena closes.
    fn play(&self, mut room: Room) -> anyhow::Result<()> {
        while !self.over.load(Ordering::Relaxed) {
            let asked = room.turn(self.call_max);
            self.call(&mut room, &asked)?;
        }
        loop {
            let asked = room.close(self.call_max);
            if asked.is_empty() {
                return Ok(());
            }
            self.call(&mut room, &asked)?;
        }
    }

    fn call(&self, room: &mut Room, asked: &[Asked]) -> anyhow::Result<()> {
        if asked.is_empty() {
            return Ok(());
        }
        let answers = self.answers(room, asked)?;
        let mut tally = self.tally();
        for (asked, answer) in asked.iter().zip(&answers) {
            room.hear(asked, answer, &mut tally)?;
        }
        tally.crowds.insert(room.number, room.crowd());
        Ok(())
    }

    /// Asks until there is an answer, or there can be none. What is asked again is the same, byte by byte.
    fn answers(&self, room: &Room, asked: &[Asked]) -> anyhow::Result<Vec<Answer>> {
        loop {
            let requests = asked.iter().map(|asked| room.request(asked)).collect();
            let reply = match self.ledger.submit(requests) {
                Ok(reply) => reply,
                Err(Refused::Busy) => {
                    self.tally().busy += 1;
                    thread::sleep(BUSY_PAUSE);
                    continue;
                }
                Err(refused) => return Err(refused.into()),
            };
            match reply.wait() {
                Ok(answers) => return Ok(answers),
                // Another program has the file for a moment, or the server is away; nothing happened.
                Err(Failure::Locked | Failure::Unreachable) => thread::sleep(BUSY_PAUSE),
                Err(Failure::StorageFull) => {
                    bail!(
                        "the disk is full: nothing was lost, but nobody can play on; make room and start the demo again"
                    )
                }
                Err(failure @ Failure::Unknown) => return Err(failure.into()),
            }
        }
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
